"""Items as plain text for a player, and a tool's arguments as fields to fill in.

Every line is quoted, so that no words of a conversation can be mistaken for the harness's own.
"""

import json
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from .chairs import Item

BAR = "| "
BLANK = "\u00a0\t"
"""Spaces to show unchanged, although Python does not count them as printable."""


def as_text(items: list[Item], side: str, *, indent: bool = False, width: int | None = None) -> str:
    """Return items as text; lines that begin with a bar are quoted.

    Parameters
    ----------
    indent : bool
        Whether to spread JSON over several lines, for people.
    width : int, optional
        Width at which to break longer lines.
    """

    def quoted(text: str) -> str:
        lines = visible(text.replace("\r\n", "\n")).split("\n")
        if width is not None:
            room = max(width - len(BAR) - 1, 20)
            lines = [short for line in lines for short in _broken(line, room)]
        return "\n".join(f"{BAR}{line}".rstrip() for line in lines)

    blocks = []
    for item in items:
        for heading, text in _parts(item, side, spread if indent else str):
            on_one_line = visible(heading).replace("\n", "\\n")
            blocks.append(on_one_line if text is None else f"{on_one_line}\n{quoted(text)}")
    return "\n\n".join(blocks)


def tool_text(tool: dict[str, Any]) -> str:
    """Return a tool with its arguments, one per line."""
    parameters = tool["parameters"]
    required = parameters.get("required", [])
    lines = [f"{tool['name']}: {tool['description']}"]
    for name, schema in parameters.get("properties", {}).items():
        rest = {key: value for key, value in schema.items() if key != "description"}
        kind = json.dumps(rest, ensure_ascii=False)
        optional = "" if name in required else " (may be left out)"
        lines.append(f"    {name}{optional}: {schema.get('description', '')} {kind}")
    return visible("\n".join(lines))


def spread(text: str) -> str:
    """Return JSON over several lines, keeping line breaks in its texts; return other text as is."""
    try:
        return orjson.dumps(orjson.loads(text), option=orjson.OPT_INDENT_2).decode().replace("\\n", "\n")
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # nested too deeply
        return text


def visible(text: str) -> str:
    """Return a text with codes in place of control and direction characters."""
    return "".join(c if c.isprintable() or c in BLANK or c == "\n" else f"\\u{ord(c):04x}" for c in text)


def _parts(item: Item, side: str, json_text: Callable[[str], str]) -> Iterator[tuple[str, str | None]]:
    """Yield each heading of an item with the text below it, if any."""
    kind, text = item["kind"], item.get("text")
    if kind == "conversation":
        begun = " (begun before: what was said so far follows)" if item["resumed"] else ""
        yield f"===== CONVERSATION {item['number']}{begun} =====", None
    elif kind == "prompt":
        yield "YOUR INSTRUCTIONS", text
    elif kind == "tools":
        yield "YOUR TOOLS", "\n".join(map(tool_text, item["tools"]))
    elif kind == "words":
        yield "THE CUSTOMER WRITES" if side == "agent" else "FOR YOU", text
    elif kind == "result":
        yield f"RESULT OF {item['name']}", json_text(item["text"])
    elif kind == "own":
        if text:
            yield "YOU WROTE", text
        for name, given in item["calls"]:
            yield f"YOU CALLED {name}", json_text(given)
    elif kind == "over":
        why = f" It was ended here: {item['why']}." if item["why"] else ""
        yield f"THIS CONVERSATION IS OVER.{why}", None
    else:
        yield f"{item['why']} You can stop.", None


def _broken(line: str, width: int) -> list[str]:
    """Wrap a line, repeating its indentation on further lines."""
    margin = line[: len(line) - len(line.lstrip())]
    wrapper = textwrap.TextWrapper(width, subsequent_indent=margin)
    wrapper.break_on_hyphens = wrapper.replace_whitespace = False
    return wrapper.wrap(line) or [""]


# --- Acts

READ_AS = "What does it do, such as `attached photo; agreed start_return; left content`?"


def acts_of(text: str) -> list[dict[str, str]]:
    """Return the acts in a line, separated by semicolons.

    Raise `ValueError` with an explanation if an act lacks what it is about.
    """
    acts = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, _, what = part.partition(" ")
        if not what:
            lack = "lacks what it is about: write a kind and what it is about, such as `attached photo`."
            raise ValueError(f"{part!r} {lack}")
        acts.append({"kind": kind, "what": what.strip()})
    return acts


# --- Fields


@dataclass(frozen=True)
class Field:
    """One argument, or one field of an argument that is an object.

    Attributes
    ----------
    path : tuple of str
        The names from the outermost argument inwards.
    hint : str
        Description of the expected value.
    """

    path: tuple[str, ...]
    kind: str
    required: bool
    hint: str

    @property
    def place(self) -> str:
        """Return the path as text, such as ``address.city``."""
        return ".".join(self.path)

    def put(self, text: str, arguments: dict[str, Any]) -> None:
        """Store the typed value in the arguments; omit an empty optional field.

        Raise `ValueError` with an explanation if the value has the wrong type.
        """
        text = text.strip()
        if not text and not self.required:
            return
        try:
            value = _TYPES.get(self.kind, _TYPES["string"])[1](text)
        except (ValueError, KeyError):
            raise ValueError(f"{self.place} cannot be {text!r}: {self.hint or self.kind}") from None
        *outer, last = self.path
        for name in outer:
            arguments = arguments.setdefault(name, {})
        arguments[last] = value


def _several(text: str) -> list[Any]:
    if text.startswith("["):
        return json.loads(text)
    return [one.strip() for one in text.split(",") if one.strip()]


_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_TYPES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "array": ("several separated by commas", _several),
    "integer": ("a whole number", int),
    "number": ("a number", float),
    "boolean": ("yes or no", lambda text: _TRUTH[text.lower()]),
    "string": ("", str),
}
"""How to enter a value of each JSON type, and its parser; other types are strings."""


def fields_of(schema: dict[str, Any], path: tuple[str, ...] = (), needed: bool = True) -> list[Field]:
    """Return the fields of an object's schema, with inner objects expanded."""
    fields = []
    for name, inner in schema.get("properties", {}).items():
        required = needed and name in schema.get("required", [])
        if inner.get("type") == "object" and inner.get("properties"):
            fields += fields_of(inner, (*path, name), required)
            continue
        kind = inner.get("type", "string")
        hints = [
            inner.get("description", "").rstrip("."),
            f"one of {', '.join(map(str, inner['enum']))}" if "enum" in inner else "",
            _TYPES.get(kind, _TYPES["string"])[0],
            "" if required else "may be left empty",
        ]
        fields.append(Field((*path, name), kind, required, "; ".join(filter(None, hints))))
    return fields
