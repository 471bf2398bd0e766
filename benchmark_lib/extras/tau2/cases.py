"""Base tasks of a tau2 domain as cases, and the names that select or exclude them."""

import fnmatch
from collections.abc import Collection, Iterable
from typing import Any

from ...cases.case import Case
from ...errors import BadInput

SHOWN = 40
KNOWN_DEFECTS, NOT = "known-defects", "not:"
MESSAGES = 60
"""Maximum number of a tau2 customer's messages; tau2 itself allows 100 steps, including calls and results."""


def tau_cases(domain: str, tasks: Iterable[Any]) -> tuple[Case, ...]:
    """Return tasks of a domain as cases."""
    return tuple(_case(task, domain) for task in tasks)


def choose(cases: Collection[Case], pattern: str, store: str, defects: Collection[str]) -> list[Case]:
    """Return the cases that a pattern names.

    Parameters
    ----------
    cases, store, defects : Collection of Case, str, Collection of str
        Every case, the store's name, and the ids of the tasks with a known defect.
    pattern : str
        ``all``, or parts separated by commas: ids of tasks with or without the domain (``12``, ``retail_12``; wildcards
        are allowed), and ``known-defects``. A part after ``not:`` is excluded.

    Raises
    ------
    BadInput
        If a part names no task.
    """
    kept: set[str] = set()
    left_out: set[str] = set()
    only_out = True
    for part in (p.strip() for p in pattern.split(",")):
        name = part.removeprefix(NOT)
        hits = {case.id for case in cases if _named(case, name, defects)}
        if not hits and part != f"{NOT}{KNOWN_DEFECTS}":
            ids = [*map(_task_id, cases)]
            first, last = (i if len(i) <= SHOWN else f"{i[:SHOWN]}..." for i in (ids[0], ids[-1]))
            raise BadInput(
                f"{store} has no task {name[:80]!r}: its {len(cases)} base tasks go from {first} to {last}; "
                f"name one, or all, {KNOWN_DEFECTS} or {NOT}{KNOWN_DEFECTS}"
            )
        if part.startswith(NOT):
            left_out |= hits
        else:
            kept, only_out = kept | hits, False
    return [case for case in cases if (only_out or case.id in kept) and case.id not in left_out]


def _task_id(case: Case) -> str:
    return case.id.removeprefix(f"{case.intent}_")


def _named(case: Case, name: str, defects: Collection[str]) -> bool:
    task_id = _task_id(case)
    if name == KNOWN_DEFECTS:
        return task_id in defects
    return name == "all" or any(name == one or fnmatch.fnmatchcase(one, name) for one in (case.id, task_id))


def _case(task: Any, domain: str) -> Case:
    """Return the case of a task; it contains the task, which is hashed but never written."""
    content = task.model_dump(mode="json")
    wish = task.user_scenario.instructions
    none: dict[str, Any] = dict.fromkeys(("claim", "tone", "hardness", "email"))
    empty: dict[str, Any] = dict.fromkeys(("order", "customer_id", "sender", "sender_name"), "")
    return Case.model_construct(
        id=f"{domain}_{task.id}",
        intent=domain,
        bucket=domain,
        title=f"tau2 {domain}, task {task.id}",
        **none,
        **empty,
        persona=task.user_scenario.persona or "",
        goal=wish if isinstance(wish, str) else wish.reason_for_call,
        pressure=[],
        outcomes=[],
        limit=MESSAGES,
        world={"task": content},
    )
