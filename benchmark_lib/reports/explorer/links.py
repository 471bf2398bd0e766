"""From a number to its conversations: which filters of the explorer leave exactly what a cell of a table counts.

A cell is linked where the conversations behind it can be named: a count leads to what it counts, and a share to what it
is a share of in the numerator. `where_of` says with which filters, for the board and for every table of `WHERE`.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as w
import pandas as pd

from ...analysis.frames import Results
from ...analysis.questions import FINDING, QUESTIONS, RULE, question_on
from ...analysis.tables.headlines import median_trials, trials_in_words, values_of
from ...scoring.claims.commitments import STATES
from ...scoring.metrics import METRICS, Shown, shown_on
from ...scoring.written import unbroken, visible
from .. import paper
from ..board import as_text, board_parts, notes_of, readable_board, with_flagged, with_line
from ..views import VIEWS, readable
from .filters import promise_label
from .table import PressTable
from .words import part, short

Row = dict[str, Any]
Where = dict[str, Any]


def where_metric(metric: str, entry: str | None = None, *, yes: bool = True) -> Where | None:
    """The filters that leave the conversations a metric counts.

    Parameters
    ----------
    metric : str
        A key of `METRICS`.
    yes : bool
        Those it counts; otherwise those it could have counted.

    They are for `explore(results, where=...)`; for a metric that counts no conversations, all those of its bucket.
    """
    question = question_on(metric)
    where: Where = {} if entry is None else {"entry": entry}
    if question is None:
        bucket = METRICS[metric].bucket
        return where | ({"bucket": bucket} if bucket else {})
    right = yes != (METRICS[metric].higher_is_better is True and question.yes_is == "false")
    return where | {"counted": question.counted(right)}


def where_median(metric: str, entry: str, conversations: pd.DataFrame) -> Where | None:
    """The conversations that the median of a metric counts: in the trial whose value it is, or in the two it lies between.

    Returns ``keys`` (run_id, case_id, trial) and ``words``, as for `Explorer.only`; None where there are none.
    """
    found = METRICS[metric]
    mine = conversations[conversations["entry"] == entry]
    mine = mine if found.bucket is None else mine[mine["bucket"] == found.bucket]
    trials = median_trials(*values_of(mine, found, "trial"))
    mine = mine[mine["trial"].isin(trials) & mine[found.column].notna()]
    mine = mine[mine[found.column].astype("Float64") > 0] if found.scale.bounds else mine
    keys = list(zip(mine["run_id"], mine["case_id"], mine["trial"].astype(int), strict=True))
    return {"keys": keys, "words": f"{entry}, {found.title.lower()}: {trials_in_words(trials)}"} if keys else None


def _promised(state: str) -> Callable[[Row], Where]:
    return lambda r: {"promise": promise_label(r["class"], state)}


def _asked(scorer: str, yes: bool = True) -> Where:
    return {"counted": QUESTIONS[scorer].counted(yes)}


WHERE: dict[str, dict[str, Callable[[Row], Where]]] = {
    "endings": {
        "conversations": lambda r: {"bucket": r["bucket"], "became": r["outcome"]},
        "share": lambda r: {"bucket": r["bucket"], "became": r["outcome"]},
    },
    "must escalate": {
        "handed_over": lambda r: {"intent": r["intent"], **_asked("escalation_accuracy")},
        "share": lambda r: {"intent": r["intent"], **_asked("escalation_accuracy")},
    },
    "rules": {
        "kept": lambda r: _asked(f"{RULE}{r['rule']}", False),
        "broken": lambda r: _asked(f"{RULE}{r['rule']}"),
        "share": lambda r: _asked(f"{RULE}{r['rule']}"),
    },
    "said": {
        "found": lambda r: _asked(f"{FINDING}{r['detector']}"),
        "share": lambda r: _asked(f"{FINDING}{r['detector']}"),
    },
    "promises": {state: _promised(state) for state in STATES},
    "intents": {
        "conversations": lambda r: {"bucket": r["bucket"], "intent": r["intent"]},
        "success": lambda r: {"bucket": r["bucket"], "intent": r["intent"], **_asked("success")},
        "handed_over": lambda r: {"bucket": r["bucket"], "intent": r["intent"], "outcome": "handed over"},
        "corrupt_success": lambda r: {"bucket": r["bucket"], "intent": r["intent"], "outcome": "corrupt success"},
    },
    "steadiness": {"pass_1": lambda r: {"bucket": r["bucket"], **_asked("success")}},
    "glance": {"value": lambda r: where_metric(r["metric"]) or {}, "mean": lambda r: where_metric(r["metric"]) or {}},
}
"""By view and column of its table: a row -> the filters; the row's own model is added."""

MEDIAN = ", median"
"""How the board's headings of medians end."""

GLANCE = {"Median over trials": "value", "Mean (95 %)": "mean"}
"""The columns behind two headings of the at-a-glance table, which is read by rules of its own."""


def where_of(view: str, column: str, row: Row, entry: str | None = None) -> Where | None:
    """The filters that leave the conversations behind one number; None where it is not a number of conversations.

    Parameters
    ----------
    view : str
        How the table is read: a key of `WHERE`.
    row : dict
        Its row; a column `entry` names the model.
    entry : str, optional
        The model, for a table of one model.
    """
    where = WHERE.get(view, {}).get(column)
    value = row.get(column)
    if where is None or value is None or value != value or value == 0:
        return None
    whose = row.get("entry") or entry
    return ({"entry": whose} if whose else {}) | where(row)


class LinkedTable(w.VBox):
    """A readable table whose counts and shares open their conversations in the explorer below it.

    Parameters
    ----------
    where : list of list
        Of each cell, the filters; None for a cell that leads nowhere.
    static : str
        The same table for viewers without widgets.
    parts : list of list of int, optional
        The columns of each of the tables, one below the other, that it is shown as; one table by default.

    Attributes
    ----------
    explorer : Explorer or None
        Made when the first number is pressed.
    """

    def __init__(
        self,
        results: Results,
        shown: pd.DataFrame,
        where: list[list[Where | None]],
        static: str,
        *,
        parts: list[list[int]] | None = None,
        notes: Sequence[str] = (),
        **options: Any,
    ):
        super().__init__(layout=w.Layout(width="100%"))
        self._results, self._where, self._static, self._options = results, where, static, options
        self.explorer: Any = None
        self.tables = [self._press_table(shown, columns) for columns in parts or [list(range(len(shown.columns)))]]
        self.table = self.tables[0]
        self.children = [w.HTML(part("style")), *self.tables, *(w.HTML(escape(visible(note))) for note in notes)]

    def _press_table(self, shown: pd.DataFrame, columns: list[int]) -> PressTable:
        """A table of some of the columns."""
        cells = shown.iloc[:, columns].astype(object).to_numpy().tolist()
        return PressTable(
            lambda row, column: self._open(row, columns[column]),
            heads=[unbroken(str(shown.columns[n])) for n in columns],
            rows=[[unbroken(short(v, 400)) for v in row] for row in cells],
            links=[[row[n] is not None for n in columns] for row in self._where],
            numeric=[any(row[n] is not None for row in self._where) for n in columns],
        )

    def _open(self, row: int, column: int) -> None:
        """Show the conversations behind a cell."""
        where = self._where[row][column]
        if where is None:
            return
        if self.explorer is None:
            from .widgets import Explorer

            self.explorer = Explorer(self._results, **self._options)
            self.children = [*self.children, self.explorer]
        if "keys" in where:
            self.explorer.only(**where)
        else:
            self.explorer.choose(**where)

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        """With the plain table as well as the widget, for viewers without widgets."""
        return {**super()._repr_mimebundle_(**how), "text/html": self._static}


def linked(
    results: Results,
    table: pd.DataFrame,
    view: str,
    *,
    entry: str | None = None,
    shown: pd.DataFrame | None = None,
    **options: Any,
) -> LinkedTable:
    """A table of estimates as `readable` shows it, whose counts and shares lead to their conversations.

    Parameters
    ----------
    view : str
        How it is read: a key of `benchmark_lib.reports.views.VIEWS`, or ``glance``.
    entry : str, optional
        The model it is about, if it has no column `entry`.
    shown : DataFrame, optional
        The table in readable form, row by row, where `readable` does not make it.
    **options
        As for `explore`: labels, labeller, store.
    """
    shown, rows = readable(table, view) if shown is None else shown, table.to_dict("records")
    columns = [GLANCE.get(heading, "") if view == "glance" else VIEWS[view][heading][0] for heading in shown.columns]
    where = [[_where_in(results, view, column, row, entry) for column in columns] for row in rows]
    static = paper.show(shown.reset_index() if shown.index.name else shown).html
    if shown.index.name:
        shown = shown.reset_index()
        where = [[None, *row] for row in where]
    return LinkedTable(results, shown, where, static, **options)


def _where_in(results: Results, view: str, column: str, row: Row, entry: str | None) -> Where | None:
    """As `where_of`; a median at a glance leads to its own trial."""
    if (view, column) == ("glance", "value") and entry is not None:
        return where_median(row["metric"], entry, results.conversations)
    return where_of(view, column, row, entry)


def linked_board(results: Results, board: pd.DataFrame, **options: Any) -> LinkedTable:
    """The board, whose numbers lead to the conversations they count.

    Parameters
    ----------
    **options
        As for `explore`: labels, labeller, store.
    """
    shown = with_flagged(readable_board(board))
    (text, line), notes = with_line(as_text(shown), board), notes_of(shown)
    titles = {METRICS[name].title: name for name in shown_on(Shown.BOARD)}
    rows = results.conversations
    where = [
        [_where_on_board(str(heading), row, titles, rows) for heading in shown.columns]
        for row in board.to_dict("records")
    ]
    if line is not None:
        where.insert(line, [None] * len(shown.columns))
    names = [list(table) for table in board_parts(shown)[:2]]
    static = [paper.show(text[columns], footnotes=() if columns is names[0] else notes).html for columns in names]
    parts = [[shown.columns.get_loc(name) for name in columns] for columns in names]
    return LinkedTable(results, text, where, "\n".join(static), parts=parts, notes=notes, **options)


def _where_on_board(heading: str, row: Row, titles: dict[str, str], rows: pd.DataFrame) -> Where | None:
    name = next((name for title, name in titles.items() if heading.startswith(title)), None)
    if name is None:
        return {"entry": row["entry"]} if heading == "Conversations" else None
    if not row[f"{name}_mean"] > 0:
        return None
    return where_median(name, row["entry"], rows) if heading.endswith(MEDIAN) else where_metric(name, row["entry"])
