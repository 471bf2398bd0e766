"""Make what every figure shares: axes of a printed width, a message where there is nothing to draw, legends, notes below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jinja2 import Environment, Template

from ..errors import BadInput
from ..textfiles import read_yaml
from .captions import Lead, figure_notes
from .style import COLUMN_WIDTH, WIDTHS, figure_of, filled, new_axes, plain, read_plainly

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Draw = TypeVar("Draw", bound=Callable[..., Any])

STROKE, GREY = "#333333", "#555555"
"""Colours of an interval and of a word beside the data."""
LINES = ("#0072B2", "#D55E00", "#009E73", "#000000", "#AA4B86", "#3E9BCB", "#B07A00")
QUIET = "#B8B8B8"
"""Colours of the lines that are named, and of all others."""
SMALL = 7
"""The smallest type, in points."""
LETTERS = 17.0
"""Letters of the smallest type that fit on an inch."""
ROW = 0.25
"""Height in inches of one row with a name of two lines."""
PAGE_OF_ROWS, CLOSE = 5.1, 0.17
"""Height in inches of the rows that leave a printed page room for a caption, and of one row where as many as can be stand on it."""


def rows_high(count: int) -> float:
    """Return the height in inches of so many rows with names of one line, closer where a page would not hold them."""
    return min(ROW * count, max(PAGE_OF_ROWS, CLOSE * count))


def axes_for(ax: Axes | None, table: pd.DataFrame | None = None, width: str = "page", height: float = 4.2) -> Axes:
    """Return the axes given, or new ones whose figure says which rows of `table` are no language models, and which are partial.

    Parameters
    ----------
    width : str
        ``"column"`` (3.3 inches) or ``"page"`` (7 inches).
    height : float
        In inches.

    Raises
    ------
    BadInput
        For another width.
    """
    if width not in WIDTHS:
        raise BadInput(f"a figure is not {width!r} wide: choose {' or '.join(map(repr, WIDTHS))}")
    from ..analysis.panels import kinds_in_words, partial_in

    given, ax = ax is not None, new_axes(WIDTHS[width], height) if ax is None else ax
    if table is None:
        return ax
    figure_notes(ax).partial |= partial_in(table)
    if "panel" in table and set(table["panel"]) - {"models", "local model", "published"}:
        figure_notes(ax).noun = "agent"
    if not given:  # what is no model, or partial, says so in the picture itself, which grows by these lines
        for words in kinds_in_words(table):
            note_below(ax, words)
        lines = len(figure_of(ax).get_supxlabel().splitlines())
        figure_of(ax).set_figheight(height + lines * SMALL * 1.2 / 72)
    return ax


def is_narrow(ax: Axes) -> bool:
    """Return whether a figure is as narrow as a column."""
    return figure_of(ax).get_figwidth() < 1.5 * COLUMN_WIDTH


def nothing(ax: Axes, why: str) -> Axes:
    """Return a figure that says why there is nothing to draw."""
    lines = filled(why, int(0.85 * LETTERS * figure_of(ax).get_figwidth()))
    ax.text(0.5, 0.5, lines, transform=ax.transAxes, ha="center", va="center", color="#555555")
    ax.set_axis_off()
    figure_notes(ax).empty_reason = why.rstrip(".")
    return ax


def why_nothing(table: pd.DataFrame) -> str:
    """Return why there is no figure, from the table's own reasons."""
    reasons = [r for r in dict.fromkeys(table.get("reason", ())) if r]
    return reasons[0][:1].upper() + reasons[0][1:] + "." if reasons else "Nothing was run and scored."


def note_below(ax: Axes, words: str) -> None:
    """Write a note under the figure, below any that are already there."""
    figure_notes(ax).notes.append(words)
    whole = figure_of(ax)
    letters = int(LETTERS * whole.get_figwidth())
    lines = [line for line in (whole.get_supxlabel(), filled(words, letters)) if line]
    whole.supxlabel("\n".join(lines), fontsize=SMALL, color="#555555", x=0.01, ha="left")


def stacked_bars(
    ax: Axes,
    parts: Mapping[str, Sequence[float]],
    colors: Mapping[str, str],
    words: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Draw one bar per row, made of parts side by side, each labelled for a legend; return the parts by label.

    Parameters
    ----------
    parts : dict of str to sequence of float
        The width of each part in every row, from the bottom row up, by label.
    colors : dict of str to str
    words : dict of str to sequence of str, optional
        The text in a part, shown where it fits.
    """
    left, drawn = [0.0] * len(next(iter(parts.values()), ())), {}
    for label, widths in parts.items():
        bars = ax.barh(range(len(left)), widths, left=left, color=colors[label], height=0.72, label=label)
        ink = "white" if label == "unsafe" else "#111111"
        inside = ax.bar_label(bars, words[label], label_type="center", fontsize=SMALL, color=ink) if words else []
        figure_notes(ax).after_layout.append(partial(_keep_what_fits, ax, bars, inside))
        left = [start + width for start, width in zip(left, widths, strict=True)]
        drawn[label] = bars
    return drawn


def _keep_what_fits(ax: Axes, bars: Sequence[Any], inside: Sequence[Any]) -> None:
    """Take out the words that are wider than their part of a bar."""
    for bar, text in zip(bars, inside, strict=False):
        if text.get_window_extent().width > bar.get_window_extent().width - 2:
            text.remove()


def describe(ax: Axes, name: str, /, *, rows: int = 2, handles: Any = (), **values: Any) -> None:
    """Give a figure its title, caption, axis labels and legend, as ``figures.yaml`` has them.

    Parameters
    ----------
    rows : int
        How many rows, points or lines it has; a figure of one is drawn but not saved, since a sentence says as much.
    handles : sequence of artist
        Labelled artists that come first in the legend.
    **values
        What the templates ask for.
    """
    notes, words = figure_notes(ax), _texts()[name]
    values = {"noun": notes.noun, "narrow": is_narrow(ax), **values}
    title, sentences = (" ".join(_template(words[key]).render(values).split()) for key in ("title", "caption"))
    notes.title, notes.sentences = title, [sentences]
    notes.empty_reason = "" if rows > 1 else "there is only one row, and the table says as much"
    for axis in ("x", "y"):
        if axis in words:
            ax.set(**{f"{axis}label": plain(_template(words[axis]).render(values).strip())})
    labels = {_template(label).render(values).strip(): look for label, look in words.get("legend", {}).items()}
    explain(ax, [*handles, *(mark(ax, plain(label), **look) for label, look in labels.items() if label)])


@cache
def _texts() -> dict[str, dict[str, Any]]:
    return read_yaml(Path(__file__).with_name("figures.yaml"))


@cache
def _template(text: str) -> Template:
    return Environment(autoescape=False).from_string(text)  # noqa: S701  # no markup: the writers of pages escape it


def explain(ax: Axes, handles: Sequence[Any]) -> None:
    """Draw a legend above the axes in as many columns as the figure is wide enough for."""
    if not handles:
        return
    whole = figure_of(ax)
    letters = int(LETTERS * whole.get_figwidth())
    labels = [filled(handle.get_label(), letters - 8) for handle in handles]
    longest = [max(map(len, read_plainly(label).split("\n"))) for label in labels]
    columns = next((n for n in range(len(labels), 1, -1) if _wide(longest, n) <= letters), 1)
    look: dict[str, Any] = dict(handles=handles, labels=labels, fontsize=SMALL, frameon=False, ncols=columns)
    look |= dict(columnspacing=1.0, labelspacing=0.35, handlelength=1.4, handletextpad=0.6, borderaxespad=0.1)
    if len(whole.axes) == 1:
        whole.legend(loc="outside upper left", **look)
    else:
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), **look)


def _wide(longest: Sequence[int], columns: int) -> int:
    """Return how many letters wide the entries of a legend are in so many columns, with a mark and a space each."""
    rows, longer = divmod(len(longest), columns)
    ends = [0]
    for place in range(columns):
        ends.append(ends[-1] + rows + (place < longer))
    return sum(max(longest[start:end]) + 5 for start, end in zip(ends, ends[1:], strict=False))


def mark(ax: Axes, label: str, **look: Any) -> Any:
    """Return an entry of a legend: a mark or a line with what it means."""
    return ax.plot([], [], label=label, **{"linestyle": "none", **look})[0]


def scale_of_costs(ax: Axes, costs: pd.Series) -> None:
    """Make the axis of costs logarithmic where they are far apart."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    if (costs > 0).all() and costs.max() > 8 * costs.min():
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())


def leads(ax: Axes, artist: Any, row: Any, tip: str, **fields: Any) -> None:
    """Let a mark of a row say `tip` on a page and list the conversations of `fields`; without fields it leads to the row's page."""
    marks = figure_notes(ax).marks
    gid = f"mark-{len(marks)}"
    artist.set_gid(gid)
    marks[gid] = Lead(row.entry, getattr(row, "source", ""), read_plainly(tip), fields)


def fit(ax: Axes) -> None:
    """Break the axes' labels where they are longer than their axes, then place what had to wait for it."""
    if not ax.axison:
        return
    notes, figure = figure_notes(ax), figure_of(ax)
    figure.draw_without_rendering()  # the layout settles here, so that places in pixels are the final ones
    dpi, box = figure.dpi, ax.get_window_extent()
    for label, length in ((ax.xaxis.label, box.width), (ax.yaxis.label, box.height)):
        # 0.062 inches is the mean width of a letter of the labels; a line may be a little longer than its axis.
        letters = max(int(length / dpi / 0.062), 16)
        whole = label.get_text().split("\n")
        label.set_text("\n".join(filled(part, letters) for part in whole))
    waiting, notes.after_layout = notes.after_layout, []
    if waiting:
        figure.draw_without_rendering()
    for place in waiting:
        place()


def figure(draw: Draw) -> Draw:
    """Declare a figure function: it is fitted to its width when it is done, and can be drawn again at another."""

    @wraps(draw)
    def drawn(*, ax: Axes | None = None, **data: Any) -> Axes:
        shown = draw(ax=ax, **data)
        fit(shown)
        if ax is None:
            data.pop("width", None)
            figure_notes(shown).redraw = partial(drawn, **data)
        return shown

    return drawn  # type: ignore[return-value]  # the same arguments, passed on
