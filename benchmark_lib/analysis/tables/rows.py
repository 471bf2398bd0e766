"""Building blocks of tables: rows for each group of conversations, estimates as columns."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from ..estimators.estimate import Estimate, Headline
from ..frames import Results
from ..panels import conversations_of, partial_words, progress

ITEM = ["run_id", "case_id", "trial"]
"""Columns that name a conversation."""

Row = dict[str, Any]


def summarise(
    results: Results | pd.DataFrame,
    rows_of: Callable[[pd.DataFrame], Row | Iterable[Row]],
    columns: str,
    by: str = "panel entry",
    *,
    sort: bool = False,
    variants: bool = False,
) -> pd.DataFrame:
    """Return the rows of each group of conversations, by default of each entry.

    Parameters
    ----------
    rows_of : callable
        Function from the conversations of a group to its row or rows, by column.
    columns : str
        Columns of these rows.
    by : str
        Columns that name a group: the first of the table. The last is ``partial``, see `partial_words`.
    sort : bool
        Sort groups by name; by default they have the order of the conversations.
    variants : bool
        As for `conversations_of`.
    """
    names, rows = by.split(), list[Row]()
    for key, group in conversations_of(results, variants=variants).groupby(names, sort=sort):
        made = rows_of(group)
        whole = dict(zip(names, key, strict=True)) | {"partial": partial_words(*progress(group))}
        rows += [whole | row for row in ([made] if isinstance(made, dict) else made)]
    return framed(rows, f"{by} {columns} partial")


def framed(rows: Iterable[Any], columns: str) -> pd.DataFrame:
    """Return rows as a frame with the columns named in one string, even without a row."""
    return pd.DataFrame(rows, columns=columns.split())


def interval(estimate: Estimate, name: str = "estimate", before: str = "") -> dict[str, float]:
    """Return an estimate as the columns `name`, low and high, the last two prefixed by `before`."""
    return {name: estimate.estimate, f"{before}low": estimate.low, f"{before}high": estimate.high}


def pair(head: Headline) -> dict[str, float]:
    """Return a headline as the columns median, mean, low and high (of the mean)."""
    return {"median": head.median, **interval(head.mean, "mean")}
