"""What every figure shares: axes of a printed width, a message where there is nothing to draw, legends and the notes below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import BadInput
from .captions import Lead, said_of
from .style import COLUMN_WIDTH, WIDTHS, figure_of, filled, new_axes, read_plainly

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Draw = TypeVar("Draw", bound=Callable[..., Any])

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
    """Height in inches of so many rows with names of one line, closer to each other where a page would not hold them and a caption."""
    return min(ROW * count, max(PAGE_OF_ROWS, CLOSE * count))


def axes_for(ax: Axes | None, table: pd.DataFrame | None = None, width: str = "page", height: float = 4.2) -> Axes:
    """The axes given, or new ones whose figure says which rows of `table` are no language models, and which are partial.

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
    said_of(ax).partial |= partial_in(table)
    if "panel" in table and set(table["panel"]) - {"models", "local model", "published"}:
        said_of(ax).noun = "agent"
    if not given:  # what is no model, or partial, says so in the picture itself, which grows by these lines
        for words in kinds_in_words(table):
            say_below(ax, words)
        lines = len(figure_of(ax).get_supxlabel().splitlines())
        figure_of(ax).set_figheight(height + lines * SMALL * 1.2 / 72)
    return ax


def is_narrow(ax: Axes) -> bool:
    """Whether a figure is as narrow as a column."""
    return figure_of(ax).get_figwidth() < 1.5 * COLUMN_WIDTH


def nothing(ax: Axes, why: str) -> Axes:
    """A figure that says why there is nothing to draw."""
    lines = filled(why, int(0.85 * LETTERS * figure_of(ax).get_figwidth()))
    ax.text(0.5, 0.5, lines, transform=ax.transAxes, ha="center", va="center", color="#555555")
    ax.set_axis_off()
    said_of(ax).nothing = why.rstrip(".")
    return ax


def why_nothing(table: pd.DataFrame) -> str:
    """Why there is no figure, from the table's own reasons."""
    reasons = [r for r in dict.fromkeys(table.get("reason", ())) if r]
    return reasons[0][:1].upper() + reasons[0][1:] + "." if reasons else "Nothing was run and scored."


def say_below(ax: Axes, words: str) -> None:
    """A note under the figure, below any that are already there."""
    said_of(ax).notes.append(words)
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
    left, inside, drawn = [0.0] * len(next(iter(parts.values()), ())), [], {}
    for label, widths in parts.items():
        drawn[label] = ax.barh(range(len(left)), widths, left=left, color=colors[label], height=0.72, label=label)
        for y, width in enumerate(widths):
            if words and width > 0:
                ink = "white" if label == "unsafe" else "#111111"
                text = ax.text(
                    left[y] + width / 2, y, words[label][y], ha="center", va="center", fontsize=SMALL, color=ink
                )
                inside.append((text, left[y], width))
        left = [start + width for start, width in zip(left, widths, strict=True)]
    said_of(ax).later.append(lambda: _keep_what_fits(ax, inside))
    return drawn


def _keep_what_fits(ax: Axes, inside: list[tuple[Any, float, float]]) -> None:
    """Take out the words that are wider than their part of a bar."""
    for text, left, width in inside:
        ends = ax.transData.transform([(left, 0), (left + width, 0)])[:, 0]
        if text.get_window_extent().width > ends[1] - ends[0] - 2:
            text.remove()


def explain(ax: Axes, handles: Any = None) -> None:
    """A legend above the axes that says what each mark means, in as many columns as the figure is wide enough for.

    Parameters
    ----------
    handles : sequence of artist, optional
        Labelled ones; those of the axes by default. Further calls add theirs.
    """
    handles = list(handles) if handles is not None else ax.get_legend_handles_labels()[0]
    whole, own = figure_of(ax), ax.get_legend()
    for old in (*whole.legends, *([] if own is None else [own])):
        handles = [*getattr(old, "deskbench_handles", ()), *handles]
        old.remove()
    if not handles:
        return
    longest = int(LETTERS * whole.get_figwidth()) - 8
    labels = [filled(h.get_label(), longest) for h in handles]
    look: dict[str, Any] = dict(handles=handles, labels=labels, fontsize=SMALL, frameon=False)
    look |= dict(ncols=_columns(labels, whole.get_figwidth()), columnspacing=1.0, labelspacing=0.35)
    look |= dict(handlelength=1.4, handletextpad=0.6, borderaxespad=0.1)
    if len(whole.axes) == 1:
        legend = whole.legend(loc="outside upper left", **look)
    else:
        legend = ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), **look)
    vars(legend)["deskbench_handles"] = handles


def _columns(labels: Sequence[str], width: float) -> int:
    """In how many columns the entries of a legend fit a figure `width` inches wide, each column as wide as its longest entry."""
    from matplotlib.textpath import TextPath

    inches = [
        max(TextPath((0, 0), line or " ", size=SMALL).get_extents().width for line in label.split("\n")) / 72
        for label in labels
    ]
    beside = (1.4 + 0.6) * SMALL / 72  # the mark and the space after it
    for columns in range(len(labels), 1, -1):
        rows, longer = divmod(len(labels), columns)
        tall = [rows + (place < longer) for place in range(columns)]
        starts = [sum(tall[:place]) for place in range(columns)]
        needed = sum(max(inches[start : start + many]) + beside for start, many in zip(starts, tall, strict=True))
        # drawn letters are a little wider than their outlines
        if needed + (columns - 1) * SMALL / 72 < 0.96 * width - 0.12:
            return columns
    return 1


def mark(ax: Axes, label: str, **look: Any) -> Any:
    """An entry of a legend: a mark or a line with what it means."""
    return ax.plot([], [], label=label, **{"linestyle": "none", **look})[0]


def leads(ax: Axes, artist: Any, row: Any, tip: str, **fields: Any) -> None:
    """Let a mark of a row say `tip` on a page and list the conversations of `fields`; without fields it leads to the row's page."""
    marks = said_of(ax).marks
    gid = f"mark-{len(marks)}"
    artist.set_gid(gid)
    marks[gid] = Lead(row.entry, getattr(row, "source", ""), read_plainly(tip), fields)


def fit(ax: Axes) -> None:
    """Break the axes' labels where they are longer than their axes, then place what had to wait for it."""
    if not ax.axison:
        return
    said, figure = said_of(ax), figure_of(ax)
    figure.draw_without_rendering()  # the layout settles here, so that places in pixels are the final ones
    dpi, box = figure.dpi, ax.get_window_extent()
    for label, length in ((ax.xaxis.label, box.width), (ax.yaxis.label, box.height)):
        # 0.062 inches is the mean width of a letter of the labels; a line may be a little longer than its axis.
        letters = max(int(length / dpi / 0.062), 16)
        whole = label.get_text().split("\n")
        label.set_text("\n".join(filled(part, letters) for part in whole))
    waiting, said.later = said.later, []
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
            said_of(shown).again = partial(drawn, **data)
        return shown

    return drawn  # type: ignore[return-value]  # the same arguments, passed on
