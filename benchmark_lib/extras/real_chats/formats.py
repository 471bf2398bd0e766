"""Read chats between people from STAR, ABCD, JSON lines, CSV and the logs of one's own desk."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from ...errors import BadInput
from ...textfiles import read_text
from .chat import LARGEST, ChatLine, Did, RealChat
from .vocabulary import Vocabulary

MOST_LINES, LONGEST = 2_000, 20_000
"""Maximum lines of a chat, and maximum characters of a line; longer chats are left out."""
SIDES = {"customer": "customer", "user": "customer", "client": "customer", "agent": "agent", "assistant": "agent"}


class Unusable(ValueError):
    """A chat cannot become a case; the text says why, without quoting the chat."""


def read_chats(files: Iterable[str | Path], form: str, known: Vocabulary) -> Iterator[tuple[str, RealChat | str]]:
    """Yield each chat in files or folders with its place, or why it cannot be read.

    `form` is a key of `FORMATS`. Raise `BadInput` for a missing file, or one that is not in this format.
    """
    places, kinds = [*map(Path, files)], (".json", ".jsonl", ".csv")
    within = {at: sorted(p for p in at.iterdir() if p.suffix in kinds) for at in places if at.is_dir()}
    paths = [path for place in places for path in within.get(place, [place])]
    if not paths:
        raise BadInput(
            f"{', '.join(map(str, places)) or 'no file'}: there are no chats: name files or folders with chats"
        )
    raws, chat_of = FORMATS[form]
    for path in paths:
        for number, raw in enumerate(raws(read_text(path, LARGEST), path, form), 1):
            place = f"{path.name}:{number}"
            try:
                yield place, _checked(chat_of(raw, known))
            except Unusable as error:
                yield place, str(error)
            except BadInput as error:
                yield place, str(error).partition(":")[0]
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
                yield place, f"not a chat in the format {form}"


def _lines(text: str, path: Path, form: str) -> Iterator[bytes]:
    yield from (line.encode() for line in filter(str.strip, text.split("\n")))


def _documents(text: str, path: Path, form: str) -> list[Any]:
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"{path} is not JSON ({error}): give files of {form}, or another --format") from None
    if form == "abcd" and isinstance(content, dict):  # a dict of the corpus's splits
        content = [chat for split in content.values() if isinstance(split, list) for chat in split]
    parts = [content] if form == "star" else content
    if not isinstance(parts, list):
        raise BadInput(f"{path} has no list of chats: give files of {form}, or another --format")
    return parts


def _checked(chat: RealChat) -> RealChat:
    if len(chat.lines) > MOST_LINES or any(len(line.text) > LONGEST for line in chat.lines):
        raise Unusable(f"longer than {MOST_LINES} lines, or a line longer than {LONGEST:,} characters")
    if not any(line.side == "customer" and line.text.strip() for line in chat.lines):
        raise Unusable("the customer says nothing")
    if not any(line.side == "agent" and (line.text.strip() or line.did) for line in chat.lines):
        raise Unusable("the agent says and does nothing")
    return chat


def _star(raw: Any, known: Vocabulary) -> RealChat:
    """Return a STAR dialogue; its queries and picked suggestions are the agent's acts."""
    about, lines, record = raw["Scenario"], list[ChatLine](), dict[str, Any]()
    for event in raw["Events"]:
        side, action = event["Agent"], event["Action"]
        text = str(event.get("Text") or "")
        if action == "utter" and side in ("User", "Wizard"):
            lines.append(ChatLine("customer" if side == "User" else "agent", text))
        elif action == "query":
            values = {k: str(v).strip("\"'") for part in event["Constraints"] for k, v in part.items()}
            record |= {k: v for k, v in values.items() if not re.match("Change|Fraud|CustomerRequest|Name$", k)}
            lines.append(ChatLine("agent", did=Did(event["APIName"], values)))
        elif action == "return_item" and lines and lines[-1].did is not None:
            lines[-1].did.result = event.get("Item") or {"found": "nothing"}
        elif action == "pick_suggestion" and event.get("ActionLabel") in (None, "custom"):
            lines.append(ChatLine("agent", text))
        elif action == "pick_suggestion":
            options = [str(name) for name in event.get("ActionLabelOptions") or [event["ActionLabel"]]]
            lines.append(ChatLine("agent", text, Did(event["ActionLabel"], suggested=options, text=text)))
    if known_as := re.search(r"You are ([A-Z]\w+ [A-Z]\w+)", str(about.get("UserTask"))):
        record["name"] = known_as[1]
    tasks = [str(w["Task"]) for w in about["WizardCapabilities"]]
    topic = {"topic": tasks[0], "domain": ", ".join(map(str, about.get("Domains") or ()))}
    return RealChat(f"star_{raw['DialogueID']}", lines, record, topic, tasks[0] if len(tasks) == 1 else "")


def _abcd(raw: Any, known: Vocabulary) -> RealChat:
    """Return an ABCD dialogue; its buttons are the agent's acts, its scenario is the record."""
    scenario, turns, listed = raw["scenario"], raw["original"], list(raw.get("actions_taken") or ())
    targets = raw.get("targets") or [t.get("targets") for t in raw.get("delexed") or ()] or []
    targets = [t[-1] if len(t) == 2 else t[:4] for t in targets if t]
    lines = []
    for number, (side, text) in enumerate(turns):
        if side != "action":
            lines.append(ChatLine(SIDES[side], text))
            continue
        target = targets[number] if len(targets) == len(turns) else None
        lines.append(ChatLine("agent", did=_button(text, target, listed, known)))
    record = {**(scenario.get("personal") or {}), **(scenario.get("order") or {})}
    record.pop("products", None)
    flow, topic = str(scenario.get("flow") or ""), str(scenario.get("subflow") or "")
    name = re.sub(r"(_(how|other))?_\d+$", "", topic)
    return RealChat(f"abcd_{raw['convo_id']}", lines, record, {"topic": name, "domain": flow}, name)


def _button(text: str, target: Any, listed: list[str], known: Vocabulary) -> Did:
    shown = known.of_line(text)
    if target is None and not listed:
        if shown is None:
            raise Unusable("an act whose line is not in the vocabulary")
        return shown
    name = target[2] if target is not None else str(listed.pop(0))
    values = dict(zip(known.acts[name].values, map(str, target[3]))) if target is not None and target[3] else {}
    return Did(name, values or (shown.values if shown and shown.name == name else {}), text=text)


def _jsonl(raw: Any, known: Vocabulary) -> RealChat:
    """Return a chat in our own format: ``{id, record, outcome, procedure, topic, messages}``."""
    raw = orjson.loads(raw) if isinstance(raw, bytes) else raw
    lines, outcome = [], raw.get("outcome") or {}
    for message in raw["messages"]:
        text = str(message.get("text") or "")
        if "act" in message:
            values = {str(k): str(v) for k, v in (message.get("values") or {}).items()}
            result, suggested = message.get("result"), [str(name) for name in message.get("suggested") or ()]
            lines.append(ChatLine("agent", text, Did(str(message["act"]), values, result, suggested, text)))
            continue
        side = SIDES[str(message.get("from") or message.get("role")).lower()]
        shown = known.of_line(text) if side == "agent" else None
        lines.append(ChatLine(side, "" if shown else text, shown))
    handed, resolved = (outcome.get(name) for name in ("handed_over", "resolved"))
    if any(one not in (None, True, False) for one in (handed, resolved)):
        raise Unusable("an outcome that is neither true nor false")
    named = str(raw.get("procedure") or "")
    about = {"topic": str(raw.get("topic") or named or "chats")}
    return RealChat(str(raw["id"]), lines, dict(raw.get("record") or {}), about, named, handed, resolved)


def _rows(text: str, path: Path, form: str) -> Iterator[Any]:
    """Yield the chats of a CSV file, with one row per line of a chat, in the JSON format."""
    before = csv.field_size_limit(LONGEST * 10)
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise BadInput(f"{path} is not a readable CSV file ({error}): save it with quoted fields") from None
    finally:
        csv.field_size_limit(before)
    if not rows or not {"chat", "from", "text"} <= rows[0].keys():
        raise BadInput(f"{path} lacks the columns chat, from and text: give them these names in its first row")
    chats: dict[str, Any] = {}
    for row in rows:
        chat = chats.setdefault(row["chat"] or "", {"id": row["chat"] or "", "messages": [], "record": {}})
        try:
            given = orjson.loads(row.get("values") or "{}")
        except orjson.JSONDecodeError:
            chat["messages"] = None  # refused later as a chat, with its place
            continue
        if row["from"] == "record":
            chat["record"] |= given
        elif row["from"] == "outcome":
            chat["outcome"] = given
        elif chat["messages"] is not None:
            act = {"act": row["act"], "values": given} if row.get("act") else {}
            chat["messages"].append({"from": row["from"], "text": row["text"] or "", **act})
        chat["procedure"] = row.get("procedure") or chat.get("procedure")
    yield from chats.values()


def _log(raw: Any, known: Vocabulary) -> RealChat:
    """Return a logged conversation of a desk; its tool calls are the agent's acts."""
    from ..monitoring.logs import logged_from

    seen = logged_from(raw, "")
    lines, record = list[ChatLine](), seen.record
    for message in record.messages:
        for call in (c for c in record.tool_calls if c.turn == message.turn and message.side == "agent"):
            values = {str(k): str(v) for k, v in call.named.items()}
            lines.append(ChatLine("agent", did=Did(call.name, values, call.result)))
        lines.append(ChatLine(message.side, message.text))
    customer = orjson.loads(raw).get("customer")
    known_of = customer if isinstance(customer, dict) else {}
    return RealChat(seen.name, lines, known_of, {"topic": "logs"}, "", seen.handed_over)


FORMATS: dict[str, tuple[Callable[..., Iterable[Any]], Callable[[Any, Vocabulary], RealChat]]] = {
    "star": (_documents, _star),
    "abcd": (_documents, _abcd),
    "jsonl": (_lines, _jsonl),
    "csv": (_rows, _jsonl),
    "log": (_lines, _log),
}
"""For each format, a function that splits a file's text into raw chats, and one that reads a raw chat."""
