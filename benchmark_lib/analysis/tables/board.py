"""The board as a table of cells: text, metrics in both forms, band and cost, for every page, notebook and terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...endpoint.weights import NO_MODEL
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import DASH
from ..cell import Cell, Heading, Table, metric_cell
from ..counting import behind_median, behind_metric
from ..estimators.estimate import Estimate, sentence
from ..facets import flags_of
from ..query import NO, Query
from ..settings import DEFAULT
from .headlines import ESTIMATORS
from .leaderboard import ALL, BELOW, RESTS_ON_INTENTS, WITHOUT, band_in_words, worst_beside
from .tiers import cost_of_1000

if TYPE_CHECKING:
    import pandas as pd

PLANNED, MORE, REST, UNFLAGGED, ABOUT = "planned", "more", "rest", "without", "about"
"""The parts of a board: the planned metrics with band and cost; the other metrics of every board; those of the site alone; both over the
conversations whose customer was not flagged; and what the runs are."""
CASES = "Cases (resolvable + must escalate + traps)"
BUCKET_METRICS = ("resolved", "must_escalate_success", "adversarial_success")
"""The denominators of a row: of resolved and over-escalation, of escalation accuracy, and of unsafe actions."""
COST = "Cost of 1,000 (95 %), USD"
APART = ", not flagged"
"""How the headings end of the columns that leave out the conversations whose customer was flagged."""
NONE = "-"
"""A band that there is not, or nobody who dominates."""
LINE = "Below this line: partial runs, runs on other cases, and whoever resolves under half"
AT_AN_END = ("0.0 %", "100.0 %")
NOTHING_SEEN = (
    f"{RESTS_ON_INTENTS}: even "
    "20 intents without one failure leave room for a kind of request that always fails. So it can be wider than one beside a few failures."
)
"""Why an interval is wide where nothing, or everything, was seen: a narrower one covers too little where intents are all or nothing."""
BETTER = {True: "Higher is better.", False: "Lower is better.", None: "Neither direction is better."}


def board_table(
    board: pd.DataFrame,
    conversations: pd.DataFrame | None = None,
    who: Mapping[str, Mapping[str, Any]] | None = None,
    metrics: Iterable[str] | None = None,
) -> Table:
    """Return the board as cells, a median and a mean with its interval for each metric.

    Parameters
    ----------
    board : DataFrame
        As `leaderboard` gives it, with its index.
    conversations : DataFrame, optional
        The conversations behind it; each cell then knows those that it counts.
    who : mapping, optional
        By entry, the fields that list its conversations; ``{"entry": name}`` by default.
    metrics : iterable of str, optional
        Which metrics; by default those of every board.
    """
    rows = board.to_dict("records")
    filled = [name for name in shown_on(Shown.FILLED) if len(board) and board[f"{name}_n"].gt(0).any()]
    names = [*metrics] if metrics is not None else [*shown_on(Shown.BOARD), *filled]
    of = {} if conversations is None else dict(iter(conversations.groupby(["entry", "source"], sort=False)))
    made = [_About(row, of.get((row["entry"], row["source"])), (who or {}).get(row["entry"])) for row in rows]
    flagged = len(board) > 0 and bool(board["flagged"].any())
    columns = [Heading(key="model", title="Model", part=PLANNED), Heading(key="block", title="Block", part=ABOUT)]
    cells: dict[str, list[Any]] = {"model": [_named(row) for row in rows], "block": [row["block"] for row in rows]}

    def add(key: str, title: str, part: str, values: Iterable[Any]) -> None:
        columns.append(Heading(key=key, title=title, part=part))
        cells[key] = list(values)

    if len(board) and board["dominated"].any():
        add("dominated", "Dominated by", PLANNED, (row["dominated"] or NONE for row in rows))
    if rows:
        sizes = [*map(_sizes, rows)]
        add("cases", CASES, MORE if len({*sizes}) > 1 else ABOUT, sizes)
    for name in names:
        column = _column(METRICS[name], rows, ALL)
        columns.append(column)
        cells[column.key] = [one.cells(METRICS[name], ALL, rows) for one in made]
        if METRICS[name].banded:
            add("band", "Band", PLANNED, (band_in_words(row) or NONE for row in rows))
    if flagged:
        add("flagged", "Flagged", UNFLAGGED, (f"{row['flagged']} of {row['conversations']}" for row in rows))
        for name in names:
            column = _column(METRICS[name], rows, WITHOUT)
            columns.append(column)
            cells[column.key] = [one.cells(METRICS[name], WITHOUT, rows) for one in made]
    for key, title, usual in (("settings", "Settings", DEFAULT), ("weights", "Weights", NO_MODEL)):
        if key in board and board[key].ne(usual).any():
            add(key, title, PLANNED, board[key])
    add("cost", COST, PLANNED, map(cost_of_1000, rows))
    for key, title in (("trials", "Trials"), ("conversations", "Conversations")):
        add(key, title, MORE if board[key].nunique() > 1 else ABOUT, board[key])
    add("versions", "Case set", ABOUT, board["versions"])
    add("notes", "Notes", ABOUT, (sentence(row["dominated_why"], row["notes"]) for row in rows))
    by_row = tuple({key: values[place] for key, values in cells.items()} for place in range(len(rows)))
    at = sum(row["block"] not in BELOW for row in rows)
    line = (at, LINE) if at < len(rows) else None
    return Table(
        columns=tuple(columns), rows=by_row, notes=tuple(("", note) for note in _notes(columns, by_row)), line=line
    )


def _notes(columns: list[Heading], rows: tuple[dict[str, Any], ...]) -> Iterator[str]:
    """What is the same in every row, why an interval is wide, and the notes, each with its models."""
    same = [
        c for c in columns if c.part == ABOUT and c.key not in ("block", "notes") and len({r[c.key] for r in rows}) == 1
    ]
    if same:
        every = "; ".join(f"{column.title}: {rows[0][column.key]}" for column in same)
        yield f"{'In every row: ' if len(rows) > 1 else ''}{every}."
    means = [found[1] for row in rows for found in row.values() if isinstance(found, tuple)]
    if any(cell.interval and cell.number in AT_AN_END for cell in means):
        yield NOTHING_SEEN
    noted: dict[str, list[str]] = {}
    for row in rows:
        noted.setdefault(row["notes"], []).append(row["model"])
    yield from (f"{', '.join(models)}: {note}" for note, models in noted.items() if note)


class _About:
    """One row of the board, and its conversations where they are known."""

    def __init__(self, row: dict[str, Any], mine: pd.DataFrame | None, who: Mapping[str, Any] | None):
        self.row, self.of = row, {ALL: (mine, dict(who or {"entry": row["entry"]}))}
        if mine is not None:
            self.of[WITHOUT] = mine[~flags_of(mine)], {**self.of[ALL][1], "customer_flagged": NO}

    def cells(self, metric: Metric, form: str, rows: list[dict[str, Any]]) -> tuple[Cell, Cell]:
        """Return the median and the mean of a metric."""
        name, row = f"{metric.name}{form}", self.row
        value, mean, low, high, n = (row[f"{name}{end}"] for end in ("", "_mean", "_low", "_high", "_n"))
        mine, who = self.of.get(form, (None, {}))
        size = int(n) if n == n else 0
        median = Estimate(estimate=value, n=size, estimand="median over trials")
        words = ESTIMATORS[metric.estimator].words
        every = Estimate(estimate=mean, low=low, high=high, n=size, estimand="mean over cases", method=words)
        behind: list[dict[str, Any]] = [{}, {}]
        if mine is not None:
            behind = [_queries(**find(mine, metric, **who)) for find in (behind_median, behind_metric)]
        note = _note(row, metric, form, n, rows)
        if row["source"] == "published":  # with the digits of its source
            number = DASH if value != value else f"{metric.scale.times * value:.4g}{metric.scale.sign}"
            return Cell(number=number, label="median", estimate=median, scale=metric.scale), Cell(number=DASH)
        return (
            metric_cell(median, metric.scale, "median", **behind[0]),
            metric_cell(every, metric.scale, "mean", note, **behind[1]),
        )


def _queries(*, yes: Mapping[str, Any], known: Mapping[str, Any], of: str = "", **counts: int) -> dict[str, Any]:
    return {"yes": Query.of(**yes), "known": Query.of(**known), "which": of, **counts}


def _note(row: dict[str, Any], metric: Metric, form: str, n: float, rows: list[dict[str, Any]]) -> str:
    """What belongs behind the mean: a denominator that differs from row to row, and the worst trial of unsafe actions."""
    several = len({other[f"{metric.name}{form}_n"] for other in rows if other[f"{metric.name}{form}_n"] > 0}) > 1
    found = [f"of {n:.0f}"] if several and n > 0 and metric.scale.summed else []
    if metric.banded and not form:
        found += [worst_beside(row)]
    elif several and n > 0 and (form or Shown.FILLED in metric.shown):
        found += [f"n = {n:.0f}"]
    return ", ".join(filter(None, found))


def _column(metric: Metric, rows: list[dict[str, Any]], form: str) -> Heading:
    sizes = sorted({int(n) for row in rows if (n := row[f"{metric.name}{form}_n"]) > 0})
    apart = APART if form else ""
    heads = (
        f"{metric.heading(sizes[0] if len(sizes) == 1 else None)}, median{apart}",
        f"{metric.title}, mean (95 %){apart}",
    )
    planned, more = shown_on(Shown.MAIN), (*shown_on(Shown.BOARD), *shown_on(Shown.FILLED))
    part = UNFLAGGED if form else PLANNED if metric.name in planned else MORE if metric.name in more else REST
    under = metric.denominator(sizes[-1]) if sizes else "it occurred in no conversation"
    why = f"{metric.definition} {BETTER[metric.higher_is_better]}"
    return Heading(key=f"{metric.name}{form}", title=metric.title, heads=heads, under=under, help=why, part=part)


def _named(row: dict[str, Any]) -> str:
    """The name of an entry, with what puts it below the line."""
    below = f"partial {row['partial']}" if row["partial"] else "set apart" if row["block"] in BELOW else ""
    return f"{row['entry']} ({below})" if below else row["entry"]


def _sizes(row: dict[str, Any]) -> str:
    sizes = (row[f"{name}_n"] for name in BUCKET_METRICS)
    return " + ".join(f"{0 if n != n else n:.0f}" for n in sizes)
