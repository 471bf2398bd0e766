"""Files and folders that are written for a person.

Whole or not at all, and refused in one sentence where they cannot be.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import BadInput

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet read a cell as a formula, at its start."""
_NUMBER = re.compile(r"[+-]?[\d.,]+( ?%)?|-")
BESIDE = ("", "-journal", "-wal", "-shm")
"""What SQLite may put beside a file, by the end of its name."""


@contextmanager
def writing(place: Path, option: str = "--out", *errors: type[Exception]) -> Iterator[None]:
    """Refuse a `place` that cannot be written, or is full, in one sentence that names `option` as the mend.

    Parameters
    ----------
    *errors : type
        What is raised for such a place beside OSError.

    Raises
    ------
    BadInput
        In place of any of these errors.
    """
    try:
        yield
    except (OSError, *errors) as error:  # type: ignore[misc]  # a tuple of exceptions, which mypy does not follow
        why = getattr(error, "strerror", None) or str(error).split("\n")[0]
        mend = (
            f"give {option} a place that can be written and has room" if option else "make room, or let it be written"
        )
        raise BadInput(f"{place} cannot be written ({why}): {mend}") from None


@contextmanager
def folder_made(folder: Path) -> Iterator[None]:
    """Make a folder and those above it.

    If what follows fails, those that were made here and are still empty go again.
    """
    made = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for one in made:
            with suppress(OSError):
                one.rmdir()
        raise


@contextmanager
def built_beside(out: Path) -> Iterator[Path]:
    """A path beside `out` for a file that takes the place of `out` once it is whole.

    If anything fails, nothing is left behind.
    """
    building = out.with_name(f".new-{secrets.token_hex(8)}")
    with folder_made(out.parent):
        try:
            yield building
            os.replace(building, out)
        finally:
            remove(building)


def as_cell(text: str) -> str:
    """A text as a cell of a CSV file, preceded by an apostrophe if a spreadsheet would read it as a formula.

    A number stays a number.
    """
    return f"'{text}" if text.startswith(FORMULA) and not _NUMBER.fullmatch(text) else text


def write_csv(frame: Any, path: str | Path) -> None:
    """Write a frame as CSV without its index, each of its texts `as_cell`."""
    texts = [c for c in frame.columns if frame[c].dtype.kind not in "biufM" and str(frame[c].dtype) != "boolean"]
    cells = {c: frame[c].map(lambda v: as_cell(v) if isinstance(v, str) else v) for c in texts}
    frame.assign(**cells).to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def require_absent(out: Path) -> None:
    """Refuse a file that is there already, or a name that no file can have."""
    with writing(out):
        if os.path.lexists(out):
            raise BadInput(f"{out} exists: give --out a new name")


def remove(path: Path) -> None:
    """Remove a file and whatever SQLite put beside it, if there is any of it."""
    for end in BESIDE:
        with suppress(OSError):
            os.unlink(f"{path}{end}")
