"""Verdicts and labels whose truth is known, for the tables about judges where no judge has been paid yet."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import BadInput
from ...experiment.known_panel import DEFAULT_SEED
from .verdicts import SCORERS

LENIENT, STRICT = "planted:lenient", "planted:strict"
RUN_ID, MODEL = "planted", "planted"
MADE_UP = {"reason": "planted", "quote": "", "unscored": "", "rubric": "planted", "entrant": False, "addressed": 0}
LOST = {"score": float("nan"), "unscored": "planted failure"}


@dataclass(frozen=True)
class PlantedVerdicts:
    """Made-up verdicts of two judges, made-up labels of people on a random part, and the mean people would give to all.

    `verdicts` are as `Results.verdicts`, `labels` have run_id, case_id, trial, scorer and label, `truth` is by scorer.
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
        How many conversations there are, and how many of them people labelled.
    bias, noise : float
        Points the lenient judge gives too much and the strict one, by half, too little, and standard deviation of each
        judge's own error, in points.
    unscored : float
        Share of scores that do not count.
    rng : numpy.random.Generator, optional
        Seeded with `DEFAULT_SEED` when not given.
    """
    if not 1 <= labelled <= conversations:
        raise BadInput(
            f"{labelled} of {conversations} conversations cannot be labelled: give labelled from 1 to conversations"
        )
    stream = np.random.default_rng(DEFAULT_SEED) if rng is None else rng
    items = [
        {"run_id": RUN_ID, "entry": MODEL, "model": MODEL, "case_id": f"planted_{n // 3 + 1}", "trial": n % 3 + 1}
        for n in range(conversations)
    ]
    quality = np.where(
        stream.random(conversations) < 0.6, stream.normal(85, 8, conversations), stream.normal(35, 15, conversations)
    )
    chosen = np.sort(stream.choice(conversations, labelled, replace=False))
    rows, labels, truth = [], [], {}
    for scorer in SCORERS:
        people = np.clip(quality + stream.normal(0, 6, conversations), 0, 100).round()
        truth[scorer] = float(people.mean())
        labels += [
            {**{k: items[n][k] for k in ("run_id", "case_id", "trial")}, "scorer": scorer, "label": people[n]}
            for n in chosen
        ]
        for judge, shift in ((LENIENT, bias), (STRICT, -bias / 2)):
            scores = np.clip(people + shift + stream.normal(0, noise, conversations), 0, 100).round()
            lost = stream.random(conversations) < unscored
            rows += [
                {**item, "judge": judge, "version": "planted", "scorer": scorer, "score": score, **MADE_UP}
                | (LOST if gone else {})
                for item, score, gone in zip(items, scores, lost)
            ]
    return PlantedVerdicts(pd.DataFrame(rows), pd.DataFrame(labels), truth)
