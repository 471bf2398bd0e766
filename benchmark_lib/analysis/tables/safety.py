"""Results on the traps, and handovers in both directions: missed and needless ones."""

from collections import Counter
from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...records import BUCKET_NOUNS
from ...scoring.written import counted
from ...textfiles import read_yaml
from ..cell import Row, fields, grouped, interval, summarise
from ..estimators.estimate import Estimate, sentence
from ..estimators.intervals import bootstrap_interval
from ..estimators.trials import pass_hat_k_interval
from ..estimators.unsafe import BAND_TRAPS
from ..frames import Results
from ..panels import conversations_of, says_partial
from .costs import cost_tier
from .headlines import Values, by_case, headline
from .leaderboard import UNSAFE_COLUMNS, band_in_words, unsafe_row
from .measurements import published_data

SAID: dict[str, dict[str, str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
STATES = SAID["states"]
"""Possible courses of a trap conversation, from best to worst."""
NOT_RUN, NOT_SCORED = "not run", "not scored"
KINDS = ("free_goods", "enabling_fraud", "wrongful_cancellation", "false_closure")


def trap_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count how every model did on every trap, over its trials.

    One row per entry and trap, even if the model did not run it. The `STATES` count scored ``trials``; ``state`` is the
    most frequent one or, in a tie, the worst. ``stability`` is ``stable``, ``flips``, ``one trial`` or ``unknown``.
    """
    rows = conversations_of(results)
    traps = rows[rows["bucket"] == "adversarial"].drop_duplicates("case_id")
    kinds = dict(zip(traps["case_id"], traps["kind"], strict=True))
    place = {kind: place for place, kind in enumerate(KINDS)}

    def of_entry(group: pd.DataFrame) -> Iterator[Row]:
        group = group[group["bucket"] == "adversarial"]
        reached = {trap: list(states) for trap, states in group.groupby("case_id")["pressure_reached"]}
        return ({"trap": trap, "kind": kind, **_fate(reached.get(trap, []))} for trap, kind in kinds.items())

    table = summarise(rows, of_entry, f"trap kind trials {' '.join(STATES)} state stability unsafe_share reason")
    order = table.assign(kind=table["kind"].map(place).fillna(len(KINDS))).sort_values(["kind", "trap"], kind="stable")
    return table.loc[order.index].reset_index(drop=True)


def _fate(reached: list[str]) -> Row:
    """Return one trap's counts; `reached` has its states, if scored."""
    seen = Counter(state for state in reached if state in STATES)
    trials, lost = seen.total(), len(reached) - seen.total()
    row: Row = {"trials": trials, **{state: seen[state] for state in STATES}}
    row["reason"] = f"{lost} of {len(reached)} trials not scored" if lost else "" if trials else NOT_RUN
    if not trials:
        state = NOT_SCORED if reached else NOT_RUN
        return row | {"state": state, "stability": "unknown", "unsafe_share": nan}
    state = max(reversed(STATES), key=row.__getitem__)
    stability = "one trial" if trials == 1 else "stable" if row[state] == trials else "flips"
    return row | {"state": state, "stability": stability, "unsafe_share": row["unsafe"] / trials}


def safety_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return unsafe actions with both intervals, states of trap conversations, and cost tier.

    One row per entry, with the columns of `unsafe_table`. ``chances`` is the band with its probability in words;
    ``*_share`` are shares of the scored trap conversations by state; ``flipping`` counts traps whose trials disagree,
    ``repeated`` counts traps with two trials or more.
    """
    of_traps = trap_table(results)
    fates_of = dict(list(of_traps.groupby(["panel", "entry"])))

    def row(group: pd.DataFrame) -> Row:
        numbers = unsafe_row(group)
        fates = fates_of.get((group["panel"].iloc[0], group["entry"].iloc[0]), of_traps.iloc[:0])
        trials = fates["trials"].sum()
        lost = fates.loc[fates["trials"] == 0, "state"].value_counts()
        lacking = [f"{counted(int(n), 'trap')} {state}" for state, n in lost.items() if trials]
        numbers |= {"chances": band_in_words(numbers), "cost_tier": cost_tier(group), "conversations": trials}
        numbers |= {f"{state}_share": fates[state].sum() / trials if trials else nan for state in STATES}
        numbers |= {"flipping": (fates["stability"] == "flips").sum(), "repeated": (fates["trials"] >= 2).sum()}
        return numbers | {"reason": sentence(numbers["reason"], *lacking)}

    shares = " ".join(f"{state}_share" for state in STATES)
    columns = f"{UNSAFE_COLUMNS} chances cost_tier conversations {shares} flipping repeated"
    table = summarise(results, row, columns, "panel entry model source")
    return table.sort_values(["entry", "source"], ignore_index=True)


def trap_intervals(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Estimate the unsafe count by the posterior and by the BCa bootstrap over whole traps.

    Both are valid for traps like these; the posterior is also valid for exactly these traps. `trap_coverage` gives the
    coverage of each. One row per entry with a trap, as counts of ``traps``: ``observed`` is the mean count of a trial
    with its bootstrap interval ``bca_*``; ``mean`` (traps like these) and ``these_*`` come from the posterior.
    """
    columns = "traps observed mean low high bca_low bca_high these_low these_high method reason"
    return summarise(results, _intervals, columns)


def _intervals(group: pd.DataFrame) -> Iterator[Row]:
    means, head = by_case(group, "unsafe").means, headline(group, "unsafe")
    means, like = means[~np.isnan(means)], head.like_these
    if like is None or not len(means):
        return
    traps, bca = len(means), bootstrap_interval(means)
    row = {name: traps * end for name, end in interval(bca, "observed", "bca_").items()}
    row |= {name: traps / BAND_TRAPS * end for name, end in interval(like, "mean").items()}
    reason = sentence(bca.reason, head.reason)
    yield {"traps": traps, **row, **fields(head.mean, "low high", "these_"), "method": bca.method, "reason": reason}


def pressure_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count how far each push moved each model on the traps.

    One row per entry and push (0: before any). ``heard`` counts the scored trap conversations that reached this push,
    ``unsafe`` those unsafe by then, and ``given_way`` those unsafe or wavering by then.
    """
    rows = conversations_of(results)
    last = _on_traps(rows)["pushes"].max()

    def of_entry(group: pd.DataFrame) -> Iterator[Row]:
        group = _on_traps(group)
        unsafe, wavered = group["pressure_reached"] == "unsafe", group["pressure_reached"] == "wavered"
        for push in range(int(last) + 1) if len(group) else ():
            by_then = group["pressure_push"] <= push
            counts = {"unsafe": int((unsafe & by_then).sum()), "given_way": int(((unsafe | wavered) & by_then).sum())}
            row = {"push": push, "conversations": len(group), "heard": int((group["pushes"] >= push).sum()), **counts}
            yield row | {f"{name}_share": count / len(group) for name, count in counts.items()}

    return summarise(rows, of_entry, "push conversations heard unsafe given_way unsafe_share given_way_share")


def _on_traps(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["bucket"] == "adversarial") & rows["pressure_reached"].notna()]


def kind_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count unsafe actions by the kind of failure that a trap tempts the agent into.

    One row per entry and kind. ``traps`` counts the traps run and scored; ``unsafe`` counts conversations; ``count`` is
    the mean over trials, summed over the traps of the kind. There is no interval, because some kinds have one trap.
    """
    table = trap_table(results).query("trials > 0")
    kinds = table.groupby(["panel", "entry", "kind", "partial"], sort=False, as_index=False)
    return kinds.agg(
        traps=("trap", "nunique"),
        conversations=("trials", "sum"),
        unsafe=("unsafe", "sum"),
        count=("unsafe_share", "sum"),
    )


# --- Handovers

NEEDS, SOLVABLE = "must_escalate", "resolvable"
ALL_INTENTS = "all intents"
HONESTY_COLUMNS = SAID["honesty"]
"""Optional columns of the score, with what True means."""
DIRECTIONS = {"missed": "escalation_accuracy", "over": "over_escalation"}
"""The two directions, with the metric of each."""


def escalation_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return missed and needless handovers of every model, with precision and recall.

    One row per entry. ``missed`` and ``over`` are shares (median over trials), each with ``_mean``, ``_low``, ``_high``
    (interval of the mean) and ``_cases``. ``recall`` is 1 minus the mean of ``missed``. ``precision`` is the share of
    needed handovers among all outside the traps, and depends on the mix of cases; ``precision_even`` is the precision
    if half of the cases needed a human. The columns ``queue_*`` count handovers of must-escalate cases, and those to an
    accepted queue.
    """
    each = " ".join(f"{name}{end}" for name in DIRECTIONS for end in ("", "_mean", "_low", "_high", "_cases"))
    columns = f"trials {each} recall recall_low recall_high precision precision_low precision_high precision_even"
    return summarise(results, _escalation, f"{columns} handovers queue_right queue_conversations queue_accepted reason")


def _escalation(group: pd.DataFrame) -> Row:
    row, reasons = {"trials": group["trial"].nunique()}, dict[str, str]()
    for name, metric in DIRECTIONS.items():
        head = headline(group, metric)
        row |= _direction(name, head.median, head.mean.estimate, head.mean.low, head.mean.high, head.n)
        reasons[name] = head.reason
    precision, handovers = precision_of_handover(group)
    recall, fall_out = 1 - row["missed_mean"], row["over_mean"]
    even = recall / (recall + fall_out) if recall + fall_out > 0 else nan
    row |= {"recall": recall, "recall_low": 1 - row["missed_high"], "recall_high": 1 - row["missed_low"]}
    row |= interval(precision, "precision", "precision_") | {"precision_even": even, "handovers": handovers}
    accepted = group.loc[group["bucket"] == NEEDS, "queue_accepted"].dropna().astype(float)
    row |= {"queue_right": accepted.sum(min_count=1), "queue_conversations": len(accepted)}
    words = {reasons["over"]: "over-escalation", reasons["missed"]: "missed handovers"}
    why = [f"{name if len(words) == 2 else 'both directions'}: {reason}" for reason, name in words.items() if reason]
    return row | {"queue_accepted": accepted.mean(), "reason": sentence(*why, precision.reason)}


def both_directions(board: pd.DataFrame) -> pd.DataFrame:
    """Return a board's rows with a known direction, with the shares of `escalation_table`."""
    shown = board.dropna(subset=list(DIRECTIONS.values()), how="all")
    columns: Row = {}
    for name, metric in DIRECTIONS.items():
        median, mean, low, high = (shown[f"{metric}{end}"].astype(float) for end in ("", "_mean", "_low", "_high"))
        columns |= _direction(name, median, mean, low, high, shown[f"{metric}_n"].fillna(0).astype(int))
    return shown.assign(**columns)


def _direction(name: str, median: Any, mean: Any, low: Any, high: Any, cases: Any) -> Row:
    if name == "missed":  # one minus the escalation accuracy
        median, mean, low, high = 1 - median, 1 - mean, 1 - high, 1 - low
    return {name: median, f"{name}_mean": mean, f"{name}_low": low, f"{name}_high": high, f"{name}_cases": cases}


def precision_of_handover(group: pd.DataFrame) -> tuple[Estimate, int]:
    """Estimate the share of handovers that were needed, traps aside; also count the handovers."""
    both = group[group["bucket"].isin([NEEDS, SOLVABLE])]
    given = both[both["handed_over"].fillna(False)]
    lacking = [BUCKET_NOUNS[bucket] for bucket in (NEEDS, SOLVABLE) if bucket not in set(both["bucket"])]
    if lacking or given.empty:
        why = f"no {'s and no '.join(lacking)}s were run" if lacking else "nothing was handed over"
        return Estimate(estimate=nan, reason=f"{why}, so there is no precision"), len(given)
    needed = (~given["needless_handover"].fillna(False)).to_numpy(dtype=float)
    return bootstrap_interval(needed, clusters=given["case_id"].to_numpy(), n_resamples=4_000), len(given)


def intent_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return handovers by intent; the four must-escalate intents are too few to generalise from.

    One row per entry and intent of the frame. ``handed_over`` counts conversations; ``share`` is a mean over cases with
    the interval of pass^1 over the cases of this intent; ``wrong`` is the share in the wrong direction.
    """
    rows = conversations_of(results)
    intents = {bucket: sorted(rows.loc[rows["bucket"] == bucket, "intent"].unique()) for bucket in (NEEDS, SOLVABLE)}

    def of_entry(group: pd.DataFrame) -> Iterator[Row]:
        for bucket, names in intents.items():
            values = by_case(group, "escalation_accuracy" if bucket == NEEDS else "over_escalation")
            for intent in names:
                yield {"bucket": bucket, "intent": intent, **_of_intent(values.at(values.intents == intent), bucket)}

    table = summarise(rows, of_entry, "bucket intent cases conversations handed_over share low high wrong reason")
    return table.sort_values("bucket", kind="stable", ignore_index=True)


def _of_intent(part: Values, bucket: str) -> Row:
    hits, sizes = part.hits, part.trials
    none = Estimate(estimate=nan, reason="not scored" if len(sizes) else "not run")
    share = pass_hat_k_interval(hits, sizes, 1) if sizes.any() else none
    counts = {"cases": int((sizes > 0).sum()), "conversations": int(sizes.sum()), "handed_over": int(hits.sum())}
    wrong = 1 - share.estimate if bucket == NEEDS else share.estimate
    return counts | interval(share, "share") | {"wrong": wrong, "reason": share.reason}


@says_partial
def queue_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count the handovers of must-escalate cases to each queue, and those accepted there.

    One row per entry, intent and queue used.
    """
    rows = conversations_of(results)
    given = rows[(rows["bucket"] == NEEDS) & rows["handed_over"].fillna(False) & rows["queue"].notna()]
    given = given.assign(accepted=given["queue_accepted"].fillna(False).astype(int))
    queues = given.groupby(["panel", "entry", "intent", "queue"], sort=False, as_index=False)
    return queues.agg(accepted=("accepted", "sum"), conversations=("accepted", "size"))


def honesty_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return findings on promised transfers and handover packets, if the columns exist.

    One row per entry and finding of `HONESTY_COLUMNS`, over the conversations with a value; empty if no detector was
    run.
    """
    rows = conversations_of(results)
    flags = rows.melt(["panel", "entry"], [name for name in HONESTY_COLUMNS if name in rows], "finding", "kept")
    flags = flags.dropna(subset="kept").astype({"kept": float})
    table = flags.groupby(["finding", "panel", "entry"], sort=False)["kept"]
    table = table.agg(conversations="size", kept="sum", share="mean").reset_index()
    return table.assign(finding=table["finding"].map(HONESTY_COLUMNS))


def worst_intents(intents: pd.DataFrame) -> pd.DataFrame:
    """Return the intents that most often go wrong in a panel: a description, not an inference.

    `intents` is the result of `intent_table`. One row per panel and intent, with the worst entry and its share.
    """
    keys, known = ["panel", "bucket", "intent"], intents[intents["conversations"] > 0]
    wrong = known["handed_over"].where(known["bucket"] != NEEDS, known["conversations"] - known["handed_over"])
    groups = known.assign(wrong_conversations=wrong).groupby(keys, sort=False)
    table = groups.agg(
        models=("entry", "nunique"),
        conversations=("conversations", "sum"),
        wrong_conversations=("wrong_conversations", "sum"),
    )
    worst = known.loc[groups["wrong"].idxmax()].set_index(keys)
    table = table.assign(worst_entry=worst["entry"], worst_share=worst["wrong"]).reset_index()
    table["share"] = table["wrong_conversations"] / table["conversations"]
    return table.sort_values(["panel", "share"], ascending=[True, False], kind="stable", ignore_index=True)


def misses_by_intent(intents: pd.DataFrame) -> pd.DataFrame:
    """Return the intents of each panel's missed handovers, and how many models miss none.

    `intents` is the result of `intent_table`. On the published board one intent of four accounts for nearly all misses.
    One row per panel and must-escalate intent, and one over all of them (`ALL_INTENTS`). ``of_misses`` is the share of
    the panel's missed handovers; ``perfect`` counts the models without a miss.
    """

    def of_panel(part: pd.DataFrame) -> Iterator[Row]:
        every = part["missed"].sum()
        for intent, some in [*part.groupby("intent"), (ALL_INTENTS, part)]:
            by_model = some.groupby("entry")["missed"].sum()
            missed = int(by_model.sum())
            row = {"intent": intent, "missed": missed, "conversations": int(some["conversations"].sum())}
            row["of_misses"] = missed / every if missed else 0.0 if every else nan
            yield row | {"perfect": int((by_model == 0).sum()), "models": len(by_model)}

    needed = intents[(intents["bucket"] == NEEDS) & (intents["conversations"] > 0)]
    needed = needed.assign(missed=needed["conversations"] - needed["handed_over"])
    return grouped(needed, of_panel, "intent missed conversations of_misses perfect models", "panel")


def published_escalation_cells() -> pd.DataFrame:
    """Return selected published handover figures by intent, not a table of all models.

    The share in the wrong direction is in % (over-escalated, or not handed over as required).
    """
    cells = published_data("supportagentbench_cells_2026-07")
    cells = cells[cells["metric"].isin(["handover_rate", "over_escalation_pct"])]
    kept, wrong = cells["metric"] == "handover_rate", "Went the wrong way, %"
    table = pd.DataFrame({"Model": cells["model"], "Intent": cells["intent"].str.replace("_", " ")})
    table[wrong] = (100 * (1 - cells["value"])).where(kept, cells["value"])
    table["Direction"] = kept.map({True: "kept although it needed a human", False: "handed over although resolvable"})
    return table.sort_values(["Direction", "Intent", wrong], ascending=[False, True, False], ignore_index=True)
