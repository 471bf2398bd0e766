"""Comparisons in words: the sentences of `verdicts.yaml`, filled in."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import DASH, in_words, rounded
from ...textfiles import read_yaml
from ..estimators.comparisons import NOISE, NOT_TESTED, NOTHING, ONLY_THESE, SURE
from ..estimators.estimate import counted
from ..panels import RESOLVES_ENOUGH, short_name
from .headlines import metric_of

if TYPE_CHECKING:
    from .comparison import Comparison

SAID: dict[str, str] = read_yaml(Path(__file__).with_suffix(".yaml"))
"""Every sentence, by name."""
USUAL = 0.95
"""Level of an interval that needs no mention."""
EQUAL = "equal"
"""Verdict on two equal values."""
OPEN = (EQUAL, NOISE, "not compared")
"""Verdicts on planned metrics without a better entry."""
MOST_SHOWN = 3
"""Maximum number of untested differences in shares that are named, largest first."""


def verdict_of(compared: Comparison) -> str:
    """Return who is better, and by how much, in a sentence that does not depend on the order."""
    if not compared.cases or compared.word not in (SURE, ONLY_THESE):
        return sureness(compared)
    metric, numbers, sure = compared.metric, compared.numbers, compared.word == SURE
    low, high, alpha = ("low", "high", compared.alpha) if sure else ("these_low", "these_high", compared.these_alpha)
    ends = sorted((abs(numbers[low]), abs(numbers[high])))  # both ends have one sign, since 0 is excluded
    unit = f" of {compared.cases} {metric.scale.noun}s" if metric.scale.summed else f" {metric.scale.unit}".rstrip()
    better, direction = (compared.difference > 0) == (metric.higher_is_better is not False), direction_in_words(metric)
    like, these = _how_sure(compared)
    return SAID["these" if not sure else "clear here open" if compared.open_here else "clear"].format(
        name=names_apart(*compared.names)[better],
        does=metric.winner or SAID["ahead" if direction else "has more"].format(direction=direction),
        by=f"{unsigned(metric, numbers['difference'])}{unit}",
        interval=f"{level_in_words(1 - alpha)} interval {' to '.join(unsigned(metric, e, points=False) for e in ends)}",
        like=like,
        these=these,
        noun=metric.scale.noun,
        vary=SAID["vary"],
    )


def sureness(compared: Comparison) -> str:
    """Return how certain a difference is, for a text that already has its size and direction."""
    if not compared.cases:
        return SAID["not compared"].format(reason=compared.reason)
    if compared.word == NOT_TESTED:
        return NOT_TESTED
    if compared.word == NOTHING:
        return SAID["no test"].format(reason=compared.reason or SAID["no spread"])
    if is_equal(compared):
        return EQUAL
    like, these = _how_sure(compared)
    name = {SURE: "sure clear", ONLY_THESE: "sure these"}.get(compared.word, "sure open")
    return SAID[name].format(noun=compared.metric.scale.noun, like=like, these=these)


def is_equal(compared: Comparison) -> bool:
    """Return True if two entries were tested and do not differ at all."""
    return bool(compared.tested and compared.cases and abs(compared.difference) < 1e-9)


def why_it_ends_there(compared: Comparison) -> str:
    """Return why the interval for these cases ends at the difference; empty if it does not."""
    numbers = compared.numbers
    ends = any(abs(numbers["difference"] - numbers[end]) < 1e-9 for end in ("these_low", "these_high"))
    return SAID["ends here"].format(noun=compared.metric.scale.noun) if ends else ""


def _how_sure(compared: Comparison) -> tuple[str, str]:
    """Return the p-values for cases like these and for these cases, or the kind of interval."""
    if compared.among:
        return (SAID["simultaneous"].format(contrasts=counted(compared.among, "contrast")),) * 2
    kind, *values = "adjusted", compared.p_adjusted, compared.these_p_adjusted
    if all(p != p for p in values):
        kind, *values = "plain", compared.like.p, compared.these_p
    like, these = (f"{kind} p {p_in_words(p)}" for p in values)
    return like, these


# --- numbers of one metric


def names_apart(a: str, b: str) -> tuple[str, str]:
    """Return the names of two models as used in sentences: short, unless that makes them equal."""
    return (a, b) if short_name(a) == short_name(b) else (short_name(a), short_name(b))


def mean_in_words(metric: Metric, mean: float, cases: float) -> str:
    """Return one of two means; a count has its denominator, as in ``7.0 of 18``."""
    return f"{metric.scale.mean(mean)}{f' of {cases:.0f}' if metric.scale.summed and cases else ''}"


def level_in_words(level: float) -> str:
    """Return the confidence of an interval, such as ``98.3%``."""
    return f"{100 * level:.3g}%"


def direction_in_words(metric: Metric) -> str:
    """Return the better direction of a metric; empty without one."""
    return {True: "higher is better", False: "lower is better", None: ""}[metric.higher_is_better]


def signed(metric: Metric, value: float, *, points: bool = True) -> str:
    """Return a difference with its sign, as in ``+39.4 points``; a dash for NaN."""
    if value != value:
        return DASH
    nothing = not rounded(metric.scale.times * abs(value), metric.scale.digits).strip("0.")
    return ("" if nothing else "+" if value > 0 else "-") + unsigned(metric, value, points=points)


def unsigned(metric: Metric, value: float, *, points: bool = True) -> str:
    """Return the size of a difference, such as ``39.4 points``."""
    scale = metric.scale
    return f"{rounded(scale.times * abs(value), scale.digits)}{scale.points if points else ''}"


def signed_interval(metric: Metric, low: float, high: float) -> str:
    """Return the interval of a difference, as in ``+30.1 to +48.7 points``; empty without one."""
    return f"{signed(metric, low, points=False)} to {signed(metric, high)}" if low == low and high == high else ""


def signed_with_interval(metric: Metric, value: float, low: float, high: float, level: float = USUAL) -> str:
    """Return a difference with its interval: ``+39.4 points (+30.1 to +48.7 points)``."""
    shown, at = signed(metric, value), "" if abs(level - USUAL) < 1e-9 else f"{level_in_words(level)} interval "
    ends = signed_interval(metric, low, high)
    return f"{shown} ({at}{ends})" if ends else shown


def p_in_words(p: float) -> str:
    """Return a p-value as written in sentences and figures."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


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
