"""The explorer's widgets: filters, the table of conversations, the chat, two side by side, and labelling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as w
import numpy as np

from ...analysis.frames import plain_rows
from ...analysis.panels import fitted
from ...errors import BadInput
from ...scoring.deciding import SUCCESS_STATES, state_of
from ..fetch import Dossier, Shelf
from ..transcript import templates, visible
from .compare import compare_html
from .filters import BROKEN, FIELDS, Index
from .labels import HIGH, LOW, SUCCESS, read_labels, save_label

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results
    from ...store import Store

PAGE = 5_000
"""How many rows the table holds at once; the others are reached page by page."""
STATIC_ROWS = 20
"""How many rows are shown where there are no widgets."""
TABLE = {
    "select": "single",
    "selected_rows": [],
    "maxBytes": 0,
    "pageLength": 10,
    "showIndex": False,
    "order": [],
    "allow_html": False,
    "scrollX": True,
    "classes": "display compact nowrap",
    "style": "width:100%;table-layout:auto",
    "layout": {"topStart": None, "topEnd": None, "bottomStart": "info", "bottomEnd": "paging"},
}
"""How itables shows the table: every row it is given, escaped."""
OUTCOME = ("success", "unsafe", "corrupt_success", "ended_by")
"""The columns that determine the outcome of a conversation."""
LONGEST_OPTION = 60
LONGEST_CELL = 44
COMPARISON = 1
"""Place of the comparison among the tabs."""
ALL = object()
"""The choice that leaves a filter open."""


class Explorer(w.VBox):
    """Filters, a table, and the conversations behind its rows. Only the index is kept in memory; a record is fetched when it is opened.

    Parameters
    ----------
    results : Results
        The runs.
    labels : path
        CSV file to which labels are added.
    store : Store, optional
        The store they were played on; by default the one the run files name.

    Attributes
    ----------
    index : Index
        All conversations.
    rows : numpy.ndarray
        Numbers of those that match the filters, in the table's order.
    opened : Dossier or None
        The conversation that is shown.
    """

    def __init__(self, results: Results, *, labels: str | Path, store: Store | None = None):
        from ...project import in_project

        super().__init__(layout=w.Layout(width="100%"))
        self.index, self.shelf, self.labels_file = Index(results), Shelf(results, store), in_project(labels)
        self.rows = np.arange(len(self.index.frame))
        self.opened: Dossier | None = None
        self._page, self._quiet = 0, False
        self._build_filters()
        self._build_table()
        self._build_label_panel()
        self._build_panes()
        self.children = [w.HTML(_part("style")), self._filters, self._search, self.table, self.pager, self.panes]
        self.add_class("db-explorer")
        self._refresh()

    # ---------------------------------------------------------------- what a notebook may call

    def choose(self, text: str = "", **chosen: Any) -> None:
        """Set the filters: a field of `FIELDS` with its value; fields that are not named are left open."""
        unknown = [f for f in chosen if f not in FIELDS]
        if unknown:
            raise BadInput(f"there is no filter {unknown[0]!r}: choose from {', '.join(FIELDS)}")
        for field, value in chosen.items():
            if value is not None and value not in self.index.values(field):
                raise BadInput(
                    f"no conversation has {field} {value!r}: choose from {', '.join(map(str, self.index.values(field)))}"
                )
        self._quiet = True
        for field, box in self.filters.items():
            box.value = ALL if chosen.get(field) is None else chosen[field]
        self.text.value = text
        self._quiet = False
        self._refresh()

    def read(self, run_id: str, case_id: str, trial: int = 1) -> None:
        """Show one conversation, whatever the filters say."""
        self.opened = self.shelf.dossier(run_id, case_id, trial)
        self.chat.value = self.opened.html()
        self._show_place()
        self._fill_label_panel()
        self._fill_other()

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        """With a static table as well as the widget, for viewers without widgets."""
        table = table_of(self.index, self.rows[:STATIC_ROWS])
        static = _part("static", heads=list(table), rows=table.to_numpy().tolist(), total=len(self.rows))
        return {**super()._repr_mimebundle_(**how), "text/html": static}

    # ---------------------------------------------------------------- filters and table

    def _build_filters(self) -> None:
        self.filters: dict[str, w.Dropdown] = {}
        for field, title in FIELDS.items():
            values = self.index.values(field)
            options = [
                (f"all ({len(values)})", ALL),
                *((f"{_short(value)} ({count:,})", value) for value, count in values.items()),
            ]
            self.filters[field] = w.Dropdown(
                options=options, description=title, layout=w.Layout(width="auto"), disabled=not values
            )
            self.filters[field].observe(self._refresh, names="value")
        grid = w.Layout(grid_template_columns="repeat(auto-fit, minmax(15rem, 1fr))", grid_gap="2px 12px")
        self._filters = w.GridBox(list(self.filters.values()), layout=grid)
        self.text = w.Text(
            description="Search",
            placeholder='words in the messages, or "a phrase"; then Enter',
            continuous_update=False,
            layout=w.Layout(flex="1 1 auto"),
        )
        self.text.observe(self._refresh, names="value")
        clear = w.Button(description="Clear filters", layout=w.Layout(width="8rem"))
        clear.on_click(lambda _: self.choose())
        self.count = w.HTML()
        self._search = w.HBox([self.text, clear, self.count], layout=w.Layout(align_items="center", grid_gap="8px"))

    def _build_table(self) -> None:
        from itables.widget import ITable

        self.table = ITable(table_of(self.index, self.rows[:0]), **TABLE)
        self.table.observe(self._row_clicked, names="selected_rows")
        self.earlier_rows, self.later_rows = (
            w.Button(description="◀ earlier rows"),
            w.Button(description="later rows ▶"),
        )
        self.earlier_rows.on_click(lambda _: self._turn_to(self._page - 1))
        self.later_rows.on_click(lambda _: self._turn_to(self._page + 1))
        self._shown_rows = w.HTML()
        self.pager = w.HBox(
            [self.earlier_rows, self.later_rows, self._shown_rows], layout=w.Layout(align_items="center")
        )

    def _refresh(self, _: Any = None) -> None:
        """Apply the filters as they are set, and show the table's first page."""
        if self._quiet:
            return
        if self.text.value and "texts" not in vars(self.index):
            self.count.value = "reading all messages once ..."
        self.rows = self.index.matching(
            self.text.value, **{f: box.value for f, box in self.filters.items() if box.value is not ALL}
        )
        self._turn_to(0)
        self.count.value = f"<b>{len(self.rows):,}</b> of {len(self.index.frame):,} conversations"
        self._show_place()

    def _turn_to(self, page: int) -> None:
        self._page = page
        start, end = page * PAGE, min((page + 1) * PAGE, len(self.rows))
        self.table.update(table_of(self.index, self.rows[start:end]), **TABLE)
        self.pager.layout.display = "flex" if len(self.rows) > PAGE else "none"
        self._shown_rows.value = f"rows {start + 1:,} to {end:,} of {len(self.rows):,}; sorting applies to these"
        self.earlier_rows.disabled, self.later_rows.disabled = page == 0, end == len(self.rows)

    def _row_clicked(self, change: dict[str, Any]) -> None:
        if change["new"]:
            self._open_row(self._page * PAGE + change["new"][0])

    def _open_row(self, place: int) -> None:
        """Open the conversation at a place of the filtered rows."""
        row = self.index.frame.iloc[self.rows[place]]
        self.read(row["run_id"], row["case_id"], int(row["trial"]))

    # ---------------------------------------------------------------- the conversation

    def _build_panes(self) -> None:
        self.chat = w.HTML(
            _hint("Choose a row of the table to read its conversation."),
            layout=w.Layout(flex="1 1 36rem", min_width="24rem"),
        )
        self.preceding, self.following = (
            w.Button(description=words, layout=w.Layout(width="7rem")) for words in ("◀ previous", "next ▶")
        )
        self.preceding.on_click(lambda _: self._step(-1))
        self.following.on_click(lambda _: self._step(1))
        self.place_shown = w.HTML()
        steps = w.HBox([self.preceding, self.following, self.place_shown], layout=w.Layout(align_items="center"))
        beside = w.Layout(flex_flow="row wrap", grid_gap="16px", align_items="flex-start")
        reading = w.VBox([steps, w.HBox([self.chat, self.label_panel], layout=beside)])
        self.other = w.Dropdown(description="With", options=[], layout=w.Layout(width="36rem"))
        self.other.observe(self._hold_against, names="value")
        self.pair = w.HTML(_hint("Open a conversation first; then choose the one to compare it with."))
        self.panes = w.Tab([reading, w.VBox([self.other, self.pair])], titles=["Conversation", "Side by side"])
        self.panes.observe(self._hold_against, names="selected_index")

    def _place_of_opened(self) -> int | None:
        """The place of the open conversation among the filtered rows."""
        if self.opened is None:
            return None
        c = self.opened.conversation
        found = np.flatnonzero(self.rows == self.index.place[self.opened.run_id, c.case_id, c.trial])
        return int(found[0]) if len(found) else None

    def _show_place(self) -> None:
        place = self._place_of_opened()
        self.place_shown.value = (
            ""
            if self.opened is None
            else "not among the filtered rows"
            if place is None
            else f"{place + 1:,} of {len(self.rows):,}"
        )
        self.preceding.disabled = place is None or place == 0
        self.following.disabled = (place is None and not len(self.rows)) or place == len(self.rows) - 1

    def _step(self, by: int) -> None:
        place = self._place_of_opened()
        self._open_row(0 if place is None else place + by)

    def _fill_other(self) -> None:
        """Offer the other conversations on the open case.

        Those that ended otherwise first, then other models on the same trial.
        """
        c, frame = self.opened.conversation, self.index.frame
        mine = self.index.place[self.opened.run_id, c.case_id, c.trial]
        rows = frame[frame["case_id"] == c.case_id].drop(index=mine)
        alike = rows["success"].astype(str) == str(frame.at[mine, "success"])
        rows = rows.assign(alike=alike, apart=(rows["trial"] != c.trial)).sort_values(
            ["alike", "apart", "entry", "trial"], kind="stable"
        )
        self._quiet = True
        options = [
            (f"{_short(r.entry)}, trial {r.trial}: {r.ended_by}", (r.run_id, r.case_id, int(r.trial)))
            for r in rows.itertuples()
        ]
        self.other.options, self.other.index = options, 0 if options else None
        self._quiet = False
        self._hold_against()

    def _hold_against(self, _: Any = None) -> None:
        if self._quiet or self.opened is None or self.panes.selected_index != COMPARISON:
            return
        there = self.other.value
        self.pair.value = (
            compare_html(self.opened, self.shelf.dossier(*there))
            if there
            else _hint("No other conversation on this case.")
        )

    # ---------------------------------------------------------------- labels

    def _build_label_panel(self) -> None:
        wide = {"width": "100%"}
        self.scorer = w.Dropdown(description="Verdict", options=[], layout=wide)
        self.scorer.observe(self._offer_score, names="value")
        self.agree, self.disagree = (
            w.Button(description=name, layout={"flex": "1 1 0"}) for name in ("Agree", "Disagree")
        )
        self.keep = w.Button(description="Save tag and note only", layout=wide)
        self.own_score = w.IntSlider(description="My score", min=LOW, max=HIGH, layout=wide)
        self.agree.on_click(lambda _: self._save(self._verdict()))
        self.disagree.on_click(lambda _: self._disagree())
        self.keep.on_click(lambda _: self._save(None))
        self.tag, self.note = (
            w.Text(description="Tag", layout=wide),
            w.Textarea(description="Note", rows=3, layout=wide),
        )
        self.said = w.HTML()
        buttons = w.HBox([self.agree, self.disagree], layout=wide)
        parts = [
            w.HTML(_part("heading")),
            self.scorer,
            self.own_score,
            self.tag,
            self.note,
            buttons,
            self.keep,
            self.said,
        ]
        self.label_panel = w.VBox(parts, layout=w.Layout(flex="0 1 21rem", display="none"))
        self.label_panel.add_class("db-label-panel")

    def _fill_label_panel(self) -> None:
        """Offer the verdicts on the open conversation."""
        score, options = self.opened.score or {}, []
        if score.get("success") is not None:
            options.append(
                (f"success: {'yes' if score['success'] else 'no'}", (SUCCESS, float(HIGH if score["success"] else LOW)))
            )
        options += [
            (f"{_short(v['scorer'])} {v['score']:g} ({_short(v['judge'])})", (v["scorer"], float(v["score"])))
            for v in self.opened.verdicts
            if v["score"] is not None
        ]
        self.scorer.options, self.scorer.index = options, 0 if options else None
        self.tag.value = self.note.value = ""
        self.agree.disabled = self.disagree.disabled = not options
        self.label_panel.layout.display = "flex"
        self._say_labels()

    def _offer_score(self, _: Any) -> None:
        """A judge's score can be corrected to any other; success only to its opposite."""
        judged = self.scorer.value is not None and self.scorer.value[0] != SUCCESS
        self.own_score.layout.display = "flex" if judged else "none"
        self.own_score.value = round(self._verdict() or LOW)

    def _verdict(self) -> float | None:
        return self.scorer.value[1] if self.scorer.value else None

    def _disagree(self) -> None:
        """Save what the analyst gives instead of the verdict."""
        scorer, verdict = self.scorer.value
        own = LOW + HIGH - verdict if scorer == SUCCESS else float(self.own_score.value)
        if own == verdict:
            self.said.value = _part("said", problem="Set My score to what you would give, then disagree.")
        else:
            self._save(own)

    def _save(self, label: float | None) -> None:
        c = self.opened.conversation
        try:
            save_label(
                self.labels_file,
                run_id=self.opened.run_id,
                model=c.model,
                case_id=c.case_id,
                trial=c.trial,
                scorer=self.scorer.value[0] if self.scorer.value else SUCCESS,
                label=label,
                tag=self.tag.value,
                note=self.note.value,
            )
        except (BadInput, OSError) as error:
            self.said.value = _part("said", problem=str(error))
            return
        self.tag.value = self.note.value = ""
        self._say_labels("Saved.")

    def _say_labels(self, news: str = "") -> None:
        """Show the labels of the open conversation."""
        c = self.opened.conversation
        try:
            every = read_labels(self.labels_file)
        except (BadInput, OSError) as error:
            self.said.value = _part("said", problem=str(error))
            return
        mine = every[
            (every["run_id"] == self.opened.run_id) & (every["case_id"] == c.case_id) & (every["trial"] == c.trial)
        ]
        self.said.value = _part(
            "said", news=news, labels=mine.to_dict("records"), file=self.labels_file.name, total=len(every)
        )


def table_of(index: Index, rows: np.ndarray) -> pd.DataFrame:
    """The rows of the index in readable form."""
    import pandas as pd

    f = index.frame.iloc[rows]
    cells = {
        name: [_short(v, LONGEST_CELL) for v in f[name].fillna("")]
        for name in ("entry", "case_id", "bucket", "kind", "ended_by")
    }
    return pd.DataFrame(
        {
            "model": cells["entry"],
            "case": cells["case_id"],
            "trial": f["trial"].to_numpy(),
            "outcome": [_outcome(row) for row in plain_rows(f[list(OUTCOME)])],
            "findings": [_short(_findings(index.findings[n]), LONGEST_CELL) for n in rows],
            "ended by": cells["ended_by"],
            "bucket": cells["bucket"],
            "trap kind": cells["kind"],
            "pushes": f["pushes"].to_numpy(),
            "messages": f["turns"].to_numpy(),
            "cost (USD)": f["cost_usd"].round(4).to_numpy(),
        }
    )


def _findings(names: list[str]) -> str:
    """Findings on one line: the broken rules together, then the others."""
    rules = ", ".join(name.removeprefix(BROKEN) for name in names if name.startswith(BROKEN))
    others = [name for name in names if not name.startswith(BROKEN)]
    return "; ".join([*([BROKEN + rules] if rules else []), *others])


def _outcome(row: dict[str, Any]) -> str:
    return " ".join(SUCCESS_STATES[state_of(row, row["ended_by"])])


def _short(value: Any, longest: int = LONGEST_OPTION) -> str:
    """A value as an option or a cell shows it."""
    return visible(fitted(str(value), longest)).replace("\n", " ")


def _part(part: str, **values: Any) -> str:
    """A part of the explorer's template, filled in."""
    blank = {"news": "", "problem": "", "labels": [], "file": "", "total": 0}
    return templates().get_template("explorer.html.j2").render(part=part, **blank | values)


def _hint(text: str) -> str:
    return _part("hint", news=text)
