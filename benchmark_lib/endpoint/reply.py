"""Read the body of an answer as a `Completion`.

Endpoints agree on the outline of a chat completion and on little else. `parse_reply` returns a completion or raises
`EndpointError`, whatever the body; its docstring lists what it corrects.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..records import Usage
from .faults import EndpointError, error_in, fault, from_error_body, one_line
from .wording import apart, end_meant, is_whole

STANDARD = frozenset({"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio", "name"})
"""Fields of a message that are not sent back as they came; all others are a provider's own, such as its thoughts."""
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "thinking", "thoughts")
"""Fields with thoughts; the first one that is not empty counts."""
BROKEN = "not a call: "
"""The beginning of the arguments of a call that nobody could read."""
NAMED = re.compile(
    r"""(?:"name"\s*:\s*"|<function=|<invoke name="|\b(?:for|call) tool ['"`]?)([A-Za-z_][\w.-]{0,63})"""
)

DEEPEST, ROOM = 200, 10
MOST_BRACKETS = 300_000
"""Each list or object takes a hundred times the memory of its two bytes, and time to build."""
LONGEST_FINISH, LONGEST_ID, LONGEST_BROKEN = 60, 256, 2000
MOST_CALLS = 128
"""OpenAI takes back no more calls in one message. An answer with more is a loop."""
MOST_TOKENS = 20_000_000
"""No context window is larger. A count above it is a mistake and would end a budget."""
STANDARD_CALL_FIELDS = frozenset({"id", "type", "function", "index", "custom", "name", "arguments", "input"})
"""Fields of a call and its function that are written here; all others are a provider's own and go back."""


@dataclass(slots=True)
class RequestedCall:
    """A tool call that the model requests.

    `id` is the endpoint's, or a new one if it had none or repeated one. `arguments` are the raw text if they are no
    JSON object, so that the model can correct them. `extra` and `within` are the provider's own fields of the call and
    of its function, which must go back.
    """

    id: str
    name: str
    arguments: dict[str, Any] | str
    extra: dict[str, Any] = field(default_factory=dict)
    within: dict[str, Any] = field(default_factory=dict)

    def as_sent(self) -> dict[str, Any]:
        """Return the call in the form that goes back to the endpoint."""
        function = {"name": self.name, "arguments": arguments_text(self.arguments), **self.within}
        return {"id": self.id, "type": "function", **self.extra, "function": function}


@dataclass(slots=True)
class Completion:
    """One answer of a model.

    Attributes
    ----------
    text : str
        The text for the reader, without visible thinking; may be empty.
    tool_calls : list of RequestedCall
        The requested calls, in order.
    finish_reason : str or None
        The endpoint's word for a complete answer, such as ``stop``; else ``length``, ``content_filter`` or
        ``malformed_call``, translated from the endpoint's word.
    usage : Usage
        Tokens of this call; `completion_tokens` include hidden reasoning. `missing` is 1 if the endpoint gave none.
    reasoning : str
        Visible thinking, separate from the text.
    raw : dict
        The body as it came; `parse_reply` makes the same completion from it.
    latency_s : float
        Seconds of the successful attempt, without waits and failed attempts.
    attempts : list of dict
        The failed attempts before it: ``kind``, ``status``, ``detail``, ``wait_s``.
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
        """Return the assistant message to append, with everything that the provider added.

        `history.cleaned` decides what of that an endpoint gets back.
        """
        sent = raw_message(self.raw)
        # A call on file makes the same message, even if today's reading finds other thoughts in it.
        aside = joined(sent.get("content"))[1] or self.reasoning != split_text(sent | {"content": None})[1]
        whole = sent.get("content") if aside and self.finish_reason != "malformed_call" else self.text
        message: dict[str, Any] = {"role": "assistant", "content": whole or ("" if not self.tool_calls else None)}
        if self.tool_calls:
            message["tool_calls"] = [call.as_sent() for call in self.tool_calls]
        # Some gateways put the thoughts here, by the provider's own name.
        more = sent.get("provider_specific_fields")
        sent = {name: more[name] for name in THOUGHTS if name in more} | sent if isinstance(more, dict) else sent
        return message | {name: value for name, value in sent.items() if name not in STANDARD and value is not None}


def raw_message(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the first choice's message of a body, or an empty one."""
    choices = raw.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return (message_in(first) if isinstance(first, dict) else None) or {}


def message_in(choice: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message of a choice, built from its bare text if needed, or None."""
    message, text = choice.get("message", choice.get("delta")), choice.get("text")
    return message if isinstance(message, dict) else {"content": text} if isinstance(text, str) else None


def decode_body(body: bytes, where: str = "the endpoint") -> dict[str, Any]:
    """Return the JSON object in a body; invalid Unicode becomes replacement marks.

    `EndpointError` of kind ``bad_body`` for an empty, cut, too deeply nested, HTML or otherwise wrong body.
    """
    body = body.removeprefix(BOM_UTF8)
    brackets = body.count(b"{") + body.count(b"[")
    if brackets > MOST_BRACKETS:
        raise fault("bad_body", where, f"more than {MOST_BRACKETS:,} lists and objects in one answer")
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        data = decode_leniently(body)
    if isinstance(data, list) and len(data) == 1:  # so Google wraps its errors
        data = data[0]
    if isinstance(data, dict) and can_be_kept(data, brackets):
        return data
    if re.match(rb"\s*(?:data|event|id|retry)?:", body):
        raise fault("stream_only", where, body[:60].decode("utf-8", "replace"))
    if not body.strip():
        raise fault("bad_body", where, "an empty body")
    what = "a web page" if body.lstrip()[:1] == b"<" else "no JSON object, or one cut short"
    raise fault("bad_body", where, f"{what}: {body[:60].decode('utf-8', 'replace')}")


def decode_leniently(body: bytes) -> Any:
    """Decode JSON whose text is not valid Unicode; return None if it is no JSON."""
    try:
        loose = json.loads(body.decode("utf-8", "replace"))
        return orjson.loads(json.dumps(loose, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def can_be_kept(data: Any, brackets: int) -> bool:
    """Return whether decoded JSON, within a row or a request, is at most 254 levels deep."""
    if brackets < DEEPEST:
        return True
    for _ in range(ROOM):
        data = [data]
    try:
        orjson.dumps(data)
    except TypeError:
        return False
    return True


def parse_reply(
    raw: dict[str, Any], messages: Sequence[dict[str, Any]] = (), where: str = "the endpoint"
) -> Completion:
    """Build a completion from a decoded body; `EndpointError` for an error or no choice.

    It corrects silently:

    - content that is null or a list of parts, a refusal in its own field, thinking within the text;
    - the old ``function_call``; arguments that are a dict, null, empty or JSON inside a JSON string;
    - missing or repeated ids, too many calls, and a missing message next to a finish reason;
    - reasoning tokens counted outside the completion tokens, and impossible counts, which become unknown.

    New ids follow from `messages`, so the same conversation gets the same ids.
    """
    choices = raw.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    error = error_in(raw)
    if error is not None and (raw.get("error") or not isinstance(choice, dict)):
        raise from_error_body(error, where)
    if not isinstance(choice, dict):
        raise from_error_body(raw, where, otherwise="bad_body")
    if choice.get("error"):
        raise from_error_body(choice["error"], where)
    message, word = message_in(choice), end_word(choice)
    finish = end_of(word, where)
    if message is None:
        if not finish:
            raise fault("bad_body", where, "a choice without a message")
        message = {}
    text, reasoning = split_text(message)
    if finish == "malformed_call" and not message.get("tool_calls"):
        wanted = NAMED.search(text)
        broken = {"name": wanted[1] if wanted else "", "arguments": f"{BROKEN}{text or word}"}
        message, text = {"tool_calls": [{"function": broken}]}, ""
    calls = requested_calls(message, len(messages), call_ids(messages))
    return Completion(text, calls, finish, read_usage(raw.get("usage")), reasoning, raw)


def end_word(choice: dict[str, Any]) -> Any:
    """Return the finish reason; the provider's own if a gateway hid it behind a plain one."""
    word, more = choice.get("finish_reason"), choice.get("provider_specific_fields")
    native = choice.get("native_finish_reason") or (more.get("native_finish_reason") if isinstance(more, dict) else "")
    hidden = isinstance(word, str) and isinstance(native, str) and is_whole(word) and not is_whole(native)
    return native if hidden and end_meant(str(native)) else word


def end_of(word: Any, where: str) -> str | None:
    """Return how an answer ended; `EndpointError` for an unknown word or a provider's fault."""
    word = word.get("type") if isinstance(word, dict) else word
    word = word.strip().removeprefix("FinishReason.") if isinstance(word, str) else ""
    if not word or is_whole(word):
        return word or None
    kind = end_meant(word)
    if kind == "server":
        raise fault("server", where, f"the answer ended with {word[:LONGEST_FINISH]!r}")
    if kind is None:
        shown = one_line(word, LONGEST_FINISH)
        why = (
            f"{where} ended an answer with {shown!r}, which is not known to mean that it is whole; name another "
            "model or server"
        )
        error = EndpointError("bad_body", why, detail=f"finish_reason {shown}")
        error.retry = False
        raise error
    return kind


def split_text(message: dict[str, Any]) -> tuple[str, str]:
    """Return the text for the reader, and the thinking in the message."""
    text, aside = joined(message.get("content"))
    thoughts = [aside] if aside else []
    for name in THOUGHTS:
        said = joined(message.get(name))
        if not thoughts and (said[0] or said[1]):
            thoughts.append(said[0] or said[1])
    text, within = apart(text)
    if not text:
        text = joined(message.get("refusal"))[0]
    return text, "\n".join([*thoughts, *within])


def joined(content: Any) -> tuple[str, str]:
    """Return the text and the thinking in a content field: a string or a list of parts."""
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
    """Return the first `MOST_CALLS` tool calls of a message, without malformed entries."""
    found = message.get("tool_calls")
    listed = found if isinstance(found, list) else [found]
    entries = [entry for entry in listed if isinstance(entry, dict)]
    if not entries and isinstance(message.get("function_call"), dict):
        entries = [{"function": message["function_call"]}]
    calls = []
    for index, entry in enumerate(entries[:MOST_CALLS]):
        inner = entry.get("function") or entry.get("custom")
        function = inner if isinstance(inner, dict) else entry
        name, given = function.get("name"), entry.get("id")
        usable = isinstance(given, str) and 0 < len(given) <= LONGEST_ID and given not in taken
        number = str(given) if usable else fresh_id(position, index, taken)
        taken.add(number)
        name = name if isinstance(name, str) else ""
        within = own_fields(function) if function is not entry else {}
        calls.append(RequestedCall(number, name, read_arguments(function.get("arguments")), own_fields(entry), within))
    return calls


def own_fields(part: dict[str, Any]) -> dict[str, Any]:
    """Return the provider's own fields of a call or of its function."""
    return {name: value for name, value in part.items() if name not in STANDARD_CALL_FIELDS}


def fresh_id(position: int, index: int, taken: set[str]) -> str:
    """Return an unused id of nine letters and digits, a form that every provider accepts."""
    while (number := f"c{position % 10_000:04d}{index:04d}") in taken:
        index += 1
    return number


def read_arguments(given: Any) -> dict[str, Any] | str:
    """Return arguments as a dict, or the raw text if they are no JSON object."""
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
    """Return arguments as the text of a JSON object; broken ones are wrapped for the model."""
    read = read_arguments(arguments)
    return orjson.dumps(read if isinstance(read, dict) else {"not_valid_json": read}).decode()


def count(value: Any) -> int | None:
    """Return a token count, or None for anything but a plausible whole number."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if number and 0 <= value <= MOST_TOKENS and value == int(value) else None


def read_usage(usage: Any) -> Usage:
    """Return the tokens of one call; `missing` is 1 if prompt or completion tokens are unknown.

    Hidden reasoning is billed as output. If the total shows that an endpoint counts it outside ``completion_tokens``
    (xAI, Gemini), it is added. Missing completion tokens follow from the total.
    """
    counts = usage if isinstance(usage, dict) else {}
    prompt, output, total = (count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    if output is None and counts.get("completion_tokens") is None and prompt is not None and total is not None:
        output = max(0, total - prompt)
    if not prompt or output is None:
        return Usage(calls=1, missing=1)
    details, sources = counts.get("completion_tokens_details"), counts.get("prompt_tokens_details")
    reasoning = (count(details.get("reasoning_tokens")) or 0) if isinstance(details, dict) else 0
    beside = (total or 0) - prompt - output
    if beside > 0:
        output, reasoning = output + beside, max(reasoning, beside)
    cached = count(sources.get("cached_tokens")) if isinstance(sources, dict) else 0
    cached = cached or count(counts.get("prompt_cache_hit_tokens")) or count(counts.get("cache_read_input_tokens")) or 0
    return Usage(prompt, output, min(reasoning, output), min(cached, prompt), calls=1)


def as_answer(error: EndpointError, messages: Sequence[dict[str, Any]]) -> Completion | None:
    """Return the completion that a content-filter refusal or a broken call amounts to, or None."""
    finish = {"content_filter": "content_filter", "broken_call": "malformed_call"}.get(error.kind)
    if finish is None:
        return None
    message = {"role": "assistant", "content": error.told[:LONGEST_BROKEN] if finish == "malformed_call" else ""}
    body = {"choices": [{"finish_reason": finish, "message": message}], "refused": error.detail}
    return parse_reply(body, messages)


def call_ids(messages: Iterable[dict[str, Any]]) -> set[str]:
    """Return the ids of all calls in a conversation."""
    return {call["id"] for message in messages for call in message.get("tool_calls") or () if call.get("id")}


def encode_body(body: dict[str, Any]) -> bytes:
    """Return the request body as JSON; text that is not valid Unicode gets replacement marks."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
