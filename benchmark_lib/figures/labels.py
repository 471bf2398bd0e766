"""Names next to what they label: at points and at the ends of lines, legible where lines run behind them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from ..analysis.estimators.estimate import usual
from .style import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLACES = tuple(
    (dx, dy, ha, "bottom" if dy > 0 else "top")
    for dy in (3, -3, 13, -13, 23)
    for dx, ha in ((5, "left"), (-5, "right"))
)
"""Where a name may be placed relative to its point.

Offsets in points and the alignment of the text, the nearest first.
"""


def name_of(entry: Any) -> str:
    """A model's name as a figure shows it."""
    from ..analysis.panels import short_name

    return plain(short_name(entry))


def with_counts(names: list[str], counts: list[tuple[int, ...]]) -> list[str]:
    """The names; where one rests on a different number of cases than most, with its number of cases."""
    most = tuple(map(usual, zip(*counts, strict=True)))
    return [
        name + (f" (n = {' and '.join(map(str, n))})" if n != most else "")
        for name, n in zip(names, counts, strict=True)
    ]


def halo() -> list:
    """Path effects that keep a label legible where lines run behind it."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.2, foreground="white")]


def name_together(ax: Axes, points: list[tuple[float, float, str]], reach: tuple[float, float] = (0.1, 0.05)) -> None:
    """Write the names next to their points; points that nearly coincide share one label.

    Parameters
    ----------
    ax : Axes
        With its limits set.
    points : list of (x, y, name)
        In data units.
    reach : (float, float)
        How close two points must be to count as one, as shares of the axes' width and height.
    """
    width, height = (abs(high - low) for low, high in (ax.get_xlim(), ax.get_ylim()))
    groups: list[list[tuple[float, float, str]]] = []
    for point in sorted(points):
        near = next(
            (
                g
                for g in groups
                if abs(g[-1][0] - point[0]) < reach[0] * width and abs(g[0][1] - point[1]) < reach[1] * height
            ),
            None,
        )
        near.append(point) if near else groups.append([point])
    for group in groups:
        names = plain(textwrap.fill(", ".join(name for *_, name in group), 42))
        right = max(x for x, *_ in group)
        left = right > ax.get_xlim()[0] + 0.7 * width
        x = min(x for x, *_ in group) if left else right
        ax.annotate(
            names,
            (x, group[0][1]),
            xytext=(-7 if left else 7, 4),
            textcoords="offset points",
            fontsize=7.5,
            ha="right" if left else "left",
            path_effects=halo(),
        )


def name_apart(ax: Axes, points: list[tuple[float, float, str]]) -> None:
    """Names next to their points, each at the first of `PLACES` where it covers no name or point, otherwise where it overlaps least."""
    ax.figure.draw_without_rendering()  # the layout settles here, so that places in pixels are the final ones
    together: dict[tuple[int, int], list[tuple[float, float, str]]] = {}
    for x, y, name in points:
        together.setdefault(tuple(int(v) // 3 for v in ax.transData.transform((x, y))), []).append((x, y, name))
    points = [
        (
            *group[0][:2],
            ", ".join(name for *_, name in group[:3]) + (f" and {len(group) - 3} more" if len(group) > 3 else ""),
        )
        for group in together.values()
    ]
    dots = [ax.transData.transform((x, y)) for x, y, _ in points]
    inside, taken = ax.get_window_extent(), []
    for (x, y, name), _ in sorted(zip(points, dots, strict=True), key=lambda pair: -pair[0][1]):
        text = ax.annotate(
            name,
            (x, y),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=7.5,
            annotation_clip=False,
            path_effects=halo(),
        )
        best = None
        for dx, dy, ha, va in PLACES:
            text.set(position=(dx, dy), ha=ha, va=va)
            box = text.get_window_extent()
            clashes = sum(box.overlaps(other) for other in taken) + sum(box.contains(*dot) for dot in dots)
            clashes += 2 * (box.x0 < inside.x0 or box.x1 > inside.x1 or box.y0 < inside.y0 or box.y1 > inside.y1)
            if best is None or clashes < best[0]:
                best = (clashes, dx, dy, ha, va, box)
        text.set(position=best[1:3], ha=best[3], va=best[4])
        taken.append(best[5])


def names_at_the_end(
    ax: Axes, labels: list[tuple[float, str, str]], last: float, gap: float = 5.2, top: float = 101.0
) -> None:
    """Names at the ends of their lines, moved apart where they would overlap, never above `top`."""
    labels = sorted(labels)
    spots = [height for height, _, _ in labels]
    for place in range(1, len(spots)):
        spots[place] = max(spots[place], spots[place - 1] + gap)
    for place in reversed(range(len(spots))):
        spots[place] = min(spots[place], top - gap * (len(spots) - 1 - place))
    for (height, name, color), spot in zip(labels, spots, strict=True):
        ax.annotate(
            name,
            (last, height),
            xytext=(last + 0.18, spot),
            textcoords="data",
            color=color,
            fontsize=7.5,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "relpos": (0, 0.5)},
        )
