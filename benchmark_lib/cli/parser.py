"""The table of commands, their parser, and the exit code of a command line."""

import argparse
import difflib
import os
import re
import sys
import traceback
import warnings
from importlib import import_module
from typing import Any, NoReturn, TextIO

from ..errors import BadInput
from ..extension import load, offered
from .codes import CRASHED, EXPLAINED, INTERRUPTED, READER_GONE, REFUSED, note
from .options import add_options

COMMANDS = {
    "run": "have a model or a scripted agent play cases, and keep the conversations in a run file",
    "runs": "list the runs in data/runs; show one or set some aside",
    "watch": "follow a run in progress: how far it has got, and its finished conversations",
    "score": "rescore finished run files without an endpoint",
    "compare": (
        "say which of two or more runs is better, metric by metric, on the cases they share, or that it is too "
        "close to call"
    ),
    "cases": "list the names that --cases accepts (intents, buckets, failure kinds, families), or single cases",
    "notebook": "run a notebook with parameters and write the result to reports/",
    "notebooks": "run every notebook; results go to reports/, figures to figures/",
    "demo": "run the scripted agents, and a model if you name one, and show the leaderboard",
    "site": "build a static site with the leaderboard, models, cases and every transcript",
}
"""Help line by command. The module of that name has ``ARGUMENTS`` and ``execute(options) -> exit code``. It is
imported only for its command, and does its own heavy imports inside ``execute``.
"""
ORDER = (
    "run runs watch sit fork score doctor compare judge monitor cases audit generate notebook notebooks demo site "
    "export import"
)
"""The order of commands in help; other commands of extras follow."""
HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Characters that move the cursor, or that colour, erase or reverse text."""


def commands() -> dict[str, str]:
    """Return the help line of every command, including extras."""
    helps = COMMANDS | {name: words["help"] for name, (_, words) in offered("commands").items()}
    return {name: helps.pop(name) for name in ORDER.split() if name in helps} | helps


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one sentence, with the nearest correct word."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line by raising `BadInput`."""
        wrong = [word.split("=")[0] for word in message.partition("unrecognized arguments:")[2].split()]
        subs = [s for a in self._actions if isinstance(a, argparse._SubParsersAction) for s in a.choices.values()]
        options = sorted({option for one in (self, *subs) for option in one._option_string_actions})
        known = {option.lstrip("-"): option for option in options}
        words = [word.lstrip("-") for word in wrong if word[0] == "-"]
        near = [known[n] for w in words for n in difflib.get_close_matches(w, known, 1, 0.6)]
        hint = f"did you mean {' and '.join(near)}?" if near else f"see `{self.prog} --help`"
        raise BadInput(f"{message}: {hint}")


def build_parser(chosen: str | None) -> Parser:
    """Return the parser of all commands; only `chosen` gets its arguments, so that help is fast."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("deskbench")
    except PackageNotFoundError:
        number = "(not installed)"
    about = "A benchmark of language models as customer-support agents."
    ends = f"documentation: README.md and docs/; {EXPLAINED}"
    parser = Parser(prog="deskbench", description=about, epilog=ends, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"deskbench {number}")
    subs = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, text in commands().items():
        opening = f"{text[0].upper()}{text[1:]}."
        sub = subs.add_parser(name, help=text, description=opening, epilog=EXPLAINED, allow_abbrev=False)
        if name == chosen:
            extra, words = offered("commands").get(name, ("", {}))
            module = load(extra, words["module"]) if extra else import_module(f".{name}", __package__)
            add_options(sub, module.ARGUMENTS)
            if details := getattr(module, "DETAILS", ""):
                sub.description, sub.formatter_class = f"{opening}\n\n{details}", argparse.RawDescriptionHelpFormatter
            sub.epilog = getattr(module, "EPILOG", EXPLAINED)
            sub.set_defaults(execute=module.execute)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started the command
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(PlainStream, streams)  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _noted  # type: ignore[assignment]
            return _main(sys.argv[1:] if arguments is None else arguments)
    except BrokenPipeError:
        if not any(map(_reader_gone, (sys.stdout, sys.stderr))):  # check the second only if the first has a reader
            raise
        return READER_GONE
    finally:
        sys.stdout, sys.stderr = streams


def _main(given: list[str]) -> int:
    try:
        given = [" ".join(given[:2]), *given[2:]] if " ".join(given[:2]) in commands() else given
        chosen = next((word for word in given if not word.startswith("-")), None)
        if chosen is not None and chosen not in (known := commands()):
            near = [name for name in known if name.startswith(f"{chosen} ")]
            chosen = " ".join([chosen, *(w for w in given[1:2] if near and w[:1] != "-")])
            near = difflib.get_close_matches(chosen, near or known, 1, 0.8 if near else 0.4) or near
            hint = f"did you mean {' or '.join(near)}?" if near else f"the commands are {', '.join(known)}"
            raise BadInput(f"there is no command {chosen!r}: {hint}")
        parser = build_parser(chosen)
        options = parser.parse_args(given)
        if options.command is None:
            parser.print_help()
            return REFUSED
        return options.execute(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        from ..endpoint.keys import scrub

        if isinstance(error, BadInput):
            note(scrub(" ".join(str(error).split())))
            return REFUSED
        if type(error).__name__ == "SchemaError" and "KeyboardInterrupt" in str(error):
            return INTERRUPTED  # pydantic wraps an interrupt during the building of a class
        print(scrub(traceback.format_exc()), file=sys.stderr)
        note("this is a fault of Deskbench: please report the lines above")
        return CRASHED
    finally:
        sys.stdout.flush()  # otherwise a closed pipe raises only when Python ends, with a traceback


def _noted(message: Warning | str, category: type[Warning], *place: Any) -> None:
    # warnings for users say which run or file is left out; others are for developers
    if issubclass(category, UserWarning):
        note(" ".join(str(message).split()))


class PlainStream:
    """A stream that shows any text safely: control characters and direction marks become ``?``."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        encoding = self._stream.encoding or "utf-8"
        shown = HIDDEN.sub("?", text).encode(encoding, "backslashreplace").decode(encoding)
        return self._stream.write(shown)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _reader_gone(stream: Any) -> bool:
    # if so, also redirect it, so that Python ends quietly
    try:
        print(file=stream, flush=True)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return True
    return False
