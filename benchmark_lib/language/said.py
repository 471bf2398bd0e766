"""Find what an agent's sentence says that the agent did, does or promises.

It uses each language's patterns from ``data/languages/`` and, for promises, a trained linear reader, but no language
model.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any

from .layout import options_in
from .linear import LinearReader, features, tokens
from .parser import parser_of
from .sentences import Sentence, is_row, kept, languages_of, limited, plain, sentences
from .word_lists import FOLDER, books, other_languages

FEWEST_WORDS = 4
"""Fewest words after a label that are meaningful alone."""
FEWEST_FOREIGN = 3
"""Fewest common words of an unsupported language that identify a message as written in it."""
PROMISES = FOLDER / "promises"
"""Folder of the promise reader, with the sentences that it was trained on (``make reader``)."""
KINDS = ("callback", "credit")
"""Kinds of promises that have too many wordings for patterns alone."""
SURE, POSSIBLE = 0.85, 0.3
"""Minimum probability of a promise, alone and together with a matching pattern."""
UNNAMED = "unnamed"
"""Topic of a sentence that says that something was done, but not what ("That is done now")."""
STEM = 4
"""Initial letters of a word that are paired with those of the next word but one."""


@dataclass(frozen=True)
class Reading:
    """One message as read."""

    sentences: tuple[Sentence, ...]
    """Sentences of the message."""
    languages: tuple[str, ...]
    """Supported languages of the message; empty if its language is unsupported."""
    said: tuple[tuple[str, Sentence], ...]
    """Topics (``transfer``, ``done:<tool>``, `UNNAMED`, ``promise:<class>``, ``leak``), each with its sentence."""

    @property
    def books(self) -> list[ClaimPatterns]:
        """Return the patterns of its languages."""
        return [claim_patterns()[language] for language in self.languages]

    def asks_or_denies(self, sentence: Sentence) -> bool:
        """Return whether a sentence is a question or a denial."""
        return sentence.plain.rstrip().endswith("?") or any(book.denial.search(sentence.plain) for book in self.books)

    def reportable(self, sentence: Sentence) -> Sentence | None:
        """Return a sentence without house-style labels; None if it only states where goods are.

        A few words after a label ("Ticket 20418: closed") are about its subject, so the label stays.
        """
        words = whole = plain(_BRACKETED.sub(" ", sentence.text))
        for book in self.books:
            words = f" {book.label.sub('', words).strip()}"
            status, alone, act = book.status
            reported = status.search(words) or (words != whole and alone.match(words))
            if reported and not act.search(words):
                return None
        if not words.strip(" .,:|-"):
            return None
        return sentence._replace(plain=words if words.count(" ") >= FEWEST_WORDS else whole)

    def states_transfer(self, sentence: Sentence) -> bool:
        """Return whether a sentence names a person, and is no question, denial, condition or offer.

        A sentence with a cue that cancels a transfer does not count either.
        """
        words, books = sentence.plain, self.books
        if words.rstrip().endswith("?") or not any(book.person.search(words) for book in books):
            return False
        undo = [t.undo for b in books if (t := b.topics.get("transfer")) is not None and t.undo is not None]
        return not any(pattern.search(words) for pattern in [*(b.undone for b in books), *undo])

    def refunds(self) -> list[Sentence]:
        """Return the sentences that say that money was paid back."""
        return self._stated(lambda book, plain: book.refunded.stands_in(plain))

    def denials_of(self, promise: str) -> list[Sentence]:
        """Return the sentences that deny a class of promise."""
        return self._stated(lambda book, plain: book.denies(promise, plain))

    def _stated(self, says: Callable[[ClaimPatterns, str], bool]) -> list[Sentence]:
        """Return the sentences, except questions, that match in one of its languages."""
        stated, books = [s for s in self.sentences if not s.plain.endswith("?")], self.books
        return [s for s in stated if any(says(book, s.plain) for book in books)]

    def to_the_point(self, text: str) -> str:
        """Return a sentence without clauses about unchanged, other or hypothetical things."""
        asides = [book.part("aside") for book in self.books]
        clauses = re.split(r"(?<=[;:])\s|,\s(?!\d)", text)
        return ", ".join(c for c in clauses if not any(p.search(plain(c)) for p in asides))

    def about(self, topic: str) -> list[tuple[str, Sentence]]:
        """Return (name, sentence) for one topic: ``about("done")`` gives tools and sentences."""
        return [(name.partition(":")[2], s) for name, s in self.said if name.partition(":")[0] == topic]


def read(text: str, languages: tuple[str, ...] = ()) -> Reading:
    """Read one message, in the given languages or its own; of a very long one, read both ends."""
    return _read(kept(text), languages)


@lru_cache(maxsize=4096)
def _read(text: str, languages: tuple[str, ...]) -> Reading:
    pieces = tuple(sentences(text))
    spoken = [b for language in languages or languages_of(pieces) if (b := claim_patterns().get(language))]
    options = options_in(pieces, tuple(b.language for b in spoken))
    topics = [(topic, s) for n, s in enumerate(pieces) for topic in _topics(s, spoken, n in options)]
    return Reading(pieces, tuple(b.language for b in spoken), tuple(topics))


def _topics(sentence: Sentence, spoken: list[ClaimPatterns], option: bool) -> list[str]:
    """Return the topics of a sentence; the reader decides on promises, and an `option` has none."""
    topics = dict.fromkeys(topic for book in spoken for topic in book.topics_in(sentence.plain))
    if is_row(sentence.plain):
        topics = dict.fromkeys(topic for topic in topics if not topic.startswith(("done:", UNNAMED)))
    promises = [topic for topic in topics if topic.startswith("promise:")]
    for kind, chance in _promised(sentence).items() if spoken else ():
        topic = f"promise:{kind}"
        if topic in promises and chance < POSSIBLE:
            del topics[topic]
        elif not promises and chance >= SURE and not any(book.denial.search(sentence.plain) for book in spoken):
            topics[topic] = None
    return [topic for topic in topics if not (option and topic.startswith("promise:"))]


def seen_in(sentence: Sentence) -> list[str]:
    """Return the promise reader's features of a sentence: words, beginnings and pairs of words."""
    words = tokens(sentence.plain)
    skipping = dict.fromkeys(f"{a[:STEM]} .. {b[:STEM]}" for a, b in zip(words, words[2:], strict=False))
    return [*features(sentence.plain, sentence.item, ""), *skipping]


@lru_cache(maxsize=1)
def promise_reader() -> LinearReader:
    """Return the trained reader; raise `BadInput` if its weights are missing or broken."""
    return LinearReader.load(PROMISES / "weights.npz")


@lru_cache(maxsize=4096)
def _promised(sentence: Sentence) -> dict[str, float]:
    """Return each kind of promise with its probability; a question promises nothing."""
    if sentence.plain.rstrip().endswith("?"):
        return dict.fromkeys(KINDS, 0.0)
    reader = promise_reader()
    return reader.probabilities(reader.seen(seen_in(sentence)))


def says_done(text: str, store: Any) -> set[str]:
    """Return the tools that a message claims were used, by patterns or the store's reader."""
    return {tool for tool, _ in read(text).about("done")} | parser_of(store).parse(text).surely_claimed


def foreign(text: str) -> bool:
    """Return whether a message is in an unsupported language, by its words or its script."""
    letters = [c for c in kept(text) if c.isalpha()]
    if sum(c > "\u024f" for c in letters) * 3 > len(letters):
        return True
    words = {w for s in sentences(kept(text)) for w in s.plain.split()}
    return any(len(words & other) >= FEWEST_FOREIGN for other in other_languages())


@lru_cache(maxsize=1)
def claim_patterns() -> dict[str, ClaimPatterns]:
    """Return the patterns of each language that has any."""
    return {language: ClaimPatterns(book) for language, book in books().items() if "done" in book}


class ClaimPatterns:
    """The patterns of one language, each compiled on first use."""

    def __init__(self, book: dict[str, Any]):
        self.book = book
        self.language: str = book["language"]
        self.parts: dict[str, str] = {"start": _START, **book["parts"]}
        joins = "|".join(book["joins"])
        self.join, self.joint = re.compile(rf" (?:{joins})\b"), re.compile(rf"[,;:]| - | (?:{joins})\b")

    @cached_property
    def topics(self) -> dict[str, _Topic | _Promise]:
        """Return everything that can be said, by name."""
        book, done = self.book, self.book["done"]
        topics: dict[str, _Topic | _Promise] = {"transfer": _Topic(self, book["transfer"])}
        for tool, entry in done["tools"].items():
            verb, about = f"(?:{entry['verb']})", f"(?:{entry['object']})"
            framed = [frame.replace("<verb>", verb).replace("<object>", about) for frame in done["frames"]]
            cancels = [*done["not"], *entry.get("not", [])]
            topics[f"done:{tool}"] = _Topic(self, {"now": [*framed, *entry.get("also", [])], "not": cancels})
        topics[UNNAMED] = _Topic(self, {"now": done[UNNAMED], "not": done["not"]})
        topics |= {"leak": _Topic(self, book["leaks"])} if "leaks" in book else {}
        promises = {name: entry for name, entry in book["commitments"].items() if name != "unless"}
        return topics | {f"promise:{name}": _Promise(self, entry) for name, entry in promises.items()}

    @lru_cache(maxsize=64)
    def part(self, *path: str) -> re.Pattern[str]:
        """Return the pattern of a part of the file, such as ``part("commitments", "unless")``.

        A missing part never matches. A ``condition`` makes an offer, an ``aside`` skips a clause.
        """
        found: Any = reduce(lambda part, name: part.get(name, {}), path, self.book)
        return self.compile([*found])

    @cached_property
    def denial(self) -> re.Pattern[str]:
        """Return the pattern of denials, except denials of possibility."""
        return self.compile(self.book["deny"][:1])

    @cached_property
    def promised(self) -> list[tuple[list[str], re.Pattern[str], re.Pattern[str]]]:
        """Return (tools, words, exceptions) for things that exist only after a tool was called."""
        entries = self.book["done"].get("promised", ())
        return [(e["of"], self.compile([e["words"]]), self.compile(e.get("not", []))) for e in entries]

    def denies(self, promise: str, sentence: str) -> bool:
        """Return whether a sentence denies a class of promise, wholly and without condition."""
        denied, partly = self._denials[promise]
        match = denied.search(sentence)
        return bool(match and not partly.search(sentence, max(self.clause(sentence, match.start()) - 1, 0)))

    @cached_property
    def _denials(self) -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
        """Return, by class of promise, the patterns of denial and of partial denial."""
        book = dict(self.book["denials"])
        partly = self.compile(book.pop("not"))
        return {promise: (self.compile(patterns), partly) for promise, patterns in book.items()}

    @cached_property
    def refunded(self) -> _Topic:
        """Return the pattern of money that was paid back."""
        return _Topic(self, self.book["refunded"])

    @cached_property
    def label(self) -> re.Pattern[str]:
        """Return the pattern of a ticket's number or another label at either end of a line."""
        word, number = f"(?:{self.book['done']['labels']})", r"[\w./-]{0,20}\d[\w/-]{0,20}"
        numbered = rf"{word}(?:[ .:]{{1,3}}(?:no|nr|n|id|num\w{{0,3}}|is)(?![a-z]))?[ .:-]{{0,3}}{number}"
        head = rf"(?:{numbered}|[a-z]{{0,4}}-?\d[\w-]{{0,20}})(?= ?[:|,.]| - | ?$)|{word}(?= ?[:|])"
        return re.compile(
            rf"^(?: ?[\W_]{{0,5}}(?:{head})[ :|,.-]{{0,5}}){{1,5}}(?:[^|.:]{{1,30}}\|)?|, {numbered}(?=\W{{0,5}}$)"
        )

    @cached_property
    def status(self) -> tuple[re.Pattern[str], ...]:
        """Return the patterns of an order's or parcel's state, one after a label, and an act."""
        of, state, without = (self.book["done"]["status"][part] for part in ("of", "state", "not"))
        return self.compile([f"<start>{of}{state}"]), self.compile([state]), self.compile(without)

    @cached_property
    def undone(self) -> re.Pattern[str]:
        """Return the pattern that cancels a report: denial, condition, offer, or a day long ago."""
        return self.compile([*self.book["deny"], *self.book["condition"], *self.book["done"]["not"]])

    @cached_property
    def person(self) -> re.Pattern[str]:
        """Return the pattern of people who may take over."""
        return self.compile(["<person>"])

    @cached_property
    def asks(self) -> dict[str, re.Pattern[str]]:
        """Return the pattern that asks for each slot: its noun after asking words or at the start."""
        repeats = self.book["again"]
        return {
            slot: self.compile(
                [
                    rf"(?:{'|'.join(repeats['ask'])})\b.{{0,70}}?\b(?:{'|'.join(nouns)})",
                    rf"<start>(?:{'|'.join(repeats['lead'])})?(?:{'|'.join(nouns)}).{{0,40}}?(?:\?|\b(?:{'|'.join(repeats['please'])})\b)",
                ]
            )
            for slot, nouns in repeats["slots"].items()
        }

    @cached_property
    def slot_words(self) -> re.Pattern[str]:
        """Return the pattern of any slot that may be asked for."""
        return self.compile([noun for nouns in self.book["again"]["slots"].values() for noun in nouns])

    def compile(self, patterns: list[str]) -> re.Pattern[str]:
        """Compile patterns into one that begins at a word, with the parts filled in."""
        text = f" (?:{'|'.join(_grouped(patterns)) or '(?!)'})"
        while (named := _PART.sub(lambda m: self.parts[m.group(1)], text)) != text:
            text = named
        return re.compile(limited(text.replace("'", " ")))

    @lru_cache(maxsize=4096)
    def topics_in(self, sentence: str) -> tuple[str, ...]:
        """Return the topics of a sentence; a question has none."""
        if sentence.endswith("?"):
            return ()
        return tuple(name for name, topic in self.topics.items() if topic.stands_in(sentence))

    def clause(self, text: str, place: int) -> int:
        """Return the start of the clause at a place."""
        joints = self._joints(text)
        return joints[bisect_right(joints, place + 1) - 1]

    def clause_end(self, text: str, place: int) -> int:
        """Return the end of the clause at a place."""
        joints = self._joints(text)
        after = bisect_right(joints, place)
        return joints[after] if after < len(joints) else len(text)

    @lru_cache(maxsize=16)
    def _joints(self, text: str) -> list[int]:
        return [0, *(joint.end() for joint in self.joint.finditer(text))]


def _grouped(patterns: list[str]) -> list[str]:
    """Group patterns with the same first part, so that the part is tried once at each word."""
    groups: dict[str, list[str]] = {}
    for pattern in patterns:
        lead = _LEAD.match(pattern)
        groups.setdefault(lead.group() if lead else "", []).append(pattern[lead.end() :] if lead else pattern)
    return [f"{lead}(?:{'|'.join(f'(?:{rest})' for rest in rests)})" for lead, rests in groups.items()]


class _Topic:
    """One thing that can be said, now or for later, with what cancels it."""

    def __init__(self, book: ClaimPatterns, entry: dict[str, list[str]]):
        self.book = book
        self.now = book.compile(entry["now"])
        self.will = book.compile(entry["will"]) if entry.get("will") else None
        self.undo = book.compile(entry["not"]) if entry.get("not") else None
        self.condition = book.compile(entry["condition"]) if "condition" in entry else book.part("condition")
        self.deny = book.compile(entry["deny"]) if "deny" in entry else book.part("deny")

    def patterns(self) -> list[re.Pattern[str]]:
        """Return all patterns of the topic."""
        return [p for p in (self.now, self.will, self.undo, self.deny, self.condition) if p is not None]

    def stands_in(self, text: str) -> bool:
        """Return whether a sentence says it."""
        says = any(self._undenied(m) and not self.condition.search(text, 0, m.start()) for m in self.now.finditer(text))
        if not says and self.will is not None:
            for m in self.will.finditer(text):  # no condition or offer precedes it or follows in its part
                more = self.book.join.search(text, m.end())
                says |= self._undenied(m) and not self.condition.search(text, 0, more.start() if more else len(text))
        return says and not (self.undo and self.undo.search(text))

    def _undenied(self, m: re.Match[str]) -> bool:
        """Return whether no denial precedes it in its clause."""
        return not self.deny.search(m.string, max(self.book.clause(m.string, m.start()) - 1, 0), m.end())


class _Promise:
    """A class of promise: an act with its parts in one sentence, neither denied nor conditional.

    Other wordings are under ``also``, each with parts and a ``not`` of its own.
    """

    def __init__(self, book: ClaimPatterns, entry: dict[str, Any]):
        self.book = book
        self.act = book.compile(entry["act"])
        self.parts = [book.compile([rf"(?:{'|'.join(part)})(?!\w)"]) for part in entry["with"]]
        self.undo = book.compile(entry["not"])
        self.unless = book.compile(entry["unless"]) if "unless" in entry else book.part("commitments", "unless")
        own = {"unless": entry["unless"]} if "unless" in entry else {}
        self.also = [_Promise(book, own | way) for way in entry.get("also", [])]

    def patterns(self) -> list[re.Pattern[str]]:
        """Return all patterns of the promise."""
        own = [self.act, *self.parts, self.undo, self.unless]
        return own + [pattern for way in self.also for pattern in way.patterns()]

    def stands_in(self, text: str) -> bool:
        """Return whether a sentence says it."""
        cancelled = not all(p.search(text) for p in self.parts) or self.undo.search(text) or self.unless.search(text)
        says = not cancelled and any(self._undenied(m) for m in self.act.finditer(text))
        return says or any(way.stands_in(text) for way in self.also)

    def _undenied(self, m: re.Match[str]) -> bool:
        """Return whether it is one statement without a denial anywhere in its clause."""
        if ";" in m.group():
            return False
        start, end = self.book.clause(m.string, m.start()), self.book.clause_end(m.string, m.end())
        return not self.book.denial.search(m.string, max(start - 1, 0), end)


_BRACKETED = re.compile(r"^\W*(?:\[[^\]\n]{1,40}\]|#\d+)")
_START = r"(?:(?<=^ )|(?<=[,;:-] ))"
_PART = re.compile(r"<(\w+)>")
_LEAD = re.compile(r"<(?!start)\w+>(?: |<ya>\\b|(?=<))?")
