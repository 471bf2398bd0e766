"""How much of a result is due to the simulated customer.

Flagged conversations, metrics with and without them, and one customer against another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...scoring.customer_audit import FINDINGS
from ...scoring.customer_turns import CLEAR, MILD, turns_in
from ...scoring.metrics import METRICS, Shown, shown_on
from ..estimators.estimate import Headline
from ..estimators.intervals import clustered_rate, proportion_interval
from ..facets import flags_of
from ..panels import conversations_of
from .comparison import compare
from .headlines import headline
from .rows import framed, interval, pair

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

COMPARED = shown_on(Shown.BOARD)
"""The metrics that are compared if none are named."""
ALL, KEPT = "all", "not flagged"


def customer_flag_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count how often each customer failed to play its part.

    Returns
    -------
    DataFrame
        entry, customer, conversations, flagged, share with low and high (Wilson), findings in words, and one column per
        finding that was made.
    """
    import pandas as pd

    rows = []
    for (entry, customer), mine in conversations_of(results).groupby(["entry", "customer"], sort=True):
        flagged = int(flags_of(mine).sum())
        share = proportion_interval(flagged, len(mine))
        texts = mine["customer_finding_names"].fillna("").astype(str)
        names = Counter(name for text in texts for name in text.split(", ") if name in FINDINGS)
        rows.append(
            {
                "entry": entry,
                "customer": customer,
                "conversations": len(mine),
                "flagged": flagged,
                **interval(share, "share"),
                "findings": ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in names.most_common()),
                **{name: names[name] for name in FINDINGS if names[name]},
            }
        )
    frame = pd.DataFrame(rows)
    found = [name for name in FINDINGS if name in frame.columns]
    return frame.fillna(dict.fromkeys(found, 0)).astype(dict.fromkeys(found, int))


def customer_turns(results: Results) -> pd.DataFrame:
    """Return what judges wrote of each message of a customer after its email, by the newest verdict of each judge.

    Returns
    -------
    DataFrame
        run_id, case_id, trial, entry, customer, judge, turn, verdict (None where it was not read), quote, reason.
    """
    rows = []
    for run in results.runs:
        for row in run.verdicts():
            who = {name: row[name] for name in ("record_hash", "judge")}
            rows += [{"run_id": run.run_id, **who, **turn} for turn in turns_in(row["verdict"])]
    frame = framed(rows, "run_id record_hash judge turn verdict quote reason")
    newest = frame.drop_duplicates(["run_id", "record_hash", "judge", "turn"], keep="last")
    known = results.conversations[["run_id", "case_id", "trial", "entry", "customer", "record_hash"]]
    return known.merge(newest, on=["run_id", "record_hash"]).drop(columns="record_hash")


def customer_turn_table(results: Results) -> pd.DataFrame:
    """Count how often a judge found that no person would write what the customer wrote (scorer ``customer_turns``).

    Returns
    -------
    DataFrame
        entry, customer, judge, messages (after the email, read), unread (the others), clear with share, low and high
        (interval over cases), mild, reason.
    """
    rows = []
    for (entry, customer, judge), mine in customer_turns(results).groupby(["entry", "customer", "judge"], sort=True):
        read = mine[mine["verdict"].notna()]
        share = clustered_rate(read["verdict"].eq(CLEAR).astype(float), list(read["case_id"]))
        row = {"entry": entry, "customer": customer, "judge": judge, "messages": len(read)}
        row |= {"unread": len(mine) - len(read), **interval(share, "share"), "reason": share.reason}
        rows.append(row | {verdict: int(read["verdict"].eq(verdict).sum()) for verdict in (CLEAR, MILD)})
    return framed(rows, "entry customer judge messages unread clear share low high mild reason")


def with_and_without_flagged(results: Results | pd.DataFrame, metrics: Iterable[str] = COMPARED) -> pd.DataFrame:
    """Return every metric over all conversations, and over those whose customer was not flagged.

    Returns
    -------
    DataFrame
        entry, customer, metric, title, conversations (``all`` or ``not flagged``), median (over trials), mean, low,
        high (of the mean), n (cases) and reason, as on the board: a count such as unsafe actions is out of n.
    """
    import pandas as pd

    rows = []
    for (entry, customer), mine in conversations_of(results).groupby(["entry", "customer"], sort=True):
        for name, forms in zip(metrics, both_forms(mine, metrics), strict=True):
            for conversations, found in zip((ALL, KEPT), forms, strict=True):
                row = {"entry": entry, "customer": customer, "metric": name, "title": METRICS[name].title}
                row |= {"conversations": conversations, **pair(found), "n": found.n, "reason": found.reason}
                rows.append(row)
    return pd.DataFrame(rows)


def customer_sensitivity(results: Results | pd.DataFrame, metrics: Iterable[str] = COMPARED) -> pd.DataFrame:
    """Compare one customer with another on the same cases of the same model, run by run.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their conversations, with at least two customers of one model.

    Returns
    -------
    DataFrame
        model, metric, title, conversations (``all`` or ``not flagged``), entry_a, entry_b, customer_a, customer_b, a, b
        (means over the cases both have, trials averaged), difference (b - a), low, high, p (paired by case), cases,
        reason. A count such as unsafe actions is given per case.

    Raises
    ------
    BadInput
        If no model was run with two customers.
    """
    import pandas as pd

    frame, rows = conversations_of(results), []
    for model, mine in frame.groupby("model", sort=True):
        runs = sorted(set(zip(mine["customer"], mine["entry"], strict=True)))
        for (customer_a, a), (customer_b, b) in combinations(runs, 2):
            if customer_a == customer_b:
                continue
            for conversations, kept in ((ALL, mine), (KEPT, mine[~flags_of(mine)])):
                who = {"conversations": conversations, "entry_a": a, "entry_b": b}
                who |= {"customer_a": customer_a, "customer_b": customer_b}
                for name in metrics:
                    row = {"model": model, "metric": name, "title": METRICS[name].title, **who}
                    rows.append(row | _difference(kept, name, a, b))
    if not rows:
        raise BadInput("no model was run with two customers: run it once more with --customer MODEL on the same cases")
    return pd.DataFrame(rows)


def _difference(conversations: pd.DataFrame, metric: str, a: str, b: str) -> dict[str, Any]:
    of = {entry: conversations[conversations["entry"] == entry] for entry in (a, b)}
    found = compare(of[a], of[b], metric)
    means = {side: float(getattr(found.pairs, side).mean()) if found.cases else nan for side in "ab"}
    like = found.like
    return means | {**interval(like, "difference"), "p": like.p, "cases": found.cases, "reason": like.reason}


def both_forms(conversations: pd.DataFrame, metrics: Iterable[str]) -> Iterator[tuple[Headline, Headline]]:
    """Yield one model's metrics in both forms: over all conversations, and without those whose customer was flagged."""
    flagged = flags_of(conversations)
    kept = conversations[~flagged] if flagged.any() else None
    for metric in metrics:
        every = headline(conversations, metric)
        yield every, every if kept is None else headline(kept, metric)
