"""Badges for a README: a few words about one model as an SVG that needs no network."""

from html import escape
from pathlib import Path

import pandas as pd

from ..analysis.panels import labelled, short_name
from ..analysis.tables.leaderboard import worst_beside
from ..analysis.tables.paper import paper
from ..figures.style import paths_for
from ..scoring.written import visible

SIZE, PAD, HEIGHT = 11, 8, 20
"""Size of the type, space beside a text and height of the badge, in pixels."""

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img" aria-label="{words}">
<title>{words}</title>
<rect width="{width:.0f}" height="{height}" rx="3" fill="#0072B2"/>
<path d="M3 0h{left:.0f}v{height}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#44505c"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="{size}" text-anchor="middle">
<text x="{first:.0f}" y="14">{name}</text>
<text x="{second:.0f}" y="14">{said}</text>
</g>
</svg>
"""


def badge(board: pd.DataFrame, model: str, *, folder: str | Path | None = None) -> str:
    """The badge of one model: what it resolved and its unsafe actions, each the mean with its n and 95 % interval, the second with its worst trial.

    Parameters
    ----------
    board : DataFrame
        As `tables.leaderboard` gives it.
    folder : path, optional
        Where it is saved, as ``badge-MODEL.svg``; nowhere by default.

    Raises
    ------
    BadInput
        For a model that is not on the board.
    """
    told = paper(board, columns=["resolved", "unsafe"], models=[model])
    what = labelled(board.set_index("entry", drop=False).loc[model]).removeprefix(short_name(model)).strip(" ()")
    cells = {name: told.rows[0][name] for name in ("resolved", "unsafe")}
    said = [
        f"{name} {cell.number}{cell.scale.sign} of {cell.estimate.n} ({cell.interval})" for name, cell in cells.items()
    ]
    worst = worst_beside(board.set_index("entry").loc[model])
    said[-1] += f", {worst}" if worst else ""
    words = " · ".join([*said, *([what] if what else [])])
    return drawn(visible(f"Deskbench {short_name(model)}"), words, f"badge-{model}", folder)


def drawn(name: str, said: str, file: str, folder: str | Path | None = None) -> str:
    """A badge with a name on its left and what is said on its right, saved as an SVG of that file name if a folder is given."""
    name_width, said_width = map(_width, (name, said))
    left, width = name_width + 2 * PAD, name_width + said_width + 4 * PAD
    middles = {"left": left - 3, "first": left / 2, "second": left + PAD + said_width / 2}
    sizes = {"width": width, "height": HEIGHT, "size": SIZE}
    texts = {"name": escape(name), "said": escape(said), "words": escape(f"{name}: {said}", quote=True)}
    svg = SVG.format(**middles, **sizes, **texts)
    if folder is not None:
        paths_for(file, folder, ["svg"])[0].write_text(svg, encoding="utf-8")
    return svg


def _width(text: str) -> float:
    """The width of a text in pixels, in the font that the badge asks for second and that is as wide as the first."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return float(
        TextPath((0, 0), text.replace("$", r"\$"), size=SIZE, prop=FontProperties(family="DejaVu Sans"))
        .get_extents()
        .width
    )
