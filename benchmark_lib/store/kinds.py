"""Declare kinds of desk: all that distinguishes a retail desk from a library counter.

A store folder names its kind in ``store.yaml`` and contains no code. `retail` is shipped. Code that declares another
kind registers it: ``register_kind(DeskKind(name="library", ...))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..extension import offer, offered
from ..records import ToolCall
from .protocols import Played, Row, World
from .rules import Predicate, Telling
from .tools import Tool


@dataclass(frozen=True)
class DeskKind:
    """Everything specific to one kind of desk. Each default does nothing.

    Attributes
    ----------
    tables : mapping of str to (str, str)
        Each table with its files in the store's folder (one JSON object per line) and its key field.
    subject, look_up : str, (str, str)
        The table of a case's subject (the case names a row under ``order``). The tool that shows one of its rows, with
        the argument that names the row.
    tools, more_tools : dict of str to Tool
        Its tools in addition to `every_desk`, and further tools for stores that list them under ``more_tools`` in
        ``store.yaml``.
    beside : frozenset of str
        Tables with the customer's own rows, whose changes do not count as changes on the desk.
    rules, tellings : mapping of str to Predicate, mapping of str to Telling
        The predicates of its process rules, by their names in the policy, and those that also guard messages.
    objects, members : tuple of str
        Arguments that identify a call's object, such as an order and its lines: a yes to one object does not cover
        another. Fields of a row that list members: one row for two members equals two rows.
    case_names, case_defaults, usual_ledger : callable
        ``case_names(raw, row, store)``: names for the placeholders of a case. ``case_defaults(names)``: fields that a
        case may omit. ``usual_ledger(case, names)``: a customer's knowledge unless the case says otherwise.
    attachments, aside : tuple of str, frozenset of str
        Possible attachments of a customer. Tools that do not serve a customer alone: after a yes, the customer waits.
    identity_slots, repeated_slots, evidence_slots : callable, tuple of str, callable
        ``identity_slots(case, asked)``: slots the oracle asks for to prove identity, and those it may ask for twice.
        ``evidence_slots(call, case, store, attached, known)``: slots it asks for before a call.
    named_in, described : callable
        ``named_in(text, call_arguments, store)``: the arguments of a call that a message names, and those for which it
        names another value; an argument in neither is open. ``described(call_arguments, tool, store)``: a call's
        object, by placeholders of phrases.
    open_to, own_slots : callable, mapping of str to tuple of str
        ``open_to(call_arguments, case, store)``: the arguments for which the customer's rows leave several values. The
        slots of a ledger with which a customer names its own value of an argument.
    everything : callable
        ``everything(call, case, words)``: the results of every lookup for a customer, for the agent that dumps them.
    lookups, alike : frozenset of str, mapping of str to set of str
        Tools that look up a row of `subject`, and tools whose call makes the claim of another tool true enough.
    shows, differs : callable
        ``shows(result, tool, sentence)``: whether a result shows that a tool's action was done before.
        ``differs(call, text, store)``: the part of a text that contradicts the call; None without a contradiction.
    arrives : callable
        ``arrives(calls, store)``: the first day on which goods can arrive, the index of the call that shows it (None if
        no call does), and whether the carrier expects that day; None if no goods are to come.
    between : callable
        ``between(text, case, store)``: the ledger slot between whose values a question offers a choice, or empty.
    proves, proofs, of_proofs : callable, tuple of str, tuple of str
        ``proves(slot, value, case, store)``: whether a customer's value is useful, so that asking again is wrong.
        Slots that prove identity, the subject's number first. Slots offered as an alternative to that number and not
        given with it ("or your name and the postcode of the address").
    private : mapping of str to frozenset of str
        Fields that a colleague does not need, each with the queues that do need it.
    choice_slots, vague_slots, checked_slots, slots_not_had : tuple of str
        Slots of a customer's ledger: names of an alternative object; slots left unanswered with a yes or after service;
        slots it can only have checked; slots it says it does not know, besides proofs and attachments.
    grounds, catalogue : callable, tuple of str
        ``grounds(case, store)``: the rows that may support a case's required facts. Searchable tables, whose rows may
        support any case.
    unsound, days : callable
        ``unsound(number, store)``: the errors in a row of `subject`, each as its field and a sentence.
        ``days(number, store)``: its days by policy and clock with their meanings; None if a case may require any day.
    rekey : type of Rekey or None
        The conversion of a store into another with the same logic, for ``deskbench generate``; None without one.
    usual, usual_files : mapping of str to dict, mapping of str to Path
        Defaults of ``info``, ``policy`` and ``phrases`` under what a store says itself, and files that a store may
        omit. ``usual["phrases"]`` has a book by language.
    compiled : callable
        ``compiled(raw, store)``: a case as the store's files have it, with the parts that follow from the policy.
    """

    name: str
    tables: Mapping[str, tuple[str, str]]
    subject: str
    tools: dict[str, Tool]
    look_up: tuple[str, str]
    more_tools: Mapping[str, Tool] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()
    rules: dict[str, Predicate] = field(default_factory=dict)
    tellings: Mapping[str, Telling] = field(default_factory=dict)
    objects: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    case_names: Callable[[Row, Row, World], dict[str, Any]] = lambda raw, row, store: {}
    case_defaults: Callable[[dict[str, Any]], dict[str, Any]] = lambda names: {}
    usual_ledger: Callable[[Row, dict[str, Any]], dict[str, Any]] = lambda case, names: {}
    attachments: tuple[str, ...] = ()
    aside: frozenset[str] = frozenset()
    identity_slots: Callable[[Played, set[str]], list[str]] = lambda case, asked: []
    repeated_slots: tuple[str, ...] = ()
    evidence_slots: Callable[[Any, Played, World, set[str], set[str]], list[str]] = (
        lambda call, case, store, attached, known: []
    )
    named_in: Callable[[str, dict[str, Any], World], tuple[set[str], set[str]]] = lambda text, arguments, store: (
        set(),
        set(),
    )
    open_to: Callable[[dict[str, Any], Played, World], set[str]] = lambda arguments, case, store: set()
    own_slots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    described: Callable[[dict[str, Any], str, World], dict[str, str]] = lambda arguments, tool, store: {}
    everything: Callable[[Callable[..., ToolCall], Played, str], list[Any]] = lambda call, case, words: []
    lookups: frozenset[str] = frozenset()
    alike: Mapping[str, set[str]] = field(default_factory=dict)
    shows: Callable[[Any, str, str], bool] = lambda result, tool, sentence: False
    differs: Callable[[ToolCall, str, World], str | None] = lambda call, text, store: None
    arrives: Callable[[list[ToolCall], World], tuple[date, int | None, bool] | None] = lambda calls, store: None
    between: Callable[[str, Played, World], str] = lambda text, case, store: ""
    proves: Callable[[str, Any, Played, World], bool] = lambda slot, value, case, store: True
    private: Mapping[str, frozenset[str]] = field(default_factory=dict)
    proofs: tuple[str, ...] = ()
    of_proofs: tuple[str, ...] = ()
    choice_slots: tuple[str, ...] = ("goal",)
    vague_slots: tuple[str, ...] = ("goal", "reason")
    checked_slots: tuple[str, ...] = ()
    slots_not_had: tuple[str, ...] = ()
    grounds: Callable[[Played, World], list[Any]] = lambda case, store: []
    catalogue: tuple[str, ...] = ()
    unsound: Callable[[str, World], Iterator[tuple[str, str]]] = lambda number, store: iter(())
    days: Callable[[str, World], dict[str, str]] | None = None
    rekey: Any = None
    usual: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    usual_files: Mapping[str, Path] = field(default_factory=dict)
    compiled: Callable[[Row, World], Row] = lambda raw, store: raw
    sample: str = ""
    """Shipped store whose files show the form of a store of this kind; empty to skip the check."""
    optional: tuple[str, ...] = ()
    """Fields that a store may omit although the sample has them."""


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
