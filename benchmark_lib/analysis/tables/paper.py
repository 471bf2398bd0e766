"""The board as a table for a paper: few columns, each number with the digits its interval supports, and a full caption."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...scoring.metrics import METRICS, Metric
from ...scoring.written import DASH, missing, rounded
from ..cell import Cell, Heading, Table, footnoted
from ..estimators.estimate import Estimate, counted, usual
from ..estimators.unsafe import BAND_COUNTS
from ..panels import kinds_in_words, labelled, named_with, partial_in, short_name
from .costs import NO_MODEL, PLAYED
from .leaderboard import NO_MERIT, RESTS_ON_INTENTS, band_in_words, does_too_little, worst_beside

if TYPE_CHECKING:
    import pandas as pd

PAPER_COLUMNS = ("over_escalation", "unsafe", "escalation_accuracy", "resolved", "band", "cost_tier")
"""The columns of a paper's table beside the model: the planned metrics, band and cost."""
WORDED = {
    "band": "Band",
    "cost_tier": "Cost tier",
    "trials": "Trials",
    "dominated": "Dominated by",
    "below": "Below the line",
}
"""Columns that are no metric."""
NO_BAND = "none*"
"""The band of an agent that does too little for one; a footnote says why."""
WORST = " Behind the comma, the worst trial."
DAGGER = "†"
"""What stands behind the name of an unfinished run; a footnote says what it lacks."""


def paper(board: pd.DataFrame, *, columns: Sequence[str] | None = None, models: Iterable[str] | None = None) -> Table:
    """The board as a table for a paper; `reports.paper.show` shows it in a notebook, `save` writes it as LaTeX, Markdown, CSV and HTML.

    Parameters
    ----------
    board : DataFrame
        As `leaderboard` gives it.
    columns : sequence of str, optional
        Names of metrics, or ``band``, ``cost_tier``, ``trials``, ``dominated``, ``below``; by default `PAPER_COLUMNS`, without the
        cost where nobody was paid.
    models : iterable of str, optional
        Names on the board, in the order wanted; by default the language models if there are any, otherwise every row.

    Raises
    ------
    BadInput
        For a column or model that is not on the board, a name that is there twice, or a board without rows.

    Warns
    -----
    UserWarning
        Where a row is an unfinished run, by name.
    """
    rows = _rows(board, models)
    if unfinished := _unfinished(rows):
        said = f"unfinished: {unfinished}; the command that began a run finishes it, and models=[...] can leave it out"
        warnings.warn(said, stacklevel=2)
    unpaid = set(rows["cost_tier"]) <= {NO_MODEL, PLAYED}
    chosen = list(columns or [c for c in PAPER_COLUMNS if not (unpaid and c == "cost_tier")])
    _check(chosen, [*METRICS, *WORDED], "column")
    if "trials" not in chosen and rows["trials"].nunique() > 1:
        chosen.append("trials")
    records, notes = rows.to_dict("records"), {}
    heads = [Heading(key="model", title="Model")]
    names = [labelled(row | {"partial": ""}, 48) + DAGGER * bool(row["partial"]) for row in records]
    cells: dict[str, Sequence[Any]] = {"model": names}
    bases, notes["n"] = _bases(records, [METRICS[name] for name in chosen if name in METRICS])
    if bases:
        heads.append(Heading(key="n", title="n"))
        cells["n"] = [Cell(number=text) for text in bases]
    for name in chosen:
        if name in METRICS:
            metric = METRICS[name]
            heads.append(Heading(key=name, title=f"{metric.title}{_unit(metric, records)}"))
            cells[name] = _estimates(records, metric)
            notes[name] = _denominator(records, metric) + (WORST if metric.banded else "")
        else:
            heads.append(Heading(key=name, title=WORDED[name]))
            cells[name] = [_word(row, name) for row in records]
    if "band" in chosen:
        notes["band"] = _bands_in_words()
    if "cost_tier" in chosen:
        notes["cost_tier"] = "By the cost of 1,000 conversations of the agent, at the prices recorded in the run."
    remarks = _remarks(records, chosen, f"{DAGGER} Unfinished: {unfinished}." if unfinished else "")
    marked, footnotes = footnoted(heads, {k: text for k, text in notes.items() if text}, [remarks] if remarks else ())
    made = tuple({key: column[place] for key, column in cells.items()} for place in range(len(records)))
    return Table(columns=marked, rows=made, caption=_caption(rows, chosen), notes=footnotes)


def _bases(records: list[dict[str, Any]], metrics: list[Metric]) -> tuple[list[str], str]:
    """The cases behind each row where rows differ, ``120 / 24``, and whose they are; a count says its own in its cell."""
    bases: dict[tuple[int, ...], list[str]] = {}
    for metric in metrics:
        counts = tuple(int(n) if (n := row[f"{metric.name}_n"]) == n else 0 for row in records)  # NaN: no conversation
        if not metric.scale.summed and len({*counts}) > 1:
            bases.setdefault(counts, []).append(metric.title.lower())
    cells = [" / ".join(map(str, of_row)) for of_row in zip(*bases, strict=True)]
    return cells, f"Cases behind {' / '.join(' and '.join(titles) for titles in bases.values())}." if cells else ""


def _bands_in_words() -> str:
    """What the bands are."""
    words = ", ".join(f"{counts} {band}" for band, counts in BAND_COUNTS.items())
    return f"Bands of unsafe actions out of 18 ({words}), with their probability on these traps; two are named where neither reaches 0.8."


def _rows(board: pd.DataFrame, models: Iterable[str] | None) -> pd.DataFrame:
    if not len(board):
        raise BadInput("the board has no rows, so there is no table: run a model first")
    if models is None:
        own = board[board["panel"] == "models"]
        return own if len(own) else board
    wanted = [models] if isinstance(models, str) else list(models)
    _check(wanted, list(board["entry"]), "model")
    return board.set_index("entry", drop=False).loc[wanted]


def _check(wanted: list[str], known: list[str], noun: str) -> None:
    import difflib

    for name in wanted:
        runs = [repr(entry) for entry in known if entry.startswith(f"{name} [")]
        if name not in known and runs:
            raise BadInput(
                f"the board has {counted(len(runs), 'run')} of {name!r}: name one of them, {' or '.join(runs)}"
            )
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise BadInput(f"the board has no {noun} {name!r}: {hint}")
        if wanted.count(name) > 1:
            raise BadInput(f"the {noun} {name!r} is named twice: name it once")


def _unit(metric: Metric, records: list[dict[str, Any]]) -> str:
    """The unit as it stands in the heading; of a count, out of how many in most rows."""
    if not metric.scale.summed:
        return f", {metric.scale.sign.strip()}" if metric.scale.sign else ""
    cases = _cases(metric, records)
    return f" of {usual(cases)}" if cases else ""


def _cases(metric: Metric, records: list[dict[str, Any]]) -> list[int]:
    """The number of cases of each row that has any."""
    return [int(row[f"{metric.name}_n"]) for row in records if row[f"{metric.name}_n"] > 0]


def _estimates(records: list[dict[str, Any]], metric: Metric) -> list[Cell]:
    """The means with their intervals, ``93.1 (90.2–96.0)``; a count out of fewer than in most rows says so, ``0.0 of 8 (0.0–3.0)``."""
    most = usual(_cases(metric, records) or [0])
    return [_estimate(row, metric, most) for row in records]


def _estimate(row: dict[str, Any], metric: Metric, most: int) -> Cell:
    value, low, high = (row[f"{metric.name}{end}"] for end in ("_mean", "_low", "_high"))
    n = int(row[f"{metric.name}_n"]) if row[f"{metric.name}_n"] > 0 else 0
    estimate = Estimate(estimate=value, low=low, high=high, n=n, estimand="mean over cases")
    if missing(value):
        return Cell(number=DASH, estimate=estimate, scale=metric.scale)
    number = rounded(metric.scale.times * value, metric.scale.digits)
    number += f" of {n}" if metric.scale.summed and n != most else ""
    number += "*" if metric.banded and does_too_little(row) else ""
    interval = "" if missing(low) else "–".join(metric.scale.ends(low, high))
    worst = worst_beside(row).removeprefix("worst trial ") if metric.banded else ""
    return Cell(number=number, interval=interval, note=worst, estimate=estimate, scale=metric.scale)


def _word(row: dict[str, Any], name: str) -> str:
    if name == "band":
        return NO_BAND if does_too_little(row) else band_in_words(row).removeprefix("indeterminate: ") or DASH
    return DASH if missing(row[name]) or row[name] == "" else str(row[name])


def _denominator(records: list[dict[str, Any]], metric: Metric) -> str:
    """Over how many cases the column is, and what its interval was made of."""
    cases = sorted(set(_cases(metric, records)))
    if not cases:
        return "not run"
    n = f"{cases[0]}" if len(cases) == 1 else f"{cases[0]} to {cases[-1]}"
    better = {True: "; higher is better", False: "; lower is better", None: ""}[metric.higher_is_better]
    noun = (
        f"{metric.scale.noun}s" if metric.scale.summed else f"{(metric.bucket or '').replace('_', '-')} cases".strip()
    )
    return f"n = {n} {noun}{better}."


def _caption(rows: pd.DataFrame, chosen: list[str]) -> str:
    trials = sorted({int(t) for t in rows["trials"] if t > 0})
    many = f"{trials[0]}" if len(trials) == 1 else f"{trials[0]} to {trials[-1]}" if trials else "no"
    noun = {"models": "model", "players": "player"}.get(*set(rows["panel"])) if rows["panel"].nunique() == 1 else None
    names = rows["model"].nunique()
    who = counted(names, noun or "agent") + (f" in {counted(len(rows), 'setting')}" if names < len(rows) else "")
    kinds = "".join(f" {sentence}." for sentence in kinds_in_words(rows.drop(columns="partial")))
    versions = ", ".join(sorted({str(v) for v in rows["versions"]}))
    method = (
        "Unsafe actions: observed mean over trials with the 95 % credible interval for these traps, from a hierarchical beta-binomial model. "
        if any(METRICS[name].banded for name in chosen if name in METRICS)
        else ""
    )
    return (
        f"Deskbench, {versions}: {who}, {many} "
        f"{'trial' if many == '1' else 'trials'} per case. Each number is the mean over cases of the mean over trials (boards show medians over trials), with its 95 % interval for "
        "cases like these: of shares from a hierarchical beta-binomial model (exact where all or none succeed), of other means a cluster-robust t, clustered by intent where a bucket "
        f"has six intents or more. {method}No composite score is computed.{kinds}"
    )


def _unfinished(rows: pd.DataFrame) -> str:
    """The unfinished runs of a table, each with how far it is."""
    return named_with({entry: f"{words} planned conversations" for entry, words in partial_in(rows).items()})


def _remarks(records: list[dict[str, Any]], chosen: list[str], first: str) -> str:
    """What a reader must know about single rows after what comes `first`; nothing of metrics that the table does not have."""
    absent = tuple(f"{METRICS[name].title.lower()}: " for name in METRICS if name not in chosen)
    shares = [n for n in chosen if n in METRICS and METRICS[n].scale.bounds and not METRICS[n].scale.summed]
    at_an_end = any(row[f"{n}_mean"] in (0, 1) for row in records for n in shares)
    told: dict[str, list[str]] = {}
    for row in records:
        every = [note for note in row["notes"].split("; ") if not note.startswith(absent)]
        if notes := "; ".join(note for note in every if not note.endswith("conversations: partial")):
            told.setdefault(notes, []).append(short_name(row["entry"], 48))
    wide = f"{RESTS_ON_INTENTS}." if at_an_end else ""
    starred = "band" in chosen or any(METRICS[n].banded for n in chosen if n in METRICS)
    star = NO_MERIT if starred and any(map(does_too_little, records)) else ""
    return " ".join(
        filter(None, [first, star, wide, *(f"{', '.join(names)}: {notes}." for notes, names in told.items())])
    )
