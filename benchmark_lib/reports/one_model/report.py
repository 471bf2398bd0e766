"""One model's conversations among those of its panel: what every table of its report is made from."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ...analysis.entries import entry_meant
from ...analysis.estimators.estimate import Headline
from ...analysis.frames import Results
from ...analysis.panels import conversations_of
from ...analysis.tables.customers import both_forms
from ...analysis.tables.leaderboard import leaderboard
from ...errors import BadInput
from ...scoring.metrics import METRICS


@dataclass(frozen=True, eq=False)
class ModelReport:
    """One model and the others of its panel.

    Attributes
    ----------
    entry, panel : str
        Its name in every table, and what kind of thing it is.
    field : DataFrame
        The conversations of every model of its panel, its own among them.
    board : DataFrame
        Their rows of the leaderboard.
    planned : int
        Conversations its runs were planned to have.
    """

    entry: str
    panel: str
    mine: pd.DataFrame
    field: pd.DataFrame
    board: pd.DataFrame
    planned: int

    @cached_property
    def row(self) -> dict[str, Any]:
        """Its row of the leaderboard."""
        return self.board[self.board["entry"] == self.entry].iloc[0].to_dict()

    @cached_property
    def comparable(self) -> pd.DataFrame:
        """The board, by entry, of those with at least half of the cases that any has."""
        board = self.board.set_index("entry")
        met = board[["resolved_n", "escalation_accuracy_n", "unsafe_n"]].sum(axis=1)
        return board[2 * met >= met.max()]

    @cached_property
    def others(self) -> set[str]:
        """The others that medians are taken over: those `comparable` ones that played all of their cases."""
        return set(self.comparable.index[self.comparable["partial"].eq("")]) - {self.entry}

    @property
    def why_no_field(self) -> str:
        """Why there is no median of the others; empty if there is one."""
        return "" if self.others else "no other model played all cases"

    @cached_property
    def forms(self) -> dict[str, tuple[Headline, Headline]]:
        """Each metric over all its conversations, and over those whose customer was not flagged."""
        return dict(zip(METRICS, both_forms(self.mine, METRICS), strict=True))


def model_report(results: Results | pd.DataFrame, entry: str | None = None) -> ModelReport:
    """Gather what the report on one model needs.

    Parameters
    ----------
    entry : str, optional
        Its name in the tables, or a run file; by default the one with the most conversations, language models before scripted agents.

    Raises
    ------
    BadInput
        If there are no conversations, or none of this entry.
    """
    rows = conversations_of(results)
    if rows.empty:
        raise BadInput("there are no conversations to report on: run a model first with `deskbench run MODEL`")
    sizes = rows.groupby(["panel", "entry"], sort=False).size().reset_index(name="conversations")
    sizes["scripted"] = sizes["panel"].isin(["scripted agents", "recovery panel"])
    known = list(sizes.sort_values(["scripted", "conversations"], ascending=[True, False], kind="stable")["entry"])
    name = known[0] if entry is None else entry_meant(results, entry)
    if name not in known:
        raise BadInput(f"no conversations of {name!r} are here: choose among {', '.join(sorted(known)[:12])}")
    panel = sizes.loc[sizes["entry"] == name, "panel"].iloc[0]
    field = rows[rows["panel"] == panel]
    mine = field[field["entry"] == name]
    told, every = int(mine["planned"].iloc[0]) if "planned" in mine else 0, mine[["trial", "case_id"]].nunique().prod()
    planned = max(told, int(every))
    board = leaderboard(rows)  # of all entries: what the others played decides what is below the line
    return ModelReport(str(name), str(panel), mine, field, board[board["panel"] == panel], planned)
