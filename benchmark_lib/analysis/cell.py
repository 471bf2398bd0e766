"""Numbers that know which conversations they count, and the rows and tables built from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..scoring.metrics import Scale
from ..scoring.written import missing
from .estimators.estimate import Estimate, Headline
from .frames import Results
from .panels import conversations_of, partial_words, progress

if TYPE_CHECKING:
    import pandas as pd

    from .query import Query

MARKS = "abcdefghijklmnopqrstuvwxyz"
"""Footnote marks."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A number in a table, with the queries for the conversations behind it.

    Attributes
    ----------
    number, interval, label, note : str
        The value and its interval as text (the interval may be empty), the estimand in a word (``median``, ``mean``),
        and the text that follows the number (``worst trial 1``).
    estimate, scale : Estimate or None, Scale or None
        The estimate that the text is made from, and its scale; None for counts and text.
    yes, known, k, n, which : Query or None, int, str
        Queries for the conversations counted and for those with a value (None if there are none), how many each lists,
        and the trials counted, as text that follows the count (`` of trial 2, ...``; empty for all).
    """

    number: str
    interval: str = ""
    label: str = ""
    note: str = ""
    estimate: Estimate | None = None
    scale: Scale | None = None
    yes: Query | None = None
    known: Query | None = None
    k: int = 0
    n: int = 0
    which: str = ""

    def __str__(self) -> str:
        return f"{self.number} ({self.interval})" if self.interval else self.number

    @property
    def value(self) -> float:
        """Return the number on the scale used for display; NaN without an estimate."""
        if self.estimate is None:
            return float("nan")
        return (self.scale.times if self.scale else 1) * self.estimate.estimate

    def text(self) -> str:
        """Return number, interval and note on one line."""
        return f"{self}, {self.note}" if self.note else str(self)

    def sort(self) -> str:
        """Return the value as a sort key; empty if there is none."""
        return "" if self.estimate is None or missing(self.estimate.estimate) else f"{self.estimate.estimate:.6g}"

    def drawn(self) -> dict[str, float] | None:
        """Return value, low and high in percent of the range; None without bounds or an interval."""
        ends_of = self.estimate
        if ends_of is None or self.scale is None or not self.scale.bounds or missing(ends_of.low):
            return None
        full = self.scale.factor(ends_of.n)
        ends = {"value": ends_of.estimate, "low": ends_of.low, "high": ends_of.high}
        return {name: 100 * min(max(end / full, 0), 1) for name, end in ends.items()} if full else None


def metric_cell(estimate: Estimate, scale: Scale, label: str, note: str = "", **behind: Any) -> Cell:
    """Return the cell of an estimate; `behind` comes from `benchmark_lib.analysis.counting`."""
    number = scale.written(estimate.estimate) if label == "median" else scale.mean(estimate.estimate)
    interval = scale.interval(estimate.low, estimate.high)
    if not behind.get("k") or missing(estimate.estimate):
        behind.pop("yes", None)
    return Cell(number=number, interval=interval, label=label, note=note, estimate=estimate, scale=scale, **behind)


@dataclass(frozen=True, kw_only=True)
class Heading:
    """One column of a table.

    Attributes
    ----------
    key, title, part : str
        Key in the rows, heading, and the part of the table, as named by the function that makes the table.
    heads : tuple of str
        Headings of the cells in media that give each cell its own column; by default the title alone.
    under, help, mark : str
        Small print below the heading (the denominator), a sentence that explains the column, and its footnote mark.
    """

    key: str
    title: str
    heads: tuple[str, ...] = ()
    under: str = ""
    help: str = ""
    mark: str = ""
    part: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Rows of cells that every medium is rendered from; renderers know nothing about metrics.

    Attributes
    ----------
    columns, rows : tuple of Heading, tuple of dict
        Each row maps the key of a column to a text, a cell or several cells.
    caption, notes : str, tuple of (mark, text)
        What the table shows (n, trials, estimand, interval), and footnotes; a footnote to the whole table has no mark.
    line : (int, str) or None
        The first row below the dividing line, and the text of the line.
    """

    columns: tuple[Heading, ...]
    rows: tuple[dict[str, Any], ...]
    caption: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    line: tuple[int, str] | None = None

    def cells(self, row: dict[str, Any], column: Heading) -> tuple[Any, ...]:
        """Return the cells of a row in one column; a text counts as one cell."""
        value = row.get(column.key, "")
        return value if isinstance(value, tuple) else (value,)

    def part(self, name: str, **changed: Any) -> Table:
        """Return a table of the first column and one part; `changed` sets other attributes."""
        kept = tuple(column for at, column in enumerate(self.columns) if column.part == name or not at)
        return replace(self, columns=kept if len(kept) > 1 else (), **changed)

    @property
    def numeric(self) -> dict[str, bool]:
        """Return which columns contain numbers, by key."""
        return {c.key: any(isinstance(v, Cell) for row in self.rows for v in self.cells(row, c)) for c in self.columns}

    def texts(self) -> list[list[str]]:
        """Return the rows as text, one entry per column."""
        return [[", ".join(map(_text, self.cells(row, column))) for column in self.columns] for row in self.rows]

    def split(self) -> Table:
        """Return the table with a column for each cell, for media that show one value per column.

        Columns that share a heading get their keys from the labels of their cells: ``unsafe_median``, ``unsafe_mean``.
        """
        columns: list[Heading] = []
        rows: list[dict[str, Any]] = [{} for _ in self.rows]
        for column in self.columns:
            heads = column.heads or (column.title,)
            for at, head in enumerate(heads):
                labels = [getattr(self.cells(row, column)[at], "label", "") for row in self.rows]
                key = column.key if len(heads) == 1 else f"{column.key}_{next(filter(None, labels), at)}"
                columns.append(replace(column, key=key, title=head, heads=()))
                for made, row in zip(rows, self.rows, strict=True):
                    made[key] = self.cells(row, column)[at]
        return replace(self, columns=tuple(columns), rows=tuple(rows))

    def numbers(self) -> pd.DataFrame:
        """Return the unrounded value, low, high and n of each column of estimates, or NaN."""
        import pandas as pd

        columns: dict[str, list[float]] = {}
        table = self.split()
        for key in (column.key for column in table.columns):
            estimates = [getattr(row[key], "estimate", None) for row in table.rows]
            if any(estimates):
                for end in ("estimate", "low", "high", "n"):
                    name = key if end == "estimate" else f"{key}_{end}"
                    columns[name] = [getattr(est, end, float("nan")) for est in estimates]
        frame = pd.DataFrame(columns)
        return frame.loc[:, [not name.endswith(("_low", "_high")) or frame[name].notna().any() for name in frame]]

    def frame(self) -> pd.DataFrame:
        """Return the table as text; columns of medians contain numbers."""
        import pandas as pd

        table = self.split()
        values = {c.title: [_value(row[c.key]) for row in table.rows] for c in table.columns}
        return pd.DataFrame(values, columns=[c.title for c in table.columns])


def footnoted(
    columns: Iterable[Heading], notes: Mapping[str, str], whole: Iterable[str] = ()
) -> tuple[tuple[Heading, ...], tuple[tuple[str, str], ...]]:
    """Return marked columns with their footnotes; footnotes to the `whole` table come last."""
    marks = {key: MARKS[at % len(MARKS)] * (1 + at // len(MARKS)) for at, key in enumerate(k for k in notes if k)}
    marked = tuple(replace(column, mark=marks.get(column.key, "")) for column in columns)
    return marked, (*((mark, notes[key]) for key, mark in marks.items()), *(("", text) for text in whole))


def _text(cell: Any) -> str:
    return cell.text() if isinstance(cell, Cell) else str(cell)


def _value(cell: Any) -> Any:
    return cell if not isinstance(cell, Cell) else cell.value if cell.label == "median" else cell.text()


# --- Rows of tables

ITEM = ["run_id", "case_id", "trial"]
"""Columns that identify a conversation."""

Row = dict[str, Any]
Rows = Row | Iterable[Row]


def summarise(
    results: Results | pd.DataFrame, rows_of: Callable[[pd.DataFrame], Rows], columns: str, by: str = "panel entry"
) -> pd.DataFrame:
    """Return the rows of each group of conversations, by default of each entry, as `grouped`.

    The last column is ``partial``, the `partial_words` of the group.
    """

    def with_progress(group: pd.DataFrame) -> Iterable[Row]:
        partial = {"partial": partial_words(*progress(group))}
        return [row | partial for row in _listed(rows_of(group))]

    return grouped(conversations_of(results), with_progress, f"{columns} partial", by)


def grouped(
    frame: pd.DataFrame, rows_of: Callable[[pd.DataFrame], Rows], columns: str, by: str, *, sort: bool = False
) -> pd.DataFrame:
    """Return the rows of each group of a frame; without groups, only the columns.

    Parameters
    ----------
    rows_of : callable
        Function from a group to its row or rows, by column.
    columns : str
        Columns of these rows.
    by : str
        Columns that identify a group; they come first in the table.
    sort : bool
        Sort groups by name; by default, they keep the order of the frame.
    """
    names, rows = by.split(), list[Row]()
    for key, group in frame.groupby(names, sort=sort):
        rows += [dict(zip(names, key, strict=True)) | row for row in _listed(rows_of(group))]
    return framed(rows, f"{by} {columns}")


def _listed(rows: Rows) -> Iterable[Row]:
    return [rows] if isinstance(rows, dict) else rows


def framed(rows: Iterable[Any], columns: str) -> pd.DataFrame:
    """Return rows as a frame, even if there are none; one string names all columns."""
    return pd.DataFrame(rows, columns=columns.split())


def fields(thing: Any, names: str, before: str = "") -> Row:
    """Return some attributes of an estimate as columns, their names prefixed by `before`."""
    return {f"{before}{name}": getattr(thing, name) for name in names.split()}


def interval(estimate: Estimate, name: str = "estimate", before: str = "") -> dict[str, float]:
    """Return an estimate as the columns `name`, low and high, the last two prefixed by `before`."""
    return {name: estimate.estimate, **fields(estimate, "low high", before)}


def pair(head: Headline) -> dict[str, float]:
    """Return a headline as the columns median, mean, low and high (of the mean)."""
    return {"median": head.median, **interval(head.mean, "mean")}
