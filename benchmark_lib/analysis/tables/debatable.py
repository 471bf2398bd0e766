"""Unsafe counts with and without acts that an analyst calls debatable.

A label reclassifies an act of a trap if its scorer is ``unsafe`` and its tag `DEBATABLE`. It also needs a labeller and
a reason (the note). The record does not change, and tables always show both counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import BadInput
from ...scoring.metrics import METRICS
from ..estimators.estimate import counted, sentence
from ..panels import conversations_of
from .leaderboard import unsafe_table
from .rows import ITEM, framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

DEBATABLE = "debatable"
"""Tag of a label that calls an act debatable."""
UNSAFE = "unsafe"
"""Scorer of such a label, and column of the act."""
NOTE = (
    "{acts} of {unsafe} called debatable by {labellers}: without {it} {without} unsafe actions in the mean trial, "
    "not {observed}"
)
NUMBERS = ("median", "observed", "these_mean", "these_low", "these_high", "band")


def debatable_acts(results: Results | pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Return the unsafe acts that a named person calls debatable with a reason.

    `labels` is the result of `reports.read_labels`.

    Returns
    -------
    DataFrame
        One row per act and labeller: panel, entry, run_id, case_id, kind, trial, labeller, reason, at. Labels of safe
        conversations, or of conversations not in `results`, have no row.

    Raises
    ------
    BadInput
        If a label has no labeller or no reason.
    """
    missing = [c for c in (*ITEM, "scorer", "tag", "note", "labeller", "at") if c not in labels]
    if missing:
        raise BadInput(f"the labels lack the column {missing[0]}: pass what `reports.read_labels` reads")
    chosen = labels[(labels["scorer"] == UNSAFE) & (labels["tag"].str.strip().str.lower() == DEBATABLE)]
    for row in chosen.to_dict("records"):
        lacking = [words for name, words in (("labeller", "a labeller"), ("note", "a reason")) if not row[name].strip()]
        if lacking:
            raise BadInput(
                f"the label that calls {row['case_id']}, trial {row['trial']} of {row['run_id']} debatable "
                f"lacks {lacking[0]}: "
                "write who says so in labeller and why in note"
            )
    rows = conversations_of(results)
    unsafe = rows.loc[rows["unsafe"].fillna(False).astype(bool), ["panel", "entry", "kind", *ITEM]]
    acts = unsafe.merge(chosen[[*ITEM, "labeller", "note", "at"]].rename(columns={"note": "reason"}), on=ITEM)
    columns = ["panel", "entry", "run_id", "case_id", "kind", "trial", "labeller", "reason", "at"]
    return acts[columns].sort_values(["entry", "case_id", "trial", "labeller"], ignore_index=True)


def without_debatable(results: Results | pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Return the conversations, with debatable acts counted as safe."""
    import pandas as pd

    rows, acts = conversations_of(results), debatable_acts(results, labels)
    keys = pd.MultiIndex.from_frame(rows[ITEM])
    called = keys.isin(pd.MultiIndex.from_frame(acts[ITEM]))
    return rows.assign(unsafe=rows["unsafe"].mask(called, False))


def debatable_table(results: Results | pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Return unsafe actions with and without debatable acts, for entries with such an act.

    Returns
    -------
    DataFrame
        panel, entry, traps, trials, unsafe and debatable (conversations), labellers, and the numbers of `unsafe_table`
        (median, observed, these_mean, these_low, these_high, band) as recorded and with ``_without``.
    """
    rows, acts = conversations_of(results), debatable_acts(results, labels)
    columns = ["panel", "entry", "traps", "trials", "unsafe", "debatable", "labellers", *NUMBERS]
    columns += [f"{name}_without" for name in NUMBERS]
    if acts.empty:
        return framed([], " ".join(columns))
    chosen, keys = rows[rows["entry"].isin(acts["entry"])], ["entry", "source"]
    after = unsafe_table(without_debatable(chosen, labels))[[*keys, *NUMBERS]]
    table = unsafe_table(chosen).merge(after, on=keys, suffixes=("", "_without"))
    table = table.merge(chosen.groupby(keys)["unsafe"].sum().astype(int).reset_index(), on=keys)
    called = acts.drop_duplicates(ITEM)["entry"].value_counts()
    names = acts.groupby("entry")["labeller"].agg(lambda own: ", ".join(sorted(set(own))))
    return table.assign(debatable=table["entry"].map(called), labellers=table["entry"].map(names))[columns]


def noted(board: pd.DataFrame, results: Results | pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Add the unsafe count without debatable acts, and the labellers, to a board's notes.

    `board` is the result of `leaderboard`; the order does not change.
    """
    mean, notes = METRICS["unsafe"].scale.mean, {}
    for row in debatable_table(results, labels).to_dict("records"):
        acts, it = counted(row["debatable"], "unsafe conversation"), "it" if row["debatable"] == 1 else "them"
        counts = {"without": mean(row["observed_without"]), "observed": mean(row["observed"])}
        notes[row["entry"]] = NOTE.format(**row | counts, acts=acts, it=it)
    pairs = zip(board["notes"], board["entry"], strict=True)
    return board.assign(notes=[sentence(note, notes.get(entry, "")) for note, entry in pairs])
