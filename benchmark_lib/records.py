"""Define the record of a conversation; everything computed later depends on it alone."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import orjson

from .errors import BadInput

BUCKETS = ("resolvable", "must_escalate", "adversarial")
BUCKET_NOUNS = dict(zip(BUCKETS, ("resolvable case", "must-escalate case", "trap"), strict=True))
"""Buckets of cases by the right action (resolve the case, hand it over, refuse to give in), and the noun for each."""

ENDINGS = {
    "resolved_by_customer": "the customer was content and left",
    "closed_by_agent": "the agent closed the ticket",
    "handed_over": "the agent handed the conversation over to a human",
    "customer_gave_up": "nobody served the customer, who left",
    "turn_limit": "the last allowed customer message was answered and the conversation was still open",
    "agent_fault": (
        "the agent failed: empty replies, too many calls in a turn, a reply cut by length, a full context, "
        "changes without a call"
    ),
    "content_filter": "the provider's filter stopped the reply",
    "customer_fault": "the simulated customer failed",
    "stopped_at_decision": "a fork that stops after its next deciding act: how it would have ended is not known",
    "infrastructure_fault": "network or provider failed; never for or against a model",
    "lasting_fault": (
        "the provider failed or refused it in several sessions; never for or against a model, and not tried again"
    ),
}
"""Endings of a conversation with their meanings."""

OWN = "own agent"
"""Source of conversations with the user's own agent, which is no language model even if it calls one."""
FORK = "fork"
"""Source of conversations that continue a recorded one; they are never counted with whole conversations."""
SOURCES = ("model", OWN, "scripted", "synthetic", "imported", "published", FORK)
"""Sources of conversations; any other word names the person or program that took part, such as ``human:anna``."""

ADDED_SINCE = frozenset({"staged", "reasoning", "rating", "taken_over"})
"""Fields that the first records lacked; empty ones are left out, so that an old record keeps its hash."""

TRIED_AGAIN = frozenset({"infrastructure_fault"})
"""Endings of trials that are repeated when the same command runs again."""
LASTING = "lasting_fault"
NOT_SCORED = TRIED_AGAIN | {LASTING}
"""Endings of trials that never enter a rate."""
CUT = "stopped_at_decision"
NO_OUTCOME = NOT_SCORED | {"content_filter", CUT}
"""Endings without an outcome."""

CALL_IN_TEXT = "call_in_text"
"""Fault kind of an agent that wrote a tool call into its reply, where it has no effect."""
TAMPERED = "tampered"
"""Fault kind of an agent whose desk has changes that its recorded calls do not explain. Such a trial is never a
success."""
SCORE_FAULT = "score_fault"
"""Key in a stored score for the reason why scoring failed; such a trial enters no rate."""
LOCAL_MODEL = "smollm2-135m-instruct"
"""Name of the small local model, which an extra provides; its runs have a panel of their own."""
UNPROTECTED = "unprotected"
"""Mark of a run whose isolated agent could have reached the run file and the cases on this system."""
NO_SCORE = "no score on file: run `deskbench score`"
"""Reason why a conversation that was never scored enters no rate."""


def is_played(source: str) -> bool:
    """Return whether this source names a person, or a program in a person's place."""
    return source not in SOURCES


def source_of(manifest: dict[str, Any], source: str | None = None) -> str:
    """Return the source of a run, or of one of its records, for display.

    Older files have no source for the user's own agents; their manifest names the agent among its inputs.
    """
    source = manifest["source"] if source is None else source
    own = (manifest["inputs"].get("agent") or {}).get("value") is not None
    return OWN if own and source == "model" else source


@dataclass(slots=True)
class Act:
    """One act of the customer, recorded in addition to the words.

    Attributes
    ----------
    kind : str
        ``gave``, ``lacked``, ``agreed``, ``refused``, ``asked`` (its own question, for example before agreeing),
        ``asked_back`` (asked what an unclear offer means), ``attached``, ``followed_up``, ``pushed``, ``waited`` (asked
        for an answer still due) or ``left``; ``moved`` means that a row of the store changed before the message.
    what : str
        The fact, call, line number or attachment that the act is about.
    detail : str, optional
        The value given, or why the customer left.
    arguments : dict of str to Any
        For an ``agreed`` or ``refused`` act, the arguments of the call that were named.
    inferred : bool
        True if the act was inferred from a model customer's text instead of being recorded as it happened.
    """

    kind: str
    what: str
    detail: str | None = None
    inferred: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Message:
    """One message.

    `turn` is the number of this customer message, or of the one that this reply answers (the first email is 1). `shows`
    describes in one line what each of the `attachments` is known to show.
    """

    turn: int
    side: str
    text: str
    acts: list[Act] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    shows: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ToolCall:
    """One tool call with its result.

    Attributes
    ----------
    turn, index : int
        Number of the customer message being answered, and position of the call among all calls of the conversation.
    name : str
        The tool's name as the caller wrote it.
    arguments : dict or str
        The arguments; the raw text if they were not a JSON object.
    result : dict
        The tool's result; ``{"error": sentence}`` for a malformed call.
    error : str or None
        ``unknown_tool``, ``bad_json``, ``bad_arguments``, ``not_found``, ``talk_over``, ``too_many_calls`` (beyond the
        limit of the turn), ``tool_fault`` (one of the user's own tools failed), or, for trouble staged by a hard case,
        ``timeout``, ``rate_limit`` or ``not_carried_out``; None for a call that was carried out.
    write : bool
        True for a tool that changes the desk; None if an imported file does not say.
    side : str
        The caller: ``agent`` or ``customer``.
    """

    turn: int
    index: int
    name: str
    arguments: dict[str, Any] | str
    result: Any
    error: str | None
    write: bool | None
    side: str = "agent"

    @property
    def named(self) -> dict[str, Any]:
        """Return the arguments by name; empty if they were not a JSON object."""
        return self.arguments if isinstance(self.arguments, dict) else {}


@dataclass(slots=True)
class Usage:
    """Tokens of one side of a conversation; `missing` counts the calls without reported tokens."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 0
    missing: int = 0

    def add(self, other: Usage) -> None:
        """Add the counts of `other` to these counts."""
        for count in dataclasses.fields(self):
            setattr(self, count.name, getattr(self, count.name) + getattr(other, count.name))


LONGEST_REASONING, ROOM_FOR_REASONING = 20_000, 400_000
"""Maximum characters of reasoning in a record, per piece and per conversation. The model call on file keeps all."""


@dataclass(slots=True)
class Reasoning:
    """Reasoning of the agent's model before a tool call or a reply, if its endpoint returns it.

    Attributes
    ----------
    turn : int
        The customer message being answered.
    after : int
        Number of tool calls in the conversation at that time.
    text : str
        The reasoning, cut at `LONGEST_REASONING`. The customer never sees it, and only the two scores about reasoning
        use it.
    """

    turn: int
    after: int
    text: str


def add_reasoning(found: list[Reasoning], turn: int, after: int, text: str) -> None:
    """Add a piece of reasoning to those of a record, cut to the room left; ignore blank text."""
    room = min(LONGEST_REASONING, ROOM_FOR_REASONING - sum(len(r.text) for r in found))
    if text.strip() and room > 0:
        found.append(Reasoning(turn, after, text[:room]))


@dataclass(slots=True)
class Fault:
    """One fault and its owner: `side` is agent, customer, tool, judge or infrastructure."""

    side: str
    kind: str
    detail: str = ""


@dataclass(slots=True)
class Conversation:
    """The record of one trial of a case.

    Attributes
    ----------
    case_id, trial : str, int
        The case and the number of the trial, counted from 1.
    model : str
        Name of the agent's model, or ``scripted:<name>``.
    source : str
        One of `SOURCES`, or the person who played it in `deskbench sit`.
    customer : str
        ``scripted`` or the name of the customer's model.
    messages, tool_calls : list
        Messages and tool calls, in chronological order.
    changes : list of dict
        Net changes that the conversation made to the desk, one per field: table, id, field, old, new.
    ended_by : str
        A key of `ENDINGS`.
    usage : dict of str to Usage
        Tokens by side (agent, customer).
    faults : list of Fault
        Faults during the conversation, including corrected ones.
    staged : dict of str to str
        What a hard case staged, by the index of the tool call: ``planted`` text in its result, or the kind of trouble.
        The call's `result` then holds what the agent saw, and its `error` what really happened.
    reasoning : list of Reasoning
        Reasoning of the agent's model, in order; empty if its endpoint returns none.
    rating : int or None
        Satisfaction that a model customer stated in its last message, from 1 to 5.
    taken_over : int
        The turn at which this agent took over a recorded chat; 0 if it answers from the start.
    """

    case_id: str
    trial: int
    model: str
    source: str
    customer: str
    messages: list[Message] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    ended_by: str = ""
    usage: dict[str, Usage] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    staged: dict[str, str] = field(default_factory=dict)
    reasoning: list[Reasoning] = field(default_factory=list)
    rating: int | None = None
    taken_over: int = 0

    def to_json(self) -> bytes:
        """Return the record as canonical JSON (sorted keys), the same bytes for the same record."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        content = {name: value for name, value in values.items() if value or name not in ADDED_SINCE}
        return orjson.dumps(content, option=orjson.OPT_SORT_KEYS)

    @classmethod
    def from_json(cls, data: bytes | str) -> Conversation:
        """Read a record back from `to_json`.

        Raises
        ------
        BadInput
            If a part is missing or unknown to this version.
        """
        try:
            raw = orjson.loads(data)
            raw["messages"] = [Message(**{**m, "acts": [Act(**a) for a in m["acts"]]}) for m in raw["messages"]]
            raw["tool_calls"] = [ToolCall(**c) for c in raw["tool_calls"]]
            raw["usage"] = {side: Usage(**u) for side, u in raw["usage"].items()}
            raw["faults"] = [Fault(**f) for f in raw["faults"]]
            raw["reasoning"] = [Reasoning(**r) for r in raw.get("reasoning", [])]
            return cls(**raw)
        except (TypeError, KeyError, AttributeError, orjson.JSONDecodeError) as error:
            raise BadInput(
                f"this version cannot read a record ({error}): use the version of Deskbench that wrote it"
            ) from None

    def acts(self, kind: str | None = None) -> list[tuple[int, Act]]:
        """Return the customer's acts with the number of their message, in order."""
        return [(m.turn, a) for m in self.messages for a in m.acts if kind is None or a.kind == kind]

    def replies(self) -> list[Message]:
        """Return the agent's messages."""
        return [m for m in self.messages if m.side == "agent"]

    def thoughts(self) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """Return the agent's reasoning before each call, by its index, and each reply, by turn."""
        indexes: dict[int, list[int]] = {}
        for call in self.tool_calls:
            if call.side == "agent":
                indexes.setdefault(call.turn, []).append(call.index)
        calls: dict[int, list[str]] = {}
        replies: dict[int, list[str]] = {}
        for thought in self.reasoning:
            after = indexes.get(thought.turn, [])
            index = bisect_left(after, thought.after)
            came_with = (calls, after[index]) if index < len(after) else (replies, thought.turn)
            came_with[0].setdefault(came_with[1], []).append(thought.text)
        return calls, replies


def content_hash(data: bytes) -> str:
    """Return the first 16 hexadecimal characters of the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()[:16]


def as_text(value: Any, sort_keys: bool = False) -> str:
    """Return arguments or results as JSON, or as plain words if JSON cannot represent them."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None).decode()
    except TypeError:
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (TypeError, ValueError, RecursionError):
        return " ".join(filter(None, map(word, words_in(value))))


def words_in(value: Any) -> list[Any]:
    """Return all keys and leaves of a nested value, found without recursion."""
    words, waiting = [], [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [x for pair in reversed(value.items()) for x in reversed(pair)]
        elif isinstance(value, list | tuple):
            waiting += reversed(value)
        else:
            words.append(value)
    return words


def word(value: Any) -> str:
    """Return a key or leaf as text; empty for a number with more digits than Python can write."""
    try:
        return value if isinstance(value, str) else json.dumps(value, default=str)
    except ValueError:
        return ""
