"""The hard set: success by family and clean twins, the cost of the hard part, and failures."""

from collections import Counter
from collections.abc import Iterable, Iterator
from math import nan
from typing import Any

import pandas as pd

from ...cases.played import store_name, store_played
from ...scoring.state import FAILURES
from ...scoring.written import rounded
from ..estimators.comparisons import paired_difference
from ..estimators.estimate import counted
from ..estimators.intervals import clustered_rate
from ..frames import Results
from ..panels import PANELS, conversations_of
from .rows import Row, framed, interval, summarise

HARD, CLEAN, TOLD = "hard", "clean", "told"
ALL = "all families"
"""Row of a model over every family that counts."""
ENGLISH = "en"
SHOWN = 4
"""Number of an entry's weakest families described in words."""
COLUMNS = (
    "family easy trials hard hard_low hard_high hard_n clean clean_low clean_high clean_n "
    "effect effect_low effect_high effect_p effect_n robust robust_n "
    "told told_n told_effect told_effect_low told_effect_high told_effect_p failures"
)
MOST_FAILURES = 3
"""Maximum number of failures of a family named in a cell."""
FEWEST_PAIRS = 5
"""Minimum number of pairs with which an effect has an interval and a p-value."""


def families_of(results: Any) -> dict[str, dict[str, Any]]:
    """Return the families of the hard sets of some runs, from their stores; empty for a frame."""
    stores = {store_name(run.manifest): store_played(run.manifest) for run in getattr(results, "runs", ())}
    return {
        name: family for s in stores.values() if s is not None for name, family in s.info.get("families", {}).items()
    }


def hard_table(results: Results | pd.DataFrame, easy: tuple[str, ...] | None = None) -> pd.DataFrame:
    """Return success by entry and family of a hard set, and of the clean twins.

    Parameters
    ----------
    easy : tuple of str, optional
        Families that a strong player passes nearly always. They have rows but do not count in the row over all. By
        default those marked in the runs' store.

    Returns
    -------
    DataFrame
        One row per entry and family, and one over all families that count: entry, model, source, panel, family, easy,
        trials; ``hard`` and ``clean``, mean success over cases with ``_low``, ``_high`` (beta-binomial, one cluster per
        pair) and ``_n`` (cases); ``effect``, the mean of hard minus clean twin over pairs, with ``_low``, ``_high``
        (t), ``_p`` (sign flips) and ``_n`` (pairs); ``robust``, the share of hard cases right together with their twin,
        and its ``_n``; ``told``, the success with the deciding passages given, and ``told_effect``, told minus hard;
        ``failures``, the most frequent failures with counts. NaN if an arm was not run.
    """
    known = families_of(results)
    easy_ones = [name for name, family in known.items() if family.get("easy")] if easy is None else easy

    def of_entry(group: pd.DataFrame) -> Iterator[Row]:
        group = of_hard_sets(group)
        parts = {family: group[group["family"] == family] for family in family_order(group, known)}
        if any(family not in easy_ones for family in parts):
            parts[ALL] = group[~group["family"].isin(easy_ones)]
        for family, part in parts.items():
            yield {"family": family, "easy": family in easy_ones, **_numbers(part)}

    table = summarise(results, of_entry, COLUMNS, "entry model source panel")
    return table.sort_values(["entry", "source"], kind="stable", ignore_index=True)


def of_hard_sets(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return the scored conversations on cases of a hard set."""
    frame = conversations_of(results)
    return frame[frame["family"].notna() & frame["success"].notna()]


def _numbers(group: pd.DataFrame) -> Row:
    values = {arm: _by_case(group, arm) for arm in (HARD, CLEAN, TOLD)}
    row: Row = {"trials": int(group["trial"].nunique())}
    for arm in (HARD, CLEAN):
        rate = clustered_rate(values[arm]["value"], values[arm]["pair"], trials=row["trials"])
        row |= {**interval(rate, arm, f"{arm}_"), f"{arm}_n": rate.n}
    hard, clean = _matched(values[HARD], values[CLEAN])
    both = hard["value"] * clean["value"]
    row |= _effect("effect", hard, clean) | {"effect_n": len(both), "robust": both.mean(), "robust_n": len(both)}
    row |= {"told": values[TOLD]["value"].mean(), "told_n": len(values[TOLD])}
    row |= _effect("told_effect", *_matched(values[TOLD], values[HARD]))
    return row | {"failures": _in_counts(group[group["arm"] == HARD])}


def _effect(name: str, first: pd.DataFrame, second: pd.DataFrame) -> dict[str, float]:
    """Return the mean difference over pairs; no interval with fewer pairs than `FEWEST_PAIRS`."""
    effect = paired_difference(first["value"], second["value"], clusters=first["pair"])
    known = len(first) >= FEWEST_PAIRS
    low, high = (effect.low, effect.high) if known else (nan, nan)
    return {name: effect.estimate, f"{name}_low": low, f"{name}_high": high, f"{name}_p": effect.p if known else nan}


def _by_case(group: pd.DataFrame, arm: str) -> pd.DataFrame:
    rows = group[group["arm"] == arm]
    value = rows["success"].astype("float64").groupby(rows["case_id"]).mean()
    pair = rows.groupby("case_id")["pair"].first()
    return value.to_frame("value").join(pair)


def _matched(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the cases with a partner in the second arm, and their partners in the same order."""
    partner = second.groupby("pair")["value"].mean()
    kept = first[first["pair"].isin(partner.index)]
    return kept, kept.assign(value=kept["pair"].map(partner).astype(float))


def _failures(group: pd.DataFrame) -> Counter[str]:
    return Counter(name for names in group["failures"].fillna("") for name in names.split(", ") if name)


def _in_counts(group: pd.DataFrame) -> str:
    counts = _failures(group)
    ordered = sorted(counts, key=lambda name: (-counts[name], [*FAILURES, name].index(name)))
    most = ", ".join(f"{name.replace('_', ' ')} {counts[name]}" for name in ordered[:MOST_FAILURES])
    more = f" and {len(ordered) - MOST_FAILURES} more" if len(ordered) > MOST_FAILURES else ""
    return f"{most}{more} (of {len(group)})" if ordered else ""


def hard_failures(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count the conversations with each failure in the hard arm.

    Returns
    -------
    DataFrame
        One row per entry, family and failure: entry, source, family, failure, meaning, conversations, of.
    """
    frame, rows = of_hard_sets(results), []
    for key, group in frame[frame["arm"] == HARD].groupby(["entry", "source", "family"], sort=True):
        for name, count in _failures(group).most_common():
            rows.append((*key, name, FAILURES.get(name, name), count, len(group)))
    return framed(rows, "entry source family failure meaning conversations of")


def language_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return the cost of languages other than English: success less that of the English twins.

    Returns
    -------
    DataFrame
        One row per entry and language (including ``broken English``): entry, source, language, success, cases, gap,
        gap_low, gap_high, p.
    """
    frame = of_hard_sets(results)
    frame = frame[frame["family"] == "languages"]
    rows = []
    for (entry, source), group in frame.groupby(["entry", "source"], sort=True):
        clean = _by_case(group, CLEAN)
        spoken = group["language"].where(group["language"] != ENGLISH, "broken English")
        for language, part in group[group["arm"] == HARD].groupby(spoken, sort=True):
            values = _by_case(part, HARD)
            spoken_values, english = _matched(values, clean)
            gap = paired_difference(spoken_values["value"], english["value"], clusters=spoken_values["pair"])
            cost = (gap.estimate, gap.low, gap.high, gap.p)
            rows.append((entry, source, language, values["value"].mean(), len(values), *cost))
    return framed(rows, "entry source language success cases gap gap_low gap_high p")


def hard_in_words(table: pd.DataFrame, entry: str) -> list[str]:
    """Return sentences with counts for an entry of `hard_table`: overall and weakest families."""
    rows = table[table["entry"] == entry]
    whole = rows[rows["family"] == ALL].to_dict("records")
    if not whole:
        return ["No case of a hard set was run and scored."]
    row = whole[0]
    twins = f"of the clean twins in {_of(row, CLEAN)}" if row[f"{CLEAN}_n"] else "no clean twin was run"
    easy = int(rows.loc[(rows["family"] != ALL) & rows["easy"].astype(bool), f"{HARD}_n"].sum())
    apart = f" ({easy} more, of families marked easy, are not counted)" if easy else ""
    sentences = [f"Right in {_of(row, HARD)} of the hard set{apart}; {twins}."]
    if row["robust_n"]:
        both = round(row["robust"] * row["robust_n"])
        sentences.append(f"Right in a hard case and in its twin: {both} of {counted(int(row['robust_n']), 'pair')}.")
    weak = rows[(rows["family"] != ALL) & (rows["hard_n"] > 0) & (rows["hard"] < 1)].sort_values(["hard", "family"])
    for family in weak.head(SHOWN).to_dict("records"):
        name = family["family"].replace("_", " ")
        sentences.append(f"{name.capitalize()}: right in {_of(family, HARD)}. What went wrong: {family['failures']}.")
    return sentences


def _of(row: dict[str, Any], arm: str) -> str:
    """Return a share as a count of averaged trials: ``31 of 56 cases``."""
    cases = int(row[f"{arm}_n"])
    right = rounded(row[arm] * cases, 0 if row["trials"] == 1 else 1)
    return f"{right} of {counted(cases, 'case')}" if cases else "none run"


def most_telling(table: pd.DataFrame) -> str | None:
    """Choose the entry to look at first: by panel (models first), then by number of cases."""
    whole = table[table["family"] == ALL]
    if whole.empty:
        return None
    panels = list(PANELS)
    best = min(whole.to_dict("records"), key=lambda r: (panels.index(r["panel"]), -r["hard_n"], r["entry"]))
    return str(best["entry"])


def family_order(frame: pd.DataFrame, known: Iterable[str] = ()) -> list[str]:
    """Sort families: known ones in their order, then by name, then the row over all."""
    families = set(frame["family"]) - {ALL}
    first = [name for name in known if name in families]
    return [*first, *sorted(families - set(first)), *([ALL] if ALL in set(frame["family"]) else [])]
