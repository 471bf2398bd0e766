"""A kind of desk: all that a retail desk has and a library counter has not, declared in one module and read by every room.

A store folder names its kind in ``store.yaml`` and carries no code. `retail` comes with the benchmark; another kind is
registered by the code that declares it: ``register_kind(DeskKind(name="library", ...))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..records import ToolCall
from .protocols import Played, Row, World
from .rules import Predicate, Telling
from .tools import Tool


@dataclass(frozen=True)
class DeskKind:
    """What is one kind of desk's own. Whatever is left out has a meaning that does nothing.

    Attributes
    ----------
    tables : mapping of str to (str, str)
        Each table with its files in the store's folder (one JSON object a line) and the field that is its key.
    subject, look_up : str, (str, str)
        The table that holds what a case is about (the case names a row of it under ``order``), and the tool that shows
        one row of it with the argument that names the row.
    tools, more_tools : dict of str to Tool
        Its tools beside those of `every_desk`, and further ones, which a store has where ``more_tools`` of its
        ``store.yaml`` names them.
    beside : frozenset of str
        Tables whose rows are the customer's own: what changes there is no part of what the desk leaves.
    rules, tellings : mapping of str to Predicate, mapping of str to Telling
        The predicates of its process rules, by the names that the policy uses, and those of them that also guard what a
        message of the agent tells.
    objects, members : tuple of str
        Arguments by which a call names what it is about, such as an order and its lines: a yes to one object is no yes
        to another. Fields of a row that list what it is about: one row for two of them leaves the same as two rows.
    case_names, case_defaults, usual_ledger : callable
        ``case_names(raw, row, store)``: names for the placeholders of a case. ``case_defaults(names)``: fields that a
        case may leave out. ``usual_ledger(case, names)``: what a customer knows unless the case says otherwise.
    attachments, aside : tuple of str, frozenset of str
        What a customer can attach. Tools that by themselves do not serve a customer: one who agreed to them still
        waits.
    identity_slots, repeated_slots, evidence_slots : callable, tuple of str, callable
        ``identity_slots(case, asked)``: what the oracle asks for to know who it is talking to; those that it may ask
        for twice. ``evidence_slots(call, case, store, attached, known)``: what it asks for before a call.
    named_in, described : callable
        ``named_in(text, call_arguments, store)``: which arguments of a call a message names, and in place of which it
        names another one. ``described(call_arguments, tool, store)``: what a call is about, by the placeholders of the
        store's phrases.
    everything : callable
        ``everything(call, case, words)``: the results of looking up all that can be found for a customer, for the agent
        that pours them out.
    lookups, alike : frozenset of str, mapping of str to set of str
        Tools that look up a row of `subject`, and those whose call makes the claim of another one true enough.
    shows, differs : callable
        ``shows(result, tool, sentence)``: whether a result shows that what a tool does had been done before.
        ``differs(call, text, store)``: what of a text is not what the call did; None where all that can be compared
        agrees.
    arrives : callable
        ``arrives(calls, store)``: the first day on which goods can arrive, the index of the call that shows it, and
        whether it is the day a parcel under way is expected; without an index where no call shows anything, None where
        none is to come.
    between : callable
        ``between(text, case, store)``: the slot of a customer's ledger between whose values a question has it choose;
        empty
        where it does not.
    proves, proofs, of_proofs : callable, tuple of str, tuple of str
        ``proves(slot, value, case, store)``: whether a value that a customer gave is of use, so that it should not be
        asked for again. Slots that prove who a customer is, the number of the subject first. Slots that stand with the
        others in a choice and are not told beside that number ("or your name and the postcode of the address").
    private : mapping of str to frozenset of str
        Fields that a colleague does not need, each with the queues where it is needed after all.
    choice_slots, vague_slots, checked_slots, slots_not_had : tuple of str
        Slots of a customer's ledger: what it names in place of another object; what it does not answer beside a yes or
        once it is served; what it can only have checked; and what it says that it does not know, beside proofs and
        attachments.
    grounds, catalogue : callable, tuple of str
        ``grounds(case, store)``: the rows on which the required facts of a case may rest. Tables that an agent can
        search, on whose rows any case may rest.
    unsound, days : callable
        ``unsound(number, store)``: what is wrong with a row of `subject`, each as its field and a sentence.
        ``days(number, store)``: the days that policy and clock give it, each with what it is; None where a case may
        require any day.
    rekey : type of Rekey or None
        What turns a store into another one with the same logic, for ``deskbench generate``; None where nothing does.
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
    sample: str = ""
    """The shipped store whose files show the form of its own; none is checked where it is empty."""
    optional: tuple[str, ...] = ()
    """Fields that a store may leave out, though the sample has them."""


_SHIPPED = {"retail": "benchmark_lib.store.retail"}
_REGISTERED: dict[str, DeskKind] = {}


def register_kind(kind: DeskKind) -> DeskKind:
    """Make a kind of desk known, so that a store can name it; `BadInput` if another kind has its name."""
    if kind.name in _SHIPPED or _REGISTERED.get(kind.name, kind) is not kind:
        raise BadInput(f"a kind of desk {kind.name!r} is known already: give this one another name")
    return _REGISTERED.setdefault(kind.name, kind)


def kind_named(name: Any, folder: Path) -> DeskKind:
    """The kind of desk that a store's folder names, `BadInput` for none; no code is loaded because a folder says so."""
    if name in _SHIPPED:
        return import_module(_SHIPPED[name]).KIND
    if name not in _REGISTERED:
        known = ", ".join(sorted({*_SHIPPED, *_REGISTERED}))
        raise BadInput(
            f"{folder / 'store.yaml'}: the kind {name!r} is not known: name one of {known}, or call "
            "register_kind before the store is opened"
        )
    return _REGISTERED[name]
