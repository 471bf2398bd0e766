"""Conversion of flat lists of chat messages into a record's messages and calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ...records import NOT_SCORED, Act, Conversation, Fault, Message, Reasoning, ToolCall, Usage, add_reasoning

TOKENS = {"###STOP###": "resolved_by_customer", "###TRANSFER###": "handed_over", "###OUT-OF-SCOPE###": "customer_fault"}
"""Tokens with which the simulated customer ends a conversation, and the endings that they stand for."""
TRANSFER = "transfer_to_human"


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
    rows: list[tuple[Conversation, dict[str, Any]]]
    sources: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class FlatChat:
    """Builder of one conversation from its flat list of chat messages."""

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
        """Add the model's reasoning before its next call or reply."""
        add_reasoning(self.reasoning, self.turn, len(self.calls), text)

    def call(self, key: str, name: Any, arguments: Any, side: str = "agent") -> None:
        """Add a call whose result comes later; arguments other than a JSON object remain text."""
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
        """Set the result of the call with this id, or of the oldest call without a result."""
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
        """Return the record; `speakers` are the agent's model and the customer's name."""
        model, customer = speakers
        made = Conversation(case_id, trial, model, "imported", customer, self.messages, self.calls)
        made.ended_by, made.usage, made.faults, made.reasoning = ended_by, usage or {}, faults, self.reasoning
        return made

    @property
    def waits(self) -> bool:
        """Return True if a call has no result yet."""
        return bool(self._open)

    @property
    def transferred(self) -> bool:
        """Return True if the agent handed over to a human."""
        return any(TRANSFER in c.name and c.side == "agent" and not c.error for c in self.calls)


def score_read(c: Conversation, talk: FlatChat, domain: str, reward: Any, basis: str) -> dict[str, Any]:
    """Return the score of an imported conversation: its reward, and counts."""
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
        "handed_over": talk.transferred if scored else None,
        "turns": talk.turn,
        "agent_messages": len(replies),
        "agent_words": sum(len(m.text.split()) for m in replies),
        "empty_replies": sum(not m.text.strip() for m in replies),
        "tool_calls": len(calls),
        "failed_calls": sum(t.error is not None for t in calls),
        "customer_faults": sum(f.side == "customer" for f in c.faults),
    }
