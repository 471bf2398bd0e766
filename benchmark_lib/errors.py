"""Define the one error that users see: a sentence that names problem, place and remedy."""


class BadInput(ValueError):
    """Input refused before any cost arises; the command line prints this error and exits with 2."""
