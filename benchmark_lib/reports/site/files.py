"""The folder of a site, which appears complete or not at all, and its downloads."""

import hashlib
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from ...errors import BadInput
from ...outputs import folder_made, write_csv, writing
from ..transcript import TEXTS
from .content import Content
from .formatting import plural

MARK = "site.json"
"""The file that marks a folder as a site; a folder without it is never replaced."""


class Folder:
    """A folder in progress that counts its files by kind of page."""

    def __init__(self, path: Path, part_of: "Folder | None" = None):
        self.path, self._real = path, os.path.realpath(path)
        self.pages: Counter[str] = part_of.pages if part_of else Counter()
        self.sizes: Counter[str] = part_of.sizes if part_of else Counter()

    @property
    def size(self) -> int:
        """Bytes of everything that was written."""
        return self.sizes.total()

    def within(self, name: str) -> "Folder":
        """Return a subfolder."""
        return Folder(self.path / name, self)

    def place(self, relative: str) -> Path:
        """Return the place of a file and create its folder; `ValueError` if it is outside."""
        target = os.path.realpath(os.path.join(self._real, relative))
        if os.path.commonpath((target, self._real)) != self._real:
            raise ValueError(f"{relative!r} is outside the site")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        return Path(target)

    def write(self, relative: str, text: str | bytes, kind: str) -> None:
        """Write one file and count it as `kind`."""
        self.count(self.put(relative, text), kind)

    def put(self, relative: str, text: str | bytes) -> int:
        """Write one file without counting it and return its size in bytes."""
        return self.place(relative).write_bytes(text.encode("utf-8", "replace") if isinstance(text, str) else text)

    def count(self, size: int, kind: str) -> None:
        """Count a file of `size` bytes written at its `place`."""
        self.pages[kind] += 1
        self.sizes[kind] += size


@contextmanager
def site_folder(out: Path) -> Iterator[Folder]:
    """Open a new folder next to `out` that replaces it once everything is written.

    Raise `BadInput` if `out` is anything other than a site or cannot be written, or if the disk is full.
    """
    with writing(out):
        if out.exists() and not (out.is_dir() and ((out / MARK).is_file() or not any(out.iterdir()))):
            raise BadInput(f"{out} exists and is not a site: choose another --out, or move it away")
    building = out.with_name(f".{secrets.token_hex(8)}.new")
    old = building.with_suffix(".old")
    with writing(out), folder_made(out.parent):
        try:
            building.mkdir()
            yield Folder(building)
            if out.exists():
                os.replace(out, old)
            os.replace(building, out)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            if old.exists() and not out.exists():
                os.replace(old, out)
            shutil.rmtree(building, ignore_errors=True)


def write_downloads(content: Content, folder: Folder) -> list[dict[str, Any]]:
    """Write every file under ``downloads/`` and return one row per file for the page."""
    board = pd.DataFrame([{"block": e.block} | e.row for e in content.entries])
    columns = ("case_id", "title", "bucket", "intent", "kind", "language")
    cases = pd.DataFrame([{name: getattr(v, name) for name in columns} for v in content.cases.values()])
    unsafe = pd.DataFrame(list(content.unsafe.values()))
    frames = {"board": board, "unsafe": unsafe, "cases": cases, "conversations": content.conversations}
    frames |= {"messages": content.results.messages, "tool_calls": content.results.tool_calls}
    rows = []
    for name, suffix, text in TEXTS["downloads"]:
        frame, place = frames[name], folder.place(f"downloads/{name}.{suffix}")
        if suffix == "csv":
            write_csv(frame, place)
        else:
            frame.to_parquet(place, index=False, compression="zstd")
        rows.append(_row(place, text, f"{len(frame):,} rows, {frame.shape[1]} columns"))
    runs = run_rows(content)
    place = folder.place("downloads/runs.json")
    place.write_bytes(orjson.dumps(runs, option=orjson.OPT_INDENT_2))
    text = "The inputs and cases of each run with their hashes, and the hash of the run file."
    rows.append(_row(place, text, plural(len(runs), "run")))
    for row in rows:
        folder.count(row["bytes"], "download")
    return rows


def _row(place: Any, text: str, size: str) -> dict[str, Any]:
    data = place.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return {"name": place.name, "text": text, "rows": size, "bytes": len(data), "sha256": digest}


def run_rows(content: Content) -> list[dict[str, Any]]:
    """Return the inputs of each run, without addresses of endpoints and without paths."""
    rows = []
    for run in content.results.runs:
        manifest = content.manifests[run.run_id]
        inputs = {k: {"value": v.get("value"), "hash": v.get("hash")} for k, v in manifest.get("inputs", {}).items()}
        rows.append(
            {"run_id": run.run_id, "entry": content.results.entries[run.run_id]}
            | {name: manifest.get(name) for name in ("model", "source", "created", "trials")}
            | {"file": run.path.name, "sha256": hashlib.sha256(run.path.read_bytes()).hexdigest()}
            | {"conversations": len(run.endings()), "inputs": inputs}
            | {"code": (manifest.get("sessions") or [{}])[-1].get("code"), "cases": manifest.get("cases", {})}
        )
    return rows
