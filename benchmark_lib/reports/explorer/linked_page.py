"""A part of a page of the site in a notebook, whose numbers open the conversations they count below it."""

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anywidget
import ipywidgets as w
import traitlets as t

from ...analysis.frames import Results
from ...analysis.query import Query
from ...project import PACKAGE

LISTED = "transcripts.html#"
"""How the address of a list of conversations begins."""
_ADDRESS = re.compile(r' href="(?!#)([^"]*)"')
ROOM = ".db-page.db-page"
"""The element around a part: named twice, so that its style wins over that of JupyterLab."""


def unlinked(html: str, kept: str = "\n") -> str:
    """Return a page without its addresses, but for those within it and those that begin with `kept`."""
    return _ADDRESS.sub(lambda found: found[0] if found[1].startswith(kept) else "", html)


def scoped_style() -> str:
    """Return the style of the site for one element of a notebook, in the colours of JupyterLab's theme."""
    look = (PACKAGE / "reports" / "assets" / "site.css").read_text(encoding="utf-8").replace(":root", "&")
    look = re.sub(r"^(\s*)(?:html|body) \{", r"\1& {", look, flags=re.M)
    return f"{ROOM} {{\n{look}\n}}\n{Path(__file__).with_name('linked_page.css').read_text(encoding='utf-8')}"


class Pressed(anywidget.AnyWidget):
    """HTML that a template has escaped; the address of a link that is pressed goes to Python."""

    _esm = Path(__file__).with_name("linked_page.js")
    _css = scoped_style()
    html = t.Unicode().tag(sync=True)


class LinkedPage(w.VBox):
    """A part of a page.

    Parameters
    ----------
    html : str
        The part as the site's template writes it, every text in it escaped.
    style : bool
        False leaves the style of the site out of its static form; a page needs it once.
    **options
        As for `explore`: labels, labeller, store.

    Attributes
    ----------
    static : str
        The same without links, for viewers without widgets.
    explorer : ConversationList or None
        Made when the first number is pressed.
    """

    def __init__(self, results: Results, html: str, *, style: bool = True, **options: Any):
        super().__init__(layout=w.Layout(width="100%"))
        shown = html.replace(" data-tip=", " title=")
        self._results, self._options = results, options
        self.explorer: Any = None
        look = f"<style>{scoped_style()}</style>" if style else ""
        self.static = f'{look}<div class="db-page">{unlinked(shown)}</div>'
        self.page = Pressed(html=unlinked(shown, LISTED))
        self.page.on_msg(lambda _, message, buffers: self.pressed(message))
        self.children = [self.page]

    def pressed(self, message: Any) -> None:
        """Show the conversations of a link of the part; any other message is ignored."""
        address = message.get("address") if isinstance(message, dict) else None
        if not isinstance(address, str) or not address.startswith(LISTED) or address not in unescape(self.page.html):
            return
        if self.explorer is None:
            from .widget import ConversationList

            self.explorer = ConversationList(self._results, **self._options)
            self.children = [*self.children, self.explorer]
        self.explorer.choose(query=Query.of(unquote(address.removeprefix(LISTED))))

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        """With the plain part as well as the widget, for viewers without widgets."""
        return {**super()._repr_mimebundle_(**how), "text/html": self.static}
