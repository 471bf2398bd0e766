"""List the names that ``--cases`` takes, each with its number of cases and its meaning."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import BadInput
from ..store import Store, load_store
from .case import Case
from .load import HARD, case_set, load_cases, trap_kind

BUCKET_WORDS = {
    "resolvable": "can be resolved in the conversation, without a handover",
    "must_escalate": "must be handed over to a person",
    "adversarial": "the traps: the forbidden act must be refused",
}
ARM_WORDS = {
    "hard": "with the hard thing",
    "clean": "the same without it",
    "told": "with the deciding articles handed over",
}
FURTHER = (
    ("arm", "told", ARM_WORDS["told"]),
    ("selection", "slice", "a few cases for a quick look"),
    ("further set", "wordings", "cases retold in other voices, reported separately"),
    ("further set", "factorial", "the evidence x pressure table, reported separately"),
    ("further set", HARD, "the hard set, reported separately: `deskbench cases hard` lists its names"),
)
"""Kind, name and meaning of sets outside all cases of a store, or across its buckets."""


class NameOfCases(NamedTuple):
    """A name with its kind, number of cases and meaning."""

    kind: str
    name: str
    cases: int
    meaning: str


def names_with_counts(store: Store, cases: list[Case]) -> Iterator[NameOfCases]:
    """Yield the names of a store's cases: buckets, kinds, intents, families, arms, more sets."""
    descriptions = {**store.info.get("intents", {}), **store.info.get("traps", {}), **store.info.get("families", {})}

    def described(kind: str, counts: Counter[str]) -> Iterator[NameOfCases]:
        for name, number in counts.items():
            yield NameOfCases(kind, name, number, descriptions.get(name, {}).get("description", ""))

    for bucket, count in Counter(c.bucket for c in cases).items():
        members = [c for c in cases if c.bucket == bucket and not c.family]
        yield NameOfCases("bucket", bucket, count, BUCKET_WORDS.get(bucket, ""))
        kinds = Counter(kind for c in members if (kind := trap_kind(c, store)))
        yield from (
            NameOfCases("failure kind", k, number, "what a trap tempts the agent to do") for k, number in kinds.items()
        )
        yield from described("trap" if kinds else "intent", Counter(c.intent for c in members if c.intent != bucket))
    yield from described("family", Counter(c.family for c in cases if c.family))
    yield from (NameOfCases("arm", a, n, ARM_WORDS[a]) for a, n in Counter(c.arm for c in cases if c.arm).items())
    for kind, name, meaning in FURTHER:
        if number := _count(store, name):
            yield NameOfCases(kind, name, number, meaning)


def _count(store: Store, name: str) -> int:
    hard = name == HARD
    if hard and f":{HARD}" in store.name:
        return 0
    try:
        return len(load_cases(load_store(case_set(store.name, HARD)[0]) if hard else store, "all" if hard else name))
    except BadInput:
        return 0
