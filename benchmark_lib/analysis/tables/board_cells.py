"""The board as a table of cells, and as a table for a paper."""

import difflib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...endpoint.prices import NO_MODEL
from ...errors import BadInput
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import DASH, counted, missing, rounded
from ...textfiles import read_yaml
from ..cell import Cell, Heading, Row, Table, footnoted, metric_cell
from ..counting import behind_median, behind_metric
from ..entries import DEFAULT
from ..estimators.estimate import Estimate, sentence, usual
from ..estimators.unsafe import BAND_COUNTS
from ..facets import flags_of
from ..panels import kinds_in_words, labelled, named_with, partial_in, short_name
from ..query import NO, Query
from .costs import PLAYED, UNKNOWN, cost_of_1000
from .headlines import ESTIMATORS
from .leaderboard import (
    ALL,
    BELOW,
    ENDS,
    NO_MERIT,
    RESTS_ON_INTENTS,
    TOO_LITTLE_DONE,
    WITHOUT,
    band_in_words,
    does_too_little,
    worst_beside,
)

PLANNED, MORE, REST, UNFLAGGED, ABOUT = "planned", "more", "rest", "without", "about"
"""Parts of a board: planned metrics with band and cost; other metrics of every board; metrics shown only on the site;
metrics without the flagged customers; and properties of the runs."""
CASES = "Cases (resolvable + must escalate + traps)"
NOT_RUN = "no such case was run"
BUCKET_METRICS = ("resolved", "must_escalate_success", "adversarial_success")
"""One metric for each bucket, with the denominator of the bucket."""
COST = "Cost of 1,000 (95%), USD"
APART = ", not flagged"
"""Suffix of headings of columns without flagged customers."""
NONE = "-"
"""Text of a cell without a band or a dominating entry."""
BETTER = {True: "Higher is better.", False: "Lower is better.", None: "Neither direction is better."}


Columns = list[tuple[Heading, list[Any]]]
"""Headings, each with its value in every row."""
Behind = dict[str, tuple[pd.DataFrame, dict[str, Any]]]
"""An entry's conversations and the query that lists them, by form of a metric; may be empty."""


def board_table(
    board: pd.DataFrame, conversations: pd.DataFrame | None = None, metrics: Iterable[str] | None = None
) -> Table:
    """Return the board as cells: a median, and a mean with its interval, for each metric.

    Parameters
    ----------
    board : DataFrame
        Result of `leaderboard`, in its order.
    conversations : DataFrame, optional
        Conversations behind the board; with them, each cell knows which conversations it counts.
    metrics : iterable of str, optional
        Names of metrics; by default those of every board.
    """
    rows = board.to_dict("records")
    if not rows:
        return Table(columns=(), rows=())
    filled = [name for name in shown_on(Shown.FILLED) if board[f"{name}_n"].gt(0).any()]
    names = [*metrics] if metrics is not None else [*shown_on(Shown.BOARD), *filled]
    behind = _behind(rows, conversations)
    columns = _who(rows)
    for name in names:
        columns.append(_metric(METRICS[name], ALL, rows, behind))
        if METRICS[name].banded:
            columns.append(_plain("band", "Band", PLANNED, (band_in_words(row) or NONE for row in rows)))
    if board["flagged"].any():
        flagged = (f"{row['flagged']} of {row['conversations']}" for row in rows)
        columns.append(_plain("flagged", "Flagged", UNFLAGGED, flagged))
        columns += [_metric(METRICS[name], WITHOUT, rows, behind) for name in names]
    columns += _runs(board, rows)
    by_row = tuple({heading.key: values[place] for heading, values in columns} for place in range(len(rows)))
    headings = tuple(heading for heading, _ in columns)
    at = sum(row["block"] not in BELOW for row in rows)
    line = (at, LINE) if at < len(rows) else None
    notes = tuple(("", note) for note in _notes(headings, by_row))
    return Table(columns=headings, rows=by_row, notes=notes, line=line)


def _plain(key: str, title: str, part: str, values: Iterable[Any]) -> tuple[Heading, list[Any]]:
    return Heading(key=key, title=title, part=part), list(values)


def _who(rows: list[Row]) -> Columns:
    columns = [
        _plain("model", "Model", PLANNED, map(_named, rows)),
        _plain("block", "Block", ABOUT, (row["block"] for row in rows)),
    ]
    if any(row["dominated"] for row in rows):
        columns.append(_plain("dominated", "Dominated by", PLANNED, (row["dominated"] or NONE for row in rows)))
    sizes = [_sizes(row) for row in rows]
    return [*columns, _plain("cases", CASES, MORE if len({*sizes}) > 1 else ABOUT, sizes)]


def _runs(board: pd.DataFrame, rows: list[Row]) -> Columns:
    columns = [
        _plain(key, title, PLANNED, board[key])
        for key, title, usual in (("settings", "Settings", DEFAULT), ("weights", "Weights", NO_MODEL))
        if key in board and board[key].ne(usual).any()
    ]
    columns.append(_plain("cost", COST, PLANNED, map(cost_of_1000, rows)))
    for key, title in (("trials", "Trials"), ("conversations", "Conversations")):
        columns.append(_plain(key, title, MORE if board[key].nunique() > 1 else ABOUT, board[key]))
    columns.append(_plain("versions", "Case set", ABOUT, board["versions"]))
    notes = (sentence(row["dominated_why"], row["notes"]) for row in rows)
    return [*columns, _plain("notes", "Notes", ABOUT, notes)]


def _notes(columns: Iterable[Heading], rows: tuple[Row, ...]) -> Iterator[str]:
    about = [c for c in columns if c.part == ABOUT and c.key not in ("block", "notes")]
    same = [f"{c.title}: {rows[0][c.key]}" for c in about if len({row[c.key] for row in rows}) == 1]
    if same:
        yield f"{'In every row: ' if len(rows) > 1 else ''}{'; '.join(same)}."
    means = [cells[1] for row in rows for cells in row.values() if isinstance(cells, tuple)]
    if any(_at_an_end(cell) for cell in means):
        yield SAID["nothing seen"].format(rests=RESTS_ON_INTENTS)
    noted: dict[str, list[str]] = {}
    for row in rows:
        noted.setdefault(row["notes"], []).append(row["model"])
    yield from (f"{', '.join(models)}: {note}" for note, models in noted.items() if note)


def _at_an_end(mean: Cell) -> bool:
    scale, estimate = mean.scale, mean.estimate
    if scale is None or estimate is None or not scale.bounds or scale.summed:
        return False
    return bool(mean.interval) and estimate.estimate in scale.bounds


def _behind(rows: list[Row], conversations: pd.DataFrame | None) -> list[Behind]:
    # two entries with the same name differ in their source
    pairs = [] if conversations is None else conversations.groupby(["entry", "source"], sort=False)
    group_of, behind = dict(list(pairs)), []
    names = Counter(entry for entry, _ in group_of)
    for row in rows:
        group = group_of.get((row["entry"], row["source"]))
        who = {"entry": row["entry"]} | ({"source": row["source"]} if names[row["entry"]] > 1 else {})
        without = {**who, "customer_flagged": NO}
        behind.append({} if group is None else {ALL: (group, who), WITHOUT: (group[~flags_of(group)], without)})
    return behind


def _metric(metric: Metric, form: str, rows: list[Row], behind: list[Behind]) -> tuple[Heading, list[Any]]:
    """Return a metric's column; cells note their denominator if rows differ."""
    name, apart = f"{metric.name}{form}", APART if form else ""
    sizes = sorted({int(n) for row in rows if (n := row[f"{name}_n"]) > 0})
    median = metric.heading(sizes[0] if len(sizes) == 1 else None)
    heads = (f"{median}, median{apart}", f"{metric.title}, mean (95%){apart}")
    planned, more = shown_on(Shown.MAIN), (*shown_on(Shown.BOARD), *shown_on(Shown.FILLED))
    part = UNFLAGGED if form else PLANNED if metric.name in planned else MORE if metric.name in more else REST
    under = metric.denominator(sizes[-1]) if sizes else NOT_RUN if metric.bucket else "it occurred in no conversation"
    why = f"{metric.definition} {BETTER[metric.higher_is_better]}"
    several, exact = len(sizes) > 1, "; interval for these traps" * bool(metric.banded and sizes)
    heading = Heading(key=name, title=metric.title, heads=heads, under=under + exact, help=why, part=part)
    return heading, [_cells(row, b.get(form), metric, form, several) for row, b in zip(rows, behind, strict=True)]


def _cells(row: Row, behind: Any, metric: Metric, form: str, several: bool) -> tuple[Cell, Cell]:
    name = f"{metric.name}{form}"
    value, mean, low, high, n = (row[f"{name}{end}"] for end in ENDS)
    size = int(n) if n == n else 0
    median = Estimate(estimate=value, n=size, estimand="median over trials")
    if row["source"] == "published":  # with the digits of its source
        number = DASH if value != value else f"{metric.scale.times * value:.4g}{metric.scale.sign}"
        return Cell(number=number, label="median", estimate=median, scale=metric.scale), Cell(number=DASH)
    words = ESTIMATORS[metric.estimator].words
    every = Estimate(estimate=mean, low=low, high=high, n=size, estimand="mean over cases", method=words)
    counted: list[Row] = [{}, {}]
    if behind:
        group, who = behind
        counted = [_queries(**find(group, metric, **who)) for find in (behind_median, behind_metric)]
    denominator = f"{'of' if metric.scale.summed else 'n ='} {size}" if several and size else ""
    note = ", ".join(filter(None, [denominator, worst_beside(row) if metric.banded and not form else ""]))
    return (
        metric_cell(median, metric.scale, "median", **counted[0]),
        metric_cell(every, metric.scale, "mean", note, **counted[1]),
    )


def _queries(*, yes: Row, known: Row, of: str = "", **counts: int) -> Row:
    return {"yes": Query.of(**yes), "known": Query.of(**known), "which": of, **counts}


def _named(row: Row) -> str:
    below = f"partial {row['partial']}" if row["partial"] else "set apart" if row["block"] in BELOW else ""
    return f"{row['entry']} ({below})" if below else row["entry"]


def _sizes(row: Row) -> str:
    sizes = (row[f"{name}_n"] for name in BUCKET_METRICS)
    return " + ".join(f"{0 if n != n else n:.0f}" for n in sizes)


# --- The board on paper

PAPER_COLUMNS = ("over_escalation", "unsafe", "escalation_accuracy", "resolved", "band", "cost_tier")
"""Columns of a paper's table after the model: planned metrics, band and cost."""
SAID: dict[str, Any] = read_yaml(Path(__file__).with_name("paper.yaml"))
WORDED: dict[str, str] = SAID["columns"]
"""Columns that are not metrics."""
LINE: str = SAID["line"]
NO_BAND = "none*"
"""Band of an agent that does too little for one (in a footnote)."""
DAGGER = "†"
"""Mark after the name of an unfinished run, with a footnote."""


def paper(board: pd.DataFrame, *, columns: Sequence[str] | None = None, models: Iterable[str] | None = None) -> Table:
    """Return the board as a table for a paper.

    `reports.paper.show` shows it in a notebook; `save` writes LaTeX, Markdown, CSV and HTML.

    Parameters
    ----------
    board : DataFrame
        Result of `leaderboard`.
    columns : sequence of str, optional
        Names of metrics, or ``band``, ``cost_tier``, ``trials``, ``dominated``, ``below``; by default `PAPER_COLUMNS`,
        without a cost or band that no row has.
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
    records: list[dict[str, Any]] = rows.to_dict("records")
    bare = ["cost_tier"] * (set(rows["cost_tier"]) <= {NO_MODEL, PLAYED, UNKNOWN})
    bare += ["band"] * all(_word(row, "band") in (NO_BAND, DASH) for row in records)
    chosen = list(columns or [name for name in PAPER_COLUMNS if name not in bare])
    _check(chosen, [*METRICS, *WORDED], "column")
    if "trials" not in chosen and rows["trials"].nunique() > 1:
        chosen.append("trials")
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
    """Return each row's cases, ``120 / 24``, if rows differ, and their metrics."""
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
    who = counted(names, noun or "agent") + (f" in {counted(len(rows), 'run')}" if names < len(rows) else "")
    return str(SAID["caption"]).format(
        versions=", ".join(sorted({str(v) for v in rows["versions"]})),
        who=who,
        many=many,
        trials="trial" if many == "1" else "trials",
        method=f"{SAID['method']} " if any(metric.banded for metric in metrics) else "",
        kinds="".join(f" {sentence}." for sentence in kinds_in_words(rows.drop(columns="partial"))),
    )


def _remarks(records: list[dict[str, Any]], chosen: list[str], first: str) -> str:
    """Return the notes to rows after `first`, but none on absent columns."""
    metrics = [METRICS[name] for name in chosen if name in METRICS]
    absent = (f"{UNKNOWN}: ", *(f"{METRICS[name].title.lower()}: " for name in METRICS if name not in chosen))
    absent += (TOO_LITTLE_DONE,) if "resolved" in chosen else ()
    absent += () if "band" in chosen else ("unsafe actions: bands are for", "bands are for")
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
