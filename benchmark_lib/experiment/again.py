"""A run once more without an endpoint: its conversations replayed, its records scored again."""

import asyncio
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from ..cases.played import same_cases, store_of
from ..errors import BadInput
from ..project import code_version
from ..records import NOT_SCORED, SCORE_FAULT, content_hash
from ..runfile import RunFile, connect_to_write, upsert
from ..store import Tool
from .manifest import merged, played_as
from .plan import Plan
from .players import SIDES
from .progress import Progress
from .recorder import KeptCalls, NotOnFile, Recorder
from .scoring import scores_as_json

SHOWN = 3


async def replay(plan: Plan) -> tuple[RunFile, int]:
    """Play every finished conversation on file again and compare; return the file and a count.

    Write nothing. Raise `BadInput` if a record differs or the file was made with other inputs.
    """
    run = RunFile(plan.path)
    if any(run.check().values()):
        raise BadInput(
            f"{plan.path} has rows that differ from what was written: run without --replay to play them again"
        )
    manifest = run.manifest
    merged(manifest, plan.manifest, plan.path)
    if plan.own_agent is not None:
        raise BadInput(
            "--replay needs the model calls on file, but your own agent makes its calls itself: remove one of the two"
        )
    wanted = {c.id: c for c in plan.cases}
    ended = {key for key, ending in run.endings().items() if ending not in NOT_SCORED}
    finished = ended & {(case.id, trial) for case, trial in plan.pairs()}
    progress = Progress(f"replay of {plan.model}", len(finished), 0, plan.progress)
    kept, differing = KeptCalls(run.path), []
    try:
        for case_id, trial, digest, _ in run.conversations():
            if (case_id, trial) not in finished:
                continue
            rows = kept.of(case_id, trial)
            complete = {side: Recorder(side, case_id, trial, None, rows) for side in SIDES}
            try:
                as_trial = played_as(manifest, case_id, trial)
                conversation = await plan.play(wanted[case_id], trial, complete, as_trial)
            except NotOnFile as missing:
                differing.append(str(missing))
            else:
                if content_hash(conversation.to_json()) != digest:
                    differing.append(f"{case_id} trial {trial}: another record")
            progress.conversation()
            await asyncio.sleep(0)
    finally:
        kept.close()
        progress.close()
    if differing:
        made_by = next((session["code"]["hash"] for session in reversed(manifest["sessions"])), "unknown")
        raise BadInput(
            f"{run.path}: {len(differing)} of {len(finished)} conversations do not replay "
            f"({'; '.join(differing[:SHOWN])}); "
            f"the file was written by code {made_by}, this is {code_version()['hash']}: replay with that version"
        )
    return run, len(finished)


GROUP = 50
"""Records scored between two commits, so that a later failure does not lose earlier scores."""


def rescore(
    path: str | Path, store: str | Path | None = None, again: bool = False, tools: str | dict[str, Tool] | None = None
) -> tuple[int, int]:
    """Add the scores of this version for records that lack them or could not be scored.

    A record that cannot be scored does not block the others: the reason replaces its scores (see `score_faults`). By
    default use the store and the user's own tools that the file names. With `again` also score records that have scores
    of this version. Raise `BadInput` if the store, the tools or a case differ from those of the run.

    Returns
    -------
    tuple of int
        Conversations that got scores now, and conversations on file.
    """
    from ..scoring import VERSION, score
    from .writer import RunLock

    run = RunFile(path)
    shop = store_of(run.path, run.manifest, store, tools, carried_out=True)
    cases = same_cases(run.path, run.manifest, shop, "score it")
    with RunLock(run.path):
        scored = {} if again else run.scores(str(VERSION))
        have = {digest for digest, recorded in scored.items() if not recorded.get(SCORE_FAULT)}
        records = [(digest, case_id, trial) for case_id, trial, digest, _ in run.conversations()]
        missing = [(digest, cases[case_id], trial) for digest, case_id, trial in records if digest not in have]
        made = 0
        for start in range(0, len(missing), GROUP):
            rows = []
            for digest, case, trial in missing[start : start + GROUP]:
                scores, known = scores_as_json(partial(score, store=shop), run.record(case.id, trial), case)
                rows.append((digest, str(VERSION), scores))
                made += known
            _write(run.path, rows)
    return made, len(records)


def _write(path: Path, rows: list[tuple[Any, ...]]) -> None:
    from .writer import CannotSave

    try:
        with closing(connect_to_write(path)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(upsert("scores"), rows)
            db.execute("COMMIT")
            db.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise CannotSave(f"{path} cannot be written ({error})") from None
