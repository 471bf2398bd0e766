"""A reply that has to be one JSON object: read strictly, with one chance to mend it."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import orjson

from ..records import as_text
from .reply import can_be_kept

T = TypeVar("T")

FENCE, MOST_OBJECTS = "```", 1000
LONGEST_ECHO = 4000
"""Characters of a reply that could not be read which are sent back with the complaint."""

MEND = "That cannot be used: {reason}. Answer once more with the JSON object alone, in the form that was asked for."


class Unreadable(ValueError):
    """A reply that is not the object asked for; with the provider's filter asking again cannot help (`mendable`)."""

    def __init__(self, reason: str, mendable: bool = True):
        super().__init__(reason)
        self.mendable = mendable


def read_object(text: str, strict: bool = False) -> dict[str, Any]:
    """Return the JSON object that a reply consists of, without a code fence; raise `Unreadable` otherwise.

    A `strict` reading also refuses a key that is there twice, and an object that is nested deeper than can be kept.
    """
    stripped = unfenced(text.strip())
    if not stripped:
        raise Unreadable("the reply is empty")
    try:
        found = orjson.loads(stripped)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"the reply is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise Unreadable("the reply is JSON, but not an object")
    if strict:
        if not can_be_kept(found, stripped.count("{") + stripped.count("[")):
            raise Unreadable("the reply is nested too deeply")
        json.loads(stripped, object_pairs_hook=_each_key_once)
    return found


def _each_key_once(pairs: list[tuple[str, Any]]) -> None:
    twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if twice:
        raise Unreadable(f"the key {twice[0]!r} is there twice")


def unfenced(text: str) -> str:
    """Return what stands in a code fence around the whole text; the text as it is where there is none."""
    opening, line_end, rest = text.partition("\n")
    language = opening.removeprefix(FENCE).strip()
    fenced = line_end and opening.startswith(FENCE) and rest.endswith(FENCE) and (not language or language.isalpha())
    return rest.removesuffix(FENCE).strip() if fenced else text


def without_words(text: str, messages: list[dict[str, Any]]) -> str:
    """Return the one object in a reply without the words around it; the reply as it came where there is no such object.

    An object that is only quoted from `messages`, the request, is nobody's answer.
    """
    asked = "".join("".join(str(message["content"]).split()) for message in messages)
    own, start = list[str](), text.find("{")
    for _ in range(MOST_OBJECTS):
        if start < 0 or len(own) > 1:
            break
        try:
            end = json.JSONDecoder().raw_decode(text, start)[1]
        except (ValueError, RecursionError):
            return text
        forms = ("".join(form.split()) for form in (text[start:end], as_text(text[start:end])[1:-1].replace("\\n", "")))
        if not any(form in asked for form in forms):
            own.append(text[start:end])
        start = text.find("{", end)
    return own[0] if len(own) == 1 and start < 0 else text


async def ask_for(
    complete: Any, messages: list[dict[str, Any]], read: Callable[[str, bool], T], noted: Callable[[Any], None]
) -> T:
    """Ask for an object; where the reply cannot be read, say why and ask once more.

    ``complete(messages)`` gives a completion, which `noted` is called with; ``read(text, last)`` gives the value or
    raises
    `Unreadable`, with `last` for the second reply. `Unreadable` if that one cannot be read either, or the provider's
    filter
    stopped a reply.
    """
    answer = await complete(messages)
    noted(answer)
    try:
        return _read(answer, read, last=False)
    except Unreadable as error:
        if not error.mendable:
            raise
        complaint = MEND.format(reason=error)
    said = {"role": "assistant", "content": answer.text[:LONGEST_ECHO] or "(nothing)"}
    answer = await complete([*messages, said, {"role": "user", "content": complaint}])
    noted(answer)
    return _read(answer, read, last=True)


def _read(answer: Any, read: Callable[[str, bool], T], last: bool) -> T:
    if answer.finish_reason == "content_filter":
        raise Unreadable("the provider's content filter stopped the reply", mendable=False)
    try:
        return read(answer.text, last)
    except Unreadable as error:
        cut = "the reply was cut at the token limit: " if answer.finish_reason == "length" else ""
        raise Unreadable(f"{cut}{error}") from None
