"""``deskbench export``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ...cli.codes import FINISHED
from ...errors import BadInput
from ...project import in_project, write_csv
from .exports import FORMATS, WHOLE_FRAMES, export_frames

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results


ARGUMENTS = {
    "RUN+": "run files, or folders of run files",
    "--format": {"help": "what to write", "required": True, "choices": FORMATS},
    "--labels CSV": "also write this file of labels, with the labellers' agreement",
    "--where QUERY": "only these conversations, as in 'bucket=adversarial unsafe=yes'; with --format parquet or jsonl",
    "--out DIR": {"help": "the folder to write to", "required": True},
}


def execute(options: argparse.Namespace) -> int:
    """Write the frames and print the paths of the files."""
    from ...analysis.frames import load_results

    if options.where and options.format not in WHOLE_FRAMES:
        raise BadInput(f"--where selects rows of frames: add --format {' or '.join(WHOLE_FRAMES)}, or omit --where")
    results = load_results(*options.runs)
    results = results.only(options.where) if options.where else results
    labels = _labels(results, options.labels) if options.labels else {}
    for path in export_frames(results, options.out, format=options.format):
        print(path)
    for name, frame in labels.items():
        path = Path(options.out) / f"{name}.csv"
        write_csv(frame, path)
        print(path)
    return FINISHED


def _labels(results: Results, path: str) -> dict[str, pd.DataFrame]:
    from ...analysis.tables import label_agreement_table
    from ...reports.explorer import read_labels

    if not in_project(path).is_file():
        raise BadInput(f"there is no label file {path}: name the CSV file that JupyterLab or the site wrote")
    labels = read_labels(in_project(path))
    return {"labels": labels, "label_agreement": label_agreement_table(labels, results)}
