"""Arrays in, estimates out: every number with its interval, its estimand and its method, or NaN with a reason."""

from __future__ import annotations

from .agreement import Agreement, JudgeCorrection, agreement, agreement_table, judge_correction, krippendorff_alpha
from .comparisons import PairedDifference, adjust_pvalues, mcnemar_exact, paired_difference, within_trap_permutation
from .correlations import Correlation, WithinCorrelation, correlation, within_model_correlation
from .estimate import DEFAULT_SEED, Estimate, Headline, exact_bound
from .intervals import bootstrap_interval, clustered_mean, clustered_rate, proportion_interval
from .passk import PassCurve, case_pass_hat_k, pass_hat_k, pass_hat_k_curve, pass_hat_k_interval
from .planning import minimum_detectable, power
from .ranks import RankIntervals, rank_intervals
from .trials import FlipRate, MissingBounds, flip_rate, median_and_mean, missing_bounds
from .unsafe import UnsafePosterior, unsafe_headline, unsafe_posterior

__all__ = [
    "Agreement",
    "Correlation",
    "DEFAULT_SEED",
    "Estimate",
    "FlipRate",
    "Headline",
    "JudgeCorrection",
    "MissingBounds",
    "PairedDifference",
    "PassCurve",
    "RankIntervals",
    "UnsafePosterior",
    "WithinCorrelation",
    "adjust_pvalues",
    "agreement",
    "agreement_table",
    "bootstrap_interval",
    "case_pass_hat_k",
    "clustered_mean",
    "clustered_rate",
    "correlation",
    "exact_bound",
    "flip_rate",
    "judge_correction",
    "krippendorff_alpha",
    "mcnemar_exact",
    "median_and_mean",
    "minimum_detectable",
    "missing_bounds",
    "paired_difference",
    "pass_hat_k",
    "pass_hat_k_curve",
    "pass_hat_k_interval",
    "power",
    "proportion_interval",
    "rank_intervals",
    "unsafe_headline",
    "unsafe_posterior",
    "within_model_correlation",
    "within_trap_permutation",
]
