"""Turn frames and figures into tables, pages and transcripts; run notebooks with papermill."""

from importlib import import_module
from typing import Any

from ..analysis.tables.answers import Stakes, read_stakes
from ..extension import face
from . import paper
from .answers import Answers, answers, scope_in_words
from .explorer.labels import read_labels, show_agreement
from .fetch import show_conversations, show_first
from .html import board_without_flagged, readable_board, show, transcript_css, transcript_html
from .methods import bibtex, methods
from .notebooks import run_notebook
from .one_model import ModelReport, model_report
from .shown import boards_by_panel, by_panel, show_figure, show_table, tables_by_panel
from .terminal import language_names, readable

_LATE = {"explore": ".explorer.widget", "linked": ".explorer.links", "linked_board": ".explorer.links"}
"""Names that need the widgets of JupyterLab, and their modules, which load on first use."""


def __getattr__(name: str) -> Any:
    return getattr(import_module(_LATE[name], __name__), name) if name in _LATE else face("reports", __name__)(name)
