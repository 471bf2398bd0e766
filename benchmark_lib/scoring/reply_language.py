"""Whether an agent answers in the language its customer writes in."""

from collections.abc import Iterable

from ..language.detection import written_in


def answers_in_language(texts: Iterable[str], language: str) -> bool | None:
    """Whether every reply that is long enough to tell, and not mixed, is in a language; None where there is none."""
    told = {found for found in map(written_in, texts) if found}
    return told == {language} if told else None
