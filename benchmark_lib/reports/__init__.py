"""Frames and figures -> tables, pages and transcripts, and the papermill wrapper."""

from ..analysis.tables.answers import Stakes, read_stakes
from ..extension import face
from . import paper
from .answers import Answers, answers
from .explorer import compare_trials, explore, linked, linked_board, read_labels, show_agreement
from .fetch import show_conversations, show_first
from .html import board_without_flagged, readable_board
from .methods import bibtex, methods
from .notebooks import run_notebook
from .one_model import ModelReport, model_report
from .scope import badge, scope_badge, scope_in_words
from .shown import boards_by_panel, by_panel, show_figure, show_table, tables_by_panel, weigh
from .transcript import show, transcript_css, transcript_html
from .views import language_names, readable

__getattr__ = face("reports", __name__)
