"""Turn a conversation into messages that an endpoint accepts, and learn from its refusals.

A broken part of one reply, such as an invalid tool name, would make an endpoint refuse every later request. A
provider's own fields go back with messages that ask for tools, so that the model keeps its thoughts. Most providers
refuse such fields in a reply without calls.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from .faults import EndpointError
from .reply import STANDARD, THOUGHTS, arguments_text, own_fields, split_text

ALWAYS_BACK = frozenset({"extra_content"})
"""A provider's own fields that go back with every message."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""A tool name that every provider accepts."""
NO_NAME, NO_WORDS = "unnamed", "(nothing)"
"""Substitutes for the missing name of a call, and for the text of an empty message."""
NO_NULL = re.compile(r"\bnull\b|\bNone\b|valid string|KeyError")
WANTED = re.compile(
    r"pass\w* (?:it )?back|missing|required|must (?:also )?(?:be )?(?:includ|present|provid|sent|retain)", re.IGNORECASE
)


@dataclass(frozen=True)
class Manner:
    """The form in which an endpoint wants its own messages back.

    `thoughts` go back with messages that ask for tools (``calls``) or with all messages (``all``). `refused` fields are
    left out; `wanted` fields are in every message, even if empty. `in_words` turns calls to unknown tools into text.
    `no_null` gives a message without words an empty text instead of null.
    """

    thoughts: Literal["calls", "all"] = "calls"
    refused: frozenset[str] = frozenset()
    wanted: frozenset[str] = frozenset()
    in_words: bool = False
    no_null: bool = False

    def after(self, error: EndpointError, messages: Sequence[dict[str, Any]], tools: set[str]) -> "Manner | None":
        """Return another form worth trying after a refused request, or None."""
        sent = [m for m in cleaned(messages, self, tools) if m["role"] == "assistant"]
        calls = [call for message in sent for call in message.get("tool_calls") or ()]
        parts = [own_fields(part) for call in calls for part in (call, call["function"])]
        there = {name for message in sent for name in message if name not in STANDARD}.union(*parts)
        if not self.no_null and any(m["content"] is None for m in sent) and NO_NULL.search(error.words):
            return replace(self, no_null=True)
        named = set(re.findall(r"[\w-]+", error.words)) & {*there, *THOUGHTS} - self.refused
        if WANTED.search(error.words):
            if sent and named - self.wanted:
                return replace(self, thoughts="all", wanted=self.wanted | named)
        elif named & there:
            return replace(self, refused=self.refused | named & there, wanted=self.wanted - named)
        called = {c["function"].get("name") for message in messages for c in message.get("tool_calls") or ()}
        return replace(self, in_words=True) if tools and called - tools and not self.in_words else None


def cleaned(
    messages: Sequence[dict[str, Any]], manner: Manner | None = None, tools: set[str] | None = None
) -> list[dict[str, Any]]:
    """Return the messages in the endpoint's form; copy only what has to change."""
    manner = manner or Manner()
    if manner.in_words:
        messages = _in_words(messages, tools or set())
    return [_clean_message(message, manner) for message in messages]


def _clean_message(message: dict[str, Any], manner: Manner) -> dict[str, Any]:
    calls, clean = message.get("tool_calls"), message
    if message.get("role") == "assistant":
        back = manner.thoughts == "all" or calls
        names = [n for n in message if n in STANDARD | ALWAYS_BACK or (back and n not in manner.refused)]
        clean = {name: message[name] for name in names} | {n: "" for n in manner.wanted if n not in message}
        if not back and isinstance(message.get("content"), str | list):
            clean["content"] = split_text({"content": message["content"]})[0]
    if calls:
        clean = clean | {"tool_calls": [_clean_call(call, manner.refused) for call in calls]}
    content = clean.get("content")
    if message.get("role") != "tool" and (content in (None, []) or (isinstance(content, str) and not content.strip())):
        clean = clean | {"content": NO_WORDS if not calls else "" if manner.no_null else None}
    return message if clean == message else clean


def _clean_call(given: dict[str, Any], refused: frozenset[str]) -> dict[str, Any]:
    # A name and arguments that every endpoint accepts.
    call = {field: value for field, value in given.items() if field not in refused}
    function = {field: value for field, value in given["function"].items() if field not in refused}
    name: str = function.get("name") or NO_NAME
    arguments: Any = function.get("arguments")
    if not NAME.fullmatch(name):
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64].lstrip("-0123456789") or NO_NAME
    try:
        fits = isinstance(orjson.loads(arguments), dict)
    except orjson.JSONDecodeError:
        fits = False
    function |= {"name": name, "arguments": arguments if fits else arguments_text(arguments)}
    clean = call | {"function": function}
    return given if clean == given else clean


def _in_words(messages: Sequence[dict[str, Any]], tools: set[str]) -> list[dict[str, Any]]:
    # Calls to unknown tools, and their results, become text.
    rewritten: list[dict[str, Any]] = []
    unknown: dict[str, str] = {}
    results: list[str] = []
    for message in [*messages, {}]:  # the empty message only ends the results before it
        if message.get("role") == "tool" and message.get("tool_call_id") in unknown:
            results.append(f"[{unknown[message['tool_call_id']]}: {message['content']}]")
            continue
        if message.get("role") != "tool" and results:
            rewritten.append({"role": "user", "content": "\n".join(results)})
            results = []
        calls = message.get("tool_calls") or []
        wrong = [call for call in calls if call["function"].get("name") not in tools]
        if wrong:
            unknown |= {call["id"]: call["function"].get("name") or NO_NAME for call in wrong}
            words = [f"[{unknown[c['id']]}({c['function'].get('arguments')})]" for c in wrong]
            text = "\n".join(filter(None, [split_text({"content": message.get("content")})[0], *words]))
            message = message | {"content": text, "tool_calls": [call for call in calls if call not in wrong]}
            message = {name: value for name, value in message.items() if name != "tool_calls" or value}
        rewritten.append(message)
    return rewritten[:-1]
