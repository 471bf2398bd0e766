"""What an agent's message asks, offers and reports: slots asked for, actions proposed, actions claimed. By kept patterns, no model.

The patterns stand in the store's ``phrases/<language>.yaml``. A message is read with those of every language whose
common words it holds, since an agent may answer in another language than the customer's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from ..errors import BadInput
from .detection import nearest_languages
from .folding import fold
from .patterns import compile_patterns, union
from .pieces import LONGEST_SENTENCE, LONGEST_SPOKEN, PIECE, found_in, kept, limited
from .sentences import Sentence, sentences

REMEMBERED = 3
"""How many sentences back an offer may stand that a bare "Shall I go ahead?" is about."""

REFUSAL = 60
"""Characters after an action within which "is not possible" is about it."""

SHORTEST = 12
"""Characters that a question needs; with fewer after "please send" and the like, what is asked for stands before it."""


class Phrases(Protocol):
    """A store, as far as it is read here: what its customers are asked and say, by language."""

    path: Path

    @property
    def phrases(self) -> dict[str, dict[str, Any]]:
        """The content of ``phrases/<language>.yaml`` by language."""


@dataclass
class ParsedMessage:
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


class MessageParser:
    """The compiled patterns of a store, one book a language."""

    def __init__(self, store: Phrases):
        self.folder, self.raw = store.path / "phrases", store.phrases
        if not self.raw:
            raise BadInput(f"{self.folder}: no phrases; a store needs at least one language file there")
        self.books: dict[str, _Book] = {}
        self._known = lru_cache(maxsize=4096)(self._parse)
        reasons = [r for b in self.raw.values() for r in (b.get("reasons") or {}).items()]
        self.reasons = {
            name: re.compile("|".join(f"(?:{limited(p)})" for p in entry["patterns"])) for name, entry in reasons
        }

    def parse(self, text: str) -> ParsedMessage:
        """Read one message; customer and score read the same ones, so each is parsed once."""
        return self._known(kept(text, LONGEST_SPOKEN))

    def _parse(self, text: str) -> ParsedMessage:
        parsed = ParsedMessage()
        said = sentences(text)
        for language in self.languages(said):
            self._book(language).read(said, parsed)
        return parsed

    def languages(self, said: list[Sentence]) -> list[str]:
        """The languages to read a message in.

        Those it comes nearest to, as far as the store has phrases in them; else all of the store's.
        """
        near = nearest_languages(said)
        return [language for language in self.raw if language in near] or list(self.raw)

    def _book(self, language: str) -> _Book:
        """The book of a language, compiled when it is first needed."""
        if language not in self.books:
            try:
                self.books[language] = _Book(self.raw[language])
            except (KeyError, TypeError, AttributeError, re.error) as error:
                where = self.folder / f"{language}.yaml"
                raise BadInput(
                    f"{where}: a key is missing or a pattern is broken ({error}); compare it with another language"
                ) from None
        return self.books[language]

    def reasons_in(self, texts: list[str]) -> list[str]:
        """The listed reasons that stand in the messages."""
        folded = [fold(kept(t)) for t in texts]
        return [name for name, pattern in self.reasons.items() if any(found_in(pattern, t) for t in folded)]


@lru_cache(maxsize=8)
def parser_of(store: Phrases) -> MessageParser:
    """The store's patterns, compiled once."""
    return MessageParser(store)


class _Book:
    """The patterns of one language, and how a message is read with them."""

    def __init__(self, book: dict[str, Any]):
        ask = book["question"]
        self.request, self.hint, self.confirm = (compile_patterns(ask[k]) for k in ("request", "hint", "confirm"))
        self.cue = compile_patterns([*ask["request"], *ask["hint"], *ask["confirm"]])
        self.open, self.past = (re.compile(union(ask[k])) for k in ("open", "past"))
        joins = "|".join(book["joins"])
        self.closing = compile_patterns(ask["closing"], rf"(?:(?! (?:{joins})\b)[^,;:.?!]){{0,{LONGEST_SENTENCE}}}")
        self.done, self.deny, self.denied = (compile_patterns(book[k]) for k in ("done", "deny", "denied"))
        self.doubt = compile_patterns(book["deny"] + book["doubt"])
        self.joint = re.compile(rf"[,;:]| - | (?:{joins})\b")
        self.slots = {n: compile_patterns(e["patterns"]) for n, e in book["slots"].items()}
        self.actions = {n: compile_patterns(e["patterns"]) for n, e in book["actions"].items()}
        self.loose_slots, self.loose_actions = (
            {n: compile_patterns(e["loose"]) for n, e in book[part].items() if "loose" in e}
            for part in ("slots", "actions")
        )
        entries = {**book["slots"], **book["actions"]}
        self.over, self.stands_for = (
            {n: e[key] for n, e in entries.items() if key in e} for key in ("over", "stands_for")
        )
        self.claims = {n: compile_patterns(e["claims"]) for n, e in book["actions"].items()}

    def read(self, said: list[Sentence], parsed: ParsedMessage) -> None:
        """Add to `parsed` what the sentences ask, propose and claim."""
        parts: list[str] = []
        around: list[str] = []
        offers: list[str] = []
        listing = False
        for place, (_, sentence, item) in enumerate(said):
            before = [s.plain for s in said[max(place - REMEMBERED, 0) : place]]
            asked = self._ask(sentence, item and listing)
            yes = asked is not None and self._wants_yes(asked[0])
            if asked is not None and yes:
                parsed.confirm = True
                named = self._offered(asked[0])
                parts.append(self._beside(asked[0]) if named else asked[1])
                _add(
                    parsed.proposed,
                    named or next(filter(None, map(self._offered, reversed(before))), self._loosely(sentence)),
                )
            elif asked is not None:
                parts.append(asked[1])
                if asked[2] and not self.open.match(sentence, 1) and not self.past.match(sentence, 1):
                    offers = self._offered(asked[0])
                around += [*before[-1:], asked[0]] if asked[2] else [asked[0]]
            if not yes and not sentence.endswith("?"):
                _add(parsed.claimed, self._claimed(sentence))
            parsed.question |= yes or (asked is not None and asked[2])
            listing = listing if item else asked is not None
        slots = self._slots(parts)
        if not slots and not parsed.confirm and offers:
            parsed.confirm = True
            _add(parsed.proposed, offers)
        if not slots and not parsed.confirm:
            slots = self._slots(around) or (self._topics(around) if parsed.question else [])
        _add(parsed.asked, self._settled(slots, around))
        parsed.question |= bool(slots)

    def _slots(self, parts: list[str]) -> list[str]:
        texts = _together(parts)
        return [s for s, p in self.slots.items() if any(p.search(t) for t in texts)] if texts else []

    def _topics(self, parts: list[str]) -> list[str]:
        """The slots that a question may be about which no pattern knows."""
        texts = _together(parts)
        return [s for s, p in self.loose_slots.items() if any(p.search(t) for t in texts)]

    def _settled(self, slots: list[str], around: list[str]) -> list[str]:
        """The slots without those that another one outdoes; "which one" is about what was named before it."""
        texts = _together(around)
        found: list[str] = []
        for slot in slots:
            meant = [s for s in self.stands_for.get(slot, ()) if any(self.slots[s].search(t) for t in texts)]
            _add(found, meant or [slot])
        return self._foremost(found)

    def _foremost(self, found: list[str]) -> list[str]:
        """What was found, without what something else among it outdoes."""
        beaten = {b for name in found for b in self.over.get(name, ())}
        return [name for name in found if name not in beaten] if beaten else found

    @lru_cache(maxsize=2048)
    def _ask(self, sentence: str, listed: bool) -> tuple[str, str, bool] | None:
        """What of a sentence can ask, the part of it that does, and whether it surely does; None for a statement."""
        mark = sentence.endswith("?")
        if not (mark or listed or self.cue.search(sentence)):
            return None
        rest = sentence
        if self.closing.search(sentence):
            rest = self.closing.sub("", sentence)
            if len(rest) < SHORTEST or not (listed or rest.endswith("?") or self.cue.search(rest)):
                return None
        elif mark:
            return rest, rest, True
        request = self.request.search(rest)
        cue = None if mark or listed else request or self.hint.search(rest)
        part = rest[cue.start() :] if cue and len(rest) - cue.end() >= SHORTEST else rest
        return rest, part, bool(request)

    @lru_cache(maxsize=2048)
    def _beside(self, text: str) -> str:
        """What is asked beside a yes.

        To agree to an action that a clause names is no answer to what the action is about.
        """
        found: list[str] = []
        for clause in self.joint.split(text):
            clause = f" {clause.strip()}"
            asks = found or self.open.match(clause, 1) or self.request.search(clause)
            if asks and not self._offered(clause) and not self.confirm.search(clause):
                found.append(clause)
        return ",".join(found)

    @lru_cache(maxsize=2048)
    def _wants_yes(self, text: str) -> bool:
        """Whether a yes is asked for, in a clause that asks for nothing more."""
        found = self.confirm.finditer(text) if self.confirm.search(text) else ()
        return any(not self.open.match(text, self._clause(text, m.start())) for m in found)

    @lru_cache(maxsize=2048)
    def _offered(self, text: str) -> list[str]:
        return self._foremost(
            [t for t, p in self.actions.items() if p.search(text) and self._stands(p, text, self.deny)]
        )

    @lru_cache(maxsize=2048)
    def _loosely(self, text: str) -> list[str]:
        return [t for t, p in self.loose_actions.items() if p.search(text)]

    @lru_cache(maxsize=2048)
    def _claimed(self, text: str) -> list[str]:
        if not self.done.search(text):
            return []
        return self._foremost(
            [t for t, p in self.claims.items() if p.search(text) and self._stands(p, text, self.doubt)]
        )

    def _stands(self, pattern: re.Pattern[str], text: str, against: re.Pattern[str]) -> bool:
        """Whether a pattern stands in a text with nothing against it earlier in its clause, and no refusal right after it."""
        for m in pattern.finditer(text):
            refused = self.denied.search(text, m.end(), m.end() + REFUSAL)
            if not refused and not against.search(text, max(self._clause(text, m.start()) - 1, 0), m.end()):
                return True
        return False

    def _clause(self, text: str, place: int) -> int:
        """Where the clause begins that holds a place."""
        joints = self._joints(text)
        start = joints[bisect_right(joints, place + 1) - 1]
        return start + (text[start : start + 1] == " ")

    @lru_cache(maxsize=64)
    def _joints(self, text: str) -> list[int]:
        """Where clauses can begin: at 0, and where a joint ends."""
        return [0, *(joint.end() for joint in self.joint.finditer(text))]


def _together(parts: list[str]) -> list[str]:
    """Sentences as lines of as few texts as their length allows; one that stood before is left out."""
    found: list[str] = []
    for part in dict.fromkeys(parts):
        if found and len(found[-1]) + len(part) < PIECE:
            found[-1] += f"\n{part}"
        else:
            found.append(part)
    return found


def _add(known: list[str], new: list[str]) -> None:
    known += [n for n in new if n not in known]
