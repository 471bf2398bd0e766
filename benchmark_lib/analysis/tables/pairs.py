"""Tables of two or more entries: comparisons, differing cases, power, effects of a setting."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ...cases.load import CONTENT, load_cases, store_played, store_words
from ...errors import BadInput
from ...records import BUCKETS
from ...runfile import RunFile
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import counted, usd
from ..cell import Row, framed
from ..entries import entry_meant, steps
from ..estimators.comparisons import NOISE, SURE
from ..frames import Results, is_hard
from ..panels import conversations_of, partial_words, short_name
from .comparison import EQUAL, PLANNED, SAID, Comparison, Pairs, about_two, compare_all, not_here, two_sides
from .headlines import SUCCESS

FIRST_CHOICE = ("models", "own agents", "players", "imported", "recovery panel", "scripted agents")
"""Panels from which unnamed models are chosen, in order."""
FEWEST_SHARED = 2
"""Runs that share fewer cases than this are not compared."""
PARTED = (SUCCESS, *(METRICS[name] for name in shown_on(Shown.MAIN)))
"""Metrics by which two models may differ on a case."""
COST = "cost_usd"
STEP = ("model", "setting", "entry_a", "value_a", "entry_b", "value_b")


# --- which entries are compared


def choose_pair(results: Results | pd.DataFrame, a: str | None = None, b: str | None = None) -> tuple[str, str]:
    """Return the two entries to compare: the named ones, otherwise two from one panel.

    Language models come before scripted agents, and agents that sometimes succeed come before other scripted agents.
    A single entry is returned twice. A name may also be that of a run file.

    Raises
    ------
    BadInput
        If there are no conversations, or a named model is not in the results.
    """
    rows = conversations_of(results)
    if rows.empty:
        raise BadInput("there are no conversations to compare: run a model first with `deskbench run MODEL`")
    sizes = rows.groupby(["panel", "entry"], sort=False).size().sort_values(ascending=False, kind="stable")
    panels = {entry: panel for panel, entry in sizes.index}
    a, b = entry_meant(results, a), entry_meant(results, b)
    wanted = [name for name in (a, b) if name is not None]
    for name in wanted:
        if name not in panels:
            raise BadInput(not_here(name, panels))
    shared = next((p for p in FIRST_CHOICE if sum(q == p for q in panels.values()) > 1), None)
    home = panels[wanted[0]] if wanted else shared
    shares = rows.groupby("entry")["success"].mean()
    rest = [m for m in panels if m not in wanted]
    rest.sort(key=lambda m: (panels[m] != home, panels[m] == FIRST_CHOICE[-1] and shares[m] in (0, 1)))
    others = iter(rest)
    first = a or next(others, b)
    return str(first), str(b or next(others, first))


def chosen_runs(results: Results, entries: list[str], *, partial: bool = False) -> tuple[Results, dict[str, str]]:
    """Return only the runs of some entries, and why runs are partial, by run_id.

    With fewer runs, the names of entries may become shorter. `partial` also accepts unfinished runs.

    Raises
    ------
    BadInput
        If hard and other runs are mixed, or an unfinished run is not accepted.
    """
    runs: dict[str, RunFile] = {}
    for every in (results.hard, results):  # a name with runs on both sets means the core set
        runs |= {every.entries[run.run_id]: run for run in every.runs if every.entries[run.run_id] in entries}
    hard = [name for name, run in runs.items() if is_hard(run.manifest)]
    if hard and len(hard) < len(runs):
        raise BadInput(SAID["two sets"].format(name=hard[0]))
    stores = dict.fromkeys(store_words(run.manifest for run in runs.values()).values())
    if len(stores) > 1 and any(CONTENT in store for store in stores):
        raise BadInput(
            f"{' and '.join(runs)} were played on stores with different content ({' and '.join(stores)}): "
            "compare runs on the same store"
        )
    lacks = {run.run_id: why for run in runs.values() if (why := why_partial(run))}
    for name, run in runs.items():
        if not partial and _lacking(run):
            raise BadInput(SAID["partial run"].format(name=name, why=lacks[run.run_id]))
    return Results([runs[name] for name in entries]), lacks


def why_partial(run: RunFile) -> str:
    """Return in words how far a run falls short of its plan or its set of cases; may be empty."""
    if lacking := _lacking(run):
        return f"{lacking} conversations finished"
    return f"{chosen} played" if (chosen := chosen_cases(run.manifest)) else ""


def chosen_cases(manifest: dict[str, Any]) -> str:
    """Return the part of its set that a run plays, as in ``32 of 162 cases``; empty for all."""
    store, planned = store_played(manifest), set(manifest["planned"])
    every = {case.id for case in load_cases(store)} if store is not None else planned
    of_this_set = planned < every  # other versions and private sets have other ids: only their plan is known
    return f"{len(planned)} of {counted(len(every), 'case')}" if of_this_set else ""


def _lacking(run: RunFile) -> str:
    return partial_words(run.counts()["finished"], sum(run.manifest["planned"].values()))


# --- every metric of two entries


def comparison_table(
    results: Results | pd.DataFrame,
    a: str,
    b: str,
    metrics: tuple[str | Metric, ...] | None = None,
    *,
    explore: bool = False,
) -> pd.DataFrame:
    """Return every metric of two entries, paired by case; options are those of `compare_all`.

    Returns
    -------
    DataFrame
        One row per metric: title, direction (``higher`` or ``lower`` is better), unit, a and b (means over shared
        cases; a count is per 18 traps or as many as were run), difference (b - a), low and high (cases like these),
        level (confidence of that interval: 0.95, or more after Holm), p, p_adjusted (planned metrics), these_low,
        these_high, these_level, p_these and p_these_adjusted (the same for these cases), all_low and all_high (cases
        like these, simultaneous over the planned metrics), truth (true difference of two tunable scripted agents, else
        NaN), cases, units (cases or intents of the test), trials (text), word (short verdict), better, verdict (with
        the better name), reason, query_a and query_b (conversations that the two means count). Every row has shared,
        only_a and only_b: the numbers of cases that both played, and only one.
    """
    return _table(compare_all(*two_sides(results, a, b), metrics, explore=explore))


def _table(comparisons: Iterable[Comparison]) -> pd.DataFrame:
    return pd.DataFrame([c.row() for c in comparisons])


def compare_runs(
    results: Results | pd.DataFrame,
    entries: list[str],
    *,
    every_pair: bool = False,
    metrics: tuple[str | Metric, ...] | None = None,
) -> pd.DataFrame:
    """Compare several entries, the first with all others or every pair, as in `compare_all`.

    The rows are those of `comparison_table`, preceded by entry_a and entry_b. A verdict on two entries does not depend
    on the others. The interval all_low to all_high holds for the planned contrasts of every pair at once.

    Raises
    ------
    BadInput
        If there are fewer than two entries, one is named twice, or two share fewer than two cases.
    """
    pairs = compare_pairs(results, entries, every_pair=every_pair, metrics=metrics)
    table = _table(c for of_two in pairs for c in of_two)
    table.insert(0, "entry_a", table["name_a"])
    table.insert(1, "entry_b", table["name_b"])
    return table


def compare_pairs(
    results: Results | pd.DataFrame, entries: list[str], *, every_pair: bool = False, **options: Any
) -> list[list[Comparison]]:
    """Return the comparisons of each pair of `compare_runs`."""
    if len(entries) < 2:
        raise BadInput("a comparison needs at least two runs: name another one")
    if twice := sorted({name for name in entries if entries.count(name) > 1}):
        raise BadInput(f"{twice[0]!r} is named twice: name each run once, since a run cannot be compared with itself")
    pairs = list(combinations(entries, 2)) if every_pair else [(entries[0], other) for other in entries[1:]]
    parts = []
    for a, b in pairs:
        sides = two_sides(results, a, b)
        parts.append(compare_all(*sides, contrasts=len(pairs) * len(PLANNED), **options))
        shared = len(sides[0].played & sides[1].played)
        if not any(c.cases for c in parts[-1]):
            raise BadInput(f"{a} and {b} have no case in common that was scored: compare runs of the same case set")
        if shared < FEWEST_SHARED and sides[0].played != sides[1].played:
            raise BadInput(SAID["one case"].format(a=a, b=b))
    return parts


# --- case by case, and with more trials


def differing_cases(results: Results | pd.DataFrame, a: str, b: str, *, bucket: str | None = None) -> pd.DataFrame:
    """Return the cases on which two models differ in success or a planned metric, by trial.

    One row per shared case with a difference, the largest in success first. ``a`` and ``b`` are shares of successes,
    ``difference`` is b - a. ``a_trials`` and ``b_trials`` show the trials in order: ``+`` success, ``-`` failure, ``.``
    not scored. ``differ`` names the metrics. ``split`` is ``always`` if one of them differs between every trial of one
    and every trial of the other, else ``in part``, and empty for single trials. ``trial`` is the first shared trial
    that differs, or the first. `bucket` limits the table to one bucket.
    """
    sides, differ = two_sides(results, a, b), dict[str, list[Metric]]()
    always = set[str]()
    for metric in PARTED:
        both = Pairs.of(*sides, metric)
        apart = np.abs(both.a.means - both.b.means)
        always |= {*both.cases[apart == 1]}
        for case_id in both.cases[apart > 1e-9]:
            differ.setdefault(case_id, []).append(metric)
    read = ["case_id", "trial", "bucket", *(metric.column for metric in PARTED)]
    of_case = [dict(list(side.conversations[read].sort_values("trial").groupby("case_id"))) for side in sides]
    rows, pairs = [], Pairs.of(*sides, SUCCESS)
    for case_id, intent, x, y in zip(pairs.cases, pairs.a.intents, pairs.a.means, pairs.b.means, strict=True):
        one, other = (by_case[case_id] for by_case in of_case)
        of_bucket = one["bucket"].dropna().iloc[0]
        if case_id not in differ or bucket not in (None, of_bucket):
            continue
        titles, trials = [metric.title.lower() for metric in differ[case_id]], (_marks(one), _marks(other))
        split = "" if max(map(len, trials)) < 2 else "always" if case_id in always else "in part"
        first = _first_apart(one, other, differ[case_id][0].column)
        rows.append((of_bucket, intent, case_id, x, y, y - x, *trials, split, ", ".join(titles), first))
    rows.sort(key=lambda row: (-abs(row[5]), [*BUCKETS, row[0]].index(row[0])))
    table = framed(rows, "bucket intent case_id a b difference a_trials b_trials split differ trial")
    return table.assign(**about_two(sides))


def _marks(trials: pd.DataFrame) -> str:
    success = trials.loc[trials["bucket"].notna(), "success"]
    return "".join(success.map({True: "+", False: "-"}).fillna("."))


def _first_apart(one: pd.DataFrame, other: pd.DataFrame, column: str) -> int:
    values, others = (dict(side.dropna(subset=column)[["trial", column]].to_numpy(object)) for side in (one, other))
    return next((int(trial) for trial, value in values.items() if value != others.get(trial, value)), 1)


# --- runs of one model that differ in a setting


def effort_table(results: Results) -> pd.DataFrame:
    """Compare each value of a setting with the lowest one of the same model, paired by case.

    The rows are those of `comparison_table` for the planned metrics and cost, where B has the higher value, plus the
    columns of `STEP`. Empty if no two runs differ in one setting only.
    """
    parts, run_ids = [], set(results.conversations["run_id"])
    models = {run.run_id: run.manifest["model"] for run in results.runs}
    for setting, (run_a, value_a), (run_b, value_b) in steps(run.manifest for run in results.runs):
        if {run_a, run_b} <= run_ids:
            entry_a, entry_b = results.entries[run_a], results.entries[run_b]
            table = comparison_table(results, entry_a, entry_b, (*PLANNED, COST))
            step = (models[run_a], setting, entry_a, value_a, entry_b, value_b)
            parts.append(table.assign(**dict(zip(STEP, step, strict=True))))
    return pd.concat(parts, ignore_index=True) if parts else framed([], " ".join([*STEP, "metric", "title"]))


def effort_in_words(table: pd.DataFrame) -> list[str]:
    """Return a sentence per step: what differs, what it costs, and the price of a resolved case."""
    sentences = []
    for (model, setting, _, low, _, high), rows in table.groupby(list(STEP), sort=False):
        row_of = {row["metric"]: row for row in rows.to_dict("records")}
        sure = [_change_in_words(row_of[name]) for name in PLANNED if row_of[name]["word"] == SURE]
        same = all(row_of[name]["difference"] == 0 for name in PLANNED)
        none = EQUAL if same else NOISE
        bought = "; ".join(sure) or f"every planned metric is {none}"
        words = f"{short_name(model)}, {setting} from {low} to {high}: {bought}. {_cost_in_words(row_of[COST])}"
        more, extra = row_of["resolved"]["difference"], row_of[COST]["difference"]
        if row_of["resolved"]["word"] == SURE and more > 0 and extra > 0:
            words += f" Each further case resolved costs {usd(extra / more)}, at the mean cost of all conversations."
        sentences.append(words)
    return sentences


def _change_in_words(row: Row) -> str:
    scale, cases = METRICS[row["metric"]].scale, counted(int(row["cases"]), "case")
    return f"{row['title'].lower()} {scale.mean(row['a'])} to {scale.mean(row['b'])} ({cases})"


def _cost_in_words(row: Row) -> str:
    a, b, more, low, high = (usd(1000 * row[name], 2) for name in ("a", "b", "difference", "low", "high"))
    if row["difference"] != row["difference"]:
        return "What it costs is not known: a price or a count of tokens is missing."
    ends = f" (95% {low} to {high})" if row["low"] == row["low"] else ""
    return f"1,000 conversations cost {a} and {b}, a difference of {more}{ends}."
