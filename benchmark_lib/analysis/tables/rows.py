"""Building blocks of tables: rows for each group of conversations, estimates as columns."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from ..estimators.estimate import Estimate, Headline
from ..frames import Results
from ..panels import conversations_of, partial_words, progress

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
