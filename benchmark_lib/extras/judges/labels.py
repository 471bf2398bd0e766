"""People's labels: agreement among them, with record and judges; corrected judged means."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from itertools import combinations, product
from typing import TYPE_CHECKING

from ...analysis.cell import ITEM, Row, fields, grouped, interval
from ...analysis.estimators.agreement import judge_correction
from ...analysis.estimators.estimate import sentence
from ...analysis.facets import QUESTIONS, is_yes_or_no
from ...errors import BadInput
from ...project import in_project
from ...scoring.written import counted
from ...textfiles import read_text
from .judging import TEXTS
from .tables import CUT, crossed, newest

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ...analysis.frames import Results

LABEL_COLUMNS = (*ITEM, "scorer", "label")
RECORD, UNNAMED = "the record", "unnamed"
WRONG_TRIAL = "the trial {trial!r} is not a whole number: correct it"
WRONG_LABEL = "the label {label!r} is not a number from 0 to 100, the judges' scale: correct it"
TWICE = "a second label for the same conversation and scorer: keep one"
COLUMNS = (
    "first second n both_yes only_first only_second both_no raw raw_low raw_high kappa kappa_low kappa_high ac1 "
    "ac1_low ac1_high reason"
)


def label_agreement_table(labels: pd.DataFrame, results: Results | None = None, *, cut: float = CUT) -> pd.DataFrame:
    """Return the agreement of any two that answered a question about the same conversations.

    Parameters
    ----------
    labels : DataFrame
        As `reports.read_labels` returns them, or several such frames concatenated.
    results : Results, optional
        The runs that were labelled: every labeller is then compared with the record and with judges.
    cut : float
        Labels and scores of at least this, on the judges' scale, count as a yes.

    Returns
    -------
    DataFrame
        One row per question and pair: scorer, first, second, n (conversations both answered), both_yes, only_first (a
        yes from the first alone), only_second, both_no, raw agreement, Cohen's kappa and Gwet's AC1, each with its 95%
        interval, reason. The intervals assume that conversations are independent.
    """
    missing = [c for c in (*ITEM, "scorer", "label", "labeller") if c not in labels]
    if missing:
        raise BadInput(f"the labels lack the column {missing[0]}: pass the result of `reports.read_labels`")
    people = labels.dropna(subset=["label"])
    people = people.assign(rater=people["labeller"].replace("", UNNAMED))

    def of_question(group: pd.DataFrame) -> Iterator[Row]:
        scorer = str(group["scorer"].iloc[0])
        last = group.drop_duplicates([*ITEM, "rater"], keep="last")
        said = last.assign(yes=last["label"] >= (1 if is_yes_or_no(scorer) else cut))
        answers = said.pivot(index=ITEM, columns="rater", values="yes")
        names, others = sorted(answers), _answers_on_file(scorer, results, cut) if results is not None else {}
        answers = answers.assign(**{name: column.reindex(answers.index) for name, column in others.items()})
        for pair in [*combinations(names, 2), *product(names, others)]:
            both = answers[list(pair)].dropna().astype(bool)
            if len(both):
                found, cells = crossed(both[pair[0]], both[pair[1]], "both_yes only_first only_second both_no")
                row = {"first": pair[0], "second": pair[1], "n": found.n, **cells, **found.columns()}
                yield row | fields(found, "raw raw_low raw_high reason")

    return grouped(people, of_question, COLUMNS, "scorer", sort=True)


def _answers_on_file(scorer: str, results: Results, cut: float) -> dict[str, pd.Series]:
    """Return the answers of the record, or of each judge, by conversation."""
    import pandas as pd

    if scorer in QUESTIONS:
        frame = results.conversations
        answers = pd.Series(QUESTIONS[scorer].answers(frame), index=pd.MultiIndex.from_frame(frame[ITEM]))
        return {RECORD: answers.dropna() == 1}
    scores = newest(results)
    scores = scores[(scores["scorer"] == scorer) & scores["score"].notna()]
    return {str(judge): rows.set_index(ITEM)["score"] >= cut for judge, rows in scores.groupby("judge", sort=True)}


def judge_calibrated(
    results: Results | pd.DataFrame, labels: str | Path | pd.DataFrame, *, cut: float | None = None
) -> pd.DataFrame:
    """Return judged means, corrected with people's labels for a random subset of conversations.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their verdicts.
    labels : path or DataFrame
        A CSV file with the columns run_id, case_id, trial, scorer and label (0 to 100, the judges' scale).
    cut : float, optional
        Score from which verdicts and labels count as a pass: the means are then shares.

    Returns
    -------
    DataFrame
        entry, judge, scorer, judged (mean of the verdicts alone), corrected with low and high, bias (judge - people, on
        what both scored), labels, n, weight (of the verdicts; 0: labels alone), method, reason.

    Notes
    -----
    The correction is `estimators.judge_correction`. The labelled conversations must be a random subset of all.
    """
    given, key = read_labels(labels), [*ITEM, "scorer"]
    frame = newest(results).merge(given, on=key, how="left")
    lost = len(given) - len(frame.dropna(subset=["label"]).drop_duplicates(key))
    if len(given) and lost == len(given):
        raise BadInput(
            "none of the labels belongs to a judged conversation: compare run_id, case_id, trial and scorer "
            "with results.verdicts"
        )
    unjudged = f"{counted(lost, 'label')} without a judged conversation" if lost else ""

    def of_scorer(rows: pd.DataFrame) -> Row:
        scores, people = rows["score"], rows["label"]
        if cut is not None:
            scores, people = ((v >= cut).astype(float).where(v.notna()) for v in (scores, people))
        share = judge_correction(scores, people)
        row = {**interval(share, "corrected"), "bias": float((scores - people).mean())}
        return row | fields(share, "judged labels n weight method") | {"reason": sentence(share.reason, unjudged)}

    columns = "judged corrected low high bias labels n weight method reason"
    return grouped(frame, of_scorer, columns, "entry judge scorer")


def read_labels(labels: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return people's labels, checked; several labellers' labels for one score are averaged.

    Raises
    ------
    BadInput
        For a file that cannot be read, a missing column, a label off the scale, or one person's two labels for a score.
    """
    import pandas as pd

    if isinstance(labels, pd.DataFrame):
        where, frame = "the labels", labels
    else:
        where, text = str(labels), read_text(in_project(labels))
        try:
            frame = pd.read_csv(StringIO(text), dtype=dict.fromkeys(("run_id", "case_id", "scorer"), "str"))
        except ValueError as error:
            why, need = " ".join(str(error).split()), ", ".join(LABEL_COLUMNS)
            raise BadInput(TEXTS["no csv"].format(where=where, why=why, need=need)) from None
    missing = [c for c in LABEL_COLUMNS if c not in frame.columns]
    if missing:
        raise BadInput(f"{where} lacks the column {missing[0]}: it needs {', '.join(LABEL_COLUMNS)}")
    given, trials = frame["label"], pd.to_numeric(frame["trial"], errors="coerce")
    answers = given.astype("str").str.casefold().map({"true": 100.0, "false": 0.0})  # on the judges' scale
    numbers = answers.fillna(pd.to_numeric(given, errors="coerce"))
    key = [*ITEM, "scorer", *(["labeller"] if "labeller" in frame else [])]
    for wrong, why in (
        (~(trials.between(0, 10**9) & (trials % 1 == 0)), WRONG_TRIAL),
        (given.notna() & ~numbers.between(0, 100), WRONG_LABEL),
        (given.notna() & frame[given.notna()].duplicated(key).reindex(frame.index, fill_value=False), TWICE),
    ):
        if wrong.any():
            number = list(wrong).index(True)
            row = frame.iloc[number]
            trial, label = str(row["trial"])[:40], row["label"]
            raise BadInput(f"{where}, row {frame.index[number] + 2}: {why.format(trial=trial, label=label)}")
    if len(numbers.dropna()) and set(numbers.dropna()) <= {0.0, 1.0}:
        raise BadInput(TEXTS["only 0 and 1"].format(where=where))
    kept = frame.assign(label=numbers).dropna(subset=["label"])
    return kept.groupby([*ITEM, "scorer"], as_index=False, sort=False)["label"].mean()
