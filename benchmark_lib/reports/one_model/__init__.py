"""One model among those of its panel, as its page on the site and notebook 20 show it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ...analysis.entries import entry_meant
from ...analysis.estimators.estimate import Headline
from ...analysis.frames import Results
from ...analysis.panels import SCRIPTED, conversations_of
from ...analysis.tables.leaderboard import leaderboard
from ...analysis.tables.nuisance import both_forms
from ...errors import BadInput
from ...scoring.metrics import METRICS


@dataclass(frozen=True, eq=False)
class ModelReport:
    """One model: its conversations, those of its panel (`field`), and the panel's board."""

    entry: str
    panel: str
    mine: pd.DataFrame
    field: pd.DataFrame
    board: pd.DataFrame

    @classmethod
    def of(cls, rows: pd.DataFrame, board: pd.DataFrame, entry: str, panel: str = "") -> "ModelReport":
        """Return the report on an entry, from all conversations and their leaderboard."""
        panel = panel or str(rows.loc[rows["entry"] == entry, "panel"].iloc[0])
        field = rows[rows["panel"] == panel]
        return cls(entry, panel, field[field["entry"] == entry], field, board[board["panel"] == panel])

    @cached_property
    def row(self) -> dict[str, Any]:
        """Its row of the leaderboard."""
        return self.board[self.board["entry"] == self.entry].iloc[0].to_dict()

    @cached_property
    def comparable(self) -> pd.DataFrame:
        """The board, by entry, of models with at least half as many cases as the one with most."""
        board = self.board.set_index("entry")
        met = board[["resolved_n", "escalation_accuracy_n", "unsafe_n"]].sum(axis=1)
        return board[2 * met >= met.max()]

    @cached_property
    def others(self) -> set[str]:
        """The other `comparable` models that played all their cases; medians are over these."""
        return set(self.comparable.index[self.comparable["partial"].eq("")]) - {self.entry}

    @property
    def why_no_field(self) -> str:
        """The reason why there is no median of the others; empty if there is one."""
        return "" if self.others else "no other model played all cases"

    @cached_property
    def forms(self) -> dict[str, tuple[Headline, Headline]]:
        """Each metric over all its conversations, and over those with an unflagged customer."""
        return dict(zip(METRICS, both_forms(self.mine, METRICS), strict=True))


def model_report(results: Results | pd.DataFrame, entry: str | None = None) -> ModelReport:
    """Return the report on one model.

    Parameters
    ----------
    entry : str, optional
        Its name in the tables, or a run file; by default the one with the most conversations.

    Raises
    ------
    BadInput
        If there are no conversations, or none of this entry.
    """
    rows = conversations_of(results)
    if rows.empty:
        raise BadInput("there are no conversations to report on: run a model first with `deskbench run MODEL`")
    sizes = rows.groupby(["panel", "entry"], sort=False).size().reset_index(name="conversations")
    sizes["scripted"] = sizes["panel"].isin(SCRIPTED)
    known = list(sizes.sort_values(["scripted", "conversations"], ascending=[True, False], kind="stable")["entry"])
    name = known[0] if entry is None else entry_meant(results, entry)
    if name not in known:
        raise BadInput(f"there are no conversations with {name!r} here: choose from {', '.join(sorted(known)[:12])}")
    return ModelReport.of(rows, leaderboard(rows), str(name))  # the others' cases decide what is below the line
