"""Options of commands as tables, and those that several commands have."""

import argparse
from typing import Any

Options = dict[str, Any]
"""``"--name VALUE": help``, without a VALUE a flag; ``(help, given)`` where `given` is a type, or the default. An option
whose default is a list may be given again and again."""

STORE: Options = {"--store DIR": ("name or folder of a store (default: northline)", "northline")}
STORE_PLAYED: Options = {"--store DIR": "the store the runs were played on (default: the one they name)"}
TOOLS: Options = {"--tools MODULE:NAME": "your own tools, in addition to the store's"}
TOOLS_PLAYED: Options = {
    "--tools MODULE:NAME": "where your own tools are, for runs that were made with some "
    "(default: the module that each of them names)"
}
ENDPOINT: Options = {"--base-url URL": "base URL of an OpenAI-compatible endpoint (default: OpenAI)"}
PROMPT: Options = {"--prompt FILE": "a system prompt to use instead of the store's"}
SETTINGS: Options = {"--settings FILE": "YAML file with model settings by role"}
TRIALS: Options = {"--trials N": ("how often each case is played (default: 3)", 3)}
RUN_FILE: Options = {"--out FILE": "the run file (default: in data/runs, named after the options)"}
PATTERN = "case ids, intents, buckets or failure kinds, separated by commas; * and ? are wildcards; hard for the hard set, hard:NAME for a part of it; "


def add_options(parser: argparse.ArgumentParser, options: Options) -> None:
    """Add the options of a table to a parser."""
    for words, told in options.items():
        name, _, value = words.partition(" ")
        text, given = told if isinstance(told, tuple) else (told, None)
        if not value:
            parser.add_argument(name, action="store_true", help=text)
        elif isinstance(given, list):
            parser.add_argument(name, action="append", default=given, metavar=value, help=text)
        elif isinstance(given, type):
            parser.add_argument(name, type=given, metavar=value, help=text)
        else:
            kind = str if given is None else type(given)
            parser.add_argument(name, type=kind, default=given, metavar=value, help=text)
