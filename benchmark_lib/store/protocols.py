"""What the parts of this room see of each other, so that none has to import the other."""

from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

Row = dict[str, Any]


class World(Protocol):
    """A store, as desks, tools, rules and kinds of desk see it."""

    path: Path
    info: dict[str, Any]
    policy: dict[str, Any]
    tables: dict[str, dict[str, Row]]
    now: datetime
    tools: dict[str, Any]
    rules: dict[str, Any]
    kind: Any

    def __hash__(self) -> int:
        """A store is itself only."""

    @property
    def search(self) -> Any:
        """The search over the knowledge base."""

    def provides(self, tool: Any) -> bool:
        """Whether a tool is one of its kind's, and not the user's own."""


class Played(Protocol):
    """A case, as kinds of desk see it."""

    order: str
    others: dict[str, str]
    sender: str
    ledger: dict[str, Any]
