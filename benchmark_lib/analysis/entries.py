"""Names of runs in tables, settings of their models, and runs that copy others."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from ..cases.load import store_words
from ..errors import BadInput
from ..records import UNPROTECTED, is_played
from ..runfile import RunFile
from ..scoring.written import counted

if TYPE_CHECKING:
    import pandas as pd


NAMED = ("store", "customer", "prompt", "settings", "agent", "tools", "messages", "seed")
"""Inputs with special wording in a run's name; any other appears under its own."""
APART = ("model", "players", "rules")
"""Inputs that a name shows in a different form."""
THE_SAME = ("agent", "customer", "store", "tools", "messages", "isolate", "players")
"""Inputs that two runs share if a difference is to be the effect of a setting."""
RULES_NAMED, LONGEST, HASH_SHOWN = 2, 40, 4
"""Most operator rules in a name, and most characters of a value and of a hash."""
NOT_GIVEN: tuple[Any, ...] = (None, "", [])
"""Values of an input that count as not given."""
DEFAULT = "default"
"""Value of an unchanged setting, and of a run without settings."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Levels of reasoning effort as endpoints name them, lowest first."""
_FILE = re.compile(r".+?\.\w+(?= |$)")


def entry_names(manifests: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return a distinct entry for each run, by run_id.

    An entry is the model's name, followed by the differences if the model has several runs: ``"acme-large [seed 7]"``.
    A custom prompt and operator rules always appear, the prompt as its file and the start of its hash. Runs without a
    difference get their run_id. Imported records never change the name of a run of the same model.
    """
    runs: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for manifest in manifests:
        runs[manifest["model"], manifest["source"] == "imported"].append(manifest)
    names: dict[str, str] = {}
    for (model, imported), group in runs.items():
        clash = imported and (model, False) in runs
        words = _told_apart(group) if len(group) > 1 else _store(group) if clash else [""]
        words = [_with_own_inputs(trait, m) for trait, m in zip(words, group, strict=True)]
        names |= {m["run_id"]: f"{model} [{trait}]" if trait else model for m, trait in zip(group, words, strict=True)}
    times = Counter(names.values())
    return {run_id: name if times[name] == 1 else f"{name} [{run_id}]" for run_id, name in names.items()}


class Frames(Protocol):
    """The frames and runs that `Results` has."""

    runs: list[RunFile]
    conversations: pd.DataFrame
    tool_calls: pd.DataFrame
    verdicts: pd.DataFrame


def entry_meant(results: Frames | pd.DataFrame, name: str | None) -> str | None:
    """Resolve a name to an entry; it may be an entry itself, or a run's file, run_id or model.

    A model's name is enough if it has one run; if it has several, `BadInput` names their entries. A file's name is the
    surest, since entries change with further runs.
    """
    entries = getattr(results, "entries", {})
    if name is None or name in entries.values():
        return name
    runs = getattr(results, "runs", ())
    by_file = [entries[r.run_id] for r in runs if name in (r.run_id, r.path.name, r.path.stem, str(r.path))]
    alike = by_file or [entries[r.run_id] for r in runs if name == r.manifest["model"]]
    if len(alike) > 1 and not by_file:
        raise BadInput(f"{name!r} has {len(alike)} runs: name one, {' or '.join(map(repr, alike))}")
    return alike[0] if alike else name


def _with_own_inputs(trait: str, manifest: dict[str, Any]) -> str:
    prompt = own_prompt(manifest)
    unprotected = UNPROTECTED if _value(manifest, "isolate") == UNPROTECTED else ""
    own = (f"prompt {prompt}" if prompt else "", _rules(manifest), unprotected)
    return ", ".join(filter(None, (trait, *(words for words in own if words not in trait))))


def own_prompt(manifest: dict[str, Any]) -> str:
    """Return a custom prompt as ``brief.md (3fa2)``, with the start of its hash."""
    value = str(_value(manifest, "prompt") or "").strip()
    stores_own = value.split(" ")[0] == str(_value(manifest, "store") or "").split(" ")[0]
    if not value or stores_own or manifest.get("source") == "imported":
        return ""
    # What follows is its version, which a copy shares with the original
    file = _FILE.match(value)
    content = str(_part(manifest, "prompt").get("hash"))
    return f"{_as_named(file[0] if file else value)} ({content[:HASH_SHOWN]})"


def _rules(manifest: dict[str, Any]) -> str:
    names = str(_value(manifest, "rules") or "").split(", ")
    text = ", ".join(names) if len(names) <= RULES_NAMED else f"{names[0]} and {len(names) - 1} more"
    return f"rules {_as_named(text)}" if names[0] else ""


def _told_apart(manifests: list[dict[str, Any]]) -> list[str]:
    # traits that differ between several runs of one model, or the run_id
    differing = [column for column in _traits(manifests) if len(set(column)) > 1]
    alone = next((column for column in differing if len(set(column)) == len(manifests)), None)
    if alone is not None:
        return alone
    traits: list[tuple[str, ...]] = [()] * len(manifests)
    for column in differing:
        more = [(*words, word) for words, word in zip(traits, column, strict=True)]
        traits = more if len(set(more)) > len(set(traits)) else traits
    times = Counter(traits)
    return [
        ", ".join(words if times[words] == 1 else (*words, m["run_id"]))
        for words, m in zip(traits, manifests, strict=True)
    ]


def _traits(manifests: list[dict[str, Any]]) -> Iterable[list[str]]:
    yield _store(manifests)
    yield _input_words(manifests, "customer", "customer {}", "customer unknown")
    yield [f"played: {m['source']}" if is_played(m["source"]) else "not played" for m in manifests]
    known = _input_words(manifests, "prompt", "prompt {}", "prompt unknown")
    own = map(own_prompt, manifests)
    yield [f"prompt {prompt}" if prompt else words for prompt, words in zip(own, known, strict=True)]
    yield [_rules(m) or "no rules" for m in manifests]
    yield _settings(manifests)
    yield _input_words(manifests, "agent", "agent {}", "no own agent")
    yield _input_words(manifests, "tools", "tools {}", "no own tools")
    yield _input_words(manifests, "messages", "{} messages", "messages unknown")
    yield _input_words(manifests, "seed", "seed {}", "seed unknown")
    for name in sorted({name for m in manifests for name in m["inputs"]} - {*NAMED, *APART}):
        yield _input_words(manifests, name, f"{name} {{}}", f"no {name}")
    yield [counted(len(m["planned"]), "case") for m in manifests]
    yield [counted(max(m["planned"].values(), default=0), "trial") for m in manifests]


def _store(manifests: list[dict[str, Any]]) -> list[str]:
    words = store_words(manifests)
    return [words[m["run_id"]] for m in manifests]


def _input_words(manifests: list[dict[str, Any]], name: str, shape: str, absent: str) -> list[str]:
    # an input of each run in words, with a hash where words alone are ambiguous
    traits = list[tuple[str, str]]()
    for part in (_part(m, name) for m in manifests):
        text = _as_named(part.get("value"))
        if name == "prompt" and text.count(" ") == 1:
            text = text.partition(" ")[2]
        words = absent if part.get("value") in NOT_GIVEN else shape.format(text)
        traits.append((words, str(part.get("hash"))))
    times = Counter(words for words, _ in set(traits))
    return [words if times[words] == 1 else f"{words} ({content[:HASH_SHOWN]})" for words, content in traits]


def _settings(manifests: list[dict[str, Any]]) -> list[str]:
    flat = [dict(flat_settings(_value(m, "settings") or {})) for m in manifests]
    every = dict.fromkeys(name for pairs in flat for name in pairs)
    names = [name for name in every if len({orjson.dumps(pairs.get(name)) for pairs in flat}) > 1]
    return [
        ", ".join(f"{name} {_as_named(pairs[name])}" for name in names if name in pairs) or "default settings"
        for pairs in flat
    ]


def flat_settings(value: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    """Yield settings one by one; those of the agent have no prefix."""
    if not isinstance(value, dict):
        yield name.removeprefix("agent ").replace("_", " "), value
        return
    for key, inner in value.items():
        yield from flat_settings(inner, f"{name} {key}".strip())


def _as_named(value: Any) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _settings_of(manifest: dict[str, Any]) -> dict[str, str]:
    # fields of the request, a custom prompt, and any further input such as rules
    body = _body(manifest, "agent")
    settings = {name: _as_named(value) for name, value in flat_settings(body)} if body else {}
    if prompt := own_prompt(manifest):
        settings["prompt"] = prompt
    for name in sorted(set(manifest["inputs"]) - {*NAMED, *THE_SAME, "model"}):
        if (value := _value(manifest, name)) not in NOT_GIVEN:
            settings[name] = _as_named(value)
    return settings


def settings_in_words(manifest: dict[str, Any]) -> str:
    """Return the settings of a run's model, as in ``reasoning effort high``, or `DEFAULT`."""
    return ", ".join(f"{name} {value}" for name, value in _settings_of(manifest).items()) or DEFAULT


def level(value: str) -> tuple[int, float, str]:
    """Return a sort key for a setting's value: the default, then efforts and numbers ascending."""
    if value == DEFAULT:
        return 0, 0.0, ""
    if value in EFFORTS:
        return 1, float(EFFORTS.index(value)), ""
    try:
        return 1, float(value), ""
    except ValueError:
        return 2, 0.0, value


def steps(manifests: Iterable[dict[str, Any]]) -> list[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Pair the runs of one model that differ in exactly one setting.

    Returns
    -------
    list of (setting, (run_id, value), (run_id, value))
        For each model and setting, the lowest value paired with each other value; `level` orders them.
    """
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for m in manifests:
        shared = (str(_part(m, name).get("hash", "")) for name in THE_SAME)
        alike[m["model"], m["source"], *shared, str(_body(m, "customer"))].append(m)
    chain = []
    for runs in alike.values():
        known = {m["run_id"]: _settings_of(m) for m in runs}
        prompts = {m["run_id"]: str(_part(m, "prompt").get("hash", "")) for m in runs}
        for setting in dict.fromkeys(name for own in known.values() for name in own):
            groups: dict[Any, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
            for run_id, own in known.items():
                rest = tuple(sorted((name, value) for name, value in own.items() if name != setting))
                groups[rest, "" if setting == "prompt" else prompts[run_id]][own.get(setting, DEFAULT)].append(run_id)
            for values in groups.values():
                base, *others = sorted(values, key=level)
                for value in others:
                    pairs = product(values[base], values[value])
                    chain += [(setting, (run_a, base), (run_b, value)) for run_a, run_b in pairs]
    return chain


def _part(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    return manifest["inputs"].get(name) or {}


def _value(manifest: dict[str, Any], name: str) -> Any:
    return _part(manifest, name).get("value")


def _body(manifest: dict[str, Any], role: str) -> Any:
    value = _value(manifest, "settings")
    return value.get(role) if isinstance(value, dict) else None


def without_copies(runs: Sequence[RunFile], keep: str | None = None) -> list[RunFile]:
    """Drop scripted runs that repeat another run with the same inputs.

    A scripted agent is deterministic, so a second file adds no information. The run with the most trials of the most
    cases is kept, and so is the run whose run_id is `keep`.
    """
    manifests = {run.run_id: run.manifest for run in runs}
    alike: dict[Any, list[RunFile]] = defaultdict(list)
    for run in runs:
        if manifests[run.run_id]["source"] == "scripted":
            inputs = manifests[run.run_id]["inputs"]
            alike[tuple(sorted((name, part["hash"]) for name, part in inputs.items()))].append(run)
    copies: set[str] = set()
    for same in alike.values():
        kept: list[set[tuple[Any, ...]]] = []
        for run in sorted(same, key=lambda r: (r.run_id != keep, -len(r.endings()))):
            cases = manifests[run.run_id]["cases"]
            trials = {(case_id, trial, cases.get(case_id)) for case_id, trial in run.endings()}
            if run.run_id != keep and any(trials <= other for other in kept):
                copies.add(run.run_id)
            kept.append(trials)
    return [run for run in runs if run.run_id not in copies]
