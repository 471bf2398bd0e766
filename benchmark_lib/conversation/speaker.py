"""Speakers in a conversation, and the state of the conversation that they share.

The user's plain functions run outside the event loop, and none of their exceptions can end the run unnoticed.
"""

from __future__ import annotations

import asyncio
import inspect
import weakref
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..cases import Case
from ..records import Act, Fault, Message, Reasoning, ToolCall, Usage, add_reasoning, content_hash
from ..store import Desk
from ..store.desk import CALLS_OF_HARD_CASES, CALLS_PER_TURN
from ..store.tools import CALL_LIMIT, shown_error
from ..threads import OneLoop, kept_thread, running_loop
from .agent_view import AgentView, HasMessages, SeenMessage, counted, plain, plain_text, without_keys

REPLY_S = 600.0
"""Default time limit for one reply, in seconds; a reply may take many model calls."""
PACKAGE = __name__.partition(".")[0]
_turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = weakref.WeakKeyDictionary()


class Speaker(Protocol):
    """A participant in a conversation; `reply` may be a plain ``def`` or an ``async def``."""

    def reply(self, talk: Any) -> str | Reply | Awaitable[str | Reply]:
        """Return the next message of this side.

        A customer gets the `ConversationState`, an agent an `AgentView`.
        """


class BuiltIn:
    """An agent from this package; only such an agent may report a fault of the provider."""

    async def close(self) -> None:
        """Release the resources of the conversation."""


class Insider(BuiltIn):
    """A built-in agent that knows the case, and gets the customer's acts from the loop."""

    def __init__(self) -> None:
        self.acts: list[Act] = []


class Reply:
    """A message with its acts; an agent needs only `text`.

    The `attachments` are ``photo`` or ``label``; the loop drops those that are not in the ledger.
    """

    __slots__ = ("text", "acts", "attachments")

    def __init__(self, text: str, acts: list[Act] | None = None, attachments: list[str] | None = None):
        self.text, self.acts, self.attachments = text, acts or [], attachments or []


class AgentFault(Exception):
    """The agent failed, as `kind` says; the conversation ends as ``agent_fault``."""

    def __init__(self, kind: str, detail: str = ""):
        super().__init__(detail or kind)
        self.kind = kind


RELAYS: set[type] = set()
"""Agents from an extra that run the user's own agent elsewhere; the faults that they report are trusted."""


class HarnessFault(Exception):
    """An isolated agent's process did not start; never scored as the agent's failure."""


class Cut(Exception):
    """The conversation stops on purpose: a fork has made its next deciding act."""


class ContentFiltered(Exception):
    """The provider's filter stopped a reply."""


class CustomerFault(Exception):
    """The simulated customer failed; never scored as the agent's failure."""


class OwnCodeLeft(Exception):
    """Raised if the user's own code ends a program or task, such as by ``SystemExit``."""


async def reply_of(speaker: Any, talk: Any, limit_s: float = REPLY_S) -> Any:
    """Return a speaker's reply: call our own speakers directly, the user's through `call_own`."""
    if not is_own(speaker.reply):
        answer = speaker.reply(talk)
        return await answer if inspect.isawaitable(answer) else answer
    answer = await call_own(speaker.reply, talk, limit_s=limit_s)
    if not isinstance(answer, str) and type(answer).__module__.partition(".")[0] != PACKAGE:
        answer = await call_own(lambda: str(answer or ""), limit_s=limit_s)
    return plain_text(answer) if isinstance(answer, str) else answer


async def call_own(function: Callable[..., Any], *arguments: Any, limit_s: float = REPLY_S) -> Any:
    """Call the user's own function in a reusable thread, or on its own loop if ``async def``.

    Call plain functions one at a time, so that they need not be thread-safe. No thread keeps the command from ending.
    Raise `AgentFault` if there is no answer in time. Raise `OwnCodeLeft` in place of
    ``SystemExit``, ``KeyboardInterrupt``, ``GeneratorExit``, and ``CancelledError`` unless the task was cancelled.
    """
    loop = running_loop()
    try:
        if loop is None or inspect.iscoroutinefunction(function):
            answer = function(*arguments)
        else:
            async with _turns.setdefault(loop, asyncio.Lock()):  # a call's time runs from its turn
                answer = await _in_time(limit_s, kept_thread("own code"), function, *arguments)
        if not inspect.isawaitable(answer):
            return answer
        return await (_in_time(limit_s, kept_thread("own loop", OneLoop), answer) if loop else answer)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _left(error) from error
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise _left(error) from error


async def _in_time(limit_s: float, thread: Any, *call: Any) -> Any:
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            return await thread.call(*call)
    except TimeoutError:
        if not limit.expired():
            raise
        raise AgentFault("no_answer", f"the agent gave no answer within {limit_s:g} s") from None


def _left(error: BaseException) -> OwnCodeLeft:
    from ..endpoint.keys import scrub

    return OwnCodeLeft(scrub(f"{type(error).__name__}{f'({error.args[0]!r})' if error.args else ''}"))


def is_own(thing: Any) -> bool:
    """Return whether a function or class is the user's own, not this package's."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] != PACKAGE


# --- State

CALLS_REFUSED = 6
"""Most replies with calls beyond a turn's limit; the next such reply ends the conversation."""
ASKED_BACK = 2
"""Most messages that ask back and do not count."""
BEYOND = (
    "Not carried out: {limit} tool calls are the most before one message. Answer the customer first, with what you "
    "have or with a question; after the next message of the customer you can call tools again."
)
"""Error text for a call beyond the limit."""
WARNED_AT = {CALLS_PER_TURN: 5, CALLS_OF_HARD_CASES: 10}
"""For each limit, the number of calls left at which a result warns the agent."""


class ConversationState(HasMessages[Message]):
    """The conversation as the harness and the customer see it, with the customer's acts."""

    def __init__(
        self, case: Case, desk: Desk, *, trial: int, seed: int, prompt: str, tools: list[dict[str, Any]], limit: int = 8
    ):
        self.messages: list[Message] = []
        self.faults: list[Fault] = desk.faults
        self.usage: dict[str, Usage] = {}
        self.reasoning: list[Reasoning] = []
        self.rating: int | None = None  # a model customer's rating of the desk in its last message, from 1 to 5
        self.desk, self.limit, self.ended = desk, limit, False
        self._calls_per_turn = case.terms.calls_per_turn
        self._name, self._trial, self._prompt = content_hash(f"{seed} {case.id} {trial}".encode()), trial, prompt
        self._sender = f"{case.sender_name} <{case.sender}>" if case.sender else ""
        self._tools, self._entropy = tools, [seed, zlib.crc32(case.id.encode()), trial]
        self._slow = frozenset(name for name, tool in desk.tools.items() if tool.limit_s is not None)
        self._seen: list[SeenMessage] = []
        self._beyond: dict[int, int] = {}

    def for_agent(self, own: bool = False) -> AgentView:
        """Return a new view for the agent; hide keys in everything that a user's `own` agent writes.

        Each reply gets its own view, and an agent's changes to the last view have no effect. Nothing here refers to the
        view, so a conversation is freed when it ends, without the garbage collector.
        """
        cleared: Callable[[Any], Any] = without_keys if own else lambda given: given
        return AgentView(
            id=self._name,
            trial=self._trial,
            sender=self._sender,
            prompt=self._prompt,
            turn=self.turn,
            messages=list(self._seen),
            _tools=lambda: self._tools,
            _rng=lambda: self._rng,
            _call=lambda name, given, together: self._call(cleared(name), cleared(given), together),
            _charge=lambda usage: self.charge("agent", counted(usage)),
            _think=lambda text: self.think(without_keys(text) if own else text),
            _slow=self._slow,
        )

    @cached_property
    def _rng(self) -> np.random.Generator:
        # The entropy would reveal the case, so the generator shows the conversation's name as its seed.
        shown = np.random.PCG64(int(self._name, 16))
        shown.state = np.random.PCG64(self._entropy).state
        return np.random.Generator(shown)

    @property
    def turn(self) -> int:
        """Return the number of the customer message to answer."""
        return self.desk.turn

    @property
    def asked_back(self) -> int:
        """Return the number of customer messages that asked back and do not count."""
        return min(sum(any(act.kind == "asked_back" for act in m.acts) for m in self.messages), ASKED_BACK)

    def _call(self, name: Any, arguments: Any, together: bool) -> ToolCall:
        if self.ended:
            raise AgentFault("late_call", "a tool was called after the conversation had ended")
        calls_left = self._calls_per_turn - sum(c.turn == self.turn and c.side == "agent" for c in self.desk.calls)
        if calls_left <= 0:
            return self._refused(name, arguments, together)
        call = self.desk.call(plain_text(name), plain(arguments))
        tool = self.desk.tools.get(call.name)
        if tool is not None and not self.desk.store.provides(tool):  # the user's own code may read any key
            call.result = without_keys(call.result)
        seen = shown_error(call) if str(call.index) in self.desk.staged else call.error
        result = plain(call.result)
        if calls_left - 1 == WARNED_AT[self._calls_per_turn] and isinstance(result, dict):
            result["calls_left_in_this_turn"] = calls_left - 1
        return replace(call, arguments=plain(call.arguments), result=result, error=seen)

    def _refused(self, name: Any, arguments: Any, together: bool) -> ToolCall:
        # The calls of one reply count once, because the model made them before it read any error.
        replies = self._beyond.get(self.turn, 0)
        replies += not (together and replies)
        if replies > CALLS_REFUSED:
            why = f"tools were called {CALLS_REFUSED} more times after {self._calls_per_turn} calls in one turn"
            raise AgentFault(CALL_LIMIT, f"{why}, although each result said to answer the customer first")
        self._beyond = {self.turn: replies}
        call = self.desk.refuse(plain_text(name), plain(arguments), BEYOND.format(limit=self._calls_per_turn))
        return replace(call, arguments=plain(call.arguments), result=plain(call.result))

    def say(self, message: Message) -> None:
        """Add a message to the record and to the agent's view."""
        self.messages.append(message)
        seen = SeenMessage(message.turn, message.side, message.text, tuple(message.attachments), dict(message.shows))
        self._seen.append(seen)

    def charge(self, side: str, usage: Usage) -> None:
        """Add a model call's tokens to a side's account; raise `AgentFault` if the sum overflows."""
        total = replace(self.usage.get(side) or Usage())
        total.add(usage)
        try:
            self.usage[side] = counted(total)
        except ValueError as error:
            raise AgentFault("garbled", f"too many tokens were charged: {error}") from None

    def think(self, text: str) -> None:
        """Add the agent's reasoning to the record; ignore blank text."""
        add_reasoning(self.reasoning, self.turn, len(self.desk.calls), text)
