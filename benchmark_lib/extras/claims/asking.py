"""Repeated questions: the agent asks for what the customer has already given correctly."""

from ...language.parser import MessageParser, parser_of
from ...language.said import Reading
from ...language.sentences import Sentence, squash
from .findings import AgentClaims, ClaimFinding

NAME = "asked_again"
SLOTS = frozenset({"order_id", "email", "name", "postcode"})
"""Slots with one true value in a conversation: a second question is a repetition."""
PHOTO = "photo"
"""The slot that an attachment fills."""
IN_PASSING = frozenset({"email"})
"""Slots with such common words that patterns and reader must agree, or the reader must be sure.

For a photo, both must always agree: people write alike about photos received and requested.
"""
SURELY = 0.95
PART_OF = {"postcode": "address", PHOTO: "label"}
"""Slots that are part of another slot or show it: if the other is requested, they are not a repetition."""
SIGNED = "name"
"""The slot that only signs the first email; asking for the order's name is then no repetition."""


def again(claims: AgentClaims) -> list[ClaimFinding]:
    """Return questions that ask for what the customer has given."""
    found = []
    for message, reading in claims.replies:
        parser = parser_of(claims.store)
        other = set(parser.parse(message.text).asked)
        asked = [(slot, s) for slot, s in asks(reading, parser) if PART_OF.get(slot) not in other]
        given = given_by(claims, message.turn) if asked else {}
        for slot, sentence in asked:
            value = _true_values(claims).get(slot)  # if read back, it is checked
            if slot in given and not (value and squash(value) in squash(sentence.text)):
                compared = f"given in message {given[slot]}"
                found.append(ClaimFinding(NAME, message.turn, sentence.text, compared, slot, "asked_again"))
    return found


def given_by(claims: AgentClaims, turn: int) -> dict[str, int]:
    """Return the slots that the customer had given by a turn, each with its first message.

    The sender's address counts as given. A mistyped number, a value that proves nothing (see `Comparisons`) and
    another address's postcode do not count.
    """
    found = {"email": 1} if _true_values(claims).get("email", "").lower() == claims.case.sender.lower() else {}
    for message in claims.conversation.messages:
        if message.side != "customer" or message.turn > turn:
            continue
        for slot in message.attachments:
            found.setdefault(slot, message.turn)
        words = squash(message.text)
        for slot, value in _true_values(claims).items():
            if squash(value) in words and not (slot == SIGNED and message.turn == 1):
                found.setdefault(slot, message.turn)
    return found


def _true_values(claims: AgentClaims) -> dict[str, str]:
    """Return the customer's true values of the slots that prove identity or order."""
    case, proves = claims.case, claims.compared.proves
    known = {slot: k.value for slot, k in case.ledger.items() if slot in SLOTS and isinstance(k.value, str)}
    return {slot: v for slot, v in known.items() if len(squash(v)) > 3 and proves(slot, v, case, claims.store)}


def asks(reading: Reading, parser: MessageParser) -> list[tuple[str, Sentence]]:
    """Return the slots that a message asks for, with their sentences.

    Checks and questions for another value are omitted. Patterns of the message's languages and the store's reader
    decide.
    """
    books = reading.books
    findings = []
    for sentence in reading.sentences:
        words = sentence.plain
        elsewhere = any(book.part("again", "not").search(words) for book in books)
        if elsewhere or not any(book.slot_words.search(words) for book in books):
            continue
        by_patterns = {slot for book in books for slot, pattern in book.asks.items() if pattern.search(words)}
        heard = parser.hear([sentence])[0]
        if heard.acts["done"] >= SURELY:
            continue
        asked = (SLOTS | {PHOTO}).intersection(heard.about("ask"))
        findings += [
            (s, sentence)
            for s in sorted(asked | by_patterns)
            if s not in IN_PASSING | {PHOTO}
            or s in (asked if heard.acts["ask"] >= SURELY and s != PHOTO else asked & by_patterns)
        ]
    return findings
