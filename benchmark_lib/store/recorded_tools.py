"""Record the user's own tools in a run's manifest and find them again.

A run file may come from anyone, so pages and tables never run its code; they use the recorded declarations. A command
that must call the tools loads the named module, but only if it contains the same function sources.
"""

import ast
import inspect
import io
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from ..errors import BadInput
from ..records import content_hash
from .own_tools import guarded
from .protocols import Store
from .tools import TOOL_FAULT, ArgumentError, Tool, import_object, load_tools, source_hashes

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

    The tools come from `given`, as for a run, or from the module in the manifest. Raise `BadInput` if they are missing
    or differ from those of the run.
    """
    value = (manifest["inputs"].get("tools") or {}).get("value")
    if not value:
        return store
    declared = _declared_in(manifest)
    tools = load_tools(given) if isinstance(given, str) else given
    if tools is None:
        tools = {one["name"]: _played_tool(one, path) for one in declared}
    if not tools:
        spec = value if isinstance(value, str) else "module:name"
        raise BadInput(f"{path} does not say where its tools are: name them with --tools {spec}")
    for one in declared:
        if one["name"] not in tools:
            raise BadInput(f"{path} was played with the tool {one['name']}, which {given} lacks: change --tools")
        if one["source"] not in ("", *source_hashes(tools[one["name"]])):
            raise BadInput(_changed(one, path))
    return store.with_tools(guarded(tools, store.policy))


def _declared_in(manifest: dict[str, Any]) -> Declared:
    # Empty if the manifest is older, or malformed.
    listed = (manifest["inputs"].get("tools") or {}).get("declared")
    shape: dict[str, Any] = {"name": str, "module": (str, type(None)), "write": bool, "source": str, "schema": dict}
    right = isinstance(listed, list) and all(
        isinstance(one, dict) and all(isinstance(one.get(name), kind) for name, kind in shape.items()) for one in listed
    )
    return listed if right and listed is not None else []


def _played_tool(one: dict[str, Any], path: Path) -> Tool:
    name, module = one["name"], one["module"]
    if module is None:
        raise BadInput(
            f"{path} was played with the tool {name} from a notebook: move it to a module, and name it with --tools"
        )
    file = _file_of(module)
    if file is None:
        raise BadInput(
            f"{path} was played with the tool {name} of the module {module}, which cannot be found from here: "
            "change to its folder, or name it with --tools module:name"
        )
    if one["source"] not in functions_in(file):
        raise BadInput(_changed(one, path))
    found = import_object(f"{module}:{name}", "--tools")
    if not isinstance(found, Tool):
        raise BadInput(
            f"{path} was played with the tool {name}, which {module} lacks: name it with --tools module:name"
        )
    return found


def _changed(one: dict[str, Any], path: Path) -> str:
    return (
        f"{path} was played with another version of the tool {one['name']}: restore it, "
        "or name a module that contains it with --tools module:name"
    )


def _file_of(module: str) -> Path | None:
    # No code may run: importlib.util.find_spec would import the packages above.
    places: list[str] | None = ["", *sys.path]
    origin = None
    for part in module.split("."):
        spec = PathFinder.find_spec(part, places) if part else None
        if spec is None:
            return None
        origin, places = spec.origin, list(spec.submodule_search_locations or [])
    return Path(origin) if origin and origin.endswith(".py") else None


def functions_in(file: Path) -> set[str]:
    """Return the hashes of a Python file's functions, as in `source_hashes`; run nothing."""
    try:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, UnicodeError, ValueError, SyntaxError):
        return set()
    lines = io.StringIO(text if text.endswith("\n") else f"{text}\n").readlines()
    starts = [
        min([node.lineno, *(one.lineno for one in node.decorator_list)])
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]
    return {content_hash("".join(inspect.getblock(lines[start - 1 :])).encode()) for start in starts}
