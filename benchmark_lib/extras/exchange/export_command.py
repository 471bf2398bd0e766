"""``deskbench export``."""

import argparse
from pathlib import Path

from ...cli.codes import FINISHED
from ...errors import BadInput
from ...project import in_project, write_csv
from .exports import FORMATS, WHOLE_FRAMES, export_frames

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
    frames = {}
    if options.labels:
        from ...analysis.tables import label_agreement_table
        from ...reports.explorer import read_labels

        file = in_project(options.labels)
        if not file.is_file():
            raise BadInput(
                f"there is no label file {options.labels}: name the CSV file that JupyterLab or the site wrote"
            )
        frames["labels"] = read_labels(file)
        frames["label_agreement"] = label_agreement_table(frames["labels"], results)
    for path in export_frames(results, options.out, format=options.format):
        print(path)
    for name, frame in frames.items():
        path = Path(options.out) / f"{name}.csv"
        write_csv(frame, path)
        print(path)
    return FINISHED
