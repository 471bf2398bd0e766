"""What a retail store exchanges: numbers, goods, holidays, people and places."""

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from random import Random
from typing import Any, ClassVar

from ...cases.read import written_cases
from ...errors import BadInput
from ...store import FolderStore
from ...store.files import dicts, leaves
from ...store.rules import within_months
from .people import STREET, Places, Town, other_digits, untaken
from .texts import ID, PLACEHOLDER, TIME, TextRekey


class RetailRekey(TextRekey):
    """Exchange of the values of one retail store, from a seed; see `TextRekey`."""

    needed: ClassVar[tuple[str, ...]] = (
        "years", "drift_days", "money_tenths", "holidays", "texts", "keep", "codes", "lines", "forwarders", "near",
        "towns", "postcodes", "digits", "letters", "streets", "hosts", "names", "wordings",
    )  # fmt: skip

    def __init__(self, store: FolderStore, pools: dict[str, Any], seed: int):
        super().__init__(store, pools, seed)
        self.raw = [raw for _, raw in written_cases(store)]
        self.weeks = self._weeks()
        self._settle()
        laid = (part["rows"] for part in dicts(self.raw) if isinstance(part.get("rows"), dict))
        self.laid = {key: row for tables in laid for rows in tables.values() for key, row in rows.items()}
        self.ids = self._ids()
        self.titles = self._titles()
        for row in sorted(store.tables["customers"].values(), key=lambda r: r["customer_id"]):
            email, name = row["email"], row["name"]
            self.emails[email] = self.email(email, self.names.parts(name), name)
        self.words = self._words()
        self._towns_of_all = self._towns(_addresses(store))
        self.ready()

    def _settle(self) -> None:
        store, pools = self.store, self.pools
        towns = {(a["country"], a["region"], a["city"]) for a in _addresses(store)}
        scans = {str(v) for k, v in leaves([*store.tables["orders"].values()]) if k == "location"}
        depots = {scan.split(", ")[0] for scan in scans} - {city for _, _, city in towns}
        self.places = Places(pools, self.draw, depots | {a["postcode"] for a in _addresses(store)})
        for country, region, city in sorted(towns):
            if country in pools["towns"]:
                self.places.town(country, region, city)
        self._set_apart()
        forwarders = store.policy["freight_forwarders"]["addresses"]
        streets = self.draw("forwarders").sample(pools["forwarders"]["streets"], len(forwarders))
        for place, street in zip(forwarders, streets, strict=True):
            number = other_digits(re.findall(r"^\d+", place["line1"])[0], self.draw(place["line1"]))
            self.places.streets[place["line1"], place["city"]] = f"{number} {street}"

    def _set_apart(self) -> None:
        # customers who meet in a case share a home
        groups: list[set[str]] = []
        for raw in self.raw:
            met = {customer["customer_id"] for customer in self._rows_of(raw)[1]}
            groups = [g for g in groups if not g & met] + [met.union(*(g for g in groups if g & met))]
        self._homes = {customer: min(group) for group in groups for customer in group}
        people: dict[str, set[str]] = defaultdict(set)
        for raw in self.raw:
            people[self._home(raw)] |= self._people(raw)
        self.names.set_apart(people)
        if self.store.extends:
            return  # pages of a hard set's library name its customers' towns
        towns: dict[str, set[Town]] = defaultdict(set)
        for row in [*self.store.tables["customers"].values(), *self.store.tables["orders"].values()]:
            places = row["addresses"] if "addresses" in row else [row["shipping_address"]]
            if home := self._homes.get(row["customer_id"]):
                towns[home] |= {(a["country"], a["region"], a["city"]) for a in places}
        self.places.set_apart(towns)

    def _home(self, raw: dict[str, Any]) -> str:
        _, customers = self._rows_of(raw)
        return self._homes.get(customers[0]["customer_id"], "") if customers else ""

    # ------------------------------------------------------------------ parts of one case

    def _rows_of(self, raw: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        orders, customers = (self.store.tables[name] for name in ("orders", "customers"))
        named = self._orders_named(raw) | set(re.findall(ID, str(raw)))
        found = [orders[number] for number in sorted(named & orders.keys())]
        named |= {order["customer_id"] for order in found}
        return found, [customers[number] for number in sorted(named & customers.keys())]

    def _people(self, raw: dict[str, Any]) -> set[str]:
        _, customers = self._rows_of(raw)
        literal = [d for d in dicts(raw) if self._is_literal(d) or "email" in d or "customer_id" in d]
        named = [*customers, *(a for c in customers for a in c["addresses"]), *literal]
        names = [PLACEHOLDER.sub("", raw.get("sender_name", "")).strip()]
        names += [one.get("name") for one in named]
        return {name for name in names if isinstance(name, str) and name and "{{" not in name}

    def _orders_named(self, raw: dict[str, Any]) -> set[str]:
        others = (part.get("others") or {} for part in (raw, raw.get("hard") or {}))
        return {raw["order"], *(number for named in others for number in named.values())}

    def _own_words(self, raw: dict[str, Any]) -> dict[str, str]:
        orders, customers = self._rows_of(raw)
        addresses = [a for customer in customers for a in customer["addresses"]]
        stored = [*addresses, *(order["shipping_address"] for order in orders)]
        own = self._locations(orders) | self._towns(stored)
        for name in self._people(raw):
            own |= self.names.parts(name)
        written = [(address, True) for address in dicts(raw) if self._is_literal(address)]
        for old, whole in [*((address, False) for address in stored), *written]:
            new = self.places.address(old, "")
            pairs = zip(_forms(old, whole), _forms(new, whole), strict=True)
            own |= {before: after for before, after in pairs if before != after}
        return own

    def _locations(self, orders: list[dict[str, Any]]) -> dict[str, str]:
        pairs = {
            (scan["location"], self.places.location(scan["location"], order["shipping_address"]))
            for order in orders
            for parcel in order["parcels"]
            for scan in parcel["scans"]
        }
        changed = {old: new for old, new in sorted(pairs) if old != new}
        return {old.partition(", ")[0]: new.partition(", ")[0] for old, new in changed.items()} | changed

    def _towns(self, addresses: Iterable[dict[str, Any]]) -> dict[str, str]:
        new = self.places.towns
        towns = {(a["country"], a["region"], a["city"]) for a in addresses} & new.keys()
        names = {key[2]: new[key][0] for key in sorted(towns, reverse=True)}
        names |= {f"{key[2]}, {key[1]}": "{}, {}".format(*new[key][:2]) for key in towns}
        return names | {word: word for word in self.pools["keep"]}

    def _is_literal(self, address: dict[str, Any]) -> bool:
        where = [address.get(key) for key in ("line1", "city", "region", "postcode", "country")]
        written = all(isinstance(part, str) and "{{" not in part for part in where)
        return written and where[-1] in self.pools["towns"]

    # ------------------------------------------------------------------ the exchange itself

    def _weeks(self) -> int:
        # It must keep every limit in months on the same side of the store's clock.
        near = self.pools["drift_days"]
        fine = [w for y in self.pools["years"] for w in range(-300, 300) if abs(w * 7 - y * 365.2425) <= near]
        self.draw("weeks").shuffle(fine)
        months = {v for k, v in leaves(self.store.policy) if k.endswith("months") and isinstance(v, int)}
        values = [*leaves([*self.store.tables["orders"].values()]), *leaves(self.raw)]
        since = {str(v)[:10] for k, v in values if k.endswith("delivered_at") and re.fullmatch(TIME, str(v))}
        limits = [(date.fromisoformat(day), month) for day in since for month in months]
        now = self.store.now.date()
        ends = [(d, m) for d, m in limits if abs((_after(d, m) - now).days) <= 31]
        for weeks in fine:
            move = timedelta(weeks=weeks)
            if self.store.extends and any(_after(d + move, m) != _after(d, m) + move for d, m in ends):
                continue  # cases of a hard set state when such a limit ends, next to others a day away
            if all(within_months(d, now, m) == within_months(d + move, now + move, m) for d, m in limits):
                return weeks
        raise BadInput(
            f"{self.store.path / 'generate.yaml'}: no shift by {self.pools['years']} years keeps every limit "
            "on the same side of its clock; add years"
        )

    def _ids(self) -> dict[str, str]:
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
            old, new = product["product_id"], ids[product["product_id"]]
            ids |= {v["variant_id"]: new + v["variant_id"].removeprefix(old) for v in product["variants"]}
        random = self.draw("numbers")
        of_cases = {key for key in self.laid if key not in ids and key.rpartition("-")[0] not in ids}
        ids |= {key: _fresh(key, random, taken) for key in sorted(of_cases)}
        for old, number in sorted(set(_numbers(tables))):
            digits = re.sub(r"\D", "", number)
            if digits and digits in old:
                ids[old] = old.replace(digits, re.sub(r"\D", "", ids[number]), 1)
            else:
                ids[old] = _fresh(old, random, taken)
        shapes = {re.sub(r"\d", "0", old) for old in ids if old[0].isalpha()}
        for old in sorted(set(re.findall(ID, str(self.raw))) - ids.keys()):
            if re.sub(r"\d", "0", old) in shapes:
                ids[old] = _fresh(old, random, taken)
        codes = [c["code"] for c in self.store.policy["promotions"]["codes"]]
        fresh = self.draw("codes").sample(self.pools["codes"], len(codes))
        return ids | {old: word + re.sub(r"\D", "", old) for old, word in zip(codes, fresh, strict=True)}

    def _order_number(self, old: str, random: Random, taken: set[str]) -> str:
        """Return a number whose last two digits differ and, swapped, match no other order."""
        while True:
            new = _fresh(old, random, taken)
            swapped = _swapped(new)
            if new != swapped and swapped not in taken:
                taken.add(swapped)
                return new

    def _titles(self) -> dict[str, str]:
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
        days = [h["name"] for h in self.store.policy["calendar"]["holidays"]]
        holidays = self.draw("holidays").sample(self.pools["holidays"], len(days))
        words = dict(zip(days, holidays, strict=True))
        words |= {d.split(" (")[0]: words[d] for d in days}
        pools = self.pools["forwarders"]
        brands, single = (self.draw(k).sample(pools[k], len(pools[k])) for k in ("brands", "single"))
        for name in self.store.policy["freight_forwarders"]["names"]:
            first, space, rest = name.partition(" ")
            words[name] = f"{brands.pop()}{space}{rest}" if rest else single.pop()
        for old, new in self.titles.items():
            for article in "aA":
                words[_with_article(article, old)] = _with_article(article, new)
        return words | self.titles | self.pools["texts"] | {self.store.info["canary"]: self.canary}


def _forms(address: dict[str, Any], whole: bool) -> list[str]:
    line1, city, region, postcode = (address[key] for key in ("line1", "city", "region", "postcode"))
    forms = [line1, STREET.sub("", line1), postcode]
    towns = [city, f"{city}, {region}", f"{region} {postcode}", f"{region}  {postcode}"]
    return forms + (towns if whole else [])


def _with_article(article: str, name: str) -> str:
    return f"{article}{'n' * (name[0] in 'AEIOU')} {name}"


def _swapped(number: str) -> str:
    return number[:-2] + number[-1] + number[-2]


def _fresh(old: str, random: Random, taken: set[str]) -> str:
    return untaken(lambda: re.sub(r"\d+", lambda m: other_digits(m.group(), random), old), taken)


def _numbers(tables: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for order in tables["orders"].values():
        for key, value in leaves(order):
            if key in ("payment_id", "parcel_id", "return_id", "reshipment_id", "tracking_number"):
                yield value, order["order_id"]
    for customer in tables["customers"].values():
        yield from ((claim["claim_id"], "") for claim in customer["claims"])


def _addresses(store: FolderStore) -> Iterator[dict[str, Any]]:
    rows = [*store.tables["customers"].values(), *store.tables["orders"].values()]
    every = dicts([*rows, *store.policy["freight_forwarders"]["addresses"]])
    yield from (address for address in every if "line1" in address)


def _after(since: date, months: int) -> date:
    years, month = divmod(since.month - 1 + months, 12)
    last = monthrange(since.year + years, month + 1)[1]
    return date(since.year + years, month + 1, min(since.day, last))
