"""What is kept of a talk: the `Conversation`. Everything after the talk is a function of this record."""

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
"""What a case of each is called."""
"""The kinds of case, by what is right: to resolve it, to hand it over, or not to give in."""

ENDINGS = {
    "resolved_by_customer": "the customer was content and left",
    "closed_by_agent": "the agent closed the ticket",
    "handed_over": "the agent handed the conversation over to a human",
    "customer_gave_up": "the customer gave up and left unserved",
    "turn_limit": "the last allowed customer message was answered and the conversation was still open",
    "agent_fault": (
        "the agent failed: empty replies, too many calls in a turn, a reply cut by length, a full context, "
        "changes without a call"
    ),
    "content_filter": "the provider's filter stopped the reply",
    "customer_fault": "the simulated customer failed",
    "infrastructure_fault": "network or provider failed; never for or against a model",
    "lasting_fault": "the provider failed or refused it in several sessions; never for or against a model, and not tried again",
}
"""How a talk can end, each with its meaning."""

OWN = "own agent"
"""The source of what an agent of the user's own said: not a language model, whatever it asks."""
SOURCES = ("model", OWN, "scripted", "synthetic", "imported", "published")
"""Where a conversation can come from; any other word says who sat in a chair of it, such as ``human`` or
``human:anna``."""

ADDED_SINCE = frozenset({"staged", "reasoning", "rating"})
"""Fields that the first records did not have: left out where they are empty, so that a record keeps its hash."""

TRIED_AGAIN = frozenset({"infrastructure_fault"})
"""Endings of trials that the same command plays once more."""
LASTING = "lasting_fault"
NOT_SCORED = TRIED_AGAIN | {LASTING}
"""Endings of trials that never enter a rate."""

CALL_IN_TEXT = "call_in_text"
"""The kind of a fault of an agent that wrote a tool call into its reply, where nobody carries it out."""
TAMPERED = "tampered"
"""The kind of an agent's fault where its desk holds what its recorded calls do not account for.

Such a trial is never a success.
"""
SCORE_FAULT = "score_fault"
"""The key of a stored score that says why scoring failed; such a trial enters no rate."""
LOCAL_MODEL = "smollm2-135m-instruct"
"""The name of the small model that an extra brings; its runs have a panel of their own."""
UNPROTECTED = "unprotected"
"""What a run is called whose isolated agent this system could not keep from the run file and the cases."""
NO_SCORE = "no score on file: run `deskbench score`"
"""Why a conversation that was never scored enters no rate."""


def is_played(source: str) -> bool:
    """Whether a person, or a program in a person's place, sat in a chair of a conversation from this source."""
    return source not in SOURCES


def source_of(manifest: dict[str, Any], source: str | None = None) -> str:
    """The source of a run, or of one of its records, as it is shown.

    In files from before own agents had a source of their own it is read from the manifest.
    """
    source = manifest["source"] if source is None else source
    own = (manifest["inputs"].get("agent") or {}).get("value") is not None
    return OWN if own and source == "model" else source


@dataclass(slots=True)
class Act:
    """Something the customer did beside its words.

    Attributes
    ----------
    kind : str
        ``gave``, ``lacked``, ``agreed``, ``refused``, ``asked`` (a question of its own, such as one before a yes),
        ``attached``, ``followed_up``, ``pushed``, ``waited`` (asked for an open answer) or ``left``;
        ``moved``: a row of the store had changed by itself when the message came.
    what : str
        The fact, call, line number or attachment it is about.
    detail : str, optional
        The value given, or why the customer left.
    arguments : dict of str to Any
        Of an ``agreed`` or ``refused`` act: what of the call was named, as far as it was.
    inferred : bool
        True where the act was read from the text of a model customer and not recorded by it.
    """

    kind: str
    what: str
    detail: str | None = None
    inferred: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Message:
    """One message.

    `turn` is the number of the customer message it is or answers (the first email is 1); `shows` says in a line what
    each of the `attachments` shows, as far as it is known.
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
        The customer message being answered, and the place of the call among all calls of the conversation.
    name : str
        The tool's name as it was called.
    arguments : dict or str
        The arguments; the raw text where they were not a JSON object.
    result : dict
        What the tool returned; ``{"error": sentence}`` for a malformed call.
    error : str or None
        ``unknown_tool``, ``bad_json``, ``bad_arguments``, ``not_found``, ``talk_over``, ``tool_fault`` (a tool of the
        user's own failed), or of trouble that a hard case staged ``timeout``, ``rate_limit`` or ``not_carried_out``;
        None for a call that was carried out.
    write : bool
        True for a tool that changes the desk; None where an imported file does not say it.
    side : str
        Who called it: ``agent`` or ``customer``.
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
        """The arguments by name; empty where they were no JSON object."""
        return self.arguments if isinstance(self.arguments, dict) else {}


@dataclass(slots=True)
class Usage:
    """Tokens of one side of a conversation; `missing` counts the calls for which the endpoint reported none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 0
    missing: int = 0

    def add(self, other: Usage) -> None:
        """Add the counts of `other` to this one."""
        for name in ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "calls", "missing"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


LONGEST_REASONING, ROOM_FOR_REASONING = 20_000, 400_000
"""Characters of reasoning that stay in the record, of one piece and of a conversation.

The whole of it stays with the model call it came with.
"""


@dataclass(slots=True)
class Reasoning:
    """What the agent's model thought aloud before a tool call or a reply, where its endpoint gives that.

    Attributes
    ----------
    turn : int
        The customer message being answered.
    after : int
        How many tool calls the conversation held when it was thought.
    text : str
        The reasoning, cut at `LONGEST_REASONING`. The customer never sees it, and no score but the two that are about
        it reads it.
    """

    turn: int
    after: int
    text: str


def add_reasoning(found: list[Reasoning], turn: int, after: int, text: str) -> None:
    """Add what was thought to the reasoning of a record, as far as there is room; blank text is none."""
    room = min(LONGEST_REASONING, ROOM_FOR_REASONING - sum(len(r.text) for r in found))
    if text.strip() and room > 0:
        found.append(Reasoning(turn, after, text[:room]))


@dataclass(slots=True)
class Fault:
    """Something that went wrong and whose it was: `side` is agent, customer, tool, judge or infrastructure."""

    side: str
    kind: str
    detail: str = ""


@dataclass(slots=True)
class Conversation:
    """The record of one case, one trial.

    Attributes
    ----------
    case_id, trial : str, int
        The case and the number of the trial, from 1.
    model : str
        Name of the agent's model, or ``scripted:<name>``.
    source : str
        One of `SOURCES`, or who played it in `deskbench sit`.
    customer : str
        ``scripted`` or the name of the customer's model.
    messages, tool_calls : list
        In the order in which they happened.
    changes : list of dict
        Field-by-field difference the talk left on the desk: table, id, field, old, new.
    ended_by : str
        A key of `ENDINGS`.
    usage : dict of str to Usage
        Tokens by side (agent, customer).
    faults : list of Fault
        Faults seen on the way, also those that were mended.
    staged : dict of str to str
        What a hard case had staged for a tool call, by its index: ``planted`` text in its result, or the kind of
        trouble it met. Of such a call `result` is what the agent was shown, and `error` what really happened.
    reasoning : list of Reasoning
        What the agent's model thought aloud, in order; empty where its endpoint gives none.
    rating : int or None
        From 1 to 5, how content a model customer says it is in its last message.
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

    def to_json(self) -> bytes:
        """The record as canonical JSON (sorted keys), the same bytes for the same record."""
        told = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        content = {name: value for name, value in told.items() if value or name not in ADDED_SINCE}
        return orjson.dumps(content, option=orjson.OPT_SORT_KEYS)

    @classmethod
    def from_json(cls, data: bytes | str) -> Conversation:
        """Read a record back from `to_json`.

        Raises
        ------
        BadInput
            If a part is missing, or one is there that this version does not know.
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
                f"a record is not one that this version can read ({error}): use the version of Deskbench that wrote it"
            ) from None

    def acts(self, kind: str | None = None) -> list[tuple[int, Act]]:
        """The customer's acts with the number of the message they stand in, in order."""
        return [(m.turn, a) for m in self.messages for a in m.acts if kind is None or a.kind == kind]

    def replies(self) -> list[Message]:
        """The agent's messages."""
        return [m for m in self.messages if m.side == "agent"]

    def thoughts(self) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """The reasoning that came before each of the agent's calls, by the call's index, and before the reply of each turn."""
        indexes: dict[int, list[int]] = {}
        for call in self.tool_calls:
            if call.side == "agent":
                indexes.setdefault(call.turn, []).append(call.index)
        calls: dict[int, list[str]] = {}
        replies: dict[int, list[str]] = {}
        for thought in self.reasoning:
            after = indexes.get(thought.turn, [])
            place = bisect_left(after, thought.after)
            came_with = (calls, after[place]) if place < len(after) else (replies, thought.turn)
            came_with[0].setdefault(came_with[1], []).append(thought.text)
        return calls, replies


def content_hash(data: bytes) -> str:
    """SHA-256 of `data` in hexadecimal, first 16 characters: enough to tell versions apart."""
    return hashlib.sha256(data).hexdigest()[:16]


def as_dict(record: Any) -> dict[str, Any]:
    """A dataclass of this module as plain data."""
    return dataclasses.asdict(record)


def as_text(value: Any, sort_keys: bool = False) -> str:
    """Arguments or results as JSON.

    What no JSON can hold (a number of thousands of digits, endless nesting) as the words it is made of.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None).decode()
    except TypeError:
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (TypeError, ValueError, RecursionError):
        return " ".join(filter(None, map(word, words_in(value))))


def words_in(value: Any) -> list[Any]:
    """The keys and leaves of a value, however deep.

    No call of its own, since a value may be deeper than Python calls.
    """
    found, waiting = [], [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [x for pair in reversed(value.items()) for x in reversed(pair)]
        elif isinstance(value, list | tuple):
            waiting += reversed(value)
        else:
            found.append(value)
    return found


def word(value: Any) -> str:
    """Return a key or leaf as text, empty for a number with more digits than Python writes."""
    try:
        return value if isinstance(value, str) else json.dumps(value, default=str)
    except ValueError:
        return ""
