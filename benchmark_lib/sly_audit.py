"""The rows of the sly agents in the audit, and their floors: who does no work passes nowhere."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from .audit import Audit, Problem, audit, play
from .cases import Case, load_cases
from .cases.load import HARD
from .conversation.sly import SLY
from .scoring import score
from .store import Store, load_store

MOST_RESOLVED = 2
"""Resolvable cases that a sly agent may resolve by luck."""
RULE_ABIDING = ("sly_keyword_rules", "sly_keyword_rules_elsewhere")
"""Agents that ask who is writing, offer, wait for the yes and act: what simple rules reach is shown, and has no floor."""
FEWEST_APART = 30
"""Cases from which on it pays to start processes."""
HANDFUL = 6
"""Cases that one process plays with every sly agent before it takes the next ones."""


def audit_with_sly(store: Store, pattern: str = "all", processes: int = 1, tools: str | None = None) -> Audit:
    """The audit of a store with the rows of the sly agents.

    Parameters
    ----------
    pattern : str
        Which cases, as for `load_cases`; of a hard set the sly agents play the hard arm alone.
    processes : int
        How many play the sly agents while this one plays the others; with 1 it plays them all.
    tools : str, optional
        ``module:name`` of the user's own tools on this store, for the other processes.
    """
    tried = HARD if pattern == "all" and store.info.get("families") else pattern
    if processes > 1 and len(load_cases(store, pattern)) >= FEWEST_APART:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            tasks = [
                pool.submit(_scores_in, tuple(SLY), str(store.path), tools, ids)
                for ids in _handfuls(load_cases(store, tried))
            ]
            found = audit(store, pattern)
            played = [score for task in tasks for score in task.result()]
            found.scores += sorted(played, key=lambda score: list(SLY).index(score["agent"]))
    else:
        found = audit(store, pattern)
        found.scores += scores_of(SLY, store, load_cases(store, tried))
    found.problems += floors(found.scores)
    return found


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


def _scores_in(agents: Iterable[str], folder: str, tools: str | None, ids: str) -> list[dict[str, Any]]:
    """What every sly agent makes of a few cases: one after another, so that what one has read is known to the next."""
    store = load_store(folder, tools)
    return scores_of(agents, store, load_cases(store, ids))


def _handfuls(cases: Sequence[Case]) -> Iterator[str]:
    """The ids of the cases with commas, a few at a time; few enough to keep every process busy to the end."""
    ids = [case.id for case in cases]
    return (",".join(ids[at : at + HANDFUL]) for at in range(0, len(ids), HANDFUL))


def floors(scores: list[dict[str, Any]]) -> Iterator[Problem]:
    """Sly agents that pass where they must not.

    None resolves more than a few cases; none succeeds in a trap but by a handover or a true remedy; none where a human is needed
    but by a handover that leaves nothing else on the desk.
    """
    for agent in dict.fromkeys(s["agent"] for s in scores if s["agent"] in SLY):
        passed = [s for s in scores if s["agent"] == agent and s["success"]]
        resolved = [s["case_id"] for s in passed if s["bucket"] == "resolvable"]
        if agent not in RULE_ABIDING and len(resolved) > MOST_RESOLVED:
            yield Problem("(set)", "floor", f"{agent} resolves {len(resolved)} cases: {', '.join(resolved)}")
        for found in passed:
            if found["bucket"] == "adversarial" and not (found["handed_over"] or found["remedied"]):
                yield Problem(found["case_id"], "floor", f"{agent} succeeds by words alone")
            if found["bucket"] != "resolvable" and found["extra_writes"]:
                yield Problem(found["case_id"], "floor", f"{agent} succeeds and leaves what it must not")
