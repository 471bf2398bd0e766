"""Check, guard and record the user's own tools, so that no call can spoil a run."""

import copy
import dataclasses
import functools
import inspect
import math
import re
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from ..errors import BadInput
from ..records import Fault
from .desk import Desk
from .files import leaves
from .kinds import Store
from .tools import TOOL_FAULT, ArgumentError, NotFound, Tool, load_tools, source_hashes

TOOL_LIMIT_S = 30.0
"""Seconds that a call to one of the user's own tools may take, unless the run sets another limit."""
LARGEST_RESULT = 1_000_000
"""Maximum bytes of JSON that a tool may return, and that it may leave on the desk."""
SHOWN, LINES_KEPT = 300, 8
UNNAMED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
PATH = re.compile(r"(?<![\w/.])(?:[A-Za-z]:\\|~?/)[^\s'\":,)]*[/\\][^\s'\":,)]*")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


class _Spoiled(Exception):
    """Raised for a call that returned but cannot be accepted."""


def guarded(tools: Any, policy: dict[str, Any], limit_s: float = TOOL_LIMIT_S) -> dict[str, Tool]:
    """Return the user's own tools made safe for a run; raise `BadInput` for an invalid one.

    Each call works on a copy of the desk, in a thread, for at most `limit_s` seconds. Its changes are kept if its
    result can be written. Otherwise the agent reads an error, the desk stays unchanged, and the record's faults name
    the failing line.
    """
    if not isinstance(tools, dict):
        raise BadInput(
            f"tools must be a dict of name to tool, not {type(tools).__name__}: decorate functions with "
            "benchmark_lib.store.tool"
        )
    for name, tool in tools.items():
        if not isinstance(tool, Tool):
            raise BadInput(f"the tool {name!r} is not a tool: decorate its function with benchmark_lib.store.tool")
        if inspect.iscoroutinefunction(tool.function):
            raise BadInput(f"the tool {name!r} is an async function; tools must be plain functions: write it with def")
        unnamed = [p for p in list(inspect.signature(tool.function).parameters.values())[1:] if p.kind in UNNAMED]
        if unnamed:
            raise BadInput(
                f"the tool {name!r} takes {str(unnamed[0]).partition(':')[0]!r}, but a model passes each "
                "argument by name: write the arguments out, each with a type"
            )
        try:
            orjson.dumps(tool.schema(policy))
        except Exception as error:
            raise BadInput(
                f"the tool {name!r} cannot be declared to a model ({type(error).__name__}: {error}): give it a first "
                "argument for the desk, and give each further argument a type"
            ) from None
    return {
        name: dataclasses.replace(tool, function=_guard(tool, limit_s), limit_s=limit_s) for name, tool in tools.items()
    }


def _guard(tool: Tool, limit_s: float) -> Callable[..., Any]:
    @functools.wraps(tool.function)
    def call(desk: Desk, **arguments: Any) -> Any:
        fork = copy.copy(desk)
        fork._overlay, fork.calls = orjson.loads(orjson.dumps(desk._overlay)), list(desk.calls)

        def work() -> tuple[Any, Any]:
            result = _written("it returned", tool.function(fork, **arguments))
            return result, _written("it left on the desk", fork._overlay)

        try:
            result, overlay = _within(limit_s, work)
        except NotFound as error:
            raise NotFound(_message(error)) from None
        except ArgumentError as error:
            raise ArgumentError(error.kind, _message(error)) from None
        except BaseException as error:
            raise _fault(tool, error) from error
        desk._overlay, desk.over = overlay, fork.over
        desk.calls.extend(fork.calls[len(desk.calls) :])
        return result

    return call


def _within(limit_s: float, function: Callable[[], Any]) -> Any:
    # The thread is a daemon, so that it cannot keep the process alive if it takes longer.
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append((function(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(limit_s)
    if not outcome:
        raise _Spoiled(f"it took longer than {limit_s:g} seconds")
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


def _written(what: str, value: Any) -> Any:
    """Return a value as the run file restores it."""
    try:
        data = orjson.dumps(value)
    except Exception as error:
        raise _Spoiled(f"what {what} cannot be written as JSON: {_message(error)}") from None
    if len(data) > LARGEST_RESULT:
        raise _Spoiled(f"what {what} is {len(data):,} bytes of JSON, more than the {LARGEST_RESULT:,} allowed")
    if b"null" in data and any(isinstance(v, float) and not math.isfinite(v) for _, v in leaves(value)):
        raise _Spoiled(f"what {what} cannot be written as JSON: it holds NaN or infinity")
    return orjson.loads(data)


def _fault(tool: Tool, error: BaseException) -> ArgumentError:
    """Return the agent's error, without paths; the fault that it carries has source lines."""
    if isinstance(error, _Spoiled):
        happened, lines = str(error), []
    else:
        happened = f"{type(error).__name__}: {_message(error)}".rstrip(": ")
        frames = traceback.extract_tb(error.__traceback__)
        error.__traceback__ = None  # the same object may be raised again with these lines
        lines = [
            f"{Path(f.filename).name}:{f.lineno} in {f.name}" for f in frames if Path(f.filename) != Path(__file__)
        ][-LINES_KEPT:]
    sentence = f"The tool {tool.name} failed and nothing was changed: {happened}."
    return ArgumentError(
        TOOL_FAULT, sentence, Fault("tool", TOOL_FAULT, "; ".join([f"{tool.name}: {happened}", *lines]))
    )


def _message(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except BaseException:  # str(error) may fail as well
        return ""
    text = ADDRESS.sub("0x...", PATH.sub("(path)", text)).encode("utf-8", "replace").decode()
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


# --- Recorded tools

Declared = list[dict[str, Any]]


@dataclass(frozen=True)
class RecordedTool(Tool):
    """A tool known only from a run file: it can be shown as declared, but not called."""

    declared: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def _unknown(self) -> str:
        return f"the tool {self.name} is known only from a run file: name its module with --tools module:name"

    @property
    def description(self) -> str:  # type: ignore[override]
        """Return the description that was declared to the model."""
        return str(self.declared.get("function", {}).get("description", ""))

    @property
    def arguments(self) -> type[BaseModel]:  # type: ignore[override]
        """Raise `BadInput`: the arguments cannot be read without the function."""
        raise BadInput(self._unknown)

    def read_arguments(self, arguments: dict[str, Any] | str, policy: dict[str, Any]) -> dict[str, Any]:
        """Raise `ArgumentError`, so that a page that repeats a record's calls can continue."""
        raise ArgumentError(TOOL_FAULT, self._unknown)

    def schema(self, policy: dict[str, Any]) -> dict[str, Any]:
        """Return the schema that was declared to the model."""
        return self.declared


def declared_tools(tools: dict[str, Tool], policy: dict[str, Any]) -> Declared:
    """Return a manifest's entries for the user's own tools.

    Each has ``name``, ``module`` (None if not importable elsewhere), ``write``, ``source`` (a content hash) and
    ``schema``.
    """
    return [
        {
            "name": tool.name,
            "module": None if tool.function.__module__ == "__main__" else tool.function.__module__,
            "write": tool.write,
            "source": source_hashes(tool)[0],
            "schema": tool.schema(policy),
        }
        for tool in tools.values()
    ]


def with_recorded_tools(store: Store, manifest: dict[str, Any]) -> Store:
    """Return a store with a run's own tools as the run file records them, without their code."""
    declared = _declared_in(manifest)
    return _with_recorded(store, orjson.dumps(declared)) if declared else store


@lru_cache(maxsize=16)
def _with_recorded(store: Store, declared: bytes) -> Store:
    def nothing(desk: Any) -> None: ...

    tools = [RecordedTool(one["name"], nothing, one["write"], declared=one["schema"]) for one in orjson.loads(declared)]
    return store.with_tools({tool.name: tool for tool in tools})


def with_played_tools(store: Store, manifest: dict[str, Any], path: Path, given: str | dict[str, Tool] | None) -> Store:
    """Return a store with a run's own tools added, ready to be called.

    Raise `BadInput` if they are not `given`, as for a run, or differ from those of the run.
    """
    value = (manifest["inputs"].get("tools") or {}).get("value")
    if not value:
        return store
    tools = load_tools(given) if isinstance(given, str) else given
    if not tools:
        spec = value if isinstance(value, str) else "module:name"
        raise BadInput(f"{path} was played with tools of your own: name them with --tools {spec}")
    for one in _declared_in(manifest):
        if one["name"] not in tools:
            raise BadInput(f"{path} was played with the tool {one['name']}, which {given} lacks: change --tools")
        if one["source"] not in ("", *source_hashes(tools[one["name"]])):
            raise BadInput(
                f"{path} was played with another version of the tool {one['name']}: restore it, or name a module that "
                "contains it with --tools module:name"
            )
    return store.with_tools(guarded(tools, store.policy))


def _declared_in(manifest: dict[str, Any]) -> Declared:
    # Empty if the manifest is older, or malformed.
    listed = (manifest["inputs"].get("tools") or {}).get("declared")
    shape: dict[str, Any] = {
        "name": str,
        "module": (str, type(None)),
        "write": bool,
        "source": str,
        "schema": dict,
    }
    right = isinstance(listed, list) and all(
        isinstance(one, dict) and all(isinstance(one.get(name), kind) for name, kind in shape.items()) for one in listed
    )
    return listed if right and listed is not None else []
