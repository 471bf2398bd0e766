"""The list of conversations in JupyterLab: find one, read it, compare it with another, label it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...analysis.frames import Results
from ...analysis.query import Query
from ...store import Store
from ..fetch import Shelf, compare_html, first_difference
from ..transcript import Html
from .labels import LABELS_FILE, import_labels, read_labels, save_label

if TYPE_CHECKING:
    from .links import LinkedPage
    from .widget import ConversationList

__all__ = [
    "compare_html",
    "compare_trials",
    "explore",
    "first_difference",
    "import_labels",
    "linked",
    "linked_board",
    "read_labels",
    "save_label",
    "show_agreement",
]


def explore(
    results: Results,
    *,
    where: Query | str = "",
    labels: str | Path = LABELS_FILE,
    labeller: str = "",
    store: Store | None = None,
) -> ConversationList:
    """Return the list of conversations as a widget; it is the list of the site, and needs no site.

    Parameters
    ----------
    where : Query or str
        The conversations that are listed at first, as in `Results.where`: ``"entry=gpt-5.5 resolved=no"``.
    labels : path
        CSV file to which every label is added at once.
    labeller : str
        Who labels; asked for before the first answer where it is empty.
    store : Store, optional
        The store that they were played on; by default the one that the run files name.

    Returns
    -------
    ConversationList
        ``selection`` is the frame of the conversations that are listed, ``query`` says which; set it to list others.

    Raises
    ------
    BadInput
        For text that is no query, and for a field that does not exist.
    """
    from .widget import ConversationList

    found = ConversationList(results, labels=labels, store=store, labeller=labeller)
    found.choose(where)
    return found


def linked(*given: Any, **options: Any) -> LinkedPage:
    """Return a readable table whose counts and shares lead to their conversations, see `links.linked`."""
    from .links import linked

    return linked(*given, **options)


def linked_board(*given: Any, **options: Any) -> LinkedPage:
    """Return the board, whose numbers lead to the conversations they count, see `links.linked_board`."""
    from .links import linked_board

    return linked_board(*given, **options)


def show_agreement(table: pd.DataFrame) -> Any:
    """Show the agreement of labellers in a notebook, pair by pair, from `tables.label_agreement_table`."""
    from .labels import agreement_html

    return Html(agreement_html(table))


def compare_trials(
    results: Results, left: tuple[str, str, int], right: tuple[str, str, int], *, store: Store | None = None
) -> Any:
    """Show two conversations side by side, for a notebook without widgets.

    Parameters
    ----------
    left, right : tuple of str, str, int
        run_id, case_id and trial of each.
    store : Store, optional
        As in `explore`.
    """
    shelf = Shelf(results, store)
    return Html(compare_html(shelf.dossier(*left), shelf.dossier(*right)))
