"""A table for a write-up.

CSV, Markdown, LaTeX and HTML from one frame, each with units, denominators and footnotes and its own escaping.
"""

import numbers
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape as html_escape
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd

from ..analysis.estimators.estimate import counted
from ..analysis.tables.paper import PaperTable
from ..errors import BadInput
from ..figures.style import paths_for, provenance
from ..latex import breakable, escaped
from ..outputs import as_cell
from ..records import content_hash
from ..scoring.written import DASH, missing, rounded, unbroken, visible
from .transcript import Html

MISSING = DASH
MISSING_NOTE = f"{MISSING}: not defined or not known (never 0)."
MARKS = "abcdefghijklmnopqrstuvwxyz"
SHORT, SHORT_WHERE_TIGHT = 32, 12
"""In HTML, cells up to this many characters are not broken into lines; fewer where the table would be wider than a notebook's page."""
PAGE_PIXELS, LETTER_PIXELS, PADDING_PIXELS, TEXT_PIXELS = 1200, 7.2, 22, 224
"""The width of a page of 1280 pixels between its margins, and what a letter, the space around a cell and a column of text take of it."""
COLUMN_LETTERS, PAGE_LETTERS, BETWEEN = 52, 112, 1.5
"""In LaTeX, the letters in footnote size that fit on a column and on a page of LaTeX's own two-column article, which are narrower than those of
most journals, and the space between two columns."""
SIZES = {"footnotesize": (1.0, 9.5), "scriptsize": (8 / 7, 8.0)}
"""The sizes a table is set in, the larger first: how many letters it takes to fill a line of footnote size, and the points of a line."""
PAGE_POINTS, CAPTION, NOTE = 540, (0.8, 12.0), (8 / 7, 8.0)
"""The points of a page of that article, and the same two numbers of a caption and of the notes below a table."""
FORMATS = ("csv", "md", "tex", "html")

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>%(title)s</title>
<style>body{font:14px/1.45 system-ui,sans-serif;color:#1d2733;margin:1.5rem}</style></head><body>
%(table)s
</body></html>
"""

_LOOK = [
    {"selector": selector, "props": props}
    for selector, props in {
        "": "border-collapse:collapse;border-top:2px solid currentColor;border-bottom:2px solid currentColor",
        "caption": "text-align:left;font-weight:600;padding-bottom:.5rem",
        "th": "border-bottom:1px solid currentColor;text-align:left;vertical-align:bottom;padding:.25rem .7rem",
        "td": "padding:.25rem .7rem;text-align:left",
    }.items()
]
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&#])")
_NUMBER = re.compile(r"[+<-]?[\d,.]+[*°]?( ?%)?( (of|to) [+-]?[\d,.]+)?( \(.*\))?")


@dataclass(frozen=True)
class _Table:
    """A frame prepared for print: headings with units, denominators and marks, and cells as text."""

    heads: list[tuple[str, str]]
    cells: list[list[str]]
    numeric: list[bool]
    notes: list[tuple[str, str]]
    caption: str


def save(
    frame: pd.DataFrame | PaperTable,
    name: str,
    *,
    caption: str = "",
    units: Mapping[str, str] | None = None,
    denominators: Mapping[str, Any] | None = None,
    footnotes: Mapping[str, str] | Sequence[str] = (),
    digits: int | Mapping[str, int] = 2,
    folder: str | Path = "reports/tables",
    results: Any = None,
    parameters: dict[str, Any] | None = None,
) -> list[Path]:
    """Save a table as CSV, Markdown, LaTeX (booktabs) and HTML, with a JSON file that says where it comes from.

    Parameters
    ----------
    frame : DataFrame or PaperTable
        The table; an index with a name is its first column, headings of several levels are joined. A table of
        `tables.paper` brings its caption and footnotes along.
    name : str
        File name without suffix, in lower case; anything but letters, digits, dots and dashes is replaced.
    caption : str
        What the table shows: n, trials, estimand and interval belong here.
    units : mapping of str to str, optional
        Unit of a column, added in brackets to the heading.
    denominators : mapping of str to int or str, optional
        Denominator of a column, added in the same brackets as ``n = ...``.
    footnotes : mapping of str to str, or sequence of str
        By column, marked with letters; or notes on the table as a whole. The key ``""`` of a mapping is such a note.
    digits : int or mapping of str to int
        Decimals in Markdown, LaTeX and HTML; CSV keeps every digit. Whole numbers have none.
    results : Results, optional
        The runs behind it; their files' hashes go into the JSON.

    Returns
    -------
    list of Path
        ``.csv``, ``.md``, ``.tex``, ``.html`` and ``.json``. The LaTeX needs the package booktabs alone, is a
        ``table*`` where the table is wider than a column, in a smaller size where it would be larger than a page, and
        left out where even that is. The CSV of a `PaperTable` also holds the unrounded estimates with their intervals
        and n.

    Raises
    ------
    BadInput
        For two columns with the same name, or a unit, denominator or footnote of a column that does not exist.

    Warns
    -----
    UserWarning
        Where the LaTeX is left out; a ``.tex`` of that name from an earlier table stays as it is.
    """
    numbers = frame.numbers if isinstance(frame, PaperTable) else None
    frame, table = _built(frame, caption, units, denominators, footnotes, digits)
    paths = paths_for(name, folder, (*FORMATS, "json"))
    _write_csv(frame, table, numbers, paths[0])
    page = PAGE % {"title": _html(table.caption or name), "table": _as_html(table)}
    tex = _as_latex(table, paths[2].stem)
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
        "units": dict(units or {}),
        "denominators": {k: str(v) for k, v in (denominators or {}).items()},
        "footnotes": [{"mark": mark, "text": text} for mark, text in table.notes],
        **provenance(results, parameters),
    }
    paths[4].write_bytes(orjson.dumps(source, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str))
    return [path for path in paths if tex or path != paths[2]]


def save_all(tables: Mapping[str, Mapping[str, Any]], folder: str | Path = "reports/tables", **words: Any) -> str:
    """Save tables by name, each with the arguments of `save` in `tables` and those for all in `words`.

    Returns
    -------
    str
        How many were saved where, and which of them are too large for a printed page and so without LaTeX.
    """
    large = []
    for name, own in tables.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* is not written")
            paths = save(name=name, folder=folder, **words, **own)
        large += [name] * all(path.suffix != ".tex" for path in paths)
    without = f"; without LaTeX, since larger than a printed page: {', '.join(large)}" if large else ""
    return f"{counted(len(tables), 'table')} saved in {folder}{without}" if tables else "no tables saved"


def show(frame: pd.DataFrame | PaperTable, **words: Any) -> Html:
    """The same table in a notebook; arguments as for `save`."""
    return Html(_as_html(_built(frame, **words)[1]))


def markdown(frame: pd.DataFrame | PaperTable, **words: Any) -> str:
    """The same table as GitHub's Markdown; arguments as for `save`."""
    return _as_markdown(_built(frame, **words)[1])


def _built(
    frame: pd.DataFrame | PaperTable,
    caption: str = "",
    units: Any = None,
    denominators: Any = None,
    footnotes: Any = (),
    digits: Any = 2,
) -> tuple[pd.DataFrame, _Table]:
    """The frame with plain headings, and the table made from it."""
    if isinstance(frame, PaperTable):
        frame, caption, footnotes = frame.frame, caption or frame.caption, footnotes or frame.footnotes
    frame = _flat(frame)
    units, denominators = dict(units or {}), dict(denominators or {})
    footnotes = {"": footnotes} if isinstance(footnotes, str) else footnotes
    marked = dict(footnotes) if isinstance(footnotes, Mapping) else {}
    general = [marked.pop("")] if "" in marked else [] if isinstance(footnotes, Mapping) else list(footnotes)
    _check_columns(frame, [*units, *denominators, *marked, *(digits if isinstance(digits, Mapping) else ())])
    return frame, _table(frame, caption, units, denominators, marked, general, digits)


def _as_markdown(table: _Table) -> str:
    """The table as GitHub's Markdown; every character with a special meaning is escaped."""
    heads = [_md(head) + (f"<sup>{mark}</sup>" if mark else "") for head, mark in table.heads]
    rules = ["---:" if numeric else "---" for numeric in table.numeric]
    rows = [heads, rules, *[[_md(cell) for cell in row] for row in table.cells]]
    parts = [f"**{_md(table.caption)}**\n"] if table.caption else []
    parts.append("\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n")
    parts += [(f"<sup>{mark}</sup> " if mark else "") + _md(text) + "\n" for mark, text in table.notes]
    return "\n".join(parts)


def _as_latex(table: _Table, label: str) -> str:
    """The table as a LaTeX float with the rules of booktabs, its notes below it; empty where it is larger than a page.

    It is a ``table*`` where it is wider than one column of two. Columns of text that do not fit become paragraphs.
    """
    size = next((size for size in SIZES if _fits(table, *SIZES[size])), None)
    if size is None:
        return ""
    heads, shares, room = _layout(table, SIZES[size][0])
    wide = room > COLUMN_LETTERS * SIZES[size][0]
    columns = "".join(
        "r" if numeric else "l" if share is None else rf"p{{{0.95 * (share - BETWEEN) / room:.3f}\linewidth}}"
        for numeric, share in zip(table.numeric, shares, strict=True)
    )
    shown = [
        " & ".join(
            _tex(cell) if share is None else rf"\raggedright {breakable(_one_line(cell))}"
            for cell, share in zip(row, shares, strict=True)
        )
        for row in table.cells
    ]
    marks = [rf"\textsuperscript{{{mark}}}" if mark else "" for _, mark in table.heads]
    head = " & ".join(map(_tex_head, heads, marks, table.numeric))
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


def _layout(table: _Table, letters: float) -> tuple[list[list[str]], list[float | None], float]:
    """How a table is set in LaTeX: the lines of its headings, the width of each column that is a paragraph, and that of the whole."""
    column, page = COLUMN_LETTERS * letters, PAGE_LETTERS * letters
    longest = _longest(table)
    heads = [_head_lines(head, size) for (head, _), size in zip(table.heads, longest, strict=True)]
    sizes = [max(size, *map(len, lines)) + BETWEEN for size, lines in zip(longest, heads, strict=True)]
    room = page if sum(sizes) > column else column
    shares = _shared(sizes, [_longest_word(lines) for lines in heads], table.numeric, room)
    return heads, shares, max(room, sum(size if s is None else s for size, s in zip(sizes, shares, strict=True)))


def _fits(table: _Table, letters: float, points: float) -> bool:
    """Whether a table in a size can be printed on one page: it is no wider than the text and no taller."""
    heads, shares, room = _layout(table, letters)
    rows = [
        max((len(_wrapped(cell, share)) for cell, share in zip(row, shares, strict=True)), default=1)
        for row in table.cells
    ]
    texts = [(table.caption, CAPTION), *((text, NOTE) for _, text in table.notes)]
    around = sum(len(_wrapped(text, room * of / letters)) * height for text, (of, height) in texts)
    return room <= PAGE_LETTERS * letters and points * (sum(rows) + max(map(len, heads))) + around <= PAGE_POINTS


def _wrapped(text: str, width: float | None) -> list[str]:
    """The lines of a cell; a word in it is seldom broken at its best place, so a line holds a little less than it could."""
    return textwrap.wrap(_one_line(text), max(int(0.85 * width), 1)) or [""] if width else [text]


def _head_lines(head: str, longest: int) -> list[str]:
    """A heading on lines that are not much longer than the cells below it."""
    return textwrap.wrap(_one_line(head), max(longest, 11), break_on_hyphens=True) or [""]


def _tex_head(lines: list[str], mark: str, numeric: bool) -> str:
    """The lines of a heading above each other, the last one next to the rule."""
    texts = [_tex(line) for line in lines]
    texts[-1] += mark
    if len(texts) == 1:
        return texts[0]
    return rf"\begin{{tabular}}[b]{{@{{}}{'r' if numeric else 'l'}@{{}}}}" + r" \\ ".join(texts) + r"\end{tabular}"


def _longest_word(lines: list[str]) -> float:
    """Room for the longest word of a heading, which is not broken, were all its letters wide."""
    return 1.25 * max(len(word) for line in lines for word in line.split() or [""]) + BETWEEN


def _shared(sizes: list[float], least: list[float], numeric: list[bool], room: float) -> list[float | None]:
    """The width of each column that has to become a paragraph, by its longest cell and at least `least`, so that all fit; None for the others."""
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


def _as_html(table: _Table) -> str:
    """The table as an HTML fragment with its own style."""
    styler = _styler(table, _html_cell, "<sup>%s</sup>").set_caption(_html(table.caption))
    right = [
        {"selector": f".col{number}", "props": "text-align:right;font-variant-numeric:tabular-nums"}
        for number, n in enumerate(table.numeric)
        if n
    ]
    styler.set_table_styles([*_LOOK, *right, *_widths(table)])
    notes = "\n".join(f"<p>{f'<sup>{mark}</sup> ' if mark else ''}{_html(text)}</p>" for mark, text in table.notes)
    return f'<div style="overflow-x:auto">\n{styler.to_html()}\n<div style="font-size:12px;color:var(--jp-content-font-color2,#44505c);max-width:60rem">{notes}</div></div>'


def _widths(table: _Table) -> list[dict[str, str]]:
    """How wide the columns of the HTML may be, so that the table fits a notebook's page.

    Where it would not, it stands closer and more of its cells are broken.
    """
    cells = _longest(table)
    words = [max(map(len, unbroken(_one_line(head)).split(" ")), default=0) for head, _ in table.heads]
    wide = [
        max(LETTER_PIXELS * max(size if size <= SHORT else 0, word), TEXT_PIXELS * (size > SHORT))
        for size, word in zip(cells, words, strict=True)
    ]
    tight = sum(wide) + PADDING_PIXELS * len(wide) > PAGE_PIXELS
    longest, text = (SHORT_WHERE_TIGHT, "min-width:5rem") if tight else (SHORT, "min-width:14rem")
    return [
        *([{"selector": "td, th", "props": "padding:.25rem .4rem"}] if tight else []),
        *(
            {"selector": f"td.col{number}", "props": "white-space:nowrap" if size <= longest else text}
            for number, size in enumerate(cells)
        ),
    ]


def _longest(table: _Table) -> list[int]:
    """The number of characters of the longest cell of each column."""
    return [max((len(row[number]) for row in table.cells), default=0) for number in range(len(table.heads))]


def _styler(table: _Table, escaped: Any, mark: str) -> Any:
    """Pandas' own writer over cells that are escaped already, so that the headings can hold marks."""
    from pandas.io.formats.style import Styler

    heads = [escaped(head) + (mark % letter if letter else "") for head, letter in table.heads]
    frame = pd.DataFrame([[escaped(cell) for cell in row] for row in table.cells], columns=heads, dtype="object")
    whole = content_hash(orjson.dumps([table.heads, table.cells, table.caption]))
    return Styler(frame, uuid=whole[:8], cell_ids=False).hide(axis="index")  # tables of one page keep their looks apart


def _table(
    frame: pd.DataFrame, caption: str, units: dict, denominators: dict, marked: dict, general: list[str], digits: Any
) -> _Table:
    heads = []
    notes: list[tuple[str, str]] = []
    for column in frame.columns:
        mark = ""
        if column in marked:
            mark = MARKS[len(notes) % len(MARKS)] * (1 + len(notes) // len(MARKS))
            notes.append((mark, str(marked[column])))
        heads.append((_heading(column, units, denominators), mark))
    columns = [_texts(frame[c], digits.get(c, 2) if isinstance(digits, Mapping) else digits) for c in frame.columns]
    cells = [list(row) for row in zip(*columns, strict=True)] if len(frame) else []
    notes += [("", str(text)) for text in general]
    if any(cell == MISSING for row in cells for cell in row):
        notes.append(("", MISSING_NOTE))
    pairs = zip(frame.columns, columns, strict=True)
    numeric = [_is_number(frame[c]) or _reads_as_numbers(texts) for c, texts in pairs]
    return _Table(heads, cells, numeric, notes, caption)


def _heading(column: str, units: dict[str, str], denominators: dict[str, Any]) -> str:
    inside = [units[column]] if units.get(column) else []
    if column in denominators:
        n = denominators[column]
        inside.append(n if isinstance(n, str) and "=" in n else f"n = {n:,}" if isinstance(n, int) else f"n = {n}")
    return column + (f" ({', '.join(inside)})" if inside else "")


def _texts(values: pd.Series, digits: int) -> list[str]:
    """The cells of one column as shown: rounded, with NaN as a dash."""
    whole = _is_number(values) and not pd.api.types.is_float_dtype(values.dtype)
    return [_cell(value, 0 if whole else digits) for value in values]


def _cell(value: Any, digits: int) -> str:
    if missing(value):
        return MISSING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return rounded(float(value), digits) if isinstance(value, numbers.Real) else str(value)


def _is_number(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)


def _reads_as_numbers(texts: list[str]) -> bool:
    """Whether a column of text holds numbers, possibly with a suffix: ``85.3 (80.1 to 89.2)``, ``3 of 18``."""
    told = [t for t in texts if t not in (MISSING, "")]
    return bool(told) and all(_NUMBER.fullmatch(t) for t in told)


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
    columns = [" ".join(str(p) for p in c if str(p)) if isinstance(c, tuple) else str(c) for c in frame.columns]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise BadInput(f"the table has two columns named {twice[0]!r}: rename one of them")
    return frame.set_axis(columns, axis=1)


def _check_columns(frame: pd.DataFrame, named: list[str]) -> None:
    for column in named:
        if column not in frame.columns:
            raise BadInput(f"the table has no column {column!r}: name one of {', '.join(frame.columns)}")


def _write_csv(frame: pd.DataFrame, table: _Table, numbers: pd.DataFrame | None, path: Path) -> None:
    """CSV in UTF-8, the numbers behind the texts beside them; a text that a spreadsheet would run as a formula is preceded by an apostrophe."""
    safe = frame.copy()
    safe.columns = [as_cell(head) for head, _ in table.heads]
    for column in safe.columns:
        if not _is_number(safe[column]):
            safe[column] = [None if missing(v) else as_cell(v) if isinstance(v, str) else v for v in safe[column]]
    if numbers is not None:
        safe = pd.concat([safe.reset_index(drop=True), numbers], axis="columns")
    safe.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def _md(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", _one_line(text))


def _tex(text: str) -> str:
    return escaped(_one_line(text))


def _html(text: str) -> str:
    return html_escape(_one_line(text))


def _html_cell(text: str) -> str:
    return html_escape(unbroken(_one_line(text)))


def _one_line(text: str) -> str:
    """Text on one line, its hidden characters made visible."""
    return visible(" ".join(str(text).split()))
