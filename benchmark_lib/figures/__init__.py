"""Draw estimates: ``figure(*, data, ax=None, width="page") -> Axes``; `save` writes files.

Without `ax` a figure makes its own axes, ``"column"`` (3.3 inches) or ``"page"`` (7 inches) wide.
"""

from ..extension import face, public
from .board_figures import (
    band_chances,
    directions_by_intent,
    escalation_both_ways,
    metric_intervals,
    queue_matrix,
    two_directions,
    unsafe_intervals,
    value_picture,
)
from .few_models import differences, differing_cases, hard_families, in_the_field
from .relations import correlation_forest, cost_frontier, models_as_points
from .reliability import pass_decay, power_curves, trial_spread
from .safety import failure_kinds, pressure_chart, trap_matrix, trap_states
from .style import COLUMN_WIDTH, FULL_WIDTH, caption, new_axes, save, save_all, use_style, why_not_saved

__all__ = public("figures", globals())
"""The functions imported here, and those that extras offer."""

__getattr__ = face("figures", __name__)
