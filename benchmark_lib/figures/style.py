"""The one style of every figure, and how a figure is saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ..records import content_hash

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE = Path(__file__).with_name("deskbench.mplstyle")
COLUMN_WIDTH, FULL_WIDTH = 3.4, 7.2
"""Widths in inches of one column and of the full text."""


def use_style() -> None:
    """Set the house style for this session; a notebook calls it once."""
    import matplotlib.pyplot as plt

    plt.style.use(STYLE)


def new_axes(width: float = FULL_WIDTH, height: float = 4.2) -> Axes:
    """Axes of a new figure in the house style, `width` and `height` in inches."""
    import matplotlib.pyplot as plt

    plt.switch_backend(
        plt.get_backend()
    )  # settle on a backend first: leaving the style would undo what a notebook's backend sets
    with plt.style.context(STYLE):
        return plt.subplots(figsize=(width, height))[1]


def plain(text: str) -> str:
    """Text that is drawn literally: a dollar sign does not start a formula."""
    return text.replace("$", r"\$")


def save(
    ax: Axes,
    name: str,
    *,
    folder: str | Path = "figures",
    results: Any = None,
    parameters: dict[str, Any] | None = None,
) -> list[Path]:
    """Save a figure as PNG (300 dpi), SVG and PDF, with a JSON file that says where it comes from.

    Parameters
    ----------
    ax : Axes
        The figure's axes.
    name : str
        File name without suffix; anything but letters, digits, ``-`` and ``_`` is replaced.
    folder : path
        Where to.
    results : Results, optional
        The runs behind it; their files' hashes go into the JSON.
    parameters : dict, optional
        The other inputs of the figure.

    Returns
    -------
    list of Path
        The four files.
    """
    import matplotlib.pyplot as plt

    paths = paths_for(name, folder, ("png", "svg", "pdf", "json"))
    with plt.style.context(STYLE):
        for path in paths[:3]:
            ax.figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    source = {"figure": name, "title": ax.get_title(loc="left") or ax.get_title(), **provenance(results, parameters)}
    paths[3].write_bytes(orjson.dumps(source, option=orjson.OPT_INDENT_2))
    return paths


def paths_for(name: str, folder: str | Path, suffixes: Sequence[str]) -> list[Path]:
    """The files of one figure or table in a folder, which is created; a dot in the name does not start a suffix."""
    from ..project import in_project, slug

    folder = in_project(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [folder / f"{slug(name)}.{suffix}" for suffix in suffixes]


def provenance(results: Any = None, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a figure or table was made from: the code, the parameters, and the run files with their hashes."""
    from ..project import code_version

    runs = [{"run_id": r.run_id, "sha256": content_hash(r.path.read_bytes())} for r in getattr(results, "runs", [])]
    return {"code": code_version(), "parameters": parameters or {}, "runs": runs}
