"""Keep what belongs to a figure beside its marks: title, caption, notes, and how it is drawn again at another width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Lead:
    """A mark that leads somewhere.

    Attributes
    ----------
    entry, source : str
        Whose it is.
    tip : str
        Its numbers in words.
    fields : dict
        Fields of the query that lists the conversations it counts; without any it leads to the page of the entry.
    """

    entry: str
    source: str
    tip: str
    fields: dict[str, Any]


@dataclass
class FigureNotes:
    """Hold the words that belong to one figure.

    Attributes
    ----------
    sentences : list of str
        What its marks mean, what it counts and how its intervals were made.
    notes : list of str
        What is written below the picture itself: what is not drawn, and what is not a model.
    noun : str
        What one row is called: an ``agent`` where not all are language models.
    partial : dict of str to str
        How much of its plan each partial run in it has finished, by entry.
    empty_reason : str
        Why there is no picture worth keeping; empty if there is one.
    redraw : callable, optional
        Draws it anew: ``redraw(width="column") -> Axes``.
    after_layout : list of callable
        What is placed only when everything else has its place.
    marks : dict of str to Lead
        The marks that lead somewhere, by the id of their group in an SVG.
    """

    title: str = ""
    sentences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    noun: str = "model"
    partial: dict[str, str] = field(default_factory=dict)
    empty_reason: str = ""
    redraw: Callable[..., Any] | None = None
    after_layout: list[Callable[[], None]] = field(default_factory=list)
    marks: dict[str, Lead] = field(default_factory=dict)


def figure_notes(ax: Axes) -> FigureNotes:
    """Return the notes of a figure, kept with it; empty ones for a figure that was drawn elsewhere."""
    return vars(ax.figure).setdefault("deskbench_notes", FigureNotes())


def caption(ax: Axes, *, notes: bool = True) -> str:
    """Return the full caption of a figure: what it shows, its marks, denominators and method, and its notes.

    `notes` may be left out where the picture, which has them, is right above.
    """
    own = figure_notes(ax)
    parts = [*([own.title, *own.sentences] if own.title else []), *(own.notes if notes else [])]
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts).replace(r"\$", "$")


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names with commas; of many, the first and how many more."""
    more = len(names) - most
    return ", ".join(names if more < 2 else [*names[:most], f"{more} more"])


def trials_of(values: pd.Series) -> str:
    """Return ``"1 trial"``, or ``"2 to 3 trials"``."""
    return f"{span_of(values)} {'trial' if values.max() == 1 else 'trials'}"


def span_of(values: pd.Series) -> str:
    """Return ``"3"``, or ``"2 to 3"``."""
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low} to {high}"


def alike(table: pd.DataFrame, name: str, columns: Sequence[str]) -> list[list[str]]:
    """Return the values of a column in their order, those whose rows hold the same numbers together."""
    together: dict[str, list[str]] = {}
    for value, mine in table.groupby(name, sort=False):
        together.setdefault(str(mine[list(columns)].round(3).to_numpy().tolist()), []).append(str(value))
    return list(together.values())
