"""Frames of run files -> Parquet or JSON lines, for readers that know nothing of Deskbench."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ..errors import BadInput
from ..outputs import built_beside, folder_made, writing
from .dictionary import DICTIONARY

if TYPE_CHECKING:
    from .frames import Results

FORMATS = ("parquet", "jsonl")
RECORDS = "records.jsonl"
"""The records themselves with their scores, one a line: what ``deskbench import --format jsonl`` reads."""


def command(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench export``."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run files, or folders with run files in them")
    parser.add_argument("--format", required=True, choices=FORMATS, help="what to write")
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write to")
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> int:
    from .frames import load_results

    for path in export_frames(load_results(*options.runs), options.out, format=options.format):
        print(path)
    return 0


def export_frames(results: "Results", folder: str | Path, *, format: str = "parquet") -> list[Path]:
    """Write every frame to a file of its own, and the data dictionary beside them.

    Parameters
    ----------
    results : Results
    folder : path
        Made where it is not there; files of the same names are written anew.
    format : {"parquet", "jsonl"}
        ``jsonl`` also writes the records themselves.

    Returns
    -------
    list of Path
        conversations, messages, tool_calls, calls, verdicts, planned; ``dictionary.csv``; with jsonl ``records.jsonl``.

    Raises
    ------
    BadInput
        For an unknown format, or a folder that cannot be written or has no room.
    """
    if format not in FORMATS:
        raise BadInput(f"there is no format {format!r}: choose {' or '.join(FORMATS)}")
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file: give --out the name of a folder")
    with writing(folder), folder_made(folder):
        return _write_frames(results, folder, format)


def _write_frames(results: "Results", folder: Path, format: str) -> list[Path]:
    """Every file is written beside its place first, so that one that was there stays whole until the new one is."""
    written = []
    for name in DICTIONARY:
        frame = getattr(results, name)
        with built_beside(folder / f"{name}.{format}", written) as path:
            if format == "parquet":
                frame.to_parquet(path, index=False)
            else:
                frame.to_json(path, orient="records", lines=True, force_ascii=False)
    if format == "jsonl":
        with built_beside(folder / RECORDS, written) as path:
            _write_records(results, path)
    with built_beside(folder / "dictionary.csv", written) as path:
        _write_dictionary(path)
    return written


def _write_records(results: "Results", path: Path) -> None:
    with path.open("wb") as file:
        for run in results.runs:
            scores = run.scores()
            for _, _, digest, record in run.conversations():
                line: dict[str, Any] = {**orjson.loads(record), "score": {k: v for k, v in scores.get(digest, {}).items() if k != "version"}}
                file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def _write_dictionary(path: Path) -> None:
    import pandas as pd

    rows = [(frame, column, words) for frame, columns in DICTIONARY.items() for column, words in columns.items()]
    pd.DataFrame(rows, columns=["frame", "column", "meaning"]).to_csv(path, index=False)
