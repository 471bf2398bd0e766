"""A desk's published values: in articles and prompt, and the policy's windows and fees."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import product
from typing import Any

from ...errors import BadInput
from ...language.sentences import fold
from ...language.values import WINDOWS, Value, values_in
from ...remembered import remembered
from ...store import Store
from ...store.files import dicts
from ...store.rules import holidays


@dataclass(frozen=True)
class Published:
    """Values that the agent may state without a look-up."""

    text: str
    """The articles and the prompt, folded."""
    values: frozenset[tuple[str, str]]
    """Kind and value of everything that they name, with each end of a window separate."""
    fees: frozenset[int]
    """Amounts, in cents, that the policy adds to a price."""
    codes: frozenset[tuple[str, int]]
    """The policy's codes, each with its discount in percent."""
    business_days: frozenset[int]
    """The policy's windows, alone and with the packing time added."""

    def dates(self) -> set[date]:
        """Return the published days, including holidays."""
        return {date.fromisoformat(value) for kind, value in self.values if kind == "date"}


@remembered("articles", "policy")
def published(store: Store) -> Published:
    """Return the published values of a store; cached."""
    texts = [article["text"] for article in store.articles]
    with suppress(BadInput):  # a store may have no prompt file
        texts.append(store.prompt()[0])
    found = [v for text in texts for v in values_in(text, store.now.year)]
    numbers = set(_numbers(store.policy))
    business = {n for name, n in numbers if _of_unit(name, "business_days")}
    packing = {n for name, n in _numbers(store.policy.get("processing", {})) if _of_unit(name, "business_days")}
    offers = (part for part in dicts(store.policy) if isinstance(part.get("code"), str))
    codes = {(part["code"], part["percent"]) for part in offers if isinstance(part.get("percent"), int)}
    return Published(
        fold("\n".join(texts)),
        frozenset(pair for v in found for pair in parts(v)) | {("date", day.isoformat()) for day in holidays(store)},
        frozenset(n for name, n in numbers if name.endswith("cost_cents")),
        frozenset(codes),
        frozenset(business | {a + b for a, b in product(packing, business)}),
    )


def parts(value: Value) -> set[tuple[str, str]]:
    """Return kind and value and, for a window, those of each end."""
    ends = value.value.split("-") if value.kind in WINDOWS else ()
    return {(value.kind, value.value), *((value.kind, end) for end in ends)}


def _of_unit(name: str, unit: str) -> bool:
    return name == unit or name.endswith("_" + unit)


def _numbers(value: Any, name: str = "") -> Iterator[tuple[str, int]]:
    """Yield every whole number of the policy with the nearest name that describes its unit."""
    if isinstance(value, dict):
        for key, inner in value.items():
            telling = str(key).endswith(_TELLING) or not name.endswith(_TELLING)
            yield from _numbers(inner, str(key) if telling else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, name)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, value


_TELLING = ("days", "months", "cents")
