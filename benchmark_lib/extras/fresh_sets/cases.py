"""Re-keyed rows and cases: the same fields and logic, with other people and places."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

from ...store.files import leaves
from .retail import RetailRekey
from .texts import EMAIL, NUMBER, PLACEHOLDER, address_letters, any_of, is_money

Reword = Callable[[str], str]
WHOLE_ORDER = {"subtotal_cents", "discount_cents", "shipping_cents", "total_cents", "payments", "parcels"}

PLAIN_KEYS = (
    "intent", "family", "twin_of", "claim", "tone", "language", "hardness", "tool", "tools", "unit", "kind", "when",
    "attach",
)  # fmt: skip
"""Fields of a case with fixed words of the library or the store; they do not change."""


class Rekey(RetailRekey):
    """Re-keying of the rows, policy, articles and cases of one store; see `TextRekey`."""

    # ------------------------------------------------------------------ rows and articles

    def row(
        self,
        value: Any,
        key: str = "",
        own: dict[str, str] | None = None,
        reword: Reword = str,
    ) -> Any:
        """Return a record changed by field: addresses, amounts, numbers, text.

        A part of a case has its `own` words instead of whole addresses, and `reword` changes its texts first.
        """
        if isinstance(value, dict):
            if own is None and "line1" in value and "postcode" in value:
                return self.places.address(value, self.names.full(value["name"]))
            inner = {k: key if is_money(key) else str(k) for k in value}
            new = {self.key(k): self.row(v, inner[k], own, reword) for k, v in value.items()}
            if own is None and value.keys() >= {"name", "addresses"}:
                new["name"] = self.names.full(value["name"])
            if self._is_literal(value):
                new["region"] = self.places.address(value, "")["region"]
            if own is not None and value.get("kind") == "money":
                new |= {k: self._literal(value[k]) for k in ("value", "rivals") if k in value}
            return self._summed(value, new) if value.keys() >= WHOLE_ORDER else new
        if isinstance(value, list):
            return [self.row(v, key, own, reword) for v in value]
        if isinstance(value, str):
            field = key.rpartition(".")[2]
            if own is None or field in ("phone", "method"):
                return self._field(value, field)
            return value if key in PLAIN_KEYS else self._with_own(value, own, reword)
        if isinstance(value, int) and not isinstance(value, bool):
            return self.cents(value) if is_money(key) else value + self.years * (key == "since")
        return self.day(value) if isinstance(value, date) else value

    def of_table(self, old: dict[str, Any]) -> dict[str, Any]:
        """Return the new form of a row of a table, whose customer may have a home of their own."""
        self.places.home = self._homes.get(old.get("customer_id", ""), "")
        new: dict[str, Any] = self.row(old)
        self.places.home = ""
        return new

    def _summed(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        """Return an order whose total, payments and scans follow from the rest."""
        new["total_cents"] = new["subtotal_cents"] - new["discount_cents"] + new["shipping_cents"]
        known = {
            old["total_cents"]: new["total_cents"],
            old["subtotal_cents"] - old["discount_cents"]: new["total_cents"] - new["shipping_cents"],
        }
        for before, after in zip(old["payments"], new["payments"], strict=True):
            after["amount_cents"] = known.get(before["amount_cents"], after["amount_cents"])
            after["method"] = self._field(before["method"], "method", old.get("customer_id") or "")
        for before, after in zip(old["parcels"], new["parcels"], strict=True):
            for one, other in zip(before["scans"], after["scans"], strict=True):
                other["location"] = self.places.location(one["location"], old["shipping_address"])
        return new

    def policy(self, old: dict[str, Any]) -> dict[str, Any]:
        """Return the new policy; parcel forwarders get other names of the same kind."""
        new = self.row(old)
        was, now = old["freight_forwarders"], new["freight_forwarders"]
        for before, after in zip(was["addresses"], now["addresses"], strict=True):
            after["name"] = self.words.get(before["name"], before["name"])
        words = {name.casefold(): self.words[name].casefold() for name in was["names"]}
        now["name_words"] = [words.get(word, word) for word in was["name_words"]]
        if "library" in old:
            new["library"] = self.row(old["library"], "library", self._towns_of_all)
        return new

    def article(self, text: str) -> str:
        """Return a re-keyed article, in which towns are the shop's own places."""
        return self._with_own(text, self._towns_of_all)

    # ------------------------------------------------------------------ cases

    def case(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return a case with its people and places exchanged, and emails and pressure reworded."""
        self.places.home = self._home(raw)
        own = self._own_words(raw)
        for address in sorted(set(re.findall(EMAIL, str(raw)))):
            if address not in self.emails and (address == raw.get("sender") or self._is_own(address, own)):
                self.emails[address] = self.email(address, own, "")
        known = [(row, self.row(row)) for rows in self._rows_of(raw) for row in rows]
        known += [(row, self.row(row, "", own)) for row in self.laid.values() if str(row) in str(raw)]
        pairs = (pair for old, new in known for pair in zip(leaves(old), leaves(new), strict=True))
        shown = {str(before): str(after) for (_, before), (_, after) in pairs}

        def changed(part: dict[str, Any], reword: Reword) -> dict[str, Any]:
            new: dict[str, Any] = {}
            for key, value in part.items():
                if key in ("hard", "clean"):
                    new[key] = changed(value, reword)
                elif key == "languages":
                    spoken = {name: self._rewording(name, f"{raw['id']}_{name}") for name in value}
                    new[key] = {name: changed(texts, spoken[name]) for name, texts in value.items()}
                elif key == "canaries":
                    new[key] = [self._canary(canary, own, shown) for canary in value]
                else:
                    told = key in ("email", "pressure")
                    new[key] = self.row(value, key, own, reword if told else str)
            return new

        others = {key: value for key, value in raw.items() if key != "id"}
        made = changed(others, self._rewording(raw.get("language", "en"), raw["id"]))
        self.places.home = ""
        return {"id": raw["id"], **made}

    def _is_own(self, address: str, own: dict[str, str]) -> bool:
        pieces = re.split(r"[._+-]|\d+", address.partition("@")[0])
        own_letters = set(map(address_letters, own))
        return any(piece and address_letters(piece) in own_letters for piece in pieces)

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

    def _with_own(self, text: str, own: dict[str, str], reword: Reword = str) -> str:
        parts = re.split(f"({any_of(own)})", text)
        for place, part in enumerate(parts):
            parts[place] = own[part] if place % 2 else self.text(reword(part))
        return "".join(parts)

    def factorial(self, value: Any, key: str = "", name: str = "") -> Any:
        """Return the table of variants, re-keyed like cases; people and places are placeholders."""
        if isinstance(value, dict):
            return {k: self.factorial(v, k, f"{name}.{k}") for k, v in value.items()}
        if isinstance(value, list):
            return [self.factorial(v, key, name) for v in value]
        if isinstance(value, str) and key not in PLAIN_KEYS:
            if key in ("subject", "text", "pressure"):
                value = self._rewording("en", name)(value)
            return self.text(value)
        return self.day(value) if isinstance(value, date) else value

    def _rewording(self, language: str, case_id: str) -> Reword:
        groups = self.pools["wordings"].get(language)
        if not groups:
            return str
        group_of = {word: group for group in groups for word in group}
        group_of |= {word[0].upper() + word[1:]: group for word, group in group_of.items()}
        pattern = re.compile(any_of(group_of))

        def other(match: re.Match[str]) -> str:
            word = match.group()
            small = word[0].lower() + word[1:]
            others = [w for w in group_of[word] if w not in (word, small)]
            new: str = self.draw(f"{case_id} {small}").choice(others)
            return new[0].upper() + new[1:] if word[0].isupper() else new

        def reworded(text: str) -> str:
            parts = PLACEHOLDER.split(text)
            return "".join(p if place % 2 else pattern.sub(other, p) for place, p in enumerate(parts))

        return reworded


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
