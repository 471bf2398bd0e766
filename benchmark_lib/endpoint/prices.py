"""Price tokens by a dated file that a user may edit; an unknown price stays unknown."""

import math
from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

import orjson
from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from ..errors import BadInput
from ..project import DATA
from ..records import Usage, content_hash
from .plain_data import Noted, filled, fitting, read_as, read_mapping

PRICES = DATA / "prices.yaml"
HIGHEST_USD = 1_000_000
"""For a million tokens; anything above is a typing error."""
Dollars = Annotated[float, Field(strict=True, ge=0, lt=HIGHEST_USD, allow_inf_nan=False)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Price:
    """The price of one model in US dollars for a million tokens.

    `model` is a name or pattern, `at` the pattern of the host (``*`` for any). `as_of` and `source` say when and where
    the price was read. `cached_input` prices prompt tokens from the provider's cache; `output` includes hidden
    reasoning.
    """

    model: str
    input: Dollars
    cached_input: Dollars
    output: Dollars
    as_of: Noted = ""
    source: Noted = ""
    at: Noted = "*"

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the cost of `usage` in US dollars; None if tokens that cost were not reported.

        `prompt_tokens` include cached tokens and `completion_tokens` include reasoning, as `read_usage` makes them.
        """
        if usage.missing and (self.input or self.output):
            return None
        fresh = usage.prompt_tokens - usage.cached_tokens
        dollars = fresh * self.input + usage.cached_tokens * self.cached_input + usage.completion_tokens * self.output
        return dollars / 1e6


class Tier(NamedTuple):
    """A cost tier: its name and upper bound in US dollars per 1,000 conversations."""

    name: str
    up_to_usd: float


class PriceText(BaseModel):
    """The content of a price file."""

    model_config = ConfigDict(extra="forbid")

    dated: Annotated[date, Field(strict=True)]
    currency: Literal["USD"] = "USD"
    per_tokens: Literal[1_000_000] = 1_000_000
    tiers: list[dict[str, Any]]
    free: list[str] | None = None
    models: list[Price]


class PriceFile(NamedTuple):
    """A checked price file; free prices come first and tiers rise."""

    dated: str
    prices: Sequence[Price]
    tiers: Sequence[Tier]
    hash: str

    def price(self, model: str, base_url: str | None = None) -> Price | None:
        """Return the first price that fits a model at an endpoint, or None.

        A name with a vendor in front (``openai/gpt-5.5``) is also looked up without it.
        """
        host = (urlsplit(base_url).hostname or "") if base_url else ""
        return next((p for p in fitting(self.prices, model) if p.at == "*" or fnmatchcase(host, p.at)), None)

    def tier(self, cost_per_1000_usd: float | None) -> str | None:
        """Return the tier of a cost per 1,000 conversations in US dollars; None for an unknown cost."""
        if cost_per_1000_usd is None or math.isnan(cost_per_1000_usd):
            return None
        return next(name for name, bound in self.tiers if cost_per_1000_usd <= bound)


def find_price(model: str, base_url: str | None = None, path: str | Path | None = None) -> Price | None:
    """Return the price of a model from the price file, or None."""
    return load_prices(path).price(model, base_url)


def how_to_add(model: str) -> str:
    """Describe how to add an unknown price to the price file."""
    name = orjson.dumps(model).decode()
    return (
        "add under models in data/prices.yaml, with its prices per million tokens in USD for IN and OUT: "
        f"- {{model: {name}, input: IN, output: OUT}}"
    )


def load_prices(path: str | Path | None = None) -> PriceFile:
    """Read a price file, by default the project's; `BadInput` for a wrong file or entry."""
    path = Path(path or PRICES)
    return _load(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=4)
def _load(path: Path, _: int) -> PriceFile:
    content = read_mapping(path)
    dated, models = str(content.get("dated")), filled(content.get("models"))
    if isinstance(models, list):
        models = [{"as_of": dated, "cached_input": m.get("input")} | m if isinstance(m, dict) else m for m in models]
    content["models"] = models
    listed = read_as(PriceText, content, str(path))
    free = [Price(name, 0.0, 0.0, 0.0, dated, "free by statement") for name in listed.free or ()]
    return PriceFile(dated, free + listed.models, read_tiers(listed.tiers, path), content_hash(path.read_bytes()))


def read_tiers(entries: list[dict[str, Any]], path: Path) -> Sequence[Tier]:
    """Return the cost tiers of a price file with rising upper bounds, the last one infinite."""
    try:
        tiers = [Tier(str(e["name"]), math.inf if e["up_to_usd"] is None else e["up_to_usd"]) for e in entries]
        bounds = [-1, *(tier.up_to_usd for tier in tiers)]
        rising = all(a < b for a, b in zip(bounds, bounds[1:])) and bounds[-1] == math.inf
        rising = rising and not any(isinstance(bound, bool) or bound < 0 for bound in bounds[1:])
    except (TypeError, KeyError):
        rising = False
    if not rising:
        raise BadInput(f"{path}: 'tiers' must be a list of name and up_to_usd, rising, the last one null; correct it")
    return tiers
