"""A table for a write-up as CSV, Markdown, LaTeX and HTML, each with its own escaping."""

from __future__ import annotations

import numbers
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
from markupsafe import Markup

from ..analysis.cell import Cell, Heading, Table
from ..errors import BadInput
from ..figures.style import paths_for, provenance
from ..latex import breakable, escaped
from ..project import as_cell
from ..scoring.written import DASH, counted, missing, rounded, visible
from .html import Html, render, table_html

MISSING = DASH
MISSING_NOTE = f"{MISSING}: not defined or not known (never 0)."
FORMATS = ("csv", "md", "tex", "html")

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&#])")
_NUMBER = re.compile(r"[+<-]?[\d,.]+[*°]?( ?%)?( (of|to) [+-]?[\d,.]+)?( \(.*\))?")


def save(
    frame: pd.DataFrame | Table,
    name: str,
    *,
    caption: str = "",
    footnotes: Sequence[str] = (),
    digits: int | Mapping[str, int] = 2,
    folder: str | Path = "reports/tables",
    results: Any = None,
    parameters: dict[str, Any] | None = None,
) -> list[Path]:
    """Save a table as CSV, Markdown, LaTeX and HTML, with a JSON file of its origin.

    Parameters
    ----------
    frame : DataFrame or Table
        A named index becomes the first column; headings with several levels are joined.
    name : str
        File name without suffix; anything but letters, digits, dots and dashes is replaced.
    caption : str
        What the table shows: n, trials, estimand and interval belong here.
    footnotes : sequence of str
        Notes on the table as a whole.
    digits : int or mapping of str to int
        Decimals in Markdown, LaTeX and HTML; CSV keeps every digit. Whole numbers have none.
    results : Results, optional
        The runs behind it; their files' hashes go into the JSON.

    Returns
    -------
    list of Path
        ``.csv``, ``.md``, ``.tex``, ``.html`` and ``.json``. The LaTeX needs only the package booktabs, and is left out
        if the table is larger than a page. The CSV of a `Table` also contains the unrounded estimates.

    Raises
    ------
    BadInput
        For two columns with the same name, or the digits of a column that does not exist.

    Warns
    -----
    UserWarning
        If the LaTeX is left out; a ``.tex`` of that name from an earlier table is not changed.
    """
    numbers = frame.numbers() if isinstance(frame, Table) else None
    frame, table = _built(frame, caption, footnotes, digits)
    paths = paths_for(name, folder, (*FORMATS, "json"))
    _write_csv(frame, table, numbers, paths[0])
    page = render("paper.html.j2", title=one_line(table.caption or name), table=Markup(table_html(table)))
    tex = table_tex(table, paths[2].stem)
    for path, text in zip(paths[1:4], (_as_markdown(table), tex, page), strict=True):
        if text:
            path.write_text(text, encoding="utf-8")
    if not tex:
        earlier = " (the file of that name is an earlier table)" if paths[2].exists() else ""
        why = "since the table is larger than a printed page: choose fewer rows or columns"
        warnings.warn(f"{paths[2]} is not written{earlier}, {why}", stacklevel=2)
    source = {
        "table": name,
        "caption": table.caption,
        "footnotes": [{"mark": mark, "text": text} for mark, text in table.notes],
        **provenance(results, parameters),
    }
    paths[4].write_bytes(orjson.dumps(source, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str))
    return [path for path in paths if tex or path != paths[2]]


def save_all(tables: Mapping[str, Mapping[str, Any]], folder: str | Path = "reports/tables", **words: Any) -> str:
    """Save tables by name, with `save` arguments for each table and for all; return a summary."""
    large = []
    for name, own in tables.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* is not written")
            paths = save(name=name, folder=folder, **words, **own)
        large += [name] * all(path.suffix != ".tex" for path in paths)
    without = f"; without LaTeX, since larger than a printed page: {', '.join(large)}" if large else ""
    return f"{counted(len(tables), 'table')} saved in {folder}{without}" if tables else "no tables saved"


def show(frame: pd.DataFrame | Table, **words: Any) -> Html:
    """Return the table for a notebook; arguments as for `save`."""
    return Html(table_html(_built(frame, **words)[1]))


def markdown(frame: pd.DataFrame | Table, **words: Any) -> str:
    """Return the table as GitHub Markdown; arguments as for `save`."""
    return _as_markdown(_built(frame, **words)[1])


def _built(
    frame: pd.DataFrame | Table, caption: str = "", footnotes: Any = (), digits: Any = 2
) -> tuple[pd.DataFrame, Table]:
    general = [("", str(text)) for text in ([footnotes] if isinstance(footnotes, str) else footnotes)]
    if isinstance(frame, Table):
        if not frame.columns:
            raise BadInput("the table has no columns: load results with conversations")
        table = frame.split()
        table = replace(table, caption=caption or table.caption, notes=_known([*table.notes, *general], table.texts()))
        return table.frame(), table
    frame = _flat(frame)
    for column in digits if isinstance(digits, Mapping) else ():
        if column not in frame.columns:
            raise BadInput(f"the table has no column {column!r}: name one of {', '.join(frame.columns)}")
    cells: dict[str, list[Any]] = {}
    for name in frame.columns:
        decimals = digits.get(name, 2) if isinstance(digits, Mapping) else digits
        texts = [_cell(value, decimals) for value in frame[name]]
        numeric = _is_number(frame[name]) or reads_as_numbers(texts)
        cells[name] = [Cell(number=text) for text in texts] if numeric else texts
    rows = tuple({name: column[place] for name, column in cells.items()} for place in range(len(frame)))
    table = Table(columns=tuple(Heading(key=name, title=name) for name in cells), rows=rows, caption=caption)
    return frame, replace(table, notes=_known(general, table.texts()))


def _as_markdown(table: Table) -> str:
    heads = [_md(column.title) + (f"<sup>{column.mark}</sup>" if column.mark else "") for column in table.columns]
    rules = ["---:" if numeric else "---" for numeric in table.numeric.values()]
    rows = [heads, rules, *[[_md(cell) for cell in row] for row in table.texts()]]
    parts = [f"**{_md(table.caption)}**\n"] if table.caption else []
    parts.append("\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n")
    parts += [(f"<sup>{mark}</sup> " if mark else "") + _md(text) + "\n" for mark, text in table.notes]
    return "\n".join(parts)


def _known(notes: Sequence[tuple[str, str]], texts: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return (*notes, ("", MISSING_NOTE)) if any(MISSING in row for row in texts) else tuple(notes)


def _cell(value: Any, digits: int) -> str:
    if missing(value):
        return MISSING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    whole = isinstance(value, numbers.Integral)
    return rounded(float(value), 0 if whole else digits) if isinstance(value, numbers.Real) else str(value)


def _is_number(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)


def reads_as_numbers(texts: list[str]) -> bool:
    """Return True for numbers, possibly with a suffix: ``85.3 (80.1 to 89.2)``, ``3 of 18``."""
    present = [t for t in texts if t not in (MISSING, "")]
    return bool(present) and all(_NUMBER.fullmatch(t) for t in present)


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
    columns = [" ".join(str(p) for p in c if str(p)) if isinstance(c, tuple) else str(c) for c in frame.columns]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise BadInput(f"the table has two columns named {twice[0]!r}: rename one of them")
    return frame.set_axis(columns, axis=1)


def _write_csv(frame: pd.DataFrame, table: Table, numbers: pd.DataFrame | None, path: Path) -> None:
    # An apostrophe keeps a spreadsheet from running a text as a formula.
    safe = frame.copy()
    safe.columns = [as_cell(column.title) for column in table.columns]
    for column in safe.columns:
        if not _is_number(safe[column]):
            safe[column] = [None if missing(v) else as_cell(v) if isinstance(v, str) else v for v in safe[column]]
    if numbers is not None:
        safe = pd.concat([safe.reset_index(drop=True), numbers], axis="columns")
    safe.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def _md(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", one_line(text))


COLUMN_LETTERS, PAGE_LETTERS, BETWEEN = 52, 112, 1.5
"""Letters in footnote size per column and page of a two-column article, and between columns."""
SIZES = {"footnotesize": (1.0, 9.5), "scriptsize": (8 / 7, 8.0)}
"""Sizes of a table: letters in the width of one in footnote size, and points per line."""
PAGE_POINTS, CAPTION, NOTE = 540, (0.8, 12.0), (8 / 7, 8.0)
"""Height of a page in points, and the same two numbers for a caption and for the notes."""


def table_tex(table: Table, label: str) -> str:
    """Return a table as a LaTeX float with its notes below; empty if it exceeds a page.

    It is a ``table*`` if it is wider than a column. Columns of text that do not fit become paragraphs.
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
    marks = [rf"\textsuperscript{{{column.mark}}}" if column.mark else "" for column in table.columns]
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
            rf"{head} \tabularnewline",  # \raggedright redefines the shorter command
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
    # The lines of each heading, the width of each column of paragraphs, and the width of the table.
    column, page = COLUMN_LETTERS * letters, PAGE_LETTERS * letters
    columns = list(zip(*table.texts(), strict=True)) or [()] * len(table.columns)
    longest = [max(map(len, texts), default=0) for texts in columns]
    heads = [_head_lines(column.title, size) for column, size in zip(table.columns, longest, strict=True)]
    sizes = [max(size, *map(len, lines)) + BETWEEN for size, lines in zip(longest, heads, strict=True)]
    room = page if sum(sizes) > column else column
    # Room for the longest word of a heading, which is never broken, even if all its letters are wide.
    least = [1.25 * max(len(word) for line in lines for word in line.split() or [""]) + BETWEEN for lines in heads]
    shares = _shared(sizes, least, [*table.numeric.values()], room)
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
    joined = re.sub(r" (of )?\S{1,2}$", lambda end: end[0].replace(" ", "\xa0"), one_line(head))
    lines = textwrap.wrap(joined, max(longest, 13))
    return [line.replace("\xa0", " ") for line in lines] or [""]


def _tex_head(lines: list[str], mark: str, numeric: bool) -> str:
    text = r" \\ ".join(map(_tex, lines)) + mark
    side = "r" if numeric else "l"
    return text if len(lines) == 1 else rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{text}\end{{tabular}}"


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
    """Return text on one line, with hidden characters made visible."""
    return visible(" ".join(str(text).split()))
