"""Arrays in, estimates out: every number with its interval, its estimand and its method, or NaN with a reason."""

from __future__ import annotations

from .agreement import Agreement, JudgeCorrection, agreement, agreement_table, judge_correction, krippendorff_alpha
from .alarms import RateAlarms, dispersion_allowed, dispersion_of, rate_alarms, rate_change
from .comparisons import (
    Comparison,
    PairedDifference,
    adjust_pvalues,
    adjusted,
    compare_paired,
    mcnemar_exact,
    paired_difference,
    within_case_permutation,
)
from .correlations import Correlation, WithinCorrelation, correlation, within_model_correlation
from .estimate import DEFAULT_SEED, Estimate, Headline, exact_bound
from .intervals import bootstrap_interval, cautious_share, clustered_mean, clustered_rate, proportion_interval
from .passk import PassCurve, case_pass_hat_k, pass_hat_k, pass_hat_k_curve, pass_hat_k_interval
from .planning import minimum_detectable, power, power_of_difference
from .ranks import RankIntervals, order_chances, rank_intervals
from .trials import (
    FlipRate,
    MissingBounds,
    TrialShift,
    flip_rate,
    median_and_mean,
    missing_bounds,
    repeat_correlation,
    trial_shift,
)
from .unsafe import UnsafePosterior, unsafe_headline, unsafe_posterior
from .wording import wording_spread

__all__ = [
    "Agreement",
    "Comparison",
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
    "RateAlarms",
    "TrialShift",
    "UnsafePosterior",
    "WithinCorrelation",
    "adjust_pvalues",
    "adjusted",
    "agreement",
    "agreement_table",
    "bootstrap_interval",
    "case_pass_hat_k",
    "cautious_share",
    "clustered_mean",
    "clustered_rate",
    "compare_paired",
    "correlation",
    "dispersion_allowed",
    "dispersion_of",
    "exact_bound",
    "flip_rate",
    "judge_correction",
    "krippendorff_alpha",
    "mcnemar_exact",
    "median_and_mean",
    "minimum_detectable",
    "missing_bounds",
    "paired_difference",
    "order_chances",
    "pass_hat_k",
    "pass_hat_k_curve",
    "pass_hat_k_interval",
    "power",
    "power_of_difference",
    "proportion_interval",
    "rank_intervals",
    "rate_alarms",
    "rate_change",
    "repeat_correlation",
    "trial_shift",
    "wording_spread",
    "unsafe_headline",
    "unsafe_posterior",
    "within_model_correlation",
    "within_case_permutation",
]
