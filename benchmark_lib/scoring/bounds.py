"""Cut overlong messages to their beginning and end before scoring."""

import dataclasses

from ..language.pieces import WHOLE, kept_together
from ..records import Conversation


def as_read(conversation: Conversation) -> Conversation:
    """Return the conversation with overlong messages cut for scoring; leave the record unchanged.

    Each side has its own limit, so that neither side can crowd out the other.
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
    """Return the turns of those messages of a side that were cut."""
    both = zip(conversation.messages, read.messages, strict=True)
    return [whole.turn for whole, part in both if whole.side == side and len(whole.text) > len(part.text)]
