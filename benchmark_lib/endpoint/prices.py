"""What tokens cost: a dated file a user may edit, and an unknown price that stays unknown."""

import math
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from ..errors import BadInput
from ..project import DATA
from ..records import Usage, content_hash
from .plain_data import read_mapping

PRICES = DATA / "prices.yaml"
SECTIONS = frozenset({"dated", "currency", "per_tokens", "tiers", "free", "models"})
HIGHEST_USD = 1_000_000
"""For a million tokens; anything above is a slip of the pen."""
ENTRY = frozenset({"model", "at", "input", "cached_input", "output", "as_of", "source"})


@dataclass(frozen=True)
class Price:
    """The price of one model in US dollars for a million tokens.

    `model` is the name or pattern it stands for, `at` the pattern of the host it holds for (``*`` for any), `as_of` and
    `source` say when and where it was read. `cached_input` are prompt tokens read from the provider's cache; hidden
    reasoning is among the `output`.
    """

    model: str
    input: float
    cached_input: float
    output: float
    as_of: str = ""
    source: str = ""
    at: str = "*"

    def cost_usd(self, usage: Usage) -> float | None:
        """Return what `usage` cost in US dollars; None where tokens that cost were not reported.

        Cached tokens are part of `prompt_tokens` and reasoning tokens part of `completion_tokens`, as OpenAI counts
        them and as `read_usage` makes every endpoint's counts, so neither is added again.
        """
        if usage.missing and (self.input or self.output):
            return None
        fresh = usage.prompt_tokens - usage.cached_tokens
        dollars = fresh * self.input + usage.cached_tokens * self.cached_input + usage.completion_tokens * self.output
        return dollars / 1e6


@dataclass(frozen=True)
class PriceFile:
    """A price file that was read and checked.

    Attributes
    ----------
    prices : tuple of Price
        In the order of the file, free ones first.
    tiers : tuple of (str, float)
        Name and upper bound in US dollars per 1,000 conversations, rising; the last bound is infinite.
    hash : str
        Content hash of the file, for the manifest.
    """

    dated: str
    prices: tuple[Price, ...]
    tiers: tuple[tuple[str, float], ...]
    hash: str

    def price(self, model: str, base_url: str | None = None) -> Price | None:
        """Return the first price that fits a model (at an endpoint), None where none does.

        A name with a vendor in front (``openai/gpt-5.5``) is also looked up without it.
        """
        host = (urlsplit(base_url).hostname or "") if base_url else ""
        for name in dict.fromkeys((model.lower(), model.lower().rpartition("/")[2])):
            for entry in self.prices:
                if fnmatchcase(name, entry.model.lower()) and (entry.at == "*" or fnmatchcase(host, entry.at)):
                    return entry
        return None

    def tier(self, cost_per_1000_usd: float | None) -> str | None:
        """Return the tier of a cost per 1,000 conversations in US dollars; None for an unknown cost."""
        if cost_per_1000_usd is None or math.isnan(cost_per_1000_usd):
            return None
        return next(name for name, bound in self.tiers if cost_per_1000_usd <= bound)


def find_price(model: str, base_url: str | None = None, path: str | Path | None = None) -> Price | None:
    """Return the price of a model from the price file, None where it is unknown."""
    return load_prices(path).price(model, base_url)


def how_to_add(model: str) -> str:
    """How a price that is not known is added to the price file, for a person."""
    name = orjson.dumps(model).decode()
    return (
        "add under models in data/prices.yaml, with its prices of a million tokens in USD for IN and OUT: "
        f"- {{model: {name}, input: IN, output: OUT}}"
    )


def load_prices(path: str | Path | None = None) -> PriceFile:
    """Read a price file, the project's own by default; `BadInput` when it cannot be read or an entry is no price."""
    path = Path(path or PRICES)
    return _load(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=4)
def _load(path: Path, _: int) -> PriceFile:
    content = read_mapping(path)
    unknown = [str(key) for key in content if key not in SECTIONS]
    if unknown:
        raise BadInput(f"{path}: {unknown[0]!r} is not part of a price file; it holds {', '.join(sorted(SECTIONS))}")
    if content.get("currency", "USD") != "USD" or content.get("per_tokens", 1_000_000) != 1_000_000:
        raise BadInput(f"{path}: prices are in USD for 1000000 tokens; convert them")
    if not isinstance(content.get("dated"), date):
        raise BadInput(f"{path}: 'dated' is missing or no date; write it like dated: 2026-11-21")
    for section in ("free", "models"):
        if not isinstance(content.get(section) or [], list):
            raise BadInput(f"{path}: {section!r} must be a list; begin each entry with a dash")
    for n, name in enumerate(content.get("free") or (), 1):
        if not isinstance(name, str):
            raise BadInput(f"{path}: free, entry {n}: {name!r:.60} is no name of a model; write the name in quotes")
    free = [
        Price(name, 0.0, 0.0, 0.0, str(content["dated"]), "free by statement") for name in content.get("free") or ()
    ]
    dated = str(content["dated"])
    listed = [
        read_price(entry, f"{path}: models, entry {n}", dated) for n, entry in enumerate(content.get("models") or (), 1)
    ]
    tiers = read_tiers(content.get("tiers"), path)
    return PriceFile(str(content["dated"]), tuple(free + listed), tiers, content_hash(path.read_bytes()))


def is_amount(value: Any, most: float) -> bool:
    """Tell whether a value is a number of dollars from 0 up to below `most`."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < most


def read_price(entry: Any, where: str, dated: str = "") -> Price:
    """Return one entry of a price file as a `Price`; where it has no date of its own, it has the file's."""
    if not isinstance(entry, dict) or not isinstance(entry.get("model"), str):
        raise BadInput(f"{where}: an entry names its 'model' and prices; add the name")
    unknown = sorted(str(key) for key in entry if key not in ENTRY)
    if unknown:
        raise BadInput(
            f"{where} ({entry['model']}): {unknown[0]!r} is not part of a price; it holds {', '.join(sorted(ENTRY))}"
        )
    values = {"cached_input": entry.get("input"), **entry}
    for name in ("input", "cached_input", "output"):
        if not is_amount(values.get(name), HIGHEST_USD):
            raise BadInput(
                f"{where} ({entry['model']:.60}): {name!r} must be a number of dollars from 0 up to {HIGHEST_USD:,}; correct it"
            )
    for name in ("at", "as_of", "source"):
        if isinstance(values.get(name), (list, dict)):
            raise BadInput(f"{where} ({entry['model']:.60}): {name!r} must be a text; correct it")
    told: dict[str, Any] = {name: float(values[name]) for name in ("input", "cached_input", "output")}
    told |= {"as_of": dated} | {name: str(entry[name]) for name in ("as_of", "source", "at") if entry.get(name)}
    return Price(entry["model"], **told)


def read_tiers(entries: Any, path: Path) -> tuple[tuple[str, float], ...]:
    """Return the cost tiers of a price file with rising upper bounds, the last one infinite."""
    try:
        tiers = tuple(
            (str(entry["name"]), math.inf if entry["up_to_usd"] is None else entry["up_to_usd"]) for entry in entries
        )
    except (TypeError, KeyError):
        tiers = ()
    bounds = [bound for _, bound in tiers]
    amounts = all(is_amount(bound, math.inf) for bound in bounds[:-1])
    if not tiers or not amounts or bounds[-1] != math.inf or bounds != sorted(set(bounds)):
        raise BadInput(f"{path}: 'tiers' must be a list of name and up_to_usd, rising, the last one null; correct it")
    return tiers
