"""Turn frames into tables of estimates: one row per entry, rates with n and interval.

`results` is the result of `load_results`, or only its frame of conversations for a table that needs no run file.
"""

from ...extension import face, public
from .comparison import Comparison, compare
from .conditions import (
    claim_tone_effects,
    claim_tone_means,
    claim_tone_table,
    crossed_where_run,
    families_of,
    hard_failures,
    hard_in_words,
    hard_table,
    language_table,
    most_telling,
)
from .costs import cost_lines, cost_table, plan_cost_table
from .escalation import (
    escalation_table,
    honesty_table,
    intent_table,
    misses_by_intent,
    published_escalation_cells,
    queue_table,
    worst_intents,
)
from .headlines import case_matrix, headline, metric, metric_table, per_case
from .leaderboard import leaderboard, unsafe_table
from .nuisance import (
    customer_flag_table,
    customer_sensitivity,
    customer_turn_table,
    first_to_break,
    rules_by_turn,
    rules_cost,
    rules_kept,
    rules_of,
    rules_table,
    runs_with_rules,
    shift_in_words,
    shift_table,
    with_and_without_flagged,
    with_and_without_rules,
    wording_table,
)
from .pairs import (
    agreement_of_two,
    choose_pair,
    chosen_runs,
    compare_runs,
    comparison_table,
    differing_cases,
    effort_in_words,
    effort_table,
    settings_table,
    what_it_takes,
)
from .paper import paper
from .published import (
    general_ranking,
    published_board,
    published_checks,
    published_order,
    published_pass_hat_k,
    tier_safety,
)
from .recovery import (
    intervals_held,
    recovered_correlations,
    recovered_estimators,
    recovered_in_short,
    recovered_rates,
    trap_coverage,
)
from .relations import between_models, cost_quality, model_means, on_frontier, ranking_against_desk, within_models
from .reliability import (
    SuccessCounts,
    detectable_table,
    flip_table,
    missing_table,
    observed_repeats,
    planning_in_words,
    power_table,
    reliability_table,
    repeat_table,
    success_counts,
    textbook_table,
    trial_table,
    wide_reliability,
    wide_textbook,
)
from .safety import (
    debatable_acts,
    debatable_table,
    kind_table,
    noted,
    pressure_table,
    published_trap_table,
    safety_table,
    tier_correlation,
    tier_table,
    trap_intervals,
    trap_table,
    without_debatable,
)
from .scope import group_table, scope_table
from .verdicts import comparison_in_words

__all__ = public("tables", globals())
"""The functions imported here, and those that extras offer."""

__getattr__ = face("tables", __name__)
