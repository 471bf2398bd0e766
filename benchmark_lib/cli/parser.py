"""The table of commands, and the parser that loads only the one that is given."""

import argparse
import difflib
from importlib import import_module
from typing import Any, NoReturn

from ..errors import BadInput
from ..extension import load, offered
from .codes import EXPLAINED
from .options import add_options

COMMANDS = {
    "run": "have a model or a scripted agent play cases, and keep the conversations in a run file",
    "runs": "list the runs in data/runs; show, hide, merge, put aside or remove them",
    "watch": "follow a run in progress: how far it has come, and the conversations that are finished",
    "score": "score finished run files again, without an endpoint",
    "compare": "say which of two or more runs is better, metric by metric, on the cases they share, or that it is too close to call",
    "cases": "list the names that --cases takes (intents, buckets, failure kinds, families) with counts, or single cases",
    "notebook": "run a notebook with parameters and write the result to reports/",
    "notebooks": "run every notebook; results go to reports/, figures to figures/",
    "demo": "run the scripted agents, and a model if you name one, and show the leaderboard",
    "site": "build a static site with the leaderboard, models, cases and every transcript",
}
"""Name to help line. The module of the same name has its ``ARGUMENTS`` and does what they say in ``execute(options) -> exit code``;
it is imported when its command is given, and its own heavy imports belong inside ``execute``."""

ORDER = [
    "run",
    "runs",
    "watch",
    "sit",
    "score",
    "doctor",
    "compare",
    "judge",
    "monitor",
    "cases",
    "audit",
    "generate",
    "notebook",
    "notebooks",
    "demo",
    "site",
    "export",
    "import",
]
"""The order in which help lists the commands; those of extras that it does not name follow."""


def commands() -> dict[str, str]:
    """Return the help line of every command, those of extras too."""
    found = COMMANDS | {name: words["help"] for name, (_, words) in offered("commands").items()}
    return {name: found.pop(name) for name in ORDER if name in found} | found


def _module_of(name: str) -> Any:
    if name in COMMANDS:
        return import_module(f".{name}", __package__)
    extra, words = offered("commands")[name]
    return load(extra, words["module"])


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one sentence with the nearest right word."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line with `BadInput`, always."""
        unknown = message.partition("unrecognized arguments:")[2].split()
        wrong = [word.split("=")[0] for word in unknown if word.startswith("-")]
        known = {option.lstrip("-"): option for option in sorted(self._every_option())}
        near = [known[name] for word in wrong for name in difflib.get_close_matches(word.lstrip("-"), known, 1, 0.6)]
        hint = f"did you mean {' and '.join(near)}?" if near else f"see `{self.prog} --help`"
        raise BadInput(f"{message}: {hint}")

    def _every_option(self) -> set[str]:
        commands = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        subs = [sub for action in commands for sub in action.choices.values()]
        return {option for one in (self, *subs) for option in one._option_string_actions}


def build_parser(chosen: str | None) -> Parser:
    """The parser of all commands; only the `chosen` one is given its arguments, so that help stays instant."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("deskbench")
    except PackageNotFoundError:
        number = "(not installed)"
    about = "A benchmark of language models as customer-support agents."
    parser = Parser(prog="deskbench", description=about, epilog=EXPLAINED, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"deskbench {number}")
    subs = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, text in commands().items():
        told = f"{text[0].upper()}{text[1:]}."
        sub = subs.add_parser(name, help=text, description=told, epilog=EXPLAINED, allow_abbrev=False)
        if name == chosen:
            module = _module_of(name)
            add_options(sub, module.ARGUMENTS)
            if details := getattr(module, "DETAILS", ""):
                sub.description, sub.formatter_class = f"{told}\n\n{details}", argparse.RawDescriptionHelpFormatter
            sub.epilog = getattr(module, "EPILOG", EXPLAINED)
            sub.set_defaults(execute=module.execute)
    return parser
