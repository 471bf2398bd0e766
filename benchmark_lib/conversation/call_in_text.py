"""Tool calls that a model writes into its reply, where no server reads them: recognised, and never carried out."""

import re
from collections.abc import Iterable
from functools import lru_cache

FORMS = {
    "<tool_call>": r"<\|?(?:\w+:)?(?:tool_?calls?|action)(?:_section)?(?:_begin|_start)?(?:\|?>|\s[^<>]{0,80}>)|<｜tool|<｜DSML",
    "<function=...>": r"<function=|<function_calls?>|<invoke name=|<parameter=|<use_mcp_tool>",
    "[TOOL_CALLS]": r"\[TOOL_CALLS?\]|\[Calling tool",
    "<|python_tag|>": r"<\|python_(?:tag|start)\|>|<\|channel\|?>commentary|\bto=functions\.|<\|tool",
    "JSON": r"""["'](?:name|tool|tool_name|function|action)["']\s*:\s*["'](?:NAMES)["']""",
    "name(...)": r"^\W{0,8}(?:print\(|tool_code\s+)?(?:(?:default_api|functions|tools)\.)?(?:NAMES)(?::\d+)?\s*\(",
    "Action: name": r"^\W{0,8}(?:Action|Tool|Function)(?: call| name)?\W{1,4}(?:NAMES)\b",
}
"""What such a call looks like, by how it is named to a person; NAMES are the tools of the desk."""


def call_in_text(text: str, tools: Iterable[str]) -> str:
    """Return the form of the first tool call that a reply holds in words; empty where it holds none."""
    return next((form for form, shape in _shapes(tuple(tools)) if shape.search(text)), "")


@lru_cache(maxsize=16)
def _shapes(tools: tuple[str, ...]) -> list[tuple[str, re.Pattern[str]]]:
    names = "|".join(map(re.escape, tools)) or r"(?!)"
    return [(form, re.compile(shape.replace("NAMES", names), re.MULTILINE)) for form, shape in FORMS.items()]
