"""The one style of every figure, and how a figure is saved."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from ..errors import BadInput
from ..latex import escaped
from ..records import content_hash
from ..scoring.written import visible
from .captions import caption, figure_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("deskbench.mplstyle")
COLUMN_WIDTH, FULL_WIDTH = 3.3, 7.0
"""Widths in inches of one column and of the full text."""
WIDTHS = {"column": COLUMN_WIDTH, "page": FULL_WIDTH}
TALLEST = 0.85
"""The share of a printed page that a picture may be tall, so that its caption stands on the same page."""
LONGEST_NAME = 120
"""Where the name of a file is cut; later than that of a run, since nothing else tells two files apart."""


def use_style() -> None:
    """Set the house style for this session; a notebook calls it once."""
    import matplotlib.pyplot as plt

    plt.style.use(STYLE)


def new_axes(width: float = FULL_WIDTH, height: float = 4.2) -> Axes:
    """Axes of a new figure in the house style, `width` and `height` in inches."""
    import matplotlib.pyplot as plt

    # settle on a backend first: leaving the style would undo what a notebook's backend sets
    plt.switch_backend(plt.get_backend())
    with plt.style.context(STYLE):
        return plt.figure(figsize=(width, height)).subplots()


def figure_of(ax: Axes) -> Figure:
    """The whole figure that axes are part of."""
    return cast("Figure", ax.get_figure(root=True))


def plain(text: str) -> str:
    """Return text that is drawn literally: a dollar sign starts no formula, and hidden characters are shown."""
    return visible(read_plainly(text)).replace("$", r"\$")


def read_plainly(text: str) -> str:
    """Text as it is read, from text that may have gone through `plain`."""
    return text.replace(r"\$", "$")


def filled(text: str, letters: int) -> str:
    """Text broken into lines of so many letters as they are read, drawn literally; a line never ends within an escaped sign."""
    return plain(textwrap.fill(read_plainly(text), letters))


def save(
    ax: Axes,
    name: str,
    *,
    width: str | None = None,
    title: bool = False,
    folder: str | Path = "figures",
    results: Any = None,
    parameters: dict[str, Any] | None = None,
) -> list[Path]:
    """Save a figure as PNG (300 dpi), SVG and PDF, with its caption as text and LaTeX and a JSON file that says where it comes from.

    Parameters
    ----------
    name : str
        File name without suffix, in lower case; anything but letters, digits, dots and dashes is replaced.
    width : str, optional
        ``"column"`` (3.3 inches) or ``"page"`` (7 inches): the figure is drawn again at this width. By default it is
        saved as it is.
    title : bool
        Whether the title stands in the picture too, and not only in the caption.
    folder : path
        Where to.
    results : Results, optional
        The runs behind it; their files' hashes go into the JSON.
    parameters : dict, optional
        The other inputs of the figure.

    Returns
    -------
    list of Path
        ``.png``, ``.svg``, ``.pdf``, ``.txt`` (the caption), ``.tex`` (a float with the caption but
        for the notes, which stand in the picture, ready to be input) and ``.json``; none for a figure that has nothing to show (`why_not_saved` says why).
    """
    import matplotlib.pyplot as plt

    if why_not_saved(ax):
        return []
    notes = figure_notes(ax)
    if width is not None:
        if width not in WIDTHS:
            raise BadInput(f"a figure is not {width!r} wide: choose {' or '.join(map(repr, WIDTHS))}")
        if notes.redraw is not None and abs(figure_of(ax).get_figwidth() - WIDTHS[width]) > 0.01:
            ax = notes.redraw(width=width)
            plt.close(figure_of(ax))
            notes = figure_notes(ax)
    words = caption(ax)
    paths = paths_for(name, folder, ("png", "svg", "pdf", "txt", "tex", "json"))
    with plt.style.context(STYLE):
        if title:
            ax.set_title(notes.title)
        for path in paths[:3]:
            figure_of(ax).savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    paths[3].write_text(words + "\n", encoding="utf-8")
    wide = figure_of(ax).get_figwidth() > 1.5 * COLUMN_WIDTH
    paths[4].write_text(_float(paths[2].name, caption(ax, notes=False), paths[2].stem, wide), encoding="utf-8")
    source = {
        "figure": name,
        "title": notes.title or ax.get_title(loc="left") or ax.get_title(),
        "caption": words,
        "width_inches": round(float(figure_of(ax).get_figwidth()), 2),
        **provenance(results, parameters),
    }
    paths[5].write_bytes(orjson.dumps(source, option=orjson.OPT_INDENT_2))
    return paths


def save_all(
    drawn: Mapping[str, Axes],
    *,
    widths: Sequence[str] = ("page",),
    folder: str | Path = "figures",
    results: Any = None,
    parameters: dict[str, Any] | None = None,
) -> str:
    """Save several figures, by name, at one width or more.

    A figure as wide as a column has ``-column`` at the end of its name.

    Returns
    -------
    str
        How many were saved, what is not drawn in them, and why the others were not saved.
    """
    done, why = 0, []
    for name, ax in drawn.items():
        if reason := why_not_saved(ax):
            why.append(f"{name} not saved: {reason}")
            continue
        for width in widths:
            end = "-column" if width == "column" else ""
            save(ax, f"{name}{end}", width=width, folder=folder, results=results, parameters=parameters)
        left_out = [read_plainly(note) for note in figure_notes(ax).notes if note.startswith("Not drawn")]
        why += [f"{name}: {note[0].lower()}{note[1:]}" for note in left_out]
        done += 1
    many = f"{done} figure{'s' * (done != 1)}"
    return "\n".join([f"{many} saved in {folder} ({' and '.join(widths)} width)" if done else "no figures saved", *why])


def why_not_saved(ax: Axes) -> str:
    """Why a picture is not worth keeping, ``there is only one row ...``; empty if it is."""
    return figure_notes(ax).empty_reason


def _float(picture: str, words: str, name: str, wide: bool) -> str:
    """A LaTeX float with the picture and its caption; over both columns where it is wide."""
    kind, measure = ("figure*", r"\textwidth") if wide else ("figure", r"\columnwidth")
    return "\n".join(
        [
            r"% needs \usepackage{graphicx}; \graphicspath says where the picture is",
            rf"\begin{{{kind}}}[t]",
            r"\centering",
            rf"\includegraphics[width={measure},height={TALLEST}\textheight,keepaspectratio]{{{picture}}}",
            rf"\caption{{{escaped(words)}}}",
            rf"\label{{fig:{name}}}",
            rf"\end{{{kind}}}",
            "",
        ]
    )


def paths_for(name: str, folder: str | Path, suffixes: Sequence[str]) -> list[Path]:
    """The files of one figure or table in a folder, which is created; a dot in the name does not start a suffix."""
    from ..project import in_project, slug

    folder = in_project(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [folder / f"{slug(name, LONGEST_NAME)}.{suffix}" for suffix in suffixes]


def provenance(results: Any = None, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a figure or table was made from: the code, the parameters, and the run files with their hashes."""
    from ..project import code_version

    runs = [{"run_id": r.run_id, "sha256": content_hash(r.path.read_bytes())} for r in getattr(results, "runs", [])]
    return {"code": code_version(), "parameters": parameters or {}, "runs": runs}
