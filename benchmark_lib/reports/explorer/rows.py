"""The rows of the explorer's table: conversations in readable form."""

from typing import Any

import numpy as np
import pandas as pd

from ...analysis.facets import BROKEN, plain_rows
from ...scoring.deciding import SUCCESS_STATES, state_of
from .filters import Index
from .words import short

OUTCOME = ("success", "unsafe", "corrupt_success", "ended_by")
"""The columns that determine the outcome of a conversation."""
LONGEST_CELL = 60


def answer_in_words(label: float, tag: str, scaled: bool) -> str:
    """A label in a few words."""
    return (tag or "note") if label != label else f"{label:g}" if scaled else "yes" if label else "no"


def table_of(index: Index, rows: np.ndarray, labelled: dict[int, str] | None = None) -> pd.DataFrame:
    """The rows of the index in readable form.

    Parameters
    ----------
    labelled : dict of int to str, optional
        The answers on file, by row.
    """
    f, answers = index.frame.iloc[rows], labelled or {}
    cells = {
        name: [short(v, LONGEST_CELL) for v in f[name].fillna("")]
        for name in ("entry", "case_id", "bucket", "kind", "ended_by")
    }
    return pd.DataFrame(
        {
            "model": cells["entry"],
            "case": cells["case_id"],
            "trial": f["trial"].to_numpy(),
            "labelled": [answers.get(int(n), "") for n in rows],
            "outcome": [" ".join(SUCCESS_STATES[state_of(r, r["ended_by"])]) for r in plain_rows(f[list(OUTCOME)])],
            "findings": [
                short(_findings(found).replace("_", " "), LONGEST_CELL) for found in index.facets["finding"].iloc[rows]
            ],
            "ended by": [v.replace("_", " ") for v in cells["ended_by"]],
            "bucket": [": ".join(filter(None, pair)).replace("_", " ") for pair in zip(cells["bucket"], cells["kind"])],
            "pushes": f["pushes"].to_numpy(),
            "messages": f["turns"].to_numpy(),
        }
        | ({"cost (USD)": f["cost_usd"].round(4).to_numpy()} if index.frame["cost_usd"].gt(0).any() else {})
    )


def others_on_case(frame: pd.DataFrame, place: int) -> list[tuple[str, tuple[str, str, int]]]:
    """The other conversations on the case of one, in words and by their keys.

    Those that ended otherwise come first, then other models on the same trial.
    """
    mine = frame.loc[place]
    rows = frame[frame["case_id"] == mine["case_id"]].drop(index=place)
    alike = rows["success"].astype(str) == str(mine["success"])
    rows = rows.assign(alike=alike, apart=(rows["trial"] != mine["trial"]))
    rows = rows.sort_values(["alike", "apart", "entry", "trial"], kind="stable")
    return [
        (f"{short(r.entry)}, trial {r.trial}: {r.ended_by}", (r.run_id, r.case_id, int(r.trial)))
        for r in rows.itertuples()
    ]


def cell_text(value: Any) -> str:
    """A cell as text; a number that is unknown is left empty."""
    return "" if value != value or value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _findings(names: tuple[str, ...]) -> str:
    """Findings on one line: the broken rules together, then the others."""
    rules = ", ".join(name.removeprefix(BROKEN) for name in names if name.startswith(BROKEN))
    others = [name for name in names if not name.startswith(BROKEN)]
    return "; ".join([*([BROKEN + rules] if rules else []), *others])
