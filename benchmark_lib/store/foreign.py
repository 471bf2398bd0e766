"""Define stores without rows of our own: another package's tasks, or chats between people."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, Self

from ..errors import BadInput
from .kinds import DeskKind


class Foreign(Protocol):
    """Another package's tasks, played and scored in place of our cases; see `foreign_named`.

    `scripted` names the scripted agents that know its tasks, and `floor` is the share of its tasks that an inactive
    agent passes. `resumed` returns an agent that begins where the task begins, such as in the middle of a chat.
    """

    # fmt: off
    domain: str
    store: Any
    scripted: tuple[str, ...]
    floor: float | None
    def cases(self) -> tuple[Any, ...]: ...  # noqa: D102
    def choose(self, pattern: str) -> list[Any]: ...  # noqa: D102
    def agent(self, spec: str, case: Any) -> Any: ...  # noqa: D102
    def resumed(self, agent: Any, case: Any) -> Any: ...  # noqa: D102
    def customer(self, spec: str, case: Any, complete: Any) -> Any: ...  # noqa: D102
    def customer_prompt(self, case: Any) -> str: ...  # noqa: D102
    def score(self, conversation: Any, case: Any) -> dict[str, Any]: ...  # noqa: D102
    def summary(self, share: str, scores: list[dict[str, Any]]) -> str: ...  # noqa: D102
    # fmt: on


class ForeignStore:
    """Base class of such stores: no rows, rules or tools, and the same world for every case."""

    graded = "by its own rules"
    """How its cases are graded, in the words of the error that refuses the user's own tools."""

    def __init__(self, name: str, title: str, version: str, path: Path, kind: str):
        self.name, self.title, self.version, self.path = name, title, version, path
        self.info: dict[str, Any] = {"name": name, "title": title, "traps": {}, "families": {}}
        self.policy: dict[str, Any] = {}
        self.phrases: dict[str, Any] = {}
        self.tables: dict[str, Any] = {}
        self.tools: dict[str, Any] = {}
        self.rules: dict[str, Any] = {}
        self.articles: list[Any] = []
        self.laid: frozenset[str] = frozenset()
        self.kind = DeskKind(name=kind, tables={}, subject="", tools={}, look_up=("", ""))
        self.search = SimpleNamespace(knowledge_base=lambda words: [])

    def provides(self, tool: Any) -> bool:
        """Return False: such a store has none of our tools."""
        return False

    def with_tools(self, own: dict[str, Any]) -> Self:
        """Return the same store; refuse the user's own tools, which its grader does not know."""
        if own:
            raise BadInput(f"{self.name} is graded {self.graded}: omit --tools")
        return self

    def of(self, case: Any) -> Self:
        """Return the store unchanged: its cases have no worlds of their own."""
        return self
