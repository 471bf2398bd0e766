"""Locate the project's folder, make safe file names, and give the version of this code."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

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
