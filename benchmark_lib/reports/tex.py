"""Tables of cells as LaTeX: floats with the rules of booktabs."""

from __future__ import annotations

import textwrap

from ..analysis.cell import Table
from ..latex import breakable, escaped
from ..scoring.written import visible

COLUMN_LETTERS, PAGE_LETTERS, BETWEEN = 52, 112, 1.5
"""In LaTeX, the letters in footnote size that fit on a column and on a page of LaTeX's own two-column article, which are narrower than those of
most journals, and the space between two columns."""
SIZES = {"footnotesize": (1.0, 9.5), "scriptsize": (8 / 7, 8.0)}
"""The sizes a table is set in, the larger first: how many letters it takes to fill a line of footnote size, and the points of a line."""
PAGE_POINTS, CAPTION, NOTE = 540, (0.8, 12.0), (8 / 7, 8.0)
"""The points of a page of that article, and the same two numbers of a caption and of the notes below a table."""


def table_tex(table: Table, label: str) -> str:
    """Return a table as a LaTeX float with the rules of booktabs, its notes below it; empty where it is larger than a page.

    It is a ``table*`` where it is wider than one column of two. Columns of text that do not fit become paragraphs.
    """
    size = next((size for size in SIZES if _fits(table, *SIZES[size])), None)
    if size is None:
        return ""
    heads, shares, room = _layout(table, SIZES[size][0])
    wide = room > COLUMN_LETTERS * SIZES[size][0]
    columns = "".join(
        "r" if numeric else "l" if share is None else rf"p{{{0.95 * (share - BETWEEN) / room:.3f}\linewidth}}"
        for numeric, share in zip(table.numeric.values(), shares, strict=True)
    )
    shown = [
        " & ".join(
            _tex(cell) if share is None else rf"\raggedright {breakable(one_line(cell))}"
            for cell, share in zip(row, shares, strict=True)
        )
        for row in table.texts()
    ]
    marks = [rf"\textsuperscript{{{mark}}}" if mark else "" for mark in (column.mark for column in table.columns)]
    head = " & ".join(map(_tex_head, heads, marks, table.numeric.values()))
    kind = "table*" if wide else "table"
    caption = [rf"\caption{{{_tex(table.caption)}}}"] if table.caption else []
    notes = [(rf"\textsuperscript{{{mark}}} " if mark else "") + _tex(text) for mark, text in table.notes]
    small = r"\begin{minipage}{\linewidth}\scriptsize\raggedright"
    below = [r"\par\smallskip", small, " \\\\\n".join(notes), r"\end{minipage}"]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            rf"\begin{{{kind}}}[t]",
            rf"\centering\{size}" r"\setlength{\tabcolsep}{3pt}\setlength{\belowcaptionskip}{5pt}",
            *caption,
            rf"\label{{tab:{label}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rf"{head} \tabularnewline",  # \raggedright takes the shorter command for itself
            r"\midrule",
            *[rf"{row} \tabularnewline" for row in shown],
            r"\bottomrule",
            r"\end{tabular}",
            *(below if notes else []),
            rf"\end{{{kind}}}",
            "",
        ]
    )


def _layout(table: Table, letters: float) -> tuple[list[list[str]], list[float | None], float]:
    column, page = COLUMN_LETTERS * letters, PAGE_LETTERS * letters
    longest = [max(map(len, texts), default=0) for texts in zip(*table.texts(), strict=True)] or [0] * len(
        table.columns
    )
    heads = [_head_lines(column.title, size) for column, size in zip(table.columns, longest, strict=True)]
    sizes = [max(size, *map(len, lines)) + BETWEEN for size, lines in zip(longest, heads, strict=True)]
    room = page if sum(sizes) > column else column
    shares = _shared(sizes, [_longest_word(lines) for lines in heads], [*table.numeric.values()], room)
    return heads, shares, max(room, sum(size if s is None else s for size, s in zip(sizes, shares, strict=True)))


def _fits(table: Table, letters: float, points: float) -> bool:
    heads, shares, room = _layout(table, letters)
    rows = [
        max((len(_wrapped(cell, share)) for cell, share in zip(row, shares, strict=True)), default=1)
        for row in table.texts()
    ]
    texts = [(table.caption, CAPTION), *((text, NOTE) for _, text in table.notes)]
    around = sum(len(_wrapped(text, room * of / letters)) * height for text, (of, height) in texts)
    return room <= PAGE_LETTERS * letters and points * (sum(rows) + max(map(len, heads))) + around <= PAGE_POINTS


def _wrapped(text: str, width: float | None) -> list[str]:
    return textwrap.wrap(one_line(text), max(int(0.85 * width), 1)) or [""] if width else [text]


def _head_lines(head: str, longest: int) -> list[str]:
    return textwrap.wrap(one_line(head), max(longest, 11), break_on_hyphens=True) or [""]


def _tex_head(lines: list[str], mark: str, numeric: bool) -> str:
    texts = [_tex(line) for line in lines]
    texts[-1] += mark
    if len(texts) == 1:
        return texts[0]
    return rf"\begin{{tabular}}[b]{{@{{}}{'r' if numeric else 'l'}@{{}}}}" + r" \\ ".join(texts) + r"\end{tabular}"


def _longest_word(lines: list[str]) -> float:
    return 1.25 * max(len(word) for line in lines for word in line.split() or [""]) + BETWEEN


def _shared(sizes: list[float], least: list[float], numeric: list[bool], room: float) -> list[float | None]:
    shares: list[float | None] = [None] * len(sizes)
    if sum(sizes) <= room:
        return shares
    left = room - sum(size for size, n in zip(sizes, numeric, strict=True) if n)
    texts = sorted((place for place, n in enumerate(numeric) if not n), key=lambda place: sizes[place])
    for done, place in enumerate(texts):
        rest = texts[done:]
        if sizes[place] > left / len(rest):
            shares[place] = max(left * sizes[place] / sum(sizes[one] for one in rest), 10.0, least[place])
        left -= shares[place] or sizes[place]
    return shares


def _tex(text: str) -> str:
    return escaped(one_line(text))


def one_line(text: str) -> str:
    """Return text on one line, its hidden characters made visible."""
    return visible(" ".join(str(text).split()))
