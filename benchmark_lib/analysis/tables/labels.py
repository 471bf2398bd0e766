"""Do people who labelled the same conversations agree, with each other and with what the record and the judges say?"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ..estimators.agreement import agreement, agreement_table
from ..questions import QUESTIONS, is_yes_or_no
from .judges import CUT, ITEM, newest
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

RECORD, UNNAMED = "the record", "unnamed"
COLUMNS = (
    "scorer first second n both_yes only_first only_second both_no raw raw_low raw_high kappa kappa_low kappa_high "
    "ac1 ac1_low ac1_high reason"
)


def label_agreement_table(labels: pd.DataFrame, results: Results | None = None, *, cut: float = CUT) -> pd.DataFrame:
    """How well any two who answered the same question on the same conversations agree.

    Parameters
    ----------
    labels : DataFrame
        As `reports.read_labels` gives it, or several such frames concatenated.
    results : Results, optional
        The runs that were labelled; what the record answers, and what judges answered, is then held against every
        labeller.
    cut : float
        Labels and scores from here up, on the judges' scale, count as a yes.

    Returns
    -------
    DataFrame
        One row per question and pair: scorer, first, second, n (conversations both answered), both_yes, only_first (a
        yes of the first alone), only_second, both_no, raw agreement, Cohen's kappa and Gwet's AC1, each with its 95 %
        interval, reason. The intervals take the conversations as independent of each other.
    """
    missing = [c for c in (*ITEM, "scorer", "label", "labeller") if c not in labels]
    if missing:
        raise BadInput(f"the labels lack the column {missing[0]}: give what `reports.read_labels` reads")
    people = labels.dropna(subset=["label"])
    people = people.assign(rater=people["labeller"].replace("", UNNAMED))
    rows = []
    for scorer, mine in people.groupby("scorer", sort=True):
        said = mine.assign(yes=mine["label"] >= (1 if is_yes_or_no(str(scorer)) else cut)).drop_duplicates(
            [*ITEM, "rater"], keep="last"
        )
        answers = said.pivot(index=ITEM, columns="rater", values="yes")
        names = sorted(answers)
        others = _answers_on_file(str(scorer), results, cut) if results is not None else {}
        pairs = [*combinations(names, 2), *((name, other) for name in names for other in others)]
        answers = answers.assign(**{name: found.reindex(answers.index) for name, found in others.items()})
        rows += [_row(str(scorer), pair, answers) for pair in pairs]
    return framed([row for row in rows if row["n"]], COLUMNS)


def _answers_on_file(scorer: str, results: Results, cut: float) -> dict[str, pd.Series]:
    """What the record, or each judge, answers; by conversation."""
    import pandas as pd

    if scorer in QUESTIONS:
        frame = results.conversations
        answers = pd.Series(QUESTIONS[scorer].answers(frame), index=pd.MultiIndex.from_frame(frame[ITEM]))
        return {RECORD: answers.dropna() == 1}
    scores = newest(results)
    scores = scores[(scores["scorer"] == scorer) & scores["score"].notna()]
    return {str(judge): mine.set_index(ITEM)["score"] >= cut for judge, mine in scores.groupby("judge", sort=True)}


def _row(scorer: str, pair: tuple[str, str], answers: pd.DataFrame) -> dict[str, Any]:
    both = answers[list(pair)].dropna()
    first, second = (both[name].astype(bool) for name in pair)
    found = agreement(agreement_table(first, second, [True, False]))
    cells = found.table.astype(int)
    return {
        "scorer": scorer,
        "first": pair[0],
        "second": pair[1],
        "n": found.n,
        "both_yes": cells[0, 0],
        "only_first": cells[0, 1],
        "only_second": cells[1, 0],
        "both_no": cells[1, 1],
        "raw": found.raw,
        "raw_low": found.raw_low,
        "raw_high": found.raw_high,
        **found.columns(),
        "reason": found.reason,
    }
