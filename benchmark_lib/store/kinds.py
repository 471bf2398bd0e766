# ruff: noqa: D102
"""Declare kinds of desk, stores of others, and what every room uses of them.

A store folder names its kind in ``store.yaml`` and contains no code. `retail` is built in. Code that declares another
kind registers it: ``register_kind(DeskKind(name="library", ...))``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, Self

from ..errors import BadInput
from ..extension import offer, offered
from .files import Search
from .tools import Tool

Slots = tuple[str, ...]
Verdict = Callable[..., bool | None]
"""A rule's verdict on a call or an agent's message, with what preceded it, the store and the rule's parameters: True if
kept, False if broken, None if the rule does not apply."""


@dataclass(frozen=True)
class DeskKind:
    """Everything specific to one kind of desk. Each default does nothing.

    Functions get a call's arguments or the call itself, then a text or a case, and the store last.
    """

    # fmt: off
    name: str
    tables: Mapping[str, tuple[str, str]]
    """Each table with its files in the store's folder (CSV, or one JSON object per line) and its key field."""
    subject: str
    """The table of a case's subject; the case names a row under ``order``."""
    tools: dict[str, Tool]
    """Its tools, in addition to those of every desk (`store/desk.py`)."""
    look_up: tuple[str, str]
    """The tool that shows one row of `subject`, and the argument that names the row."""
    lookups: frozenset[str] = frozenset()
    """Tools that look up a row of `subject`."""
    more_tools: Mapping[str, Tool] = field(default_factory=dict)
    """Further tools for stores that list them under ``more_tools`` in ``store.yaml``."""
    beside: frozenset[str] = frozenset()
    """Tables of the customer's own rows; changes to them do not count as changes on the desk."""
    catalogue: Slots = ()
    """Searchable tables, whose rows may support any case."""
    members: Slots = ()
    """Fields of a row that list members; one row for two members counts as two rows."""

    rules: Mapping[str, Verdict] = field(default_factory=dict)
    """The predicates of its process rules by their names in the policy."""
    tellings: Mapping[str, Verdict] = field(default_factory=dict)
    """The rules that also guard messages."""
    objects: Slots = ()
    """Arguments that identify a call's object: a yes to one object does not cover another."""

    case_names: Callable[..., dict[str, Any]] = lambda raw, row, store: {}
    """Names for the placeholders of a case."""
    case_defaults: Callable[..., dict[str, Any]] = lambda names: {}
    """Fields that a case may omit."""
    usual_ledger: Callable[..., dict[str, Any]] = lambda case, names: {}
    """What a customer knows unless the case says otherwise."""
    compiled: Callable[..., dict[str, Any]] = lambda raw, store: raw
    """A case from the store's files, completed with the parts that follow from the policy."""
    grounds: Callable[..., list[Any]] = lambda case, store: []
    """The rows that may support a case's required facts."""
    unsound: Callable[..., Iterator[tuple[str, str]]] = lambda number, store: iter(())
    """The errors in a row of `subject`, each as a field and a sentence."""
    days: Callable[..., dict[str, str]] | None = None
    """The days of a row of `subject` with their meanings; None if a case may require any day."""

    identity_slots: Callable[..., list[str]] = lambda case, asked: []
    """Slots that the oracle asks for to prove identity."""
    repeated_slots: Slots = ()
    """Slots among these that it may ask for twice."""
    evidence_slots: Callable[..., list[str]] = lambda call, case, store, attached, known: []
    """Slots that the oracle asks for before a call."""
    everything: Callable[..., list[Any]] = lambda call, case, words: []
    """The results of every look-up for a customer, for the agent that dumps them."""
    described: Callable[..., dict[str, str]] = lambda arguments, tool, store: {}
    """A description of a call's object, by the placeholders of phrases."""

    named_in: Callable[..., tuple[set[str], set[str]]] = lambda text, arguments, store: (set(), set())
    """The arguments of a call that a message names, and those for which it names another value."""
    open_to: Callable[..., set[str]] = lambda arguments, case, store: set()
    """The arguments for which the customer's rows allow several values."""
    own_slots: Mapping[str, Slots] = field(default_factory=dict)
    """By argument, the ledger slots that contain the customer's own value."""
    between: Callable[..., str] = lambda text, case, store: ""
    """The ledger slot whose values a question offers as alternatives; empty if there is none."""

    attachments: Slots = ()
    """Attachments that a customer may have."""
    aside: frozenset[str] = frozenset()
    """Tools that do not serve a customer by themselves: after agreeing to one, the customer waits for more."""
    proofs: Slots = ()
    """Slots that prove identity, the subject's number first."""
    of_proofs: Slots = ()
    """Slots that an agent offers as alternatives to that number ("or your name and postcode"), not given with it."""
    choice_slots: Slots = ("goal",)
    """Slots by which a customer says which of several objects it means."""
    vague_slots: Slots = ("goal", "reason")
    """Slots that a customer leaves unanswered when it is asked for a yes or has been served."""
    checked_slots: Slots = ()
    """Slots for what a customer may have checked, such as an address or its neighbours."""
    slots_not_had: Slots = ()
    """Slots, besides proofs and attachments, that a customer may say it does not have."""

    alike: Mapping[str, set[str]] = field(default_factory=dict)
    """For each claimed tool, the tools whose calls make the claim true enough."""

    usual: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Defaults for ``info``, ``policy`` and ``phrases`` (one book per language), which a store may override."""
    usual_files: Mapping[str, Path] = field(default_factory=dict)
    """Files that a store may omit."""
    files: Slots = ("**/*",)
    """Patterns of the files that make a store, besides its tables and those of every kind; by default all files."""
    content: Callable[[Path], bytes] = Path.read_bytes
    """The content of a file as far as it makes the store."""
    sample: str = ""
    """Shipped store whose files show the form of a store of this kind; empty to skip the check."""
    optional: Slots = ()
    """Fields that a store may omit although the sample has them."""
    # fmt: on


_SHIPPED = {"retail": "benchmark_lib.store.retail"}
_REGISTERED: dict[str, DeskKind] = {}


def register_kind(kind: DeskKind) -> DeskKind:
    """Register a kind of desk for stores to name; raise `BadInput` if its name is taken."""
    if kind.name in _SHIPPED or _REGISTERED.get(kind.name, kind) is not kind:
        raise BadInput(f"the kind of desk {kind.name!r} is already registered: give this one another name")
    return _REGISTERED.setdefault(kind.name, kind)


def kind_named(name: Any, folder: Path) -> DeskKind:
    """Return the kind that a store names, without loading code; raise `BadInput` if unknown."""
    if name in _SHIPPED:
        return import_module(_SHIPPED[name]).KIND
    if name in offered("kinds"):
        return offer("kinds", name)(folder)  # type: ignore[no-any-return]
    if name not in _REGISTERED:
        known = ", ".join(sorted({*_SHIPPED, *offered("kinds"), *_REGISTERED}))
        raise BadInput(
            f"{folder / 'store.yaml'}: the kind {name!r} is not known: name one of {known}, or call "
            "register_kind before the store is opened"
        )
    return _REGISTERED[name]


# --- Protocols

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
    def version(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def folders(self) -> tuple[Path, ...]: ...
    @property
    def phrases(self) -> dict[str, dict[str, Any]]: ...
    @property
    def articles(self) -> list[dict[str, Any]]: ...
    @property
    def search(self) -> Search: ...
    @property
    def foreign(self) -> ForeignStore | None: ...
    def __hash__(self) -> int: ...
    def provides(self, tool: Tool) -> bool: ...
    def with_tools(self, own: dict[str, Tool]) -> Store: ...
    def of(self, case: Any) -> Store: ...
    def laid_over(self, name: str, world: Any, library: str | None, seed: str) -> Store: ...
    def desk(self, tools: dict[str, Tool] | None = None, *, case: Any = None, **staged: Any) -> Any: ...
    def schemas(self, tools: dict[str, Tool] | None = None) -> list[dict[str, Any]]: ...
    def prompt(self, path: Path | None = None) -> tuple[str, str]: ...
    def file(self, name: str) -> Path: ...
    # fmt: on


class Played(Protocol):
    """A case as kinds of desk see it."""

    order: str
    others: dict[str, str]
    sender: str
    ledger: dict[str, Any]


# --- Stores of others


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
