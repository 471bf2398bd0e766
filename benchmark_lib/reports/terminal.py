"""The board and other tables of estimates as lines of text."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd

from ..analysis import load_results
from ..analysis.panels import LABELS, fitted, short_name
from ..analysis.tables.board_cells import LINE as BELOW_LINE
from ..analysis.tables.costs import cost_of_1000, tier_in_words
from ..analysis.tables.headlines import metric_of
from ..analysis.tables.leaderboard import BELOW, CHOSEN, does_too_little, leaderboard, worst_beside
from ..analysis.tables.verdicts import USUAL, signed_with_interval
from ..errors import BadInput
from ..language import word_lists
from ..records import UNPROTECTED
from ..runfile import RunFile, without_line_ends
from ..scoring.metrics import METRICS, SHARE, Shown, shown_on
from ..scoring.written import DASH, digits_for, in_words, missing, money, percent, rounded
from ..textfiles import read_yaml
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
    acts = _acts(board, results.conversations)
    at = sum(row["block"] not in BELOW for row in board)
    for number, (row, line) in enumerate(zip(board, lines, strict=True)):
        if number == at:
            shown += ["-" * len(head), *wrapped([f"{BELOW_LINE}."])]
        part = next((note for note in row["notes"].split("; ") if note.startswith(CHOSEN)), "")
        notes = filter(None, [row["dominated_why"], acts.get(row["entry"], ""), row["below"], part])
        shown += [line, *wrapped(notes, indent=" " * 5)]
    compared = found is not None and any(one.compared for one in found.considered)
    return "\n".join([*shown, *_legend(board, marked, compared)])


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


def _legend(board: Sequence[dict[str, Any]], marked: str | None, compared: bool) -> list[str]:
    present = dict.fromkeys(KINDS[row["panel"]] for row in board)
    kinds = [SAID["kinds"][kind] for kind in present if kind in SAID["kinds"]]
    order = SAID["order"].format(order=", ".join(METRICS[n].title.lower() for n in shown_on(Shown.ORDER)))
    sentences = {
        SAID["lower"]: True,
        SAID["higher"]: True,
        f"{'> marks this run. ' if marked else ''}{order}": True,
        SAID["intervals"]: compared,
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


# --- Readable tables

VIEWS: dict[str, dict[str, list[Any]]] = read_yaml(Path(__file__).with_name("views.yaml"))
"""Every view by its name: each heading with its columns and their rounding."""

P_VALUES = frozenset({"p", "p_these", "p_adjusted", "p_holm"})

DIFFERENCES = frozenset({"difference", "truth"})
"""Columns of differences; differences of shares are in points, not in percent."""

FLAGS = {"True": "yes", "False": "no"}
LONGEST_NAME = 80
"""A table may break a model's name over lines, so it may be longer than in a figure."""
WORDS = frozenset({"bucket", "intent", "trap", "finding", "rule", "family", "detector", "class", "state", "scorer"})
"""Columns of names whose underscores are shown as spaces."""


@lru_cache(maxsize=1)
def language_names() -> dict[str, str]:
    """Return the supported languages by their English names."""
    from babel import Locale

    return {code: str(Locale("en").languages[code]) for code in word_lists.LANGUAGES}


def readable(table: pd.DataFrame, view: str) -> pd.DataFrame:
    """Return a table of estimates as text, by one of `VIEWS`; its entries become the index.

    Columns that the table lacks, or that are empty, are left out.

    Raises
    ------
    BadInput
        For an unknown view.
    """
    if view not in VIEWS:
        raise BadInput(f"there is no view {view!r}: choose one of {', '.join(VIEWS)}")
    rows = table.to_dict("records")
    shown = {}
    for heading, spec in VIEWS[view].items():
        cells = [_cell(row, spec) for row in rows]
        if spec[0] in table and any(c not in (DASH, "") for c in cells):
            shown[heading] = cells
    whose, names = next((name for name in ("entry", "model") if name in table), None), [""] * len(rows)
    if whose:
        partial = [f" (partial {row['partial']})" if row.get("partial") else "" for row in rows]
        names = [short_name(row[whose], LONGEST_NAME) + part for row, part in zip(rows, partial, strict=True)]
    return pd.DataFrame(shown, index=pd.Index(names, name="Model" if whose else None), dtype="object")


def _cell(row: dict[str, Any], spec: list[Any]) -> str:
    value = row.get(spec[0])
    if len(spec) == 1:
        return _text(spec[0], value)
    if spec[1] in ("of", "x"):
        return DASH if missing(value) else f"{value:.0f} {spec[1]} {row[spec[2]]:.0f}"
    if spec[-1] == "tier":
        return tier_in_words(str(value))
    if spec[-1] == "unit":
        return _on_scale(row, *spec[:-1])
    unit = row.get("unit", "USD") if spec[0] == "value" else "USD"
    form = spec[-1] if unit == "USD" else int(unit == "messages")
    if form == "money":
        text = money(value)
    elif form == "percent":
        text = percent(value, 1).removesuffix("%")
    else:
        text = rounded(value, int(form))
    if spec[0] in P_VALUES and text.strip("0.") == "":
        return f"<{10**-form:.{form}f}"
    if len(spec) == 2 or text == DASH or missing(row.get(spec[1])):
        return text
    low, high = (float(row[name]) for name in spec[1:3])
    # Two significant digits of the interval's width, and at most the decimals of the number.
    digits = None if form == "percent" else digits_for(low, high, int(form))
    ends = SHARE.ends(low, high) if digits is None else (rounded(low, digits), rounded(high, digits))
    return f"{text} ({' to '.join(ends)})"


def _text(name: str, value: Any) -> str:
    if missing(value):
        return ""
    if str(value) in FLAGS:
        return FLAGS[str(value)]
    if name == "language":
        return language_names().get(value, str(value))
    if name.endswith("entry"):
        return short_name(value, LONGEST_NAME)
    return str(value).replace("_", " ") if name in WORDS else str(value)


def _on_scale(row: dict[str, Any], name: str, low: str = "", high: str = "") -> str:
    metric, ends = metric_of(row["metric"]), (row.get(low, nan), row.get(high, nan))
    if name in DIFFERENCES:
        return signed_with_interval(metric, row[name], *ends, row.get("level", USUAL))
    return metric.scale.with_interval(row[name], *ends)
