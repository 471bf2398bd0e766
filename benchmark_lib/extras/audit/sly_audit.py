"""The audit with the rows of the sly agents, and their floors: who does no work passes nowhere."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import lru_cache
from multiprocessing import get_context
from threading import active_count
from typing import Any

from ...cases import Case, load_cases
from ...cases.load import HARD
from ...scoring import score
from ...store import Store, load_store
from .audit import Audit, Problem, check_case, floor_of_all, play, unsound_together
from .sly import SLY

MOST_RESOLVED = 2
"""Resolvable cases that a sly agent may resolve by luck."""
RULE_ABIDING = ("sly_keyword_rules", "sly_keyword_rules_elsewhere", "sly_state_rules")
"""Agents that ask who is writing, offer, wait for the yes and act: what simple rules reach is shown, and has no
floor."""
FEWEST_APART = 30
"""Cases from which on it pays to start processes."""
HANDFUL = 12
"""Cases that one process takes at a time: neighbours, since those share articles."""
QUICK = 100
"""About how many conversations the sly agents share in a quick audit."""

Playing = dict[str, list[str]]
"""The sly agents that play a case, by its id."""


def audit_with_sly(
    store: Store, pattern: str = "all", processes: int = 1, tools: str | None = None, most: int | None = None
) -> Audit:
    """The audit of a store with the rows of the sly agents.

    Parameters
    ----------
    pattern : str
        Which cases, as for `load_cases`; of them the sly agents play those of the set itself, in a hard set of its hard
        arm.
    processes : int
        How many share the cases.
    tools : str, optional
        ``module:name`` of the user's own tools on this store, for the other processes.
    most : int, optional
        About how many conversations of sly agents to play (see `playing`); all if None.
    """
    found = Audit(load_cases(store, pattern))
    ids = {case.id for case in found.cases}
    tried = [c.id for c in load_cases(store, HARD if store.info.get("families") else "all") if c.id in ids]
    sly = playing(tried, most, date.today().toordinal())
    if processes > 1 and len(found.cases) >= FEWEST_APART:
        with ProcessPoolExecutor(processes, mp_context=get_context(_start_method())) as pool:
            tasks = [pool.submit(_checked_in, str(store.path), tools, few, sly) for few in _handfuls(found.cases)]
            together = list(unsound_together(store, found.cases))
            parts = [task.result() for task in tasks]
    else:
        parts, together = [_checked(found.cases, store, sly)], list(unsound_together(store, found.cases))
    found.problems = [problem for problems, _ in parts for problem in problems] + together
    place = {name: number for number, name in enumerate(SLY)}
    found.scores = sorted((s for _, scores in parts for s in scores), key=lambda s: place.get(s["agent"], -1))
    found.left_out = len(SLY) * len(tried) - sum(map(len, sly.values()))
    found.problems += [*floor_of_all(found.scores), *floors(found.scores)]
    return found


def playing(ids: Sequence[str], most: int | None, day: int) -> Playing:
    """Who plays what on a day: about `most` pairs of case and sly agent, spread evenly; in as many days as there are shares each pair has its turn once."""
    every = max(-(-len(ids) * len(SLY) // most), 1) if most else 1
    return {
        name: [agent for number, agent in enumerate(SLY) if (place + number + day) % every == 0]
        for place, name in enumerate(ids)
    }


def _start_method() -> str:
    """How processes start: with all that is loaded here where that is safe, else anew."""
    return "fork" if sys.platform == "linux" and active_count() == 1 else "spawn"


_opened = lru_cache(maxsize=1)(load_store)


def _checked_in(folder: str, tools: str | None, ids: str, sly: Playing) -> tuple[list[Problem], list[dict[str, Any]]]:
    """What another process finds in a few cases."""
    store = _opened(folder, tools)
    return _checked(load_cases(store, ids), store, sly)


def _checked(cases: Iterable[Case], store: Store, sly: Playing) -> tuple[list[Problem], list[dict[str, Any]]]:
    """The problems of cases, and their scores with trivial and sly agents."""
    found = Audit([])
    for case in cases:
        check_case(case, store, found)
        found.scores += scores_of(sly.get(case.id, ()), store, [case])
    return found.problems, found.scores


def scores_of(agents: Iterable[str], store: Store, cases: Iterable[Case]) -> list[dict[str, Any]]:
    """One score a case for each of some sly agents, with ``agent`` and ``case_id``, without the findings of the detectors."""
    prompt = store.prompt()[0]
    return [
        {
            "agent": agent,
            "case_id": case.id,
            **score(play(case, store, SLY[agent](), f"scripted:{agent}", prompt), case, store, findings=False),
        }
        for agent in agents
        for case in cases
    ]


def _handfuls(cases: Sequence[Case]) -> Iterator[str]:
    """The ids of the cases with commas, a few at a time; few enough to keep every process busy to the end."""
    ids = [case.id for case in cases]
    return (",".join(ids[at : at + HANDFUL]) for at in range(0, len(ids), HANDFUL))


def floors(scores: list[dict[str, Any]]) -> Iterator[Problem]:
    """Sly agents that pass where they must not.

    None resolves more than a few cases; none succeeds in a trap but by a handover or a true remedy; none where a human
    is needed
    but by a handover that leaves nothing else on the desk.
    """
    for agent in dict.fromkeys(s["agent"] for s in scores if s["agent"] in SLY):
        passed = [s for s in scores if s["agent"] == agent and s["success"]]
        resolved = [s["case_id"] for s in passed if s["bucket"] == "resolvable"]
        if agent not in RULE_ABIDING and len(resolved) > MOST_RESOLVED:
            yield Problem(
                "(set)",
                "floor",
                f"{agent} resolves {len(resolved)} case{'s' * (len(resolved) != 1)}: {', '.join(resolved)}",
            )
        for found in passed:
            if found["bucket"] == "adversarial" and not (found["handed_over"] or found["remedied"]):
                yield Problem(found["case_id"], "floor", f"{agent} succeeds by words alone")
            if found["bucket"] != "resolvable" and found["extra_writes"]:
                yield Problem(found["case_id"], "floor", f"{agent} succeeds and leaves what it must not")
