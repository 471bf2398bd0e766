"""Two models on the same cases: what differs, on which cases, whether it is noise, and what it would take to know."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import BadInput
from ...experiment.known_panel import truth_of
from ...records import BUCKETS
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.scales import SHARE
from ..estimators.comparisons import adjust_pvalues, mcnemar_exact, paired_difference
from ..estimators.estimate import counted, sentence
from ..estimators.planning import minimum_detectable, power
from ..panels import conversations_of, short_name
from .headlines import ESTIMATORS, case_matrix

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

LEVEL = 0.05
PLANNED = shown_on(Shown.MAIN)
"""Metrics of the planned contrasts.

Holm corrects over these; the others are shown with their plain p-value and called exploratory.
"""

FIRST_CHOICE = ("models", "players", "imported", "recovery panel", "scripted agents")
"""Panels from which two models are chosen if none are named."""

TRIALS_SHOWN = (3, 5, 10, 20)
COLUMNS = (
    "metric",
    "title",
    "unit",
    "a",
    "b",
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
    "p_these",
    "truth",
    "cases",
    "units",
    "better",
    "verdict",
    "reason",
)


def choose_pair(results: Results | pd.DataFrame, a: str | None = None, b: str | None = None) -> tuple[str, str]:
    """The two models to compare: those named, otherwise two from one panel, language models before scripted agents; the same one twice if there is only one.

    Raises
    ------
    BadInput
        If there are no conversations, or a named model is not in the results; the sentence says which are.
    """
    rows = conversations_of(results)
    if rows.empty:
        raise BadInput("there are no conversations to compare: run a model first with `deskbench run MODEL`")
    sizes = rows.groupby(["panel", "entry"], sort=False).size().sort_values(ascending=False, kind="stable")
    of = {entry: panel for panel, entry in sizes.index}
    for name in (a, b):
        if name is not None and name not in of:
            raise BadInput(f"no conversations of {name!r} are here: choose among {', '.join(sorted(of)[:12])}")
    wanted = [name for name in (a, b) if name is not None]
    home = of[wanted[0]] if wanted else next((p for p in FIRST_CHOICE if sum(q == p for q in of.values()) > 1), None)
    rest = [m for m in of if m not in wanted]
    rest.sort(key=lambda m: of[m] != home)
    first = a if a is not None else rest.pop(0) if rest else b
    second = b if b is not None else rest.pop(0) if rest else first
    return str(first), str(second)


def compare_models(
    results: Results | pd.DataFrame, a: str, b: str, metrics: tuple[str, ...] | None = None
) -> pd.DataFrame:
    """Every metric of two models, paired by case.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their conversations.
    a, b : str
        Models as the frames name them.
    metrics : tuple of str, optional
        Names of `METRICS`; all by default. The planned ones (`PLANNED`) are corrected together by Holm.

    Returns
    -------
    DataFrame
        One row per metric: title, unit, a and b (means over the cases both have; a count is per 18 traps or as many as
        were run), difference (a - b), low and high (95 %: cautious for rates, Student's t otherwise), p (sign flips of
        whole cases or intents), p_holm (planned metrics), p_these (unsafe acts: exact permutation within these traps),
        truth (the true difference of two tunable scripted agents, NaN of any other models), cases, units, better,
        verdict and reason in words.
    """
    import pandas as pd

    of = _both(results, a, b)
    wanted = [METRICS[m] for m in (metrics or METRICS)]
    table = pd.DataFrame(
        [_one(metric, of[0], of[1]) for metric in wanted],
        columns=[c for c in COLUMNS if c not in ("p_holm", "truth", "better", "verdict")],
    )

    true_a, true_b = (truth_of(mine["model"].iloc[0]) for mine in of)
    table["truth"] = [true_a[m] - true_b[m] if m in true_a and m in true_b else nan for m in table["metric"]]
    planned = table["metric"].isin(PLANNED)
    table["p_holm"] = adjust_pvalues(table["p"].where(planned))
    table["better"] = [_better(METRICS[r["metric"]], r["difference"], a, b) for r in table.to_dict("records")]
    table["verdict"] = [_verdict(r, a, b) for r in table.to_dict("records")]
    return table[list(COLUMNS)]


def _both(results: Results | pd.DataFrame, a: str, b: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = conversations_of(results)
    of = {entry: mine for entry, mine in rows.groupby("entry")}
    for name in (a, b):
        if name not in of:
            raise BadInput(f"no conversations of {name!r} are here: choose among {', '.join(sorted(of)[:12])}")
    return of[a], of[b]


def paired_values(metric: str | Metric, a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Values of two models' conversations by case.

    Returns
    -------
    DataFrame
        Index case_id; intent, a and b (means over the trials with a value, NaN where there are none), a_trials and
        b_trials (their number), a_hits and b_hits (sums). Every case either model has.
    """
    import pandas as pd

    parts = []
    for name, mine in (("a", a), ("b", b)):
        values, cases, intents = case_matrix(mine, metric)
        seen = ~np.isnan(values)
        sizes, hits = seen.sum(axis=1), np.nansum(values, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            part = {
                name: np.where(sizes > 0, hits / np.maximum(sizes, 1), nan),
                f"{name}_trials": sizes,
                f"{name}_hits": hits,
                f"{name}_intent": pd.array(intents, dtype="str"),
            }
        parts.append(pd.DataFrame(part, index=pd.Index(cases, name="case_id", dtype="str")))
    table = parts[0].join(parts[1], how="outer")
    table.insert(0, "intent", table["a_intent"].fillna(table["b_intent"]))
    counts = ["a_trials", "b_trials", "a_hits", "b_hits"]
    return table.drop(columns=["a_intent", "b_intent"]).assign(**{c: table[c].fillna(0) for c in counts})


def _one(metric: Metric, a: pd.DataFrame, b: pd.DataFrame) -> dict[str, Any]:
    """The row of one metric."""
    table = paired_values(metric, a, b)
    row = {"metric": metric.name, "title": metric.title, "unit": metric.scale.name, "p_these": nan}
    both = table.dropna(subset=["a", "b"])
    if both.empty:
        why = f"no {(metric.bucket or '').replace('_', ' ')} case with values for both".replace("  ", " ")
        return (
            row
            | dict.fromkeys(("a", "b", "difference", "low", "high", "p"), nan)
            | {"cases": 0, "units": 0, "reason": why}
        )
    estimator, bounds = ESTIMATORS[metric.estimator], metric.scale.bounds
    trials = int(np.median(np.concatenate([both["a_trials"], both["b_trials"]])))
    found = paired_difference(
        both["a"],
        both["b"],
        clusters=estimator.clusters(both["intent"].to_numpy()),
        trials=max(trials, 1),
        n_resamples=2_000,
        bounds=bounds and (bounds[0] - bounds[1], bounds[1] - bounds[0]),
    )
    scale = metric.scale.factor(len(both))
    low, high = (found.cautious_low, found.cautious_high) if bounds else (found.low, found.high)
    if estimator.test_of_these:
        row["p_these"] = estimator.test_of_these(
            *(both[name].astype(int) for name in ("a_hits", "b_hits", "a_trials", "b_trials"))
        ).p
    return row | {
        "a": scale * both["a"].mean(),
        "b": scale * both["b"].mean(),
        "difference": scale * found.estimate,
        "low": scale * low,
        "high": scale * high,
        "p": found.p,
        "cases": len(both),
        "units": found.units,
        "reason": sentence(_unpaired(table, both), _uneven(both), found.reason),
    }


def _unpaired(table: pd.DataFrame, both: pd.DataFrame) -> str:
    """Cases that only one of the two has."""
    left = len(table) - len(both)
    return f"{counted(left, 'case')} with a value for only one model left out" if left else ""


def _uneven(both: pd.DataFrame) -> str:
    """A note where the two have different numbers of trials."""
    a, b = both["a_trials"].median(), both["b_trials"].median()
    return f"{a:.0f} against {b:.0f} trials per case" if a != b else ""


def _better(metric: Metric, difference: float, a: str, b: str) -> str:
    if metric.higher_is_better is None or difference != difference or difference == 0:
        return ""
    return a if (difference > 0) == metric.higher_is_better else b


def _verdict(row: dict[str, Any], a: str, b: str) -> str:
    """Is it noise? In words, at `LEVEL`."""
    if row["cases"] == 0:
        return f"not compared: {row['reason']}"
    if row["p"] != row["p"]:
        return f"no test: {row['reason']}"
    p, kind = (row["p_holm"], "Holm p") if row["metric"] in PLANNED else (row["p"], "plain p")
    if row["difference"] == 0 and p >= LEVEL:
        return "no difference seen"
    if p <= LEVEL:
        doubt = "" if row["low"] > 0 or row["high"] < 0 else "; yet the interval reaches 0"
        return f"more than noise ({kind} {p:.2g}){doubt}"
    if row["p_these"] <= LEVEL:
        return f"differs on these traps (p {row['p_these']:.2g}), not shown for traps like these ({kind} {p:.2g})"
    return f"may be noise ({kind} {p:.2g})"


def differing_cases(results: Results | pd.DataFrame, a: str, b: str, *, bucket: str | None = None) -> pd.DataFrame:
    """The cases on which two models differ in success, trial by trial.

    Parameters
    ----------
    results : Results or DataFrame
    a, b : str
    bucket : str, optional
        One bucket only; all by default, each row saying which.

    Returns
    -------
    DataFrame
        One row per case both have and on which their shares of successes differ, the widest first: bucket, intent,
        case_id, a, b (shares), difference, a_trials and b_trials as text (``+`` success, ``-`` failure, in the order of
        trials), split (``always`` where every trial of one beats every trial of the other, else ``in part``).
    """
    import pandas as pd

    found = []
    parts = _both(results, a, b)
    for name in BUCKETS:
        if bucket not in (None, name):
            continue
        metric = Metric("success", "Success", "success", name, SHARE, True, "Success of its bucket.")
        table = paired_values(metric, *parts).dropna(subset=["a", "b"])
        marks = [_marks(part, name) for part in parts]
        for case_id, row in table[table["a"] != table["b"]].iterrows():
            split = "always" if {row["a"], row["b"]} == {0.0, 1.0} else "in part"
            found.append(
                (
                    name,
                    row["intent"],
                    case_id,
                    row["a"],
                    row["b"],
                    row["a"] - row["b"],
                    marks[0].get(case_id, ""),
                    marks[1].get(case_id, ""),
                    split,
                )
            )
    columns = ["bucket", "intent", "case_id", "a", "b", "difference", "a_trials", "b_trials", "split"]
    table = pd.DataFrame(found, columns=columns)
    return table.sort_values("difference", key=abs, ascending=False, kind="stable", ignore_index=True)


def _marks(mine: pd.DataFrame, bucket: str) -> dict[str, str]:
    """Each case's trials as ``++-``; ``.`` where a trial is not scored."""
    rows = mine[mine["bucket"] == bucket].sort_values("trial")
    signs = rows["success"].map({True: "+", False: "-"}).fillna(".")
    return signs.groupby(rows["case_id"]).agg("".join).to_dict()


def agreement_of_two(results: Results | pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """How the two fare case by case, on the first trial both have: both right, one right, neither; with the exact McNemar test.

    Returns
    -------
    DataFrame
        One row per bucket: bucket, cases, both, only_a, only_b, neither, p (exact McNemar), reason.
    """
    import pandas as pd

    first, second = _both(results, a, b)
    rows = []
    for bucket in BUCKETS:
        one, other = (
            part[(part["bucket"] == bucket) & part["success"].notna()]
            .set_index(["case_id", "trial"])["success"]
            .astype(bool)
            for part in (first, second)
        )
        joined = (
            pd.DataFrame({"a": one, "b": other}).dropna().reset_index().sort_values("trial").drop_duplicates("case_id")
        )
        x, y = joined["a"].astype(bool), joined["b"].astype(bool)
        only_a, only_b = int((x & ~y).sum()), int((~x & y).sum())
        test = mcnemar_exact(only_a, only_b)
        alone = len({case for case, _ in [*one.index, *other.index]}) - len(joined)
        left = f"{counted(alone, 'case')} with a value for only one model left out" if alone else ""
        reason = sentence("no case was run by both" if joined.empty else test.reason, left)
        rows.append(
            (
                bucket,
                len(joined),
                int((x & y).sum()),
                only_a,
                only_b,
                int((~x & ~y).sum()),
                test.p if len(joined) else nan,
                reason,
            )
        )
    return pd.DataFrame(rows, columns=["bucket", "cases", "both", "only_a", "only_b", "neither", "p", "reason"])


def what_it_takes(comparison: pd.DataFrame, *, trials: int = 3, n_simulations: int = 400) -> pd.DataFrame:
    """What it would take to know: power of this comparison, and with more trials, for the differences seen.

    Parameters
    ----------
    comparison : DataFrame
        As `compare_models` gives it.
    trials : int
        Trials that were run.
    n_simulations : int
        Simulated comparisons behind one power; fewer for large sets of cases, but 150 if as many are given (simulation
        error up to 0.04).

    Returns
    -------
    DataFrame
        One row per planned metric: metric, cases, a and b (rates), smallest (the smallest difference in rate that these
        cases and trials show with power 0.8, on these cases), ``power_N`` (chance to see the difference seen with N
        trials of these cases), double (chance with twice the cases, for cases like these, at the trials run), reason.
    """
    import pandas as pd

    rows = []
    for row in comparison[comparison["metric"].isin(PLANNED)].to_dict("records"):
        cases = int(row["cases"])
        if cases < 2:
            rows.append(
                {
                    "metric": row["metric"],
                    "title": row["title"],
                    "cases": cases,
                    "reason": row["reason"] or "too few cases for a comparison",
                }
            )
            continue
        scale = METRICS[row["metric"]].scale.factor(cases)
        one, other = (min(max(row[name] / scale, 0.0), 1.0) for name in ("a", "b"))
        low, high = sorted(
            (one, other) if one + other <= 1 else (1 - one, 1 - other)
        )  # a test of failures is the same test
        draws = max(n_simulations * 24 // max(cases, 24), min(n_simulations, 150))
        least = minimum_detectable(low, traps=cases, trials=trials, n_simulations=draws)
        found, reached = {}, 0.0
        for n in TRIALS_SHOWN:  # more trials of the same cases never tell less
            reached = (
                reached if reached > 0.99 else power(low, high, traps=cases, trials=n, n_simulations=draws).estimate
            )
            found[f"power_{n}"] = reached
        double = power(low, high, traps=2 * cases, trials=trials, estimand="like these", n_simulations=draws).estimate
        same = "the two means are equal, so the power is the rate of false alarms" if low == high else ""
        rows.append(
            {
                "metric": row["metric"],
                "title": row["title"],
                "cases": cases,
                "a": one,
                "b": other,
                "smallest": least.estimate - low,
                **found,
                "double": double,
                "reason": sentence(same, least.reason.replace("traps", "cases")),
            }
        )
    columns = [
        "metric",
        "title",
        "cases",
        "a",
        "b",
        "smallest",
        *(f"power_{n}" for n in TRIALS_SHOWN),
        "double",
        "reason",
    ]
    return pd.DataFrame(rows).reindex(columns=columns)


def comparison_in_words(comparison: pd.DataFrame, cases: pd.DataFrame, a: str, b: str) -> str:
    """The comparison in a few sentences, assembled from its numbers.

    Parameters
    ----------
    comparison, cases : DataFrame
        As `compare_models` and `differing_cases` give them.
    """
    if a == b:
        return f"Only one model is here ({short_name(a)}), so there is nothing to compare it with."
    a, b = short_name(a), short_name(b)
    sure = comparison[comparison["verdict"].str.startswith("more than noise") & comparison["metric"].isin(PLANNED)]
    parts = [f"{a} and {b} have {counted(int(comparison['cases'].max()), 'case')} with values in common."]
    parts += [
        f"{r['title']}: {short_name(r['better']) or 'they'} {'is better' if r['better'] else 'differ'}, {_value(r, 'a')} against {_value(r, 'b')}, "
        f"{r['verdict']}."
        for r in sure.to_dict("records")
    ]
    rest = comparison[
        comparison["metric"].isin(PLANNED) & ~comparison.index.isin(sure.index) & (comparison["cases"] > 0)
    ]
    if len(rest):
        parts.append(
            f"{'Nothing else' if len(sure) else 'No planned metric'} is told apart: {', '.join(rest['title'].str.lower())}."
        )
    lacking = comparison[comparison["metric"].isin(PLANNED) & (comparison["cases"] == 0)]
    parts += [f"{r['title']} is {r['verdict']}." for r in lacking.to_dict("records")]
    always = int((cases["split"] == "always").sum())
    parts.append(f"They differ on {counted(len(cases), 'case')}, on {always} of them in every trial.")
    return " ".join(parts)


def _value(row: dict[str, Any], name: str) -> str:
    return METRICS[row["metric"]].scale.written(row[name], brief=True)
