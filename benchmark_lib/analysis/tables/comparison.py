"""Two models on the same cases: what differs, on which cases, whether it is noise, and what it would take to know."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import BadInput
from ...experiment.known_panel import truth_of
from ...records import BUCKET_NOUNS, BUCKETS
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.scales import SHARE
from ...scoring.written import in_words
from ..entries import entry_meant
from ..estimators.comparisons import NOISE, SURE, Comparison, PairedDifference, adjusted, compare_paired, simultaneous
from ..estimators.estimate import counted, sentence
from ..estimators.planning import power_of_difference
from ..estimators.trials import repeat_correlation
from ..panels import conversations_of, partial_words, progress, short_name
from .apart import first_apart, outcomes_of, parted
from .headlines import ESTIMATORS, case_matrix, metric_of, named
from .rows import framed
from .verdicts import (
    EQUAL,
    direction_in_words,
    largest_in_words,
    names_apart,
    no_merit_in_words,
    shown_numbers,
    why_it_ends_there,
    winner_in_words,
)

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

PLANNED = shown_on(Shown.MAIN)
"""Metrics of the planned contrasts: the ones that are tested wherever two models are compared.

Holm corrects over these. The others are shown without a test, or explored: each tested by itself, with its plain p-value.
"""

FIRST_CHOICE = ("models", "own agents", "players", "imported", "recovery panel", "scripted agents")
"""Panels from which two models are chosen if none are named."""

TRIALS_SHOWN = (3, 5, 10, 20)
MOSTLY_REPEATS = 0.9
"""Correlation of two trials of a case from which a model is said to repeat itself."""

COLUMNS = (
    "metric title direction unit a b difference low high level p p_adjusted these_low these_high these_level p_these "
    "p_these_adjusted all_low all_high truth cases units trials word better verdict reason"
)


def choose_pair(results: Results | pd.DataFrame, a: str | None = None, b: str | None = None) -> tuple[str, str]:
    """The two models to compare: those named (also by their run files), otherwise two from one panel, language models before scripted agents; the same one twice if there is only one.

    Of scripted agents those come first that neither always succeed nor always fail: they have something to show.

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
    a, b = entry_meant(results, a), entry_meant(results, b)
    for name in (a, b):
        if name is not None and name not in of:
            raise BadInput(f"no conversations of {name!r} are here: choose among {', '.join(sorted(of)[:12])}")
    wanted = [name for name in (a, b) if name is not None]
    home = of[wanted[0]] if wanted else next((p for p in FIRST_CHOICE if sum(q == p for q in of.values()) > 1), None)
    shares = rows.groupby("entry")["success"].mean()
    rest = [m for m in of if m not in wanted]
    rest.sort(key=lambda m: (of[m] != home, of[m] == FIRST_CHOICE[-1] and shares[m] in (0, 1)))
    first = a if a is not None else rest.pop(0) if rest else b
    second = b if b is not None else rest.pop(0) if rest else first
    return str(first), str(second)


def comparison_table(
    results: Results | pd.DataFrame,
    a: str,
    b: str,
    metrics: tuple[str | Metric, ...] | None = None,
    *,
    explore: bool = False,
    among: int = len(PLANNED),
) -> pd.DataFrame:
    """Every metric of two models, paired by case; the planned ones are tested.

    Parameters
    ----------
    metrics : tuple of str or Metric, optional
        Names of `METRICS`, or your own that `metric` made, which are then tested; by default every metric is a row, and the planned ones are tested
        (`PLANNED`). These are always corrected together by Holm, whichever are shown.
    explore : bool
        Also test all the others, each by itself.
    among : int
        The contrasts for which the interval all_low to all_high holds at once.

    Returns
    -------
    DataFrame
        One row per metric: title, direction (higher or lower, whichever is better), unit, a and b (means over the cases
        both have; a count is per 18 traps or as many as were run), difference (b - a), low and high (of cases like these), level (confidence
        of that interval: 0.95, or what Holm leaves of it), p, p_adjusted (planned metrics), these_low, these_high, these_level, p_these and p_these_adjusted (the same on these cases), truth (the true difference of two tunable scripted agents, NaN of any other models),
        all_low and all_high (of cases like these, simultaneous over `among` contrasts), cases, units (cases or intents that carry the test), trials in words, word (the verdict in a word), better,
        verdict (with the name of the better one) and reason in words; in every row shared, only_a and only_b, the
        numbers of cases that both played, and that one alone did.
    """
    of = _both(results, a, b)
    wanted = [metric_of(m) for m in (metrics or METRICS)]
    chosen = {m.name: m for m in (*wanted, *(METRICS[name] for name in PLANNED))}
    known = {name: paired_values(m, *of) for name, m in chosen.items()}
    tested = {*PLANNED, *(m.name for m in wanted)} if metrics or explore else PLANNED
    found = judged(
        {
            name: (compare_values if name in tested else show_values)(chosen[name], table.to_dict("series"))
            for name, table in known.items()
        }
    )
    truths = [truth_of(mine["model"].iloc[0]) for mine in of]
    rows = [_row(metric, known[metric.name], found[metric.name], a, b, among) for metric in wanted]
    for row in rows:
        row["truth"] = truths[1].get(row["metric"], nan) - truths[0].get(row["metric"], nan)
    return _of_whom(framed(rows, COLUMNS), of).assign(**shared_cases(*map(played_cases, of)))


def played_cases(conversations: pd.DataFrame) -> set[str]:
    """The cases of which one model has a scored conversation."""
    return set(conversations.loc[conversations["success"].notna(), "case_id"])


def shared_cases(a: set[str], b: set[str]) -> dict[str, int]:
    """How many cases two models both played, and how many each played beyond: shared, only_a and only_b."""
    return {"shared": len(a & b), "only_a": len(a - b), "only_b": len(b - a)}


def contrast_of_two(metric: Metric, a: pd.DataFrame, b: pd.DataFrame) -> Comparison:
    """The contrast B minus A in one metric of two entries, a planned one adjusted as `comparison_table` does."""
    planned = {name: METRICS[name] for name in PLANNED if METRICS[name].column in a and METRICS[name].column in b}
    metrics = planned if metric.name in planned else {metric.name: metric}
    return judged({n: compare_values(m, paired_values(m, a, b).to_dict("series")) for n, m in metrics.items()})[
        metric.name
    ]


def judged(found: dict[str, Comparison]) -> dict[str, Comparison]:
    """The comparisons of two models by metric, the planned ones adjusted together."""
    planned = [name for name in PLANNED if name in found]
    return found | dict(zip(planned, adjusted(found[name] for name in planned), strict=True))


def _both(results: Results | pd.DataFrame, a: str, b: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = conversations_of(results)
    of = {entry: mine for entry, mine in rows.groupby("entry")}
    for name in (a, b):
        if name not in of:
            raise BadInput(f"no conversations of {name!r} are here: choose among {', '.join(sorted(of)[:12])}")
    return of[a], of[b]


def _of_whom(table: pd.DataFrame, parts: tuple[pd.DataFrame, pd.DataFrame]) -> pd.DataFrame:
    """The table with the two that are compared: name_a, panel_a, partial_a and the same of b, in every row."""
    sides = dict(zip("ab", (part.iloc[0] for part in parts), strict=True))
    names = {f"name_{side}": first["entry"] for side, first in sides.items()}
    lacking = {f"partial_{side}": partial_words(*progress(part)) for side, part in zip("ab", parts, strict=True)}
    return table.assign(**names, **{f"panel_{side}": first["panel"] for side, first in sides.items()}, **lacking)


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


def compare_values(metric: Metric, values: Mapping[str, Any]) -> Comparison:
    """The comparison of one metric, B minus A, not yet adjusted.

    Parameters
    ----------
    values : mapping of str to array_like, shape (cases,)
        intent, a, b, a_trials and b_trials, as `paired_values` gives them.
    """
    a, b = (np.asarray(values[name], dtype=float) for name in ("a", "b"))
    kept, bounds = ~np.isnan(a - b), metric.scale.bounds
    return compare_paired(
        b[kept],
        a[kept],
        trials=np.asarray(values["b_trials"])[kept],
        b_trials=np.asarray(values["a_trials"])[kept],
        clusters=ESTIMATORS[metric.estimator].clusters(np.asarray(values["intent"], dtype=object)[kept]),
        bounds=bounds and (bounds[0] - bounds[1], bounds[1] - bounds[0]),
    )


def show_values(metric: Metric, values: Mapping[str, Any]) -> Comparison:
    """The difference of one metric that is not tested, from the same values as `compare_values`."""
    difference = np.asarray(values["b"], dtype=float) - np.asarray(values["a"], dtype=float)
    kept = ~np.isnan(difference)
    mean = float(difference[kept].mean()) if kept.any() else nan
    like = PairedDifference(estimate=mean, n=int(kept.sum()))
    return Comparison(like=like, cases=int(kept.sum()), tested=False)


def shown_means(metric: Metric, values: Mapping[str, Any]) -> tuple[float, float]:
    """The means of two models over the cases with values for both, on the scale of the metric; values as for `compare_values`."""
    a, b = (np.asarray(values[name], dtype=float) for name in ("a", "b"))
    kept = ~np.isnan(a - b)
    factor = metric.scale.factor(int(kept.sum()))
    return (factor * float(a[kept].mean()), factor * float(b[kept].mean())) if kept.any() else (nan, nan)


def _row(metric: Metric, table: pd.DataFrame, found: Comparison, a: str, b: str, among: int) -> dict[str, Any]:
    """The row of one metric."""
    both = table.dropna(subset=["a", "b"])
    why = f"no {BUCKET_NOUNS.get(metric.bucket or '', 'case')} with values for both"
    trials = dict.fromkeys(f"{both[f'{side}_trials'].median():.0f}" for side in "ab") if len(both) else ["0"]
    means = shown_means(metric, table.to_dict("series"))
    (wide,), factor = simultaneous([found], among), metric.scale.factor(found.cases)
    row: dict[str, Any] = {
        "metric": named(metric),
        "title": metric.title,
        "direction": direction_in_words(metric).partition(" ")[0],
        "unit": metric.scale.name,
        **dict(zip("ab", means, strict=True)),
        **shown_numbers(metric, found),
        **dict(zip(("all_low", "all_high"), (factor * end for end in wide.interval), strict=True)),
        "level": 1 - found.alpha if found.tested else nan,
        "these_level": 1 - found.these_alpha if found.tested else nan,
        "p": found.like.p,
        "p_adjusted": found.p_adjusted,
        "p_these": found.these_p,
        "p_these_adjusted": found.these_p_adjusted,
        "cases": found.cases,
        "units": found.like.units,
        "trials": " and ".join(trials),
        "word": found.word,
        "better": better_one(metric, found.difference, a, b),
        "reason": sentence(_unpaired(table, both), _uneven(both), found.like.reason) if found.cases else why,
    }
    row["reason"] = sentence(row["reason"], why_it_ends_there(metric, found))
    return row | {"verdict": winner_in_words(metric, found, a, b, row["reason"])}


def _unpaired(table: pd.DataFrame, both: pd.DataFrame) -> str:
    """Cases that only one of the two has."""
    left = len(table) - len(both)
    return f"{counted(left, 'case')} with a value for only one model left out" if left else ""


def _uneven(both: pd.DataFrame) -> str:
    """A note where the two have different numbers of trials."""
    a, b = both["a_trials"].median(), both["b_trials"].median()
    return f"{a:.0f} against {b:.0f} trials per case" if a != b else ""


def better_one(metric: Metric, difference: float, a: str, b: str) -> str:
    """The better of two by the difference B minus A; empty where neither is."""
    if metric.higher_is_better is None or difference != difference or difference == 0:
        return ""
    return b if (difference > 0) == metric.higher_is_better else a


def differing_cases(results: Results | pd.DataFrame, a: str, b: str, *, bucket: str | None = None) -> pd.DataFrame:
    """The cases on which two models differ in success or in a planned metric, trial by trial.

    Parameters
    ----------
    bucket : str, optional
        One bucket only; all by default, each row saying which.

    Returns
    -------
    DataFrame
        One row per case both have and on which they differ, the widest in success first: bucket, intent, case_id, a, b
        (shares of successes), difference (b - a), a_trials and b_trials as text (``+`` success, ``-`` failure, in the order of
        trials), split (``always`` where every trial of one beats every trial of the other, else ``in part``; empty of
        single trials), differ (in what), trial (the first in which the two differ; the first of all where they have none
        such in common).
    """
    found = []
    parts = _both(results, a, b)
    sides = [outcomes_of(part) for part in parts]
    apart = parted(sides[0], sides[1])
    for name in BUCKETS:
        if bucket not in (None, name):
            continue
        metric = Metric("success", "Success", "success", name, SHARE, True, "Success of its bucket.")
        table = paired_values(metric, *parts).dropna(subset=["a", "b"])
        marks = [_marks(part, name) for part in parts]
        for case_id, row in table[table.index.isin(list(apart))].iterrows():
            split = "always" if {row["a"], row["b"]} == {0.0, 1.0} else "in part"
            trials = (marks[0].get(case_id, ""), marks[1].get(case_id, ""))
            shares = (row["a"], row["b"], row["b"] - row["a"])
            titles, once = apart[str(case_id)], max(map(len, trials)) < 2
            first = first_apart(*(side[titles[0]][str(case_id)] for side in sides))
            found.append(
                (name, row["intent"], case_id, *shares, *trials, "" if once else split, ", ".join(titles), first)
            )
    table = framed(found, "bucket intent case_id a b difference a_trials b_trials split differ trial")
    table = _of_whom(table, parts)
    return table.sort_values("difference", key=abs, ascending=False, kind="stable", ignore_index=True)


def _marks(mine: pd.DataFrame, bucket: str) -> dict[str, str]:
    """Each case's trials as ``++-``; ``.`` where a trial is not scored."""
    rows = mine[mine["bucket"] == bucket].sort_values("trial")
    signs = rows["success"].map({True: "+", False: "-"}).fillna(".")
    return signs.groupby(rows["case_id"]).agg("".join).to_dict()


def agreement_of_two(results: Results | pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """How the two fare case by case, on the first trial both have: both right, one right, neither.

    Without a test: the verdict is `comparison_table`'s, which reads all trials.

    Returns
    -------
    DataFrame
        One row per bucket: bucket, cases, both, only_a, only_b, neither, reason.
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
        alone = len({case for case, _ in [*one.index, *other.index]}) - len(joined)
        left = f"{counted(alone, 'case')} with a value for only one model left out" if alone else ""
        reason = sentence("no case was run by both" if joined.empty else "", left)
        both, neither = int((x & y).sum()), int((~x & ~y).sum())
        rows.append((bucket, len(joined), both, only_a, only_b, neither, reason))
    return framed(rows, "bucket cases both only_a only_b neither reason")


def what_it_takes(results: Results | pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """What it would take to know: the chance that the test for cases like these finds the difference seen.

    Returns
    -------
    DataFrame
        One row per planned metric: metric, title, cases, a and b (rates), repeats (how far two trials of a case agree
        beyond chance, the mean of both models), ``power_N`` (chance with N trials of as many cases, if the true
        difference is the one seen), double (chance with twice the cases at the trials run), reason. Where a model
        repeats itself the chances do not grow with N, and the reason says so.
    """
    of, rows = _both(results, a, b), []
    for name in PLANNED:
        metric = METRICS[name]
        both = paired_values(metric, *of).dropna(subset=["a", "b"])
        row: dict[str, Any] = {"metric": name, "title": metric.title, "cases": len(both)}
        if len(both) < 2:
            rows.append(row | {"reason": "too few cases for a comparison"})
            continue
        sizes = both[["a_trials", "b_trials"]].to_numpy(dtype=float).T
        plan = dict(trials=sizes, clusters=ESTIMATORS[metric.estimator].clusters(both["intent"].to_numpy()))
        agree = [repeat_correlation(both[f"{side}_hits"], both[f"{side}_trials"]).estimate for side in ("a", "b")]
        known = [value for value in agree if value == value]
        repeats = float(np.mean(known)) if known else nan
        seen = {f"power_{n}": power_of_difference(both["a"], both["b"], goal=n, **plan) for n in TRIALS_SHOWN}
        double = power_of_difference(both["a"], both["b"], goal=max(int(np.median(sizes)), 1), times=2, **plan)
        rows.append(
            row
            | {"a": both["a"].mean(), "b": both["b"].mean(), "repeats": repeats, **seen, "double": double}
            | {"reason": _why_power(both, sizes, repeats, seen)}
        )
    powers = " ".join(f"power_{n}" for n in TRIALS_SHOWN)
    return _of_whom(framed(rows, f"metric title cases a b repeats {powers} double reason"), of)


def _why_power(both: pd.DataFrame, sizes: np.ndarray, repeats: float, seen: dict[str, float]) -> str:
    """What limits the chances of one metric."""
    if (sizes.min(axis=0) < 2).all():
        return "one trial of a case does not show how far trials agree"
    if np.ptp(both["a"] - both["b"]) == 0:
        return "the two are alike on every case, so there is no difference to find"
    if any(value != value for value in seen.values()):
        return "the difference is the same in every cluster of cases, so the chance cannot be told"
    gain = seen[f"power_{TRIALS_SHOWN[-1]}"] - seen[f"power_{TRIALS_SHOWN[0]}"]
    fewest = TRIALS_SHOWN[0]
    if repeats > MOSTLY_REPEATS:
        return f"more trials tell almost nothing (two trials of a case agree with a correlation of {repeats:.2f}): only more cases do"
    if gain < 0.02 and seen[f"power_{fewest}"] > 0.95:
        return f"a difference of this size is found with {fewest} trials already"
    return "more trials tell almost nothing: only more cases do" if gain < 0.02 else ""


def comparison_in_words(comparison: pd.DataFrame, cases: pd.DataFrame, a: str, b: str) -> str:
    """The comparison in a few sentences, assembled from its numbers.

    `comparison` and `cases` are as `comparison_table` and `differing_cases` give them.
    """
    if a == b:
        return f"Only one model is here ({short_name(a)}), so there is nothing to compare it with."
    rows = comparison.to_dict("records")
    parts = [outcome_in_words(rows)]
    for r in rows:
        if r["word"] == SURE and r["metric"] in PLANNED:
            parts.append(f"{r['title']}, {_value(r, 'a')} against {_value(r, 'b')}: {r['verdict']}.")
    always = int((cases["split"] == "always").sum())
    often = f", on {always or 'none'} of them in every trial" if cases["split"].any() else ""
    differ = f"They differ on {counted(len(cases), 'case')}{often}."
    parts.append(differ if len(cases) else "There is no case on which they differ.")
    return " ".join(filter(None, [*parts, largest_in_words(rows)]))


def outcome_in_words(rows: list[dict[str, Any]]) -> str:
    """The verdicts of the planned metrics of two models: who is better at how many, what is open, and on which cases.

    These are the first words of every comparison, in the terminal, in the notebook and on the site.

    Parameters
    ----------
    rows : list of dict
        Rows of `comparison_table`.
    """
    planned = [row for row in rows if row["metric"] in PLANNED]
    names = dict(zip("ab", names_apart(rows[0]["name_a"], rows[0]["name_b"]), strict=True))
    said: dict[str, list[str]] = {}
    for row in planned:
        if row["word"] == SURE:
            found = f"{names['a' if row['better'] == row['name_a'] else 'b']} is better at"
        else:
            found = "not compared" if not row["cases"] else EQUAL if abs(row["difference"]) < 1e-9 else NOISE
        said.setdefault(found, []).append(row["title"].lower())
    wins = [
        f"{found} {len(titles)} of the {counted(len(planned), 'planned measure')} ({', '.join(titles)})"
        for found, titles in said.items()
        if found.endswith("is better at")
    ]
    rest = [
        f"{in_words(said[found])} {'are' if len(said[found]) > 1 or said[found][0].endswith('s') else 'is'} {found}"
        for found in (EQUAL, NOISE, "not compared")
        if found in said
    ]
    text = "; ".join([*wins, *rest])
    parts = [no_merit_in_words(planned, names), f"{text if wins else text[:1].upper() + text[1:]}."]
    return " ".join(filter(None, [*parts, _shared_in_words(rows[0], names)]))


def _shared_in_words(row: dict[str, Any], names: dict[str, str]) -> str:
    """On how many cases two models are compared, and how many each played beyond."""
    beyond = [f"{names[side]} played {row[f'only_{side}']:,} more" for side in "ab" if row[f"only_{side}"]]
    if not row["shared"]:
        return f"They have no case in common{': ' * bool(beyond)}{in_words(beyond).replace(' more', '')}."
    both = f"{counted(row['shared'], 'case')} that both played"
    return (
        f"Compared on the {both}; {in_words(beyond)}."
        if beyond
        else f"Both played the same {counted(row['shared'], 'case')}."
    )


def _value(row: dict[str, Any], name: str) -> str:
    return metric_of(row["metric"]).scale.mean(row[name], brief=True)
