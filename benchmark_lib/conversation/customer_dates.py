"""Whether a date that a customer is asked for is the one that its case holds."""

from datetime import date

from ..cases import Known
from ..language.cues import holds
from ..language.folding import plain
from ..language.values import values_in


def another_date(asked: set[str], known: Known, today: date, language: str) -> bool:
    """Whether a question is about another date than the one a customer knows: about a journey, where it knows the day of the delivery, or the other way round.

    `asked` is what the dates are of that the desk asks for (see `ParsedMessage.dates`).
    """
    words = f"{known.value or ''} {known.say or ''}"
    days = {date.fromisoformat(v.value) >= today for v in values_in(words, today.year) if v.kind == "date"}
    behind = False in days or holds("dates", "told", plain(words), (language,))
    ahead = True in days
    return (asked == {"ahead"} and behind and not ahead) or (asked == {"behind"} and ahead and not behind)
