"""Compare statements about a retail desk's orders with calls and results.

The module also reads days from sentences (dates, "tomorrow", weekdays, spans from today), and collects the values that
a desk has published in articles, prompt and policy.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from itertools import product
from typing import Any

from ...errors import BadInput
from ...language.sentences import fold, plain, squash
from ...language.values import WINDOWS, Value, values_in
from ...language.word_lists import books, day_names, words_of
from ...records import ToolCall, as_text
from ...remembered import remembered
from ...store import Store
from ...store.files import dicts
from ...store.retail.offers import by_email, orders_in, variants
from ...store.rules import add_business_days, as_day, holidays

FRIDAY = 4
LONGEST_SPAN = 60
"""Longest span of a delivery or payment, in days."""
_CLOCK = re.compile(r"(?i)\b(?:[aà]|vers|avant|dès) \d{1,2} ?h\b(?: ?\d{2}\b)?|\b\d{1,2} ?h ?\d{2}\b")
"""A time of day in French notation, which is not a number of hours."""


def latest_day(sentence: str, store: Store) -> date | None:
    """Return the latest day that a sentence names; None if it names none.

    Taking the latest keeps a day named in passing ("your order of 24 June") from counting as the promised day.
    """
    today = store.now.date()
    sentence = _CLOCK.sub(" ", sentence)
    found = [*_by_value(sentence, store), *_by_word(plain(sentence), today)]
    return max(found, default=None)


def _by_value(sentence: str, store: Store) -> Iterator[date]:
    """Yield dates, and the later ends of spans."""
    today = store.now.date()
    for value in values_in(sentence, today.year):
        end = value.value.rpartition("-")[2]
        if value.kind == "date":
            yield date.fromisoformat(value.value)
        elif value.kind in ("hours", "days", "business_days") and end.isdigit() and int(end) <= LONGEST_SPAN:
            if value.kind == "business_days":
                yield add_business_days(today, int(end), store)
            else:
                yield today + timedelta(-(-int(end) // 24) if value.kind == "hours" else int(end))


def _by_word(words: str, today: date) -> Iterator[date]:
    relative, weekdays, end_of_week = _patterns()
    for distance, pattern in relative.items():
        if pattern.search(words):
            yield today + timedelta(distance)
    for number, pattern in enumerate(weekdays):
        if pattern.search(words):
            yield today + timedelta((number - today.weekday() - 1) % 7 + 1)
    if end_of_week.search(words):
        yield today + timedelta((FRIDAY - today.weekday()) % 7)


@lru_cache(maxsize=1)
def _patterns() -> tuple[dict[int, re.Pattern[str]], list[re.Pattern[str]], re.Pattern[str]]:
    named = [book["values"].get("relative_days", {}) for book in books().values()]
    distances = sorted({d for words in named for d in words})
    relative = {d: _words([w for words in named for w in words.get(d, ())]) for d in distances}
    weekdays = [_words([plain(name).strip() for name in names.split("|")]) for names in day_names()]
    return relative, weekdays, _words([*words_of("values", "end_of_week")])


def _words(patterns: list[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns) or '(?!)'})(?!\w)")


@dataclass(frozen=True)
class Published:
    """Values that the agent may state without a look-up."""

    text: str
    """The articles and the prompt, folded."""
    values: frozenset[tuple[str, str]]
    """Kind and value of everything that they name, with each end of a window separate."""
    fees: frozenset[int]
    """Amounts, in cents, that the policy adds to a price."""
    codes: frozenset[tuple[str, int]]
    """The policy's codes, each with its discount in percent."""
    business_days: frozenset[int]
    """The policy's windows, alone and with the packing time added."""


@remembered("articles", "policy")
def published(store: Store) -> Published:
    """Return the published values of a store; cached."""
    texts = [article["text"] for article in store.articles]
    with suppress(BadInput):  # a store may have no prompt file
        texts.append(store.prompt()[0])
    found = [pair for text in texts for v in values_in(text, store.now.year) for pair in parts(v)]
    numbers = set(_numbers(store.policy))
    business = {n for name, n in numbers if name.endswith("business_days")}
    processing = _numbers(store.policy.get("processing", {}))
    packing = {n for name, n in processing if name.endswith("business_days")}
    offers = (part for part in dicts(store.policy) if isinstance(part.get("code"), str))
    codes = {(part["code"], part["percent"]) for part in offers if isinstance(part.get("percent"), int)}
    return Published(
        fold("\n".join(texts)),
        frozenset({*found, *(("date", day.isoformat()) for day in holidays(store))}),
        frozenset(n for name, n in numbers if name.endswith("cost_cents")),
        frozenset(codes),
        frozenset(business | {a + b for a, b in product(packing, business)}),
    )


def parts(value: Value) -> set[tuple[str, str]]:
    """Return kind and value and, for a window, those of each end."""
    ends = value.value.split("-") if value.kind in WINDOWS else ()
    return {(value.kind, value.value), *((value.kind, end) for end in ends)}


def _numbers(value: Any, name: str = "") -> Iterator[tuple[str, int]]:
    """Yield every whole number of the policy with the nearest name that describes its unit."""
    if isinstance(value, dict):
        for key, inner in value.items():
            telling = str(key).endswith(_TELLING) or not name.endswith(_TELLING)
            yield from _numbers(inner, str(key) if telling else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, name)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, value


_TELLING = ("days", "months", "cents")


Row = dict[str, Any]
Arrival = tuple[date, int | None, bool]
SENT_AGAIN = ("create_replacement", "create_reshipment")
"""Calls after which goods are sent again."""
LEFT_BY = {
    "create_reshipment": "reshipments",
    "create_replacement": "replacements_in_this_conversation",
    "start_return": "returns",
    "open_carrier_claim": "claims",
}
"""Field of a tool's result that shows an action from before this conversation."""
EDIT = "update_line_item"
"""Tool whose text may also name the line's previous variant."""
MOST_VALUES = 60
"""Most values of a message to compare; no person writes so many."""


@dataclass(frozen=True)
class Comparisons:
    """Functions that compare words with one kind of desk's records; the defaults find nothing."""

    shows: Callable[[Any, str, str], bool] = lambda result, tool, sentence: False
    """True if a result shows that a tool's action was done before."""
    differs: Callable[[ToolCall, str, Store], str | None] = lambda call, text, store: None
    """The part of a text that contradicts the call; None without a contradiction."""
    arrives: Callable[[list[ToolCall], Store], Arrival | None] = lambda calls, store: None
    """The first day on which goods can arrive; None if none are due."""
    proves: Callable[[str, Any, Any, Store], bool] = lambda slot, value, case, store: True
    """True if a customer's value is useful, so that asking again is wrong."""
    private: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Fields that a colleague does not need, each with the queues that do need it."""


def comparisons(store: Store) -> Comparisons:
    """Return the comparisons for a store's kind of desk."""
    return RETAIL if store.kind.name == "retail" else Comparisons()


def shows(result: Any, tool: str, sentence: str) -> bool:
    """Return whether a result shows the claimed state: cancelled, returned or sent before."""
    for row in orders_in(result):
        if tool == "update_shipping_address" and isinstance(address := row.get("shipping_address"), dict):
            seen = squash(str(address.get("line1", "-"))) in squash(sentence)
        else:
            seen = tool == "cancel_order" and row.get("status") == "cancelled"
        if seen or row.get(LEFT_BY.get(tool, "")):
            return True
    return False


def proves(slot: str, value: Any, case: Any, store: Store) -> bool:
    """Return whether a value is useful; another buyer's number or postcode proves nothing."""
    rows, value = store.tables["orders"], str(value).upper()
    if slot == "postcode":
        own = rows.keys() & {case.order, *case.others.values()}
        return value in {rows[number]["shipping_address"]["postcode"] for number in own}
    buyer = by_email(store).get(case.sender.lower(), {}).get("customer_id", "")
    return slot != "order_id" or rows.get(value, {}).get("customer_id") == buyer


def differs(call: ToolCall, text: str, store: Store) -> str | None:
    """Return the part of a text that contradicts its call; None if all comparable parts agree."""
    return next((name for name, check in _PARTS.items() if check(call, text, store)), None)


def _order(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether a text names order numbers of the call's shape, but not the call's own."""
    called = _name(call, "order_id")
    shape = re.sub(r"\d", r"\\d", re.escape(called))
    ids = {v.value for v in values_in(text, store.now.year) if v.kind == "id"}
    named = {number for number in ids if re.fullmatch(shape, number)}
    return bool(named and called) and called not in named


def _product(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether a call replaces a line with another product that the text does not name."""
    (product, _), (ordered, _) = _goods(call, store)
    if not product or not ordered or product is ordered or not text.strip():
        return False
    named, known = (re.findall(r"[^\W_]+", plain(str(of.get("title", "")))) for of in (product, ordered))
    own = {word for word in named if len(word) > 2}.difference(known)
    return own.isdisjoint(re.findall(r"[^\W_]+", plain(text)))


def _goods(call: ToolCall, store: Store) -> list[tuple[Row, Row]]:
    lines = {x["line_id"]: x["variant_id"] for x in _order_of(call, store)["lines"]}
    called = _name(call, "variant_id"), str(lines.get(_name(call, "line_id"))).upper()
    return [variants(store).get(variant, ({}, {})) for variant in called]


def _variant(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether a text names options (of an edited line, changed ones) that the call lacks."""
    (product, variant), (_, ordered) = _goods(call, store)
    old, words = ordered if call.name == EDIT else {}, plain(text)
    for option in product.get("options") or ():
        if old and old.get(option) == variant.get(option):
            continue
        values = {str(v[option]) for v in product["variants"] if v.get(option)}
        named = {v for v in values if re.search(rf"(?<!\w)(?:{_spelled(v)})(?!\w)", words)}
        if named - {str(old.get(option))} and str(variant.get(option)) not in named:
            return True
    return False


@lru_cache(maxsize=512)
def _spelled(value: str) -> str:
    known = [book["options"][value] for book in books().values() if value in book.get("options", ())]
    return "|".join([re.escape(plain(value).strip()), *known])


def _item(call: ToolCall, text: str, store: Store) -> bool:
    lines = _order_of(call, store)["lines"]
    several = call.named.get("line_ids")
    called = several if isinstance(several, list) and several else [_name(call, "line_id")]
    wanted = {x.upper() for x in called if isinstance(x, str)} - {""}
    words = squash(text)
    named = {x["title"] for x in lines if squash(x["title"]) in words}
    return bool(named and wanted) and not named & {x["title"] for x in lines if x["line_id"] in wanted}


def _order_of(call: ToolCall, store: Store) -> Row:
    order: Row = store.tables.get("orders", {}).get(_name(call, "order_id")) or {"lines": []}
    return order


def _name(call: ToolCall, argument: str) -> str:
    value = call.named.get(argument)
    return value.upper() if isinstance(value, str) else ""


def _address(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether the text states an address that contradicts the call's.

    Its numbers, such as a house number, contradict the call if none is in the address. So does an unknown number next
    to the address's street or postcode, unless the order's address on file has it.
    """
    address = call.named.get("address")
    if not isinstance(address, dict):
        return False
    known = squash(" ".join(v if isinstance(v, str) else as_text(v) for v in address.values() if v))
    street = max(re.findall(r"[^\W\d_]{4,}", as_text(address.get("line1") or "")), key=len, default="")
    marks = [squash(m) for m in (as_text(address.get("postcode") or ""), street) if m]
    old = _numbers_of(as_text(_order_of(call, store).get("shipping_address") or ""), store)
    lines = [_numbers_of(line, store) for line in text.splitlines() if any(m in squash(line) for m in marks)]
    if any(n not in known for numbers in lines for n in numbers - old):
        return True
    numbers = _numbers_of(text, store)
    return bool(numbers) and not any(n in known for n in numbers)


def _numbers_of(text: str, store: Store) -> set[str]:
    # Digits in amounts, days, order numbers and measures ("Daypack 22L") do not count.
    rest = text
    for value in values_in(text, store.now.year)[:MOST_VALUES]:
        rest = rest[: value.at] + " " * (value.end - value.at) + rest[value.end :]
    numbers = (squash(number) for number in _WITH_DIGITS.findall(rest))
    return {re.sub(r"(?<=\d)(?:st|nd|rd|th|er|e)$", "", number) for number in numbers} - {""}


_WITH_DIGITS = re.compile(r"(?<![\w-])(?!\d+(?:l|ml|w|cm|kg|g)\b)[\w-]{0,40}\d[\w-]{0,40}", re.I)


def first_arrival(calls: list[ToolCall], store: Store) -> Arrival | None:
    """Return the earliest arrival that the agent's calls show; None if no goods are due.

    The result is the day, the index of the call that shows it (None without a looked-up order), and whether the carrier
    expects it. If not, the day is the end of the shortest published window, counted from today.
    """
    newest: dict[str, tuple[Row, int]] = {}
    resent: list[Arrival] = []
    for call in calls:
        if call.name in SENT_AGAIN:
            resent.append((_by_policy(None, store), call.index, False))
        for order in orders_in(call.result):
            if "order_id" in order and isinstance(order.get("parcels"), list):
                known, _ = newest.get(str(order["order_id"]), ({}, 0))
                newest[str(order["order_id"])] = {**known, **order}, call.index
    if not newest and not resent:
        return _by_policy(None, store), None, False
    arrivals = [*resent, *(a for order, index in newest.values() for a in _of_order(order, index, store))]
    return min(arrivals, key=lambda arrival: arrival[0], default=None)


def _of_order(order: Row, index: int, store: Store) -> Iterator[Arrival]:
    today = store.now.date()
    parcels = [p for p in order["parcels"] if isinstance(p, dict)]
    for parcel in parcels:
        due = as_day(parcel.get("estimated_delivery"))
        if due is not None and not parcel.get("delivered_at"):
            yield max(due, today), index, True
    if order.get("reshipments") or (not parcels and order.get("status") != "cancelled"):
        address = order.get("shipping_address")
        yield _by_policy(address.get("country") if isinstance(address, dict) else None, store), index, False


def _by_policy(country: Any, store: Store) -> date:
    windows = store.policy.get("shipping", {}).get("business_days", {})
    shortest = min((w[0] for c, w in windows.items() if country in (None, c)), default=0)
    return add_business_days(store.now.date(), shortest, store)


_PARTS = {"order_id": _order, "product": _product, "variant": _variant, "item": _item, "address": _address}
RETAIL = Comparisons(
    shows, differs, first_arrival, proves, private={"phone": frozenset(), "method": frozenset({"billing"})}
)
