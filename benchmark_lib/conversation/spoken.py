"""An agent that repeats a record."""

from typing import Any

import orjson

from ..endpoint.reply import RequestedCall
from ..records import Conversation
from .agent_view import AgentView
from .model_agent import letter


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
