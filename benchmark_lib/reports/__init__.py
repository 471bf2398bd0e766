"""Frames and figures -> tables, pages and transcripts, and the papermill wrapper."""

from .board import board_table, readable_board
from .notebooks import run_notebook
from .transcript import show, show_first, transcript_html

__all__ = ["board_table", "readable_board", "run_notebook", "show", "show_first", "transcript_html"]
