"""Read what people write: documents with rules, cut into sections, and spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import BadInput
from ...language.sentences import BULLET, parts
from ...outputs import FORMULA
from ...textfiles import read_text
from .desk_file import slug

HEADING = re.compile(r"#{1,6} +(.+?)[ #]*$|\*\*([^*]{3,80})\*\*$")


@dataclass(frozen=True)
class Section:
    """Part of a document under one heading; each sentence has its paragraph's or item's line."""

    file: str
    title: str
    text: str
    sentences: list[tuple[int, str]]


def sections_of(paths: Iterable[Path]) -> list[Section]:
    """Cut documents at their headings; refuse two with the same name, or one without a sentence."""
    sections: dict[str, list[Section]] = {}
    for path in paths:
        text = read_text(path).replace("\r\n", "\n")
        lines = "".join(c if c.isprintable() or c == "\n" else " " for c in text).split("\n")
        head = lines.index("---", 1) + 1 if lines[:1] == ["---"] and "---" in lines[1:] else 0
        headings = {n: found for n, line in enumerate(lines) if n >= head and (found := HEADING.match(line.strip()))}
        if path.name in sections:
            raise BadInput(f"two documents are named {path.name}: rename one, so that quotations show their source")
        own = sections[path.name] = []
        for start, end in zip([head, *headings], [*headings, len(lines)]):
            found = headings.get(start) if start < end else None
            title = (found[1] or found[2]).strip("*_ ") if found else path.stem
            body = lines[start + bool(found) : end]
            if said := [*_sentences(body, start + bool(found) + 1)]:
                own.append(Section(path.name, title, "\n".join(body).strip(), said))
        if not own:
            raise BadInput(f"{path} has no sentence: name a document with the company's rules as text or Markdown")
    return [section for own in sections.values() for section in own]


def _sentences(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield each sentence with the line at which its paragraph or item begins."""
    blocks: list[tuple[int, list[str]]] = [(first, [])]
    for number, line in enumerate(lines, first):
        if not line.strip() or BULLET.match(line) or line.lstrip().startswith("|"):
            blocks.append((number + (not line.strip()), []))
        blocks[-1][1].append(BULLET.sub("", line).strip())
    yield from ((number, sentence) for number, block in blocks for sentence in parts(" ".join(block)))


def read_sheet(path: Path) -> dict[int, list[str]]:
    """Return the cells of each filled row of a CSV file, headings first.

    Rows have the numbers that a spreadsheet program shows. Raise `BadInput` for any other kind of file.
    """
    text = _text(path).replace("\0", "")
    head = re.sub('"[^"]*"', "", text.lstrip().partition("\n")[0])
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t|", key=head.count), strict=True))
    except csv.Error as error:
        raise BadInput(f"{path} is not valid CSV ({error}): close all quotes, and double those within a text") from None
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


def table_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by column, however people or spreadsheets saved it."""
    heads, *rows = [*read_sheet(path).values()] or [[]]
    cells = ([cell[cell[:1] == "'" and cell[1:].startswith(FORMULA) :] for cell in row] for row in rows)
    return [dict(zip(map(slug, heads), row + [""] * len(heads))) for row in cells]
