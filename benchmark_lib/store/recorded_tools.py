"""Record the user's own tools in a run's manifest, and compare tools with the recorded ones.

A run file may come from anyone, so it never determines which code runs. Pages and tables use the recorded declarations;
for a command that must call the tools, the user names them.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from ..errors import BadInput
from .own_tools import guarded
from .protocols import Store
from .tools import TOOL_FAULT, ArgumentError, Tool, load_tools, source_hashes

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

    Each has ``name``, ``module`` (None if other processes cannot import it), ``write``, ``source`` (a content hash) and
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
    shape: dict[str, Any] = {"name": str, "module": (str, type(None)), "write": bool, "source": str, "schema": dict}
    right = isinstance(listed, list) and all(
        isinstance(one, dict) and all(isinstance(one.get(name), kind) for name, kind in shape.items()) for one in listed
    )
    return listed if right and listed is not None else []
