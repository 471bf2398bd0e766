"""Find personal values in a conversation by form, after announcing words, and in answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .names import Kept, answered, begins_sentence, is_word, names_in
from .personal import ARTICLES, KNOWN, STOP, folded, patterns, shape

Span = tuple[int, int, str]
YOUNGEST = 2015
"""A date up to this year is taken to be a birthday, not the date of an order."""


def said(texts: list[str], kept: Kept, sides: list[str]) -> list[list[Span]]:
    """Return the personal values that each message of a conversation reveals.

    `sides` says who wrote each message; if empty, each message is taken as an answer to the one before.
    """
    every = list[list[Span]]()
    for at, text in enumerate(texts):
        low, agent = folded(text), bool(sides) and sides[at] == "agent"
        found = [*_by_form(text, low), *_announced(text, low)]
        found += [(*place, "name") for place in names_in(kept, text, agent)]
        every.append([*found, *_answer(text, low, _asked(texts, sides, at), kept)])
    # A telephone number may go on in the next message.
    ends = [shape("digits_at_the_end").search(text) for text in texts]
    for at, (one, two) in enumerate(pairwise(ends)):
        only_digits = re.fullmatch(r"[\d ./()+-]+", texts[at + 1].strip())
        if one and two and only_digits and sum(map(str.isdigit, one[1] + two[1])) >= 6:
            every[at].append((*one.span(1), "phone"))
            every[at + 1].append((*two.span(1), "phone"))
    return every


def _announced(text: str, low: str) -> Iterator[Span]:
    forms, numbers = dict(patterns("values")), ("tail", "ends", "extension", "postcode")
    for kind, pattern in patterns("said"):
        for at in (match.end() for match in pattern.finditer(low)):
            if kind == "number":
                if code := _code(text, low, at):
                    yield *code, kind
            elif found := forms[kind].match(low, at):
                word = found[0].rstrip(".-")
                unfit = kind == "user" and is_word(word)
                unfit |= kind == "secret" and not (word[-1:].isdigit() or text[at : found.end()].istitle())
                if not unfit:
                    yield at, at + len(word), "number" if kind in numbers else kind


def _by_form(text: str, low: str) -> Iterator[Span]:
    for group in ("forms", "capitals", "dates", "addresses", "capital_addresses"):
        for kind, pattern in patterns(group):
            for match in pattern.finditer(text if group.startswith("capital") else low):
                start, end = match.span("value" if "value" in pattern.groupindex else 0)
                if kind == "address":
                    end = _whole_address(text, low, start, end)
                if start < end and not _usual(kind, text, low, start, end):
                    yield start, end, {"past": "birth", "spoken": "phone"}.get(kind, kind)


def _usual(kind: str, text: str, low: str, start: int, end: int) -> bool:
    shown = text[start:end]
    if kind == "past":
        numbers = re.findall(r"\d+", shown)
        year = int(numbers[0 if re.match(r"\d{4}", shown) else -1])
        return not (1920 <= year <= YOUNGEST or 40 <= year <= 99)
    if kind not in ("number", "phone", "card"):
        return False
    if _of_a_product(text, start, shown) or shape("money").match(low, end):
        return True
    hotline = re.match(r"0?[89]00[ -]?\d{2}", low[start : start + 8])
    own = hotline or re.search(KNOWN["own_numbers"], low[max(start - 50, 0) : start])
    return bool(own or shape("date").fullmatch(low[start:end].strip()))


def _of_a_product(text: str, start: int, code: str, answer: bool = False) -> bool:
    """Return whether the word before a short code is a brand, or shows that the code is a model."""
    before = re.search(r"([^\W\d_][\w.'’!&-]*)(?: \d{1,4})?[ -]$", text[max(start - 30, 0) : start])
    if before is None:
        return False
    word = folded(before[1])
    if word in KNOWN["makers"] or word in KNOWN["kept"] or (answer and word in ARTICLES):
        return True
    if sum(map(str.isdigit, code)) > 7 or shape("number", "said").search(f"{word} "):
        return False
    return before[1][0].isupper() and not is_word(word) and not begins_sentence(text, start - len(before[0]))


def _whole_address(text: str, low: str, start: int, end: int) -> int:
    # "plaza" and "via" are common words: lower-case words after them are not part of an address.
    usual = shape("doubtful_street").search(low[start:end])
    if usual and text[start + usual.end() - 1].islower() and "." not in usual[0]:
        return start
    while more := shape("further").match(low, end):
        end = more.end()
    return end


def _code(text: str, low: str, at: int) -> tuple[int, int] | None:
    found = shape("code").match(text, at)
    if found is None or shape("money").match(low, found.end()):
        return None
    digits, signs = sum(map(str.isdigit, found[0])), sum(map(str.isalnum, found[0]))
    booking = len(found[0]) == signs == 6 and 0 < digits < 5
    year = re.fullmatch(r"(?:19|20)\d\d", found[0])
    return (at, found.end()) if (digits >= 2 or booking) and signs >= 3 and not year else None


def _asked(texts: list[str], sides: list[str], at: int) -> set[str]:
    """Return the kinds of values that the message before asks for."""
    before = at - 1
    while sides and before >= 0 and sides[before] == sides[at] and at - before <= 2:
        before -= 1
    if before < 0 or (sides and sides[before] == sides[at]):
        return set()
    question = folded(texts[before])
    if len(question) > 400 or not re.search(KNOWN["asks"], question):
        return set()
    return {kind for kind, pattern in patterns("asked") if pattern.search(question)}


def _answer(text: str, low: str, kinds: set[str], kept: Kept) -> Iterator[Span]:
    if not kinds or len(low.split()) > 14 or "?" in low:
        return
    if "unit" in kinds:
        yield from ((*m.span(), "address") for m in shape("unit").finditer(low))
    if "birth" in kinds:
        yield from ((*m.span(), "birth") for m in shape("spoken_date").finditer(low))
    if kinds & {"number", "postcode", "phone", "tail", "secret"}:
        for match in re.finditer(r"(?<![\w.,])[A-Za-z0-9]", text):
            found = _code(text, low, match.start())
            dated = found and "birth" in kinds and shape("date").search(low[slice(*found)])
            if found and not dated and not _of_a_product(text, found[0], text[slice(*found)], answer=True):
                yield *found, "number"
    word = _rest(low)
    if "address" in kinds and len(low.split()) <= 9 and word:
        yield from _place(low, *word)
    if "secret" in kinds and len(low.split()) <= 3 and word:
        yield *word, "secret"
    if "user" in kinds and word and re.search(r"[\d_.]" if "email" in kinds else "", low[slice(*word)]):
        first = re.compile(r"[\w.-]+").match(low, word[0])
        if first and (first.end() == word[1] or re.search(r"[\d_.]\w", first[0])):
            yield *first.span(), "user"
    if "name" in kinds and not (kinds & {"address"} and any(c.isdigit() for c in low)):
        yield from ((*span, "name") for span in answered(kept, text))


def _place(low: str, start: int, end: int) -> Iterator[Span]:
    code = shape("postcode").search(low, start + 1, end)
    if code:
        yield code.end() - len(code[0].lstrip(", \n")), code.end(), "number"
        end = code.start()
    # A town at the end does not show where somebody lives.
    town = shape("town").search(low[start:end])
    if town and (code or (town.start() and re.search(r"\d", low[start : start + town.start()]))):
        end = start + town.start()
    words = re.findall(r"[^\W\d_]+", low[start:end])
    if not all(map(is_word, words)) and not shape("only_town").fullmatch(low[start:end]):
        yield start, end, "address"


def _rest(low: str) -> tuple[int, int] | None:
    words = list(re.finditer(r"[^\s,!?;:()]+", low))
    told = [n for n, word in enumerate(words) if word[0].strip(".") not in STOP]
    first, last = (words[told[0]], words[told[-1]]) if told else (None, None)
    return (first.start(), last.start() + len(last[0].rstrip("."))) if first and last else None
