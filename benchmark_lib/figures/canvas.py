"""Shared parts of figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, wraps
from inspect import signature
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeVar
from xml.etree import ElementTree

from jinja2 import Template

from ..analysis.panels import kinds_in_words, partial_in
from ..errors import BadInput
from ..scoring.written import visible
from ..textfiles import read_yaml
from .style import STYLE, Lead, figure_notes, figure_of, inches, is_narrow, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_NO_XML = re.compile("[\ufffe\uffff]")
_REFERENCE = re.compile(r"#([\w.-]+)")


def as_svg(ax: Axes, prefix: str, attributes: Callable[[Lead], Mapping[str, str]]) -> str:
    """Return a figure as an SVG element for a page.

    It has no style, script or metadata, so it needs no exception from a content policy. Colours are attributes, which
    any stylesheet overrides. The same figure gives the same bytes. Every id begins with `prefix`. `attributes` returns
    those of a mark's element; with ``href``, it is a link.
    """
    import matplotlib.pyplot as plt

    buffer = BytesIO()
    no_layout = {"figure.constrained_layout.use": False, "figure.autolayout": False}
    with plt.style.context([STYLE, no_layout]):  # `canvas.fit` has placed every artist
        figure_of(ax).set_layout_engine(None)
        figure_of(ax).savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(_NO_XML.sub("\ufffd", buffer.getvalue().decode()))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}style", f"{SVG}metadata") or not child.tag.startswith(SVG):
                parent.remove(child)
    marks = figure_notes(ax).marks
    texts = [(key, v) for e in root.iter() for key, v in e.attrib.items()]
    used = {r for key, v in texts if key == LINK or "url(" in v for r in _REFERENCE.findall(v)}
    ids = {e.get("id"): f"{prefix}-{n}" for n, e in enumerate(root.iter()) if e.get("id") in used}
    for shape in root.iterfind(f".//{SVG}defs/{SVG}path"):
        shape.attrib.pop("style", None)  # its uses have it
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        name = element.attrib.pop("id", None)
        _styled(element)
        _renamed(element, ids)
        if name in ids:
            element.set("id", ids[name])
        elif name in marks:
            _marked(element, marks[name], attributes(marks[name]))
    look = {"viewBox": root.get("viewBox", ""), "class": f"drawing {'narrow' if is_narrow(ax) else 'wide'}"}
    root.attrib = {**look, "role": "group", "aria-label": visible(figure_notes(ax).title)}
    return ElementTree.tostring(root, encoding="unicode")


def _renamed(element: ElementTree.Element, ids: Mapping[str | None, str]) -> None:
    for key, value in list(element.attrib.items()):
        if key == LINK:
            element.attrib.pop(LINK)
            # image data are not a reference
            element.set("href", value if value.startswith("data:") else f"#{ids[value.removeprefix('#')]}")
        elif "url(" in value:
            element.set(key, _REFERENCE.sub(lambda match: f"#{ids[match[1]]}", value))


def _styled(element: ElementTree.Element) -> None:
    # content policies forbid inline styles
    for rule in element.attrib.pop("style", "").split(";"):
        key, _, value = (part.strip() for part in rule.partition(":"))
        if key in ("font", "font-size"):
            element.set("font-size", (re.findall(r"[\d.]+px", value) or ["8px"])[0])
        elif key and not key.startswith(("font", "-")):
            element.set(key, value)


def _marked(element: ElementTree.Element, mark: Lead, more: Mapping[str, str]) -> None:
    element.tag = "a" if "href" in more else "g"
    words = {"data-tip": mark.tip, "aria-label": mark.tip} if mark.tip else {}
    alone = {"role": "img", "tabindex": "0"} if mark.tip and element.tag == "g" else {}
    element.attrib.update({key: visible(value) for key, value in {**words, **more, **alone}.items()})


Draw = TypeVar("Draw", bound=Callable[..., Any])

STROKE, GREY = "#333333", "#555555"
"""Colours of an interval, and of a word next to the data."""
LINES = ("#0072B2", "#D55E00", "#009E73", "#000000", "#AA4B86", "#3E9BCB", "#B07A00")
QUIET = "#B8B8B8"
"""Colours of named lines, and of all other lines."""
SMALL = 7
"""Smallest type, in points."""
LETTERS = 17.0
"""Letters per inch in the smallest type."""
ROW = 0.25
"""Height in inches of one row whose name has two lines."""
PAGE_OF_ROWS, CLOSE = 5.1, 0.17
"""Most inches of all rows on a page, and least inches of one row."""


def rows_high(count: int) -> float:
    """Return the height in inches of rows, packed closer to fit a page."""
    return min(ROW * count, max(PAGE_OF_ROWS, CLOSE * count))


def axes_for(ax: Axes | None, table: pd.DataFrame | None = None, width: str = "page", height: float = 4.2) -> Axes:
    """Return `ax`, or new axes with notes on partial rows and on rows that are not models.

    `width` is ``"column"`` or ``"page"``, else `BadInput` is raised. `height` is in inches.
    """
    wide, given = inches(width), ax is not None
    ax = new_axes(wide, height) if ax is None else ax
    if table is None:
        return ax
    figure_notes(ax).partial |= partial_in(table)
    if "panel" in table and set(table["panel"]) - {"models", "local model", "published"}:
        figure_notes(ax).noun = "agent"
    if not given:  # the picture grows by the height of its notes
        for words in kinds_in_words(table):
            note_below(ax, words)
        lines = len(figure_of(ax).get_supxlabel().splitlines())
        figure_of(ax).set_figheight(height + lines * SMALL * 1.2 / 72)
    return ax


def nothing(ax: Axes, why: str) -> Axes:
    """Return a figure that only explains why there is nothing to draw."""
    why = visible(why)
    lines = fill(why, int(0.85 * LETTERS * figure_of(ax).get_figwidth()))
    ax.text(0.5, 0.5, lines, transform=ax.transAxes, ha="center", va="center", color=GREY)
    ax.set_axis_off()
    figure_notes(ax).empty_reason = why.rstrip(".")
    return ax


def why_nothing(table: pd.DataFrame) -> str:
    """Return the table's own reason why there is nothing to draw."""
    reasons = [r for r in dict.fromkeys(table.get("reason", ())) if r]
    return reasons[0][:1].upper() + reasons[0][1:] + "." if reasons else "Nothing was run and scored."


def note_below(ax: Axes, words: str) -> None:
    """Write a note under the figure, below earlier notes."""
    whole, words = figure_of(ax), visible(words)
    figure_notes(ax).notes.append(words)
    lines = [*whole.get_supxlabel().splitlines(), fill(words, int(LETTERS * whole.get_figwidth()))]
    whole.supxlabel("\n".join(lines), fontsize=SMALL, color=GREY, x=0.01, ha="left", parse_math=False)


def stacked_bars(
    ax: Axes,
    parts: Mapping[str, Sequence[float]],
    colors: Iterable[str],
    words: Iterable[Sequence[str]] = (),
    rows: pd.DataFrame | None = None,
) -> list[Any]:
    """Draw one bar per row from consecutive parts with a legend; return the parts.

    `parts` maps each label to the widths of its part, from the bottom row up. `words` are texts inside the parts, shown
    if they fit; a page hides them together with the entries of `rows`.
    """
    left, drawn, words = [0.0] * len(next(iter(parts.values()), ())), list[Any](), list(words)
    for place, ((label, widths), color) in enumerate(zip(parts.items(), colors, strict=True)):
        bars = ax.barh(range(len(left)), widths, left=left, color=color, height=0.72, label=label)
        ink = "white" if label == "unsafe" else "#111111"
        inside = ax.bar_label(bars, words[place], label_type="center", fontsize=SMALL, color=ink) if words else []
        for row, text in zip(() if rows is None else rows.itertuples(), inside, strict=False):
            leads(ax, row, text)
        figure_notes(ax).after_layout.append(partial(_keep_what_fits, bars, inside))
        left = [start + width for start, width in zip(left, widths, strict=True)]
        drawn.append(bars)
    return drawn


def _keep_what_fits(bars: Sequence[Any], inside: Sequence[Any]) -> None:
    for bar, text in zip(bars, inside, strict=False):
        if text.get_window_extent().width > bar.get_window_extent().width - 2:
            text.remove()


def describe(ax: Axes, name: str, /, *, rows: int, handles: Any = (), **values: Any) -> Axes:
    """Set a figure's title, caption, axis labels and legend from ``figures.yaml``; return it.

    A figure with only one row is drawn but not saved. The legend begins with `handles`; `values` fill in templates.
    """
    notes, words = figure_notes(ax), _texts()[name]
    values = {"noun": notes.noun, "narrow": is_narrow(ax), **values}
    texts = (" ".join(_rendered(words[key], values).split()) for key in ("title", "caption"))
    notes.title, notes.content = texts
    notes.empty_reason = "" if rows > 1 else "there is only one row, and the table says as much"
    ax.set(**{f"{axis}label": visible(_rendered(words[axis], values)) for axis in "xy" if axis in words})
    labels = {_rendered(label, values): look for label, look in words.get("legend", {}).items()}
    _legend(ax, [*handles, *(mark(ax, visible(label), **look) for label, look in labels.items() if label)])
    return ax


@cache
def _texts() -> dict[str, dict[str, Any]]:
    return read_yaml(Path(__file__).with_name("figures.yaml"))


_template = cache(Template)  # not escaped here: whatever writes a page escapes the text


def _rendered(text: str, values: Mapping[str, Any]) -> str:
    return _template(text).render(values).strip()


def _legend(ax: Axes, handles: Sequence[Any]) -> None:
    if not handles:
        return
    whole = figure_of(ax)
    letters = int(LETTERS * whole.get_figwidth())
    labels = [fill(handle.get_label(), letters - 8) for handle in handles]
    longest = [max(map(len, label.split("\n"))) for label in labels]
    columns = next((n for n in range(len(labels), 1, -1) if _wide(longest, n) <= letters), 1)
    look: dict[str, Any] = dict(handles=handles, labels=labels, fontsize=SMALL, frameon=False, ncols=columns)
    look |= dict(columnspacing=1.0, labelspacing=0.35, handlelength=1.4, handletextpad=0.6, borderaxespad=0.1)
    if len(whole.axes) == 1:
        whole.legend(loc="outside upper left", **look)
    else:
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), **look)


def _wide(longest: Sequence[int], columns: int) -> int:
    # letters of a legend in columns, each with a mark and a space
    rows, longer = divmod(len(longest), columns)
    ends = [place * rows + min(place, longer) for place in range(columns + 1)]
    return sum(max(longest[start:end]) + 5 for start, end in pairwise(ends))


def mark(ax: Axes, label: str, **look: Any) -> Any:
    """Return a legend entry: a mark or a line with its label."""
    return ax.plot([], [], label=label, **{"linestyle": "none", **look})[0]


def interval(ax: Axes, y: float, low: float, high: float, *, wide: float = 1.6, **look: Any) -> list[Any]:
    """Draw the interval of a row, `wide` points wide; return its line."""
    return ax.plot([low, high], [y, y], linewidth=wide, solid_capstyle="butt", **look)


def leads(ax: Axes, row: Any, *artists: Any, tip: str = "", to: Mapping[str, Any] | None = None) -> None:
    """Connect artists with the entry of their row, for a page that hides or links them.

    `tip` is their tooltip. `to` has the query fields of the conversations counted; ``{}`` links to the entry's page.
    """
    marks = figure_notes(ax).marks
    gid = f"mark-{len(marks)}"
    for artist in artists:
        artist.set_gid(gid)
    marks[gid] = Lead(row.entry, getattr(row, "source", ""), tip, to)


def alike(table: pd.DataFrame, entries: Iterable[str], columns: list[str]) -> dict[str, list[str]]:
    """Group entries whose rows have equal numbers, in order, by the first of each group."""
    together: dict[str, list[str]] = {}
    for entry in entries:
        numbers = table.loc[table["entry"] == entry, columns]
        together.setdefault(str(numbers.round(3).to_numpy().tolist()), []).append(entry)
    return {group[0]: group for group in together.values()}


def colors_of(table: pd.DataFrame, entries: Iterable[str]) -> dict[str, str]:
    """Return a colour for each entry by its place in the table: the same in every figure.

    If two entries would share a colour, the later one gets the next free one.
    """
    every, colors = sorted(set(table["entry"])), dict[str, str]()
    for entry in sorted(entries):
        start = every.index(entry) % len(LINES)
        colors[entry] = next(c for c in (*LINES[start:], *LINES[:start]) if c not in colors.values())
    return colors


def fit(ax: Axes) -> None:
    """Wrap long axis labels, then place what depends on the layout."""
    from matplotlib.text import Text

    notes, whole = figure_notes(ax), figure_of(ax)
    for text in whole.findobj(Text):
        text.set_parse_math(False)  # so that a dollar sign in a name does not start a formula
    if not ax.axison:
        return
    engine = whole.get_layout_engine()
    lay_out = partial(engine.execute, whole) if engine else whole.draw_without_rendering
    lay_out()  # fixes the layout, and with it all positions in pixels
    dpi, box, before = whole.dpi, ax.get_window_extent(), ax.get_xlabel() + ax.get_ylabel()
    for label, length in ((ax.xaxis.label, box.width), (ax.yaxis.label, box.height)):
        # A letter of the labels has a mean width of 0.062 inches; a line may be a little longer than its axis.
        letters = max(int(length / dpi / 0.062), 16)
        label.set_text("\n".join(_even(part, letters) for part in label.get_text().split("\n")))
    waiting, notes.after_layout = notes.after_layout, []
    if waiting or ax.get_xlabel() + ax.get_ylabel() != before:
        lay_out()  # again, where labels have more lines now or something is placed by them
    for place in waiting:
        place()


def _even(text: str, letters: int) -> str:
    # as few lines as fit, none of them much shorter than the others
    whole = fill(text, letters)
    widths = range(max(map(len, [*text.split(), " "])), letters)
    return next((even for n in widths if (even := fill(text, n)).count("\n") <= whole.count("\n")), whole)


def figure(draw: Draw) -> Draw:
    """Fit the result of a figure function to its width, and remember how to redraw it."""

    @wraps(draw)
    def drawn(*given: Any, ax: Axes | None = None, **data: Any) -> Axes:
        try:
            signature(draw).bind(*given, ax=ax, **data)
        except TypeError as wrong:
            about = " ".join(str(draw.__doc__).split())
            raise BadInput(f"figures.{draw.__name__}: {wrong}: {about}") from None
        shown = draw(ax=ax, **data)
        fit(shown)
        if ax is None:
            data.pop("width", None)
            figure_notes(shown).redraw = partial(drawn, **data)
        return shown

    return drawn  # type: ignore[return-value]  # the same arguments, passed on
