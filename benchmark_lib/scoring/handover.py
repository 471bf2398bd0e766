"""Whether the summary of a handover is one: words that a colleague can begin with."""

import re

from ..language.folding import plain
from ..records import ToolCall

FEWEST_WORDS = 6
"""Different words of a summary; with fewer nobody can say what is asked and what is known."""


def says_something(handover: ToolCall) -> bool:
    """Whether the summary of a handover holds more than a mark, a word or an empty phrase."""
    summary = handover.named.get("summary")
    return isinstance(summary, str) and len(set(re.findall(r"[^\W\d_]{2,}", plain(summary)))) >= FEWEST_WORDS
