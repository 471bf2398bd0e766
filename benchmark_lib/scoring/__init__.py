"""Score the record of a conversation."""

from .score import RULES_OF_SUCCESS, TAGS, VERSION, counts, score

__all__ = ["RULES_OF_SUCCESS", "TAGS", "VERSION", "counts", "score"]
