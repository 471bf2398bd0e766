"""The harness's end of ``--isolate``: an agent in its own process that shares only a pipe.

Each conversation has its own process, which remembers no other. When it ends, everything that it started is killed.
The other end is `agent_process`, which describes the lines between them; `walls` isolates it.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import orjson

from ...conversation.agent_view import AgentView, counted
from ...conversation.speaker import RELAYS, REPLY_S, AgentFault, BuiltIn, HarnessFault
from ...endpoint.settings import RoleSettings
from ...errors import BadInput
from ...project import DATA, PACKAGE, project_folder
from ...records import Usage
from ...runfile import SUFFIX
from ...threads import running_loop
from . import agent_process
from .walls import UP
from .walls import __file__ as WALLS

START_S = 60.0
"""Time limit in seconds for raising the walls, and for loading the agent in a check."""
LONGEST_LINE = 4 * 2**20
"""Length in bytes of the longest message accepted from an agent's process."""
MOST_THOUGHTS = 1000
"""Maximum number of thoughts accepted from an agent's process for one reply."""
END_S = 10.0
"""Time limit in seconds for ending an agent's process."""
LAUNCHED = os.name == "posix"
"""Whether `benchmark_lib.extras.isolation.walls` starts the process."""
AGENT = ("-m", agent_process.__name__)
NOTHING = ("-I", "-S", "-c", "print()")
"""A command to test the walls before any of the agent's code runs."""
KEPT = re.compile(
    "(SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)|PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|LD_LIBRARY_PATH|VIRTUAL_ENV|"
    "CONDA_PREFIX|[A-Z]+_NUM_THREADS|PYTHON(HASHSEED|UTF8|IOENCODING|DONTWRITEBYTECODE)|SYSTEMROOT|(HTTPS?|ALL|NO)_PROXY",
    re.IGNORECASE,
)
"""Variables that every agent's process gets; the first group names files that it must read."""


class IsolatedAgent(BuiltIn):
    """One conversation of an agent in a separate process.

    Parameters
    ----------
    spec : str
        ``module:object``, as for an agent in this process.
    environment : dict of str to str
        The environment of the process; see `environment_of`.
    walls : dict or None
        The isolation of the process; see `walls_around`.
    """

    def __init__(self, spec: str, environment: dict[str, str], walls: dict[str, Any] | None, limit_s: float = REPLY_S):
        self.spec = spec
        self.environment = environment
        self.walls = walls
        self.limit_s = limit_s
        self._process: asyncio.subprocess.Process | None = None
        self._folder: str | None = None
        self._open_end: IO[bytes] | None = None
        self._told = 0

    async def reply(self, talk: AgentView) -> str:
        """Return the agent's next message and carry out its calls.

        Raise `AgentFault` if the process ends, times out or writes an invalid message. Raise `HarnessFault` if it
        cannot be started or isolated.
        """
        begins = self._process is None
        if begins and (why := await self.start(*AGENT, self.spec)):
            raise HarnessFault(f"the agent's process could not be started as this run starts it: {why}")
        try:
            async with asyncio.timeout(self.limit_s):
                if begins:
                    await self._begin(talk)
                return await self._reply(talk)
        except TimeoutError:
            raise AgentFault("no_answer", f"the agent's process gave no answer within {self.limit_s:g} s") from None
        except ConnectionError:
            raise _crashed() from None

    async def close(self) -> None:
        """End the process and everything it started, and delete its folder."""
        process, self._process = self._process, None
        if self._open_end is not None:
            self._open_end.close()
        if process is not None:
            try:
                async with asyncio.timeout(END_S):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def start(self, *arguments: str) -> str:
        """Start Python with these arguments; return why it is not isolated, or an empty text.

        The process writes its first line before any of the agent's code is loaded.
        """
        # Python ignores the agent's folders, variables and packages until the walls are up.
        starter = [sys.executable, "-I", "-S", WALLS, orjson.dumps(self.walls).decode()] if LAUNCHED else []
        try:
            self._folder = tempfile.mkdtemp(prefix="deskbench-agent-")
            # Closing the other end of this pipe ends the process and its descendants.
            watched, open_end = os.pipe()
            self._open_end = os.fdopen(open_end, "wb")
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *starter,
                    sys.executable,
                    *arguments,
                    cwd=self._folder,
                    env=self.environment,
                    limit=LONGEST_LINE,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=watched,
                    start_new_session=True,
                )
            finally:
                os.close(watched)
            if not LAUNCHED:
                return ""
            message = orjson.loads(await self.line())
            return "" if UP in message else str(message["open"])
        except (TimeoutError, orjson.JSONDecodeError, KeyError):
            return f"it ended, or gave no answer within {START_S:g} s"
        except (OSError, ValueError) as error:
            return f"{type(error).__name__}: {error}"

    async def line(self) -> bytes:
        """Return the next line of the process, which may take `START_S` seconds."""
        async with asyncio.timeout(START_S):
            return await self._pipes()[1].readline()

    async def _begin(self, talk: AgentView) -> None:
        message = await self._read()
        if "ready" not in message:
            raise _of(message)
        seen = {name: getattr(talk, name) for name in ("id", "trial", "sender", "prompt", "tools")}
        state = talk.rng.bit_generator.state["state"]
        await self._write(begin={**seen, "rng": {name: str(value) for name, value in state.items()}})

    async def _reply(self, talk: AgentView) -> str:
        new, self._told = talk.messages[self._told :], len(talk.messages)
        await self._write(reply={"turn": talk.turn, "messages": [asdict(m) for m in new]})
        thoughts = 0
        while True:
            message = await self._read()
            if isinstance(message.get("said"), str):
                for used in message["used"] if isinstance(message.get("used"), list) else []:
                    talk.charge(_usage(used))
                return message["said"]
            if isinstance(message.get("thought"), str):
                talk.think(message["thought"])
                thoughts += 1
                if thoughts > MOST_THOUGHTS:
                    raise _garbled(f"wrote more than {MOST_THOUGHTS} thoughts")
                continue
            wanted = message.get("call")
            if not isinstance(wanted, dict) or not isinstance(wanted.get("name"), str):
                raise _of(message)
            made = await talk.call_aside(
                wanted["name"], wanted.get("arguments"), together=wanted.get("together") is True
            )
            await self._write(result=asdict(made))

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
            raise _garbled(f"wrote a line of more than {LONGEST_LINE} bytes") from None
        if not line.endswith(b"\n"):
            raise _crashed()
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            message = None
        if not isinstance(message, dict):
            raise _garbled(f"wrote {line[:100]!r}, which is not a message")
        return message


async def check_isolated(spec: str, environment: dict[str, str], walls: dict[str, Any]) -> tuple[str, str]:
    """Load the agent once in its own process; return its source hash and any gap in the walls.

    The second is empty if there is no gap. Raise `BadInput` if the agent cannot be loaded or created.
    """
    why = "only Linux can isolate an agent" if sys.platform != "linux" else ""
    if not why:  # without the agent's folders, whose content is up to its author
        why, line = await _tried(environment, walls | {"places": []}, *NOTHING)
        why = why or ("" if line else "Python does not start behind the walls")
    failed, line = await _tried(environment, None if why else walls, *AGENT, spec, agent_process.CHECK)
    if failed:
        raise BadInput(
            f"the agent {spec} cannot be isolated here ({failed}): move it to a separate folder with few files"
        )
    try:
        message = orjson.loads(line)
        if isinstance(message["ready"], str):
            return message["ready"], why
    except (orjson.JSONDecodeError, KeyError, TypeError):
        pass
    raise BadInput(
        f"the agent {spec} cannot be loaded in a separate process: {_told(line)}; name an object with a reply "
        "method, or a class or function that takes no argument and makes one, in a module that can be imported here"
    )


async def _tried(environment: dict[str, str], walls: dict[str, Any] | None, *arguments: str) -> tuple[str, bytes]:
    """Start a process and end it; return what `start` returns, and its own first line."""
    tried = IsolatedAgent("", environment, walls)
    try:
        why = await tried.start(*arguments)
        return why, b"" if why else await tried.line()
    except (TimeoutError, ValueError):
        return "", b""
    finally:
        await tried.close()


def environment_of(roles: dict[str, RoleSettings]) -> dict[str, str]:
    """Return the environment of an agent's process: few variables, settings, import path."""
    agent = roles["agent"]
    names = {agent.api_key_env, *agent.headers_env.values(), *agent.query_env.values(), *agent.env}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in names or (KEPT.fullmatch(name) and not ("PROXY" in name.upper() and "@" in value))
    }
    return {**kept, "PYTHONPATH": os.pathsep.join(_places())}


def walls_around(environment: dict[str, str], run: Path, hidden: Iterable[Path]) -> dict[str, Any]:
    """Return the paths that an agent's process may read, and those that are hidden.

    Hide the run file with its folder, the given paths, our data, and every run file. An import folder within a hidden
    path is not shown, except the run file's own folder.
    """
    places = _places()
    packages = [place for place in places if place.endswith("-packages")]
    python = {sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)), str(PACKAGE), *packages}
    files = [path for name, path in environment.items() if (name_parts := KEPT.fullmatch(name)) and name_parts[1]]
    secret = {os.path.realpath(path) for path in (*hidden, DATA, project_folder() / "data")}
    fenced = [*python, *secret]
    run = Path(os.path.abspath(run))
    beside = [run.parent, *(run.with_name(f"{run.name}{end}") for end in ("", "-wal", "-shm", "-journal"))]
    return {
        "shown": [*python, *map(os.path.abspath, files)],
        "places": [
            place
            for place in places
            if not any(Path(one).is_relative_to(f) for one in (place, os.path.realpath(place)) for f in fenced)
        ],
        "hidden": [*map(str, beside), *secret],
        "suffix": SUFFIX,
    }


def _places() -> list[str]:
    return [*dict.fromkeys(os.path.abspath(place) for place in ["", *sys.path])]


def _usage(raw: Any) -> Usage:
    try:
        return counted(SimpleNamespace(**raw))
    except (TypeError, ValueError):
        raise _garbled("gave no usable count of tokens") from None


def _of(message: dict[str, Any]) -> AgentFault:
    if "failed" in message:
        return AgentFault("crashed", f"the agent failed: {message['failed']}")
    return _garbled(f"wrote {orjson.dumps(message)[:100]!r}, which is not a message")


def _garbled(what: str) -> AgentFault:
    return AgentFault("garbled", f"the agent's process {what}")


def _crashed() -> AgentFault:
    return AgentFault("crashed", "the agent's process ended in the middle of the conversation")


def _told(line: bytes) -> str:
    try:
        return " ".join(str(orjson.loads(line)["failed"]).split())[:500]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return "it wrote no answer that can be read" if line else f"it ended, or gave no answer within {START_S:g} s"


RELAYS.add(IsolatedAgent)


def made_for(spec: str, settings: dict[str, RoleSettings], limit_s: float, *hidden: Any) -> tuple[Any, str, str]:
    """Return the agent's factory, the hash of its source, and any gap in the walls.

    The agent's module is never loaded in this process. `hidden` is the run file, then a list of paths.
    """
    environment = environment_of(settings)
    walls = walls_around(environment, *hidden)
    checked = partial(asyncio.run, check_isolated(spec, environment, walls))
    with ThreadPoolExecutor(1) as aside:
        source, open_why = aside.submit(checked).result() if running_loop() else checked()
    return partial(IsolatedAgent, spec, environment, None if open_why else walls, limit_s), source, open_why
