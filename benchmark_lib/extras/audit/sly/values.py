"""Values that an agent finds by look-ups, in its own formatting."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ....cases.facts import money
from ....cases.read import long_date

_DAY = re.compile(r"20\d\d-\d\d-\d\d")
_NO_VALUE = ("customer_id", "line_id", "lines", "variant_id", "notes", "status", "country", "kind")


class LabelledValue(NamedTuple):
    """A value with its name."""

    label: str
    text: str


def values_of(found: Any, language: str, label: str = "") -> list[LabelledValue]:
    """Return every amount, day, number, link, place and name in a tool's result, each once."""
    return list(dict.fromkeys(_values_of(found, language, label)))


def _values_of(found: Any, language: str, label: str) -> Iterator[LabelledValue]:
    if isinstance(found, dict):
        for key, inner in found.items():
            if key not in _NO_VALUE:
                yield from _values_of(inner, language, key)
    elif isinstance(found, list):
        for inner in found:
            yield from _values_of(inner, language, label)
    elif found not in (None, "", 0) and not isinstance(found, bool):
        yield LabelledValue(label.removesuffix("_cents").replace("_", " "), _written(label, found, language))


def _written(label: str, value: Any, language: str) -> str:
    if label.endswith("_cents"):
        return money(value)
    return long_date(str(value), language) if _DAY.match(str(value)) else str(value)


def amounts_of(order: dict[str, Any]) -> list[LabelledValue]:
    """Return every amount of an order, and the sum and difference of every two."""
    plain = {k.removesuffix("_cents"): v for k, v in order.items() if k.endswith("_cents")}
    plain |= {line["title"]: line["price_cents"] for line in order["lines"]}
    found = [LabelledValue(name.replace("_", " "), money(cents)) for name, cents in plain.items()]
    for one, cents in plain.items():
        for other, more in plain.items():
            if one < other:
                found.append(LabelledValue(f"{one} + {other}".replace("_", " "), money(cents + more)))
                found.append(LabelledValue(f"{one} - {other}".replace("_", " "), money(abs(cents - more))))
    return found
