"""Read the body of an answer as a `Completion`; `parse_reply` lists what it corrects."""

import itertools
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..records import Usage
from .faults import WHOLE, EndpointError, apart, end_meant, error_in, fault, from_error_body, one_line

STANDARD = frozenset({"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio", "name"})
"""Fields of a message that are not sent back as they came; all others are a provider's own, such as its thoughts."""
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "thinking", "thoughts")
"""Fields with thoughts; the first one that is not empty counts."""
BROKEN = "not a call: "
"""Beginning of the arguments of a call that could not be read."""
NAMED = re.compile(
    r"""(?:"name"\s*:\s*"|<function=|<invoke name="|\b(?:for|call) tool ['"`]?)([A-Za-z_][\w.-]{0,63})"""
)

DEEPEST, ROOM = 200, 10
MOST_BRACKETS = 300_000
"""Maximum number of lists and objects in one answer; each takes a hundred times the memory of its two bytes."""
LONGEST_FINISH, LONGEST_ID, LONGEST_BROKEN = 60, 256, 2000
MOST_CALLS = 128
"""OpenAI accepts no more calls than this in one message. An answer with more is a loop."""
MOST_TOKENS = 20_000_000
"""No context window is larger. A higher count is a mistake and would use up a budget."""
STANDARD_CALL_FIELDS = frozenset({"id", "type", "function", "index", "custom", "name", "arguments", "input"})
"""Fields of a call and its function that this module writes; all others are a provider's own and go back."""


@dataclass(slots=True)
class RequestedCall:
    """A tool call that the model requests.

    `id` is the endpoint's id, or a new one if that was missing or repeated. `arguments` are the raw text if they are
    not a JSON object, so that the model can correct them. `extra` and `within` are the provider's own fields of the
    call and of its function, which must go back.
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

    `text` is for the reader; visible thinking is moved to `reasoning`. `finish_reason` is the endpoint's own word for a
    complete answer, such as ``stop``. Other endings are translated to ``length``, ``content_filter`` or
    ``malformed_call``. `usage` counts the tokens of this call, with hidden reasoning in `completion_tokens`. `raw` is
    the body as received; `parse_reply` makes the same completion from it. `latency_s` is the successful attempt's time
    in seconds. `attempts` lists the failed ones before it: ``kind``, ``status``, ``detail``, ``wait_s``.
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

        `history.cleaned` decides which of these parts an endpoint gets back.
        """
        sent = _message_in(_choice_in(self.raw) or {}) or {}
        # A call on file gives the same message, even if today's code would find other thoughts in it.
        aside = _joined(sent.get("content"))[1] or self.reasoning != split_text(sent | {"content": None})[1]
        whole = sent.get("content") if aside and self.finish_reason != "malformed_call" else self.text
        message: dict[str, Any] = {"role": "assistant", "content": whole or ("" if not self.tool_calls else None)}
        if self.tool_calls:
            message["tool_calls"] = [call.as_sent() for call in self.tool_calls]
        # Some gateways put the thoughts here, under the provider's own name.
        more = sent.get("provider_specific_fields")
        if isinstance(more, dict):
            sent = {name: more[name] for name in THOUGHTS if name in more} | sent
        own = {name: value for name, value in sent.items() if name not in STANDARD and value is not None}
        return message | own


def _choice_in(raw: dict[str, Any]) -> dict[str, Any] | None:
    choices = raw.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _message_in(choice: dict[str, Any]) -> dict[str, Any] | None:
    message, text = choice.get("message", choice.get("delta")), choice.get("text")
    return message if isinstance(message, dict) else {"content": text} if isinstance(text, str) else None


def decode_body(body: bytes, where: str = "the endpoint") -> dict[str, Any]:
    """Return the JSON object in a body; invalid Unicode becomes replacement marks.

    Raise `EndpointError` of kind ``bad_body`` for an empty, cut-off, too deeply nested, HTML or otherwise wrong body.
    """
    body = body.removeprefix(BOM_UTF8)
    brackets = body.count(b"{") + body.count(b"[")
    if brackets > MOST_BRACKETS:
        raise fault("bad_body", where, f"more than {MOST_BRACKETS:,} lists and objects in one answer")
    data = None
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        with suppress(ValueError, RecursionError):
            loose = json.loads(body.decode("utf-8", "replace"))
            data = orjson.loads(json.dumps(loose, ensure_ascii=False).encode("utf-8", "replace"))
    if isinstance(data, list) and len(data) == 1:  # the form in which Google wraps its errors
        data = data[0]
    if isinstance(data, dict) and can_be_kept(data, brackets):
        return data
    begins = body[:60].decode("utf-8", "replace")
    if re.match(rb"\s*(?:data|event|id|retry)?:", body):
        raise fault("stream_only", where, begins)
    what = "a web page" if body.lstrip()[:1] == b"<" else "no JSON object, or one cut short"
    raise fault("bad_body", where, f"{what}: {begins}" if body.strip() else "an empty body")


def can_be_kept(data: Any, brackets: int) -> bool:
    """Return whether decoded JSON, placed in a row or a request, is at most 254 levels deep."""
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
    """Build a completion from a decoded body; raise `EndpointError` for an error or no choice.

    It corrects silently:

    - content that is null or a list of parts, a refusal in its own field, thinking within the text;
    - the old ``function_call``; arguments that are a dict, null, empty or JSON inside a JSON string;
    - missing or repeated ids, too many calls, and a missing message next to a finish reason;
    - reasoning tokens counted outside the completion tokens, and impossible counts, which become unknown.

    New ids are derived from `messages`, so the same conversation gets the same ids.
    """
    choice, error = _choice_in(raw), error_in(raw)
    if error is not None and (raw.get("error") or choice is None):
        raise from_error_body(error, where)
    if choice is None:
        raise from_error_body(raw, where, otherwise="bad_body")
    if choice.get("error"):
        raise from_error_body(choice["error"], where)
    message, word = _message_in(choice), _end_word(choice)
    finish = _end_of(word, where)
    if message is None and not finish:
        raise fault("bad_body", where, "a choice without a message")
    message = message or {}
    text, reasoning = split_text(message)
    if finish == "malformed_call" and not message.get("tool_calls"):
        wanted = NAMED.search(text)
        broken = {"name": wanted[1] if wanted else "", "arguments": f"{BROKEN}{text or word}"}
        message, text = {"tool_calls": [{"function": broken}]}, ""
    calls = _requested_calls(message, len(messages), call_ids(messages))
    return Completion(text, calls, finish, read_usage(raw.get("usage")), reasoning, raw)


def _end_word(choice: dict[str, Any]) -> Any:
    # The finish reason; the provider's own if a gateway hid it behind a plain one.
    word, native = choice.get("finish_reason"), choice.get("native_finish_reason")
    more = choice.get("provider_specific_fields")
    if not native and isinstance(more, dict):
        native = more.get("native_finish_reason")
    hidden = isinstance(word, str) and isinstance(native, str) and end_meant(word) == WHOLE
    return native if hidden and end_meant(str(native)) not in (WHOLE, None) else word


def _end_of(word: Any, where: str) -> str | None:
    word = word.get("type") if isinstance(word, dict) else word
    word = word.strip().removeprefix("FinishReason.") if isinstance(word, str) else ""
    kind = end_meant(word)
    if not word or kind == WHOLE:
        return word or None
    if kind == "server":
        raise fault("server", where, f"the answer ended with {word[:LONGEST_FINISH]!r}")
    if kind is None:
        shown = one_line(word, LONGEST_FINISH)
        why = f"{where} ended an answer with {shown!r}, which is not known to mean a whole answer"
        error = EndpointError("bad_body", f"{why}; name another model or server", detail=f"finish_reason {shown}")
        error.retry = False
        raise error
    return kind


def split_text(message: dict[str, Any]) -> tuple[str, str]:
    """Return the text for the reader, and the thinking in the message."""
    text, aside = _joined(message.get("content"))
    fields = (_joined(message.get(name)) for name in THOUGHTS)
    aside = aside or next((words or thought for words, thought in fields if words or thought), "")
    text, within = apart(text)
    return text or _joined(message.get("refusal"))[0], "\n".join(filter(None, [aside, *within]))


def _joined(content: Any) -> tuple[str, str]:
    # The text and the thinking in a content field: a string or a list of parts.
    if isinstance(content, str):
        return content, ""
    text, aside = [], []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            thought = part.get("thinking") or part.get("reasoning") or part.get("summary")
            if thought:
                aside.append(thought if isinstance(thought, str) else _joined(thought)[0])
            words = part.get("text") or part.get("refusal")
            text.append(words if isinstance(words, str) else "")
    return "".join(text), "".join(aside)


def _requested_calls(message: dict[str, Any], position: int, taken: set[str]) -> list[RequestedCall]:
    listed = message.get("tool_calls")
    entries = [entry for entry in (listed if isinstance(listed, list) else [listed]) if isinstance(entry, dict)]
    if not entries and isinstance(message.get("function_call"), dict):
        entries = [{"function": message["function_call"]}]
    calls = []
    for index, entry in enumerate(entries[:MOST_CALLS]):
        inner = entry.get("function") or entry.get("custom")
        function = inner if isinstance(inner, dict) else entry
        name, number = function.get("name"), entry.get("id")
        if not isinstance(number, str) or not 0 < len(number) <= LONGEST_ID or number in taken:
            # nine letters and digits, a form that every provider accepts
            fresh = (f"c{position % 10_000:04d}{at:04d}" for at in itertools.count(index))
            number = next(candidate for candidate in fresh if candidate not in taken)
        taken.add(number)
        within = own_fields(function) if function is not entry else {}
        arguments = _read_arguments(function.get("arguments"))
        calls.append(RequestedCall(number, name if isinstance(name, str) else "", arguments, own_fields(entry), within))
    return calls


def own_fields(part: dict[str, Any]) -> dict[str, Any]:
    """Return the provider's own fields of a call or of its function."""
    return {name: value for name, value in part.items() if name not in STANDARD_CALL_FIELDS}


def _read_arguments(given: Any) -> dict[str, Any] | str:
    # The arguments as a dict, or as raw text if they are not a JSON object.
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
    return given


def arguments_text(arguments: Any) -> str:
    """Return arguments as the text of a JSON object; broken ones are wrapped for the model."""
    arguments = _read_arguments(arguments)
    return orjson.dumps(arguments if isinstance(arguments, dict) else {"not_valid_json": arguments}).decode()


def _count(counts: Any, name: str) -> int | None:
    # Anything but a plausible whole number is unknown.
    value = counts.get(name) if isinstance(counts, dict) else None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


def read_usage(usage: Any) -> Usage:
    """Return the tokens of one call; `missing` is 1 if prompt or completion tokens are unknown.

    Hidden reasoning is billed as output. If the total shows that an endpoint counts it outside ``completion_tokens``
    (xAI, Gemini), it is added. Missing completion tokens are computed from the total.
    """
    counts = usage if isinstance(usage, dict) else {}
    prompt, output, total = (_count(counts, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    if output is None and counts.get("completion_tokens") is None and prompt is not None and total is not None:
        output = max(0, total - prompt)
    if not prompt or output is None:
        return Usage(calls=1, missing=1)
    reasoning = _count(counts.get("completion_tokens_details"), "reasoning_tokens") or 0
    beside = (total or 0) - prompt - output
    if beside > 0:
        output, reasoning = output + beside, max(reasoning, beside)
    places = ((counts.get("prompt_tokens_details"), "cached_tokens"), (counts, "prompt_cache_hit_tokens"))
    cached = next(filter(None, (_count(*at) for at in (*places, (counts, "cache_read_input_tokens")))), 0)
    return Usage(prompt, output, min(reasoning, output), min(cached, prompt), calls=1)


def as_answer(error: EndpointError, messages: Sequence[dict[str, Any]]) -> Completion | None:
    """Return the completion that a content-filter refusal or a broken call amounts to, or None."""
    finish = {"content_filter": "content_filter", "broken_call": "malformed_call"}.get(error.kind)
    if finish is None:
        return None
    content = error.words[:LONGEST_BROKEN] if finish == "malformed_call" else ""
    message = {"role": "assistant", "content": content}
    body = {"choices": [{"finish_reason": finish, "message": message}], "refused": error.detail}
    answer = parse_reply(body, messages)
    answer.attempts = error.attempts
    return answer


def call_ids(messages: Iterable[dict[str, Any]]) -> set[str]:
    """Return the ids of all calls in a conversation."""
    return {call["id"] for message in messages for call in message.get("tool_calls") or () if call.get("id")}


def encode_body(body: dict[str, Any]) -> bytes:
    """Return the request body as JSON; text that is not valid Unicode gets replacement marks."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
