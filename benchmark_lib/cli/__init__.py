"""The command line: one module per command, with its arguments and an exit code."""

import gc

from .codes import INTERRUPTED


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; even an early interrupt ends it quietly."""
    before = gc.get_threshold()
    gc.set_threshold(20_000, 20, 20)  # a tenth of the start went into scanning what stays loaded anyway
    try:
        from .parser import main as run

        return run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        gc.set_threshold(*before)
