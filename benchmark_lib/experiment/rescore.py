"""Scoring of a finished run file again, from its records and without model calls."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from ..cases.played import same_cases, store_of
from ..records import SCORE_FAULT
from ..runfile import RunFile, connect_to_write, upsert
from ..store import Tool
from .scoring import scores_as_json

GROUP = 50
"""Records scored between two commits, so that a later failure does not lose earlier scores."""


def rescore(
    path: str | Path, store: str | Path | None = None, again: bool = False, tools: str | dict[str, Tool] | None = None
) -> tuple[int, int]:
    """Add the scores of the present version for records that lack them or could not be scored before.

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
        have = {digest for digest, found in scored.items() if not found.get(SCORE_FAULT)}
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
