"""A record as it is scored: of messages that no person would write, only the beginning and the end."""

import dataclasses

from ..language.pieces import WHOLE, kept_together
from ..records import Conversation


def as_read(conversation: Conversation) -> Conversation:
    """The conversation with its overlong messages cut to what is read of them; the record itself stays as it is.

    Each side is cut by itself, so that neither can make the other unread.
    """
    if sum(len(m.text) for m in conversation.messages) <= WHOLE:
        return conversation
    texts = {
        side: iter(kept_together([m.text for m in conversation.messages if m.side == side]))
        for side in ("agent", "customer")
    }
    messages = [dataclasses.replace(m, text=next(texts[m.side])) for m in conversation.messages]
    return dataclasses.replace(conversation, messages=messages)


def cut(conversation: Conversation, read: Conversation, side: str) -> list[int]:
    """The turns of a side's messages that were not read in full."""
    both = zip(conversation.messages, read.messages, strict=True)
    return [whole.turn for whole, part in both if whole.side == side and len(whole.text) > len(part.text)]
