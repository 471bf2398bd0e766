"""How to read the numbers honestly: what they cannot tell, each statement with the measurement behind it.

The texts are in `limits.yaml.j2`; no number is typed: see `analysis.tables.recovery`.
"""

from dataclasses import dataclass
from functools import lru_cache
from textwrap import fill
from typing import Any

import yaml
from babel.lists import format_list

from ..analysis.estimators.intervals import proportion_interval
from ..analysis.estimators.unsafe import BAND_TRAPS
from ..analysis.tables import recovery as measured
from ..extension import offers
from ..scoring.customer_audit import FINDINGS
from ..scoring.written import span
from ..store.world import load_store
from .transcript import plain_text
from .views import language_names

LANGUAGES = language_names()
"""The languages that are read, by their English names."""

WIDTH = 150
HEAD = """# How to read this honestly

What the numbers of Deskbench cannot tell, with the measurements behind each statement. `make calibration` measures again and writes this page;
the method page of a site shows the same, and what its own runs add."""


@dataclass(frozen=True)
class Limit:
    """One thing the numbers cannot tell; `head` and `rows` are a table, empty where there is none."""

    title: str
    text: str
    source: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@lru_cache(maxsize=1)
def limits() -> tuple[Limit, ...]:
    """Return what the numbers cannot tell, from the shipped data and `data/calibration.yaml`.

    Raises
    ------
    BadInput
        If the file of measurements is missing.
    """
    played = measured.blind_play().to_dict("records")
    filled = plain_text(
        "limits.yaml.j2",
        played=played,
        kinds=[meaning for name, meaning in FINDINGS.items() if any(r.get(name, 0) > 0 for r in played)],
        read=measured.customers_read(),
        store=load_store(),
        sets=measured.languages_of_sets(),
        languages=LANGUAGES,
        widths=measured.calibration()["half_widths"],
        traps=BAND_TRAPS,
        **detector_quality(),
        verdicts=measured.verdicts_in_play(),
        interval=proportion_interval,
        least_rate=measured.least_rate,
        span=span,
        listed=lambda names: format_list(names, locale="en"),
    )
    return tuple(
        Limit(
            one["title"], one["text"], one["source"], tuple(one.get("head", ())), tuple(map(tuple, one.get("rows", ())))
        )
        for one in yaml.safe_load(filled)
    )


def detector_quality() -> dict[str, Any]:
    """Return how good the detectors are, for pages: ``detectors`` (rows, none without an extra that has any) and their goals."""
    found: dict[str, Any] = {"detectors": []}
    for quality in offers("detector_quality"):
        found |= quality()
    return found


def limits_page() -> str:
    """Return `limits` as Markdown, for ``data/limits.md``."""
    parts = [HEAD]
    for limit in limits():
        parts.append(f"## {limit.title}\n\n{fill(limit.text, WIDTH, break_long_words=False, break_on_hyphens=False)}")
        if limit.head:
            lines = [limit.head, tuple("---" for _ in limit.head), *limit.rows]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        parts.append(f"Source: {limit.source}.")
    return "\n\n".join(parts) + "\n"


def in_words(limit: Limit) -> dict[str, Any]:
    """Return a limit for a page that is not Markdown."""
    plain = {name: getattr(limit, name).replace("`", "").replace("*", "") for name in ("title", "text", "source")}
    return plain | {"head": limit.head, "rows": limit.rows}
