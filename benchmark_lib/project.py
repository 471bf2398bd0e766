"""The project's folder, names that may stand in it, and the version of this code."""

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
"""What the benchmark ships (stores, rubrics, prices, reference figures): inside the package where it was installed from
a wheel, beside it in
a checkout."""
NOTEBOOKS = PACKAGE / "notebooks" if (PACKAGE / "notebooks").is_dir() else PACKAGE.parent / "notebooks"
"""The notebooks that came with Deskbench, in the same two places."""


def slug(name: str, longest: int = 48) -> str:
    """A model's name as part of a file name: lower-case letters, digits, dots and dashes only, never a path."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")[:longest] or "model"


def safe_name(name: str) -> str:
    """A text as part of a file name that no other text has.

    Its slug, with the beginning of its hash where the slug does not say all of it.
    """
    short = slug(name)
    return short if short == name else f"{short}-{content_hash(name.encode('utf-8', 'surrogatepass'))[:6]}"


def project_folder(start: Path | None = None) -> Path:
    """The folder of the project around `start`, by default the current folder: the nearest with pyproject.toml or data/stores."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file() or (folder / "data" / "stores").is_dir():
            return folder
    return start


def in_project(path: str | Path) -> Path:
    """A relative path that is not there from the current folder, seen from the project's folder; any other path as it is."""
    path = Path(path)
    return path if path.is_absolute() or os.path.exists(path) else project_folder() / path


@lru_cache(maxsize=1)
def code_version() -> dict[str, str]:
    """Version of the package and content hash of its source, which is the same in a checkout and where a wheel was installed."""
    paths = sorted(p for p in PACKAGE.rglob("*.py") if not p.is_relative_to(NOTEBOOKS))
    source = b"".join(p.relative_to(PACKAGE).as_posix().encode() + p.read_bytes() for p in paths)
    try:
        number = version("deskbench")
    except PackageNotFoundError:
        number = "source"
    return {"version": number, "hash": content_hash(source)}
