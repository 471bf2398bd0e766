"""Groundedness: each number, link, amount and window of a reply stands in the record or in what the desk publishes, or follows from it.

What stands somewhere: in a result the agent had seen, in the customer's words, in an article or the prompt (looked up
or
not: what the desk publishes is true), in a required fact of the case. Allowed derivations, and no others:

- of amounts of the order and amounts already told: sums and differences of up to three (fees of the policy may be one),
a
  multiple or an even share of 2 to 6, what the percentage of a code that has come up takes off or leaves, and whole
  units;
- business days between two days of which one is today or was already told;
- windows one after another.
"""

import re
from functools import cached_property, lru_cache
from itertools import combinations

from ...language.sentences import fold, plain, squash
from ...language.values import Value, values_in
from ...language.words import of_values
from ...records import as_text
from ...remembered import remembered
from ...store import Store
from ...store.calendar import as_day, business_days_between
from .findings import AgentClaims, ClaimFinding
from .published import parts, published

NAME = "groundedness"
CHECKED = frozenset({"id", "link", "money", "business_days", "days", "hours", "months", "percent"})
"""Kinds whose values must stand or follow. A day is not among them: from the days of a record and the published windows
nearly every near day follows. Nor are years, which are mostly somebody's age."""
SPANS = frozenset({"days", "hours", "months"})
"""Windows that are checked only where they are those of a rule ("within 14 days"); else they may count anything."""
TIMES = range(2, 7)
"""How often an amount may be multiplied, or shared out."""
MANY = 12
"""Amounts beyond which no sums of three are tried: with so many, any amount is a sum of some."""
MOST_AMOUNTS = 40
"""Amounts beyond which no amount is checked: what follows from so many cannot be told from what does not."""
FEW_SUMS = 4
"""Sums that a case may ask for; one that asks for more has sums on the way as well, by its rules, and no amount is
checked."""
SHORTEST_NUMBER = 4
"""Digits of a number of an order, a parcel or a case; one with fewer is a name of goods or a form."""
FAR = 60
"""Days from today beyond which nobody counts business days."""
NEAR = 40
"""Characters before a window that are searched for what makes it one of a rule."""


def ungrounded(claims: AgentClaims) -> list[ClaimFinding]:
    """Values that stand nowhere and follow from nothing."""
    found, ground = [], Ground(claims)
    for message, reading in claims.replies:
        ground.see(message.turn, message.text)
        for sentence in reading.sentences:
            for value in told_in(sentence.text, claims.store.now.year):
                if value.kind not in CHECKED or ground.holds(value, sentence.text):
                    ground.tell(value)
                else:
                    of = message.turn, sentence.text, value.value, value.kind
                    found.append(ClaimFinding(NAME, *of, "unsupported"))
    return found


def values_told(claims: AgentClaims) -> int:
    """How many typed values the replies tell."""
    year = claims.store.now.year
    return sum(len(told_in(s.text, year)) for _, reading in claims.replies for s in reading.sentences)


@lru_cache(maxsize=4096)
def told_in(sentence: str, year: int) -> tuple[Value, ...]:
    """The values of a sentence without what only looks like one: times of the day, parts of postcodes, short names of goods."""
    return tuple(v for v in values_in(sentence, year) if not _looks_only(v, sentence))


def _looks_only(value: Value, sentence: str) -> bool:
    """Whether a value is a name of goods with a figure, a time of the day or a part of a postcode."""
    if value.kind == "id":
        return sum(c.isdigit() for c in value.value) < SHORTEST_NUMBER and not value.value[:4].isalpha()
    before = sentence[max(value.at - 2, 0) : value.at].lower()
    clock = bool(_CLOCK.match(sentence, value.at)) or before[-1:].isalpha() or before in ("h ", "h\u00a0")
    return value.kind == "hours" and clock


class Ground:
    """What a reply may rest on, reply by reply."""

    def __init__(self, claims: AgentClaims):
        self.claims, self.store = claims, claims.store
        self.today = claims.store.now.date()
        self.published = published(claims.store)
        self.turn = 0
        self.told: dict[str, set[str]] = {}
        self._required = {
            (fact.unit if fact.kind == "measure" else fact.kind, fold(str(fact.value)).rstrip("/"))
            for fact in claims.case.facts.values()
        }
        self._many_sums = sum(kind == "money" for kind, _ in self._required) > FEW_SUMS

    def see(self, turn: int, reply: str = "") -> None:
        """Go on to the reply of a turn: the results and the customer's words up to it are known, and so are its own bare amounts that stand there."""
        self.turn = turn
        self.results = self.claims.results(turn)
        self.words = self.claims.customer_words(turn)
        for value in values_in(self.words, self.today.year):
            self.tell(value)
        for name in _WORKED_OUT:
            self.__dict__.pop(name, None)
        bare = {int(m.group(1)) * 100 + int(m.group(2)) for m in _BARE.finditer(reply)}
        for cents in sorted(bare & self._cents) if bare else ():
            self.tell(Value("money", str(cents), 0))

    def tell(self, value: Value) -> None:
        """Keep a value that was told and held: others may follow from it."""
        known = self.told.setdefault(value.kind, set())
        if value.value not in known:
            known.add(value.value)
            for name in _FOLLOWING.get(value.kind, ()):
                self.__dict__.pop(name, None)

    def holds(self, value: Value, sentence: str = "") -> bool:
        """Whether a value, which stands in a sentence, stands in the ground or follows from it."""
        if value.value in self.told.get(value.kind, ()) or (value.kind, value.value) in self.published.values:
            return True
        if self._is_required(value, sentence):
            return True
        if value.kind in ("id", "link"):
            return self._names(value)
        if value.kind == "money":
            return self._amount(int(value.value))
        if value.kind == "business_days" and "-" in value.value:
            return value.value in _ranges(self.store) or set(value.value.split("-")) <= set(map(str, self._business))
        if value.kind in SPANS and not _rule().search(plain(sentence[: value.at])[-NEAR:]):
            return True
        return all(self._window(value.kind, end) for end in value.value.split("-"))

    def _is_required(self, value: Value, sentence: str) -> bool:
        """Whether it is a value the case requires to be told, or an order it is about."""
        case = self.claims.case
        if value.kind == "id" and value.value in (case.order, *case.others.values()):
            return True
        if (value.kind, fold(value.value).rstrip("/")) in self._required:
            return True
        return any(f.kind == "choice" and f.found_in(fold(sentence)) for f in case.facts.values())

    def _names(self, value: Value) -> bool:
        """Whether a number or a link stands in the ground, in any spelling of it."""
        number = squash(value.value)
        texts = (*self.results, self.words, self.published.text, *self.claims.accepted(self.turn))
        return any(number in squash(text) for text in texts)

    @cached_property
    def _seen(self) -> set[tuple[str, str]]:
        """The values in the words of the results, each end of a window by itself, and the windows of accepted calls."""
        texts = [r for r in self.results if any(mark in r for mark in ('"passages"', '"description"', "$", " usd"))]
        found = set().union(*(_pairs(r, self.today.year) for r in texts))
        found |= self.claims.accepted_windows(self.turn)
        return found | {("percent", m.group(1)) for r in self.results for m in _PERCENT.finditer(r)}

    # --- amounts

    def _amount(self, cents: int) -> bool:
        known = self._cents
        if cents == 0 or cents in known or (cents % 100 == 0 and not known.isdisjoint(range(cents - 99, cents + 100))):
            return True
        return self._many_sums or len(self._pool) > MOST_AMOUNTS or cents in self._sums

    @cached_property
    def _cents(self) -> set[int]:
        """Every amount of the results, nothing to pay among them."""
        found = {int(n) for r in self.results for n in re.findall(r'_cents":(\d{1,15})[,}]', r)}
        return found | self._prices | {int(value) for kind, value in self._seen if kind == "money"}

    @cached_property
    def _prices(self) -> set[int]:
        """The prices that the shop publishes of the goods that the results name."""
        named = {goods for r in self.results for goods in _NUMBER.findall(r)}
        return {cents for goods in named for cents in _price_list(self.store).get(goods, ())}

    @cached_property
    def _pool(self) -> frozenset[int]:
        """The amounts from which others follow: those of the orders that were looked up, and those already told."""
        rows = [r for r in self.results if f'"{self.store.kind.look_up[1]}"' in r and '"passages"' not in r]
        found = {int(n) for r in rows for n in re.findall(r'_cents":(\d{1,15})[,}]', r)}
        return frozenset((found | {int(cents) for cents in self.told.get("money", ())}) - {0})

    @cached_property
    def _sums(self) -> frozenset[int]:
        rates = frozenset(rate for code, rate in self.published.codes if self._mentions(code))
        return _following(self._pool, self.published.fees, rates, frozenset(self._prices))

    def _mentions(self, code: str) -> bool:
        """Whether a code has come up, in a look-up, the customer's words or a reply."""
        return code in self.told.get("id", ()) or any(code.lower() in text for text in (self.words, *self.results))

    # --- windows

    def _window(self, kind: str, number: str) -> bool:
        """Whether one end of a window stands somewhere or, of business days, follows from days or is one window after another."""
        if (kind, number) in self.published.values | self._seen or number in self.told.get(kind, ()):
            return True
        follows = self.published.business_days | self._business if kind == "business_days" else ()
        return number.isdigit() and int(number) in follows

    @cached_property
    def _business(self) -> set[int]:
        """Business days between two near days of which one is today or was already told."""
        named = {m.group() for r in self.results for m in _ISO.finditer(r)} | self.told.get("date", set())
        known = {self.today, *filter(None, map(as_day, named)), *self.published.dates()}
        near = {day for day in known if abs((day - self.today).days) < FAR}
        ends = near & {self.today, *filter(None, map(as_day, self.told.get("date", ())))}
        pairs = {(min(a, b), max(a, b)) for a in ends for b in near}
        return {business_days_between(first, last, self.store) + more for first, last in pairs for more in (0, 1)}


@lru_cache(maxsize=512)
def _pairs(result: str, year: int) -> frozenset[tuple[str, str]]:
    """The values in the words of a result; the same articles are found in many conversations."""
    return frozenset(pair for value in values_in(result, year) for pair in parts(value))


@lru_cache(maxsize=512)
def _following(
    pool: frozenset[int], fees: frozenset[int], rates: frozenset[int], prices: frozenset[int]
) -> frozenset[int]:
    """What follows from amounts: sums, differences, multiples, even shares, and what a rate takes off or leaves; with or without a fee."""
    sums = set(pool) | {a * n for a in pool for n in TIMES} | {a + b for a, b in combinations(pool, 2)}
    if len(pool) <= MANY:
        sums |= {sum(three) for three in combinations(pool, 3)}
    left = {round(a * (100 - rate) / 100) for a in sums | prices for rate in rates}
    taken = {round(a * rate / 100) for a in sums | prices for rate in rates}
    apart = {abs(a - b) for a, b in combinations(prices, 2)} if len(prices) <= MANY else set()
    apart |= {abs(a - b) for a, b in combinations(pool, 2)} | {a // n for a in pool for n in TIMES if a % n == 0}
    few = set(pool) | {a * n for a in pool for n in TIMES[:2]} | {a + b for a, b in combinations(pool, 2)} | left
    return frozenset(sums | left | taken | apart | {a + fee for a in few for fee in fees})


@remembered("products")
def _price_list(store: Store) -> dict[str, frozenset[int]]:
    """The amounts of each row that can be searched, by its number in lower case."""
    rows = [row for table in store.kind.catalogue for row in store.tables.get(table, {}).items()]
    return {
        number.lower(): frozenset(int(n) for n in re.findall(r'_cents":(\d{1,15})[,}]', as_text(row)))
        for number, row in rows
    }


@lru_cache(maxsize=1)
def _rule() -> re.Pattern[str]:
    """The words before a window that make it one of a rule, at the end of a text."""
    return re.compile(rf" (?:{'|'.join(of_values('within'))}) ?$")


@remembered("articles", "policy")
def _ranges(store: Store) -> frozenset[str]:
    """The ranges of business days that are published, and the packing with each of them."""
    told = [v for kind, v in published(store).values if kind == "business_days" and "-" in v]
    known = [tuple(map(int, v.split("-"))) for v in told]
    packing = store.policy.get("processing", {}).get("business_days", [0, 0])
    more = [(low + packing[0], high + packing[-1]) for low, high in known]
    return frozenset(f"{low}-{high}" for low, high in [*known, *more])


_FOLLOWING = {"money": ("_pool", "_sums"), "date": ("_business",)}
"""What is worked out anew when a value of a kind has been told."""
_WORKED_OUT = ("_seen", "_cents", "_prices", *_FOLLOWING["money"], *_FOLLOWING["date"])
"""What is worked out anew for the next reply."""
_BARE = re.compile(r"(?<![\d.,])(\d{1,6})[.,](\d\d)(?![\d.,]\d)")
_NUMBER = re.compile(r'"([a-z]{1,4}-\d{1,9})"')
_CLOCK = re.compile(r"\d{1,2} ?h(?: ?\d\d)?(?!\w)", re.I)
_PERCENT = re.compile(r'"percent":(\d{1,3})')
_ISO = re.compile(r"(?<!\d)20\d\d-\d\d-\d\d")
