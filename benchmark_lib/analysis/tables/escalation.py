"""Handing over in both directions.

What needed a human and was kept, what did not and was handed over, by intent and by queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import BUCKET_NOUNS
from ..estimators.estimate import Estimate, sentence
from ..estimators.intervals import bootstrap_interval
from ..estimators.passk import pass_hat_k_interval
from ..panels import conversations_of, says_partial
from .headlines import case_matrix, headline
from .published import published_data
from .rows import framed, interval

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

NEEDS, SOLVABLE = "must_escalate", "resolvable"
ALL_INTENTS = "all intents"
HONESTY_COLUMNS = {
    "escalation_honest": "promised transfers that were made",
    "person_given": "customers who asked for a person in two messages and were given one",
    "packet_complete": "handover packets without a fault",
    "packet_names_order": "packets that name the order, if one was named",
    "packet_separates_verified": "packets that separate what is verified from what is claimed",
    "packet_minimal": "packets without contact or payment data that nobody needs",
}
"""Columns of the score that are read if they have values, and what they mean when true."""


DIRECTIONS = {"missed": "escalation_accuracy", "over": "over_escalation"}
"""The two directions, and the metric each is read from."""


@says_partial
def escalation_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return both directions of every model, with precision and recall of its handovers.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, trials; missed and over (shares, median over trials) each with ``_mean``,
        ``_low``, ``_high`` (interval of the mean) and ``_cases``; recall (1 - missed_mean) and precision (handovers
        that were needed, of all handovers outside the traps; it depends on the mix of cases) with ``_low`` and
        ``_high``, precision_even (the precision if half of the cases needed a human), handovers, queue_right of
        queue_conversations (handovers of must-escalate cases to a queue the case accepts) with their share
        queue_accepted, and reason.
    """
    import pandas as pd

    rows = conversations_of(results)
    found = []
    for (panel, entry), mine in rows.groupby(["panel", "entry"], sort=False):
        heads = {name: headline(mine, metric) for name, metric in DIRECTIONS.items()}
        row: dict[str, Any] = {"panel": panel, "entry": entry, "trials": int(mine["trial"].nunique())}
        for name, one in heads.items():
            row |= _direction(name, one.median, one.mean.estimate, one.mean.low, one.mean.high, one.n)
        precision, handovers = precision_of_handover(mine)
        recall, fall_out = 1 - row["missed_mean"], row["over_mean"]
        even = recall / (recall + fall_out) if recall + fall_out > 0 else nan
        row |= {"recall": recall, "recall_low": 1 - row["missed_high"], "recall_high": 1 - row["missed_low"]}
        row |= interval(precision, "precision", "precision_") | {"precision_even": even, "handovers": handovers}
        accepted = mine.loc[mine["bucket"] == NEEDS, "queue_accepted"].dropna()
        row |= {
            "queue_right": int(accepted.sum()) if len(accepted) else nan,
            "queue_conversations": len(accepted),
            "queue_accepted": float(accepted.mean()) if len(accepted) else nan,
        }
        of = {heads["over"].reason: "over-escalation", heads["missed"].reason: "missed handovers"}
        of = {why: words if len(of) == 2 else "both directions" for why, words in of.items() if why}
        why = [f"{words}: {reason}" for reason, words in of.items()]
        found.append(row | {"reason": sentence(*why, precision.reason)})
    return pd.DataFrame(found)


def both_directions(board: pd.DataFrame) -> pd.DataFrame:
    """Return both directions for the rows of a board.

    `board` is as `leaderboard` gives it, published rows too.

    Returns
    -------
    DataFrame
        The rows for which one is known at least, with missed and over as in `escalation_table`.
    """
    shown = board.dropna(subset=["escalation_accuracy", "over_escalation"], how="all")
    columns: dict[str, Any] = {}
    for name, metric in DIRECTIONS.items():
        median, mean, low, high = (shown[f"{metric}{end}"].astype(float) for end in ("", "_mean", "_low", "_high"))
        columns |= _direction(name, median, mean, low, high, shown[f"{metric}_n"].fillna(0).astype(int))
    return shown.assign(**columns)


def _direction(name: str, median: Any, mean: Any, low: Any, high: Any, cases: Any) -> dict[str, Any]:
    """Return the columns of one direction; the share missed is one minus the escalation accuracy."""
    if name == "missed":
        median, mean, low, high = 1 - median, 1 - mean, 1 - high, 1 - low
    return {name: median, f"{name}_mean": mean, f"{name}_low": low, f"{name}_high": high, f"{name}_cases": cases}


def precision_of_handover(mine: pd.DataFrame) -> tuple[Estimate, int]:
    """Estimate the share of a model's handovers that were needed (traps aside); whole cases are resampled.

    Returns
    -------
    estimate : Estimate
    handovers : int
    """
    estimand = "share of the handovers (traps aside) that were needed, at this mix of cases"
    both = mine[mine["bucket"].isin([NEEDS, SOLVABLE])]
    given = both[both["handed_over"].fillna(False)]
    lacking = [bucket for bucket in (NEEDS, SOLVABLE) if bucket not in set(both["bucket"])]
    if lacking:
        why = f"no {'s and no '.join(BUCKET_NOUNS[b] for b in lacking)}s were run, so there is no precision"
        return Estimate(estimate=nan, reason=why, estimand=estimand), len(given)
    if given.empty:
        return Estimate(estimate=nan, reason="nothing was handed over, so there is no precision", estimand=estimand), 0
    needed = (~given["needless_handover"].fillna(False)).to_numpy(dtype=float)
    return bootstrap_interval(needed, clusters=given["case_id"].to_numpy(), n_resamples=4_000), len(given)


@says_partial
def intent_table(results: Results | pd.DataFrame, bucket: str | None = None) -> pd.DataFrame:
    """Return handovers by intent, each intent on its own.

    Parameters
    ----------
    bucket : str, optional
        ``must_escalate`` (four intents: too few to stand for others, so each is shown and none is pooled) or
        ``resolvable``; both by default.

    Returns
    -------
    DataFrame
        One row per entry and intent of the frame: panel, entry, bucket, intent, cases, conversations, handed_over
        (conversations), share (mean over cases), low, high (pass^1 over the cases of this intent: for cases of this
        intent like these), wrong (share that went the wrong way), reason.
    """
    rows = conversations_of(results)
    found = []
    for one in (NEEDS, SOLVABLE) if bucket is None else (bucket,):
        intents = sorted(rows.loc[rows["bucket"] == one, "intent"].unique())
        for (panel, entry), mine in rows.groupby(["panel", "entry"], sort=False):
            found += [{"panel": panel, "entry": entry, "bucket": one, **row} for row in _of_intents(mine, one, intents)]
    return framed(found, "panel entry bucket intent cases conversations handed_over share low high wrong reason")


def _of_intents(mine: pd.DataFrame, bucket: str, intents: list[str]) -> Iterator[dict[str, Any]]:
    values, _, of = case_matrix(mine, "escalation_accuracy" if bucket == NEEDS else "over_escalation")
    for intent in intents:
        part = values[np.array(of, dtype=object) == intent] if len(of) else values[:0]
        seen = ~np.isnan(part)
        hits, sizes = np.nansum(part, axis=1), seen.sum(axis=1)
        none = Estimate(estimate=nan, reason="not scored" if len(part) else "not run")
        one = pass_hat_k_interval(hits, sizes, 1) if seen.any() else none
        yield {
            "intent": intent,
            "cases": int((sizes > 0).sum()),
            "conversations": int(seen.sum()),
            "handed_over": int(hits.sum()),
            **interval(one, "share"),
            "wrong": 1 - one.estimate if bucket == NEEDS else one.estimate,
            "reason": one.reason,
        }


@says_partial
def queue_table(results: Results | pd.DataFrame, bucket: str = NEEDS) -> pd.DataFrame:
    """Return the queues that the handovers of each intent went to, and how often the case accepts them.

    Returns
    -------
    DataFrame
        One row per entry, intent and queue used: panel, entry, intent, queue, accepted (conversations), conversations.
    """
    rows = conversations_of(results)
    given = rows[(rows["bucket"] == bucket) & rows["handed_over"].fillna(False) & rows["queue"].notna()]
    table = given.assign(accepted=given["queue_accepted"].fillna(False).astype(int)).groupby(
        ["panel", "entry", "intent", "queue"], sort=False
    )
    return table.agg(accepted=("accepted", "sum"), conversations=("accepted", "size")).reset_index()


def honesty_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return promised transfers that were really made, and handover packets, if the detectors' columns are present.

    Returns
    -------
    DataFrame
        One row per entry and column: panel, entry, finding, conversations (with a value), kept, share; empty where no
        detector was run.
    """
    rows = conversations_of(results)
    found = []
    for name in (c for c in HONESTY_COLUMNS if c in rows):
        flags = rows[name].astype("object").map(_as_flag).astype(float)
        for (panel, entry), values in flags.dropna().groupby([rows["panel"], rows["entry"]], sort=False):
            found.append((panel, entry, HONESTY_COLUMNS[name], len(values), int(values.sum()), float(values.mean())))
    return framed(found, "panel entry finding conversations kept share")


def _as_flag(value: Any) -> float:
    """Return a detector's flag as 1 or 0; NaN where it abstained or does not apply."""
    return float(value) if isinstance(value, (bool, np.bool_, int, float)) else nan


def worst_intents(intents: pd.DataFrame, *, least: int = 1) -> pd.DataFrame:
    """Return the intents that most often go the wrong way in a panel; for description, not for inference.

    Returns
    -------
    DataFrame
        panel, bucket, intent, models, conversations, wrong_conversations, share, worst_entry, worst_share.
    """
    rows = []
    wrong = intents.assign(
        wrong_conversations=intents["handed_over"].where(
            intents["bucket"] != NEEDS, intents["conversations"] - intents["handed_over"]
        )
    )
    for (panel, bucket, intent), part in wrong[wrong["conversations"] >= least].groupby(
        ["panel", "bucket", "intent"], sort=False
    ):
        worst = part.loc[part["wrong"].idxmax()]
        total, lost = int(part["conversations"].sum()), int(part["wrong_conversations"].sum())
        numbers = (part["entry"].nunique(), total, lost, lost / total)
        rows.append((panel, bucket, intent, *numbers, worst["entry"], worst["wrong"]))
    table = framed(rows, "panel bucket intent models conversations wrong_conversations share worst_entry worst_share")
    return table.sort_values(["panel", "share"], ascending=[True, False], kind="stable", ignore_index=True)


def misses_by_intent(intents: pd.DataFrame) -> pd.DataFrame:
    """Return which intents the missed handovers of each panel come from, and how many models miss none.

    `intents` is as `intent_table` gives it. On the published board one intent of four accounts for nearly all misses.

    Returns
    -------
    DataFrame
        One row per panel and must-escalate intent, and one over all of them (`ALL_INTENTS`): panel, intent, missed of
        conversations, of_misses (share of the panel's missed handovers), perfect of models (those that handed over
        every conversation).
    """
    rows = []
    mine = intents[(intents["bucket"] == NEEDS) & (intents["conversations"] > 0)]
    mine = mine.assign(missed=mine["conversations"] - mine["handed_over"])
    for panel, part in mine.groupby("panel", sort=False):
        for intent, some in [*part.groupby("intent"), (ALL_INTENTS, part)]:
            by_model = some.groupby("entry")["missed"].sum()
            missed, models = int(by_model.sum()), (int((by_model == 0).sum()), len(by_model))
            of_misses = missed / part["missed"].sum() if missed else 0.0 if part["missed"].any() else nan
            rows.append((panel, intent, missed, int(some["conversations"].sum()), of_misses, *models))
    return framed(rows, "panel intent missed conversations of_misses perfect models")


def published_escalation_cells() -> pd.DataFrame:
    """Return the published figures of handing over by intent: selected cells, not a table of all models.

    Returns
    -------
    DataFrame
        Model, Intent, Went the wrong way (% over-escalated, or not handed over where it had to be), Direction.
    """
    import pandas as pd

    cells = published_data("supportagentbench_cells_2026-07")
    over, missed = cells[cells["metric"] == "over_escalation_pct"], cells[cells["metric"] == "handover_rate"]
    parts = [
        part.assign(wrong=wrong, direction=words)
        for part, wrong, words in (
            (missed, 100 * (1 - missed["value"]), "kept although it needed a human"),
            (over, over["value"], "handed over although resolvable"),
        )
    ]
    table = pd.concat(parts).sort_values(
        ["direction", "intent", "wrong"], ascending=[False, True, False], kind="stable", ignore_index=True
    )
    names = {"model": "Model", "intent": "Intent", "wrong": "Went the wrong way, %", "direction": "Direction"}
    return table[list(names)].rename(columns=names).assign(Intent=lambda t: t["Intent"].str.replace("_", " "))
