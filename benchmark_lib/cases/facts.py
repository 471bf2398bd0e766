"""Required facts: typed values an agent must tell, found in text in any of the desk's languages.

A fact counts as told when one of its renderings stands in the agent's words as an answer (see `Fact.told`).
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ..language.answers import ANY_YEAR, Mention, Values, answering, cleaned, mentions, stands, telling
from ..language.folding import fold
from ..language.pieces import found_in
from ..language.renderings import labelled, rendering
from ..language.values import WINDOWS, values_in
from ..language.words import units

Kind = Literal["money", "date", "id", "link", "measure", "choice"]


def money(cents: int | str | float) -> str:
    """Cents as ``$1,234.50``."""
    return f"${int(cents) / 100:,.2f}"


class Fact(BaseModel):
    """A required fact."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    """money (integer cents), date (ISO), id, link, measure (number or range ``5-10`` with `unit`) or choice."""
    value: str | int | float
    """The value that must be told."""
    unit: str | None = None
    """A key of `UNITS`, for a measure."""
    options: dict[str, list[str]] | None = None
    """For a choice: every option with the regular expressions that name it; `value` is one of the keys."""
    rivals: list[str | int | float] = []
    """Values of the same kind; one of them beside the right one makes the fact untold."""
    say: str | None = None
    """How the scripted oracle puts it, where a bare value would read badly."""
    ask: str | None = None
    """How the customer asks for it, in its own voice, where an answer leaves it out."""
    after: int | None = None
    """The follow-up of the customer that first asks for it."""

    @property
    def in_words(self) -> str:
        """The value as a page shows it: ``$213.00``, ``3-5 days``, ``whole term``."""
        value = money(self.value) if self.kind == "money" else str(self.value)
        return f"{value} {self.unit or ''}".strip().replace("_", " ") if self.kind in ("measure", "choice") else value

    def found_in(self, text: str) -> bool:
        """Whether a rendering of the value stands in `text` (in lower case, see `fold`)."""
        return _stands_in(text, self.kind, str(self.value), self.unit, self._names(self.value))

    def rival_in(self, text: str) -> bool:
        """Whether a rendering of a rival value stands in `text`."""
        return any(_stands_in(text, self.kind, r, self.unit, self._names(r)) for r in self._strict())

    def told(self, texts: Iterable[str], asked: Values = frozenset(), rivals_only: bool = False) -> bool:
        """Whether the agent's messages tell the fact as an answer.

        It stands in one of them and is not denied, listed among others or lost in a pour, and nothing else is said in
        its place; a correction counts as what was said last (see `benchmark_lib.language.answers`). What else was asked
        for (`asked`) makes no pour and stands in no other value's place, even where it is listed as a rival; nor do the
        steps of a sum that comes to it. With `rivals_only` nothing is a pour, and nothing stands in its place but a
        rival in a sentence of its own: an answer to many questions names many values, and has more to do than to name
        them.
        """
        texts = list(texts)
        if not any(self.found_in(fold(cleaned(t))) for t in texts):
            return False
        kind = self.unit if self.kind == "measure" else self.kind
        written = fold if kind == "link" else str
        others = frozenset(written(value) for of_kind, value in asked if of_kind == kind) - {written(str(self.value))}
        said = [
            m._replace(chain=(place, *m.chain))
            for place, text in enumerate(map(cleaned, texts) if rivals_only else answering(texts, asked))
            for m in self._mentions(text, others)
        ]
        strict = tuple(rival for rival in self._strict() if rival not in others)
        if rivals_only:
            own = {m.chain[:-1] for m in said if not m.value and m.how == "said"}
            said = [m for m in said if not m.value or (m.value in strict and m.chain[:-1] not in own)]
        sums = {m.chain for m in said if m.value in others}
        steps = [m for m in said if m.value and m.value not in strict and m.chain in sums]
        return stands([m for m in said if m.value not in others and m not in steps], strict)

    def named_as(self, other: "Fact", texts: Iterable[str]) -> bool:
        """Whether messages say the value only in the words that put another fact of the kind, and in none that put its own."""
        if not (self.say and other.say and self.kind == other.kind != "choice"):
            return False
        mine, theirs = telling(fold(self.say)), telling(fold(other.say))
        mine, theirs = mine - theirs, theirs - mine
        said = [m for text in texts for m in self._mentions(cleaned(text), frozenset()) if not m.value]
        about = [m.about | m.under[0] for m in said if m.how == "said"]
        return bool(about) and all(words & theirs and not words & mine for words in about)

    def _mentions(self, text: str, asked: frozenset[str]) -> list[Mention]:
        right = rendering(self.kind, str(self.value), self.unit, self._names(self.value))
        return mentions(text, right, self._others, dates=self.kind == "date", asked=asked)

    def _others(self, folded: str) -> Iterator[tuple[int, int, str]]:
        """The places of values of the fact's kind in a folded sentence: its rivals first, then all others."""
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
        """The values that the case names as rivals; of a choice its other options."""
        others = (o for o in self.options or {} if o != self.value) if self.kind == "choice" else ()
        return tuple(map(str, (*self.rivals, *others)))

    def _names(self, value: Any) -> tuple[str, ...]:
        return tuple((self.options or {}).get(str(value), ())) if self.kind == "choice" else ()


@lru_cache(maxsize=65_536)
def _stands_in(text: str, kind: Kind, value: str, unit: str | None, names: tuple[str, ...]) -> bool:
    """Whether a value stands in a folded text; customer and score ask the same of the same messages."""
    return found_in(rendering(kind, value, unit, names), text)
