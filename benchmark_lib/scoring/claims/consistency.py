"""Asks again for what was given; contradicts an earlier reply of its own. English only."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...language.folding import plain
from ...language.parser import parser_of
from ...language.sentences import Sentence
from ...language.values import WINDOWS, values_in
from ...language.words import common_words
from .findings import AgentClaims, ClaimFinding
from .reading import claim_patterns, read

if TYPE_CHECKING:
    from ...store import Store

AGAIN, CONTRADICTION = "asked_again", "contradiction"
MANIFOLD = frozenset({"date"})
"""Slots that stand for many things in a talk.

A date may be that of the trip, the order or the parcel, so a second question is no repetition.
"""
ALIKE = 2
"""Words two sentences must share, beside common ones, to be about the same thing."""
MOST_VALUED = 16
"""Earlier sentences with a value of one kind and one word that a later one is compared with.

No person writes so many.
"""


def again(claims: AgentClaims) -> list[ClaimFinding]:
    """Questions for what the customer had given before."""
    found = []
    for message, _ in claims.replies:
        if not asks(message.text, claims.store):
            continue
        given = _given(claims, message.turn)
        for slot, sentence in asked_again(
            message.text, {slot: value for slot, (value, _) in given.items()}, claims.store
        ):
            found.append(
                ClaimFinding(
                    AGAIN, message.turn, sentence.text, f"given in message {given[slot][1]}", slot, "asked_again"
                )
            )
    return found


def contradictions(claims: AgentClaims) -> list[ClaimFinding]:
    """Replies that conflict with an earlier reply."""
    found = []
    for place, (message, _) in enumerate(claims.replies):
        for earlier, _ in claims.replies[:place]:
            pair = contradicts(earlier.text, message.text) if earlier.text != message.text else None
            if pair:
                found.append(
                    ClaimFinding(
                        CONTRADICTION,
                        message.turn,
                        pair[0].text,
                        f"message {earlier.turn}: {pair[1].text}",
                        "reply",
                        "conflicts",
                    )
                )
                break
    return found


def _given(claims: AgentClaims, turn: int) -> dict[str, tuple[str | None, int]]:
    """What the customer had given up to a turn, with the message it stands in: in its words, or as the address it writes from.

    What proves nothing (see `DeskKind.proves`) may be asked for again. So is to ask for the name of the
    order where a name had only been signed.
    """
    found: dict[str, tuple[str | None, int]] = {}
    for message in claims.conversation.messages:
        if message.side != "customer" or message.turn > turn:
            continue
        for act in message.acts:
            if act.kind not in ("gave", "attached") or act.what in MANIFOLD:
                continue
            value = act.detail
            if not claims.store.kind.proves(act.what, value, claims.case, claims.store):
                found.pop(act.what, None)
            elif (
                act.kind == "attached" or act.what == "email" or (value and plain(value).strip() in plain(message.text))
            ):
                found.setdefault(act.what, (value, message.turn))
    if found.get("name", (None, 0))[1] == 1:
        del found["name"]
    return found


def asked_again(text: str, given: dict[str, str | None], store: Store) -> list[tuple[str, Sentence]]:
    """Slots a message asks for although they were given, each with the sentence that asks.

    Parameters
    ----------
    text : str
        The agent's message.
    given : dict of str to str or None
        What the customer gave before, by slot; None for an attachment.
    store : Store
        Whose phrases also tell what a sentence asks for, beside the patterns of the language.
    """
    return [
        (slot, sentence)
        for slot, sentence in asks(text, store)
        if slot in given and not _stands(given[slot], sentence.plain)
    ]


@lru_cache(maxsize=2048)
def asks(text: str, store: Store) -> tuple[tuple[str, Sentence], ...]:
    """What a message asks for, by slot, with the sentences that ask.

    A check, or a question for another one, is left out.
    """
    reading, book = read(text), _english()
    if "en" not in reading.languages:
        return ()
    found: list[tuple[str, Sentence]] = []
    for sentence in reading.sentences:
        asking = sentence.plain.endswith("?") or book["request"].search(sentence.plain)
        if asking and not book["other"].search(sentence.plain) and not book["check"].search(sentence.plain):
            parsed = parser_of(store).parse(sentence.text).asked
            found += [
                (slot, sentence)
                for slot, pattern in book["slots"].items()
                if slot in parsed or pattern.search(sentence.plain)
            ]
    return tuple(found)


@lru_cache(maxsize=2048)
def contradicts(earlier: str, text: str) -> tuple[Sentence, Sentence] | None:
    """The sentence of a reply that conflicts with an earlier reply, with the earlier sentence.

    None where they agree or it is openly corrected.
    """
    before, after = _stands_of(earlier), read(text)
    if before is None or "en" not in after.languages:
        return None
    if any(_english()["corrected"].search(s.plain) for s in after.sentences):
        return None
    for late in dict.fromkeys(after.sentences):
        places = before.against(late)
        if places:
            return late, before.sentences[min(places)]
    return None


@lru_cache(maxsize=256)
def _stands_of(text: str) -> _Stands | None:
    """What a reply commits itself to; None where it is not in English."""
    reading = read(text)
    return _Stands(reading.sentences) if "en" in reading.languages else None


class _Stands:
    """The sentences of a reply by what they take a stand on, so that a later sentence finds those it conflicts with without trying each.

    Parameters
    ----------
    sentences : tuple of Sentence
        As they were read; questions commit to nothing.
    """

    def __init__(self, sentences: tuple[Sentence, ...]):
        self.sentences = sentences
        self.done: dict[str, int] = {}
        self.sides: dict[tuple[int, bool, str], int] = {}
        self.verbs: dict[tuple[str, str, str], int] = {}
        self.valued: dict[tuple[str, str], list[int]] = {}
        for place, sentence in enumerate(sentences):
            if not sentence.plain.endswith("?"):
                self._add(place, sentence)

    def _add(self, place: int, sentence: Sentence) -> None:
        for tool, _ in read(sentence.text).about("done"):
            self.done.setdefault(tool, place)
        content, (can, cannot) = _content(sentence.plain), _allows(sentence.plain)
        for word in content:
            for number, side in _taken(sentence.plain):
                self.sides.setdefault((number, side, word), place)
            for name, verbs in (("can", can - cannot), ("cannot", cannot)):
                for verb in verbs:
                    self.verbs.setdefault((name, verb, word), place)
            for kind in _values(sentence.text):
                known = self.valued.setdefault((kind, word), [])
                if len(known) < MOST_VALUED:
                    known.append(place)

    def against(self, later: Sentence) -> set[int]:
        """The places of the sentences that a later one conflicts with, the first of each way to conflict."""
        found = self._undone(later.plain)
        if not later.plain.endswith("?"):
            found |= self._opposed(later.plain) | self._flipped(later.plain) | self._differing(later)
        return found

    def _undone(self, later: str) -> set[int]:
        """What was said to be done, and is offered now or said not to be done."""
        book = _english()
        named = {
            place for tool, place in self.done.items() if tool in book["stems"] and book["stems"][tool].search(later)
        }
        return named if named and (book["offer"].search(later) or book["no"].search(later)) else set()

    def _opposed(self, later: str) -> set[int]:
        """What takes the other side of a kept pair of opposites, about the same thing."""
        asked = [(number, not side, word) for number, side in _taken(later) for word in _content(later)]
        return {self.sides[a] for a in asked if a in self.sides}

    def _flipped(self, later: str) -> set[int]:
        """What allows what is now denied, or the reverse.

        The same verb after can and after cannot, about the same thing.
        """
        can, cannot = _allows(later)
        ways = (("can", cannot), ("cannot", can - cannot))
        asked = [(name, verb, word) for name, verbs in ways for verb in verbs for word in _content(later)]
        return {self.verbs[a] for a in asked if a in self.verbs}

    def _differing(self, later: Sentence) -> set[int]:
        """What names a window, an amount or a date of one unit, about the same thing, and none in common with the later sentence."""
        content, mine = _content(later.plain), _values(later.text)
        near = {place for kind in mine for word in content for place in self.valued.get((kind, word), ())}
        return {place for place in near if self._differs(self.sentences[place], content, mine)}

    def _differs(self, earlier: Sentence, content: frozenset[str], mine: dict[str, frozenset[str]]) -> bool:
        if len(_content(earlier.plain) & content) < ALIKE:
            return False
        theirs = _values(earlier.text)
        return any(values.isdisjoint(theirs[kind]) for kind, values in mine.items() if kind in theirs)


@lru_cache(maxsize=4096)
def _allows(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Stems of the verbs a sentence allows, and of those it denies; none where it names a condition."""
    book = _english()
    if book["unless"].search(text):
        return frozenset(), frozenset()
    can, cannot = (
        frozenset(m.group(1)[:5] for m in book[name].finditer(text)) - {"be", "do", "have"}
        for name in ("can", "cannot")
    )
    return can, cannot


@lru_cache(maxsize=4096)
def _taken(text: str) -> tuple[tuple[int, bool], ...]:
    """The pairs of opposites of which a sentence takes one side only, with whether it is the left one."""
    sides = [(bool(left.search(text)), bool(right.search(text))) for left, right in _english()["opposites"]]
    return tuple((number, left) for number, (left, right) in enumerate(sides) if left != right)


@lru_cache(maxsize=4096)
def _values(text: str) -> dict[str, frozenset[str]]:
    """The windows, amounts and dates a sentence names, by kind."""
    found: dict[str, set[str]] = {}
    for value in values_in(text, 2000):
        if value.kind in (*WINDOWS, "money", "date"):
            found.setdefault(value.kind, set()).add(value.value)
    return {kind: frozenset(values) for kind, values in found.items()}


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    """The words of a sentence that carry its meaning, cut to their stems."""
    common = _english()["common"]
    words = (w.strip(".,;:!?") for w in text.split())
    return frozenset(w[:5] for w in words if len(w) > 3 and w not in common and not any(c.isdigit() for c in w))


def _stands(value: str | None, text: str) -> bool:
    """Whether a given value, or a telling part of it, stands in a text."""
    parts = [plain(p).strip() for p in (value or "").split(",")]
    return any(len(p) > 1 and re.search(rf"(?<!\w){re.escape(p)}(?!\w)", text) for p in parts)


_COMMON = [
    "about",
    "after",
    "again",
    "also",
    "been",
    "before",
    "being",
    "could",
    "does",
    "doing",
    "done",
    "down",
    "each",
    "even",
    "ever",
    "every",
    "from",
    "have",
    "having",
    "here",
    "into",
    "just",
    "like",
    "made",
    "make",
    "many",
    "more",
    "most",
    "much",
    "must",
    "once",
    "only",
    "other",
    "over",
    "same",
    "should",
    "some",
    "such",
    "than",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "under",
    "until",
    "very",
    "want",
    "well",
    "were",
    "what",
    "when",
    "which",
    "while",
    "will",
    "with",
    "would",
    "your",
    "yours",
    "please",
    "order",
    "thank",
    "thanks",
    "sorry",
    "yes",
    "since",
    "still",
]


@lru_cache(maxsize=1)
def _english() -> dict[str, Any]:
    book = claim_patterns()["en"]
    again, contradiction = book.book["again"], book.book["contradiction"]
    return {
        **{name: book.compile(again[name]) for name in ("request", "other", "check")},
        "slots": {slot: book.compile(patterns) for slot, patterns in again["slots"].items()},
        "corrected": book.compile(contradiction["corrected"]),
        "opposites": [tuple(book.compile([side]) for side in pair) for pair in contradiction["opposites"]],
        "can": re.compile(rf" (?:{contradiction['can'][0]})(\w+)"),
        "cannot": re.compile(rf" (?:{contradiction['cannot'][0]})(\w+)"),
        "stems": {tool: re.compile(stem) for tool, stem in contradiction["stems"].items()},
        "offer": book.compile(contradiction["offer"]),
        "unless": re.compile(r" (?:unless|until|without|if|once|when|as long as|colleague|provided)\b"),
        "no": re.compile(
            r" (?:not|can t|cannot|no|never|isn t|aren t|won t|don t|doesn t|wasn t|didn t|hasn t|haven t|unable|impossible)\b"
        ),
        "common": frozenset(_COMMON) | common_words()["en"],
    }
