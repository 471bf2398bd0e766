"""Arguments of commands as tables, and arguments that several commands share."""

import argparse
from typing import Any

Options = dict[str, Any]
"""``"--name VALUE": help``, or a flag without VALUE. ``(help, given)`` adds a type or a default; an option with a list
as its default may be repeated. A name without dashes is positional, with ``?``, ``*`` or ``+`` for how many. A dict in
place of the help is passed to argparse. In YAML, a pair is a list, and a dict names its type.
"""

STORE: Options = {"--store DIR": ("name or folder of a store (default: northline)", "northline")}
STORE_PLAYED: Options = {"--store DIR": "the store on which the runs were played (default: the one they name)"}
TOOLS: Options = {"--tools MODULE:NAME": "your own tools, in addition to the store's"}
ENDPOINT: Options = {"--base-url URL": "base URL of an OpenAI-compatible endpoint (default: OpenAI)"}
PROMPT: Options = {"--prompt FILE": "a system prompt to use instead of the store's"}
SETTINGS: Options = {"--settings FILE": "YAML file with model settings by role"}
TRIALS: Options = {"--trials N": ("how often each case is played (default: 3)", 3)}
RUN_FILE: Options = {"--out FILE": "the run file (default: in data/runs, one for all --cases and --trials)"}
PATTERN = (
    "case ids, intents, buckets or failure kinds, separated by commas; * and ? are wildcards; hard for the hard "
    "set, hard:NAME for part of it; "
)


def executor(what: str) -> Options:
    """Return the Dask options of a command; `what` says what the workers do."""
    return {
        "--executor NAME": f"dask: {what} on the workers of a Dask cluster (needs the extra `dask`)",
        "--scheduler ADDRESS": (
            "the cluster's scheduler, such as tls://10.0.0.1:8786, with the certificates that Dask's "
            "configuration names"
        ),
        "--workers N": ("a cluster of N processes on this machine (default: one per core)", int),
    }


def add_options(parser: argparse.ArgumentParser, options: Options) -> None:
    """Add the options of a table to a parser."""
    for kind in (int, float):
        parser.register("type", kind.__name__, kind)  # as YAML names it
    for words, spec in options.items():
        name, _, value = words.partition(" ")
        text, given = spec if isinstance(spec, tuple | list) else (spec, None)
        how: dict[str, Any] = {"help": text, "default": given}
        if isinstance(spec, dict):
            how = dict(spec)
        elif isinstance(given, list):
            how["action"] = "append"
        elif isinstance(given, type):
            how |= {"type": given, "default": None}
        elif given is not None:
            how["type"] = type(given)
        elif name.startswith("-") and not value:
            how = {"help": text, "action": "store_true"}
        names = name.split(",")
        if value:
            how["metavar"] = value
        if not name.startswith("-"):
            how["metavar"] = word = name.rstrip("?*+")
            names = [word.lower() + "s" * (name[-1] in "*+")]
            how |= {"nargs": name[-1]} if word != name else {}
        parser.add_argument(*names, **how)
