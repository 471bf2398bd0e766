"""Conversations as chat messages with tool calls, written and read."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ...cases.hard import prompt_of
from ...cases.load import cases_played, store_played
from ...cases.operator_rules import prompt_with, rules_played
from ...conversation.model_agent import as_letter
from ...errors import BadInput
from ...experiment.manifest import hashed
from ...records import NOT_SCORED, Act, Conversation, Fault, Message, ToolCall, add_reasoning, as_text
from ...runfile import RunFile

Json = dict[str, Any]
"""An object in JSON."""
Row = tuple[Conversation, Json]
"""A record with its score."""


@dataclass(frozen=True)
class Chat:
    """A conversation with its agent's prompt.

    `prompt` is None if the played case set or prompt is not on this machine. `sender` is the author of the first
    message, `score` the latest score, which may be empty.
    """

    record: Conversation
    prompt: str | None
    sender: str
    score: Json

    def steps(self) -> Iterator[Message | ToolCall]:
        """Yield messages and the agent's tool calls; calls of a turn precede its message."""
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
    cases, scores = cases_played(manifest, store), run.scores()
    prompt = store.prompt()[0] if store is not None else None
    if hashed(prompt) != manifest["inputs"].get("prompt", {}).get("hash"):
        prompt = None
    rules = rules_played(manifest)
    for case_id, _, digest, raw in run.conversations():
        case, filled = cases.get(case_id), None
        if case is not None and store is not None and prompt is not None:
            filled = prompt_with(prompt_of(case, store, prompt), rules)
        sender = f"{case.sender_name} <{case.sender}>" if case is not None else "customer"
        score = {name: value for name, value in scores.get(digest, {}).items() if name != "version"}
        yield Chat(Conversation.from_json(raw), filled, sender, score)


def chat_messages(chat: Chat) -> list[Json]:
    """Return a conversation as messages of the chat-completions protocol.

    Each tool call has its own assistant message: the record has the order of calls, not their grouping into answers.
    """
    messages: list[Json] = [{"role": "system", "content": chat.prompt}] if chat.prompt else []
    for step in chat.steps():
        if isinstance(step, Message):
            messages.append({"role": "user" if step.side == "customer" else "assistant", "content": chat.words(step)})
            continue
        key = f"call_{step.index}"
        words = step.arguments if isinstance(step.arguments, str) else as_text(step.arguments)
        made = {"id": key, "type": "function", "function": {"name": step.name, "arguments": words}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [made]})
        messages.append({"role": "tool", "tool_call_id": key, "content": as_text(step.result)})
    return messages


def write_chats(run: RunFile, folder: Path) -> Path:
    """Write a run as JSON lines of chats; return the file's path.

    The tools are the store's, with the user's own as recorded. Trials that an infrastructure fault ended are omitted.
    """
    store = store_played(run.manifest)
    tools = store.schemas() if store is not None else []
    path = folder / f"{run.run_id}.chats.jsonl"
    with path.open("wb") as file:
        for chat in chats_of(run):
            record = chat.record
            if record.ended_by in NOT_SCORED:
                continue
            about = {
                "case_id": record.case_id,
                "trial": record.trial,
                "model": record.model,
                "source": record.source,
                "ended_by": record.ended_by,
                "score": chat.score,
            }
            line = {"messages": chat_messages(chat), "tools": tools, "metadata": about}
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return path


# --- Flat chats

TOKENS = {
    "###STOP###": "resolved_by_customer",
    "###TRANSFER###": "handed_over",
    "###OUT-OF-SCOPE###": "customer_fault",
}
"""Endings by the token with which the simulated customer leaves."""
TRANSFER = "transfer_to_human"


def json_of(data: bytes, where: Any, mend: str = "use the original file") -> Any:
    """Return the content of JSON; raise `BadInput` with advice for anything else."""
    try:
        # also on a line, since files may be joined
        return orjson.loads(data.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        raise BadInput(f"{where} is not JSON ({error}): {mend}") from None


def json_or_text(text: str) -> Any:
    """Return the content of JSON, and any other text unchanged."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


NAMED = 3
"""Maximum number of conversations that a note on omissions names."""


def named_few(names: Sequence[str]) -> str:
    """Return the first names of a list, and the number of further names."""
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more])


@dataclass
class Imported:
    """Contents of an imported file.

    `version` is benchmark and domain, in place of the store's version. `policy` is the agent's prompt, if given.
    `cases` has the text of each case, `trials` the planned trials per case, and `rows` records with their scores.
    `sources` are the same conversations in the file's format; `notes` describe what is not in `rows`.
    """

    model: str
    customer: str
    version: str
    policy: str
    cases: dict[str, Any]
    trials: int
    rows: list[Row]
    sources: list[Json] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not (isinstance(self.model, str) and isinstance(self.customer, str)):
            raise TypeError("the name of the model or customer is not text")


class FlatChat:
    """Builder of the `record` of one conversation from its flat list of chat messages."""

    def __init__(self, case_id: str, trial: int, model: str, customer: str) -> None:
        self.record = Conversation(case_id, trial, model, "imported", customer)
        self.turn = 0
        self.left: str | None = None
        self.waiting: dict[str, ToolCall] = {}

    def say(self, side: str, text: str | None) -> None:
        """Add a message; the customer's stop token becomes the act of leaving."""
        text = text or ""
        if side == "agent":
            self.record.messages.append(Message(self.turn, side, text))
            return
        token = next((t for t in TOKENS if t in text), None)
        words = text.replace(token, "").strip() if token else text
        self.left = token
        if words or not token:
            self.turn += 1
            acts = [Act("left", token)] if token else []
            self.record.messages.append(Message(self.turn, side, words, acts))

    def think(self, text: str) -> None:
        """Add the model's reasoning before its next call or reply."""
        add_reasoning(self.record.reasoning, self.turn, len(self.record.tool_calls), text)

    def call(self, key: str, name: Any, arguments: Any, side: str = "agent") -> None:
        """Add a call whose result comes later; arguments other than a JSON object remain text."""
        if isinstance(arguments, str):
            parsed = json_or_text(arguments)
            arguments = parsed if isinstance(parsed, dict) else arguments
        given = arguments if isinstance(arguments, dict | str) else {}
        made = ToolCall(self.turn, len(self.record.tool_calls), str(name), given, None, None, None, side)
        self.record.tool_calls.append(made)
        self.waiting[key] = made

    def result(self, key: Any, content: Any, failed: bool = False) -> None:
        """Set the result of the call with this id, or of the oldest call without a result."""
        if not self.waiting:
            return
        call = self.waiting.pop(str(key), None) or self.waiting.pop(next(iter(self.waiting)))
        text = "" if content is None else content
        if not isinstance(text, str):
            text = orjson.dumps(text).decode()
        call.result = json_or_text(text)
        if text.startswith("Unknown action "):
            call.error = "unknown_tool"
        elif failed or text.startswith("Error"):
            call.error = "not_found" if "not found" in text.lower() else "bad_arguments"

    def end_by_token(self) -> None:
        """Set the ending for which the customer's stop token stands."""
        self.record.ended_by = TOKENS[self.left or ""]
        if self.record.ended_by == "customer_fault":
            words = "the customer's instructions did not cover what it was asked"
            self.record.faults.append(Fault("customer", "out_of_scope", words))

    @property
    def transferred(self) -> bool:
        """Return True if the agent handed over to a human."""
        return any(TRANSFER in c.name and c.side == "agent" and not c.error for c in self.record.tool_calls)

    def score(self, domain: str, reward: Any, basis: str) -> Json:
        """Return the score of the finished record: its reward, and counts."""
        c = self.record
        if reward is not None and not isinstance(reward, int | float):
            raise TypeError(f"a reward is {reward!r}")
        value = float("nan") if reward is None else float(reward)
        scored = value == value and c.ended_by not in NOT_SCORED
        replies = [m for m in c.replies() if m.turn > 0]  # without the fixed greeting of turn 0
        calls = [t for t in c.tool_calls if t.side == "agent"]
        return {
            "bucket": domain,
            "scored": scored,
            "success": abs(value - 1) <= 1e-6 if scored else None,
            "reward": value if scored else None,
            "reward_basis": basis,
            "handed_over": self.transferred if scored else None,
            "turns": self.turn,
            "agent_messages": len(replies),
            "agent_words": sum(len(m.text.split()) for m in replies),
            "empty_replies": sum(not m.text.strip() for m in replies),
            "tool_calls": len(calls),
            "failed_calls": sum(t.error is not None for t in calls),
            "customer_faults": sum(f.side == "customer" for f in c.faults),
        }
