"""Read the body of an answer as a `Completion`.

Endpoints agree on the outline of a chat completion and on little else. Whatever a body holds, `parse_reply` returns a
completion or raises `EndpointError`; it never fails in another way. What it mends is listed there.
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
"""Fields in which thoughts come; the first that holds any is the one that is read."""
BROKEN = "not a call: "
"""What the arguments of a call begin with that the model wrote and nobody could read."""
NAMED = re.compile(
    r"""(?:"name"\s*:\s*"|<function=|<invoke name="|\b(?:for|call) tool ['"`]?)([A-Za-z_][\w.-]{0,63})"""
)

DEEPEST, ROOM = 200, 10
MOST_BRACKETS = 300_000
"""Each list or object takes a hundred times the memory of its two bytes, and the time to make it."""
LONGEST_FINISH, LONGEST_ID, LONGEST_BROKEN = 60, 256, 2000
MOST_CALLS = 128
"""As many calls as OpenAI takes back in one message. An answer with more is a loop, and each of them would be made."""
MOST_TOKENS = 20_000_000
"""More tokens than any context window holds: a count above it is a mistake, and a budget would end by it."""
STANDARD_CALL_FIELDS = frozenset({"id", "type", "function", "index", "custom", "name", "arguments", "input"})
"""Fields of a call and of its function that are written anew; all others are a provider's own and go back."""


@dataclass(slots=True)
class RequestedCall:
    """A tool call the model asks for.

    `id` is the endpoint's, or one given here where it had none or had used it before. `arguments` are the raw text
    where they are not a JSON object, so that the model can be told; `extra` and `within` are the provider's own fields
    of the call and of its function, such as a signature of its thoughts, which must go back with it.
    """

    id: str
    name: str
    arguments: dict[str, Any] | str
    extra: dict[str, Any] = field(default_factory=dict)
    within: dict[str, Any] = field(default_factory=dict)

    def as_sent(self) -> dict[str, Any]:
        """Return the call as the endpoint wants it back."""
        function = {"name": self.name, "arguments": arguments_text(self.arguments), **self.within}
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
        The endpoint's word for a whole answer, such as ``stop``; else ``length``, ``content_filter`` or
        ``malformed_call``, by whatever word the endpoint means that.
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
        """Return the assistant message to append to the conversation, with whatever the provider added, thoughts too.

        What of that an endpoint is sent back is decided where it is sent.
        """
        sent = raw_message(self.raw)
        # Decided by what was read then: a call on file makes the same message whatever is read as a thought today.
        aside = joined(sent.get("content"))[1] or self.reasoning != split_text(sent | {"content": None})[1]
        whole = sent.get("content") if aside and self.finish_reason != "malformed_call" else self.text
        message: dict[str, Any] = {"role": "assistant", "content": whole or ("" if not self.tool_calls else None)}
        if self.tool_calls:
            message["tool_calls"] = [call.as_sent() for call in self.tool_calls]
        # A gateway puts thoughts here that its provider wants by their name.
        more = sent.get("provider_specific_fields")
        sent = {name: more[name] for name in THOUGHTS if name in more} | sent if isinstance(more, dict) else sent
        return message | {name: value for name, value in sent.items() if name not in STANDARD and value is not None}


def raw_message(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the first choice's message of a body, or an empty one."""
    choices = raw.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return (message_in(first) if isinstance(first, dict) else None) or {}


def message_in(choice: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message of a choice, made of its bare text where that is all it has; None where it has neither."""
    message, text = choice.get("message", choice.get("delta")), choice.get("text")
    return message if isinstance(message, dict) else {"content": text} if isinstance(text, str) else None


def decode_body(body: bytes, where: str = "the endpoint") -> dict[str, Any]:
    """Return the JSON object in a body; stray surrogates and bytes that are no UTF-8 become replacement marks.

    `EndpointError` of kind ``bad_body`` for an empty, cut, nested beyond reason, HTML or otherwise wrong body.
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
    """Decode JSON whose text is not valid Unicode; None where it is no JSON at all."""
    try:
        loose = json.loads(body.decode("utf-8", "replace"))
        return orjson.loads(json.dumps(loose, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def can_be_kept(data: Any, brackets: int) -> bool:
    """Tell whether decoded JSON can be written again, within a row or a request: the writer goes 254 levels deep."""
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
    """Make a completion of a decoded body; `EndpointError` where it reports an error or holds no choice.

    Mended without a word: content that is null or a list of parts, a refusal in its own field, thinking within the
    text, the old ``function_call``, arguments that are a dict, null, empty or JSON inside a JSON string, ids that are
    missing or used before, more calls than anybody takes back, reasoning tokens counted beside the completion tokens,
    no message beside a word for the end. Counts of tokens that cannot be are unknown, never 0. Ids given here follow
    from `messages`, the conversation that was sent, so the same conversation gets the same ids.
    """
    choices = raw.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    found = error_in(raw)
    if found is not None and (raw.get("error") or not isinstance(choice, dict)):
        raise from_error_body(found, where)
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
    """Return the word for how an answer ended; the provider's own where a gateway made a plain end of it."""
    word, more = choice.get("finish_reason"), choice.get("provider_specific_fields")
    native = choice.get("native_finish_reason") or (more.get("native_finish_reason") if isinstance(more, dict) else "")
    hidden = isinstance(word, str) and isinstance(native, str) and is_whole(word) and not is_whole(native)
    return native if hidden and end_meant(str(native)) else word


def end_of(word: Any, where: str) -> str | None:
    """Return how an answer ended; raise `EndpointError` for an unknown word and for a fault of the provider."""
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
    """Return what the message says to its reader, and the thinking that came with it."""
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
    """Return the fields of a call, or of its function, that are the provider's own."""
    return {name: value for name, value in part.items() if name not in STANDARD_CALL_FIELDS}


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


def as_answer(error: EndpointError, messages: Sequence[dict[str, Any]]) -> Completion | None:
    """Return the completion that an error amounts to: a refusal by the filter, or a call the model could not write."""
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
