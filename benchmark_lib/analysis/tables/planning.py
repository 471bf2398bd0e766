"""What a plan of trials can detect and costs, and how far the trials of a case agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import nan
from typing import TYPE_CHECKING, Any

from ...records import OWN
from ..estimators.estimate import counted
from ..estimators.planning import ESTIMANDS, minimum_detectable, power
from ..estimators.trials import repeat_correlation
from ..panels import conversations_of, short_name
from .reliability import by_bucket
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results


def repeat_table(results: Results | pd.DataFrame | None) -> pd.DataFrame:
    """Estimate how far the trials of a case agree: at 1 a model repeats itself, and more trials add nothing.

    Returns
    -------
    DataFrame
        One row per entry and bucket: panel, entry, bucket, estimate (correlation of two trials of a case), cases,
        finding (in words) and reason.
    """
    rows = []
    for panel, entry, bucket, counts in by_bucket(results) if results is not None else ():
        found = repeat_correlation(counts.successes, counts.trials)
        words = (
            "repeats itself: further trials tell almost nothing, only more cases do" if found.estimate >= 0.9 else ""
        )
        rows.append((panel, entry, bucket, found.estimate, found.n, words, found.reason))
    return framed(rows, "panel entry bucket estimate cases finding reason")


def observed_repeats(table: pd.DataFrame, bucket: str, usual: float = 0.4) -> float:
    """Choose the correlation to plan a bucket with: the median over language models here, or a usual value without any.

    `table` is as `repeat_table` gives it.
    """
    known = table[(table["bucket"] == bucket) & table["panel"].isin(["models", "local model"])]["estimate"].dropna()
    return float(known.median()) if len(known) else usual


def planning_in_words(table: pd.DataFrame) -> str:
    """Say which models repeat themselves, in a sentence for whoever plans a run.

    `table` is as `repeat_table` gives it.
    """
    alike = sorted(set(table[table["finding"] != ""]["entry"].map(short_name)))
    if table["estimate"].isna().all():
        return "No run here has two trials of a case that ended differently, so how far trials agree is assumed, not measured."
    if not alike:
        return "No model here repeats itself: further trials tell something, for these cases more than for cases like these."
    return f"More trials tell almost nothing about {', '.join(alike)}: two trials of a case nearly always end alike. Only more cases do."


def power_table(
    rate_a: float,
    rate_b: float,
    *,
    units: Iterable[int] = (18, 36, 72),
    trials: Iterable[int] = (1, 3, 5, 10),
    n_simulations: int = 2_000,
    **settings: Any,
) -> pd.DataFrame:
    """Simulate the power of plans: the chance to tell two models apart, for the same traps and for traps like these.

    Parameters
    ----------
    rate_a, rate_b : float
        Mean chance of the outcome in one conversation, such as ``2 / 18``.
    units, trials : iterable of int
        Traps (or cases), and trials of each.
    **settings
        As `estimators.power` takes them (icc, coupling, clusters, cluster_share, alpha).

    Returns
    -------
    DataFrame
        One row per plan and estimand: rate_a, rate_b, units, trials, conversations, estimand, power, low, high (error
        of the simulation), method in words.
    """
    rows = []
    for estimand, n, t in product(ESTIMANDS, units, trials):
        found = power(rate_a, rate_b, traps=n, trials=t, estimand=estimand, n_simulations=n_simulations, **settings)
        rows.append((rate_a, rate_b, n, t, n * t, estimand, found.estimate, found.low, found.high, found.method))
    return framed(rows, "rate_a rate_b units trials conversations estimand power low high method")


def detectable_table(
    rate_a: float,
    *,
    units: Iterable[int] = (18, 36, 72),
    trials: Iterable[int] = (3, 5, 10),
    per: int = 18,
    n_simulations: int = 1_000,
    **settings: Any,
) -> pd.DataFrame:
    """Find the smallest difference each plan can detect with a power of 0.8, as a count per `per` units.

    Returns
    -------
    DataFrame
        One row per plan and estimand: units, trials, estimand, count_a, count_b (smallest count told from it),
        difference, reason.
    """
    rows = []
    for estimand, n, t in product(ESTIMANDS, units, trials):
        found = minimum_detectable(
            rate_a, traps=n, trials=t, estimand=estimand, n_simulations=n_simulations, **settings
        )
        counts = (per * rate_a, per * found.estimate, per * (found.estimate - rate_a))
        rows.append((n, t, estimand, *counts, found.reason))
    return framed(rows, "units trials estimand count_a count_b difference reason")


def plan_cost_table(
    results: Results | pd.DataFrame | None,
    plans: Iterable[tuple[int, int]],
    *,
    prices: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return what plans cost: conversations times the recorded mean cost of one, agent and customer together.

    Parameters
    ----------
    results : Results, DataFrame or None
        Runs whose cost is known; scripted ones cost nothing and are left out.
    plans : iterable of (int, int)
        Cases, and trials of each.
    prices : mapping of str to float, optional
        Further costs of one conversation by name [USD]: what you expect for a model that has not been run yet.

    Returns
    -------
    DataFrame
        One row per entry and plan: entry, source (``measured`` or ``assumed``), usd_per_conversation, cases, trials,
        conversations, usd, reason.
    """
    known = [(name, "assumed", float(usd), "") for name, usd in (prices or {}).items()]
    frame = conversations_of(results) if results is not None else None
    paid = frame[frame["source"].isin(("model", OWN))].groupby("entry", sort=True) if frame is not None else ()
    for entry, mine in paid:
        both = (mine["cost_usd"] + mine["customer_cost_usd"]).dropna()
        lost = len(mine) - len(both)
        reason = f"the price of {lost} of {counted(len(mine), 'conversation')} is unknown" if lost else ""
        known.append((entry, "measured", nan if lost else float(both.mean()), reason))
    rows = [
        (name, source, usd, n, t, n * t, usd * n * t, reason) for name, source, usd, reason in known for n, t in plans
    ]
    return framed(rows, "entry source usd_per_conversation cases trials conversations usd reason")
