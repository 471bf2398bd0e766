"""A conversation as static HTML that needs no widgets; every text in it is escaped."""

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
"""Texts of pages that are in no template."""


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
    """Return a filled-in template of the pages."""
    return str(templates().get_template(template).render(**values))


def plain_text(template: str, **values: Any) -> str:
    """Fill in a template of plain text without escaping; never for a page."""
    made = templates().overlay(autoescape=False)
    made.filters = made.filters | {"counted": counted, "percent": percent}
    return str(made.get_template(template).render(**values))


def transcript_css() -> str:
    """Return the style of a transcript, for pages that include it once.

    Its colours follow JupyterLab's theme, or variables such as `--db-paper` and `--db-ink`.
    """
    return (TEMPLATES / "transcript.css").read_text(encoding="utf-8")


def transcript_html(
    conversation: Conversation,
    score: dict[str, Any] | None = None,
    *,
    css: bool = True,
    **about: Any,
) -> str:
    """Return the conversation as HTML: messages, calls with their changes, acts, end.

    Without `css` the page must include `transcript_css`; `about` has other arguments of `conversation_view`.
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
    """Display a conversation in a notebook; arguments as for `transcript_html`."""
    return Html(transcript_html(conversation, score, **more))
