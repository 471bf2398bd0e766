"""What judges said, in tables.

Means next to what the record says, the agreement of two judges, and corrections from human labels.
"""

from __future__ import annotations

from io import StringIO
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...experiment.judging import same_model
from ...project import in_project
from ...textfiles import read_text
from ..estimators.agreement import agreement, agreement_table, judge_correction
from ..estimators.comparisons import paired_difference
from ..estimators.estimate import counted, sentence
from ..estimators.intervals import clustered_mean, clusters_or_cases
from .rows import framed, interval

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ..frames import Results

CUT = 70.0
"""A score from here up counts as a pass, wherever judged scores are turned into a yes or no."""
FAR_APART = 25.0
"""Two scores this far apart are listed as a disagreement, even if both pass or both fail."""
ITEM = ["run_id", "case_id", "trial"]
LABEL_COLUMNS = (*ITEM, "scorer", "label")


def judge_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Judged means by entry, judge and scorer.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their verdicts; of several verdicts of one judge on one conversation the newest counts.

    Returns
    -------
    DataFrame
        entry, judge, scorer, conversations, scored, unscored, mean, low, high (interval over intents, or over cases
        where there are few intents), judge_is_entrant, own_run (the judge is the judged model), addressed
        (conversations in which somebody speaks to a judge), success_by_record (share, of the same conversations, as it
        is read from the record), rubric, reason.
    """
    frame, entrants = newest(results), set(entrant_judges(results))
    on_file = results.conversations["entry"].value_counts() if hasattr(results, "conversations") else {}
    rows = []
    for (entry, judge, scorer), mine in frame.groupby(["entry", "judge", "scorer"], sort=False):
        by_case = mine.groupby("case_id").agg(score=("score", "mean"), cluster=("cluster", "first"))
        found = clustered_mean(
            by_case["score"], clusters_or_cases(by_case["cluster"], by_case.index), bounds=(0.0, 100.0)
        )
        of = int(on_file.get(entry, len(mine)))
        part = f"{len(mine)} of {of} conversations judged" if len(mine) < of else ""
        row = {"entry": entry, "judge": judge, "scorer": scorer, "conversations": len(mine), **interval(found, "mean")}
        row |= {"scored": int(mine["score"].notna().sum()), "unscored": int(mine["score"].isna().sum())}
        row |= {"judge_is_entrant": judge in entrants, "own_run": bool(mine["entrant"].fillna(False).any())}
        row |= {"addressed": int((mine["addressed"] > 0).sum()), "reason": sentence(found.reason, part)}
        row["success_by_record"] = mine["success"].astype("Float64").astype("float64").mean()
        rows.append(row | {"rubric": ", ".join(sorted(set(mine["rubric"].dropna())))})
    return framed(
        rows,
        "entry judge scorer conversations scored unscored mean low high judge_is_entrant own_run addressed "
        "success_by_record rubric reason",
    )


def entrant_judges(results: Results | pd.DataFrame) -> list[str]:
    """Judges that are also being judged: they must be named wherever their scores are shown."""
    verdicts = _verdicts(results)
    models = set(verdicts["model"]) | (
        set(results.conversations["model"]) if hasattr(results, "conversations") else set()
    )
    return sorted(judge for judge in set(verdicts["judge"]) if any(same_model(judge, entry) for entry in models))


def judge_agreement_table(results: Results | pd.DataFrame, *, cut: float = CUT) -> pd.DataFrame:
    """How well two judges agree on one entry, scorer by scorer, on the conversations that both scored.

    Entries are never pooled: judges that agree on an easy model and part on a hard one would look half agreed on both.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their verdicts.
    cut : float
        Scores from here up count as a pass, for kappa, AC1 and the four counts.

    Returns
    -------
    DataFrame
        entry, judge_a, judge_b, scorer, n, mean_a, mean_b, difference (b - a, with low and high: paired by case), kappa and
        ac1 with their intervals, raw agreement, both_pass, only_a, only_b, neither, far_apart (scores `FAR_APART` or
        more apart), reason.
    """
    import pandas as pd

    rows = [
        {"entry": entry, **_agreement_row(pair, scorer, mine, cut)}
        for pair, scorer, both in _pairs(results)
        for entry, mine in both.groupby("entry", sort=False)
    ]
    if not rows:
        return framed([], "entry judge_a judge_b scorer n difference kappa ac1 reason")
    return pd.DataFrame(rows)


def _agreement_row(pair: tuple[str, str], scorer: str, both: pd.DataFrame, cut: float) -> dict[str, Any]:
    seen = both.dropna(subset=["a", "b"])
    by_case = seen.groupby("case_id")[["a", "b"]].mean()
    difference = paired_difference(by_case["b"], by_case["a"], bounds=(-100.0, 100.0))
    found = agreement(agreement_table(seen["a"] >= cut, seen["b"] >= cut, [True, False]))
    cells = found.table.astype(int)
    return {
        "judge_a": pair[0],
        "judge_b": pair[1],
        "scorer": scorer,
        "n": len(seen),
        "unscored_a": int(both["a"].isna().sum()),
        "unscored_b": int(both["b"].isna().sum()),
        "mean_a": seen["a"].mean(),
        "mean_b": seen["b"].mean(),
        **interval(difference, "difference"),
        **found.columns(),
        "raw": found.raw,
        "both_pass": cells[0, 0],
        "only_a": cells[0, 1],
        "only_b": cells[1, 0],
        "neither": cells[1, 1],
        "far_apart": int(((seen["a"] - seen["b"]).abs() >= FAR_APART).sum()),
        "reason": sentence(difference.reason, found.reason),
    }


def judge_disagreements(results: Results | pd.DataFrame, *, cut: float = CUT, least: float = FAR_APART) -> pd.DataFrame:
    """The conversations two judges see differently: one passes and the other fails it, or their scores lie at least `least` apart.

    Returns
    -------
    DataFrame
        One row per conversation and scorer, the widest gap first: model, run_id, case_id, trial, scorer, gap, and of
        each judge its name, score, quote and reason.
    """
    import pandas as pd

    names = ["judge", "score", "quote", "reason"]
    found = []
    for _, scorer, both in _pairs(results):
        seen = both.dropna(subset=["a", "b"])
        gap = (seen["a"] - seen["b"]).abs()
        found.append(seen.assign(gap=gap, scorer=scorer)[((seen["a"] >= cut) != (seen["b"] >= cut)) | (gap >= least)])
    columns = ["entry", *ITEM, "scorer", "gap", *(f"{n}_a" for n in names), *(f"{n}_b" for n in names)]
    if not found:
        return pd.DataFrame(columns=columns)
    frame = pd.concat(found, ignore_index=True).rename(columns={"a": "score_a", "b": "score_b"})
    return frame.sort_values(
        ["gap", "case_id", "trial", "scorer"], ascending=[False, True, True, True], ignore_index=True
    )[columns]


def judge_calibrated(
    results: Results | pd.DataFrame, labels: str | Path | pd.DataFrame, *, cut: float | None = None
) -> pd.DataFrame:
    """Judged means, corrected by the labels that people gave to a random subset of the conversations.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their verdicts.
    labels : path or DataFrame
        A CSV file with the columns run_id, case_id, trial, scorer and label (0 to 100, the judges' scale).
    cut : float, optional
        Turn both into passed or not at this score: the means are then shares.

    Returns
    -------
    DataFrame
        entry, judge, scorer, judged (mean of the verdicts alone), corrected with low and high, bias (judge - people, on
        what both scored), labels, n, weight (of the verdicts; 0: labels alone), method, reason.

    Notes
    -----
    Under 100 labels, or where nearly all are equal, the labels are used alone; else prediction-powered inference, see
    `estimators.judge_correction`. The labelled conversations have to be a random sample of all.
    """
    given = read_labels(labels)
    frame = newest(results).merge(given, on=[*ITEM, "scorer"], how="left")
    lost = len(given) - len(given.merge(frame[[*ITEM, "scorer"]].drop_duplicates(), on=[*ITEM, "scorer"]))
    if len(given) and lost == len(given):
        raise BadInput(
            "none of the labels belongs to a judged conversation: compare run_id, case_id, trial and scorer with results.verdicts"
        )
    rows = []
    for (entry, judge, scorer), mine in frame.groupby(["entry", "judge", "scorer"], sort=False):
        scores, people = mine["score"], mine["label"]
        if cut is not None:
            scores, people = ((v >= cut).astype(float).where(v.notna()) for v in (scores, people))
        found = judge_correction(scores, people)
        note = f"{counted(lost, 'label')} without a judged conversation" if lost else ""
        row = {"entry": entry, "judge": judge, "scorer": scorer, "judged": found.judged, **interval(found, "corrected")}
        row |= {"bias": float((scores - people).mean()), "labels": found.labels, "n": found.n, "weight": found.weight}
        rows.append(row | {"method": found.method, "reason": sentence(found.reason, note)})
    return framed(rows, "entry judge scorer judged corrected low high bias labels n weight method reason")


def read_labels(labels: str | Path | pd.DataFrame) -> pd.DataFrame:
    """People's labels, checked; where several labelled one score, their mean.

    Raises
    ------
    BadInput
        For a file that cannot be read, a missing column, a label off the scale, or two labels of one score.
    """
    import pandas as pd

    where = "the labels" if isinstance(labels, pd.DataFrame) else str(labels)
    text = "" if isinstance(labels, pd.DataFrame) else read_text(in_project(labels))
    kinds = {"run_id": "str", "case_id": "str", "scorer": "str"}
    try:
        frame = labels if isinstance(labels, pd.DataFrame) else pd.read_csv(StringIO(text), dtype=kinds)
    except ValueError as error:
        raise BadInput(
            f"{where} cannot be read as CSV ({' '.join(str(error).split())}): give a file with the columns {', '.join(LABEL_COLUMNS)}"
        ) from None
    missing = [c for c in LABEL_COLUMNS if c not in frame.columns]
    if missing:
        raise BadInput(f"{where} lacks the column {missing[0]}: it needs {', '.join(LABEL_COLUMNS)}")
    trials = pd.to_numeric(frame["trial"], errors="coerce")
    odd = frame[~(trials.between(0, 10**9) & (trials % 1 == 0))]
    if len(odd):
        trial = str(odd["trial"].iloc[0])[:40]
        raise BadInput(f"{where}, row {odd.index[0] + 2}: the trial {trial!r} is not a whole number: correct it")
    answers = frame["label"].astype("str").str.casefold().map({"true": 100.0, "false": 0.0})  # on the judges' scale
    numbers = answers.fillna(pd.to_numeric(frame["label"], errors="coerce"))
    wrong = frame[frame["label"].notna() & ~numbers.between(0, 100)]
    if len(wrong):
        raise BadInput(
            f"{where}, row {wrong.index[0] + 2}: the label {wrong['label'].iloc[0]!r} is not a number from 0 to 100, the judges' scale: correct it"
        )
    if len(numbers.dropna()) and set(numbers.dropna()) <= {0.0, 1.0}:
        raise BadInput(
            f"{where} holds nothing but 0 and 1: give labels on the judges' scale, 0 and 100 for a no and a yes"
        )
    if "labeller" not in frame:
        frame = frame.assign(labeller="")
    kept = frame.assign(label=numbers)[[*LABEL_COLUMNS, "labeller"]].dropna(subset=["label"])
    twice = kept[kept.duplicated([*ITEM, "scorer", "labeller"])]
    if len(twice):
        raise BadInput(
            f"{where}, row {twice.index[0] + 2}: a second label of the same conversation and scorer: keep one"
        )
    return kept.groupby([*ITEM, "scorer"], as_index=False, sort=False)["label"].mean()


def newest(results: Results | pd.DataFrame) -> pd.DataFrame:
    """The newest verdict of each judge on each conversation and scorer, with the intent and the recorded success where they are known."""
    frame = _verdicts(results).drop_duplicates([*ITEM, "judge", "scorer"], keep="last").reset_index(drop=True)
    if not hasattr(results, "conversations"):
        known = {"success": float("nan"), "cluster": frame["case_id"], "entrant": False, "addressed": 0, "rubric": ""}
        return frame.assign(**{name: value for name, value in known.items() if name not in frame.columns})
    record = results.conversations[[*ITEM, "intent", "success"]].rename(columns={"intent": "cluster"})
    return frame.merge(record, on=ITEM, how="left")


def _verdicts(results: Results | pd.DataFrame) -> pd.DataFrame:
    return results.verdicts if hasattr(results, "verdicts") else results


def _pairs(results: Results | pd.DataFrame) -> Any:
    """Each pair of judges and each scorer, with both scores, quotes and reasons side by side."""
    frame = newest(results)
    for a, b in combinations(sorted(set(frame["judge"])), 2):
        for scorer in dict.fromkeys(frame["scorer"]):
            one, other = (frame[(frame["judge"] == judge) & (frame["scorer"] == scorer)] for judge in (a, b))
            columns = ["entry", *ITEM, "judge", "score", "quote", "reason"]
            both = (
                one[columns]
                .merge(other[columns], on=["entry", *ITEM], suffixes=("_a", "_b"))
                .rename(columns={"score_a": "a", "score_b": "b"})
            )
            if len(both):
                yield (a, b), scorer, both
