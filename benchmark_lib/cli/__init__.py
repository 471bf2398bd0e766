"""The command line: one module a command, each with its arguments, one call into a room, and an exit code."""

from .codes import INTERRUPTED


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; an interrupt is quiet from the first import on."""
    try:
        from .parser import main as run
    except KeyboardInterrupt:
        return INTERRUPTED
    return run(arguments)


__all__ = ["main"]
