"""Estimates -> Axes: ``figure(*, data, ax=None) -> Axes``, and `save`."""

from .board import escalation_both_ways, messages_against_resolution, unsafe_intervals, value_picture
from .style import COLUMN_WIDTH, FULL_WIDTH, new_axes, save, use_style

__all__ = ["COLUMN_WIDTH", "FULL_WIDTH", "escalation_both_ways", "messages_against_resolution", "new_axes", "save", "unsafe_intervals",
           "use_style", "value_picture"]  # fmt: skip
