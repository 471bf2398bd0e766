"""Judged tone across models: who sounds right, and whether that goes with doing right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...scoring.metrics import METRICS
from ..estimators.correlations import correlation
from ..estimators.estimate import sentence
from ..panels import PANELS, conversations_of
from .judges import judge_table, newest
from .relations import model_means
from .rows import framed, interval

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

TONE = "tone"
BESIDE = ("resolved", "over_escalation", "unsafe", "escalation_accuracy", "customer_rating", "agent_words")
"""What judged tone is held against, over models."""


def tone_table(results: Results, scorer: str = TONE) -> pd.DataFrame:
    """What each judge thinks of each model's tone, and of its tone where the record says success and where failure.

    Parameters
    ----------
    results : Results
        Of judged runs.
    scorer : str
        Another judged score in place of tone.

    Returns
    -------
    DataFrame
        One row per judge and entry, each judge's best first: panel, judge, entry, scored (conversations), mean with low
        and high (over intents, 0 to 100), in_successes, in_failures (means), customer_rating (by rule, resolvable cases),
        own_run (the judge is the judged model), reason. Empty if no judge has scored it.
    """
    judged = judge_table(results)
    judged = judged[judged["scorer"] == scorer]
    panels = conversations_of(results).drop_duplicates("entry").set_index("entry")["panel"]
    stars = model_means(results, ["customer_rating"]).set_index("entry")["customer_rating"]
    seen = newest(results).query("scorer == @scorer").dropna(subset=["score", "success"])
    means = seen.assign(success=seen["success"].astype(bool)).groupby(["judge", "entry", "success"])["score"].mean()
    split = means.unstack("success").reindex(columns=[True, False])
    keys = list(zip(judged["judge"], judged["entry"], strict=True))
    table = judged.assign(
        panel=judged["entry"].map(panels),
        in_successes=split[True].reindex(keys).to_numpy(),
        in_failures=split[False].reindex(keys).to_numpy(),
        customer_rating=judged["entry"].map(stars),
    )
    columns = ["panel", "judge", "entry", "scored", "mean", "low", "high", "in_successes", "in_failures"]
    table = table[[*columns, "customer_rating", "own_run", "reason"]]
    place = table["panel"].map({name: n for n, name in enumerate(PANELS)})
    return table.assign(place=place).sort_values(
        ["place", "judge", "mean"], ascending=[True, True, False], kind="stable", ignore_index=True
    )[list(table.columns)]


def tone_between_models(
    results: Results, metrics: Sequence[str] = BESIDE, *, scorer: str = TONE, n_resamples: int = 10_000
) -> pd.DataFrame:
    """Rank correlation of judged tone with other metrics over models, each panel and each judge on its own.

    Returns
    -------
    DataFrame
        One row per panel, judge and metric: panel, judge, metric, title, models, families, estimate (Spearman), low, high
        (families resampled), p (permutation), reason.
    """
    table, means = tone_table(results, scorer), model_means(results, metrics)
    rows: list[dict[str, Any]] = []
    for (panel, judge), mine in table.groupby(["panel", "judge"], sort=False):
        both = mine[["entry", "mean"]].merge(means, on="entry")
        for name in metrics:
            found = correlation(both["mean"], both[name], families=both["family"], n_resamples=n_resamples)
            own = "the judge is one of the models" if mine["own_run"].any() else ""
            row = {"panel": panel, "judge": judge, "metric": name, "title": METRICS[name].title, "models": found.n}
            row |= {"families": found.families, **interval(found), "p": found.p}
            rows.append(row | {"reason": sentence(found.reason, own)})
    return framed(rows, "panel judge metric title models families estimate low high p reason")
