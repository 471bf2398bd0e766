"""The cost tiers of models, by the mean cost of 1,000 conversations and the bounds in the price file."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ...endpoint.prices import load_prices
from ...records import is_played
from ...scoring.written import missing, money

if TYPE_CHECKING:
    import pandas as pd

NO_MODEL, PLAYED, UNKNOWN = "none (scripted)", "none (played)", "price unknown"
"""What is shown instead of a tier if no model was paid for, if a player sat in its place, and if a price is missing."""


HOW_TO_PRICE = "add the model to data/prices.yaml, then `deskbench score FILE --costs` computes the costs"


def cost_tier(conversations: pd.DataFrame) -> str:
    """Return the tier of one model.

    Parameters
    ----------
    conversations : DataFrame
        The model's conversations; ``cost_usd`` is NaN if a price is unknown.
    """
    if set(conversations["source"]) <= {"scripted", "synthetic"}:
        return NO_MODEL
    if all(map(is_played, conversations["source"])) and not conversations["cost_usd"].fillna(0).any():
        return PLAYED
    if conversations["cost_usd"].isna().any():
        return UNKNOWN
    return load_prices().tier(1000 * float(conversations["cost_usd"].mean())) or UNKNOWN


def tier_in_words(tier: str) -> str:
    """Return a tier as the dollars that 1,000 conversations cost in it, ``5 to 25 USD``; what is no tier in a word."""
    names, bounds = zip(*load_prices().tiers, strict=True)
    if tier not in names:
        return {NO_MODEL: "scripted", PLAYED: "played"}.get(tier, tier)
    place = names.index(tier)
    low, high = bounds[place - 1] if place else 0, bounds[place]
    return f"above {low:g} USD" if high == inf else f"{low:g} to {high:g} USD" if low else f"up to {high:g} USD"


def cost_of_1000(row: dict[str, Any]) -> str:
    """Return the cost of 1,000 conversations in USD with its interval, for a row of the board; its tier if published."""
    ends = [1000 * row[f"cost_usd{end}"] for end in ("_mean", "_low", "_high")]
    if row["source"] == "published":
        return str(row["cost_tier"])
    unknown = row["cost_tier"] in (NO_MODEL, PLAYED, UNKNOWN) or missing(ends[0])
    return tier_in_words(row["cost_tier"]) if unknown else money(*ends)


def tier_order() -> tuple[str, ...]:
    """Return every value a tier can have, cheapest first."""
    return (NO_MODEL, PLAYED, *(name for name, _ in load_prices().tiers), UNKNOWN)
