"""Replay of a run file from its own call rows, without an endpoint; every record must match byte for byte."""

import asyncio

from ..errors import BadInput
from ..project import code_version
from ..records import NOT_SCORED, content_hash
from ..runfile import RunFile
from .engine import play_one
from .manifest import merged, played_as
from .plan import Plan
from .players import SIDES
from .progress import Progress
from .recorder import KeptCalls, NotOnFile, Recorder

SHOWN = 3


async def replay(plan: Plan) -> tuple[RunFile, int]:
    """Play every finished conversation on file again, compare the records, and return the file and their number.

    Write nothing. Raise `BadInput` if a record differs or the file was made with other inputs.
    """
    run = RunFile(plan.path)
    if any(run.check().values()):
        raise BadInput(
            f"{plan.path} has rows that are not what was written: leave out --replay, and they are made again"
        )
    manifest = run.manifest
    merged(manifest, plan.manifest, plan.path)
    if plan.own_agent is not None:
        raise BadInput(
            "--replay needs the model calls on file, and an agent of your own makes them itself: leave one of them out"
        )
    wanted = {c.id: c for c in plan.cases}
    ended = {key for key, ending in run.endings().items() if ending not in NOT_SCORED}
    finished = {(case_id, trial) for case_id, trial in ended if case_id in wanted and trial <= plan.trials}
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
                conversation = await play_one(plan, wanted[case_id], trial, complete, as_trial)
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
