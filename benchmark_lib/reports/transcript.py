"""A conversation as static HTML that stays readable without widgets; every text in it is escaped."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from ..analysis.estimators.estimate import counted
from ..records import Conversation
from ..scoring.written import in_words, percent, unbroken, visible, words
from ..textfiles import read_yaml
from .conversation_view import as_json, conversation_view

TEMPLATES = Path(__file__).with_name("templates")
TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("texts.yaml"))
"""Texts of pages that no template holds."""


@lru_cache(maxsize=1)
def templates() -> Any:
    """Return the Jinja environment of all pages; autoescape is always on."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    environment.filters["in_words"] = in_words
    environment.filters["words"] = words
    environment.filters["unbroken"] = unbroken
    environment.filters["measure"] = lambda value: unbroken(visible(value))
    environment.filters["counted"] = counted
    environment.filters["compact"] = lambda value: visible(as_json(value))
    return environment


def render(template: str, **values: Any) -> str:
    """Return a template of the pages, filled in."""
    return str(templates().get_template(template).render(**values))


def plain_text(template: str, **values: Any) -> str:
    """Fill in a template of plain text, in which nothing is escaped: for no page."""
    made = templates().overlay(autoescape=False)
    made.filters = made.filters | {"counted": counted, "percent": percent}
    return str(made.get_template(template).render(**values))


def transcript_css() -> str:
    """Return the style of a transcript, for pages that include it once.

    Its colours follow JupyterLab's theme, or `--db-paper`, `--db-ink` and the like.
    """
    return (TEMPLATES / "transcript.css").read_text(encoding="utf-8")


def transcript_html(
    conversation: Conversation,
    score: dict[str, Any] | None = None,
    *,
    css: bool = True,
    **about: Any,
) -> str:
    """Return the conversation as an HTML fragment: messages, calls with their changes, acts, end.

    Without `css` the page must include `transcript_css`; `about` is what else `conversation_view` takes.
    """
    view = conversation_view(conversation, score, **about)
    return render("transcript.html.j2", v=view, css=css)


class Html:
    """HTML that a notebook displays."""

    def __init__(self, html: str):
        self.html = html

    def _repr_html_(self) -> str:
        return self.html


def show(conversation: Conversation, score: dict[str, Any] | None = None, **more: Any) -> Html:
    """Display a conversation in a notebook, with or without its score; takes the arguments of `transcript_html`."""
    return Html(transcript_html(conversation, score, **more))
