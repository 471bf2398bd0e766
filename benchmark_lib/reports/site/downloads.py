"""Files to take away.

The board and the frames as CSV and Parquet, and the inputs of each run, with the hash of its file.
"""

import hashlib
from typing import Any

import orjson
import pandas as pd

from ...outputs import write_csv
from .content import Content
from .folder import Folder, Subfolder
from .words import plural


def write_downloads(content: Content, folder: Folder | Subfolder) -> list[dict[str, Any]]:
    """Write every file under ``downloads/``; one row per file for the page."""
    board = pd.DataFrame([{"block": e.block} | e.row for e in content.entries])
    told = ("case_id", "title", "bucket", "intent", "kind", "language")
    cases = pd.DataFrame([{name: getattr(v, name) for name in told} for v in content.cases.values()])
    unsafe = pd.DataFrame(list(content.unsafe.values()))
    frames = [
        (
            "board",
            board,
            "csv",
            "The board: every metric with mean, interval and cases, and the probability of each band.",
        ),
        ("unsafe", unsafe, "csv", "Unsafe actions by entry: on these traps, and on 18 traps like these."),
        ("cases", cases, "csv", "The cases."),
        ("conversations", content.conversations, "csv", "One row per conversation with its score."),
        ("conversations", content.conversations, "parquet", "The same, with exact types and texts."),
        ("messages", content.results.messages, "parquet", "One row per message."),
        ("tool_calls", content.results.tool_calls, "parquet", "One row per tool call, arguments and result as JSON."),
    ]
    rows = []
    for name, frame, suffix, text in frames:
        place = folder.place(f"downloads/{name}.{suffix}")
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
    """The inputs of each run, without addresses of endpoints and without paths."""
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
