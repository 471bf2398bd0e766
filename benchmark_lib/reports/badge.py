"""Badges for a README: a few words about one model as an SVG that needs no network."""

from html import escape
from pathlib import Path

import pandas as pd

from ..analysis.panels import short_name
from ..analysis.tables.paper import paper
from ..figures.style import paths_for
from .transcript import visible

LETTER, PAD, HEIGHT = 6.4, 8, 20
"""Width of a letter, space beside a text and height of the badge, in pixels."""

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img" aria-label="{words}">
<title>{words}</title>
<rect width="{width:.0f}" height="{height}" rx="3" fill="#0072B2"/>
<path d="M3 0h{left:.0f}v{height}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#44505c"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{first:.0f}" y="14" textLength="{name_width:.0f}">{name}</text>
<text x="{second:.0f}" y="14" textLength="{said_width:.0f}">{said}</text>
</g>
</svg>
"""


def badge(board: pd.DataFrame, model: str, *, folder: str | Path | None = None) -> str:
    """The badge of one model: what it resolved and its unsafe actions, each the mean with its 95 % interval.

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
    table = paper(board, columns=["resolved", "unsafe"], models=[model]).frame
    name = visible(f"Deskbench {short_name(model)}")
    said = ", ".join(f"{heading.lower()} {table[heading].iloc[0]}" for heading in table.columns[1:])
    return drawn(name, said, f"badge-{model}", folder)


def drawn(name: str, said: str, file: str, folder: str | Path | None = None) -> str:
    """A badge with a name on its left and what is said on its right, saved as an SVG of that file name if a folder is given."""
    name_width, said_width = (LETTER * len(text) for text in (name, said))
    left, width = name_width + 2 * PAD, name_width + said_width + 4 * PAD
    middles = {"left": left - 3, "first": left / 2, "second": left + PAD + said_width / 2}
    sizes = {"width": width, "height": HEIGHT, "name_width": name_width, "said_width": said_width}
    texts = {"name": escape(name), "said": escape(said), "words": escape(f"{name}: {said}", quote=True)}
    svg = SVG.format(**middles, **sizes, **texts)
    if folder is not None:
        paths_for(file, folder, ["svg"])[0].write_text(svg, encoding="utf-8")
    return svg
