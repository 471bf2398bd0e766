"""The leaderboard as cells: value, interval, denominator, and a small drawing of the interval."""

import re
from typing import Any

import pandas as pd

from ...analysis.entries import DEFAULT
from ...analysis.estimators.unsafe import BANDS
from ...analysis.panels import LABELS, PANELS
from ...analysis.tables.board import board_table
from ...analysis.tables.leaderboard import BELOW, RESOLVES_ENOUGH, TOO_LITTLE, band_in_words, does_too_little
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import rounded
from .content import Content, Entry
from .words import percent

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
    rows = pd.DataFrame([e.row for e in content.entries])
    table = board_table(rows, content.conversations, names)
    cells = dict(zip(map(id, content.entries), table.rows, strict=True))
    columns = [column for column in table.columns if column.key in names]
    blocks: list[dict[str, Any]] = []
    for block in content.blocks:
        title, note = BLOCKS.get(block, (block.capitalize(), ""))
        mine = [_row(e, cells[id(e)]) for e in content.entries if e.block == block]
        blocks.append({"block": block, "title": title, "note": note, "rows": mine, "below": block in BELOW})
    banded = any(METRICS[c.key].banded for c in columns)
    return {
        "columns": [{"column": c, "metric": METRICS[c.key], "main": c.key in MAIN} for c in columns],
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


def _row(entry: Entry, cells: dict[str, Any]) -> dict[str, Any]:
    row = entry.row
    marked = LABELS if entry.block in BELOW else APART
    return {
        "entry": entry,
        "dominated": row["dominated_why"],
        "cells": cells,
        "band": band(row),
        "too_little": row["band"] not in ("none", "", None) and does_too_little(row),
        "tier": row["cost_tier"],
        "settings": settings_beside(entry),
        "panel": (row["panel"], PANELS[row["panel"]]) if row["panel"] in marked else None,
        **{name: row[name] for name in ("weights", "flagged", "trials")},
        "notes": "; ".join(note for note in row["notes"].split("; ") if not re.match(SAID_BESIDE, note)),
    }


def settings_beside(entry: Entry) -> str:
    """The settings of an entry's model in words; empty where nothing was set, and where its name says them."""
    settings = entry.row["settings"]
    return "" if settings in ("", DEFAULT) or settings in entry.name else settings


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
