"""Declare what every room uses of a store, and what a kind of desk uses of a case."""

from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from .foreign import ForeignStore
from .kinds import DeskKind
from .search import Search
from .tools import Tool

Row = dict[str, Any]


class Store(Protocol):
    """A store, loaded from a folder or made of another package's tasks or of real chats.

    Attributes
    ----------
    info, policy : dict
        ``store.yaml``, and the limits, windows, queues and process rules of ``policy.yaml``.
    tables : dict of str to dict
        The rows of its kind's tables, by table and id.
    now : datetime
        The frozen clock.
    tools : dict of str to Tool
        The tools on a desk of this store, by name: those of its kind and the user's own.
    laid : frozenset of str
        The tables and other parts that a case's own world changes.
    foreign : ForeignStore or None
        The store itself if it plays and scores cases of its own; None if its cases are files.
    """

    name: str
    title: str
    path: Path
    info: dict[str, Any]
    policy: dict[str, Any]
    tables: dict[str, dict[str, Row]]
    now: datetime
    tools: dict[str, Tool]
    rules: dict[str, Any]
    kind: DeskKind
    laid: frozenset[str]

    # fmt: off
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def hash(self) -> str: ...  # noqa: D102
    @property
    def folders(self) -> tuple[Path, ...]: ...  # noqa: D102
    @property
    def phrases(self) -> dict[str, dict[str, Any]]: ...  # noqa: D102
    @property
    def articles(self) -> list[dict[str, Any]]: ...  # noqa: D102
    @property
    def search(self) -> Search: ...  # noqa: D102
    @property
    def foreign(self) -> ForeignStore | None: ...  # noqa: D102
    def __hash__(self) -> int: ...
    def provides(self, tool: Tool) -> bool: ...  # noqa: D102
    def with_tools(self, own: dict[str, Tool]) -> "Store": ...  # noqa: D102
    def of(self, case: Any) -> "Store": ...  # noqa: D102
    def laid_over(self, name: str, world: Any, library: str | None, seed: str) -> "Store": ...  # noqa: D102
    def desk(self, tools: dict[str, Tool] | None = None, *, case: Any = None, **staged: Any) -> Any: ...  # noqa: D102
    def schemas(self, tools: dict[str, Tool] | None = None) -> list[dict[str, Any]]: ...  # noqa: D102
    def prompt(self, path: Path | None = None) -> tuple[str, str]: ...  # noqa: D102
    def file(self, name: str) -> Path: ...  # noqa: D102
    # fmt: on


class Played(Protocol):
    """A case as kinds of desk see it."""

    order: str
    others: dict[str, str]
    sender: str
    ledger: dict[str, Any]
