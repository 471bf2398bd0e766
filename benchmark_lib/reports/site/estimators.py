"""The estimators in the words of a reader of the pages: what each number answers, and how it is computed."""

import inspect
from pathlib import Path

from ...analysis import estimators
from ...textfiles import read_yaml
from .words import first_paragraph

WORDS = Path(__file__).with_name("estimators.yaml")
"""By function of `benchmark_lib.analysis.estimators`: the question it answers, and how, in plain words."""


def in_words() -> list[tuple[str, str, str]]:
    """Question, answer and function of every estimator; one without own words speaks by the first line of its documentation."""
    functions = [name for name in estimators.__all__ if inspect.isfunction(getattr(estimators, name))]
    words = read_yaml(WORDS)
    known = [name for name in words if name in functions]
    return [(*words[name], name) for name in known] + [
        (name.replace("_", " ").capitalize(), first_paragraph(getattr(estimators, name)).replace("`", ""), name)
        for name in functions
        if name not in words
    ]
