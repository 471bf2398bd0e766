"""What a sentence of an agent says it did, does or promises.

Kept patterns by language, read from ``data/languages/``, no model.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ...language.detection import languages_of
from ...language.pieces import LONGEST_SPOKEN, kept, limited
from ...language.sentences import Sentence, sentences
from ...language.words import books


@dataclass(frozen=True)
class Reading:
    """One message, read.

    Attributes
    ----------
    sentences : tuple of Sentence
        Its sentences.
    languages : tuple of str
        The languages it is written in, of those there are books for; empty where it is in another.
    said : tuple of (str, Sentence)
        What it says by topic (``transfer``, ``done:<tool>``, ``promise:<class>``, ``leak``) with the sentence that says
        it.
    """

    sentences: tuple[Sentence, ...]
    languages: tuple[str, ...]
    said: tuple[tuple[str, Sentence], ...]

    def about(self, topic: str) -> list[tuple[str, Sentence]]:
        """The entries of one topic, named without it: ``about("done")`` gives tools and sentences."""
        return [(name.partition(":")[2], s) for name, s in self.said if name.partition(":")[0] == topic]


def read(text: str) -> Reading:
    """Read one message, a very long one at both ends; the same text is read once."""
    return _read(kept(text, LONGEST_SPOKEN))


@lru_cache(maxsize=4096)
def _read(text: str) -> Reading:
    found = tuple(sentences(text))
    spoken = [b for language in languages_of(found) if (b := claim_patterns().get(language))]
    said = [(topic, s) for s in found for topic in dict.fromkeys(t for b in spoken for t in b.topics_in(s.plain))]
    return Reading(found, tuple(b.language for b in spoken), tuple(said))


@lru_cache(maxsize=1)
def claim_patterns() -> dict[str, ClaimPatterns]:
    """The patterns of each language that has any."""
    return {language: ClaimPatterns(book) for language, book in books().items() if "done" in book}


class ClaimPatterns:
    """The patterns of one language, each compiled when it is first needed."""

    def __init__(self, book: dict[str, Any]):
        self.book = book
        self.language: str = book["language"]
        self.parts: dict[str, str] = {"start": _START, **book["parts"]}
        joins = "|".join(book["joins"])
        self.join, self.joint = re.compile(rf" (?:{joins})\b"), re.compile(rf"[,;:]| - | (?:{joins})\b")

    @cached_property
    def topics(self) -> dict[str, _Topic]:
        """Everything that can be said, by name."""
        book, done = self.book, self.book["done"]
        topics = {
            "transfer": book["transfer"],
            **{f"done:{tool}": self._framed(entry, done) for tool, entry in done["tools"].items()},
            **{f"promise:{name}": entry for name, entry in book["commitments"].items()},
            **({"leak": book["leaks"]} if "leaks" in book else {}),
        }
        return {name: _Topic(self, entry) for name, entry in topics.items()}

    @cached_property
    def deny(self) -> re.Pattern[str]:
        """What undoes a saying that stands after it in its clause."""
        return self.compile(self.book["deny"])

    @cached_property
    def condition(self) -> re.Pattern[str]:
        """What makes a promise an offer or a plan."""
        return self.compile(self.book["condition"])

    @cached_property
    def packet(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """How a handover says what is verified, and what is claimed."""
        return self.compile(self.book["packet"]["verified"]), self.compile(self.book["packet"]["claimed"])

    def _framed(self, entry: dict[str, Any], done: dict[str, Any]) -> dict[str, list[str]]:
        """The patterns of one action.

        The language's frames with the action's verbs and objects in them, and its own.
        """
        framed = [
            f.replace("<verb>", f"(?:{entry['verb']})").replace("<object>", f"(?:{entry['object']})")
            for f in done["frames"]
        ]
        return {"now": [*framed, *entry.get("also", [])], "not": [*done["not"], *entry.get("not", [])]}

    def compile(self, patterns: list[str]) -> re.Pattern[str]:
        """One pattern from many, each beginning at the start of a word, with the parts filled in."""
        text = f" (?:{'|'.join(_grouped(patterns)) or '(?!)'})"
        while (named := _PART.sub(lambda m: self.parts[m.group(1)], text)) != text:
            text = named
        return re.compile(limited(text.replace("'", " ")))

    @lru_cache(maxsize=4096)
    def topics_in(self, sentence: str) -> tuple[str, ...]:
        """The topics a sentence speaks of; a question says nothing."""
        if sentence.endswith("?"):
            return ()
        return tuple(name for name, topic in self.topics.items() if topic.stands_in(sentence))

    def clause(self, text: str, place: int) -> int:
        """Where the clause begins that holds a place."""
        joints = self._joints(text)
        return joints[bisect_right(joints, place + 1) - 1]

    @lru_cache(maxsize=16)
    def _joints(self, text: str) -> list[int]:
        """Where clauses can begin: at 0, and where a joint ends."""
        return [0, *(joint.end() for joint in self.joint.finditer(text))]


def _grouped(patterns: list[str]) -> list[str]:
    """Patterns that begin with the same part put behind one copy of it, so that the part is tried once at each word."""
    groups: dict[str, list[str]] = {}
    for pattern in patterns:
        lead = _LEAD.match(pattern)
        groups.setdefault(lead.group() if lead else "", []).append(pattern[lead.end() :] if lead else pattern)
    return [f"{lead}(?:{'|'.join(f'(?:{rest})' for rest in rests)})" for lead, rests in groups.items()]


class _Topic:
    """One thing that can be said: now, or for later, and what undoes it."""

    def __init__(self, book: ClaimPatterns, entry: dict[str, list[str]]):
        self.book = book
        self.now = book.compile(entry["now"])
        self.will = book.compile(entry["will"]) if entry.get("will") else None
        self.undo = book.compile(entry["not"]) if entry.get("not") else None
        self.condition = book.compile(entry["condition"]) if "condition" in entry else book.condition
        self.deny = book.compile(entry["deny"]) if "deny" in entry else book.deny

    def stands_in(self, text: str) -> bool:
        """Whether a sentence says it."""
        said = any(self._undenied(m) for m in self.now.finditer(text))
        said = said or (
            self.will is not None
            and any(self._undenied(m) and self._unconditional(m) for m in self.will.finditer(text))
        )
        return said and not (self.undo and self.undo.search(text))

    def _undenied(self, m: re.Match[str]) -> bool:
        """Nothing denies it earlier in its clause."""
        return not self.deny.search(m.string, max(self.book.clause(m.string, m.start()) - 1, 0), m.end())

    def _unconditional(self, m: re.Match[str]) -> bool:
        """No condition or offer stands before it, or after it before the next clause that says more about it."""
        more = self.book.join.search(m.string, m.end())
        return not self.condition.search(m.string, 0, more.start() if more else len(m.string))


_START = r"(?:(?<=^ )|(?<=[,;:-] ))"
_PART = re.compile(r"<(\w+)>")
_LEAD = re.compile(r"<(?!start)\w+>(?: |<ya>\\b|(?=<))?")
