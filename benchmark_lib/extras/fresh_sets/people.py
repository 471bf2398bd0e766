"""Exchange of people and places: names by origin and gender, towns and streets by country."""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from random import Random
from typing import Any, TypeVar

from ...errors import BadInput

Draw = Callable[[str], Random]
"""Function that returns a random source for each purpose, all from one seed."""

Town = tuple[str, str, str]
K = TypeVar("K", str, tuple[str, str, str])
V = TypeVar("V", str, tuple[str, str, str])
TRIES = 10_000
STREET = re.compile(r"^\d[\w/-]* ")


def exchanged(words: Iterable[str], random: Random) -> dict[str, str]:
    """Map every word to another word of the list, each used once."""
    order = sorted(words)
    random.shuffle(order)
    return dict(pairwise([*order, order[0]])) if len(order) > 1 else {}


def other_digits(digits: str, random: Random) -> str:
    """Return as many random digits, the first of them not zero."""
    return str(random.randrange(10 ** (len(digits) - 1), 10 ** len(digits)))


def untaken(make: Callable[[], str], taken: set[str]) -> str:
    """Draw from `make` until the value is not in `taken`, and add it; refuse after `TRIES`."""
    for _ in range(TRIES):
        new = make()
        if new not in taken:
            taken.add(new)
            return new
    raise BadInput(
        f"generate.yaml: too few postcodes, streets or numbers to draw from ({new!r} is taken); add towns, "
        "streets or letters"
    )


def apart(
    homes: dict[str, set[K]], made: dict[K, V], fine: Callable[[K], list[V]], draw: Draw
) -> dict[str, dict[K, V]]:
    """Return new values by home, for keys in `made` that repeat an earlier home's value.

    The new values come from ``fine(key)``, each for one home only; a key without a free value is left out.
    """
    taken, seen = {made[key] for keys in homes.values() for key in keys}, set[V]()
    by_home: dict[str, dict[K, V]] = {}
    for home, keys in sorted(homes.items()):
        own = by_home[home] = {}
        for key in sorted(key for key in keys if made[key] in seen):
            if free := [value for value in fine(key) if value not in taken]:
                own[key] = draw(f"apart {home} {key}").choice(free)
                taken.add(own[key])
        seen |= {made[key] for key in keys - own.keys()}
    return by_home


def words_of(name: str) -> list[str]:
    """Return the words of a full name."""
    return re.split(r"[ -]", name)


class Names:
    """Exchange of people's names by parts, so that a shared family name remains shared.

    `pools` is the ``names`` part of a store's ``generate.yaml``: by origin, the given names ``f`` and ``m``, and
    ``family``.
    """

    def __init__(self, pools: dict[str, Any], draw: Draw):
        self.given: dict[str, str] = {}
        self.family: dict[str, str] = {}
        self._origin: dict[str, list[str]] = {}
        self._apart: dict[str, dict[str, str]] = {}
        for origin, pool in pools.items():
            for group in ("f", "m"):
                self.given |= exchanged(pool[group], draw(f"names {origin} {group}"))
            self.family |= exchanged(pool["family"], draw(f"names {origin} family"))
            self._origin |= dict.fromkeys(pool["family"], sorted(pool["family"]))
        self._any = sorted(pools[next(iter(pools))]["family"])
        self._draw = draw

    def set_apart(self, homes: dict[str, set[str]]) -> None:
        """Give homes, each a set of full names, distinct family names as far as the pools allow."""
        words: dict[str, set[str]] = {}
        for home, names in homes.items():
            words[home] = {word for name in names for word in words_of(name)[1:]} & self.family.keys()
        own = apart(words, self.family, self._origin.__getitem__, self._draw)
        self._apart = {name: own[home] for home, names in homes.items() for name in names}

    def full(self, name: str) -> str:
        """Return the replacement for a full name."""
        first, _, rest = name.partition(" ")
        family = self.family | self._apart.get(name, {})
        surname = re.sub(r"[^ -]+", lambda part: family.get(part[0]) or self._unknown(part[0]), rest)
        return " ".join(filter(None, (self.given.get(first) or self._unknown(first), surname)))

    def parts(self, name: str) -> dict[str, str]:
        """Return the words of a full name with their replacements, also in the form with initials."""
        if name == self.full(name):
            return {}
        old, new = words_of(name), words_of(self.full(name))
        if len(old) != len(new):
            return {name: self.full(name)}
        by_word = {o: n for o, n in zip(old, new, strict=True) if len(o) > 2}
        by_word |= {f"{old[0][0]}. {o}": f"{new[0][0]}. {n}" for o, n in zip(old[1:], new[1:], strict=True)}
        return by_word | {name: self.full(name)}

    def _unknown(self, word: str) -> str:
        return word if len(word) < 3 else self._draw(f"names unknown {word}").choice(self._any)


class Places:
    """Exchange of addresses: every town, postcode and street for another in the same country.

    Parameters
    ----------
    pools : dict
        A store's ``generate.yaml``. It has ``towns``, ``postcodes``, ``digits``, ``letters`` and ``streets``, by
        country or by country and region. ``near`` has rows of regions with interchangeable towns.
    avoid : set of str
        Towns and postcodes to exclude.

    Attributes
    ----------
    home : str
        Current customer, or customers of one case, whose addresses are exchanged; may be empty.
    towns : dict
        For this home: (country, region, town) to (town, region, start of its postcodes).
    streets : dict
        (first line, town) to its replacement.
    """

    def __init__(self, pools: dict[str, Any], draw: Draw, avoid: set[str]):
        self._pools, self._draw, self._avoid = pools, draw, avoid
        self.home = ""
        self._towns: dict[Town, Town] = {}
        self._apart: dict[str, dict[Town, Town]] = {}
        self._postcodes: dict[tuple[str, str, Town], str] = {}
        self.streets: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    @property
    def towns(self) -> dict[Town, Town]:  # noqa: D102
        return self._towns | self._apart[self.home] if self.home in self._apart else self._towns

    def set_apart(self, homes: dict[str, set[Town]]) -> None:
        """Give homes distinct towns as far as the pools allow."""
        known = {home: keys & self._towns.keys() for home, keys in homes.items()}
        self._apart = apart(known, self._towns, lambda key: self._fine(*key), self._draw)

    def address(self, old: dict[str, Any], name: str) -> dict[str, Any]:
        """Return an address's replacement, with recipient `name`; without pools, only the name."""
        pool = self._pool(old["country"], old["region"])
        if pool not in self._pools["towns"]:
            return {**old, "name": name}
        town = self.town(old["country"], old["region"], old["city"])
        return {
            **old,
            "name": name,
            "line1": self.street(old["line1"], old["city"], pool),
            "city": town[0],
            "region": town[1],
            "postcode": self._postcode(old, pool, town),
        }

    def town(self, country: str, region: str, city: str) -> Town:
        """Return the replacement for a town: its name, its region and the start of its postcodes."""
        key = (country, region, city)
        if key not in self._towns:
            fine = self._fine(*key)
            unused = [t for t in fine if t not in self._towns.values()]
            self._towns[key] = self._draw(f"town {key}").choice(unused or fine)
        return self.towns[key]

    def _fine(self, country: str, region: str, city: str) -> list[Town]:
        pool = self._pool(country, region)
        near = next((row for row in self._pools["near"] if region in row), [region])
        fine = [t for t in sorted(map(_town, self._pools["towns"][pool])) if t[0] not in self._avoid]
        fine = [t for t in fine if t[0] != city] or fine
        return [t for t in fine if t[1] in near] or fine

    def location(self, text: str, address: dict[str, Any]) -> str:
        """Return the new place of a parcel's scan, with or without region; other depots remain."""
        city, comma, suffix = text.partition(", ")
        named = [key for key in self.towns if key[2] == city]
        here = [key for key in named if key[1] == suffix]
        if here:
            return "{}, {}".format(*self.towns[here[0]][:2])
        if suffix in {region for _, region, _ in self.towns}:
            return text
        here = [key for key in named if key[0] == address["country"]]
        here.sort(key=lambda key: key[1] != address["region"])
        return self.towns[here[0]][0] + comma + suffix if here else text

    def street(self, line: str, city: str, pool: str) -> str:
        """Return an address line with another street and number, or box number; the flat stays."""
        if (line, city) not in self.streets:
            parts = line.split(", ")
            place = next((i for i, p in enumerate(parts) if STREET.match(p)), None)
            if place is None:
                random = self._draw(f"box {line} {city}")
                parts = [re.sub(r"\d+", lambda m: other_digits(m.group(), random), p) for p in parts]
            else:
                parts[place] = self._new_street(parts[place], pool)
            self.streets[line, city] = ", ".join(parts)
        return self.streets[line, city]

    def _new_street(self, old: str, pool: str) -> str:
        kind, random = self._of_country("streets", pool), self._draw(f"street {pool} {old}")
        digits = str(re.findall(r"^\d+", old)[0]).zfill(2)

        def made() -> str:
            line = kind["shape"].format(
                number=other_digits(digits, random),
                name=random.choice(kind["names"]),
                kind=random.choice(kind["kinds"]),
            )
            return str(line.strip())

        return untaken(made, self._taken)

    def _postcode(self, old: dict[str, Any], pool: str, town: Town) -> str:
        key = (old["city"], old["postcode"], town)
        if key not in self._postcodes:
            random = self._draw(f"postcode {key}")
            shape = self._of_country("postcodes", pool).format(prefix=town[2])
            fills = {"#": self._pools["digits"], "@": self._pools["letters"]}
            self._postcodes[key] = untaken(
                lambda: "".join(random.choice(fills[c]) if c in fills else c for c in shape), self._avoid
            )
        return self._postcodes[key]

    def _of_country(self, part: str, pool: str) -> Any:
        return self._pools[part].get(pool) or self._pools[part][pool.partition("-")[0]]

    def _pool(self, country: str, region: str) -> str:
        fine = f"{country}-{region}"
        return fine if fine in self._pools["towns"] else country


def _town(text: str) -> Town:
    name, _, rest = text.partition(", ")
    region, postcode = rest.rsplit(" ", 1)
    return name, region, postcode
