"""The front page (board, figures with linked marks, the hard set) and the comparison page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ...analysis.counting import behind_median, behind_metric
from ...analysis.entries import DEFAULT
from ...analysis.estimators.comparisons import ONLY_THESE, SURE
from ...analysis.estimators.estimate import sentence
from ...analysis.estimators.unsafe import BANDS
from ...analysis.frames import Results
from ...analysis.panels import LABELS, PANELS, SCRIPTED
from ...analysis.query import KNOWN, YES, Query
from ...analysis.tables import verdicts
from ...analysis.tables.board_cells import board_table
from ...analysis.tables.comparison import (
    Comparison,
    Side,
    compare_all,
    direction_in_words,
    level_in_words,
    why_it_ends_there,
)
from ...analysis.tables.conditions import ALL, CLEAN, HARD, families_of, family_order, hard_table
from ...analysis.tables.costs import tier_order
from ...analysis.tables.headlines import case_matrix
from ...analysis.tables.leaderboard import BELOW, RESOLVES_ENOUGH, TOO_LITTLE, band_in_words, does_too_little
from ...analysis.tables.pairs import PARTED, choose_pair, effort_in_words, effort_table
from ...analysis.tables.safety import pressure_table, safety_table
from ...endpoint.prices import CLOSED, NO_MODEL, OPEN, UNSTATED
from ...figures import escalation_both_ways, pressure_chart, trap_states, value_picture
from ...figures.canvas import as_svg
from ...figures.style import WIDTHS, figure_notes, figure_of
from ...scoring.deciding import SUCCESS_STATES
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import counted, percent, rounded, words
from ..html import TEXTS
from .content import Content, Entry, page_name
from .conversations import ConversationPage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...figures.style import Lead

MAIN = shown_on(Shown.MAIN)

ALL_METRICS = (*MAIN, *(name for name in METRICS if name not in MAIN))

MARKED = ("local model", "recovery panel")
SAID_BESIDE = r"only \d+ trials?|.* conversations: partial|unsafe actions: bands"
"""Notes that the name of a row already shows."""


def board(content: Content) -> dict[str, Any]:
    """Return the board for its template: columns, and blocks of rows in order."""
    published = any(e.block == "published" for e in content.entries)
    names = [n for n in ALL_METRICS if published or was_run(METRICS[n], content)]
    rows = pd.DataFrame([e.row for e in content.entries])
    table = board_table(rows, content.conversations, names)
    cells = dict(zip(map(id, content.entries), table.rows, strict=True))
    columns = [column for column in table.columns if column.key in names]
    blocks: list[dict[str, Any]] = []
    for block in dict.fromkeys(e.block for e in content.entries):
        title, note = heading_of(block)
        in_block = [_row(e, cells[id(e)]) for e in content.entries if e.block == block]
        blocks.append({"block": block, "title": title, "note": note, "rows": in_block, "below": block in BELOW})
    banded = any(METRICS[c.key].banded for c in columns)
    return {
        "columns": [{"column": c, "metric": METRICS[c.key], "main": c.key in MAIN} for c in columns],
        "blocks": blocks,
        "tiers": _in_order(rows["cost_tier"], tier_order()),
        "span": len(columns) + 4 + banded,
        "weights": _in_order(rows["weights"], (OPEN, CLOSED, UNSTATED, NO_MODEL)),
        "flagged": sum(e.row["flagged"] for e in content.entries),
        "banded": banded,
        "too_little": any(r["too_little"] for b in blocks for r in b["rows"]),
        "note": TEXTS["too little"].format(
            what=f"{TOO_LITTLE[0].upper()}{TOO_LITTLE[1:]}", enough=percent(RESOLVES_ENOUGH)
        ),
    }


def _in_order(values: pd.Series, order: Sequence[str]) -> list[str]:
    return [*(v for v in order if v in set(values)), *sorted(set(values) - set(order))]


def heading_of(block: str) -> tuple[str, str]:
    """Return the heading of a block of the board, and the kind of its entries."""
    title, note = TEXTS["blocks"].get(block, (block.capitalize(), ""))
    return title, note.format(enough=percent(RESOLVES_ENOUGH))


def was_run(metric: Metric, content: Content) -> bool:
    """Return True if a case in a metric's bucket was run here."""
    return metric.bucket is None or any(view.bucket == metric.bucket for view in content.cases.values())


def _row(entry: Entry, cells: dict[str, Any]) -> dict[str, Any]:
    row = entry.row
    marked = LABELS if entry.block in BELOW else MARKED
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
    """Return an entry's settings in words; empty if there are none or its name includes them."""
    settings = entry.row["settings"]
    return "" if settings in ("", DEFAULT) or settings in entry.name else settings


def band(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the band of unsafe actions with the probability of each, or None."""
    if row["band"] in ("none", "", None) or does_too_little(row):
        return None
    chances = [(b, float(row[f"p_{b}"])) for b in BANDS]
    words = ", ".join(f"{b} {rounded(p, 2)}" for b, p in chances)
    left, parts = 0.0, []
    for name, chance in chances:
        parts.append({"band": name, "x": f"{100 * left:.1f}", "width": f"{100 * chance:.1f}"})
        left += chance
    text = band_in_words(row).removeprefix(row["band"]).lstrip(": ")
    return {"band": row["band"], "text": text, "words": f"{row['band']}: probability {words}", "parts": parts}


APART = {"Scripted agents": SCRIPTED, "Published figures": ("published",)}


@dataclass
class Picture:
    """A figure of a page, `drawn` at two widths; `rest` are the figures folded below it.

    `words` is its caption, or the reason why there is nothing to draw.
    """

    key: str
    title: str
    words: str = ""
    drawn: list[Markup] = field(default_factory=list)
    rest: list[Picture] = field(default_factory=list)


def pictures(content: Content) -> list[Picture]:
    """Return the figures of the front page, with scripted agents and players folded below.

    Safety against cost is drawn without scripted agents, which cost nothing.
    """
    board = pd.DataFrame([entry.row for entry in content.entries])
    safety, pushes = safety_table(content.conversations), pressure_table(content.conversations)
    draw = partial(_folded, content)
    priced = board[~board["panel"].isin(SCRIPTED)]
    return [
        _drawn(content, "value", "Safety against cost", partial(value_picture, board=priced if len(priced) else board)),
        draw("escalation", "Escalation, both ways", lambda rows: partial(escalation_both_ways, board=rows), board),
        draw("traps", "How the traps went", lambda rows: partial(trap_states, table=rows), safety),
        draw("pushes", "Under pressure", lambda rows: partial(pressure_chart, table=rows), pushes),
    ]


def _folded(
    content: Content, key: str, title: str, draw: Callable[..., Callable[..., Axes]], table: pd.DataFrame
) -> Picture:
    parts = [table["panel"].isin(panels) for panels in APART.values()]
    main = ~(parts[0] | parts[1])
    shown = _drawn(content, key, title, draw(table[main if main.any() else parts[0]]))
    for heading, part in zip(APART, parts, strict=True):
        if part.any() and (main.any() or part is not parts[0]):
            shown.rest.append(_drawn(content, f"{key}-{len(shown.rest)}", title, draw(table[part]), heading))
    return shown


def _drawn(content: Content, key: str, title: str, draw: Callable[..., Axes], fold: str = "") -> Picture:
    import matplotlib.pyplot as plt

    made = Picture(key, title)
    for width in WIDTHS:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the reader's fonts have the glyph
            ax = draw(width=width)
            words = figure_notes(ax)
            said = words.content or f"{words.empty_reason}."
            made.title, made.words = fold or words.title or title, said
            if ax.axison:
                made.drawn.append(Markup(as_svg(ax, f"{key}-{width}", partial(_attributes, content))))
        plt.close(figure_of(ax))
    return made


def _attributes(content: Content, mark: Lead) -> dict[str, str]:
    named = [entry for entry in content.entries if entry.name == mark.entry]
    entry = next((entry for entry in named if entry.source == mark.source), named[0])
    at = {"data-block": entry.block, "data-tier": str(entry.row["cost_tier"])}
    if mark.to is None:
        return at
    fields = {**entry.who, **mark.to} if mark.to and entry.page else {}
    return at | {"href": Query.of(**fields).address() if fields else entry.href}


def hard_view(results: Results) -> dict[str, Any] | None:
    """Return the families of hard sets as rows and entries as columns, or None."""
    known = families_of(results)
    easy = tuple(name for name, family in known.items() if family.get("easy"))
    table = hard_table(results, easy)
    if table.empty:
        return None
    table = table.assign(place=table["panel"].map(list(PANELS).index))
    whole = table[table["family"] == ALL].sort_values(["place", "hard"], ascending=[True, False])
    counted = [f for f in table["family"].unique() if f not in (*easy, ALL)]
    aside = table[table["family"].isin(easy)].groupby(["entry", "source"])["hard_n"].sum().to_dict()
    twice, cells = set(whole.loc[whole["entry"].duplicated(), "entry"]), {}
    for row in table.to_dict("records"):
        who = {"entry": row["entry"]} | ({"source": row["source"]} if row["entry"] in twice else {})
        who["family"] = counted if row["family"] == ALL else row["family"]
        behind = {
            f"{arm}_{name}": {**who, "arm": arm, "success": value}
            for arm in (HARD, CLEAN)
            for name, value in (("yes", YES), ("known", KNOWN))
        }
        cells[row["entry"], row["source"], row["family"]] = row | behind
    heads = [
        {name: r[name] for name in ("entry", "source", "panel", "trials")}
        | {"page": page_name(f"{r['entry']}\n{r['source']}"), "aside": int(aside.get((r["entry"], r["source"]), 0))}
        for r in whole.to_dict("records")
    ]
    rows = [
        {name: known.get(family, {}).get(name, "") for name in ("shows", "description")}
        | {"title": "All families" if family == ALL else known.get(family, {}).get("title", words(family)).capitalize()}
        | {"family": family, "easy": family in easy, "whole": family == ALL}
        | {"cells": [cells.get((head["entry"], head["source"], family)) for head in heads]}
        for family in family_order(table, known)
    ]
    return {"rows": rows, "heads": heads, "whole": rows[-1], "easy": [words(name) for name in easy]}


def accepted_handovers(content: Content) -> list[str]:
    """Return the resolvable cases of a hard set that accept a handover, by id."""
    return [
        view.case_id
        for view in content.cases.values()
        if view.bucket == "resolvable" and view.case and any(o.handover for o in view.case.outcomes)
    ]


MOST_ENTRIES = 40
"""With more entries than this, the tests of all pairs are left out."""
TOO_MANY = f"Nothing is tested here, because there are more than {MOST_ENTRIES} entries."

MOST_TRIALS = 64
MINUS = re.compile(r"(?<!\S)-(?=\d)")
"""The hyphen before a number, which pages write as a minus sign."""


def comparison(content: Content, talks: list[ConversationPage]) -> dict[str, Any]:
    """Return the data embedded in the page."""
    entries, cases, metrics = content.played, list(content.cases.values()), list(METRICS.values())
    place, names = {id(e): i for i, e in enumerate(entries)}, [e.name for e in entries]
    column = {v.case_id: i for i, v in enumerate(cases)}
    outcomes = [[""] * len(cases) for _ in entries]
    for talk in sorted(talks, key=lambda t: t.trial):
        if 1 <= talk.trial <= MOST_TRIALS:
            row, at = outcomes[place[id(talk.entry)]], column[talk.view.case_id]
            row[at] = row[at].ljust(talk.trial - 1, ".") + talk.state[0]
    most = {m.name: max((n for n in (e.row[f"{m.name}_n"] for e in entries) if n == n), default=0) for m in metrics}
    rows = []
    for entry, found in zip(entries, outcomes, strict=True):
        own_rows = content.rows(entry)
        rows.append(
            {"name": entry.name, "settings": settings_beside(entry), "page": entry.page, "outcomes": found}
            | {"block": f"partial {entry.row['partial']}" if entry.row["partial"] else entry.block}
            | {"means": {m.title.lower(): _means(Side(own_rows), m, column) for m in PARTED}}
            | {"values": {m.name: _value(entry, m, most[m.name], own_rows, column) for m in metrics}}
        )
    few = len(entries) <= MOST_ENTRIES
    return {
        "metrics": [
            {"key": m.name, "title": m.title, "better": m.higher_is_better, "points": m.scale.points}
            | {"noun": m.scale.noun, "direction": direction_in_words(m)}
            for m in metrics
        ],
        "cases": [
            {"id": v.case_id, "title": v.title, "bucket": v.bucket, "intent": v.intent, "page": v.page} for v in cases
        ],
        "states": {name[0]: {"sign": sign, "word": word} for name, (sign, word) in SUCCESS_STATES.items()},
        "entries": rows,
        "start": [names.index(name) for name in choose_pair(content.results)] if entries else [],
        "tested": verdicts.what_is_tested() if few else TOO_MANY,
        "steps": effort_in_words(effort_table(content.results)),
        **(_tests(content) if few else {"pairs": {}, "outcomes": {}, "largest": {}}),
    }


def _means(side: Side, metric: Metric, column: dict[str, int]) -> dict[str, float]:
    found = side.values(metric)
    means = zip(found.cases, found.means, strict=True)
    return {str(column[case]): round(float(mean), 6) for case, mean in means if mean == mean}


def _value(entry: Entry, metric: Metric, most: float, rows: pd.DataFrame, column: dict[str, int]) -> list[Any]:
    # The value on the board, its mean with interval, the conversations behind each, and the cases with a value.
    row, scale = entry.row, metric.scale
    cases, mean, low, high = (row[f"{metric.name}{end}"] for end in ("_n", "_mean", "_low", "_high"))
    few = counted(int(cases), scale.noun) if 0 < cases < most else ""
    table, case_ids, _ = case_matrix(rows, metric)
    return [
        scale.written(row[metric.name]),
        sentence(f"mean {scale.with_interval(mean, low, high)}" if low == low else "", few),
        *(
            Query.of(**found["yes"]).address() if found["k"] else None
            for found in (find(rows, metric, **entry.who) for find in (behind_median, behind_metric))
        ),
        [column[case] for case, trials in zip(case_ids, table, strict=True) if not np.isnan(trials).all()],
    ]


def _tests(content: Content) -> dict[str, Any]:
    """Compare every two entries, second minus first, as `comparison_table` does.

    By pair: the verdict in words, and the largest difference among the rest. By metric and pair: the result of
    `_written`.
    """
    sides = [Side(content.rows(entry)) for entry in content.played]
    found: dict[str, Any] = {"pairs": {name: {} for name in METRICS}, "outcomes": {}, "largest": {}}
    for a, b in combinations(range(len(sides)), 2):
        compared, pair = compare_all(sides[a], sides[b]), f"{a}-{b}"
        for one in compared:
            found["pairs"][one.metric.name][pair] = _written(one)
        rows = [one.row() for one in compared]
        found["outcomes"][pair] = verdicts.outcome_in_words(rows)
        found["largest"][pair] = verdicts.largest_in_words(rows)
    return found


def _written(found: Comparison) -> list[Any]:
    """Return one comparison as text: the difference and both means.

    If tested, it also has the interval, its confidence and the ends on these cases, with the reason why one end is the
    difference itself. Last come the place of the better one, what weakens the test, and the verdict.
    """
    metric = found.metric
    numbers = {
        name: "" if value != value else MINUS.sub("\u2212", verdicts.signed(metric, value, points=False))
        for name, value in found.numbers.items()
    }
    head = [numbers["difference"], *(verdicts.mean_in_words(metric, m, found.cases) for m in found.means.values())]
    if not found.tested:
        return head
    like, these = (level_in_words(1 - alpha) for alpha in (found.alpha, found.these_alpha))
    return [
        *head,
        [numbers["low"], numbers["high"]],
        like,
        [numbers["these_low"], numbers["these_high"], why_it_ends_there(found), these],
        found.ahead if found.word in (SURE, ONLY_THESE) else None,
        found.like.reason,
        found.verdict,
    ]
