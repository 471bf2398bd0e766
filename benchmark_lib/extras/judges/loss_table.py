"""Losses by words as read and as adjudicated, with the judge's precision and recall on what was planted."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.estimators.estimate import Estimate, sentence
from ...analysis.estimators.intervals import clustered_rate, clusters_or_cases, proportion_interval
from ...analysis.tables.rows import ITEM, framed, interval
from ...textfiles import read_yaml
from .judging import same_model
from .losses import FOUND, INVALID, NONE, losses_in

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results

SAID: dict[str, str] = read_yaml(Path(__file__).with_name("losses.yaml"))
MUCH, LEAST = 0.5, 0.9
"""Share of planted items whose wrong treatment shows in a word; precision and recall of a fair judge at least."""
COLUMNS = (
    "entry judge own_run conversations as_read as_read_low as_read_high lost read unread changed as_adjudicated low "
    "high found none invalid planted_right planted recall recall_low recall_high precision precision_low "
    "precision_high worth reason"
)


def loss_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return success as read and as adjudicated, after a second reading of the losses by words.

    Parameters
    ----------
    results : Results
        Of runs judged with ``deskbench judge --scorers losses``; of each judge the newest version counts. A frame of
        verdicts has no readings.

    Returns
    -------
    DataFrame
        One row per entry and judge: entry, judge, own_run (the judge is the judged model), conversations, as_read with
        as_read_low and as_read_high (share of successes, over intents or cases), lost (by words), read and unread
        (again, with and without a usable reply), changed (won as adjudicated), as_adjudicated with low and high, found,
        none and invalid (items; an invalid quote counts for nothing), planted_right (items that are there) of planted,
        recall and precision on them with Wilson intervals, worth (what that says of the judge), reason.
    """
    rows = []
    for (entry, judge), mine in _readings(results).items():
        played = results.conversations[results.conversations["entry"] == entry]
        scored = played[played["success"].notna()]
        rows.append({"entry": entry, "judge": judge, **_row(mine, scored), **_worth(mine)})
        rows[-1]["own_run"] = any(same_model(judge, model) for model in played["model"].unique())
        rows[-1]["reason"] = sentence(rows[-1]["reason"], SAID["own run"] if rows[-1]["own_run"] else "")
    return framed(rows, COLUMNS)


def _readings(results: Results | pd.DataFrame) -> dict[tuple[str, str], dict[tuple[str, str], dict[str, Any]]]:
    """Return by entry and judge what it read again, by run and record: real or planted."""
    found: dict[tuple[str, str], dict[tuple[str, str], dict[str, Any]]] = {}
    for run in results.runs if hasattr(results, "runs") else ():
        rows = [row for row in run.verdicts() if losses_in(row["verdict"])]
        versions = {row["judge"]: row["version"] for row in rows}
        for row in rows:
            if row["version"] == versions[row["judge"]]:
                where = {name: row["verdict"][name] for name in ("case_id", "trial")}
                mine = found.setdefault((results.entries[run.run_id], row["judge"]), {})
                mine[run.run_id, row["record_hash"]] = {**losses_in(row["verdict"]), **where, "run_id": run.run_id}
    return found


def _row(mine: dict[tuple[str, str], dict[str, Any]], scored: pd.DataFrame) -> dict[str, Any]:
    """Return the columns on the conversations of one entry."""
    real = [one for one in mine.values() if one["of"]]
    items = [item["state"] for one in real for item in one["items"]]
    lost = sum({one["run_id"]: one["of"] for one in real}.values())
    unread = sum(bool(one["unscored"]) for one in real)
    won = {tuple(one[name] for name in ITEM) for one in real if one["changed"]}
    success = scored["success"].astype(bool)
    keys = scored[ITEM].itertuples(index=False, name=None)
    gained = ~success & np.array([key in won for key in keys], dtype=bool)
    as_read, adjudicated = _rate(scored, success), _rate(scored, success | gained)
    whole = len(real) == lost
    return {
        "conversations": len(scored),
        **interval(as_read, "as_read", "as_read_"),
        "lost": lost,
        "read": len(real) - unread,
        "unread": unread,
        "changed": int(gained.sum()),
        **(interval(adjudicated, "as_adjudicated") if whole else dict.fromkeys(("as_adjudicated", "low", "high"), nan)),
        **{state: items.count(state) for state in (FOUND, NONE, INVALID)},
        "reason": as_read.reason if whole else SAID["partly"].format(read=len(real), lost=lost),
    }


def _rate(scored: pd.DataFrame, success: pd.Series) -> Estimate:
    by_case = (
        scored.assign(value=success.astype(float))
        .groupby("case_id")
        .agg(value=("value", "mean"), intent=("intent", "first"))
    )
    return clustered_rate(by_case["value"], clusters_or_cases(by_case["intent"], by_case.index))


def _worth(mine: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """Return recall and precision on the planted items, and what they say in words."""
    planted = {(one["case_id"], item["item"]): item for one in mine.values() if not one["of"] for item in one["items"]}
    right, wrong = ([i["state"] for i in planted.values() if i["there"] is there] for there in (True, False))
    of, hits, alarms, made_up = len(planted), right.count(FOUND), wrong.count(FOUND), [*right, *wrong].count(INVALID)
    recall, precision = proportion_interval(hits, len(right)), proportion_interval(hits, hits + alarms)
    signs = {
        "unknown": not (right and wrong),
        "made up": made_up >= MUCH * of,
        "yes to all": alarms >= MUCH * len(wrong),
        "no to all": not hits,
        "doubtful": not (recall.estimate >= LEAST and precision.estimate >= LEAST),
    }
    said = SAID[next((name for name, shown in signs.items() if shown), "fair")]
    worth = said.format(hits=hits, right=len(right), alarms=alarms, wrong=len(wrong), made_up=made_up, of=of)
    row = {"planted_right": len(right), "planted": of, "worth": worth}
    return row | interval(recall, "recall", "recall_") | interval(precision, "precision", "precision_")
