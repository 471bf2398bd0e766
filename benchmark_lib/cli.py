"""The command line, thin: a table of commands; each says its arguments and what to do in a module of its own."""

from __future__ import annotations

import argparse
import difflib
import sys
from importlib import import_module

from .errors import BadInput

COMMANDS = {
    "run": ("play cases with a model or a scripted agent into a run file", "benchmark_lib.experiment.commands:run"),
    "score": ("score finished run files again, without any endpoint", "benchmark_lib.experiment.commands:score"),
    "doctor": ("find in about five calls what an endpoint can do, and what it means", "benchmark_lib.endpoint.commands:doctor"),
    "judge": ("have a language model score finished run files, beside what is read from the record", "benchmark_lib.experiment.judge_commands:judge"),
    "audit": ("prove the case set: the oracle at the ceiling, trivial agents at the floor", "benchmark_lib.audit:command"),
    "generate": ("re-key a store and its cases into a fresh private set with the same logic", "benchmark_lib.cases.generate:command"),
    "notebook": ("run a notebook with parameters, strictly, into reports/", "benchmark_lib.reports.commands:notebook"),
    "notebooks": ("execute every notebook into reports/, figures into figures/", "benchmark_lib.reports.commands:notebooks"),
    "demo": ("the main job: the scripted agents, a model if one is named, and the leaderboard", "benchmark_lib.reports.commands:demo"),
    "site": ("build the site: leaderboard, models, cases, every transcript, in one folder", "benchmark_lib.reports.site.commands:site"),
    "export": ("write the frames of run files as Parquet or JSON lines", "benchmark_lib.exchange.exports:command"),
    "import": ("read results of tau-bench, tau2 or JSON lines into a run file of its own", "benchmark_lib.exchange.imports:command"),
    "recover": ("copy what can be read of a damaged run file", "benchmark_lib.experiment.commands:recover"),
}
"""Name to (help line, ``module:function``); the function gives a parser its arguments and ``execute(options) -> exit code``.

The module is imported when its command is given, and its own heavy imports belong inside ``execute``.
"""

EXIT_CODES = "exit codes: 0 finished; 2 refused or wrong input; 3 stopped and resumable; 130, 143 interrupted and resumable"


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one sentence with the nearest right word."""

    def error(self, message: str) -> None:
        """Refuse the command line.

        Raises
        ------
        BadInput
            Always.
        """
        wrong = [word.split("=")[0] for word in message.partition("unrecognized arguments:")[2].split() if word.startswith("-")]
        near = difflib.get_close_matches(wrong[0], [*self._every_option()], 1, 0.5) if wrong else []
        hint = f"did you mean {near[0]}?" if near else f"see `{self.prog} --help`"
        raise BadInput(f"{message}: {hint}")

    def _every_option(self) -> set[str]:
        options = set(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for sub in action.choices.values():
                    options |= set(sub._option_string_actions)
        return options


def build_parser(chosen: str | None) -> Parser:
    """The parser of all commands; only the `chosen` one is given its arguments, so that help stays instant."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("deskbench")
    except PackageNotFoundError:
        number = "(not installed)"
    parser = Parser(prog="deskbench", description="A benchmark of language models as customer-support agents.",
                    epilog=EXIT_CODES, allow_abbrev=False)  # fmt: skip
    parser.add_argument("--version", action="version", version=f"deskbench {number}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, (text, where) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", epilog=EXIT_CODES, allow_abbrev=False)
        if name == chosen:
            module, _, function = where.partition(":")
            getattr(import_module(module), function)(sub)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    chosen = next((word for word in given if not word.startswith("-")), None)
    try:
        if chosen is not None and chosen not in COMMANDS:
            near = difflib.get_close_matches(chosen, COMMANDS, 1, 0.4)
            hint = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(COMMANDS)}"
            raise BadInput(f"there is no command {chosen!r}: {hint}")
        parser = build_parser(chosen)
        options = parser.parse_args(given)
        if options.command is None:
            parser.print_help()
            return 2
        return options.execute(options)
    except BadInput as error:
        print(f"deskbench: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
