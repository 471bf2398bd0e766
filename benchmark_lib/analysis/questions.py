"""What the record says yes or no to: the questions a conversation is counted by, can be filtered by, and can be labelled on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..scoring.columns import names_of
from ..scoring.detectors import WHERE_TRUE_IS_RIGHT, detectors
from ..scoring.metrics import METRICS
from ..scoring.score import Score

if TYPE_CHECKING:
    import pandas as pd

SUCCESS = "success"
"""The question that every scored conversation has an answer to."""
FINDING, RULE, OWN = "finding:", "rule:", "own: "
"""How the names of a detector's, a rule's and the labeller's own question begin in a file of labels."""
RULES = ("identity", "confirmation", "evidence", "lookup", "window", "recipient")


@dataclass(frozen=True)
class RecordQuestion:
    """A yes-or-no question that the record answers.

    Attributes
    ----------
    scorer : str
        Its name in a file of labels.
    title, yes, no : str
        What is asked, and the two answers in words.
    definition : str
        What a yes means, in one sentence.
    column : str
        The column of the conversations frame that answers it.
    bucket : str or None
        The cases it is asked of; None for all.
    yes_is : str
        Which values of the column mean yes: ``true``, ``false``, ``above 0`` or ``broken``.
    """

    scorer: str
    title: str
    yes: str
    no: str
    definition: str
    column: str
    bucket: str | None = None
    yes_is: str = "true"

    def answers(self, conversations: pd.DataFrame) -> np.ndarray:
        """1 for yes and 0 for no, one per conversation; NaN where the question does not apply or has no answer."""
        values = conversations[self.column]
        if self.yes_is == "broken":
            found = values.map({"broken": 1.0, "kept": 0.0}).to_numpy(dtype=float)
        else:
            numbers = values.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
            yes = numbers == 0 if self.yes_is == "false" else numbers > 0
            found = np.where(np.isnan(numbers), np.nan, yes.astype(float))
        if self.bucket is not None:
            found[(conversations["bucket"] != self.bucket).to_numpy(dtype=bool, na_value=True)] = np.nan
        return found


def _questions() -> list[RecordQuestion]:
    names = names_of(Score)
    columns = {d.name: names[d.column] for d in detectors().values()}
    found = [RecordQuestion(SUCCESS, "Success", "yes", "no", "A success by the rules of its bucket.", "success")]
    found += [
        RecordQuestion(m.name, m.title, "yes", "no", m.definition, m.column, m.bucket)
        for m in METRICS.values()
        if m.scale.bounds is not None and m.column not in columns.values()
    ]
    for d in detectors().values():
        yes_is = "false" if d.name in WHERE_TRUE_IS_RIGHT else "above 0"
        words = ("found", "nothing found", f"Is there a finding? {d.definition}")
        found.append(RecordQuestion(f"{FINDING}{d.name}", d.title, *words, columns[d.name], None, yes_is))
    for rule in RULES:
        words = ("broken", "kept", f"Was the process rule `{rule}` broken?")
        found.append(RecordQuestion(f"{RULE}{rule}", f"Rule {rule}", *words, f"rule_{rule}", None, "broken"))
    return found


QUESTIONS = {q.scorer: q for q in _questions()}
"""Every question the record answers, by its name in a file of labels: success, the metrics, the detectors, the process rules."""


def is_yes_or_no(scorer: str) -> bool:
    """Whether a label of this scorer is a yes or a no, and not a score on the judges' scale."""
    return scorer in QUESTIONS or scorer.startswith((FINDING, RULE, OWN))
