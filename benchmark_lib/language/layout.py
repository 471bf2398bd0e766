"""Read a message's layout: its sentences with their headings, table cells and ids."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from .heard import (
    ASKS,
    EVIDENT,
    LIKELY,
    PLAIN,
    POSSIBLE,
    REMEMBERED,
    SURE,
    ParsedSentence,
)
from .patterns import cue_of_several, holds, mark_of
from .sentences import (
    BULLET,
    LONGEST_SENTENCE,
    Sentence,
    fold,
    is_row,
    parts,
)
from .values import values_in
from .word_lists import LANGUAGES

LONGEST_HEADING = 100
"""Most characters in a line that is a heading without marks."""
BOLD, UNMARKED = 7, 8
"""Ranks of headings below Markdown's six: bold lines, and plain lines by their indentation."""
ANY_YEAR = 2000
"""Year for days that name none, if only their month and day matter (a leap year)."""


class Placed(NamedTuple):
    """A folded sentence with its place in the message."""

    folded: str
    heads: tuple[str, ...] = ()
    """Folded headings above it, the outermost first."""
    number: str = ""
    """The id that was named last."""
    columns: tuple[str, ...] = ()
    """Folded heads of the table's columns; empty if the sentence is not in a table row."""
    block: int = 0
    """Number of its paragraph."""


class _Line(NamedTuple):
    text: str
    folded: str
    rank: int
    block: int
    opens: bool
    """True if it begins a paragraph."""


@lru_cache(maxsize=1024)
def placed(text: str) -> tuple[tuple[Placed, str], ...]:
    """Return the lines of a cleaned message, each folded and as written, with their places."""
    lines = list(_lines(text))
    heads: list[tuple[int, bool, str]] = []
    columns: tuple[str, ...] = ()
    result = []
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else None
        row = line.folded.startswith("|")
        if not row:
            columns = ()
            marked = _HEADING.fullmatch(line.text.strip())
            if marked or _is_head(line, following):
                heads = [head for head in heads if head[0] < line.rank]
                heads.append((line.rank, marked is not None, line.folded))
            elif line.opens or BULLET.match(line.text):
                heads = [head for head in heads if head[1] or head[0] < line.rank]
        elif following and _RULE.fullmatch(following.folded):
            columns = tuple(cell.strip() for cell in line.folded.split("|")[1:])
        above = tuple(head for _, _, head in heads if head != line.folded)
        result.append((Placed(line.folded, above, "", columns, line.block), line.text))
    return tuple(result)


def sentences_of(text: str, right: re.Pattern[str]) -> Iterator[Placed]:
    """Yield the sentences with their places; a line stays whole if a stop would split the value."""
    number = ""
    for line, written in placed(text):
        cut = [line.folded] if line.columns else [fold(part) for part in parts(written)]
        whole = len(line.folded) <= LONGEST_SENTENCE and len(cut) > 1 and right.search(line.folded)
        for folded in [line.folded] if whole and not any(map(right.search, cut)) else cut:
            number = (_NUMBER.findall(folded) or [number])[-1]
            yield line._replace(folded=folded, number=number)


def listed_asks(heard: Iterable[ParsedSentence]) -> Iterator[ParsedSentence]:
    """Yield the sentences; if an item of a list asks, every item with an evident slot does."""
    for listed, items in groupby(heard, key=lambda one: one.item):
        own = [*items]
        asks = listed and any(one.surest >= EVIDENT and one.acts["ask"] >= PLAIN for one in own)
        for one in own:
            raised = asks and one.surest >= EVIDENT and one.acts["ask"] >= POSSIBLE
            yield replace(one, acts=one.acts | {"ask": max(one.acts["ask"], ASKS)}) if raised else one


def marks_before(message: list[Sentence]) -> Iterator[str]:
    """Yield the mark before each sentence; for a list item, the mark of the list's heading."""
    last = heading = ""
    for sentence in message:
        mark = mark_of(sentence.plain)
        yield heading if sentence.item else last
        if not sentence.item:
            heading = mark
        last = mark


def under_needs(message: list[Sentence], languages: tuple[str, ...]) -> Iterator[bool]:
    """Yield whether each sentence is in a list of needs ("I need two things from you:")."""
    needs = False
    for sentence in message:
        row = is_row(sentence.plain)
        listed = row or sentence.item
        yield needs and listed
        if not listed:
            leads = mark_of(sentence.plain) == ":" or bool(cue_of_several("one_of").search(sentence.plain))
            needs = leads and holds("heard_as", "needs", sentence.plain, languages)
        elif row:
            needs = needs or holds("heard_as", "needs", sentence.plain, languages)


def listed_acts(said: list[Sentence], heard: list[ParsedSentence], languages: tuple[str, ...]) -> dict[int, str]:
    """Return, by place, the act of each list item without its own verb: an offer or a report.

    A list is a plan if it is not a menu, and its lead-in or the sentence after it asks for a bare yes.
    """
    acts: dict[int, str] = {}
    items: list[int] = []
    lead, asked = "", False
    for index, (sentence, one) in enumerate(zip(said, heard, strict=True)):
        bare = one.asks_for_a_yes and not (one.either or one.chooses or one.about("ask"))
        if not sentence.item:
            acts |= dict.fromkeys(items if bare else (), "offer")
            items = [] if bare or mark_of(sentence.plain) == ":" else items
            lead, asked = sentence.plain, bare
        elif not (holds("lists", "menus", lead, languages) or holds("lists", "stated", sentence.plain, languages)):
            if holds("lists", "reported", lead, languages):
                acts[index] = "done"
            elif one.acts["no"] < SURE and mark_of(sentence.plain) != "?":
                acts |= {index: "offer"} if asked else {}
                items.append(index)
    return acts


def fitting(
    tools: dict[str, float],
    alike: Mapping[str, set[str]],
    place: int,
    said: list[Sentence],
    heard: list[ParsedSentence],
) -> dict[str, float]:
    """Return a list item's tools that its heading has, or that are evident, with those alike."""
    head = next((heard[n].tools for n in range(place, -1, -1) if not said[n].item), {})
    groups = alike if ": " not in said[place].plain else {}  # not in "Item: ..."
    sums = {tool: sum(tools.get(t, 0.0) for t in {tool, *groups.get(tool, ())}) for tool in tools}
    kept = [tool for tool in tools if head.get(tool, 0.0) >= LIKELY or sums[tool] >= EVIDENT]
    return {tool: tools[tool] for tool in kept}


def with_earlier(heard: list[ParsedSentence], named: list[set[str]]) -> Iterator[ParsedSentence]:
    """Yield the sentences; a question without an act ("OK?") refers to the last offer."""
    for place, one in enumerate(heard):
        before = heard[max(place - REMEMBERED, 0) : place]
        vague = max(one.tools.values(), default=0.0) < EVIDENT or any(each.about("offer") for each in before)
        yield replace(one, tools={}) if one.asks_for_a_yes and not named[place] and vague else one


def asks_about_an_address(one: ParsedSentence) -> ParsedSentence:
    """Return a sentence as a question whether an address is right."""
    acts = one.acts | {"ask": 1.0, "yes": 0.0}
    return replace(one, acts=acts, slots={"address_checked": 1.0}, tools={}, checks_facts=False)


def with_addresses(said: list[Sentence], heard: list[ParsedSentence], named: list[set[str]]) -> list[ParsedSentence]:
    """Return the sentences; an address belongs to the next question, or to the offer before."""
    result, lines, acts = [*heard], list[int](), False
    for place, (sentence, one) in enumerate(zip(said, heard, strict=True)):
        if _ADDRESS.search(sentence.plain):
            lines.append(place)
        elif one.checks_facts and lines[-1:] == [place - 1] and not acts:
            result[place], acts = asks_about_an_address(one), True
        for line in (line for line in lines if acts and said[line].item and not named[line]):
            result[line] = replace(heard[line], tools={})
        does = bool(named[place]) or lines[-1:] != [place]
        acts |= does and bool(one.about("offer") or one.about("done"))
        lines = [] if acts else lines
    return result


def with_remedies(said: list[Sentence], heard: list[ParsedSentence]) -> list[ParsedSentence]:
    """Return the sentences; after a list, "Which one?" or "Reply 1 or 2." asks for a wish."""
    result, items, lead = [*heard], list[int](), ""
    for place, (sentence, one) in enumerate(zip(said, heard, strict=True)):
        which = one.acts["ask"] >= SURE and {"which_one", "goal"} & {*one.slots}
        if sentence.item:
            items.append(place)
        elif holds("not_asked", "any_of_them", sentence.plain, LANGUAGES):
            items = []
        elif (which or one.chooses) and any(heard[n].about("ask") for n in items):
            result[place], items = replace(one, slots={}, one_of=True), []  # of what it needs, one is enough
        elif len(items) > 1 and (one.points or which or one.chooses):
            act = max(max(heard[n].tools.values(), default=0.0) for n in items)
            menu = any(holds("lists", "menus", plain, LANGUAGES) for plain in (lead, sentence.plain))
            options = [n for n in items if one.points or (one.chooses and act < LIKELY)]
            if options or (which and (menu or act >= SURE)):
                acts = one.acts | {"ask": max(one.acts["ask"], ASKS)}
                result[place] = replace(one, acts=acts, slots={"goal": EVIDENT})
                result = [replace(r, slots={}) if n in options else r for n, r in enumerate(result)]
                items = []
        elif mark_of(sentence.plain) == ":":
            items, lead = [], sentence.plain
    return result


def options_in(said: tuple[Sentence, ...], languages: tuple[str, ...]) -> set[int]:
    """Return the places of list items that form a choice, by lead-in or closing question."""
    found, items, menu = set[int](), set[int](), False
    for place, sentence in enumerate(said):
        if sentence.item:
            items.add(place)
        else:
            which = mark_of(sentence.plain) == "?" and cue_of_several("choose").search(sentence.plain)
            found |= items if menu or which else set()
            items, menu = set(), holds("lists", "menus", sentence.plain, languages)
    return found | items if menu else found


def offered(
    place: int, said: list[Sentence], heard: list[ParsedSentence], read_alone: Callable[[str], ParsedSentence]
) -> ParsedSentence:
    """Return a sentence without the tools that it names only as an alternative."""
    one, plain, others = heard[place], said[place].plain, heard[:place] + heard[place + 1 :]
    if max(one.acts["done"], one.acts["no"]) >= max(SURE, one.acts["offer"]):
        return one
    if cue_of_several("rather").search(plain) and not one.asks_for_a_yes:
        # A later question counts only if it names its act: "If you'd rather have a new one, ... Shall I do that?"
        asking = [other for other in others if other.asks_for_a_yes]
        if any(max(other.tools.values(), default=0.0) >= SURE or other in heard[:place] for other in asking):
            return replace(one, tools={})
    found = [m for m in cue_of_several("beside").finditer(plain) if m.lastindex]
    compared = {t for m in found for t, c in read_alone(f"{m[m.lastindex or 0]} ").tools.items() if c >= SURE}
    if compared:
        rest = read_alone(cue_of_several("beside").sub("", plain))
        compared -= {tool for tool, chance in rest.tools.items() if chance >= LIKELY}
        compared = compared if any({*other.about("offer")} - compared for other in (rest, *others)) else set()
    return replace(one, tools={t: c for t, c in one.tools.items() if t not in compared}) if compared else one


def column_of(place: Placed, at: int) -> str:
    """Return the head of a table cell's column; an empty text outside a table."""
    bars = place.folded[:at].count("|") - 1
    return place.columns[bars] if 0 <= bars < len(place.columns) else ""


def _lines(text: str) -> Iterator[_Line]:
    block, opens = 0, True
    for line in text.splitlines():
        if not line.strip():
            block, opens = block + 1, True
            continue
        indent = len(line) - len(line.lstrip())
        marks = re.match(r"\s*(#{1,6})\s", line)
        bold = re.fullmatch(r"\*\*[^*]{1,120}\*\*:?", line.strip())
        rank = BOLD if bold and not indent else UNMARKED + indent + bool(BULLET.match(line))
        yield _Line(line, fold(line).strip(), len(marks[1]) if marks else rank, block, opens)
        opens = False


def _is_head(line: _Line, following: _Line | None) -> bool:
    """Return whether an unmarked line is a heading: short, above lines, without stop or value."""
    if following is None or len(line.text) > LONGEST_HEADING or line.folded[-1:] in ".?!,;|":
        return False
    begins = line.opens and following.block == line.block and following.rank == line.rank
    if not begins and following.rank <= line.rank:
        return False
    return all(value.kind == "id" for value in values_in(line.folded, ANY_YEAR))


_HEADING = re.compile(r"(?:[-•*]\s+)?\*\*[^*]{1,120}\*\*:?|#{1,6}\s.{1,120}|[^.?!]{1,60}:")
_ADDRESS = re.compile(
    r"\b[a-z]{2},? \d{5}\b|(?:address|adresse|direccion|anschrift)\b.{0,40} \d{1,5}\b|^ \d{4,5} [a-z ]+$"
    r"|^ \d{1,5}[a-z]? (?:[a-z]+ ){1,3}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|court|ct|place|way|row)\b"
)
"""Pattern of an address: number and street, a postcode beside its state or town, or a number after its name."""
_NUMBER = re.compile(r"\b[a-z]{2,4}-\d{4,}\b")
_RULE = re.compile(r"\|?[\s:|-]{3,}\|?")
