"""Export of run files to Parquet, JSON lines, Inspect logs and chats."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import orjson

from ...analysis.dictionary import DICTIONARY
from ...errors import BadInput
from ...project import folder_made, writing
from .chats import write_chats
from .inspect_out import write_inspect

if TYPE_CHECKING:
    from ...analysis.frames import Results

WHOLE_FRAMES = ("parquet", "jsonl")
WHOLE_RUNS = {"inspect": write_inspect, "openai-chat": write_chats}
"""Formats of one file per run, with the function that writes a run to a folder."""
FORMATS = (*WHOLE_FRAMES, *WHOLE_RUNS)
RECORDS = "records.jsonl"
"""File of records with scores, one per line, for ``deskbench import --format jsonl``."""


def export_frames(results: Results, folder: str | Path, *, format: str = "parquet") -> list[Path]:
    """Write runs for other programs to a folder, which is created if missing.

    ``parquet`` and ``jsonl`` write each frame, including columns that you added, and the data dictionary. Counts are
    whole numbers or null. ``jsonl`` also writes the records. ``inspect`` writes one ``.eval`` log per run;
    ``openai-chat`` writes one file of chats with tool calls per run, with scores as metadata. Existing files with the
    same names are replaced.

    Returns
    -------
    list of Path
        For frames: conversations, messages, tool_calls, calls, verdicts, planned; ``dictionary.csv``; with jsonl,
        also ``records.jsonl``.

    Raises
    ------
    BadInput
        If the format is unknown, or the folder cannot be written or has no space.
    """
    if format not in FORMATS:
        raise BadInput(f"there is no format {format!r}: choose {', '.join(FORMATS)}")
    if not str(folder):
        raise BadInput("the folder has no name: give it one with --out")
    folder = Path(folder)
    with writing(folder), folder_made(folder), TemporaryDirectory(prefix=".new-", dir=folder) as building:
        if format in WHOLE_RUNS:
            names = [WHOLE_RUNS[format](run, Path(building)).name for run in results.runs]
        else:
            names = _write_frames(results, Path(building), format)
        for name in names:
            os.replace(Path(building, name), folder / name)
    return [folder / name for name in names]


def _write_frames(results: Results, folder: Path, format: str) -> list[str]:
    import pandas as pd

    for name, columns in DICTIONARY.items():
        frame, path = getattr(results, name), folder / f"{name}.{format}"
        frame = frame.astype({column.name: "Int64" for column in columns.values() if column.kind == "count"})
        if format == "parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=True, force_ascii=False)
    rows = [(frame, c.name, c.kind, c.unit, c.words) for frame, columns in DICTIONARY.items() for c in columns.values()]
    described = pd.DataFrame(rows, columns=["frame", "column", "kind", "unit", "meaning"])
    described.to_csv(folder / "dictionary.csv", index=False)
    if format == "jsonl":
        _write_records(results, folder / RECORDS)
    return [f"{name}.{format}" for name in DICTIONARY] + [RECORDS] * (format == "jsonl") + ["dictionary.csv"]


def _write_records(results: Results, path: Path) -> None:
    keys = results.conversations[["run_id", "case_id", "trial"]]
    chosen = set(keys.itertuples(index=False, name=None))
    with path.open("wb") as file:
        for run in results.runs:
            scores = run.scores()
            for case_id, trial, digest, record in run.conversations():
                if (run.run_id, case_id, trial) not in chosen:
                    continue
                score = {name: value for name, value in scores.get(digest, {}).items() if name != "version"}
                line = orjson.loads(record) | {"score": score}
                file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
