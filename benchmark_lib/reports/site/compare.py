"""What the comparison page carries.

Every entry's numbers and outcomes, and the paired test of every two, computed in advance.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ...analysis.estimators.estimate import FEW_CLUSTERS, counted, sentence
from ...analysis.tables.headlines import ESTIMATORS
from ...scoring.deciding import SUCCESS_STATES
from ...scoring.metrics import METRICS, Shown, shown_on
from .content import Content
from .talks import Talk
from .words import mean_with_interval, measured

TESTED = tuple(name for name in shown_on(Shown.BOARD) if METRICS[name].bucket and METRICS[name].scale.bounds)
RESAMPLES = 1_000
MOST_ENTRIES = 40
"""With more entries than this, the tests of all pairs are left out."""

MOST_TRIALS = 64


def comparison(content: Content, talks: list[Talk]) -> dict[str, Any]:
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
    metrics = [m for m in METRICS.values() if any(e.row[m.name] == e.row[m.name] for e in entries)]
    most = {m.name: max((n for n in (e.row[f"{m.name}_n"] for e in entries) if n == n), default=0) for m in metrics}
    return {
        "metrics": [
            {
                "key": m.name,
                "title": m.title,
                "better": m.higher_is_better,
                "times": m.scale.times,
                "points": m.scale.points,
            }
            for m in metrics
        ],
        "cases": [
            {"id": v.case_id, "title": v.title, "bucket": v.bucket, "intent": v.intent, "page": v.page} for v in cases
        ],
        "states": {name[0]: {"sign": sign, "word": word} for name, (sign, word) in SUCCESS_STATES.items()},
        "entries": [
            {
                "name": e.name,
                "block": e.block,
                "page": e.page,
                "outcomes": outcomes[i],
                "values": {m.name: _value(e, m, most[m.name]) for m in metrics},
            }
            for i, e in enumerate(entries)
        ],
        "pairs": _tests(content) if len(entries) <= MOST_ENTRIES else {},
    }


def _value(entry: Any, metric: Any, most: float) -> list[Any]:
    """The median, the mean with its interval (and the number of cases where another entry has more), and the value."""
    row = entry.row
    value, cases = row[metric.name], row[f"{metric.name}_n"]
    few = counted(int(cases), metric.scale.noun) if 0 < cases < most else ""
    return [
        measured(value, metric),
        sentence(mean_with_interval(row, metric), few),
        None if value != value else round(float(value), 6),
    ]


def _tests(content: Content) -> dict[str, dict[str, list[Any]]]:
    """Paired differences first minus second, by metric and pair.

    P adjusted by Benjamini and Hochberg over all pairs of a metric.
    """
    from ...analysis.estimators.comparisons import adjust_pvalues

    pairs = list(combinations(range(len(content.played)), 2))
    found: dict[str, dict[str, list[Any]]] = {}
    for name in TESTED:
        tables = _tables(content, name)
        test = ESTIMATORS[METRICS[name].estimator].test_of_these
        clusters = _clusters(content, METRICS[name].bucket)
        results = [
            _on_these(test, tables[a], tables[b]) if test else _share(tables[a], tables[b], clusters) for a, b in pairs
        ]
        adjusted = adjust_pvalues([r[3] for r in results], "bh") if results else []
        found[name] = {
            f"{a}-{b}": [None if v != v else round(float(v), 4) for v in (*r, q)]
            for (a, b), r, q in zip(pairs, results, adjusted, strict=True)
        }
    return found


def _tables(content: Content, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Successes and trials of every case, one pair of arrays per entry, in the order of the cases."""
    metric = METRICS[name]
    index = [v.case_id for v in content.cases.values() if v.bucket == metric.bucket]
    tables = []
    for e in content.played:
        rows = content.rows(e)
        counts = (
            rows[rows["bucket"] == metric.bucket]
            .dropna(subset=[metric.column])
            .groupby("case_id")[metric.column]
            .agg(["sum", "count"])
            .reindex(index, fill_value=0)
        )
        tables.append((counts["sum"].to_numpy(dtype=int), counts["count"].to_numpy(dtype=int)))
    return tables


def _clusters(content: Content, bucket: str | None) -> list[str] | None:
    """The intents of a bucket's cases; None where they are too few to be clusters."""
    intents = [v.intent for v in content.cases.values() if v.bucket == bucket]
    return intents if FEW_CLUSTERS <= len(set(intents)) < len(intents) else None


def _share(a: Any, b: Any, clusters: list[str] | None) -> tuple[float, float, float, float]:
    """Difference of two shares over the cases both have: estimate, low, high, p."""
    from ...analysis.estimators.comparisons import paired_difference

    if not len(a[0]):
        return (float("nan"),) * 4
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (np.where(n > 0, k / n, np.nan) for k, n in (a, b))
    if np.isnan(first - second).all():
        return (float("nan"),) * 4
    found = paired_difference(
        first, second, clusters=clusters, trials=int(max(1, np.median(a[1]))), n_resamples=RESAMPLES
    )
    return found.estimate, found.low, found.high, found.p


def _on_these(test: Any, a: Any, b: Any) -> tuple[float, float, float, float]:
    """Difference on exactly the cases both were run on; such a test has no interval."""
    if not len(a[0]):
        return (float("nan"),) * 4
    found = test(a[0], b[0], a[1], b[1])
    return found.estimate, float("nan"), float("nan"), found.p
