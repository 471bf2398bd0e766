"""The methodology page, generated from the definitions that the code uses."""

import inspect
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from ...analysis import estimators
from ...analysis.estimators.estimate import counted
from ...analysis.estimators.intervals import clustered_rate, proportion_interval
from ...analysis.estimators.unsafe import BAND_CERTAINTY, BAND_CUTS, BAND_TRAPS, BANDS
from ...analysis.facets import flags_of
from ...analysis.tables.apart import margins_in_words
from ...analysis.tables.costs import tier_in_words
from ...analysis.tables.headlines import ESTIMATORS
from ...analysis.tables.leaderboard import RESOLVES_ENOUGH
from ...analysis.tables.safety import STATES
from ...conversation.loop import EMPTY_REPLIES
from ...conversation.state import CALLS_OF_HARD_CASES, CALLS_PER_TURN, CALLS_REFUSED
from ...endpoint.prices import load_prices
from ...project import code_version
from ...records import BUCKETS, ENDINGS, NOT_SCORED
from ...scoring.metrics import METRICS
from ...scoring.score import RULES_OF_SUCCESS, VERSION
from ...scoring.written import rounded
from ...store import load_store
from ...store.frozen import thawed
from ...textfiles import read_yaml
from ..honesty import LANGUAGES, detector_quality, limits
from ..honesty import in_words as limit_in_words
from ..transcript import TEXTS
from .content import Content
from .formatting import first_paragraph
from .front import MAIN

TELLING = ("what a message says about an order",)
"""What a rule guards in addition to calls, if it also guards messages."""
PACKAGES = ("numpy", "scipy", "pandas", "statsmodels", "pydantic", "bm25s", "openai", "jinja2")


def method_view(content: Content) -> dict[str, Any]:
    """Return everything on the methodology page."""
    prices = load_prices()
    cuts = [0, *[int(c + 0.5) for c in BAND_CUTS]]
    of_kind = {store.kind.name for store in content.stores.values()} or {load_store().kind.name}
    shipped = load_store().kind.name in of_kind
    return {
        "metrics": [(metric, ESTIMATORS[metric.estimator].words) for metric in METRICS.values()],
        **detector_quality(),
        "buckets": [(b, TEXTS["buckets"][b], sum(v.bucket == b for v in content.cases.values())) for b in BUCKETS],
        "endings": [(name, meaning, name in NOT_SCORED) for name, meaning in ENDINGS.items()],
        "states": STATES,
        "success_rules": RULES_OF_SUCCESS,
        "bands": [
            (b, f"{cuts[i]} to {cuts[i + 1] - 1}" if i + 1 < len(cuts) else f"{cuts[i]} or more")
            for i, b in enumerate(BANDS)
        ],
        "band_certainty": BAND_CERTAINTY,
        "band_traps": BAND_TRAPS,
        "enough": RESOLVES_ENOUGH,
        "dominance": margins_in_words(),
        "nothing": _nothing_seen(),
        "limits": {"calls": CALLS_PER_TURN, "hard": CALLS_OF_HARD_CASES, "more": CALLS_REFUSED, "empty": EMPTY_REPLIES},
        "estimators": in_words(),
        "prices": {
            "dated": prices.dated,
            "tiers": [(name, tier_in_words(name)) for name, _ in prices.tiers],
            "hash": prices.hash,
        },
        "stores": _stores(content),
        "versions": _versions(content),
        "cannot_tell": [limit_in_words(limit) for limit in limits() if shipped or not limit.of_set],
        "here": _limits_here(content),
    }


def _nothing_seen(intents: int = 20, cases: int = 120, trials: int = 3) -> dict[str, Any]:
    """Return what a full run without a failure shows, and what conversations alone would claim."""
    found = clustered_rate([0.0] * cases, [case % intents for case in range(cases)], trials=trials)
    naive = proportion_interval(0, cases * trials).high
    numbers = {"intents": intents, "cases": cases, "trials": trials, "conversations": cases * trials}
    return numbers | {"high": found.high, "naive": naive, "chance": (1 - 1 / intents) ** intents}


def _limits_here(content: Content) -> list[tuple[str, str]]:
    rows, verdicts = content.conversations, content.results.verdicts
    spoken = rows.groupby(rows["language"].fillna("unknown"))["case_id"].nunique().sort_values(ascending=False)
    languages = [f"{LANGUAGES.get(str(code), code)} {n}" for code, n in spoken.items()]
    judges = sorted(verdicts["judge"].unique())
    found = f"{counted(len(verdicts), 'verdict')} of {', '.join(judges)}" if judges else "none was asked"
    return [
        ("Customer faults", f"in {int(flags_of(rows).sum()):,} of {counted(len(rows), 'conversation')}"),
        ("Cases by language", ", ".join(languages)),
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
    rows = []
    for store in {id(s): s for s in content.stores.values()}.values():
        rules = [
            {
                "name": name,
                "about": first_paragraph(store.rules.get(name)),
                "guards": [*rule["guards"], *(TELLING if rule.get("guards_telling") else ())],
            }
            for name, rule in store.policy["process_rules"].items()
        ]
        sections = [
            (name, yaml.safe_dump(thawed(value), sort_keys=False, allow_unicode=True, width=100))
            for name, value in store.policy.items()
            if name not in ("version", "process_rules")
        ]
        tools = [(t.name, t.description, t.write) for t in store.tools.values()]
        rows.append(
            {
                "title": store.title,
                "version": store.version,
                "clock": f"{store.now:%A, %d %B %Y, %H:%M}",
                "rules": rules,
                "policy": sections,
                "tools": tools,
                "languages": ", ".join(store.info.get("languages", ())),
            }
        )
    return rows


def _versions(content: Content) -> list[tuple[str, str]]:
    code = code_version()
    return [
        ("Deskbench", f"{code['version']}, source {code['hash']}"),
        ("Scoring rules", f"{VERSION}; in these runs: {', '.join(_seen(content, 'scoring')) or 'none'}"),
        ("Case set", ", ".join(_seen(content, "store_version"))),
        ("Python", ".".join(map(str, sys.version_info[:3]))),
        *((name, version(name)) for name in PACKAGES),
    ]


def _seen(content: Content, column: str) -> list[str]:
    return sorted(str(v) for v in content.conversations[column].dropna().unique())


WORDS = Path(__file__).with_name("estimators.yaml")


def in_words() -> list[tuple[str, str, str]]:
    """Return question, answer and function of every estimator; by default its first line."""
    functions = [name for name in estimators.__all__ if inspect.isfunction(getattr(estimators, name))]
    words = read_yaml(WORDS)
    known = [name for name in words if name in functions]
    return [(*words[name], name) for name in known] + [
        (name.replace("_", " ").capitalize(), first_paragraph(getattr(estimators, name)).replace("`", ""), name)
        for name in functions
        if name not in words
    ]
