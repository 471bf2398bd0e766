"""Quotes and the texts they come from, as the two are compared."""

from ..language.folding import fold


def plain(text: str) -> str:
    """Text as quotes are compared: without case, blanks, line breaks, typographic marks and the backslashes of JSON."""
    return "".join(fold(text.replace("\\n", " ").replace('\\"', '"')).split())


def unquoted(quote: str) -> str:
    """A quote as it is looked for: plain, and without quotation marks around it."""
    return plain(quote).strip("\"'“”«»")
