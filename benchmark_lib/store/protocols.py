"""Declare what the modules of this room use of each other, to avoid circular imports."""

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

    def __hash__(self) -> int:
        """Compare by identity."""

    @property
    def search(self) -> Any:
        """Return the search over the knowledge base."""

    def provides(self, tool: Any) -> bool:
        """Return whether a tool belongs to the store's kind rather than to the user."""


class Foreign(Protocol):
    """Tasks of another package, played and scored in place of our cases; see `foreign_named`.

    Attributes
    ----------
    domain, store : str, Any
        Its name within the package, and its substitute for a store.
    scripted : tuple of str
        The scripted agents that know its tasks.
    floor : float
        Share of its tasks that an inactive agent passes.
    """

    domain: str
    scripted: tuple[str, ...]

    @property
    def store(self) -> Any: ...  # noqa: D102

    @property
    def floor(self) -> float: ...  # noqa: D102

    def cases(self) -> tuple[Any, ...]:
        """Return every task as a case."""

    def choose(self, pattern: str) -> list[Any]:
        """Return the cases that a pattern names."""

    def agent(self, spec: str, case: Any) -> Any:
        """Return a scripted agent."""

    def resumed(self, agent: Any, case: Any) -> Any:
        """Return the agent that begins where the task begins, such as in the middle of a chat."""

    def customer(self, spec: str, case: Any, complete: Any) -> Any:
        """Return the customer of a task."""

    def customer_prompt(self, case: Any) -> str:
        """Return the system prompt of a model customer."""

    def score(self, conversation: Any, case: Any) -> dict[str, Any]:
        """Return the score of one conversation."""

    def summary(self, share: str, scores: list[dict[str, Any]]) -> str:
        """Summarize the results of a run in words."""


class Played(Protocol):
    """A case as kinds of desk see it."""

    order: str
    others: dict[str, str]
    sender: str
    ledger: dict[str, Any]
