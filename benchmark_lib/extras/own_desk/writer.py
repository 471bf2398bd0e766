"""Read a table as people save it, and write the files of a desk that is made from tickets or documents."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from ...errors import BadInput
from ...textfiles import read_text
from .desk_file import FILE
from .kind import DECLARED

CASES = "cases/tickets.yaml"
Row = dict[str, Any]


def read_sheet(path: Path) -> dict[int, list[str]]:
    """Return the cells of each filled row of a CSV file, headings first.

    Rows have the numbers that a spreadsheet program shows. Raise `BadInput` for a file that is no such table.
    """
    text = _text(path).replace("\0", "")
    head = re.sub('"[^"]*"', "", text.lstrip().partition("\n")[0])
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t|", key=head.count), strict=True))
    except csv.Error as error:
        raise BadInput(f"{path} is no sound CSV file ({error}): close all quotes, and double those in a text") from None
    return {at: [cell.strip() for cell in row] for at, row in enumerate(rows, 1) if any(map(str.strip, row))}


def _text(path: Path) -> str:
    if path.is_file() and path.read_bytes()[:2] in (b"PK", b"\xd0\xcf"):
        raise BadInput(f"{path} is a workbook: save it in the spreadsheet program as CSV, and name that file")
    try:
        return read_text(path)
    except BadInput as error:
        if isinstance(error.__context__, UnicodeDecodeError):  # as spreadsheet programs on Windows save it
            return path.read_bytes().decode("cp1252", "replace")
        raise


def files_of(
    desk: str,
    info: dict[str, str],
    rows: dict[str, list[Row]],
    cases: Iterable[Row],
    articles: Iterable[dict[str, str]],
) -> dict[str, str]:
    """Return the texts of a desk's files by name.

    `info` has name, title and clock, `rows` is by table, and `articles` have title, text, and what else is for their
    heads.
    """
    files = {FILE: desk, "store.yaml": as_yaml({**info, "kind": DECLARED}), CASES: as_yaml({"cases": [*cases]})}
    files |= {f"{name}.csv": pd.DataFrame(own).to_csv(index=False, lineterminator="\n") for name, own in rows.items()}
    for number, article in enumerate(articles, 1):
        head = {"id": f"A-{number}", "topics": [article["title"]], **article}
        text = head.pop("text")
        files[f"articles/a{number:03}.md"] = f"---\n{as_yaml(head)}---\n{text}\n"
    return files


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write texts by name into a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def as_yaml(content: Any) -> str:
    """Return content as YAML that people can edit."""
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def unfilled(text: str) -> str:
    """Return a text that a template leaves as it is."""
    return re.sub("{[{%#]", lambda found: "{{ '" + found[0] + "' }}", text)
