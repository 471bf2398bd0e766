"""Find personal values in a conversation by form, after announcing words, and in answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from .names import ARTICLES, PARTICLES, STOP, NameFinder, begins_sentence, is_word
from .personal import KNOWN, folded

Span = tuple[int, int, str]
Reader = Callable[[str, str, int], tuple[int, int] | None]
"""A function of a text, its folded form and a position, which returns the place of the value found there."""
CODE = re.compile(
    r"\d{1,4} [A-Z]{1,3} \d{3,8}|(?:[A-ZÄÖÜ]{1,5} ){0,2}(?=[A-Za-z/.-]{0,8}\d)[A-Za-z0-9]+"
    r"(?:(?:[./-]| (?=\w\w|\w\W*$))(?=[A-Za-z]{0,5}\d)[A-Za-z0-9]+)*(?:(?: [A-Z]|-[A-Za-z])(?![\w'’]))?"
)
"""A number as people write it, in groups and with letters."""
MONEY = re.compile(r" ?(?:[€$£%]|euros?\b|eur\b|usd\b|chf\b|pesos\b|dollars?\b|[x×] |(?:kg|cm|mm|gb|mb|l|h|uhr)\b)")
YOUNGEST = 2015
"""A date up to this year is taken to be a birthday, not the date of an order."""


class Said(NamedTuple):
    """The place of a personal value: the number of its text, its characters, and its kind."""

    at: int
    start: int
    end: int
    kind: str


def said(texts: list[str], kept: Iterable[str] = (), sides: list[str] | None = None) -> Iterator[Said]:
    """Yield the personal values that a conversation itself reveals.

    Parameters
    ----------
    texts : list of str
        The messages, in order.
    kept : iterable of str
        Folded words and phrases that are not personal data.
    sides : list of str, optional
        Who wrote each message; by default, each message is taken as an answer to the one before.
    """
    names = NameFinder(frozenset(kept))
    for at, text in enumerate(texts):
        low = folded(text)
        for finder in (_by_form, _dates, _addresses, _announced):
            yield from (Said(at, *span) for span in finder(text, low))
        yield from (Said(at, *span, "name") for span in names.of(text, sides is not None and sides[at] == "agent"))
    yield from _answers(texts, sides or [], names)
    yield from _over_lines(texts)


@cache
def _compiled(part: str) -> list[tuple[str, re.Pattern[str]]]:
    known = KNOWN[part]
    pairs = [(kind, one) for kind, many in known.items() for one in ([many] if isinstance(many, str) else many)]
    return [(kind, re.compile(one.strip(), re.M)) for kind, one in pairs]


def _by_form(text: str, low: str) -> Iterator[Span]:
    for part, shown in (("forms", low), ("capitals", text)):
        for kind, pattern in _compiled(part):
            for match in pattern.finditer(shown):
                loose = kind in ("number", "phone", "card")
                if kind == "card" and not (_luhn(match[0]) or re.fullmatch(r"(?:\d{4}[ -]){3}\d{4}", match[0])):
                    continue
                if loose and (_of_a_product(text, match.start(), match[0]) or MONEY.match(low, match.end())):
                    continue
                if kind in ("phone", "number") and _of_the_company(low, match.start()):
                    continue
                if kind in ("phone", "number") and re.fullmatch(KNOWN["date"], match[0].strip()):
                    continue
                yield match.start(), match.end(), kind
    words = rf"(?<!\w)(?:{KNOWN['digits']}(?:\W{{1,3}}|(?=\W))){{5,}}{KNOWN['digits']}(?!\w)"
    yield from ((m.start(), m.end(), "phone") for m in re.finditer(words, low))


def _of_the_company(low: str, at: int) -> bool:
    """Return whether a number is a hotline, or is called "our number" by an agent."""
    free = re.match(r"0?[89]00[ -]?\d{2}", low[at : at + 8])
    return bool(free or re.search(KNOWN["own_numbers"], low[max(at - 50, 0) : at]))


def _of_a_product(text: str, start: int, code: str, answer: bool = False) -> bool:
    """Return whether the word before a short code is a brand, or shows that the code is a model."""
    before = re.search(r"([^\W\d_][\w.'’!&-]*)(?: \d{1,4})?[ -]$", text[max(start - 30, 0) : start])
    if before is None:
        return False
    word = folded(before[1])
    if word in KNOWN["makers"] or word in KNOWN["kept"] or (answer and word in ARTICLES):
        return True
    if sum(map(str.isdigit, code)) > 7 or dict(_compiled("said"))["number"].search(f"{word} "):
        return False
    return before[1][0].isupper() and not is_word(word) and not begins_sentence(text, start - len(before[0]))


def _dates(text: str, low: str) -> Iterator[Span]:
    for match in re.finditer(rf"(?<![\d.,/-])(?:{KNOWN['date']})(?!\d)", low):
        if _long_ago(match[0]):
            yield match.start(), match.end(), "birth"
    for match in re.finditer(rf"{KNOWN['born']}({KNOWN['date']})", low):
        yield match.start(1), match.end(1), "birth"


def _long_ago(date: str) -> bool:
    numbers = re.findall(r"\d+", date)
    year = int(numbers[0 if re.match(r"\d{4}", date) else -1])
    return 1920 <= year <= YOUNGEST or 40 <= year <= 99


def _addresses(text: str, low: str) -> Iterator[Span]:
    for kind, pattern in _places():
        for match in pattern.finditer(text if kind == "capitals" else low) if kind in ("folded", "capitals") else ():
            end = match.end()
            # "plaza" and "via" are common words: lower-case words after them are not part of an address.
            usual = dict(_places())["doubt"].search(low[match.start() : end])
            if usual and text[match.start() + usual.end() - 1].islower() and "." not in usual[0]:
                continue
            while more := dict(_places())["further"].match(low, end):
                end = more.end()
            yield match.start(), end, "address"


@cache
def _places() -> list[tuple[str, re.Pattern[str]]]:
    """Return the patterns for addresses, with their parts filled in."""
    stop = "|".join(sorted(map(re.escape, STOP | PARTICLES)))
    parts = {**KNOWN["street"], **KNOWN["parts"], "stop": stop}

    def filled(pattern: str) -> str:
        while inner := re.search(r"<<(\w+)>>", pattern):
            pattern = pattern.replace(inner[0], parts[inner[1]].strip())
        return pattern

    return [(kind, re.compile(filled(one))) for kind, many in KNOWN["places"].items() for one in many]


def _announced(text: str, low: str) -> Iterator[Span]:
    for kind, pattern in _compiled("said"):
        if kind not in READERS:
            continue
        for match in pattern.finditer(low):
            found = READERS[kind](text, low, match.end())
            if found is not None:
                yield *found, "number" if kind in ("tail", "ends", "extension", "postcode") else kind


def _code(text: str, low: str, at: int) -> tuple[int, int] | None:
    found = CODE.match(text, at)
    if found is None or MONEY.match(low, found.end()):
        return None
    digits, signs = sum(map(str.isdigit, found[0])), sum(map(str.isalnum, found[0]))
    booking = len(found[0]) == signs == 6 and 0 < digits < 5
    year = re.fullmatch(r"(?:19|20)\d\d", found[0])
    return (at, found.end()) if (digits >= 2 or booking) and signs >= 3 and not year else None


def _match(pattern: str) -> Reader:
    def read(text: str, low: str, at: int) -> tuple[int, int] | None:
        found = re.compile(pattern).match(low, at)
        return found.span() if found else None

    return read


def _user(text: str, low: str, at: int) -> tuple[int, int] | None:
    found = re.compile(r"@?[\w.-]{3,30}").match(low, at)
    return (at, at + len(found[0].rstrip(".-"))) if found and not is_word(found[0].rstrip(".-")) else None


def _secret(text: str, low: str, at: int) -> tuple[int, int] | None:
    found = re.compile(r"\d{3,8} (?:or|oder|o|ou) \d{3,8}|\w{3,20}").match(low, at)
    return found.span() if found and (found[0][-1].isdigit() or text[at : found.end()].istitle()) else None


READERS: dict[str, Reader] = {
    "number": _code,
    "phone": _match(r"\+?\(?\d[\d ()./-]{4,20}\d(?!\w)"),
    "extension": _match(r"\d{2,6}(?![\w.,]\d|\w)"),
    "postcode": _match(r"[a-z]{0,2}-?\d[\da-z]{1,4}(?:[ -][\da-z]{3,4})?(?!\w)"),
    **dict.fromkeys(("tail", "ends"), _match(r"\d{4}(?![\w.,/:-]\d|\w| ?[€$£]| eur| \d)")),
    "user": _user,
    "secret": _secret,
}


def _answers(texts: list[str], sides: list[str], names: NameFinder) -> Iterator[Said]:
    """Yield the values in short answers to the other side's questions."""
    for at, text in enumerate(texts[1:], 1):
        before = at - 1
        while sides and before >= 0 and sides[before] == sides[at] and at - before <= 2:
            before -= 1
        if before < 0 or (sides and sides[before] == sides[at]) or len(texts[before]) > 400:
            continue
        question = folded(texts[before])
        if not re.search(KNOWN["asks"], question):
            continue
        kinds = {kind for kind, pattern in _compiled("asked") if pattern.search(question)}
        if "name" not in kinds and len(text.split()) <= 9:
            named = {folded(texts[before][a:b]) for a, b in names.of(texts[before])}
            parts = {word for one in named for word in one.split()}
            for start, end in names.answered(re.split(r"[.!?\n]", text)[0]) if parts else ():
                if parts & {*folded(text[start:end]).split()}:
                    yield Said(at, start, end, "name")
        yield from (Said(at, *span) for span in _answer(text, folded(text), kinds, names))


def _answer(text: str, low: str, kinds: set[str], names: NameFinder) -> Iterator[Span]:
    if len(low.split()) > 14 or "?" in low:
        return
    if "unit" in kinds:
        for match in re.finditer(r"(?<![\w.,])(?:\d{1,3} ?[a-h]|[a-h]-?\d{1,3})(?!\w)", low):
            yield *match.span(), "address"
    if "name" in kinds:
        yield from ((*m.span(), "birth") for m in re.finditer(KNOWN["date"], low) if re.search(r"\d{4}$", m[0]))
    if "birth" in kinds:
        spoken = KNOWN["date"].replace(r"|\d{1,2}", r"|(?:\d{1,2}|[a-z-]{3,16})")
        yield from ((m.start(), m.end(), "birth") for m in re.finditer(spoken, low))
    if kinds & {"number", "postcode", "phone", "tail", "secret"}:
        for match in re.finditer(r"(?<![\w.,])[A-Za-z0-9]", text):
            found = _code(text, low, match.start())
            if found and _of_a_product(text, found[0], text[slice(*found)], answer=True):
                continue
            if found and not ("birth" in kinds and re.search(KNOWN["date"], low[found[0] : found[1]])):
                yield *found, "number"
    if "address" in kinds and len(low.split()) <= 9 and (place := _rest(low)):
        start, end = place
        code = re.compile(KNOWN["shapes"]["postcode"]).search(low, start + 1, end)
        if code:
            yield code.end() - len(code[0].lstrip(", \n")), code.end(), "number"
        end = code.start() if code else end
        # A town at the end does not show where somebody lives.
        town = re.compile(r",\s[^\W\d_]+(?: [^\W\d_]+)?\W*$|^[^\W\d_]+\W*$").search(low[start:end])
        if town and (code or town.start()) and (code or re.search(r"\d", low[start : start + town.start()])):
            end = start + town.start()
        words = re.findall(r"[^\W\d_]+", low[start:end])
        town_alone = re.fullmatch(r"\d{4,5} [^\W\d_]+(?:[ -][^\W\d_]+)?\W*", low[start:end])
        if words and not town_alone and not all(is_word(word) for word in words):
            yield start, end, "address"
    if "secret" in kinds and len(low.split()) <= 3 and (word := _rest(low)):
        yield *word, "secret"
    if "user" in kinds and (word := _rest(low)) and re.search(r"[\d_.]" if "email" in kinds else "", low[slice(*word)]):
        start, end = word
        first = re.compile(r"[\w.-]+").match(low, start)
        if first and (first.end() == end or re.search(r"[\d_.]\w", first[0])):
            yield start, first.end(), "user"
    if "name" in kinds and not (kinds & {"address"} and any(c.isdigit() for c in low)):
        yield from ((*span, "name") for span in names.answered(text))


def _rest(low: str) -> tuple[int, int] | None:
    """Return the place of an answer's value, without the words around it; None if there is none."""
    words = [m for m in re.finditer(r"[^\s,!?;:()]+", low)]
    while words and words[0][0].strip(".") in STOP:
        words = words[1:]
    while words and words[-1][0].strip(".") in STOP:
        words = words[:-1]
    return (words[0].start(), words[-1].start() + len(words[-1][0].rstrip("."))) if words else None


def _over_lines(texts: list[str]) -> Iterator[Said]:
    """Yield the parts of a number that is spread over messages of a few digits each."""
    ends = [re.search(r"(?:^|[^\W\d_.:] ?[.:]? )([\d ./()+-]{1,14})$", text.strip()) for text in texts]
    for at, (one, two) in enumerate(pairwise(ends)):
        if one and two and re.fullmatch(r"[\d ./()+-]+", texts[at + 1].strip()):
            if sum(c.isdigit() for c in one[1] + two[1]) < 6:
                continue
            for n, found in ((at, one), (at + 1, two)):
                shift = len(texts[n]) - len(texts[n].lstrip())
                yield Said(n, found.start(1) + shift, found.end(1) + shift, "phone")


def _luhn(text: str) -> bool:
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [d * 2 - 9 * (d > 4) if n % 2 else d for n, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0
