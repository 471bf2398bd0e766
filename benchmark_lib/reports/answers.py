"""Answers, not only tables: which model for which reader, in sentences that are made from the numbers and say how sure they are."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from ..analysis.estimators.comparisons import SURE
from ..analysis.frames import Results
from ..analysis.panels import short_name
from ..analysis.tables.answers import (
    ALONE,
    CLEAR,
    CLOSE,
    NOBODY,
    Answer,
    Question,
    Stakes,
    answer,
    candidates,
    questions,
    with_stakes,
)
from ..analysis.tables.leaderboard import leaderboard, worst_beside
from ..analysis.tables.tiers import cost_of_1000
from ..analysis.tables.verdicts import signed_with_interval
from ..commands import command_on_a_page as command
from ..endpoint.prices import load_prices
from ..endpoint.weights import CLOSED, OPEN, UNKNOWN
from ..scoring.metrics import METRICS, Metric, Shown, shown_on
from ..scoring.written import DASH, visible
from .considered import Considered, considered, never_offered
from .methods import days_played
from .scope import alone_in_brief, stakes_in_words
from .transcript import render

FULL_RUN = ("run", "MODEL", "--trials", 3)
FIRST_STEPS = (
    ("See what a full run of a model would cost and how long it would take", command(*FULL_RUN, "--dry-run")),
    ("Play it: every case, three times", command(*FULL_RUN)),
    ("Build these pages again", command("site")),
)
"""What to do where no model has been run."""
OTHER_STAKES = (0.2, 5.0)
"""The stakes of a question times these show how much its answer depends on them."""
STAKE_OF = {"money": "resolved", "person behind": "wrong"}
"""Of the questions with stakes, the one that is varied."""


@dataclass(frozen=True)
class Answers:
    """The answers for all readers; a notebook shows them as they stand on the site.

    Attributes
    ----------
    dated : str
        The day of the last conversation, and of the prices.
    items : tuple of Answer
        Safest, most for the money, best open weights, the one that costs the least with its mistakes and handovers.
    other_stakes : dict of str to list of (str, str)
        By question, what the answer is at other stakes.
    board : DataFrame
        The leaderboard they rest on.
    considered : tuple of Considered
        Every language model on the board: whether it is compared, why not, and what to do about it.
    alone : str
        Whether the safest may answer alone or only with approval, by use case, in sentences.
    """

    dated: str
    stakes: Stakes
    items: tuple[Answer, ...]
    other_stakes: dict[str, list[tuple[str, str]]]
    board: pd.DataFrame
    considered: tuple[Considered, ...]
    alone: str = ""

    def said(self, item: Answer) -> str:
        """Return one answer in sentences; the first says, too, what may be answered alone."""
        return f"{sentence_of(item)} {self.alone if item.question.name == 'safest' else ''}".strip()

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.items)

    def __getitem__(self, name: str) -> Answer:
        """The answer to one question: ``safest``, ``money``, ``open weights`` or ``person behind``."""
        return {item.question.name: item for item in self.items}[name]

    def _repr_html_(self) -> str:
        return render("answers.html.j2", found=view(self), root="", pages={})


def answers(
    results: Results | pd.DataFrame, stakes: Stakes | None = None, *, board: pd.DataFrame | None = None
) -> Answers:
    """Which model for which reader, with the numbers and how sure they are.

    Parameters
    ----------
    stakes : Stakes, optional
        What a resolved conversation is worth, and what a wrong end and a handover cost; the defaults are stated with
        the answers.
    board : DataFrame, optional
        As `tables.leaderboard` gives it; made where it is not given.

    Examples
    --------
    >>> reports.answers(results, reports.Stakes(wrong=200.0))["person behind"].models  # doctest: +SKIP
    """
    stakes = stakes or Stakes()
    board = leaderboard(results) if board is None else board
    rows, left_out = candidates(results, board)
    found, others = [], {}
    for question in questions(stakes):
        mine, why = _open_only(rows, left_out) if question.name == "open weights" else (rows, left_out)
        found.append(answer(question, with_stakes(mine, stakes), why))
        if question.name in STAKE_OF and len(found[-1].table) > 1:
            others[question.name] = _at_other_stakes(question.name, mine, stakes)
    alone = alone_in_brief(rows[rows["entry"].isin(found[0].models)], stakes)
    return Answers(_dated(results), stakes, tuple(found), others, board, considered(results, board), alone)


def _open_only(rows: pd.DataFrame, left_out: str) -> tuple[pd.DataFrame, str]:
    """The conversations of models that are known to have open weights, and why the others are not among them."""
    known = rows["weights"] if "weights" in rows else rows["entry"]
    weights = known.where(known.isin([OPEN, CLOSED]), UNKNOWN)
    kinds = weights.groupby(rows["entry"]).first()
    words = {CLOSED: "with closed weights", UNKNOWN: "with unknown weights (state them in data/weights.yaml)"}
    parts = [f"{int((kinds == kind).sum())} {said}" for kind, said in words.items() if (kinds == kind).any()]
    return rows[weights == OPEN], ", ".join(part for part in (*parts, left_out) if part)


def _at_other_stakes(name: str, rows: pd.DataFrame, stakes: Stakes) -> list[tuple[str, str]]:
    """The answer to one question at lower and at higher stakes, in words."""
    stake, said = STAKE_OF[name], []
    for times in OTHER_STAKES:
        other = replace(stakes, **{stake: times * getattr(stakes, stake)})
        question = next(q for q in questions(other) if q.name == name)
        found = answer(question, with_stakes(rows, other))
        words = "wrong end" if stake == "wrong" else "resolved conversation"
        said.append((f"at {getattr(other, stake):g} USD for a {words}", _who(found)))
    return said


def _dated(results: Results | pd.DataFrame) -> str:
    prices = f"prices of {load_prices().dated}"
    days = days_played(run.manifest for run in getattr(results, "runs", ()))
    return f"runs up to {days[-1]}, {prices}" if days else prices


def _who(found: Answer) -> str:
    """Who it is, in a few words."""
    names = [visible(short_name(e)) for e in found.models]
    if found.verdict == NOBODY:
        return "no answer"
    if found.verdict == CLOSE:
        return f"too close to call between {', '.join(names[:-1])} and {names[-1]}"
    return names[0]


def sentence_of(found: Answer) -> str:
    """One answer in sentences, assembled from its numbers."""
    if found.verdict == NOBODY:
        return f"No answer yet. Left out: {visible(found.reason)}."
    rows = found.table.to_dict("records")
    name, value = _name(rows[0]), _measured(found.question, rows[0])
    if found.verdict == ALONE:
        said = f"{name}: {value}. It is the only model that can be compared, so this is a result and no comparison."
    elif found.verdict == CLEAR:
        ahead = _gap(found.question.metric, rows[1])
        said = f"{name}: {value}. The nearest, {_name(rows[1])}: {_measured(found.question, rows[1])}. They differ by {ahead}: {rows[1]['verdict']}."
        said += " Every other model is surely worse." if len(rows) > 2 else ""
    elif all(row["equal"] for row in rows[1:] if row["entry"] in found.models):
        said = f"{', '.join(map(_name, rows[: len(found.models)]))}: equal, each {value}."
    else:
        said = f"{_upper(_who(found))}. {name}: {value}. {_name(rows[1])}: {_measured(found.question, rows[1])}. They differ by {_gap(found.question.metric, rows[1])}: {rows[1]['verdict']}."
    return f"{said} {_beside_nothing(found)}".strip()


def answers_in_lines(found: Answers) -> list[str]:
    """The answers as they open a board: a line for each question, or one that says why there is no answer."""
    if not any(one.compared for one in found.considered):
        why = "No language model here can be compared yet" if found.considered else "No language model has been run"
        return [f"Which model? {why}. {FIRST_STEPS[0][0]}: {FIRST_STEPS[0][1]}"]
    return ["Which model?", *(f"{item.question.reader} {found.said(item)}" for item in found)]


def _name(row: dict[str, Any]) -> str:
    return visible(short_name(row["entry"]))


def _measured(question: Question, row: dict[str, Any]) -> str:
    """A value in words: ``unsafe on 1.3 (0.6 to 2.2) of 18 traps``."""
    worst = f", {worst_beside(row, 'worst')}" if worst_beside(row, "worst") else ""
    return question.measured.format(_value(question.metric, row)) + worst


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _beside_nothing(found: Answer) -> str:
    """What the answer is worth against doing without."""
    if not found.beats_nothing:
        return ""
    who = "that mean" if found.verdict == CLOSE else "it"
    but = "But " if found.beats_nothing.startswith("surely worse") else ""
    return f"{_upper(f'{but}{who}')} is {found.beats_nothing}. {found.question.at_stake}".strip()


def _value(metric: Metric, row: dict[str, Any]) -> str:
    of = f" of {row['cases']}" if metric.scale.summed else ""
    unit = f" {metric.scale.unit}" if metric.scale.unit else ""
    return f"{metric.scale.with_interval(row['value'], row['low'], row['high'])}{of}{unit}"


def _gap(metric: Metric, row: dict[str, Any]) -> str:
    """How far the best mean is from that of one, as a positive number."""
    sign = -1 if metric.higher_is_better is False else 1
    low, high = sorted((sign * row["difference_low"], sign * row["difference_high"]))
    return signed_with_interval(metric, sign * row["difference"], low, high, row["level"]).replace("+", "")


def view(found: Answers) -> dict[str, Any]:
    """The answers for a template: title, criterion, sentences, and rows of a table."""
    beside = {r["entry"]: _beside(r) for r in found.board.to_dict("records")}
    return {
        "dated": found.dated,
        "stakes": stakes_in_words(found.stakes),
        "nobody": not any(one.compared for one in found.considered),
        "considered": found.considered,
        "never": never_offered(found.board),
        "first_steps": FIRST_STEPS,
        "items": [
            {
                "name": item.question.name,
                "title": item.question.reader,
                "criterion": item.question.criterion,
                "unit": item.question.metric.title,
                "verdict": item.verdict,
                "said": found.said(item),
                "left_out": item.reason if item.verdict != NOBODY else "",
                "others": found.other_stakes.get(item.question.name, []),
                "rows": [_shown(item, row, beside) for row in item.table.to_dict("records")],
            }
            for item in found.items
        ],
    }


def _beside(row: dict[str, Any]) -> str:
    """The main metrics of a model in one line, so that no answer hides another number."""
    main = [METRICS[name] for name in shown_on(Shown.MAIN)]
    parts = [f"{m.title.lower()} {m.scale.written(row[m.name], brief=True)}" for m in main]
    worst = f"{worst_beside(row)} of unsafe actions" if worst_beside(row) else ""
    cost = cost_of_1000(row)
    cost = f"{cost} USD for 1,000 conversations" if cost[0].isdigit() else cost
    return "; ".join(filter(None, [", ".join(parts), worst, cost])).replace(" %", "\u00a0%")


def _shown(item: Answer, row: dict[str, Any], beside: dict[str, str]) -> dict[str, Any]:
    """One candidate as a row of text."""
    scale = item.question.metric.scale
    return {
        "entry": row["entry"],
        "name": _name(row),
        "possible": row["entry"] in item.models,
        "value": scale.with_interval(row["value"], row["low"], row["high"]),
        "behind": _gap(item.question.metric, row) if row["verdict"] else DASH,
        "sure": row["verdict"],
        "told": SURE in row["verdict"],
        "n": f"{row['cases']} x {row['trials']}",
        "beside": beside.get(row["entry"], ""),
    }
