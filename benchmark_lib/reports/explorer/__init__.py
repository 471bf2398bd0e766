"""The explorer: find a conversation, read it, compare it with another one, and say whether its verdicts are right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .compare import compare_html, first_difference
from .filters import Index
from .labels import read_labels, save_label

if TYPE_CHECKING:
    from ...analysis.frames import Results
    from ...store import Store
    from .widgets import Explorer

__all__ = ["Index", "compare_html", "compare_trials", "explore", "first_difference", "read_labels", "save_label"]

LABELS_FILE = "data/labels.csv"


def explore(results: Results, *, labels: str | Path = LABELS_FILE, store: Store | None = None) -> Explorer:
    """The explorer as a widget.

    Parameters
    ----------
    results : Results
        The runs to explore.
    labels : path
        CSV file to which labels are added.
    store : Store, optional
        The store they were played on; by default the one the run files name.
    """
    from .widgets import Explorer

    return Explorer(results, labels=labels, store=store)


def compare_trials(
    results: Results, left: tuple[str, str, int], right: tuple[str, str, int], *, store: Store | None = None
) -> Any:
    """Two conversations side by side, for a notebook without widgets.

    Parameters
    ----------
    results : Results
        The runs.
    left, right : tuple of str, str, int
        run_id, case_id and trial of each.
    store : Store, optional
        As in `explore`.
    """
    from ..fetch import Shelf
    from ..transcript import Shown

    shelf = Shelf(results, store)
    return Shown(compare_html(shelf.dossier(*left), shelf.dossier(*right)))
