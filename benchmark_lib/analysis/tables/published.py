"""Figures that others published, recomputed if possible, otherwise compared with each other.

Deskbench measured none of them: every row has ``source = "published"``. ``data/reference/README.md`` names the sources
of the files and explains their columns.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from ...project import DATA
from ...scoring.written import percent, rounded, span
from ...textfiles import read_yaml
from ..estimators.correlations import Correlation, correlation
from ..estimators.unsafe import BAND_CUTS, BAND_TRAPS, BANDS
from .rows import framed

FOLDER = DATA / "reference"
BOARD_SOURCE = "SupportAgentBench, July 2026 edition"
RANKING_SOURCE = (
    "a published ranking of language models by use case, its list for customer support (2026; the page it came "
    "from is not recorded)"
)
"""Sources of the published figures, for a caption; the folder's README has details."""
STATED_MEAN_ESCALATION = 90.6
"""Mean escalation accuracy of the 24 models in %, as stated by the publisher."""

MUST_ESCALATE, INTENTS_OF = 24, {"resolvable": 20, "must_escalate": 4}
FIELD = "mean of 24 models"
TIERS = ("$", "$$", "$$$", "$$$$")
ROUNDING = 0.5
"""Published percentages are rounded to whole numbers."""
SAID: dict[str, Any] = read_yaml(Path(__file__).with_name("published_checks.yaml"))


@lru_cache(maxsize=8)
def published_data(name: str) -> pd.DataFrame:
    """Load a file of published figures, named without its extension; copy it before changing it."""
    return pd.read_csv(FOLDER / f"{name}.csv")


def published_board() -> pd.DataFrame:
    """Return the published board of July 2026 by model, with ``band`` and ``source``."""
    board = published_data("supportagentbench_board_2026-07")
    bands = pd.cut(board["unsafe_actions_of_18"], [-1, *BAND_CUTS, 18], labels=list(BANDS)).astype("str")
    return board.assign(band=bands, source="published")


def published_pass_hat_k() -> pd.DataFrame:
    """Return tau-bench's pass^k by model, domain and k; ``usable`` is True from 2k trials."""
    table = published_data("taubench_published_pass_hat_k")
    return table.assign(usable=2 * table["k"] <= table["trials"], source="published")


def general_ranking() -> pd.DataFrame:
    """Return a general ranking (rank, score) and the published board, for models on both."""
    ranking = published_data("usecase_ranking_customer_support").dropna(subset=["supportagentbench_model"])
    ranking = ranking.rename(columns={"model": "listed_as", "supportagentbench_model": "model"})
    return ranking.merge(published_board(), on="model", how="inner")


def published_order() -> pd.DataFrame:
    """Sort the published board again by its own rule: over-escalation, then unsafe actions.

    Escalation accuracy (descending) and name decide ties. ``place`` is the place in this order, ``board_rank`` the
    published rank, and ``same`` is True if the two agree.
    """
    keys = ["over_escalation_pct", "unsafe_actions_of_18", "escalation_accuracy_pct", "model"]
    board = published_board().sort_values(keys, ascending=[True, True, False, True], ignore_index=True)
    board.insert(0, "place", range(1, len(board) + 1))
    return board[["place", "board_rank", *keys, "band", "source"]].assign(same=board["place"] == board["board_rank"])


def tier_safety() -> tuple[pd.DataFrame, Correlation]:
    """Return unsafe actions of 18 by cost tier, and the rank correlation of the two over models.

    The correlation is Spearman's, with vendors as families; a negative value means that expensive models are safer.
    """
    board = published_board()
    grouped = board.groupby("cost_tier")["unsafe_actions_of_18"]
    table = grouped.agg(models="count", mean="mean", lowest="min", highest="max").reindex(list(TIERS)).reset_index()
    dear = board["cost_tier"].map({tier: place for place, tier in enumerate(TIERS)})
    return table.assign(source="published"), correlation(dear, board["unsafe_actions_of_18"], families=board["vendor"])


def one_intent_share() -> float:
    """Return the share of unsupported requests among all published escalation misses."""
    cells = _cells("handover_rate", FIELD)
    rate = cells.loc[cells["intent"] == "unsupported_request", "value"].item()
    missed = 1 - published_board()["escalation_accuracy_pct"].mean() / 100
    return (1 - rate) / INTENTS_OF["must_escalate"] / missed


def published_checks() -> pd.DataFrame:
    """Recompute the publisher's statements from its figures; the words are in a YAML file.

    One row per check; its verdict is ``agrees``, ``disagrees``, or ``recomputed`` if nothing was stated.
    """
    rows = []
    for words, (agrees, numbers) in zip(SAID["checks"], _found(), strict=True):
        verdict = "recomputed" if agrees is None else "agrees" if agrees else "disagrees"
        wording = words["sound"] if agrees and "sound" in words else words["words"]
        texts = (words["check"], words["stated"], words["found"], verdict, wording)
        rows.append([text.format(**numbers) for text in texts])
    return framed(rows, "check stated found verdict words").assign(source="published")


def _found() -> Iterator[tuple[bool | None, dict[str, Any]]]:
    """Yield for each check whether the figures agree (or None), and the numbers of its text."""
    board, order = published_board(), published_order()
    accuracy, unsafe, resolved = (
        board[name] for name in ("escalation_accuracy_pct", "unsafe_actions_of_18", "resolution_pct")
    )
    yield order["same"].all(), {"places": len(order), "same": order["same"].sum()}
    mean = accuracy.mean()
    yield round(mean, 1) == STATED_MEAN_ESCALATION, {"stated": STATED_MEAN_ESCALATION, "mean": rounded(mean)}
    yield None, {"share": percent(one_intent_share())}
    yield None, {"bands": ", ".join(f"{(board['band'] == band).sum()} {band}" for band in BANDS)}
    yield None, _tiers_found()
    flagged, reckless = board["weak_safety_flag"] == "yes", board["band"] == "reckless"
    mark = {True: "flagged", False: "not flagged"}
    flags = zip(board["model"], unsafe, flagged, flagged != reckless, strict=True)
    odd = [f"{model} ({count:.0f} unsafe, {mark[flag]})" for model, count, flag, differs in flags if differs]
    yield not odd, {"flagged": flagged.sum(), "reckless": reckless.sum(), "odd": "; ".join(odd)}
    yield _cells_allow("handover_rate", "escalation_accuracy_pct", "must_escalate")
    yield _cells_allow("over_escalation_pct", "over_escalation_pct", "resolvable")
    rows = board[board["over_escalation_pct"] + resolved > 100 + 2 * ROUNDING].to_dict("records")
    odd = [f"{r['model']} {r['over_escalation_pct']:g} + {r['resolution_pct']:g}" for r in rows]
    yield not odd, {"models": resolved.notna().sum(), "n": len(odd), "odd": ", ".join(odd)}
    value = accuracy * MUST_ESCALATE / 100
    rows = board[(value - value.round()).abs() > ROUNDING * MUST_ESCALATE / 100 + 1e-9].to_dict("records")
    odd = [f"{r['model']} {r['escalation_accuracy_pct']:g}%" for r in rows]
    yield not odd, {"n": len(odd), "models": len(board), "odd": ", ".join(odd), "cases": MUST_ESCALATE}
    few, silent = (board["n_runs"] < 3).sum(), board["n_runs"].isna().sum()
    yield not few and not silent, {"few": few, "silent": silent}
    traps = published_data("supportagentbench_traps_2026-07")
    runs, failed, others = int(traps["runs"].max()), traps["failed_runs_rounded"], BAND_TRAPS - len(traps)
    listed, implied = int(failed.sum()), unsafe.mean() * runs
    rest = {"rest": implied - listed, "each": (implied - listed) / others, "worst": failed.max(), "others": others}
    yield None, {"listed": listed, "traps": len(traps), "implied": implied, "runs": runs, **rest}
    cell = _cells("resolution_rate", FIELD).iloc[0]
    values = {"intent": cell["intent"].replace("_", " "), "value": cell["value"], "field": FIELD}
    yield None, values | {"known": resolved.notna().sum(), "models": len(board)}


def _tiers_found() -> dict[str, Any]:
    table, rank = tier_safety()
    means = [f"{r['cost_tier']} {rounded(r['mean'])} (n = {r['models']})" for r in table.to_dict("records")]
    side = "unsure" if rank.low <= 0 <= rank.high else "safer" if rank.estimate < 0 else "less_safe"
    between = span(rank.low, rank.high, 2)
    return {"r": rounded(rank.estimate, 2), "span": between, "means": ", ".join(means), "so": SAID["tiers_say"][side]}


def _cells_allow(metric: str, overall: str, bucket: str) -> tuple[bool, dict[str, Any]]:
    """Compare an overall figure with the best value that its cells allow."""
    board, missed = published_board().set_index("model")[overall], metric == "handover_rate"
    cells = _cells(metric, *board.index)
    lost = 100 - 100 * cells["value"] if missed else cells["value"]
    known = lost.groupby(cells["model"]).sum() / INTENTS_OF[bucket]
    bound, allow, sign = (100 - known, "at most", -1) if missed else (known, "at least", 1)
    odd = [
        f"{model}: {board[model]:g}% overall, its cells allow {allow} {rounded(value)}%"
        for model, value in bound.items()
        if sign * (value - board[model]) > ROUNDING
    ]
    name = overall.removesuffix("_pct").replace("_", " ")
    return not odd, {"name": name, "models": len(bound), "n": len(odd), "odd": "; ".join(odd)}


def _cells(metric: str, *models: str) -> pd.DataFrame:
    cells = published_data("supportagentbench_cells_2026-07")
    return cells[(cells["metric"] == metric) & cells["model"].isin(models)]
