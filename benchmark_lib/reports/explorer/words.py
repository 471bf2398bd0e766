"""Words of the explorer: values as a cell or an option shows them, and the parts of its template."""

from typing import Any

from ...analysis.panels import fitted
from ..transcript import render, visible

LONGEST_OPTION = 60


def short(value: Any, longest: int = LONGEST_OPTION) -> str:
    """A value as an option or a cell shows it."""
    return visible(fitted(str(value), longest)).replace("\n", " ")


def part(name: str, **values: Any) -> str:
    """A part of the explorer's template, filled in."""
    blank = {"news": "", "problem": "", "labels": [], "file": "", "total": 0, "record": [], "link": ""}
    return render("explorer.html.j2", part=name, **blank | values)
