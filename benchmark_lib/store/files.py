"""Read a store's tables, and compare the form of its files with that of a shipped store."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import orjson

from ..errors import BadInput
from ..textfiles import read_text
from .frozen import FrozenDict, frozen


def check_shape(given: Any, sample: Any, where: str, optional: tuple[str, ...] | None = None) -> None:
    """Refuse other forms than the sample's and, unless `optional` is None, missing fields."""
    if _form(given) != _form(sample):
        raise BadInput(
            f"{where.rstrip(': ')} must be {_form(sample)}, not {str(given)[:40]!r}: compare it with the shipped store"
        )
    if not isinstance(sample, dict):
        return
    forms = {_form(value): value for value in sample.values()}
    for name in given.keys() - sample.keys() if len(forms) == 1 else ():  # the user's own entries
        if _form(given[name]) not in forms:
            raise BadInput(
                f"{where}{name} must be {[*forms][0]}, not {str(given[name])[:40]!r}: write it like the others"
            )
    for name, value in sample.items():
        if name in given:
            check_shape(given[name], value, f"{where}{name}: ", None)
        elif optional is not None and name not in optional:
            raise BadInput(f"{where}{name} is missing: copy it from the shipped store and change it")


def _form(value: Any) -> str:
    forms: dict[type, str] = {dict: "a mapping", list: "a list", tuple: "a list", str: "a text", type(None): "empty"}
    return next((words for form, words in forms.items() if isinstance(value, form)), "a number")


def _csv_rows(path: Path, key: str) -> dict[str, dict[str, Any]]:
    """Read a table as CSV; whole numbers become numbers, except in the key's column."""
    lines = csv.DictReader(io.StringIO(read_text(path), newline=""))
    rows: dict[str, dict[str, Any]] = {}
    try:
        for line in lines:
            name = (line.get(key) or "").strip()
            if not name or name in rows or None in line or None in line.values():
                count = "has a different number of fields from the header"
                why = count if name and name not in rows else f"needs its own {key}"
                raise BadInput(f"{path}:{lines.line_num}: a row {why}: correct it there")
            rows[name] = frozen({k.strip(): _number(v.strip(), k.strip() == key) for k, v in line.items()})
    except csv.Error as error:
        raise BadInput(f"{path}:{lines.line_num}: this is not a CSV row ({error}): correct it there") from None
    return rows


def _number(text: str, is_key: bool) -> str | int | None:
    return int(text) if not is_key and re.fullmatch(r"-?(0|[1-9]\d{0,14})", text) else text or None


def rows_in(paths: list[Path], key: str) -> dict[str, dict[str, Any]]:
    """Read a table's rows by their key from CSV files, or files with one JSON object per line."""
    rows: dict[str, dict[str, Any]] = {}
    for path in paths:
        if path.suffix == ".csv":
            rows |= _csv_rows(path, key)
            continue
        lines = read_text(path).split("\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                if row[key] in rows:
                    raise BadInput(f"{path}:{number}: {key} {row[key]} occurs twice; give it another id")
                rows[row[key]] = frozen(row)
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise BadInput(f"{path}:{number}: not a JSON object with {key}: {error}") from None
    return FrozenDict(rows)
