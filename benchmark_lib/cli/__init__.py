"""The command line: one module per command, with its arguments and an exit code."""

from .codes import INTERRUPTED


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; even an early interrupt ends it quietly."""
    try:
        from .parser import main as run

        return run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
