"""Required facts: typed values an agent must tell, found in text in any of the desk's languages.

A fact counts as told when one of its renderings stands in the agent's words and no rendering of a rival value does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ..language.folding import fold
from ..language.pieces import found_in, kept
from ..language.renderings import rendering

Kind = Literal["money", "date", "id", "link", "measure", "choice"]


def money(cents: int | str | float) -> str:
    """Cents as ``$1,234.50``."""
    return f"${int(cents) / 100:,.2f}"


class Fact(BaseModel):
    """A required fact.

    Attributes
    ----------
    kind : str
        money (integer cents), date (ISO), id, link, measure (number or range ``5-10`` with `unit`) or choice.
    value : str or int or float
        The value that must be told.
    unit : str, optional
        A key of `UNITS`, for a measure.
    options : dict of str to list of str, optional
        For a choice: every option with the regular expressions that name it; `value` is one of the keys.
    rivals : list
        Values of the same kind; one of them beside the right one makes the fact untold.
    say : str, optional
        How the scripted oracle puts it, where a bare value would read badly.
    ask : str, optional
        How the customer asks for it, in its own voice, where an answer leaves it out.
    after : int, optional
        The follow-up of the customer that first asks for it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    value: str | int | float
    unit: str | None = None
    options: dict[str, list[str]] | None = None
    rivals: list[str | int | float] = []
    say: str | None = None
    ask: str | None = None
    after: int | None = None

    @property
    def in_words(self) -> str:
        """The value as a page shows it: ``$213.00``, ``3-5 days``, ``whole term``."""
        value = money(self.value) if self.kind == "money" else str(self.value)
        return f"{value} {self.unit or ''}".strip().replace("_", " ") if self.kind in ("measure", "choice") else value

    def found_in(self, text: str) -> bool:
        """Whether a rendering of the value stands in `text` (in lower case, see `fold`)."""
        return found_in(rendering(self.kind, str(self.value), self.unit, self._names(self.value)), text)

    def rival_in(self, text: str) -> bool:
        """Whether a rendering of a rival value stands in `text`."""
        others = self.rivals
        if self.kind == "choice":
            others = [*others, *(o for o in self.options or {} if o != self.value)]
        return any(found_in(rendering(self.kind, str(r), self.unit, self._names(r)), text) for r in others)

    def told(self, texts: Iterable[str]) -> bool:
        """Whether the agent's messages tell the fact: the value stands in one of them and no rival in any."""
        folded = [fold(kept(t)) for t in texts]
        return any(self.found_in(t) for t in folded) and not any(self.rival_in(t) for t in folded)

    def _names(self, value: Any) -> tuple[str, ...]:
        return tuple((self.options or {}).get(str(value), ())) if self.kind == "choice" else ()
