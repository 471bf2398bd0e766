"""Conversations as chat messages with tool calls, as for an endpoint or for fine-tuning."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ...cases.hard import prompt_of
from ...cases.operator_rules import prompt_with, rules_played
from ...cases.played import cases_played, store_played
from ...conversation.model_agent import as_letter
from ...experiment.manifest import hashed
from ...records import NOT_SCORED, Conversation, Message, ToolCall, as_text
from ...runfile import RunFile
from ...store import Store


@dataclass(frozen=True)
class Chat:
    """A conversation with its agent's prompt.

    `prompt` is None if the played case set or prompt is not on this machine. `sender` is the author of the first
    message, `score` the latest score, which may be empty.
    """

    record: Conversation
    prompt: str | None
    sender: str
    score: dict[str, Any]

    def steps(self) -> Iterator[Message | ToolCall]:
        """Yield messages and the agent's tool calls in order; calls of a turn precede its message."""
        waiting = [c for c in self.record.tool_calls if c.side == "agent"]
        for message in self.record.messages:
            while message.side == "agent" and waiting and waiting[0].turn <= message.turn:
                yield waiting.pop(0)
            yield message
        yield from waiting

    def words(self, message: Message) -> str:
        """Return a message in the form that the agent received or wrote."""
        return as_letter(message, self.sender) if message.side == "customer" else message.text


def chats_of(run: RunFile) -> Iterator[Chat]:
    """Yield every conversation of a run, in the order of completion."""
    manifest = run.manifest
    store = store_played(manifest)
    cases, scores, prompt = cases_played(manifest, store), run.scores(), _prompt_played(manifest, store)
    rules = rules_played(manifest)
    for case_id, _, digest, raw in run.conversations():
        case, filled = cases.get(case_id), None
        if case is not None and store is not None and prompt is not None:
            filled = prompt_with(prompt_of(case, store, prompt), rules)
        sender = f"{case.sender_name} <{case.sender}>" if case is not None else "customer"
        score = {name: value for name, value in scores.get(digest, {}).items() if name != "version"}
        yield Chat(Conversation.from_json(raw), filled, sender, score)


def _prompt_played(manifest: dict[str, Any], store: Store | None) -> str | None:
    prompt = store.prompt()[0] if store is not None else None
    return prompt if hashed(prompt) == manifest["inputs"].get("prompt", {}).get("hash") else None


def key_of(call: ToolCall) -> str:
    """Return the id that links a call and its result."""
    return f"call_{call.index}"


def chat_messages(chat: Chat) -> list[dict[str, Any]]:
    """Return a conversation as messages of the chat-completions protocol.

    Each tool call has its own assistant message before its result: the record has only the order of calls, not their
    grouping into answers of the model.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": chat.prompt}] if chat.prompt else []
    for step in chat.steps():
        if isinstance(step, Message):
            messages.append({"role": "user" if step.side == "customer" else "assistant", "content": chat.words(step)})
            continue
        words = step.arguments if isinstance(step.arguments, str) else as_text(step.arguments)
        made = {"id": key_of(step), "type": "function", "function": {"name": step.name, "arguments": words}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [made]})
        messages.append({"role": "tool", "tool_call_id": key_of(step), "content": as_text(step.result)})
    return messages


def write_chats(run: RunFile, path: Path) -> None:
    """Write a run as JSON lines of chats: ``messages``, ``tools`` and ``metadata``.

    The metadata are case, trial, model and score. Trials that an infrastructure fault ended are omitted. The tools are
    the store's, with the user's own as recorded.
    """
    store = store_played(run.manifest)
    tools = store.schemas() if store is not None else []
    with path.open("wb") as file:
        for chat in chats_of(run):
            record = chat.record
            if record.ended_by in NOT_SCORED:
                continue
            about = {"case_id": record.case_id, "trial": record.trial, "model": record.model, "source": record.source}
            about |= {"ended_by": record.ended_by, "score": chat.score}
            line = {"messages": chat_messages(chat), "tools": tools, "metadata": about}
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
