"""``deskbench import``."""

import argparse

from ...cli.codes import FINISHED
from ...errors import BadInput
from .imports import MOST_K, READERS, import_results, summary

ARGUMENTS = {
    "FILE": "a tau-bench trajectory file, a tau2 results file (or a run's folder), an Inspect log, or records as JSON "
    "lines; scores stay as the file gives them",
    "--format": {
        "help": "format of the file; not needed for a tau2 folder or an Inspect log named .eval",
        "choices": (*READERS,),
    },
    "--model NAME": "the agent's model, if the file does not name it",
    "--domain NAME": "the domain, if the file does not name it",
    "--out FILE": {"help": "the run file to write", "required": True},
    "--most-k K": (f"print pass^1 up to pass^K (default: {MOST_K})", MOST_K),
}


def execute(options: argparse.Namespace) -> int:
    """Write the run file and print its summary."""
    if options.most_k < 1:
        raise BadInput(f"--most-k must be a whole number of at least 1, not {options.most_k}")
    run = import_results(options.file, options.out, format=options.format, model=options.model, domain=options.domain)
    for line in summary(run, options.most_k):
        print(line)
    print(f"run file: {run.path}")
    return FINISHED
