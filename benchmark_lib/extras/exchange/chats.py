"""Conversations as the chat messages that a model's endpoint sees, with tool calls: what fine-tuning formats are made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ...cases.operator_rules import prompt_with, rules_played
from ...cases.played import cases_played, store_played
from ...cases.variants import prompt_of
from ...conversation.model_agent import as_letter
from ...experiment.manifest import hashed
from ...records import NOT_SCORED, Conversation, Message, ToolCall, as_text
from ...runfile import RunFile
from ...store import Store


@dataclass(frozen=True)
class Chat:
    """A conversation with what its agent was told.

    `prompt` is None where the case set or the prompt that was played is not on this machine, `sender` whom the first
    message comes from, `score` the latest one, empty where there is none.
    """

    record: Conversation
    prompt: str | None
    sender: str
    score: dict[str, Any]

    def steps(self) -> Iterator[Message | ToolCall]:
        """Messages and the agent's tool calls in order; the calls of a turn come before the message that closes it."""
        waiting = [c for c in self.record.tool_calls if c.side == "agent"]
        for message in self.record.messages:
            while message.side == "agent" and waiting and waiting[0].turn <= message.turn:
                yield waiting.pop(0)
            yield message
        yield from waiting

    def words(self, message: Message) -> str:
        """A message as the agent read or wrote it."""
        return as_letter(message, self.sender) if message.side == "customer" else message.text


def chats_of(run: RunFile) -> Iterator[Chat]:
    """Every conversation of a run, in the order in which they finished."""
    manifest = run.manifest
    store = store_played(manifest)
    cases, scores, prompt = cases_played(manifest, store), run.scores(), _prompt_played(manifest, store)
    rules = rules_played(manifest)
    for case_id, _, digest, raw in run.conversations():
        case, told = cases.get(case_id), None
        if case is not None and store is not None and prompt is not None:
            told = prompt_with(prompt_of(case, store, prompt), rules)
        sender = f"{case.sender_name} <{case.sender}>" if case is not None else "customer"
        score = {name: value for name, value in scores.get(digest, {}).items() if name != "version"}
        yield Chat(Conversation.from_json(raw), told, sender, score)


def _prompt_played(manifest: dict[str, Any], store: Store | None) -> str | None:
    """The agent's prompt of a run; None where the store's is another one today, or was not the one that was played."""
    prompt = store.prompt()[0] if store is not None else None
    return prompt if hashed(prompt) == manifest["inputs"].get("prompt", {}).get("hash") else None


def key_of(call: ToolCall) -> str:
    """The id by which a call and its result find each other."""
    return f"call_{call.index}"


def chat_messages(chat: Chat) -> list[dict[str, Any]]:
    """A conversation as messages of the chat-completions protocol.

    Each tool call stands in an assistant message of its own, before its result: the record keeps the order of calls,
    not which of them came in one answer of the model.
    """
    found: list[dict[str, Any]] = [{"role": "system", "content": chat.prompt}] if chat.prompt else []
    for step in chat.steps():
        if isinstance(step, Message):
            found.append({"role": "user" if step.side == "customer" else "assistant", "content": chat.words(step)})
            continue
        words = step.arguments if isinstance(step.arguments, str) else as_text(step.arguments)
        made = {"id": key_of(step), "type": "function", "function": {"name": step.name, "arguments": words}}
        found.append({"role": "assistant", "content": None, "tool_calls": [made]})
        found.append({"role": "tool", "tool_call_id": key_of(step), "content": as_text(step.result)})
    return found


def write_chats(run: RunFile, path: Path) -> None:
    """Write a run as JSON lines of chats: ``messages``, ``tools``, and ``metadata`` with case, trial, model and score.

    Trials that an infrastructure fault ended are left out. The tools are those of the store, and the user's own as the
    run file keeps them.
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
