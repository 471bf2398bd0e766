"""The board as a table for a paper: few columns, and a caption that explains each number."""

import difflib
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...errors import BadInput
from ...scoring.metrics import METRICS, Metric
from ...scoring.written import DASH, missing, rounded
from ...textfiles import read_yaml
from ..cell import Cell, Heading, Table, footnoted
from ..estimators.estimate import Estimate, counted, usual
from ..estimators.unsafe import BAND_COUNTS
from ..panels import kinds_in_words, labelled, named_with, partial_in, short_name
from .costs import NO_MODEL, PLAYED
from .leaderboard import NO_MERIT, RESTS_ON_INTENTS, band_in_words, does_too_little, worst_beside

PAPER_COLUMNS = ("over_escalation", "unsafe", "escalation_accuracy", "resolved", "band", "cost_tier")
"""Columns of a paper's table after the model: planned metrics, band and cost."""
SAID: dict[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))
WORDED: dict[str, str] = SAID["columns"]
"""Columns that are not metrics."""
NO_BAND = "none*"
"""Band of an agent that does too little for one; a footnote explains it."""
DAGGER = "†"
"""Mark after the name of an unfinished run; a footnote says what is missing."""


def paper(board: pd.DataFrame, *, columns: Sequence[str] | None = None, models: Iterable[str] | None = None) -> Table:
    """Return the board as a table for a paper.

    `reports.paper.show` shows it in a notebook; `save` writes LaTeX, Markdown, CSV and HTML.

    Parameters
    ----------
    board : DataFrame
        Result of `leaderboard`.
    columns : sequence of str, optional
        Names of metrics, or ``band``, ``cost_tier``, ``trials``, ``dominated``, ``below``; by default `PAPER_COLUMNS`,
        without the cost if no model was paid for.
    models : iterable of str, optional
        Names on the board, in the order wanted; by default, the language models, or every row if there are none.

    Raises
    ------
    BadInput
        If a column or model is not on the board, a name is on it twice, or the board has no rows.

    Warns
    -----
    UserWarning
        If a row is an unfinished run.
    """
    rows = _rows(board, models)
    unfinished = named_with({entry: f"{words} planned conversations" for entry, words in partial_in(rows).items()})
    if unfinished:
        warnings.warn(SAID["unfinished"].format(names=unfinished), stacklevel=2)
    unpaid = set(rows["cost_tier"]) <= {NO_MODEL, PLAYED}
    chosen = list(columns or [c for c in PAPER_COLUMNS if not (unpaid and c == "cost_tier")])
    _check(chosen, [*METRICS, *WORDED], "column")
    if "trials" not in chosen and rows["trials"].nunique() > 1:
        chosen.append("trials")
    records: list[dict[str, Any]] = rows.to_dict("records")
    metrics = [METRICS[name] for name in chosen if name in METRICS]
    names = [labelled(row | {"partial": ""}, 48) + DAGGER * bool(row["partial"]) for row in records]
    bases, whose = _bases(records, metrics)
    parts: list[tuple[str, str, Sequence[Any], str]] = [("model", "Model", names, "")]
    parts += [("n", "n", [Cell(number=text) for text in bases], whose)] if bases else []
    for name in chosen:
        if name in METRICS:
            parts.append(_metric_column(records, METRICS[name]))
        else:
            bands = ", ".join(f"{counts} {band}" for band, counts in BAND_COUNTS.items())
            note = SAID["notes"].get(name, "").format(bands=bands)
            parts.append((name, WORDED[name], [_word(row, name) for row in records], note))
    remarks = _remarks(records, chosen, f"{DAGGER} Unfinished: {unfinished}." if unfinished else "")
    heads = [Heading(key=key, title=title) for key, title, *_ in parts]
    notes = {key: note for key, _, _, note in parts if note}
    marked, footnotes = footnoted(heads, notes, [remarks] if remarks else ())
    by_row = tuple({key: cells[place] for key, _, cells, _ in parts} for place in range(len(records)))
    return Table(columns=marked, rows=by_row, caption=_caption(rows, metrics), notes=footnotes)


def _bases(records: list[dict[str, Any]], metrics: list[Metric]) -> tuple[list[str], str]:
    """Return the cases behind each row if rows differ, ``120 / 24``, and their metrics.

    Counts are left out: their cells have the number.
    """
    bases: dict[tuple[int, ...], list[str]] = {}
    for metric in metrics:
        counts = tuple(_n(row, metric) for row in records)
        if not metric.scale.summed and len({*counts}) > 1:
            bases.setdefault(counts, []).append(metric.title.lower())
    titles = " / ".join(" and ".join(group) for group in bases.values())
    return [" / ".join(map(str, of_row)) for of_row in zip(*bases, strict=True)], SAID["bases"].format(titles=titles)


def _n(row: dict[str, Any], metric: Metric) -> int:
    n = row[f"{metric.name}_n"]
    return int(n) if n > 0 else 0


def _rows(board: pd.DataFrame, models: Iterable[str] | None) -> pd.DataFrame:
    if not len(board):
        raise BadInput(SAID["no rows"])
    if models is None:
        own = board[board["panel"] == "models"]
        return own if len(own) else board
    wanted = [models] if isinstance(models, str) else list(models)
    _check(wanted, list(board["entry"]), "model")
    return board.set_index("entry", drop=False).loc[wanted]


def _check(wanted: list[str], known: list[str], noun: str) -> None:
    for name in wanted:
        runs = [repr(entry) for entry in known if entry.startswith(f"{name} [")]
        if name not in known and runs:
            entries = " or ".join(runs)
            raise BadInput(SAID["several"].format(runs=counted(len(runs), "run"), name=name, entries=entries))
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise BadInput(SAID["unknown"].format(noun=noun, name=name, hint=hint))
        if wanted.count(name) > 1:
            raise BadInput(SAID["twice"].format(noun=noun, name=name))


def _metric_column(records: list[dict[str, Any]], metric: Metric) -> tuple[str, str, list[Cell], str]:
    scale, cases = metric.scale, [n for row in records if (n := _n(row, metric))]
    if scale.summed:
        unit, noun = f" of {usual(cases)}" if cases else "", f"{scale.noun}s"
    else:
        unit = f", {scale.sign}" if scale.sign else ""
        noun = f"{(metric.bucket or '').replace('_', '-')} cases".strip()
    over = " to ".join(map(str, sorted({min(cases), max(cases)}))) if cases else ""
    note = f"n = {over} {noun}{SAID['better'][metric.higher_is_better]}." if cases else "not run"
    cells = [_estimate(row, metric, usual(cases)) for row in records]
    return metric.name, f"{metric.title}{unit}", cells, f"{note} {SAID['worst'] if metric.banded else ''}".strip()


def _estimate(row: dict[str, Any], metric: Metric, most: int) -> Cell:
    """Return ``93.1 (90.2–96.0)``; a count of unusually few traps has them: ``0.0 of 8``."""
    value, low, high = (row[f"{metric.name}{end}"] for end in ("_mean", "_low", "_high"))
    scale, n = metric.scale, _n(row, metric)
    estimate = Estimate(estimate=value, low=low, high=high, n=n, estimand="mean over cases")
    if missing(value):
        return Cell(number=DASH, estimate=estimate, scale=scale)
    number = rounded(scale.times * value, scale.digits)
    number += f" of {n}" if scale.summed and n != most else ""
    number += "*" if metric.banded and does_too_little(row) else ""
    interval = "" if missing(low) else "–".join(scale.ends(low, high))
    worst = worst_beside(row).removeprefix("worst trial ") if metric.banded else ""
    return Cell(number=number, interval=interval, note=worst, estimate=estimate, scale=scale)


def _word(row: dict[str, Any], name: str) -> str:
    if name == "band":
        return NO_BAND if does_too_little(row) else band_in_words(row).removeprefix("indeterminate: ") or DASH
    return DASH if missing(row[name]) or row[name] == "" else str(row[name])


def _caption(rows: pd.DataFrame, metrics: list[Metric]) -> str:
    trials = sorted({int(t) for t in rows["trials"] if t > 0})
    many = " to ".join(map(str, sorted({trials[0], trials[-1]}))) if trials else "no"
    noun = {"models": "model", "players": "player"}.get(*set(rows["panel"])) if rows["panel"].nunique() == 1 else None
    names = rows["model"].nunique()
    who = counted(names, noun or "agent") + (f" in {counted(len(rows), 'setting')}" if names < len(rows) else "")
    return str(SAID["caption"]).format(
        versions=", ".join(sorted({str(v) for v in rows["versions"]})),
        who=who,
        many=many,
        trials="trial" if many == "1" else "trials",
        method=f"{SAID['method']} " if any(metric.banded for metric in metrics) else "",
        kinds="".join(f" {sentence}." for sentence in kinds_in_words(rows.drop(columns="partial"))),
    )


def _remarks(records: list[dict[str, Any]], chosen: list[str], first: str) -> str:
    """Return the notes to single rows after `first`, without those on absent metrics."""
    metrics = [METRICS[name] for name in chosen if name in METRICS]
    absent = tuple(f"{METRICS[name].title.lower()}: " for name in METRICS if name not in chosen)
    shares = [m.name for m in metrics if m.scale.bounds and not m.scale.summed]
    at_an_end = any(row[f"{n}_mean"] in (0, 1) for row in records for n in shares)
    wide = f"{RESTS_ON_INTENTS}." if at_an_end else ""
    starred = "band" in chosen or any(metric.banded for metric in metrics)
    star = NO_MERIT if starred and any(map(does_too_little, records)) else ""
    entries_by_note: dict[str, list[str]] = {}
    for row in records:
        every = [note for note in row["notes"].split("; ") if not note.startswith(absent)]
        if notes := "; ".join(note for note in every if not note.endswith("conversations: partial")):
            entries_by_note.setdefault(notes, []).append(short_name(row["entry"], 48))
    parts = [first, star, wide, *(f"{', '.join(names)}: {notes}." for notes, names in entries_by_note.items())]
    return " ".join(filter(None, parts))
