"""The explorer's widgets: filters, the table of conversations, a sample to label, the chat, two side by side, and the labels."""

from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import ipywidgets as w
import numpy as np
import pandas as pd

from ...analysis.frames import Results
from ...analysis.query import Query
from ...errors import BadInput
from ...project import in_project
from ...store import Store
from ..fetch import Dossier, Shelf
from .filters import FIELDS, Index
from .labelling import NO, SKIP, UNSURE, YES, LabelPanel, LabelsPage
from .labels import LABELS_FILE, as_read
from .rows import answer_in_words, cell_text, others_on_case, table_of
from .sample import draw_sample
from .side_by_side import compare_html
from .table import PressTable
from .words import button, part, short

PAGE = 12
"""How many rows the table shows at once."""
STATIC_ROWS = 20
"""How many rows are shown where there are no widgets."""
COMPARISON, LABELS = 1, 2
"""Places of the comparison and of the labels among the tabs."""
ALL = object()
"""The choice that leaves a filter open."""
BEFORE, AFTER = "ArrowLeft", "ArrowRight"
KEYS = (YES, NO, UNSURE, SKIP, BEFORE, AFTER)
"""The keys that the explorer hears."""
RECORDED = ["outcome", "findings"]
"""The columns that say what the record says: hidden from a labeller who must not see it."""
NAMELESS = "an agent"
"""Who answers in a sample, for a labeller who must not see it."""
STRATA = {"none": None, "model": "entry", "bucket": "bucket", "intent": "intent", "trap kind": "kind"}
BY_ANSWER = "answer on record"
"""The choice that draws as many yeses as noes."""


class Explorer(w.VBox):
    """Filters, a table, and the conversations behind its rows. Only the index is kept in memory; a record is fetched when it is opened.

    Parameters
    ----------
    store : Store, optional
        The store they were played on; by default the one the run files name.

    Attributes
    ----------
    rows : numpy.ndarray
        Numbers of those that match the filters, in the table's order.
    sample : numpy.ndarray or None
        Numbers of those that were drawn to be labelled, in the order in which they are read.
    """

    def __init__(
        self, results: Results, *, labels: str | Path = LABELS_FILE, store: Store | None = None, labeller: str = ""
    ):
        super().__init__(layout=w.Layout(width="100%"))
        self.index, self.shelf, self.labels_file = Index(results), Shelf(results, store), in_project(labels)
        self.rows = np.arange(len(self.index.frame))
        self.sample: np.ndarray | None = None
        self.opened: Dossier | None = None
        self._beside = Query()
        self._labelled = dict[int, str]()
        self._page, self._quiet, self._sorted = 0, False, ("", False)
        calls = {"on_saved": self._saved, "on_changed": self._question_changed, "on_skip": self.next_unlabelled}
        self.labelling = LabelPanel(results, self.index, self.labels_file, labeller, **calls)
        self.labels_page = LabelsPage(results, self.labels_file, self._question_changed)
        self._build_filters()
        self._build_table()
        self._build_sampling()
        self._build_panes()
        parts = [self._filters, self._search, self._sampling, self.table, self.pager, self.panes]
        self.children = [w.HTML(part("style")), *parts]
        self.add_class("db-explorer")
        self._read_labelled()
        self._refresh()

    # ---------------------------------------------------------------- what a notebook may call

    @property
    def query(self) -> Query:
        """Which conversations are shown, but for the search and the sample."""
        chosen = {field: box.value for field, box in self.filters.items() if box.value is not ALL}
        return self._beside.but(**chosen)

    @property
    def selection(self) -> pd.DataFrame:
        """Rows of the conversations frame: those that are shown, in the order of the table."""
        return self.index.frame.iloc[self.rows]

    def choose(self, text: str = "", query: Query | str = "", **fields: Any) -> None:
        """Show the conversations of a query, see `Results.where`; ``text`` is a search through their messages.

        Fields without a control of their own stay until the next choice, and are named beside the count.
        """
        asked = self.index.asked(query, **fields)
        chosen = {name: values[0] for name, values in asked.terms if name in FIELDS and len(values) == 1}
        self._quiet, self.sample = True, None
        self._beside = Query(tuple(term for term in asked.terms if term[0] not in chosen))
        for field, box in self.filters.items():
            box.options = [("all", ALL), *([(chosen[field], chosen[field])] if field in chosen else [])]
            box.value = chosen.get(field, ALL)
        self.text.value = text
        self._quiet = False
        self._refresh()

    def draw(self, size: int = 20, *, seed: int = 0, stratify: str = "none") -> None:
        """Draw a random sample of the filtered conversations on which the question can be asked, to label them one by one.

        The verdicts are hidden until the sample is ended, unless the labeller asks for them.

        Parameters
        ----------
        size, seed : int
            How many, and the seed: the same ones are drawn again for the same filters, question, size and seed. The site draws them, too, for the question of success.
        stratify : str
            A key of `STRATA`, or `BY_ANSWER`: the same number from each group, as far as it goes.

        Raises `BadInput` for an unknown group, a size under 1, a negative seed, or when there is nothing to draw from.
        """
        if stratify not in (*STRATA, BY_ANSWER):
            raise BadInput(f"there is no group {stratify!r}: choose from {', '.join((*STRATA, BY_ANSWER))}")
        self.sample = None
        rows = self._matching()
        answers = self.labelling.answers()
        rows = rows[~np.isnan(answers[rows])]
        if not len(rows):
            none = "no conversation that the filters leave has an answer on record to this question"
            raise BadInput(f"{none}: widen them")
        frame = self.index.frame.iloc[rows]
        field = STRATA.get(stratify)
        strata = answers[rows] if stratify == BY_ANSWER else None if field is None else frame[field].to_numpy()
        self.sample = rows[draw_sample(frame, size, seed=seed, strata=strata)]
        grouped = "" if stratify == "none" else f", stratified by {stratify}: not for means over all conversations"
        many = f"{len(self.sample):,} from {len(rows):,} conversation{'' if len(rows) == 1 else 's'}"
        self._drawn = f"Random sample of {many}, seed {seed}{grouped}"
        self.labelling.hidden.value = True
        self._refresh()
        self._open_unlabelled(np.arange(len(self.rows)))

    def next_unlabelled(self) -> None:
        """Open the next conversation in the order of the table that has no answer to the question by this labeller."""
        place, order = self._place_of_opened(), np.arange(len(self.rows))
        self._open_unlabelled(order if place is None else np.roll(order, -place - 1)[:-1])

    def _open_unlabelled(self, order: np.ndarray) -> None:
        """Open the first of these rows that has no answer."""
        found = next((int(n) for n in order if self.rows[n] not in self._labelled), None)
        if found is None:
            self._say_sampled()
            return
        self._open_row(found)
        self.table.bring_up("db-reading")

    def read(self, run_id: str, case_id: str, trial: int = 1) -> None:
        """Show one conversation, whatever the filters say."""
        self.opened = self.shelf.dossier(run_id, case_id, trial)
        self._show_chat()
        self._show_place()
        self.labelling.ask_about(self.opened)
        self._fill_other()

    def _show_chat(self) -> None:
        """The open conversation; without its score and verdicts where a labeller must not see them."""
        if self.opened is not None:
            self.chat.value = self._as_shown(self.opened).html()

    def _as_shown(self, dossier: Dossier) -> Dossier:
        """A conversation as the labeller may see it."""
        if not self.labelling.hidden.value:
            return dossier
        talk = dossier.conversation
        if self.sample is not None:
            talk, dossier = replace(talk, model=NAMELESS, source="model"), replace(dossier, entry=NAMELESS)
        return replace(dossier, conversation=talk, score=None, verdicts=[])

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        """With a static table as well as the widget, for viewers without widgets."""
        table = table_of(self.index, self.rows[:STATIC_ROWS])
        static = part("static", heads=list(table), rows=table.to_numpy().tolist(), total=len(self.rows))
        return {**super()._repr_mimebundle_(**how), "text/html": static}

    # ---------------------------------------------------------------- filters and table

    def _build_filters(self) -> None:
        self.filters: dict[str, w.Dropdown] = {}
        for field, title in FIELDS.items():
            self.filters[field] = w.Dropdown(options=[("all", ALL)], description=title, layout=w.Layout(width="auto"))
            self.filters[field].observe(self._filter_changed, names="value")
        grid = w.Layout(grid_template_columns="repeat(auto-fit, minmax(17rem, 1fr))", grid_gap="2px 12px")
        self._filters = w.GridBox(list(self.filters.values()), layout=grid)
        hint, wide = 'words in the messages, or "a phrase"; then Enter', w.Layout(flex="1 1 16rem")
        self.text = w.Text(description="Search", placeholder=hint, continuous_update=False, layout=wide)
        self.text.observe(self._filter_changed, names="value")
        self.count = w.HTML()
        self._search = w.HBox([self.text, button("Clear filters", self.choose, "8rem"), self.count], layout=_line())

    def _build_table(self) -> None:
        def opened(row: int, _: int) -> None:
            self._open_row(self._page * PAGE + row)

        self.table = PressTable(opened, self._sort_by, self._key_pressed, KEYS)
        self.earlier = button("◀ page", lambda: self._turn_to(self._page - 1))
        self.later = button("page ▶", lambda: self._turn_to(self._page + 1))
        self._shown_rows = w.HTML()
        line = w.Layout(align_items="center", grid_gap="8px")
        self.pager = w.HBox([self.earlier, self.later, self._shown_rows], layout=line)

    def _filter_changed(self, _: Any) -> None:
        if not self._quiet:
            self._refresh()

    def _among(self) -> np.ndarray | None:
        """The rows of the sample."""
        if self.sample is None:
            return None
        among = np.zeros(len(self.index.frame), dtype=bool)
        among[self.sample] = True
        return among

    def _matching(self) -> np.ndarray:
        rows, among = self.index.matching(self.text.value, self.query), self._among()
        return rows if among is None else rows[among[rows]]

    def _refresh(self) -> None:
        """Apply the filters as they are set, and show the table's first page."""
        if self.text.value and "texts" not in vars(self.index):
            self.count.value = "reading all messages once ..."
        rows = self._matching()
        self.rows = self.sample[np.isin(self.sample, rows)] if self.sample is not None else rows
        self._fill_filters()
        self._order()
        place = self._place_of_opened()
        self._turn_to(0 if place is None else place // PAGE)
        words = f" ({short(str(self._beside), 120)})" if self._beside.terms else ""
        self.count.value = part("count", news=f"{len(self.rows):,} of {len(self.index.frame):,} conversations{words}")
        self._say_sampled()
        self._show_place()

    def _fill_filters(self) -> None:
        """Offer in each filter the values that the other filters leave, with their counts."""
        counts = self.index.counts(self.text.value, self._among(), self.query)
        self._quiet = True
        for field, box in self.filters.items():
            chosen = box.value
            left = {v: n for v, n in counts[field].items() if n or (chosen is not ALL and v == chosen)}
            options = [("all", ALL), *((f"{short(v)} ({n:,})", v) for v, n in left.items())]
            if list(box.options) != options:
                box.options = options
                box.value = chosen
            box.disabled = not left
        self._quiet = False

    def _sort_by(self, column: int) -> None:
        """Sort by a column; once more: the other way round; a third time: as recorded."""
        name = self.table.heads[column]
        by, down = self._sorted
        self._sorted = (name, False) if by != name else (name, True) if not down else ("", False)
        self._refresh()

    def _order(self) -> None:
        """Bring the filtered rows into the order that is asked for."""
        by, down = self._sorted
        table = self._table_of(self.rows) if by and len(self.rows) else None
        if table is not None and by in table:
            order = table[by].reset_index(drop=True).sort_values(ascending=not down, kind="stable").index
            self.rows = self.rows[order.to_numpy()]

    def _table_of(self, rows: np.ndarray) -> pd.DataFrame:
        table = table_of(self.index, rows, self._labelled)
        if not self.labelling.hidden.value:
            return table
        return table.drop(columns=[*RECORDED, *(["model"] if self.sample is not None else [])])

    def _turn_to(self, page: int) -> None:
        self._page = page
        start, end = page * PAGE, min((page + 1) * PAGE, len(self.rows))
        table = self._table_of(self.rows[start:end])
        heads = list(table)
        by, down = self._sorted
        with self.table.hold_sync():
            self.table.heads = heads
            self.table.numeric = [bool(table[name].dtype.kind in "if") for name in heads]
            self.table.rows = [[cell_text(v) for v in row] for row in table.astype(object).to_numpy().tolist()]
            self.table.sorted_by = [heads.index(by) if by in heads else -1, down]
        shown = f"rows {start + 1:,} to {end:,} of {len(self.rows):,}"
        self._shown_rows.value = shown if len(self.rows) else "no conversation matches"
        self.earlier.disabled, self.later.disabled = page == 0, end == len(self.rows)
        place = self._place_of_opened()
        self.table.selected = place % PAGE if place is not None and place // PAGE == page else -1

    def _open_row(self, place: int) -> None:
        """Open the conversation at a place of the filtered rows."""
        row = self.index.frame.iloc[self.rows[place]]
        if place // PAGE != self._page:
            self._turn_to(place // PAGE)
        self.read(row["run_id"], row["case_id"], int(row["trial"]))

    # ---------------------------------------------------------------- a sample to label

    def _build_sampling(self) -> None:
        narrow = w.Layout(width="9rem")
        self.size = w.BoundedIntText(description="Sample of", value=20, min=1, max=10_000, layout=narrow)
        self.seed = w.BoundedIntText(description="Seed", value=0, min=0, max=2**31 - 1, layout=narrow)
        wide, groups = w.Layout(width="16rem"), [*STRATA, BY_ANSWER]
        self.stratify = w.Dropdown(description="Stratify by", options=groups, layout=wide)
        draw = button("Draw at random", self._draw_as_set, "9rem")
        self.end_sample = button("End the sample", self._end_sample, "9rem", display="none")
        self.progress = w.HTML()
        parts = [self.size, self.seed, self.stratify, draw, self.end_sample, self.progress]
        self._sampling = w.HBox(parts, layout=_line("4px 8px"))
        self._sampling.add_class("db-sampling")

    def _draw_as_set(self) -> None:
        try:
            self.draw(self.size.value, seed=self.seed.value, stratify=self.stratify.value)
        except BadInput as error:
            self.progress.value = part("said", problem=str(error))

    def _end_sample(self) -> None:
        self.sample = None
        self.labelling.hidden.value = False
        self._refresh()

    def _say_sampled(self) -> None:
        """How much of the sample is labelled."""
        self.end_sample.layout.display = "none" if self.sample is None else "block"
        if self.sample is None:
            self.progress.value = ""
            return
        done = sum(int(n) in self._labelled for n in self.sample)
        left = len(self.sample) - done
        news = f"{self._drawn}: {done} labelled, {left} to go." if left else f"{self._drawn}: all {done} labelled."
        self.progress.value = part("count", news=news)

    @cached_property
    def _place_on_file(self) -> dict[tuple[str, str, int], int]:
        """The row of each conversation by its key as a file of labels gives it back."""
        return {(as_read(run), as_read(case), trial): n for (run, case, trial), n in self.index.place.items()}

    def _read_labelled(self) -> None:
        """Read from the file which conversations have an answer to the question by this labeller."""
        self._labelled = {}
        with suppress(BadInput, OSError):  # the panel says what is wrong with the file
            mine = self.labelling.on_file()
            for row in mine[["run_id", "case_id", "trial", "label", "tag"]].itertuples(index=False):
                place = self._place_on_file.get((row.run_id, row.case_id, row.trial))
                if place is not None:
                    self._labelled[place] = answer_in_words(row.label, row.tag, self.labelling.scaled)
        rows = np.zeros(len(self.index.frame), dtype=bool)
        rows[list(self._labelled)] = True
        self.index.mark_labelled(rows)

    def _question_changed(self) -> None:
        self._read_labelled()
        self._show_chat()
        self._hold_against()
        self._refresh()

    def _saved(self) -> None:
        """After an answer: in a sample, on to the next conversation without one."""
        self._read_labelled()
        if self.sample is None:
            self._refresh()
            return
        self._fill_filters()
        self._turn_to(self._page)
        self.next_unlabelled()
        self._say_sampled()

    def _key_pressed(self, key: str) -> None:
        place = self._place_of_opened()
        if key == BEFORE and place:
            self._step(-1)
        elif key == AFTER and not self.following.disabled:
            self._step(1)
        elif key == SKIP:
            self.next_unlabelled()
        elif key in (YES, NO, UNSURE) and self.opened is not None:
            self.labelling.answer(key)

    # ---------------------------------------------------------------- the conversation

    def _build_panes(self) -> None:
        hint = part("hint", news="Choose a row of the table to read its conversation.")
        self.chat = w.HTML(hint, layout=w.Layout(flex="1 1 22rem", min_width="0"))
        self.preceding = button("◀ previous", lambda: self._step(-1))
        self.following = button("next ▶", lambda: self._step(1))
        self.unlabelled = button("next unlabelled (s)", self.next_unlabelled, "11rem")
        self.place_shown = w.HTML()
        steps = w.HBox([self.preceding, self.following, self.unlabelled, self.place_shown], layout=_line())
        steps.add_class("db-reading")
        beside = w.Layout(flex_flow="row wrap-reverse", grid_gap="16px", align_items="flex-end")
        reading = w.VBox([steps, w.HBox([self.chat, self.labelling], layout=beside)])
        self.other = w.Dropdown(description="With", options=[], layout=w.Layout(width="36rem", max_width="100%"))
        self.other.observe(self._hold_against, names="value")
        self.pair = w.HTML(part("hint", news="Open a conversation first; then choose the one to compare it with."))
        parts = [reading, w.VBox([self.other, self.pair]), self.labels_page]
        self.panes = w.Tab(parts, titles=["Conversation", "Side by side", "Labels"])
        self.panes.observe(self._hold_against, names="selected_index")
        self.panes.observe(self._count_labels, names="selected_index")

    def _count_labels(self, _: Any) -> None:
        if self.panes.selected_index == LABELS:
            self.labels_page.refresh()

    def _place_of_opened(self) -> int | None:
        """The place of the open conversation among the filtered rows."""
        if self.opened is None:
            return None
        c = self.opened.conversation
        found = np.flatnonzero(self.rows == self.index.place[self.opened.run_id, c.case_id, c.trial])
        return int(found[0]) if len(found) else None

    def _show_place(self) -> None:
        place = self._place_of_opened()
        told = "not among the filtered rows" if place is None else f"{place + 1:,} of {len(self.rows):,}"
        self.place_shown.value = told if self.opened is not None else ""
        self.preceding.disabled = place is None or place == 0
        self.following.disabled = (place is None and not len(self.rows)) or place == len(self.rows) - 1
        self.table.selected = -1 if place is None or place // PAGE != self._page else place % PAGE

    def _step(self, by: int) -> None:
        place = self._place_of_opened()
        self._open_row(0 if place is None else place + by)

    def _fill_other(self) -> None:
        """Offer the other conversations on the open case."""
        if self.opened is None:
            return
        c = self.opened.conversation
        options = others_on_case(self.index.frame, self.index.place[self.opened.run_id, c.case_id, c.trial])
        self._quiet = True
        self.other.options, self.other.index = options, 0 if options else None
        self._quiet = False
        self._hold_against()

    def _hold_against(self, _: Any = None) -> None:
        if self._quiet or self.opened is None or self.panes.selected_index != COMPARISON:
            return
        there = self.other.value
        if not there:
            self.pair.value = part("hint", news="No other conversation on this case.")
            return
        left, right = self._as_shown(self.opened), self._as_shown(self.shelf.dossier(*there))
        self.pair.value = compare_html(left, right)


def _line(gap: str = "8px") -> w.Layout:
    """The layout of widgets beside each other, which go on below where there is no room."""
    return w.Layout(align_items="center", grid_gap=gap, flex_flow="row wrap")
