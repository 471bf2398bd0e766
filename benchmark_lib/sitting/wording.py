"""What a player is shown, as plain text: quoted line by line, so that no words of a conversation can pass for the harness's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .chairs import Item

OTHER = {"agent": "THE CUSTOMER WRITES", "customer": "FOR YOU"}
"""The heading of what the other side says, by the side that a player has."""


def as_text(items: list[Item], side: str) -> str:
    """Items as a text to read; the lines that begin with a bar are quoted."""
    return "\n\n".join(_WORDING[item["kind"]](item, side) for item in items)


def tool_text(tool: dict[str, Any]) -> str:
    """One tool with its arguments, a line for each."""
    parameters = tool["parameters"]
    required = parameters.get("required", [])
    lines = [f"{tool['name']}: {tool['description']}"]
    for name, schema in parameters.get("properties", {}).items():
        kind = json.dumps({key: value for key, value in schema.items() if key != "description"}, ensure_ascii=False)
        optional = "" if name in required else " (may be left out)"
        lines.append(f"    {name}{optional}: {schema.get('description', '')} {kind}".rstrip())
    return "\n".join(lines)


def quoted(text: str) -> str:
    """A text behind a bar, without characters that would steer a terminal."""
    return "\n".join(f"| {visible(line)}".rstrip() for line in text.splitlines() or [""])


def visible(text: str) -> str:
    """A line with every control character and every mark that turns the direction of writing shown as its code."""
    return "".join(c if c.isprintable() or c in "\t\u00a0" else f"\\u{ord(c):04x}" for c in text)


def _conversation(item: Item, side: str) -> str:
    begun = " (begun before: what was said so far follows)" if item["resumed"] else ""
    return f"===== CONVERSATION {item['number']}{begun} ====="


def _own(item: Item, side: str) -> str:
    calls = [f"YOU CALLED {visible(name)} {visible(arguments)}" for name, arguments in item["calls"]]
    said = [f"YOU WROTE\n{quoted(item['text'])}"] if item["text"] else []
    return "\n".join([*said, *calls])


def _over(item: Item, side: str) -> str:
    why = f" It was ended here: {visible(item['why'])}." if item["why"] else ""
    return f"THIS CONVERSATION IS OVER.{why}"


_WORDING: dict[str, Callable[[Item, str], str]] = {
    "prompt": lambda item, side: f"YOUR INSTRUCTIONS\n{quoted(item['text'])}",
    "tools": lambda item, side: "YOUR TOOLS\n" + quoted("\n".join(map(tool_text, item["tools"]))),
    "conversation": _conversation,
    "words": lambda item, side: f"{OTHER[side]}\n{quoted(item['text'])}",
    "result": lambda item, side: f"RESULT OF {visible(item['name'])}\n{quoted(item['text'])}",
    "own": _own,
    "over": _over,
    "finished": lambda item, side: f"{item['why']} You can stop.",
}
