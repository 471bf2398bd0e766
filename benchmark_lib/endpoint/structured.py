"""Read a reply that must be one JSON object, and give a model one chance to correct it."""

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
"""Maximum number of characters of an unreadable reply that are sent back with the complaint."""

MEND = "That cannot be used: {reason}. Answer once more with the JSON object alone, in the form that was asked for."


class Unreadable(ValueError):
    """A reply that is not the requested object; not `mendable` if a content filter ended it."""

    def __init__(self, reason: str, mendable: bool = True):
        super().__init__(reason)
        self.mendable = mendable


def read_object(text: str, strict: bool = False) -> dict[str, Any]:
    """Return a reply's JSON object without the code fence; raise `Unreadable` if there is none.

    A `strict` reading also refuses a repeated key and an object nested too deeply to be kept.
    """
    stripped = text.strip()
    opening, line_end, rest = stripped.partition("\n")
    language = opening.removeprefix(FENCE).strip()
    if line_end and opening.startswith(FENCE) and rest.endswith(FENCE) and (not language or language.isalpha()):
        stripped = rest.removesuffix(FENCE).strip()
    if not stripped:
        raise Unreadable("the reply is empty")
    try:
        content = orjson.loads(stripped)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"the reply is not JSON ({error})") from None
    if not isinstance(content, dict):
        raise Unreadable("the reply is JSON, but not an object")
    if strict:
        if not can_be_kept(content, stripped.count("{") + stripped.count("[")):
            raise Unreadable("the reply is nested too deeply")
        json.loads(stripped, object_pairs_hook=_each_key_once)
    return content


def _each_key_once(pairs: list[tuple[str, Any]]) -> None:
    twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if twice:
        raise Unreadable(f"the key {twice[0]!r} is there twice")


def without_words(text: str, messages: list[dict[str, Any]]) -> str:
    """Return a reply's only object without the words around it, or else the reply unchanged.

    An object quoted from `messages`, the request, does not count.
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
        found = text[start:end]
        forms = (found, as_text(found)[1:-1].replace("\\n", ""))
        if not any("".join(form.split()) in asked for form in forms):
            own.append(found)
        start = text.find("{", end)
    return own[0] if len(own) == 1 and start < 0 else text


async def ask_for(
    complete: Any, messages: list[dict[str, Any]], read: Callable[[str, bool], T], noted: Callable[[Any], None]
) -> T:
    """Ask for an object; if the reply cannot be read, say why and ask once more.

    ``complete(messages)`` returns a completion, which is passed to `noted`. ``read(text, last)`` returns the value or
    raises `Unreadable`; `last` marks the second reply. `Unreadable` is raised if the second reply cannot be read
    either, or if the provider's filter stopped a reply.
    """
    last = False
    while True:
        answer = await complete(messages)
        noted(answer)
        try:
            if answer.finish_reason == "content_filter":
                raise Unreadable("the provider's content filter stopped the reply", mendable=False)
            return read(answer.text, last)
        except Unreadable as error:
            cut = "the reply was cut at the token limit: " if answer.finish_reason == "length" else ""
            problem = Unreadable(f"{cut}{error}", error.mendable)
        if last or not problem.mendable:
            raise problem
        echo = {"role": "assistant", "content": answer.text[:LONGEST_ECHO] or "(nothing)"}
        messages = [*messages, echo, {"role": "user", "content": MEND.format(reason=problem)}]
        last = True
