"""Declare what a case stages on a desk, and simulate trouble with its tools."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..records import ToolCall

NO_ANSWER, BUSY, NOT_DONE = "timeout", "rate_limit", "not_carried_out"
"""Error kinds of calls that met trouble: no answer, too many calls, and a false success."""
CALL_LIMIT = "too_many_calls"
"""Error kind of a call beyond its turn's limit; such a call is not carried out."""


class Part(BaseModel):
    """A part of a case."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CustomerAction(Part):
    """An action that the customer takes with a tool of its own, and that sets fields of a row."""

    tool: str
    table: str
    id: str
    set: dict[str, Any]


class Trouble(Part):
    """A failure of a tool."""

    tool: str
    at: int = Field(1, ge=1)
    times: int = Field(1, ge=1)
    """First call of the conversation that is affected (from 1), and number of calls affected in a row."""
    where: dict[str, Any] = {}
    """Arguments of the calls that can be affected, such as one order's number; only these calls count."""
    kind: Literal["timeout", "rate_limit", "lost_ack", "false_ack", "stale", "cut"]
    """``timeout`` and ``rate_limit``: not carried out, with an error; ``lost_ack``: carried out, but
    answered with a timeout; ``false_ack``: not carried out, but answered with success; ``stale``: an older version of
    the row; ``cut``: lists cut short."""
    shows: dict[str, Any] = {}
    as_of: str = ""
    """Fields of a stale answer, and their time."""
    keep: int = Field(1, ge=0)
    """Number of entries that a shortened list keeps."""


class Meanwhile(Part):
    """A change before the customer's message number `at`, at a time shown above the message."""

    at: int = Field(ge=2)
    clock: datetime | None = None
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    """Changed fields by table and id, as in a world's rows."""


def met(trouble: Sequence[Trouble], name: str, arguments: Any, before: Sequence[ToolCall]) -> Trouble | None:
    """Return the trouble that a tool's next call meets after the calls `before`, or None."""
    earlier = [c.arguments for c in before if c.name == name and c.side == "agent" and c.error != CALL_LIMIT]
    for one in trouble:
        place = 1 + sum(_fits(one, made) for made in earlier)
        if one.tool == name and _fits(one, arguments) and one.at <= place < one.at + one.times:
            return one
    return None


def _fits(trouble: Trouble, arguments: Any) -> bool:
    given = arguments if isinstance(arguments, Mapping) else {}
    return all(str(given.get(name)).casefold() == str(value).casefold() for name, value in trouble.where.items())


def carried_out(call: ToolCall, trouble: Trouble, work: Callable[[], Any], undone: Callable[[], Any]) -> None:
    """Carry out a call with trouble: `result` is what the caller sees, `error` what happened.

    `work` carries the call out; `undone` does so without leaving a change. Both return its result.
    """
    if trouble.kind == "timeout":
        call.error, call.result = NO_ANSWER, _no_answer(call)
    elif trouble.kind == "rate_limit":
        sentence = f"Too many requests at this moment, so {call.name} was not carried out. Try again."
        call.error, call.result = BUSY, {"error": sentence}
    elif trouble.kind == "lost_ack":
        work()
        call.result = _no_answer(call)
    elif trouble.kind == "false_ack":
        call.error, call.result = NOT_DONE, undone()
    elif trouble.kind == "stale":
        as_of = {"as_of": trouble.as_of} if trouble.as_of else {}
        call.result = {**work(), **trouble.shows, **as_of}
    else:
        call.result = _cut(work(), trouble.keep)


def shown_error(call: ToolCall) -> str | None:
    """Return a call's error as far as its caller can tell from the answer."""
    if isinstance(call.result, Mapping) and call.result.keys() == {"error"}:
        return call.error or NO_ANSWER
    return None if call.error == NOT_DONE else call.error


def _no_answer(call: ToolCall) -> dict[str, str]:
    unknown = f" Whether {call.name} was carried out is not known." if call.write else ""
    return {"error": f"The system did not answer in time.{unknown}"}


def _cut(result: Mapping[str, Any], keep: int) -> dict[str, Any]:
    cut = {key: value[:keep] for key, value in result.items() if isinstance(value, list) and len(value) > keep}
    return {**result, **cut, "more": True} if cut else dict(result)
