"""Which models the answers compare, why the others are left out, and what to do about it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..analysis.estimators.estimate import counted
from ..analysis.frames import Results
from ..analysis.panels import conversations_of, short_name
from ..analysis.tables.answers import NO_OFFER
from ..analysis.tables.leaderboard import RESOLVES_ENOUGH
from ..commands import command_on_a_page as command
from ..scoring.written import percent, visible

FULL_TRIALS = 3
"""Trials of a full run."""
Step = tuple[str, str]
"""What to do, and the command for it; empty where there is none."""


@dataclass(frozen=True)
class Considered:
    """One language model on the board.

    Attributes
    ----------
    entry, name : str
        As on the board, and as it is shown.
    why : str
        On what it is compared, or why it is not.
    steps : tuple of (str, str)
        What to do next, each with its command.
    """

    entry: str
    name: str
    compared: bool
    why: str
    steps: tuple[Step, ...]


def considered(results: Results | pd.DataFrame, board: pd.DataFrame) -> tuple[Considered, ...]:
    """Every language model on the board, those that are compared first."""
    rows = conversations_of(results)
    mine = board[board["panel"] == "models"].to_dict("records")
    able = [row for row in mine if row["resolved"] >= RESOLVES_ENOUGH]
    version = Counter(row["versions"] for row in able).most_common(1)[0][0] if able else ""
    alike = rows[rows["entry"].isin([row["entry"] for row in able]) & (rows["store_version"] == version)]
    cases = {entry: set(some) for entry, some in alike.groupby("entry")["case_id"]}
    found = [_able(row) if row["block"] == "models" else _unable(row, rows, version, cases) for row in mine]
    return tuple(sorted(found, key=lambda one: not one.compared))


def never_offered(board: pd.DataFrame) -> str:
    """Who else is on the board and is never recommended, counted; empty where nobody is."""
    others = board.loc[board["panel"] != "models", "panel"].value_counts()
    return ", ".join(counted(int(others[p]), *NO_OFFER[p]) for p in NO_OFFER if p in others)


def _able(row: dict[str, Any]) -> Considered:
    """A model that is compared, and what would make the comparison better."""
    why = f"{counted(row['trials'], 'trial')}, {counted(row['conversations'], 'conversation')}"
    steps: list[Step] = []
    if row["trials"] < FULL_TRIALS:
        why += "; how much it varies from trial to trial is hardly known"
        steps.append((f"Play {FULL_TRIALS} trials; what is on file is kept", _run(row)))
    return _one(row, True, why, *steps)


def _unable(row: dict[str, Any], rows: pd.DataFrame, version: str, cases: dict[str, set[str]]) -> Considered:
    """A model that is not compared, and the first reason for it."""
    goes_on = ("Give the same command again; it goes on where it stopped", _run(row))
    if not row["finished"]:
        return _one(row, False, f"None of its {row['planned']} planned conversations is finished", goes_on)
    if row["finished"] < row["planned"]:
        why = f"{row['finished']} of its {row['planned']} planned conversations are finished"
        return _one(row, False, why, goes_on)
    mine = rows[rows["entry"] == row["entry"]]
    if unscored := int(mine["bucket"].isna().sum()):
        why = f"{unscored} of its {len(mine)} conversations have no score"
        return _one(row, False, why, ("Score them", command("score", "FILE")))
    if row["resolved"] != row["resolved"]:
        why = "No resolvable case has a scored conversation"
        return _one(row, False, why, ("Play every case", _run(row)))
    if row["resolved"] < RESOLVES_ENOUGH:
        resolved = f"{percent(row['resolved'], 1)} of {counted(int(row['resolved_n']), 'resolvable case')}"
        why = f"It resolves {resolved}, and a comparison takes {percent(RESOLVES_ENOUGH)}: a model that gets little done has few chances to do harm"
        return _one(row, False, why, ("Read on its page where it fails, then try another prompt, setting or model", ""))
    if row["versions"] != version:
        why = f"It was played on {row['versions']}, the others on {version}"
        return _one(row, False, why, ("Play the version of the others", _run(row)))
    every, played = set().union(*cases.values()), len(cases.get(row["entry"], ()))
    why = f"It was played on {played} of the {counted(len(every), 'case')} that the others have"
    return _one(row, False, why, ("Play every case", _run(row)))


def _one(row: dict[str, Any], compared: bool, why: str, *steps: Step) -> Considered:
    return Considered(row["entry"], visible(short_name(row["entry"])), compared, visible(why), steps)


def _run(row: dict[str, Any]) -> str:
    """The command that plays a model in full."""
    return command("run", row["model"], "--trials", max(FULL_TRIALS, row["trials"]))
