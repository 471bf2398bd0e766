"""Define the one error that people see: a sentence with problem, place and remedy."""


class BadInput(ValueError):
    """Input refused before any cost; the command line prints its text and exits with code 2."""
