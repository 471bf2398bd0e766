"""Whether a value that stands in a message is its answer: said, and not denied, held out among others, or lost in a pour.

A message is read sentence by sentence. Every value of the fact's kind in it is a mention; what a mention is about are
the
words around it, up to the next value.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from html import unescape
from itertools import product
from typing import Literal, NamedTuple

from .folding import fold, plain
from .pieces import LONGEST_SENTENCE, kept
from .sentences import parts
from .values import values_in, with_units
from .words import common_words, day_names, number_words, of_answers, of_values

COUNTED = 4
"""So many days, each in the same words as the others, are counted through: none of them is told by it."""

CHAIN = 3
"""So many days in a row with nothing but commas between them are counted through as well."""

OF_A_KIND, POURED, MOST_VALUES, MOST_IDS, MOST_DAYS = 4, 12, 20, 9, 9
"""A pour by its different values: from `POURED` on, of each kind no more than `OF_A_KIND` counted, or from
`MOST_VALUES` on in all, or of
numbers of things `MOST_IDS`, or of days that are not counted through `MOST_DAYS`. Of 422 honest messages the longest
reaches 10, 12, 2 and 7."""

MIXED, MIXED_IDS = 10, 4
"""A pour by its different values of all kinds, of amounts no more than `SUMS`, where so many of them are numbers of
things. Honest answers reach 10
values, and 3 numbers."""

SUMS = 2
DENSE, WORDS_EACH = 8, 8
DENSE_IN_ALL, WORDS_EACH_IN_ALL = 9, 11
"""A pour by its density: so many different values or more (of amounts, which come as sums, no more than `SUMS`) with
fewer words than that for
each, in one message and in all. Honest ones have 12 words or more for each."""

ANY_YEAR = 2000
"""The year of days that name none, where only their number counts (a leap year)."""

MOST_CORRECTIONS = 1
"""Messages that may take a value back and give another."""

MOST_KEYS = 6
"""So many names of fields (``total_cents``) stand only in what a machine wrote."""

SIDE = 70
"""Characters on either side of a value within which something can make it no answer."""

How = Literal["said", "denied", "listed", "step"]
Spans = Callable[[str], Iterable[tuple[int, int, str]]]
Values = frozenset[tuple[str, str]]
"""Values with their kinds."""
Topic = tuple[frozenset[str], str]


class Mention(NamedTuple):
    """A value in a message."""

    value: str
    """The value; empty for the one that is looked for."""
    how: How
    """said, denied, listed (one of several possibilities, or counted through), or a step of a sum that ends in another
    value."""
    about: frozenset[str]
    """The telling words around it."""
    mends: bool
    """The sentence corrects an earlier one."""
    chain: tuple[int, ...]
    """Where it stands. Values joined by "and" or as a range share it, and are no rivals."""
    given: bool = False
    """The sentence begins with a condition ("If you mean the one in Britain: ...")."""
    under: Topic = (frozenset(), "")
    """The telling words of the heading it stands under, and the number of a thing that was named last."""


@lru_cache(maxsize=8192)
def cleaned(text: str) -> str:
    """A message as its values are read: what is kept of it, without struck-out words, markup and invisible characters; windows with their units."""
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
    """What a cleaned message says of a value and of others of its kind.

    `right` is the value's `rendering`, and `others` gives the places of all values of the kind in a folded sentence.
    Days (`dates`) are
    counted through; to give other values that were `asked` for in the same words is no counting.
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
    """Whether the value is told by what was said, in this order.

    It is where it is said after any denial of it, at least once in words in which no other value is said as well; the
    steps that lead to it are no other values, also where they are repeated. A rival that the case names (`strict`) is
    told apart only by words of its own. A correction takes the place of what stood before it; who corrects message
    after message is guessing.
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
    """The days that a cleaned message says, in ISO form: none that is denied, held out among others or counted through."""
    said = mentions(text, _NOTHING, partial(_days, year=year), dates=True)
    return frozenset(m.value for m in said if m.how == "said")


@lru_cache(maxsize=4096)
def corrects(text: str) -> bool:
    """Whether a message takes back what was said before it."""
    return bool(_cues()["meant"].search(fold(text)))


def answering(texts: list[str], asked: Values = frozenset()) -> list[str]:
    """The messages in which values are told, cleaned: those that pour none out; none where all of them together pour.

    Values that were asked for (`asked`) are no pour, however many they are.
    """
    answers = ["" if is_poured(text, asked) else cleaned(text) for text in texts]
    counts: Counter[str] = Counter(kind for kind, _ in {pair for text in answers for pair in _poured(text)} - asked)
    words = sum(len(text.split()) for text in answers)
    return [] if _dense(counts, words, DENSE_IN_ALL, WORDS_EACH_IN_ALL) else answers


def is_poured(text: str, asked: Values = frozenset()) -> bool:
    """Whether a message, as it is written or as it is shown, pours values out: what is struck out is poured out as well."""
    return is_pour(kept(text), asked) or is_pour(cleaned(text), asked)


@lru_cache(maxsize=1024)
def is_pour(text: str, asked: Values = frozenset()) -> bool:
    """Whether a cleaned message pours out values rather than answers: too many, too densely, or with a machine's names of fields."""
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
    """The different values of a cleaned message with their kinds; of the days those that are not merely counted through."""
    found = {(v.kind, v.value) for v in values_in(text, ANY_YEAR)}
    if sum(kind == "date" for kind, _ in found) > 2:
        days = {m.value for m in mentions(text, _NOTHING, _days, dates=True) if m.how != "listed"}
        found = {(kind, value) for kind, value in found if kind != "date" or value in days}
    return frozenset(found)


def _days(folded: str, year: int = ANY_YEAR) -> Iterator[tuple[int, int, str]]:
    return ((v.at, v.end, v.value) for v in values_in(folded, year) if v.kind == "date")


def _same(rival: Mention, mine: Mention) -> bool:
    """Whether another value is said of the same thing in the same words, in another sentence, and not on a condition where the first has none."""
    same = rival.about == mine.about and rival.chain[:-1] != mine.chain[:-1] and not _apart(rival, mine)
    return same and (mine.given or not rival.given)


def _apart(one: Mention, other: Mention) -> bool:
    """Whether two values are said of different things: each under a heading of its own, or after another number of a thing."""
    return any(a and b and a != b for a, b in zip(one.under, other.under, strict=True))


def _sentences(text: str, right: re.Pattern[str]) -> Iterator[tuple[str, Topic]]:
    """The folded sentences of a text, each with what it stands under; a line whole where a full stop within the value would cut it in two."""
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
    """The places of the value and of others, in order; of two that overlap the value's own."""
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
    """The mentions of a sentence that works a sum out, without the steps that lead to the value, which is about what they are about."""
    last = max((place for place, m in enumerate(found) if not m.value), default=0)
    about = frozenset[str]().union(*(m.about for m in found[: last + 1]))
    steps, ends = found[:last], found[last : last + 1]
    return [m for m in steps if not m.value] + [m._replace(about=about) for m in ends] + found[last + 1 :]


class _Chain(NamedTuple):
    spans: list[tuple[int, int, str]]
    listed: bool


def _chains(folded: str, spans: list[tuple[int, int, str]], dates: bool) -> list[_Chain]:
    """Values that nothing but joining words part, and whether they are possibilities or counted through."""
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
    """A text with a word in place of each day, whose figures are no row of figures (``July 11, 2026, $89.00``)."""
    for at, end, _ in reversed(sorted(_days(folded))):
        folded = f"{folded[:at]}day{folded[end:]}"
    return folded


def _how(folded: str, start: int, end: int, listed: bool) -> How:
    """How a value is said: not at all of another thing ("one that isn't aluminium"); what a code "is not for" is not denied."""
    before = folded[max(start - SIDE, 0) : start]
    if _before_it("of_another").search(before):
        return "listed"
    left_out = not re.search(r"\d|://", folded[start:end]) and _before_it("not_for").search(before)
    if not left_out and _denied(folded, start, end):
        return "denied"
    return "listed" if listed else "said"


def _denied(folded: str, start: int, end: int) -> bool:
    """Whether a value is denied, declared wrong, or only asked about."""
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
    """The words around a place, up to the values beside it; of what stands between two values each has its own side of a joint."""
    before = max((e for _, e, _ in spans if e <= start), default=0)
    after = min((s for s, _, _ in spans if s >= end), default=len(folded))
    lead = folded[before:start]
    if before and (cut := _CUT.search(lead)):
        lead = lead[cut.end() :]
    return f"{lead} {_CUT.split(folded[end:after], maxsplit=1)[0]}"


def _beside(folded: str, spans: list[tuple[int, int, str]]) -> str:
    """The words of a sentence without its values, for one that has no words of its own."""
    places = [0, *(edge for start, end, _ in spans for edge in (start, end)), len(folded)]
    return " ".join(folded[a:b] for a, b in zip(places[::2], places[1::2], strict=True))


@lru_cache(maxsize=4096)
def telling(words: str) -> frozenset[str]:
    """The telling words of a text: no common ones, no hedges, no short ones, no names of days; figures and single letters are kept."""
    found = re.findall(r"[^\W_]+", plain(words))
    return frozenset(
        w for w in found if w not in _dropped() and (len(w) > 3 or len(w) == 1 or w.isdigit() or w in _number_names())
    )


def _without_counting(found: list[Mention], asked: frozenset[str]) -> list[Mention]:
    """The mentions, those that are counted through marked as listed; what was asked for is not counted."""
    families: dict[frozenset[str], set[str]] = {}
    for m in found:
        if m.how == "said" and m.value not in asked:
            families.setdefault(_family(m), set()).add(m.value)
    counted = {family for family, values in families.items() if len(values) >= COUNTED}
    return [m._replace(how="listed") if m.how == "said" and _family(m) in counted else m for m in found]


def _family(mention: Mention) -> frozenset[str]:
    """What it is about, one figure like another."""
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
    """What of one kind leads up to a value."""
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
    """What is heard around values: how a sentence begins, corrects or works out, and what stands between two values."""
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
    """Bare figures in a row before a value (``3, 4, 5 or 6 July``)."""
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
    """Bare figures joined by "or" after a value (``July 3, 4, 5 or 6``)."""
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
"""Words between the parts of a sum, which tell nothing of what it is about."""
_SUM = re.compile(r"[^.;?!]{0,40}[=+][^.;?!]{0,40}")
_CUT = re.compile(r"[,;:.|=+(]|\s-\s")
_NOTHING = re.compile("(?!)")
_HEADING = re.compile(r"(?:[-•*]\s+)?\*\*[^*]{1,120}\*\*:?|#{1,6}\s.{1,120}|[^.?!]{1,60}:")
_NUMBER = re.compile(r"\b[a-z]{2,4}-\d{4,}\b")
_KEY = re.compile(r"(?<![\w./-])[a-z]{2,20}(?:_[a-z]{1,20}){1,4}(?![\w./@-])")
