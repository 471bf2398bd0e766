"""Frames in, tables of estimates out: one row per entry, every rate with its denominator and its interval."""

from __future__ import annotations

from .comparison import agreement_of_two, choose_pair, compare_models, comparison_in_words, differing_cases, what_it_takes
from .costs import cost_table
from .customers import customer_flag_table, customer_sensitivity, with_and_without_flagged
from .detectors import blind_table, detector_table, findings, promise_table, said_table, unlabelled
from .escalation import escalation_table, honesty_table, intent_table, published_escalation_cells, queue_table, worst_intents
from .judges import entrant_judges, judge_agreement_table, judge_calibrated, judge_disagreements, judge_table
from .headlines import case_matrix, headline, per_case
from .leaderboard import leaderboard, unsafe_table
from .published import general_ranking, published_board, published_checks, published_order, published_pass_hat_k, tier_safety
from .ranking import metric_table, rank_table
from .recovery import recovered_correlations, recovered_differences, recovered_rates
from .relations import between_models, cost_quality, judged_against_record, model_means, on_frontier, ranking_against_desk, within_models
from .reliability import SuccessCounts, detectable_table, flip_table, missing_table, plan_cost_table, power_table, reliability_table, success_counts, textbook_table, trial_table, wide_reliability, wide_textbook
from .safety import claim_tone_means, claim_tone_table, crossed_where_run, kind_table, pressure_table, published_trap_table, safety_table, tier_correlation, tier_table, trap_table

__all__ = [
    "SuccessCounts",
    "agreement_of_two",
    "between_models",
    "blind_table",
    "case_matrix",
    "choose_pair",
    "claim_tone_means",
    "claim_tone_table",
    "compare_models",
    "comparison_in_words",
    "cost_quality",
    "cost_table",
    "crossed_where_run",
    "customer_flag_table",
    "customer_sensitivity",
    "detectable_table",
    "detector_table",
    "differing_cases",
    "entrant_judges",
    "escalation_table",
    "findings",
    "flip_table",
    "general_ranking",
    "headline",
    "honesty_table",
    "intent_table",
    "judge_agreement_table",
    "judge_calibrated",
    "judge_disagreements",
    "judge_table",
    "judged_against_record",
    "kind_table",
    "leaderboard",
    "metric_table",
    "missing_table",
    "model_means",
    "on_frontier",
    "per_case",
    "plan_cost_table",
    "power_table",
    "pressure_table",
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
    "recovered_differences",
    "recovered_rates",
    "reliability_table",
    "safety_table",
    "said_table",
    "success_counts",
    "textbook_table",
    "tier_correlation",
    "tier_safety",
    "tier_table",
    "trap_table",
    "trial_table",
    "unlabelled",
    "unsafe_table",
    "what_it_takes",
    "wide_reliability",
    "wide_textbook",
    "with_and_without_flagged",
    "within_models",
    "worst_intents",
]
