"""Compare two entries in one metric by case: the `Comparison` behind every difference shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...errors import BadInput
from ...experiment.demo import truth_of
from ...records import BUCKET_NOUNS
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import counted, rounded
from ...textfiles import read_yaml
from ..cell import fields
from ..estimators.comparisons import (
    NOT_TESTED,
    NOTHING,
    ONLY_THESE,
    SURE,
    Contrast,
    PairedDifference,
    adjusted,
    compare_paired,
    simultaneous,
)
from ..estimators.estimate import sentence
from ..frames import Results
from ..panels import conversations_of, partial_words, progress, short_name
from ..query import KNOWN, YES, Query
from .headlines import ESTIMATORS, Values, by_case, metric_of, named

SAID: dict[str, str] = read_yaml(Path(__file__).with_name("verdicts.yaml"))
"""Every sentence, by name."""
EQUAL = "equal"
"""Verdict on two equal values."""
PLANNED = shown_on(Shown.MAIN)
"""Metrics that are tested in every comparison of two models, adjusted together by Holm."""


class Side:
    """One of two entries being compared; its conversations are read only once."""

    def __init__(self, conversations: pd.DataFrame) -> None:
        self.conversations = conversations
        self.name = str(conversations["entry"].iloc[0])
        self._values: dict[str, Values] = {}

    @cached_property
    def played(self) -> set[str]:
        """Return the cases with a scored conversation."""
        return set(self.conversations.loc[self.conversations["success"].notna(), "case_id"])

    @cached_property
    def about(self) -> dict[str, Any]:
        """Return the name, the panel, and the progress of a partial run."""
        panel, partial = self.conversations["panel"].iloc[0], partial_words(*progress(self.conversations))
        return {"name": self.name, "panel": panel, "partial": partial}

    @cached_property
    def truth(self) -> dict[str, float]:
        """Return the true rates of a tunable scripted agent by metric; empty for other models."""
        return truth_of(self.conversations["model"].iloc[0])

    def values(self, metric: Metric) -> Values:
        """Return the values of a metric, as in `by_case`."""
        if metric.name not in self._values:
            self._values[metric.name] = by_case(self.conversations, metric)
        return self._values[metric.name]


class Pairs(NamedTuple):
    """Cases for which two entries both have a value, in the order of their names.

    `a` and `b` have the same cases. `alone` counts the other cases, with a value for only one entry or for neither.
    """

    a: Values
    b: Values
    alone: int

    @classmethod
    def of(cls, first: Side, second: Side, metric: Metric) -> Pairs:
        """Return the pairs of two entries in one metric."""
        one, other = first.values(metric), second.values(metric)
        shared, i, j = np.intersect1d(one.cases, other.cases, assume_unique=True, return_indices=True)
        both = (one.trials[i] > 0) & (other.trials[j] > 0)
        alone = len(one.cases) + len(other.cases) - len(shared) - int(both.sum())
        return cls(one.at(i[both]), other.at(j[both]), alone)

    @property
    def cases(self) -> np.ndarray:
        """Return the ids of the cases."""
        return self.a.cases


@dataclass(frozen=True, kw_only=True)
class Comparison(Contrast):
    """Two entries in one metric, B minus A, with everything that is written or drawn about them.

    `contrasts` is the number of contrasts covered at once by `all_interval`.
    """

    metric: Metric
    sides: tuple[Side, Side] = field(repr=False, compare=False)
    pairs: Pairs = field(repr=False, compare=False)
    contrasts: int = len(PLANNED)

    @property
    def names(self) -> tuple[str, str]:
        """Return the entries A and B."""
        return self.sides[0].name, self.sides[1].name

    @property
    def scale(self) -> float:
        """Return the factor from a mean over cases to the value shown."""
        return self.metric.scale.factor(self.cases)

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Return difference, low, high, these_low and these_high on the scale of the metric."""
        values = (self.difference, *self.interval, *self.these_interval)
        names = ("difference", "low", "high", "these_low", "these_high")
        return {name: self.scale * value for name, value in zip(names, values, strict=True)}

    @property
    def all_interval(self) -> tuple[float, float]:
        """Return the interval for cases like these that is valid for `contrasts` at once, as shown."""
        low, high = simultaneous([self], self.contrasts)[0].interval
        return self.scale * low, self.scale * high

    @property
    def means(self) -> dict[str, float]:
        """Return the means of ``a`` and ``b`` over the pairs, on the scale of the metric."""
        values = zip("ab", self.pairs[:2], strict=True)
        return {side: self.scale * float(of_side.means.mean()) if self.cases else nan for side, of_side in values}

    @property
    def ahead(self) -> int | None:
        """Return the index of the better entry, 0 or 1; None if neither is better."""
        if self.metric.higher_is_better is None or self.difference != self.difference or self.difference == 0:
            return None
        return int((self.difference > 0) == self.metric.higher_is_better)

    @property
    def better(self) -> str:
        """Return the better entry; empty if neither is better."""
        return "" if self.ahead is None else self.names[self.ahead]

    @property
    def trials(self) -> str:
        """Return the median number of trials of a case: ``3``, or ``1 and 3`` if the sides differ."""
        medians = (f"{np.median(side.trials):.0f}" if self.cases else "0" for side in self.pairs[:2])
        return " and ".join(dict.fromkeys(medians))

    @cached_property
    def reason(self) -> str:
        """Return what was left out, what weakens the comparison, or why there is none."""
        if not self.cases:
            return f"no {BUCKET_NOUNS.get(self.metric.bucket or '', 'case')} with a value for both"
        a, b = (np.median(side.trials) for side in self.pairs[:2])
        alone = counted(self.pairs.alone, "case")
        left = f"{alone} with a value for only one model left out" if self.pairs.alone else ""
        uneven = f"{a:.0f} against {b:.0f} trials per case" if a != b else ""
        return sentence(left, uneven, self.like.reason, why_it_ends_there(self))

    @cached_property
    def verdict(self) -> str:
        """Return which entry is better and by how much, or that it is too close to call."""
        return verdict_of(self)

    def query(self, side: str) -> Query:
        """Return the query for the conversations that the mean of ``a`` or ``b`` counts."""
        chosen = {"entry": self.names["ab".index(side)], "bucket": self.metric.bucket}
        chosen[self.metric.column] = YES if self.metric.scale.bounds else KNOWN
        return Query.of(**chosen, case_id=list(self.pairs.cases) if self.pairs.alone else None)

    def row(self) -> dict[str, Any]:
        """Return the row of `comparison_table`."""
        truth_a, truth_b = (side.truth.get(self.metric.name, nan) for side in self.sides)
        played_a, played_b = (side.played for side in self.sides)
        return {
            "metric": named(self.metric),
            "title": self.metric.title,
            "direction": direction_in_words(self.metric).partition(" ")[0],
            "unit": self.metric.scale.name,
            **self.means,
            **self.numbers,
            "level": 1 - self.alpha if self.tested else nan,
            "p": self.like.p,
            "p_adjusted": self.p_adjusted,
            "these_level": 1 - self.these_alpha if self.tested else nan,
            "p_these": self.these_p,
            "p_these_adjusted": self.these_p_adjusted,
            **dict(zip(("all_low", "all_high"), self.all_interval, strict=True)),
            "truth": truth_b - truth_a,
            "cases": self.cases,
            "units": self.like.units,
            **fields(self, "trials word better verdict reason"),
            **{f"query_{side}": str(self.query(side)) if self.cases else "" for side in "ab"},
            **about_two(self.sides),
            "shared": len(played_a & played_b),
            "only_a": len(played_a - played_b),
            "only_b": len(played_b - played_a),
        }


def compare(a: Side | pd.DataFrame, b: Side | pd.DataFrame, metric: str | Metric, *, tested: bool = True) -> Comparison:
    """Compare two entries in one metric, B minus A, before p-values are adjusted.

    If `tested` is False, the difference is shown without a test. `compare_all` adjusts the p-values.
    """
    metric, sides = metric_of(metric), _sides(a, b)
    pairs = Pairs.of(*sides, metric)
    one, other, bounds = pairs.a, pairs.b, metric.scale.bounds
    if tested:
        contrast = compare_paired(
            other.means,
            one.means,
            trials=other.trials,
            b_trials=one.trials,
            clusters=ESTIMATORS[metric.estimator].clusters(one.intents),
            bounds=bounds and (bounds[0] - bounds[1], bounds[1] - bounds[0]),
        )
    else:
        n = len(pairs.cases)
        mean = float((other.means - one.means).mean()) if n else nan
        contrast = Contrast(like=PairedDifference(estimate=mean, n=n), cases=n, tested=False)
    return Comparison(**vars(contrast), metric=metric, sides=sides, pairs=pairs)


def compare_all(
    a: Side | pd.DataFrame,
    b: Side | pd.DataFrame,
    metrics: Iterable[str | Metric] | None = None,
    *,
    explore: bool = False,
    contrasts: int = len(PLANNED),
) -> list[Comparison]:
    """Compare two entries in several metrics; the planned metrics are adjusted together.

    Parameters
    ----------
    metrics : iterable of str or Metric, optional
        Names in `METRICS`, or metrics made by `metric`; all are tested. By default, all metrics are compared and the
        planned ones tested.
    explore : bool
        Also test each of the other metrics separately.
    contrasts : int
        Number of contrasts covered at once by each simultaneous interval.
    """
    sides, wanted = _sides(a, b), [metric_of(m) for m in metrics or METRICS]
    chosen = {m.name: m for m in wanted}
    if metrics is None or any(name in PLANNED for name in chosen):
        chosen |= {n: METRICS[n] for n in PLANNED if all(METRICS[n].column in side.conversations for side in sides)}
    compared = {
        name: replace(compare(*sides, m, tested=bool(metrics or explore or name in PLANNED)), contrasts=contrasts)
        for name, m in chosen.items()
    }
    planned = [name for name in PLANNED if name in compared]
    compared |= dict(zip(planned, adjusted(compared[name] for name in planned), strict=True))
    return [compared[m.name] for m in wanted]


def _sides(*given: Side | pd.DataFrame) -> tuple[Side, Side]:
    a, b = (side if isinstance(side, Side) else Side(side) for side in given)
    return a, b


def about_two(sides: tuple[Side, Side]) -> dict[str, Any]:
    """Return both entries as columns: name_a, name_b, partial_a, partial_b, panel_a and panel_b."""
    return {f"{key}_{side}": s.about[key] for key in ("name", "partial", "panel") for side, s in zip("ab", sides)}


def two_sides(results: Results | pd.DataFrame, a: str, b: str) -> tuple[Side, Side]:
    """Return the sides of two entries by name."""
    group_of = dict(list(conversations_of(results).groupby("entry")))
    for name in (a, b):
        if name not in group_of:
            raise BadInput(not_here(name, group_of))
    return _sides(group_of[a], group_of[b])


def not_here(name: str, known: Iterable[str]) -> str:
    """Return the error message for a name without conversations."""
    return f"there are no conversations of {name!r}: choose from {', '.join(sorted(known)[:12])}"


# --- One comparison in words


def verdict_of(compared: Comparison) -> str:
    """Return who is better, and by how much, in a sentence that does not depend on the order."""
    if not compared.cases or compared.word not in (SURE, ONLY_THESE):
        return sureness(compared)
    metric, numbers, sure = compared.metric, compared.numbers, compared.word == SURE
    low, high, alpha = ("low", "high", compared.alpha) if sure else ("these_low", "these_high", compared.these_alpha)
    ends = sorted((abs(numbers[low]), abs(numbers[high])))  # both ends have one sign, since 0 is excluded
    unit = f" of {compared.cases} {metric.scale.noun}s" if metric.scale.summed else f" {metric.scale.unit}".rstrip()
    better, direction = (compared.difference > 0) == (metric.higher_is_better is not False), direction_in_words(metric)
    like, these = _how_sure(compared)
    toward = f" ({direction})" if direction and not metric.winner else ""
    return SAID["these" if not sure else "clear here open" if compared.open_here else "clear"].format(
        name=names_apart(*compared.names)[better],
        does=metric.winner or SAID["ahead" if direction else "has more"],
        by=f"{unsigned(metric, numbers['difference'])}{unit}{toward}",
        interval=f"{level_in_words(1 - alpha)} interval {' to '.join(unsigned(metric, e, points=False) for e in ends)}",
        like=like,
        these=these,
        noun=metric.scale.noun,
        vary=SAID["vary"],
    )


def sureness(compared: Comparison) -> str:
    """Return how certain a difference is, for a text that already has its size and direction."""
    if not compared.cases:
        return SAID["not compared"].format(reason=compared.reason)
    if compared.word == NOT_TESTED:
        return NOT_TESTED
    if compared.word == NOTHING:
        return SAID["no test"].format(reason=compared.reason or SAID["no spread"])
    if is_equal(compared):
        return EQUAL
    like, these = _how_sure(compared)
    name = {SURE: "sure clear", ONLY_THESE: "sure these"}.get(compared.word, "sure open")
    return SAID[name].format(noun=compared.metric.scale.noun, like=like, these=these)


def is_equal(compared: Comparison) -> bool:
    """Return True if two entries were tested and do not differ at all."""
    return bool(compared.tested and compared.cases and abs(compared.difference) < 1e-9)


def why_it_ends_there(compared: Comparison) -> str:
    """Return why the interval for these cases ends at the difference; empty if it does not."""
    numbers = compared.numbers
    ends = any(abs(numbers["difference"] - numbers[end]) < 1e-9 for end in ("these_low", "these_high"))
    return SAID["ends here"].format(noun=compared.metric.scale.noun) if ends else ""


def _how_sure(compared: Comparison) -> tuple[str, str]:
    """Return the p-values for cases like these and for these cases, or the kind of interval."""
    if compared.among:
        return (SAID["simultaneous"].format(contrasts=counted(compared.among, "comparison")),) * 2
    kind, *values = "adjusted", compared.p_adjusted, compared.these_p_adjusted
    if all(p != p for p in values):
        kind, *values = "plain", compared.like.p, compared.these_p
    like, these = (f"{kind} p {p_in_words(p)}" for p in values)
    return like, these


def names_apart(a: str, b: str) -> tuple[str, str]:
    """Return the names of two models as used in sentences: short, unless that makes them equal."""
    return (a, b) if short_name(a) == short_name(b) else (short_name(a), short_name(b))


def level_in_words(*levels: float) -> str:
    """Return the confidence of intervals, such as ``98.3%`` or ``95–98.8%``."""
    return "–".join(dict.fromkeys(f"{100 * level:.3g}" for level in (min(levels), max(levels)))) + "%"


def direction_in_words(metric: Metric) -> str:
    """Return the better direction of a metric; empty without one."""
    return {True: "higher is better", False: "lower is better", None: ""}[metric.higher_is_better]


def unsigned(metric: Metric, value: float, *, points: bool = True) -> str:
    """Return the size of a difference, such as ``39.4 points``."""
    scale = metric.scale
    return f"{rounded(scale.times * abs(value), scale.digits)}{scale.points if points else ''}"


def p_in_words(p: float) -> str:
    """Return a p-value as written in sentences and figures."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
