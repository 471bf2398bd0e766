"""Check that an agent answers in the customer's language."""

from collections.abc import Iterable

from ..language.detection import written_in


def answers_in_language(texts: Iterable[str], language: str) -> bool | None:
    """Return whether every reply with a recognizable language is in this one; None without such a reply."""
    told = {found for found in map(written_in, texts) if found}
    return told == {language} if told else None
