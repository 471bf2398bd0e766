"""Compile one language's phrases: cues of a sentence's act, and the slots and tools that it names."""

import re
from typing import Any

from .patterns import compile_patterns, union


class PhraseBook:
    """The patterns of ``phrases/<language>.yaml``: cues, and topics by their names in the trained reader."""

    def __init__(self, book: dict[str, Any]):
        ask = book["question"]
        self.cues = {name: compile_patterns(ask[name]) for name in ("request", "hint", "confirm", "closing")}
        self.cues |= {name: re.compile(f" (?:{union(ask[name])})") for name in ("open", "past")}
        self.cues |= {name: compile_patterns(book[name]) for name in ("done", "deny", "denied", "doubt")}
        self.topics: dict[str, dict[str, re.Pattern[str]]] = {"slot": {}, "tool": {}}
        for part, kind in (("slots", "slot"), ("actions", "tool")):
            for name, entry in book[part].items():
                self.topics[kind][f"{kind}:{name}"] = compile_patterns(entry["patterns"])
                for more in ("loose", "claims"):
                    if more in entry:
                        self.topics[kind][f"{more}:{name}"] = compile_patterns(entry[more])

    def cues_in(self, plain: str) -> list[str]:
        """Return the cues in a sentence: of a question, a report, a denial."""
        return [name for name, pattern in self.cues.items() if pattern.search(plain)]

    def topics_in(self, plain: str, kind: str) -> list[str]:
        """Return the slots or the tools that a sentence names."""
        return [name for name, pattern in self.topics[kind].items() if pattern.search(plain)]
