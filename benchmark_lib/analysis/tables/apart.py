"""The cases on which two models part: in success or in one of the planned metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.scales import SHARE
from .headlines import values_of

if TYPE_CHECKING:
    import pandas as pd

SUCCESS = Metric("success", "Success", "success", None, SHARE, True, "Success of its bucket.")
PARTED = (SUCCESS, *(METRICS[name] for name in shown_on(Shown.MAIN)))
"""What two models may part in on a case."""

Outcomes = dict[str, dict[str, dict[int, float]]]


def outcomes_of(conversations: pd.DataFrame) -> Outcomes:
    """What came of each trial of one model: by title of `PARTED`, case and trial."""
    found: Outcomes = {}
    for metric in PARTED:
        mine = found.setdefault(metric.title.lower(), {})
        for value, case_id, trial in zip(*values_of(conversations, metric, "case_id", "trial"), strict=True):
            if value == value:
                mine.setdefault(str(case_id), {})[int(trial)] = float(value)
    return found


def mean(trials: dict[int, float]) -> float:
    """The mean over the trials of a case."""
    return sum(trials.values()) / len(trials)


def parted(a: Outcomes, b: Outcomes) -> dict[str, list[str]]:
    """The cases on which two models differ, by their means over trials, each with the titles of what differs."""
    found: dict[str, list[str]] = {}
    for title, mine in a.items():
        for case_id in mine.keys() & b[title].keys():
            if abs(mean(mine[case_id]) - mean(b[title][case_id])) > 1e-9:
                found.setdefault(case_id, []).append(title)
    return found


def first_apart(a: dict[int, float], b: dict[int, float]) -> int:
    """The first trial with different outcomes; the first of all where two models have none such in common."""
    return next((trial for trial in sorted(a) if trial in b and a[trial] != b[trial]), 1)
