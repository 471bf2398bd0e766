"""Estimates -> Axes: ``figure(*, data, ax=None, width="page") -> Axes``, and `save`."""

from .board import escalation_both_ways, messages_against_resolution, unsafe_intervals, value_picture
from .captions import caption
from .compare import chance_to_know, differences, differing_cases, in_the_field
from .escalation import directions_by_intent, handover_precision, queue_matrix, two_directions
from .hard import hard_families
from .monitoring import found_in_time, weekly_rate
from .operator_rules import kept_by_turn
from .ranking import band_chances, metric_intervals, rank_places
from .relations import correlation_forest, cost_frontier, models_as_points
from .reliability import flip_bars, pass_decay, power_curves, textbook_decay, trial_spread
from .safety import (
    claim_by_tone,
    failure_kinds,
    pressure_chart,
    trap_matrix,
    trap_states,
    unsafe_by_tier,
    unsafe_counts,
)
from .settings import setting_steps
from .style import COLUMN_WIDTH, FULL_WIDTH, new_axes, save, save_all, use_style, why_not_saved

__all__ = [
    "COLUMN_WIDTH",
    "FULL_WIDTH",
    "band_chances",
    "caption",
    "chance_to_know",
    "claim_by_tone",
    "correlation_forest",
    "cost_frontier",
    "differences",
    "directions_by_intent",
    "escalation_both_ways",
    "failure_kinds",
    "flip_bars",
    "found_in_time",
    "handover_precision",
    "hard_families",
    "in_the_field",
    "kept_by_turn",
    "messages_against_resolution",
    "metric_intervals",
    "models_as_points",
    "new_axes",
    "differing_cases",
    "pass_decay",
    "power_curves",
    "pressure_chart",
    "queue_matrix",
    "rank_places",
    "save",
    "save_all",
    "setting_steps",
    "textbook_decay",
    "trap_matrix",
    "trap_states",
    "trial_spread",
    "two_directions",
    "unsafe_by_tier",
    "unsafe_counts",
    "unsafe_intervals",
    "use_style",
    "value_picture",
    "weekly_rate",
    "why_not_saved",
]
