"""The board as a table of cells, for every page, notebook and terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from ...endpoint.weights import NO_MODEL
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import DASH
from ..cell import Cell, Heading, Table, metric_cell
from ..counting import behind_median, behind_metric
from ..entries import DEFAULT
from ..estimators.estimate import Estimate, sentence
from ..facets import flags_of
from ..query import NO, Query
from .costs import cost_of_1000
from .headlines import ESTIMATORS
from .leaderboard import ALL, BELOW, ENDS, RESTS_ON_INTENTS, WITHOUT, band_in_words, worst_beside
from .rows import Row

PLANNED, MORE, REST, UNFLAGGED, ABOUT = "planned", "more", "rest", "without", "about"
"""Parts of a board: planned metrics with band and cost; other metrics of every board; metrics shown only on the site;
metrics without the flagged customers; and properties of the runs."""
CASES = "Cases (resolvable + must escalate + traps)"
NOT_RUN = "no such case was run"
BUCKET_METRICS = ("resolved", "must_escalate_success", "adversarial_success")
"""One metric for each bucket, with the denominator of the bucket."""
COST = "Cost of 1,000 (95%), USD"
APART = ", not flagged"
"""Suffix of headings of columns that leave out conversations with flagged customers."""
NONE = "-"
"""Text of a cell without a band or a dominating entry."""
LINE = "Below this line: partial runs, runs on other cases, and entries resolving under half"
NOTHING_SEEN = (
    f"{RESTS_ON_INTENTS}: even "
    "20 intents without a failure leave room for a kind of request that always fails. "
    "So this interval can be wider than the one for a few failures."
)
"""Why an interval is wide at 0% or 100%: a shorter one covers too little if intents succeed or fail as a whole."""
BETTER = {True: "Higher is better.", False: "Lower is better.", None: "Neither direction is better."}


Columns = list[tuple[Heading, list[Any]]]
"""Headings, each with its value in every row."""
Behind = dict[str, tuple[pd.DataFrame, dict[str, Any]]]
"""An entry's conversations and the query fields that list them, by form of a metric; empty if none are listed."""


def board_table(
    board: pd.DataFrame, conversations: pd.DataFrame | None = None, metrics: Iterable[str] | None = None
) -> Table:
    """Return the board as cells: a median, and a mean with its interval, for each metric.

    Parameters
    ----------
    board : DataFrame
        Result of `leaderboard`, in its order.
    conversations : DataFrame, optional
        Conversations behind the board; with them, each cell knows which conversations it counts.
    metrics : iterable of str, optional
        Names of metrics; by default those of every board.
    """
    rows = board.to_dict("records")
    if not rows:
        return Table(columns=(), rows=())
    filled = [name for name in shown_on(Shown.FILLED) if board[f"{name}_n"].gt(0).any()]
    names = [*metrics] if metrics is not None else [*shown_on(Shown.BOARD), *filled]
    behind = _behind(rows, conversations)
    columns = _who(rows)
    for name in names:
        columns.append(_metric(METRICS[name], ALL, rows, behind))
        if METRICS[name].banded:
            columns.append(_plain("band", "Band", PLANNED, (band_in_words(row) or NONE for row in rows)))
    if board["flagged"].any():
        flagged = (f"{row['flagged']} of {row['conversations']}" for row in rows)
        columns.append(_plain("flagged", "Flagged", UNFLAGGED, flagged))
        columns += [_metric(METRICS[name], WITHOUT, rows, behind) for name in names]
    columns += _runs(board, rows)
    by_row = tuple({heading.key: values[place] for heading, values in columns} for place in range(len(rows)))
    headings = tuple(heading for heading, _ in columns)
    at = sum(row["block"] not in BELOW for row in rows)
    line = (at, LINE) if at < len(rows) else None
    notes = tuple(("", note) for note in _notes(headings, by_row))
    return Table(columns=headings, rows=by_row, notes=notes, line=line)


def _plain(key: str, title: str, part: str, values: Iterable[Any]) -> tuple[Heading, list[Any]]:
    return Heading(key=key, title=title, part=part), list(values)


def _who(rows: list[Row]) -> Columns:
    columns = [
        _plain("model", "Model", PLANNED, map(_named, rows)),
        _plain("block", "Block", ABOUT, (row["block"] for row in rows)),
    ]
    if any(row["dominated"] for row in rows):
        columns.append(_plain("dominated", "Dominated by", PLANNED, (row["dominated"] or NONE for row in rows)))
    sizes = [_sizes(row) for row in rows]
    return [*columns, _plain("cases", CASES, MORE if len({*sizes}) > 1 else ABOUT, sizes)]


def _runs(board: pd.DataFrame, rows: list[Row]) -> Columns:
    columns = [
        _plain(key, title, PLANNED, board[key])
        for key, title, usual in (("settings", "Settings", DEFAULT), ("weights", "Weights", NO_MODEL))
        if key in board and board[key].ne(usual).any()
    ]
    columns.append(_plain("cost", COST, PLANNED, map(cost_of_1000, rows)))
    for key, title in (("trials", "Trials"), ("conversations", "Conversations")):
        columns.append(_plain(key, title, MORE if board[key].nunique() > 1 else ABOUT, board[key]))
    columns.append(_plain("versions", "Case set", ABOUT, board["versions"]))
    notes = (sentence(row["dominated_why"], row["notes"]) for row in rows)
    return [*columns, _plain("notes", "Notes", ABOUT, notes)]


def _notes(columns: Iterable[Heading], rows: tuple[Row, ...]) -> Iterator[str]:
    about = [c for c in columns if c.part == ABOUT and c.key not in ("block", "notes")]
    same = [f"{c.title}: {rows[0][c.key]}" for c in about if len({row[c.key] for row in rows}) == 1]
    if same:
        yield f"{'In every row: ' if len(rows) > 1 else ''}{'; '.join(same)}."
    means = [cells[1] for row in rows for cells in row.values() if isinstance(cells, tuple)]
    if any(_at_an_end(cell) for cell in means):
        yield NOTHING_SEEN
    noted: dict[str, list[str]] = {}
    for row in rows:
        noted.setdefault(row["notes"], []).append(row["model"])
    yield from (f"{', '.join(models)}: {note}" for note, models in noted.items() if note)


def _at_an_end(mean: Cell) -> bool:
    scale, estimate = mean.scale, mean.estimate
    if scale is None or estimate is None or not scale.bounds or scale.summed:
        return False
    return bool(mean.interval) and estimate.estimate in scale.bounds


def _behind(rows: list[Row], conversations: pd.DataFrame | None) -> list[Behind]:
    # two entries with the same name differ in their source
    pairs = [] if conversations is None else conversations.groupby(["entry", "source"], sort=False)
    group_of, behind = dict(list(pairs)), []
    names = Counter(entry for entry, _ in group_of)
    for row in rows:
        group = group_of.get((row["entry"], row["source"]))
        who = {"entry": row["entry"]} | ({"source": row["source"]} if names[row["entry"]] > 1 else {})
        without = {**who, "customer_flagged": NO}
        behind.append({} if group is None else {ALL: (group, who), WITHOUT: (group[~flags_of(group)], without)})
    return behind


def _metric(metric: Metric, form: str, rows: list[Row], behind: list[Behind]) -> tuple[Heading, list[Any]]:
    """Return the column of a metric; its cells note the denominator if it differs by row."""
    name, apart = f"{metric.name}{form}", APART if form else ""
    sizes = sorted({int(n) for row in rows if (n := row[f"{name}_n"]) > 0})
    median = metric.heading(sizes[0] if len(sizes) == 1 else None)
    heads = (f"{median}, median{apart}", f"{metric.title}, mean (95%){apart}")
    planned, more = shown_on(Shown.MAIN), (*shown_on(Shown.BOARD), *shown_on(Shown.FILLED))
    part = UNFLAGGED if form else PLANNED if metric.name in planned else MORE if metric.name in more else REST
    under = metric.denominator(sizes[-1]) if sizes else NOT_RUN if metric.bucket else "it occurred in no conversation"
    why = f"{metric.definition} {BETTER[metric.higher_is_better]}"
    heading = Heading(key=name, title=metric.title, heads=heads, under=under, help=why, part=part)
    several = len(sizes) > 1
    return heading, [_cells(row, b.get(form), metric, form, several) for row, b in zip(rows, behind, strict=True)]


def _cells(row: Row, behind: Any, metric: Metric, form: str, several: bool) -> tuple[Cell, Cell]:
    name = f"{metric.name}{form}"
    value, mean, low, high, n = (row[f"{name}{end}"] for end in ENDS)
    size = int(n) if n == n else 0
    median = Estimate(estimate=value, n=size, estimand="median over trials")
    if row["source"] == "published":  # with the digits of its source
        number = DASH if value != value else f"{metric.scale.times * value:.4g}{metric.scale.sign}"
        return Cell(number=number, label="median", estimate=median, scale=metric.scale), Cell(number=DASH)
    words = ESTIMATORS[metric.estimator].words
    every = Estimate(estimate=mean, low=low, high=high, n=size, estimand="mean over cases", method=words)
    counted: list[Row] = [{}, {}]
    if behind:
        group, who = behind
        counted = [_queries(**find(group, metric, **who)) for find in (behind_median, behind_metric)]
    denominator = f"{'of' if metric.scale.summed else 'n ='} {size}" if several and size else ""
    note = ", ".join(filter(None, [denominator, worst_beside(row) if metric.banded and not form else ""]))
    return (
        metric_cell(median, metric.scale, "median", **counted[0]),
        metric_cell(every, metric.scale, "mean", note, **counted[1]),
    )


def _queries(*, yes: Row, known: Row, of: str = "", **counts: int) -> Row:
    return {"yes": Query.of(**yes), "known": Query.of(**known), "which": of, **counts}


def _named(row: Row) -> str:
    below = f"partial {row['partial']}" if row["partial"] else "set apart" if row["block"] in BELOW else ""
    return f"{row['entry']} ({below})" if below else row["entry"]


def _sizes(row: Row) -> str:
    sizes = (row[f"{name}_n"] for name in BUCKET_METRICS)
    return " + ".join(f"{0 if n != n else n:.0f}" for n in sizes)
