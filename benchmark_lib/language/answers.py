"""Decide whether a message states a value as its answer, without denying or dumping it.

A message is read sentence by sentence. Every value of the fact's kind is a mention; its context is the words around it,
up to the next value.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from html import unescape
from itertools import permutations, product
from typing import Literal, NamedTuple

from .denials import SIDE, conditional, denied, of_another, unsaid
from .layout import ANY_YEAR, Placed, column_of, sentences_of
from .owners import Objects, Owners, Span
from .sentences import fold, kept, plain
from .values import values_in, with_units
from .word_lists import any_of, common_words, day_names, day_words, number_words, words_of

COUNTED = 4
"""Number of days in the same form that make an enumeration; an enumerated day is not an answer."""

CHAIN = 3
"""Consecutive days, joined only by commas, that also make an enumeration."""

TYPED = ("date", "measure", "money")
"""Kinds of values that a negation anywhere in their clause denies."""

MOST_CORRECTIONS = 1
"""Most messages that may replace a value with another."""

How = Literal["said", "denied", "unsaid", "listed", "step"]
Spans = Callable[[str], Iterable[Span]]


class Mention(NamedTuple):
    """A value in a message."""

    value: str
    """The value; empty for the fact's own value."""
    how: How
    """said, denied, unsaid (denied by its clause), listed (an option, or enumerated), or a step in another's sum."""
    about: frozenset[str]
    """Significant words around it."""
    mends: bool
    """True if the sentence corrects an earlier one."""
    chain: tuple[int, ...]
    """Its position. Values that are joined by "and" or form a range share it and are not rivals."""
    given: bool = False
    """True if the sentence begins with a condition ("If you mean the one in Britain: ...")."""
    under: tuple[str, ...] = ()
    """The headings above it, the outermost first, and the id that was named last."""
    owner: int | None = None
    """Number of the object for which it is given (see `benchmark_lib.language.owners`)."""
    counted: bool = False
    """True for a day that is numbered in a count ("July 2 is day 1")."""
    ends: bool = False
    """True for a day that is named as the conclusion ("so July 7")."""


@lru_cache(maxsize=8192)
def cleaned(text: str) -> str:
    """Return a message for reading values, truncated, without markup or struck-out words."""
    text = kept(text)
    if "&" in text:
        text = unescape(text)
    for marks, pattern, put in _CLEANING:
        if marks in text:
            text = pattern.sub(put, text)
    return with_units(text)


@lru_cache(maxsize=4096)
def mentions(
    text: str,
    right: re.Pattern[str],
    others: Spans,
    kind: str,
    asked: frozenset[str] = frozenset(),
    objects: Objects = (),
) -> list[Mention]:
    """Return the mentions of a value and of others of its kind in a cleaned message.

    `right` is the value's `rendering`; `others` gives the places of all values of the kind in a folded sentence.
    Enumerations of days are marked as listed, unless the other values were `asked` for. Each mention is assigned to one
    of the `objects`, if it names one.
    """
    collected: list[Mention] = []
    owners = Owners(objects)
    for number, place in enumerate(sentences_of(text, right)):
        spans = _spans(place.folded, right, others)
        owned_by = owners.of(place, spans)
        read = _read(place, spans, kind, number, owned_by) if spans else []
        above, under = telling(" ".join(place.heads[-1:])), (*place.heads, place.number)
        collected += [m._replace(about=m.about or above, under=under) for m in read]
    return _without_counting(collected, asked) if kind == "date" else collected


def stands(said: list[Mention], strict: Iterable[str] = ()) -> bool:
    """Return whether the mentions, in this order, state the value.

    The value must be said after any denial, at least once in words that no other value shares. Steps that lead to it
    do not count as other values, even if repeated. A rival named by the case (`strict`) needs distinct words. A
    correction replaces earlier mentions; corrections in several messages are guesses.
    """
    if len({m.chain[0] for m in said if m.mends and m.how == "said"}) > MOST_CORRECTIONS:
        return False
    strict = set(strict)
    statements: list[Mention] = []
    rivals: list[Mention] = []
    for mention in said:
        if mention.value and (mention.how == "said" or (mention.how == "step" and mention.value in strict)):
            if mention.mends and (not mention.about or any(_same(mention, m) for m in statements)):
                statements = []
            rivals.append(mention)
        elif mention.how == "denied" and not mention.value:
            statements = []
        elif mention.how == "said":
            statements.append(mention)
            rivals = [] if mention.mends else rivals
    named = [r for r in rivals if r.value in strict]
    for rival, m in product(named, statements):
        if (rival.about <= m.about or m.about <= rival.about) and rival.chain != m.chain and not _apart(rival, m):
            return False
    own = {m.chain[:-1] for m in statements}
    return any(not any(_same(r, m) for r in rivals if r.chain[:-1] not in own) for m in statements)


@lru_cache(maxsize=8192)
def days_said(text: str, year: int) -> frozenset[str]:
    """Return the days that a cleaned message states, in ISO form, except denied or listed days."""
    stated = mentions(text, NOTHING, partial(days_in, year=year), "date")
    return frozenset(m.value for m in stated if m.how == "said")


@lru_cache(maxsize=4096)
def corrects(text: str) -> bool:
    """Return whether a message takes back an earlier statement."""
    return bool(_cues()["meant"].search(fold(text)))


def days_in(folded: str, year: int = ANY_YEAR) -> Iterator[tuple[int, int, str]]:
    """Yield the places of the days in a text."""
    return ((v.at, v.end, v.value) for v in values_in(folded, year) if v.kind == "date")


def _same(rival: Mention, own: Mention) -> bool:
    """Return whether a rival is said elsewhere in the same words, without another condition."""
    same = rival.about == own.about and rival.chain[:-1] != own.chain[:-1] and not _apart(rival, own)
    return same and (own.given or not rival.given)


def _apart(one: Mention, other: Mention) -> bool:
    heads = zip(one.under[:-1], other.under[:-1], strict=False)
    return any(telling(a) != telling(b) for a, b in heads) or "" != one.under[-1] != other.under[-1] != ""


def _spans(folded: str, right: re.Pattern[str], others: Spans) -> list[Span]:
    """Return the places of the value and others, in order; the value's own win in an overlap."""
    spans = [(m.start(), m.end(), "") for m in right.finditer(folded)]
    for span in others(folded):
        if not any(span[0] < end and start < span[1] for start, end, _ in spans):
            spans.append(span)
    return sorted(spans)


def _read(place: Placed, spans: list[Span], kind: str, sentence: int, owners: list[int | None]) -> list[Mention]:
    collected: list[Mention] = []
    folded, dates = place.folded, kind == "date"
    columns = [telling(column_of(place, start)) for start, _, _ in spans if dates]
    apart = 0 < len(columns) <= COUNTED and not any(a <= b for a, b in permutations(columns, 2))
    given, mends = conditional(folded), corrects(folded)
    worded = _cues()["meant"].sub(lambda m: " " * len(m.group()), folded) if mends else folded
    for number, group in enumerate(_chains(folded, spans, dates, apart)):
        start, end = group.spans[0][0], group.spans[-1][1]
        about = telling(_around(worded, start, end, spans)) or telling(_beside(worded, spans))
        for span in group.spans:
            how = _how(folded, span, group.listed, kind in TYPED)
            if how == "said" and span[2] and span[1] <= folded.rfind("=", start, end):
                how = "step"
            index = spans.index(span)
            counted, ends = _in_count(folded, span, spans) if dates else (False, False)
            own = about | columns[index] if apart else about, mends, (sentence, number), given
            collected.append(Mention(span[2], how, *own, owner=owners[index], counted=counted, ends=ends))
    if dates or not _cues()["worked"].search(folded):
        return collected
    if any(not m.value for m in collected):
        return _without_steps(collected)
    return collected[-1:] if "=" in folded else collected


def _without_steps(found: list[Mention]) -> list[Mention]:
    """Return the mentions of a calculation without its steps; the value gets their context."""
    last = max((index for index, m in enumerate(found) if not m.value), default=0)
    about = frozenset[str]().union(*(m.about for m in found[: last + 1]))
    steps, ends = found[:last], found[last : last + 1]
    return [m for m in steps if not m.value] + [m._replace(about=about) for m in ends] + found[last + 1 :]


class _Chain(NamedTuple):
    spans: list[Span]
    listed: bool


def _chains(folded: str, spans: list[Span], dates: bool, apart: bool) -> list[_Chain]:
    """Group values joined only by words, unless `apart`; mark options and enumerations."""
    chains: list[_Chain] = []
    for index, span in enumerate(spans):
        between = folded[spans[index - 1][1] : span[0]] if index else ""
        if index and not apart and (_SUM.fullmatch(between) or _cues()["joint"].fullmatch(between)):
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
    if not dates:  # a day's figures do not begin a row ("July 11, $89.00")
        for at, stop, _ in reversed(sorted(days_in(before))):
            before = f"{before[:at]}day{before[stop:]}"
    return bool(_cues()["figures_before"].search(before) or _cues()["figures_after"].match(after))


def _how(folded: str, span: Span, listed: bool, typed: bool) -> How:
    start, end, other = span
    if of_another(folded, start):
        return "listed"
    if denied(folded, start, end):
        return "unsaid" if folded.rstrip().endswith("?") else "denied"
    if typed and unsaid(folded, start, end, own=not other):
        return "unsaid"
    return "listed" if listed else "said"


def _around(folded: str, start: int, end: int, spans: list[Span]) -> str:
    """Return the words around a place, up to the neighboring values or the joints between them."""
    lead, tail = _between(folded, start, end, spans)
    if len(lead) < start and (cut := _CUT.search(lead)):
        lead = lead[cut.end() :]
    return f"{lead} {_CUT.split(tail, maxsplit=1)[0]}"


def _between(folded: str, start: int, end: int, spans: list[Span]) -> tuple[str, str]:
    """Return the texts between a place and the values before and after it."""
    before = max((e for _, e, _ in spans if e <= start), default=0)
    return folded[before:start], folded[end : min((s for s, _, _ in spans if s >= end), default=len(folded))]


def _beside(folded: str, spans: list[Span]) -> str:
    # A value without words of its own gets the words of its sentence.
    places = [0, *(edge for start, end, _ in spans for edge in (start, end)), len(folded)]
    return " ".join(folded[a:b] for a, b in zip(places[::2], places[1::2], strict=True))


@lru_cache(maxsize=4096)
def telling(words: str, short: int = 3) -> frozenset[str]:
    """Return a text's significant words, without common or `short` words, hedges and days."""
    known = {w for w in re.findall(r"[^\W_]+", plain(words)) if w not in _dropped()}
    return frozenset(w for w in known if len(w) > short or len(w) == 1 or w.isdigit() or w in _number_names())


def _without_counting(found: list[Mention], asked: frozenset[str]) -> list[Mention]:
    """Mark enumerated mentions as listed, except the end of a count and `asked` values."""
    families: dict[frozenset[str], list[Mention]] = {}
    for m in found:
        if m.how == "said" and m.value not in asked:  # alike but for figures
            alike = frozenset("#" if w.isdigit() or w in _number_names() else w for w in m.about)
            families.setdefault(_COUNT if m.counted else alike, []).append(m)
    listed = set[Mention]()
    for family, members in families.items():
        goes_on = any(m.chain[0] == members[-1].chain[0] for m in found[found.index(members[-1]) + 1 :])
        ends = [m for m in members if m.ends] == members[-1:] or (family == _COUNT and not goes_on)
        if len({m.value for m in members}) >= (2 if family == _COUNT else COUNTED):
            listed.update(m for m in members if not ends or m.value != members[-1].value)
    return [m._replace(how="listed") if m in listed else m for m in found]


def _in_count(folded: str, span: Span, spans: list[Span]) -> tuple[bool, bool]:
    """Return whether a day is numbered in a count, and whether it is named as the conclusion."""
    lead, tail = _between(folded, span[0], span[1], spans)
    counts, ends = _cues()["counts"], _cues()["ends"]
    return bool(counts.search(f"{lead}|{tail}")), bool(ends.search(f"{lead}|{tail if folded.endswith(tail) else ''}"))


@lru_cache(maxsize=1)
def _dropped() -> frozenset[str]:
    words = {w for known in common_words().values() for w in known}
    words |= {plain(w).strip() for w in words_of("answers", "hedges")} | _OF_SUMS
    return frozenset(words | {plain(name).strip() for names in day_names() for name in names.split("|")})


@lru_cache(maxsize=1)
def _number_names() -> frozenset[str]:
    return frozenset(plain(w).strip() for words in number_words().values() for w in re.findall(r"\w+", words))


@lru_cache(maxsize=1)
def _cues() -> dict[str, re.Pattern[str]]:
    """Return the patterns of corrections, sums, joints, counts, and bare figures in a row."""
    either, both, the = (any_of("values", key) for key in ("or", "and", "the"))
    day, number = any_of("answers", "day"), "|".join(number_words().values())
    links = [word for key in ("or", "and", "to", "the", "by") for word in words_of("values", key)]
    links += ["on", "am", "den", "le", "el", "then", "dann", "puis", "luego", "x"]
    links += [plain(w).strip() for w in words_of("answers", "hedges")]
    links += [n for names in day_names() for n in names.split("|")]
    nth = "|".join([r"\d{1,2}(?:st|nd|rd|th|er|\.)", *map(day_words, range(2, 16))])
    figure, article = r"(?<![\w-])\$?\d[\d.,]*(?:-\d+)?(?:st|nd|rd|th|\.)?", rf"(?:(?:{the}|am|den)\s)?"
    row = rf"(?:{figure}\s?[,/]\s?{article})"
    later = r"(?:the\s|le\s|el\s)?\d{1,2}(?:st|nd|rd|th|\.)?"
    texts = {
        "meant": any_of("answers", "meant"),
        "worked": rf"[=|]|\s[-–−]\s?\$?\d|\b(?:{'|'.join(sorted(_OF_SUMS))})\b",
        "ends": rf"\b(?:{'|'.join([*words_of('answers', 'so'), *words_of('answers', 'last')])})\b",
        "joint": rf"(?:[\s,;/|>→+=×-]|\(\d+\)|\b(?:{'|'.join(dict.fromkeys(links))})\b)+",
        "either": rf"\b(?:{either})\b|/",
        # "day 3", "third business day"
        "counts": rf"\b(?:{day})\s(?:#|no\.\s)?(?:\d{{1,2}}|{number})(?!\w|[.,]\d)"
        rf"|\b(?:{nth})\s(?:\w+\s)?(?:{day})\b|(?<=[\w,|]\s)\(\d{{1,2}}\)",
        # "3, 4, 5 or 6 July"
        "figures_before": rf"(?:{row}{{1,9}}(?:{either})\s{article}|{row}{{2,9}}(?:{both})\s{article}"
        rf"|(?:{figure}\s?/\s?)|{row}{{1,9}}{figure}\s?[,/]\s?|{figure}\s(?:{either})\s{article})$",
        # "July 3, 4, 5 or 6"
        "figures_after": rf"(?:\s?[,/]\s?{later}){{0,9}}(?:\s?,)?\s?(?:(?:{either})\s|/\s?){later}(?![.,]\d)"
        r"(?=\s*(?:$|[.,;:!?)]|\s[^\W\d]))",
    }
    return {name: re.compile(text) for name, text in texts.items()}


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
_COUNT = frozenset(("#",))
"""Context of all days that are numbered in a count."""
_OF_SUMS = frozenset(("less", "minus", "plus", "weniger", "abzuglich", "moins", "menos"))
"""Words between the parts of a sum, which say nothing about its context."""
_SUM = re.compile(r"[^.;?!]{0,40}[=+][^.;?!]{0,40}")
_CUT = re.compile(r"[,;:.|=+(]|\s-\s")
NOTHING = re.compile("(?!)")
