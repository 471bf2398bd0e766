"""What a model costs: per conversation, per resolved case, per reliable case; agent, customer and judge separately.

Only finished conversations count, in what was paid and in what it bought, so that a run that is half done is neither
cheap nor dear for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...records import NOT_SCORED, is_played
from ..estimators.estimate import counted, sentence
from ..estimators.passk import case_pass_hat_k
from ..panels import conversations_of, panel_of, progress
from .headlines import case_matrix
from .rows import framed
from .tiers import HOW_TO_PRICE, cost_tier

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results


def cost_table(results: Results, k: int = 3) -> pd.DataFrame:
    """Return costs by entry in US dollars; NaN with a reason if a price is unknown or there is nothing to divide by.

    Parameters
    ----------
    k : int
        A case counts as reliable by its pass^k: the chance that k trials in a row succeed.

    Returns
    -------
    DataFrame
        panel, entry, model, source, conversations (finished), planned; of these conversations the agent's
        per_conversation_usd and per_1000_usd; resolved (conversations), per_resolved_usd; reliable (sum of pass^k over
        the resolvable cases with k finished trials), reliable_cases (their number) of resolvable_cases,
        per_reliable_case_usd (what one trial of those cases costs, over `reliable`); customer_1000_usd and
        judge_1000_usd (of 1,000 conversations), agent_usd, customer_usd and judge_usd (all that was paid),
        unfinished_usd (paid to the agent in conversations that did not finish), completion_tokens and reasoning_tokens
        (per conversation), hidden (share of the completion that is hidden reasoning), unpriced_calls, tier, reason.
    """
    import pandas as pd

    conversations, calls = conversations_of(results), results.calls
    rows = []
    for (entry, source), mine in conversations.groupby(["entry", "source"], sort=True):
        model = mine["model"].iloc[0]
        ledger = calls[calls["run_id"].isin(set(mine["run_id"]))]
        finished, planned = progress(mine)
        kept = mine[~mine["ended_by"].isin(NOT_SCORED)]
        row = {"panel": panel_of(model, source), "entry": entry, "model": model, "source": source}
        row |= {"conversations": finished, "planned": planned}
        row |= _agent(kept) | _bought(kept, k) | _sides(ledger, finished) | _tokens(kept)
        paid = row.pop("paid")
        row["unfinished_usd"] = row["agent_usd"] - paid if len(ledger) else 0.0
        reason = sentence(_reason(row, k), _partial(row, k))
        rows.append(row | {"tier": cost_tier(mine), "reason": reason})
    return pd.DataFrame(rows)


def cost_lines(results: Results, entry: str, k: int = 3) -> pd.DataFrame:
    """Return what one model costs, line by line: who was paid, and what a resolved and a reliable case come to.

    Parameters
    ----------
    k : int
        As for `cost_table`.

    Returns
    -------
    DataFrame
        what, value, unit, of (what it is counted over), reason (why a value is not known).

    Raises
    ------
    BadInput
        If there are no conversations of this entry.
    """
    table = cost_table(results, k)
    mine = table[table["entry"] == entry]
    if mine.empty:
        raise BadInput(f"no conversations of {entry!r} are here: choose among {', '.join(table['entry'][:12])}")
    return lines_of(mine.iloc[0].to_dict(), k)


def lines_of(row: dict[str, Any], k: int = 3) -> pd.DataFrame:
    """Return one row of `cost_table` as lines, see `cost_lines`."""
    finished = counted(int(row["conversations"]), "finished conversation")
    cases = f"{row['reliable_cases']} of {counted(row['resolvable_cases'], 'resolvable case')}"
    lines = [
        ("agent, 1,000 conversations", row["per_1000_usd"], "USD", finished),
        ("customer, 1,000 conversations", row["customer_1000_usd"], "USD", finished),
        ("judges, 1,000 conversations", row["judge_1000_usd"], "USD", finished),
        ("agent, a resolved conversation", row["per_resolved_usd"], "USD", f"{row['resolved']} resolved"),
        (f"agent, a reliable case (pass^{k})", row["per_reliable_case_usd"], "USD", f"{cases} with {k} trials"),
        ("agent, conversations that did not finish", row["unfinished_usd"], "USD", "all that was paid"),
        ("tokens written by the agent", row["completion_tokens"], "a conversation", finished),
        ("of these, hidden reasoning", row["reasoning_tokens"], "a conversation", finished),
    ]
    table = framed(lines, "what value unit of")
    called = "the endpoint reported none" if row["source"] == "model" else "no model was called"
    why = [called if unit != "USD" else row["reason"] for unit in table["unit"]]
    return table.assign(
        reason=["" if value == value else words for value, words in zip(table["value"], why, strict=True)]
    )


def _agent(kept: pd.DataFrame) -> dict[str, float]:
    total = kept["cost_usd"].sum(skipna=False) if len(kept) else nan
    each = total / len(kept) if len(kept) else nan
    return {"paid": total, "per_conversation_usd": each, "per_1000_usd": 1000 * each}


def _bought(kept: pd.DataFrame, k: int) -> dict[str, float]:
    """Return what a resolved and a reliable case cost, over the conversations that can show it."""
    scored = kept[(kept["bucket"] == "resolvable") & kept["resolved"].notna()]
    values, case_ids, _ = case_matrix(scored, "resolved")
    sizes, hits = (values == values).sum(axis=1), (values == 1).sum(axis=1)
    chances: Iterable[float] = case_pass_hat_k(hits, sizes, k) if values.size else ()
    enough = [case for case, size in zip(case_ids, sizes, strict=True) if size >= k]
    reliable, resolved = float(sum(x for x in chances if x == x)), int(hits.sum())
    one_trial = (
        scored.loc[scored["case_id"].isin(enough)]
        .groupby("case_id")["cost_usd"]
        .agg(lambda usd: usd.mean(skipna=False))
    )
    return {
        "resolved": resolved,
        "per_resolved_usd": scored["cost_usd"].sum(skipna=False) / resolved if resolved else nan,
        "reliable": reliable,
        "reliable_cases": len(enough),
        "resolvable_cases": int(kept.loc[kept["bucket"] == "resolvable", "case_id"].nunique()),
        "per_reliable_case_usd": one_trial.sum(skipna=False) / reliable if reliable else nan,
    }


def _sides(ledger: pd.DataFrame, finished: int) -> dict[str, float]:
    agent = ledger.loc[ledger["side"] == "agent", "cost_usd"]
    sides = ("agent", "customer", "judge")
    paid = {side: ledger.loc[ledger["side"] == side, "cost_usd"].sum(skipna=False) for side in sides}
    per_1000 = {f"{side}_1000_usd": 1000 * paid[side] / finished if finished else nan for side in ("customer", "judge")}
    return {f"{side}_usd": usd for side, usd in paid.items()} | per_1000 | {"unpriced_calls": int(agent.isna().sum())}


def _tokens(kept: pd.DataFrame) -> dict[str, float]:
    written, hidden = kept["completion_tokens"], kept["reasoning_tokens"]
    share = float(hidden.sum() / written.sum()) if written.sum() > 0 and hidden.notna().any() else nan
    return {"completion_tokens": written.mean(), "reasoning_tokens": hidden.mean(), "hidden": share}


def _reason(row: dict[str, Any], k: int) -> str:
    unpriced = f"price unknown for {counted(row['unpriced_calls'], 'call')}: {HOW_TO_PRICE}"
    why = "played, not paid for" if is_played(row["source"]) else unpriced
    if not row["conversations"]:
        return "no conversation finished"
    tried = f"no case with a pass^{k} above 0" if row["reliable_cases"] else f"no case has {k} trials"
    unreliable = tried if row["resolved"] else "nothing resolved"
    return sentence(
        why if row["per_conversation_usd"] != row["per_conversation_usd"] else "",
        "" if row["reliable"] else unreliable,
    )


def _partial(row: dict[str, Any], k: int) -> str:
    """Say what a run that is not finished, or has too few trials, leaves out."""
    finished = f"{row['conversations']} of {row['planned']} conversations finished: only these are counted"
    tried = (
        f"{row['reliable_cases']} of {row['resolvable_cases']} resolvable cases have {k} finished trials: "
        "the price of a reliable case is over these"
    )
    return sentence(
        finished if 0 < row["conversations"] < row["planned"] else "",
        tried if 0 < row["reliable_cases"] < row["resolvable_cases"] else "",
    )
