"""The same customer in five wordings: how much depends on how it is said."""

from __future__ import annotations

from math import nan, sqrt
from typing import TYPE_CHECKING, Any

from ...cases.wordings import worded_case
from ..estimators.wording import wording_spread
from ..panels import conversations_of, is_wording
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results


def wording_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Spread over wordings of a case against spread over trials of a wording, for every entry that played the wordings.

    Parameters
    ----------
    results : Results or DataFrame
        Of runs made with ``deskbench run MODEL --cases wordings``; these conversations stand in no other table.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, cases, wordings, trials (scored conversations), success (share), moved (cases of
        which some wordings always and others never succeed), over_wordings with low and high and over_trials with low and
        high (standard deviations of success, from 0 to 1; intervals over cases), share (of the variance within a case
        that is due to its words), p (that the words move nothing), reason.
    """
    rows = conversations_of(results, variants=True)
    rows = rows[is_wording(rows["case_id"]) & rows["success"].notna()]
    rows = rows.assign(success=rows["success"].astype(int), tells=rows["case_id"].map(worded_case))
    found = [_row(panel, entry, mine) for (panel, entry), mine in rows.groupby(["panel", "entry"], sort=False)]
    return framed(
        found,
        "panel entry cases wordings trials success moved over_wordings over_wordings_low over_wordings_high "
        "over_trials over_trials_low over_trials_high share p reason",
    )


def _row(panel: str, entry: str, mine: pd.DataFrame) -> dict[str, Any]:
    cells = mine.groupby(["tells", "case_id"])["success"].agg(["sum", "size"]).reset_index()
    spread = wording_spread(cells["sum"], cells["size"], cells["tells"])
    shares = (cells["sum"] / cells["size"]).groupby(cells["tells"])
    row = {"panel": panel, "entry": entry, "cases": cells["tells"].nunique(), "wordings": len(cells)}
    row |= {"trials": len(mine), "success": mine["success"].mean()}
    row |= {"moved": int(((shares.max() == 1) & (shares.min() == 0)).sum()), "share": spread.share}
    row |= _deviation("over_wordings", spread.wording) | _deviation("over_trials", spread.trial)
    return row | {"p": spread.wording.p, "reason": spread.wording.reason}


def _deviation(name: str, variance: Any) -> dict[str, float]:
    """A variance as a standard deviation with its interval; below 0 it is 0."""

    def root(value: float) -> float:
        return sqrt(max(value, 0.0)) if value == value else nan

    return {name: root(variance.estimate), f"{name}_low": root(variance.low), f"{name}_high": root(variance.high)}
