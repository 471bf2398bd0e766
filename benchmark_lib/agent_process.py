"""The other end of ``--isolate``: an agent of the user's own in a process of its own, which talks to the harness in JSON lines.

``python -m benchmark_lib.agent_process MODULE:OBJECT`` reads from its standard input, one object a line: ``begin`` (what the agent sees
of a conversation), ``reply`` (the messages said since), ``result`` (of a tool call). It writes ``ready``, ``call``, ``said`` or ``failed``.
Nothing else of the harness is loaded here.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
import threading
from dataclasses import asdict
from importlib import import_module
from queue import SimpleQueue
from typing import IO, Any

import orjson

from .agent_talk import AgentTalk, SeenMessage, plain, plain_text
from .records import ToolCall, Usage, content_hash

CHECK = "--check"
PR_SET_PDEATHSIG = 1


class Pipe:
    """The lines to and from the harness; when the harness is gone, so is this process, whatever the agent is doing.

    Parameters
    ----------
    incoming, outgoing : binary file
        Where lines come from and go to.
    """

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]):
        self._incoming, self._outgoing = incoming, outgoing
        self._read: SimpleQueue[dict[str, Any]] = SimpleQueue()

    def listen(self) -> None:
        """Read in a thread of its own from now on, so that the end of the harness is noticed at once."""
        threading.Thread(target=self._listen, name="harness", daemon=True).start()

    def _listen(self) -> None:
        for line in self._incoming:
            self._read.put(orjson.loads(line))
        end_of_group()

    def read(self) -> dict[str, Any]:
        """The next message of the harness."""
        return self._read.get()

    def write(self, **message: Any) -> None:
        """Send a message to the harness."""
        self._outgoing.write(orjson.dumps(message) + b"\n")
        self._outgoing.flush()


def end_with_the_harness() -> None:
    """Have Linux end this process with the harness even while a call that never returns keeps the listening thread from running."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_of_group() -> None:
    """End this process and all that the agent has started in its group."""
    if os.name == "posix" and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def talk_from(begin: dict[str, Any], pipe: Pipe, used: Usage) -> AgentTalk:
    """The agent's side of the conversation that the harness describes."""

    def call(name: Any, arguments: Any) -> ToolCall:
        pipe.write(call={"name": plain_text(name), "arguments": plain(arguments)})
        return ToolCall(**pipe.read()["result"])

    def generator() -> Any:
        import numpy as np

        bits = np.random.PCG64(int(begin["id"], 16))
        bits.state = {**bits.state, "state": {name: int(value) for name, value in begin["rng"].items()}}
        return np.random.Generator(bits)

    seen = {name: begin[name] for name in ("id", "trial", "sender", "prompt", "tools")}
    return AgentTalk(**seen, call=call, charge=used.add, rng=generator)


def speak(agent: Any, pipe: Pipe) -> None:
    """Hold one conversation, until the harness ends it."""
    used = Usage()
    talk = talk_from(pipe.read()["begin"], pipe, used)
    with asyncio.Runner() as runner:
        while True:
            wanted = pipe.read()["reply"]
            talk.turn = wanted["turn"]
            talk.messages += [SeenMessage(m["turn"], m["side"], m["text"], tuple(m["attachments"])) for m in wanted["messages"]]
            before = asdict(used)
            answer = agent.reply(talk)
            if inspect.isawaitable(answer):
                answer = runner.run(_awaited(answer))
            spent = {name: count - before[name] for name, count in asdict(used).items()}
            pipe.write(said=plain_text(getattr(answer, "text", answer) or ""), usage=spent)


async def _awaited(answer: Any) -> Any:
    return await answer


def made(spec: str) -> tuple[Any, str]:
    """The agent that ``module:object`` names, and the hash of its source as far as it can be found."""
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
    """Load the agent and speak for it; with `check` only say whether it can be loaded."""
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the agent prints is no message
    pipe = Pipe(os.fdopen(os.dup(0), "rb"), outgoing)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    if not check:
        end_with_the_harness()
        pipe.listen()
    try:
        agent, source = made(spec)
        pipe.write(ready=source)
        if not check:
            speak(agent, pipe)
    except BaseException as error:
        frames = inspect.getinnerframes(error.__traceback__)
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        pipe.write(failed=f"{type(error).__name__}: {plain_text(error)}{place}")
    if not check:
        end_of_group()


if __name__ == "__main__":
    main(sys.argv[1], CHECK in sys.argv[2:])
