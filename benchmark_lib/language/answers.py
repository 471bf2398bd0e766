"""Decide whether a value in a message is its answer: stated, not denied, not an option, not buried in a dump.

A message is read sentence by sentence. Every value of the fact's kind is a mention; its context is the words around it,
up to the next value.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from html import unescape
from itertools import product
from typing import Literal, NamedTuple

from .sentences import LONGEST_SENTENCE, fold, kept, parts, plain
from .values import values_in, with_units
from .words import common_words, day_names, number_words, of_answers, of_values

COUNTED = 4
"""Days in the same words as each other that make an enumeration; an enumerated day is no answer."""

CHAIN = 3
"""Days in a row, joined only by commas, that make an enumeration as well."""

OF_A_KIND, POURED, MOST_VALUES, MOST_IDS, MOST_DAYS = 4, 12, 20, 9, 9
"""Limits of distinct values that make a dump. `POURED` counts at most `OF_A_KIND` of each kind; the others count all
values, ids, and days outside enumerations. The longest of 422 honest messages reach 10, 12, 2 and 7."""

MIXED, MIXED_IDS = 10, 4
"""A dump by distinct values of all kinds (amounts up to `SUMS`) and by the ids among them. Honest answers reach 10
values and 3 ids."""

SUMS = 2
DENSE, WORDS_EACH = 8, 8
DENSE_IN_ALL, WORDS_EACH_IN_ALL = 9, 11
"""Density of a dump: least number of distinct values (amounts up to `SUMS`), and words for each below which it is one.
It is given for one message and for all. Honest messages have at least 12 words for each value."""

ANY_YEAR = 2000
"""Year of days that name none and need only their number (a leap year)."""

MOST_CORRECTIONS = 1
"""Messages that may take a value back and give another."""

MOST_KEYS = 6
"""Field names (``total_cents``) that occur only in a machine's output."""

SIDE = 70
"""Characters on either side of a value that can disqualify it."""

How = Literal["said", "denied", "listed", "step"]
Spans = Callable[[str], Iterable[tuple[int, int, str]]]
Values = frozenset[tuple[str, str]]
"""Values with their kinds."""
Topic = tuple[frozenset[str], str]


class Mention(NamedTuple):
    """A value in a message."""

    value: str
    """The value; empty for the fact's own value."""
    how: How
    """said, denied, listed (an option, or enumerated), or a step of a sum that ends in another value."""
    about: frozenset[str]
    """Significant words around it."""
    mends: bool
    """True if the sentence corrects an earlier one."""
    chain: tuple[int, ...]
    """Its position. Values joined by "and" or as a range share it and are no rivals."""
    given: bool = False
    """True if the sentence begins with a condition ("If you mean the one in Britain: ...")."""
    under: Topic = (frozenset(), "")
    """Significant words of the heading above it, and the id that was named last."""


@lru_cache(maxsize=8192)
def cleaned(text: str) -> str:
    """Return a message for reading values: cut, without struck-out words, markup or hidden characters, units added."""
    text = kept(text)
    if "&" in text:
        text = unescape(text)
    for marks, pattern, put in _CLEANING:
        if marks in text:
            text = pattern.sub(put, text)
    return with_units(text)


def mentions(
    text: str, right: re.Pattern[str], others: Spans, dates: bool = False, asked: frozenset[str] = frozenset()
) -> list[Mention]:
    """Return the mentions of a value and of others of its kind in a cleaned message.

    `right` is the value's `rendering`; `others` gives the places of all values of the kind in a folded sentence.
    Enumerations of days (`dates`) are marked as listed, unless the other values were `asked` for.
    """
    found: list[Mention] = []
    heading: frozenset[str] = frozenset()
    for place, (folded, under) in enumerate(_sentences(text, right)):
        spans = _spans(folded, right, others)
        read = _read(folded, spans, dates, place)
        found += [m._replace(about=m.about or heading, under=under) for m in read]
        heading = frozenset() if spans else telling(folded) if folded.rstrip().endswith(":") else heading
    return _without_counting(found, asked) if dates else found


def stands(said: list[Mention], strict: Iterable[str] = ()) -> bool:
    """Return whether the mentions, in this order, state the value.

    The value must be said after any denial, at least once in words that no other value shares. Steps that lead to it
    are no other values, even if repeated. A rival named by the case (`strict`) needs distinct words. A correction
    replaces earlier mentions; corrections in several messages are guesses.
    """
    if len({m.chain[0] for m in said if m.mends and m.how == "said"}) > MOST_CORRECTIONS:
        return False
    strict = set(strict)
    mine: list[Mention] = []
    rivals: list[Mention] = []
    for mention in said:
        if mention.value and (mention.how == "said" or (mention.how == "step" and mention.value in strict)):
            if mention.mends and (not mention.about or any(_same(mention, m) for m in mine)):
                mine = []
            rivals.append(mention)
        elif mention.how == "denied" and not mention.value:
            mine = []
        elif mention.how == "said":
            mine.append(mention)
            rivals = [] if mention.mends else rivals
    named = [r for r in rivals if r.value in strict]
    for rival, m in product(named, mine):
        if (rival.about <= m.about or m.about <= rival.about) and rival.chain != m.chain and not _apart(rival, m):
            return False
    own = {m.chain[:-1] for m in mine}
    return any(not any(_same(r, m) for r in rivals if r.chain[:-1] not in own) for m in mine)


@lru_cache(maxsize=8192)
def days_said(text: str, year: int) -> frozenset[str]:
    """Return the days that a cleaned message states, in ISO form, without denied, optional or enumerated days."""
    said = mentions(text, _NOTHING, partial(_days, year=year), dates=True)
    return frozenset(m.value for m in said if m.how == "said")


@lru_cache(maxsize=4096)
def corrects(text: str) -> bool:
    """Return whether a message takes back an earlier statement."""
    return bool(_cues()["meant"].search(fold(text)))


def answering(texts: list[str], asked: Values = frozenset()) -> list[str]:
    """Return the cleaned messages, with an empty text for a dump; return none if all together are a dump.

    Values that were asked for (`asked`) never make a dump.
    """
    answers = ["" if is_poured(text, asked) else cleaned(text) for text in texts]
    counts: Counter[str] = Counter(kind for kind, _ in {pair for text in answers for pair in _poured(text)} - asked)
    words = sum(len(text.split()) for text in answers)
    return [] if _dense(counts, words, DENSE_IN_ALL, WORDS_EACH_IN_ALL) else answers


def is_poured(text: str, asked: Values = frozenset()) -> bool:
    """Return whether a message is a dump, as written or as shown; struck-out values count as well."""
    return is_pour(kept(text), asked) or is_pour(cleaned(text), asked)


@lru_cache(maxsize=1024)
def is_pour(text: str, asked: Values = frozenset()) -> bool:
    """Return whether a cleaned message dumps values: too many, too densely, or with a machine's field names."""
    counts = Counter(kind for kind, _ in _poured(text) - asked)
    return (
        _dense(counts, len(text.split()), DENSE, WORDS_EACH)
        or sum(min(n, OF_A_KIND) for kind, n in counts.items() if kind != "id") >= POURED
        or counts.total() >= MOST_VALUES
        or (counts["id"] >= MIXED_IDS and counts.total() - _beyond_sums(counts) >= MIXED)
        or counts["id"] >= MOST_IDS
        or counts["date"] >= MOST_DAYS
        or len({*_KEY.findall(text)}) >= MOST_KEYS
    )


def _dense(counts: Counter[str], words: int, many: int, each: int) -> bool:
    values = counts.total() - counts["id"] - _beyond_sums(counts)
    return values >= many and words < each * values


def _beyond_sums(counts: Counter[str]) -> int:
    return max(counts["money"] - SUMS, 0)


@lru_cache(maxsize=1024)
def _poured(text: str) -> frozenset[tuple[str, str]]:
    """Return the distinct values of a cleaned message with their kinds, without days that are only enumerated."""
    found = {(v.kind, v.value) for v in values_in(text, ANY_YEAR)}
    if sum(kind == "date" for kind, _ in found) > 2:
        days = {m.value for m in mentions(text, _NOTHING, _days, dates=True) if m.how != "listed"}
        found = {(kind, value) for kind, value in found if kind != "date" or value in days}
    return frozenset(found)


def _days(folded: str, year: int = ANY_YEAR) -> Iterator[tuple[int, int, str]]:
    return ((v.at, v.end, v.value) for v in values_in(folded, year) if v.kind == "date")


def _same(rival: Mention, mine: Mention) -> bool:
    """Return whether a rival is said in another sentence in the same words, without an additional condition."""
    same = rival.about == mine.about and rival.chain[:-1] != mine.chain[:-1] and not _apart(rival, mine)
    return same and (mine.given or not rival.given)


def _apart(one: Mention, other: Mention) -> bool:
    """Return whether two values belong to different headings or ids."""
    return any(a and b and a != b for a, b in zip(one.under, other.under, strict=True))


def _sentences(text: str, right: re.Pattern[str]) -> Iterator[tuple[str, Topic]]:
    """Yield the folded sentences with heading and id; a line stays whole if a full stop would cut the value."""
    heading, number = frozenset[str](), ""
    for line in text.splitlines():
        whole, cut = fold(line), [fold(part) for part in parts(line)]
        if _HEADING.fullmatch(line.strip()):
            heading = telling(whole)
        broken = len(whole) <= LONGEST_SENTENCE and right.search(whole) and not any(map(right.search, cut))
        for folded in [whole] if broken else cut:
            number = (_NUMBER.findall(folded) or [number])[-1]
            yield folded, (heading, number)


def _spans(folded: str, right: re.Pattern[str], others: Spans) -> list[tuple[int, int, str]]:
    """Return the places of the value and of others, in order; the value's own wins an overlap."""
    found = [(m.start(), m.end(), "") for m in right.finditer(folded)]
    for span in others(folded):
        if not any(span[0] < end and start < span[1] for start, end, _ in found):
            found.append(span)
    return sorted(found)


def _read(folded: str, spans: list[tuple[int, int, str]], dates: bool, sentence: int) -> list[Mention]:
    found: list[Mention] = []
    if not spans:
        return found
    given = _cues()["condition"].match(folded.lstrip("( ")) is not None
    mends = corrects(folded)
    worded = _cues()["meant"].sub(lambda m: " " * len(m.group()), folded) if mends else folded
    for number, group in enumerate(_chains(folded, spans, dates)):
        start, end = group.spans[0][0], group.spans[-1][1]
        about = telling(_around(worded, start, end, spans)) or telling(_beside(worded, spans))
        sum_ends = folded.rfind("=", start, end)
        for place in group.spans:
            how = _how(folded, place[0], place[1], group.listed)
            if how == "said" and place[2] and place[1] <= sum_ends:
                how = "step"
            found.append(Mention(place[2], how, about, mends, (sentence, number), given))
    if dates or not _cues()["worked"].search(folded):
        return found
    if any(not m.value for m in found):
        return _without_steps(found)
    return found[-1:] if "=" in folded else found


def _without_steps(found: list[Mention]) -> list[Mention]:
    """Return the mentions of a calculation without the steps to the value, which inherits their context."""
    last = max((place for place, m in enumerate(found) if not m.value), default=0)
    about = frozenset[str]().union(*(m.about for m in found[: last + 1]))
    steps, ends = found[:last], found[last : last + 1]
    return [m for m in steps if not m.value] + [m._replace(about=about) for m in ends] + found[last + 1 :]


class _Chain(NamedTuple):
    spans: list[tuple[int, int, str]]
    listed: bool


def _chains(folded: str, spans: list[tuple[int, int, str]], dates: bool) -> list[_Chain]:
    """Group values that only joining words separate, and mark options and enumerations."""
    chains: list[_Chain] = []
    for place, span in enumerate(spans):
        between = folded[spans[place - 1][1] : span[0]] if place else ""
        if place and (_SUM.fullmatch(between) or _cues()["joint"].fullmatch(between)):
            last = chains[-1]
            either = last.listed or bool(_cues()["either"].search(between))
            chains[-1] = _Chain([*last.spans, span], either)
        else:
            chains.append(_Chain([span], False))
    return [c._replace(listed=c.listed or _is_list(folded, c, dates)) for c in chains]


def _is_list(folded: str, chain: _Chain, dates: bool) -> bool:
    start, end = chain.spans[0][0], chain.spans[-1][1]
    in_a_row = dates and len({value for _, _, value in chain.spans}) >= CHAIN
    if in_a_row or (len(chain.spans) > COUNTED and not re.search(r"[+=]", folded[start:end])):
        return True
    before, after = folded[max(start - SIDE, 0) : start], folded[end : end + SIDE]
    before = before if dates else _without_days(before)
    return bool(_numbers_before().search(before) or _numbers_after().match(after))


def _without_days(folded: str) -> str:
    """Replace each day with a word, so that its figures make no row of figures (``July 11, 2026, $89.00``)."""
    for at, end, _ in reversed(sorted(_days(folded))):
        folded = f"{folded[:at]}day{folded[end:]}"
    return folded


def _how(folded: str, start: int, end: int, listed: bool) -> How:
    """Return how a value is said: a value of another thing is listed, and what a code "is not for" is not denied."""
    before = folded[max(start - SIDE, 0) : start]
    if _before_it("of_another").search(before):
        return "listed"
    left_out = not re.search(r"\d|://", folded[start:end]) and _before_it("not_for").search(before)
    if not left_out and _denied(folded, start, end):
        return "denied"
    return "listed" if listed else "said"


def _denied(folded: str, start: int, end: int) -> bool:
    """Return whether a value is denied, declared wrong, or only asked about."""
    clause = re.split(r"[,;(]\s|\s-\s", folded[max(start - SIDE, 0) : start])[-1]
    before, after = folded[max(start - SIDE, 0) : start], folded[end : end + SIDE]
    if _denied_after().match(after):
        return True
    if _cues()["condition"].match(clause):
        return False
    if _denied_before().search(before):
        return True
    return folded.rstrip().endswith("?") and bool(_cues()["question"].match(clause)) and not re.search(r"[,;.]", after)


def _around(folded: str, start: int, end: int, spans: list[tuple[int, int, str]]) -> str:
    """Return the words around a place, up to the neighboring values or the joints between them."""
    before = max((e for _, e, _ in spans if e <= start), default=0)
    after = min((s for s, _, _ in spans if s >= end), default=len(folded))
    lead = folded[before:start]
    if before and (cut := _CUT.search(lead)):
        lead = lead[cut.end() :]
    return f"{lead} {_CUT.split(folded[end:after], maxsplit=1)[0]}"


def _beside(folded: str, spans: list[tuple[int, int, str]]) -> str:
    """Return the words of a sentence without its values, for a value without words of its own."""
    places = [0, *(edge for start, end, _ in spans for edge in (start, end)), len(folded)]
    return " ".join(folded[a:b] for a, b in zip(places[::2], places[1::2], strict=True))


@lru_cache(maxsize=4096)
def telling(words: str) -> frozenset[str]:
    """Return a text's significant words: figures and letters, but no common or short words, hedges or days."""
    found = re.findall(r"[^\W_]+", plain(words))
    return frozenset(
        w for w in found if w not in _dropped() and (len(w) > 3 or len(w) == 1 or w.isdigit() or w in _number_names())
    )


def _without_counting(found: list[Mention], asked: frozenset[str]) -> list[Mention]:
    """Mark enumerated mentions as listed; values that were asked for do not count."""
    families: dict[frozenset[str], set[str]] = {}
    for m in found:
        if m.how == "said" and m.value not in asked:
            families.setdefault(_family(m), set()).add(m.value)
    counted = {family for family, values in families.items() if len(values) >= COUNTED}
    return [m._replace(how="listed") if m.how == "said" and _family(m) in counted else m for m in found]


def _family(mention: Mention) -> frozenset[str]:
    """Return the context of a mention, with all figures alike."""
    return frozenset("#" if w.isdigit() or w in _number_names() else w for w in mention.about)


@lru_cache(maxsize=1)
def _dropped() -> frozenset[str]:
    words = {w for known in common_words().values() for w in known}
    words |= {plain(w).strip() for w in of_answers("hedges")} | _OF_SUMS
    return frozenset(words | {plain(name).strip() for names in day_names() for name in names.split("|")})


@lru_cache(maxsize=1)
def _number_names() -> frozenset[str]:
    return frozenset(plain(w).strip() for words in number_words().values() for w in re.findall(r"\w+", words))


def _one_of(key: str) -> str:
    return "|".join(re.escape(w) for w in of_answers(key))


@lru_cache(maxsize=1)
def _denied_before() -> re.Pattern[str]:
    small = rf"(?:(?:{_one_of('small')})\b[\s':(-]*)"
    wrong = rf"\b(?:{_one_of('wrong')})\s+{small}{{0,3}}"
    denies = rf"(?:{'|'.join(of_answers('not'))})\b[\s'-]+{small}{{0,6}}(?:(?<=link)|(?<=enlace)|(?<=lien))?,?\s?"
    instead = rf"\b(?:{'|'.join(of_answers('instead'))})\s*{small}{{0,4}}"
    return re.compile(rf"(?:{denies}|{instead}|{wrong})[\"«“(\s]*$")


@lru_cache(maxsize=2)
def _before_it(key: str) -> re.Pattern[str]:
    """Return the pattern of the cues before a value, of one kind."""
    return re.compile(rf"(?:{'|'.join(of_answers(key))})(?:\s+(?:{_one_of('small')})\b){{0,2}}[\"«“(\s-]*$")


@lru_cache(maxsize=1)
def _denied_after() -> re.Pattern[str]:
    verb = rf"(?:{'|'.join(of_answers('is'))})"
    no = r"(?:not|n't|nicht|no|pas|kein\w*|never|nie)"
    return re.compile(
        rf"[\s)\"»”'|*,-]*(?:\b(?:that|das|ça|eso)\s)?(?:{verb}\b\s?(?:es\s)?{no}\s(?:{_one_of('of_it')})\b"
        rf"|(?:isn't|wasn't|aren't)\s(?:{_one_of('of_it')})\b|no\s{verb}\s(?:{_one_of('of_it')})\b"
        rf"|(?:{verb}\s)?(?:be\s|been\s|also\s)?(?:{_one_of('wrong')})\b)"
    )


@lru_cache(maxsize=1)
def _cues() -> dict[str, re.Pattern[str]]:
    """Return the patterns of cues around values: conditions, questions, corrections, sums and joints."""
    links = [word for key in ("or", "and", "to", "the", "by") for word in of_values(key)]
    links += ["on", "am", "den", "le", "el", "then", "dann", "puis", "luego", "x"]
    links += [plain(w).strip() for w in of_answers("hedges")] + [n for names in day_names() for n in names.split("|")]
    texts = {
        "condition": rf"\s*[\"']?(?:{_one_of('if')})\b|.*[.!?]\s(?:{_one_of('if')})\b",
        "question": rf"[\s¿*\"-]*(?:(?:and|y|et|und|so|or)\s)?(?:{_one_of('asks')})\b",
        "meant": "|".join(of_answers("meant")),
        "worked": rf"[=|]|\s[-–−]\s?\$?\d|\b(?:{'|'.join(sorted(_OF_SUMS))})\b",
        "joint": rf"(?:[\s,;/|>→+=×-]|\(\d+\)|\b(?:{'|'.join(dict.fromkeys(links))})\b)+",
        "either": rf"\b(?:{'|'.join(of_values('or'))})\b|/",
    }
    return {name: re.compile(text) for name, text in texts.items()}


@lru_cache(maxsize=1)
def _numbers_before() -> re.Pattern[str]:
    """Return the pattern of bare figures in a row before a value (``3, 4, 5 or 6 July``)."""
    figure = r"(?<![\w-])\$?\d[\d.,]*(?:-\d+)?(?:st|nd|rd|th|\.)?"
    either, both = "|".join(of_values("or")), "|".join(of_values("and"))
    the = rf"(?:(?:{'|'.join(of_values('the'))}|am|den)\s)?"
    row = rf"(?:{figure}\s?[,/]\s?{the}){{1,9}}"
    rows = rf"(?:{figure}\s?[,/]\s?{the}){{2,9}}"
    return re.compile(
        rf"(?:{row}(?:{either})\s{the}|{rows}(?:{both})\s{the}|(?:{figure}\s?/\s?)|{row}{figure}\s?[,/]\s?|{figure}\s(?:{either})\s{the})$"
    )


@lru_cache(maxsize=1)
def _numbers_after() -> re.Pattern[str]:
    """Return the pattern of bare figures joined by "or" after a value (``July 3, 4, 5 or 6``)."""
    number = r"(?:the\s|le\s|el\s)?\d{1,2}(?:st|nd|rd|th|\.)?"
    either = "|".join(of_values("or"))
    return re.compile(
        rf"(?:\s?[,/]\s?{number}){{0,9}}(?:\s?,)?\s?(?:(?:{either})\s|/\s?){number}(?=\s*(?:$|[.,;:!?)]|\s[^\W\d]))"
    )


_CLEANING = [
    ("", re.compile(r"[\u200b-\u200d\u2060\ufeff\u00ad]"), ""),
    ("~~", re.compile(r"~~[^~\n]{1,200}~~"), " "),
    (
        "<",
        re.compile(r"</?(?:b|i|u|em|strong|span|mark|code|p|td|th|tr|li|ul|ol|table|div|br)\b[^<>]{0,100}>", re.I),
        " ",
    ),
    ("*", re.compile(r"(?<=\d)\s?\*\s?(?=\d)"), " x "),
    ("_", re.compile(r"(?<![^\W_])_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?![^\W_])"), ""),
]
_OF_SUMS = frozenset(("less", "minus", "plus", "weniger", "abzuglich", "moins", "menos"))
"""Words between the parts of a sum, which say nothing about its context."""
_SUM = re.compile(r"[^.;?!]{0,40}[=+][^.;?!]{0,40}")
_CUT = re.compile(r"[,;:.|=+(]|\s-\s")
_NOTHING = re.compile("(?!)")
_HEADING = re.compile(r"(?:[-•*]\s+)?\*\*[^*]{1,120}\*\*:?|#{1,6}\s.{1,120}|[^.?!]{1,60}:")
_NUMBER = re.compile(r"\b[a-z]{2,4}-\d{4,}\b")
_KEY = re.compile(r"(?<![\w./-])[a-z]{2,20}(?:_[a-z]{1,20}){1,4}(?![\w./@-])")
