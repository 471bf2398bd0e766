"""The verdict on two models in one metric, in words: who is better and by how much, or that it is too close to call."""

from __future__ import annotations

from math import nan
from typing import Any

from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import DASH, in_words, rounded
from ..estimators.comparisons import NOISE, NOT_TESTED, NOTHING, ONLY_THESE, SURE, Comparison
from ..estimators.estimate import counted
from ..panels import RESOLVES_ENOUGH, short_name
from .headlines import metric_of

USUAL = 0.95
"""The level of an interval beside which none is named."""
TRIALS_VARY = "the trials vary too much to tell"
"""Said of exactly these cases, where the difference is clear for cases like these."""


def shown_numbers(metric: Metric, found: Comparison) -> dict[str, float]:
    """The numbers of a comparison on the scale of its metric.

    Returns
    -------
    dict of str to float
        difference (B minus A), low and high (cases like these), these_low and these_high (these cases).
    """
    names = ("difference", "low", "high", "these_low", "these_high")
    numbers = (found.difference, *found.interval, *found.these_interval)
    return {name: metric.scale.factor(found.cases) * value for name, value in zip(names, numbers, strict=True)}


def winner_in_words(metric: Metric, found: Comparison, a: str, b: str, reason: str = "") -> str:
    """Who is better, and by how much: the same words wherever two models are compared.

    The numbers have no sign, so that the words do not depend on which of the two is named first.

    Parameters
    ----------
    reason : str
        Why there is no comparison, for one without a test.
    """
    if not found.cases or found.word not in (SURE, ONLY_THESE):
        return verdict_in_words(found, metric, reason)
    b_ahead = (found.difference > 0) == (metric.higher_is_better is not False)
    noun, numbers = f"{metric.scale.noun}s", shown_numbers(metric, found)
    does = f"{names_apart(a, b)[b_ahead]} {metric.winner or _ahead(metric)}"
    by = f"by {unsigned(metric, numbers['difference'])}{_of(metric, found.cases)}"
    like, these = _how_sure(found)
    if found.word == SURE:
        told = f"{does}, {by}, {_interval(metric, 1 - found.alpha, numbers['low'], numbers['high'])} ({like})"
        return f"{told}; on exactly these {noun} {TRIALS_VARY}" if clear_for_fresh_cases_only(found) else told
    ends = _interval(metric, 1 - found.these_alpha, numbers["these_low"], numbers["these_high"])
    return f"on these {noun}, {does}, {by}, {ends} ({these}); for {noun} like these too close to call ({like})"


def names_apart(a: str, b: str) -> tuple[str, str]:
    """The names of two models as sentences have them: short, unless that makes them the same."""
    return (a, b) if short_name(a) == short_name(b) else (short_name(a), short_name(b))


def no_merit_in_words(planned: list[dict[str, Any]], names: dict[str, str]) -> str:
    """Why what one avoids, or both do, is no merit: it resolves under half; empty where neither does so little.

    Parameters
    ----------
    planned : list of dict
        Rows of `comparison_table`, of the planned metrics.
    names : dict of str to str
        What the sides ``a`` and ``b`` are called.
    """
    resolved = next((row for row in planned if row["metric"] == "resolved"), {})
    idle = [side for side in "ab" if resolved.get(side, nan) < RESOLVES_ENOUGH]
    if not idle:
        return ""
    shares = " and ".join(METRICS["resolved"].scale.mean(resolved[side]) for side in idle)
    who, so = "Neither resolves half", "fewer unsafe actions or handovers are no merit"
    if len(idle) == 1:
        who, first = f"{names[idle[0]]} resolves under half", planned[0][f"name_{idle[0]}"]
        less = [row for row in planned if row["word"] == SURE and not METRICS[row["metric"]].higher_is_better]
        led = [row["title"].lower() for row in less if row["better"] == first]
        so = f"its lead in {in_words(led)} is no merit" if led else so
    return f"{who} of the resolvable cases ({shares}), so {so}."


def mean_in_words(metric: Metric, mean: float, cases: float) -> str:
    """The mean of one of two as it is written beside the other's, a count with what it is out of: ``7.0 of 18``."""
    return f"{metric.scale.mean(mean)}{f' of {cases:.0f}' if metric.scale.summed and cases else ''}"


def clear_for_fresh_cases_only(found: Comparison) -> bool:
    """Whether a difference is clear for cases like these, while the trials of exactly these cases leave it open."""
    return found.word == SURE and found.these_p >= found.these_alpha


def why_it_ends_there(metric: Metric, found: Comparison) -> str:
    """Why the interval for these cases ends at the difference itself; empty where it does not.

    The permutation keeps the successes of each case, so a case on which all trials of both ended alike cannot differ.
    """
    if not any(abs(found.difference - end) < 1e-9 for end in found.these_interval):
        return ""
    noun = metric.scale.noun
    return (
        f"the interval for these {noun}s ends at the difference seen: no {noun} that differs can move further that way"
    )


def _ahead(metric: Metric) -> str:
    """What is said of the one that is ahead in a metric without words of its own."""
    if metric.higher_is_better is None:
        return "has more"
    return f"is better ({direction_in_words(metric)})"


def _of(metric: Metric, cases: int) -> str:
    return f" of {cases} {metric.scale.noun}s" if metric.scale.summed else f" {metric.scale.unit}".rstrip()


def _interval(metric: Metric, level: float, low: float, high: float) -> str:
    ends = sorted((abs(low), abs(high)))  # of a difference that is told from 0, so both have one sign
    return f"{level_in_words(level)} interval {' to '.join(unsigned(metric, end, points=False) for end in ends)}"


def level_in_words(level: float) -> str:
    """The confidence of an interval, ``98.3 %``."""
    return f"{100 * level:.3g} %"


def direction_in_words(metric: Metric) -> str:
    """Which end of a metric is the good one; empty where neither is."""
    return {True: "higher is better", False: "lower is better", None: ""}[metric.higher_is_better]


def signed(metric: Metric, value: float, *, points: bool = True) -> str:
    """A difference as it is written, with its sign: ``+39.4 points``; a dash where there is none."""
    if value != value:
        return DASH
    nothing = not rounded(metric.scale.times * abs(value), metric.scale.digits).strip("0.")
    return ("" if nothing else "+" if value > 0 else "-") + unsigned(metric, value, points=points)


def unsigned(metric: Metric, value: float, *, points: bool = True) -> str:
    """How large a difference is: ``39.4 points``."""
    scale = metric.scale
    return f"{rounded(scale.times * abs(value), scale.digits)}{scale.points if points else ''}"


def signed_with_interval(metric: Metric, value: float, low: float, high: float, level: float = USUAL) -> str:
    """A difference with its interval, ``+39.4 points (+30.1 to +48.7 points)``, and its level unless that is 95 %; alone where there is none."""
    shown, at = signed(metric, value), "" if abs(level - USUAL) < 1e-9 else f"{level_in_words(level)} interval "
    return shown if low != low else f"{shown} ({at}{signed(metric, low, points=False)} to {signed(metric, high)})"


EQUAL = "equal"
"""The verdict on two equal values."""


def is_equal(found: Comparison) -> bool:
    """Tell whether two were tested and their values do not differ at all."""
    return bool(found.tested and found.cases and abs(found.difference) < 1e-9)


def verdict_in_words(found: Comparison, metric: Metric, reason: str = "") -> str:
    """How sure a difference is, beside a text that says whose and how large it is.

    Parameters
    ----------
    reason : str
        Why there is no comparison, for one without a test.
    """
    noun = metric.scale.noun
    if not found.cases:
        return f"not compared: {reason}"
    if found.word in (NOTHING, NOT_TESTED):
        return found.word if found.word == NOT_TESTED else f"{NOTHING}: {reason or 'one unit shows no spread'}"
    if is_equal(found):
        return EQUAL
    like, these = _how_sure(found)
    if found.word == SURE:
        return f"{SURE}, for {noun}s like these ({like})"
    if found.word == ONLY_THESE:
        return f"differs on these {noun}s ({these}), {NOISE} for {noun}s like these ({like})"
    return f"{NOISE} ({like})"


def _how_sure(found: Comparison) -> tuple[str, str]:
    """The p-values for cases like these and for these cases, each with its kind; of simultaneous intervals their kind alone."""
    if found.among:
        return (f"simultaneous 95 % intervals of {counted(found.among, 'contrast')}",) * 2
    planned = found.p_adjusted == found.p_adjusted or found.these_p_adjusted == found.these_p_adjusted
    if planned:
        return f"adjusted p {p_in_words(found.p_adjusted)}", f"adjusted p {p_in_words(found.these_p_adjusted)}"
    return f"plain p {p_in_words(found.like.p)}", f"plain p {p_in_words(found.these_p)}"


def p_in_words(p: float) -> str:
    """A p-value as it stands in sentences and pictures."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def what_is_tested() -> str:
    """Which metrics are tested wherever two models are compared, and why the others are not."""
    titles = [METRICS[name].title.lower() for name in shown_on(Shown.MAIN)]
    return (
        f"Tested: {', '.join(titles[:-1])} and {titles[-1]}. They were planned, so they are adjusted together (Holm). "
        f"The other {len(METRICS) - len(titles)} metrics are not tested: of so many, one or another differs by chance."
    )


MOST_SHOWN = 3
"""So many shares that are not tested are named: those with the largest differences."""


def largest_in_words(rows: list[dict[str, Any]]) -> str:
    """The largest differences of shares that are shown and not tested, each with the number of its cases; empty for none.

    Parameters
    ----------
    rows : list of dict
        Rows of `comparison_table`.
    """
    shares = [row for row in rows if row["word"] == NOT_TESTED and metric_of(row["metric"]).scale.bounds]
    apart = sorted((row for row in shares if row["cases"] and row["difference"]), key=lambda r: -abs(r["difference"]))
    if not apart:
        return ""
    names, told = names_apart(apart[0]["name_a"], apart[0]["name_b"]), []
    for row in apart[:MOST_SHOWN]:
        metric = metric_of(row["metric"])
        means = (mean_in_words(metric, row[side], row["cases"]) for side in "ab")
        of = ", ".join(f"{name} {mean}" for name, mean in zip(names, means, strict=True))
        by = f"{unsigned(metric, row['difference'])} on {counted(int(row['cases']), metric.scale.noun)}"
        told.append(f"{row['title']}: {by} ({of})")
    return f"The largest of the other differences of shares ({NOT_TESTED}): {'; '.join(told)}."
