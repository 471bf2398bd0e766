"""The board as a readable table: rounded, with denominators and intervals in words."""

import re
from html import escape
from typing import Any

import pandas as pd

from ..analysis.estimators.estimate import sentence
from ..analysis.settings import DEFAULT
from ..analysis.tables.leaderboard import ALL, BELOW, RESTS_ON_INTENTS, WITHOUT, band_in_words, worst_beside
from ..analysis.tables.tiers import cost_of_1000
from ..endpoint.weights import NO_MODEL
from ..scoring.metrics import METRICS, Metric, Shown, shown_on
from ..scoring.scales import SHARE
from ..scoring.written import DASH, missing, unbroken

CASES = "Cases (resolvable + must escalate + traps)"
BUCKET_METRICS = ("resolved", "must_escalate_success", "adversarial_success")
"""The denominators of a row: of resolved and over-escalation, of escalation accuracy, and of unsafe actions."""


APART = ", not flagged"
"""How the columns end that leave out the conversations whose customer was flagged."""
FLAGGED = "Flagged"
COST = "Cost of 1,000 (95 %), USD"
WITHOUT_WORDS = (
    "**Without customer faults:** the same metrics over the conversations whose simulated customer the audit did not flag. "
    "Not always the fairer number: replies that a customer cannot follow are one of the things that get it flagged."
)
NONE = "-"
"""A band that there is not, or nobody who dominates; in a column that is sorted, a hyphen may stand among numbers."""
MANY_COLUMNS = 9
"""Columns above which a board is set in smaller type, so that it fits a page."""
AT_AN_END = re.compile(r"(?:0|100)\.0 % \(")
NOTHING_SEEN = (
    f"{RESTS_ON_INTENTS}: even "
    "20 intents without one failure leave room for a kind of request that always fails. So it can be wider than one beside a few failures."
)
"""Why an interval is wide where nothing, or everything, was seen: a narrower one covers too little where intents are all or nothing."""
LINE = "Below this line: partial runs, runs on other cases, and whoever resolves under half"
SEARCHED = 12
"""Rows from which on a board has a search box."""


def readable_board(board: pd.DataFrame) -> pd.DataFrame:
    """`tables.leaderboard` with two columns for each metric: the median over trials, and the mean with its interval; shares in percent.

    Where a customer was flagged, both stand there once more, over the conversations without those, under headings that
    end with `APART`.
    """
    shown: dict[str, Any] = {
        "Model": [_named(r) for r in board.to_dict("records")],
        "Block": list(board["block"]),
    }
    if len(board) and board["dominated"].any():
        shown["Dominated by"] = [name or NONE for name in board["dominated"]]
    if len(board):
        shown[CASES] = [
            " + ".join(f"{0 if n != n else n:.0f}" for n in row)
            for row in board[[f"{name}_n" for name in BUCKET_METRICS]].to_numpy(float)
        ]
    filled = [name for name in shown_on(Shown.FILLED) if len(board) and board[f"{name}_n"].gt(0).any()]
    for name in (*shown_on(Shown.BOARD), *filled):
        shown |= _metric_columns(board, METRICS[name], ALL)
        if METRICS[name].banded:
            shown["Band"] = [band_in_words(row) or NONE for row in board.to_dict("records")]
    if len(board) and board["flagged"].any():
        pairs = zip(board["flagged"], board["conversations"], strict=True)
        shown[FLAGGED] = [f"{flagged} of {of}" for flagged, of in pairs]
        for name in (*shown_on(Shown.BOARD), *filled):
            shown |= _metric_columns(board, METRICS[name], WITHOUT)
    if "settings" in board and board["settings"].ne(DEFAULT).any():
        shown["Settings"] = board["settings"]
    if "weights" in board and board["weights"].ne(NO_MODEL).any():
        shown["Weights"] = board["weights"]
    shown[COST] = [cost_of_1000(row) for row in board.to_dict("records")]
    last = {"Trials": "trials", "Conversations": "conversations", "Case set": "versions"}
    shown |= {heading: board[name] for heading, name in last.items()}
    notes = [sentence(*pair) for pair in zip(board.get("dominated_why", ()), board["notes"], strict=False)]
    return pd.DataFrame(shown | {"Notes": notes})


def _named(row: dict[str, Any]) -> str:
    """The name of an entry, with what puts it below the line."""
    below = f"partial {row['partial']}" if row["partial"] else "set apart" if row["block"] in BELOW else ""
    return f"{row['entry']} ({below})" if below else row["entry"]


def with_line(text: pd.DataFrame, board: pd.DataFrame) -> tuple[pd.DataFrame, int | None]:
    """A readable board as text with a row that says what follows below the line, and the place of that row; None where nothing does."""
    at = int((~board["block"].isin(BELOW)).sum())
    if at == len(board):
        return text, None
    line = pd.DataFrame([dict.fromkeys(text, "") | {"Model": LINE}])
    return pd.concat([text.iloc[:at], line, text.iloc[at:]], ignore_index=True), at


def _metric_columns(board: pd.DataFrame, metric: Metric, form: str) -> dict[str, Any]:
    """The two columns of a metric in one form; a denominator that differs from row to row stands with the mean."""
    name, apart = f"{metric.name}{form}", APART if form else ""
    cases = sorted({int(n) for n in board[f"{name}_n"] if n > 0})
    heading = metric.heading(cases[0] if len(cases) == 1 else None)
    median = metric.scale.times * board[name].astype(float)
    means = [_mean(row, metric, form) for row in board.to_dict("records")]
    if metric.scale.summed and len(cases) > 1:
        means = [f"{text}, of {n:.0f}" if n > 0 else text for text, n in zip(means, board[f"{name}_n"], strict=True)]
    if metric.banded and not form:
        worst = map(worst_beside, board.to_dict("records"))
        means = [f"{text}; {more}" if more else text for text, more in zip(means, worst, strict=True)]
    elif (form or Shown.FILLED in metric.shown) and len(cases) > 1:
        means = [f"{text}, n = {n:.0f}" if n > 0 else text for text, n in zip(means, board[f"{name}_n"], strict=True)]
    return {f"{heading}, median{apart}": median, f"{metric.title}, mean (95 %){apart}": means}


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """A readable board as text: its medians with the decimals of their scale, and a dash where there is no value."""
    texts = {heading: [_in_words(v, str(heading)) for v in column] for heading, column in frame.items()}
    return pd.DataFrame(texts, index=frame.index, dtype="object")


def _in_words(value: Any, heading: str) -> str:
    if missing(value) or value == NONE:
        return DASH
    if not isinstance(value, float):
        return str(value)
    scale = next((m.scale for m in METRICS.values() if heading.startswith(m.title)), SHARE)
    return scale.written(value / scale.times).removesuffix(scale.sign)


def board_table(board: pd.DataFrame) -> None:
    """Show the board in a notebook as sortable tables: the planned metrics, what else was measured, and both without flagged customers.

    Each fits a page without scrolling, and on a phone the model stays in sight. What is the same in every row, and the
    notes, stand below. Works without a network; text is escaped.
    """
    import itables
    from IPython.display import HTML, display

    itables.init_notebook_mode(connected=False)
    frame = readable_board(board)
    deciding, more, without = board_parts(frame)
    _show_part(deciding, search=len(frame) > SEARCHED)
    _show_part(more)
    if len(without):
        _show_without(without)
    display(
        HTML(
            "".join(
                f'<p style="font-size:12px;color:var(--jp-content-font-color2,#666)">{escape(note)}</p>'
                for note in notes_of(frame)
            )
        )
    )


def board_without_flagged(board: pd.DataFrame) -> None:
    """Show the metrics of `tables.leaderboard` without the conversations whose customer was flagged; a sentence where none was."""
    import itables
    from IPython.display import Markdown, display

    without = board_parts(readable_board(board))[2]
    if without.empty:
        display(Markdown("No customer was flagged, so every metric is the same in both forms."))
        return
    itables.init_notebook_mode(connected=False)
    _show_without(without)


def _show_without(without: pd.DataFrame) -> None:
    """Show the third part of a readable board in two tables that fit a page, as the first and the second do."""
    from IPython.display import Markdown, display

    display(Markdown(WITHOUT_WORDS))
    plain = without.rename(columns=lambda c: c.removesuffix(APART))
    deciding = tuple(METRICS[name].title for name in shown_on(Shown.MAIN))
    first = [c for c in plain if c in ("Model", FLAGGED) or c.startswith(deciding)]
    _show_part(plain[first])
    if len(first) < len(plain.columns):
        _show_part(plain[["Model", *(c for c in plain if c not in first)]])


def _show_part(part: pd.DataFrame, *, search: bool = False) -> None:
    """Show one part of a readable board; the model stays in sight."""
    import itables

    named, many = list(part.columns).index("Model") + 1, len(part.columns) > MANY_COLUMNS
    itables.show(
        as_text(part).replace(DASH, NONE).rename(columns=unbroken).map(unbroken),
        order=[],
        paging=False,
        allow_html=False,
        scrollX=True,
        fixedColumns={"start": named},
        showIndex=False,
        classes="display compact",
        style=f"table-layout:auto;width:100%;overflow-wrap:break-word;font-size:{12 if many else 13}px",
        columnDefs=[
            {"targets": "_all", "className": "dt-left"},
            {"targets": list(range(named, len(part.columns))), "width": "4.5rem" if many else "5.5rem"},
        ],
        layout=dict.fromkeys(("topEnd", "bottomStart", "bottomEnd"), None) | {"topStart": "search" if search else None},
    )


def with_flagged(frame: pd.DataFrame) -> pd.DataFrame:
    """A readable board over all conversations only, without the columns that leave flagged ones out."""
    return frame[[c for c in frame if c != FLAGGED and not c.endswith(APART)]]


def board_parts(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """A `readable_board` in three: the planned metrics, the others, and all of them without flagged customers.

    Each with the models in that order; the third is empty where no customer was flagged.
    """
    deciding = tuple(METRICS[name].title for name in shown_on(Shown.MAIN))
    metrics = [c for c in frame if c.endswith((", median", ", mean (95 %)"))]
    beside = ("Dominated by", "Band", "Settings", "Weights", COST)
    first = [c for c in frame if c in beside or (c in metrics and c.startswith(deciding))]
    rest = [c for c in metrics if c not in first]
    told = [c for c in ("Trials", "Conversations", CASES) if c in frame and frame[c].nunique() > 1]
    apart = [c for c in frame if c == FLAGGED or c.endswith(APART)]
    without = frame[["Model", *apart]] if apart else frame.iloc[:0, :0]
    return frame[["Model", *first]], frame[["Model", *rest, *told]], without


def notes_of(frame: pd.DataFrame) -> list[str]:
    """The notes of a readable board, each with its models, after what is the same in every row."""
    once = [c for c in (CASES, "Trials", "Conversations", "Case set") if c in frame and frame[c].nunique() == 1]
    every = "; ".join(f"{c}: {frame[c].iloc[0]}" for c in once)
    ends = (
        frame[[c for c in frame if c.endswith("mean (95 %)")]].astype(str).map(AT_AN_END.match).notna().any(axis=None)
    )
    noted = frame[frame["Notes"].astype(bool)].groupby("Notes", sort=False)["Model"].agg(", ".join)
    return [
        *([f"{'In every row: ' if len(frame) > 1 else ''}{every}."] if every else []),
        *([NOTHING_SEEN] if ends else []),
        *(f"{models}: {note}" for note, models in noted.items()),
    ]


def _mean(row: dict[str, Any], metric: Metric, form: str = ALL) -> str:
    """The mean with its interval."""
    return metric.scale.with_interval(*(row[f"{metric.name}{form}{end}"] for end in ("_mean", "_low", "_high")))
