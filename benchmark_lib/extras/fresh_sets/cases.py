"""Re-keyed rows and cases: the same fields and logic, with other people and places."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Any, ClassVar

from ...store.files import leaves
from .texts import EMAIL, NUMBER, PLACEHOLDER, TextRekey, address_letters, any_of, is_money

PLAIN_KEYS = (
    "intent", "family", "twin_of", "claim", "tone", "language", "hardness", "tool", "tools", "unit", "kind", "when",
    "attach",
)  # fmt: skip
"""Fields of a case with fixed words of the library or the store; they do not change."""


class Rekey(TextRekey):
    """Re-keying of rows and cases for all kinds of desk; see `TextRekey`.

    `needed` lists the required keys of a store's ``generate.yaml``.
    """

    needed: ClassVar[tuple[str, ...]] = ()
    _towns_of_all: dict[str, str]

    # ------------------------------------------------------------------ hooks for a kind of desk

    def of_table(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        """Return the new form of a row of a table."""
        made: dict[str, Any] = self.row(row)
        return made

    def policy(self, old: dict[str, Any]) -> dict[str, Any]:
        """Return the new policy."""
        made: dict[str, Any] = self.row(old)
        return made

    def _whole(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        """Return a mapping from a case, with its derived fields updated."""
        return new

    def _own_words(self, raw: dict[str, Any]) -> dict[str, str]:
        """Return the names and towns that only this case exchanges."""
        return {}

    def _rows_known(self, raw: dict[str, Any], own: dict[str, str]) -> list[tuple[Any, Any]]:
        """Return the rows that a case knows, each with its new form."""
        return []

    # ------------------------------------------------------------------ rows and articles

    def row(self, value: Any, key: str = "") -> Any:
        """Return a store or policy record, changed by field: addresses, amounts, numbers, text."""
        if isinstance(value, dict):
            if "line1" in value and "postcode" in value:
                return {**value, **self.places.address(value, self.names.full(value["name"]))}
            return {self.key(k): self.row(v, key if is_money(key) else str(k)) for k, v in value.items()}
        if isinstance(value, list):
            return [self.row(v, key) for v in value]
        if isinstance(value, str):
            return self._field(value, key)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, key)
        return self.day(value) if isinstance(value, date) else value

    def article(self, text: str) -> str:
        """Return a re-keyed article, in which towns are the shop's own places."""
        return self._with_own(text, self._towns_of_all)

    def _towns(self, addresses: Iterable[dict[str, Any]]) -> dict[str, str]:
        towns = {(a["country"], a["region"], a["city"]) for a in addresses} & set(self.places.towns)
        stay = {word: word for word in self.pools["keep"]}
        names = {key[2]: self.places.towns[key][0] for key in sorted(towns, reverse=True)}
        return names | {f"{key[2]}, {key[1]}": "{}, {}".format(*self.places.towns[key][:2]) for key in towns} | stay

    # ------------------------------------------------------------------ cases

    def case(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return a case with its people and places exchanged, and emails and pressure reworded."""
        own = self._own_words(raw)
        for address in sorted(set(re.findall(EMAIL, str(raw)))):
            if address not in self.emails and (address == raw.get("sender") or self._is_own(address, own)):
                self.emails[address] = self.email(address, own, "")
        reword = Rewording(self, raw.get("language", "en"), raw["id"])
        shown = self._shown(raw, own)
        return {"id": raw["id"], **{k: self._top(v, k, own, reword, shown) for k, v in raw.items() if k != "id"}}

    def _top(self, value: Any, key: str, own: dict[str, str], reword: Rewording, shown: dict[str, str]) -> Any:
        if key in ("hard", "clean"):
            return {k: self._top(v, k, own, reword, shown) for k, v in value.items()}
        if key == "languages":
            by_language = {}
            for name, texts in value.items():
                spoken = Rewording(self, name, f"{reword.case_id}_{name}")
                by_language[name] = {k: self._top(v, k, own, spoken, shown) for k, v in texts.items()}
            return by_language
        if key == "canaries":
            return [self._canary(canary, own, shown) for canary in value]
        return self._part(value, key, own, reword if key in ("email", "pressure") else None)

    def _part(self, value: Any, key: str, own: dict[str, str], reword: Rewording | None) -> Any:
        if isinstance(value, dict):
            money = value.get("kind") == "money"
            inner = {k: key if is_money(key) else str(k) for k in value}
            new = {self.key(k): self._part(v, inner[k], own, reword) for k, v in value.items()}
            if self._is_literal(value):
                new["region"] = self.places.address(value, "")["region"]
            new = self._whole(value, new)
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
        """Return True if an address belongs to a person whose name the case exchanges."""
        pieces = re.split(r"[._+-]|\d+", address.partition("@")[0])
        return bool({address_letters(word) for word in own} & {address_letters(piece) for piece in pieces if piece})

    def _shown(self, raw: dict[str, Any], own: dict[str, str]) -> dict[str, str]:
        """Return the values of the rows that a case knows, each with its new value."""
        return {
            str(before): str(after)
            for old, new in self._rows_known(raw, own)
            for (_, before), (_, after) in zip(leaves(old), leaves(new), strict=True)
        }

    def _canary(self, old: str, own: dict[str, str], shown: dict[str, str]) -> str:
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
        """Return a required amount: a literal in cents, or a placeholder."""
        if isinstance(value, list):
            return [self._literal(v) for v in value]
        if str(value).isdigit():
            return type(value)(self.cents(int(value)))
        return self.text(value)

    def _with_own(self, text: str, own: dict[str, str], reword: Rewording | None = None) -> str:
        """Return a text with both the case's own words and the global ones exchanged."""
        parts = re.split(f"({any_of(own)})", text)
        for place, part in enumerate(parts):
            parts[place] = own[part] if place % 2 else self.text(reword(part) if reword else part)
        return "".join(parts)

    def _is_literal(self, address: dict[str, Any]) -> bool:
        where = [address.get(key) for key in ("line1", "city", "region", "postcode", "country")]
        return all(isinstance(part, str) and "{{" not in part for part in where) and where[-1] in self.pools["towns"]

    def factorial(self, value: Any, key: str = "", name: str = "") -> Any:
        """Return the table of variants, re-keyed like cases; people and places are placeholders."""
        if isinstance(value, dict):
            return {k: self.factorial(v, k, f"{name}.{k}") for k, v in value.items()}
        if isinstance(value, list):
            return [self.factorial(v, key, name) for v in value]
        if isinstance(value, str) and key not in PLAIN_KEYS:
            reworded = Rewording(self, "en", name)(value) if key in ("subject", "text", "pressure") else value
            return self.text(reworded)
        return self.day(value) if isinstance(value, date) else value


class Rewording:
    """Exchange of interchangeable words in one case; each word has one replacement."""

    def __init__(self, rekey: Rekey, language: str, case_id: str):
        groups = rekey.pools["wordings"].get(language, [])
        self._group = {w: g for g in groups for w in g} | {w[0].upper() + w[1:]: g for g in groups for w in g}
        self._pattern = re.compile(any_of(self._group)) if groups else None
        self._rekey, self.case_id = rekey, case_id

    def __call__(self, text: str) -> str:
        """Return the reworded text, with placeholders unchanged."""
        if self._pattern is None:
            return text
        parts = PLACEHOLDER.split(text)
        return "".join(p if place % 2 else self._pattern.sub(self._other, p) for place, p in enumerate(parts))

    def _other(self, match: re.Match[str]) -> str:
        word = match.group()
        group = self._group[word]
        small = word[0].lower() + word[1:]
        others = [w for w in group if w not in (word, small)]
        new = self._rekey.draw(f"{self.case_id} {small}").choice(others)
        return new[0].upper() + new[1:] if word[0].isupper() else new


def _counterpart(old: str, before: str, after: str) -> str:
    """Return the part of a new value that matches part of the old: host, last digits or words."""
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
