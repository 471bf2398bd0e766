"""Run files to frames, frames to estimates with intervals.

The estimators take arrays and return small frozen results with `.estimate .low .high .se .p` where they have them, the
estimand and the method in words, and a `.reason` where a value is not defined. Nothing is loaded before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_ROOMS = {
    "estimate": ("DEFAULT_SEED", "Estimate", "exact_bound"),
    "unsafe": ("UnsafePosterior", "unsafe_posterior"),
    "passk": ("PassCurve", "case_pass_hat_k", "pass_hat_k", "pass_hat_k_curve", "pass_hat_k_interval"),
    "trials": ("FlipRate", "MissingBounds", "TrialMedian", "flip_rate", "median_over_trials", "missing_bounds"),
    "intervals": ("bootstrap_interval", "clustered_mean", "clustered_rate", "proportion_interval"),
    "comparisons": ("PairedDifference", "adjust_pvalues", "mcnemar_exact", "paired_difference", "within_trap_permutation"),
    "ranks": ("RankIntervals", "rank_intervals"),
    "correlations": ("Correlation", "WithinCorrelation", "correlation", "within_model_correlation"),
    "judge_agreement": ("Agreement", "JudgeCorrection", "agreement", "agreement_table", "judge_correction", "krippendorff_alpha"),
    "costs": ("cost_table",),
    "judges": ("entrant_judges", "judge_agreement_table", "judge_calibrated", "judge_disagreements", "judge_table"),
    "planted_judges": ("planted_verdicts",),
    "customers": ("customer_flag_table", "customer_sensitivity", "with_and_without_flagged"),
    "planning": ("minimum_detectable", "power"),
    "frames": ("Results", "load_results"),
    "ranking": ("metric_table", "rank_table"),
    "reliability": ("SuccessCounts", "detectable_table", "flip_table", "missing_table", "plan_cost_table", "power_table", "reliability_table",
                    "success_counts", "textbook_table", "trial_table", "wide_reliability", "wide_textbook"),
    "relations": ("between_models", "cost_quality", "judged_against_record", "model_means", "on_frontier", "ranking_against_desk",
                  "within_models"),
    "published": ("general_ranking", "published_board", "published_checks", "published_order", "published_pass_hat_k", "tier_safety"),
    "imports": ("import_results",),
    "exports": ("export_frames",),
    "dictionary": ("DICTIONARY",),
    "tables": ("case_matrix", "leaderboard", "metric_estimate", "unsafe_table"),
    "panels": ("PANELS", "labelled", "panel_of", "panels_in", "short_name"),
    "safety": ("claim_tone_means", "claim_tone_table", "crossed_where_run", "kind_table", "pressure_table", "published_trap_table", "safety_table",
               "tier_correlation", "tier_table", "trap_table"),
    "escalation": ("escalation_table", "honesty_table", "intent_table", "published_escalation_cells", "queue_table", "worst_intents"),
    "said": ("blind_table", "detector_table", "findings", "promise_table", "said_table", "unlabelled"),
    "compare": ("agreement_of_two", "choose_pair", "compare_models", "comparison_in_words", "differing_cases", "what_it_takes"),
    "report": ("ModelReport", "model_report"),
    "recovery": ("known_panel", "panel_runs", "play_panel", "recovered_correlations", "recovered_differences", "recovered_rates"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'benchmark_lib.analysis' has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOM_OF})
