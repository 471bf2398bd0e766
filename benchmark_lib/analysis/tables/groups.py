"""Results by use case: intents grouped as the operator of a desk would, by ``groups.yaml`` of the store."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from ...scoring.metrics import METRICS, Metric
from ...scoring.scales import SHARE
from ..estimators.estimate import Estimate
from ..estimators.trials import median_and_mean
from ..panels import conversations_of, says_partial
from ..use_cases import adherent, grouped
from .headlines import case_matrix, of_bucket
from .rows import framed, interval

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

BROKE_NOTHING = (
    "Share of conversations in which no process rule was broken and no forbidden call was made; an agent that does nothing "
    "breaks none."
)
ADHERENCE = Metric("adherence", "Adherence", "adherent", None, SHARE, True, BROKE_NOTHING)
SHOWN = {"resolved": METRICS["resolved"], "escalated": METRICS["escalation_accuracy"], "adherence": ADHERENCE}
"""What is shown of each group, by the beginning of its columns."""


@says_partial
def group_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return resolution and adherence of every entry by use case.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their conversations; those of a store without groups are left out.

    Returns
    -------
    DataFrame
        One row per entry and group, in the order of the store: panel, entry, source, group, title, conversations, and of
        resolved (resolvable cases), escalated (cases that need a human, handed over) and adherence (all cases, traps
        too; see `ADHERENCE`) the mean over cases, ``_low``, ``_high``, ``_cases`` and ``_n`` (conversations with a
        value). The intents of a group are taken as given: the intervals are for other cases of these intents.
    """
    import pandas as pd

    rows = conversations_of(results)
    parts = [grouped(part, str(version)) for version, part in rows.groupby("store_version", sort=False)]
    ends = ("", "_low", "_high", "_cases", "_n")
    columns = " ".join(["panel entry source group title conversations", *(f"{n}{end}" for n in SHOWN for end in ends)])
    parts = [part for part in parts if len(part)]
    if not parts:
        return framed([], columns)
    rows = pd.concat(parts).assign(adherent=adherent)
    order = {title: place for place, title in enumerate(dict.fromkeys(rows.sort_values("place")["title"]))}
    keys = ["panel", "entry", "source", "group", "title"]
    found = [
        dict(zip(keys, key, strict=True)) | _numbers(mine)
        for key, mine in rows.groupby(keys, sort=False, observed=True)
    ]
    table = framed(found, columns)
    places = {entry: place for place, entry in enumerate(dict.fromkeys(table["entry"]))}
    table = table.assign(a=table["entry"].map(places), b=table["title"].map(order)).sort_values(["a", "b"])
    return table.drop(columns=["a", "b"]).reset_index(drop=True)


def _numbers(mine: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"conversations": len(mine)}
    for name, metric in SHOWN.items():
        part = of_bucket(mine, metric)
        n = int(part[metric.column].notna().sum())
        mean = median_and_mean(case_matrix(part, metric)[0], rate=True).mean if n else Estimate(estimate=nan)
        row |= {**interval(mean, name, f"{name}_"), f"{name}_cases": mean.n, f"{name}_n": n}
    return row
