"""Items as plain text for a player, and a tool's arguments as fields to fill in.

Every line is quoted, so that no words of a conversation can be mistaken for the harness's own.
"""

import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from .chairs import Item

BAR = "| "
OTHER = {"agent": "THE CUSTOMER WRITES", "customer": "FOR YOU"}
"""Heading of the other side's messages, by the player's side."""
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
    wording = _Wording(side, indent, width)
    return "\n\n".join(getattr(wording, item["kind"])(item) for item in items)


def tool_text(tool: dict[str, Any]) -> str:
    """Return a tool with its arguments, one per line."""
    parameters = tool["parameters"]
    required = parameters.get("required", [])
    lines = [f"{tool['name']}: {tool['description']}"]
    for name, schema in parameters.get("properties", {}).items():
        kind = json.dumps({key: value for key, value in schema.items() if key != "description"}, ensure_ascii=False)
        optional = "" if name in required else " (may be left out)"
        lines.append(f"    {name}{optional}: {schema.get('description', '')} {kind}")
    return visible("\n".join(lines))


def spread(text: str) -> str:
    """Return JSON over several lines, keeping line breaks in its texts; return other text as is."""
    try:
        return orjson.dumps(orjson.loads(text), option=orjson.OPT_INDENT_2).decode().replace("\\n", "\n")
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # the latter if it is nested too deeply
        return text


def visible(text: str) -> str:
    """Return a text with codes in place of characters that control a terminal or text direction."""
    return "".join(c if c.isprintable() or c in BLANK or c == "\n" else f"\\u{ord(c):04x}" for c in text)


@dataclass(frozen=True)
class _Wording:
    """The text of each kind of item."""

    side: str
    indent: bool
    width: int | None

    def conversation(self, item: Item) -> str:
        begun = " (begun before: what was said so far follows)" if item["resumed"] else ""
        return f"===== CONVERSATION {item['number']}{begun} ====="

    def prompt(self, item: Item) -> str:
        return f"YOUR INSTRUCTIONS\n{self._quoted(item['text'])}"

    def tools(self, item: Item) -> str:
        return "YOUR TOOLS\n" + self._quoted("\n".join(map(tool_text, item["tools"])))

    def words(self, item: Item) -> str:
        return f"{OTHER[self.side]}\n{self._quoted(item['text'])}"

    def result(self, item: Item) -> str:
        return f"RESULT OF {_on_one_line(item['name'])}\n{self._quoted(self._json(item['text']))}"

    def own(self, item: Item) -> str:
        lines = [f"YOU WROTE\n{self._quoted(item['text'])}"] if item["text"] else []
        calls = [f"YOU CALLED {_on_one_line(name)}\n{self._quoted(self._json(given))}" for name, given in item["calls"]]
        return "\n\n".join([*lines, *calls])

    def over(self, item: Item) -> str:
        why = f" It was ended here: {_on_one_line(item['why'])}." if item["why"] else ""
        return f"THIS CONVERSATION IS OVER.{why}"

    def finished(self, item: Item) -> str:
        return f"{item['why']} You can stop."

    def _quoted(self, text: str) -> str:
        lines = visible(text.replace("\r\n", "\n")).split("\n")
        if self.width is not None:
            room = max(self.width - len(BAR) - 1, 20)
            lines = [short for line in lines for short in _broken(line, room)]
        return "\n".join(f"{BAR}{line}".rstrip() for line in lines)

    def _json(self, text: str) -> str:
        return spread(text) if self.indent else text


def _on_one_line(text: str) -> str:
    return visible(text).replace("\n", "\\n")


def _broken(line: str, width: int) -> list[str]:
    """Wrap a line to a width, repeating its indentation on further lines."""
    margin = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line, width, subsequent_indent=margin, break_on_hyphens=False, drop_whitespace=True, replace_whitespace=False
    ) or [""]


# --- Acts

READ_AS = "What does it do, such as `attached photo; agreed start_return; left content`?"


def acts_of(text: str) -> tuple[list[dict[str, str]], str]:
    """Parse the acts in a line, which are separated by semicolons.

    Returns
    -------
    acts : list of dict
        Each has a ``kind`` and a ``what``.
    why_not : str
        The fault in the line; empty if the line is valid.
    """
    acts = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, _, what = part.partition(" ")
        if not what.strip():
            return [], f"{part!r} lacks what it is about: write a kind and what it is about, such as `attached photo`."
        acts.append({"kind": kind, "what": what.strip()})
    return acts, ""


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
        value = self._read(text)
        *outer, last = self.path
        for name in outer:
            arguments = arguments.setdefault(name, {})
        arguments[last] = value

    def _read(self, text: str) -> Any:
        try:
            return _READERS.get(self.kind, str)(text)
        except (ValueError, KeyError):
            raise ValueError(f"{self.place} cannot be {text!r}: {self.hint or self.kind}") from None


def _several(text: str) -> list[Any]:
    if text.startswith("["):
        return json.loads(text)
    return [one.strip() for one in text.split(",") if one.strip()]


_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_READERS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "number": float,
    "boolean": lambda text: _TRUTH[text.lower()],
    "array": _several,
}
"""Parsers of typed text by JSON type; values of other types remain text."""


def fields_of(schema: dict[str, Any], path: tuple[str, ...] = (), needed: bool = True) -> list[Field]:
    """Return the fields of an object's schema, with inner objects expanded."""
    fields = []
    for name, inner in schema.get("properties", {}).items():
        required = needed and name in schema.get("required", [])
        if inner.get("type") == "object" and inner.get("properties"):
            fields += fields_of(inner, (*path, name), required)
        else:
            fields.append(Field((*path, name), inner.get("type", "string"), required, _hint(inner, required)))
    return fields


_HOW = {
    "array": "several separated by commas",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
}
"""How to enter a value of each type, if its description does not say."""


def _hint(schema: dict[str, Any], required: bool) -> str:
    words = [
        schema.get("description", "").rstrip("."),
        f"one of {', '.join(map(str, schema['enum']))}" if "enum" in schema else "",
        _HOW.get(schema.get("type", ""), ""),
        "" if required else "may be left empty",
    ]
    return "; ".join(filter(None, words))
