"""Give one conversation a copy-on-write view of the store, and record the calls on it.

The tools of every desk are here, too.
"""

import copy
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import orjson

from ..records import Fault, ToolCall
from .files import leaves, merged
from .kinds import Row, Store
from .tools import (
    BUSY,
    CALL_LIMIT,
    NO_ANSWER,
    NOT_DONE,
    ArgumentError,
    CustomerAction,
    FromPolicy,
    Meanwhile,
    NotFound,
    Tool,
    Trouble,
    as_recorded,
    met,
    tool,
)

Rows = dict[str, dict[str, Row]]


class _Mark(NamedTuple):
    calls: int
    overlay: Rows
    over: str | None


CALLS_PER_TURN, CALLS_OF_HARD_CASES = 20, 100
"""Maximum number of an agent's tool calls per turn: in most cases, and in hard cases."""


class Desk:
    """One conversation's view of the store; opening a desk copies nothing.

    Parameters
    ----------
    store, tools : Store, dict of str to Tool
        The shared, immutable store, and the tools that replace its own.
    trouble, planted, customer_actions, meanwhile
        What the case stages: tool failures; texts to recognize in results; the customer's own actions by tool name;
        changes between the customer's messages.

    Attributes
    ----------
    calls, faults : list of ToolCall, list of Fault
        Every call made, in order, including malformed ones, and the faults that occurred.
    over : str or None
        ``handed_over`` or ``closed`` once a tool has ended the conversation; later calls are refused.
    staged : dict of str to str
        What the case staged for each call, by the call's index: the kind of trouble, or ``planted``.
    """

    __slots__ = ("store", "tools", "calls", "over", "faults", "staged") + (
        "_trouble", "_planted", "_customer_actions", "_meanwhile", "_overlay", "_mark", "_broken", "_moved", "_turn",
    )  # fmt: skip

    def __init__(
        self, store: Store, tools: dict[str, Tool] | None = None, *,
        trouble: Sequence[Trouble] = (), planted: Sequence[str] = (),
        customer_actions: Mapping[str, CustomerAction] | None = None, meanwhile: Sequence[Meanwhile] = (),
    ):  # fmt: skip
        self.store = store
        self.tools = store.tools if tools is None else tools
        self.calls: list[ToolCall] = []
        self.faults: list[Fault] = []
        self.staged: dict[str, str] = {}
        self.over: str | None = None
        self._trouble, self._planted, self._meanwhile, self._turn = trouble, planted, meanwhile, 1
        self._customer_actions = customer_actions or {}
        self._overlay: Rows = {}
        self._moved: Rows = {}
        self._mark, self._broken = _Mark(0, {}, None), False

    @property
    def turn(self) -> int:
        """Return the number of the message being answered; setting it applies changes due by then."""
        return self._turn

    @turn.setter
    def turn(self, turn: int) -> None:
        due = [move.rows for move in self._meanwhile if self._turn < move.at <= turn]
        for table, rows in (one for moved in due for one in moved.items()):
            beneath, changed = self._moved.setdefault(table, {}), self._overlay.get(table, {})
            for key, fields in rows.items():
                beneath[key] = merged(self._layers(table).parents.get(key, {}), fields)
                if key in changed:
                    changed[key] = merged(changed[key], fields)
        self._turn = turn

    def _layers(self, table: str) -> ChainMap[str, Row]:
        # This conversation's changes, over those made meanwhile, over the store.
        return ChainMap(*(rows.get(table, {}) for rows in (self._overlay, self._moved, self.store.tables)))

    def row(self, table: str, key: str) -> Row | None:
        """Return the row as this conversation sees it, for reading only; None if it does not exist."""
        return self._layers(table).get(key)

    def known(self, table: str, key: str) -> Row:
        """Return a row that another row refers to; raise `KeyError` if it is missing."""
        row = self.row(table, key)
        if row is None:
            raise KeyError(f"{table} has no row {key}")
        return row

    def rows(self, table: str) -> Iterator[Row]:
        """Yield all rows of a table as this conversation sees them."""
        yield from self._layers(table).values()

    def edit(self, table: str, key: str) -> Row:
        """Return a private, editable copy of the row; the first call copies it from the store."""
        changed = self._overlay.setdefault(table, {})
        if key not in changed:
            changed[key] = orjson.loads(orjson.dumps(self._layers(table).parents[key]))
        return changed[key]

    def add(self, table: str, prefix: str, row: Row) -> Row:
        """Add a row and return it; its id is the prefix and the next number, such as ``RT-1``."""
        changed = self._overlay.setdefault(table, {})
        number = 1 + sum(key.startswith(f"{prefix}-") for key in changed)
        row = {"id": f"{prefix}-{number}", **row}
        changed[row["id"]] = row
        return row

    def call(self, name: str, arguments: dict[str, Any] | str, side: str = "agent") -> ToolCall:
        """Carry out and record a tool call; its error tells the caller how to correct bad input."""
        if side == "customer" and name in self._customer_actions:
            return self._act_of_customer(name)
        tool = self.tools.get(name)
        users_own = tool is not None and not self.store.provides(tool)
        broken = users_own and not self.explained()
        call = self._new_call(name, arguments, side)
        if tool is None:
            self._fail(call, "unknown_tool", f"There is no tool named {name!r}; the tools are {', '.join(self.tools)}.")
        else:
            try:
                values = tool.read_arguments(arguments, self.store.policy)
                given = {k: v for k, v in values.items() if v is not None}
                call.arguments = as_recorded(given) if users_own else copy.deepcopy(given)
                if self.over:
                    self._fail(call, "talk_over", "The conversation has ended; no further action is possible.")
                else:
                    self._carry_out(call, tool, values)
            except ArgumentError as error:
                self._fail(call, error.kind, str(error))
                self.faults += [error.fault] if error.fault else []
            except NotFound as error:
                self._fail(call, "not_found", str(error))
        if str(call.index) not in self.staged and self._shows_what_was_planted(call):
            self.staged[str(call.index)] = "planted"
        self.calls.append(call)
        if users_own:
            self._mark = _Mark(len(self.calls), copy.deepcopy(self._overlay), self.over)
            self._broken = broken
        return call

    def refuse(self, name: str, arguments: dict[str, Any] | str, sentence: str) -> ToolCall:
        """Record a call beyond its turn's limit without carrying it out; `sentence` is its error."""
        call = self._new_call(name, arguments, "agent")
        self._fail(call, CALL_LIMIT, sentence)
        self.calls.append(call)
        return call

    def _new_call(self, name: str, arguments: Any, side: str) -> ToolCall:
        tool = self.tools.get(name)
        kept = arguments if isinstance(arguments, (dict, str)) else str(arguments)
        return ToolCall(self.turn, len(self.calls), name, kept, None, None, bool(tool and tool.write), side)

    def _carry_out(self, call: ToolCall, tool: Tool, values: dict[str, Any]) -> None:
        def work() -> Any:
            return orjson.loads(orjson.dumps(tool.function(self, **values)))

        trouble = met(self._trouble, call.name, call.arguments, self.calls) if call.side == "agent" else None
        if trouble is None:
            call.result = work()
            return
        self.staged[str(call.index)] = trouble.kind
        # From here on, the result is what the agent sees, and the error is what happened.
        unknown = f" Whether {call.name} was carried out is not known." if call.write else ""
        no_answer = f"The system did not answer in time.{unknown}"
        if trouble.kind == "timeout":
            self._fail(call, NO_ANSWER, no_answer)
        elif trouble.kind == "rate_limit":
            self._fail(call, BUSY, f"Too many requests at this moment, so {call.name} was not carried out. Try again.")
        elif trouble.kind == "lost_ack":
            work()
            call.result = {"error": no_answer}
        elif trouble.kind == "false_ack":
            before, over = copy.deepcopy(self._overlay), self.over
            call.error, call.result = NOT_DONE, work()
            self._overlay, self.over = before, over
        elif trouble.kind == "stale":
            as_of = {"as_of": trouble.as_of} if trouble.as_of else {}
            call.result = {**work(), **trouble.shows, **as_of}
        else:
            result, keep = work(), trouble.keep
            cut = {key: value[:keep] for key, value in result.items() if isinstance(value, list) and len(value) > keep}
            call.result = {**result, **cut, "more": True} if cut else result

    def _shows_what_was_planted(self, call: ToolCall) -> bool:
        shown = "\n".join(str(leaf) for _, leaf in leaves(call.result)) if self._planted else ""
        return any(text in shown for text in self._planted)

    def _act_of_customer(self, name: str) -> ToolCall:
        action = self._customer_actions[name]
        self.edit(action.table, action.id).update(copy.deepcopy(action.set))
        call = ToolCall(self.turn, len(self.calls), name, {}, {action.id: dict(action.set)}, None, True, "customer")
        self.calls.append(call)
        return call

    @staticmethod
    def _fail(call: ToolCall, kind: str, sentence: str) -> None:
        call.error, call.result = kind, {"error": sentence}

    def changes(self) -> list[dict[str, Any]]:
        """Return the changes field by field, each with table, id, field, old value and new value.

        The base is the store with the changes made meanwhile. A field is a dotted path that names list members by id.
        """
        changes: list[dict[str, Any]] = []
        for table, rows in self._overlay.items():
            before = self._layers(table).parents
            for key, row in rows.items():
                changes += differing(table, key, dict(flat(before.get(key, {}))), dict(flat(row)))
        return changes

    def explained(self) -> bool:
        """Return whether repeating the calls on a fresh desk gives the same results and changes.

        The user's own tools are not repeated, because they may act differently. Repetition starts from the desk as the
        last of them left it, and the desk is also checked before each of them begins.
        """
        fresh, known = copy.copy(self), self._mark.calls
        fresh.staged, fresh.faults, fresh._moved, fresh._turn = {}, [], {}, 1
        fresh._mark, fresh._broken = _Mark(0, {}, None), False
        fresh.turn = max((c.turn for c in self.calls[:known]), default=1)
        fresh._overlay, fresh.over = copy.deepcopy(self._mark.overlay), self._mark.over
        fresh.calls = self.calls[:known]
        for call in self.calls[known:]:
            fresh.turn = call.turn
            if call.error == CALL_LIMIT:
                fresh.calls.append(call)
                continue
            repeated = fresh.call(call.name, call.arguments, call.side)
            if (repeated.error, repeated.result) != (call.error, call.result):
                return False
        fresh.turn = self.turn
        return not self._broken and fresh.over == self.over and fresh.changes() == self.changes()


def differing(table: str, key: str, old: Row, new: Row) -> list[dict[str, Any]]:
    """Return the fields that differ between two versions of a row, as in `Desk.changes`."""
    return [
        {"table": table, "id": key, "field": name, "old": old.get(name), "new": new.get(name)}
        for name in old | new
        if old.get(name) != new.get(name)
    ]


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested data with dotted paths, which name members by ``..._id``."""
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


HANDOVER, CLOSE, SEARCH = "hand_over_to_human", "close_ticket", "search_knowledge_base"
PASSAGES, NAMED = 4, 6
"""Number of passages that a search returns in full, and of further ones that it only names."""


@tool()
def search_knowledge_base(
    desk: Desk, query: Annotated[str, "The matter in a few English words, whatever the customer writes in."]
) -> dict[str, Any]:
    """Search the rules and guides of the shop, in English: the best four articles, and the names of up to six more."""
    found = desk.store.search.knowledge_base(query, PASSAGES + NAMED)
    shown = found[:PASSAGES]
    named = {f["article_id"]: f["title"] for f in found[PASSAGES:]}
    for passage in shown:
        named.pop(passage["article_id"], None)
    return {"passages": shown, "see_also": [f"{article_id} {title}" for article_id, title in named.items()]}


@tool(write=True)
def hand_over_to_human(
    desk: Desk,
    queue: Annotated[str, FromPolicy("queues"), "The team that takes over."],
    reason: Annotated[str, "Why, in a few words."],
    summary: Annotated[str, "What the colleague must know: what is verified, what is only claimed, what is asked."],
) -> dict[str, Any]:
    """Hand the conversation to a human colleague. After it you write one last message, and no tool works any more."""
    row = desk.add("tickets", "HO", {"queue": queue, "reason": reason, "summary": summary})
    desk.over = "handed_over"
    return {"handover_id": row["id"], "queue": queue}


@tool(write=True)
def close_ticket(desk: Desk, resolution: Annotated[str, "How it was solved."]) -> dict[str, Any]:
    """Close the ticket, once the customer has said that nothing is left. After it you write one last message."""
    row = desk.add("tickets", "TK", {"resolution": resolution})
    desk.over = "closed"
    return {"ticket_id": row["id"], "status": "closed"}


def with_every_desks(own: dict[str, Tool]) -> dict[str, Tool]:
    """Return a desk's own and common tools: reads first, those that end a conversation last."""
    reads, writes = ({name: t for name, t in own.items() if t.write == write} for write in (False, True))
    return {**reads, SEARCH: search_knowledge_base, **writes, HANDOVER: hand_over_to_human, CLOSE: close_ticket}
