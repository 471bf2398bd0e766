"""The estimators in the words of a reader of the pages: what each number answers, and how it is computed."""

import inspect

from ...analysis import estimators
from .words import first_paragraph

WORDS = {
    "median_and_mean": (
        "What is the headline of a metric?",
        "The median over trials is what is published elsewhere; the mean over cases is given with it, because it has an interval.",
    ),
    "clustered_mean": (
        "How long or how costly is a conversation on cases like these?",
        "Mean over cases with a 95% interval of Student's t; cases of one intent resemble each other and are treated as one cluster.",
    ),
    "clustered_rate": (
        "How often does something happen on cases like these?",
        "Mean share over cases. Its interval allows for cases of one intent resembling each other, and holds near 0% and 100% as well.",
    ),
    "cautious_share": (
        "What share of right answers is surely reached, even with few cases?",
        "The exact interval with whole cases as the unit, and nothing borrowed from other cases: repeating a case never makes it count twice.",
    ),
    "unsafe_posterior": (
        "How many unsafe actions are to be expected, and in which band?",
        "A Bayesian model of the chance of each trap gives the count on these traps, the count on 18 traps like these, and the probability of each band. "
        "More trials narrow only the first.",
    ),
    "unsafe_headline": (
        "What is the headline of the unsafe actions?",
        "The median count of a trial, and the mean count on these traps with its 95% interval.",
    ),
    "pass_hat_k": (
        "Would it succeed every time if asked k times?",
        "pass^k: for each case the chance that k trials drawn from those played all succeed; then the mean over cases.",
    ),
    "pass_hat_k_interval": ("How sure is pass^k?", "Its 95% interval for cases like these."),
    "pass_hat_k_curve": (
        "How does reliability fall with the number of tries?",
        "pass^k for several k; beyond the trials that were played it is an extrapolation and is marked as one.",
    ),
    "case_pass_hat_k": ("How reliable is it on a single case?", "pass^k of each case, before the mean is taken."),
    "flip_rate": ("Does it do the same thing twice?", "The chance that two trials of one case end differently."),
    "missing_bounds": (
        "What if conversations are missing?",
        "The share if all missing conversations had failed, and if all had succeeded: the truth lies between.",
    ),
    "proportion_interval": (
        "How sure is a share of independent conversations?",
        "The 95% interval of Wilson, or the exact one where asked for.",
    ),
    "exact_bound": (
        "What can be said if every case gave the same result?",
        "The exact bound: 0 of 18 is compatible with up to 18.5%.",
    ),
    "bootstrap_interval": (
        "How sure is a number without a formula?",
        "Whole cases, or whole clusters of cases, are drawn again and again; the spread of the results is the interval.",
    ),
    "paired_difference": (
        "Do two models differ?",
        "Only cases that both played are compared, each with itself; the interval and the p-value come from these differences.",
    ),
    "within_trap_permutation": (
        "Do two models differ on exactly these traps?",
        "Trials are swapped between the models within each trap, in every possible way; the p-value is exact.",
    ),
    "mcnemar_exact": (
        "Do two models differ where each played once?",
        "An exact test of the cases in which only one of them succeeded.",
    ),
    "adjust_pvalues": (
        "Is one small p-value of many a coincidence?",
        "P-values are raised according to how many comparisons were made.",
    ),
    "rank_intervals": (
        "Which places are possible?",
        "All places that the pairwise differences leave open, with 95% confidence for all models together.",
    ),
    "power": (
        "Would a difference be noticed?",
        "The chance that a test of this many cases and trials detects a given difference.",
    ),
    "minimum_detectable": (
        "Which difference would be noticed?",
        "The smallest difference that is detected with the chance asked for.",
    ),
    "correlation": (
        "Do two metrics go together from model to model?",
        "Spearman's rank correlation over models; whole model families are drawn again for its interval.",
    ),
    "within_model_correlation": (
        "Do two metrics go together within a model?",
        "Correlation over conversations, with the difficulty of each case taken out.",
    ),
    "agreement": ("Do two judges agree?", "Raw agreement, and agreement beyond chance (kappa, AC1)."),
    "agreement_table": (
        "Which verdicts of two judges go together?",
        "A table of counts; what either left unscored is left out.",
    ),
    "krippendorff_alpha": ("Do several judges agree?", "Krippendorff's alpha: 1 is perfect agreement, 0 is chance."),
    "judge_correction": (
        "What would people have said?",
        "The judged mean, corrected by the difference between judge and people on a random subset that people labelled.",
    ),
}
"""By function of `benchmark_lib.analysis.estimators`: the question it answers, and how, in plain words."""


def in_words() -> list[tuple[str, str, str]]:
    """Question, answer and function of every estimator; one without own words speaks by the first line of its documentation."""
    functions = [name for name in estimators.__all__ if inspect.isfunction(getattr(estimators, name))]
    known = [name for name in WORDS if name in functions]
    return [(*WORDS[name], name) for name in known] + [
        (name.replace("_", " ").capitalize(), first_paragraph(getattr(estimators, name)).replace("`", ""), name)
        for name in functions
        if name not in WORDS
    ]
