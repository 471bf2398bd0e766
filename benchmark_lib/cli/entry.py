"""From the words of a command line to an exit code; what a person is told where something is wrong."""

import difflib
import os
import sys
from typing import TextIO

from ..errors import BadInput
from .codes import INTERRUPTED, READER_GONE, REFUSED, note
from .parser import COMMANDS, build_parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        try:
            return _execute(sys.argv[1:] if arguments is None else arguments)
        except BadInput as error:
            note(" ".join(str(error).split()))
            return REFUSED
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            sys.stdout.flush()  # what is still held back would meet a closed pipe only when Python ends, with a traceback
    except BrokenPipeError:
        if not any(map(_reader_gone, (sys.stdout, sys.stderr))):
            raise
        return READER_GONE


def _execute(given: list[str]) -> int:
    chosen = next((word for word in given if not word.startswith("-")), None)
    if chosen is not None and chosen not in COMMANDS:
        near = difflib.get_close_matches(chosen, COMMANDS, 1, 0.4)
        hint = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(COMMANDS)}"
        raise BadInput(f"there is no command {chosen!r}: {hint}")
    parser = build_parser(chosen)
    options = parser.parse_args(given)
    if options.command is None:
        parser.print_help()
        return REFUSED
    return options.execute(options)


def _reader_gone(stream: TextIO) -> bool:
    """Whether nobody reads a stream any more. It then leads nowhere, so that nothing is told when Python ends either."""
    try:
        print(file=stream, flush=True)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return True
    return False
