"""Comparisons in words: the sentences of `verdicts.yaml`, filled in."""

from __future__ import annotations

from math import nan
from typing import Any

from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import DASH, counted, in_words, rounded
from ..estimators.comparisons import NOISE, NOT_TESTED, SURE
from ..panels import RESOLVES_ENOUGH, short_name
from .comparison import EQUAL, SAID, level_in_words, names_apart, unsigned
from .headlines import metric_of

USUAL = 0.95
"""Level of an interval that needs no mention."""
OPEN = (EQUAL, NOISE, "not compared")
"""Verdicts on planned metrics without a better entry."""
MOST_SHOWN = 3
"""Maximum number of untested differences in shares that are named, largest first."""


# --- numbers of one metric


def mean_in_words(metric: Metric, mean: float, cases: float) -> str:
    """Return one of two means; a count has its denominator, as in ``7.0 of 18``."""
    return f"{metric.scale.mean(mean)}{f' of {cases:.0f}' if metric.scale.summed and cases else ''}"


def signed(metric: Metric, value: float, *, points: bool = True) -> str:
    """Return a difference with its sign, as in ``+39.4 points``; a dash for NaN."""
    if value != value:
        return DASH
    nothing = not rounded(metric.scale.times * abs(value), metric.scale.digits).strip("0.")
    return ("" if nothing else "+" if value > 0 else "-") + unsigned(metric, value, points=points)


def signed_interval(metric: Metric, low: float, high: float) -> str:
    """Return the interval of a difference, as in ``+30.1 to +48.7 points``; empty without one."""
    return f"{signed(metric, low, points=False)} to {signed(metric, high)}" if low == low and high == high else ""


def signed_with_interval(metric: Metric, value: float, low: float, high: float, level: float = USUAL) -> str:
    """Return a difference with its interval: ``+39.4 points (+30.1 to +48.7 points)``."""
    shown, at = signed(metric, value), "" if abs(level - USUAL) < 1e-9 else f"{level_in_words(level)} interval "
    ends = signed_interval(metric, low, high)
    return f"{shown} ({at}{ends})" if ends else shown


# --- all metrics of two models


def what_is_tested() -> str:
    """Return which metrics every comparison of two models tests, and why it tests no others."""
    titles = [METRICS[name].title.lower() for name in shown_on(Shown.MAIN)]
    return SAID["tested"].format(titles=in_words(titles), others=len(METRICS) - len(titles))


def outcome_in_words(rows: list[dict[str, Any]]) -> str:
    """Return the first sentences of a comparison, from rows of `comparison_table`.

    They name who is better at how many planned metrics, what remains open, and which cases are shared.
    """
    planned = [row for row in rows if row["metric"] in shown_on(Shown.MAIN)]
    names = dict(zip("ab", names_apart(rows[0]["name_a"], rows[0]["name_b"]), strict=True))
    by_verdict: dict[str, list[str]] = {}
    for row in planned:
        if row["word"] == SURE:
            verdict = SAID["better at"].format(name=names["a" if row["better"] == row["name_a"] else "b"])
        else:
            verdict = "not compared" if not row["cases"] else EQUAL if abs(row["difference"]) < 1e-9 else NOISE
        by_verdict.setdefault(verdict, []).append(row["title"].lower())
    parts, total = [], counted(len(planned), "planned measure")
    for verdict in (*(v for v in by_verdict if v not in OPEN), *(v for v in OPEN if v in by_verdict)):
        titles = by_verdict[verdict]
        verb = "are" if len(titles) > 1 or titles[0].endswith("s") else "is"
        listed = in_words(titles) if verdict in OPEN else ", ".join(titles)
        name = "rest" if verdict in OPEN else "wins"
        parts.append(SAID[name].format(found=verdict, count=len(titles), planned=total, titles=listed, verb=verb))
    text = "; ".join(parts)
    if by_verdict.keys() <= set(OPEN):
        text = text[:1].upper() + text[1:]
    return " ".join(filter(None, (_no_merit(planned, names), text and f"{text}.", _shared(rows[0], names))))


def _no_merit(planned: list[dict[str, Any]], names: dict[str, str]) -> str:
    """Return who resolves under half, so that what it avoids earns no credit; empty for nobody."""
    resolved = next((row for row in planned if row["metric"] == "resolved"), {})
    idle = [side for side in "ab" if resolved.get(side, nan) < RESOLVES_ENOUGH]
    shares = " and ".join(METRICS["resolved"].scale.mean(resolved[side]) for side in idle)
    if len(idle) != 1:
        return SAID["neither resolves"].format(shares=shares) if idle else ""
    first = planned[0][f"name_{idle[0]}"]
    avoided = [row for row in planned if row["word"] == SURE and not METRICS[row["metric"]].higher_is_better]
    titles = [row["title"].lower() for row in avoided if row["better"] == first]
    template = SAID["its lead" if titles else "one resolves little"]
    return template.format(name=names[idle[0]], shares=shares, titles=in_words(titles))


def _shared(row: dict[str, Any], names: dict[str, str]) -> str:
    beyond = [SAID["more"].format(name=names[s], number=row[f"only_{s}"]) for s in "ab" if row[f"only_{s}"]]
    if not row["shared"]:
        name = "no common case but" if beyond else "no common case"
        return SAID[name].format(beyond=in_words(beyond).replace(" more", ""))
    cases = counted(row["shared"], "case")
    return SAID["shared cases" if beyond else "same cases"].format(cases=cases, beyond=in_words(beyond))


def largest_in_words(rows: list[dict[str, Any]]) -> str:
    """Return the largest untested differences in shares, from rows of `comparison_table`."""
    shares = [row for row in rows if row["word"] == NOT_TESTED and metric_of(row["metric"]).scale.bounds]
    apart = sorted((row for row in shares if row["cases"] and row["difference"]), key=lambda r: -abs(r["difference"]))
    parts = []
    for row in apart[:MOST_SHOWN]:
        metric, names = metric_of(row["metric"]), names_apart(row["name_a"], row["name_b"])
        means = [f"{n} {mean_in_words(metric, row[side], row['cases'])}" for side, n in zip("ab", names, strict=True)]
        cases, by = counted(int(row["cases"]), metric.scale.noun), unsigned(metric, row["difference"])
        parts.append(SAID["largest part"].format(title=row["title"], by=by, cases=cases, means=", ".join(means)))
    return SAID["largest"].format(parts="; ".join(parts)) if parts else ""


def comparison_in_words(comparison: Any, cases: Any, a: str, b: str) -> str:
    """Return a few sentences on a `comparison_table` and the `differing_cases`."""
    if a == b:
        return SAID["alone"].format(name=short_name(a))
    rows = comparison.to_dict("records")
    parts = [outcome_in_words(rows)]
    for row in rows:
        if row["word"] == SURE and row["metric"] in shown_on(Shown.MAIN):
            means = {side: metric_of(row["metric"]).scale.mean(row[side], brief=True) for side in "ab"}
            parts.append(SAID["by metric"].format(title=row["title"], verdict=row["verdict"], **means))
    name = "alike" if cases.empty else "differ always" if cases["split"].any() else "differ"
    always = int((cases["split"] == "always").sum()) or "none"
    parts += [SAID[name].format(cases=counted(len(cases), "case"), always=always), largest_in_words(rows)]
    return " ".join(filter(None, parts))
