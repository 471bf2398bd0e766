"""What an analyst says about verdicts: a CSV file of labels that neither a crash nor a second window can spoil.

A label is the score a person gives, 0 to 100, the judges' scale: whoever agrees with a verdict gives its score, whoever
disagrees another one. So a label belongs to the conversation and the scorer, whichever judge is held against it.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...outputs import FORMULA, built_beside

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("run_id", "model", "case_id", "trial", "scorer", "label", "tag", "note", "at")
KEY = ("run_id", "case_id", "trial", "scorer")
"""What a label is about; a later label replaces an earlier one with the same key."""
SUCCESS = "success"
"""The verdict every scored conversation has, 100 for yes and 0 for no; the other scorers are the judges'."""
LOW, HIGH = 0, 100
LONGEST = 10_000
"""How many characters one value of a row may have."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_FORMULA = (*FORMULA, "'")


def save_label(
    path: str | Path,
    *,
    run_id: str,
    model: str,
    case_id: str,
    trial: int,
    scorer: str,
    label: float | None = None,
    tag: str = "",
    note: str = "",
) -> None:
    """Write one label to a CSV file; the file is always either the complete old one or the complete new one.

    Parameters
    ----------
    path : path
        The file; it is created if it does not exist.
    run_id, model, case_id, trial : str, str, str, int
        The conversation.
    scorer : str
        ``success``, or a scorer of a judge.
    label : float, optional
        The score the analyst gives, 0 to 100; None if there is only a tag or a note.
    tag, note : str
        In the analyst's words.

    Raises
    ------
    BadInput
        If there is nothing to save, the label is off the scale, or the file is not a file of labels.
    """
    from filelock import FileLock

    if label is not None and not LOW <= label <= HIGH:
        raise BadInput(f"{label!r} is not a label: give a number from {LOW} to {HIGH}")
    if label is None and not (tag.strip() or note.strip()):
        raise BadInput("there is nothing to save: agree, disagree, or write a tag or a note")
    row = {
        "run_id": run_id,
        "model": model[:200],
        "case_id": case_id,
        "trial": int(trial),
        "scorer": scorer,
        "label": "" if label is None else f"{label:g}",
        "tag": tag.strip(),
        "note": note.strip(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    new = {name: _guarded(row[name]) for name in COLUMNS}
    too_long = next((name for name in COLUMNS if len(new[name]) > LONGEST), None)
    if too_long:
        raise BadInput(f"the {too_long} of this label has {len(new[too_long]):,} characters: use at most {LONGEST:,}")
    path = Path(path).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        kept = [old for old in _rows(path) if any(old[k] != new[k] for k in KEY)]
        _write_whole(path, [*kept, new])


def read_labels(path: str | Path) -> pd.DataFrame:
    """The labels of a file, in order; an empty frame if there is no file.

    Parameters
    ----------
    path : path
        A file of `save_label`.

    Raises
    ------
    BadInput
        If it is not a file of labels.
    """
    import pandas as pd

    rows = [{name: _unguarded(row[name]) for name in COLUMNS} for row in _rows(Path(path))]
    frame = pd.DataFrame(rows, columns=list(COLUMNS), dtype="str")
    return frame.assign(
        trial=pd.to_numeric(frame["trial"]).astype("int64"), label=pd.to_numeric(frame["label"]).astype("float64")
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows as they are in the file."""
    if not path.is_file() or not path.stat().st_size:
        return []
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    if tuple(reader.fieldnames or ()) != COLUMNS or any(None in row or None in row.values() for row in rows):
        raise BadInput(f"{path} is not a file of labels with the columns {', '.join(COLUMNS)}: name another file")
    return rows


def _guarded(value: Any) -> str:
    """A value without control characters, and with an apostrophe before what a spreadsheet would read as a formula."""
    text = _CONTROL.sub(" ", str(value).replace("\r\n", "\n")).encode("utf-8", "backslashreplace").decode()
    return f"'{text}" if text.startswith(_FORMULA) else text


def _unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def _write_whole(path: Path, rows: list[dict[str, Any]]) -> None:
    """Replace the old file by a new one in one step."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with built_beside(path) as building:
        with open(building, "wb") as file:
            file.write(out.getvalue().encode())
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, building)
