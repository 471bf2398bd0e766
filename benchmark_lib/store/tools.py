"""Declare a tool as one typed function: schema, checks and prompt text follow from it.

@tool(write=True)
def cancel_order(desk, order_id: Annotated[str, "The order's number."], reason: ...) -> dict:
'''Cancel a whole order.'''
"""

import importlib
import inspect
import typing
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from ..errors import BadInput
from ..records import Fault, ToolCall, content_hash

TOOL_FAULT = "tool_fault"
"""Error kind of a call in which one of the user's own tools failed, through no fault of the agent."""


class NotFound(LookupError):
    """Raise inside a tool for an id that does not exist; the agent reads its text."""


@dataclass(frozen=True)
class FromPolicy:
    """Mark a text argument whose allowed values are the keys of a table of the store's policy."""

    key: str


@dataclass(frozen=True)
class Tool:
    """One tool of a desk."""

    name: str
    function: Callable[..., Any]
    """``function(desk, **arguments) -> dict``; it has the tool's name."""
    write: bool
    """True if it changes the desk."""
    limit_s: float | None = None
    """Seconds it may take, for one of the user's own tools."""

    @cached_property
    def description(self) -> str:
        """Return the first paragraph of the docstring, on one line."""
        return " ".join((inspect.getdoc(self.function) or "").split("\n\n")[0].split())

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self.function, include_extras=True)

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """Return the pydantic model of the arguments."""
        fields: dict[str, Any] = {}
        for name, parameter in list(inspect.signature(self.function).parameters.items())[1:]:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            hint = self._hints[name]
            notes = [Field(description=n) for n in getattr(hint, "__metadata__", ()) if isinstance(n, str)]
            fields[name] = (typing.Annotated[(hint, *notes)] if notes else hint, default)
        return create_model(self.name, __config__=ConfigDict(extra="forbid", str_strip_whitespace=True), **fields)

    @cached_property
    def policy_keys(self) -> dict[str, str]:
        """Return, by argument, the policy key under which its allowed values are."""
        return {
            name: note.key
            for name, hint in self._hints.items()
            for note in getattr(hint, "__metadata__", ())
            if isinstance(note, FromPolicy)
        }

    def schema(self, policy: dict[str, Any]) -> dict[str, Any]:
        """Return the tool as an OpenAI function schema, with allowed values filled in from `policy`."""
        raw = self.arguments.model_json_schema()
        parameters = _plain(raw, raw.get("$defs", {}))
        for name, key in self.policy_keys.items():
            parameters["properties"][name]["enum"] = list(policy[key])
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }

    def read_arguments(self, arguments: dict[str, Any] | str, policy: dict[str, Any]) -> dict[str, Any]:
        """Return checked arguments for the function; `ArgumentError` tells the agent what is wrong."""
        if isinstance(arguments, str):
            try:
                arguments = orjson.loads(arguments or "{}")
            except orjson.JSONDecodeError as error:
                raise ArgumentError("bad_json", f"The arguments of {self.name} are not valid JSON: {error}.") from None
        if not isinstance(arguments, dict):
            raise ArgumentError("bad_json", f"The arguments of {self.name} must be one JSON object.")
        try:
            checked = self.arguments.model_validate(arguments)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg'].lower()}" for e in error.errors()[:5]
            )
            raise ArgumentError("bad_arguments", f"{self.name} was not carried out: {problems}.") from None
        values = {name: getattr(checked, name) for name in type(checked).model_fields}
        for name, key in self.policy_keys.items():
            if values[name] not in policy[key]:
                raise ArgumentError(
                    "bad_arguments", f"{self.name} was not carried out: {name} must be one of {', '.join(policy[key])}."
                )
        return {name: _as_data(value) for name, value in values.items()}


class ArgumentError(ValueError):
    """Raised for a call not carried out: `kind` is the error kind, `fault` goes on record."""

    def __init__(self, kind: str, message: str, fault: Fault | None = None):
        super().__init__(message)
        self.kind, self.fault = kind, fault


@typing.overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@typing.overload
def tool(*, write: bool = False) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, *, write: bool = False) -> Any:
    """Declare ``f(desk, ...)`` as a tool; use ``@tool(write=True)`` if it changes the desk."""

    def declare(function: Callable[..., Any]) -> Tool:
        if not inspect.getdoc(function):
            raise BadInput(f"the tool {function.__name__} has no docstring: write one that begins with what it does")
        return Tool(function.__name__, function, write)

    return declare if function is None else declare(function)


def tools_of(namespace: Any) -> dict[str, Tool]:
    """Return the tools declared in a module (or any object), by name, in order."""
    return {t.name: t for t in vars(namespace).values() if isinstance(t, Tool)}


def import_object(spec: str, what: str) -> Any:
    """Return the object named by ``module:name``; look in the current folder as well."""
    import sys

    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise BadInput(f"{what} {spec!r} is not of the form module:name")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        reason = str(error)
    except (Exception, SystemExit, GeneratorExit, CancelledError) as error:  # importing it may do anything
        reason = f"{type(error).__name__}: {error}"
    raise BadInput(f"{what} {spec!r} cannot be loaded: {reason}; name an importable module and an object in it")


def source_hashes(thing: Any) -> list[str]:
    """Return content hashes of the user's own sources; empty where no source is found."""
    hashes = []
    for one in thing.values() if isinstance(thing, dict) else [thing]:
        target: Any = getattr(one, "function", one)
        target = target if hasattr(target, "__qualname__") else type(target)
        try:
            hashes.append(content_hash(inspect.getsource(target).encode()))
        except (OSError, TypeError):
            hashes.append("")
    return hashes


def load_tools(spec: str) -> dict[str, Tool]:
    """Load the user's own tools from ``module:name``: a tool, a list or a module-like object."""
    loaded = import_object(spec, "--tools")
    if isinstance(loaded, Tool):
        loaded = [loaded]
    if isinstance(loaded, Iterable):
        tools = {t.name: t for t in loaded if isinstance(t, Tool)}
    else:
        tools = tools_of(loaded) if hasattr(loaded, "__dict__") else {}
    if not tools:
        raise BadInput(f"--tools {spec!r} contains no tool: decorate a function with benchmark_lib.store.tool")
    return tools


def _as_data(value: Any) -> Any:
    """Return an argument with every pydantic model in it, at any depth, as a dict."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, dict):
        return {key: _as_data(one) for key, one in value.items()}
    return [_as_data(one) for one in value] if isinstance(value, list | tuple) else value


def as_recorded(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as the record keeps them: decimals, sets and paths become JSON."""
    return orjson.loads(
        orjson.dumps(arguments, default=lambda v: sorted(v) if isinstance(v, set | frozenset) else str(v))
    )


def _plain(schema: Any, definitions: dict[str, Any]) -> Any:
    """Simplify a JSON schema: remove references, titles, discriminators and nulls."""
    if isinstance(schema, list):
        return [_plain(s, definitions) for s in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[1]]
        rest = {k: v for k, v in schema.items() if k != "$ref"}
        return {**_plain(target, definitions), **_plain(rest, definitions)}
    if "anyOf" in schema:
        options = [s for s in schema["anyOf"] if s != {"type": "null"}]
        if len(options) == 1:
            rest = {k: v for k, v in schema.items() if k not in ("anyOf", "default")}
            return _plain({**options[0], **rest}, definitions)
    out = {}
    for key, value in schema.items():
        is_title = key == "title" and not isinstance(value, dict)
        if is_title or key in ("$defs", "discriminator") or (key == "default" and value is None):
            continue
        if key == "properties":
            out[key] = {name: _plain(s, definitions) for name, s in value.items()}
        else:
            out["anyOf" if key == "oneOf" else key] = _plain(value, definitions)
    return out


NO_ANSWER, BUSY, NOT_DONE = "timeout", "rate_limit", "not_carried_out"
"""Error kinds of calls that met trouble: no answer, too many calls, and a false success."""
CALL_LIMIT = "too_many_calls"
"""Error kind of a call beyond its turn's limit; such a call is not carried out."""


class Part(BaseModel):
    """A part of a case."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CustomerAction(Part):
    """An action that the customer takes with a tool of its own, and that sets fields of a row."""

    tool: str
    table: str
    id: str
    set: dict[str, Any]


class Trouble(Part):
    """A failure of a tool."""

    tool: str
    at: int = Field(1, ge=1)
    times: int = Field(1, ge=1)
    """First call of the conversation that is affected (from 1), and number of calls affected in a row."""
    where: dict[str, Any] = {}
    """Arguments of the calls that can be affected, such as one order's number; only these calls count."""
    kind: Literal["timeout", "rate_limit", "lost_ack", "false_ack", "stale", "cut"]
    """``timeout`` and ``rate_limit``: not carried out, with an error; ``lost_ack``: carried out, but
    answered with a timeout; ``false_ack``: not carried out, but answered with success; ``stale``: an older version of
    the row; ``cut``: lists cut short."""
    shows: dict[str, Any] = {}
    as_of: str = ""
    """Fields of a stale answer, and their time."""
    keep: int = Field(1, ge=0)
    """Number of entries that a shortened list keeps."""


class Meanwhile(Part):
    """A change before the customer's message number `at`, at a time shown above the message."""

    at: int = Field(ge=2)
    clock: datetime | None = None
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    """Changed fields by table and id, as in a world's rows."""


def met(trouble: Sequence[Trouble], name: str, arguments: Any, before: Sequence[ToolCall]) -> Trouble | None:
    """Return the trouble that a tool's next call meets after the calls `before`, or None."""
    earlier = [c.arguments for c in before if c.name == name and c.side == "agent" and c.error != CALL_LIMIT]
    for one in trouble:
        place = 1 + sum(_fits(one, made) for made in earlier)
        if one.tool == name and _fits(one, arguments) and one.at <= place < one.at + one.times:
            return one
    return None


def _fits(trouble: Trouble, arguments: Any) -> bool:
    given = arguments if isinstance(arguments, Mapping) else {}
    return all(str(given.get(name)).casefold() == str(value).casefold() for name, value in trouble.where.items())


def shown_error(call: ToolCall) -> str | None:
    """Return a call's error as far as its caller can tell from the answer."""
    if isinstance(call.result, Mapping) and call.result.keys() == {"error"}:
        return call.error or NO_ANSWER
    return None if call.error == NOT_DONE else call.error
