"""Base tasks of a tau2 domain as cases, and the names that select or exclude them."""

import fnmatch
from typing import Any

from ...cases.case import Case
from ...errors import BadInput
from . import TauStore

SHOWN = 40
KNOWN_DEFECTS, NOT = "known-defects", "not:"
MESSAGES = 60
"""Maximum number of a tau2 customer's messages; tau2 itself allows 100 steps, including calls and results."""


def tau_cases(store: TauStore) -> tuple[Case, ...]:
    """Return every base task of the domain as a case, in the order of the package."""
    return tuple(_case(task, store) for task in store.package.tasks.values())


def choose(store: TauStore, pattern: str) -> list[Case]:
    """Return the cases that a pattern names.

    Parameters
    ----------
    pattern : str
        ``all``, or parts separated by commas: ids of tasks with or without the domain (``12``, ``retail_12``; wildcards
        are allowed), and ``known-defects``. A part after ``not:`` is excluded.

    Raises
    ------
    BadInput
        If a part names no task.
    """
    cases = tau_cases(store)
    kept: set[str] = set()
    left_out: set[str] = set()
    only_out = True
    for part in (p.strip() for p in pattern.split(",")):
        name = part.removeprefix(NOT)
        hits = {case.id for case in cases if _named(case, name, store)}
        if not hits and part != f"{NOT}{KNOWN_DEFECTS}":
            first, last = (_shortened(cases[i].id.removeprefix(f"{store.domain}_")) for i in (0, -1))
            raise BadInput(
                f"{store.name} has no task {name[:80]!r}: its {len(cases)} base tasks go from {first} to {last}; "
                f"name one, or all, {KNOWN_DEFECTS} or {NOT}{KNOWN_DEFECTS}"
            )
        if part.startswith(NOT):
            left_out |= hits
        else:
            kept, only_out = kept | hits, False
    return [case for case in cases if (only_out or case.id in kept) and case.id not in left_out]


def _named(case: Case, name: str, store: TauStore) -> bool:
    task_id = case.id.removeprefix(f"{store.domain}_")
    if name == KNOWN_DEFECTS:
        return task_id in store.known["defects"]
    return name == "all" or any(name == one or fnmatch.fnmatchcase(one, name) for one in (case.id, task_id))


def _shortened(task_id: str) -> str:
    return task_id if len(task_id) <= SHOWN else f"{task_id[:SHOWN]}..."


def _case(task: Any, store: TauStore) -> Case:
    """Return the case of a task; it contains the task, which is hashed but never written."""
    content = task.model_dump(mode="json")
    wish = task.user_scenario.instructions
    none: dict[str, Any] = dict.fromkeys(("claim", "tone", "hardness", "email"))
    empty: dict[str, Any] = dict.fromkeys(("order", "customer_id", "sender", "sender_name"), "")
    return Case.model_construct(
        id=f"{store.domain}_{task.id}",
        intent=store.domain,
        bucket=store.domain,
        title=f"tau2 {store.domain}, task {task.id}",
        **none,
        **empty,
        persona=task.user_scenario.persona or "",
        goal=wish if isinstance(wish, str) else wish.reason_for_call,
        pressure=[],
        outcomes=[],
        limit=MESSAGES,
        world={"task": content},
    )
