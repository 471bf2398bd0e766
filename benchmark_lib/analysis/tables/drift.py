"""Whether a whole trial of a run differs from the others, as when a provider changes the model meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...scoring.written import percent
from ..estimators.trials import TrialShift, trial_shift
from ..panels import conversations_of
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

LEVEL = 0.01
"""A board of thirty runs holds a false alarm one time in four."""


def shift_of(conversations: pd.DataFrame) -> tuple[TrialShift, list[int]]:
    """The test of one entry's success over all of its cases, and the numbers of its trials."""
    known = conversations[conversations["success"].notna()]
    if known.empty:
        return trial_shift(np.empty((0, 0))), []
    table = known.assign(value=known["success"].astype(float)).pivot_table(
        index="case_id", columns="trial", values="value", aggfunc="mean"
    )
    return trial_shift(table.to_numpy(), n_resamples=1_999), [int(t) for t in table.columns]


def shift_in_words(conversations: pd.DataFrame) -> str:
    """A sentence if a trial of one entry stands apart; empty if none does."""
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
    """The test of every entry.

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
