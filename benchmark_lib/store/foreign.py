"""A store without rows of ours: tasks of another package, or chats between people."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from ..errors import BadInput
from .kinds import DeskKind


class ForeignStore:
    """Common part of such stores: no rows, rules or tools, and one world for every case.

    Attributes
    ----------
    graded : str
        How its cases are graded, for the refusal of the user's own tools.
    """

    graded = "by its own rules"

    def __init__(self, name: str, title: str, version: str, path: Path, kind: str):
        self.name, self.title, self.version, self.path = name, title, version, path
        self.info: dict[str, Any] = {"name": name, "title": title, "traps": {}, "families": {}}
        self.policy: dict[str, Any] = {}
        self.tools: dict[str, Any] = {}
        self.laid: frozenset[str] = frozenset()
        self.phrases: dict[str, Any] = {}
        self.articles: list[Any] = []
        self.tables: dict[str, Any] = {}
        self.rules: dict[str, Any] = {}
        self.kind = DeskKind(name=kind, tables={}, subject="", tools={}, look_up=("", ""))
        self.search = SimpleNamespace(knowledge_base=lambda words: [])

    def provides(self, tool: Any) -> bool:
        """Return False: it has no tools of ours."""
        return False

    def with_tools(self, own: dict[str, Any]) -> Self:
        """Return the same store; refuse own tools, which its grading does not know."""
        if own:
            raise BadInput(f"{self.name} is graded {self.graded}: omit --tools")
        return self

    def of(self, case: Any) -> Self:
        """Return the store unchanged: no case lays anything over it."""
        return self
