"""Words of the explorer: values as a cell or an option shows them, and the parts of its template."""

from collections.abc import Callable
from typing import Any

import ipywidgets as w

from ...analysis.panels import fitted
from ...scoring.written import visible
from ..transcript import render

LONGEST_OPTION = 60


def short(value: Any, longest: int = LONGEST_OPTION) -> str:
    """A value as an option or a cell shows it."""
    return visible(fitted(str(value), longest)).replace("\n", " ")


def button(words: str, pressed: Callable[[], None], width: str = "7rem", **layout: Any) -> w.Button:
    """A button with what is done when it is pressed."""
    made = w.Button(description=words, layout=w.Layout(width=width, **layout))
    made.on_click(lambda _: pressed())
    return made


def part(name: str, **values: Any) -> str:
    """A part of the explorer's template, filled in."""
    blank = {"news": "", "problem": "", "labels": [], "file": "", "total": 0, "record": [], "link": ""}
    return render("explorer.html.j2", part=name, **blank | values)
