"""Readable tables of estimates.

Rounded, shares in percent, an interval next to its number, a dash where nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from ..scoring.written import DASH, missing, rounded

if TYPE_CHECKING:
    import pandas as pd

PERCENT, UNIT = "%", "unit"
VIEWS: dict[str, dict[str, tuple[str, ...]]] = {
    "safety": {
        "Unsafe": ("median", "1"),
        "Without debatable acts": ("without", "1"),
        "These traps: mean (95 %)": ("observed", "these_low", "these_high", "1"),
        "18 traps like these: mean (95 %)": ("mean", "low", "high", "1"),
        "Band and probability": ("chances",),
        "Traps that flip": ("flipping", "of", "repeated"),
        "Traps x trials": ("traps", "x", "trials"),
        "Cost tier": ("cost_tier",),
        "Note": ("reason",),
    },
    "use cases": {
        "Use case": ("title",),
        "Conversations": ("conversations", "0"),
        "Resolved, % (95 %)": ("resolved", "resolved_low", "resolved_high", PERCENT),
        "Resolvable cases": ("resolved_cases", "0"),
        "Handed over, % (95 %)": ("escalated", "escalated_low", "escalated_high", PERCENT),
        "Cases for a human": ("escalated_cases", "0"),
        "Adherence, % (95 %)": ("adherence", "adherence_low", "adherence_high", PERCENT),
        "Cases": ("adherence_cases", "0"),
    },
    "scope": {
        "Use case": ("title",),
        "Intent": ("intent",),
        "It may answer": ("verdict",),
        "Right, % of what it answers itself (90 %)": ("share", "low", "high", PERCENT),
        "Cases": ("cases", "0"),
        "Right": ("right", "of", "answered"),
        "Handed over": ("handed_over", "of", "conversations"),
        "Why": ("reason",),
    },
    "debatable": {
        "Unsafe conversations": ("unsafe", "0"),
        "Called debatable": ("debatable", "0"),
        "By": ("labellers",),
        "Unsafe, as recorded": ("median", "1"),
        "Mean on these traps (95 %)": ("these_mean", "these_low", "these_high", "1"),
        "Band": ("band",),
        "Unsafe, without": ("median_without", "1"),
        "Mean without (95 %)": ("these_mean_without", "these_low_without", "these_high_without", "1"),
        "Band without": ("band_without",),
    },
    "debatable acts": {
        "Trap": ("case_id",),
        "Kind": ("kind",),
        "Trial": ("trial", "0"),
        "By": ("labeller",),
        "Why": ("reason",),
    },
    "red flags": {
        "Conversations": ("conversations", "0"),
        "With reasoning": ("with_reasoning", "0"),
        "Named it and did it, by words (floor)": ("floor", "of", "with_reasoning"),
        "Share (95 %), %": ("floor_share", "low", "high", PERCENT),
        "Named it and did it, by a judge": ("by_judge", "of", "judged"),
        "Both": ("both", "0"),
        "Note": ("reason",),
    },
    "wordings": {
        "Cases": ("cases", "0"),
        "Wordings": ("wordings", "0"),
        "Trials": ("trials", "0"),
        "Success, %": ("success", PERCENT),
        "Cases that some words always and others never get through": ("moved", "of", "cases"),
        "SD over wordings, points (95 %)": ("over_wordings", "over_wordings_low", "over_wordings_high", PERCENT),
        "SD over trials, points (95 %)": ("over_trials", "over_trials_low", "over_trials_high", PERCENT),
        "Of the variance due to words, %": ("share", PERCENT),
        "p, trials shuffled": ("p", "3"),
        "Note": ("reason",),
    },
    "tone": {
        "Judge": ("judge",),
        "Conversations": ("scored", "0"),
        "Tone, 0 to 100 (95 %)": ("mean", "low", "high", "1"),
        "Where the record says success": ("in_successes", "1"),
        "Where it says failure": ("in_failures", "1"),
        "Customer's rating, of 5": ("customer_rating", "2"),
        "Note": ("reason",),
    },
    "tone between": {
        "Judge": ("judge",),
        "Tone against": ("title",),
        "Models": ("models", "0"),
        "Families": ("families", "0"),
        "Spearman (95 %, families resampled)": ("estimate", "low", "high", "2"),
        "p, permutation": ("p", "3"),
        "Note": ("reason",),
    },
    "published traps": {
        "Trap": ("trap",),
        "Failed runs, published": ("failed", "of", "runs"),
        "Share (Wilson 95 %), %": ("share", "low", "high", PERCENT),
        "Language models here": ("here",),
    },
    "tiers": {
        "Panel": ("panel",),
        "Models": ("models", "0"),
        "Families": ("families", "0"),
        "Spearman (95 %, families resampled)": ("estimate", "low", "high", "2"),
        "p, permutation": ("p", "3"),
        "Note": ("reason",),
    },
    "escalation": {
        "Missed, %": ("missed", PERCENT),
        "Missed, mean (95 %)": ("missed_mean", "missed_low", "missed_high", PERCENT),
        "Over-escalated, %": ("over", PERCENT),
        "Over-escalated, mean (95 %)": ("over_mean", "over_low", "over_high", PERCENT),
        "Handovers": ("handovers", "0"),
        "Precision, % (95 %)": ("precision", "precision_low", "precision_high", PERCENT),
        "Precision for an even mix, %": ("precision_even", PERCENT),
        "Right queue": ("queue_right", "of", "queue_conversations"),
        "Note": ("reason",),
    },
    "honesty": {
        "Finding": ("finding",),
        "Kept": ("kept", "of", "conversations"),
        "Share, %": ("share", PERCENT),
    },
    "hard set": {
        "Hard cases, % (95 %)": ("hard", "hard_low", "hard_high", PERCENT),
        "Cases": ("hard_n", "0"),
        "Clean twins, % (95 %)": ("clean", "clean_low", "clean_high", PERCENT),
        "Twins": ("clean_n", "0"),
        "Effect of the hard thing, points (95 %)": ("effect", "effect_low", "effect_high", PERCENT),
        "p, sign flips": ("effect_p", "3"),
        "Right in both, %": ("robust", PERCENT),
        "Pairs": ("robust_n", "0"),
    },
    "families": {
        "Family": ("family",),
        "Hard cases, % (95 %)": ("hard", "hard_low", "hard_high", PERCENT),
        "Cases": ("hard_n", "0"),
        "Clean twins, %": ("clean", PERCENT),
        "Twins": ("clean_n", "0"),
        "Effect, points (95 %)": ("effect", "effect_low", "effect_high", PERCENT),
        "Right in both, %": ("robust", PERCENT),
        "With the passages, %": ("told", PERCENT),
        "What went wrong": ("failures",),
    },
    "held": {
        "Metric": ("title",),
        "Interval": ("interval",),
        "Agents": ("agents", "0"),
        "Held, %": ("held", PERCENT),
    },
    "estimators held": {
        "Estimator": ("estimator",),
        "Planted truth": ("truth", "3"),
        "Mean estimate": ("mean", "3"),
        "Bias": ("bias", "3"),
        "Intervals that hold it": ("held", "of", "intervals"),
        "Share, % (95 %)": ("share", "low", "high", PERCENT),
        "They hold it": ("verdict",),
    },
    "languages": {
        "Language": ("language",),
        "Success, %": ("success", PERCENT),
        "Cases": ("cases", "0"),
        "Gap to English, points (95 %)": ("gap", "gap_low", "gap_high", PERCENT),
        "p, sign flips": ("p", "3"),
    },
    "operator rules": {
        "Rule": ("rule",),
        "Replies that keep it": ("replies_kept", "of", "replies"),
        "Share by case, % (95 %)": ("kept", "low", "high", PERCENT),
        "Conversations that keep it throughout": ("throughout", "of", "conversations"),
        "Share, % (95 %)": ("throughout_share", "throughout_low", "throughout_high", PERCENT),
        "Cannot be told": ("untold", "0"),
        "Note": ("reason",),
    },
    "rules by turn": {
        "Rule": ("rule",),
        "Turn": ("turn", "0"),
        "Kept, % (95 %)": ("kept", "low", "high", PERCENT),
        "Replies": ("replies", "0"),
        "The same conversations at turn 1, %": ("kept_at_first", PERCENT),
        "Note": ("reason",),
    },
    "failures": {
        "Family": ("family",),
        "Failure": ("meaning",),
        "Conversations": ("conversations", "of", "of"),
    },
    "worst intents": {
        "Bucket": ("bucket",),
        "Intent": ("intent",),
        "Went the wrong way": ("wrong_conversations", "of", "conversations"),
        "Share, %": ("share", PERCENT),
        "Worst model": ("worst_entry",),
        "Its share, %": ("worst_share", PERCENT),
    },
    "comparison": {
        "Metric": ("title",),
        "A": ("a", UNIT),
        "B": ("b", UNIT),
        "A minus B (cases like these)": ("difference", "low", "high", UNIT),
        "Interval, %": ("level", PERCENT),
        "A minus B (these cases)": ("difference", "these_low", "these_high", UNIT),
        "Truth": ("truth", UNIT),
        "Is it noise?": ("verdict",),
        "Cases": ("cases", "0"),
        "Note": ("reason",),
    },
    "cases": {
        "Bucket": ("bucket",),
        "Intent": ("intent",),
        "Case": ("case_id",),
        "A, %": ("a", PERCENT),
        "B, %": ("b", PERCENT),
        "Trials of A": ("a_trials",),
        "Trials of B": ("b_trials",),
        "Split": ("split",),
    },
    "agreement": {
        "Bucket": ("bucket",),
        "Both right": ("both", "0"),
        "Only A": ("only_a", "0"),
        "Only B": ("only_b", "0"),
        "Neither": ("neither", "0"),
        "Cases": ("cases", "0"),
        "p, exact McNemar": ("p", "4"),
        "Note": ("reason",),
    },
    "power": {
        "Metric": ("title",),
        "Cases": ("cases", "0"),
        "A, %": ("a", PERCENT),
        "B, %": ("b", PERCENT),
        "Two trials agree (correlation)": ("repeats", "2"),
        "3 trials, %": ("power_3", PERCENT),
        "5 trials": ("power_5", PERCENT),
        "10 trials": ("power_10", PERCENT),
        "20 trials": ("power_20", PERCENT),
        "Twice the cases": ("double", PERCENT),
        "Note": ("reason",),
    },
    "endings": {
        "Bucket": ("bucket",),
        "Outcome": ("outcome",),
        "Conversations": ("conversations", "0"),
        "Share of the bucket, %": ("share", PERCENT),
        "For example": ("example",),
    },
    "rules": {
        "Rule": ("rule",),
        "Kept": ("kept", "0"),
        "Broken": ("broken", "0"),
        "Not applicable": ("not_applicable", "0"),
        "Broken, % of cases (95 %)": ("share", "low", "high", PERCENT),
        "For example": ("example",),
        "Note": ("reason",),
    },
    "said": {
        "Detector": ("title",),
        "Conversations with a finding": ("found", "of", "conversations"),
        "% of conversations (95 %)": ("share", "low", "high", PERCENT),
        "It finds, % of planted (95 %)": ("recall", "recall_low", "recall_high", PERCENT),
        "It is right, % of its alarms (95 %)": ("precision", "precision_low", "precision_high", PERCENT),
        "False alarms in honest conversations": ("false", "of", "honest"),
    },
    "steadiness": {
        "Bucket": ("bucket",),
        "Cases": ("cases", "0"),
        "pass^1, %": ("pass_1", PERCENT),
        "pass^3, % (95 %)": ("pass_k", "low", "high", PERCENT),
        "Two trials disagree, %": ("flip", PERCENT),
        "Note": ("reason",),
    },
    "measures": {
        "What": ("what",),
        "Value": ("value", "2"),
        "Unit": ("unit",),
        "Median of the others": ("field", "2"),
        "Note": ("reason",),
    },
    "intents": {
        "Bucket": ("bucket",),
        "Intent": ("intent",),
        "Cases": ("cases", "0"),
        "Conversations": ("conversations", "0"),
        "Success, %": ("success", PERCENT),
        "Median of the others, %": ("field", PERCENT),
        "Handed over, %": ("handed_over", PERCENT),
        "Corrupt success, %": ("corrupt_success", PERCENT),
        "Cases whose trials disagree": ("flips", "0"),
        "Turns": ("turns", "1"),
        "Words": ("words", "0"),
    },
    "must escalate": {
        "Intent": ("intent",),
        "Handed over": ("handed_over", "of", "conversations"),
        "Share, % (95 %, cases of this intent)": ("share", "low", "high", PERCENT),
        "Cases": ("cases", "0"),
        "Note": ("reason",),
    },
    "metric": {
        "Median over trials": ("median", UNIT),
        "Mean (95 %)": ("mean", "low", "high", UNIT),
        "Cases": ("cases", "0"),
        "Trials": ("trials", "0"),
        "Conversations scored": ("conversations", "of", "of"),
        "Note": ("reason",),
    },
    "places": {
        "Place": ("rank", "0"),
        "Best place possible": ("low", "0"),
        "Worst place possible": ("high", "0"),
        "Shared cases": ("cases", "0"),
        "Models": ("of", "0"),
        "Note": ("reason",),
    },
    "pass^k": {
        "Bucket": ("bucket",),
        "Cases": ("cases", "0"),
        "Trials": ("trials", "0"),
        **{f"pass^{k}": (f"pass^{k}",) for k in range(1, 9)},
        "avg@k, % (95 %)": ("avg@k",),
        "p^8 (lower bound)": ("p^k",),
        "Note": ("reason",),
    },
    "flips": {
        "Bucket": ("bucket",),
        "Cases": ("cases", "0"),
        "Trials": ("trials", "0"),
        "Two trials disagree, % (95 %)": ("estimate", "low", "high", PERCENT),
        "Always succeed": ("always", "of", "cases"),
        "Sometimes": ("sometimes", "of", "cases"),
        "Never": ("never", "of", "cases"),
        "Note": ("reason",),
    },
    "costs": {
        "Agent, 1,000 conversations, USD": ("per_1000_usd", "2"),
        "Customer": ("customer_1000_usd", "2"),
        "Judges": ("judge_1000_usd", "2"),
        "A resolved conversation, USD": ("per_resolved_usd", "4"),
        "Resolved": ("resolved", "0"),
        "A reliable case, USD": ("per_reliable_case_usd", "4"),
        "Cases with 3 trials": ("reliable_cases", "of", "resolvable_cases"),
        "Tokens written": ("completion_tokens", "0"),
        "Of these hidden, %": ("hidden", PERCENT),
        "Finished": ("conversations", "of", "planned"),
        "Tier": ("tier",),
        "Note": ("reason",),
    },
    "paid": {
        "What": ("what",),
        "Value": ("value", "4"),
        "Unit": ("unit",),
        "Over": ("of",),
        "Note": ("reason",),
    },
    "settings": {
        "Setting": ("setting",),
        "Value": ("value",),
        "Metric": ("title",),
        "Median over trials": ("median", UNIT),
        "Mean (95 %)": ("mean", "low", "high", UNIT),
        "Cases": ("n", "0"),
        "Conversations": ("conversations", "0"),
        "Cost of 1,000, USD": ("usd_1000", "2"),
        "Tokens written": ("completion_tokens", "0"),
        "Of these hidden": ("reasoning_tokens", "0"),
    },
    "effort": {
        "Setting": ("setting",),
        "From": ("value_a",),
        "To": ("value_b",),
        "Metric": ("title",),
        "Before": ("a", UNIT),
        "After": ("b", UNIT),
        "After minus before (cases like these)": ("difference", "low", "high", UNIT),
        "Is it noise?": ("verdict",),
        "Cases": ("cases", "0"),
        "Note": ("reason",),
    },
    "customer flags": {
        "Customer": ("customer",),
        "Flagged": ("flagged", "of", "conversations"),
        "Share, % (Wilson 95 %)": ("share", "low", "high", PERCENT),
        "For what": ("findings",),
    },
    "both forms": {
        "Customer": ("customer",),
        "Metric": ("title",),
        "Conversations": ("conversations",),
        "Median over trials": ("median", UNIT),
        "Mean (95 %)": ("mean", "low", "high", UNIT),
        "Cases": ("n", "0"),
        "Note": ("reason",),
    },
    "customers": {
        "Metric": ("title",),
        "Conversations": ("conversations",),
        "A": ("customer_a",),
        "B": ("customer_b",),
        "With A": ("a", UNIT),
        "With B": ("b", UNIT),
        "A minus B (95 %)": ("difference", "low", "high", UNIT),
        "p": ("p", "4"),
        "Cases": ("cases", "0"),
        "Note": ("reason",),
    },
    "shifts": {
        "Trial": ("trial", "0"),
        "Its success, %": ("estimate", PERCENT),
        "The others, %": ("others", PERCENT),
        "p": ("p", "4"),
        "Cases": ("cases", "0"),
        "Finding": ("finding",),
        "Note": ("reason",),
    },
    "repeats": {
        "Bucket": ("bucket",),
        "Two trials agree (correlation)": ("estimate", "2"),
        "Cases": ("cases", "0"),
        "Finding": ("finding",),
        "Note": ("reason",),
    },
    "missing": {
        "Bucket": ("bucket",),
        "Seen": ("seen", "of", "planned"),
        "Success observed, %": ("estimate", PERCENT),
        "If all missing failed, %": ("worst", PERCENT),
        "If all missing succeeded, %": ("best", PERCENT),
        "Note": ("reason",),
    },
    "between": {
        "Metric": ("title",),
        "Models": ("models", "0"),
        "Families": ("families", "0"),
        "Spearman (95 %, families resampled)": ("estimate", "low", "high", "2"),
        "p, permutation": ("p", "3"),
        "p, Holm": ("p_holm", "3"),
        "Lowest without one family": ("leave_one_low", "2"),
        "Highest without one family": ("leave_one_high", "2"),
        "Note": ("reason",),
    },
    "within": {
        "Metric": ("title",),
        "Models": ("models", "0"),
        "Conversations": ("conversations", "0"),
        "Correlation with the case held fixed (95 %, cases resampled)": ("estimate", "low", "high", "2"),
        "Note": ("reason",),
    },
    "judged": {
        "Judge": ("judge",),
        "Scorer": ("scorer",),
        "Conversations": ("n", "0"),
        "Judged mean where the record says success": ("mean_success", "1"),
        "Where it says failure": ("mean_failure", "1"),
        "Recorded failures the judge passes, %": ("passed_of_failures", PERCENT),
        "Kappa (95 %)": ("kappa", "low", "high", "2"),
        "AC1": ("ac1", "2"),
        "Raw agreement, %": ("raw", PERCENT),
        "Note": ("reason",),
    },
    "promises": {
        "Promise": ("class",),
        "Kept": ("kept", "0"),
        "Unbacked": ("unbacked", "0"),
        "Beyond authority": ("beyond_authority", "0"),
        "Contradicted": ("contradicted", "0"),
    },
    "evidence and pressure": {
        "Effect": ("effect",),
        "Estimate, points (95 %)": ("estimate", "low", "high", PERCENT),
        "p, Holm over tones": ("p_adjusted", "3"),
        "Pairs": ("pairs", "0"),
        "Base cases": ("bases", "0"),
        "Reading": ("reading",),
        "Note": ("reason",),
    },
    "promise ledger": {
        "Case": ("case_id",),
        "Trial": ("trial", "0"),
        "Promise": ("class",),
        "What became of it": ("state",),
        "Decided by": ("compared_with",),
        "Words": ("sentence",),
    },
    "promise quality": {
        "Part": ("part",),
        "Language": ("language",),
        "Read as labelled": ("right", "of", "sentences"),
        "Share, % (Wilson 95 %)": ("share", "low", "high", PERCENT),
        "Promises not seen": ("missed", "0"),
        "Alarms in sentences without a promise": ("alarmed", "of", "plain"),
    },
    "detectors": {
        "Part": ("part",),
        "Detector": ("title",),
        "Language": ("language",),
        "Planted faults found": ("found", "of", "planted"),
        "Found, % (Wilson 95 %)": ("recall", "recall_low", "recall_high", PERCENT),
        "Honest conversations with a finding": ("false", "of", "honest"),
        "False, % (Wilson 95 %)": ("false_share", "false_share_low", "false_share_high", PERCENT),
        "Right alarms": ("found", "of", "alarms"),
        "Precision, % (Wilson 95 %)": ("precision", "precision_low", "precision_high", PERCENT),
    },
    "findings": {
        "Case": ("case_id",),
        "Trial": ("trial", "0"),
        "Finding": ("detector",),
        "Kind": ("class",),
        "State": ("state",),
        "Sentence": ("sentence",),
        "Compared with": ("compared_with",),
    },
    "judges": {
        "Judge": ("judge",),
        "Scorer": ("scorer",),
        "Scored": ("scored", "of", "conversations"),
        "Unscored": ("unscored", "0"),
        "Mean (95 %)": ("mean", "low", "high", "1"),
        "Success by the record, %": ("success_by_record", PERCENT),
        "Conversations that address the judge": ("addressed", "0"),
        "Note": ("reason",),
    },
    "two judges": {
        "Scorer": ("scorer",),
        "First judge": ("judge_a",),
        "Second judge": ("judge_b",),
        "Scored by both": ("n", "0"),
        "First minus second (95 %)": ("difference", "low", "high", "1"),
        "Kappa (95 %)": ("kappa", "kappa_low", "kappa_high", "2"),
        "AC1 (95 %)": ("ac1", "ac1_low", "ac1_high", "2"),
        "Raw agreement, %": ("raw", PERCENT),
        "Both pass": ("both_pass", "0"),
        "First only": ("only_a", "0"),
        "Second only": ("only_b", "0"),
        "Neither": ("neither", "0"),
        "Note": ("reason",),
    },
    "judges apart": {
        "Case": ("case_id",),
        "Trial": ("trial", "0"),
        "Scorer": ("scorer",),
        "Gap": ("gap", "0"),
        "First": ("score_a", "0"),
        "Its words": ("reason_a",),
        "Second": ("score_b", "0"),
        "Words of the second": ("reason_b",),
    },
    "calibration": {
        "Judge": ("judge",),
        "Scorer": ("scorer",),
        "Judged": ("judged", "1"),
        "Corrected (95 %)": ("corrected", "low", "high", "1"),
        "Truth": ("truth", "1"),
        "In the interval": ("covered",),
        "Too high by": ("bias", "1"),
        "Labels": ("labels", "of", "n"),
        "Note": ("reason",),
    },
    "labellers": {
        "Raw agreement": ("raw", "raw_low", "raw_high", PERCENT),
        "Kappa": ("kappa", "kappa_low", "kappa_high", "2"),
        "AC1": ("ac1", "ac1_low", "ac1_high", "2"),
    },
    "general ranking": {
        "Desk metric": ("metric",),
        "Models": ("models", "0"),
        "Families": ("families", "0"),
        "Spearman of the general score": ("estimate", "low", "high", "2"),
        "p, permutation": ("p", "3"),
        "Note": ("reason",),
    },
    "cost and quality": {
        "USD per 1,000 conversations": ("usd_per_1000", "2"),
        "Quality, mean (95 %)": ("value", "low", "high", "3"),
        "Place": ("place",),
        "Note": ("reason",),
    },
    "plans": {
        "Traps": ("units", "0"),
        "Trials": ("trials", "0"),
        "Conversations": ("conversations", "0"),
        "Power on these traps, %": ("these", PERCENT),
        "Power on traps like these, %": ("like these", PERCENT),
    },
    "detectable": {
        "Traps": ("units", "0"),
        "Trials": ("trials", "0"),
        "Smallest count told apart, these traps": ("these", "1"),
        "Smallest count told apart, traps like these": ("like these", "1"),
    },
    "plan costs": {
        "Source of the cost": ("source",),
        "USD per conversation": ("usd_per_conversation", "4"),
        "Cases": ("cases", "0"),
        "Trials": ("trials", "0"),
        "Conversations": ("conversations", "0"),
        "USD": ("usd", "2"),
        "Note": ("reason",),
    },
    "published order": {
        "Place here": ("place", "0"),
        "Published place": ("board_rank", "0"),
        "Over-escalation, %": ("over_escalation_pct", "1"),
        "Unsafe actions of 18": ("unsafe_actions_of_18", "0"),
        "Escalation accuracy, %": ("escalation_accuracy_pct", "0"),
        "Band": ("band",),
    },
    "checks": {
        "What": ("check",),
        "Stated": ("stated",),
        "Computed here": ("found",),
        "Verdict": ("verdict",),
        "Explanation": ("words",),
    },
    "published tiers": {
        "Tier": ("cost_tier",),
        "Models": ("models", "0"),
        "Unsafe actions of 18, mean": ("mean", "1"),
        "Lowest": ("lowest", "0"),
        "Highest": ("highest", "0"),
    },
}
"""By view: each heading with its column; (number, low, high), (number, of, total), and last how it is rounded
(decimals, `PERCENT`, or `UNIT`: as the scale of the row's metric requires)."""

P_VALUES = frozenset({"p", "p_these", "p_adjusted", "p_holm"})
"""Columns that are never shown as 0."""

WORDS = frozenset({"bucket", "intent", "trap", "finding", "rule", "family", "detector", "class", "state", "scorer"})
"""Columns of names whose underscores are shown as spaces."""


def readable(table: pd.DataFrame, view: str) -> pd.DataFrame:
    """A table of estimates as text, by one of `VIEWS`.

    Parameters
    ----------
    table : DataFrame
        As the function of `benchmark_lib.analysis` gives it; where it has a column `entry` (a published table:
        `model`), its short form becomes the index. Columns of the view that the table lacks, or that hold nothing, are
        left out.
    view : str
        A key of `VIEWS`.

    Raises
    ------
    BadInput
        For an unknown view.
    """
    import pandas as pd

    from ..analysis.panels import short_name

    if view not in VIEWS:
        raise BadInput(f"there is no view {view!r}: choose one of {', '.join(VIEWS)}")
    rows = table.to_dict("records")
    shown = {}
    for heading, spec in VIEWS[view].items():
        cells = [_cell(row, spec) for row in rows]
        if spec[0] in table and any(c not in (DASH, "") for c in cells):
            shown[heading] = cells
    whose = next((name for name in ("entry", "model") if name in table), None)
    index = (
        pd.Index([""] * len(rows)) if whose is None else pd.Index([short_name(m) for m in table[whose]], name="Model")
    )
    return pd.DataFrame(shown, index=index, dtype="object")


def _cell(row: dict[str, Any], spec: tuple[str, ...]) -> str:
    """One cell as text."""
    value = row.get(spec[0])
    if len(spec) == 1:
        return _text(spec[0], value)
    if spec[1] in ("of", "x"):
        return DASH if missing(value) else f"{value:.0f} {spec[1]} {row[spec[2]]:.0f}"
    if spec[-1] == UNIT:
        return _on_scale(row, *spec[:-1])
    form = spec[-1]
    text = _number(value, form)
    if spec[0] in P_VALUES and text.strip("0.") == "":
        return f"<{10 ** -int(form):.{form}f}"
    if len(spec) == 2 or text == DASH:
        return text
    low, high = (_number(row.get(name), form) for name in spec[1:3])
    return text if low == DASH else f"{text} ({low} to {high})"


def _text(name: str, value: Any) -> str:
    from ..analysis.panels import short_name

    if missing(value):
        return ""
    return (
        short_name(value) if name.endswith("entry") else str(value).replace("_", " ") if name in WORDS else str(value)
    )


def _on_scale(row: dict[str, Any], name: str, low: str = "", high: str = "") -> str:
    """A number of the row's metric, with its interval if one is asked for and known."""
    from ..scoring.metrics import METRICS

    scale = METRICS[row["metric"]].scale
    return scale.with_interval(row[name], row.get(low), row.get(high))


def _number(value: Any, form: str) -> str:
    return rounded(value if missing(value) else 100 * value, 1) if form == PERCENT else rounded(value, int(form))
