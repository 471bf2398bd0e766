"""What a model costs: per conversation, per resolved case, per reliable case; agent, customer and judge separately."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import TYPE_CHECKING

from ..estimators.passk import case_pass_hat_k
from ..panels import conversations_of
from .headlines import case_matrix
from .tiers import cost_tier

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results


def cost_table(results: Results, k: int = 3) -> pd.DataFrame:
    """Costs by entry in US dollars; NaN with a reason if a price is unknown or there is nothing to divide by.

    Parameters
    ----------
    results : Results
        The runs.
    k : int
        A case counts as reliable by its pass^k: the chance that k trials in a row succeed.

    Returns
    -------
    DataFrame
        entry, model, source, conversations, per_conversation_usd, per_1000_usd, resolved (tickets), per_resolved_usd,
        reliable (sum of pass^k over resolvable cases), per_reliable_case_usd, customer_usd, judge_usd, unpriced_calls,
        tier, reason.
    """
    import pandas as pd

    conversations, calls = conversations_of(results), results.calls
    rows = []
    for (entry, source), mine in conversations.groupby(["entry", "source"], sort=True):
        ledger = calls[calls["run_id"].isin(set(mine["run_id"]))]
        unpriced = int((ledger["side"] == "agent").sum() - ledger.loc[ledger["side"] == "agent", "cost_usd"].count())
        total = float(mine["cost_usd"].sum()) if mine["cost_usd"].notna().all() else nan
        values, _, _ = case_matrix(mine, "resolved")
        seen = values == values
        reliable: Iterable[float] = (
            case_pass_hat_k((values == 1).sum(axis=1), seen.sum(axis=1), k) if values.size else ()
        )
        resolved, trustworthy = int((values == 1).sum()), float(sum(x for x in reliable if x == x))
        resolvable = float(mine.loc[mine["bucket"] == "resolvable", "cost_usd"].sum()) if total == total else nan
        trials = max(mine["trial"].nunique(), 1)
        rows.append(
            {
                "entry": entry,
                "model": mine["model"].iloc[0],
                "source": source,
                "conversations": len(mine),
                "per_conversation_usd": total / len(mine),
                "per_1000_usd": 1000 * total / len(mine),
                "resolved": resolved,
                "per_resolved_usd": resolvable / resolved if resolved else nan,
                "reliable": trustworthy,
                "per_reliable_case_usd": resolvable / trials / trustworthy if trustworthy else nan,
                "customer_usd": _side(ledger, "customer"),
                "judge_usd": _side(ledger, "judge"),
                "unpriced_calls": unpriced,
                "tier": cost_tier(mine),
                "reason": _reason(total, resolved, trustworthy, k, unpriced),
            }
        )
    return pd.DataFrame(rows)


def _side(ledger: pd.DataFrame, side: str) -> float:
    mine = ledger.loc[ledger["side"] == side, "cost_usd"]
    return float(mine.sum()) if mine.notna().all() else nan


def _reason(total: float, resolved: int, reliable: float, k: int, unpriced: int) -> str:
    parts = []
    if total != total:
        parts.append(f"price unknown for {unpriced} calls: add the model to data/prices.yaml")
    if not resolved:
        parts.append("nothing resolved")
    if not reliable:
        parts.append(f"no case with a pass^{k} above 0, or fewer than {k} trials")
    return "; ".join(parts)
