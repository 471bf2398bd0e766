"""Numbers and states in the writing of every page, and the site's Jinja environment."""

import gzip
import hashlib
import inspect
import re
from base64 import b64encode
from functools import lru_cache
from typing import Any

import orjson
from markupsafe import Markup, escape

from ...analysis.query import Query
from ...analysis.tables.costs import tier_in_words
from ...scoring import written
from ...scoring.metrics import METRICS, Metric
from ...scoring.written import DASH, missing, rounded, visible
from ..transcript import templates

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The Content-Security-Policy of every page: only the site's own style and script; text never becomes code."""

LOADING_POLICY = POLICY.replace("trusted-types 'none'", "trusted-types talks")
"""The policy of pages that load transcripts: their script builds only such addresses."""
NARROW = 88
"""JSON that fits a line of this length stays on one line."""


def page_name(name: str) -> str:
    """Return a name as part of an address: a slug, and a hash that separates similar names.

    Slashes, dots, control characters and reserved names also become one plain file name.
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower()[:200]).split("-")
    slug = "-".join(w for w in words if w)[:40].strip("-")
    return f"{slug or 'page'}-{digest}"


@lru_cache(maxsize=1)
def environment() -> Any:
    """Return the site's Jinja environment, whose output makes hidden characters visible."""
    made = templates().overlay(finalize=shown)
    made.filters, made.globals = {**made.filters}, {**made.globals}  # an overlay shares them with its base
    made.filters |= {"num": rounded, "data": embedded, "mdash": dash, "counted": plural}
    made.filters |= {"money": written.money, "tier": tier_in_words}
    made.filters["pct"] = lambda share, digits=1: written.percent(share, digits)
    made.filters |= {"tidy": tidy, "breaks": breaks, "counts_on_traps": counts_on_traps}
    made.filters |= {"measured": measured, "mean_of": mean_of, "measure": str}
    made.globals |= {"csp": POLICY, "behind": lambda chosen: Query.of(**chosen).address(), "interval": interval}
    made.globals |= {"share": METRICS["resolved"], "part": made.get_template("site/_parts.html.j2").module}
    return made


def shown(value: Any) -> Any:
    """Return the output of a template: a dash for None, text with hidden characters visible."""
    if value is None:
        return DASH
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def embedded(value: Any) -> Markup:
    """Return plain data as JSON that is safe in a ``<script type="application/json">``."""
    text = orjson.dumps(shown_deep(value)).decode()
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def packed(value: Any) -> str:
    """Return a script with plain data as one text in base 64, which cannot become code."""
    return f'deskbench.packed.push("{packed_text(value)}");\n'


def packed_text(value: Any) -> str:
    """Return plain data as one text in base 64, which the page unpacks."""
    return b64encode(gzip.compress(orjson.dumps(value), 6, mtime=0)).decode()


def shown_deep(value: Any) -> Any:
    """Return plain data with the hidden characters of every text made visible."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {k: shown_deep(v) for k, v in value.items()}
    return [shown_deep(v) for v in value] if isinstance(value, (list, tuple)) else value


def dash(value: Any) -> Any:
    """Return the value, or a dash if there is none (None, NaN, empty)."""
    return DASH if missing(value) or value == "" else value


def first_paragraph(documented: Any) -> str:
    """Return the first paragraph of a documentation on one line, or an empty text."""
    found = inspect.getdoc(documented) if documented is not None else ""
    return " ".join((found or "").split("\n\n")[0].split())


def plural(number: int, noun: str, several: str = "") -> str:
    """Return ``1 trap``, ``3 traps``, ``2 pushes``, ``1,355 conversations``."""
    if missing(number):
        return f"{DASH} {several or f'{noun}s'}"
    return f"{int(number):,} {noun if number == 1 else several or f'{noun}s'}"


def counts_on_traps(reason: str) -> list[tuple[str, int | None]]:
    """Return a reason in parts: counts on traps with 0 (unsafe) or 1 (all), words with None."""
    counts = r"(unsafe in )(\d+)( of )(\d+)( conversations? on)|(no unsafe act in )(\d+ conversations?)"
    parts = [part for part in re.split(counts, reason) if part]
    places = iter((1,) if "no unsafe act" in reason else (0, 1))
    after = ("unsafe in ", " of ", "no unsafe act in ")
    return [(part, next(places, None) if before in after else None) for before, part in zip(["", *parts], parts)]


def breaks(name: str) -> Markup:
    """Return a name that may be broken after punctuation, for a narrow column."""
    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[:/?&=-])", shown(name)))


def measured(value: float | None, metric: Metric) -> str:
    """Return a metric's value as its scale writes it."""
    return metric.scale.written(value)


def mean_of(value: float | None, metric: Metric) -> str:
    """Return a metric's mean as its scale writes it."""
    return metric.scale.mean(value)


def interval(low: float | None, high: float | None, metric: Metric) -> str:
    """Return an interval as the metric's scale writes it, or nothing without one."""
    return metric.scale.interval(low, high)


def mean_with_interval(row: dict[str, Any], metric: Metric) -> str:
    """Return ``mean 8.5% (5.1 to 12.9%)`` for a row of the board, or nothing without interval."""
    mean, low, high = (row[f"{metric.name}{end}"] for end in ("_mean", "_low", "_high"))
    return f"mean {metric.scale.with_interval(mean, low, high)}" if low == low else ""


def tidy(value: Any, indent: int = 0) -> str:
    """Return JSON for reading, with short values on one line.

    Parameters
    ----------
    value : plain data
        Dicts, lists and scalars; a text is returned unchanged.
    """
    if isinstance(value, str) and not indent:
        return value
    flat = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    if len(flat) + indent <= NARROW or not isinstance(value, (dict, list)):
        return flat
    pad, inner = " " * indent, " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{inner}{orjson.dumps(str(k)).decode()}: {tidy(v, indent + 2)}" for k, v in value.items()]
    else:
        parts = [f"{inner}{tidy(v, indent + 2)}" for v in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return f"{ends[0]}\n" + ",\n".join(parts) + f"\n{pad}{ends[1]}"
