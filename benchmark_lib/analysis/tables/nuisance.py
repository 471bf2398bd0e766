"""Effects on a result besides the model: simulated customer, endpoint changes, wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cases.variants import worded_case
from ...errors import BadInput
from ...scoring.customer_audit import FINDINGS
from ...scoring.customer_turns import CLEAR, MILD, turns_in
from ...scoring.metrics import METRICS, Shown, shown_on
from ...scoring.written import percent
from ..estimators.estimate import Estimate, Headline
from ..estimators.intervals import clustered_rate, proportion_interval
from ..estimators.trials import TrialShift, trial_shift, wording_spread
from ..facets import flags_of
from ..panels import conversations_of, is_wording
from .comparison import Side, compare
from .headlines import headline
from .rows import framed, interval, pair

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

COMPARED = shown_on(Shown.BOARD)
"""Metrics that are compared by default."""
ALL, KEPT = "all", "not flagged"
LEVEL = 0.01
"""With this level a board of thirty runs has a false alarm one time in four."""
SHIFTED = (
    "trial {trial} differs: success {own} against {others} in the others (p {p:.2g}); the endpoint may have "
    "changed during the run, and no interval here covers that"
)


def customer_flag_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count how often each customer failed to play its part.

    Returns
    -------
    DataFrame
        entry, customer, conversations, flagged, share with low and high (Wilson), asked_back (conversations in which
        the customer asked what an offer means), asked_share with its interval, findings (text), and one column per
        finding that occurred.
    """
    import pandas as pd

    rows, counts = [], []
    for (entry, customer), group in conversations_of(results).groupby(["entry", "customer"], sort=True):
        flagged = int(flags_of(group).sum())
        texts = group["customer_finding_names"].fillna("").astype(str)
        names = Counter(name for text in texts for name in text.split(", ") if name in FINDINGS)
        row = {"entry": entry, "customer": customer, "conversations": len(group), "flagged": flagged}
        row |= interval(proportion_interval(flagged, len(group)), "share")
        row["asked_back"] = asked = int((group["asked_back"].fillna(0) > 0).sum()) if "asked_back" in group else 0
        row |= interval(proportion_interval(asked, len(group)), "asked_share", "asked_")
        rows.append(row | {"findings": ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in names.most_common())})
        counts.append(names)
    flags = pd.DataFrame(counts, columns=[n for n in FINDINGS if any(n in c for c in counts)]).fillna(0).astype(int)
    return pd.concat([pd.DataFrame(rows), flags], axis=1)


def customer_turns(results: Results) -> pd.DataFrame:
    """Return each judge's newest verdict on each message of a customer after its email.

    Returns
    -------
    DataFrame
        run_id, case_id, trial, entry, customer, judge, turn, verdict (None if unread), quote, reason.
    """
    verdicts = [(run.run_id, row) for run in results.runs for row in run.verdicts()]
    rows = [
        {"run_id": run_id, "record_hash": row["record_hash"], "judge": row["judge"], **turn}
        for run_id, row in verdicts
        for turn in turns_in(row["verdict"])
    ]
    frame = framed(rows, "run_id record_hash judge turn verdict quote reason")
    newest = frame.drop_duplicates(["run_id", "record_hash", "judge", "turn"], keep="last")
    known = results.conversations[["run_id", "case_id", "trial", "entry", "customer", "record_hash"]]
    return known.merge(newest, on=["run_id", "record_hash"]).drop(columns="record_hash")


def customer_turn_table(results: Results) -> pd.DataFrame:
    """Count the customer's messages that, according to a judge, no person would write.

    Returns
    -------
    DataFrame
        entry, customer, judge, messages (read, after the email), unread, clear with share, low and high (interval over
        cases), mild, reason.
    """
    rows = []
    for who, group in customer_turns(results).groupby(["entry", "customer", "judge"], sort=True):
        read = group[group["verdict"].notna()]
        clear, mild = (read["verdict"].eq(verdict) for verdict in (CLEAR, MILD))
        share = clustered_rate(clear.astype(float), list(read["case_id"]))
        numbers = (clear.sum(), share.estimate, share.low, share.high, mild.sum())
        rows.append((*who, len(read), len(group) - len(read), *numbers, share.reason))
    return framed(rows, "entry customer judge messages unread clear share low high mild reason")


def both_forms(conversations: pd.DataFrame, metrics: Iterable[str]) -> Iterator[tuple[Headline, Headline]]:
    """Yield one model's metrics over all conversations, and without flagged customers."""
    flagged = flags_of(conversations)
    kept = conversations[~flagged] if flagged.any() else None
    for metric in metrics:
        every = headline(conversations, metric)
        yield every, every if kept is None else headline(kept, metric)


def with_and_without_flagged(results: Results | pd.DataFrame, metrics: Iterable[str] = COMPARED) -> pd.DataFrame:
    """Return every metric over all conversations, and without flagged customers.

    Returns
    -------
    DataFrame
        entry, customer, metric, title, conversations (``all`` or ``not flagged``), median (over trials), mean, low,
        high (of the mean), n (cases) and reason, as on the board: a count such as unsafe actions is of n.
    """
    rows = []
    for (entry, customer), group in conversations_of(results).groupby(["entry", "customer"], sort=True):
        for name, forms in zip(metrics, both_forms(group, metrics), strict=True):
            for conversations, head in zip((ALL, KEPT), forms, strict=True):
                row = {"entry": entry, "customer": customer, "metric": name, "title": METRICS[name].title}
                row |= {"conversations": conversations, **pair(head), "n": head.n, "reason": head.reason}
                rows.append(row)
    return framed(rows, "entry customer metric title conversations median mean low high n reason")


def customer_sensitivity(results: Results | pd.DataFrame, metrics: Iterable[str] = COMPARED) -> pd.DataFrame:
    """Compare two customers on the same cases of the same model, run by run.

    Returns
    -------
    DataFrame
        model, metric, title, conversations (``all`` or ``not flagged``), entry_a, entry_b, customer_a, customer_b, a, b
        (means over shared cases, trials averaged), difference (b - a), low, high, p (paired by case), cases, reason. A
        count such as unsafe actions is per case.

    Raises
    ------
    BadInput
        If no model was run with two customers.
    """
    rows = []
    for model, group in conversations_of(results).groupby("model", sort=True):
        runs = sorted(set(zip(group["customer"], group["entry"], strict=True)))
        for (one, a), (other, b) in combinations(runs, 2):
            for conversations, kept in ((ALL, group), (KEPT, group[~flags_of(group)])) if one != other else ():
                first, second = (Side(kept[kept["entry"] == entry]) for entry in (a, b))
                for name in metrics:
                    compared = compare(first, second, name)
                    like, pairs = compared.like, compared.pairs
                    means = (pairs.a.mean(), pairs.b.mean()) if compared.cases else (nan, nan)
                    numbers = (*means, like.estimate, like.low, like.high, like.p, compared.cases)
                    who = (model, name, METRICS[name].title, conversations, a, b, one, other)
                    rows.append((*who, *numbers, like.reason))
    if not rows:
        raise BadInput("no model was run with two customers: run it once more with --customer MODEL on the same cases")
    return framed(
        rows,
        "model metric title conversations entry_a entry_b customer_a customer_b a b difference low high p cases reason",
    )


def _shift_of(conversations: pd.DataFrame) -> tuple[TrialShift, Any, str]:
    """Test whether a trial of one entry differs; return the test, the trial, and a sentence."""
    known = conversations[conversations["success"].notna()]
    if known.empty:
        return trial_shift(np.empty((0, 0))), None, ""
    table = known.assign(success=known["success"].astype(float)).pivot_table("success", "case_id", "trial")
    shift = trial_shift(table.to_numpy(), n_resamples=1_999)
    trial = int(table.columns[shift.trial]) if shift.trial >= 0 else None
    values = {"trial": trial, "own": percent(shift.estimate), "others": percent(shift.others), "p": shift.p}
    return shift, trial, SHIFTED.format(**values) if shift.p <= LEVEL else ""


def shift_in_words(conversations: pd.DataFrame) -> str:
    """Return a sentence on the trial of an entry that differs from the others, if any."""
    return _shift_of(conversations)[2]


def shift_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Test every entry for a trial that differs from the others.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, trial (farthest from the others), estimate (its success), others, p, cases,
        finding (a sentence if p is at most 0.01) and reason.
    """
    import pandas as pd

    rows = []
    for who, group in conversations_of(results).groupby(["panel", "entry"], sort=False):
        shift, trial, finding = _shift_of(group)
        numbers = (pd.NA if trial is None else trial, shift.estimate, shift.others, shift.p, shift.n)
        rows.append((*who, *numbers, finding, shift.reason))
    table = framed(rows, "panel entry trial estimate others p cases finding reason")
    return table.sort_values("p", kind="stable", na_position="last", ignore_index=True)


def wording_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Compare the spread over wordings of a case with the spread over trials of a wording.

    Parameters
    ----------
    results : Results or DataFrame
        Runs made with ``deskbench run MODEL --cases wordings``; no other table has these conversations.

    Returns
    -------
    DataFrame
        One row per entry with wordings: panel, entry, cases, wordings, trials (scored conversations), success (share),
        moved (cases of which some wordings always and others never succeed), over_wordings with low and high and
        over_trials with low and high (standard deviations of success, from 0 to 1; intervals over cases), share (of the
        variance within a case that is due to its words), p (test of no effect of words), reason.
    """
    frame, rows = conversations_of(results, variants=True), []
    frame = frame[is_wording(frame["case_id"]) & frame["success"].notna()]
    frame = frame.assign(success=frame["success"].astype(int), tells=frame["case_id"].map(worded_case))
    for who, group in frame.groupby(["panel", "entry"], sort=False):
        cells = group.groupby(["tells", "case_id"])["success"].agg(["sum", "size", "mean"]).reset_index()
        spread, by_case = wording_spread(cells["sum"], cells["size"], cells["tells"]), cells.groupby("tells")["mean"]
        counts = (cells["tells"].nunique(), len(cells), len(group), group["success"].mean())
        moved = int(((by_case.max() == 1) & (by_case.min() == 0)).sum())
        numbers = (*_deviation(spread.wording), *_deviation(spread.trial), spread.share, spread.wording.p)
        rows.append((*who, *counts, moved, *numbers, spread.wording.reason))
    return framed(
        rows,
        "panel entry cases wordings trials success moved over_wordings over_wordings_low over_wordings_high "
        "over_trials over_trials_low over_trials_high share p reason",
    )


def _deviation(variance: Estimate) -> list[float]:
    """Return a variance as a standard deviation with its interval; negative values become 0."""
    ends = (variance.estimate, variance.low, variance.high)
    return [sqrt(max(end, 0.0)) if end == end else nan for end in ends]
