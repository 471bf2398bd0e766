"""From the words of a command line to an exit code; what a person is told where something is wrong."""

import difflib
import os
import re
import sys
import traceback
import warnings
from typing import Any, TextIO

from ..errors import BadInput
from .codes import CRASHED, INTERRUPTED, READER_GONE, REFUSED, note
from .parser import build_parser, commands


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(PlainStream, streams)  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _noted  # type: ignore[assignment]
            return _main(arguments)
    finally:
        sys.stdout, sys.stderr = streams


class PlainStream:
    """A stream to a terminal or file that shows text of any origin and cannot be made to fail or to obey it.

    Control characters and direction marks become ``?``; what the encoding lacks is written as an escape.
    """

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        encoding = self._stream.encoding or "utf-8"
        shown = HIDDEN.sub("?", text).encode(encoding, "backslashreplace").decode(encoding)
        return self._stream.write(shown)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Characters that move the cursor, colour, erase or turn the direction of a text."""


def _noted(message: Warning | str, category: type[Warning], *place: Any) -> None:
    """Tell a person what a run or file was left out; other warnings are for developers."""
    if issubclass(category, UserWarning):
        note(" ".join(str(message).split()))


def _main(arguments: list[str] | None) -> int:
    try:
        try:
            return _execute(sys.argv[1:] if arguments is None else arguments)
        except BadInput as error:
            from ..endpoint.keys import scrub

            note(scrub(" ".join(str(error).split())))
            return REFUSED
        except KeyboardInterrupt:
            return INTERRUPTED
        except (BrokenPipeError, SystemExit):
            raise
        except Exception:
            from ..endpoint.keys import scrub

            print(scrub(traceback.format_exc()), file=sys.stderr)
            note("this is a fault of Deskbench: please report the lines above")
            return CRASHED
        finally:
            sys.stdout.flush()  # what is still held back would meet a closed pipe only when Python ends, with a traceback
    except BrokenPipeError:
        if not any(map(_reader_gone, (sys.stdout, sys.stderr))):
            raise
        return READER_GONE


def _execute(given: list[str]) -> int:
    chosen = next((word for word in given if not word.startswith("-")), None)
    if chosen is not None and chosen not in (known := commands()):
        near = difflib.get_close_matches(chosen, known, 1, 0.4)
        hint = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(known)}"
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
