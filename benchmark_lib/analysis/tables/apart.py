"""The cases on which two models part, how they fare case by case, and what it would take to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import BUCKETS
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.scales import SHARE
from ..estimators.estimate import counted, sentence
from ..estimators.planning import power_of_difference
from ..estimators.trials import repeat_correlation
from .comparison import PLANNED, Pairs, about_two, two_sides
from .headlines import ESTIMATORS, values_of
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

SUCCESS = Metric("success", "Success", "success", None, SHARE, True, "Success of its bucket.")
PARTED = (SUCCESS, *(METRICS[name] for name in shown_on(Shown.MAIN)))
"""What two models may part in on a case."""
TRIALS_SHOWN = (3, 5, 10, 20)
MOSTLY_REPEATS = 0.9
"""Correlation of two trials of a case from which a model is said to repeat itself."""

Outcomes = dict[str, dict[str, dict[int, float]]]


def outcomes_of(conversations: pd.DataFrame) -> Outcomes:
    """Return what came of each trial of one model: by title of `PARTED`, case and trial."""
    found: Outcomes = {}
    for metric in PARTED:
        mine = found.setdefault(metric.title.lower(), {})
        for value, case_id, trial in zip(*values_of(conversations, metric, "case_id", "trial"), strict=True):
            if value == value:
                mine.setdefault(str(case_id), {})[int(trial)] = float(value)
    return found


def mean(trials: dict[int, float]) -> float:
    """Return the mean over the trials of a case."""
    return sum(trials.values()) / len(trials)


def parted(a: Outcomes, b: Outcomes) -> dict[str, list[str]]:
    """Return the cases on which two models differ, by their means over trials, each with the titles of what differs."""
    found: dict[str, list[str]] = {}
    for title, mine in a.items():
        for case_id in mine.keys() & b[title].keys():
            if abs(mean(mine[case_id]) - mean(b[title][case_id])) > 1e-9:
                found.setdefault(case_id, []).append(title)
    return found


def first_apart(a: dict[int, float], b: dict[int, float]) -> int:
    """Return the first trial with different outcomes; the first of all where two models have none such in common."""
    return next((trial for trial in sorted(a) if trial in b and a[trial] != b[trial]), 1)


def differing_cases(results: Results | pd.DataFrame, a: str, b: str, *, bucket: str | None = None) -> pd.DataFrame:
    """Return the cases on which two models differ in success or in a planned metric, trial by trial.

    Parameters
    ----------
    bucket : str, optional
        One bucket only; all by default, each row saying which.

    Returns
    -------
    DataFrame
        One row per case both have and on which they differ, the widest in success first: bucket, intent, case_id, a, b
        (shares of successes), difference (b - a), a_trials and b_trials as text (``+`` success, ``-`` failure, ``.`` not
        scored, in the order of trials), split (``always`` where every trial of one beats every trial of the other, else
        ``in part``; empty of single trials), differ (in what), trial (the first in which the two differ; the first of
        all where they have none such in common).
    """
    sides, found = two_sides(results, a, b), []
    outcomes = [outcomes_of(side.conversations) for side in sides]
    marks = [_marks(side.conversations) for side in sides]
    buckets = dict(sides[0].conversations[["case_id", "bucket"]].dropna().itertuples(index=False))
    apart, pairs = parted(*outcomes), Pairs.of(*sides, SUCCESS)
    for case_id, intent, x, y in zip(pairs.cases, pairs.intents, pairs.a, pairs.b, strict=True):
        if case_id not in apart or bucket not in (None, buckets[case_id]):
            continue
        titles, trials = apart[case_id], [side.get(case_id, "") for side in marks]
        split = "" if max(map(len, trials)) < 2 else "always" if {x, y} == {0.0, 1.0} else "in part"
        first = first_apart(*(side[titles[0]][case_id] for side in outcomes))
        found.append((buckets[case_id], intent, case_id, x, y, y - x, *trials, split, ", ".join(titles), first))
    found.sort(key=lambda row: (-abs(row[5]), BUCKETS.index(row[0])))
    table = framed(found, "bucket intent case_id a b difference a_trials b_trials split differ trial")
    return table.assign(**about_two(sides))


def _marks(mine: pd.DataFrame) -> dict[str, str]:
    """Each case's trials as ``++-``; ``.`` where a trial is not scored."""
    rows = mine[mine["bucket"].notna()].sort_values("trial")
    signs = rows["success"].map({True: "+", False: "-"}).fillna(".")
    return signs.groupby(rows["case_id"]).agg("".join).to_dict()


def agreement_of_two(results: Results | pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return how the two fare case by case, on the first trial both have: both right, one right, neither.

    Without a test: the verdict is `comparison_table`'s, which reads all trials.

    Returns
    -------
    DataFrame
        One row per bucket: bucket, cases, both, only_a, only_b, neither, reason.
    """
    rows, scored = [], []
    for side in two_sides(results, a, b):
        some = side.conversations[side.conversations["success"].notna()]
        scored.append(some.set_index(["bucket", "case_id", "trial"])["success"].astype(bool))
    for bucket in BUCKETS:
        one, other = (part[part.index.get_level_values("bucket") == bucket] for part in scored)
        both = one.to_frame("a").join(other.rename("b"), how="inner").reset_index().sort_values("trial")
        both = both.drop_duplicates("case_id")
        alone = len({*one.index.get_level_values("case_id"), *other.index.get_level_values("case_id")}) - len(both)
        x, y = both["a"].to_numpy(bool), both["b"].to_numpy(bool)
        left = f"{counted(alone, 'case')} with a value for only one model left out" if alone else ""
        counts = [int(found.sum()) for found in (x & y, x & ~y, ~x & y, ~x & ~y)]
        rows.append((bucket, len(both), *counts, sentence("no case was run by both" if both.empty else "", left)))
    return framed(rows, "bucket cases both only_a only_b neither reason")


def what_it_takes(results: Results | pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return the chance that the test for cases like these finds the difference seen.

    Returns
    -------
    DataFrame
        One row per planned metric: metric, title, cases, a and b (rates), repeats (how far two trials of a case agree
        beyond chance, the mean of both models), ``power_N`` (chance with N trials of as many cases, if the true
        difference is the one seen), double (chance with twice the cases at the trials run), reason. Where a model
        repeats itself the chances do not grow with N, and the reason says so.
    """
    sides, rows = two_sides(results, a, b), []
    for name in PLANNED:
        metric = METRICS[name]
        pairs = Pairs.of(*sides, metric)
        row: dict[str, Any] = {"metric": name, "title": metric.title, "cases": len(pairs.cases)}
        if len(pairs.cases) < 2:
            rows.append(row | {"reason": "too few cases for a comparison"})
            continue
        sizes = np.array([pairs.a_trials, pairs.b_trials])
        plan: dict[str, Any] = dict(trials=sizes, clusters=ESTIMATORS[metric.estimator].clusters(pairs.intents))
        counts = ((pairs.a_hits, pairs.a_trials), (pairs.b_hits, pairs.b_trials))
        known = [value for pair in counts if (value := repeat_correlation(*pair).estimate) == value]
        repeats = float(np.mean(known)) if known else np.nan
        seen = {f"power_{n}": power_of_difference(pairs.a, pairs.b, goal=n, **plan) for n in TRIALS_SHOWN}
        double = power_of_difference(pairs.a, pairs.b, goal=max(int(np.median(sizes)), 1), times=2, **plan)
        row |= {"a": pairs.a.mean(), "b": pairs.b.mean(), "repeats": repeats, **seen, "double": double}
        rows.append(row | {"reason": _why_power(pairs, sizes, repeats, seen)})
    powers = " ".join(f"power_{n}" for n in TRIALS_SHOWN)
    return framed(rows, f"metric title cases a b repeats {powers} double reason").assign(**about_two(sides))


def _why_power(pairs: Pairs, sizes: np.ndarray, repeats: float, seen: dict[str, float]) -> str:
    """What limits the chances of one metric."""
    if (sizes.min(axis=0) < 2).all():
        return "one trial of a case does not show how far trials agree"
    if np.ptp(pairs.a - pairs.b) == 0:
        return "the two are alike on every case, so there is no difference to find"
    if any(value != value for value in seen.values()):
        return "the difference is the same in every cluster of cases, so the chance cannot be told"
    fewest = TRIALS_SHOWN[0]
    gain = seen[f"power_{TRIALS_SHOWN[-1]}"] - seen[f"power_{fewest}"]
    little = "more trials tell almost nothing"
    if repeats > MOSTLY_REPEATS:
        return f"{little} (two trials of a case agree with a correlation of {repeats:.2f}): only more cases do"
    if gain < 0.02 and seen[f"power_{fewest}"] > 0.95:
        return f"a difference of this size is found with {fewest} trials already"
    return f"{little}: only more cases do" if gain < 0.02 else ""
