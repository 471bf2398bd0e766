"""Tables of comparisons of two or more entries, and the runs that may be compared."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ...cases.load import load_cases
from ...cases.played import CONTENT, store_played, store_words
from ...errors import BadInput
from ..entries import entry_meant
from ..estimators.estimate import counted
from ..frames import Results, is_hard
from ..panels import conversations_of, partial_words
from .comparison import PLANNED, Comparison, compare_all, not_here, two_sides

if TYPE_CHECKING:
    import pandas as pd

    from ...runfile import RunFile
    from ...scoring.metrics import Metric

FIRST_CHOICE = ("models", "own agents", "players", "imported", "recovery panel", "scripted agents")
"""Panels from which unnamed models are chosen, in order."""
FEWEST_SHARED = 2
"""Runs on different cases that share fewer are not compared."""


def choose_pair(results: Results | pd.DataFrame, a: str | None = None, b: str | None = None) -> tuple[str, str]:
    """Return the two entries to compare: the named ones, otherwise two from one panel.

    Language models come before scripted agents, and agents that sometimes succeed before other scripted agents.
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
    import pandas as pd

    return pd.DataFrame([c.row() for c in comparisons])


def compare_runs(
    results: Results | pd.DataFrame,
    entries: list[str],
    *,
    every_pair: bool = False,
    metrics: tuple[str | Metric, ...] | None = None,
) -> pd.DataFrame:
    """Compare several entries, the first with each other one or every two, as in `compare_all`.

    Returns
    -------
    DataFrame
        The rows of `comparison_table` after entry_a and entry_b. A verdict on two entries does not depend on the
        others. The interval all_low to all_high holds for the planned contrasts of every pair at once.

    Raises
    ------
    BadInput
        If there are fewer than two entries, one is named twice, or two share fewer than two cases.
    """
    return pairs_table(compare_pairs(results, entries, every_pair=every_pair, metrics=metrics))


def pairs_table(pairs: Iterable[list[Comparison]]) -> pd.DataFrame:
    """Return the comparisons of several pairs as the rows of `compare_runs`."""
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
            raise BadInput(
                f"{a} and {b} have only one case in common, which is too few: run both on more of the same cases"
            )
    return parts


def why_partial(run: RunFile) -> str:
    """Return what a run lacks of its planned conversations or its set's cases; may be empty."""
    manifest = run.manifest
    if lacking := _lacking(run):
        return f"{lacking} conversations finished"
    store, planned = store_played(manifest), set(manifest["planned"])
    every = {case.id for case in load_cases(store)} if store is not None else planned
    of_this_set = planned < every  # other versions and private sets have other ids: only their plan is known
    return f"{len(planned)} of {counted(len(every), 'case')} played" if of_this_set else ""


def _lacking(run: RunFile) -> str:
    return partial_words(run.counts()["finished"], sum(run.manifest["planned"].values()))


def chosen_runs(results: Results, entries: list[str], *, partial: bool = False) -> tuple[Results, dict[str, str]]:
    """Return the runs of some entries alone, and by run_id why a run is partial.

    The names of the entries may become shorter. `partial` also accepts unfinished runs.

    Raises
    ------
    BadInput
        If hard and other runs are mixed, or an unfinished run is not accepted.
    """
    runs: dict[str, Any] = {}
    for every in (results.hard, results):  # a name with runs of both sets means the core set
        runs |= {every.entries[run.run_id]: run for run in every.runs if every.entries[run.run_id] in entries}
    kinds = {is_hard(run.manifest) for run in runs.values()}
    if len(kinds) > 1:
        hard = next(name for name, run in runs.items() if is_hard(run.manifest))
        raise BadInput(
            f"{hard!r} was played on the hard set and others were not, and the two sets are never compared: choose one"
        )
    stores = dict.fromkeys(store_words(run.manifest for run in runs.values()).values())
    if len(stores) > 1 and any(CONTENT in store for store in stores):
        raise BadInput(
            f"{' and '.join(runs)} were played on stores of different content ({' and '.join(stores)}): "
            "compare runs on one store"
        )
    lacks = {run.run_id: why for run in runs.values() if (why := why_partial(run))}
    for name, run in runs.items():
        if not partial and _lacking(run):
            raise BadInput(
                f"{name!r} is a partial run ({lacks[run.run_id]}): finish it with the same `deskbench run`, or use "
                "--partial to compare what both played"
            )
    return Results([runs[name] for name in entries]), lacks
