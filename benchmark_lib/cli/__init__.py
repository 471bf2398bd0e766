"""The command line: one module per command, with its arguments and an exit code."""

from .codes import INTERRUPTED


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; an interrupt is quiet from the start."""
    try:
        from .parser import main as run
    except KeyboardInterrupt:
        return INTERRUPTED
    return run(arguments)


__all__ = ["main"]
