"""From the body of an answer to a `Completion`, and from a conversation to messages an endpoint will take.

Endpoints agree on the outline of a chat completion and on little else. Whatever a body holds, `parse_reply` returns a
completion or raises `EndpointError`; it never fails in another way. What it mends is listed there.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..records import Usage
from .faults import EndpointError, fault, from_error_body

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
ECHOED = ("extra_content",)
"""Fields beside the standard ones that some providers want back with every message they sent."""
ECHOED_WITH_CALLS = ("reasoning_details", "reasoning_content")
"""Reasoning that some providers (DeepSeek, Moonshot, OpenRouter) want back with a message that asks for tools, so that the
model goes on thinking where it was. With a reply in words none of them does, and some refuse it."""

DEEPEST = 200
MOST_BRACKETS = 300_000
"""Each list or object takes a hundred times the memory of its two bytes, and the time to make it."""
LONGEST_FINISH, LONGEST_ID = 60, 256
MOST_CALLS = 128
"""As many calls as OpenAI takes back in one message. An answer with more is a loop, and each of them would be made."""
MOST_TOKENS = 20_000_000
"""More tokens than any context window holds: a count above it is a mistake, and a budget would end by it."""
STANDARD_CALL_FIELDS = frozenset({"id", "type", "function", "index"})


@dataclass(slots=True)
class RequestedCall:
    """A tool call the model asks for.

    `id` is the endpoint's, or one given here where it had none or had used it before. `arguments` are the raw text
    where they are not a JSON object, so that the model can be told; `extra` are provider fields that must go back with
    the call.
    """

    id: str
    name: str
    arguments: dict[str, Any] | str
    extra: dict[str, Any] = field(default_factory=dict)

    def as_sent(self) -> dict[str, Any]:
        """Return the call as the endpoint wants it back."""
        function = {"name": self.name, "arguments": arguments_text(self.arguments)}
        return {"id": self.id, "type": "function", **self.extra, "function": function}


@dataclass(slots=True)
class Completion:
    """One answer of a model.

    Attributes
    ----------
    text : str
        What it says; empty where it says nothing. Thinking aloud is not in it.
    tool_calls : list of RequestedCall
        The calls it asks for, in order.
    finish_reason : str or None
        As the endpoint gave it: ``stop``, ``tool_calls``, ``length``, ``content_filter`` or its own word.
    usage : Usage
        Tokens of this call, hidden reasoning within `completion_tokens`; `missing` is 1 where the endpoint told none.
    reasoning : str
        Visible thinking, kept apart.
    raw : dict
        The body as it came; `parse_reply` makes the same completion of it again.
    latency_s : float
        Time of the attempt that succeeded, in seconds; waiting and failed attempts are not in it.
    attempts : list of dict
        The attempts that failed before it: ``kind``, ``status``, ``detail``, ``wait_s``.
    """

    text: str
    tool_calls: list[RequestedCall]
    finish_reason: str | None
    usage: Usage
    reasoning: str = ""
    raw: dict[str, Any] = field(default_factory=dict)
    latency_s: float = 0.0
    attempts: list[dict[str, Any]] = field(default_factory=list)

    def message(self) -> dict[str, Any]:
        """Return the assistant message to append to the conversation, with the provider's own fields echoed."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.tool_calls:
            message["tool_calls"] = [call.as_sent() for call in self.tool_calls]
        elif not self.text:
            message["content"] = ""
        sent = raw_message(self.raw)
        wanted = (*ECHOED, *ECHOED_WITH_CALLS) if self.tool_calls else ECHOED
        return message | {name: sent[name] for name in wanted if sent.get(name)}


def raw_message(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the first choice's message of a body, or an empty one."""
    choices = raw.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else {}


def decode_body(body: bytes, where: str = "the endpoint") -> dict[str, Any]:
    """Return the JSON object in a body; stray surrogates and bytes that are no UTF-8 become replacement marks.

    `EndpointError` of kind ``bad_body`` for an empty, cut, nested beyond reason, HTML or otherwise wrong body.
    """
    brackets = body.count(b"{") + body.count(b"[")
    if brackets > MOST_BRACKETS:
        raise fault("bad_body", where, f"more than {MOST_BRACKETS:,} lists and objects in one answer")
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        data = decode_leniently(body)
    if isinstance(data, dict) and can_be_kept(data, brackets):
        return data
    if not body.strip():
        raise fault("bad_body", where, "an empty body")
    what = "a web page" if body.lstrip()[:1] == b"<" else "no JSON object, or one cut short"
    raise fault("bad_body", where, f"{what}: {body[:60].decode('utf-8', 'replace')}")


def decode_leniently(body: bytes) -> Any:
    """Decode JSON whose text is not valid Unicode; None where it is no JSON at all."""
    try:
        loose = json.loads(body.decode("utf-8", "replace"))
        return orjson.loads(json.dumps(loose, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def can_be_kept(data: Any, brackets: int) -> bool:
    """Tell whether decoded JSON can be written again: the writer of the run file goes 254 levels deep and no deeper."""
    if brackets < DEEPEST:
        return True
    try:
        orjson.dumps(data)
    except TypeError:
        return False
    return True


def parse_reply(
    raw: dict[str, Any], messages: Sequence[dict[str, Any]] = (), where: str = "the endpoint"
) -> Completion:
    """Make a completion of a decoded body; `EndpointError` where it reports an error or holds no choice.

    Mended without a word: content that is null or a list of parts, a refusal in its own field, thinking within the
    text, the old ``function_call``, arguments that are a dict, null, empty or JSON inside a JSON string, ids that are
    missing or used before, more calls than anybody takes back, reasoning tokens counted beside the completion tokens.
    Counts of tokens that cannot be are unknown, never 0. Ids given here follow from `messages`, the conversation that
    was sent, so the same conversation gets the same ids.
    """
    if raw.get("error"):
        raise from_error_body(raw["error"], where)
    choices = raw.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise fault("bad_body", where, "an answer without choices")
    if choice.get("error"):
        raise from_error_body(choice["error"], where)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise fault("bad_body", where, "a choice without a message")
    finish = choice.get("finish_reason")
    if finish == "error":
        raise fault("server", where, "the answer ended in an error")
    text, reasoning = split_text(message)
    calls = requested_calls(message, len(messages), call_ids(messages))
    finish = finish[:LONGEST_FINISH] if isinstance(finish, str) else None
    return Completion(text, calls, finish, read_usage(raw.get("usage")), reasoning, raw)


def split_text(message: dict[str, Any]) -> tuple[str, str]:
    """Return what the message says to its reader, and the thinking that came with it."""
    text, aside = joined(message.get("content"))
    thoughts = [aside] if aside else []
    for name in ("reasoning_content", "reasoning", "reasoning_details"):
        said = joined(message.get(name))
        if not thoughts and (said[0] or said[1]):
            thoughts.append(said[0] or said[1])
    if THINK_CLOSE in text:
        thought, _, text = text.partition(THINK_CLOSE)
        thoughts.append(thought.replace(THINK_OPEN, "", 1).strip())
        text = text.lstrip()
    elif text.lstrip().startswith(THINK_OPEN):  # cut while it was still thinking
        thoughts.append(text.lstrip()[len(THINK_OPEN) :].strip())
        text = ""
    if not text:
        text = joined(message.get("refusal"))[0]
    return text, "\n".join(thoughts)


def joined(content: Any) -> tuple[str, str]:
    """Return the text and the thinking in a content field: a string, a list of parts, or anything else (nothing)."""
    if isinstance(content, str):
        return content, ""
    parts = content if isinstance(content, list) else [content]
    text, aside = [], []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            thought = part.get("thinking") or part.get("reasoning") or part.get("summary")
            if thought:
                aside.append(thought if isinstance(thought, str) else joined(thought)[0])
            said = part.get("text") or part.get("refusal")
            text.append(said if isinstance(said, str) else "")
    return "".join(text), "".join(aside)


def requested_calls(message: dict[str, Any], position: int, taken: set[str]) -> list[RequestedCall]:
    """Return the tool calls of a message, without parts that are no calls and what follows the first `MOST_CALLS`."""
    found = message.get("tool_calls")
    entries = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    if not entries and isinstance(message.get("function_call"), dict):
        entries = [{"function": message["function_call"]}]
    calls = []
    for index, entry in enumerate(entries[:MOST_CALLS]):
        inner = entry.get("function")
        function = inner if isinstance(inner, dict) else entry
        name, given = function.get("name"), entry.get("id")
        usable = isinstance(given, str) and 0 < len(given) <= LONGEST_ID and given not in taken
        number = str(given) if usable else fresh_id(position, index, taken)
        taken.add(number)
        more = entry if function is not entry else {}
        extra = {key: value for key, value in more.items() if key not in STANDARD_CALL_FIELDS}
        name = name if isinstance(name, str) else ""
        calls.append(RequestedCall(number, name, read_arguments(function.get("arguments")), extra))
    return calls


def fresh_id(position: int, index: int, taken: set[str]) -> str:
    """Return an id of nine letters and digits, the one form every provider takes, that is not in use."""
    while (number := f"c{position % 10_000:04d}{index:04d}") in taken:
        index += 1
    return number


def read_arguments(given: Any) -> dict[str, Any] | str:
    """Return arguments as a dict; the raw text where they are no JSON object."""
    if given is None or given == "":
        return {}
    if isinstance(given, dict):
        return given
    if not isinstance(given, str):
        return orjson.dumps(given, default=str).decode()
    decoded: Any = given
    for _ in range(2):  # some servers encode the object twice
        try:
            decoded = orjson.loads(decoded)
        except orjson.JSONDecodeError:
            return given
        if isinstance(decoded, dict):
            return decoded if can_be_kept(decoded, given.count("{") + given.count("[")) else given
        if not isinstance(decoded, str):
            return given
    return given


def arguments_text(arguments: Any) -> str:
    """Return arguments as the JSON object text an endpoint takes back; broken ones are wrapped for the model."""
    read = read_arguments(arguments)
    return orjson.dumps(read if isinstance(read, dict) else {"not_valid_json": read}).decode()


def count(value: Any) -> int | None:
    """Return a token count, None for what is none: a text, a fraction, a negative number, or more than there can be."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if number and 0 <= value <= MOST_TOKENS and value == int(value) else None


def read_usage(usage: Any) -> Usage:
    """Return the tokens of one call; `missing` is 1 where prompt or completion tokens are not known.

    Hidden reasoning is billed as output. OpenAI counts it within ``completion_tokens``; where the total shows that an
    endpoint counts it beside them (xAI, Gemini), it is added, so `completion_tokens` always holds all output. Where
    only the completion tokens are left out, the total says how many there were.
    """
    told = usage if isinstance(usage, dict) else {}
    prompt, output, total = (count(told.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    if output is None and told.get("completion_tokens") is None and prompt is not None and total is not None:
        output = max(0, total - prompt)
    if not prompt or output is None:
        return Usage(calls=1, missing=1)
    details, sources = told.get("completion_tokens_details"), told.get("prompt_tokens_details")
    reasoning = (count(details.get("reasoning_tokens")) or 0) if isinstance(details, dict) else 0
    beside = (total or 0) - prompt - output
    if beside > 0:
        output, reasoning = output + beside, max(reasoning, beside)
    cached = count(sources.get("cached_tokens")) if isinstance(sources, dict) else 0
    cached = cached or count(told.get("prompt_cache_hit_tokens")) or count(told.get("cache_read_input_tokens")) or 0
    return Usage(prompt, output, min(reasoning, output), min(cached, prompt), calls=1)


def filtered(error: EndpointError) -> Completion:
    """Return the completion that a refusal by the provider's filter amounts to."""
    message = {"role": "assistant", "content": ""}
    return parse_reply({"choices": [{"finish_reason": "content_filter", "message": message}], "refused": error.detail})


def call_ids(messages: Iterable[dict[str, Any]]) -> set[str]:
    """Return the ids of all calls in a conversation."""
    return {call["id"] for message in messages for call in message.get("tool_calls") or () if call.get("id")}


def cleaned(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages every endpoint takes: replayed arguments that are no JSON object are wrapped in one, in copies.

    vLLM and llama.cpp refuse a conversation in which the model once wrote broken JSON.
    """
    return [clean_message(message) if message.get("tool_calls") else message for message in messages]


def clean_message(message: dict[str, Any]) -> dict[str, Any]:
    """Return the message with arguments that are JSON objects; the same message where they already are."""
    calls = message["tool_calls"]
    texts = [
        arguments_text(call["function"].get("arguments")) if needs_cleaning(call["function"].get("arguments")) else None
        for call in calls
    ]
    if not any(texts):
        return message
    mended = [
        call if text is None else call | {"function": call["function"] | {"arguments": text}}
        for call, text in zip(calls, texts)
    ]
    return message | {"tool_calls": mended}


def needs_cleaning(arguments: Any) -> bool:
    """Tell whether arguments are anything but the text of a JSON object."""
    if not isinstance(arguments, str):
        return True
    try:
        return not isinstance(orjson.loads(arguments), dict)
    except orjson.JSONDecodeError:
        return True


def encode_body(body: dict[str, Any]) -> bytes:
    """Return the request body as JSON; text that is not valid Unicode gets replacement marks."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
