"""Items as plain text for a player.

Every line is quoted, so that no words of a conversation can be mistaken for the harness's own.
"""

import json
import textwrap
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
