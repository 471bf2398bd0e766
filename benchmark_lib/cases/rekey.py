"""One world turned into another with the same logic.

Every identifying value exchanged, every rule and relation kept.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from ..errors import BadInput
from .people import Names, Places, other_digits, untaken

if TYPE_CHECKING:
    from ..store import Store

ID = r"(?<![\w-])[A-Z][A-Z0-9]*-?\d[\w-]*"
EMAIL = r"[\w.+-]+@[\w.-]+\.example\b"
TIME = r"(?<!\d)20\d\d-\d\d-\d\d(?:T\d\d:\d\d:\d\d[+-]\d\d:\d\d)?(?!\d)"
NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+(?:[.,]\d\d)?)"
MONEY = rf"\$\s?{NUMBER}(?!\d)|(?<![\d.,]){NUMBER}(?:(?:, | or | to |-| o | a | ou | à | oder | bis ){NUMBER})*\s?(?:\$|USD|US-Dollar|[Dd]ollars?|dólares|bucks)"
PLACEHOLDER = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.S)
YEAR = re.compile(r"(?<![\d-])20\d\d(?![\d-])")
PLAIN_KEYS = (
    "id",
    "intent",
    "twin_of",
    "claim",
    "tone",
    "language",
    "hardness",
    "tool",
    "tools",
    "unit",
    "kind",
    "when",
    "attach",
)
"""Fields of a case whose values are words of the library or of the store, and stay."""


class Rekey:
    """The exchange of one store for another; everything follows from the seed.

    Parameters
    ----------
    store : Store
        The store that is re-keyed.
    pools : dict
        Its ``generate.yaml``.
    seed : int
        The seed.

    Attributes
    ----------
    weeks : int
        By how many weeks the world moves.
    tenths : int
        By how many tenths all money is multiplied.
    canary : str
        The new canary line.
    """

    def __init__(self, store: Store, pools: dict[str, Any], seed: int):
        self.store, self.pools, self.seed = store, pools, seed
        self.tenths: int = self.draw("money").choice(pools["money_tenths"])
        self.zone = ZoneInfo(store.info["timezone"])
        self.weeks = self._weeks()
        mark = str(uuid.UUID(int=self.draw("canary").getrandbits(128), version=4))
        self.canary = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", mark, store.info["canary"])
        self.names = Names(pools["names"], self.draw)
        towns = {(a["country"], a["region"], a["city"]) for a in _addresses(store)}
        depots = _depots(store) - {city for _, _, city in towns}
        self.places = Places(pools, self.draw, depots | {a["postcode"] for a in _addresses(store)})
        for country, region, city in sorted(towns):
            if country in pools["towns"]:
                self.places.town(country, region, city)
        forwarders = store.policy["freight_forwarders"]["addresses"]
        for place, street in zip(
            forwarders, self.draw("forwarders").sample(pools["forwarders"]["streets"], len(forwarders)), strict=True
        ):
            number = other_digits(re.findall(r"^\d+", place["line1"])[0], self.draw(place["line1"]))
            self.places.streets[place["line1"], place["city"]] = f"{number} {street}"
        self.ids = self._ids()
        self.titles = self._titles()
        self.emails: dict[str, str] = {}
        self._hosts = [f"{w}{t}.example" for w in pools["hosts"]["words"] for t in pools["hosts"]["tails"]]
        self.draw("hosts").shuffle(self._hosts)
        self._host_of: dict[str, str] = {}
        for row in sorted(store.tables["customers"].values(), key=lambda r: r["customer_id"]):
            self.emails[row["email"]] = self.email(row["email"], self.names.parts(row["name"]), row["name"])
        self.words = self._words()
        self._pattern = re.compile(f"(?P<email>{EMAIL})|(?P<time>{TIME})|(?P<word>{_any_of(self.words)})|(?P<id>{ID})")
        self._with_money = re.compile(f"{self._pattern.pattern}|(?P<money>{MONEY})")
        self.text = lru_cache(maxsize=50_000)(self._text)

    def draw(self, purpose: str) -> Random:
        """A source of randomness of its own for each purpose."""
        return Random(f"{self.seed}:{purpose}")

    # ------------------------------------------------------------------ values

    def _text(self, text: str) -> str:
        """A text with every identifier, date, name of a good and, outside of placeholders, every amount exchanged."""
        parts = PLACEHOLDER.split(text)
        for place, part in enumerate(parts):
            if place % 2:
                part = re.sub(r"\bmoney\((\d+)\)", lambda m: f"money({self.cents(int(m[1]))})", part)
            parts[place] = (self._pattern if place % 2 else self._with_money).sub(self._exchange, part)
        return "".join(parts)

    def _exchange(self, match: re.Match[str]) -> str:
        found = match.group()
        if match.lastgroup == "email":
            return self.emails.get(found, found)
        if match.lastgroup == "time":
            return self.time(found)
        if match.lastgroup == "money":
            return re.sub(NUMBER, self._amount, found)
        return (self.ids if match.lastgroup == "id" else self.words).get(found, found)

    def _amount(self, match: re.Match[str]) -> str:
        plain = re.sub(r",(?=\d{3})", "", match.group())
        whole, mark, rest = re.findall(r"^(\d+)([.,]?)(\d*)", plain)[0]
        cents = self.cents(int(whole) * 100 + int(rest or 0))
        new = f"{cents // 100:,}" if plain != match.group() else str(cents // 100)
        return f"{new}{mark or '.'}{cents % 100:02d}" if rest or cents % 100 else new

    def cents(self, amount: int) -> int:
        """An amount in cents times the factor, halves to the even cent."""
        whole, rest = divmod(amount * self.tenths, 10)
        return whole + (rest > 5 or (rest == 5 and whole % 2))

    def time(self, text: str) -> str:
        """A date, or a time with its offset in the store's time zone, moved."""
        if len(text) == 10:
            return self.day(date.fromisoformat(text)).isoformat()
        old = datetime.fromisoformat(text)
        new = old + timedelta(weeks=self.weeks)
        if old.utcoffset() == old.replace(tzinfo=self.zone).utcoffset():
            new = new.replace(tzinfo=self.zone)
        return new.isoformat()

    def day(self, day: date) -> date:
        """A date, moved."""
        return day + timedelta(weeks=self.weeks)

    def email(self, old: str, parts: dict[str, str], name: str) -> str:
        """An address of the same shape at another host.

        `parts` are exchanged in it, or all of it for the new form of `name`.
        """
        local, _, host = old.partition("@")
        if host == self.store.info["desk_email"].partition("@")[2]:
            return old
        pieces = re.split(r"([._+-]|\d+)", local)
        plain = {_plain(o): _plain(n) for o, n in parts.items() if " " not in o}
        new = [plain.get(p, p) for p in pieces]
        initials = {o[0].casefold(): n[0].casefold() for o, n in parts.items() if ". " in o}
        if name and any(p.isalpha() and len(p) > 1 and p not in plain for p in pieces):
            new = [".".join(_plain(w) for w in re.split(r"[ -]", self.names.full(name))[:2])]
        elif pieces[0] in initials and new != pieces:
            new[0] = initials[pieces[0]]
        self._host_of.setdefault(host, self._hosts[len(self._host_of) % len(self._hosts)])
        made, count = f"{''.join(new)}@{self._host_of[host]}", 1
        while made in self.emails.values():
            count += 1
            made = f"{''.join(new)}{count}@{self._host_of[host]}"
        return made

    # ------------------------------------------------------------------ records

    def row(self, value: Any, key: str = "") -> Any:
        """A record of the store or the policy.

        Addresses, amounts, telephone and card numbers by their fields, all else as text.
        """
        if isinstance(value, dict):
            if "line1" in value and "postcode" in value:
                return {**value, **self.places.address(value, self.names.full(value["name"]))}
            return {k: self.row(v, key if key.endswith("_cents") else k) for k, v in value.items()}
        if isinstance(value, list):
            return [self.row(v, key) for v in value]
        if isinstance(value, str):
            return self._field(value, key)
        if key.endswith("_cents") and isinstance(value, int):
            return self.cents(value)
        return self.day(value) if isinstance(value, date) else value

    def _field(self, text: str, key: str) -> str:
        if key == "phone":
            return text[:-2] + f"{self.draw(text).randrange(100):02d}"
        if key == "method":
            return re.sub(r"\d{4}$", lambda m: other_digits(m.group(), self.draw(text)), text)
        if key == "notes":
            years = round(self.weeks / 52.18)
            return YEAR.sub(lambda m: str(int(m.group()) + years), self.text(text))
        return self.text(text)

    def customer(self, old: dict[str, Any]) -> dict[str, Any]:
        """A customer's record."""
        return {**self.row(old), "name": self.names.full(old["name"])}

    def order(self, old: dict[str, Any]) -> dict[str, Any]:
        """An order: the discount follows from the code again, and total, payments and scans from the rest."""
        new = self.row(old)
        new["total_cents"] = new["subtotal_cents"] - new["discount_cents"] + new["shipping_cents"]
        known = {
            old["total_cents"]: new["total_cents"],
            old["subtotal_cents"] - old["discount_cents"]: new["total_cents"] - new["shipping_cents"],
        }
        for before, after in zip(old["payments"], new["payments"], strict=True):
            after["amount_cents"] = known.get(before["amount_cents"], after["amount_cents"])
        for before, after in zip(old["parcels"], new["parcels"], strict=True):
            for one, other in zip(before["scans"], after["scans"], strict=True):
                other["location"] = self.places.location(one["location"], old["shipping_address"]["country"])
        return new

    def policy(self, old: dict[str, Any]) -> dict[str, Any]:
        """The policy; places that forward parcels get other names of their own kind."""
        new = self.row(old)
        forwarders = new["freight_forwarders"]
        for before, after in zip(old["freight_forwarders"]["addresses"], forwarders["addresses"], strict=True):
            after["name"] = self.words.get(before["name"], before["name"])
        words = {o.casefold(): self.words[o].casefold() for o in old["freight_forwarders"]["names"]}
        forwarders["name_words"] = [words.get(w, w) for w in old["freight_forwarders"]["name_words"]]
        return new

    def article(self, text: str) -> str:
        """An article; the towns in it are the shop's own places."""
        return self._with_own(text, self._towns(_addresses(self.store)))

    def _towns(self, addresses: Iterable[dict[str, Any]]) -> dict[str, str]:
        towns = {(a["country"], a["region"], a["city"]) for a in addresses} & set(self.places.towns)
        stay = {word: word for word in self.pools["keep"]}
        return {key[2]: self.places.towns[key][0] for key in sorted(towns, reverse=True)} | stay

    # ------------------------------------------------------------------ cases

    def case(self, raw: dict[str, Any]) -> dict[str, Any]:
        """A case.

        Its texts with the words of its own people and places exchanged too, and its emails and pushes reworded.
        """
        own = self._own_words(raw)
        sender = raw.get("sender", "{{")
        if "{{" not in sender and sender not in self.emails:
            self.emails[sender] = self.email(sender, own, "")
        reword = Rewording(self, raw.get("language", "en"), raw["id"])
        return {k: self._part(v, k, own, reword if k in ("email", "pressure") else None) for k, v in raw.items()}

    def _part(self, value: Any, key: str, own: dict[str, str], reword: Rewording | None) -> Any:
        if isinstance(value, dict):
            money = value.get("kind") == "money"
            new = {k: self._part(v, k, own, reword) for k, v in value.items()}
            return new | ({k: self._literal(value[k]) for k in ("value", "rivals") if k in value} if money else {})
        if isinstance(value, list):
            return [self._part(v, key, own, reword) for v in value]
        if isinstance(value, str):
            return value if key in PLAIN_KEYS else self._with_own(value, own, reword)
        return self.day(value) if isinstance(value, date) else value

    def _literal(self, value: Any) -> Any:
        """A required amount: a literal one in cents, or a placeholder."""
        if isinstance(value, list):
            return [self._literal(v) for v in value]
        if str(value).isdigit():
            return type(value)(self.cents(int(value)))
        return self.text(value)

    def _with_own(self, text: str, own: dict[str, str], reword: Rewording | None = None) -> str:
        """A text in which words of its own are exchanged beside what is exchanged everywhere."""
        parts = re.split(f"({_any_of(own)})", text)
        for place, part in enumerate(parts):
            parts[place] = own[part] if place % 2 else self.text(reword(part) if reword else part)
        return "".join(parts)

    def _own_words(self, raw: dict[str, Any]) -> dict[str, str]:
        """Names and towns of the customer, of a literal sender and of literal addresses, which this case alone exchanges."""
        orders = [self.store.tables["orders"][number] for number in (raw["order"], *(raw.get("others") or {}).values())]
        customers = [self.store.tables["customers"][order["customer_id"]] for order in orders]
        addresses = [a for customer in customers for a in customer["addresses"]]
        own = self._towns([*addresses, *(order["shipping_address"] for order in orders)])
        sender = PLACEHOLDER.sub("", raw.get("sender_name", "")).strip()
        literal = [
            a
            for a in _dicts(raw)
            if "line1" in a and a.get("country") in self.pools["towns"] and "{{" not in str([*a.values()])
        ]
        for name in [*(c["name"] for c in customers), sender, *(a["name"] for a in [*addresses, *literal])]:
            own |= self.names.parts(name) if name else {}
        for old in literal:
            new = self.places.address(old, old["name"])
            own |= {old[k]: new[k] for k in ("line1", "postcode", "city") if old[k] != new[k]}
            own |= {
                f"{old['region']}{gap}{old['postcode']}": f"{new['region']}{gap}{new['postcode']}"
                for gap in (" ", "  ")
            }
        return own

    def factorial(self, value: Any, key: str = "", name: str = "") -> Any:
        """The table of variants: like cases, but all its people and places are placeholders."""
        if isinstance(value, dict):
            return {k: self.factorial(v, k, f"{name}.{k}") for k, v in value.items()}
        if isinstance(value, list):
            return [self.factorial(v, key, name) for v in value]
        if isinstance(value, str) and key not in PLAIN_KEYS:
            reworded = Rewording(self, "en", name)(value) if key in ("subject", "text", "pressure") else value
            return self.text(reworded)
        return self.day(value) if isinstance(value, date) else value

    # ------------------------------------------------------------------ the exchange itself

    def _weeks(self) -> int:
        """A whole number of weeks to about the same day of another year, with every limit in months kept on its side."""
        near = self.pools["drift_days"]
        fine = [w for y in self.pools["years"] for w in range(-300, 300) if abs(w * 7 - y * 365.2425) <= near]
        self.draw("weeks").shuffle(fine)
        months = {v for k, v in _leaves(self.store.policy) if k.endswith("months") and isinstance(v, int)}
        since = {str(v)[:10] for k, v in _leaves([*self.store.tables["orders"].values()]) if k == "delivered_at" and v}
        now = self.store.now.date()
        for weeks in fine:
            move = timedelta(weeks=weeks)
            if all(
                _within(d, now, m) == _within(d + move, now + move, m)
                for d in map(date.fromisoformat, since)
                for m in months
            ):
                return weeks
        raise BadInput(
            f"{self.store.path / 'generate.yaml'}: no shift by {self.pools['years']} years keeps every limit on its side; add years"
        )

    def _ids(self) -> dict[str, str]:
        """Old identifiers to new ones of the same shape; what holds an order's number holds its new number."""
        ids: dict[str, str] = {}
        tables = self.store.tables
        random, taken = self.draw("orders"), {key for table in tables.values() for key in table}
        for old in sorted(tables["orders"]):
            ids[old] = self._order_number(old, random, taken)
        for name in ("customers", "products"):
            random = self.draw(name)
            for old in sorted(tables[name]):
                ids[old] = _fresh(old, random, taken)
        for product in tables["products"].values():
            for variant in product["variants"]:
                ids[variant["variant_id"]] = ids[product["product_id"]] + variant["variant_id"].removeprefix(
                    product["product_id"]
                )
        random = self.draw("numbers")
        for old, number in sorted(set(_numbers(tables))):
            digits = re.sub(r"\D", "", number)
            own = bool(digits) and digits in old
            ids[old] = old.replace(digits, re.sub(r"\D", "", ids[number]), 1) if own else _fresh(old, random, taken)
        codes = [c["code"] for c in self.store.policy["promotions"]["codes"]]
        fresh = self.draw("codes").sample(self.pools["codes"], len(codes))
        return ids | {old: word + re.sub(r"\D", "", old) for old, word in zip(codes, fresh, strict=True)}

    def _order_number(self, old: str, random: Random, taken: set[str]) -> str:
        """A number whose last two digits differ and can be mistyped without meeting another order."""
        while True:
            new = _fresh(old, random, taken)
            swapped = new[:-2] + new[-1] + new[-2]
            if new != swapped and swapped not in taken:
                taken.add(swapped)
                return new

    def _titles(self) -> dict[str, str]:
        """Old titles of goods to new ones: another line name, or one put before it."""
        lines = self.pools["lines"]
        brands = sorted(lines["pool"])
        self.draw("lines").shuffle(brands)
        known = {word: brands.pop() for word in sorted([*lines["everywhere"], *lines["in_titles"]])}
        titles = {}
        for product in sorted(self.store.tables["products"].values(), key=lambda p: p["product_id"]):
            words = product["title"].split()
            if not any(w in known for w in words):
                words.insert(0, brands.pop())
            titles[product["title"]] = " ".join(known.get(w, w) for w in words)
        return titles | {word: known[word] for word in lines["everywhere"]}

    def _words(self) -> dict[str, str]:
        """Whole words of texts that are exchanged: goods, holidays, forwarders, the canary and fixed phrases."""
        days = [h["name"] for h in self.store.policy["calendar"]["holidays"]]
        words = dict(zip(days, self.draw("holidays").sample(self.pools["holidays"], len(days)), strict=True))
        words |= {d.split(" (")[0]: words[d] for d in days}
        brands, single = (
            self.draw(k).sample(self.pools["forwarders"][k], len(self.pools["forwarders"][k]))
            for k in ("brands", "single")
        )
        for name in self.store.policy["freight_forwarders"]["names"]:
            first, space, rest = name.partition(" ")
            words[name] = f"{brands.pop()}{space}{rest}" if rest else single.pop()
        return words | self.titles | self.pools["texts"] | {self.store.info["canary"]: self.canary}


class Rewording:
    """Interchangeable words of one case; the same words get the same exchange throughout it."""

    def __init__(self, rekey: Rekey, language: str, case_id: str):
        groups = rekey.pools["wordings"].get(language, [])
        self._group = {w: g for g in groups for w in g} | {w[0].upper() + w[1:]: g for g in groups for w in g}
        self._pattern = re.compile(_any_of(self._group)) if groups else None
        self._rekey, self._case_id = rekey, case_id

    def __call__(self, text: str) -> str:
        """The text in other words; placeholders stay."""
        if self._pattern is None:
            return text
        parts = PLACEHOLDER.split(text)
        return "".join(p if place % 2 else self._pattern.sub(self._other, p) for place, p in enumerate(parts))

    def _other(self, match: re.Match[str]) -> str:
        found = match.group()
        group = self._group[found]
        small = found[0].lower() + found[1:]
        others = [w for w in group if w not in (found, small)]
        new = self._rekey.draw(f"{self._case_id} {small}").choice(others)
        return new[0].upper() + new[1:] if found[0].isupper() else new


def _any_of(words: Iterable[str]) -> str:
    """A pattern of whole words, the longest first."""
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(words, key=lambda w: (-len(w), w))))})(?!\w)"


def _fresh(old: str, random: Random, taken: set[str]) -> str:
    """An identifier of the same shape with other digits that is not taken; it is from now on."""
    return untaken(lambda: re.sub(r"\d+", lambda m: other_digits(m.group(), random), old), taken)


def _numbers(tables: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every other identifier of orders and customers, each with the number of the order it belongs to, if to one."""
    for order in tables["orders"].values():
        for key, value in _leaves(order):
            if key in ("payment_id", "parcel_id", "return_id", "reshipment_id", "tracking_number"):
                yield value, order["order_id"]
    for customer in tables["customers"].values():
        yield from ((claim["claim_id"], "") for claim in customer["claims"])


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested data, each with the field it stands in."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    else:
        yield key, value


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dicts(inner)


def _addresses(store: Store) -> Iterator[dict[str, Any]]:
    tables = [store.tables["customers"], store.tables["orders"], store.policy["freight_forwarders"]["addresses"]]
    yield from (a for a in _dicts([[*t.values()] if isinstance(t, dict) else t for t in tables]) if "line1" in a)


def _depots(store: Store) -> set[str]:
    """Every town that a scan names."""
    return {str(v).split(", ")[0] for k, v in _leaves([*store.tables["orders"].values()]) if k == "location"}


def _within(since: date, today: date, months: int) -> bool:
    """Whether `today` is at most so many months after `since`; months run to the same day of the month."""
    full = (today.year - since.year) * 12 + today.month - since.month
    return full < months or (full == months and today.day <= since.day)


def _plain(text: str) -> str:
    """Letters as they stand in an address: small, without accents."""
    import unicodedata

    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum() and c.isascii())
