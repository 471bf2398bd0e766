"""Names next to rows and points, legible in front of lines."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..analysis.estimators.estimate import usual
from ..analysis.panels import partial_in, short_name
from ..scoring.written import visible
from .canvas import SMALL, leads, note_below
from .style import figure_notes, figure_of, is_narrow, listed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PLACES = tuple(
    (dx, dy, ha, "bottom" if dy > 0 else "top")
    for dy in (3, -3, 13, -13, 23, -23)
    for dx, ha in ((5, "left"), (-5, "right"), (0, "center"))
)
"""Places of a name: its offset from the mark, in points, and its alignment."""
NEAR = 3
"""A line joins a name to a mark farther off than this, in points."""
APART = 3
"""Points between two names in a row, at any resolution."""
FEW = 12
"""Largest number of points for which every point is named."""
LONGEST = 48
"""Letters of a name that fit on two lines."""
LINE = {True: 22, False: 36}
"""Letters on one line of a name, in a narrow figure (True) and in a wide one."""
EDGE = {"boxstyle": "square,pad=0.05", "facecolor": "white", "alpha": 0.75, "linewidth": 0}
"""Background that keeps a name legible in front of lines."""


class Point(NamedTuple):
    """Point with its name, in data units; a page hides the name with the entry of `row`."""

    x: float
    y: float
    name: str
    row: Any = None


def name_of(ax: Axes, entry: Any) -> str:
    """Return a model's name as shown, with the progress of a partial run."""
    lacking = figure_notes(ax).partial.get(entry)
    if lacking is None:
        return visible(short_name(entry, LONGEST))
    words = f" (partial {lacking})"
    return visible(short_name(entry, 2 * LINE[True] - len(words))) + words  # both fit on two lines of a narrow figure


def names_of(ax: Axes, entries: Iterable[Any]) -> list[str]:
    """Return the names of several models; equal names get a number."""
    names = {entry: name_of(ax, entry) for entry in entries}
    many, seen, shown = Counter(names.values()), Counter[str](), dict[Any, str]()
    for entry, name in names.items():
        seen[name] += 1
        shown[entry] = f"{name} ({seen[name]})" if many[name] > 1 else name
    return [shown[entry] for entry in entries]


def left_out(ax: Axes, table: pd.DataFrame, shown: pd.DataFrame, why: str) -> None:
    """Note below a figure which entries of a table are not in it, and why."""
    figure_notes(ax).partial |= partial_in(table)
    absent = table.loc[~table["entry"].isin(shown["entry"]), "entry"].unique()
    if len(absent) and len(shown):
        note_below(ax, f"Not drawn: {listed(names_of(ax, absent))} ({why})")


def partial_below(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows, which are drawn upwards, with partial runs below the others."""
    return rows.sort_values("partial", key=lambda words: words.eq(""), kind="stable") if "partial" in rows else rows


def name_rows(
    ax: Axes, names: Sequence[str], places: Sequence[float] | None = None, rows: pd.DataFrame | None = None
) -> None:
    """Write the names of rows from the bottom up; entries of `rows` link to their pages."""
    ax.set_yticks(range(len(names)) if places is None else places, [two_lines(ax, name) for name in names])
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    if places is None:
        ax.set_ylim(-0.65, len(names) - 0.35)
    for label in ax.get_yticklabels():
        label.set(fontsize=SMALL, linespacing=1.0)
    for label, row in zip(ax.get_yticklabels(), () if rows is None else rows.itertuples(), strict=False):
        leads(ax, row, label, tip=row.entry, to={})


def at_right(ax: Axes, y: float, words: str, **look: Any) -> None:
    """Write a number or a word to the right of a row."""
    ax.text(1.01, y, words, transform=ax.get_yaxis_transform(), **{"va": "center", "fontsize": SMALL, **look})


def two_lines(ax: Axes, name: str) -> str:
    """Return a name on one line or two; cut it if it is longer."""
    longest, halves = LINE[is_narrow(ax)], name.split(" [", 1)
    if len(name) > longest > max(map(len, halves)):
        name = "\n[".join(halves)
    lines = [line for part in name.split("\n") for line in textwrap.wrap(part, longest)]
    if len(lines) > 2 and "\n" not in name:
        cut = name if len(name) <= 2 * longest else f"{name[: longest + 3]}…{name[4 - longest :]}"
        lines = [cut[:longest], cut[longest:]]
    return "\n".join(lines)


def with_counts(ax: Axes, entries: Iterable[Any], counts: Sequence[tuple[int, ...]]) -> list[str]:
    """Return names; a complete run on an unusual number of cases also shows that number."""
    most, partial = tuple(map(usual, zip(*counts, strict=True))), figure_notes(ax).partial
    return [
        name + (f" (n = {' and '.join(map(str, n))})" if n != most and entry not in partial else "")
        for name, entry, n in zip(names_of(ax, entries), entries, counts, strict=True)
    ]


def name_apart(ax: Axes, points: Sequence[Point], *, crowded: bool = False, first: Collection[str] = ()) -> None:
    """Write names next to their points, each in the first free place of `PLACES`.

    Points that coincide share a name. A name without a free place appears below the figure. If many points are
    `crowded` by lines, only the outermost are named. Names in `first` are always written, and are placed first.
    """
    many = crowded and len(points) > FEW
    named = _outermost(points, 6 if is_narrow(ax) else FEW, first) if many else points
    figure_notes(ax).after_layout.append(lambda: _place(ax, named, points, first))


def _outermost(points: Sequence[Point], most: int, first: Collection[str]) -> list[Point]:
    places = np.array([(point.x, point.y) for point in points], dtype=float)
    spread = places.std(axis=0)
    far = (((places - np.median(places, axis=0)) / np.where(spread, spread, 1)) ** 2).sum(axis=1)
    kept = sorted(range(len(points)), key=lambda i: (points[i].name not in first, -far[i]))[:most]
    return [points[i] for i in sorted(kept)]


def outermost_in_words(points: int, first: str = "") -> str:
    """Return the caption's sentence on which points are named."""
    return f"Only {first}the outermost models are named." if points > FEW else ""


def _place(ax: Axes, named: Sequence[Point], points: Sequence[Point], first: Collection[str]) -> None:
    # Names that find no place are noted below the figure. That moves the axes, so the others are placed again.
    together: dict[tuple[int, ...], list[Point]] = {}
    for point in named:
        key = tuple(int(v) // 3 for v in ax.transData.transform((point.x, point.y)))
        together.setdefault(key, []).append(point)
    higher = sorted(together.values(), key=lambda group: -ax.transData.transform(group[0][:2])[1])
    groups = sorted(higher, key=lambda group: not any(point.name in first for point in group))
    texts, left = _placed(ax, groups, points)
    if not left:
        return
    unnamed = [point.name for group in left for point in group]
    words = "Not named at their points, for lack of space: " if len(unnamed) < len(named) else "Points: "
    note_below(ax, words + listed(unnamed, 12))
    for text in texts:
        text.remove()
    figure_of(ax).draw_without_rendering()
    _placed(ax, [group for group in groups if group not in left], points)


def _placed(ax: Axes, groups: list[list[Point]], points: Sequence[Point]) -> tuple[list[Any], list[list[Point]]]:
    from matplotlib.text import Text

    dots = [ax.transData.transform(point[:2]) for point in points]
    taken = [Text.get_window_extent(t) for t in ax.texts if t.get_text()]
    inside, texts, left = ax.get_window_extent(), [], []
    point = figure_of(ax).dpi / 72
    gap = 3.3 * point  # a mark and the halo of a name
    look: dict[str, Any] = dict(textcoords="offset points", fontsize=SMALL, annotation_clip=False, linespacing=0.95)
    look |= dict(xytext=(0, 0), bbox=EDGE, parse_math=False)
    look |= dict(arrowprops={"arrowstyle": "-", "color": "#999999", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2})
    for group in groups:
        words = two_lines(ax, listed([each.name for each in group], 3))
        text: Any = ax.annotate(words, group[0][:2], **look)
        for dx, dy, ha, va in PLACES:
            text.set(position=(dx, dy), ha=ha, va=va)
            text.arrow_patch.set_visible(abs(dy) > NEAR)
            text.get_window_extent()  # moves the text; the extent is that of text and line
            box = Text.get_window_extent(text)
            out = box.x0 < inside.x0 - 2 or box.x1 > inside.x1 or box.y0 < inside.y0 or box.y1 > inside.y1
            covers = any(map(box.overlaps, taken)) or any(box.padded(gap).contains(*dot) for dot in dots)
            if not out and not covers:
                taken.append(box.padded(APART * point, 0))
                texts.append(text)
                if len(group) == 1 and group[0].row is not None:
                    leads(ax, group[0].row, text, text.arrow_patch)
                break
        else:
            text.remove()
            left.append(group)
    return texts, left
