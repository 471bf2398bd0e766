"""The pages in ``data/``: how to read the numbers honestly, and the data dictionary.

The texts of the limits are in `limits.yaml.j2`; no number is typed: see `analysis.tables.calibration`.
"""

from dataclasses import dataclass
from functools import lru_cache
from textwrap import fill
from typing import Any

import yaml
from babel.lists import format_list

from ..analysis.dictionary import DICTIONARY
from ..analysis.estimators.intervals import proportion_interval
from ..analysis.estimators.unsafe import BAND_TRAPS
from ..analysis.tables import calibration as measured
from ..errors import BadInput
from ..extension import offers
from ..scoring.customer_audit import FINDINGS
from ..scoring.written import span
from ..store.world import load_store
from .transcript import plain_text
from .views import language_names

LANGUAGES = language_names()

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


def write_calibration() -> None:
    """Measure again, and write ``data/calibration.yaml`` and ``data/limits.md``; for ``make calibration``.

    Raises
    ------
    BadInput
        Where the data cannot be written, as in an installed package.
    """
    found = {"half_widths": measured.measure_half_widths(), "trap_coverage": measured.measure_trap_coverage()}
    head = "# Made by `make calibration`, never by hand: how wide intervals are, and how often they hold the truth.\n"
    limits.cache_clear()
    try:
        measured.CALIBRATION.write_text(head + yaml.safe_dump(found, sort_keys=False), encoding="utf-8")
        measured.CALIBRATION.with_name("limits.md").write_text(limits_page(), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{measured.CALIBRATION} cannot be written: measure in a checkout ({error})") from None


def in_words(limit: Limit) -> dict[str, Any]:
    """Return a limit for a page that is not Markdown."""
    plain = {name: getattr(limit, name).replace("`", "").replace("*", "") for name in ("title", "text", "source")}
    return plain | {"head": limit.head, "rows": limit.rows}


HEAD = """# Data dictionary

`load_results(...)` gives these frames. `make dictionary` writes this page from the declarations in `benchmark_lib/scoring/score.py` (the
columns of the score) and `benchmark_lib/analysis/dictionary.py` (all others). A flag is true, false or unknown; a number is NaN where it is
unknown, and so is a count."""

DOWNLOADS = {
    "conversations.csv": "As the frame, and `panel`: which panel the run belongs to, such as models or scripted agents.",
    "board.csv": "A row per entry: its panel, name, settings and versions; of each metric the median over trials under its name, "
    "the mean with its 95% interval (`_mean`, `_low`, `_high`) and the cases (`_n`), and the same without flagged customers "
    "(`_without`); the band of unsafe actions with the probability of each (`p_`).",
}
"""What the files of the site's downloads have that the frames have not."""


def dictionary_page() -> str:
    """The data dictionary as Markdown, a table for each frame."""
    parts = [HEAD]
    for frame, columns in DICTIONARY.items():
        rows = [f"| `{c.name}` | {c.kind} | {c.unit} | {c.words} |" for c in columns.values()]
        parts += [
            f"## {frame} ({len(columns)} columns)",
            "\n".join(["| column | kind | unit | meaning |", "|---|---|---|---|", *rows]),
        ]
    files = [f"- `{name}`: {words}" for name, words in DOWNLOADS.items()]
    parts += ["## Files of the site", "\n".join(files)]
    return "\n\n".join(parts) + "\n"
