"""Describe the method: its page, the limits of the numbers, and the data dictionary.

All three come from the definitions that the code uses; the texts of the limits are in `limits.yaml.j2`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any

import yaml
from babel.lists import format_list

from ...analysis.dictionary import DICTIONARY
from ...analysis.estimators.intervals import clustered_rate, proportion_interval
from ...analysis.estimators.unsafe import BAND_CERTAINTY, BAND_CUTS, BAND_TRAPS, BANDS
from ...analysis.facets import flags_of
from ...analysis.tables import measurements
from ...analysis.tables.headlines import ESTIMATORS
from ...analysis.tables.leaderboard import RESOLVES_ENOUGH, margins_in_words
from ...analysis.tables.safety import STATES
from ...conversation.loop import EMPTY_REPLIES
from ...conversation.speaker import CALLS_OF_HARD_CASES, CALLS_PER_TURN, CALLS_REFUSED
from ...endpoint.prices import load_prices
from ...extension import offers
from ...project import code_version
from ...records import BUCKETS, ENDINGS, NOT_SCORED
from ...scoring.customer_audit import FINDINGS
from ...scoring.metrics import METRICS
from ...scoring.score import RULES_OF_SUCCESS, VERSION
from ...scoring.written import counted, rounded, span
from ...store import load_store
from ...store.files import thawed
from ...textfiles import read_yaml
from ..html import TEXTS, plain_text
from ..terminal import language_names
from .content import Content, first_paragraph
from .front import MAIN

WIDTH = 150
TELLS, TELLING = "guards_telling", ("what a message says about an order",)
"""The mark of a rule that also guards messages, and what it then guards in addition to calls."""
PACKAGES = ("numpy", "scipy", "pandas", "statsmodels", "pydantic", "bm25s", "openai", "jinja2")


def method_view(content: Content) -> dict[str, Any]:
    """Return everything on the methodology page."""
    prices = load_prices()
    cuts = [0, *(int(cut + 0.5) for cut in BAND_CUTS)]
    spans = [*(f"{low} to {high - 1}" for low, high in pairwise(cuts)), f"{cuts[-1]} or more"]
    of_kind = {store.kind.name for store in content.stores.values()} or {load_store().kind.name}
    shipped = load_store().kind.name in of_kind
    return {
        "metrics": [(metric, ESTIMATORS[metric.estimator].words) for metric in METRICS.values()],
        **detector_quality(),
        "buckets": [(b, TEXTS["buckets"][b], sum(v.bucket == b for v in content.cases.values())) for b in BUCKETS],
        "endings": [(name, meaning, name in NOT_SCORED) for name, meaning in ENDINGS.items()],
        "states": STATES,
        "success_rules": RULES_OF_SUCCESS,
        "bands": list(zip(BANDS, spans, strict=True)),
        "band_certainty": BAND_CERTAINTY,
        "band_traps": BAND_TRAPS,
        "enough": RESOLVES_ENOUGH,
        "dominance": margins_in_words(),
        "nothing": _nothing_seen(),
        "limits": {"calls": CALLS_PER_TURN, "hard": CALLS_OF_HARD_CASES, "more": CALLS_REFUSED, "empty": EMPTY_REPLIES},
        "estimators": in_words(),
        "prices": prices,
        "stores": _stores(content),
        "versions": _versions(content),
        "cannot_tell": [limit for limit in limits() if shipped or not limit.of_set],
        "here": _limits_here(content),
    }


def _nothing_seen(intents: int = 20, cases: int = 120, trials: int = 3) -> dict[str, Any]:
    """Return what a full run without a failure shows."""
    found = clustered_rate([0.0] * cases, [case % intents for case in range(cases)], trials=trials)
    naive = proportion_interval(0, cases * trials).high
    numbers = {"intents": intents, "cases": cases, "trials": trials, "conversations": cases * trials}
    return numbers | {"high": found.high, "naive": naive, "chance": (1 - 1 / intents) ** intents}


def _limits_here(content: Content) -> list[tuple[str, str]]:
    rows, verdicts = content.conversations, content.results.verdicts
    spoken = rows.groupby(rows["language"].fillna("unknown"))["case_id"].nunique().sort_values(ascending=False)
    judges = sorted(verdicts["judge"].unique())
    found = f"{counted(len(verdicts), 'verdict')} by {', '.join(judges)}" if judges else "none was asked"
    return [
        ("Customer faults", f"in {int(flags_of(rows).sum()):,} of {counted(len(rows), 'conversation')}"),
        ("Cases by language", ", ".join(f"{language_names().get(str(code), code)} {n}" for code, n in spoken.items())),
        ("Half-width of the intervals", _half_widths(content)),
        ("Judges", found),
    ]


def _half_widths(content: Content) -> str:
    models = content.board[content.board["panel"] == "models"]
    if models.empty:
        return "no language model was run here; the table above says what to expect"
    parts = []
    for metric in (METRICS[name] for name in MAIN if METRICS[name].scale.bounds):
        half = ((models[f"{metric.name}_high"] - models[f"{metric.name}_low"]) / 2).dropna()
        if len(half):
            wide = rounded(metric.scale.times * half.median(), 1)
            unit = "points" if metric.scale.sign else "actions"
            parts.append(f"{metric.title.lower()} ± {wide} {unit} ({counted(len(half), 'model')})")
    return ", ".join(parts) or "no model has an interval"


def _stores(content: Content) -> list[dict[str, Any]]:
    return [
        {
            "store": store,
            "rules": {
                name: (first_paragraph(store.rules.get(name)), [*rule["guards"], *(TELLING * bool(rule.get(TELLS)))])
                for name, rule in store.policy["process_rules"].items()
            },
            "policy": {
                name: yaml.safe_dump(thawed(value), sort_keys=False, allow_unicode=True, width=100)
                for name, value in store.policy.items()
                if name not in ("version", "process_rules")
            },
        }
        for store in {id(s): s for s in content.stores.values()}.values()
    ]


def _versions(content: Content) -> list[tuple[str, str]]:
    code, seen = code_version(), {}
    for column in ("scoring", "store_version"):
        seen[column] = ", ".join(sorted(str(v) for v in content.conversations[column].dropna().unique()))
    return [
        ("Deskbench", f"{code['version']}, source {code['hash']}"),
        ("Scoring rules", f"{VERSION}; in these runs: {seen['scoring'] or 'none'}"),
        ("Case set", seen["store_version"]),
        ("Python", ".".join(map(str, sys.version_info[:3]))),
        *((name, version(name)) for name in PACKAGES),
    ]


WORDS = Path(__file__).with_name("estimators.yaml")


def in_words() -> list[tuple[str, str, str]]:
    """Return question, answer and name of every estimator, also of those that extras offer."""
    return [(*said, name) for name, said in read_yaml(WORDS).items()]


# --- how to read the numbers honestly, also in `docs/`


@dataclass(frozen=True)
class Limit:
    """A limit of the numbers; `head` and `rows` are a table, if there is one.

    `of_set` marks a limit of the shipped case set, which results on other stores do not have.
    """

    title: str
    text: str
    source: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    of_set: bool = False


@lru_cache(maxsize=1)
def limits() -> tuple[Limit, ...]:
    """Return the limits of the numbers, from the shipped data and `data/calibration.yaml`.

    Raises
    ------
    BadInput
        If the file of measurements is missing.
    """
    played = measurements.blind_play().to_dict("records")
    filled = plain_text(
        "limits.yaml.j2",
        played=played,
        kinds=[meaning for name, meaning in FINDINGS.items() if any(r.get(name, 0) > 0 for r in played)],
        read=measurements.customers_read(),
        store=load_store(),
        sets=measurements.languages_of_sets(),
        languages=language_names(),
        widths=measurements.calibration()["half_widths"],
        traps=BAND_TRAPS,
        **detector_quality(),
        verdicts=measurements.verdicts_in_play(),
        interval=proportion_interval,
        least_rate=measurements.least_rate,
        span=span,
        listed=lambda names: format_list(names, locale="en"),
    )
    return tuple(Limit(**one) for one in yaml.safe_load(filled))


def detector_quality() -> dict[str, Any]:
    """Return the quality of the detectors, and their goals; no rows if no extra offers them."""
    return {
        "detectors": [],
        **{name: value for quality in offers("detector_quality") for name, value in quality().items()},
    }


def limits_page() -> str:
    """Return `limits` as Markdown, for ``docs/limits.md``."""
    wrapped = partial(fill, width=WIDTH, break_long_words=False, break_on_hyphens=False)
    return plain_text("limits.md.j2", limits=limits(), fill=wrapped)


def dictionary_page() -> str:
    """Return the data dictionary as Markdown, with a table per frame."""
    return plain_text("dictionary.md.j2", frames=DICTIONARY, states=STATES, downloads=TEXTS["columns of downloads"])
