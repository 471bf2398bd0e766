"""What one may set for a model - reasoning effort, temperature, prompt, rules - and which runs differ in nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from typing import Any

from .entries import NAMED, as_named, flat_settings, own_prompt

DEFAULT = "default"
"""What is shown for a setting that was left as it is, and for a run that set nothing."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Levels of reasoning effort as endpoints name them, the least first."""

THE_SAME = ("agent", "customer", "store", "tools", "messages", "isolate", "players")
"""Inputs that two runs must share before a difference between them is put down to a setting."""


def settings_of(manifest: dict[str, Any]) -> dict[str, str]:
    """The settings of a run's model by name, as text; without those that were left as they are.

    Parameters
    ----------
    manifest : dict
        Fields of the request, ``prompt`` for one that is not the store's own, and any further input such as rules.
    """
    inputs = manifest["inputs"]
    body = _body(manifest, "agent")
    found = {name: as_named(one) for name, one in flat_settings(body)} if body else {}
    if prompt := own_prompt(manifest):
        found["prompt"] = prompt
    for name in sorted(set(inputs) - {*NAMED, *THE_SAME, "model"}):
        if inputs[name].get("value") not in (None, "", []):
            found[name] = as_named(inputs[name]["value"])
    return found


def settings_in_words(manifest: dict[str, Any]) -> str:
    """The settings of a run's model, ``reasoning effort high, temperature 0``; `DEFAULT` for none."""
    return ", ".join(f"{name} {value}" for name, value in settings_of(manifest).items()) or DEFAULT


def level(value: str) -> tuple[int, float, str]:
    """Where a value stands among those of its setting: the default first, then efforts and numbers from low to high."""
    if value == DEFAULT:
        return 0, 0.0, ""
    if value in EFFORTS:
        return 1, float(EFFORTS.index(value)), ""
    try:
        return 1, float(value), ""
    except ValueError:
        return 2, 0.0, value


def steps(manifests: Iterable[dict[str, Any]]) -> list[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Which runs of one model differ in exactly one setting.

    Returns
    -------
    list of (setting, (run_id, value), (run_id, value))
        Of each model and setting, every other value beside the lowest one, see `level`.
    """
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for m in manifests:
        alike[m["model"], m["source"], *(_content(m, name) for name in THE_SAME), str(_body(m, "customer"))].append(m)
    found = []
    for runs in alike.values():
        known = {m["run_id"]: settings_of(m) for m in runs}
        prompts = {m["run_id"]: _content(m, "prompt") for m in runs}
        for setting in dict.fromkeys(name for one in known.values() for name in one):
            groups: dict[Any, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
            for run_id, one in known.items():
                rest = tuple(sorted((name, value) for name, value in one.items() if name != setting))
                groups[rest, "" if setting == "prompt" else prompts[run_id]][one.get(setting, DEFAULT)].append(run_id)
            for values in groups.values():
                base, *others = sorted(values, key=level)
                for value in others:
                    pairs = product(values[base], values[value])
                    found += [(setting, (run_a, base), (run_b, value)) for run_a, run_b in pairs]
    return found


def _content(manifest: dict[str, Any], name: str) -> str:
    return str((manifest["inputs"].get(name) or {}).get("hash", ""))


def _body(manifest: dict[str, Any], role: str) -> Any:
    """What was set for one role; None where nothing was."""
    value = (manifest["inputs"].get("settings") or {}).get("value")
    return value.get(role) if isinstance(value, dict) else None
