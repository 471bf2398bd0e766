"""The leaderboard as cells: value, interval, denominator, and a small drawing of the interval."""

import re
from typing import Any

import pandas as pd

from ...analysis.counting import behind_median, behind_metric
from ...analysis.estimators.estimate import counted
from ...analysis.estimators.unsafe import BANDS
from ...analysis.facets import flags_of
from ...analysis.panels import LABELS, PANELS
from ...analysis.query import NO
from ...analysis.settings import DEFAULT
from ...analysis.tables.headlines import ESTIMATORS
from ...analysis.tables.leaderboard import (
    ALL,
    BELOW,
    RESOLVES_ENOUGH,
    TOO_LITTLE,
    WITHOUT,
    band_in_words,
    does_too_little,
    worst_beside,
)
from ...analysis.tables.tiers import cost_of_1000
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import rounded
from .content import Content, Entry
from .words import as_published, interval, mean_of, measured, percent

FORMS = {ALL: "every", WITHOUT: "unflagged"}
"""The two forms of every cell, all conversations and without flagged customers, with the class that shows or hides it."""

MAIN = shown_on(Shown.MAIN)
"""The metrics that are always visible; the others can be unfolded."""

ALL_METRICS = (*MAIN, *(name for name in METRICS if name not in MAIN))
"""Every metric, those first."""

BLOCKS = {
    "models": (
        "Language models",
        "Sorted by over-escalation, then unsafe actions, then escalation accuracy, the order of the published board: a sort and no verdict.",
    ),
    "own agents": (
        "Own agents",
        "Agents of the user's own, played here: not language models, whatever they call.",
    ),
    "played": (
        "Played",
        "A person, or a program in a person's place, sat in the chair (deskbench sit); the row says who.",
    ),
    "scripted": (
        "Scripted agents",
        "Fixed rules, not models: they mark the ceiling, the floors and points in between.",
    ),
    "imported": ("Imported", "Records from another harness, scored by its rules."),
    "published": (
        "Published figures",
        "SupportAgentBench, July 2026: another benchmark, quoted for comparison and not measured here. No intervals were published.",
    ),
    "set apart": (
        "Set apart",
        f"Below this line because the numbers do not compare: run on other cases than the others, or under {percent(RESOLVES_ENOUGH, 0)} of the resolvable "
        "cases resolved (whoever does little does little harm). Each row says which.",
    ),
    "partial": (
        "Partial",
        "Below this line because planned conversations are missing: the numbers rest on those that are finished.",
    ),
}
"""The heading of each block of the board, and what kind of entry it holds."""

APART = ("local model", "recovery panel")
"""Panels whose rows are marked within their block."""
SAID_BESIDE = r"only \d+ trials?|.* conversations: partial"
"""Notes of what stands beside the name of a row anyway."""


def board(content: Content) -> dict[str, Any]:
    """The board for its template: columns, and blocks of rows in order."""
    published = any(e.block == "published" for e in content.entries)
    names = [n for n in ALL_METRICS if published or was_run(METRICS[n], content)]
    columns = [_column(METRICS[n], content.entries, n in MAIN) for n in names]
    blocks: list[dict[str, Any]] = []
    for block in content.blocks:
        mine = [e for e in content.entries if e.block == block]
        title, note = BLOCKS.get(block, (block.capitalize(), ""))
        rows = [_row(content, e, columns) for e in mine]
        blocks.append({"block": block, "title": title, "note": note, "rows": rows, "below": block in BELOW})
    banded = any(c["metric"].banded for c in columns)
    return {
        "columns": columns,
        "blocks": blocks,
        "tiers": content.tiers,
        "span": len(columns) + 4 + banded,
        "weights": content.weights,
        "flagged": sum(e.row["flagged"] for e in content.entries),
        "banded": banded,
        "too_little": any(r["too_little"] for b in blocks for r in b["rows"]),
        "note": f"{TOO_LITTLE[0].upper()}{TOO_LITTLE[1:]}: it resolves less than {percent(RESOLVES_ENOUGH, 0)} of the resolvable cases.",
    }


def was_run(metric: Metric, content: Content) -> bool:
    """Whether any case that a metric is over was run here: a set without traps has no unsafe actions to show."""
    return metric.bucket is None or any(view.bucket == metric.bucket for view in content.cases.values())


def _column(metric: Metric, entries: list[Entry], main: bool) -> dict[str, Any]:
    """A column's heading: title, denominator, and which way is better."""
    sizes = [n for n in (e.row[f"{metric.name}_n"] for e in entries if e.page) if n == n]
    most = int(max(sizes, default=0))
    better = {True: "higher is better", False: "lower is better", None: "neither direction is better"}
    over = metric.denominator(most) if most else "it occurred in no conversation"
    column = {"metric": metric, "key": metric.name, "title": metric.title, "main": main}
    return column | {"over": over, "n": most, "better": better[metric.higher_is_better]}


def _row(content: Content, entry: Entry, columns: list[dict[str, Any]]) -> dict[str, Any]:
    row = entry.row
    mine = content.rows(entry) if entry.page else None
    chosen = {ALL: (mine, entry.who)}
    if mine is not None:
        chosen[WITHOUT] = mine[~flags_of(mine)], {**entry.who, "customer_flagged": NO}
    marked = LABELS if entry.block in BELOW else APART
    return {
        "entry": entry,
        "dominated": row["dominated_why"],
        "cells": [
            {
                "key": c["key"],
                "title": c["title"],
                "main": c["main"],
                "banded": c["metric"].banded,
                "clustered": ESTIMATORS[c["metric"].estimator].clustered,
                "forms": [_cell(row, c, form) | _behind(c["metric"], *chosen.get(form, (None, {}))) for form in FORMS],
                "worst": worst_beside(row) if c["metric"].banded else "",
            }
            for c in columns
        ],
        "band": band(row),
        "too_little": row["band"] not in ("none", "", None) and does_too_little(row),
        "tier": row["cost_tier"],
        "cost": cost_of_1000(row),
        "settings": settings_beside(entry),
        "panel": (row["panel"], PANELS[row["panel"]]) if row["panel"] in marked else None,
        **{name: row[name] for name in ("weights", "flagged", "trials")},
        "notes": "; ".join(note for note in row["notes"].split("; ") if not re.match(SAID_BESIDE, note)),
    }


def settings_beside(entry: Entry) -> str:
    """The settings of an entry's model in words; empty where nothing was set, and where its name says them."""
    settings = entry.row["settings"]
    return "" if settings in ("", DEFAULT) or settings in entry.name else settings


def _behind(metric: Metric, rows: pd.DataFrame | None, who: dict[str, str]) -> dict[str, Any]:
    """The conversations behind the median (``behind``) and the mean (``pooled``) of a metric; None for a row that has none."""
    if rows is None:
        return {"behind": None, "pooled": None}
    return {"behind": behind_median(rows, metric, **who), "pooled": behind_metric(rows, metric, **who)}


def _cell(row: dict[str, Any], column: dict[str, Any], form: str) -> dict[str, Any]:
    """One metric in one form."""
    metric: Metric = column["metric"]
    name = f"{metric.name}{form}"
    value, low, high, mean, n = (row[f"{name}{end}"] for end in ("", "_low", "_high", "_mean", "_n"))
    known = value == value
    cell: dict[str, Any] = {
        "form": FORMS[form],
        "sort": f"{value:.6g}" if known else "",
        "text": as_published(value, metric) if row["source"] == "published" else measured(value, metric),
        "mean": f"mean {mean_of(mean, metric)}" if low == low else "",
        "interval": interval(low, high, metric),
        "glyph": None,
        "n": "",
    }
    if known and n == n and n != column["n"]:
        cell["n"] = counted(int(n), metric.scale.noun)
    full = metric.scale.factor(n)
    if known and metric.scale.bounds and full and low == low:
        drawn = {"low": low, "width": high - low, "mean": mean, "median": value}
        cell["glyph"] = {name: _at(number / full) for name, number in drawn.items()}
    return cell


def _at(share: float) -> str:
    return f"{100 * min(max(share, 0), 1):.1f}"


def band(row: dict[str, Any]) -> dict[str, Any] | None:
    """The band of unsafe actions with the probability of each; None where there is none, or where it means nothing."""
    if row["band"] in ("none", "", None) or does_too_little(row):
        return None
    chances = [(b, float(row[f"p_{b}"])) for b in BANDS]
    words = ", ".join(f"{b} {rounded(p, 2)}" for b, p in chances)
    left, parts = 0.0, []
    for name, chance in chances:
        parts.append({"band": name, "x": _at(left), "width": _at(chance)})
        left += chance
    text = band_in_words(row).removeprefix(row["band"]).lstrip(": ")
    return {"band": row["band"], "text": text, "words": f"{row['band']}: probability {words}", "parts": parts}
