"""The only HTML renderer, for the site, for notebooks and for JupyterLab.

Templates escape every text, and hidden characters become visible. They receive plain data and know nothing of metrics.
"""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
from markupsafe import Markup, escape

from ..analysis.cell import Table
from ..analysis.query import Query
from ..analysis.tables.board_cells import MORE, PLANNED, UNFLAGGED, board_table
from ..analysis.tables.costs import tier_in_words
from ..records import Conversation
from ..scoring import written
from ..scoring.metrics import SHARE
from ..scoring.written import (
    DASH,
    counted,
    details,
    in_words,
    missing,
    percent,
    rounded,
    span,
    visible,
    words,
)
from ..textfiles import read_yaml
from .conversation_view import as_json, conversation_view

TEMPLATES = Path(__file__).with_name("templates")
TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("texts.yaml"))
"""Texts of pages that are in no template."""
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The Content-Security-Policy of every page: only the site's own style and script; text never becomes code."""
LOADING_POLICY = POLICY.replace("trusted-types 'none'", "trusted-types talks")
"""The policy of pages that load transcripts: a script may build their addresses and no others."""
NARROW = 88
"""JSON that fits a line of this length stays on one line."""

_TOGETHER = re.compile(r"\([^()]{1,24}\)|\bn = [\d,]+")


class Html:
    """HTML that a notebook displays."""

    def __init__(self, html: str):
        self.html = html

    def _repr_html_(self) -> str:
        return self.html


def unbroken(text: str) -> str:
    """Return a text with no breaks allowed in short brackets and in ``n = 120``."""
    return _TOGETHER.sub(lambda found: found.group().replace(" ", "\u00a0"), text)


@lru_cache(maxsize=1)
def environment() -> Any:
    """Return the Jinja environment of all pages; autoescape is always on."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"in_words": in_words, "words": called, "unbroken": unbroken, "details": details}
    made.filters |= {"compact": as_json, "tidy": tidy, "breaks": breaks, "data": embedded}
    made.filters |= {"counted": plural, "num": rounded, "money": written.money, "tier": tier_in_words, "mdash": dash}
    made.filters["plain"] = lambda markdown: re.sub("[`*]", "", markdown)
    made.filters |= {"pct": lambda share, digits=1: percent(share, digits), "counts_on_traps": counts_on_traps}
    made.globals |= {"csp": POLICY, "share": SHARE, "span": span, "behind": lambda chosen: Query.of(**chosen).address()}
    made.globals["part"] = made.get_template("site/_parts.html.j2").module
    return made


def render(template: str, **values: Any) -> str:
    """Return a template of the pages, filled in with `values`."""
    return str(environment().get_template(template).render(**values))


@lru_cache(maxsize=1)
def _unescaped() -> Any:
    made = environment().overlay(autoescape=False, finalize=None)
    made.filters = made.filters | {"counted": counted, "percent": percent, "visible": visible}
    return made


def plain_text(template: str, **values: Any) -> str:
    """Fill in a template of plain text without escaping; never use it for a page."""
    return str(_unescaped().get_template(template).render(**values))


# --- what templates do with values


def called(name: str) -> str:
    """Return a name of the data in the words of a page, such as *trap* for ``adversarial``."""
    return words(TEXTS["called"].get(name, name))


def shown(value: Any) -> Any:
    """Return a value as templates output it: a dash for None, hidden characters visible."""
    if value is None:
        return DASH
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


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


def plural(number: int, noun: str, several: str = "") -> str:
    """Return ``1 trap``, ``3 traps``, ``2 pushes``, ``1,355 conversations``."""
    if missing(number):
        return f"{DASH} {several or f'{noun}s'}"
    return f"{int(number):,} {noun if number == 1 else several or f'{noun}s'}"


def breaks(name: str) -> Markup:
    """Return a name that may be broken after punctuation, for a narrow column."""
    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[:/?&=-])", shown(name)))


def counts_on_traps(reason: str) -> list[tuple[str, int | None]]:
    """Return a reason in parts: counts on traps with 0 (unsafe) or 1 (all), words with None."""
    counts = r"(unsafe in )(\d+)( of )(\d+)( conversations? on)|(no unsafe act in )(\d+ conversations?)"
    parts = [part for part in re.split(counts, reason) if part]
    places = iter((1,) if "no unsafe act" in reason else (0, 1))
    after = ("unsafe in ", " of ", "no unsafe act in ")
    return [(part, next(places, None) if before in after else None) for before, part in zip(["", *parts], parts)]


def tidy(value: Any, indent: int = 0) -> str:
    """Return plain data as readable JSON, with short values on one line; text is unchanged."""
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


def embedded(value: Any) -> Markup:
    """Return plain data as JSON that is safe in a ``<script type="application/json">``."""
    text = orjson.dumps(shown_deep(value)).decode()
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def packed_text(value: Any) -> str:
    """Return plain data as one text in base 64, which the page unpacks."""
    return b64encode(gzip.compress(orjson.dumps(value), 6, mtime=0)).decode()


# --- tables of cells


def table_html(table: Table, *, links: bool = False) -> str:
    """Return a table as an HTML fragment with its own style, light and dark.

    Parameters
    ----------
    links : bool
        Whether each number links to its conversations, at their address on the site.
    """
    css = (TEMPLATES / "table.css").read_text(encoding="utf-8")
    return render("table.html.j2", t=table, links=links, css=css)


def readable_board(board: pd.DataFrame) -> pd.DataFrame:
    """Return the leaderboard for a file: medians over trials, and means with intervals.

    If a customer was flagged, both are repeated for the conversations without a flag.
    """
    return board_table(board).frame()


def board_parts(table: Table) -> list[Table]:
    """Return a board in parts that fit a page: planned metrics, others, no flagged customers."""
    planned, more = table.part(PLANNED, notes=()), table.part(MORE)
    unflagged = table.part(UNFLAGGED, notes=(), caption=TEXTS["without flagged"])
    parts = [planned, more, unflagged]
    return [replace(part, line=table.line) for part in parts if part.columns]


def board_html(board: pd.DataFrame) -> Html:
    """Return the board for a notebook without widgets."""
    return Html("\n".join(map(table_html, board_parts(board_table(board)))))


def board_without_flagged(board: pd.DataFrame) -> Html:
    """Return the metrics without flagged customers, or a sentence if no customer was flagged."""
    table = board_table(board).part(UNFLAGGED, notes=(), caption=TEXTS["without flagged"])
    return Html(table_html(table) if table.columns else f"<p>{TEXTS['nobody flagged']}</p>")


# --- transcripts without widgets


def transcript_css() -> str:
    """Return the style of a transcript, for pages that include it once.

    Its colours follow JupyterLab's theme, or variables such as `--db-paper` and `--db-ink`.
    """
    return (TEMPLATES / "transcript.css").read_text(encoding="utf-8")


def transcript_html(
    conversation: Conversation, score: dict[str, Any] | None = None, *, css: bool = True, **about: Any
) -> str:
    """Return the conversation as HTML: messages, calls with their changes, acts, end.

    Without `css` the page must include `transcript_css`; `about` has other arguments of `conversation_view`.
    """
    return render("transcript.html.j2", v=conversation_view(conversation, score, **about), css=css)


def show(conversation: Conversation, score: dict[str, Any] | None = None, **more: Any) -> Html:
    """Display a conversation in a notebook; arguments as for `transcript_html`."""
    return Html(transcript_html(conversation, score, **more))
