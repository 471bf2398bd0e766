"""Groundedness: every number, link, amount and window of a reply has a source.

Sources are results the agent had seen, the customer's words, the articles (even if not looked up) and the prompt, and
the case's required facts. Only these values may be derived from sources:

- amounts, from amounts of the order and those already stated, with policy fees and percentages of codes;
  these are sums and differences of up to three, multiples and even shares of 2 to 6, and whole units;
- business days between two days, one of which is today or was already stated;
- windows that follow one another, added up.

Internals in a reply are leaks: tools, article numbers, queues, instructions, notes and marks.
"""

import re
from collections import defaultdict
from functools import cached_property, lru_cache
from itertools import combinations

from ...language.sentences import fold, plain, squash
from ...language.values import Value, numbers_of, values_in
from ...language.word_lists import any_of
from ...records import as_text
from ...remembered import remembered
from ...store import Store
from ...store.files import leaves
from ...store.rules import as_day, business_days_between
from .findings import AgentClaims, ClaimFinding
from .orders import parts, published

CHECKED = frozenset({"id", "link", "money", "business_days", "days", "hours", "months", "percent"})
"""Kinds of values to check; not dates, which follow from nearly any record, nor years, mostly ages."""
SPANS = frozenset({"days", "hours", "months"})
"""Windows to check only in a rule ("within 14 days"); elsewhere they may count anything."""
WINDOWS = SPANS | {"business_days"}
"""Kinds of windows; a user's own tool may take them as arguments with these names."""
TIMES = range(2, 7)
"""Factors for multiples and shares of an amount."""
MANY = 12
"""Most amounts for which sums of three are tried: beyond, nearly any amount is one."""
MOST_AMOUNTS = 40
"""Most amounts for which amounts are checked: beyond, nearly any can be derived."""
FEW_SUMS = 4
"""Most amounts in a case's facts; beyond, some are intermediate sums, and none is checked."""
SHORTEST_NUMBER = 4
"""Fewest digits in an order, parcel or case number; shorter ones belong to goods or forms."""
FAR = 60
"""Days from today beyond which business days are not counted."""
NEAR = 40
"""Characters before a window that are searched for the words of a rule."""


def ungrounded(claims: AgentClaims) -> list[ClaimFinding]:
    """Return values without a source or derivation."""
    found, stated = [], defaultdict[str, set[str]](set)
    for message, reading in claims.replies:
        ground = Ground(claims, message.turn, message.text, stated)
        for sentence in reading.sentences:
            for value in told_in(sentence.text, claims.store.now.year):
                if value.kind not in CHECKED or ground.holds(value, sentence.text):
                    stated[value.kind].add(value.value)
                else:
                    told = message.turn, sentence.text, value.value, value.kind
                    found.append(ClaimFinding(*told, "unsupported"))
    return found


def values_told(claims: AgentClaims) -> int:
    """Count the typed values in the replies."""
    year = claims.store.now.year
    return sum(len(told_in(s.text, year)) for _, reading in claims.replies for s in reading.sentences)


@lru_cache(maxsize=4096)
def told_in(sentence: str, year: int) -> tuple[Value, ...]:
    """Return a sentence's values, except times of day, parts of postcodes and names of goods."""
    return tuple(v for v in values_in(sentence, year) if not _looks_only(v, sentence))


def _looks_only(value: Value, sentence: str) -> bool:
    """Return whether a value is a name of goods, a time of day or a part of a postcode."""
    if value.kind == "id":
        return sum(c.isdigit() for c in value.value) < SHORTEST_NUMBER and not value.value[:4].isalpha()
    before = sentence[max(value.at - 2, 0) : value.at].lower()
    clock = bool(_CLOCK.match(sentence, value.at)) or before[-1:].isalpha() or before in ("h ", "h\u00a0")
    return value.kind == "hours" and clock


class Ground:
    """Sources of the values in the reply of a turn.

    They are results, the customer's words, the reply's bare amounts on record, and `told`: values stated and grounded
    before, by kind.
    """

    def __init__(self, claims: AgentClaims, turn: int, reply: str, told: defaultdict[str, set[str]]):
        self.claims, self.store, self.turn, self.told = claims, claims.store, turn, told
        self.today = claims.store.now.date()
        self.published = published(claims.store)
        self.results, self.words = claims.results(turn), claims.customer_words(turn)
        self._required = {
            (fact.unit if fact.kind == "measure" else fact.kind, fold(str(fact.value)).rstrip("/"))
            for fact in claims.case.facts.values()
        }
        for value in values_in(self.words, self.today.year):
            self.told[value.kind].add(value.value)
        if bare := {int(m.group(1)) * 100 + int(m.group(2)) for m in _BARE.finditer(reply)}:
            self.told["money"] |= set(map(str, bare & self._cents))

    def holds(self, value: Value, sentence: str = "") -> bool:
        """Return whether a value of a sentence has a source or derivation."""
        if value.value in self.told[value.kind] or (value.kind, value.value) in self.published.values:
            return True
        if self._is_required(value, sentence):
            return True
        if value.kind in ("id", "link"):
            return self._names(value)
        if value.kind == "money":
            return self._amount(int(value.value))
        if value.kind == "business_days" and "-" in value.value:
            counted = set(map(str, self._business()))
            return value.value in _ranges(self.store) or counted.issuperset(value.value.split("-"))
        if value.kind in SPANS and not _rule().search(plain(sentence[: value.at])[-NEAR:]):
            return True
        return all(self._window(value.kind, end) for end in value.value.split("-"))

    def _is_required(self, value: Value, sentence: str) -> bool:
        case = self.claims.case
        if value.kind == "id" and value.value in (case.order, *case.others.values()):
            return True
        if (value.kind, fold(value.value).rstrip("/")) in self._required:
            return True
        return any(f.kind == "choice" and f.found_in(fold(sentence)) for f in case.facts.values())

    def _names(self, value: Value) -> bool:
        number = squash(value.value)
        accepted = [v.lower() for _, v in self.claims.accepted(self.turn) if isinstance(v, str)]
        texts = (*self.results, self.words, self.published.text, *accepted)
        return any(number in squash(text) for text in texts)

    @cached_property
    def _seen(self) -> set[tuple[str, str]]:
        """Return the values in the results, with each end of a window, and accepted windows."""
        texts = [r for r in self.results if any(mark in r for mark in _WORDED)]
        found = set().union(*(_pairs(r, self.today.year) for r in texts))
        accepted = self.claims.accepted(self.turn)
        found |= {(name, str(n)) for name, n in accepted if name in WINDOWS and type(n) is int}
        return found | {("percent", m.group(1)) for r in self.results for m in _PERCENT.finditer(r)}

    # --- amounts

    def _amount(self, cents: int) -> bool:
        known = self._cents
        if cents == 0 or cents in known or (cents % 100 == 0 and not known.isdisjoint(range(cents - 99, cents + 100))):
            return True
        pool = self._pool()
        if len(pool) > MOST_AMOUNTS or sum(kind == "money" for kind, _ in self._required) > FEW_SUMS:
            return True
        rates = frozenset(rate for code, rate in self.published.codes if self._mentions(code))
        return cents in _following(pool, self.published.fees, rates, frozenset(self._prices))

    @cached_property
    def _cents(self) -> set[int]:
        """Return every amount of the results, including 0."""
        found = set().union(self._prices, *map(_cents_in, self.results))
        return found | {int(value) for kind, value in self._seen if kind == "money"}

    @cached_property
    def _prices(self) -> set[int]:
        """Return the published prices of the goods in the results."""
        named = {goods for r in self.results for goods in _NUMBER.findall(r)}
        return {cents for goods in named for cents in _price_list(self.store).get(goods, ())}

    def _pool(self) -> frozenset[int]:
        """Return the amounts to derive others from: of looked-up orders, and stated."""
        subject = f'"{self.store.kind.look_up[1]}"'
        rows = [r for r in self.results if subject in r and '"passages"' not in r]
        found = set().union(*map(_cents_in, rows))
        return frozenset((found | {int(cents) for cents in self.told["money"]}) - {0})

    def _mentions(self, code: str) -> bool:
        return code in self.told["id"] or any(code.lower() in text for text in (self.words, *self.results))

    # --- windows

    def _window(self, kind: str, number: str) -> bool:
        """Return whether one end of a window has a source; business days may also be derived."""
        sources = self.published.values | self._seen
        if not sources.isdisjoint(_alike(kind, number)) or number in self.told[kind]:
            return True
        if kind != "business_days" or not number.isdigit():
            return False
        return int(number) in self.published.business_days | self._business()

    def _business(self) -> set[int]:
        """Count the business days between two near days, one of them today or already stated."""
        stated = {self.today, *filter(None, map(as_day, self.told["date"]))}
        named = {as_day(m.group()) for r in self.results for m in _ISO.finditer(r)}
        published = {as_day(value) for kind, value in self.published.values if kind == "date"}
        known = {*stated, *filter(None, named | published)}
        near = {day for day in known if abs((day - self.today).days) < FAR}
        pairs = {(min(a, b), max(a, b)) for a in near & stated for b in near}
        counted = {business_days_between(first, last, self.store) for first, last in pairs}
        return counted | {days + 1 for days in counted}


@lru_cache(maxsize=512)
def _pairs(result: str, year: int) -> frozenset[tuple[str, str]]:
    """Return the values in a result; the cache serves articles that many conversations look up."""
    return frozenset(pair for value in values_in(result, year) for pair in parts(value))


@lru_cache(maxsize=512)
def _following(
    pool: frozenset[int], fees: frozenset[int], rates: frozenset[int], prices: frozenset[int]
) -> frozenset[int]:
    """Return the derived amounts: sums, differences, multiples, shares, rates, also with a fee."""
    sums = set(pool) | {a * n for a in pool for n in TIMES} | {a + b for a, b in combinations(pool, 2)}
    if len(pool) <= MANY:
        sums |= {sum(three) for three in combinations(pool, 3)}
    left = {round(a * (100 - rate) / 100) for a in sums | prices for rate in rates}
    taken = {round(a * rate / 100) for a in sums | prices for rate in rates}
    apart = {abs(a - b) for a, b in combinations(prices, 2)} if len(prices) <= MANY else set()
    apart |= {abs(a - b) for a, b in combinations(pool, 2)} | {a // n for a in pool for n in TIMES if a % n == 0}
    few = set(pool) | {a * n for a in pool for n in TIMES[:2]} | {a + b for a, b in combinations(pool, 2)} | left
    return frozenset(sums | left | taken | apart | {a + fee for a in few for fee in fees})


def _cents_in(result: str) -> set[int]:
    return {int(n) for n in re.findall(r'_cents":(\d{1,15})[,}]', result)}


@remembered("products")
def _price_list(store: Store) -> dict[str, set[int]]:
    rows = [row for table in store.kind.catalogue for row in store.tables.get(table, {}).items()]
    return {number.lower(): _cents_in(as_text(row)) for number, row in rows}


def _alike(kind: str, number: str) -> set[tuple[str, str]]:
    """Return a window in its own unit and in others: 48 hours are 2 days, 2 years are 24 months."""
    found, n = {(kind, number)}, int(number) if number.isdigit() else 0
    for small, large, factor in (("hours", "days", 24), ("months", "years", 12)):
        found |= {(small, str(n * factor))} if kind == large else set()
        found |= {(large, str(n // factor))} if kind == small and n % factor == 0 else set()
    return found


@lru_cache(maxsize=1)
def _rule() -> re.Pattern[str]:
    return re.compile(rf" (?:{any_of('values', 'within')}) ?$")


@remembered("articles", "policy")
def _ranges(store: Store) -> frozenset[str]:
    ranges = [v for kind, v in published(store).values if kind == "business_days" and "-" in v]
    known = [tuple(map(int, v.split("-"))) for v in ranges]
    packing = store.policy.get("processing", {}).get("business_days", [0, 0])
    more = [(low + packing[0], high + packing[-1]) for low, high in known]
    return frozenset(f"{low}-{high}" for low, high in [*known, *more])


_WORDED = ('"passages"', '"description"', "$", " usd", "%", " percent", " days", " hours", " months")
"""Marks of a result with values in words."""
_BARE = re.compile(r"(?<![\d.,])(\d{1,6})[.,](\d\d)(?![\d.,]\d)")
_NUMBER = re.compile(r'"([a-z]{1,4}-\d{1,9})"')
_CLOCK = re.compile(r"\d{1,2} ?h(?: ?\d\d)?(?!\w)", re.I)
_PERCENT = re.compile(r'"percent":(\d{1,3})')
_ISO = re.compile(r"(?<!\d)20\d\d-\d\d-\d\d")


RUN = 3
"""Consecutive words shared with a note that make a quotation: notes are short and distinctive."""


def leaks(claims: AgentClaims) -> list[ClaimFinding]:
    """Return sentences that disclose internals."""
    found = [ClaimFinding(turn, sentence, None, "told", "leaked") for turn, _, sentence in claims.about("leak")]
    sentences = {f.sentence for f in found}
    internal = [leaf for call in claims.done for leaf in leaves(call.result)]
    notes = frozenset(v for name, v in internal if name == "notes" and isinstance(v, str))
    weights = frozenset(v for name, v in internal if name in _WEIGHTS and isinstance(v, int))
    for message, reading in claims.replies:
        said = claims.customer_words(message.turn)
        for text in (s.text for s in reading.sentences if s.text not in sentences):
            kind = None
            if name := _named(text, claims.store):
                kind = None if name in said else "named"
            elif weights and not weights.isdisjoint(_grams(text)):
                kind = "weighed"
            elif any(not _runs(text).isdisjoint(_runs(note)) for note in notes):
                kind = "quoted"
            if kind:
                found.append(ClaimFinding(message.turn, text, None, kind, "leaked"))
    return found


@lru_cache(maxsize=4096)
def _named(sentence: str, store: Store) -> str | None:
    """Return the tool or article that a sentence names, in lower case."""
    named = _names(store).search(_LINK.sub(" ", sentence))
    return named and named.group().lower()


@remembered("articles")
def _names(store: Store) -> re.Pattern[str]:
    articles = "|".join(re.escape(article["id"]) for article in store.articles) or "(?!)"
    states = "|".join(_TOLD)
    return re.compile(rf"(?<![\w-])(?:(?!(?:{states})\b)[a-z]+(?:_[a-z]+)+|{articles})(?![\w-])", re.I)


def _grams(sentence: str) -> set[int]:
    """Return the weights that a sentence names, in grams."""
    found = set()
    for m in _WEIGHT.finditer(fold(sentence)):
        factor = 1000 if m.group(2).startswith("k") else 1
        found |= {round(number * factor) for number in numbers_of(m.group(1))}
    return found


@lru_cache(maxsize=4096)
def _runs(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z0-9]+", plain(text))
    return frozenset(" ".join(words[i : i + RUN]) for i in range(len(words) - RUN + 1))


_LINK = re.compile(r"\S*(?:://|@)\S*")
_TOLD = ("out_for_delivery", "in_transit", "picked_up", "label_created")
"""States of a parcel that tracking shows to everyone."""
_WEIGHTS = ("packed_weight_g", "expected_weight_g")
_WEIGHT = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:[.,' ]\d{1,3}){0,2}|\d{4,7}(?:[.,]\d{1,3})?) ?"
    r"(gr?|gram(?:m(?:es)?|os|s)?|kgs?|kilo(?:s|gram(?:m(?:es)?|os|s)?)?)\b"
)
