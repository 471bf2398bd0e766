"""``deskbench cases``."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from .codes import FINISHED

if TYPE_CHECKING:
    from ..cases import Case
    from ..store import Store

BUCKET_WORDS = {
    "resolvable": "can be resolved in the conversation, without a handover",
    "must_escalate": "has to be handed over to a person",
    "adversarial": "the traps: the forbidden act is to be refused",
}
ARM_WORDS = {
    "hard": "with the hard thing",
    "clean": "the same without it",
    "told": "with the deciding articles handed over",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench cases``."""
    parser.add_argument(
        "pattern",
        nargs="?",
        default="all",
        metavar="PATTERN",
        help="list the cases that it names, one by one; hard for the names of the hard set (default: the names of the core set)",
    )
    parser.add_argument(
        "--store", default="northline", metavar="DIR", help="name or folder of a store (default: northline)"
    )


def execute(options: argparse.Namespace) -> int:
    """Print every name that --cases takes with the number of its cases, or the cases of one name."""
    from ..cases.load import HARD, case_set, load_cases
    from ..reports.terminal import columns, screen_width
    from ..store import load_store

    name, pattern = case_set(options.store, options.pattern)
    store = load_store(name)
    found = load_cases(store, pattern)
    prefix = f"{HARD}:" if options.pattern.startswith(HARD) else ""
    print(f"{store.name} {store.version}: {len(found)} cases")
    if pattern == "all":
        rows = [("kind", "name for --cases", "cases", "what it is"), *_names(store, found, prefix)]
        print("\n".join(columns(rows, right=(2,), width=screen_width(), gives=3)))
        print(
            "Several names are separated by commas, * and ? are wildcards. `deskbench cases NAME` lists the cases of a name."
        )
    else:
        rows = [("id", "bucket", "intent", "title"), *((c.id, c.bucket, c.intent, c.title) for c in found)]
        print("\n".join(columns(rows, width=screen_width(), gives=3)))
    return FINISHED


def _names(store: Store, cases: list[Case], prefix: str) -> list[tuple[str, str, str, str]]:
    """Each name with the number of its cases, and what it is: buckets, intents, failure kinds, families, further sets."""
    from ..cases.load import trap_kind

    told = {**store.info.get("intents", {}), **store.info.get("traps", {}), **store.info.get("families", {})}
    rows: list[tuple[str, str, int, str]] = []
    for bucket, count in Counter(c.bucket for c in cases).items():
        mine = [c for c in cases if c.bucket == bucket and not c.family]
        rows.append(("bucket", bucket, count, BUCKET_WORDS.get(bucket, "")))
        kinds = Counter(kind for c in mine if (kind := trap_kind(c, store)))
        rows += [("failure kind", kind, number, "what a trap tempts into") for kind, number in kinds.items()]
        kind = "trap" if kinds else "intent"
        for intent, number in Counter(c.intent for c in mine if c.intent != bucket).items():
            rows.append((kind, intent, number, told.get(intent, {}).get("description", "")))
    for family, number in Counter(c.family for c in cases if c.family).items():
        rows.append(("family", family, number, told.get(family, {}).get("description", "")))
    rows += [("arm", arm, number, ARM_WORDS[arm]) for arm, number in Counter(c.arm for c in cases if c.arm).items()]
    for kind, name, words in FURTHER:
        if number := _count(store, name):
            rows.append((kind, name, number, words))
    return [(kind, f"{prefix}{name}", str(number), words) for kind, name, number, words in rows]


FURTHER = (
    ("arm", "told", ARM_WORDS["told"]),
    ("selection", "slice", "a few cases for a quick look"),
    ("further set", "wordings", "cases told again in other voices, reported apart"),
    ("further set", "factorial", "the evidence x pressure table, reported apart"),
    ("further set", "hard", "the hard set, reported apart: `deskbench cases hard` lists its names"),
)


def _count(store: Store, name: str) -> int:
    """How many cases a name has; 0 where the store has none of it."""
    from ..cases.load import HARD, case_set, load_cases
    from ..errors import BadInput
    from ..store import load_store

    try:
        if name != HARD or f":{HARD}" in store.name:
            return len(load_cases(store, name)) if name != HARD else 0
        return len(load_cases(load_store(case_set(store.name, HARD)[0]), "all"))
    except BadInput:
        return 0
