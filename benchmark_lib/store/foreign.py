"""Define stores that play and score cases of their own, such as another package's tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from ..errors import BadInput
from .kinds import DeskKind


class ForeignStore(ABC):
    """A base class without rows, rules or tools of ours; every case has the same world.

    A store adds the rest of `Store`: `version`, `hash`, `folders`, `desk`, `schemas` and `prompt`.
    """

    graded = "by its own rules"
    """How its cases are graded, in the words of the error that refuses the user's own tools."""
    scripted: tuple[str, ...] = ()
    """The scripted agents that know its cases."""
    floor: float | None = None
    """Share of its cases that an inactive agent passes."""
    domain: str
    """Its name without the prefix."""
    now = datetime.max

    def __init__(self, name: str, title: str, path: Path, kind: str):
        self.name, self.title, self.path = name, title, path
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

    @property
    def foreign(self) -> Self:
        """Return the store itself."""
        return self

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

    @abstractmethod
    def opened(self) -> Any:
        """Return the store; raise `BadInput` if its files or package are missing."""

    @abstractmethod
    def cases(self) -> tuple[Any, ...]:
        """Return every case."""

    @abstractmethod
    def choose(self, pattern: str) -> list[Any]:
        """Return the cases that a pattern names."""

    @abstractmethod
    def agent(self, spec: str, case: Any) -> Any:
        """Return a scripted agent."""

    @abstractmethod
    def resumed(self, agent: Any, case: Any) -> Any:
        """Return an agent that begins where the case begins, such as in the middle of a chat."""

    @abstractmethod
    def customer(self, spec: str, case: Any, complete: Any) -> Any:
        """Return the customer of a case; `complete` calls the model that plays it."""

    @abstractmethod
    def customer_prompt(self, case: Any) -> str:
        """Return the system prompt of the model that plays the customer."""

    @abstractmethod
    def score(self, conversation: Any, case: Any) -> dict[str, Any]:
        """Return the score of a conversation."""
