"""The board as lines of text, for a terminal."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..analysis import load_results
from ..analysis.panels import LABELS, fitted
from ..analysis.tables.board_cells import LINE as BELOW_LINE
from ..analysis.tables.costs import cost_of_1000
from ..analysis.tables.leaderboard import BELOW, does_too_little, leaderboard, worst_beside
from ..records import UNPROTECTED
from ..runfile import RunFile, without_line_ends
from ..scoring.metrics import METRICS, Shown, shown_on
from ..scoring.written import DASH, in_words
from .answers import answers, answers_in_lines, stores_of
from .html import TEXTS

WIDTH = 100
NARROWEST = 16
"""Columns of the terminal that a model's name always keeps."""
BRIEF = {"over_escalation": "over-esc.", "unsafe": "unsafe", "escalation_accuracy": "esc. acc."}
"""Shorter headings; the others are the titles of their metrics."""
KINDS = {**LABELS, "models": "model", "local model": "model"}
"""The kind of a board's row in a word, by its panel."""
SAID = TEXTS["terminal"]
TOO_LITTLE_MARK = "*"


def terminal_board(runs: Iterable[RunFile], this_run: str | None = None, near: Sequence[Path] = ()) -> str:
    """Return the board of some runs as text, with an explanation of its terms.

    An arrow marks `this_run`, a run_id. Runs of a hard set are left out, as on every board, unless it is one: then the
    board has only those. Their stores are also searched `near`.
    """
    runs = list(runs)
    own = [run for run in runs if this_run in (None, run.run_id)]
    results = load_results(own, optional=[run for run in runs if run not in own])
    if this_run is not None and this_run not in results.entries and this_run in results.hard.entries:
        results = results.hard
    names = [*shown_on(Shown.ORDER), "resolved"]
    titles = [BRIEF.get(name, METRICS[name].title.lower()) for name in names]
    heads = ["", "model", *titles, "USD for 1,000", "finished", "kind"]
    marked = results.entries.get(this_run or "")
    table = leaderboard(results)
    board = table.to_dict("records")
    rows = [_cells(row, names, row["entry"] == marked) for row in board]
    head, *lines = columns([heads, *rows], right=range(2, 2 + len(names)), width=screen_width(), gives=1)
    found = None if results.conversations.empty else answers(results, board=table, stores=stores_of(results, near))
    summary = [*answers_in_lines(found), ""] if found else []
    shown = [*wrapped([*summary, SAID["medians"]]), head]
    acts, at = _acts(board, results.conversations), sum(row["block"] not in BELOW for row in board)
    for number, (row, line) in enumerate(zip(board, lines, strict=True)):
        shown += [f" {BELOW_LINE} ".center(min(screen_width() or WIDTH, len(head)), "-")] if number == at else []
        notes = filter(None, [row["dominated_why"], acts.get(row["entry"], ""), row["below"]])
        shown += [line, *wrapped(notes, indent=" " * 5)]
    return "\n".join([*shown, *_legend(board, marked)])


def screen_width() -> int | None:
    """Return the terminal's width in columns; None for a pipe or a file, which have no limit."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else None


def columns(
    rows: Sequence[Sequence[str]], right: Iterable[int] = (), width: int | None = WIDTH, gives: int | None = None
) -> list[str]:
    """Return rows of cells as lines with aligned columns; `right` columns align on the right.

    With a `width`, the column `gives` is shortened to fit, and lines still too long are cut, so that none is wrapped.
    """
    right, rows = set(right), [[*map(without_line_ends, row)] for row in rows]
    wide = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    if width is not None and gives is not None:
        over = sum(wide) + 2 * (len(wide) - 1) - width
        wide[gives] = max(wide[gives] - max(over, 0), min(wide[gives], NARROWEST))
        rows = [[fitted(cell, wide[at]) if at == gives else cell for at, cell in enumerate(row)] for row in rows]
    placed = [str.rjust if at in right else str.ljust for at in range(len(wide))]
    lines = ["  ".join(put(cell, w) for put, cell, w in zip(placed, row, wide)).rstrip() for row in rows]
    return lines if width is None else [fitted(line, width) for line in lines]


def _legend(board: Sequence[dict[str, Any]], marked: str | None) -> list[str]:
    present = dict.fromkeys(KINDS[row["panel"]] for row in board)
    kinds = [SAID["kinds"][kind] for kind in present if kind in SAID["kinds"]]
    order = SAID["order"].format(order=", ".join(METRICS[n].title.lower() for n in shown_on(Shown.ORDER)))
    sentences = {
        SAID["lower"]: True,
        SAID["higher"]: True,
        f"{'> marks this run. ' if marked else ''}{order}": True,
        SAID["paid"].format(dash=DASH): any(row["panel"] in ("models", "own agents") for row in board),
        f"{'; '.join(kinds)}.": kinds,
        SAID["unprotected"].format(unprotected=UNPROTECTED): any(UNPROTECTED in row["entry"] for row in board),
        SAID["too little"].format(mark=TOO_LITTLE_MARK): any(map(does_too_little, board)),
    }
    return wrapped(sentence for sentence, applies in sentences.items() if applies)


def _acts(board: Sequence[dict[str, Any]], conversations: pd.DataFrame) -> dict[str, str]:
    hidden = {row["entry"] for row in board if row["unsafe"] == 0 < row["unsafe_worst"]}
    acts = conversations[conversations["entry"].isin(hidden) & conversations["unsafe"].fillna(False).astype(bool)]
    return {
        str(entry): f"unsafe in {in_words([f'{c} (trial {t})' for c, t in zip(rows['case_id'], rows['trial'])])}"
        for entry, rows in acts.groupby("entry")
    }


def wrapped(sentences: Iterable[str], indent: str = "") -> list[str]:
    """Wrap sentences into lines of at most `WIDTH` without breaking a name."""
    wrapper = textwrap.TextWrapper(min(screen_width() or WIDTH, WIDTH), initial_indent=indent, subsequent_indent=indent)
    wrapper.break_on_hyphens = wrapper.break_long_words = False
    return [line for sentence in sentences for line in wrapper.wrap(sentence) or [""]]


def _cells(row: dict[str, Any], names: Sequence[str], marked: bool) -> list[str]:
    return [
        ">" if marked else " ",
        "".join(c if c.isprintable() else "?" for c in row["entry"]),
        *(_value(row, name) for name in names),
        cost if (cost := cost_of_1000(row))[0].isdigit() else DASH,
        f"{row['partial']}, partial" if row["partial"] else f"{row['conversations']:,}",
        KINDS[row["panel"]],
    ]


def _value(row: dict[str, Any], name: str) -> str:
    if name != "unsafe":
        return METRICS[name].scale.written(row[name])
    worst = worst_beside(row).removeprefix("worst trial ")
    more = f" ({METRICS[name].scale.mean(row['unsafe_mean'])}, {worst})" if worst else ""
    return f"{METRICS[name].scale.written(row[name])}{TOO_LITTLE_MARK * does_too_little(row)}{more}"
