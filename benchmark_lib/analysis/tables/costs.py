"""Costs of a model: tier, cost per conversation, resolved case and reliable case, and plans.

Only finished conversations count, both as costs and as results, so a partial run is neither cheap nor expensive merely
because it is partial.
"""

from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd

from ...endpoint.prices import load_prices
from ...records import NOT_SCORED, is_played
from ...scoring.written import counted, missing, money
from ..cell import Row, framed
from ..estimators.estimate import sentence
from ..estimators.trials import case_pass_hat_k
from ..frames import Results
from ..panels import conversations_of, progress
from .headlines import by_case

NO_MODEL, PLAYED, UNKNOWN = "none (scripted)", "none (played)", "price unknown"
"""Texts shown instead of a tier: no paid model, a player, and a missing price."""
HOW_TO_PRICE = "add the model to data/prices.yaml"
K = 3
"""Number of trials of a reliable case: all three must succeed (pass^3)."""


def cost_tier(conversations: pd.DataFrame) -> str:
    """Return one model's tier from its conversations; NaN in ``cost_usd`` means no price."""
    if set(conversations["source"]) <= {"scripted", "synthetic"}:
        return NO_MODEL
    if all(map(is_played, conversations["source"])) and not conversations["cost_usd"].fillna(0).any():
        return PLAYED
    if conversations["cost_usd"].isna().any():
        return UNKNOWN
    return load_prices().tier(1000 * float(conversations["cost_usd"].mean())) or UNKNOWN


def tier_in_words(tier: str) -> str:
    """Return a tier as the cost of 1,000 conversations (``5 to 25 USD``), or why there is none."""
    names, bounds = zip(*load_prices().tiers, strict=True)
    if tier not in names:
        return {NO_MODEL: "scripted", PLAYED: "played"}.get(tier, tier)
    place = names.index(tier)
    low, high = bounds[place - 1] if place else 0, bounds[place]
    return f"above {low:g} USD" if high == inf else f"{low:g} to {high:g} USD" if low else f"up to {high:g} USD"


def cost_of_1000(row: dict[str, Any]) -> str:
    """Return the cost of 1,000 conversations in USD with its interval; if published, the tier."""
    ends = [1000 * row[f"cost_usd{end}"] for end in ("_mean", "_low", "_high")]
    if row["source"] == "published":
        return str(row["cost_tier"])
    unknown = row["cost_tier"] in (NO_MODEL, PLAYED, UNKNOWN) or missing(ends[0])
    return tier_in_words(row["cost_tier"]) if unknown else money(*ends)


def tier_order() -> tuple[str, ...]:
    """Return every possible tier, cheapest first."""
    return (NO_MODEL, PLAYED, *(name for name, _ in load_prices().tiers), UNKNOWN)


def cost_table(results: Results) -> pd.DataFrame:
    """Return costs by entry in US dollars; NaN with a reason if unknown or undefined.

    One row per entry. ``conversations`` counts finished ones. ``reliable`` is the sum of pass^3 over the
    ``reliable_cases``, which are the resolvable cases with three finished trials. ``per_reliable_case_usd`` is the cost
    of one trial of each of these cases, divided by ``reliable``. Other ``per_*`` costs are the agent's. ``agent_usd``,
    ``customer_usd`` and ``judge_usd`` are the totals paid, and ``unfinished_usd`` is what the agent cost in
    conversations that did not finish. Tokens are per conversation; ``hidden`` is the share of the completion that is
    hidden reasoning.
    """
    rows = []
    for (entry, source), group in conversations_of(results).groupby(["entry", "source"], sort=True):
        head = {"panel": group["panel"].iloc[0], "entry": entry, "model": group["model"].iloc[0], "source": source}
        ledger = results.calls[results.calls["run_id"].isin(set(group["run_id"]))]
        rows.append(head | _costs(group, ledger) | {"tier": cost_tier(group)})
    return pd.DataFrame(rows)


def _costs(group: pd.DataFrame, ledger: pd.DataFrame) -> Row:
    finished, planned = progress(group)
    kept = group[~group["ended_by"].isin(NOT_SCORED)]
    total = kept["cost_usd"].sum(skipna=False) if len(kept) else nan
    each = total / len(kept) if len(kept) else nan
    row = {"conversations": finished, "planned": planned, "per_conversation_usd": each, "per_1000_usd": 1000 * each}
    sides = ("agent", "customer", "judge")
    paid = {side: ledger.loc[ledger["side"] == side, "cost_usd"].sum(skipna=False) for side in sides}
    row |= _bought(kept) | {f"{side}_usd": usd for side, usd in paid.items()}
    row |= {f"{side}_1000_usd": 1000 * paid[side] / finished if finished else nan for side in sides[1:]}
    row["unpriced_calls"] = int(ledger.loc[ledger["side"] == "agent", "cost_usd"].isna().sum())
    row["unfinished_usd"] = row["agent_usd"] - total if len(ledger) else 0.0
    written, hidden = kept["completion_tokens"], kept["reasoning_tokens"]
    share = float(hidden.sum() / written.sum()) if written.sum() > 0 and hidden.notna().any() else nan
    row |= {"completion_tokens": written.mean(), "reasoning_tokens": hidden.mean(), "hidden": share}
    return row | {"reason": _reason(row, is_played(group["source"].iloc[0]))}


def _bought(kept: pd.DataFrame) -> Row:
    scored = kept[(kept["bucket"] == "resolvable") & kept["resolved"].notna()]
    values = by_case(scored, "resolved")
    resolved = int(values.hits.sum())
    reliable = float(np.nansum(case_pass_hat_k(values.hits, values.trials, K))) if len(values.cases) else 0.0
    enough = scored[scored["case_id"].isin(values.cases[values.trials >= K])]
    one_trial = enough.groupby("case_id")["cost_usd"].mean(skipna=False)
    return {
        "resolved": resolved,
        "per_resolved_usd": scored["cost_usd"].sum(skipna=False) / resolved if resolved else nan,
        "reliable": reliable,
        "reliable_cases": len(one_trial),
        "resolvable_cases": int(kept.loc[kept["bucket"] == "resolvable", "case_id"].nunique()),
        "per_reliable_case_usd": one_trial.sum(skipna=False) / reliable if reliable else nan,
    }


def _reason(row: Row, played: bool) -> str:
    if not row["conversations"]:
        return "no conversation finished"
    unpriced = f"price unknown for {counted(row['unpriced_calls'], 'call')}: {HOW_TO_PRICE}"
    tried = f"no case with a pass^{K} above 0" if row["reliable_cases"] else f"no case has {K} trials"
    unreliable = tried if row["resolved"] else "nothing resolved"
    finished = f"{row['conversations']} of {row['planned']} conversations finished: only these are counted"
    partly = (
        f"{row['reliable_cases']} of {row['resolvable_cases']} resolvable cases have {K} finished trials: "
        "the price of a reliable case is based on these"
    )
    reasons = {
        "played, not paid for" if played else unpriced: missing(row["per_conversation_usd"]),
        unreliable: not row["reliable"],
        finished: row["conversations"] < row["planned"],
        partly: 0 < row["reliable_cases"] < row["resolvable_cases"],
    }
    return sentence(*(words for words, applies in reasons.items() if applies))


def cost_lines(row: dict[str, Any]) -> pd.DataFrame:
    """Lay out one row of `cost_table` as lines with unit, denominator, and reason if unknown."""
    finished = counted(int(row["conversations"]), "finished conversation")
    cases = f"{row['reliable_cases']} of {counted(row['resolvable_cases'], 'resolvable case')}"
    lines = [
        ("agent, 1,000 conversations", row["per_1000_usd"], "USD", finished),
        ("customer, 1,000 conversations", row["customer_1000_usd"], "USD", finished),
        ("judges, 1,000 conversations", row["judge_1000_usd"], "USD", finished),
        ("agent, a resolved conversation", row["per_resolved_usd"], "USD", f"{row['resolved']} resolved"),
        (f"agent, a reliable case (pass^{K})", row["per_reliable_case_usd"], "USD", f"{cases} with {K} trials"),
        ("agent, conversations that did not finish", row["unfinished_usd"], "USD", "all that was paid"),
        ("tokens written by the agent", row["completion_tokens"], "a conversation", finished),
        ("of these, hidden reasoning", row["reasoning_tokens"], "a conversation", finished),
    ]
    table = framed(lines, "what value unit of")
    called = "the endpoint reported none" if row["source"] == "model" else "no model was called"
    why = table["unit"].map({"USD": row["reason"], "a conversation": called})
    return table.assign(reason=why.mask(table["value"].notna(), ""))
