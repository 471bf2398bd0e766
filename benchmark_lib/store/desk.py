"""The desk: one conversation's copy-on-write view of the store, with the list of calls made on it."""

import copy
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from ..records import Fault, ToolCall
from .frozen import thawed
from .laid import merged
from .protocols import World
from .tools import ArgumentError, NotFound, Tool, as_recorded
from .trees import leaves
from .trouble import Trouble, carried_out, met


class _Mark(NamedTuple):
    """How a desk stood after the first `calls` of its calls."""

    calls: int
    overlay: dict[str, dict[str, dict[str, Any]]]
    over: str | None


_UNTOUCHED = _Mark(0, {}, None)


class Desk:
    """What one conversation sees and changes; opening one copies nothing.

    Parameters
    ----------
    store, tools : Store, dict of str to Tool
        The shared, immutable world, and what stands in place of its own tools.
    trouble, planted : sequence of Trouble, sequence of str
        What goes wrong at the tools, and texts whose showing up in a result is noted.
    deeds : mapping of str to Deed
        What the customer can do with tools of its own, by their names.
    meanwhile : sequence of Meanwhile
        What changes by itself while the customer does not write.

    Attributes
    ----------
    calls, faults : list of ToolCall, list of Fault
        Every call made, in order, malformed ones included, and what went wrong on the way.
    turn : int
        The customer message that is being answered; kept by the conversation. With it comes what changed meanwhile.
    over : str or None
        ``handed_over`` or ``closed`` once a tool ended the talk; later calls are refused.
    staged : dict of str to str
        What the case had staged for a call, by its index: the kind of trouble it met, or ``planted``.
    """

    __slots__ = (
        "store", "tools", "calls", "over", "faults", "staged", "_trouble", "_planted", "_deeds", "_overlay",
        "_mark", "_broken", "_meanwhile", "_moved", "_turn",
    )  # fmt: skip

    def __init__(
        self,
        store: World,
        tools: dict[str, Tool] | None = None,
        *,
        trouble: Sequence[Trouble] = (),
        planted: Sequence[str] = (),
        deeds: Mapping[str, Any] | None = None,
        meanwhile: Sequence[Any] = (),
    ):
        self.store = store
        self.staged: dict[str, str] = {}
        self._trouble, self._planted, self._deeds = trouble, planted, deeds or {}
        self.tools = store.tools if tools is None else tools
        self.calls: list[ToolCall] = []
        self._turn, self._meanwhile = 1, meanwhile
        self._moved: dict[str, dict[str, dict[str, Any]]] = {}
        self.over: str | None = None
        self.faults: list[Fault] = []
        self._overlay: dict[str, dict[str, dict[str, Any]]] = {}
        self._mark, self._broken = _UNTOUCHED, False

    @property
    def turn(self) -> int:  # noqa: D102
        return self._turn

    @turn.setter
    def turn(self, turn: int) -> None:
        for move in self._meanwhile:
            if self._turn < move.at <= turn:
                for table, rows in move.rows.items():
                    for key, fields in rows.items():
                        self._move(table, key, fields)
        self._turn = turn

    def _move(self, table: str, key: str, fields: Mapping[str, Any]) -> None:
        """Lay fields over a row as it is in the store by now, and as it was changed here."""
        self._moved.setdefault(table, {})[key] = merged(thawed(self._before(table).get(key, {})), fields)
        mine = self._overlay.get(table, {})
        if key in mine:
            mine[key] = merged(mine[key], fields)

    def _before(self, table: str) -> Mapping[str, dict[str, Any]]:
        """The rows of a table without what was done in this conversation: those of the store, and what changed meanwhile."""
        below = self.store.tables.get(table, {})
        return ChainMap(self._moved[table], below) if table in self._moved else below

    def row(self, table: str, key: str) -> dict[str, Any] | None:
        """The row as this conversation sees it, for reading only; None if there is none."""
        mine = self._overlay.get(table)
        if mine is not None and key in mine:
            return mine[key]
        return self._before(table).get(key)

    def known(self, table: str, key: str) -> dict[str, Any]:
        """A row that another row names, so that it must be there."""
        row = self.row(table, key)
        if row is None:
            raise KeyError(f"{table} has no row {key}")
        return row

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """All rows of a table as this conversation sees them."""
        mine = self._overlay.get(table, {})
        known = self._before(table)
        for key, row in known.items():
            yield mine.get(key, row)
        yield from (row for key, row in mine.items() if key not in known)

    def edit(self, table: str, key: str) -> dict[str, Any]:
        """A private copy of the row that may be changed; copied from the store the first time."""
        mine = self._overlay.setdefault(table, {})
        if key not in mine:
            mine[key] = orjson.loads(orjson.dumps(self._before(table)[key]))
        return mine[key]

    def add(self, table: str, prefix: str, row: dict[str, Any]) -> dict[str, Any]:
        """Add a row under a generated id (``PREFIX-1``, ``PREFIX-2`` ..., each prefix counted by itself) and return it."""
        mine = self._overlay.setdefault(table, {})
        number = 1 + sum(key.startswith(f"{prefix}-") for key in mine)
        row = {"id": f"{prefix}-{number}", **row}
        mine[row["id"]] = row
        return row

    def call(self, name: str, arguments: dict[str, Any] | str, side: str = "agent") -> ToolCall:
        """Carry out a tool call and record it; bad input becomes an error that the caller can read and correct."""
        if side == "customer" and name in self._deeds:
            return self._deed(name)
        tool = self.tools.get(name)
        users_own = tool is not None and not self.store.provides(tool)
        broken = users_own and not self.explained()
        kept = arguments if isinstance(arguments, (dict, str)) else str(arguments)
        call = ToolCall(self.turn, len(self.calls), name, kept, None, None, bool(tool and tool.write), side)
        if tool is None:
            self._fail(call, "unknown_tool", f"There is no tool named {name!r}; the tools are {', '.join(self.tools)}.")
        else:
            try:
                values = tool.read_arguments(arguments, self.store.policy)
                told = {k: v for k, v in values.items() if v is not None}
                call.arguments = as_recorded(told) if users_own else copy.deepcopy(told)
                if self.over:
                    self._fail(call, "talk_over", "The conversation has ended; no further action is possible.")
                else:
                    self._carry_out(call, tool, values)
            except ArgumentError as error:
                self._fail(call, error.kind, str(error))
                if error.fault is not None:
                    self.faults.append(error.fault)
            except NotFound as error:
                self._fail(call, "not_found", str(error))
        if str(call.index) not in self.staged and self._shows_what_was_planted(call):
            self.staged[str(call.index)] = "planted"
        self.calls.append(call)
        if users_own:
            self._mark = _Mark(len(self.calls), copy.deepcopy(self._overlay), self.over)
            self._broken = broken
        return call

    def _carry_out(self, call: ToolCall, tool: Tool, values: dict[str, Any]) -> None:
        def work() -> Any:
            return orjson.loads(orjson.dumps(tool.function(self, **values)))

        def undone() -> Any:
            before, over = copy.deepcopy(self._overlay), self.over
            result = work()
            self._overlay, self.over = before, over
            return result

        trouble = met(self._trouble, call.name, call.arguments, self.calls) if call.side == "agent" else None
        if trouble is None:
            call.result = work()
        else:
            self.staged[str(call.index)] = trouble.kind
            carried_out(call, trouble, work, undone)

    def _shows_what_was_planted(self, call: ToolCall) -> bool:
        shown = "\n".join(str(leaf) for _, leaf in leaves(call.result)) if self._planted else ""
        return any(text in shown for text in self._planted)

    def _deed(self, name: str) -> ToolCall:
        """Something the customer does: recorded as its call."""
        deed = self._deeds[name]
        row = self.edit(deed.table, deed.id)
        row.update(copy.deepcopy(deed.set))
        call = ToolCall(self.turn, len(self.calls), name, {}, {deed.id: dict(deed.set)}, None, True, "customer")
        self.calls.append(call)
        return call

    @staticmethod
    def _fail(call: ToolCall, kind: str, sentence: str) -> None:
        call.error, call.result = kind, {"error": sentence}

    def changes(self) -> list[dict[str, Any]]:
        """The field-by-field difference to the store and what changed in it meanwhile: table, id, field, old and new of each.

        A field is a dotted path in which parts of a list are named by their id.
        """
        found: list[dict[str, Any]] = []
        for table, rows in self._overlay.items():
            before = self._before(table)
            for key, row in rows.items():
                found += differing(table, key, dict(flat(before.get(key, {}))), dict(flat(row)))
        return found

    def explained(self) -> bool:
        """Whether the calls on record, made once more on a fresh desk, return and change what they returned and changed here.

        A tool of the user's own is not called again, because it may do something else the next time: what it left is
        taken as it was found when it returned, and the desk is checked before it begins.
        """
        staged: dict[str, Any] = {"trouble": self._trouble, "planted": self._planted, "deeds": self._deeds}
        fresh = Desk(self.store, self.tools, **staged, meanwhile=self._meanwhile)
        fresh.turn = max((c.turn for c in self.calls[: self._mark.calls]), default=1)
        fresh._overlay, fresh.over = copy.deepcopy(self._mark.overlay), self._mark.over
        fresh.calls = self.calls[: self._mark.calls]
        for call in self.calls[self._mark.calls :]:
            fresh.turn = call.turn
            again = fresh.call(call.name, call.arguments, call.side)
            if (again.error, again.result) != (call.error, call.result):
                return False
        fresh.turn = self.turn
        return not self._broken and fresh.over == self.over and fresh.changes() == self.changes()


def differing(table: str, key: str, old: dict[str, Any], new: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields in which two forms of a row differ, see `Desk.changes`."""
    names = (name for name in old | new if old.get(name) != new.get(name))
    return [{"table": table, "id": key, "field": name, "old": old.get(name), "new": new.get(name)} for name in names]


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested data with their dotted paths; members of a list go by their first ``..._id`` field."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            name = f"{path}.{key}" if path else key
            if isinstance(inner, dict | list):
                yield from flat(inner, name)
            else:
                yield name, inner
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for place, inner in enumerate(value):
            name = next((str(v) for k, v in inner.items() if k.endswith("_id")), str(place))
            yield from flat(inner, f"{path}.{name}" if path else name)
    elif path:
        yield path, value
