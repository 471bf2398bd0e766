"""Read chats between people from STAR, ABCD, JSON lines, CSV and the logs of one's own desk."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from ...errors import BadInput
from ...textfiles import read_text
from .acts import Vocabulary
from .chat import LARGEST, ChatLine, Did, RealChat

MOST_LINES, LONGEST = 2_000, 20_000
"""Maximum lines of a chat, and maximum characters of a line; longer chats are left out."""
SIDES = dict.fromkeys(("customer", "user", "client"), "customer")
SIDES |= dict.fromkeys(("agent", "assistant", "wizard"), "agent")
Raw = dict[str, Any]


def read_chats(files: Iterable[str | Path], form: str, known: Vocabulary) -> Iterator[tuple[str, RealChat | str]]:
    """Yield each chat in files or folders with its place, or why it cannot be read.

    `form` is a key of `FORMATS`. Raise `BadInput` for a missing file, or one that is not in this format.
    """
    places, kinds = [*map(Path, files)], (".json", ".jsonl", ".csv")
    within = {at: sorted(p for p in at.iterdir() if p.suffix in kinds) for at in places if at.is_dir()}
    paths = [path for place in places for path in within.get(place, [place])]
    if not paths:
        where = ", ".join(map(str, places)) or "no file"
        raise BadInput(f"{where}: there are no chats: name files or folders with chats")
    split, in_our_form = FORMATS[form]
    for path in paths:
        for number, raw in enumerate(split(read_text(path, LARGEST), path, form), 1):
            place = f"{path.name}:{number}"
            try:
                yield place, _chat(in_our_form(raw, known), known)
            except BadInput as error:
                yield place, str(error).partition(":")[0]  # the rest may quote the chat
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
                yield place, f"not a chat in the format {form}"


def _chat(raw: Raw, known: Vocabulary) -> RealChat:
    """Return a chat in our own format: ``{id, record, outcome, procedure, topic, messages}``."""
    lines, outcome = list[ChatLine](), raw.get("outcome") or {}
    for message in raw["messages"]:
        text = str(message.get("text") or "")
        if "act" in message:
            values = {str(k): str(v) for k, v in (message.get("values") or {}).items()}
            suggested = [str(name) for name in message.get("suggested") or ()]
            result, shown_text = message.get("result"), text or message.get("log", "")
            did = Did(str(message["act"]), values, result, suggested, shown_text)
            lines.append(ChatLine("agent", text, did))
        else:
            side = SIDES[str(message.get("from") or message.get("role")).lower()]
            shown = known.of_line(text) if side == "agent" else None
            lines.append(ChatLine(side, "" if shown else text, shown))
    ends = [outcome.get(name) for name in ("handed_over", "resolved")]
    if any(end not in (None, True, False) for end in ends):
        raise BadInput("an outcome that is neither true nor false")
    if len(lines) > MOST_LINES or any(len(line.text) > LONGEST for line in lines):
        raise BadInput(f"longer than {MOST_LINES} lines, or a line longer than {LONGEST:,} characters")
    if not any(line.side == "customer" and line.text.strip() for line in lines):
        raise BadInput("the customer says nothing")
    if not any(line.side == "agent" and (line.text.strip() or line.did) for line in lines):
        raise BadInput("the agent says and does nothing")
    named = str(raw.get("procedure") or "")
    about = {"topic": str(raw.get("topic") or named or "chats")}
    about |= {"domain": str(raw["domain"])} if "domain" in raw else {}
    return RealChat(str(raw["id"]), lines, dict(raw.get("record") or {}), about, named, *ends)


def _lines(text: str, path: Path, form: str) -> Iterator[bytes]:
    yield from (line.encode() for line in filter(str.strip, text.split("\n")))


def _documents(text: str, path: Path, form: str) -> list[Any]:
    try:
        content = orjson.loads(text)
        # The corpus has a list for each split
        if form == "abcd" and isinstance(content, dict):
            content = [chat for split in content.values() for chat in split]
    except (ValueError, TypeError):
        content = None
    chats = [content] if form == "star" and content else content
    if not isinstance(chats, list):
        raise BadInput(f"{path} has no chats in JSON: give files of {form}, or another --format")
    return chats


def _rows(text: str, path: Path, form: str) -> Iterator[list[Raw]]:
    import pandas as pd

    try:
        rows = pd.read_csv(io.StringIO(text), dtype=str, na_filter=False)
    except ValueError as error:
        why = " ".join(str(error).split())
        raise BadInput(f"{path} is not a readable CSV file ({why}): save it with quoted fields") from None
    if not {"chat", "from", "text"} <= {*rows}:
        raise BadInput(f"{path} lacks the columns chat, from and text: give them these names in its first row")
    yield from (own.to_dict("records") for _, own in rows.groupby("chat", sort=False))


def _star(raw: Any, known: Vocabulary) -> Raw:
    """Return a STAR dialogue; its queries and picked suggestions are the agent's acts."""
    about, messages, record = raw["Scenario"], list[Raw](), Raw()
    for event in raw["Events"]:
        action, said = event["Action"], {"from": event["Agent"], "text": event.get("Text")}
        if action == "utter" and event["Agent"] in ("User", "Wizard"):
            messages.append(said)
        elif action == "query":
            values = {k: str(v).strip("\"'") for part in event["Constraints"] for k, v in part.items()}
            record |= {k: v for k, v in values.items() if not re.match("Change|Fraud|CustomerRequest|Name$", k)}
            messages.append({"act": event["APIName"], "values": values})
        elif action == "return_item" and messages and "act" in messages[-1]:
            messages[-1]["result"] = event.get("Item") or {"found": "nothing"}
        elif action == "pick_suggestion":
            label = event.get("ActionLabel")
            options = event.get("ActionLabelOptions") or [label]
            messages.append(said | ({} if label in (None, "custom") else {"act": label, "suggested": options}))
    if known_as := re.search(r"You are ([A-Z]\w+ [A-Z]\w+)", str(about.get("UserTask"))):
        record["name"] = known_as[1]
    tasks = [str(w["Task"]) for w in about["WizardCapabilities"]]
    topic = {"topic": tasks[0], "domain": ", ".join(map(str, about.get("Domains") or ()))}
    topic["procedure"] = tasks[0] if len(tasks) == 1 else ""
    return {"id": f"star_{raw['DialogueID']}", "messages": messages, "record": record, **topic}


def _abcd(raw: Any, known: Vocabulary) -> Raw:
    """Return an ABCD dialogue; its buttons are the agent's acts, its scenario is the record."""
    scenario, turns = raw["scenario"], raw["original"]
    targets = raw.get("targets") or [t.get("targets") for t in raw.get("delexed") or ()]
    buttons = [t[-1] if len(t) == 2 else t[:4] for t in targets if t]
    buttons = buttons if len(buttons) == len(turns) else [None] * len(turns)
    messages = [
        _pressed(text, button, known) if side == "action" else {"from": side, "text": text}
        for (side, text), button in zip(turns, buttons, strict=True)
    ]
    record = {**(scenario.get("personal") or {}), **(scenario.get("order") or {})}
    record.pop("products", None)
    name = re.sub(r"(_(how|other))?_\d+$", "", str(scenario.get("subflow") or ""))
    topic = {"topic": name, "domain": scenario.get("flow") or "", "procedure": name}
    return {"id": f"abcd_{raw['convo_id']}", "messages": messages, "record": record, **topic}


def _pressed(text: str, button: Any, known: Vocabulary) -> Raw:
    if button:
        values = dict(zip(known.acts[button[2]].values, button[3] or ()))
        return {"act": button[2], "values": values, "log": text}
    if known.of_line(text) is None:
        raise BadInput("an act whose line is not in the vocabulary")
    return {"from": "agent", "text": text}


def _csv(rows: list[Raw], known: Vocabulary) -> Raw:
    """Return a chat of a CSV file, in which each row is a line, the record or the outcome."""
    chat: Raw = {"id": rows[0]["chat"], "messages": [], "record": {}}
    for row in rows:
        given = orjson.loads(row.get("values") or "{}")
        if row["from"] == "record":
            chat["record"] |= given
        elif row["from"] == "outcome":
            chat["outcome"] = given
        else:
            act = {"act": row["act"], "values": given} if row.get("act") else {}
            chat["messages"].append({"from": row["from"], "text": row["text"], **act})
        chat["procedure"] = row.get("procedure") or chat.get("procedure")
    return chat


def _log(raw: Any, known: Vocabulary) -> Raw:
    """Return a logged conversation of a desk; its tool calls are the agent's acts."""
    from ..monitoring.logs import logged_from

    seen, messages = logged_from(raw, ""), list[Raw]()
    for message in seen.record.messages:
        for call in seen.record.tool_calls if message.side == "agent" else ():
            if call.turn == message.turn:
                messages.append({"act": call.name, "values": call.named, "result": call.result})
        messages.append({"from": message.side, "text": message.text})
    customer, outcome = orjson.loads(raw).get("customer"), {"handed_over": seen.handed_over}
    record = customer if isinstance(customer, dict) else {}
    return {"id": seen.name, "messages": messages, "record": record, "topic": "logs", "outcome": outcome}


FORMATS: dict[str, tuple[Callable[..., Iterable[Any]], Callable[[Any, Vocabulary], Raw]]] = {
    "star": (_documents, _star),
    "abcd": (_documents, _abcd),
    "jsonl": (_lines, lambda raw, known: orjson.loads(raw)),
    "csv": (_rows, _csv),
    "log": (_lines, _log),
}
"""For each format, a function that splits a text into raw chats, and one that puts a chat into our form."""
