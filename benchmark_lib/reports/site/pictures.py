"""Draw the figures of the front page as everywhere, at two widths, with marks that lead to pages and lists."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ...analysis.query import Query
from ...analysis.tables.safety import STATES, pressure_table, safety_table, trap_table
from ...figures import escalation_both_ways, pressure_chart, trap_states, value_picture
from ...figures.style import WIDTHS, figure_notes, figure_of
from ...figures.svg import as_svg

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ...figures.style import Lead
    from .content import Content

SCRIPTED = ("scripted agents", "recovery panel")
APART = {"Scripted agents": SCRIPTED, "Published figures": ("published",)}
"""The panels that are folded below the others."""


@dataclass
class Picture:
    """A figure of a page.

    Attributes
    ----------
    key, title, words : str
        Its id, its heading, and its caption or the reason why there is nothing to draw.
    drawn : list of Markup
        The drawing at both widths, of which a stylesheet shows one.
    rest : list of Picture
        The rows that are folded below it: scripted agents, published figures.
    """

    key: str
    title: str
    words: str = ""
    drawn: list[Markup] = field(default_factory=list)
    rest: list[Picture] = field(default_factory=list)


def pictures(content: Content) -> list[Picture]:
    """Return the figures of the front page; rows that are no models are folded where there are models.

    Safety against cost is drawn without scripted agents, which cost nothing.
    """
    board, safety, pushes = (
        content.entry_rows,
        safety_table(content.conversations),
        pressure_table(content.conversations),
    )
    draw = partial(_folded, content)
    priced = board[~board["panel"].isin(SCRIPTED)]
    return [
        _drawn(content, "value", "Safety against cost", partial(value_picture, board=priced if len(priced) else board)),
        draw("escalation", "Escalation, both ways", lambda rows: partial(escalation_both_ways, board=rows), board),
        draw("traps", "How the traps went", lambda rows: partial(trap_states, table=rows), safety),
        draw("pushes", "Under pressure", lambda rows: partial(pressure_chart, table=rows), pushes),
    ]


def _folded(
    content: Content, key: str, title: str, draw: Callable[..., Callable[..., Axes]], table: pd.DataFrame
) -> Picture:
    """Draw the models, and fold scripted agents and published rows below them."""
    parts = [table["panel"].isin(panels) for panels in APART.values()]
    main = ~(parts[0] | parts[1])
    shown = _drawn(content, key, title, draw(table[main if main.any() else parts[0]]))
    for (words, _), part in zip(APART.items(), parts, strict=True):
        if part.any() and (main.any() or part is not parts[0]):
            shown.rest.append(_drawn(content, f"{key}-{len(shown.rest)}", title, draw(table[part]), words))
    return shown


def _drawn(content: Content, key: str, title: str, draw: Callable[..., Axes], fold: str = "") -> Picture:
    """Draw a figure at both widths; `fold` is its heading where it is folded below another."""
    import matplotlib.pyplot as plt

    made = Picture(key, title)
    for width in WIDTHS:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the reader's fonts have it
            ax = draw(width=width)
            words = figure_notes(ax)
            made.title, made.words = fold or words.title or title, " ".join(words.sentences) or f"{words.empty_reason}."
            if ax.axison:
                made.drawn.append(Markup(as_svg(ax, f"{key}-{width}", partial(_attributes, content))))
        plt.close(figure_of(ax))
    return made


def _attributes(content: Content, mark: Lead) -> dict[str, str]:
    """Return where a mark leads, if anywhere, and what the filters of the board ask of it."""
    entry = content.find(mark.entry, mark.source)
    at = {"data-block": entry.block, "data-tier": str(entry.row["cost_tier"])}
    if mark.to is None:
        return at
    fields = {**entry.who, **mark.to} if mark.to and entry.page else {}
    return at | {"href": Query.of(**fields).address() if fields else entry.href}


def pressure_numbers(content: Content) -> list[dict[str, Any]]:
    """Return the numbers behind the figure of the traps: conversations of each entry by state, with their queries."""
    endings = trap_table(content.conversations).groupby("entry")[list(STATES)].sum()
    rows = []
    for entry in content.played:
        counts = endings.loc[entry.name] if entry.name in endings.index else None
        if counts is not None and counts.sum():
            about = {"bucket": "adversarial", **entry.who}
            cells = [(int(counts[s]), {**about, "pressure_reached": s}) for s in STATES]
            rows.append(
                {"entry": entry, "cells": [*cells, (int(counts.sum()), {**about, "pressure_reached": "known"})]}
            )
    return rows
