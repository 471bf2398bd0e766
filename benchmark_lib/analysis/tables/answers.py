"""Which model suits which reader: the possible best by one criterion, and how certain it is."""

from dataclasses import dataclass, field
from math import comb, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...endpoint.prices import read_mapping
from ...errors import BadInput
from ...project import in_project
from ...scoring.metrics import METRICS, Metric, number
from ...scoring.score import RULES
from ...scoring.written import counted
from ...textfiles import read_yaml
from ..cell import interval
from ..estimators.comparisons import SURE, compare_paired, simultaneous
from ..estimators.estimate import Headline, sentence
from ..facets import scores_of
from ..frames import Results
from ..panels import conversations_of
from .comparison import Comparison, Side, compare, compare_all, is_equal, sureness
from .costs import HOW_TO_PRICE
from .headlines import ESTIMATORS, headline
from .leaderboard import leaderboard, worst_trial

CLEAR, CLOSE, ALONE, NOBODY = "clear", "too close to call", "only one", "nobody"
"""Verdicts: one model is clearly the best, several may be, there is only one, or none can be recommended."""
SAID: dict[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))
NO_OFFER: dict[str, list[str]] = SAID["no offer"]
"""Rows that are never recommended, by panel, in the singular and the plural."""
COSTS = ("resolved", "wrong", "handover", "approval")
"""Fields of stakes."""


@dataclass(frozen=True)
class Stakes:
    """Gains and losses of an operator, in US dollars.

    `resolved` is the value of a resolved conversation, before the model's price. The others are costs: of a
    conversation that ends wrong unnoticed (neither right nor with a person), of a person's time to handle a
    conversation, and of a person's time to approve one that the model handled. `file` is the name of their file.
    """

    resolved: float = 5.0
    wrong: float = 50.0
    handover: float = 5.0
    approval: float = 2.0
    file: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in COSTS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise BadInput(f"{name} is {value!r:.40}: give what it costs in US dollars, 0 or more")

    @property
    def origin(self) -> str:
        """Return the source in a few words."""
        return f"read from {self.file}" if self.file else "the defaults" if self == Stakes() else "chosen by the reader"


def read_stakes(path: str | Path | None = None) -> Stakes:
    """Read stakes from a small YAML file such as ``data/stakes.yaml``; the rest have defaults.

    Raises
    ------
    BadInput
        If the file cannot be read or is empty, a key is not ``resolved``, ``wrong``, ``handover`` or ``approval``, or a
        value is not a cost in US dollars.
    """
    if not path:
        return Stakes()
    file = in_project(path)
    given = read_mapping(file, "wrong")
    if unknown := sorted(str(key) for key in given if key not in COSTS):
        raise BadInput(f"{path}: {unknown[0]!r:.40} is not one of the stakes; name any of {', '.join(COSTS)}")
    if not given:
        raise BadInput(f"{path} names no stakes; set any of {', '.join(COSTS)}, as in 'wrong: 50'")
    try:
        return Stakes(**given, file=file.name)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def stakes_at(*folders: Path) -> Stakes:
    """Return the stakes of the first folder with a ``stakes.yaml``, or else the defaults."""
    return read_stakes(next(filter(Path.is_file, (folder / "stakes.yaml" for folder in folders)), None))


@dataclass(frozen=True)
class Question:
    """A reader's question, and the criterion that answers it.

    `criterion` describes the values compared; `measured` is a value in words, with ``{}`` for the number. `baseline` is
    the value that an agent not worth paying for has in every case; an answer must be better. `does_nothing` names that
    agent, and `at_stake` states in a sentence the costs behind its value.
    """

    name: str
    reader: str
    criterion: str
    metric: Metric
    measured: str
    baseline: float | None = None
    does_nothing: str = ""
    at_stake: str = ""


@dataclass(frozen=True)
class Answer:
    """The models that may be the best by one criterion.

    `verdict` is `CLEAR`, `CLOSE`, `ALONE` or `NOBODY`; `models` are the possible best entries, sorted by their means.
    `table` has one row per candidate, sorted by value: difference is the top candidate minus this one, level the
    confidence of its interval, equal is True if both values are displayed alike. `reason` says why there is no
    candidate, and which entries were left out. `beats_nothing` is the verdict on the leader against
    `Question.baseline`.
    """

    question: Question
    verdict: str
    models: tuple[str, ...]
    table: pd.DataFrame = field(repr=False)
    reason: str = ""
    beats_nothing: str = ""


def questions(stakes: Stakes) -> tuple[Question, ...]:
    """Return the questions of the four readers, filled in for the given stakes."""
    money = number("USD", digits=2)
    value = Metric("net_value", "Net value (USD)", "net_value", "resolvable", money, True, "")
    lost = Metric("loss", "Loss (USD)", "loss", None, money, False, "")
    metrics = {**METRICS, value.name: value, lost.name: lost}
    baselines = {"money": 0.0, "person behind": stakes.handover}
    filled = [{name: text.format(**vars(stakes)) for name, text in texts.items()} for texts in SAID["questions"]]
    return tuple(Question(**q | {"metric": metrics[q["metric"]]}, baseline=baselines.get(q["name"])) for q in filled)


def candidates(results: Results | pd.DataFrame, board: pd.DataFrame | None = None) -> tuple[pd.DataFrame, str]:
    """Return the conversations of models that can be recommended, and in words which cannot.

    Only language models above the line of the board qualify, because a model that resolves less than half, or a partial
    run, is safe for the wrong reason. Without `board`, the board is computed here.
    """
    rows = with_breaches(results)
    board = leaderboard(results) if board is None else board
    able = board[(board["block"] == "models") & (board["panel"] == "models")]
    chosen = rows[rows["entry"].isin(set(able["entry"])) & (rows["panel"] == "models")]
    return chosen, never_offered(board.drop(able.index)["panel"])


def with_breaches(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return conversations with ``breaks``: whether one broke an own desk's rule."""
    rows = conversations_of(results)
    if isinstance(results, Results):
        broken = (score.get("rules_broken_by") or () for score in scores_of(rows, results.runs))
        rows["breaks"] = [not {*rules} <= {*RULES} for rules in broken]
    return rows


def never_offered(panels: pd.Series) -> str:
    """Count the rows that are never recommended, by panel: ``2 players, 1 imported run``."""
    counts = panels.value_counts()
    return ", ".join(counted(int(counts[panel]), *NO_OFFER[panel]) for panel in NO_OFFER if panel in counts)


def with_stakes(rows: pd.DataFrame, stakes: Stakes) -> pd.DataFrame:
    """Return conversations with ``net_value`` and ``loss``; a forbidden act costs a wrong end."""
    names = ["resolved", "success", "handed_over", "cost_usd", "forbidden_calls", "forbidden_malformed", "breaks"]
    numbers = rows.reindex(columns=names).astype("Float64").to_numpy(dtype=float, na_value=nan)
    resolved, success, handed, cost, calls, malformed, breaks = numbers.T
    unnoticed = np.where(np.isnan(handed) | np.isnan(success), nan, (handed == 0) & (success == 0))
    loss = stakes.wrong * unnoticed + stakes.handover * handed
    loss[(calls > malformed) | (breaks > 0)] = stakes.wrong
    asked = rows["bucket"].isin(["resolvable", "must_escalate"]).to_numpy(dtype=bool)
    return rows.assign(net_value=stakes.resolved * resolved - cost, loss=np.where(asked, loss, nan))


def answer(question: Question, rows: pd.DataFrame, left_out: str = "") -> Answer:
    """Return the entry with the best mean, and all entries that are not clearly worse.

    Two entries are compared by `compare_all`. With more, the intervals hold for every pair at once (`simultaneous`).
    `left_out` says which entries had been left out before, and why.
    """
    metric = question.metric
    sides = {entry: Side(group) for entry, group in rows.groupby("entry", sort=True)}
    side_of = {entry: side for entry, side in sides.items() if side.values(metric).trials.any()}
    if unknown := sorted(sides.keys() - side_of.keys()):
        why = f"price unknown ({HOW_TO_PRICE})" if metric.column == "net_value" else "no value"
        left_out = sentence(left_out, f"{', '.join(unknown)}: {why}")
    if not side_of:
        return Answer(question, NOBODY, (), pd.DataFrame(columns=["entry"]), left_out or "no model was run")
    heads = {entry: headline(side.conversations, metric) for entry, side in side_of.items()}
    sign = -1 if metric.higher_is_better else 1
    order = sorted(side_of, key=lambda e: (sign * heads[e].mean.estimate, e))
    leader, rest = order[0], order[1:]
    if len(rest) == 1:
        compared = compare_all(side_of[rest[0]], side_of[leader], [metric])
    else:
        compared = simultaneous([compare(side_of[e], side_of[leader], metric) for e in rest], comb(len(order), 2))
    by_entry = dict(zip(rest, compared, strict=True))
    table = pd.DataFrame([_row(side_of[e], heads[e], by_entry.get(e), metric) for e in order])
    possible = tuple(e for e in order if e == leader or by_entry[e].word != SURE)
    verdict = ALONE if not rest else CLEAR if len(possible) == 1 else CLOSE
    return Answer(question, verdict, possible, table, left_out, _against_nothing(question, side_of[leader]))


def _row(side: Side, head: Headline, comparison: Comparison | None, metric: Metric) -> dict[str, Any]:
    rows, numbers = side.conversations, comparison.numbers if comparison else {}
    return {
        "entry": side.name,
        **interval(head.mean, "value"),
        "cases": head.n,
        "trials": int(rows["trial"].nunique()),
        "worst": worst_trial(rows) if metric.banded else nan,
        "equal": comparison is not None and is_equal(comparison),
        "difference": numbers.get("difference", nan),
        "difference_low": numbers.get("low", nan),
        "difference_high": numbers.get("high", nan),
        "level": 1 - max(comparison.among, 1) * comparison.alpha if comparison else nan,
        "verdict": sureness(comparison) if comparison else "",
    }


def _against_nothing(question: Question, leader: Side) -> str:
    if question.baseline is None:
        return ""
    values = leader.values(question.metric)
    means, intents = values.means[values.trials > 0], values.intents[values.trials > 0]
    clusters = ESTIMATORS[question.metric.estimator].clusters(intents)
    contrast = compare_paired(means, np.full(means.size, question.baseline), clusters=clusters, bounds=None)
    if not contrast.difference:
        return f"no better than {question.does_nothing}"
    better = (contrast.difference > 0) == bool(question.metric.higher_is_better)
    words = f"{'better' if better else 'worse'} than {question.does_nothing}"
    return f"clearly {words}" if contrast.word == SURE else f"measured as {words}, but not clearly"
