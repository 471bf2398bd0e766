"""Two conversations side by side, and where they differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import orjson

from ..records import Conversation, ToolCall
from .conversation_view import Numbering, act_words, brief, conversation_view
from .fetch import Dossier
from .transcript import render

FIRST, FIRST_THAT_COUNTS = "first difference", "first difference that counts"


@dataclass(frozen=True)
class Event:
    """Something that was done in a conversation: an act of the customer, a call, or the end; words are not compared.

    Attributes
    ----------
    key : tuple
        Its place: ``("act", side, turn, message, place)``, ``("call", index)`` or ``("end",)``.
    message : int or None
        The number of the message that it belongs to.
    same : str
        Equal for events that are the same thing done.
    counts : bool
        False for a call that only reads, and for one that was refused.
    """

    key: tuple[Any, ...]
    turn: int
    what: str
    same: str
    counts: bool = True
    message: int | None = None


def events(conversation: Conversation) -> list[Event]:
    """Everything done in a conversation, in order."""
    c, found, count = conversation, [], Numbering(conversation)
    for turn in sorted({m.turn for m in c.messages} | {t.turn for t in c.tool_calls}):
        found += [
            *_acts(c, "customer", turn, count),
            *(_call(t, count) for t in c.tool_calls if t.turn == turn),
            *_acts(c, "agent", turn, count),
        ]
    last = c.messages[-1].turn if c.messages else 0
    return [*found, Event(("end",), last, f"ended: {c.ended_by}", c.ended_by, message=len(c.messages) or None)]


def _acts(c: Conversation, side: str, turn: int, count: Numbering) -> Iterator[Event]:
    for n, message in enumerate(m for m in c.messages if m.turn == turn and m.side == side):
        for i, act in enumerate(message.acts):
            same = f"{side} {act.kind} {act.what} {act.detail}"
            number = count.of(turn, side, n)
            yield Event(("act", side, turn, n, i), turn, f"{side} {act_words(act)}", same, message=number)


def _call(call: ToolCall, count: Numbering) -> Event:
    arguments = orjson.dumps(call.arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
    same = f"{call.side} {call.name} {arguments} {call.error}"
    counts = bool(call.write) and not call.error
    what = f"{call.name} ({brief(call)})"
    return Event(("call", call.index), call.turn, what, same, counts, count.of(call.turn))


def signs_of(conversation: Conversation) -> dict[str, dict[str, Any]]:
    """Return what was done by the message (``m3``) or call (``c1``) of a transcript in which it was done.

    The ``digest`` is equal for the same acts or the same call, and ``reads`` is true for a call that changes nothing.
    """
    found: dict[str, list[Event]] = {}
    for event in events(conversation)[:-1]:
        place = f"c{event.key[1] + 1}" if event.key[0] == "call" else f"m{event.message}"
        found.setdefault(place, []).append(event)
    return {
        place: {"digest": f"{crc32(' '.join(e.same for e in mine).encode()):08x}", "reads": not mine[0].counts}
        for place, mine in found.items()
    }


def first_difference(
    left: Conversation, right: Conversation, only_what_counts: bool = False
) -> tuple[Event, Event] | None:
    """The first events in which two conversations differ.

    Parameters
    ----------
    only_what_counts : bool
        Leave out calls that only read, and calls that were refused.

    None if the same was done in both.
    """
    sides = [[e for e in events(c) if e.counts or not only_what_counts] for c in (left, right)]
    return next((pair for pair in zip(*sides) if (pair[0].turn, pair[0].same) != (pair[1].turn, pair[1].same)), None)


def compare_html(left: Dossier, right: Dossier, css: bool = True) -> str:
    """Two conversations side by side, turn by turn, as an HTML fragment.

    The first differing act or call is marked on both sides.
    """
    first = first_difference(left.conversation, right.conversation)
    counts = first_difference(left.conversation, right.conversation, only_what_counts=True)
    found = {FIRST: first} if first else {}
    found |= {FIRST_THAT_COUNTS: counts} if counts and counts != first else {}
    views = []
    for n, d in enumerate((left, right)):
        differs = {pair[n].key: words for words, pair in found.items()}
        views.append(conversation_view(d.conversation, d.score, differs=differs, **d.about))
    turns = [{t["number"]: t for t in v["turns"]} for v in views]
    rows = [[mine.get(number) for mine in turns] for number in sorted({*turns[0], *turns[1]})]
    lines = [f"{words.capitalize()}, {_where(*pair)}" for words, pair in found.items()]
    lines = lines or ["The same acts and calls on both sides."]
    return render("compare.html.j2", left=views[0], right=views[1], rows=rows, lines=lines, css=css)


def _where(one: Event, other: Event) -> str:
    """Two differing events in words, with the messages they belong to."""
    numbers = " and ".join(dict.fromkeys(f"message {event.message or '-'}" for event in (one, other)))
    return f"{numbers}: {one.what}  |  {other.what}"
