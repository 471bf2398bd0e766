"""A conversation as static HTML that stays readable without widgets; every text in it is escaped."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ..records import ENDINGS, Conversation

TEMPLATES = Path(__file__).with_name("templates")


@lru_cache(maxsize=1)
def templates() -> Any:
    """The Jinja environment of all pages; autoescape is always on."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["visible"] = visible
    environment.filters["compact"] = lambda value: visible(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
    return environment


_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
LONGEST = 20_000


def visible(text: Any) -> str:
    """Text with control and direction characters made visible, cut where it is longer than `LONGEST`."""
    text = str(text)
    cut = f"{text[:LONGEST]} ... ({len(text):,} characters)" if len(text) > LONGEST else text
    return _HIDDEN.sub(lambda m: f"[U+{ord(m.group()):04X}]", cut)


def transcript_html(conversation: Conversation, score: dict[str, Any] | None = None) -> str:
    """The conversation as an HTML fragment: messages, tool calls folded in, acts, what changed, how it ended.

    Parameters
    ----------
    conversation : Conversation
        The record.
    score : dict, optional
        Its score; process rules and facts are then shown.
    """
    turns: dict[int, dict[str, Any]] = {}
    for message in conversation.messages:
        turns.setdefault(message.turn, {"customer": None, "agent": None, "calls": []})[message.side] = message
    for call in conversation.tool_calls:
        turns.setdefault(call.turn, {"customer": None, "agent": None, "calls": []})["calls"].append(call)
    rules = {k.removeprefix("rule_"): v for k, v in (score or {}).items() if k.startswith("rule_")}
    return templates().get_template("transcript.html.j2").render(
        c=conversation, turns=sorted(turns.items()), score=score or {}, rules=rules, ending=ENDINGS.get(conversation.ended_by, "")
    )


class Shown:
    """Something a notebook displays as HTML."""

    def __init__(self, html: str):
        self.html = html

    def _repr_html_(self) -> str:
        return self.html


def show(conversation: Conversation, score: dict[str, Any] | None = None) -> Shown:
    """Display a conversation in a notebook, with or without its score."""
    return Shown(transcript_html(conversation, score))


def show_first(results: Any) -> Shown:
    """Display the first conversation without success, or the first of all."""
    rows = results.conversations
    failed = rows[~rows["success"].fillna(True)]
    row = (failed if len(failed) else rows).iloc[0]
    run = next(r for r in results.runs if r.run_id == row["run_id"])
    return show(run.record(row["case_id"], int(row["trial"])), run.scores().get(row["record_hash"]))
