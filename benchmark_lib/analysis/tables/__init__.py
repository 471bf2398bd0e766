"""Turn frames into tables of estimates: one row per entry, rates with n and interval.

`results` is the result of `load_results`, or only its frame of conversations for a table that needs no run file.
"""

from ...extension import face, public
from .board_cells import paper
from .comparison import Comparison, compare
from .conditions import claim_tone_effects, families_of, hard_failures, hard_table, language_table
from .costs import cost_lines, cost_table
from .headlines import case_matrix, headline, metric, metric_table, per_case
from .leaderboard import leaderboard, unsafe_table
from .measurements import published_board, published_pass_hat_k, trap_coverage
from .nuisance import (
    customer_flag_table,
    rules_cost,
    rules_kept,
    rules_of,
    rules_table,
    runs_with_rules,
    shift_in_words,
    shift_table,
    with_and_without_rules,
    wording_table,
)
from .pairs import (
    choose_pair,
    chosen_runs,
    compare_runs,
    comparison_table,
    differing_cases,
    effort_in_words,
    effort_table,
)
from .relations import between_models, cost_quality, model_means, on_frontier, within_models
from .reliability import (
    SuccessCounts,
    detectable_table,
    power_table,
    reliability_table,
    success_counts,
    trial_table,
    wide_reliability,
)
from .safety import (
    escalation_table,
    honesty_table,
    intent_table,
    kind_table,
    misses_by_intent,
    pressure_table,
    published_escalation_cells,
    queue_table,
    safety_table,
    trap_intervals,
    trap_table,
    worst_intents,
)
from .scope import scope_table
from .verdicts import comparison_in_words

__all__ = public("tables", globals())
"""The functions imported here, and those that extras offer."""

__getattr__ = face("tables", __name__)
