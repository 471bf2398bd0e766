"""The figures others have published, recomputed where possible and otherwise compared with each other.

Nothing here was measured by Deskbench: every row carries ``source = "published"``. Where the files come from and what
their columns mean stands in ``data/reference/README.md``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...project import DATA
from ...scoring.written import percent, rounded, span
from ..estimators.correlations import correlation
from ..estimators.unsafe import BAND_CUTS, BANDS

if TYPE_CHECKING:
    import pandas as pd

    from ..estimators.correlations import Correlation

FOLDER = DATA / "reference"
BOARD_SOURCE = "SupportAgentBench, July 2026 edition"
RANKING_SOURCE = "a published ranking of language models by use case, its list for customer support (2026; the page it came from is not recorded)"
"""Where the published figures come from, for a caption; more in the folder's README."""
STATED_MEAN_ESCALATION = 90.6
"""Mean escalation accuracy of the 24 models in %, as the publisher states it."""

MUST_ESCALATE, INTENTS_OF = 24, {"resolvable": 20, "must_escalate": 4}
FIELD = "mean of 24 models"
TIERS = ("$", "$$", "$$$", "$$$$")
ROUNDING = 0.5
"""Published percentages are rounded to whole numbers."""


@lru_cache(maxsize=8)
def published_data(name: str) -> pd.DataFrame:
    """The published figures of one file of ``data/``, by its name without ending; shared, so copy before changing."""
    import pandas as pd

    return pd.read_csv(FOLDER / f"{name}.csv")


def published_board() -> pd.DataFrame:
    """The published board of July 2026 with its bands.

    Returns
    -------
    DataFrame
        One row per model: the columns of the file, ``band`` by the published cuts, and ``source`` (always
        ``published``).
    """
    import pandas as pd

    board = published_data("supportagentbench_board_2026-07").copy()
    edges = [-1, *BAND_CUTS, 18]
    board["band"] = pd.cut(board["unsafe_actions_of_18"], edges, labels=list(BANDS)).astype("str")
    return board.assign(source="published")


def published_pass_hat_k() -> pd.DataFrame:
    """The pass^k that tau-bench published.

    Model, domain, tasks, trials, k, pass_hat_k, usable (at least 2k trials), source.
    """
    table = published_data("taubench_published_pass_hat_k")
    return table.assign(usable=2 * table["k"] <= table["trials"], source="published")


def general_ranking() -> pd.DataFrame:
    """A general ranking for customer support and the published desk metrics, for the models on both lists.

    Returns
    -------
    DataFrame
        One row per model on both lists: rank, score and columns of the board.
    """
    ranking = published_data("usecase_ranking_customer_support").dropna(subset=["supportagentbench_model"])
    ranking = ranking.rename(columns={"model": "listed_as", "supportagentbench_model": "model"})
    return ranking.merge(published_board(), on="model", how="inner")


def published_order() -> pd.DataFrame:
    """The board sorted again by its own rule: over-escalation, unsafe actions, escalation accuracy (higher is better), name.

    Returns
    -------
    DataFrame
        model, the three figures, ``place`` as sorted here, ``board_rank`` as published, and ``same``.
    """
    keys = ["over_escalation_pct", "unsafe_actions_of_18", "escalation_accuracy_pct", "model"]
    board = published_board().sort_values(keys, ascending=[True, True, False, True], ignore_index=True)
    board.insert(0, "place", range(1, len(board) + 1))
    return board[["place", "board_rank", *keys, "band", "source"]].assign(same=board["place"] == board["board_rank"])


def tier_safety() -> tuple[pd.DataFrame, Correlation]:
    """Does a more expensive model act more safely? Unsafe actions by cost tier, and their rank correlation over models.

    Returns
    -------
    table : DataFrame
        One row per tier: models, mean, lowest and highest count of unsafe actions of 18.
    found : Correlation
        Spearman's, vendors as families; a negative value says that dearer is safer.
    """
    board = published_board()
    grouped = board.groupby("cost_tier")["unsafe_actions_of_18"]
    table = grouped.agg(models="count", mean="mean", lowest="min", highest="max").reindex(list(TIERS)).reset_index()
    dear = board["cost_tier"].map({tier: place for place, tier in enumerate(TIERS)})
    return table.assign(source="published"), correlation(dear, board["unsafe_actions_of_18"], families=board["vendor"])


def published_checks() -> pd.DataFrame:
    """What the publisher states, recomputed from its own figures, and where those figures disagree with each other.

    Returns
    -------
    DataFrame
        One row per check: check, stated, found, verdict (``agrees``, ``disagrees`` or ``recomputed`` where nothing is
        stated), words.
    """
    import pandas as pd

    rows = [
        _check_order(),
        _check_mean(),
        _check_one_intent(),
        _check_bands(),
        _check_tiers(),
        _check_flags(),
        *_check_cells(),
        _check_both(),
        _check_medians(),
        _check_runs(),
        _check_traps(),
        _check_field(),
    ]
    return pd.DataFrame(rows, columns=["check", "stated", "found", "verdict", "words"]).assign(source="published")


def _check_order() -> tuple[str, ...]:
    order = published_order()
    same = int(order["same"].sum())
    return (
        "board order",
        f"{len(order)} places",
        f"{same} places agree",
        _verdict(same == len(order)),
        "sorted by over-escalation, unsafe actions, escalation accuracy, name",
    )


def _check_mean() -> tuple[str, ...]:
    mean = published_board()["escalation_accuracy_pct"].mean()
    return (
        "mean escalation accuracy",
        f"{STATED_MEAN_ESCALATION} %",
        f"{rounded(mean)} %",
        _verdict(round(mean, 1) == STATED_MEAN_ESCALATION),
        "plain mean over the 24 models, of figures that are already rounded",
    )


def one_intent_share(intent: str = "unsupported_request") -> float:
    """Share of all escalation misses of the field that come from one of the four must-escalate intents of six cases each."""
    cells = published_data("supportagentbench_cells_2026-07")
    rate = cells[(cells["model"] == FIELD) & (cells["intent"] == intent) & (cells["metric"] == "handover_rate")][
        "value"
    ].item()
    missed = 1 - published_board()["escalation_accuracy_pct"].mean() / 100
    return (1 - rate) / INTENTS_OF["must_escalate"] / missed


def _check_one_intent() -> tuple[str, ...]:
    return (
        "misses from one intent",
        "-",
        f"{percent(one_intent_share())} from unsupported requests",
        "recomputed",
        "a quarter of the cases account for nearly all of the misses: escalation accuracy on this board is mostly a test of that intent",
    )


def _check_bands() -> tuple[str, ...]:
    counts = published_board()["band"].value_counts()
    return (
        "bands",
        "0-2, 3-5, 6 or more",
        ", ".join(f"{counts.get(b, 0)} {b}" for b in BANDS),
        "recomputed",
        "the published counts carry no interval, so no model's band is certain",
    )


def _check_tiers() -> tuple[str, ...]:
    table, found = tier_safety()
    means = ", ".join(
        f"{row['cost_tier']} {rounded(row['mean'])} (n = {row['models']})" for row in table.to_dict("records")
    )
    return (
        "tier against safety",
        "-",
        f"Spearman {rounded(found.estimate, 2)}, 95 % {span(found.low, found.high, 2)}",
        "recomputed",
        f"mean unsafe actions by tier: {means}; "
        + (
            "the interval contains 0, so these models cannot tell"
            if found.low <= 0 <= found.high
            else "more expensive is safer"
            if found.estimate < 0
            else "more expensive is less safe"
        ),
    )


def _check_flags() -> tuple[str, ...]:
    board = published_board()
    flagged, reckless = board["weak_safety_flag"] == "yes", board["band"] == "reckless"
    odd = [
        f"{r['model']} ({r['unsafe_actions_of_18']:.0f} unsafe, {'flagged' if f else 'not flagged'})"
        for r, f, bad in zip(board.to_dict("records"), flagged, reckless, strict=True)
        if f != bad
    ]
    return (
        "weak-safety flag",
        f"{flagged.sum()} flagged",
        f"{reckless.sum()} in the worst band",
        _verdict(not odd),
        "; ".join(odd) or "the same models",
    )


def _check_cells() -> list[tuple[str, ...]]:
    """An overall figure cannot be better than its published cells allow, were every other cell perfect."""
    board = published_board().set_index("model")
    rows: list[tuple[str, ...]] = []
    for metric, overall, bucket, scale, sign in (
        ("handover_rate", "escalation_accuracy_pct", "must_escalate", 100, -1),
        ("over_escalation_pct", "over_escalation_pct", "resolvable", 1, 1),
    ):
        cells = published_data("supportagentbench_cells_2026-07")
        mine = cells[(cells["metric"] == metric) & cells["model"].isin(board.index)]
        lost = (100 - scale * mine["value"]) if sign < 0 else scale * mine["value"]
        known = (lost.groupby(mine["model"]).sum() / INTENTS_OF[bucket]).to_dict()
        bound = {m: (100 - v if sign < 0 else v) for m, v in known.items()}
        odd = [
            f"{m}: {board.loc[m, overall]:g} % overall, its cells allow {'at most' if sign < 0 else 'at least'} {rounded(b)} %"
            for m, b in bound.items()
            if sign * (b - board.loc[m, overall]) > ROUNDING
        ]
        words = "; ".join(odd) + (
            ": comparing a median over runs with a pooled mean would explain it"
            if odd
            else "every overall figure is consistent with its cells"
        )
        rows.append(
            (
                f"{overall.removesuffix('_pct').replace('_', ' ')} and its cells",
                f"{len(bound)} models with cells",
                f"{len(odd)} are inconsistent",
                _verdict(not odd),
                words,
            )
        )
    return rows


def _check_both() -> tuple[str, ...]:
    board = published_board().dropna(subset=["resolution_pct"])
    total = board["over_escalation_pct"] + board["resolution_pct"]
    odd = board[total > 100 + 2 * ROUNDING]
    named = ", ".join(
        f"{r['model']} {r['over_escalation_pct']:g} + {r['resolution_pct']:g}" for r in odd.to_dict("records")
    )
    return (
        "handed over and resolved",
        f"{len(board)} models with both",
        f"{len(odd)} above 100 % together",
        _verdict(odd.empty),
        f"{named}: some handed-over conversations must have been counted as resolved; in Deskbench none is"
        if named
        else "no conversation is counted as both",
    )


def _check_medians() -> tuple[str, ...]:
    board = published_board()
    value = board["escalation_accuracy_pct"] * MUST_ESCALATE / 100
    fits = (value - value.round()).abs() <= ROUNDING * MUST_ESCALATE / 100 + 1e-9
    odd = [f"{m} {v:g} %" for m, v in board.loc[~fits, ["model", "escalation_accuracy_pct"]].itertuples(index=False)]
    return (
        "medians throughout",
        "median over runs",
        f"{len(odd)} of {len(board)} cannot be medians",
        _verdict(not odd),
        f"{', '.join(odd)}: not a whole number of {MUST_ESCALATE} cases, so a pooled mean"
        if odd
        else f"all are whole numbers of {MUST_ESCALATE} cases",
    )


def _check_runs() -> tuple[str, ...]:
    runs = published_board()["n_runs"]
    few = int((runs < 3).sum())
    return (
        "three runs per model",
        "mostly 3",
        f"{few} with fewer, {runs.isna().sum()} not stated",
        _verdict(few == 0 and runs.notna().all()),
        "single runs are ranked with medians of three without any mark",
    )


def _check_traps() -> tuple[str, ...]:
    board, traps = published_board(), published_data("supportagentbench_traps_2026-07")
    runs, listed = int(traps["runs"].max()), int(traps["failed_runs_rounded"].sum())
    implied = board["unsafe_actions_of_18"].mean() * runs
    rest, others = implied - listed, 18 - len(traps)
    worst = traps["failed_runs_rounded"].max()
    return (
        "unsafe runs by trap",
        f"{listed} in {len(traps)} listed traps",
        f"about {implied:.0f} by the board",
        "recomputed",
        f"the {others} traps without a figure must account for about {rest:.0f}, {rest / others:.0f} of {runs} runs each, as many as the worst "
        f"listed one ({worst})",
    )


def _check_field() -> tuple[str, ...]:
    cells, board = published_data("supportagentbench_cells_2026-07"), published_board()
    told = int(board["resolution_pct"].notna().sum())
    cell = cells[(cells["model"] == FIELD) & (cells["metric"] == "resolution_rate")].iloc[0]
    return (
        "means over all models",
        f"{cell['intent'].replace('_', ' ')} resolution {cell['value']:g}, {FIELD}",
        f"{told} of {len(board)} publish a resolution",
        "recomputed",
        f"the mean is given for 24 models, but only {told} of the figures behind it: it cannot be checked",
    )


def _verdict(agrees: Any) -> str:
    return "agrees" if agrees else "disagrees"
