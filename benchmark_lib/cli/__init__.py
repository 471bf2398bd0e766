"""The command line: one module a command, each with its arguments, one call into a room, and an exit code."""

from .entry import main

__all__ = ["main"]
