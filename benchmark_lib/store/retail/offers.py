"""Find rows of a retail desk, and which arguments of a call a message names."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ...language.patterns import between_clauses, cue_of_several
from ...language.sentences import fold, plain, sentences
from ...language.values import has_part, is_address, stands_in
from ...remembered import remembered
from ..files import FrozenDict, FrozenList, TextIndex, best
from ..kinds import Played, Row, Store

_ORDER = re.compile(r"\bNL[- ]?(\d{5})\b", re.I)
_POSTCODE = re.compile(
    r"(?<![\w$€£.-])(?:\d{5}(?:-\d{4})?|[A-Z]\d[A-Z][ -]?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})(?![\w-])"
)
_STREET = re.compile(r"(?<![\w$€£.,/-])\d{1,5}[a-zA-Z]?,? (?:(?:[A-Z]\w{0,30}[.'’]?s? ){1,3}[A-Z]\w+|[Rr]ue \w+)")
_SIZE = re.compile(r"\W+(?:\d+ ?(?:l|w|k|ml)|set of \d+|pair|\d+ x .*)$", re.I)
_WORD = re.compile(r"\w[\w-]*|&")


def named_in(text: str, arguments: dict[str, Any], store: Store) -> tuple[set[str], set[str]]:
    """Return the arguments of a call that a message names, and those it contradicts.

    An argument in neither set is open: the message names no value for it, or names other values as well.
    """
    order = store.tables["orders"].get(str(arguments.get("order_id")))
    if order is None:
        return set(), set()
    verdicts: dict[str, bool | None] = {}
    if ids := {f"NL-{number}" for number in _orders(text)}:
        verdicts["order_id"] = order["order_id"] in ids
    # A procedure has details
    details = arguments.get("details")
    found = {**details, **arguments} if isinstance(details, dict) else arguments
    if wanted := found.get("line_ids") or ([str(found["line_id"])] if "line_id" in found else []):
        argument = next(name for name in ("line_ids", "line_id", "details") if name in arguments)
        lines, strange = _articles(text, order, arguments, store)
        if lines == {*wanted}:
            verdicts[argument] = True
        elif (lines or strange) and not lines & {*wanted}:
            verdicts[argument] = False
    if arguments.get("variant_id") in variants(store):
        verdicts["variant_id"] = _variant(_changing(text), arguments, order, store)
    if is_address(arguments.get("address")):
        verdicts["address"] = _address(text, arguments["address"], order["shipping_address"], store)
    named = {argument for argument, verdict in verdicts.items() if verdict}
    return named, {argument for argument, verdict in verdicts.items() if verdict is False}


def open_to(arguments: dict[str, Any], case: Played, store: Store) -> set[str]:
    """Return the arguments of a call for which the customer's orders allow several values."""
    order = store.tables["orders"].get(arguments.get("order_id", ""), {"lines": ()})
    undetermined = {"address"} | ({"order_id"} if case.others else set())
    if len(order["lines"]) > 1:
        undetermined |= {"line_id", "line_ids"}
    line = next((x for x in order["lines"] if x["line_id"] == arguments.get("line_id")), None)
    if line is None or line["variant_id"] != arguments.get("variant_id"):
        undetermined.add("variant_id")
    return undetermined & arguments.keys()


def between(text: str, case: Played, store: Store) -> str:
    """Return the slot for which a question offers a choice: color or size ("Graphite or navy?").

    The preceding sentence may name the values: "One is graphite, one navy. Which of the two came?".
    """
    lines = store.tables["orders"].get(case.order, {}).get("lines", ())
    sold = [v for line in lines for v in variants(store)[line["variant_id"]][0]["variants"]]
    message, which = sentences(text), cue_of_several("which")
    for place, one in enumerate(message):
        if one.text.rstrip(' *_)"”»').endswith("?"):
            words = f"{message[place - 1].text} {one.text}" if place and which.search(one.plain) else one.text
            for part in ("color", "size"):
                options = {v[part] for v in sold if v.get(part)}
                if sum(_stands_in(o, words, plain(words)) for o in options) > 1:
                    return part
    return ""


def _orders(text: str) -> set[str]:
    """Return the orders that a message names, without those to be kept."""
    clauses = [(plain(clause), set(_ORDER.findall(clause))) for clause in between_clauses().split(text)]
    kept = cue_of_several("kept")
    return {n for words, ids in clauses for n in ids if len(ids) > 1 or not kept.search(words)}


def _variant(text: str, arguments: dict[str, Any], order: Row, store: Store) -> bool | None:
    """Return whether a text names the wanted color and size; None if it leaves them open."""
    words = cue_of_several("beside").sub(" ", plain(text))
    product, wanted = variants(store)[arguments["variant_id"]]
    line = next((x for x in order["lines"] if x["line_id"] == arguments.get("line_id")), None)
    had = variants(store)[line["variant_id"]][1] if line else {}
    verdict = None
    for part in ("color", "size"):
        options = {v[part] for v in product["variants"] if v.get(part)}
        if not wanted.get(part):
            continue
        options |= _colors(store) if part == "color" else set()
        values = {o for o in options if _stands_in(o, text, words)}
        others = values - {had.get(part), wanted[part]}
        moved = wanted[part] == had.get(part) and any(_leads_to(o, words) for o in others)
        if others and (moved or wanted[part] not in values):
            return False
        if wanted[part] in values and not others:
            verdict = True
    return verdict


def _leads_to(option: str, words: str) -> bool:
    """Return whether a text changes something to a color or size."""
    places = (found.start() for found in _whole_word(option).finditer(words))
    return any(cue_of_several("into").search(words[max(at - 30, 0) : at]) for at in places)


@remembered("products")
def _colors(store: Store) -> frozenset[str]:
    return frozenset(v["color"] for _, v in variants(store).values() if v.get("color"))


def _stands_in(option: str, text: str, words: str) -> bool:
    return (_whole_word(option).search(words) if len(option) > 1 else _letter(option).search(text)) is not None


@lru_cache(maxsize=64)
def _letter(option: str) -> re.Pattern[str]:
    # A letter must match in case or follow "size".
    after_its_word = rf"\b(?:size|gro(?:ss|ß)e|größe|taille|talla)\W{{1,3}}{re.escape(option)}(?!\w)"
    return re.compile(rf"(?<![\w'’]){re.escape(option)}(?![\w'’]|\. ?[A-ZÀ-Þ])|(?i:{after_its_word})")


@lru_cache(maxsize=512)
def _whole_word(option: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(plain(option).strip())}(?!\w)")


def _articles(text: str, order: Row, arguments: dict[str, Any], store: Store) -> tuple[set[str], bool]:
    """Return the order's lines that a text names, and whether it names an unrelated article.

    Longer names are matched first. Short names ("the sling") count only for the customer's own articles. Clauses about
    keeping something count only if the others name nothing.
    """
    own_lines: dict[str, set[str]] = {}
    for line in order["lines"]:
        own_lines.setdefault(line["product_id"], set()).add(line["line_id"])
    if arguments.get("variant_id") in variants(store):
        product = variants(store)[arguments["variant_id"]][0]["product_id"]
        own_lines.setdefault(product, {arguments.get("line_id", "")})
    goes = _changing(text)
    result = _named(goes, own_lines, order, store)
    return result if any(result) or goes == text else _named(text, own_lines, order, store)


def _changing(text: str) -> str:
    """Return a text without its clauses about keeping something."""
    kept = cue_of_several("kept")
    return ". ".join(c for c in between_clauses().split(text) if not kept.search(plain(c)))


def _named(text: str, own_lines: dict[str, set[str]], order: Row, store: Store) -> tuple[set[str], bool]:
    words, lines, strange = _spaced(text), set[str](), False
    for name, products in _names(store).items():
        if name not in words:
            continue
        own = [p for p in products if p in own_lines]
        whole = (name in _whole(store.tables["products"][p]["title"]) for p in products)
        if not (own or any(whole)):
            continue
        words, strange = words.replace(name, "  "), strange or not own
        lines |= _lines_meant(own_lines[own[0]], text, order, store) if len(own) == 1 else set()
    return lines, strange


def _lines_meant(lines: set[str], text: str, order: Row, store: Store) -> set[str]:
    """Return an article's lines whose color or size a text names; all lines if it names none."""
    sold = {x["line_id"]: variants(store)[x["variant_id"]][1] for x in order["lines"] if x["line_id"] in lines}
    named = {
        line
        for line, variant in sold.items()
        if any(_stands_in(variant[part], text, plain(text)) for part in ("color", "size") if variant.get(part))
    }
    return named if len(lines) > 1 and named else lines


@remembered("products", "policy")
def _names(store: Store) -> dict[str, frozenset[str]]:
    """Return the products by name, longest first: title, its bare form, first and last words.

    A first word that the store's policy lists as common is no name by itself; a common last word is preceded by
    another ("toiletry bag").
    """
    by_name: dict[str, set[str]] = {}
    common = store.policy.get("common_words_of_titles", ())
    for key, product in store.tables["products"].items():
        title, bare = _whole(product["title"])
        words = bare.split()
        last = " ".join(words[-2:] if words[-1] in common else words[-1:])
        for name in (title, bare, _spaced(words[0] if words[0] not in common else bare), _spaced(last)):
            by_name.setdefault(name, set()).add(key)
    return FrozenDict({name: frozenset(by_name[name]) for name in sorted(by_name, key=len, reverse=True)})


@lru_cache(maxsize=512)
def _whole(title: str) -> tuple[str, str]:
    """Return a title with and without its size."""
    return _spaced(title), _spaced(_SIZE.sub("", title))


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(plain(text)))} "


def _address(text: str, wanted: Row, current: Row, store: Store) -> bool | None:
    """Return whether a text names the wanted address; None if it names no new one."""
    goods = [name.strip() for name in _names(store) if len(name.split()) > 1]  # "1 Pip Kids' Trolley" is no street
    text = _ORDER.sub(" ", text)
    codes = [c for c in _POSTCODE.findall(text) if not has_part("postcode", c, current)]
    streets = [s for s in _STREET.findall(text) if not any(name in _spaced(s) for name in goods)]
    old = current["line1"]
    streets = [s for s in streets if not (stands_in("line1", old, s) or stands_in("line1", s, old))]
    unit = (wanted.get("line2") or "").split(" ")[0]
    other_unit = len(unit) > 1 and unit.casefold() in fold(text) and not stands_in("line2", wanted["line2"], text)
    if codes and not stands_in("postcode", wanted["postcode"], text):
        return False
    if stands_in("line1", wanted["line1"], text):
        return not other_unit
    return not streets if streets or codes else None


# --- Rows

TABLES = {
    "products": ("products.jsonl", "product_id"),
    "customers": ("customers/*.jsonl", "customer_id"),
    "orders": ("orders/*.jsonl", "order_id"),
    "history": ("history/*.jsonl", "ticket_id"),
    "gear": ("gear/*.jsonl", "gear_id"),
}


@remembered("products")
def variants(store: Store) -> dict[str, tuple[Row, Row]]:
    """Return each pair (product, variant) by variant id."""
    return FrozenDict({v["variant_id"]: (p, v) for p in store.tables["products"].values() for v in p["variants"]})


@remembered("customers")
def by_email(store: Store) -> dict[str, Row]:
    """Return the customers by email address in lower case."""
    return FrozenDict({c["email"].lower(): c for c in store.tables["customers"].values()})


@remembered("orders")
def orders_of(store: Store) -> dict[str, list[Row]]:
    """Return the orders by customer id, newest first."""
    by_customer: dict[str, list[Row]] = {}
    for order in sorted(store.tables["orders"].values(), key=lambda o: o["placed_at"], reverse=True):
        by_customer.setdefault(order["customer_id"], []).append(order)
    return FrozenDict({customer_id: FrozenList(orders) for customer_id, orders in by_customer.items()})


MOST_FOUND = 60


@remembered("products")
def goods_search(store: Store) -> Callable[[str], list[Row]]:
    """Return a function that finds the goods that share a word with a query, best first.

    The function caches answers, because many queries recur.
    """
    products = list(store.tables["products"].values())
    index = TextIndex([product_text(p) for p in products])
    return lru_cache(maxsize=4096)(
        lambda query: FrozenList([products[i] for i in best(index.scores(query), MOST_FOUND)])
    )


@remembered("products", "policy")
def public_amounts(store: Store) -> frozenset[int]:
    """Return the amounts that any visitor can compute from the shop's pages, in cents.

    They are the prices of up to three pieces of an article, with or without active codes and delivery, and the savings.
    """
    prices = {v["price_cents"] * count for _, v in variants(store).values() for count in (1, 2, 3)}
    shares = [100 - c["percent"] for c in store.policy["promotions"]["codes"] if c["active"]]
    reduced = {round(price * share / 100) for price in prices for share in shares}
    saved = {round(price * (100 - share) / 100) for price in prices for share in shares}
    delivery = set(store.policy["shipping"]["cost_cents"].values())
    return frozenset({goods + cost for goods in prices | reduced for cost in {0, *delivery}} | saved | delivery | {0})


def product_text(product: Row) -> str:
    """Return a product's searchable text."""
    values = " ".join(f"{k.replace('_', ' ')} {v}" for k, v in product["attributes"].items())
    options = " ".join({str(v[o]) for v in product["variants"] for o in ("color", "size") if v.get(o)})
    return f"{product['title']} {product['category'].replace('_', ' ')} {product['description']} {values} {options}"


def orders_in(result: Any) -> list[Row]:
    """Return the order or orders in a result, whichever tool returned it."""
    if not isinstance(result, dict):
        return []
    listed = result.get("orders")
    orders = listed if isinstance(listed, list) else []
    return [result, *(row for row in orders if isinstance(row, dict))]
