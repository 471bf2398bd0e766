"""Find the project's folder, name and write files safely, give the version of this code."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

from .errors import BadInput
from .records import content_hash

PACKAGE = Path(str(files("benchmark_lib")))
DATA = PACKAGE / "data" if (PACKAGE / "data").is_dir() else PACKAGE.parent / "data"
"""Data shipped with the benchmark: stores, rubrics, prices, reference figures. A wheel has them inside the package, a
checkout next to it."""
NOTEBOOKS = PACKAGE / "notebooks" if (PACKAGE / "notebooks").is_dir() else PACKAGE.parent / "notebooks"
"""Notebooks shipped with Deskbench, in the same two places."""


def slug(name: str, longest: int = 48) -> str:
    """Return a name as a file name: lower-case letters, digits, dots and dashes, never a path."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")[:longest] or "model"


def safe_name(name: str) -> str:
    """Return a unique file name for a text: its slug, plus a hash if the slug differs from it."""
    short = slug(name)
    return short if short == name else f"{short}-{content_hash(name.encode('utf-8', 'surrogatepass'))[:6]}"


def project_folder(start: Path | None = None) -> Path:
    """Return the nearest enclosing folder that contains pyproject.toml or data/stores.

    The search begins at `start`, by default the current folder, which is returned if no folder qualifies.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file() or (folder / "data" / "stores").is_dir():
            return folder
    return start


def in_project(path: str | Path) -> Path:
    """Return a path; place a relative path that does not exist here in the project's folder."""
    path = Path(path)
    return path if path.is_absolute() or os.path.exists(path) else project_folder() / path


@lru_cache(maxsize=1)
def code_version() -> dict[str, str]:
    """Return the version and content hash of the source, equal in a checkout and a wheel."""
    paths = sorted(p for p in PACKAGE.rglob("*.py") if not p.is_relative_to(NOTEBOOKS))
    source = b"".join(p.relative_to(PACKAGE).as_posix().encode() + p.read_bytes() for p in paths)
    try:
        number = version("deskbench")
    except PackageNotFoundError:
        number = "source"
    return {"version": number, "hash": content_hash(source)}


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet read a cell as a formula."""
_NUMBER = re.compile(r"[+-]?[\d.,]+( ?%)?|-")
BESIDE = ("", "-journal", "-wal", "-shm")
"""Suffixes of a database file's own name and of the files that SQLite may add."""


@contextmanager
def writing(place: Path, option: str = "--out", *errors: type[Exception]) -> Iterator[None]:
    """Raise `BadInput` if `place` cannot be written, with advice to use another `option`.

    It takes the place of OSError and of the further `errors`.
    """
    try:
        yield
    except (OSError, *errors) as error:  # type: ignore[misc]  # a tuple of exceptions, which mypy does not follow
        why = getattr(error, "strerror", None) or str(error).split("\n")[0]
        mend = f"choose a writable {option} with free space" if option else "free some space or allow writing"
        raise BadInput(f"{place} cannot be written ({why}): {mend}") from None


@contextmanager
def folder_made(folder: Path) -> Iterator[None]:
    """Create a folder and its parents; if the block fails, remove the new, empty folders."""
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
    """Yield a path for a new file, which replaces `out` on success and is removed on failure."""
    building = out.with_name(f".new-{secrets.token_hex(8)}")
    with folder_made(out.parent):
        try:
            yield building
            os.replace(building, out)
        finally:
            remove(building)


def as_cell(text: str) -> str:
    """Return a text as a cell of a CSV file.

    A text that a spreadsheet would read as a formula gets an apostrophe in front; a number stays a number.
    """
    return f"'{text}" if text.startswith(FORMULA) and not _NUMBER.fullmatch(text) else text


def write_csv(frame: Any, path: str | Path) -> None:
    """Write a frame as CSV without its index, with `as_cell` applied to each text."""
    texts = [c for c in frame.columns if frame[c].dtype.kind not in "biufM" and str(frame[c].dtype) != "boolean"]
    cells = {c: frame[c].map(lambda v: as_cell(v) if isinstance(v, str) else v) for c in texts}
    frame.assign(**cells).to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def require_absent(out: Path) -> None:
    """Refuse a path that already exists or has an impossible name."""
    with writing(out):
        if os.path.lexists(out):
            raise BadInput(f"{out} exists: choose a new name for --out")


def remove(path: Path) -> None:
    """Remove a file and the files that SQLite added, if they exist."""
    for end in BESIDE:
        with suppress(OSError):
            os.unlink(f"{path}{end}")
