"""Compile one language's phrases: cues of acts, and the slots and tools it names."""

import re
from functools import lru_cache
from typing import Any

from .patterns import compile_patterns, union
from .word_lists import of_language

PARTS = ("not_asked", "heard_as")
"""Parts of the languages' files with cues for the trained reader."""

UNASKED = {"elsewhere", "later", "at_hand", "invites", "closes", "any_of_them", "own_question", "means", "explains"}
"""Kinds of sentences that only sound like a request; together they are one more cue."""


class PhraseBook:
    """The patterns of one language: cues and topics of the trained reader."""

    def __init__(self, book: dict[str, Any]):
        self._topics_in = lru_cache(maxsize=8192)(self._named)
        ask = book["question"]
        self.cues = {name: compile_patterns(ask[name]) for name in ("request", "hint", "confirm", "closing")}
        self.cues |= {name: re.compile(f" (?:{union(ask[name])})") for name in ("open", "past")}
        self.cues |= {name: compile_patterns(book[name]) for name in ("done", "deny", "denied", "doubt")}
        for part in PARTS:
            self.cues |= {name: compile_patterns(cues) for name, cues in of_language(part, book["language"]).items()}
        self.topics: dict[str, dict[str, re.Pattern[str]]] = {"slot": {}, "tool": {}}
        for part, kind in (("slots", "slot"), ("actions", "tool")):
            for name, entry in book[part].items():
                more_of = of_language("heard_as", book["language"], "slots").get(name, []) if kind == "slot" else []
                self.topics[kind][f"{kind}:{name}"] = compile_patterns(entry["patterns"] + more_of)
                for more in ("loose", "claims"):
                    if more in entry:
                        self.topics[kind][f"{more}:{name}"] = compile_patterns(entry[more])

    def cues_in(self, plain: str) -> list[str]:
        """Return the cues in a sentence: of a question, a report, a denial."""
        cues = [name for name, pattern in self.cues.items() if pattern.search(plain)]
        return [*cues, "unasked"] if UNASKED.intersection(cues) else cues

    def topics_in(self, plain: str, kind: str) -> tuple[str, ...]:
        """Return the slots or the tools that a sentence names."""
        return self._topics_in(plain, kind)

    def _named(self, plain: str, kind: str) -> tuple[str, ...]:
        return tuple(name for name, pattern in self.topics[kind].items() if pattern.search(plain))
