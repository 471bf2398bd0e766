"""Read what people write: documents, cut into sections with rules, and spreadsheets."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...errors import BadInput
from ...language.layout import ANY_YEAR
from ...language.sentences import BULLET, fold, parts
from ...language.values import values_in
from ...project import FORMULA
from ...scoring.written import words as words_of
from ...textfiles import OFFICE, read_text
from .desk_file import REFUSE, Row, refusal, slug, texts

wording = partial(texts, "base/draft.yaml")
"""Return the patterns and texts of the draft."""
LINK = r"\[([^\]]*)\]\([^)]*\)"
SHORTEST = 4
"""Minimum words of a quotation."""
UNIT = r"(?<=\w)[-\s]+((business|working)\s+)?[a-z]+$"
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
            raise refusal("same_name", name=path.name)
        own = sections[path.name] = []
        for start, end in zip([head, *headings], [*headings, len(lines)]):
            found = headings.get(start) if start < end else None
            title = (found[1] or found[2]).strip("*_ ") if found else path.stem
            body = lines[start + bool(found) : end]
            if said := [*_sentences(body, start + bool(found) + 1)]:
                own.append(Section(path.name, title, "\n".join(body).strip(), said))
        if not own:
            raise refusal("no_sentence", path=path)
    return [section for own in sections.values() for section in own]


def _sentences(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
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
    if path.is_file() and path.read_bytes()[:2] in OFFICE:
        raise refusal("workbook", path=path)
    try:
        text = read_text(path).replace("\0", "")
    except BadInput as error:
        if not isinstance(error.__context__, UnicodeDecodeError):
            raise
        text = path.read_bytes().decode("cp1252", "replace").replace("\0", "")  # as programs on Windows save it
    head = re.sub('"[^"]*"', "", text.lstrip().partition("\n")[0])
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t|", key=head.count), strict=True))
    except csv.Error as error:
        raise refusal("not_csv", path=path, error=error) from None
    return {at: [cell.strip() for cell in row] for at, row in enumerate(rows, 1) if any(map(str.strip, row))}


def table_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by column, however people or spreadsheets saved it."""
    heads, *rows = [*read_sheet(path).values()] or [[]]
    cells = ([cell[cell[:1] == "'" and cell[1:].startswith(FORMULA) :] for cell in row] for row in rows)
    return [dict(zip(map(slug, heads), row + [""] * len(heads))) for row in cells]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+|[$€£%]", text.casefold())


def quoted(quotation: str, sections: Iterable[Section]) -> tuple[Section, int, str] | None:
    """Return where a quotation occurs, word for word: section, line, and whole sentences."""
    wanted = _words(quotation)
    for section in sections if len(wanted) >= SHORTEST else ():
        words = [(word, place) for place, (_, text) in enumerate(section.sentences) for word in _words(text)]
        text = f" {' '.join(word for word, _ in words)} "
        if (at := text.find(f" {' '.join(wanted)} ")) >= 0:
            first = text.count(" ", 0, at)
            whole = section.sentences[words[first][1] : words[first + len(wanted) - 1][1] + 1]
            return section, whole[0][0], " ".join(sentence for _, sentence in whole)
    return None


def checked(raw: Row, sections: list[Section]) -> Row | tuple[str, str]:
    """Return a row as a rule in the source's own words, or the gate that it fails and why."""
    usual = wording()["rule"]
    tests = [test for sort in wording()["sorts"].values() for test in sort["tests"]]
    rule: Row = usual | {cell: str(value) for cell, value in raw.items() if cell in usual and value is not None}
    rule |= {cell: slug(rule[cell]) for cell in ("id", "act", "unit", "column", "otherwise")}
    if rule["test"] not in tests or not re.fullmatch(r"(\d{1,15}(\.0)?)?", rule["number"]):
        wanted = ", ".join(dict.fromkeys(tests))
        return "schema", wording()["not_whole"].format(wanted=wanted)
    home = rule["file"], rule["topic"]
    place = quoted(rule["quotation"], sorted(sections, key=lambda one: (one.file, one.title) != home))
    if place is None:
        return "no quotation", wording()["no_quotation"]
    rule |= {"otherwise": rule["otherwise"] or REFUSE, "number": int(float(rule["number"])) if rule["number"] else ""}
    return rule | {"file": place[0].file, "line": place[1], "quotation": place[2]}


def numbers_in(sentence: str) -> list[tuple[int, str]]:
    """Return a sentence's windows, limits and amounts (in cents), each as number and unit."""
    known, text = wording(), fold(sentence)
    values = [v for v in values_in(sentence, ANY_YEAR) if v.value.isdigit() and v.kind in {*known["units"], "money"}]
    found = [(int(v.value), "cents" if v.kind == "money" else v.kind) for v in values]
    found += [(int(known["number_words"].get(m[1], m[1])), "weeks") for m in re.finditer(known["weeks"], text)]
    counted = ((int(m[1]), slug(m[2])) for m in re.finditer(known["counts"], text))
    return list(dict.fromkeys([*found, *(one for one in counted if one[1] not in known["periods"])]))


def typed_in(text: str, number: int, unit: str) -> dict[int, int]:
    """Return where a text has a number with its unit: the number's ends by their starts."""
    words = [word for word, value in wording()["number_words"].items() if value == number]
    counted = words_of(unit).removesuffix("s").replace(" ", r"\s+")
    written = rf"(?i)\b(?:{'|'.join([str(number), *words])})(?=[-\s]+{counted})"
    found = {one.start(): one.end() for one in re.finditer(written, text)}
    same = str(number), "money" if unit == "cents" else unit
    values = (one for one in values_in(text, ANY_YEAR) if (one.value, one.kind) == same)
    return found | {one.at: one.at + len(re.sub(UNIT, "", text[one.at : one.end])) for one in values}


def first_of(patterns: dict[str, str], *texts: str) -> str:
    """Return the first name whose pattern matches one of the texts, or an empty text."""
    return next((name for text in texts for name, sign in patterns.items() if re.search(sign, fold(text))), "")


def proposed(raw: Row, section: Section, model: str) -> Row:
    """Return a model's row for a section; drop a number that is not in its quotation."""
    units = {str(number): unit for number, unit in numbers_in(str(raw.get("quotation", "")))}
    number = str(raw.get("number") or "")
    own = {"unit": units[number]} if number in units else {"number": "", "unit": ""}
    return {**raw, "by": model, "file": section.file, "topic": section.title, "line": 0, **own}


def read_simply(section: Section) -> Iterator[Row]:
    """Yield a row for each sentence that looks like a rule, or one for each of its numbers."""
    known = wording()
    for line, sentence in section.sentences:
        text, numbers = fold(sentence), numbers_in(sentence)
        signs = numbers or any(re.search(sign, text) for sign in known["signs"])
        if not signs or text.rstrip(" _").endswith(("?", ":")) or len(_words(text)) < SHORTEST:
            continue
        row = {"quotation": sentence, "file": section.file, "line": line, "topic": section.title}
        row["act"] = first_of(known["acts"], section.title, sentence)
        row["otherwise"] = first_of(known["hands"], sentence) or REFUSE
        least = re.search(known["more"], re.sub(known["less"], "", text)) and not re.search(known["denied"], text)
        for number, unit in numbers:
            column = first_of(known["since"], sentence) or "started_on"
            column = column if unit in known["units"] else known["columns"].get(unit, unit)
            test = "at least" if least else "at most"
            yield {**row, "number": number, "unit": unit, "column": column, "test": test}
        if not numbers:
            yield {**row, "test": "yes"}
