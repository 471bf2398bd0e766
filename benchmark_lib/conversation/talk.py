"""The loop: a customer and an agent talk about one case, once; the result is the record."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..cases import Case
from ..records import Act, Conversation, Fault, Message, ToolCall, Usage
from .own_code import reply_of

if TYPE_CHECKING:
    from ..store import Desk, Store, Tool

CALLS_PER_TURN = 20
EMPTY_REPLIES = 2


class Speaker(Protocol):
    """Anything that can take part in a talk; a plain ``def`` will do as well as an ``async def``."""

    async def reply(self, talk: "Talk") -> "str | Reply":
        """The next message of this side."""


class Reply:
    """A message with the acts that go with it; `text` alone will do for an agent.

    Parameters
    ----------
    text : str
        The words.
    acts : list of Act, optional
        What the customer did with them.
    attachments : list of str, optional
        ``photo`` or ``label``; only what the ledger holds is passed on.
    """

    __slots__ = ("text", "acts", "attachments")

    def __init__(self, text: str, acts: list[Act] | None = None, attachments: list[str] | None = None):
        self.text, self.acts, self.attachments = text, acts or [], attachments or []


class AgentFault(Exception):
    """The model failed: `kind` says how. Ends the talk as ``agent_fault``."""

    def __init__(self, kind: str, detail: str = ""):
        super().__init__(detail or kind)
        self.kind = kind


class ContentFiltered(Exception):
    """The provider's filter stopped a reply."""


class CustomerFault(Exception):
    """The simulated customer failed; never scored as the model's failure."""


class Talk:
    """What a speaker sees of the conversation.

    Attributes
    ----------
    case_id, trial : str, int
        Which case and trial this is.
    sender : str
        The address the customer writes from.
    messages : list of Message
        What was said so far.
    prompt : str
        The agent's system prompt.
    tools : list of dict
        The tools as OpenAI function schemas.
    rng : numpy.random.Generator
        Seeded by seed, case and trial.
    """

    def __init__(self, case: Case, desk: "Desk", *, trial: int, seed: int, prompt: str, tools: list[dict[str, Any]]):
        self.case_id, self.trial = case.id, trial
        self.sender = f"{case.sender_name} <{case.sender}>"
        self.messages: list[Message] = []
        self.faults: list[Fault] = desk.faults
        self.usage: dict[str, Usage] = {}
        self.prompt, self.tools = prompt, tools
        self.desk = desk
        self._seed = [seed, zlib.crc32(case.id.encode()), trial]
        self._rng: np.random.Generator | None = None

    @property
    def rng(self) -> np.random.Generator:
        """The talk's own source of randomness."""
        if self._rng is None:
            self._rng = np.random.default_rng(self._seed)
        return self._rng

    @property
    def turn(self) -> int:
        """The number of the customer message that is being answered."""
        return self.desk.turn

    def call(self, name: str, arguments: dict[str, Any] | str | None = None, /, **named: Any) -> ToolCall:
        """Call a tool: ``talk.call("get_order", order_id="...")``; bad input comes back as ``.error`` and a result to read.

        Raises
        ------
        AgentFault
            After `CALLS_PER_TURN` calls in one turn.
        """
        if sum(c.turn == self.turn for c in reversed(self.desk.calls)) >= CALLS_PER_TURN:
            raise AgentFault("too_many_calls", f"more than {CALLS_PER_TURN} tool calls in one turn")
        return self.desk.call(name, named if arguments is None else arguments)

    def charge(self, side: str, usage: Usage) -> None:
        """Add the tokens of one model call to a side's account."""
        self.usage.setdefault(side, Usage()).add(usage)

    def last(self, side: str) -> Message | None:
        """The newest message of a side."""
        return next((m for m in reversed(self.messages) if m.side == side), None)


async def converse(
    case: Case,
    store: "Store",
    agent: Speaker,
    customer: Speaker,
    *,
    trial: int = 1,
    seed: int = 0,
    max_messages: int = 8,
    model: str = "",
    source: str = "model",
    customer_name: str = "scripted",
    prompt: str = "",
    tools: dict[str, "Tool"] | None = None,
    schemas: list[dict[str, Any]] | None = None,
) -> Conversation:
    """Let agent and customer talk about a case until it ends.

    Parameters
    ----------
    case, store : Case, Store
        What it is about.
    agent, customer : Speaker
        The two sides.
    trial, seed : int
        Seed the talk's random numbers together with the case id.
    max_messages : int
        How many messages the customer may send.
    model, source, customer_name : str
        Go into the record.
    prompt : str
        The agent's system prompt.
    tools : dict of str to Tool, optional
        The tools on the desk; the store's own by default.
    schemas : list of dict, optional
        The same as schemas, if they are at hand already.

    Returns
    -------
    Conversation

    Raises
    ------
    EndpointError
        Only a fatal one (key, quota, unknown model): the run cannot go on. Others end this talk as ``infrastructure_fault``.
    """
    desk = store.desk(tools)
    talk = Talk(case, desk, trial=trial, seed=seed, prompt=prompt, tools=schemas or store.schemas(tools))
    record = Conversation(case.id, trial, model, source, customer_name, messages=talk.messages, tool_calls=desk.calls,
                          usage=talk.usage, faults=talk.faults)  # fmt: skip
    try:
        record.ended_by = await _loop(talk, case, agent, customer, max_messages)
    except Exception as error:
        record.ended_by = _ending_of(error, talk)
    record.changes = desk.changes()
    return record


async def _loop(talk: Talk, case: Case, agent: Speaker, customer: Speaker, max_messages: int) -> str:
    empty = 0
    for turn in range(1, max_messages + 1):
        talk.desk.turn = turn
        said = await _reply(customer, talk)
        held = {k.attach for k in case.ledger.values() if k.attach and k.when != "never"}
        attachments = [a for a in said.attachments if a in held]
        acts = said.acts + [Act("attached", a) for a in attachments]
        talk.messages.append(Message(turn, "customer", said.text, acts, attachments))
        left = next((a for a in said.acts if a.kind == "left"), None)
        if left is not None:
            return "resolved_by_customer" if left.what == "content" else "customer_gave_up"
        answer = await _reply(agent, talk)
        talk.messages.append(Message(turn, "agent", answer.text))
        if talk.desk.over:
            return "handed_over" if talk.desk.over == "handed_over" else "closed_by_agent"
        empty = 0 if answer.text.strip() else empty + 1
        if empty >= EMPTY_REPLIES:
            raise AgentFault("empty_replies", f"{EMPTY_REPLIES} empty replies in a row")
    return "turn_limit"


async def _reply(speaker: Speaker, talk: Talk) -> Reply:
    answer = await reply_of(speaker, talk)
    return answer if isinstance(answer, Reply) else Reply(str(answer or ""))


def _ending_of(error: Exception, talk: Talk) -> str:
    """Whose fault an exception is; what is nobody's known fault is raised again."""
    from ..endpoint import EndpointError

    if isinstance(error, AgentFault):
        talk.faults.append(Fault("agent", error.kind, str(error)))
        return "agent_fault"
    if isinstance(error, ContentFiltered):
        talk.faults.append(Fault("agent", "content_filter", str(error)))
        return "content_filter"
    if isinstance(error, CustomerFault):
        talk.faults.append(Fault("customer", "failed", str(error)))
        return "customer_fault"
    if isinstance(error, EndpointError) and not error.fatal:
        overflow = error.kind == "context_overflow"
        talk.faults.append(Fault("agent" if overflow else "infrastructure", error.kind, str(error)))
        return "agent_fault" if overflow else "infrastructure_fault"
    raise error
