"""A table for a write-up: CSV, Markdown, LaTeX and HTML from one frame, each with its own escaping."""

import numbers
import re
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
from ..analysis.estimators.estimate import counted
from ..errors import BadInput
from ..figures.style import paths_for, provenance
from ..outputs import as_cell
from ..scoring.written import DASH, missing, rounded
from .html import table_html
from .tex import one_line, table_tex
from .transcript import Html, render

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
    """Save a table as CSV, Markdown, LaTeX (booktabs) and HTML, with a JSON file that says where it comes from.

    Parameters
    ----------
    frame : DataFrame or Table
        The table; an index with a name is its first column, headings of several levels are joined. A table of
        `tables.paper` brings its caption and footnotes along.
    name : str
        File name without suffix, in lower case; anything but letters, digits, dots and dashes is replaced.
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
        ``.csv``, ``.md``, ``.tex``, ``.html`` and ``.json``. The LaTeX needs the package booktabs alone, is a
        ``table*`` where the table is wider than a column, in a smaller size where it would be larger than a page, and
        left out where even that is. The CSV of a `Table` also holds the unrounded estimates with their intervals
        and n.

    Raises
    ------
    BadInput
        For two columns with the same name, or the digits of a column that does not exist.

    Warns
    -----
    UserWarning
        Where the LaTeX is left out; a ``.tex`` of that name from an earlier table stays as it is.
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


def show(frame: pd.DataFrame | Table, **words: Any) -> Html:
    """The same table in a notebook; arguments as for `save`."""
    return Html(table_html(_built(frame, **words)[1]))


def markdown(frame: pd.DataFrame | Table, **words: Any) -> str:
    """The same table as GitHub's Markdown; arguments as for `save`."""
    return _as_markdown(_built(frame, **words)[1])


def _built(
    frame: pd.DataFrame | Table, caption: str = "", footnotes: Any = (), digits: Any = 2
) -> tuple[pd.DataFrame, Table]:
    general = [("", str(text)) for text in ([footnotes] if isinstance(footnotes, str) else footnotes)]
    if isinstance(frame, Table):
        table = frame.split()
        table = replace(table, caption=caption or table.caption, notes=_known([*table.notes, *general], table.texts()))
        return table.frame(), table
    frame = _flat(frame)
    for column in digits if isinstance(digits, Mapping) else ():
        if column not in frame.columns:
            raise BadInput(f"the table has no column {column!r}: name one of {', '.join(frame.columns)}")
    cells: dict[str, list[Any]] = {}
    for name in frame.columns:
        texts = _texts(frame[name], digits.get(name, 2) if isinstance(digits, Mapping) else digits)
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
    return (*notes, ("", MISSING_NOTE)) if any(text == MISSING for row in texts for text in row) else tuple(notes)


def _texts(values: pd.Series, digits: int) -> list[str]:
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


def reads_as_numbers(texts: list[str]) -> bool:
    """Return True for texts that are numbers, possibly with a suffix: ``85.3 (80.1 to 89.2)``, ``3 of 18``."""
    told = [t for t in texts if t not in (MISSING, "")]
    return bool(told) and all(_NUMBER.fullmatch(t) for t in told)


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
    columns = [" ".join(str(p) for p in c if str(p)) if isinstance(c, tuple) else str(c) for c in frame.columns]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise BadInput(f"the table has two columns named {twice[0]!r}: rename one of them")
    return frame.set_axis(columns, axis=1)


def _write_csv(frame: pd.DataFrame, table: Table, numbers: pd.DataFrame | None, path: Path) -> None:
    # A text that a spreadsheet would run as a formula is preceded by an apostrophe.
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
