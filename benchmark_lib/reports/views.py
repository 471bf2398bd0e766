"""Tables of estimates as readable text.

Numbers are rounded, shares in percent, intervals next to their numbers, and missing values a dash.
"""

from functools import lru_cache
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd

from ..analysis.panels import short_name
from ..analysis.tables.costs import tier_in_words
from ..analysis.tables.headlines import metric_of
from ..analysis.tables.verdicts import USUAL, signed_with_interval
from ..errors import BadInput
from ..language import word_lists
from ..scoring.scales import SHARE
from ..scoring.written import DASH, digits_for, missing, money, percent, rounded
from ..textfiles import read_yaml

VIEWS: dict[str, dict[str, list[Any]]] = read_yaml(Path(__file__).with_name("views.yaml"))
"""Every view by its name: each heading with its columns and their rounding."""

P_VALUES = frozenset({"p", "p_these", "p_adjusted", "p_holm"})

DIFFERENCES = frozenset({"difference", "truth"})
"""Columns of differences; differences of shares are in points, not in percent."""

FLAGS = {"True": "yes", "False": "no"}
LONGEST_NAME = 80
"""A table may break a model's name over lines, so it may be longer than in a figure."""
WORDS = frozenset({"bucket", "intent", "trap", "finding", "rule", "family", "detector", "class", "state", "scorer"})
"""Columns of names whose underscores are shown as spaces."""


@lru_cache(maxsize=1)
def language_names() -> dict[str, str]:
    """Return the supported languages by their English names."""
    from babel import Locale

    return {code: str(Locale("en").languages[code]) for code in word_lists.LANGUAGES}


def readable(table: pd.DataFrame, view: str) -> pd.DataFrame:
    """Return a table of estimates as text, by one of `VIEWS`; its entries become the index.

    Columns that the table lacks, or that are empty, are left out.

    Raises
    ------
    BadInput
        For an unknown view.
    """
    if view not in VIEWS:
        raise BadInput(f"there is no view {view!r}: choose one of {', '.join(VIEWS)}")
    rows = table.to_dict("records")
    shown = {}
    for heading, spec in VIEWS[view].items():
        cells = [_cell(row, spec) for row in rows]
        if spec[0] in table and any(c not in (DASH, "") for c in cells):
            shown[heading] = cells
    whose, names = next((name for name in ("entry", "model") if name in table), None), [""] * len(rows)
    if whose:
        partial = [f" (partial {row['partial']})" if row.get("partial") else "" for row in rows]
        names = [short_name(row[whose], LONGEST_NAME) + part for row, part in zip(rows, partial, strict=True)]
    return pd.DataFrame(shown, index=pd.Index(names, name="Model" if whose else None), dtype="object")


def _cell(row: dict[str, Any], spec: list[Any]) -> str:
    value = row.get(spec[0])
    if len(spec) == 1:
        return _text(spec[0], value)
    if spec[1] in ("of", "x"):
        return DASH if missing(value) else f"{value:.0f} {spec[1]} {row[spec[2]]:.0f}"
    if spec[-1] == "tier":
        return tier_in_words(str(value))
    if spec[-1] == "unit":
        return _on_scale(row, *spec[:-1])
    unit = row.get("unit", "USD") if spec[0] == "value" else "USD"
    form = spec[-1] if unit == "USD" else int(unit == "messages")
    if form == "money":
        text = money(value)
    elif form == "percent":
        text = percent(value, 1).removesuffix("%")
    else:
        text = rounded(value, int(form))
    if spec[0] in P_VALUES and text.strip("0.") == "":
        return f"<{10**-form:.{form}f}"
    if len(spec) == 2 or text == DASH or missing(row.get(spec[1])):
        return text
    low, high = (float(row[name]) for name in spec[1:3])
    # Two significant digits of the interval's width, and at most the decimals of the number.
    digits = None if form == "percent" else digits_for(low, high, int(form))
    ends = SHARE.ends(low, high) if digits is None else (rounded(low, digits), rounded(high, digits))
    return f"{text} ({' to '.join(ends)})"


def _text(name: str, value: Any) -> str:
    if missing(value):
        return ""
    if str(value) in FLAGS:
        return FLAGS[str(value)]
    if name == "language":
        return language_names().get(value, str(value))
    if name.endswith("entry"):
        return short_name(value, LONGEST_NAME)
    return str(value).replace("_", " ") if name in WORDS else str(value)


def _on_scale(row: dict[str, Any], name: str, low: str = "", high: str = "") -> str:
    metric, ends = metric_of(row["metric"]), (row.get(low, nan), row.get(high, nan))
    if name in DIFFERENCES:
        return signed_with_interval(metric, row[name], *ends, row.get("level", USUAL))
    return metric.scale.with_interval(row[name], *ends)
