"""Flat lists of chat messages, as other harnesses keep them, -> the messages and calls of a record."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ...records import NOT_SCORED, Act, Conversation, Fault, Message, Reasoning, ToolCall, Usage, add_reasoning

TOKENS = {"###STOP###": "resolved_by_customer", "###TRANSFER###": "handed_over", "###OUT-OF-SCOPE###": "customer_fault"}
"""What the simulated customer ends a talk with, and the ending that is."""
TRANSFER = "transfer_to_human"


NAMED = 3
"""Conversations that a note on what was left out names."""


def named_few(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more])


@dataclass
class Imported:
    """What a file holds.

    `version` is benchmark and domain, in the place of the store's, `policy` the agent's prompt as far as the file has
    it, `cases` the text of each, `trials` how many are planned for each, and `rows` are records with their scores.
    `sources` are the same conversations as the file has them, and `notes` say what of the file is not in `rows`.
    """

    model: str
    customer: str
    version: str
    policy: str
    cases: dict[str, Any]
    trials: int
    rows: list[tuple[Conversation, dict[str, Any]]]
    sources: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class FlatChat:
    """Messages and calls of one conversation while its flat list of chat messages is read."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.calls: list[ToolCall] = []
        self.reasoning: list[Reasoning] = []
        self.turn = 0
        self.left: str | None = None
        self._open: dict[str, ToolCall] = {}

    def say(self, side: str, text: str | None) -> None:
        """Add a message; the customer's stop token becomes the act of leaving."""
        text = text or ""
        if side == "agent":
            self.messages.append(Message(self.turn, side, text))
            return
        token = next((t for t in TOKENS if t in text), None)
        words = text.replace(token, "").strip() if token else text
        self.left = token
        if words or not token:
            self.turn += 1
            self.messages.append(Message(self.turn, side, words, [Act("left", token)] if token else []))

    def think(self, text: str) -> None:
        """Add what the agent's model thought before its next call or reply."""
        add_reasoning(self.reasoning, self.turn, len(self.calls), text)

    def call(self, key: str, name: Any, arguments: Any, side: str = "agent") -> None:
        """Add a call whose result is still to come; arguments that are no JSON object stay as text."""
        if isinstance(arguments, str):
            try:
                parsed = orjson.loads(arguments)
            except orjson.JSONDecodeError:
                parsed = None
            arguments = parsed if isinstance(parsed, dict) else arguments
        given = arguments if isinstance(arguments, dict | str) else {}
        made = ToolCall(self.turn, len(self.calls), str(name), given, None, None, None, side)
        self.calls.append(made)
        self._open[key] = made

    def result(self, key: Any, content: Any, failed: bool = False) -> None:
        """Give a call its result: the one with this id, or the oldest that waits."""
        waiting = self._open.pop(str(key), None) or (self._open.pop(next(iter(self._open))) if self._open else None)
        if waiting is None:
            return
        text = content if isinstance(content, str) else "" if content is None else orjson.dumps(content).decode()
        try:
            waiting.result = orjson.loads(text)
        except orjson.JSONDecodeError:
            waiting.result = text
        if text.startswith("Unknown action "):
            waiting.error = "unknown_tool"
        elif failed or text.startswith("Error"):
            waiting.error = "not_found" if "not found" in text.lower() else "bad_arguments"

    def record(
        self,
        case_id: str,
        trial: int,
        speakers: tuple[str, str],
        ended_by: str,
        faults: list[Fault],
        usage: dict[str, Usage] | None = None,
    ) -> Conversation:
        """The record of what was read; `speakers` are the model of the agent and who the customer was."""
        model, customer = speakers
        found = Conversation(case_id, trial, model, "imported", customer, self.messages, self.calls)
        found.ended_by, found.usage, found.faults, found.reasoning = ended_by, usage or {}, faults, self.reasoning
        return found

    @property
    def waits(self) -> bool:
        """Whether a call has no result yet."""
        return bool(self._open)

    @property
    def transferred(self) -> bool:
        """Whether the agent handed over to a human."""
        return any(TRANSFER in c.name and c.side == "agent" and not c.error for c in self.calls)


def score_read(c: Conversation, talk: FlatChat, domain: str, reward: Any, basis: str) -> dict[str, Any]:
    """What is known of an imported conversation: its reward, and what can be counted."""
    if reward is not None and not isinstance(reward, int | float):
        raise TypeError(f"a reward is {reward!r}")
    value = float("nan") if reward is None else float(reward)
    scored = value == value and c.ended_by not in NOT_SCORED
    replies = [m for m in c.replies() if m.turn > 0]  # before the first message of the customer stands a fixed greeting
    calls = [t for t in c.tool_calls if t.side == "agent"]
    return {
        "bucket": domain,
        "scored": scored,
        "success": abs(value - 1) <= 1e-6 if scored else None,
        "reward": value if scored else None,
        "reward_basis": basis,
        "handed_over": talk.transferred if scored else None,
        "turns": talk.turn,
        "agent_messages": len(replies),
        "agent_words": sum(len(m.text.split()) for m in replies),
        "empty_replies": sum(not m.text.strip() for m in replies),
        "tool_calls": len(calls),
        "failed_calls": sum(t.error is not None for t in calls),
        "customer_faults": sum(f.side == "customer" for f in c.faults),
    }
