"""``--isolate``: the harness's end of an agent that runs in a process of its own and has nothing of the harness but a pipe.

One process for each conversation: none can remember another, and its end is the end of everything it left running. See
`benchmark_lib.conversation.agent_process` for the other end and the lines that go between the two.
"""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from types import SimpleNamespace
from typing import IO, Any, cast

import orjson

from ..endpoint.settings import RoleSettings
from ..errors import BadInput
from ..records import Usage
from . import agent_process
from .agent_view import AgentView, counted
from .speaker import AgentFault, BuiltIn

REPLY_S = 600.0
"""How long one reply may take unless a timeout is given, in seconds; a reply may be many model calls."""
START_S = 60.0
"""How long loading the agent may take when it is checked, in seconds."""
LONGEST_LINE = 4 * 2**20
"""Bytes of the longest message that is taken from an agent's process."""
APART: dict[str, Any] = {"start_new_session": True, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
"""How an agent's process is started."""
SECRET = re.compile("key|token|secret|passw|auth|cookie|credential", re.IGNORECASE)


class IsolatedAgent(BuiltIn):
    """One conversation of an agent that runs in a process of its own.

    Parameters
    ----------
    spec : str
        ``module:object``, as for an agent in this process.
    environment : dict of str to str
        The environment of the process; see `environment_of`.
    """

    def __init__(self, spec: str, environment: dict[str, str], limit_s: float = REPLY_S):
        self.spec, self.environment, self.limit_s = spec, environment, limit_s
        self._process: asyncio.subprocess.Process | None = None
        self._folder: str | None = None
        self._told = 0

    async def reply(self, talk: AgentView) -> str:
        """The agent's next message; its calls are carried out on the way.

        `AgentFault` when the process ends, says nothing in time, or writes what is no message.
        """
        try:
            async with asyncio.timeout(self.limit_s):
                if self._process is None:
                    await self._begin(talk)
                return await self._reply(talk)
        except TimeoutError:
            raise AgentFault("no_answer", f"the agent's process gave no answer within {self.limit_s:g} s") from None
        except ConnectionError:
            raise _crashed() from None

    async def close(self) -> None:
        """End the process and all it has started, and take its folder away."""
        process, self._process = self._process, None
        if process is not None:
            _end(process.pid)
            await process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _begin(self, talk: AgentView) -> None:
        self._folder = tempfile.mkdtemp(prefix="deskbench-agent-")
        self._process = await asyncio.create_subprocess_exec(
            *_command(self.spec),
            cwd=self._folder,
            env=self.environment,
            limit=LONGEST_LINE,
            stdin=subprocess.PIPE,
            **APART,
        )
        message = await self._read()
        if "ready" not in message:
            raise _of(message)
        seen = {name: getattr(talk, name) for name in ("id", "trial", "sender", "prompt", "tools")}
        state = talk.rng.bit_generator.state["state"]
        await self._write(begin={**seen, "rng": {name: str(value) for name, value in state.items()}})

    async def _reply(self, talk: AgentView) -> str:
        new, self._told = talk.messages[self._told :], len(talk.messages)
        await self._write(reply={"turn": talk.turn, "messages": [asdict(m) for m in new]})
        while True:
            message = await self._read()
            if isinstance(message.get("said"), str):
                for used in _list(message.get("used")):
                    talk.charge(_usage(used))
                return message["said"]
            if isinstance(message.get("thought"), str):
                talk.think(message["thought"])
                continue
            wanted = message.get("call")
            if not isinstance(wanted, dict) or not isinstance(wanted.get("name"), str):
                raise _of(message)
            await self._write(result=asdict(await talk.call_aside(wanted["name"], wanted.get("arguments"))))

    def _pipes(self) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise _crashed()
        return process.stdin, process.stdout

    async def _write(self, **message: Any) -> None:
        pipe, _ = self._pipes()
        pipe.write(orjson.dumps(message) + b"\n")
        await pipe.drain()

    async def _read(self) -> dict[str, Any]:
        try:
            line = await self._pipes()[1].readline()
        except ValueError:
            raise AgentFault("garbled", f"the agent's process wrote a line of more than {LONGEST_LINE} bytes") from None
        if not line.endswith(b"\n"):
            raise _crashed()
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            message = None
        if not isinstance(message, dict):
            raise AgentFault("garbled", f"the agent's process wrote {line[:100]!r}, which is not a message")
        return message


def check_isolated(spec: str, environment: dict[str, str]) -> str:
    """Load the agent once in a process of its own; returns the hash of its source.

    `BadInput` when it cannot be loaded or made.
    """
    with tempfile.TemporaryDirectory(prefix="deskbench-agent-") as folder:
        process = subprocess.Popen(
            [*_command(spec), agent_process.CHECK], cwd=folder, env=environment, stdin=subprocess.DEVNULL, **APART
        )
        answers = cast(IO[bytes], process.stdout)
        timer = threading.Timer(START_S, _end, [process.pid])
        timer.start()
        try:
            line = answers.readline(LONGEST_LINE)
        finally:
            timer.cancel()
            _end(process.pid)
            answers.close()
            process.wait()
    try:
        message = orjson.loads(line)
        if isinstance(message["ready"], str):
            return message["ready"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        pass
    raise BadInput(
        f"the agent {spec} cannot be loaded in a process of its own: {_told(line)}; name an object with a reply method, "
        "or a class or function that takes no argument and makes one, in a module that can be imported here"
    )


def environment_of(roles: dict[str, RoleSettings]) -> dict[str, str]:
    """The environment of an agent's process.

    Without secrets, but for those that the settings name for the agent, and with our import path.
    """
    mine = _variables(roles["agent"])
    others = set().union(*(_variables(settings) for role, settings in roles.items() if role != "agent")) - mine
    kept = {
        name: value for name, value in os.environ.items() if name in mine or not (SECRET.search(name) or name in others)
    }
    return {**kept, "PYTHONPATH": os.pathsep.join(dict.fromkeys(os.path.abspath(place) for place in ["", *sys.path]))}


def _variables(settings: RoleSettings) -> set[str]:
    return {settings.api_key_env, *settings.headers_env.values()}


def _command(spec: str) -> list[str]:
    return [sys.executable, "-m", agent_process.__name__, spec]


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL) if os.name == "posix" else os.kill(pid, signal.SIGTERM)


def _usage(raw: Any) -> Usage:
    try:
        return counted(SimpleNamespace(**raw))
    except (TypeError, ValueError):
        raise AgentFault("garbled", "the agent's process gave no usable count of tokens") from None


def _list(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else []


def _of(message: dict[str, Any]) -> AgentFault:
    if "failed" in message:
        return AgentFault("crashed", f"the agent failed: {message['failed']}")
    return AgentFault("garbled", f"the agent's process wrote {orjson.dumps(message)[:100]!r}, which is not a message")


def _crashed() -> AgentFault:
    return AgentFault("crashed", "the agent's process ended in the middle of the conversation")


def _told(line: bytes) -> str:
    try:
        return " ".join(str(orjson.loads(line)["failed"]).split())[:500]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return "it wrote no answer that can be read" if line else f"it ended, or gave no answer within {START_S:g} s"
