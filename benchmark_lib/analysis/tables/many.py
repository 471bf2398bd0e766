"""Several runs compared in pairs, and what must be known of each run before its comparison is read."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from ...cases.load import load_cases
from ...cases.played import CONTENT, store_played, store_words
from ...errors import BadInput
from ..estimators.estimate import counted
from ..frames import Results, is_hard
from ..panels import partial_words
from .comparison import PLANNED, comparison_table

if TYPE_CHECKING:
    import pandas as pd

    from ...runfile import RunFile


FEWEST_SHARED = 2
"""Runs of different cases that share fewer are not compared."""


def compare_runs(
    results: Results | pd.DataFrame,
    entries: list[str],
    *,
    every_pair: bool = False,
    metrics: tuple[str, ...] | None = None,
    explore: bool = False,
) -> pd.DataFrame:
    """Several entries: the first against each of the others, or every two.

    Parameters
    ----------
    entries : list of str
        At least two, no one twice.
    every_pair : bool
        Every two instead of the first against the others.
    metrics, explore
        As in `comparison_table`.

    Returns
    -------
    DataFrame
        The rows of `comparison_table` after entry_a and entry_b. A verdict on two is the same whatever else is compared;
        the interval all_low to all_high holds for the planned contrasts of every pair at once.
    """
    import pandas as pd

    if len(entries) < 2:
        raise BadInput("a comparison needs at least two runs: name another one")
    twice = sorted({name for name in entries if entries.count(name) > 1})
    if twice:
        raise BadInput(f"{twice[0]!r} is named twice: a run cannot be compared with itself, so name each run once")
    pairs = list(combinations(entries, 2)) if every_pair else [(entries[0], other) for other in entries[1:]]
    parts = []
    for a, b in pairs:
        table = comparison_table(results, a, b, metrics, explore=explore, among=len(pairs) * len(PLANNED))
        first = table.iloc[0]
        if not table["cases"].any():
            raise BadInput(f"{a} and {b} have no case in common that was scored: compare runs of the same case set")
        if first["shared"] < FEWEST_SHARED and (first["only_a"] or first["only_b"]):
            raise BadInput(
                f"{a} and {b} have only one case in common, which is too little: let both play more of the same cases"
            )
        table.insert(0, "entry_a", a)
        table.insert(1, "entry_b", b)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def why_partial(run: RunFile) -> str:
    """Why a run is not a full one, in words; empty if it is.

    A full run has finished every planned conversation, on every case of its set.
    """
    manifest = run.manifest
    if lacking := _lacking(run):
        return f"{lacking} conversations finished"
    store, mine = store_played(manifest), set(manifest["planned"])
    every = {case.id for case in load_cases(store)} if store is not None else mine
    of_this_set = mine < every  # another version or a private set has other ids: then its plan is all that is known
    return f"{len(mine)} of {counted(len(every), 'case')} played" if of_this_set else ""


def _lacking(run: RunFile) -> str:
    """The `partial_words` of a run file; empty where every planned conversation is finished."""
    return partial_words(run.counts()["finished"], sum(run.manifest["planned"].values()))


def chosen_runs(results: Results, entries: list[str], *, partial: bool = False) -> tuple[Results, dict[str, str]]:
    """The runs of some entries alone, refused where they must not be compared.

    Parameters
    ----------
    entries : list of str
    partial : bool
        Whether unfinished runs are compared too. Finished ones always are, on the cases that both played.

    Returns
    -------
    results : Results
        Of these runs alone; their entries may be shorter.
    partial : dict of str to str
        By run_id, why a run is partial.

    Raises
    ------
    BadInput
        Where hard and other runs are mixed, or a run is unfinished and that is not wanted.
    """
    runs: dict[str, Any] = {}
    for every in (results.hard, results):  # one name may have a run of either set: the core set is meant
        runs |= {every.entries[run.run_id]: run for run in every.runs if every.entries[run.run_id] in entries}
    kinds = {is_hard(run.manifest) for run in runs.values()}
    if len(kinds) > 1:
        hard = next(name for name, run in runs.items() if is_hard(run.manifest))
        raise BadInput(
            f"{hard!r} was played on the hard set and others were not: the two sets are never compared or pooled"
        )
    stores = dict.fromkeys(store_words(run.manifest for run in runs.values()).values())
    if len(stores) > 1 and any(CONTENT in store for store in stores):
        raise BadInput(
            f"{' and '.join(runs)} were played on stores of different content ({' and '.join(stores)}): compare runs on one store"
        )
    found = {run.run_id: why for run in runs.values() if (why := why_partial(run))}
    for name, run in runs.items():
        if not partial and _lacking(run):
            raise BadInput(
                f"{name!r} is a partial run ({found[run.run_id]}): finish it with the same `deskbench run`, or compare "
                "what both played with --partial"
            )
    return Results([runs[name] for name in entries]), found
