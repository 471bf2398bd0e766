"""The model agent, a language model behind an endpoint, and an agent that repeats a record."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from ..endpoint.reply import RequestedCall
from ..records import Conversation, Message
from ..store.tools import CALL_LIMIT, TOOL_FAULT
from .agent_view import AgentView, SeenMessage
from .speaker import AgentFault, BuiltIn, ContentFiltered

BAD_CALLS = 6
Complete = Callable[[list[dict[str, Any]], list[dict[str, Any]] | None], Awaitable[Any]]


class ModelAgent(BuiltIn):
    """A model in one conversation.

    Parameters
    ----------
    complete : async callable
        ``complete(messages, tools) -> Completion``; makes or replays one model call.
    """

    def __init__(self, complete: Complete):
        self.complete = complete
        self.history: list[dict[str, Any]] = []

    async def reply(self, talk: AgentView) -> str:
        """Let the model call tools until it answers in words."""
        if not self.history:
            self.history.append({"role": "system", "content": talk.prompt})
        self.history.append({"role": "user", "content": letter(talk)})
        bad = 0
        while True:
            answer = await self.complete(self.history, talk.tools)
            talk.charge(answer.usage)
            talk.think(answer.reasoning)
            if answer.finish_reason == "content_filter":
                raise ContentFiltered("the provider's content filter stopped the reply")
            if not answer.tool_calls:
                if answer.finish_reason == "length":
                    raise AgentFault("cut_by_length", "the reply was cut at the token limit")
                self.history.append(answer.message())
                return answer.text or ""
            self.history.append(answer.message())
            for index, wanted in enumerate(answer.tool_calls):
                call = await talk.call_aside(wanted.name, wanted.arguments, together=index > 0)
                bad = 0 if call.error in (None, TOOL_FAULT, CALL_LIMIT) else bad + 1
                content = orjson.dumps(call.result).decode()
                self.history.append({"role": "tool", "tool_call_id": wanted.id, "content": content})
            if bad >= BAD_CALLS:
                raise AgentFault("invalid_calls", f"{bad} failed tool calls in a row")


class Spoken:
    """An agent that repeats a record, and keeps it as the history that a model continues."""

    def __init__(self, record: Conversation):
        self.record, self.history = record, list[dict[str, Any]]()

    async def reply(self, talk: AgentView) -> str:
        """Make the recorded calls of this turn again, and return the recorded reply."""
        self.history.append({"role": "user", "content": letter(talk)})
        for call in (c for c in self.record.tool_calls if c.turn == talk.turn and c.side == "agent"):
            made = await talk.call_aside(call.name, call.arguments)
            asked = RequestedCall(f"call_{call.index}", call.name, call.arguments).as_sent()
            answer = {"role": "tool", "tool_call_id": asked["id"], "content": orjson.dumps(made.result).decode()}
            self.history += [{"role": "assistant", "content": None, "tool_calls": [asked]}, answer]
        text = next((m.text for m in self.record.replies() if m.turn == talk.turn), "")
        self.history.append({"role": "assistant", "content": text})
        return text


def letter(talk: AgentView) -> str:
    """Return the newest customer message in the agent's format."""
    return as_letter(next(m for m in reversed(talk.messages) if m.side == "customer"), talk.sender)


def as_letter(message: SeenMessage | Message, sender: str) -> str:
    """Format a customer message for the agent, with its attachments and, if given, its sender."""
    head = f"From: {sender}\nSubject: " if message.turn == 1 and sender else ""
    received = " from the customer, received and legible"
    shown = {name: f"; it shows: {line}" if line else received for name, line in message.shows.items()}
    tail = "".join(f"\n[attachment: {name}{shown.get(name, received)}]" for name in message.attachments)
    return f"{head}{message.text}{tail}"
