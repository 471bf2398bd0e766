"""The loop: a customer and an agent talk about one case, once; the result is the record."""

from __future__ import annotations

import traceback
import zlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..agent_talk import AgentTalk, SeenMessage, counted, plain, plain_text
from ..cases import Case
from ..errors import BadInput
from ..records import TAMPERED, Act, Conversation, Fault, Message, ToolCall, Usage, content_hash
from .own_code import OwnCodeLeft, reply_of

if TYPE_CHECKING:
    from ..store import Desk, Store, Tool

CALLS_PER_TURN = 20
EMPTY_REPLIES = 2
LONGEST_DETAIL = 2000
"""Characters of an error's text that are kept in the record."""


class Speaker(Protocol):
    """Anything that can take part in a talk; a plain ``def`` will do as well as an ``async def``."""

    async def reply(self, talk: Any) -> "str | Reply":
        """The next message of this side: of a customer, which is given the `Talk`, or of an agent, which is given an `AgentTalk`."""


class BuiltIn:
    """An agent that comes with the benchmark. Only when one of these says that the provider failed is it believed."""

    async def close(self) -> None:
        """Let go of what the conversation held."""


class Insider(BuiltIn):
    """A built-in agent that marks a floor or the ceiling: it is made with the case in hand, and the loop tells it the customer's acts."""

    def __init__(self) -> None:
        self.acts: list[Act] = []


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
    """The conversation as the harness and the customer see it.

    Attributes
    ----------
    messages : list of Message
        What was said so far, with the customer's acts.
    desk : Desk
        Where the agent's calls are carried out.
    faults : list of Fault
        What went wrong so far.
    usage : dict of str to Usage
        Tokens by side.
    """

    def __init__(self, case: Case, desk: "Desk", *, trial: int, seed: int, prompt: str, tools: list[dict[str, Any]]):
        self.messages: list[Message] = []
        self.faults: list[Fault] = desk.faults
        self.usage: dict[str, Usage] = {}
        self.desk, self.ended = desk, False
        name = content_hash(f"{seed} {case.id} {trial}".encode())
        entropy = [seed, zlib.crc32(case.id.encode()), trial]
        self._seen: list[SeenMessage] = []
        self._given = {
            "id": name, "trial": trial, "sender": f"{case.sender_name} <{case.sender}>", "prompt": prompt,
            "tools": cache(lambda: plain(tools)), "rng": cache(lambda: _generator(entropy, name)),
            "call": lambda tool, arguments: self._call(tool, arguments), "charge": lambda usage: self.charge("agent", counted(usage)),
            "slow": frozenset(name for name, tool in desk.tools.items() if tool.limit_s is not None),
        }  # fmt: skip

    def for_agent(self) -> AgentTalk:
        """What the agent is given in place of this. Each reply gets its own: what an agent made of the last one is never touched again."""
        return AgentTalk(**self._given, turn=self.turn, messages=list(self._seen))

    @property
    def turn(self) -> int:
        """The number of the customer message that is being answered."""
        return self.desk.turn

    def _call(self, name: Any, arguments: Any) -> ToolCall:
        """One call of the agent; what it gets to see of it is a copy."""
        if self.ended:
            raise AgentFault("late_call", "a tool was called after the conversation had ended")
        if sum(c.turn == self.turn for c in reversed(self.desk.calls)) >= CALLS_PER_TURN:
            raise AgentFault("too_many_calls", f"more than {CALLS_PER_TURN} tool calls in one turn")
        call = self.desk.call(plain_text(name), plain(arguments))
        return replace(call, arguments=plain(call.arguments), result=plain(call.result))

    def say(self, message: Message) -> None:
        """Add a message to the record, and to what the agent sees."""
        self.messages.append(message)
        self._seen.append(SeenMessage(message.turn, message.side, message.text, tuple(message.attachments)))

    def charge(self, side: str, usage: Usage) -> None:
        """Add the tokens of one model call to a side's account."""
        self.usage.setdefault(side, Usage()).add(usage)

    def last(self, side: str) -> Message | None:
        """The newest message of a side."""
        return next((m for m in reversed(self.messages) if m.side == side), None)


def _generator(entropy: list[int], name: str) -> np.random.Generator:
    """The random numbers of `entropy`, which holds the case; the generator itself shows, and spawns from, the conversation's name."""
    shown = np.random.PCG64(int(name, 16))
    shown.state = np.random.PCG64(entropy).state
    return np.random.Generator(shown)


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
    own: bool = False,
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
    own : bool
        True for an agent of the user's own, even one that derives from a built-in one; whatever is not a `BuiltIn` is one in any case.

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
    built_in = issubclass(type(agent), BuiltIn)
    own = own or not built_in
    try:
        record.ended_by = await _loop(talk, case, agent, customer, max_messages, own)
    except Exception as error:
        record.ended_by = _ending_of(error, talk)
    finally:
        talk.ended = True
        if built_in:
            await agent.close()
    record.changes = desk.changes()
    if not desk.explained():
        talk.faults.append(Fault("agent", TAMPERED, "the recorded calls, made once more on a fresh desk, do not lead to what this desk holds"))
        record.ended_by = "agent_fault"
    return record


async def _loop(talk: Talk, case: Case, agent: Speaker, customer: Speaker, max_messages: int, own: bool) -> str:
    empty = 0
    for turn in range(1, max_messages + 1):
        talk.desk.turn = turn
        said = await _said(customer, talk)
        held = {k.attach for k in case.ledger.values() if k.attach and k.when != "never"}
        attachments = [a for a in said.attachments if a in held]
        acts = said.acts + [Act("attached", a) for a in attachments]
        talk.say(Message(turn, "customer", said.text, acts, attachments))
        left = next((a for a in said.acts if a.kind == "left"), None)
        if left is not None:
            return "resolved_by_customer" if left.what == "content" else "customer_gave_up"
        if not own and isinstance(agent, Insider):
            agent.acts = [a for m in talk.messages for a in m.acts]
        answer = await _answer(agent, talk, own)
        talk.say(Message(turn, "agent", answer))
        if talk.desk.over:
            return "handed_over" if talk.desk.over == "handed_over" else "closed_by_agent"
        empty = 0 if answer.strip() else empty + 1
        if empty >= EMPTY_REPLIES:
            raise AgentFault("empty_replies", f"{EMPTY_REPLIES} empty replies in a row")
    return "turn_limit"


async def _said(customer: Speaker, talk: Talk) -> Reply:
    """The customer's words. A defect of the simulated customer is a fault of its own, kept with its place: it ends this conversation, not the run."""
    try:
        return await _reply(customer, talk)
    except Exception as error:
        if _of_this_package(error):
            raise
        at = traceback.extract_tb(error.__traceback__)[-1]
        raise CustomerFault(f"{type(error).__name__}: {plain_text(error)[:LONGEST_DETAIL]} ({Path(at.filename).name}:{at.lineno})") from error


async def _answer(agent: Speaker, talk: Talk, own: bool) -> str:
    """The agent's words. An exception by which the harness says that a trial does not count is a fault when a user's own agent raises it."""
    try:
        return plain_text((await _reply(agent, talk.for_agent())).text)
    except Exception as error:
        if not own or issubclass(type(error), AgentFault) or not _belongs_to_the_harness(error):
            raise
        raise AgentFault("raised", f"the agent raised {type(error).__name__}: {plain_text(error)}") from error


def _belongs_to_the_harness(error: Exception) -> bool:
    """Whether an exception is one of this package's own; those that tell a person to mend something stop the run as they are.

    Only the type is looked at, since what an agent raises may have attributes that raise in their turn.
    """
    from ..endpoint import EndpointError

    for_a_person = issubclass(type(error), BadInput | OwnCodeLeft) or (type(error) is EndpointError and error.fatal is True)
    return _of_this_package(error) and not for_a_person


def _of_this_package(error: Exception) -> bool:
    package = __name__.partition(".")[0]
    return any(c.__module__.partition(".")[0] == package for c in type(error).__mro__)


async def _reply(speaker: Speaker, talk: Talk | AgentTalk) -> Reply:
    answer = await reply_of(speaker, talk)
    return answer if isinstance(answer, Reply) else Reply(str(answer or ""))


def _ending_of(error: Exception, talk: Talk) -> str:
    """Whose fault an exception is; what is nobody's known fault is raised again."""
    from ..endpoint import EndpointError
    from ..endpoint.keys import scrub

    if isinstance(error, AgentFault):
        talk.faults.append(Fault("agent", plain_text(error.kind), scrub(plain_text(error))[:LONGEST_DETAIL]))
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
