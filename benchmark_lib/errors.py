"""The one error that is shown to a person: a sentence that says what is wrong, where, and how to mend it."""


class BadInput(ValueError):
    """Input that is refused before anything is spent; the command line prints its text and exits with code 2."""
