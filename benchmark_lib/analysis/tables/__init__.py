"""Frames in, tables of estimates out: one row per entry, every rate with its denominator and its interval."""

from __future__ import annotations

from .comparison import (
    agreement_of_two,
    choose_pair,
    comparison_in_words,
    comparison_table,
    differing_cases,
    what_it_takes,
)
from .costs import cost_lines, cost_table
from .customers import customer_flag_table, customer_sensitivity, with_and_without_flagged
from .debatable import debatable_acts, debatable_table, noted, without_debatable
from .detectors import (
    claims_table,
    detector_table,
    findings,
    measured,
    measured_by_detector,
    promise_ledger,
    promise_quality,
    promise_table,
)
from .drift import shift_in_words, shift_table
from .escalation import (
    escalation_table,
    honesty_table,
    intent_table,
    published_escalation_cells,
    queue_table,
    worst_intents,
)
from .groups import group_table
from .hard import families_of, hard_failures, hard_in_words, hard_table, language_table, most_telling
from .headlines import case_matrix, headline, per_case
from .judges import entrant_judges, judge_agreement_table, judge_calibrated, judge_disagreements, judge_table
from .labels import label_agreement_table
from .leaderboard import leaderboard, unsafe_table
from .many import chosen_runs, compare_runs
from .operator_rules import (
    first_to_break,
    rules_by_turn,
    rules_cost,
    rules_kept,
    rules_of,
    rules_table,
    runs_with_rules,
    with_and_without_rules,
)
from .paper import PaperTable, paper
from .planning import (
    detectable_table,
    observed_repeats,
    plan_cost_table,
    planning_in_words,
    power_table,
    repeat_table,
)
from .planted_truth import recovered_estimators, recovered_in_short
from .pressure import claim_tone_effects
from .published import (
    general_ranking,
    published_board,
    published_checks,
    published_order,
    published_pass_hat_k,
    tier_safety,
)
from .ranking import metric_table, rank_table
from .recovery import intervals_held, recovered_correlations, recovered_differences, recovered_rates
from .red_flags import red_flag_floor_in_words, red_flag_table
from .relations import (
    between_models,
    cost_quality,
    judged_against_record,
    model_means,
    on_frontier,
    ranking_against_desk,
    within_models,
)
from .reliability import (
    SuccessCounts,
    flip_table,
    missing_table,
    reliability_table,
    success_counts,
    textbook_table,
    trial_table,
    wide_reliability,
    wide_textbook,
)
from .safety import (
    claim_tone_means,
    claim_tone_table,
    crossed_where_run,
    kind_table,
    pressure_table,
    published_trap_table,
    safety_table,
    tier_correlation,
    tier_table,
    trap_table,
)
from .scope import scope_table
from .settings import effort_in_words, effort_table, settings_table
from .tone import tone_between_models, tone_table
from .wordings import wording_table

__all__ = [
    "PaperTable",
    "SuccessCounts",
    "agreement_of_two",
    "between_models",
    "case_matrix",
    "choose_pair",
    "chosen_runs",
    "claim_tone_means",
    "claim_tone_effects",
    "claim_tone_table",
    "comparison_table",
    "compare_runs",
    "comparison_in_words",
    "cost_lines",
    "cost_quality",
    "cost_table",
    "crossed_where_run",
    "customer_flag_table",
    "customer_sensitivity",
    "debatable_acts",
    "debatable_table",
    "detectable_table",
    "detector_table",
    "effort_in_words",
    "effort_table",
    "measured",
    "measured_by_detector",
    "differing_cases",
    "entrant_judges",
    "escalation_table",
    "findings",
    "families_of",
    "flip_table",
    "general_ranking",
    "group_table",
    "hard_failures",
    "hard_in_words",
    "hard_table",
    "headline",
    "honesty_table",
    "intent_table",
    "judge_agreement_table",
    "judge_calibrated",
    "judge_disagreements",
    "judge_table",
    "judged_against_record",
    "kind_table",
    "language_table",
    "label_agreement_table",
    "leaderboard",
    "metric_table",
    "intervals_held",
    "missing_table",
    "model_means",
    "most_telling",
    "on_frontier",
    "per_case",
    "noted",
    "observed_repeats",
    "paper",
    "plan_cost_table",
    "planning_in_words",
    "power_table",
    "pressure_table",
    "promise_ledger",
    "promise_quality",
    "promise_table",
    "published_board",
    "published_checks",
    "published_escalation_cells",
    "published_order",
    "published_pass_hat_k",
    "published_trap_table",
    "queue_table",
    "rank_table",
    "ranking_against_desk",
    "recovered_correlations",
    "recovered_estimators",
    "recovered_in_short",
    "recovered_differences",
    "recovered_rates",
    "reliability_table",
    "repeat_table",
    "red_flag_floor_in_words",
    "red_flag_table",
    "safety_table",
    "scope_table",
    "settings_table",
    "shift_in_words",
    "shift_table",
    "claims_table",
    "success_counts",
    "textbook_table",
    "tier_correlation",
    "tier_safety",
    "tier_table",
    "tone_between_models",
    "tone_table",
    "trap_table",
    "trial_table",
    "unsafe_table",
    "what_it_takes",
    "rules_by_turn",
    "rules_cost",
    "first_to_break",
    "rules_kept",
    "runs_with_rules",
    "rules_of",
    "rules_table",
    "wide_reliability",
    "wide_textbook",
    "with_and_without_flagged",
    "within_models",
    "without_debatable",
    "with_and_without_rules",
    "worst_intents",
    "wording_table",
]
