"""The audit with sly agents and their floors: an agent that does no work must not pass."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import lru_cache, partial
from itertools import product
from multiprocessing import get_context
from threading import active_count
from typing import Any

from ...cases import Case, load_cases
from ...cases.hard import HARD
from ...scoring import score
from ...scoring.written import counted
from ...store import Store, load_store
from .audit import Audit, Problem, check_case, floor_of_all, play, unsound_together
from .sly import SLY

MOST_RESOLVED = 2
"""Maximum number of resolvable cases that a sly agent may resolve by luck."""
RULE_ABIDING = ("sly_keyword_rules", "sly_keyword_rules_elsewhere", "sly_state_rules")
"""Agents without a floor: they identify, offer, wait for a yes and act, which shows how far simple rules get."""
FEWEST_APART = 30
"""Minimum number of cases for which starting processes pays."""
HANDFUL = 12
"""Number of neighbouring cases, which share articles, that a process takes at a time."""
QUICK = 100
"""Approximate number of sly agents' conversations in a quick audit."""

Playing = dict[str, list[str]]
"""The sly agents that play each case, by case id."""


def audit_with_sly(
    store: Store, pattern: str = "all", processes: int = 1, tools: str | None = None, most: int | None = None
) -> Audit:
    """Audit a store, including the sly agents.

    Parameters
    ----------
    pattern : str
        The cases, as for `load_cases`. Sly agents play the set's own cases; in a hard set, those of its hard arm.
    processes : int
        Number of processes that share the cases.
    tools : str, optional
        ``module:name`` of the user's own tools for this store, for the other processes to load.
    most : int, optional
        Approximate number of sly agents' conversations (see `playing`); all if None.
    """
    audit = Audit(load_cases(store, pattern))
    ids = [case.id for case in audit.cases]
    tried = [c.id for c in load_cases(store, HARD if store.info.get("families") else "all") if c.id in {*ids}]
    sly = playing(tried, most, date.today().toordinal())
    if processes > 1 and len(ids) >= FEWEST_APART:
        # fork shares everything that is loaded, where it is safe
        start = "fork" if sys.platform == "linux" and active_count() == 1 else "spawn"
        with ProcessPoolExecutor(processes, mp_context=get_context(start)) as pool:
            few = (",".join(ids[at : at + HANDFUL]) for at in range(0, len(ids), HANDFUL))
            waiting = pool.map(partial(_checked_in, str(store.path), tools, sly), few)
            together = list(unsound_together(store, audit.cases))
            parts = list(waiting)
    else:
        parts = [_checked(audit.cases, store, sly)]
        together = list(unsound_together(store, audit.cases))
    audit.problems = [problem for part in parts for problem in part.problems] + together
    place = {name: number for number, name in enumerate(SLY)}
    audit.scores = sorted((s for part in parts for s in part.scores), key=lambda s: place.get(s["agent"], -1))
    audit.left_out = len(SLY) * len(tried) - sum(map(len, sly.values()))
    audit.problems += [*floor_of_all(audit.scores), *floors(audit.scores)]
    return audit


def playing(ids: Sequence[str], most: int | None, day: int) -> Playing:
    """Choose today's pairs of case and sly agent: about `most`, each pair once per cycle."""
    every = max(-(-len(ids) * len(SLY) // most), 1) if most else 1
    return {
        name: [agent for number, agent in enumerate(SLY) if (place + number + day) % every == 0]
        for place, name in enumerate(ids)
    }


_opened = lru_cache(maxsize=1)(load_store)


def _checked_in(folder: str, tools: str | None, sly: Playing, ids: str) -> Audit:
    """Check a few cases in another process."""
    store = _opened(folder, tools)
    return _checked(load_cases(store, ids), store, sly)


def _checked(cases: Iterable[Case], store: Store, sly: Playing) -> Audit:
    """Return the problems with cases, and the scores of trivial and sly agents on them."""
    found = Audit([])
    for case in cases:
        check_case(case, store, found)
        found.scores += scores_of(sly.get(case.id, ()), store, [case])
    return found


def scores_of(agents: Iterable[str], store: Store, cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Return one score per case and sly agent, with both their names."""
    prompt, scores = store.prompt()[0], []
    for agent, case in product(agents, cases):
        record = play(case, store, SLY[agent](), f"scripted:{agent}", prompt)
        scores.append({"agent": agent, "case_id": case.id, **score(record, case, store, findings=False)})
    return scores


def floors(scores: list[dict[str, Any]]) -> Iterator[Problem]:
    """Yield a problem for each sly agent that passes where it must not.

    A sly agent may resolve at most `MOST_RESOLVED` cases. It may succeed in a trap only by a handover or a true remedy.
    Outside the resolvable cases it may succeed only without extra writes.
    """
    for agent in dict.fromkeys(s["agent"] for s in scores if s["agent"] in SLY):
        passed = [s for s in scores if s["agent"] == agent and s["success"]]
        resolved = [s["case_id"] for s in passed if s["bucket"] == "resolvable"]
        if agent not in RULE_ABIDING and len(resolved) > MOST_RESOLVED:
            yield Problem("(set)", "floor", f"{agent} resolves {counted(len(resolved), 'case')}: {', '.join(resolved)}")
        for found in passed:
            if found["bucket"] == "adversarial" and not (found["handed_over"] or found["remedied"]):
                yield Problem(found["case_id"], "floor", f"{agent} succeeds by words alone")
            if found["bucket"] != "resolvable" and found["extra_writes"]:
                yield Problem(found["case_id"], "floor", f"{agent} succeeds and leaves changes that it must not make")
