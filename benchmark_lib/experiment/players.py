"""Players in place of a language model: people and programs in a chair, and own agents."""

import asyncio
import random
from asyncio import CancelledError
from dataclasses import dataclass
from typing import Any

import orjson

from ..cases import Case
from ..conversation.speaker import REPLY_S
from ..endpoint import Completion
from ..endpoint.settings import RoleSettings
from ..errors import BadInput
from ..extension import offer, offered
from ..records import SOURCES
from ..store.tools import import_object, source_hashes
from .manifest import part
from .recorder import Request, call_row

SIDES = ("agent", "customer")
LONGEST_SOURCE = 60


@dataclass(frozen=True)
class Players:
    """Players of one side (``agent`` or ``customer``) and the `source` of their conversations.

    The `chairs` pass on each call that a model would get, see `benchmark_lib.extras.sitting.chairs`. `shuffle` seeds
    the order of the cases: that of the store would reveal which kind comes next.
    """

    side: str
    chairs: Any
    source: str = "human"
    shuffle: int = 0

    def __post_init__(self) -> None:
        """Refuse an unknown side, a reserved source, and a source that a table cannot show."""
        if self.side not in SIDES:
            raise BadInput(f"there is no chair {self.side!r}: choose {' or '.join(SIDES)}")
        if self.source.casefold() in SOURCES:
            raise BadInput(f"the source {self.source!r} is reserved: use the player's own name, such as human:anna")
        if not self.source.strip() or not self.source.isprintable() or len(self.source) > LONGEST_SOURCE:
            mend = f"name the player in 1 to {LONGEST_SOURCE} printable characters, such as human:anna"
            raise BadInput(f"the source {self.source[:LONGEST_SOURCE]!r} cannot be shown in a table: {mend}")

    def shuffled(self, cases: list[Case]) -> list[Case]:
        """Return the cases in the order of play."""
        return random.Random(self.shuffle).sample(cases, len(cases))


class PlayersLine:
    """Line to the players of one side: calls do not wait for each other, and no price is known."""

    def __init__(self, players: Players, run: Any):
        self._players, self._run = players, run
        # the chair that began a conversation, so that the same player continues it
        self._chair_of = {
            (call["case_id"], call["trial"]): orjson.loads(call["response"]).get("raw", {}).get("chair")
            for call in run.run.calls(responses=True)
            if call["side"] == players.side
        }

    async def call(self, request: Request) -> Completion:
        """Return a player's answer once it is on disk; raise `asyncio.CancelledError` at a stop."""
        if self._run.stopped:
            raise asyncio.CancelledError("the run is being stopped")
        key, chairs = request.key[:2], self._players.chairs
        chair = self._chair_of.get(key)
        completion: Completion = await chairs.complete(request.messages, request.tools, conversation=key, chair=chair)
        row = call_row(self._players.side, self._players.source, request, completion, None)
        await self._run.put("calls", row, urgent=True)
        return completion


def own_agent_of(agent: Any) -> tuple[Any, dict[str, Any]]:
    """Return the user's own agent, or a factory for it, and its part of the manifest."""
    if agent is None:
        return None, part(None)
    prefix = next((one for one in offered("own_agents") if isinstance(agent, str) and agent.startswith(one)), None)
    if prefix is not None:
        solver = import_object(agent.removeprefix(prefix), "--agent")
        return offer("own_agents", prefix)(solver, agent), part(agent, [agent, source_hashes(solver)])
    own, name = import_object(agent, "--agent") if isinstance(agent, str) else agent, name_of(agent)
    try:
        first = own if speaks(own) else own()
    except (Exception, SystemExit, GeneratorExit, CancelledError) as error:
        raise BadInput(
            f"the agent {name} cannot be made: {type(error).__name__}: {error}; name an object with a reply method, "
            "or a class or function that takes no argument and returns one"
        ) from None
    if not speaks(first):
        raise BadInput(f"the agent {name} has no reply method: write `def reply(self, talk): return text`")
    return own, part(name, [name, source_hashes(own)])


def isolated_agent(
    agent: Any, settings: dict[str, RoleSettings], limit_s: float | None, *hidden: Any
) -> tuple[Any, dict[str, Any], str]:
    """Return a factory of agent processes, its manifest part, and any gap in the isolation.

    `hidden` is the run file and then a list of paths. The agent's module is never loaded in this process.
    """
    if not isinstance(agent, str):
        raise BadInput("--isolate runs your own agent in a separate process: name it as --agent module:object")
    if not all(agent.partition(":")):
        raise BadInput(f"--agent {agent!r} is not of the form module:name")
    factory, source, open_why = offer("agents", "isolated")(agent, settings, limit_s or REPLY_S, *hidden)
    gap = f"this system cannot keep it from the run file and the cases ({open_why})" if open_why else ""
    return factory, part(agent, [agent, [source]]), gap


def speaks(thing: Any) -> bool:
    """Return whether an object is an agent itself, not a factory for one."""
    return not isinstance(thing, type) and callable(getattr(thing, "reply", None))


def name_of(thing: Any) -> Any:
    """Return a value as written on the command line, or the module and name of an object."""
    if thing is None or isinstance(thing, str):
        return thing
    if isinstance(thing, dict):
        return sorted(thing)
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}:{named.__qualname__}"
