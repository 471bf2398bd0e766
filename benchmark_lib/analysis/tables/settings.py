"""One model at several settings: what more effort, another temperature or another prompt buys, and what it costs."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from ...scoring.metrics import METRICS, Metric
from ...scoring.written import usd
from ..entries import level, steps
from ..estimators.comparisons import SURE
from ..estimators.estimate import counted
from ..panels import says_partial, short_name
from .comparison import PLANNED
from .headlines import headline, metric_of
from .many import comparison_table
from .rows import framed, pair

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

COST = "cost_usd"
STEP_COLUMNS = ("model", "setting", "entry_a", "value_a", "entry_b", "value_b")


@says_partial
def settings_table(results: Results, metric: str | Metric = "resolved") -> pd.DataFrame:
    """Return the runs of each model that differ in exactly one setting, from the lowest value to the highest.

    Parameters
    ----------
    metric : str
        Which metric stands beside the cost.

    Returns
    -------
    DataFrame
        One row per setting and run: model, setting, group (the runs that share everything else), value, entry,
        conversations, metric, title, median, mean, low, high, n (cases), usd_1000 (mean cost of 1,000 conversations,
        NaN where a price is unknown) and, per conversation, completion_tokens and reasoning_tokens (NaN where the
        endpoint reported none).
    """
    frame, rows = results.conversations, []
    of = {run_id: mine for run_id, mine in frame.groupby("run_id", sort=False)}
    for group, (setting, runs) in enumerate(_groups(results)):
        for run_id, value in sorted(runs.items(), key=lambda pair: level(pair[1])):
            mine = of.get(run_id, frame.iloc[:0])
            found = headline(mine, metric)
            row = {"model": _manifest(results, run_id)["model"], "setting": setting, "group": group, "value": value}
            row |= {"entry": results.entries[run_id], "conversations": len(mine), "n": found.n, **pair(found)}
            row |= {"metric": metric, "title": metric_of(metric).title}
            row |= {name: mine[name].mean() for name in ("completion_tokens", "reasoning_tokens")}
            known = len(mine) and mine[COST].notna().all()
            rows.append(row | {"usd_1000": 1000 * mine[COST].mean() if known else nan})
    return framed(
        rows,
        "model setting group value entry conversations metric title median mean low high n usd_1000 "
        "completion_tokens reasoning_tokens",
    )


def effort_table(results: Results, metrics: tuple[str, ...] = (*PLANNED, COST)) -> pd.DataFrame:
    """Compare every other value of a setting with the lowest one of the same model, paired by case.

    Parameters
    ----------
    results : Results
        Runs of which some are of one model and differ in one setting only; customer, store and tools must agree.
    metrics : tuple of str
        The planned metrics are always corrected together by Holm, see `comparison_table`.

    Returns
    -------
    DataFrame
        The rows of `comparison_table` for the two, B the higher value, under model, setting,
        entry_a, value_a, entry_b, value_b. Empty where no two runs differ in one setting only.
    """
    import pandas as pd

    parts, there = [], set(results.conversations["run_id"])
    for setting, (run_a, value_a), (run_b, value_b) in steps(run.manifest for run in results.runs):
        if not {run_a, run_b} <= there:
            continue
        entry_a, entry_b = results.entries[run_a], results.entries[run_b]
        table = comparison_table(results, entry_a, entry_b, metrics)
        told = (_manifest(results, run_a)["model"], setting, entry_a, value_a, entry_b, value_b)
        for place, (name, value) in enumerate(zip(STEP_COLUMNS, told, strict=True)):
            table.insert(place, name, value)
        parts.append(table.rename(columns={"better": "better_entry"}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*STEP_COLUMNS, "metric", "title"])


def effort_in_words(table: pd.DataFrame) -> list[str]:
    """Say of each step what is shown to differ, what it costs, and the price of one more resolved case.

    `table` is as `effort_table` gives it.
    """
    found = []
    for (model, setting, _, low, _, high), rows in table.groupby(list(STEP_COLUMNS), sort=False):
        of = rows.set_index("metric")
        sure = [_told(row) for row in rows[rows["metric"].isin(PLANNED) & (rows["word"] == SURE)].to_dict("records")]
        bought = "; ".join(sure) or "every planned metric is too close to call"
        words = f"{short_name(model)}, {setting} from {low} to {high}: {bought}. {_cost_in_words(of)}"
        found.append(f"{words} {per_more_resolved(of)}".strip())
    return found


def _told(row: dict[str, Any]) -> str:
    scale = METRICS[row["metric"]].scale
    return f"{row['title'].lower()} {scale.mean(row['a'])} to {scale.mean(row['b'])} ({counted(int(row['cases']), 'case')})"


def _cost_in_words(of: pd.DataFrame) -> str:
    """Say what 1,000 conversations cost more, with the interval of the paired difference."""
    if COST not in of.index or of.loc[COST, "difference"] != of.loc[COST, "difference"]:
        return "What it costs is not known: a price or a count of tokens is missing."
    row = of.loc[COST]
    ends = f" (95 % {usd(1000 * row['low'], 2)} to {usd(1000 * row['high'], 2)})" if row["low"] == row["low"] else ""
    return f"1,000 conversations cost {usd(1000 * row['a'], 2)} and {usd(1000 * row['b'], 2)}, a difference of {usd(1000 * row['difference'], 2)}{ends}."


def per_more_resolved(of: pd.DataFrame) -> str:
    """Say what one more resolved conversation costs; only where more are resolved beyond noise."""
    if not {"resolved", COST} <= set(of.index) or of.loc["resolved", "word"] != SURE:
        return ""
    more, extra = of.loc["resolved", "difference"], of.loc[COST, "difference"]
    return (
        f"Each further case resolved costs {usd(extra / more)}, at the mean cost of all conversations."
        if more > 0 < extra
        else ""
    )


def _groups(results: Results) -> list[tuple[str, dict[str, str]]]:
    chains: dict[tuple[str, str], dict[str, str]] = {}
    for setting, (base, low), (other, value) in steps(run.manifest for run in results.runs):
        chains.setdefault((setting, base), {base: low})[other] = value
    return [(setting, runs) for (setting, _), runs in chains.items()]


def _manifest(results: Results, run_id: str) -> dict[str, Any]:
    return next(run.manifest for run in results.runs if run.run_id == run_id)
