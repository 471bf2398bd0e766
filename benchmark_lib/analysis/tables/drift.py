"""What moves a model's success besides the model: a change of the endpoint during a run, and the words of a case."""

from __future__ import annotations

from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cases.wordings import worded_case
from ...scoring.written import percent
from ..estimators.estimate import Estimate
from ..estimators.trials import TrialShift, trial_shift, wording_spread
from ..panels import conversations_of, is_wording
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

LEVEL = 0.01
"""A board of thirty runs holds a false alarm one time in four."""


def shift_of(conversations: pd.DataFrame) -> tuple[TrialShift, list[int]]:
    """Test whether a trial of one entry differs in success; return the test and the numbers of its trials."""
    known = conversations[conversations["success"].notna()]
    if known.empty:
        return trial_shift(np.empty((0, 0))), []
    table = known.assign(value=known["success"].astype(float)).pivot_table(
        index="case_id", columns="trial", values="value", aggfunc="mean"
    )
    return trial_shift(table.to_numpy(), n_resamples=1_999), [int(t) for t in table.columns]


def shift_in_words(conversations: pd.DataFrame) -> str:
    """Say in a sentence which trial of one entry differs from the others; empty if none does."""
    found, trials = shift_of(conversations)
    return _words(found, trials)


def _words(found: TrialShift, trials: list[int]) -> str:
    if not found.p <= LEVEL:
        return ""
    return (
        f"trial {trials[found.trial]} stands apart: success {percent(found.estimate)} against {percent(found.others)} in the others "
        f"(p {found.p:.2g}); the endpoint may have changed during the run, and no interval here covers that"
    )


def shift_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Test every entry for a trial that differs from the others.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, trial (the one farthest from the others), estimate (its success), others, p,
        cases, finding (a sentence where p is at most 0.01) and reason.
    """
    import pandas as pd

    rows = []
    for (panel, entry), mine in conversations_of(results).groupby(["panel", "entry"], sort=False):
        found, trials = shift_of(mine)
        trial = trials[found.trial] if found.trial >= 0 else pd.NA
        numbers = (trial, found.estimate, found.others, found.p, found.n)
        rows.append((panel, entry, *numbers, _words(found, trials), found.reason))
    table = framed(rows, "panel entry trial estimate others p cases finding reason")
    return table.sort_values("p", kind="stable", na_position="last", ignore_index=True)


def wording_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Compare the spread over wordings of a case with that over trials of a wording, for every entry with wordings.

    Parameters
    ----------
    results : Results or DataFrame
        Of runs made with ``deskbench run MODEL --cases wordings``; no other table has these conversations.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, cases, wordings, trials (scored conversations), success (share), moved (cases
        of which some wordings always and others never succeed), over_wordings with low and high and over_trials with
        low and high (standard deviations of success, from 0 to 1; intervals over cases), share (of the variance within
        a case that is due to its words), p (that the words move nothing), reason.
    """
    rows = conversations_of(results, variants=True)
    rows = rows[is_wording(rows["case_id"]) & rows["success"].notna()]
    rows = rows.assign(success=rows["success"].astype(int), tells=rows["case_id"].map(worded_case))
    found = [_spread_row(panel, entry, mine) for (panel, entry), mine in rows.groupby(["panel", "entry"], sort=False)]
    return framed(
        found,
        "panel entry cases wordings trials success moved over_wordings over_wordings_low over_wordings_high "
        "over_trials over_trials_low over_trials_high share p reason",
    )


def _spread_row(panel: str, entry: str, mine: pd.DataFrame) -> dict[str, Any]:
    cells = mine.groupby(["tells", "case_id"])["success"].agg(["sum", "size"]).reset_index()
    spread = wording_spread(cells["sum"], cells["size"], cells["tells"])
    shares = (cells["sum"] / cells["size"]).groupby(cells["tells"])
    row = {"panel": panel, "entry": entry, "cases": cells["tells"].nunique(), "wordings": len(cells)}
    row |= {"trials": len(mine), "success": mine["success"].mean()}
    row |= {"moved": int(((shares.max() == 1) & (shares.min() == 0)).sum()), "share": spread.share}
    row |= _deviation("over_wordings", spread.wording) | _deviation("over_trials", spread.trial)
    return row | {"p": spread.wording.p, "reason": spread.wording.reason}


def _deviation(name: str, variance: Estimate) -> dict[str, float]:
    """Return a variance as a standard deviation with its interval; below 0 it is 0."""

    def root(value: float) -> float:
        return sqrt(max(value, 0.0)) if value == value else nan

    return {name: root(variance.estimate), f"{name}_low": root(variance.low), f"{name}_high": root(variance.high)}
