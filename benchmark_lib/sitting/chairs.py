"""The chairs: what each player is shown, and how an answer finds its conversation.

A player is given what a language model is given in the same place, and nothing else: prompt, tools, words. The chairs
themselves never learn which case a conversation is about.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..endpoint import Completion, RequestedCall
from ..records import Conversation, Usage

Item = dict[str, Any]
"""One thing that a player is shown.

Its ``kind`` is ``conversation`` (a new one, with its ``number``), ``prompt``, ``tools``, ``words`` (of the other side),
``result`` (of a call), ``own`` (what was said or called from this chair), ``over`` (the conversation) or ``finished``
(all of them).
"""


_LAST_WORDS = {"agent": "{}", "customer": "The desk writes:\n\n{}"}
"""How the last message of the other side is shown, by the side of the player: as those before it were."""


class NotYourTurn(Exception):
    """An answer from a chair that was not asked anything."""


@dataclass(eq=False)
class _Game:
    """One conversation as its player sees it; `begun` items were there before this session."""

    chair: int | None
    items: list[Item] = field(default_factory=list)
    messages: list[Any] = field(default_factory=list)
    answer: asyncio.Future[Completion] | None = None
    begun: int = 0
    shown: int = 0
    over: bool = False


@dataclass
class _Chair:
    """A place for one player, with the conversation it has and how many it has had."""

    game: _Game | None = None
    games: int = 0
    used: bool = False
    told_of_end: bool = False


class Chairs:
    """The chairs of one side, numbered from 1.

    Parameters
    ----------
    count : int
        How many there are. As many conversations are open at once, and whoever is free takes the next.
    side : str
        ``agent`` or ``customer``.

    Attributes
    ----------
    tools : list of dict
        The agent's tools, as far as a conversation has begun: name, description and parameters of each.
    closed : str or None
        Why nothing more will come.
    """

    def __init__(self, count: int, side: str = "agent"):
        self.count, self.side = count, side
        self.closed: str | None = None
        self.tools: list[dict[str, Any]] = []
        self._chairs = {number: _Chair() for number in range(1, count + 1)}
        self._games: dict[Hashable, _Game] = {}
        self._waiting: list[_Game] = []
        self._changed = asyncio.Event()

    # What the run does.

    async def complete(
        self, messages: list[Any], tools: Any, *, conversation: Hashable, chair: int | None = None
    ) -> Completion:
        """Wait for the answer of the player who has the conversation; `chair` is where it was played before."""
        self.tools = [tool["function"] for tool in tools or []]
        game = self._games.get(conversation)
        if game is None:
            game = self._games[conversation] = _Game(chair if chair in self._chairs else None)
            game.items = _items([], messages)
            game.begun = len(game.items)
            self._waiting.append(game)
        else:
            game.items += _items(game.messages, messages)
        game.messages = list(messages)
        game.answer = asyncio.get_running_loop().create_future()
        self._tell()
        asked = time.monotonic()
        completion = await game.answer
        completion.latency_s = time.monotonic() - asked
        return completion

    def ended(self, conversation: Hashable, record: Conversation) -> None:
        """Show the last words of the other side, and that the conversation is over."""
        game = self._games.pop(conversation, None)
        if game is None:
            return
        last = record.messages[-1] if record.messages else None
        if last is not None and last.side != self.side:
            game.items.append({"kind": "words", "text": _LAST_WORDS[self.side].format(last.text)})
        faults = [f.detail for f in record.faults if f.side == self.side]
        mine = record.ended_by == f"{self.side}_fault" and faults
        game.items.append({"kind": "over", "why": faults[-1] if mine else ""})
        game.over = True
        self._tell()

    def close(self, reason: str) -> None:
        """Tell every player, at once or when it next asks, that nothing more will come, and why."""
        self.closed = reason
        self._tell()

    @property
    def everyone_knows(self) -> bool:
        """Whether each player who took part has been told that nothing more will come."""
        return all(chair.told_of_end for chair in self._chairs.values() if chair.used)

    # What a player does.

    async def news(self, number: int, wait_s: float = 0.0) -> list[Item]:
        """What a chair has not been shown yet; unless it is its turn, it waits up to `wait_s` seconds for something to come.

        A chair whose conversation is over takes the next one.
        """
        chair, until = self._chairs[number], time.monotonic() + wait_s
        chair.used = True
        while True:
            changed, found = self._changed, self._unseen(number, chair)
            if found or self.my_turn(number) or time.monotonic() >= until:
                return found
            try:
                await asyncio.wait_for(changed.wait(), until - time.monotonic())
            except TimeoutError:
                return self._unseen(number, chair)

    def again(self, number: int) -> list[Item]:
        """All that was shown of a chair's conversation, from the prompt on, with what was said and called from it."""
        chair = self._chairs[number]
        chair.used = True
        if chair.game is None:
            return []
        chair.game.shown = len(chair.game.items)
        return [*self._opening(chair, whole=True), *chair.game.items]

    def my_turn(self, number: int) -> bool:
        """Whether a chair is asked for an answer."""
        game = self._chairs[number].game
        return game is not None and game.answer is not None and not game.answer.done()

    def say(self, number: int, text: str, acts: Sequence[dict[str, str]] = (), end: bool = False) -> None:
        """Send a message.

        Parameters
        ----------
        number : int
            The chair.
        text : str
            The words; of a customer also its whole answer in the form that its prompt asks for.
        acts : sequence of dict, end : bool
            Of a customer: what the message does, each a ``kind`` with its ``what``, and whether it is the last one.

        Raises
        ------
        NotYourTurn
            If nothing waits for it.
        """
        if self.side == "customer" and not _is_in_form(text):
            text = orjson.dumps({"message": text, "acts": [*acts], "end": end}).decode()
        self._answer(number, Completion(text, [], "stop", Usage(calls=1, missing=1)))

    def call(self, number: int, calls: list[tuple[str, dict[str, Any] | str]]) -> None:
        """Call tools, each a name with its arguments; what they return comes as news.

        Raises
        ------
        NotYourTurn
            If nothing waits for them.
        """
        game = self._chairs[number].game
        place = len(game.messages) if game else 0
        asked = [RequestedCall(f"call_{place}_{n}", name, arguments) for n, (name, arguments) in enumerate(calls)]
        self._answer(number, Completion("", asked, "tool_calls", Usage(calls=1, missing=1)))

    def _answer(self, number: int, completion: Completion) -> None:
        game = self._chairs[number].game
        if game is None or game.answer is None or game.answer.done():
            raise NotYourTurn
        completion.raw = {"chair": number}
        game.answer.set_result(completion)

    def _unseen(self, number: int, chair: _Chair) -> list[Item]:
        found: list[Item] = []
        if chair.game is None or (chair.game.over and chair.game.shown == len(chair.game.items)):
            chair.game = self._take(number)
            if chair.game is not None:
                chair.games += 1
                found = self._opening(chair, whole=chair.games == 1)
        if chair.game is not None:
            game, first = chair.game, chair.game.shown
            found += [i for n, i in enumerate(game.items[first:], first) if i["kind"] != "own" or n < game.begun]
            game.shown = len(game.items)
        if self.closed is not None and not found:
            chair.told_of_end = True
            found = [{"kind": "finished", "why": self.closed}]
        return found

    def _take(self, number: int) -> _Game | None:
        """The next conversation for a chair.

        One that was begun in it comes first, one that was begun in another chair last, because its player may come back.
        """
        rank = {number: 0, None: 1}
        game = min((g for g in self._waiting if not g.over), key=lambda g: rank.get(g.chair, 2), default=None)
        self._waiting = [g for g in self._waiting if g is not game and not g.over]
        return game

    def _opening(self, chair: _Chair, whole: bool) -> list[Item]:
        """What stands before a conversation; an agent's prompt and tools, which never change, only if `whole`."""
        assert chair.game is not None
        system = [m["content"] for m in chair.game.messages if m["role"] == "system"]
        head: list[Item] = [{"kind": "prompt", "text": text} for text in system]
        if self.tools:
            head.append({"kind": "tools", "tools": self.tools})
        number = {"kind": "conversation", "number": chair.games, "resumed": chair.game.begun > 1}
        return [*head, number] if whole or self.side == "customer" else [number]

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _is_in_form(text: str) -> bool:
    """Whether an answer is written in the form that a customer's prompt asks for."""
    try:
        return "message" in orjson.loads(text)
    except (orjson.JSONDecodeError, TypeError):
        return False


def _items(before: list[Any], now: list[Any]) -> list[Item]:
    """What a request says beyond the one before; where an answer was sent back, the two part at it."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    names = {c["id"]: c["function"] for m in now for c in m.get("tool_calls") or []}
    found: list[Item] = []
    for message in now[same:]:
        if message["role"] == "user":
            found.append({"kind": "words", "text": message["content"]})
        elif message["role"] == "tool":
            called = names[message["tool_call_id"]]
            found.append({"kind": "result", "name": called["name"], "text": message["content"]})
        elif message["role"] == "assistant":
            calls = [[c["function"]["name"], c["function"]["arguments"]] for c in message.get("tool_calls") or []]
            found.append({"kind": "own", "text": message["content"] or "", "calls": calls})
    return found
