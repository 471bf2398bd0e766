"""Define required facts: typed values that must be stated, found in texts of any language."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ..errors import BadInput
from ..language.answers import Mention, cleaned, mentions, stands, telling
from ..language.layout import ANY_YEAR
from ..language.owners import Objects, object_words
from ..language.pours import Values, answering
from ..language.renderings import labelled, rendering
from ..language.sentences import fold, found_in
from ..language.values import WINDOWS, values_in
from ..language.word_lists import units

Kind = Literal["money", "date", "id", "link", "measure", "choice"]


def money(cents: int | str | float) -> str:
    """Return cents as ``$1,234.50``."""
    return f"${int(cents) / 100:,.2f}"


def cents_of(value: Any) -> int | float:
    """Return an amount in cents; refuse a text such as ``29.00``, whose unit nobody knows."""
    if not isinstance(value, int | float):
        raise BadInput(f"{value!s:.40} is not an amount in cents: write whole cents, such as 2900 for 29.00")
    return value


class Fact(BaseModel):
    """A required fact."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    """money (integer cents), date (ISO), id, link, measure (number or range ``5-10`` with `unit`) or choice."""
    value: str | int | float
    """Value that must be stated."""
    unit: str | None = None
    """Key of `UNITS`, for a measure."""
    options: dict[str, list[str]] | None = None
    """Options of a choice with the regular expressions that name them; `value` is one of the keys."""
    rivals: list[str | int | float] = []
    """Wrong values of the same kind; if one accompanies the right value, the fact does not count."""
    say: str | None = None
    """Wording for the scripted oracle, if a bare value would be unclear."""
    ask: str | None = None
    """The customer's question, in its own voice, if an answer omits the fact."""
    after: int | None = None
    """Number of the customer's follow-up that first asks for the fact."""

    @property
    def in_words(self) -> str:
        """Return the value as a page shows it: ``$213.00``, ``3-5 days``, ``whole term``."""
        value = money(self.value) if self.kind == "money" else str(self.value)
        return f"{value} {self.unit or ''}".strip().replace("_", " ") if self.kind in ("measure", "choice") else value

    def found_in(self, text: str) -> bool:
        """Return whether `text` (in lower case, see `fold`) contains a rendering of the value."""
        return _stands_in(text, self.kind, str(self.value), self.unit, self._names(self.value))

    def rival_in(self, text: str) -> bool:
        """Return whether `text` contains a rendering of a rival value."""
        return any(_stands_in(text, self.kind, r, self.unit, self._names(r)) for r in self._strict())

    def told(
        self,
        texts: Iterable[str],
        asked: Values = frozenset(),
        rivals_only: bool = False,
        beside: Iterable["Fact"] = (),
    ) -> bool:
        """Return whether the agent's messages state the fact as an answer.

        A message must contain the value without denying it, listing it among others or burying it in a dump. No other
        value may take its place; after a correction the last statement counts (see `benchmark_lib.language.answers`).
        Values of other questions (`asked`), and the steps of a sum that leads to them, make no dump and take no other
        value's place. With `rivals_only`, for answers to many questions, nothing counts as a dump, and only a rival in
        a sentence of its own replaces the value. A value for the object of another fact (`beside`) is no rival either.
        """
        texts = list(texts)
        if not any(self.found_in(fold(cleaned(t))) for t in texts):
            return False
        kind, objects = self.unit if self.kind == "measure" else self.kind, self._objects(beside)
        written = fold if kind == "link" else str
        others = frozenset(written(value) for of_kind, value in asked if of_kind == kind) - {written(str(self.value))}
        occurrences = [
            m._replace(chain=(index, *m.chain))
            for index, text in enumerate(map(cleaned, texts) if rivals_only else answering(texts, asked))
            for m in self._mentions(text, others, objects)
            if not m.owner  # this fact's own, or nobody's
        ]
        strict = tuple(rival for rival in self._strict() if rival not in others)
        if rivals_only:
            own = {m.chain[:-1] for m in occurrences if not m.value and m.how == "said"}
            occurrences = [m for m in occurrences if not m.value or (m.value in strict and m.chain[:-1] not in own)]
        sums = {m.chain for m in occurrences if m.value in others}
        steps = [m for m in occurrences if m.value and m.value not in strict and m.chain in sums]
        return stands([m for m in occurrences if m.value not in others and m not in steps], strict)

    def named_as(self, other: "Fact", texts: Iterable[str]) -> bool:
        """Return whether the value appears only in the words of another fact of the same kind."""
        if not (self.say and other.say and self.kind == other.kind != "choice"):
            return False
        own, foreign = telling(fold(self.say)), telling(fold(other.say))
        objects = (own - foreign, foreign - own)
        occurrences = [m for text in texts for m in self._mentions(cleaned(text), objects=objects)]
        owners = [m.owner for m in occurrences if m.how == "said" and not m.value]
        return bool(owners) and all(owner == 1 for owner in owners)

    def _mentions(self, text: str, asked: frozenset[str] = frozenset(), objects: Objects = ()) -> list[Mention]:
        right = rendering(self.kind, str(self.value), self.unit, self._names(self.value))
        return mentions(text, right, self._others, self.kind, asked, objects)

    def _objects(self, beside: Iterable["Fact"]) -> Objects:
        # The words for this fact's object, then those of others of its kind, if named.
        alike = [f for f in beside if (f.kind, f.unit) == (self.kind, self.unit) and f.value != self.value]
        if not alike or self.kind == "choice":
            return ()
        words = [object_words(f.say or "", f.ask or "", telling) for f in (self, *alike)]
        distinct = [own.difference(*words[:n], *words[n + 1 :]) for n, own in enumerate(words)]
        return tuple(distinct) if any(distinct) else ()

    def _others(self, folded: str) -> Iterator[tuple[int, int, str]]:
        # The places of other values of the fact's kind in a folded sentence, rivals first.
        for rival in self._strict():
            pattern = rendering(self.kind, rival, self.unit, self._names(rival))
            yield from ((m.start(), m.end(), rival) for m in pattern.finditer(folded))
        year = int(str(self.value)[:4]) if self.kind == "date" else ANY_YEAR
        kind = self.unit if self.kind == "measure" else self.kind
        if kind in WINDOWS or self.kind in ("money", "date", "link"):
            yield from ((v.at, v.end, v.value) for v in values_in(folded, year) if v.kind == kind)
        elif self.kind == "measure" and kind != "count":
            figure = r"\d+(?:[.,]\d+)?"
            number = re.compile(rf"(?<![\d.,]){figure}{units()[kind or '']}(?!\w)|{labelled(kind or '', figure)}")
            yield from ((m.start(), m.end(), m.group()) for m in number.finditer(folded))

    def _strict(self) -> tuple[str, ...]:
        others = (o for o in self.options or {} if o != self.value) if self.kind == "choice" else ()
        return tuple(map(str, (*self.rivals, *others)))

    def _names(self, value: Any) -> tuple[str, ...]:
        return tuple((self.options or {}).get(str(value), ())) if self.kind == "choice" else ()


def stated_facts(
    facts: Mapping[str, Fact], texts: Mapping[str, list[str]], asked: Values, rivals_only: bool = False
) -> dict[str, bool]:
    """Return which facts the messages state; two facts under swapped names count as unstated."""
    beside = () if rivals_only else tuple(facts.values())
    states = {name: fact.told(texts[name], asked, rivals_only, beside) for name, fact in facts.items()}
    for a, b in () if rivals_only else combinations([name for name, stated in states.items() if stated], 2):
        if facts[a].named_as(facts[b], texts[a]) and facts[b].named_as(facts[a], texts[b]):
            states |= {a: False, b: False}
    return states


@lru_cache(maxsize=65_536)
def _stands_in(text: str, kind: Kind, value: str, unit: str | None, names: tuple[str, ...]) -> bool:
    # Cached, because customer and score check the same messages.
    return found_in(rendering(kind, value, unit, names), text)
