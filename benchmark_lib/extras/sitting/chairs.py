"""The chairs, which show players their conversations and pass on their answers.

A player sees only what a language model would get: prompt, tools, words. The chairs do not know which case a
conversation is about.
"""

import asyncio
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
_LAST_WORDS = {"agent": "{}", "customer": "The desk writes:\n\n{}"}
"""Format of the other side's last message, by the player's side; it matches that of earlier messages."""


class NotYourTurn(Exception):
    """A chair sent an answer although none was due."""


@dataclass(eq=False)
class _View:
    """A conversation as its player sees it; `begun` counts items from before this session."""

    chair: int | None
    items: list[Item] = field(default_factory=list)
    messages: list[Any] = field(default_factory=list)
    answer: asyncio.Future[Completion] | None = None
    begun: int = 0
    shown: int = 0
    over: bool = False


@dataclass
class _Chair:
    """A place for one player, with the current conversation and the number played so far."""

    view: _View | None = None
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
    left : int or None
        Number of conversations still to finish, including open ones; None if unknown.
    """

    def __init__(self, count: int, side: str = "agent"):
        self.count, self.side = count, side
        self.closed: str | None = None
        self.left: int | None = None
        self.tools: list[dict[str, Any]] = []
        self._chairs = {number: _Chair() for number in range(1, count + 1)}
        self._views: dict[Hashable, _View] = {}
        self._waiting: list[_View] = []
        self._changed = asyncio.Event()

    # What the run does.

    async def complete(
        self, messages: list[Any], tools: Any, *, conversation: Hashable, chair: int | None = None
    ) -> Completion:
        """Wait for the player's answer in a conversation; `chair` played the conversation before."""
        self.tools = [tool["function"] for tool in tools or []]
        view = self._views.get(conversation)
        if view is None:
            view = self._views[conversation] = _View(chair if chair in self._chairs else None)
            view.items = _items([], messages)
            view.begun = len(view.items)
            self._waiting.append(view)
        else:
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
        if self.left is not None:
            self.left -= 1
        if view is None:
            return
        last = record.messages[-1] if record.messages else None
        if last is not None and last.side != self.side:
            view.items.append({"kind": "words", "text": _LAST_WORDS[self.side].format(last.text)})
        faults = [f.detail for f in record.faults if f.side == self.side]
        own_fault = record.ended_by == f"{self.side}_fault" and faults
        view.items.append({"kind": "over", "why": faults[-1] if own_fault else ""})
        view.over = True
        self._tell()

    def close(self, reason: str) -> None:
        """Inform each player, at its next request, that no conversation will follow, and why."""
        self.closed = reason
        self._tell()

    @property
    def everyone_knows(self) -> bool:
        """Return whether every participating player knows that no conversation will follow."""
        return all(chair.told_of_end for chair in self._chairs.values() if chair.used)

    # What a player does.

    async def news(self, number: int, wait_s: float = 0.0) -> list[Item]:
        """Return a chair's new items; wait for some up to `wait_s` seconds unless it is its turn.

        A chair whose conversation is over takes the next conversation.
        """
        chair, until = self._chairs[number], time.monotonic() + wait_s
        chair.used = True
        while True:
            changed, items = self._changed, self._unseen(number, chair)
            if items or self.my_turn(number) or time.monotonic() >= until:
                return items
            try:
                await asyncio.wait_for(changed.wait(), until - time.monotonic())
            except TimeoutError:
                return self._unseen(number, chair)

    def again(self, number: int) -> list[Item]:
        """Return all items of a chair's conversation, from the prompt on and including its own."""
        chair = self._chairs[number]
        chair.used = True
        if chair.view is None:
            return []
        chair.view.shown = len(chair.view.items)
        return [*self._opening(chair, whole=True), *chair.view.items]

    def only_others_play(self, number: int) -> bool:
        """Return whether no conversation is left for a chair, because other chairs play them all."""
        view = self._chairs[number].view
        free = view is None or view.over
        taken = sum(one not in self._waiting for one in self._views.values())
        return free and self.left is not None and self.left <= taken

    def dismiss(self, number: int) -> None:
        """Record that a chair knows that no conversation will follow, so that nobody waits for it."""
        self._chairs[number].told_of_end = True

    def my_turn(self, number: int) -> bool:
        """Return whether an answer is due from a chair."""
        view = self._chairs[number].view
        return view is not None and view.answer is not None and not view.answer.done()

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
        view = self._chairs[number].view
        length = len(view.messages) if view else 0
        asked = [RequestedCall(f"call_{length}_{n}", name, arguments) for n, (name, arguments) in enumerate(calls)]
        self._answer(number, Completion("", asked, "tool_calls", Usage(calls=1, missing=1)))

    def _answer(self, number: int, completion: Completion) -> None:
        view = self._chairs[number].view
        if view is None or view.answer is None or view.answer.done():
            raise NotYourTurn
        completion.raw = {"chair": number}
        view.answer.set_result(completion)

    def _unseen(self, number: int, chair: _Chair) -> list[Item]:
        items: list[Item] = []
        if chair.view is None or (chair.view.over and chair.view.shown == len(chair.view.items)):
            chair.view = self._take(number)
            if chair.view is not None:
                chair.views += 1
                items = self._opening(chair, whole=chair.views == 1)
        if chair.view is not None:
            view, first = chair.view, chair.view.shown
            items += [i for n, i in enumerate(view.items[first:], first) if i["kind"] != "own" or n < view.begun]
            view.shown = len(view.items)
        if self.closed is not None and not items:
            chair.told_of_end = True
            items = [{"kind": "finished", "why": self.closed}]
        return items

    def _take(self, number: int) -> _View | None:
        """Return the next conversation for a chair, beginning with its own from earlier sessions."""
        # Conversations that other chairs began come last, because their players may return.
        rank = {number: 0, None: 1}
        view = min((one for one in self._waiting if not one.over), key=lambda one: rank.get(one.chair, 2), default=None)
        self._waiting = [one for one in self._waiting if one is not view and not one.over]
        return view

    def _opening(self, chair: _Chair, whole: bool) -> list[Item]:
        """Return the items before a conversation; unless `whole`, omit tools and a known prompt."""
        assert chair.view is not None
        system = "\n\n".join(m["content"] for m in chair.view.messages if m["role"] == "system")
        whole = whole or self.side == "customer"
        number = {"kind": "conversation", "number": chair.views, "resumed": chair.view.begun > 1}
        tools: list[Item] = [{"kind": "tools", "tools": self.tools}] if self.tools else []
        if whole or not chair.prompt:
            chair.prompt = system
            return [*([{"kind": "prompt", "text": system}] if system else []), *(tools if whole else ()), number]
        new = system.removeprefix(chair.prompt).strip()
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
    names = {c["id"]: c["function"] for m in now for c in m.get("tool_calls") or []}
    items: list[Item] = []
    for message in now[same:]:
        if message["role"] == "user":
            items.append({"kind": "words", "text": message["content"]})
        elif message["role"] == "tool":
            called = names[message["tool_call_id"]]
            items.append({"kind": "result", "name": called["name"], "text": message["content"]})
        elif message["role"] == "assistant":
            calls = [[c["function"]["name"], c["function"]["arguments"]] for c in message.get("tool_calls") or []]
            items.append({"kind": "own", "text": message["content"] or "", "calls": calls})
    return items
