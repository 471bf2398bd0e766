"""Figures and tables of a notebook, by panel."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..analysis.panels import NO_MODELS, PANELS, panels_in, short_name
from ..figures import caption
from ..figures.style import figure_notes, figure_of
from . import paper
from .html import board_html
from .terminal import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAID_ONCE = ("Bucket", "Cases", "Trials", "Conversations scored", "Shared cases", "Models")
"""Columns to drop from a table if they have the same value in every row."""

NOTHING = "*Nothing to show: there are no runs of this kind.*"


def by_panel(
    table: pd.DataFrame,
    draw: Callable[..., Axes],
    *,
    view: str | None = None,
    shape: Callable[..., pd.DataFrame] | None = None,
    by_bucket: bool = True,
) -> dict[str, Axes]:
    """Draw a table once per panel and bucket, under the panel's heading, and list its reasons.

    Panels in `NO_MODELS` are folded if there are others.

    Parameters
    ----------
    table : DataFrame
        With a column ``panel``.
    draw : callable
        ``draw(table=rows) -> Axes``.
    view : str, optional
        A key of `benchmark_lib.reports.terminal.VIEWS`: the numbers are then shown below each figure.
    shape : callable, optional
        Makes the table of numbers from the rows drawn.
    by_bucket : bool
        Whether each bucket has its own figure; False if a figure compares buckets.

    Returns
    -------
    dict of str to Axes
        Axes by panel (and bucket), for `figures.save`; figures that only show a reason are left out.
    """
    from IPython.display import HTML, Markdown, display

    drawn: dict[str, Axes] = {}
    parts = _parts(table)
    panels = {heading: str(rows["panel"].iloc[0]) for heading, rows in parts.items()}
    folded = NO_MODELS if {*panels.values()} - {*NO_MODELS} else ()
    for heading, rows in parts.items():
        buckets = {panels[heading]: rows}
        if by_bucket and "bucket" in rows:
            buckets = {f"{panels[heading]}_{bucket}": part for bucket, part in rows.groupby("bucket", sort=False)}
        axes = {name: _closed(draw(table=part)) for name, part in buckets.items()}
        shown = {name: ax for name, ax in axes.items() if ax.axison}
        drawn |= shown
        outputs = []
        for name, ax in shown.items():
            part, image = buckets[name], Image(ax)
            after = HTML(_reasons(part)) if view is None else _numbers(shape(part) if shape else part, view)
            outputs += [image, caption_below(ax), after]
        outputs += map(HTML, dict.fromkeys(_why_empty(ax) for ax in axes.values() if not ax.axison))
        if panels[heading] in folded:
            inside = "".join(output._repr_html_() for output in outputs)
            outputs = [HTML(f"<details><summary>{escape(heading)}</summary>{inside}</details>")]
        else:
            outputs.insert(0, Markdown(f"### {heading}"))
        for output in outputs:
            display(output)
    if not parts:
        display(Markdown(NOTHING))
    return drawn


def show_figure(ax: Axes) -> Axes:
    """Show one figure with its caption, or why it is empty, and return it."""
    from IPython.display import HTML, display

    if _closed(ax).axison:
        display(Image(ax))
        display(caption_below(ax))
    else:
        display(HTML(_why_empty(ax)))
    return ax


def _why_empty(ax: Axes) -> str:
    # HTML, not Markdown: the name of a model may contain anything.
    return f"<p><em>{escape(ax.texts[0].get_text())}</em></p>"


def _closed(ax: Axes) -> Axes:
    # The notebook would show an open figure a second time.
    import matplotlib.pyplot as plt

    plt.close(figure_of(ax))
    return ax


class Image:
    """A figure as an image on a white card, for light and dark pages."""

    def __init__(self, ax: Axes):
        buffer = BytesIO()
        figure_of(ax).savefig(buffer, format="png", dpi=150)
        self.png = b64encode(buffer.getvalue()).decode()
        self.wide, self.words = round(96 * figure_of(ax).get_figwidth()), figure_notes(ax).title

    def _repr_png_(self) -> str:
        return self.png

    def _repr_html_(self) -> str:
        look = (
            f"background:#fff;padding:10px;border:1px solid #8884;border-radius:8px;max-width:100%;width:{self.wide}px"
        )
        source, words = f"data:image/png;base64,{self.png}", escape(self.words, quote=True)
        return f'<img alt="{words}" style="{look};box-sizing:border-box" src="{source}">'


def caption_below(ax: Axes) -> Any:
    """Return the caption below a figure, without the notes in the picture."""
    from IPython.display import HTML

    look = "font-size:12px;color:var(--jp-content-font-color2,#666);max-width:50rem"
    return HTML(f'<p style="{look}">{escape(caption(ax, notes=False))}</p>')


def tables_by_panel(table: pd.DataFrame, view: str, **words: Any) -> None:
    """Show a table of estimates once per panel under its heading, as `show_table` does."""
    from IPython.display import display

    for rows in _headed(table):
        display(_numbers(rows, view, **words))


def _numbers(rows: pd.DataFrame, view: str, **words: Any) -> Any:
    frame, row_notes = notes_below(readable(rows, view))
    same = [c for c in SAID_ONCE if c in frame and len(frame) > 1 and frame[c].nunique(dropna=False) == 1]
    every = [f"{c} {frame[c].iloc[0]}" for c in same if frame[c].iloc[0] not in ("", None)]
    notes = [*words.pop("footnotes", ()), *row_notes, *(["In every row: " + "; ".join(every) + "."] if every else [])]
    return paper.show(frame.drop(columns=same), footnotes=notes, **words)


def show_table(table: pd.DataFrame, view: str, *, empty: str = "*Nothing to show.*", **words: Any) -> Any:
    """Show a table of estimates in its readable form, with its notes below it.

    `view` is a key of `VIEWS`; `empty` is shown, as Markdown, if there are no rows.
    """
    from IPython.display import Markdown

    return _numbers(table, view, **words) if len(table) else Markdown(empty)


def notes_below(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a readable table without its column of notes, and the notes with their rows."""
    whose = frame.index if frame.index.name else frame.iloc[:, 0]
    if "Note" not in frame or not whose.is_unique:
        return frame, []
    named: dict[str, list[str]] = {}
    for note, row in zip(frame["Note"], whose, strict=True):
        if note:
            named.setdefault(str(note), []).append(str(row))
    notes = [
        f"{'Every row' if len(rows) == len(frame) > 1 else ', '.join(dict.fromkeys(rows))}: {note}"
        for note, rows in named.items()
    ]
    return frame.drop(columns="Note"), notes


def _reasons(rows: pd.DataFrame) -> str:
    if "entry" not in rows or not any(rows.get("reason", ())):
        return ""
    with_reason, models, lines = rows[rows["reason"].astype(bool)], rows["entry"].nunique(), []
    many = rows.groupby("entry").size() if "trap" in rows else {}
    for reason, group in with_reason.groupby("reason", sort=False):
        of = {
            m: f" ({n} of {many[m]} traps)" if m in many and n < many[m] else ""
            for m, n in group["entry"].value_counts(sort=False).items()
        }
        names = list(dict.fromkeys(f"{short_name(m)}{of[m]}" for m in group["entry"]))
        whose = "every model" if len(names) == models > 1 else ", ".join(names)
        lines.append(f"<em>{escape(f'{whose}: {reason}')}</em>")
    return f"<p>{'<br>'.join(lines)}</p>"


def boards_by_panel(board: pd.DataFrame) -> None:
    """Show the board once per panel, each under its heading."""
    from IPython.display import display

    for rows in _headed(board):
        display(board_html(rows))


def _headed(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    from IPython.display import Markdown, display

    parts = _parts(table)
    for heading, rows in parts.items():
        display(Markdown(f"### {heading}"))
        yield rows
    if not parts:
        display(Markdown(NOTHING))


def _parts(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    # A table of relations has no single models to count.
    if "entry" in table:
        return panels_in(table)
    return {
        f"{panel.capitalize()}: {words}": table[table["panel"] == panel]
        for panel, words in PANELS.items()
        if (table["panel"] == panel).any()
    }
