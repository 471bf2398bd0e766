"""Asks again for what was given; contradicts an earlier reply of its own. English only."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...conversation.understand import ear
from .findings import Finding, Said
from .reading import Book, Sentence, books, plain, read
from .values import WINDOWS, values_in

if TYPE_CHECKING:
    from ...store import Store

AGAIN, CONTRADICTION = "asked_again", "contradiction"
MANIFOLD = frozenset({"date"})
"""Slots that stand for many things in a talk: a date may be that of the trip, the order or the parcel, so a second question is no repetition."""
ALIKE = 2
"""Words two sentences must share, beside common ones, to be about the same thing."""


def again(said: Said) -> list[Finding]:
    """Questions for what the customer had given before."""
    found = []
    for message, _ in said.replies:
        if not asks(message.text, said.store):
            continue
        given = _given(said, message.turn)
        for slot, sentence in asked_again(message.text, {slot: value for slot, (value, _) in given.items()}, said.store):
            found.append(Finding(AGAIN, message.turn, sentence.text, f"given in message {given[slot][1]}", slot, "asked_again"))
    return found


def contradictions(said: Said) -> list[Finding]:
    """Replies that conflict with an earlier reply."""
    found = []
    for place, (message, _) in enumerate(said.replies):
        for earlier, _ in said.replies[:place]:
            pair = contradicts(earlier.text, message.text) if earlier.text != message.text else None
            if pair:
                found.append(Finding(CONTRADICTION, message.turn, pair[0].text, f"message {earlier.turn}: {pair[1].text}", "reply", "conflicts"))
                break
    return found


def _given(said: Said, turn: int) -> dict[str, tuple[str | None, int]]:
    """What the customer had given up to a turn, with the message it stands in: in its words, or as the address it writes from.

    An order number that does not go with the sender's address proves nothing: to ask for it again is right. So is to ask for the name of the
    order where a name had only been signed.
    """
    orders, buyer = said.store.tables.get("orders", {}), said.store.by_email.get(said.case.sender.lower(), {}).get("customer_id", "")
    found: dict[str, tuple[str | None, int]] = {}
    for message in said.conversation.messages:
        if message.side != "customer" or message.turn > turn:
            continue
        for act in message.acts:
            if act.kind not in ("gave", "attached") or act.what in MANIFOLD:
                continue
            value = act.detail
            if act.what == "order_id" and orders.get(str(value).upper(), {}).get("customer_id") != buyer:
                found.pop("order_id", None)
            elif act.kind == "attached" or act.what == "email" or (value and plain(value).strip() in plain(message.text)):
                found.setdefault(act.what, (value, message.turn))
    if found.get("name", (None, 0))[1] == 1:
        del found["name"]
    return found


def asked_again(text: str, given: dict[str, str | None], store: "Store") -> list[tuple[str, Sentence]]:
    """Slots a message asks for although they were given, each with the sentence that asks.

    Parameters
    ----------
    text : str
        The agent's message.
    given : dict of str to str or None
        What the customer gave before, by slot; None for an attachment.
    store : Store
        Its customers' ears hear what a sentence asks for, as well as the patterns of ``data/said/``.
    """
    return [(slot, sentence) for slot, sentence in asks(text, store) if slot in given and not _stands(given[slot], sentence.plain)]


@lru_cache(maxsize=2048)
def asks(text: str, store: "Store") -> tuple[tuple[str, Sentence], ...]:
    """What a message asks for, by slot, with the sentences that ask; a check, or a question for another one, is left out."""
    reading, book = read(text), _english()
    if "en" not in reading.languages:
        return ()
    found: list[tuple[str, Sentence]] = []
    for sentence in reading.sentences:
        asking = sentence.plain.endswith("?") or book["request"].search(sentence.plain)
        if asking and not book["other"].search(sentence.plain) and not book["check"].search(sentence.plain):
            heard = ear(store).hear(sentence.text).asked
            found += [(slot, sentence) for slot, pattern in book["slots"].items() if slot in heard or pattern.search(sentence.plain)]
    return tuple(found)


@lru_cache(maxsize=2048)
def contradicts(earlier: str, text: str) -> tuple[Sentence, Sentence] | None:
    """The sentence of a reply that conflicts with an earlier reply, with the earlier sentence; None where they agree or it is openly corrected."""
    before, after = read(earlier), read(text)
    if "en" not in before.languages or "en" not in after.languages:
        return None
    if any(_english()["corrected"].search(s.plain) for s in after.sentences):
        return None
    pairs = ((late, old) for late in after.sentences for old in before.sentences if not old.plain.endswith("?"))
    return next((pair for pair in pairs if _conflict(pair[1], pair[0])), None)


def _conflict(earlier: Sentence, later: Sentence) -> bool:
    if _undone(earlier, later):
        return True
    if later.plain.endswith("?"):
        return False
    if _opposed(earlier.plain, later.plain) or _flipped(earlier.plain, later.plain):
        return True
    return len(_content(earlier.plain) & _content(later.plain)) >= ALIKE and _values_differ(earlier.text, later.text)


def _undone(earlier: Sentence, later: Sentence) -> bool:
    """Whether what was said to be done is offered afterwards, or said not to be done."""
    book = _english()
    for tool in (t for t, _ in read(earlier.text).about("done") if t in book["stems"]):
        if book["stems"][tool].search(later.plain) and (book["offer"].search(later.plain) or book["no"].search(later.plain)):
            return True
    return False


def _flipped(earlier: str, later: str) -> bool:
    """Whether one allows what the other denies: the same verb after can and after cannot, about the same thing."""
    (can, cannot), (could, could_not) = _allows(earlier), _allows(later)
    return bool((can - cannot) & could_not or (could - could_not) & cannot) and bool(_content(earlier) & _content(later))


@lru_cache(maxsize=4096)
def _allows(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Stems of the verbs a sentence allows, and of those it denies; none where it names a condition."""
    book = _english()
    if book["unless"].search(text):
        return frozenset(), frozenset()
    can, cannot = (frozenset(m.group(1)[:5] for m in book[name].finditer(text)) - {"be", "do", "have"} for name in ("can", "cannot"))
    return can, cannot


def _opposed(earlier: str, later: str) -> bool:
    """Whether they take the two sides of a kept pair of opposites, about the same thing."""
    for (left, right), (left_too, right_too) in zip(_sides(earlier), _sides(later), strict=True):
        if left != right and left_too != right_too and left != left_too:
            return bool(_content(earlier) & _content(later))
    return False


@lru_cache(maxsize=4096)
def _sides(text: str) -> tuple[tuple[bool, bool], ...]:
    """Which side of each pair of opposites a sentence takes."""
    return tuple((bool(left.search(text)), bool(right.search(text))) for left, right in _english()["opposites"])


def _values_differ(earlier: str, later: str) -> bool:
    """Whether both name a window, an amount or a date of one unit, and none in common."""
    old, new = values_in(earlier, 2000), values_in(later, 2000)
    if not old or not new:
        return False
    for kind in (*WINDOWS, "money", "date"):
        mine, theirs = ({v.value for v in values if v.kind == kind} for values in (old, new))
        if mine and theirs and not mine & theirs:
            return True
    return False


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


_COMMON = """about after again also been before being could does doing done down each even ever every from have having here into just like made make
many more most much must once only other over same should some such than that their them then there these they this those under until very want
well were what when which while will with would your yours please order thank thanks sorry yes since still""".split()


@lru_cache(maxsize=1)
def _english() -> dict[str, Any]:
    book: Book = next(b for b in books() if b.language == "en")
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
        "no": re.compile(r" (?:not|can t|cannot|no|never|isn t|aren t|won t|don t|doesn t|wasn t|didn t|hasn t|haven t|unable|impossible)\b"),
        "common": frozenset(_COMMON) | book.words,
    }
