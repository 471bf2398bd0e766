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
from ..textfiles import read_yaml
from .people import STREET, Names, Places, other_digits, untaken

if TYPE_CHECKING:
    from ..store import Store

ID = r"(?<![\w-])[A-Z][A-Z0-9]*-?\d[\w-]*"
EMAIL = r"[\w.+-]+@[\w.-]+\.example\b"
TIME = r"(?<!\d)20\d\d-\d\d-\d\d(?:T\d\d:\d\d:\d\d[+-]\d\d:\d\d)?(?!\d)"
NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+(?:[.,]\d\d)?)"
MONEY = rf"\$\s?{NUMBER}(?!\d)|(?<![\d.,]){NUMBER}(?:(?:, | or | to |-| o | a | ou | à | oder | bis ){NUMBER})*\s?(?:\$|USD|US-Dollar|[Dd]ollars?|dólares|bucks)"
PLACEHOLDER = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.S)
YEAR = re.compile(r"(?<![\d-])20\d\d(?![\d-])")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
MONTH = rf"\b(?:{'|'.join(MONTHS)})\b"
LEADING_CENTS = re.compile(r"(\{\{ (?:money\()?)(\d{4,})(?= - [^{}]*_cents)")
_DAY = r"\d{1,2}(?:st|nd|rd|th)?(?![\d:])"
_DAYS = rf"{_DAY}(?:(?: and | or | to |-){_DAY})*"
DAY_IN_WORDS = (
    rf"(?<![\d.,/-])(?:{_DAY}, )*{_DAYS}(?: of)? {MONTH}(?:,? 20\d\d)?(?!\d)"
    rf"|{MONTH} {_DAYS}(?![\d.])(?:,? 20\d\d(?!\d))?"
    r"|(?<=\b[Tt]he )\d{1,2}(?:st|nd|rd|th)\b(?! \w+ day|[-\w])(?=[.,;:!?)]|$| (?:and|or|that|I|it|at|it)\b)"
)
ADDED_CENTS = re.compile(r"(_cents\b[^{}]*? [+-] )(\d{3,})(?=\s*(?:[)}+-]|$))")
PHONE = r"(?<!\w)(?:555|7946|496)[ -]?0\d{3}(?!\w)"
"""The end of a telephone number from the ranges that are kept for stories."""
WHOLE_ORDER = {"subtotal_cents", "discount_cents", "shipping_cents", "total_cents", "payments", "parcels"}
PLAIN_KEYS = (
    "intent",
    "family",
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
        self.raw = _raw_cases(store)
        self.tenths: int = self.draw("money").choice(pools["money_tenths"])
        self.zone = ZoneInfo(store.info["timezone"])
        self.weeks = self._weeks()
        self.years = round(self.weeks / 52.18)
        mark = str(uuid.UUID(int=self.draw("canary").getrandbits(128), version=4))
        self.canary = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", mark, store.info["canary"])
        self.names = Names(pools["names"], self.draw)
        towns = {(a["country"], a["region"], a["city"]) for a in _addresses(store)}
        depots = _depots(store) - {city for _, _, city in towns}
        self.places = Places(pools, self.draw, depots | {a["postcode"] for a in _addresses(store)})
        for country, region, city in sorted(towns):
            if country in pools["towns"]:
                self.places.town(country, region, city)
        self.laid = _laid_rows(self.raw)
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
        self._with_money = re.compile(
            f"{self._pattern.pattern}|(?P<money>{MONEY})|(?P<day>{DAY_IN_WORDS})|(?P<phone>{PHONE})|(?P<year>{YEAR.pattern}|(?<![\\d-])20\\d\\d(?=-$))"
        )
        self._towns_of_all = self._towns(_addresses(store))
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
                for literal in (ADDED_CENTS, LEADING_CENTS):
                    part = literal.sub(lambda m: f"{m[1]}{self.cents(int(m[2]))}", part)
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
        if match.lastgroup == "phone":
            return self._phone(found)
        if match.lastgroup == "day":
            return self._day_in_words(found)
        if match.lastgroup == "year":
            return str(int(found) + self.years)
        return self.identifier(found) if match.lastgroup == "id" else self.words.get(found, found)

    def identifier(self, old: str) -> str:
        """What stands for an identifier; in one made of others, as a parcel's or an article's may be, for each of these."""
        if old in self.ids:
            return self.ids[old]
        parts = old.split("-")
        for start in range(len(parts) - 1):
            number = "-".join(parts[start : start + 2])
            if number in self.ids:
                return "-".join([*parts[:start], self.ids[number], *parts[start + 2 :]])
        return old

    def key(self, old: Any) -> Any:
        """The name of a field; one that is an identifier, a year or a path with identifiers in it is exchanged like a value."""
        if not isinstance(old, str):
            return old
        return ".".join(str(int(p) + self.years) if YEAR.fullmatch(p) else self.identifier(p) for p in old.split("."))

    def _day_in_words(self, text: str) -> str:
        """Days of a month as English texts write them, moved; without a year those nearest to the store's clock."""
        year = YEAR.search(text)
        name = re.search(MONTH, text)
        month = MONTHS.index(name.group()) + 1 if name else self.store.now.month
        body = text[: year.start()] if year else text
        of_year, now = int(year.group()) if year else None, self.store.now.date()
        days = [(m, _nearest(int(m.group()), month, of_year, now)) for m in re.finditer(r"\d+", body)]
        if not days or any(day is None for _, day in days):
            return text
        moved = [self.day(day) for _, day in days if day]
        if name is None:
            return re.sub(r"\d+\w\w", _ordinal(moved[0].day), text)
        one_month = len({day.month for day in moved}) == 1
        parts, at = [], 0
        for (match, _), day in zip(days, moved, strict=True):
            end = match.end() + (2 if re.match(r"st|nd|rd|th", text[match.end() :]) else 0)
            number = _ordinal(day.day) if end > match.end() else str(day.day)
            own_month = "" if one_month else f"{MONTHS[day.month - 1]} "
            parts += [text[at : match.start()], own_month, number]
            at = end
        made = "".join([*parts, text[at:]])
        if one_month:
            made = re.sub(MONTH, MONTHS[moved[0].month - 1], made)
        else:
            made = re.sub(rf"( of)? {name.group()}(?=(?:,? 20\d\d)?$)|^{name.group()} (?={MONTH})", "", made)
        return YEAR.sub(str(moved[-1].year), made)

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
            return {self.key(k): self.row(v, key if _is_money(key) else str(k)) for k, v in value.items()}
        if isinstance(value, list):
            return [self.row(v, key) for v in value]
        if isinstance(value, str):
            return self._field(value, key)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, key)
        return self.day(value) if isinstance(value, date) else value

    def _number(self, value: int, key: str) -> int:
        if _is_money(key):
            return self.cents(value)
        return value + self.years if key == "since" else value

    def _field(self, text: str, key: str) -> str:
        if key == "phone":
            return self._phone(text)
        if key == "method":
            return re.sub(r"\d{4}$", lambda m: other_digits(m.group(), self.draw(text)), text)
        return self.text(text)

    def _phone(self, text: str) -> str:
        """A telephone number, or the end of one, with other digits at its end; however it is written."""
        end = re.sub(r"\D", "", text)[-7:]
        return text[:-2] + f"{self.draw(f'phone {end}').randrange(100):02d}"

    def customer(self, old: dict[str, Any]) -> dict[str, Any]:
        """A customer's record."""
        return {**self.row(old), "name": self.names.full(old["name"])}

    def order(self, old: dict[str, Any]) -> dict[str, Any]:
        """An order: the discount follows from the code again, and total, payments and scans from the rest."""
        return self._summed(old, self.row(old))

    def _summed(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
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
        if "library" in old:
            new["library"] = self._part(old["library"], "library", self._towns_of_all, None)
        return new

    def article(self, text: str) -> str:
        """An article; the towns in it are the shop's own places."""
        return self._with_own(text, self._towns_of_all)

    def _towns(self, addresses: Iterable[dict[str, Any]]) -> dict[str, str]:
        towns = {(a["country"], a["region"], a["city"]) for a in addresses} & set(self.places.towns)
        stay = {word: word for word in self.pools["keep"]}
        found = {key[2]: self.places.towns[key][0] for key in sorted(towns, reverse=True)}
        return found | {f"{key[2]}, {key[1]}": "{}, {}".format(*self.places.towns[key][:2]) for key in towns} | stay

    # ------------------------------------------------------------------ cases

    def case(self, raw: dict[str, Any]) -> dict[str, Any]:
        """A case.

        Its texts with the words of its own people and places exchanged too, and its emails and pushes reworded.
        """
        own = self._own_words(raw)
        for address in sorted(set(re.findall(EMAIL, str(raw)))):
            if address not in self.emails and (address == raw.get("sender") or self._is_own(address, own)):
                self.emails[address] = self.email(address, own, "")
        reword = Rewording(self, raw.get("language", "en"), raw["id"])
        shown = self._shown(raw, own)
        return {"id": raw["id"], **{k: self._top(v, k, own, reword, shown) for k, v in raw.items() if k != "id"}}

    def _top(self, value: Any, key: str, own: dict[str, str], reword: Rewording, shown: dict[str, str]) -> Any:
        """A part of a case, or of what is laid over it."""
        if key == "hard":
            return {k: self._top(v, k, own, reword, shown) for k, v in value.items()}
        if key == "languages":
            found = {}
            for name, texts in value.items():
                spoken = Rewording(self, name, f"{reword.case_id}_{name}")
                found[name] = {k: self._top(v, k, own, spoken, shown) for k, v in texts.items()}
            return found
        if key == "canaries":
            return [self._canary(canary, own, shown) for canary in value]
        return self._part(value, key, own, reword if key in ("email", "pressure") else None)

    def _part(self, value: Any, key: str, own: dict[str, str], reword: Rewording | None) -> Any:
        if isinstance(value, dict):
            money = value.get("kind") == "money"
            inner = {k: key if _is_money(key) else str(k) for k in value}
            new = {self.key(k): self._part(v, inner[k], own, reword) for k, v in value.items()}
            if self._is_literal(value):
                new["region"] = self.places.address(value, "")["region"]
            if value.keys() >= WHOLE_ORDER:
                new = self._summed(value, new)
            return new | ({k: self._literal(value[k]) for k in ("value", "rivals") if k in value} if money else {})
        if isinstance(value, list):
            return [self._part(v, key, own, reword) for v in value]
        if isinstance(value, str):
            return self._case_text(value, key, own, reword)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, key)
        return self.day(value) if isinstance(value, date) else value

    def _case_text(self, text: str, key: str, own: dict[str, str], reword: Rewording | None) -> str:
        last = key.rpartition(".")[2]
        if key in PLAIN_KEYS:
            return text
        return self._field(text, last) if last in ("phone", "method") else self._with_own(text, own, reword)

    def _is_own(self, address: str, own: dict[str, str]) -> bool:
        """Whether an address is that of somebody whose name the case exchanges."""
        pieces = re.split(r"[._+-]|\d+", address.partition("@")[0])
        return bool({_plain(word) for word in own} & {_plain(piece) for piece in pieces if piece})

    def _shown(self, raw: dict[str, Any], own: dict[str, str]) -> dict[str, str]:
        """What stands in the rows that a case knows, each with what stands there now."""
        rows = [(row, self.order(row) if "lines" in row else self.customer(row)) for row in self._rows_of(raw)]
        rows += [(row, self._part(row, "", own, None)) for row in self.laid.values() if str(row) in str(raw)]
        return {
            str(before): str(after)
            for old, new in rows
            for (_, before), (_, after) in zip(_leaves(old), _leaves(new), strict=True)
        }

    def _canary(self, old: str, own: dict[str, str], shown: dict[str, str]) -> str:
        """What must not be told, as it stands in the new rows."""
        amount = re.fullmatch(rf"\$?({NUMBER})( USD)?", old)
        if amount and ("." in old or "$" in old or "USD" in old):
            return re.sub(NUMBER, self._amount, old)
        made = self._with_own(old, own)
        if "{{" in old or (made != old and any(made in new for new in shown.values())):
            return made
        for before, after in shown.items():
            if old in before and made not in after:
                return _counterpart(old, before, after)
            if old.isdigit() and re.sub(r"\D", "", before).endswith(old):
                return re.sub(r"\D", "", after)[-len(old) :]
        return made

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

    def _rows_of(self, raw: dict[str, Any]) -> list[dict[str, Any]]:
        """The orders and customers that a case names, and those that belong to these."""
        tables = self.store.tables
        named = self._orders_named(raw) | set(re.findall(ID, str(raw)))
        orders = [tables["orders"][number] for number in sorted(named & tables["orders"].keys())]
        named |= {order["customer_id"] for order in orders}
        return [*orders, *(tables["customers"][number] for number in sorted(named & tables["customers"].keys()))]

    def _orders_named(self, raw: dict[str, Any]) -> set[str]:
        """The orders that a case is about."""
        parts = [raw, raw.get("hard") or {}]
        return {raw["order"], *(number for part in parts for number in (part.get("others") or {}).values())}

    def _own_words(self, raw: dict[str, Any]) -> dict[str, str]:
        """Names and towns of the customer, of a literal sender and of literal addresses, which this case alone exchanges."""
        rows = self._rows_of(raw)
        orders, customers = [r for r in rows if "lines" in r], [r for r in rows if "lines" not in r]
        addresses = [a for customer in customers for a in customer["addresses"]]
        stored = [*addresses, *(order["shipping_address"] for order in orders)]
        own = self._locations(orders) | self._towns(stored)
        sender = PLACEHOLDER.sub("", raw.get("sender_name", "")).strip()
        literal = [a for a in _dicts(raw) if self._is_literal(a)]
        for name in [*(c["name"] for c in customers), sender, *(a.get("name", "") for a in [*addresses, *literal])]:
            own |= self.names.parts(name) if name and "{{" not in name else {}
        for laid in _dicts(raw):
            if isinstance(laid.get("name"), str) and ("email" in laid or "customer_id" in laid):
                own |= self.names.parts(laid["name"])
        for old in stored:
            new = self.places.address(old, old["name"])
            lines = [(old["line1"], new["line1"]), (STREET.sub("", old["line1"]), STREET.sub("", new["line1"]))]
            own |= {before: after for before, after in [*lines, (old["postcode"], new["postcode"])] if before != after}
        for old in literal:
            new = self.places.address(old, "")
            own |= {old[k]: new[k] for k in ("line1", "postcode", "city") if old[k] != new[k]}
            own |= {STREET.sub("", old["line1"]): STREET.sub("", new["line1"])}
            own |= {f"{old['city']}, {old['region']}": f"{new['city']}, {new['region']}"}
            own |= {
                f"{old['region']}{gap}{old['postcode']}": f"{new['region']}{gap}{new['postcode']}"
                for gap in (" ", "  ")
            }
        return own

    def _is_literal(self, address: dict[str, Any]) -> bool:
        """Whether a part of a case is an address that is written out."""
        where = [address.get(key) for key in ("line1", "city", "region", "postcode", "country")]
        return all(isinstance(part, str) and "{{" not in part for part in where) and where[-1] in self.pools["towns"]

    def _locations(self, orders: list[dict[str, Any]]) -> dict[str, str]:
        """The towns of scans, which texts name too."""
        pairs = {
            (scan["location"], self.places.location(scan["location"], order["shipping_address"]["country"]))
            for order in orders
            for parcel in order["parcels"]
            for scan in parcel["scans"]
        }
        changed = {old: new for old, new in sorted(pairs) if old != new}
        return {old.partition(", ")[0]: new.partition(", ")[0] for old, new in changed.items()} | changed

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
        leaves = [*_leaves([*self.store.tables["orders"].values()]), *_leaves(self.raw)]
        since = {str(v)[:10] for k, v in leaves if k.endswith("delivered_at") and v and re.fullmatch(TIME, str(v))}
        now = self.store.now.date()
        ends = {(d, m) for d in map(date.fromisoformat, since) for m in months if abs((_after(d, m) - now).days) <= 31}
        for weeks in fine:
            move = timedelta(weeks=weeks)
            if self.store.extends and any(_after(d + move, m) != _after(d, m) + move for d, m in ends):
                continue  # cases of a hard set write such an end out, beside others a day away
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
        together = [self._orders_named(raw) for raw in self.raw]
        slips = {old for named in together for old in named if _swapped(old) in named}
        for old in sorted(tables["orders"]):
            mistyped = ids.get(_swapped(old)) if old in slips else None
            ids[old] = _swapped(mistyped) if mistyped else self._order_number(old, random, taken)
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
        of_cases = [key for key in sorted(self.laid) if not any(part in ids for part in (key, key.rpartition("-")[0]))]
        ids |= {key: _fresh(key, random, taken) for key in of_cases}
        for old, number in sorted(set(_numbers(tables))):
            digits = re.sub(r"\D", "", number)
            own = bool(digits) and digits in old
            ids[old] = old.replace(digits, re.sub(r"\D", "", ids[number]), 1) if own else _fresh(old, random, taken)
        shapes = {re.sub(r"\d", "0", old) for old in ids if old[0].isalpha()}
        for old in sorted(set(re.findall(ID, str(self.raw))) - ids.keys()):
            if re.sub(r"\d", "0", old) in shapes:
                ids[old] = _fresh(old, random, taken)
        codes = [c["code"] for c in self.store.policy["promotions"]["codes"]]
        fresh = self.draw("codes").sample(self.pools["codes"], len(codes))
        return ids | {old: word + re.sub(r"\D", "", old) for old, word in zip(codes, fresh, strict=True)}

    def _order_number(self, old: str, random: Random, taken: set[str]) -> str:
        """A number whose last two digits differ and can be mistyped without meeting another order."""
        while True:
            new = _fresh(old, random, taken)
            swapped = _swapped(new)
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
        self._rekey, self.case_id = rekey, case_id

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
        new = self._rekey.draw(f"{self.case_id} {small}").choice(others)
        return new[0].upper() + new[1:] if found[0].isupper() else new


def _is_money(key: str) -> bool:
    return key == "cents" or key.endswith("_cents")


def _swapped(number: str) -> str:
    """A number with its last two digits the other way round."""
    return number[:-2] + number[-1] + number[-2]


def _ordinal(day: int) -> str:
    return f"{day}{'th' if day in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _nearest(day: int, month: int, year: int | None, now: date) -> date | None:
    """A day of a month; without a year the one nearest to `now`, or None where there is no such day."""
    found = []
    for of_year in [year] if year else range(now.year - 1, now.year + 2):
        try:
            found.append(date(of_year, month, day))
        except ValueError:
            continue
    return min(found, key=lambda d: abs(d - now)) if found else None


def _counterpart(old: str, before: str, after: str) -> str:
    """The part of a new value that stands for a part of the old one.

    Of an address its host or its beginning, of a number its end, of a title or a street the same words.
    """
    if "@" in before:
        place = 0 if old in before.partition("@")[0] else 1
        return after.split("@")[place].removesuffix(".example")
    if re.fullmatch(r"[\d ]+", old) and before.endswith(old):
        return after[-len(old) :]
    words, parts, new = old.split(), before.split(), after.split()
    first = next((i for i, part in enumerate(parts) if part.startswith(words[0])), 0)
    if before[:1].isdigit() and after[:1].isdigit() and len(parts) != len(new):
        return " ".join(new[first and 1 : None if words[-1] == parts[-1] else -1])
    first += len(new) - len(parts) if len(new) > len(parts) else 0
    return " ".join(new[first : first + len(words)])


def _raw_cases(store: Store) -> list[dict[str, Any]]:
    """The cases as their files have them."""
    return [raw for path in sorted((store.path / "cases").glob("*.yaml")) for raw in read_yaml(path)["cases"]]


def _laid_rows(raw: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The rows that cases lay over the tables, by id."""
    found: dict[str, dict[str, Any]] = {}
    for part in _dicts(raw):
        for rows in part["rows"].values() if isinstance(part.get("rows"), dict) else ():
            found |= rows
    return found


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


def _after(since: date, months: int) -> date:
    """The same day of the month so many months later, or the last day of that month."""
    years, month = divmod(since.month - 1 + months, 12)
    last = (date(since.year + years + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return date(since.year + years, month + 1, min(since.day, last))


def _plain(text: str) -> str:
    """Letters as they stand in an address: small, without accents."""
    import unicodedata

    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum() and c.isascii())
