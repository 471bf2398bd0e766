"""The style of every figure, its notes, and its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from ..errors import BadInput
from ..latex import escaped
from ..project import code_version, in_project, slug
from ..records import content_hash

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("deskbench.mplstyle")
COLUMN_WIDTH, FULL_WIDTH = 3.3, 7.0
"""Widths in inches of one column and of the full text."""
WIDTHS = {"column": COLUMN_WIDTH, "page": FULL_WIDTH}
TALLEST = 0.85
"""Largest height of a figure, as a share of a page that also has its caption."""
LONGEST_NAME = 120
"""Most letters in the name of a file, which alone identifies a figure."""


@dataclass(frozen=True)
class Lead:
    """Tip and link of one row's marks on a page, which hides them with their entry."""

    entry: str
    source: str
    tip: str = ""  # numbers in words; empty if another mark has them
    to: Mapping[str, Any] | None = None  # query of the conversations counted; {} for the entry's page, None for no link


@dataclass
class FigureNotes:
    """Texts, marks by id, and functions to call after the layout."""

    title: str = ""
    content: str = ""
    notes: list[str] = field(default_factory=list)  # in the picture: what is not drawn, and what is not a model
    noun: str = "model"  # noun of a row: "agent" unless all are language models
    partial: dict[str, str] = field(default_factory=dict)  # by entry, how much of its plan is finished
    empty_reason: str = ""  # why there is no picture worth keeping
    redraw: Callable[..., Any] | None = None  # ``redraw(width="column") -> Axes``
    after_layout: list[Callable[[], None]] = field(default_factory=list)
    marks: dict[str, Lead] = field(default_factory=dict)


def figure_notes(ax: Axes) -> FigureNotes:
    """Return the notes of a figure; empty for one made elsewhere."""
    return vars(ax.figure).setdefault("deskbench_notes", FigureNotes())


def caption(ax: Axes, *, notes: bool = True) -> str:
    """Return the full caption of a figure, with its notes.

    Without `notes`, it is for use below the picture, which contains them.
    """
    own = figure_notes(ax)
    parts = [*([own.title, own.content] if own.title else []), *(own.notes if notes else [])]
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names joined by commas: the first few, and a count of the rest."""
    more = len(names) - most
    return ", ".join(names if more < 2 else [*names[:most], f"{more} more"])


def trials_of(values: pd.Series) -> str:
    """Return the range of trials in words, ``1 trial`` or ``2 to 3 trials``."""
    return f"{span_of(values)} {'trial' if values.max() == 1 else 'trials'}"


def span_of(values: pd.Series) -> str:
    """Return the range of values, ``3`` or ``2 to 3``."""
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low} to {high}"


def use_style() -> None:
    """Set the style of the package for this session; a notebook calls it once."""
    import matplotlib.pyplot as plt

    plt.style.use(STYLE)


def new_axes(width: float = FULL_WIDTH, height: float = 4.2) -> Axes:
    """Return axes of a new figure in the package's style; sizes are in inches."""
    import matplotlib.pyplot as plt

    # Choose a backend first: leaving the style would undo the settings of a notebook's backend.
    plt.switch_backend(plt.get_backend())
    with plt.style.context(STYLE):
        return plt.figure(figsize=(width, height)).subplots()


def figure_of(ax: Axes) -> Figure:
    """Return the whole figure of some axes."""
    return cast("Figure", ax.get_figure(root=True))


def inches(width: str) -> float:
    """Return a named width in inches; refuse an unknown name."""
    if width not in WIDTHS:
        raise BadInput(f"there is no figure width {width!r}: choose {' or '.join(map(repr, WIDTHS))}")
    return WIDTHS[width]


def is_narrow(ax: Axes) -> bool:
    """Return True if a figure is as narrow as a column."""
    return figure_of(ax).get_figwidth() < 1.5 * COLUMN_WIDTH


def save(
    ax: Axes,
    name: str,
    *,
    width: str | None = None,
    folder: str | Path = "figures",
    results: Any = None,
    parameters: dict[str, Any] | None = None,
) -> list[Path]:
    """Save a figure as PNG (300 dpi), SVG and PDF, with caption and origin; return the paths.

    It also writes ``.txt`` (caption), ``.tex`` (float with the caption; the notes are in the picture) and ``.json``
    (origin). Nothing is saved if there is nothing to show (`why_not_saved`).

    Parameters
    ----------
    name : str
        File name without suffix, in lower case; anything but letters, digits, dots and dashes is replaced.
    width : str, optional
        ``"column"`` (3.3 inches) or ``"page"`` (7 inches), to redraw the figure; by default, its width is kept.
    results, parameters : Results, dict, optional
        Runs behind the figure, whose files are hashed in the JSON, and its other inputs.
    """
    import matplotlib.pyplot as plt

    if why_not_saved(ax):
        return []
    redraw = figure_notes(ax).redraw
    if width is not None and abs(figure_of(ax).get_figwidth() - inches(width)) > 0.01 and redraw is not None:
        ax = redraw(width=width)
        plt.close(figure_of(ax))
    notes, whole, words = figure_notes(ax), figure_of(ax), caption(ax)
    *pictures, text, tex, origin = paths_for(name, folder, ("png", "svg", "pdf", "txt", "tex", "json"))
    with plt.style.context(STYLE):
        for path in pictures:
            whole.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    text.write_text(words + "\n", encoding="utf-8")
    picture = pictures[-1]
    tex.write_text(_float(picture.name, caption(ax, notes=False), picture.stem, not is_narrow(ax)), encoding="utf-8")
    source = {
        "figure": name,
        "title": notes.title or ax.get_title(loc="left") or ax.get_title(),
        "caption": words,
        "width_inches": round(float(whole.get_figwidth()), 2),
        **provenance(results, parameters),
    }
    origin.write_bytes(orjson.dumps(source, option=orjson.OPT_INDENT_2))
    return [*pictures, text, tex, origin]


def save_all(
    drawn: Mapping[str, Axes],
    *,
    widths: Sequence[str] = ("page",),
    folder: str | Path = "figures",
    results: Any = None,
    parameters: dict[str, Any] | None = None,
) -> str:
    """Save several figures by name, in one or more widths; column figures end in ``-column``.

    Return in words how many were saved, what is not drawn in them, and why the others were not.
    """
    done, why = 0, []
    for name, ax in drawn.items():
        if reason := why_not_saved(ax):
            why.append(f"{name} not saved: {reason}")
            continue
        for width in widths:
            end = "-column" if width == "column" else ""
            save(ax, f"{name}{end}", width=width, folder=folder, results=results, parameters=parameters)
        notes = [note for note in figure_notes(ax).notes if note.startswith("Not drawn")]
        why += [f"{name}: {note[0].lower()}{note[1:]}" for note in notes]
        done += 1
    many = f"{done} figure{'s' * (done != 1)}"
    return "\n".join([f"{many} saved in {folder} ({' and '.join(widths)} width)" if done else "no figures saved", *why])


def why_not_saved(ax: Axes) -> str:
    """Return why a figure is not worth saving; empty if it is."""
    return figure_notes(ax).empty_reason


def _float(picture: str, words: str, name: str, wide: bool) -> str:
    kind, measure = ("figure*", r"\textwidth") if wide else ("figure", r"\columnwidth")
    return rf"""% needs \usepackage{{graphicx}}; \graphicspath says where the picture is
\begin{{{kind}}}[t]
\centering
\includegraphics[width={measure},height={TALLEST}\textheight,keepaspectratio]{{{picture}}}
\caption{{{escaped(words)}}}
\label{{fig:{name}}}
\end{{{kind}}}
"""


def paths_for(name: str, folder: str | Path, suffixes: Sequence[str]) -> list[Path]:
    """Return the files of one figure or table; create their folder."""
    folder = in_project(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [folder / f"{slug(name, LONGEST_NAME)}.{suffix}" for suffix in suffixes]


def provenance(results: Any = None, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the origin of a figure or table, with hashes of run files."""
    runs = [{"run_id": r.run_id, "sha256": content_hash(r.path.read_bytes())} for r in getattr(results, "runs", [])]
    return {"code": code_version(), "parameters": parameters or {}, "runs": runs}
