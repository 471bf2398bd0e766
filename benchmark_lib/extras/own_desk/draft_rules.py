"""Read rules out of documents, each with a quotation that is there word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ...errors import BadInput
from ...language.layout import ANY_YEAR
from ...language.sentences import BULLET, fold, letters, parts
from ...language.values import values_in
from ...records import content_hash
from ...textfiles import read_text
from .complaints import texts
from .desk_file import REFUSE
from .phrases import BASE

HEADING = re.compile(r"#{1,6} +(.+?)[ #]*$|\*\*([^*]{3,80})\*\*$")
wording = partial(texts, BASE / "draft.yaml")
"""Return the patterns and texts of the draft."""
LINK = r"\[([^\]]*)\]\([^)]*\)"
LONGEST, SHORTEST = 40, 4
"""Most sentences of a section, and fewest words of a quotation."""
_WORD = re.compile(r"[^\W_]+|[$€£%]")


def slug(text: Any) -> str:
    """Return a text as a name of a desk file: ``change_address``."""
    return re.sub(r"[^a-z0-9]+", "_", letters(fold(str(text or "")))).lstrip("_0123456789")[:40].rstrip("_")


Name = Annotated[str, BeforeValidator(slug)]
Number = Annotated[int | None, Field(ge=0), BeforeValidator(lambda cell: None if cell == "" else cell)]


class QuotedRule(BaseModel):
    """A row of ``rules.csv``; `by` names the model that proposed it."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: Name = ""
    quotation: str
    file: str = ""
    line: int = 0
    topic: str = ""
    act: Name = ""
    number: Number = None
    unit: Name = ""
    column: Name = ""
    test: Annotated[str, Field(pattern="^(at most|at least|yes|no)$")] = "at most"
    ask: str = ""
    otherwise: Annotated[Name, AfterValidator(lambda name: name or REFUSE)] = REFUSE
    by: str = ""
    accepted: str = "off"


@dataclass(frozen=True)
class Section:
    """A part of a document under one heading; a sentence has the line of its paragraph or item."""

    file: str
    title: str
    text: str
    sentences: list[tuple[int, str]]

    @property
    def key(self) -> str:
        """Return a hash of what is read."""
        return content_hash(f"{self.file}\n{self.title}\n{self.text}".encode())

    @property
    def source(self) -> str:
        """Return where it begins."""
        return f"{self.file}, line {self.sentences[0][0]}"


def sections_of(paths: Iterable[Path]) -> list[Section]:
    """Cut documents at their headings; refuse two of one name, and one without a sentence."""
    found: list[Section] = []
    for path in paths:
        text = read_text(path).replace("\r\n", "\n")
        lines = "".join(c if c.isprintable() or c == "\n" else " " for c in text).split("\n")
        head = lines.index("---", 1) + 1 if lines[:1] == ["---"] and "---" in lines[1:] else 0
        if any(section.file == path.name for section in found):
            raise BadInput(f"two documents are named {path.name}: rename one, so that a quotation names its source")
        cuts = [n for n, line in enumerate(lines) if n > head and HEADING.match(line.strip())]
        before = len(found)
        for start, end in zip([head, *cuts], [*cuts, len(lines)]):
            heading = HEADING.match(lines[start].strip()) if start < end else None
            title = (heading[1] or heading[2]).strip("*_ ") if heading else path.stem
            start += bool(heading)
            said = list(_sentences(lines[start:end], start + 1))
            for at in range(0, len(said), LONGEST):
                text = "\n".join(lines[start:end] if len(said) <= LONGEST else (s for _, s in said[at : at + LONGEST]))
                found.append(Section(path.name, title, text.strip(), said[at : at + LONGEST]))
        if len(found) == before:
            raise BadInput(f"{path} has no sentence: name a document with the company's rules as text or Markdown")
    return found


def _sentences(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    blocks: list[tuple[int, list[str]]] = [(first, [])]
    for number, line in enumerate(lines, first):
        if not line.strip() or BULLET.match(line) or line.lstrip().startswith("|"):
            blocks.append((number + (not line.strip()), []))
        blocks[-1][1].append(BULLET.sub("", line).strip())
    yield from ((number, sentence) for number, block in blocks for sentence in parts(" ".join(block)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def quoted(quotation: str, sections: Iterable[Section]) -> tuple[Section, int, str] | None:
    """Return where a quotation's words follow each other: section, line, and whole sentences.

    The sentences are whole, because a part of one may say the opposite.
    """
    wanted = _words(quotation)
    for section in sections if len(wanted) >= SHORTEST else ():
        words = [(word, place) for place, (_, text) in enumerate(section.sentences) for word in _words(text)]
        text = f" {' '.join(word for word, _ in words)} "
        if (at := text.find(f" {' '.join(wanted)} ")) >= 0:
            first = text.count(" ", 0, at)
            held = section.sentences[words[first][1] : words[first + len(wanted) - 1][1] + 1]
            return section, held[0][0], " ".join(sentence for _, sentence in held)
    return None


def checked(raw: dict[str, Any], sections: list[Section]) -> QuotedRule | tuple[str, str]:
    """Return a row as a rule with the source's own words, or the gate that it fails and why."""
    try:
        rule = QuotedRule.model_validate({name: value for name, value in raw.items() if value is not None})
    except ValidationError as error:
        one = error.errors()[0]
        return "schema", f"{'.'.join(map(str, one['loc']))}: {one['msg']}: correct it"
    own = sorted(sections, key=lambda section: (section.file, section.title) != (rule.file, rule.topic))
    place = quoted(rule.quotation, own)
    if place is None:
        return "no quotation", "these words do not follow each other in the documents: copy a sentence"
    return rule.model_copy(update={"file": place[0].file, "line": place[1], "quotation": place[2]})


def numbers_in(sentence: str) -> list[tuple[int, str]]:
    """Return the windows, limits and amounts of a sentence as number and unit; amounts in cents."""
    known, text = wording(), fold(sentence)
    values = [v for v in values_in(sentence, ANY_YEAR) if v.value.isdigit() and v.kind in {*known["units"], "money"}]
    found = [(int(v.value), "cents" if v.kind == "money" else v.kind) for v in values]
    found += [(int(known["number_words"].get(m[1], m[1])), "weeks") for m in re.finditer(known["weeks"], text)]
    counted = ((int(m[1]), slug(m[2])) for m in re.finditer(known["counts"], text))
    return list(dict.fromkeys([*found, *(one for one in counted if one[1] not in known["periods"])]))


def first_of(patterns: dict[str, str], *texts: str) -> str:
    """Return the first name whose pattern is in a text, or an empty text."""
    return next((name for text in texts for name, sign in patterns.items() if re.search(sign, fold(text))), "")


def proposed(raw: dict[str, Any], section: Section, model: str) -> dict[str, Any]:
    """Return a model's row for a section; a number that its quotation has not is dropped."""
    quoted = {str(number): unit for number, unit in numbers_in(str(raw.get("quotation", "")))}
    number = str(raw.get("number") or "")
    own = {"unit": quoted[number]} if number in quoted else {"number": "", "unit": ""}
    return {**raw, "by": model, "file": section.file, "topic": section.title, "line": 0, **own}


def read_simply(section: Section) -> Iterator[dict[str, Any]]:
    """Yield a row for each sentence that looks like a rule, or for each of its numbers."""
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
            yield {**row, **_asked(sentence)}


def _asked(sentence: str) -> dict[str, str]:
    """Return the question of a condition, and the answer with which the act is allowed."""
    known, text = wording(), re.sub(LINK, r"\1", sentence.replace("’", "'"))
    if not (found := re.search(known["condition"], text, re.I)):
        return {"test": "yes"}
    what = found[2]
    for pattern, spoken in known["spoken"]:
        what = re.sub(pattern, spoken, what, flags=re.I)
    denied = re.search(known["denied"], fold(text.replace(found[0], " ")))
    no = (found[1].lower() == "unless") != bool(denied)
    return {"test": "no" if no else "yes", "ask": known["ask"].format(what=what.strip())}
