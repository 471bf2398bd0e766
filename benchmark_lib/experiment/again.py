"""Replay or rescore a run on file, without an endpoint."""

import asyncio
from functools import partial
from pathlib import Path

from ..cases.load import same_cases, store_of
from ..errors import BadInput
from ..project import code_version
from ..records import SCORE_FAULT, content_hash
from ..runfile import RunFile
from ..store import Tool
from .manifest import merged
from .plan import Plan
from .players import SIDES
from .recorder import KeptCalls, NotOnFile, Recorder
from .scoring import scores_as_json
from .summary import Progress
from .writer import RunLock, saving

SHOWN = 3
"""Maximum number of differing conversations that a replay names."""
GROUP = 50
"""Records scored between two commits, so that a later failure does not lose earlier scores."""


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
    finished = run.finished(retry=True) & {(case.id, trial) for case, trial in plan.pairs()}
    progress = Progress(f"replay of {plan.model}", len(finished), 0, plan.options.progress)
    kept, differing = KeptCalls(run.path), []
    try:
        for (case_id, trial), digest in run.digests().items():
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
    default use the store that the file names; `tools`, a ``module:name`` or the tools, are needed for a run that used
    some. With `again`, also score records that already have scores of this version. Raise `BadInput` if the store, the
    tools or a case differ from the run's. Return the number of conversations scored now, and that on file.
    """
    from ..scoring import VERSION, score

    run, version = RunFile(path), str(VERSION)
    shop = store_of(run.path, run.manifest, store, tools, carried_out=True)
    cases = same_cases(run.path, run.manifest, shop, "score it")
    with RunLock(run.path):
        scores = {} if again else run.scores(version)
        have = {digest for digest, recorded in scores.items() if not recorded.get(SCORE_FAULT)}
        records = run.digests()
        missing, scored = [(key, digest) for key, digest in records.items() if digest not in have], 0
        for start in range(0, len(missing), GROUP):
            rows = []
            for key, digest in missing[start : start + GROUP]:
                data, known = scores_as_json(partial(score, store=shop), run.record(*key), cases[key[0]])
                rows.append((digest, version, data))
                scored += known
            with saving(run.path) as db:
                db.put("scores", rows)
    return scored, len(records)
