"""Conversations that fail in session after session: after a few tries they count as finished, without a score."""

from collections import Counter
from contextlib import closing
from math import inf

from ..records import LASTING, TRIED_AGAIN, content_hash
from ..runfile import RunFile, connect_to_write, upsert
from .manifest import now
from .plan import Plan
from .recorder import TRIES
from .scoring import scores_as_json


def end_lasting(plan: Plan, run: RunFile) -> None:
    """Write `LASTING` as the ending of each conversation of a plan that has used up its `TRIES`."""
    failed = Counter((fault["case_id"], fault["trial"], fault["kind"]) for fault in run.faults())
    lasting = {(case_id, trial) for (case_id, trial, kind), count in failed.items() if count >= TRIES.get(kind, inf)}
    endings = run.endings() if lasting else {}
    rows = []
    for case in plan.cases:
        for trial in range(1, plan.trials + 1):
            if (case.id, trial) in lasting and endings.get((case.id, trial)) in TRIED_AGAIN:
                record = run.record(case.id, trial)
                record.ended_by = LASTING
                data = record.to_json()
                row = (case.id, trial, LASTING, content_hash(data), data, now())
                rows.append((row, scores_as_json(plan.score, record, case)[0]))
    if not rows:
        return
    with closing(connect_to_write(run.path)) as db:
        db.execute("BEGIN IMMEDIATE")
        for row, scores in rows:
            db.execute(upsert("conversations"), row)
            db.execute(upsert("scores"), (row[3], plan.scoring_version, scores))
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode=DELETE")
