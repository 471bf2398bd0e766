"""What tables are put together from: rows for each group of conversations, estimates as columns."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from ..estimators.estimate import Estimate, Headline
from ..frames import Results
from ..panels import conversations_of, partial_words, progress

ITEM = ["run_id", "case_id", "trial"]
"""The columns that name a conversation."""

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
        Conversations of one group -> its row, or its rows, by column.
    columns : str
        The columns of these rows.
    by : str
        The columns that name a group: the first of the table. Its last is ``partial``, see `partial_words`.
    sort : bool
        Whether groups are sorted by name; otherwise they come in the order of the conversations.
    variants : bool
        As for `conversations_of`.
    """
    names, rows = by.split(), list[Row]()
    for key, mine in conversations_of(results, variants=variants).groupby(names, sort=sort):
        found = rows_of(mine)
        whole = dict(zip(names, key, strict=True)) | {"partial": partial_words(*progress(mine))}
        rows += [whole | row for row in ([found] if isinstance(found, dict) else found)]
    return framed(rows, f"{by} {columns} partial")


def framed(rows: Iterable[Any], columns: str) -> pd.DataFrame:
    """Return rows as a frame with the columns that are named in one string, also where there is no row."""
    return pd.DataFrame(rows, columns=columns.split())


def interval(found: Estimate, name: str = "estimate", before: str = "") -> dict[str, float]:
    """Return an estimate as the columns `name`, and low and high with `before` in front."""
    return {name: found.estimate, f"{before}low": found.low, f"{before}high": found.high}


def pair(found: Headline) -> dict[str, float]:
    """Return a headline as the columns median, mean, low and high (of the mean)."""
    return {"median": found.median, **interval(found.mean, "mean")}
