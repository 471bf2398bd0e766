"""What a customer hears in an agent's message: slots asked for, actions proposed, actions claimed. By kept patterns, no model.

The patterns stand in the store's ``phrases/<language>.yaml``; a message is read with those of every language at once, since an agent may
answer in another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from ..cases.facts import fold
from ..errors import BadInput

if TYPE_CHECKING:
    from ..store import Store


@dataclass
class Heard:
    """One message as the customer understands it.

    Attributes
    ----------
    asked : list of str
        Slots the message asks for.
    proposed : list of str
        Tools the message asks a yes for.
    claimed : list of str
        Tools the message says were carried out.
    confirm : bool
        The message asks for a yes, whether or not the action was understood.
    question : bool
        The message asks something (closing courtesies left out).
    """

    asked: list[str] = field(default_factory=list)
    proposed: list[str] = field(default_factory=list)
    claimed: list[str] = field(default_factory=list)
    confirm: bool = False
    question: bool = False


class Ear:
    """The compiled patterns of a store."""

    def __init__(self, store: "Store"):
        books = list(store.phrases.values())
        if not books:
            raise BadInput(f"{store.path / 'phrases'}: no phrases; a store needs at least one language file there")
        self.request = _union([b["question"]["request"] for b in books])
        self.confirm = _union([b["question"]["confirm"] for b in books])
        self.closing = _union([b["question"]["closing"] for b in books])
        self.done = _union([b["done"] for b in books])
        self.slots = _by_name(books, "slots")
        self.actions = _by_name(books, "actions")
        self.reasons = {
            name: _union(entry["patterns"]) for b in books for name, entry in (b.get("reasons") or {}).items()
        }

    def hear(self, text: str) -> Heard:
        """Read one message."""
        heard = Heard()
        earlier = ""
        for sentence in sentences(fold(text)):
            asks = sentence.rstrip().endswith("?")
            confirm = bool(self.confirm.search(sentence))
            request = asks or confirm or bool(self.request.search(sentence))
            if request and self.closing.search(sentence):
                continue
            if request:
                self._read_question(sentence, earlier, confirm, heard)
            elif self.done.search(sentence):
                heard.claimed += [t for t in self._actions_in(sentence) if t not in heard.claimed]
            earlier = sentence
        return heard

    def _read_question(self, sentence: str, earlier: str, confirm: bool, heard: Heard) -> None:
        heard.question = True
        asked = [s for s, p in self.slots.items() if p.search(sentence)]
        if confirm:
            heard.confirm = True
            proposed = self._actions_in(sentence) or self._actions_in(earlier)
            heard.proposed += [t for t in proposed if t not in heard.proposed]
            if proposed:
                asked = [s for s in asked if s not in ("goal", "address", "which_one", "reason", "date", "item", "color", "size")]
        heard.asked += [s for s in asked if s not in heard.asked]

    def _actions_in(self, sentence: str) -> list[str]:
        return [t for t, p in self.actions.items() if p.search(sentence)]

    def reasons_in(self, texts: list[str]) -> list[str]:
        """The listed reasons that stand in the messages."""
        folded = [fold(t) for t in texts]
        return [name for name, pattern in self.reasons.items() if any(pattern.search(t) for t in folded)]


@lru_cache(maxsize=8)
def ear(store: "Store") -> Ear:
    """The store's patterns, compiled once."""
    return Ear(store)


_END = re.compile(r"(?<=[?!])\s+|(?<=[a-zäöüßéèáíóúñ)\d\"']\.)\s+(?=[^\d])|\n+")


def sentences(text: str) -> list[str]:
    """Split text at sentence ends and line breaks."""
    return [s.strip() for s in _END.split(text) if s.strip()]


def _union(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns))


def _by_name(books: list[dict], part: str) -> dict[str, re.Pattern[str]]:
    names = dict.fromkeys(n for b in books for n in b[part])
    return {n: _union([b[part][n]["patterns"] for b in books if n in b[part]]) for n in names}
