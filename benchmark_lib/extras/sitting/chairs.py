"""The chairs, which show players their conversations and pass on their answers.

A player sees only what a language model would get: prompt, tools, words. The chairs do not know which case a
conversation is about.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ...endpoint import Completion, RequestedCall
from ...records import Conversation, Usage

Item = dict[str, Any]
"""One item shown to a player.

Its ``kind`` is ``conversation`` (a new one, with its ``number``), ``prompt``, ``tools``, ``words`` (of the other side),
``result`` (of a call), ``own`` (this player's message or call), ``over`` (the conversation has ended) or ``finished``
(all conversations have ended).
"""
CHAIR = 1
"""The only chair of a terminal or a widget."""


class NotYourTurn(ValueError):
    """A chair sent an answer although none was due."""


@dataclass(eq=False)
class _View:
    """A conversation as its player sees it; `begun` is its length when a chair took it."""

    chair: int | None = None
    items: list[Item] = field(default_factory=list)
    messages: list[Any] = field(default_factory=list)
    answer: asyncio.Future[Completion] | None = None
    begun: int = 0
    shown: int = 0
    over: bool = False


_NOTHING = _View(over=True)


@dataclass
class _Chair:
    """A place for one player; `views` counts the conversations played in it."""

    view: _View = _NOTHING
    views: int = 0
    used: bool = False
    told_of_end: bool = False
    prompt: str = ""


class Chairs:
    """The chairs of one side, numbered from 1.

    Parameters
    ----------
    count : int
        Number of chairs, which is that of concurrent conversations; a free chair takes the next one.
    side : str
        ``agent`` or ``customer``.

    Attributes
    ----------
    tools : list of dict
        The agent's tools, once a conversation has begun: name, description and parameters of each.
    closed : str or None
        Why no further conversation will follow; None as long as one may.
    left : float
        Number of conversations still to finish, including open ones; infinite until the run begins.
    """

    def __init__(self, count: int, side: str = "agent"):
        self.count, self.side = count, side
        self.closed: str | None = None
        self.left = math.inf
        self.tools: list[dict[str, Any]] = []
        self._chairs = {number: _Chair() for number in range(1, count + 1)}
        self._views: dict[Hashable, _View] = {}
        self._changed = asyncio.Event()

    # What the run does.

    async def complete(
        self, messages: list[Any], tools: Any, *, conversation: Hashable, chair: int | None = None
    ) -> Completion:
        """Wait for the player's answer; `chair` played the conversation before."""
        self.tools = [tool["function"] for tool in tools or []]
        known = chair if chair in self._chairs else None
        view = self._views.setdefault(conversation, _View(known))
        view.items += _items(view.messages, messages)
        view.messages = list(messages)
        view.answer = asyncio.get_running_loop().create_future()
        self._tell()
        asked = time.monotonic()
        completion = await view.answer
        completion.latency_s = time.monotonic() - asked
        return completion

    def ended(self, conversation: Hashable, record: Conversation) -> None:
        """Show the other side's last message and the end of the conversation."""
        view = self._views.pop(conversation, None)
        self.left -= 1
        if view is None:
            return
        if record.messages and record.messages[-1].side != self.side:
            text = record.messages[-1].text
            if self.side == "customer":
                text = f"The desk writes:\n\n{text}"  # as in earlier messages
            view.items.append({"kind": "words", "text": text})
        faults = [f.detail for f in record.faults if f.side == self.side]
        own_fault = record.ended_by == f"{self.side}_fault" and faults
        view.items.append({"kind": "over", "why": faults[-1] if own_fault else ""})
        view.over = True
        self._tell()

    def close(self, reason: str) -> None:
        """Inform each player, at its next request, why no conversation will follow."""
        self.closed = reason
        self._tell()

    @property
    def everyone_knows(self) -> bool:
        """Return whether every participating player knows of the end."""
        return all(chair.told_of_end for chair in self._chairs.values() if chair.used)

    # What a player does.

    async def news(self, number: int, wait_s: float = 0.0) -> list[Item]:
        """Return a chair's new items; wait for some up to `wait_s` seconds unless it is its turn.

        A chair whose conversation is over takes the next conversation.
        """
        self._chairs[number].used = True
        until = time.monotonic() + wait_s
        while True:
            changed, items = self._changed, self._unseen(number)
            left_s = until - time.monotonic()
            if items or self.my_turn(number) or left_s <= 0:
                return items
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), left_s)

    def again(self, number: int) -> list[Item]:
        """Return all items of a chair's conversation, including its own."""
        chair = self._chairs[number]
        chair.used = True
        chair.view.shown = len(chair.view.items)
        if not chair.view.items:
            return []
        return [*self._opening(chair, whole=True), *chair.view.items]

    def may_stop(self, number: int) -> bool:
        """Return whether other chairs play all that is left, and this one is free to go."""
        chair = self._chairs[number]
        taken = [view for view in self._views.values() if view.begun]
        free = chair.view.over and self.left <= len(taken)
        if free:
            chair.told_of_end = True
        return free

    def my_turn(self, number: int) -> bool:
        """Return whether an answer is due from a chair."""
        answer = self._chairs[number].view.answer
        return answer is not None and not answer.done()

    def say(self, number: int, text: str, acts: Sequence[dict[str, str]] = (), end: bool = False) -> None:
        """Send a message.

        Parameters
        ----------
        number : int
            The chair.
        text : str
            The words; a customer may also send its complete answer in the form that its prompt asks for.
        acts : sequence of dict, end : bool
            For a customer: the acts of the message, each with a ``kind`` and a ``what``, and whether it is the last.

        Raise `NotYourTurn` if no answer is due.
        """
        if self.side == "customer" and not _is_in_form(text):
            text = orjson.dumps({"message": text, "acts": [*acts], "end": end}).decode()
        self._answer(number, Completion(text, [], "stop", Usage(calls=1, missing=1)))

    def call(self, number: int, calls: list[tuple[str, dict[str, Any] | str]]) -> None:
        """Call tools, each given by name and arguments; their results arrive as news.

        Raise `NotYourTurn` if no answer is due.
        """
        length = len(self._chairs[number].view.messages)
        asked = [RequestedCall(f"call_{length}_{n}", name, arguments) for n, (name, arguments) in enumerate(calls)]
        self._answer(number, Completion("", asked, "tool_calls", Usage(calls=1, missing=1)))

    def _answer(self, number: int, completion: Completion) -> None:
        answer = self._chairs[number].view.answer
        if answer is None or answer.done():
            raise NotYourTurn("Nothing waits for an answer of yours.")
        completion.raw = {"chair": number}
        answer.set_result(completion)

    def _unseen(self, number: int) -> list[Item]:
        items: list[Item] = []
        chair = self._chairs[number]
        if chair.view.over and chair.view.shown == len(chair.view.items):
            waiting = [view for view in self._views.values() if not view.begun]
            # Those that other chairs began come last: their players may return.
            rank = {number: 0, None: 1}
            chair.view = min(waiting, key=lambda view: rank.get(view.chair, 2), default=_NOTHING)
            if waiting:
                chair.view.begun = chair.view.shown = len(chair.view.items)
                chair.views += 1
                whole = chair.views == 1 or self.side == "customer"
                items = [*self._opening(chair, whole), *chair.view.items]
        new = chair.view.items[chair.view.shown :]
        items += [item for item in new if item["kind"] != "own"]
        chair.view.shown = len(chair.view.items)
        if self.closed is not None and not items:
            chair.told_of_end = True
            items = [{"kind": "finished", "why": self.closed}]
        return items

    def _opening(self, chair: _Chair, whole: bool) -> list[Item]:
        """Return the items before a conversation; unless `whole`, omit tools and a known prompt."""
        prompt = chair.view.messages[0]["content"]
        number = {"kind": "conversation", "number": chair.views, "resumed": chair.view.begun > 1}
        if whole:
            chair.prompt = prompt
            items: list[Item] = [{"kind": "prompt", "text": prompt}]
            if self.tools:
                items.append({"kind": "tools", "tools": self.tools})
            return [*items, number]
        new = prompt.removeprefix(chair.prompt).strip()
        return [number, {"kind": "prompt", "text": new}] if new else [number]

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _is_in_form(text: str) -> bool:
    """Return whether an answer has the JSON form that a customer's prompt asks for."""
    try:
        return "message" in orjson.loads(text)
    except (orjson.JSONDecodeError, TypeError):
        return False


def _items(before: list[Any], now: list[Any]) -> list[Item]:
    """Return what a request adds to the last one, whose end a rejected answer may have changed."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    names = {c["id"]: c["function"]["name"] for m in now for c in m.get("tool_calls") or []}
    items: list[Item] = []
    for message in now[same:]:
        if message["role"] == "user":
            items.append({"kind": "words", "text": message["content"]})
        elif message["role"] == "tool":
            name = names[message["tool_call_id"]]
            items.append({"kind": "result", "name": name, "text": message["content"]})
        elif message["role"] == "assistant":
            called = [c["function"] for c in message.get("tool_calls") or []]
            calls = [[c["name"], c["arguments"]] for c in called]
            items.append({"kind": "own", "text": message["content"] or "", "calls": calls})
    return items
