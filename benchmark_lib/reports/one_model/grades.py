"""Grades and traits of one model by the thresholds of `grades.yaml`, for `_grades.html.j2`."""

from pathlib import Path
from typing import Any

from ...analysis.panels import short_name
from ...analysis.tables.leaderboard import RESOLVES_ENOUGH, does_too_little
from ...scoring.metrics import METRICS
from ...textfiles import read_yaml
from . import ModelReport
from .conduct import process_rules
from .numbers import at_a_glance, by_intent, repeats

TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("grades.yaml"))
GRADES, LIMITS, EMPTY = TEXTS["grades"], TEXTS["limits"], TEXTS["empty"]
VERDICT = ("resolved", "over_escalation", "escalation_accuracy", "unsafe")
Trait = dict[str, Any]
"""kind (``strong``, ``weak``), about, form (its sentence in `_grades.html.j2`), numbers."""


def grade(name: str, value: float, low: float, high: float) -> str:
    """Return a metric's grade: ``good``, or ``good; the interval extends to middling``."""
    if value != value:
        return "unknown"
    word, ends = _grade(name, value), [_grade(name, v) for v in (low, high) if v == v]
    others = [other for other in dict.fromkeys(ends) if other != word]
    extends = f"; the interval extends to {' and '.join(others)}" if others else ""
    return word + (extends if ends else ", without an interval")


def _grade(name: str, value: float) -> str:
    good, poor = GRADES[name]
    sign = 1 if METRICS[name].higher_is_better else -1
    return "good" if sign * value >= sign * good else "poor" if sign * value < sign * poor else "middling"


def grade_of(report: ModelReport, row: Trait) -> str:
    """Return the grade of a row of `at_a_glance`, if any; `EMPTY` if it rests on inactivity."""
    name, board = row["metric"], report.row
    if name not in GRADES or (METRICS[name].banded and board["band"] == "none" and not does_too_little(board)):
        return ""
    word = grade(name, row["value"], row["low"], row["high"])
    avoided = word.startswith("good") and METRICS[name].higher_is_better is False
    of_nothing = name == "corrupt_success" and board["resolved"] < RESOLVES_ENOUGH
    return EMPTY if avoided and (of_nothing or does_too_little(board)) else word


def traits(report: ModelReport) -> list[Trait]:
    """Return strong and weak traits of these runs by the thresholds, which are not tests.

    There are at most eight of each kind, the broadest first, and the number of those left out.
    """
    found = [t for traits_of in (_metrics, _steadiness, _rules, _intents, _languages) for t in traits_of(report)]
    if does_too_little(report.row):
        found = [trait for trait in found if (trait["kind"], trait["about"]) != ("strong", "rules")]
    shown = []
    for kind in ("strong", "weak"):
        of_kind = [trait for trait in found if trait["kind"] == kind]
        more = len(of_kind) - LIMITS["traits_shown"]
        shown += of_kind[: LIMITS["traits_shown"]]
        shown += [{"kind": kind, "about": "more", "form": "more", "more": more}] if more > 0 else []
    return shown


def _metrics(report: ModelReport) -> list[Trait]:
    found, unshown = [], {"strong": (*TEXTS["no_trait"], *TEXTS["only_if_weak"]), "weak": TEXTS["no_trait"]}
    for row in at_a_glance(report).to_dict("records"):
        word = grade_of(report, row)
        kind = {"good": "strong", "poor": "weak"}.get(word[:4])
        if kind and row["metric"] not in unshown[kind]:
            found.append({"kind": kind, "about": row["title"], "form": "metric", "grade": word, "row": row})
    return found


def _steadiness(report: ModelReport) -> list[Trait]:
    # An agent that always fails is not steady.
    rows = [row for row in repeats(report) if row["flip"] == row["flip"]]
    often = [row for row in rows if row["flip"] > LIMITS["flip_often"]]
    seldom = [row for row in rows if row["flip"] < LIMITS["flip_seldom"] and row["pass_1"] > 0]
    pairs = (("weak", "unsteady", often), ("strong", "steady", seldom))
    return [{"kind": kind, "about": word, "form": "steadiness", "rows": some} for kind, word, some in pairs if some]


def _rules(report: ModelReport) -> list[Trait]:
    found, never = [], []
    for row in process_rules(report).assign(applied=lambda t: t["kept"] + t["broken"]).to_dict("records"):
        if row["share"] >= LIMITS["rule_broken"]:
            found.append({"kind": "weak", "about": row["rule"], "form": "rule", "row": row})
        elif row["applied"] >= LIMITS["rule_applied"] and row["broken"] == 0:
            never.append(row)
    return found + ([{"kind": "strong", "about": "rules", "form": "rules", "rows": never}] if never else [])


def _intents(report: ModelReport) -> list[Trait]:
    # Traps are listed one by one elsewhere; intents of imported conversations are unknown or repeat the domain.
    rows = by_intent(report).query("intent != 'unknown' and intent != bucket and bucket != 'adversarial'")
    least = rows.groupby("intent", sort=False)["success"].min()  # an intent may have tickets of two buckets
    best = list(least.index[least >= LIMITS["intent_strong"]])
    found = [{"kind": "strong", "about": "intents", "form": "intents", "names": best}] if best else []
    weak = rows[rows["success"] <= LIMITS["intent_weak"]].sort_values("success", kind="stable").to_dict("records")
    return found + [{"kind": "weak", "about": row["intent"], "form": "intent", "row": row} for row in weak]


def _languages(report: ModelReport) -> list[Trait]:
    frame = report.mine
    scored = frame[(frame["bucket"] == "resolvable") & frame["success"].notna()]
    of = scored["success"].astype(float).groupby(scored["language"]).agg(["mean", "size"]).to_dict("index")
    english = of.pop("en", None)
    return [
        {"kind": "weak", "about": code, "form": "language", "language": code, "row": row, "english": english}
        for code, row in of.items()
        if english
        and row["size"] >= LIMITS["language_conversations"]
        and english["mean"] - row["mean"] >= LIMITS["language_gap"]
    ]


def dominance(report: ModelReport) -> dict[str, Any]:
    """Return why the model is below the line, what dominates it, and what it dominates."""
    row, others = report.row, report.board["dominated"].str.split("; ").explode()
    over = [short_name(name) for name in report.board.loc[others.index[others == report.entry], "entry"]]
    return {"below": row["below"], "why": row["dominated_why"] if row["dominated"] else "", "over": over}
