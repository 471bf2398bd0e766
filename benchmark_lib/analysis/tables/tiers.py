"""The cost tiers of models, by the mean cost of 1,000 conversations and the bounds in the price file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...endpoint.prices import load_prices
from ...records import is_played

if TYPE_CHECKING:
    import pandas as pd

NO_MODEL, PLAYED, UNKNOWN = "none (scripted)", "none (played)", "price unknown"
"""What is shown instead of a tier if no model was paid for, if a player sat in its place, and if a price is missing."""


HOW_TO_PRICE = "add the model to data/prices.yaml, then `deskbench score FILE --costs` computes the costs"


def cost_tier(conversations: pd.DataFrame) -> str:
    """The tier of one model.

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


def tier_order() -> tuple[str, ...]:
    """Every value a tier can have, cheapest first."""
    return (NO_MODEL, PLAYED, *(name for name, _ in load_prices().tiers), UNKNOWN)
