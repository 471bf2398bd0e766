"""The agent's end of ``--isolate``: a process with the user's agent that exchanges JSON.

``python -m benchmark_lib.extras.isolation.agent_process MODULE:OBJECT`` reads objects from its standard input, one per
line: ``begin`` (the agent's view of a conversation), ``reply`` (the messages since) and ``result`` (of a tool call). It
writes ``ready``, ``call``, ``thought``, ``said`` or ``failed``. It loads nothing else of the harness. For isolation,
`benchmark_lib.extras.isolation.walls` starts it.
"""

import inspect
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from importlib import import_module
from typing import IO, Any

import orjson

from ...conversation.agent_view import AgentView, SeenMessage, counted, plain, plain_text
from ...records import ToolCall, Usage, content_hash

CHECK = "--check"


class Pipe:
    """The JSON lines to and from the harness."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]):
        self._incoming, self._outgoing = incoming, outgoing

    def read(self) -> dict[str, Any]:
        """Return the next message of the harness; end the process if the pipe is closed."""
        line = self._incoming.readline()
        return orjson.loads(line) if line else os._exit(0)

    def write(self, **message: Any) -> None:
        """Send a message to the harness."""
        self._outgoing.write(orjson.dumps(message) + b"\n")
        self._outgoing.flush()


def talks(begin: dict[str, Any], pipe: Pipe, used: list[Usage]) -> Callable[..., AgentView]:
    """Return a factory of agent views, made from the harness's description, turn and messages."""

    def call(name: Any, arguments: Any, together: bool) -> ToolCall:
        pipe.write(call={"name": plain_text(name), "arguments": plain(arguments), "together": together})
        return ToolCall(**pipe.read()["result"])

    def generator() -> Any:
        import numpy as np

        bits = np.random.PCG64(int(begin["id"], 16))
        state: Any = {**bits.state, "state": {name: int(value) for name, value in begin["rng"].items()}}
        bits.state = state
        return np.random.Generator(bits)

    given = {name: begin[name] for name in ("id", "trial", "sender", "prompt")}
    return partial(
        AgentView,
        **given,
        _tools=lambda: begin["tools"],
        _call=call,
        _charge=lambda u: used.append(counted(u)),
        _rng=cache(generator),
        _think=lambda text: pipe.write(thought=text),
    )


def speak(agent: Any, pipe: Pipe) -> None:
    """Play one conversation until the harness ends it."""
    used: list[Usage] = []
    said: list[SeenMessage] = []
    talk = talks(pipe.read()["begin"], pipe, used)
    while True:
        wanted = pipe.read()["reply"]
        said += [SeenMessage(**{**m, "attachments": tuple(m["attachments"])}) for m in wanted["messages"]]
        answer = agent.reply(talk(turn=wanted["turn"], messages=list(said)))
        if inspect.isawaitable(answer):
            answer = _loop().run(_awaited(answer))
        pipe.write(said=plain_text(getattr(answer, "text", answer) or ""), used=[asdict(usage) for usage in used])
        used.clear()


@cache
def _loop() -> Any:
    # One event loop serves the whole conversation.
    import asyncio  # it would take half of the process's start time

    return asyncio.Runner()


async def _awaited(answer: Any) -> Any:
    return await answer


def made(spec: str) -> tuple[Any, str]:
    """Return the agent named by ``module:object``, and the hash of its source if available."""
    module, _, name = spec.partition(":")
    found = getattr(import_module(module), name)
    speaks = not isinstance(found, type) and callable(getattr(found, "reply", None))
    agent = found if speaks else found()
    if not callable(getattr(agent, "reply", None)):
        raise TypeError("it has no reply method: write `def reply(self, talk): return text`")
    try:
        source = content_hash(inspect.getsource(found if hasattr(found, "__qualname__") else type(found)).encode())
    except (OSError, TypeError):
        source = ""
    return agent, source


def main(spec: str, check: bool = False) -> None:
    """Load the agent and play its conversation; with `check`, only report whether it loads."""
    os.environ.update(dict.fromkeys(("HOME", "TMPDIR"), os.getcwd()), USER="agent", LOGNAME="agent")
    pipe = Pipe(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # What the agent prints is not a message
    os.dup2(2, 1)
    try:
        agent, source = made(spec)
        pipe.write(ready=source)
        if not check:
            speak(agent, pipe)
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        pipe.write(failed=f"{type(error).__name__}: {plain_text(error)}{place}")


if __name__ == "__main__":
    main(sys.argv[1], CHECK in sys.argv[2:])
