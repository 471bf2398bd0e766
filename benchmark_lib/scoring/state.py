"""Comparing what a talk left on the desk with what should have been left, field by field."""

from __future__ import annotations

import fnmatch
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from ..cases import Call, Case
from ..language.folding import squash
from ..records import ToolCall, as_text
from ..store.every_desk import CLOSE, HANDOVER

if TYPE_CHECKING:
    from ..store import Store

FREE_TEXT = ("reason", "cancel_reason", "summary", "resolution", "id")
"""Fields that are left out of every comparison: wording and generated ids."""


def end_state(changes: list[dict[str, Any]], store: Store) -> Counter[str]:
    """The end state as countable entries: wording, tickets and generated ids left out, addresses normalised.

    Parameters
    ----------
    changes : list of dict
        As `Desk.changes` gives them.
    """
    entries: Counter[str] = Counter()
    added: dict[tuple[str, str], dict[str, Any]] = {}
    for change in changes:
        table, key, field = change["table"], change["id"], change["field"]
        if (
            table == "tickets"
            or field.rsplit(".", 1)[-1] in FREE_TEXT
            or _plain(change["new"]) == _plain(change["old"])
        ):
            continue
        if key in store.tables.get(table, {}):
            entries[f"{table}/{key}/{field}={_plain(change['new'])}"] += 1
        else:
            added.setdefault((table, key), {})[field] = _plain(change["new"])
    for (table, _), row in added.items():
        entries[f"{table}+{as_text(row, sort_keys=True)}"] += 1
    return entries


@lru_cache(maxsize=20_000)
def _state_after(calls: str, store: Store) -> Counter[str]:
    desk = store.desk()
    for call in orjson.loads(calls):
        arguments = call["arguments"]
        fields = store.tools[call["tool"]].arguments.model_fields
        desk.call(call["tool"], {**{n: "-" for n in FREE_TEXT if n in fields}, **arguments})
    return end_state(desk.changes(), store)


def state_after(calls: list[Call], store: Store) -> Counter[str]:
    """The end state that these calls lead to."""
    if not calls:
        return Counter()
    return _state_after(orjson.dumps([c.model_dump() for c in calls]).decode(), store)


def matching_outcomes(changes: list[dict[str, Any]], case: Case, store: Store) -> list[str]:
    """Names of the accepted outcomes whose end state this is; writes listed as allowed extras do not count."""
    state = end_state(changes, store)
    allowed = state_after(case.allowed_extra, store)
    found = []
    for outcome in case.outcomes:
        expected = state_after([c for c in outcome.calls if c.tool not in (HANDOVER, CLOSE)], store)
        if not expected - state and not (state - expected) - allowed:
            found.append(outcome.name)
    return found


def forbidden_calls(calls: list[ToolCall], case: Case) -> list[ToolCall]:
    """The calls of the agent that the case forbids, malformed ones included."""
    return [c for c in calls if c.side == "agent" and any(_matches(c, f) for f in case.forbidden)]


def _matches(call: ToolCall, pattern: Call) -> bool:
    if pattern.tool == "*":
        if not call.write or call.name == HANDOVER:
            return False
    elif not fnmatch.fnmatchcase(call.name, pattern.tool):
        return False
    text = squash(as_text(call.arguments))
    return all(squash(str(leaf)) in text for leaf in _leaves(pattern.arguments))


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [x for v in value.values() for x in _leaves(v)]
    if isinstance(value, list):
        return [x for v in value for x in _leaves(v)]
    return [] if value is None else [value]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return squash(value)
    if isinstance(value, list):
        return sorted((_plain(v) for v in value), key=str)
    return "" if value is None else value
