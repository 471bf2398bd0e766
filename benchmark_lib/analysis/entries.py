"""The name of a run in every table: its model's name and, in words, what distinguishes the runs of one model."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import orjson

from ..cases.played import store_words
from ..records import UNPROTECTED, is_played
from .estimators.estimate import counted

if TYPE_CHECKING:
    import pandas as pd

    from .frames import Results

RULES_NAMED = 2
"""Rules of an operator that a name contains; of more it has the first and their number."""
NAMED = ("store", "customer", "prompt", "settings", "agent", "tools", "messages", "seed")
"""Inputs of a run that have words of their own in a name; any other stands there under its own."""
APART = ("model", "players", "rules")
"""Inputs that a name shows otherwise."""

LONGEST = 40
"""How many characters of a value a name contains."""

_FILE = re.compile(r".+?\.\w+(?= |$)")
HASH_SHOWN = 4
"""How many characters of a content's hash a name contains, where the words alone do not say which content it is."""


def entry_names(manifests: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The entry of each run.

    Parameters
    ----------
    manifests : iterable of dict
        The manifests of all runs that are shown together; the names depend on which these are.

    Returns
    -------
    dict of str to str
        By run_id, no two alike: the name of the model if it has one run, otherwise followed by what differs,
        ``"acme-large [seed 7]"``. A prompt of one's own and an operator's rules are always named, the prompt by its
        file and the first characters of its hash. Where nothing differs the run_id says which run it is. Imported records of a model
        never change the name of its run here.
    """
    runs: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for manifest in manifests:
        runs[manifest["model"], manifest["source"] == "imported"].append(manifest)
    names: dict[str, str] = {}
    for (model, imported), mine in runs.items():
        words = told_apart(mine) if len(mine) > 1 else _store(mine) if imported and (model, False) in runs else [""]
        words = [_never_unsaid(said, m) for said, m in zip(words, mine, strict=True)]
        names |= {m["run_id"]: f"{model} [{said}]" if said else model for m, said in zip(mine, words, strict=True)}
    times = Counter(names.values())
    return {run_id: name if times[name] == 1 else f"{name} [{run_id}]" for run_id, name in names.items()}


def entry_meant(results: Results | pd.DataFrame, name: str | None) -> str | None:
    """The entry that a name stands for: an entry as it is, or that of the run whose file, run_id or only model it is.

    The entry of a run depends on what else is there, its file does not: a command that names the file is true later too.
    """
    entries = getattr(results, "entries", {})
    if name is None or name in entries.values():
        return name
    runs = getattr(results, "runs", ())
    found = [entries[r.run_id] for r in runs if name in (r.run_id, r.path.name, r.path.stem, str(r.path))]
    alike = found or [entries[r.run_id] for r in runs if name == r.manifest["model"]]
    return found[0] if found else alike[0] if len(alike) == 1 else name


def _never_unsaid(said: str, manifest: dict[str, Any]) -> str:
    """Return the words on a run with the prompt of one's own, the rules, and that its isolated agent was unprotected."""
    prompt = own_prompt(manifest)
    apart = (manifest["inputs"].get("isolate") or {}).get("value")
    own = (f"prompt {prompt}" if prompt else "", _rules(manifest), UNPROTECTED if apart == UNPROTECTED else "")
    return ", ".join(filter(None, (said, *(words for words in own if words not in said))))


def own_prompt(manifest: dict[str, Any]) -> str:
    """A prompt that is not the store's own, ``brief.md (3fa2)``: its file, and the beginning of its content's hash."""
    part, store = (manifest["inputs"].get(name) or {} for name in ("prompt", "store"))
    value = str(part.get("value") or "").strip()
    stores_own = value.split(" ")[0] == str(store.get("value") or "").split(" ")[0]
    if not value or stores_own or manifest.get("source") == "imported":
        return ""
    file = _FILE.match(value)  # what follows is its version, which a copy shares with the original
    return f"{as_named(file[0] if file else value)} ({str(part.get('hash'))[:HASH_SHOWN]})"


def _rules(manifest: dict[str, Any]) -> str:
    """The rules of an operator in a few words: ``rules ticket_first and 6 more``; empty where there are none."""
    names = str((manifest["inputs"].get("rules") or {}).get("value") or "").split(", ")
    told = ", ".join(names) if len(names) <= RULES_NAMED else f"{names[0]} and {len(names) - 1} more"
    return f"rules {as_named(told)}" if names[0] else ""


def told_apart(manifests: list[dict[str, Any]]) -> list[str]:
    """What distinguishes several runs, as briefly as possible.

    The first trait that differs in all of them, or several traits, or the run_id.
    """
    differing = [column for column in _traits(manifests) if len(set(column)) > 1]
    alone = next((column for column in differing if len(set(column)) == len(manifests)), None)
    if alone is not None:
        return alone
    told: list[tuple[str, ...]] = [()] * len(manifests)
    for column in differing:
        more = [(*words, word) for words, word in zip(told, column, strict=True)]
        told = more if len(set(more)) > len(set(told)) else told
    times = Counter(told)
    return [
        ", ".join(words if times[words] == 1 else (*words, m["run_id"]))
        for words, m in zip(told, manifests, strict=True)
    ]


def _traits(manifests: list[dict[str, Any]]) -> Iterable[list[str]]:
    """Each trait by which runs may differ, in words for each run; the first that distinguishes all of them is used."""
    yield _store(manifests)
    yield input_words(manifests, "customer", "customer {}", "customer unknown")
    yield [f"played: {m['source']}" if is_played(m["source"]) else "not played" for m in manifests]
    known = input_words(manifests, "prompt", "prompt {}", "prompt unknown", last_word=True)
    own = map(own_prompt, manifests)
    yield [f"prompt {mine}" if mine else words for mine, words in zip(own, known, strict=True)]
    yield [_rules(m) or "no rules" for m in manifests]
    yield _settings(manifests)
    yield input_words(manifests, "agent", "agent {}", "no own agent")
    yield input_words(manifests, "tools", "tools {}", "no own tools")
    yield input_words(manifests, "messages", "{} messages", "messages unknown")
    yield input_words(manifests, "seed", "seed {}", "seed unknown")
    for name in sorted({name for m in manifests for name in m["inputs"]} - {*NAMED, *APART}):
        yield input_words(manifests, name, f"{name} {{}}", f"no {name}")
    yield [counted(len(m["planned"]), "case") for m in manifests]
    yield [counted(max(m["planned"].values(), default=0), "trial") for m in manifests]


def _store(manifests: list[dict[str, Any]]) -> list[str]:
    words = store_words(manifests)
    return [words[m["run_id"]] for m in manifests]


def input_words(
    manifests: list[dict[str, Any]], name: str, shape: str, absent: str, *, last_word: bool = False
) -> list[str]:
    """One input in words, of a value such as ``northline agent-1`` perhaps the last.

    With the beginning of the content's hash where the same words stand for several contents.
    """
    parts = [m["inputs"].get(name) or {} for m in manifests]
    texts = [as_named(part.get("value")) for part in parts]
    if last_word:
        texts = [text.partition(" ")[2] if text.count(" ") == 1 else text for text in texts]
    words = [
        absent if part.get("value") in (None, "", []) else shape.format(text)
        for part, text in zip(parts, texts, strict=True)
    ]
    hashes = [str(part.get("hash")) for part in parts]
    times = Counter(said for said, _ in set(zip(words, hashes, strict=True)))
    return [
        said if times[said] == 1 else f"{said} ({content[:HASH_SHOWN]})"
        for said, content in zip(words, hashes, strict=True)
    ]


def _settings(manifests: list[dict[str, Any]]) -> list[str]:
    """The settings of the models that differ: ``temperature 0.2, reasoning effort high``."""
    flat = [dict(flat_settings(((m["inputs"].get("settings") or {}).get("value")) or {})) for m in manifests]
    names = [
        name
        for name in dict.fromkeys(n for one in flat for n in one)
        if len({orjson.dumps(one.get(name)) for one in flat}) > 1
    ]
    return [
        ", ".join(f"{name} {as_named(one[name])}" for name in names if name in one) or "default settings"
        for one in flat
    ]


def flat_settings(value: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    """Settings one by one, those of the agent without a prefix."""
    if not isinstance(value, dict):
        yield name.removeprefix("agent ").replace("_", " "), value
        return
    for key, inner in value.items():
        yield from flat_settings(inner, f"{name} {key}".strip())


def as_named(value: Any) -> str:
    """A value as it appears in a name."""
    text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
