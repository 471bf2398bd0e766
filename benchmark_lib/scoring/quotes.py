"""Normalize quotes and their sources for comparison."""

from ..language.folding import fold


def plain(text: str) -> str:
    """Return a text without case, blanks, line breaks, typographic marks and the backslashes of JSON."""
    return "".join(fold(text.replace("\\n", " ").replace('\\"', '"')).split())


def unquoted(quote: str) -> str:
    """Return a quote normalized and without quotation marks around it."""
    return plain(quote).strip("\"'“”«»")
