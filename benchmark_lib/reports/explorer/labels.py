"""A CSV file of labels that neither a crash nor a second window can damage.

A label belongs to a conversation (run_id, model, case_id, trial from 1), a scorer and a labeller, and the site exports
the same columns. The scorer is ``success``, a metric, ``finding:`` and a detector, a judge's scorer, ``rule:`` and a
process rule (``True`` if it is broken), or ``own:`` and the labeller's own question.

The label is ``True`` or ``False`` for a yes-or-no question, or a score from 0 to 100 on the judges' scale. It is empty
if the labeller cannot tell (the tag is then ``cannot tell``) or only wrote a note. The time (at) is UTC, ISO 8601 to
the second. Earlier files, with 100 for yes and 0 for no and without a labeller, can still be read.
"""

import csv
import io
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from ...analysis.facets import is_yes_or_no
from ...errors import BadInput
from ...project import FORMULA, built_beside
from ...textfiles import read_text, yes_or_no
from ..html import Html, render
from ..terminal import readable

LABELS_FILE = "data/labels.csv"
COLUMNS = ("run_id", "model", "case_id", "trial", "scorer", "label", "tag", "note", "at", "labeller")
KEY = ("run_id", "case_id", "trial", "scorer", "labeller")
"""A later label replaces an earlier one with the same key."""
LOW, HIGH = 0, 100
TRIAL, NUMBER = re.compile("[0-9]{1,9}"), re.compile(r"[0-9]{1,3}(\.[0-9]{1,20})?(e-[0-9]{1,3})?")
LONGEST = 10_000
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
    label: bool | float | None = None,
    tag: str = "",
    note: str = "",
    labeller: str = "",
) -> None:
    """Write one label to a CSV file, which is replaced as a whole or not at all.

    Raise `BadInput` if there is nothing to save, the label is off the scale, or the file is not a label file.
    """
    if label is not None and not LOW <= label <= HIGH:
        raise BadInput(f"{label!r} is not a label: use a number from {LOW} to {HIGH}")
    if label is None and not (tag.strip() or note.strip()):
        raise BadInput("there is nothing to save: answer, or write a tag or a note")
    stored = "" if label is None else _as_stored(scorer, f"{label + 0:g}")  # never -0
    at = datetime.now(UTC).isoformat(timespec="seconds")
    said = (tag.strip(), note.strip(), at, labeller.strip())
    row = (run_id, model[:200], case_id, int(trial), scorer, stored, *said)
    new = {name: _guarded(value) for name, value in zip(COLUMNS, row, strict=True)}
    _check_row(new, "this label")
    with _alone(Path(path).resolve()) as file:
        _write_whole(file, [*(old for old in _rows(file) if _key(old) != _key(new)), new])


def import_labels(path: str | Path, source: str | Path) -> int:
    """Add the labels of another file, keep the later one per key, and return how many are new.

    Raise `BadInput` if either is not a label file or has an invalid row.
    """
    source = Path(source)
    if not source.is_file():
        raise BadInput(f"there is no file {source}: name the CSV label file to import")
    found = _rows(source)
    with _alone(Path(path).resolve()) as file:
        kept = {_key(row): row for row in _rows(file)}
        newer = [row for row in found if row["at"] > kept.get(_key(row), {}).get("at", "")]
        for row in newer:
            kept.pop(_key(row), None)
            kept[_key(row)] = {name: _guarded(_unguarded(row[name])) for name in COLUMNS}
        if newer:
            _write_whole(file, list(kept.values()))
    return len(newer)


def read_labels(path: str | Path) -> pd.DataFrame:
    """Return the labels of a file in order, yes as 1 and no as 0; `BadInput` for an invalid row."""
    rows = [{name: _unguarded(row[name]) for name in COLUMNS} for row in _rows(Path(path))]
    frame = pd.DataFrame(rows, columns=list(COLUMNS), dtype="str")
    trial, label = pd.to_numeric(frame["trial"]), pd.to_numeric(frame["label"].replace({"True": "1", "False": "0"}))
    return frame.assign(trial=trial.astype("int64"), label=label.astype("float64"))


def _rows(path: Path) -> list[dict[str, Any]]:
    text = read_text(path) if os.path.exists(path) else ""
    separator = ";" if ";" in text.partition("\n")[0] else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise BadInput(f"{path}, row {reader.line_num}: it is not CSV ({error}): save the file as CSV again") from None
    if tuple(reader.fieldnames or COLUMNS) not in (COLUMNS, COLUMNS[:-1]):  # before labellers had names
        raise BadInput(f"{path} is not a label file with the columns {', '.join(COLUMNS)}: name another file")
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise BadInput(f"{path}, row {number} does not have {len(reader.fieldnames or ())} fields: correct it")
        label = row["label"].replace(",", ".") if separator == ";" else row["label"]  # a decimal comma
        row |= {"labeller": row.get("labeller", ""), "label": _as_stored(row["scorer"], label)}
        _check_row(row, f"{path}, row {number}")
    return rows


def _as_stored(scorer: str, label: str) -> str:
    if not is_yes_or_no(scorer):
        return label
    answer = yes_or_no(label)
    plain = label if answer is None else str(answer)
    number = float(plain) if NUMBER.fullmatch(plain) else HIGH + 1
    return str(number >= (LOW + HIGH) / 2) if number <= HIGH else plain


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in KEY)


def _check_row(row: dict[str, Any], where: str) -> None:
    if long := next((name for name in COLUMNS if len(row[name]) > LONGEST), None):
        raise BadInput(f"{where}: the {long} has {len(row[long]):,} characters: use at most {LONGEST:,}")
    if not TRIAL.fullmatch(row["trial"]):
        raise BadInput(f"{where}: the trial {row['trial'][:40]!r} is not a whole number: correct it")
    label = row["label"]
    answered = not label or (is_yes_or_no(row["scorer"]) and label in ("True", "False"))
    if not answered and not (NUMBER.fullmatch(label) and float(label) <= HIGH):
        raise BadInput(
            f"{where}: the label {label[:40]!r} is not True, False or a number from {LOW} to {HIGH}: correct it"
        )


@contextmanager
def _alone(path: Path) -> Iterator[Path]:
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        yield path


def _guarded(value: Any) -> str:
    # An apostrophe keeps a spreadsheet from reading a text as a formula.
    text = _CONTROL.sub(" ", str(value).replace("\r\n", "\n")).encode("utf-8", "backslashreplace").decode()
    return f"'{text}" if text.startswith(_FORMULA) else text


def _unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def _write_whole(path: Path, rows: list[dict[str, Any]]) -> None:
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


def show_agreement(table: pd.DataFrame) -> Html:
    """Show each pair of `tables.label_agreement_table`: four counts and three coefficients."""
    coefficients = readable(table, "labellers").to_dict("records")
    pairs = list(zip(table.to_dict("records"), coefficients, strict=True))
    return Html(render("agreement.html.j2", pairs=pairs))
