"""Losses through wording, as read and as adjudicated, with the judge's precision and recall."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.cell import ITEM, framed, interval
from ...analysis.estimators.estimate import sentence
from ...analysis.estimators.intervals import proportion_interval
from .judging import TEXTS, same_model
from .losses import FOUND, INVALID, NONE, losses_in
from .tables import over_cases

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results

SAID: dict[str, str] = TEXTS["second readings"]
MUCH, LEAST = 0.5, 0.9
"""Share of wrongly treated planted items that marks a judge as unfair; minimum precision and recall of a fair judge."""
COLUMNS = (
    "entry judge own_run conversations as_read as_read_low as_read_high lost read unread changed as_adjudicated low "
    "high found none invalid planted_right planted recall recall_low recall_high precision precision_low "
    "precision_high worth reason"
)


def loss_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return success as read, and as adjudicated after rereading losses through wording.

    Parameters
    ----------
    results : Results
        From runs judged with ``deskbench judge --scorers losses``; each judge's newest version counts. A frame of
        verdicts has no readings.

    Returns
    -------
    DataFrame
        One row per entry and judge: entry, judge, own_run (the judge is the judged model), conversations, as_read with
        as_read_low and as_read_high (share of successes, over intents or cases), lost (through wording), read and
        unread (again, with and without a usable reply), changed (won as adjudicated), as_adjudicated with low and high.
        Items: found, none, invalid (an invalid quote counts for nothing). Planted items: planted_right (there) of
        planted, recall and precision with Wilson intervals, worth (what they say about it). Last, reason.
    """
    rows = []
    for (entry, judge), readings in _readings(results).items():
        played = results.conversations[results.conversations["entry"] == entry]
        own = any(same_model(judge, model) for model in played["model"].unique())
        row = {"entry": entry, "judge": judge, "own_run": own, **_row(readings, played[played["success"].notna()])}
        rows.append({**row, **_worth(readings), "reason": sentence(row["reason"], SAID["own run"] if own else "")})
    return framed(rows, COLUMNS)


def _readings(results: Results | pd.DataFrame) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found = defaultdict(list)
    for run in getattr(results, "runs", ()):
        rows = [row for row in run.verdicts() if losses_in(row["verdict"])]
        versions = {row["judge"]: row["version"] for row in rows}
        for row in rows:
            if row["version"] == versions[row["judge"]]:
                where = {name: row["verdict"][name] for name in ("case_id", "trial")} | {"run_id": run.run_id}
                found[results.entries[run.run_id], row["judge"]].append({**losses_in(row["verdict"]), **where})
    return found


def _row(verdicts: list[dict[str, Any]], scored: pd.DataFrame) -> dict[str, Any]:
    """Return the columns about one entry's conversations."""
    real = [one for one in verdicts if one["of"]]
    items = [item["state"] for one in real for item in one["items"]]
    lost = sum({one["run_id"]: one["of"] for one in real}.values())
    unread = sum(bool(one["unscored"]) for one in real)
    won = {tuple(one[name] for name in ITEM) for one in real if one["changed"]}
    success = scored["success"].astype(bool)
    gained = ~success & np.array([key in won for key in scored[ITEM].itertuples(index=False, name=None)], dtype=bool)
    as_read, adjudicated = over_cases(scored, success), over_cases(scored, success | gained)
    whole = len(real) == lost
    return {
        "conversations": len(scored),
        **interval(as_read, "as_read", "as_read_"),
        **{"lost": lost, "read": len(real) - unread, "unread": unread, "changed": int(gained.sum())},
        **(interval(adjudicated, "as_adjudicated") if whole else {}),
        **{state: items.count(state) for state in (FOUND, NONE, INVALID)},
        "reason": as_read.reason if whole else SAID["partly"].format(read=len(real), lost=lost),
    }


def _worth(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    planted = {(one["case_id"], item["item"]): item for one in verdicts if not one["of"] for item in one["items"]}
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
