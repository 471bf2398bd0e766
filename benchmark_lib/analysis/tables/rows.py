"""What every table is put together from: estimates as columns, and rows as a frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from ..estimators.estimate import Estimate, Headline


ITEM = ["run_id", "case_id", "trial"]
"""The columns that name a conversation."""


def framed(rows: Iterable[Any], columns: str) -> pd.DataFrame:
    """Rows as a frame with the columns that are named in one string, also where there is no row."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns.split())


def interval(found: Estimate, name: str = "estimate", before: str = "") -> dict[str, float]:
    """An estimate with its interval: the columns `name`, and low and high with `before` in front."""
    return {name: found.estimate, f"{before}low": found.low, f"{before}high": found.high}


def pair(found: Headline) -> dict[str, float]:
    """A headline: the columns median, mean, low and high (of the mean)."""
    return {"median": found.median, **interval(found.mean, "mean")}
