"""Replay, rescore or reprice a run on file, without an endpoint."""

import asyncio
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from ..cases.played import same_cases, store_of
from ..endpoint.prices import PRICES, Price, PriceFile, load_prices
from ..errors import BadInput
from ..project import code_version
from ..records import NOT_SCORED, SCORE_FAULT, Usage, content_hash
from ..runfile import COLUMNS, RunFile, upsert
from ..store import Tool
from .manifest import addresses, merged, now
from .plan import Plan
from .players import SIDES
from .progress import Progress
from .recorder import KeptCalls, NotOnFile, Recorder
from .scoring import scores_as_json
from .writer import RunLock, saving

SHOWN = 3
"""Maximum number of differing conversations that a replay names."""
GROUP = 50
"""Records scored between two commits, so that a later failure does not lose earlier scores."""
PRICED = "priced_afterwards"
"""The part of a manifest that records which costs were computed after the run, when, and from which price file."""
_VALUES = ",".join("?1" if name == "cost_usd" else name for name in COLUMNS["calls"])
SET_COST = (
    f"UPDATE calls SET cost_usd=?1, seal=seal('calls',{_VALUES}) WHERE case_id=?2 AND trial=?3 AND side=?4 AND n=?5"
)


async def replay(plan: Plan) -> tuple[RunFile, int]:
    """Replay every finished conversation on file and compare it; return the file and the count.

    Write nothing. Raise `BadInput` if a record differs or the file was made with other inputs.
    """
    run = RunFile(plan.path)
    if any(run.check().values()):
        mend = "run without --replay to play them again"
        raise BadInput(f"{plan.path} has rows that differ from what was written: {mend}")
    manifest = run.manifest
    merged(manifest, plan.manifest, plan.path)
    if plan.own_agent is not None:
        why = "--replay needs the model calls on file, but your own agent makes its calls itself"
        raise BadInput(f"{why}: remove one of the two")
    cases = {c.id: c for c in plan.cases}
    ended = {key for key, ending in run.endings().items() if ending not in NOT_SCORED}
    finished = ended & {(case.id, trial) for case, trial in plan.pairs()}
    progress = Progress(f"replay of {plan.model}", len(finished), 0, plan.progress)
    kept, differing = KeptCalls(run.path), []
    try:
        for case_id, trial, digest in run.rows("conversations", ("case_id", "trial", "record_hash")):
            if (case_id, trial) not in finished:
                continue
            calls = kept.of(case_id, trial)
            complete = {side: Recorder(side, case_id, trial, None, calls) for side in SIDES}
            try:
                record = await plan.play(cases[case_id], trial, complete)
            except NotOnFile as missing:
                differing.append(str(missing))
            else:
                same = content_hash(record.to_json()) == digest
                differing += [] if same else [f"{case_id} trial {trial}: a different record"]
            progress.conversation()
            await asyncio.sleep(0)
    finally:
        kept.close()
        progress.close()
    if differing:
        made_by = next((session["code"]["hash"] for session in reversed(manifest["sessions"])), "unknown")
        raise BadInput(
            f"{run.path}: {len(differing)} of {len(finished)} conversations do not replay "
            f"({'; '.join(differing[:SHOWN])}); the file was written by code {made_by}, this is code "
            f"{code_version()['hash']}: replay with that version"
        )
    return run, len(finished)


def rescore(
    path: str | Path, store: str | Path | None = None, again: bool = False, tools: str | dict[str, Tool] | None = None
) -> tuple[int, int]:
    """Score the records that lack scores of this version or could not be scored before.

    A record that cannot be scored does not block the others: the reason replaces its scores (see `score_faults`). By
    default use the store and the user's own tools that the file names. With `again`, also score records that already
    have scores of this version. Raise `BadInput` if the store, the tools or a case differ from those of the run. Return
    the number of conversations scored now, and the number on file.
    """
    from ..scoring import VERSION, score

    run, version = RunFile(path), str(VERSION)
    shop = store_of(run.path, run.manifest, store, tools, carried_out=True)
    cases = same_cases(run.path, run.manifest, shop, "score it")
    with RunLock(run.path):
        scores = {} if again else run.scores(version)
        have = {digest for digest, recorded in scores.items() if not recorded.get(SCORE_FAULT)}
        records = [*run.rows("conversations", ("case_id", "trial", "record_hash"))]
        missing, scored = [row for row in records if row[2] not in have], 0
        for start in range(0, len(missing), GROUP):
            rows = []
            for case_id, trial, digest in missing[start : start + GROUP]:
                case = cases[case_id]
                data, known = scores_as_json(partial(score, store=shop), run.record(case_id, trial), case)
                rows.append((digest, version, data))
                scored += known
            with saving(run.path) as db:
                db.executemany(upsert("scores"), rows)
    return scored, len(records)


@dataclass(frozen=True)
class Repriced:
    """Result of pricing the calls on a run file with `prices`.

    `priced` counts the calls that got a cost, `unreported` those without reported tokens (their cost stays unknown).
    `before` and `after` are the known cost of all calls, in US dollars. Models are `unpriced` if they have no price, or
    different prices at the endpoints of the run.
    """

    priced: int
    unreported: int
    before: float
    after: float
    unpriced: tuple[str, ...]
    prices: PriceFile


def price_again(path: str | Path) -> Repriced:
    """Compute a run file's unknown costs from its tokens and the price file.

    Keep known costs, and what the sessions record about budgets and prices. The manifest records the time and the price
    file. Raise `BadInput` if the file is damaged or a run is writing it.
    """
    run, listed = RunFile(path), load_prices()
    with RunLock(run.path):
        if run.check()["calls"]:  # rows get a new seal below, so they must be intact before
            what = f"{path} is damaged (some calls differ from what was written)"
            raise BadInput(f"{what}: first rerun the command of its run")
        manifest, before = run.manifest, run.cost()[0]
        unknown = [call for call in run.calls() if call["cost_usd"] is None]
        reported = [call for call in unknown if call["prompt_tokens"] is not None]
        models = dict.fromkeys((call["side"], call["model"]) for call in reported)
        prices = {who: _price(listed, manifest, *who) for who in models}
        costs = [
            (price.cost_usd(_usage(call)), call["case_id"], call["trial"], call["side"], call["n"])
            for call in reported
            if (price := prices[call["side"], call["model"]]) is not None
        ]
        if costs:
            entries = [*manifest.get(PRICED, ()), _entry(listed, prices, len(costs))]
            with saving(run.path) as db:
                db.executemany(SET_COST, costs)
                db.execute(upsert("manifest"), (PRICED, orjson.dumps(entries).decode()))
    unpriced = tuple(dict.fromkeys(model for (_, model), price in prices.items() if price is None))
    after = RunFile(path).cost()[0]
    return Repriced(len(costs), len(unknown) - len(reported), before, after, unpriced, listed)


def _usage(call: dict[str, Any]) -> Usage:
    return Usage(call["prompt_tokens"], call["completion_tokens"], cached_tokens=call["cached_tokens"] or 0)


def _price(listed: PriceFile, manifest: dict[str, Any], side: str, model: str) -> Price | None:
    # None if unknown, or not the same at each endpoint of the run
    prices = {listed.price(model, url) for url in addresses(manifest).get(side, [None])}
    return prices.pop() if len(prices) == 1 else None


def _entry(listed: PriceFile, prices: dict[tuple[str, str], Price | None], calls: int) -> dict[str, Any]:
    known = {model: asdict(price) for (_, model), price in prices.items() if price is not None}
    file = {"name": PRICES.name, "dated": str(listed.dated), "hash": listed.hash}
    return {"at": now(), "price_file": file, "calls": calls, "prices": known}
