"""Declare what this room's modules use of one another, to avoid circular imports."""

from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

Row = dict[str, Any]


class World(Protocol):
    """A store as desks, tools, rules and kinds of desk see it."""

    path: Path
    info: dict[str, Any]
    policy: dict[str, Any]
    tables: dict[str, dict[str, Row]]
    now: datetime
    tools: dict[str, Any]
    rules: dict[str, Any]
    kind: Any

    def __hash__(self) -> int: ...
    @property
    def search(self) -> Any: ...  # noqa: D102
    def provides(self, tool: Any) -> bool: ...  # noqa: D102


class Played(Protocol):
    """A case as kinds of desk see it."""

    order: str
    others: dict[str, str]
    sender: str
    ledger: dict[str, Any]
