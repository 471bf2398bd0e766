"""The table of commands, and the parser that loads only the one that is given."""

import argparse
import difflib
from importlib import import_module
from typing import NoReturn

from ..errors import BadInput
from .codes import EXPLAINED
from .options import add_options

COMMANDS = {
    "run": "have a model or a scripted agent play cases, and keep the conversations in a run file",
    "runs": "list the runs in data/runs; show, hide, merge, put aside or remove them",
    "watch": "follow a run in progress: how far it has come, and the conversations that are finished",
    "sit": "take the agent's or the customer's chair yourself, or let programs take it through a local port",
    "score": "score finished run files again, without an endpoint",
    "doctor": "find out what an endpoint can do, in about five calls",
    "compare": "say which of two or more runs is better, metric by metric, on the cases they share, or that it is too close to call",
    "judge": "have a language model judge finished runs; its verdicts stand beside the scores read from the record",
    "monitor": "watch a desk's own logged conversations: findings by week, drift against a baseline, alarms",
    "cases": "list the names that --cases takes (intents, buckets, failure kinds, families) with counts, or single cases",
    "audit": "check the case set: the oracle must pass every case, trivial agents none",
    "generate": "make a fresh private set with the same logic (new names, ids, dates and goods), with its cases told again in five wordings",
    "notebook": "run a notebook with parameters and write the result to reports/",
    "notebooks": "run every notebook; results go to reports/, figures to figures/",
    "demo": "run the scripted agents, and a model if you name one, and show the leaderboard",
    "site": "build a static site with the leaderboard, models, cases and every transcript",
    "export": "write the frames of run files as Parquet or JSON lines",
    "import": "import results of tau-bench, tau2 or JSON lines into a new run file",
}
"""Name to help line. The module of the same name has its ``ARGUMENTS`` and does what they say in ``execute(options) -> exit code``;
it is imported when its command is given, and its own heavy imports belong inside ``execute``."""

KEYWORDS = {"import": "import_"}
"""The module of a command whose own name Python keeps for itself."""


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
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, text in COMMANDS.items():
        told = f"{text[0].upper()}{text[1:]}."
        sub = commands.add_parser(name, help=text, description=told, epilog=EXPLAINED, allow_abbrev=False)
        if name == chosen:
            module = import_module(f".{KEYWORDS.get(name, name)}", __package__)
            add_options(sub, module.ARGUMENTS)
            if details := getattr(module, "DETAILS", ""):
                sub.description, sub.formatter_class = f"{told}\n\n{details}", argparse.RawDescriptionHelpFormatter
            sub.epilog = getattr(module, "EPILOG", EXPLAINED)
            sub.set_defaults(execute=module.execute)
    return parser
