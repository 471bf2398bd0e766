"""Propose a draft's rows: rules with quotations from documents, and intents from tickets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ...errors import BadInput
from ...extension import offer
from ...language.layout import ANY_YEAR
from ...language.sentences import fold
from ...language.values import values_in
from .desk_file import REFUSE, slug, texts
from .documents import Section
from .tickets import read_cells

wording = partial(texts, "base/draft.yaml")
"""Return the patterns and texts of the draft."""
LINK = r"\[([^\]]*)\]\([^)]*\)"
SHORTEST = 4
"""Minimum words of a quotation."""
_WORD = re.compile(r"[^\W_]+|[$€£%]")
MOST, FAR, FEWEST = 2_000, 0.87, 2
"""Maximum number of tickets to scrub and group, cosine distance between groups, and minimum size of a group."""
WORD = r"(?u)\b[^\W\d_]{2,}\b"
EXAMPLES = ("example_1", "example_2", "example_3")
COLUMNS = ["id", "name", "count", "act", "queue", *EXAMPLES, "accepted"]
Row = dict[str, Any]
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


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def quoted(quotation: str, sections: Iterable[Section]) -> tuple[Section, int, str] | None:
    """Return where a quotation occurs word for word: section, line, and whole sentences.

    The sentences are whole, because part of a sentence may say the opposite.
    """
    wanted = _words(quotation)
    for section in sections if len(wanted) >= SHORTEST else ():
        words = [(word, place) for place, (_, text) in enumerate(section.sentences) for word in _words(text)]
        text = f" {' '.join(word for word, _ in words)} "
        if (at := text.find(f" {' '.join(wanted)} ")) >= 0:
            first = text.count(" ", 0, at)
            whole = section.sentences[words[first][1] : words[first + len(wanted) - 1][1] + 1]
            return section, whole[0][0], " ".join(sentence for _, sentence in whole)
    return None


def checked(raw: Row, sections: list[Section]) -> QuotedRule | tuple[str, str]:
    """Return a row as a rule in the source's own words, or the gate that it fails and why."""
    try:
        rule = QuotedRule.model_validate({name: value for name, value in raw.items() if value is not None})
    except ValidationError as error:
        one = error.errors()[0]
        return "schema", f"{'.'.join(map(str, one['loc']))}: {one['msg']}: correct it"
    place = quoted(rule.quotation, sorted(sections, key=lambda s: (s.file, s.title) != (rule.file, rule.topic)))
    if place is None:
        return "no quotation", "this wording does not occur in the documents: copy a sentence"
    return rule.model_copy(update={"file": place[0].file, "line": place[1], "quotation": place[2]})


def numbers_in(sentence: str) -> list[tuple[int, str]]:
    """Return a sentence's windows, limits and amounts (in cents), each as number and unit."""
    known, text = wording(), fold(sentence)
    values = [v for v in values_in(sentence, ANY_YEAR) if v.value.isdigit() and v.kind in {*known["units"], "money"}]
    found = [(int(v.value), "cents" if v.kind == "money" else v.kind) for v in values]
    found += [(int(known["number_words"].get(m[1], m[1])), "weeks") for m in re.finditer(known["weeks"], text)]
    counted = ((int(m[1]), slug(m[2])) for m in re.finditer(known["counts"], text))
    return list(dict.fromkeys([*found, *(one for one in counted if one[1] not in known["periods"])]))


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
            yield {**row, **_asked(sentence)}


def _asked(sentence: str) -> dict[str, str]:
    """Return the question that a condition raises, and the answer that allows the act."""
    known, text = wording(), re.sub(LINK, r"\1", sentence.replace("’", "'"))
    if not (condition := re.search(known["condition"], text, re.I)):
        return {"test": "yes"}
    what = condition[2]
    for pattern, spoken in known["spoken"]:
        what = re.sub(pattern, spoken, what, flags=re.I)
    denied = re.search(known["denied"], fold(text.replace(condition[0], " ")))
    no = (condition[1].lower() == "unless") != bool(denied)
    return {"test": "no" if no else "yes", "ask": known["ask"].format(what=what.strip())}


def intents_of(path: Path) -> tuple[list[Row], dict[str, int]]:
    """Return a row for each group of similar tickets in a CSV file, and counts by outcome.

    Of more than `MOST` tickets, only some are read. A ticket that may still contain personal data is never shown.
    """
    try:
        from sklearn.cluster import AgglomerativeClustering
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise BadInput("--tickets needs scikit-learn: install it with `make extras`, or omit --tickets") from None
    import numpy as np

    cells = read_cells(path)[0].values()
    emails = [" ".join(filter(None, (row.get("subject"), row["email"]))) for row in cells if row.get("email")]
    emails = emails[:: -(-len(emails) // MOST) or 1]
    scrubber = offer("package", "Scrubber")(corpus=[[email] for email in emails])
    done = [scrubber.texts([email]) for email in emails]
    words = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=FEWEST, token_pattern=WORD)
    grouping = AgglomerativeClustering(None, metric="cosine", linkage="average", distance_threshold=FAR)
    groups = np.full(len(done), -1)
    try:
        words.fit([one.chat[0] for one in done if not one.left])  # no name that may be left becomes a group's word
        vectors = words.transform([one.chat[0] for one in done]).toarray()
        groups[vectors.any(axis=1)] = grouping.fit_predict(vectors[vectors.any(axis=1)])
    except ValueError:
        raise BadInput("the tickets share too few words to form groups: provide more of them") from None
    centres = {group: vectors[groups == group].mean(0) for group in sorted({*groups} - {-1})}
    rows: list[Row] = []
    for group, count in Counter(groups[groups >= 0].tolist()).most_common():
        lift = centres[group] - np.mean([*centres.values()], axis=0)
        telling = [words.get_feature_names_out()[i] for i in np.argsort(-lift, kind="stable")[:3] if lift[i] > 0]
        if count >= FEWEST and telling:
            own = [i for i in np.flatnonzero(groups == group) if not done[i].left]
            own = sorted(own, key=lambda i: -round(vectors[i] @ centres[group], 9))[:3]
            near = [done[i].chat[0] for i in own]
            row = dict.fromkeys(COLUMNS, "") | dict(zip(EXAMPLES, near))
            row |= {"id": f"{slug('_'.join(telling))}_{len(rows) + 1}", "name": ", ".join(telling), "accepted": "off"}
            rows.append({**row, "count": count, "act": first_of(wording()["acts"], " ".join(telling), *near)})
    replaced, back = sum(sum(one.counts.values()) for one in done), sum(bool(one.left) for one in done)
    grouped = sum(row["count"] for row in rows)
    return rows, {"tickets": len(emails), "replaced": replaced, "back": back, "alone": len(emails) - grouped}
