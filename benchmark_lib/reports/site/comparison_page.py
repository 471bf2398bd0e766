"""Data of the comparison page: each entry's numbers, and the `Comparison` of every pair."""

import re
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ...analysis.counting import behind_median, behind_metric
from ...analysis.estimators.comparisons import ONLY_THESE, SURE
from ...analysis.estimators.estimate import counted, sentence
from ...analysis.query import Query
from ...analysis.tables import verdicts
from ...analysis.tables.comparison import (
    Comparison,
    Side,
    compare_all,
    direction_in_words,
    level_in_words,
    why_it_ends_there,
)
from ...analysis.tables.headlines import case_matrix
from ...analysis.tables.pairs import PARTED, choose_pair, effort_in_words, effort_table
from ...scoring.deciding import SUCCESS_STATES
from ...scoring.metrics import METRICS, Metric
from .content import Content, Entry
from .conversations import ConversationPage
from .front import settings_beside

MOST_ENTRIES = 40
"""With more entries than this, the tests of all pairs are left out."""
TOO_MANY = f"Nothing is tested here, because there are more than {MOST_ENTRIES} entries."

MOST_TRIALS = 64
MINUS = re.compile(r"(?<!\S)-(?=\d)")
"""The hyphen before a number, which pages write as a minus sign."""


def comparison(content: Content, talks: list[ConversationPage]) -> dict[str, Any]:
    """Return the data embedded in the page."""
    entries, cases, metrics = content.played, list(content.cases.values()), list(METRICS.values())
    place, names = {id(e): i for i, e in enumerate(entries)}, [e.name for e in entries]
    column = {v.case_id: i for i, v in enumerate(cases)}
    outcomes = [[""] * len(cases) for _ in entries]
    for talk in sorted(talks, key=lambda t: t.trial):
        if 1 <= talk.trial <= MOST_TRIALS:
            row, at = outcomes[place[id(talk.entry)]], column[talk.view.case_id]
            row[at] = row[at].ljust(talk.trial - 1, ".") + talk.state[0]
    most = {m.name: max((n for n in (e.row[f"{m.name}_n"] for e in entries) if n == n), default=0) for m in metrics}
    rows = []
    for entry, found in zip(entries, outcomes, strict=True):
        own_rows = content.rows(entry)
        rows.append(
            {"name": entry.name, "settings": settings_beside(entry), "page": entry.page, "outcomes": found}
            | {"block": f"partial {entry.row['partial']}" if entry.row["partial"] else entry.block}
            | {"means": {m.title.lower(): _means(Side(own_rows), m, column) for m in PARTED}}
            | {"values": {m.name: _value(entry, m, most[m.name], own_rows, column) for m in metrics}}
        )
    few = len(entries) <= MOST_ENTRIES
    return {
        "metrics": [
            {"key": m.name, "title": m.title, "better": m.higher_is_better, "points": m.scale.points}
            | {"noun": m.scale.noun, "direction": direction_in_words(m)}
            for m in metrics
        ],
        "cases": [
            {"id": v.case_id, "title": v.title, "bucket": v.bucket, "intent": v.intent, "page": v.page} for v in cases
        ],
        "states": {name[0]: {"sign": sign, "word": word} for name, (sign, word) in SUCCESS_STATES.items()},
        "entries": rows,
        "start": [names.index(name) for name in choose_pair(content.results)] if entries else [],
        "tested": verdicts.what_is_tested() if few else TOO_MANY,
        "steps": effort_in_words(effort_table(content.results)),
        **(_tests(content) if few else {"pairs": {}, "outcomes": {}, "largest": {}}),
    }


def _means(side: Side, metric: Metric, column: dict[str, int]) -> dict[str, float]:
    found = side.values(metric)
    means = zip(found.cases, found.means, strict=True)
    return {str(column[case]): round(float(mean), 6) for case, mean in means if mean == mean}


def _value(entry: Entry, metric: Metric, most: float, rows: pd.DataFrame, column: dict[str, int]) -> list[Any]:
    # The value on the board, its mean with interval, the conversations behind each, and the cases with a value.
    row, scale = entry.row, metric.scale
    cases, mean, low, high = (row[f"{metric.name}{end}"] for end in ("_n", "_mean", "_low", "_high"))
    few = counted(int(cases), scale.noun) if 0 < cases < most else ""
    table, case_ids, _ = case_matrix(rows, metric)
    return [
        scale.written(row[metric.name]),
        sentence(f"mean {scale.with_interval(mean, low, high)}" if low == low else "", few),
        *(
            Query.of(**found["yes"]).address() if found["k"] else None
            for found in (find(rows, metric, **entry.who) for find in (behind_median, behind_metric))
        ),
        [column[case] for case, trials in zip(case_ids, table, strict=True) if not np.isnan(trials).all()],
    ]


def _tests(content: Content) -> dict[str, Any]:
    """Compare every two entries, second minus first, as `comparison_table` does.

    By pair: the verdict in words, and the largest difference among the rest. By metric and pair: the result of
    `_written`.
    """
    sides = [Side(content.rows(entry)) for entry in content.played]
    found: dict[str, Any] = {"pairs": {name: {} for name in METRICS}, "outcomes": {}, "largest": {}}
    for a, b in combinations(range(len(sides)), 2):
        compared, pair = compare_all(sides[a], sides[b]), f"{a}-{b}"
        for one in compared:
            found["pairs"][one.metric.name][pair] = _written(one)
        rows = [one.row() for one in compared]
        found["outcomes"][pair] = verdicts.outcome_in_words(rows)
        found["largest"][pair] = verdicts.largest_in_words(rows)
    return found


def _written(found: Comparison) -> list[Any]:
    """Return one comparison as text: the difference and both means.

    If tested, it also has the interval, its confidence and the ends on these cases, with the reason why one end is the
    difference itself. Last come the place of the better one, what weakens the test, and the verdict.
    """
    metric = found.metric
    numbers = {
        name: "" if value != value else MINUS.sub("\u2212", verdicts.signed(metric, value, points=False))
        for name, value in found.numbers.items()
    }
    head = [numbers["difference"], *(verdicts.mean_in_words(metric, m, found.cases) for m in found.means.values())]
    if not found.tested:
        return head
    like, these = (level_in_words(1 - alpha) for alpha in (found.alpha, found.these_alpha))
    return [
        *head,
        [numbers["low"], numbers["high"]],
        like,
        [numbers["these_low"], numbers["these_high"], why_it_ends_there(found), these],
        found.ahead if found.word in (SURE, ONLY_THESE) else None,
        found.like.reason,
        found.verdict,
    ]
