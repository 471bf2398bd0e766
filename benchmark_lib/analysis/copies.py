"""The same scripted run on two files: a scripted agent does the same thing again, so a second file tells nothing new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ..runfile import RunFile


def without_copies(runs: Sequence[RunFile], keep: str | None = None) -> list[RunFile]:
    """The runs without those whose conversations another one holds as well.

    Parameters
    ----------
    runs : sequence of RunFile
        In the order in which they are shown.
    keep : str, optional
        The run_id of a run that stays in any case.

    Returns
    -------
    list of RunFile
        Of scripted agents with the same inputs only the run with the most trials of the most cases; all others.
    """
    manifests = {run.run_id: run.manifest for run in runs}
    alike: dict[Any, list[RunFile]] = defaultdict(list)
    for run in runs:
        if manifests[run.run_id]["source"] == "scripted":
            inputs = manifests[run.run_id]["inputs"]
            alike[tuple(sorted((name, part["hash"]) for name, part in inputs.items()))].append(run)
    copies: set[str] = set()
    for same in alike.values():
        largest = sorted(same, key=lambda r: (r.run_id != keep, -len(r.endings())))
        held: list[set[tuple[Any, ...]]] = []
        for run in largest:
            cases = manifests[run.run_id]["cases"]
            mine = {(case_id, trial, cases.get(case_id)) for case_id, trial in run.endings()}
            if run.run_id != keep and any(mine <= other for other in held):
                copies.add(run.run_id)
            held.append(mine)
    return [run for run in runs if run.run_id not in copies]
