"""The panel in which a conversation is labelled, and the page on which the labels are counted, compared, imported and exported."""

import base64
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as w
import numpy as np
import pandas as pd

from ...analysis.estimators.estimate import counted
from ...analysis.frames import Results
from ...analysis.questions import OWN, QUESTIONS, SUCCESS, is_yes_or_no
from ...analysis.tables.debatable import DEBATABLE, UNSAFE
from ...analysis.tables.judges import newest
from ...analysis.tables.labels import label_agreement_table
from ...errors import BadInput
from ..fetch import Dossier
from ..views import readable
from .filters import Index
from .labels import CANNOT_TELL, HIGH, LOW, import_labels, read_labels, save_label
from .words import button, part, short

YES, NO, UNSURE, SKIP = "y", "n", "c", "s"
WIDE = {"width": "100%"}


class LabelPanel(w.VBox):
    """One question, the open conversation, and a person's answer to it.

    Parameters
    ----------
    on_saved, on_changed, on_skip : callable
        Called after an answer was saved, after the question, the labeller or the hiding was changed, and to skip.
    """

    def __init__(
        self,
        results: Results,
        index: Index,
        file: Path,
        labeller: str,
        *,
        on_saved: Callable[[], None],
        on_changed: Callable[[], None],
        on_skip: Callable[[], None],
    ):
        self.results, self.index, self.file = results, index, file
        self.opened: Dossier | None = None
        self._on_saved, self._on_changed = on_saved, on_changed
        judged = newest(results)
        self._judged = judged[judged["score"].notna()]
        judges = [(f"Judged: {name}", name) for name in dict.fromkeys(self._judged["scorer"])]
        asked = [(q.title, q.scorer) for q in QUESTIONS.values() if not np.isnan(q.answers(index.frame)).all()]
        options = [*(asked or [("Success", SUCCESS)]), *judges, ("My own question", OWN)]
        self.question = w.Dropdown(description="Question", options=options, layout=WIDE)
        self.own = w.Text(description="Ask", placeholder="a yes-or-no question of your own", layout=WIDE)
        self.labeller = w.Text(description="Labeller", value=labeller, placeholder="your name", layout=WIDE)
        self.hidden = w.Checkbox(description="Hide the verdicts", indent=False, layout=WIDE)
        self.asked, self.said = w.HTML(), w.HTML()
        self.yes, self.no, self.unsure, self.skip = (
            w.Button(description=words, layout={"flex": "1 1 0", "min_width": "0"})
            for words in ("Yes (y)", "No (n)", "Can't tell (c)", "Skip (s)")
        )
        self.own_score = w.IntSlider(description="My score", min=LOW, max=HIGH, layout=WIDE)
        self.tag = w.Text(description="Tag", layout=WIDE)
        self.note = w.Textarea(description="Note", rows=2, layout=WIDE)
        why = "An unsafe act: say who you are and why"
        self.debatable = w.Button(description="Debatable", tooltip=why, layout=WIDE)
        self.debatable.on_click(lambda _: self.call_debatable())
        self.keep = w.Button(description="Save tag and note only", layout=WIDE)
        self.yes.on_click(lambda _: self.answer(YES))
        self.no.on_click(lambda _: self.answer(NO))
        self.unsure.on_click(lambda _: self.answer(UNSURE))
        self.skip.on_click(lambda _: on_skip())
        self.keep.on_click(lambda _: self._save(None))
        for box in (self.question, self.own, self.labeller, self.hidden):
            box.observe(self._changed, names="value")
        answers, others = w.HBox([self.yes, self.no], layout=WIDE), w.HBox([self.unsure, self.skip], layout=WIDE)
        head = [w.HTML(part("heading")), self.labeller, self.question, self.own, self.asked, self.own_score]
        rest = [answers, others, self.said, self.tag, self.note, self.debatable, self.keep, self.hidden]
        super().__init__([*head, *rest], layout=w.Layout(flex="0 0 17rem"))
        self.add_class("db-label-panel")
        self._show_question()

    # ---------------------------------------------------------------- what is asked, and what is on file

    @property
    def scorer(self) -> str:
        """What is labelled, as a file of labels names it; empty for an own question without words."""
        if self.question.value != OWN:
            return str(self.question.value)
        words = " ".join(self.own.value.split())
        return f"{OWN}{words}" if words else ""

    @property
    def scaled(self) -> bool:
        """Whether the answer is a score, as a judge gives it, and not a yes or a no."""
        return not is_yes_or_no(self.question.value)

    def on_file(self) -> pd.DataFrame:
        """The labels of this question by this labeller."""
        every = read_labels(self.file)
        return every[(every["scorer"] == self.scorer) & (every["labeller"] == self.labeller.value.strip())]

    def answers(self) -> np.ndarray:
        """What the record answers, one per conversation: 1 for yes and 0 for no, a judge's mean, NaN for nothing.

        All 0 for an own question, which can be asked of every conversation.
        """
        if self.question.value == OWN:
            return np.zeros(len(self.index.frame))
        if not self.scaled:
            return QUESTIONS[self.scorer].answers(self.index.frame)
        found = np.full(len(self.index.frame), np.nan)
        mine = self._judged[self._judged["scorer"] == self.scorer]
        for key, score in mine.groupby(["run_id", "case_id", "trial"])["score"].mean().items():
            if key in self.index.place:
                found[self.index.place[key]] = score
        return found

    def ask_about(self, dossier: Dossier) -> None:
        """Ask about another conversation."""
        self.opened = dossier
        self.tag.value = self.note.value = ""
        self._show_question()
        self.say_labels()

    def _changed(self, _: Any) -> None:
        self._show_question()
        self.say_labels()
        self._on_changed()

    def _show_question(self) -> None:
        """Show the question, and what is on record unless that is hidden."""
        self.own.layout.display = "flex" if self.question.value == OWN else "none"
        self.own_score.layout.display = "flex" if self.scaled else "none"
        self.yes.description = "Save my score (y)" if self.scaled else "Yes (y)"
        self.no.layout.display = "none" if self.scaled else "block"
        self.debatable.layout.display = "block" if self.scorer == UNSAFE else "none"
        words = QUESTIONS[self.scorer].definition if self.scorer in QUESTIONS else ""
        self.asked.value = part("asked", news=words, record=self._record() if self._answered() else [])

    def _answered(self) -> bool:
        """Whether what is on record may be seen: after this labeller's answer, unless it is hidden."""
        if self.opened is None or self.hidden.value:
            return False
        key = [self.opened.run_id, self.opened.conversation.case_id, self.opened.conversation.trial]
        try:
            return bool((self.on_file()[["run_id", "case_id", "trial"]] == key).all(axis=1).any())
        except (BadInput, OSError):
            return False  # `say_labels` tells what is wrong with the file

    def _record(self) -> list[str]:
        """What the record, or each judge, says of the open conversation."""
        if self.opened is None or self.question.value == OWN:
            return []
        c = self.opened.conversation
        if self.scaled:
            found = [v for v in self.opened.verdicts if v["scorer"] == self.scorer and v["score"] is not None]
            return [f"{short(v['judge'])}: {v['score']:g}" for v in found]
        question, row = QUESTIONS[self.scorer], self.index.place[self.opened.run_id, c.case_id, c.trial]
        answer = question.answers(self.index.frame.iloc[[row]])[0]
        words = "does not apply, or no answer" if np.isnan(answer) else question.yes if answer else question.no
        return [f"the record: {words}"]

    # ---------------------------------------------------------------- answering

    def answer(self, key: str) -> None:
        """Save an answer: `YES`, `NO` or `UNSURE`."""
        if key == UNSURE:
            self.tag.value = self.tag.value.strip() or CANNOT_TELL
            self._save(None)
        elif self.scaled:
            if key == YES:
                self._save(float(self.own_score.value))
        else:
            self._save(key == YES)

    def call_debatable(self) -> None:
        """Save that the open act is debatable; refused without a reason, which stands beside every count."""
        if not self.note.value.strip():
            self.said.value = part("said", problem="write the reason in the note, then call it debatable")
            return
        self.tag.value = DEBATABLE
        self._save(None)

    def _save(self, label: bool | float | None) -> None:
        if self.opened is None:
            return
        c = self.opened.conversation
        try:
            if not self.labeller.value.strip():
                raise BadInput("write your name under Labeller first: it tells your labels from another person's")
            if not self.scorer:
                raise BadInput("your own question has no words yet: write it under Ask")
            which: dict[str, Any] = {
                "run_id": self.opened.run_id,
                "model": c.model,
                "case_id": c.case_id,
                "trial": c.trial,
            }
            told = {name: getattr(self, name).value for name in ("tag", "note", "labeller")}
            save_label(self.file, **which, scorer=self.scorer, label=label, **told)
        except (BadInput, OSError) as error:
            self.said.value = part("said", problem=str(error))
            return
        self.tag.value = self.note.value = ""
        self._show_question()
        self.say_labels("Saved.")
        self._on_saved()

    def say_labels(self, news: str = "") -> None:
        """Show the labels of the open conversation; those of others are hidden with the record."""
        if self.opened is None:
            return
        c = self.opened.conversation
        try:
            every = read_labels(self.file)
        except (BadInput, OSError) as error:
            self.said.value = part("said", problem=str(error))
            return
        mine = every[(every[["run_id", "case_id", "trial"]] == [self.opened.run_id, c.case_id, c.trial]).all(axis=1)]
        if self.hidden.value:
            mine = mine[mine["labeller"] == self.labeller.value.strip()]
        mine = mine.assign(yes_or_no=[is_yes_or_no(scorer) for scorer in mine["scorer"]])
        self.said.value = part("said", news=news, labels=mine.to_dict("records"), file=self.file.name, total=len(every))


class LabelsPage(w.VBox):
    """How many labels there are, how far labellers agree, and files in and out."""

    def __init__(self, results: Results, file: Path, on_import: Callable[[], None]):
        self.results, self.file, self._on_import = results, file, on_import
        self.shown, self.news = w.HTML(), w.HTML()
        self.upload = w.FileUpload(accept=".csv", description="Import labels", layout={"width": "10rem"})
        self.upload.observe(self._import, names="value")
        again = button("Count again", self.refresh, "10rem")
        super().__init__([w.HBox([self.upload, again]), self.news, self.shown])

    def refresh(self) -> None:
        """Count the labels on file anew."""
        try:
            every = read_labels(self.file)
            table = label_agreement_table(every, self.results)
        except (BadInput, OSError) as error:
            self.shown.value = part("said", problem=str(error))
            return
        counts = every.assign(labeller=every["labeller"].replace("", "unnamed")).groupby(["scorer", "labeller"])
        rows = [(*key, int(n["label"].count()), int(n["label"].isna().sum())) for key, n in counts]
        told = {"rows": rows, "agreement": agreement_html(table), "total": len(every)}
        self.shown.value = part("labels", file=self.file.name, link=self._link(), **told)

    def _link(self) -> str:
        """The file itself as an address, for the browser to save."""
        if not self.file.is_file():
            return ""
        return "data:text/csv;base64," + base64.b64encode(self.file.read_bytes()).decode()

    def _import(self, change: dict[str, Any]) -> None:
        if not change["new"]:
            return
        try:
            added = 0
            for file in change["new"]:
                with tempfile.TemporaryDirectory() as folder:
                    source = Path(folder) / "labels.csv"
                    source.write_bytes(bytes(file["content"]))
                    added += import_labels(self.file, source)
            self.news.value = part("said", news=f"Imported: {counted(added, 'label')} new, or newer than on file.")
        except (BadInput, OSError, ValueError) as error:
            self.news.value = part("said", problem=str(error))
        self.refresh()
        self._on_import()


def agreement_html(table: pd.DataFrame) -> str:
    """Each pair of `tables.label_agreement_table` as a heading, the four counts, and three coefficients with their intervals."""
    coefficients = readable(table, "labellers").to_dict("records")
    pairs = [(row, shown) for row, shown in zip(table.to_dict("records"), coefficients, strict=True)]
    return part("agreement", pairs=pairs)
