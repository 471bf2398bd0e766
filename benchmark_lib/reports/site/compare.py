"""What the comparison page carries.

Every entry's numbers and outcomes, and the verdict on every two, as `analysis.tables.comparison` gives it everywhere.
"""

import re
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ...analysis.counting import behind_median, behind_metric
from ...analysis.estimators.comparisons import ONLY_THESE, SURE
from ...analysis.estimators.estimate import counted, sentence
from ...analysis.query import Query
from ...analysis.tables.apart import mean, outcomes_of
from ...analysis.tables.comparison import (
    PLANNED,
    better_one,
    compare_values,
    judged,
    outcome_in_words,
    played_cases,
    shared_cases,
    show_values,
    shown_means,
)
from ...analysis.tables.headlines import case_matrix
from ...analysis.tables.settings import effort_in_words, effort_table
from ...analysis.tables.verdicts import (
    direction_in_words,
    largest_in_words,
    level_in_words,
    mean_in_words,
    shown_numbers,
    signed,
    what_is_tested,
    why_it_ends_there,
    winner_in_words,
)
from ...scoring.deciding import SUCCESS_STATES
from ...scoring.metrics import METRICS
from .board import settings_beside
from .content import Content
from .conversations import ConversationPage
from .words import mean_with_interval, measured, tight

MOST_ENTRIES = 40
"""With more entries than this, the tests of all pairs are left out."""
TOO_MANY = f"Nothing is tested here, as there are more than {MOST_ENTRIES} entries."

MOST_TRIALS = 64


def comparison(content: Content, talks: list[ConversationPage]) -> dict[str, Any]:
    """The data of the page, as it is embedded."""
    entries = content.played
    place = {id(e): i for i, e in enumerate(entries)}
    cases = list(content.cases.values())
    column = {v.case_id: i for i, v in enumerate(cases)}
    outcomes = [[""] * len(cases) for _ in entries]
    for talk in sorted(talks, key=lambda t: t.trial):
        if 1 <= talk.trial <= MOST_TRIALS:
            row, at = outcomes[place[id(talk.entry)]], column[talk.view.case_id]
            row[at] = row[at].ljust(talk.trial - 1, ".") + talk.state[0]
    metrics = list(METRICS.values())
    most = {m.name: max((n for n in (e.row[f"{m.name}_n"] for e in entries) if n == n), default=0) for m in metrics}
    return {
        "metrics": [
            {"key": m.name, "title": m.title, "better": m.higher_is_better, "direction": direction_in_words(m)}
            | {name: getattr(m.scale, name) for name in ("points", "noun")}
            for m in metrics
        ],
        "cases": [
            {"id": v.case_id, "title": v.title, "bucket": v.bucket, "intent": v.intent, "page": v.page} for v in cases
        ],
        "states": {name[0]: {"sign": sign, "word": word} for name, (sign, word) in SUCCESS_STATES.items()},
        "entries": [
            {
                "name": e.name,
                "settings": settings_beside(e),
                "block": f"partial {e.row['partial']}" if e.row["partial"] else e.block,
                "page": e.page,
                "outcomes": outcomes[i],
                "means": {
                    title: {str(column[case_id]): round(mean(trials), 6) for case_id, trials in of.items()}
                    for title, of in outcomes_of(content.rows(e)).items()
                },
                "values": {m.name: _value(e, m, most[m.name], content.rows(e), column) for m in metrics},
            }
            for i, e in enumerate(entries)
        ],
        "tested": what_is_tested() if len(entries) <= MOST_ENTRIES else TOO_MANY,
        "steps": effort_in_words(effort_table(content.results)),
        **(_tests(content) if len(entries) <= MOST_ENTRIES else {"pairs": {}, "outcomes": {}, "largest": {}}),
    }


def _value(entry: Any, metric: Any, most: float, rows: pd.DataFrame, column: dict[str, int]) -> list[Any]:
    """The value on the board with its mean and interval, and the lists of the conversations that either counts, None for no conversation.

    With the interval stands the number of cases, where another entry has more. Last are the cases with a value, as
    their places in the list of all cases.
    """
    row = entry.row
    value, cases = row[metric.name], row[f"{metric.name}_n"]
    behind, every = (find(rows, metric, **entry.who) for find in (behind_median, behind_metric))
    few = counted(int(cases), metric.scale.noun) if 0 < cases < most else ""
    table, case_ids, _ = case_matrix(rows, metric)
    valued = [column[c] for c, trials in zip(case_ids, table, strict=True) if not np.isnan(trials).all()]
    return [
        measured(value, metric),
        sentence(mean_with_interval(row, metric), few),
        *(Query.of(**found["yes"]).address() if found["k"] else None for found in (behind, every)),
        valued,
    ]


def _tests(content: Content) -> dict[str, Any]:
    """Every two entries, second minus first: `comparison_table` writes the same.

    Returns
    -------
    dict
        outcomes, by pair, is the verdict on the two in words, and largest what differs most of the rest. pairs, by metric and pair, has numbers as text with their
        signs: the difference, empty where no case has values for both, and the means of the two over the cases that
        have; for the planned metrics, which are tested, also the ends of the interval, its confidence, the ends on these
        cases with why one of them is the difference itself, which of the two is shown to be better (0, 1 or None), and the verdict in words.
    """
    outcomes: dict[str, str] = {}
    largest: dict[str, str] = {}
    played = [played_cases(content.rows(entry)) for entry in content.played]
    columns = {name: _columns(content, metric) for name, metric in METRICS.items()}
    found: dict[str, dict[str, list[Any]]] = {name: {} for name in METRICS}
    names = [entry.name for entry in content.played]
    for a, b in combinations(range(len(names)), 2):
        pairs = {name: _pair(columns[name], a, b) for name in METRICS}
        judged_here = judged({name: compare_values(METRICS[name], pairs[name]) for name in PLANNED})
        told_of = {"name_a": names[a], "name_b": names[b], **shared_cases(played[a], played[b])}
        rows = []
        for name, metric in METRICS.items():
            one = judged_here.get(name) or show_values(metric, pairs[name])
            told = {end: _written(metric, value) for end, value in shown_numbers(metric, one).items()}
            means = shown_means(metric, pairs[name])
            found[name][f"{a}-{b}"] = [
                told["difference"],
                *(tight(mean_in_words(metric, mean, one.cases)) for mean in means),
            ]
            better = better_one(metric, one.difference, names[a], names[b])
            rows.append(
                {
                    "metric": name,
                    "title": metric.title,
                    "word": one.word,
                    "cases": one.cases,
                    "better": better,
                    "difference": shown_numbers(metric, one)["difference"],
                    **dict(zip("ab", means)),
                    **told_of,
                }
            )
            if not one.tested:
                continue
            why = one.like.reason if one.cases else "no case with values for both"
            words = winner_in_words(metric, one, names[a], names[b], why)
            found[name][f"{a}-{b}"] += [
                [told["low"], told["high"]],
                tight(level_in_words(1 - one.alpha)),
                [
                    told["these_low"],
                    told["these_high"],
                    why_it_ends_there(metric, one),
                    tight(level_in_words(1 - one.these_alpha)),
                ],
                (names[a], names[b]).index(better) if better and one.word in (SURE, ONLY_THESE) else None,
                tight(words),
            ]
        outcomes[f"{a}-{b}"] = outcome_in_words(rows)
        largest[f"{a}-{b}"] = tight(largest_in_words(rows))
    return {"pairs": found, "outcomes": outcomes, "largest": largest}


def _written(metric: Any, value: float) -> str:
    return "" if value != value else _minus(signed(metric, value, points=False))


def _minus(text: str) -> str:
    """A text whose numbers have a minus sign instead of a hyphen before them."""
    return re.sub(r"(?<!\S)-(?=\d)", "\u2212", text)


def _columns(content: Content, metric: Any) -> dict[str, Any]:
    """The intents of a metric's cases, and one row per entry of values and trials, the cases in the same order."""
    intents: dict[str, str] = {}
    known = []
    for entry in content.played:
        table, case_ids, mine = case_matrix(content.rows(entry), metric)
        intents |= dict(zip(case_ids, mine, strict=True))
        known.append({c: row[~np.isnan(row)] for c, row in zip(case_ids, table, strict=True)})
    cases = sorted(intents)
    values, trials = np.full((len(known), len(cases)), np.nan), np.zeros((len(known), len(cases)))
    for row, of in enumerate(known):
        for column, case_id in enumerate(cases):
            seen = of.get(case_id, ())
            if len(seen):
                values[row, column], trials[row, column] = seen.mean(), len(seen)
    return {"intent": [intents[c] for c in cases], "values": values, "trials": trials}


def _pair(columns: dict[str, Any], a: int, b: int) -> dict[str, Any]:
    """The values of two entries as `compare_values` takes them."""
    values, trials = columns["values"], columns["trials"]
    return {"intent": columns["intent"], "a": values[a], "b": values[b], "a_trials": trials[a], "b_trials": trials[b]}
