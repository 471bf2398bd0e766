"""Build the pattern of a value: every form in which people write it, for folded text."""

import re
from datetime import date
from functools import lru_cache

from .patterns import alternatives
from .sentences import fold
from .word_lists import any_of, day_names, day_words, month_names, number_words, units, words_of

ALSO: dict[str, dict[str, float]] = {
    "g": {"kg": 0.001},
    "kg": {"g": 1000},
    "ml": {"l": 0.001},
    "l": {"ml": 1000},
    "cm": {"mm": 10, "m": 0.01},
    "hours": {"days": 1 / 24},
    "days": {"weeks": 1 / 7},
    "months": {"years": 1 / 12},
    "years": {"months": 12},
}
"""Other units in which a measure may be stated, with the conversion factor from its own unit."""

WHOLE_UNITS = ("days", "weeks", "months", "years")
"""Units that people never write with decimals: a hundred days are not stated in weeks."""

NO_LABELS = ("count", "days", "in")
"""Units whose words often precede a colon without being a label."""


@lru_cache(maxsize=20_000)
def rendering(kind: str, value: str, unit: str | None = None, names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Return the pattern of a value: money (cents), date (ISO), id, link, measure or choice.

    `names` are the expressions that name a choice.
    """
    if kind == "choice":
        return re.compile("|".join(f"(?:{n})" for n in names) or r"(?!)", re.I)
    if kind == "money":
        return re.compile(_money(int(value)))
    if kind == "date":
        return re.compile(_date(date.fromisoformat(value[:10])))
    if kind == "measure":
        return re.compile(_measure(value, unit or "count"))
    if kind == "link":  # with or without its scheme, but not within another link
        bare = re.escape(re.sub(r"^https?://", "", fold(value)).rstrip("/"))
        return re.compile(rf"(?<![\w=/.@-])(?:https?://)?{bare}(?!/?[\w-])")
    return re.compile(_id(fold(value)))


def labelled(unit: str, number: str) -> str:
    """Return the pattern of a number after a label with its unit (``Litres gained: +32``)."""
    if unit in NO_LABELS:
        return "(?!)"
    names = rf"\b(?:{any_of('units', unit)})\b|(?:\(|\b[ie]n\s){units()[unit]}(?!\w)"
    return rf"(?<!\d)(?<!\d[\s-])(?:{names})[^.:;|\d\n]{{0,40}}[:|]\s?\+?(?:{number})(?=\s*(?:$|[;:()|\n]|[.,](?!\d)))"


def _sooner(pattern: str, *words: str) -> str:
    # The pattern is faster if it is tried only at a figure or the first letter of one of its words.
    ways = [way for word in words for way in alternatives(word)]
    if not all(way[:1].isalpha() and way[1:2] not in tuple("?*{") for way in ways):
        return pattern
    return rf"(?=[\d#${''.join(sorted({way[0] for way in ways}))}])(?:{pattern})"


def _id(text: str) -> str:
    """Return the pattern of an id with any separator in it, or of its figures after "order"."""
    parts = [re.escape(part) for part in re.split(r"[\s-]+", text)]
    letters_then_figures = re.fullmatch(r"[a-z]+-\d{4,}", text)
    joint = r"\s?[-_.]?\s?" if re.search(r"\d", text) else r"[\s-]"
    pattern = rf"(?<![^\W_])(?<!-){joint.join(parts)}(?![^\W_]|-)"
    if not letters_then_figures:
        return pattern
    numbers = words_of("values", "number")
    pattern += rf"|(?:#|\b(?:{'|'.join(numbers)}):?)\s?#?{parts[-1]}(?![^\W_]|-)"
    return _sooner(pattern, text, *numbers)


def _money(cents: int) -> str:
    dollars = any_of("units", "dollars")
    whole, rest = divmod(cents, 100)
    digits = f"{whole:,}".replace(",", r"[.,' ]?")
    spelled = [] if rest else _in_words(str(whole))
    sign = r"(?:us\s?)?\$|usd"
    name = rf"(?:(?:us\s?)?\$|usd|(?:us[\s-]?)?(?:{dollars}))"
    start, other = r"(?<![\d.,])(?<![€£])(?<![€£]\s)", r"(?!\s?(?:[€£]|eur\b|gbp\b|euros?\b))"
    forms = [rf"(?:(?:{sign})\s?)?{start}{digits}[.,]{rest:02d}(?!\d)(?:\s?{name})?{other}"]
    if rest % 10 == 0:
        short = rf"{digits}[.,]{rest // 10}(?![\d]|[.,]\d)"
        forms += [rf"(?:{sign})\s?{short}", rf"{start}{short}\s?{name}"]
    if rest:
        joined = "|".join([*words_of("values", "and"), *words_of("values", "with")])
        forms.append(rf"{start}{digits}\s(?:{dollars})(?:\s(?:{joined}))?\s{rest}(?!\d|[.,]\d|\s?%)")
    else:
        bare = rf"{digits}(?![\d]|[.,]\d)"
        forms += [rf"(?:{sign})\s?{bare}", rf"{start}{bare}(?:[.,]-)?\s?{name}"]
        forms += [rf"\b(?:{words})\s(?:{dollars})" for words in spelled]
    return _sooner("|".join(forms), "usd", *spelled)


def _date(day: date) -> str:
    """Return the pattern of a day in words or figures, alone or ending a range (``2-6 July``)."""
    month, d, m = month_names(day.month), day.day, day.month
    of = "".join(rf"{word}\s|" for word in words_of("values", "of"))
    year = rf"(?:,?\s(?:{of}){day.year})?(?!,?\s(?:del?\s)?(?:19|20)\d\d\b)"
    marks = "|".join([*words_of("values", "ordinals"), r"\."])
    longer = "".join(rf"(?<!\b{tens}[\s-])" for tens in words_of("values", "tens"))
    worded = rf"{longer}\b(?:{day_words(d)})\b"
    ordinal = rf"0?{d}(?:{marks})?|{worded}"
    to, the = "|".join(["-", *words_of("values", "to"), *words_of("values", "and")]), any_of("values", "the")
    link = rf"\s?(?:{to})\s?(?:(?:{the})\s)?"
    other = rf"\d{{1,2}}(?:{marks})?"
    articles = "".join(rf"{word}\s|" for word in words_of("values", "the"))
    numbered = rf"(?:{any_of('values', 'ordinals')})\b(?!,?\s(?:{of})(?:{month_names()})\b)"
    figures = [
        rf"(?<!\d){day.year}([-/.])0?{m}\1(?:0?{d})(?!\d)",
        rf"(?<![\d/])0?{m}/0?{d}(?:/(?:{day.year}|{day:%y}))?(?![\d/])",
        rf"(?<![\d/.-])0?{d}([/.-])0?{m}\2(?:{day.year}|{day:%y})(?!\d)",
        rf"(?<![\d/.])0?{d}\.\s?0?{m}\.(?:\s?(?:{day.year}|{day:%y})\b)?(?!\d)",
    ]
    if d > 12:
        figures.append(rf"(?<![\d/])0?{d}/0?{m}(?![\d/])")
    figures += [
        rf"(?<!\d)(?:{ordinal})(?:{link}{other})?[\s/-]?(?:{of})(?:{month})\b\.?{year}",
        rf"\b(?:{month})\.?[\s-](?:{other}{link})?(?:the\s)?(?:0?{d}(?:st|nd|rd|th)?|{worded})\b(?!\d){year}",
        # "Thursday the 9th"
        rf"\b(?:{day_names()[day.weekday()]}),?\s(?:{articles})0?{d}(?:{numbered}|\.?(?=\s*(?:$|[.,;:!?)|]))(?![.,:]\d))",
    ]
    return _sooner("|".join(figures), day_words(d), month, day_names()[day.weekday()])


def _measure(value: str, unit: str) -> str:
    """Return the pattern of a number or range with its unit, or of a side (``H 55 x W 35``).

    Other units count as well (see `ALSO`); the end of a range alone does not.
    """
    low, dash, high = value.partition("-")
    if dash and low:
        return _range(low, high, unit)
    patterns = [_single(value, unit)]
    for other, factor in ALSO.get(unit, {}).items():
        number = round(float(value) * factor, 6)
        if other not in WHOLE_UNITS or number == int(number) > 0:
            patterns.append(_single(f"{number:g}" if number < 1e6 else str(int(number)), other))
    return "|".join(patterns)


def _range(low: str, high: str, unit: str) -> str:
    """Return the pattern of a range (``5 to 10 days``), its bounds, or neighbors (``1 or 2``)."""
    after, (start, end) = units()[unit], _edges(unit)
    joints = words_of("values", "or") if float(high) == float(low) + 1 else ()
    link = rf"\s?(?:-|{'|'.join([*words_of('values', 'to'), *words_of('values', 'and'), *joints])})\s?"
    system = r"(?:[^\W\d]{2}\s)?" if unit == "count" else ""  # EU 44 to EU 47
    least, most, joined = (any_of("values", key) for key in ("at_least", "at_most", "and"))
    bounds = rf"(?:,?\s(?:(?:{joined})\s)?(?:{most})|\s(?:{least}),?(?:\s(?:{joined}))?(?:\s(?:{most}))?)\s"
    again = r"(?:\s?\([\w-]{1,15}\))?"  # five (5)
    pattern = (
        rf"{start}{_number(low)}{again}(?:{after})?(?:{link}|{bounds})"
        rf"{system}{_number(high)}{again}{after}{end}"
    )
    return f"{_sooner(pattern, *_in_words(low))}|{labelled(unit, f'{_number(low)}{link}{_number(high)}')}"


def _single(value: str, unit: str) -> str:
    by = "|".join(["x", "×", "/", "·", *words_of("values", "by")])
    again = r"(?:\s?\(\d+\))?" if unit != "count" else ""  # eight (8)
    side = r"(?:\s?\(?[^\W\d_]{1,9}\)?[.:]?)?"
    more = rf"(?:{side}\s?(?:{units()[unit]})?\s?(?:{by}){side}\s?\d+(?:[.,]\d+)?){{0,2}}{side}"
    sides = more if unit in ("cm", "in") else ""
    start, end = _edges(unit)
    form = _sooner(rf"{start}{_number(value)}{again}{sides}{units()[unit]}{end}", *_in_words(value))
    return f"{form}|{labelled(unit, _number(value))}{_of_three(_number(value), by) if sides else ''}"


def _of_three(number: str, by: str) -> str:
    """Return the pattern of a size without a unit, one of whose three sides is the number."""
    by, side = rf"\s?(?:{by})\s?", r"\d{1,4}(?:[.,]\d)?"
    places = ([number, side, side], [side, number, side], [side, side, number])
    names = "|".join(filter(None, units().values()))
    sizes = "|".join(by.join(sides) for sides in places)
    return rf"|(?<![\d.,/-])(?<!\d\s[x×])(?:{sizes})(?!\s?(?:[x×/]|[.,]?\d)|{names})"


def _edges(unit: str) -> tuple[str, str]:
    """Return the patterns around a number that exclude a longer number and the start of a range."""
    start, end = (r"(?<![\w.,-])", r"(?!\w|[.,]\d)") if unit == "count" else (r"(?<![\d.,-])", r"(?!\w)")
    return start + "".join(rf"(?<!\d {word} )" for word in [*words_of("values", "to"), "-"]), end


def _in_words(number: str) -> list[str]:
    """Return the words for a number as one expression; empty if words are unusual for it."""
    value = float(number)
    return [number_words()[int(value)]] if value == int(value) and int(value) in number_words() else []


def _number(text: str) -> str:
    value = float(text)
    if value == int(value):
        plain = f"{int(value):,}".replace(",", "[., ]?") + r"(?:[.,]0)?"
        return "".join(rf"(?:{plain}|\b(?:{words}))" for words in _in_words(text)) or plain
    return f"{value:g}".replace(".", "[.,]") + "0?"
