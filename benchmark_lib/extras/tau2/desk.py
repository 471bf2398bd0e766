"""An environment of a tau2 domain as the desk of one conversation."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import orjson
from pydantic import TypeAdapter

from ...records import ToolCall
from ...store.desk import Desk, differing, flat
from .package import Domain
from .restored import KITS, Listed, Rows

TRANSFER = "transfer_to_human_agents"
SIDES = {"agent": "assistant", "customer": "user"}
PLAIN: TypeAdapter[Any] = TypeAdapter(Any)


class TauDesk(Desk):
    """The environment of one conversation, with its calls."""

    __slots__ = ("environment", "_domain", "_task")

    def __init__(self, store: Any, domain: Domain, task: Any):
        super().__init__(store)
        self._domain, self._task = domain, task
        self.environment = domain.opened(task)

    def call(self, name: str, arguments: dict[str, Any] | str, side: str = "agent") -> ToolCall:
        """Carry out and record a call by either side."""
        given: Any = None
        with suppress(orjson.JSONDecodeError):
            given = orjson.loads(arguments or "{}") if isinstance(arguments, str) else arguments
        write = self._domain.writes(name, side)
        call = ToolCall(self.turn, len(self.calls), name, arguments, None, None, write, side)
        if isinstance(given, dict):
            call.arguments = given
            answer = self.environment.get_response(their_call(call))
            call.result = as_result(answer.content)
            call.error = _error(answer.content) if answer.error else None
            if name == TRANSFER and side == "agent" and not answer.error:
                self.over = "handed_over"
        else:
            self._fail(call, "bad_json", f"The arguments of {name} must be one JSON object.")
        self.calls.append(call)
        return call

    def changes(self) -> list[dict[str, Any]]:
        """Return the difference from the task's initial state, field by field."""
        before = self._domain.began(self._task)
        changes = []
        for kit in KITS:
            old, new = (getattr(getattr(one, kit), "db", None) for one in (before, self.environment))
            for table in type(new).model_fields if new is not None else ():
                for key, path, *rows in _changed(table, getattr(old, table), getattr(new, table)):
                    plain = PLAIN.dump_python(rows, mode="json")
                    changes += differing(table, key, *(dict(flat(row, path)) for row in plain))
        return changes

    def explained(self) -> bool:
        """Return True, because agents see only copies."""
        return True


def their_call(call: ToolCall) -> Any:
    """Return a call as tau2's own."""
    from tau2.data_model.message import ToolCall as TheirCall

    return TheirCall(id=str(call.index), name=call.name, arguments=call.arguments, requestor=SIDES[call.side])


def as_result(content: str | None) -> Any:
    """Return the environment's answer, parsed if it is a JSON object or list."""
    if (content or "").lstrip()[:1] not in ("{", "["):
        return content
    try:
        return orjson.loads(content or "")
    except orjson.JSONDecodeError:
        return content


def _error(content: str) -> str:
    text = content.lower()
    if text.startswith("error: tool '") and text.endswith("' not found."):
        return "unknown_tool"
    return "not_found" if "not found" in text else "bad_arguments"


def _changed(table: str, before: Any, after: Any) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield the key and both states of each changed row; None if it is absent."""
    if isinstance(after, Rows):
        for key in sorted(after.taken):
            old, new = dict.get(before, key), dict.get(after, key)
            if old != new:
                yield key, "", old, new
    elif isinstance(after, Listed):
        for index in after.own():
            old, new = (list.__getitem__(rows, index) if index < len(rows) else None for rows in (before, after))
            if old is None or vars(old) != vars(new):
                name = next((value for field, value in vars(new).items() if field.endswith("_id")), index)
                yield table, f"{table}.{name}", old, new
    elif before != after:
        yield table, table, before, after
