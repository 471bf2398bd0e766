"""Turn arrays into estimates with interval, estimand and method, or NaN with a reason.

Without `rng`, draws come from a generator seeded with `DEFAULT_SEED`.
"""

from ...extension import face, public
from .agreement import (
    Agreement,
    Correlation,
    JudgeCorrection,
    agreement,
    agreement_table,
    correlation,
    judge_correction,
    within_model_correlation,
)
from .comparisons import (
    Contrast,
    PairedDifference,
    adjust_pvalues,
    adjusted,
    compare_paired,
    paired_difference,
    simultaneous,
    within_case_permutation,
)
from .estimate import DEFAULT_SEED, Estimate, Headline, exact_bound
from .intervals import bootstrap_interval, cautious_share, clustered_mean, clustered_rate, proportion_interval
from .planning import minimum_detectable, power
from .trials import (
    MissingBounds,
    PassCurve,
    TrialShift,
    case_pass_hat_k,
    flip_rate,
    median_and_mean,
    missing_bounds,
    pass_hat_k,
    pass_hat_k_curve,
    pass_hat_k_interval,
    trial_shift,
    wording_spread,
)
from .unsafe import UnsafePosterior, unsafe_headline, unsafe_posterior

__all__ = public("estimators", globals())
"""The functions imported here, and those that extras offer."""

__getattr__ = face("estimators", __name__)
