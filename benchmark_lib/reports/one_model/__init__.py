"""The report on one model: its numbers, its words, its cards, and its traps one by one."""

from .cards import report_cards, trait_lists, trap_quotes
from .report import ModelReport, model_report

__all__ = ["ModelReport", "model_report", "report_cards", "trait_lists", "trap_quotes"]
