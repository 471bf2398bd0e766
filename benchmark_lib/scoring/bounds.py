"""A record as it is scored: of messages that no person would write, only the beginning and the end."""

import dataclasses
from math import inf
from typing import Any

from ..language.pieces import WHOLE, kept_together
from ..records import Conversation, ToolCall, as_text, words_in

LARGEST = 2**64
"""Numbers beyond this, which no JSON holds, are read as text: Python refuses to write the largest of them."""


def as_read(conversation: Conversation) -> Conversation:
    """The conversation with its overlong messages cut to what is read of them, and numbers no JSON holds as text; the record itself stays as it is.

    Each side is cut by itself, so that neither can make the other unread.
    """
    if any(_too_large(t.arguments) for t in conversation.tool_calls):
        conversation = dataclasses.replace(conversation, tool_calls=[*map(_written, conversation.tool_calls)])
    if sum(len(m.text) for m in conversation.messages) <= WHOLE:
        return conversation
    texts = {
        side: iter(kept_together([m.text for m in conversation.messages if m.side == side]))
        for side in ("agent", "customer")
    }
    messages = [dataclasses.replace(m, text=next(texts[m.side])) for m in conversation.messages]
    return dataclasses.replace(conversation, messages=messages)


def _too_large(value: Any) -> bool:
    return any(type(word) is int and abs(word) > LARGEST for word in words_in(value))


def _written(call: ToolCall) -> ToolCall:
    """Return a call whose arguments hold infinity in place of a number that is too large, and text in place of what holds one."""
    found = {
        name: value if not _too_large(value) else inf if type(value) is int else as_text(value)
        for name, value in call.named.items()
    }
    return dataclasses.replace(call, arguments=found or as_text(call.arguments))


def cut(conversation: Conversation, read: Conversation, side: str) -> list[int]:
    """The turns of a side's messages that were not read in full."""
    both = zip(conversation.messages, read.messages, strict=True)
    return [whole.turn for whole, part in both if whole.side == side and len(whole.text) > len(part.text)]
