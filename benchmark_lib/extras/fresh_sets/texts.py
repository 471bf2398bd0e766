"""Re-keyed texts: identifiers, dates, amounts and names of goods change; sentences do not."""

import re
import uuid
from collections.abc import Callable, Iterable
from datetime import (
    date,
    datetime,
    timedelta,
)
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from ...store import FolderStore
from .people import Names, Places, other_digits, words_of

ID = r"(?<![\w-])[A-Z][A-Z0-9]*-?\d[\w-]*"
EMAIL = r"[\w.+-]+@[\w.-]+\.example\b"
TIME = r"(?<!\d)20\d\d-\d\d-\d\d(?:T\d\d:\d\d:\d\d[+-]\d\d:\d\d)?(?!\d)"
NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+(?:[.,]\d\d)?)"
MONEY = (
    rf"\$\s?{NUMBER}(?!\d)|(?<![\d.,]){NUMBER}(?:(?:, | or | to |-| o | a | ou | à | oder | bis "
    rf"){NUMBER})*\s?(?:\$|USD|US-Dollar|[Dd]ollars?|dólares|bucks)"
)
PLACEHOLDER = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.S)
YEAR = re.compile(r"(?<![\d-])20\d\d(?![\d-])")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
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
"""End of a telephone number from the ranges reserved for fiction."""


class TextRekey:
    """Exchange of values in texts and fields, from a seed.

    A subclass sets the new identifiers, places and words, then calls `ready`. The world moves by `weeks`, and all
    money is multiplied by `tenths` / 10. `ids`, `words` and `emails` map old to new values. `pools` is the store's
    ``generate.yaml``.
    """

    weeks: int
    places: Places
    ids: dict[str, str]
    words: dict[str, str]

    def __init__(self, store: FolderStore, pools: dict[str, Any], seed: int):
        self.store, self.pools, self.seed = store, pools, seed
        self.tenths: int = self.draw("money").choice(pools["money_tenths"])
        self.zone = ZoneInfo(store.info["timezone"])
        mark = str(uuid.UUID(int=self.draw("canary").getrandbits(128), version=4))
        self.canary = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", mark, store.info["canary"])
        self.names = Names(pools["names"], self.draw)
        self.emails: dict[str, str] = {}
        hosts = pools["hosts"]
        self._hosts = [f"{w}{t}.example" for w in hosts["words"] for t in hosts["tails"]]
        self.draw("hosts").shuffle(self._hosts)
        self._host_of: dict[str, str] = {}

    def ready(self) -> None:
        """Compile the patterns for all exchanged values, before any text is converted."""
        table: dict[str, tuple[str, Callable[[str], str]]] = {
            "email": (EMAIL, lambda old: self.emails.get(old, old)),
            "time": (TIME, self.time),
            "word": (any_of(self.words), lambda old: self.words.get(old, old)),
            "id": (ID, self.identifier),
            "money": (MONEY, lambda old: re.sub(NUMBER, self._amount, old)),
            "day": (DAY_IN_WORDS, self._day_in_words),
            "phone": (PHONE, self._phone),
            "year": (rf"{YEAR.pattern}|(?<![\d-])20\d\d(?=-$)", lambda old: str(int(old) + self.years)),
        }
        groups = [f"(?P<{name}>{pattern})" for name, (pattern, _) in table.items()]
        # Amounts, days, telephone numbers and years stay within placeholders.
        self._patterns = re.compile("|".join(groups)), re.compile("|".join(groups[:4]))
        self._new = {name: change for name, (_, change) in table.items()}
        self.text = lru_cache(maxsize=50_000)(self._text)

    @property
    def years(self) -> int:
        """Return the approximate shift in years."""
        return round(self.weeks / 52.18)

    def draw(self, purpose: str) -> Random:
        """Return a separate random source for each purpose."""
        return Random(f"{self.seed}:{purpose}")

    def _text(self, text: str) -> str:
        parts = PLACEHOLDER.split(text)
        for place, part in enumerate(parts):
            if place % 2:
                part = re.sub(r"\bmoney\((\d+)\)", lambda m: f"money({self.cents(int(m[1]))})", part)
                for literal in (ADDED_CENTS, LEADING_CENTS):
                    part = literal.sub(lambda m: f"{m[1]}{self.cents(int(m[2]))}", part)
            parts[place] = self._patterns[place % 2].sub(lambda m: self._new[str(m.lastgroup)](m[0]), part)
        return "".join(parts)

    def identifier(self, old: str) -> str:
        """Return the replacement for an identifier, or for one within it (such as a parcel's)."""
        if old in self.ids:
            return self.ids[old]
        parts = old.split("-")
        for start in range(len(parts) - 1):
            number = "-".join(parts[start : start + 2])
            if number in self.ids:
                return "-".join([*parts[:start], self.ids[number], *parts[start + 2 :]])
        return old

    def key(self, old: Any) -> Any:
        """Return the new name of a field, with identifiers and years exchanged as in values."""
        if not isinstance(old, str):
            return old
        return ".".join(self._new["year" if YEAR.fullmatch(p) else "id"](p) for p in old.split("."))

    def _day_in_words(self, text: str) -> str:
        """Shift days of a month in English texts; the default year is nearest to the store's clock."""
        year = YEAR.search(text)
        name = re.search(MONTH, text)
        month = MONTHS.index(name.group()) + 1 if name else self.store.now.month
        body = text[: year.start()] if year else text
        of_year, now = int(year.group()) if year else None, self.store.now.date()
        days = [_nearest(int(day), month, of_year, now) for day in re.findall(r"\d+", body)]
        moved = [self.day(day) for day in days if day]
        if not days or len(moved) < len(days):
            return text
        if name is None:
            return re.sub(r"\d+\w\w", _ordinal(moved[0].day), text)
        one_month = len({day.month for day in moved}) == 1
        left = iter(moved)

        def number(match: re.Match[str]) -> str:
            day = next(left)
            shown = _ordinal(day.day) if match[1] else str(day.day)
            return shown if one_month else f"{MONTHS[day.month - 1]} {shown}"

        made = re.sub(r"\d+(st|nd|rd|th)?", number, body) + text[len(body) :]
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
        """Return an amount in cents times `tenths` / 10, with halves rounded to the even cent."""
        return round(Fraction(amount * self.tenths, 10))

    def time(self, text: str) -> str:
        """Return a shifted date, or a shifted time with its offset in the store's time zone."""
        if len(text) == 10:
            return self.day(date.fromisoformat(text)).isoformat()
        old = datetime.fromisoformat(text)
        new = old + timedelta(weeks=self.weeks)
        if old.utcoffset() == old.replace(tzinfo=self.zone).utcoffset():
            new = new.replace(tzinfo=self.zone)
        return new.isoformat()

    def day(self, day: date) -> date:
        """Return a shifted date."""
        return day + timedelta(weeks=self.weeks)

    def email(self, old: str, parts: dict[str, str], name: str) -> str:
        """Return an address of the same shape at another host, from `parts` or a new `name`."""
        local, _, host = old.partition("@")
        if host == self.store.info["desk_email"].partition("@")[2]:
            return old
        pieces = re.split(r"([._+-]|\d+)", local)
        plain = {address_letters(o): address_letters(n) for o, n in parts.items() if " " not in o}
        new = [plain.get(p, p) for p in pieces]
        initials = {o[0].casefold(): n[0].casefold() for o, n in parts.items() if ". " in o}
        if name and any(p.isalpha() and len(p) > 1 and p not in plain for p in pieces):
            new = [".".join(address_letters(w) for w in words_of(self.names.full(name))[:2])]
        elif pieces[0] in initials and new != pieces:
            new[0] = initials[pieces[0]]
        self._host_of.setdefault(host, self._hosts[len(self._host_of) % len(self._hosts)])
        made, count = f"{''.join(new)}@{self._host_of[host]}", 1
        while made in self.emails.values():
            count += 1
            made = f"{''.join(new)}{count}@{self._host_of[host]}"
        return made

    def _field(self, text: str, key: str, owner: str = "") -> str:
        if key == "phone":
            return self._phone(text)
        if key == "method":
            return re.sub(r"\d{4}$", lambda m: other_digits(m.group(), self.draw(f"{owner}{text}")), text)
        return self.text(text)

    def _phone(self, text: str) -> str:
        end = re.sub(r"\D", "", text)[-7:]
        return text[:-2] + f"{self.draw(f'phone {end}').randrange(100):02d}"


def is_money(key: str) -> bool:
    """Return True if a field contains cents."""
    return key == "cents" or key.endswith("_cents")


def _ordinal(day: int) -> str:
    return f"{day}{'th' if day in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _nearest(day: int, month: int, year: int | None, now: date) -> date | None:
    days = []
    for of_year in [year] if year else range(now.year - 1, now.year + 2):
        try:
            days.append(date(of_year, month, day))
        except ValueError:
            continue
    return min(days, key=lambda d: abs(d - now)) if days else None


def any_of(words: Iterable[str]) -> str:
    """Return a pattern of whole words, the longest first."""
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(words, key=lambda w: (-len(w), w))))})(?!\w)"


def address_letters(text: str) -> str:
    """Return letters as in an email address: lower case, without accents."""
    import unicodedata

    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum() and c.isascii())
