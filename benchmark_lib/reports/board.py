"""The board as a readable table: rounded, with denominators and intervals in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.tables.leaderboard import band_in_words
from ..scoring.metrics import METRICS, Metric, Shown, shown_on

if TYPE_CHECKING:
    import pandas as pd

CASES, BUCKET_METRICS = (
    "Cases (resolvable + must escalate + traps)",
    ("resolved", "must_escalate_success", "adversarial_success"),
)
"""The denominators of a row: of resolved and over-escalation, of escalation accuracy, and of unsafe actions."""


def readable_board(board: pd.DataFrame) -> pd.DataFrame:
    """The board with two columns for each metric: the median over trials, and the mean with its interval; rounded, shares in percent.

    Parameters
    ----------
    board : DataFrame
        As `tables.leaderboard` gives it.
    """
    import pandas as pd

    shown: dict[str, Any] = {
        "Rank": [str(r) if not pd.isna(r) else "-" for r in board["rank"]],
        "Model": list(board["entry"]),
        "Block": list(board["block"]),
    }
    if len(board):
        shown[CASES] = [
            " + ".join(f"{0 if n != n else n:.0f}" for n in row)
            for row in board[[f"{name}_n" for name in BUCKET_METRICS]].to_numpy(float)
        ]
    for name in shown_on(Shown.BOARD):
        metric = METRICS[name]
        cases = sorted({int(n) for n in board[f"{name}_n"] if n > 0})
        heading = metric.heading(cases[0] if len(cases) == 1 else None)
        shown[f"{heading}, median"] = (metric.scale.times * board[name].astype(float)).round(metric.scale.digits)
        shown[f"{metric.title}, mean (95 %)"] = [_mean(row, metric) for row in board.to_dict("records")]
        if metric.banded:
            shown["Band"] = [_band(row) for row in board.to_dict("records")]
    shown["Cost tier"] = board["cost_tier"]
    shown["Trials"] = board["trials"]
    shown["Conversations"] = board["conversations"]
    shown["Cases of"] = board["versions"]
    shown["Notes"] = board["notes"]
    return pd.DataFrame(shown)


def board_table(board: pd.DataFrame) -> Any:
    """Show the board as a sortable table in a notebook; works without a network, text is escaped."""
    import itables

    itables.init_notebook_mode(connected=False)
    itables.show(
        readable_board(board),
        order=[],
        paging=False,
        allow_html=False,
        scrollX=True,
        showIndex=False,
        classes="display compact nowrap",
        layout={"topStart": "search", "topEnd": None},
    )


def _mean(row: dict[str, Any], metric: Metric) -> str:
    """The mean with its interval."""
    return metric.scale.with_interval(*(row[f"{metric.name}{end}"] for end in ("_mean", "_low", "_high")))


def _band(row: dict[str, Any]) -> str:
    """The band with its probability, or why there is none."""
    return band_in_words(row) or "-"
