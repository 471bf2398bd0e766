"""Made-up verdicts and labels with a known truth, for tables about judges without paid ones."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...analysis.tables.rows import ITEM
from ...errors import BadInput
from ...experiment.known_panel import DEFAULT_SEED
from .verdicts import SCORERS

LENIENT, STRICT = "planted:lenient", "planted:strict"
RUN_ID, MODEL = "planted", "planted"
KNOWN = {"version": "planted", "reason": "planted", "quote": "", "rubric": "planted", "entrant": False, "addressed": 0}


@dataclass(frozen=True)
class PlantedVerdicts:
    """Made-up verdicts of two judges, people's labels for a random part, and the true means.

    `verdicts` are like `Results.verdicts`, `labels` have run_id, case_id, trial, scorer and label. `truth` has, by
    scorer, the mean that people would give to all conversations.
    """

    verdicts: pd.DataFrame
    labels: pd.DataFrame
    truth: dict[str, float]


def planted_verdicts(
    conversations: int = 480,
    labelled: int = 160,
    *,
    bias: float = 12.0,
    noise: float = 8.0,
    unscored: float = 0.03,
    rng: np.random.Generator | None = None,
) -> PlantedVerdicts:
    """Plant verdicts of a lenient and a strict judge.

    Parameters
    ----------
    conversations, labelled : int
        Numbers of conversations, and of those that people labelled.
    bias : float
        Points by which the lenient judge scores too high; the strict judge scores half as much too low.
    noise : float
        Standard deviation of each judge's own error, in points.
    unscored : float
        Share of scores that do not count.
    rng : numpy.random.Generator, optional
        By default, one seeded with `DEFAULT_SEED`.
    """
    if not 1 <= labelled <= conversations:
        raise BadInput(
            f"{labelled} of {conversations} conversations cannot be labelled: give labelled from 1 to conversations"
        )
    stream = np.random.default_rng(DEFAULT_SEED) if rng is None else rng
    number = np.arange(conversations)
    cases = [f"planted_{n + 1}" for n in number // 3]
    items = pd.DataFrame({"run_id": RUN_ID, "entry": MODEL, "model": MODEL, "case_id": cases, "trial": number % 3 + 1})
    quality = np.where(
        stream.random(conversations) < 0.6, stream.normal(85, 8, conversations), stream.normal(35, 15, conversations)
    )
    chosen = np.sort(stream.choice(conversations, labelled, replace=False))
    rows, labels, truth = [], [], {}
    for scorer in SCORERS:
        people = np.clip(quality + stream.normal(0, 6, conversations), 0, 100).round()
        truth[scorer] = float(people.mean())
        labels.append(items[ITEM].assign(scorer=scorer, label=people).iloc[chosen])
        for judge, shift in ((LENIENT, bias), (STRICT, -bias / 2)):
            scores = np.clip(people + shift + stream.normal(0, noise, conversations), 0, 100).round()
            lost = stream.random(conversations) < unscored
            given = {"score": np.where(lost, np.nan, scores), "unscored": np.where(lost, "planted failure", "")}
            rows.append(items.assign(judge=judge, scorer=scorer, **given, **KNOWN))
    return PlantedVerdicts(pd.concat(rows, ignore_index=True), pd.concat(labels, ignore_index=True), truth)
