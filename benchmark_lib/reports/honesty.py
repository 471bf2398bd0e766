"""The pages in ``docs/``: the limits of the numbers, with texts in `limits.yaml.j2`, and the data dictionary."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from textwrap import fill
from typing import Any

import yaml
from babel.lists import format_list

from ..analysis.dictionary import DICTIONARY
from ..analysis.estimators.intervals import proportion_interval
from ..analysis.estimators.unsafe import BAND_TRAPS
from ..analysis.tables import recovery as measured
from ..extension import offers
from ..scoring.customer_audit import FINDINGS
from ..scoring.written import span
from ..store.world import load_store
from .html import TEXTS, plain_text
from .views import language_names

LANGUAGES = language_names()

WIDTH = 150


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
    return tuple(Limit(**one) for one in yaml.safe_load(filled))


def detector_quality() -> dict[str, Any]:
    """Return the quality of the detectors, and their goals; no rows without an extra."""
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
    return plain_text("dictionary.md.j2", frames=DICTIONARY, downloads=TEXTS["columns of downloads"])
