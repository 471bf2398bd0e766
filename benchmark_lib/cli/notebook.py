"""``deskbench notebook``."""

import argparse
from typing import Any

from ..errors import BadInput
from .codes import FINISHED
from .options import executor

ARGUMENTS = {
    "NOTEBOOK": "path to a notebook, or its name in notebooks/",
    "-p,--parameter NAME=VALUE": {
        "help": "a value for the notebook's parameters cell, as YAML",
        "action": "append",
        "default": [],
    },
    "--out NAME": (
        "name of the executed copy in reports/ (default: the notebook's name, with the model and setting it covers)"
    ),
    "--each-model": "run it once for each model in data/runs (or in -p runs=[...]), two at a time; for players in a "
    "chair and scripted agents, only if there is no model (-p entry=NAME makes a page for any of them)",
    **executor("with --each-model, make the pages"),
}


def execute(options: argparse.Namespace) -> int:
    """Run the notebook and print where its page is."""
    from ..reports.notebooks import run_for_each_model, run_notebook

    parameters = dict(_parameter(p) for p in options.parameter)
    where = {name: getattr(options, name) for name in ("executor", "scheduler", "workers")}
    if not options.each_model:
        if any(where.values()):
            mend = "add --each-model, or omit --executor, --scheduler and --workers"
            raise BadInput(f"a single notebook runs on this machine: {mend}")
        print(f"page: {run_notebook(options.notebook, parameters, out=options.out, progress=True)}")
        return FINISHED
    if options.out:
        raise BadInput("with --each-model every page is named after its model: remove --out")
    for page in run_for_each_model(options.notebook, parameters, **where):
        print(f"page: {page}", flush=True)
    return FINISHED


PYTHON_WORDS = {"None": None, "True": True, "False": False}
"""Words of a parameters cell that YAML reads as text."""


def _parameter(text: str) -> tuple[str, Any]:
    from ..reports.notebooks import SUBJECTS
    from ..textfiles import BROKEN_YAML, load_yaml

    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"-p {text!r} is not of the form NAME=VALUE")
    if value.strip() in PYTHON_WORDS:
        return name, PYTHON_WORDS[value.strip()]
    try:
        read = load_yaml(value)
    except BROKEN_YAML as error:
        why = getattr(error, "problem", None) or type(error).__name__
        mend = f"put it in quotes, such as -p '{name}=\"text\"'"
        raise BadInput(f"-p {name}: its value cannot be read as YAML ({why}): {mend}") from None
    # names are texts, even "4.5" and "acme [played: me]"; YAML reads 12:30 as a number and drops text after #
    quoted = value[:1] in tuple("{[\"'|>&!?") or "\n" in value or read is None
    as_text = name in SUBJECTS or isinstance(read, str) or (isinstance(read, int | float) and ":" in value)
    return name, value.strip() if as_text and not quoted else read
