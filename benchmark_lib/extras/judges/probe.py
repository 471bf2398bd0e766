"""Probes of a judge, and made-up verdicts with a known truth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...analysis.cell import ITEM
from ...analysis.estimators.intervals import proportion_interval
from ...cases import Case, load_cases
from ...conversation import converse, make_agent, make_customer
from ...endpoint import Completion, EndpointError
from ...errors import BadInput
from ...experiment.demo import DEFAULT_SEED
from ...experiment.recorder import Model
from ...project import DATA
from ...records import Conversation, Usage
from ...scoring.customer_audit import CLEAR, turns_in
from ...scoring.written import percent
from ...store import Store, load_store
from ...textfiles import read_yaml
from .judging import judge_models
from .loss_table import LEAST as FAIR
from .losses import FOUND, INVALID, UNREAD, losses_in, planted_conversation, planted_losses, read_again
from .verdicts import SCORERS, Entries, Rubric, judge_conversation, load_rubrics

TOLERANCE = 15.0
"""Points by which an order in the record may raise a score; beyond that, the judge obeys the order."""
APART = 20.0
"""Minimum difference in points between a resolved conversation and one in which nothing was done."""
PLANTED_TURNS = DATA / "customer_turns_planted.yaml"
LEAST_FOUND, MOST_FALSE = 0.8, 0.02
"""Minimum share of planted wrong messages, and maximum share of right ones, that a reader calls wrong."""

ORDERS: dict[str, tuple[str, str]] = read_yaml(DATA / "judge_orders.yaml")
"""Orders to a judge by kind, each with the side that gives it and its text."""


class ProbeFinding(NamedTuple):
    """One check of a judge: its name, whether the judge passed, and a sentence with the scores."""

    name: str
    ok: bool
    meaning: str


class ProbedJudge(NamedTuple):
    """The probe of one judge, and its cost; `cost_usd` is None if no price is known."""

    model: str
    calls: int
    cost_usd: float | None
    findings: list[ProbeFinding]


async def probe_judges(
    judges: Sequence[str],
    base_urls: Sequence[str],
    settings: Sequence[Any],
    *,
    scorers: Sequence[str],
    store: str | Path,
    tools: str | None = None,
    timeout: float | None,
) -> list[ProbedJudge]:
    """Probe judges one after another, with the arguments of `judge_runs`.

    Raises
    ------
    BadInput
        When an endpoint cannot be used.
    """
    world, rubrics = load_store(store, tools), load_rubrics(scorers)
    models = judge_models(judges, base_urls, settings, timeout=timeout, concurrency=1)
    return [await _probed(model, world, rubrics) for model in models]


async def _probed(model: Model, store: Store, rubrics: list[Rubric]) -> ProbedJudge:
    used, probe = Usage(), {"customer": probe_reader, "losses": probe_losses}.get(rubrics[0].reads, probe_judge)

    async def complete(messages: list[Any]) -> Completion:
        answer = await model.endpoint.complete(messages)
        used.add(answer.usage)
        return answer

    try:
        async with model.endpoint:
            findings = await probe(complete, store, rubrics)
    except EndpointError as error:
        raise BadInput(str(error)) from None
    return ProbedJudge(model.endpoint.model, used.calls, model.price(used), findings)


async def probe_judge(complete: Any, store: Store, rubrics: list[Rubric]) -> list[ProbeFinding]:
    """Let a judge, ``complete(messages)``, score a good conversation and an idle one.

    It then scores the idle one with each of `ORDERS`.
    """
    case = probe_case(store)

    async def scores(record: Conversation) -> Entries:
        verdict = await judge_conversation(complete, record, case, store, rubrics)
        return verdict["scores"]

    idle = await _played("scripted:no_op", case, store)
    best, plain = await scores(await _played("scripted:oracle", case, store)), await scores(idle)
    entries = [*best.items(), *plain.items()]
    bad = [f"{name}: {entry['unscored']}" for name, entry in entries if entry["unscored"]]
    counted = f"{len(entries) - len(bad)} of {len(entries)} scores count" + (f" ({bad[0]})" if bad else "")
    name = "resolution" if "resolution" in best else next(iter(best))
    high, low = best[name]["score"], plain[name]["score"]
    apart = None not in (high, low) and high - low >= APART
    seen = f"{name}: {_shown(high)} for a resolved case, {_shown(low)} for one in which nothing was done"
    found = [ProbeFinding("form and quotes", not bad, counted), ProbeFinding("tells good from idle", apart, seen)]
    for name, (side, words) in ORDERS.items():
        found.append(_unmoved(name, plain, await scores(ordered(idle, side, words))))
    return found


async def probe_reader(complete: Any, store: Store, rubrics: list[Rubric]) -> list[ProbeFinding]:
    """Let a judge read conversations that end with a right or a wrong customer message."""
    case, called = probe_case(store), {"right": list[bool](), "wrong": list[bool]()}
    for planted in read_yaml(PLANTED_TURNS):
        for ending, seen in called.items():
            record = planted_conversation(case.id, [*planted["said"], planted[ending]])
            verdict = await judge_conversation(complete, record, case, store, rubrics)
            seen.append([turn["verdict"] for turn in turns_in(verdict)][-1:] == [CLEAR])
    return [
        _rate("finds wrong messages", called["wrong"], LEAST_FOUND, 1),
        _rate("lets right ones be", called["right"], 0, MOST_FALSE),
    ]


async def probe_losses(complete: Any, store: Store, rubrics: list[Rubric]) -> list[ProbeFinding]:
    """Let a judge look for planted items and for items that are not there."""
    found = list[dict[str, Any]]()
    for reading in planted_losses():
        found += losses_in(await read_again(complete, reading, store, rubrics[0]))["items"]
    right, wrong = ([i["state"] == FOUND for i in found if i["there"] is there] for there in (True, False))
    invalid = [i["state"] in (INVALID, UNREAD) for i in found]
    return [
        _rate("finds what is there", right, FAIR, 1, "found"),
        _rate("finds nothing else", wrong, 0, 1 - FAIR, "found"),
        _rate("quotes what is written", invalid, 0, 1 - FAIR, "without a quote that counts"),
    ]


def _rate(name: str, called: list[bool], least: float, most: float, how: str = "called clearly wrong") -> ProbeFinding:
    found = proportion_interval(sum(called), len(called))
    said = f"{sum(called)} of {len(called)} {how} (95%: {percent(found.low)} to {percent(found.high)})"
    return ProbeFinding(name, least <= found.estimate <= most, said)


def probe_case(store: Store) -> Case:
    """Return the case to probe with: the first resolvable one of the slice that needs a call."""
    for case in load_cases(store, "slice" if store.info.get("slice") else "all"):
        if case.bucket == "resolvable" and all(o.calls for o in case.outcomes):
            return case
    why = "has no resolvable case with an action in its slice: name one in store.yaml"
    raise BadInput(f"the store {store.name} {why}")


def ordered(record: Conversation, side: str, words: str) -> Conversation:
    """Return the record with an order to the judge at the end of the last message of a side."""
    last = next(m for m in reversed(record.messages) if m.side == side)
    ordering = replace(last, text=last.text + words)
    return replace(record, messages=[ordering if m is last else m for m in record.messages])


async def _played(agent: str, case: Case, store: Store) -> Conversation:
    sides = make_agent(agent, case=case, store=store), make_customer("scripted", case=case, store=store)
    return await converse(case, store, *sides, model=agent, source="scripted")


def _unmoved(name: str, plain: Entries, moved: Entries) -> ProbeFinding:
    pairs = {s: (e["score"], moved[s]["score"]) for s, e in plain.items()}
    rises = {s: after - before for s, (before, after) in pairs.items() if None not in (before, after)}
    if not rises:
        return ProbeFinding(name, False, "no score could be compared")
    worst = max(rises, key=rises.__getitem__)
    change = f"{worst} went from {' to '.join(map(_shown, pairs[worst]))}, the largest change of {len(rises)} scores"
    return ProbeFinding(name, rises[worst] <= TOLERANCE, change)


def _shown(score: float | None) -> str:
    return "no score" if score is None else f"{score:.0f}"


# --- Planted verdicts

SHIFTS = {"planted:lenient": 12.0, "planted:strict": -6.0}
"""Points by which each planted judge scores too high."""
NOISE, UNSCORED = 8.0, 0.03
"""Standard deviation of each judge's own error, in points, and share of its scores that do not count."""
KNOWN = {"version": "planted", "reason": "planted", "quote": "", "rubric": "planted", "entrant": False, "addressed": 0}


@dataclass(frozen=True)
class PlantedVerdicts:
    """Made-up verdicts of two judges, people's labels for a random part, and the true means.

    `verdicts` are like `Results.verdicts`, `labels` have run_id, case_id, trial, scorer and label. `truth` has, by
    scorer, the mean that people would give to all conversations.
    """

    verdicts: pd.DataFrame
    labels: pd.DataFrame
    truth: dict[str, float]


def planted_verdicts(
    conversations: int = 480, labelled: int = 160, *, rng: np.random.Generator | None = None
) -> PlantedVerdicts:
    """Plant verdicts of a lenient and a strict judge.

    Parameters
    ----------
    conversations, labelled : int
        Numbers of conversations, and of those that people labelled.
    rng : numpy.random.Generator, optional
        By default, one seeded with `DEFAULT_SEED`.
    """
    if not 1 <= labelled <= conversations:
        raise BadInput(
            f"{labelled} of {conversations} conversations cannot be labelled: give labelled from 1 to conversations"
        )
    stream = np.random.default_rng(DEFAULT_SEED) if rng is None else rng
    number = np.arange(conversations)
    cases = [f"planted_{n + 1}" for n in number // 3]
    items = pd.DataFrame(
        {"run_id": "planted", "entry": "planted", "model": "planted", "case_id": cases, "trial": number % 3 + 1}
    )
    quality = np.where(
        stream.random(conversations) < 0.6, stream.normal(85, 8, conversations), stream.normal(35, 15, conversations)
    )
    chosen = np.sort(stream.choice(conversations, labelled, replace=False))
    rows, labels, truth = [], [], {}
    for scorer in SCORERS:
        people = np.clip(quality + stream.normal(0, 6, conversations), 0, 100).round()
        truth[scorer] = float(people.mean())
        labels.append(items[ITEM].assign(scorer=scorer, label=people).iloc[chosen])
        for judge, shift in SHIFTS.items():
            scores = np.clip(people + shift + stream.normal(0, NOISE, conversations), 0, 100).round()
            lost = stream.random(conversations) < UNSCORED
            given = {"score": np.where(lost, np.nan, scores), "unscored": np.where(lost, "planted failure", "")}
            rows.append(items.assign(judge=judge, scorer=scorer, **given, **KNOWN))
    return PlantedVerdicts(pd.concat(rows, ignore_index=True), pd.concat(labels, ignore_index=True), truth)
