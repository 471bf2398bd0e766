"""Define the one error that people see: a sentence with the problem, its place and the remedy."""


class BadInput(ValueError):
    """Input that is refused before any cost; the command line prints its text and exits with code 2."""
