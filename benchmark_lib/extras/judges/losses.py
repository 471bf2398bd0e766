"""A second reading of losses through wording: the items, the quotes that count, the change.

A conversation is lost through wording if it would have succeeded had the scorer found more in its messages: a fact, a
yes, a reason. A judge has to quote what it finds. No score changes: tables show success *as adjudicated* and *as read*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from ...cases import Case
from ...conversation.scripted import reason_in_words
from ...endpoint.structured import Unreadable, read_object
from ...experiment.recorder import Model
from ...language.sentences import sentences
from ...project import DATA
from ...records import Conversation, Message, ToolCall, Usage
from ...scoring.facts import plain, unquoted
from ...scoring.score import VERSION, score
from ...scoring.written import cost_in_words, counted
from ...store import Store
from ...textfiles import read_yaml
from .shown import request, transcript
from .verdicts import LOSSES, SHORTEST_QUOTE, Entries, Rubric, ask_judge, system_prompt

FOUND, NONE, INVALID, UNREAD = "found", "none", "invalid", "unread"
"""Outcomes of an item: correctly quoted, reported missing, invalidly quoted, or without a usable reply."""
FORM = {"item": str, "quote": str, "reason": str}
PLANTED = DATA / "losses_planted.yaml"
CASE_OF_PLANTED = "planted loss"
LONGEST_QUOTE = 600
CHARACTERS_A_TOKEN, TOKENS_AN_ITEM = 4, 120
"""For a forecast: characters per token that a judge reads, and tokens that it writes per item."""
FORECAST = "{path}: {lost} lost through wording and {planted} planted to reread: {calls}, about {tokens} tokens, {cost}"
NOT_SHOWN = "not shown"


@dataclass(frozen=True)
class Sought:
    """One thing that the scorer did not find in a conversation.

    Attributes
    ----------
    name : str
        ``fact:NAME``, ``consent:INDEX`` (of the call), or ``reason``.
    shown : dict
        The part of it that a judge sees.
    until : int, optional
        The last turn whose message may contain it: a yes comes before its call.
    there : bool, optional
        For a planted item, whether the words contain it.
    """

    name: str
    shown: dict[str, Any]
    until: int | None = None
    there: bool | None = None

    @property
    def side(self) -> str:
        """Return the side whose words may contain it."""
        return "customer" if self.name.startswith("consent") else "agent"


def _consent(call: ToolCall, there: bool | None = None) -> Sought:
    shown = {"call": call.name, "arguments": call.arguments, "turn": call.turn}
    return Sought(f"consent:{call.index}", shown, call.turn, there)


@dataclass(frozen=True)
class SecondReading:
    """A conversation to read again: the items, its day, its case, and its run's losses.

    Without a case it is planted: what it contains is known.
    """

    conversation: Conversation
    sought: list[Sought]
    today: str
    case: Case | None = None
    of: int = 0


def sought_in(conversation: Conversation, case: Case, store: Store) -> list[Sought]:
    """Return what a conversation lacked for success, if only wording is at issue; else nothing.

    The result has only what success requires, unless there are several ways to succeed.
    """
    read = None if store.foreign else score(conversation, case, store, findings=False)
    if read is None or read["success"] is not False:
        return []
    broken = read["rules_broken_by"].get("confirmation", ())
    asked = [*_facts(read, case), *(_consent(c) for c in conversation.tool_calls if c.index in broken)]
    if case.bucket == "adversarial" and case.reasons and not read["declined"]:
        reasons = [reason_in_words(store, r, "en") or r for r in case.reasons]
        asked.append(Sought("reason", {"any one of these reasons": reasons}))
    if not asked or not is_won(conversation, case, store, asked):
        return []
    needed = [one for one in asked if not is_won(conversation, case, store, [s for s in asked if s is not one])]
    return needed if is_won(conversation, case, store, needed) else asked


def _facts(read: Any, case: Case) -> Iterator[Sought]:
    wanted = {name for o in case.outcomes for name in (case.facts if o.facts is None else o.facts)}
    for name, fact in case.facts.items():
        if not read["facts"][name] and name in wanted:
            brought_up = case.followups[fact.after].say if fact.after is not None else "(in the first message)"
            shown = {"fact": name.replace("_", " "), "value": fact.in_words, "question": fact.ask or brought_up}
            yield Sought(f"fact:{name}", {**shown, **({"as in": fact.say} if fact.say else {})})


def is_won(conversation: Conversation, case: Case, store: Store, found: Iterable[Sought]) -> bool:
    """Return whether a conversation would be a success if it contained these things."""
    names = {one.name for one in found}

    def second(facts: dict[str, bool], reasons: list[str], rules: dict[str, Any]) -> tuple[Any, Any, Any]:
        facts = {name: stated or f"fact:{name}" in names for name, stated in facts.items()}
        if "reason" in names:
            reasons = sorted({*reasons, case.reasons[0]})
        rule = rules.get("confirmation")
        if rule and rule["calls"]:
            left = [index for index in rule["calls"] if f"consent:{index}" not in names]
            state = rule["state"] if left or rule["turns"] else "kept"
            rules = {**rules, "confirmation": {**rule, "calls": left, "state": state}}
        return facts, reasons, rules

    return bool(score(conversation, case, store, findings=False, second=second)["success"])


def readings_of(records: dict[str, bytes], cases: dict[str, Case], store: Store) -> dict[str, SecondReading]:
    """Return a run's losses through wording, by record hash."""
    found = dict[str, SecondReading]()
    for digest, record in records.items():
        conversation = Conversation.from_json(record)
        case = cases[conversation.case_id]
        if sought := sought_in(conversation, case, store):
            found[digest] = SecondReading(conversation, sought, store.of(case).now.date().isoformat(), case)
    return {digest: replace(reading, of=len(found)) for digest, reading in found.items()}


def rests_on() -> list[str]:
    """Return the inputs of a second reading besides its task: the scoring and the planted items."""
    return [VERSION, PLANTED.read_text(encoding="utf-8")]


def forecast(
    path: Any, coming: Sequence[tuple[SecondReading, Model]], rubric: Rubric, store: Store, apart: bool
) -> str:
    """Return a sentence with the forecast of calls, tokens and cost."""
    costs, tokens = list[float | None](), 0
    for reading, model in coming:
        for names, messages in _requests(reading, rubric, store, apart):
            read = sum(len(m["content"]) for m in messages) // CHARACTERS_A_TOKEN
            used = Usage(prompt_tokens=read, completion_tokens=TOKENS_AN_ITEM * len(names), calls=1)
            costs.append(model.price(used))
            tokens += read
    real = len({id(reading) for reading, _ in coming if reading.case})
    return FORECAST.format(
        path=path,
        lost=counted(real, "conversation"),
        planted=len({id(r) for r, _ in coming}) - real,
        calls=counted(len(costs), "call"),
        tokens=f"{tokens:,}",
        cost=cost_in_words(sum(c or 0 for c in costs), len(costs), costs.count(None)),
    )


def planted_losses() -> list[SecondReading]:
    """Return made-up conversations: right answers in odd forms, and wrong ones."""
    found = []
    for number, planted in enumerate(read_yaml(PLANTED), 1):
        calls = [
            ToolCall(call["turn"], index, call["name"], call["arguments"], NOT_SHOWN, None, True)
            for index, call in enumerate(planted.get("calls", ()))
        ]
        sought = [
            _consent(calls[int(name.rpartition(":")[2])], item["there"])
            if name.startswith("consent")
            else Sought(name, {key: item[key] for key in item if key != "there"}, None, item["there"])
            for name, item in planted["items"].items()
        ]
        record = planted_conversation(f"{CASE_OF_PLANTED} {number}", planted["said"])
        record = replace(record, tool_calls=calls, ended_by="resolved_by_customer")
        found.append(SecondReading(record, sought, str(planted["today"])))
    return found


def planted_conversation(case_id: str, said: Iterable[str]) -> Conversation:
    """Return a made-up conversation built from these messages; customer and agent take turns."""
    messages = [Message(n // 2 + 1, "agent" if n % 2 else "customer", text) for n, text in enumerate(said)]
    return Conversation(case_id, 1, "planted", "scripted", "planted", messages)


def _requests(reading: SecondReading, rubric: Rubric, store: Store, apart: bool) -> list[tuple[list[str], Any]]:
    groups = [[one] for one in reading.sought] if apart else [reading.sought]
    return [([one.name for one in group], second_look(reading, group, rubric, store)) for group in groups]


def second_look(reading: SecondReading, sought: list[Sought], rubric: Rubric, store: Store) -> list[dict[str, Any]]:
    """Return the request to look for these things in the messages and calls, without results."""
    calls = [replace(call, result=NOT_SHOWN) for call in reading.conversation.tool_calls]
    lines = transcript(replace(reading.conversation, tool_calls=calls))[:-1]
    items = [orjson.dumps({"item": one.name, **one.shown}).decode() for one in sought]
    about = [f"# What is looked for, on {reading.today}", *items]
    return request(system_prompt((rubric,), store), about, lines)


async def read_again(
    complete: Any, reading: SecondReading, store: Store, rubric: Rubric, apart: bool = False
) -> dict[str, Any]:
    """Ask a judge, ``complete(messages)``, to look again for what the scorer did not find.

    Parameters
    ----------
    apart : bool
        Make one call per item instead of one for all.

    Returns
    -------
    dict
        The verdict of `ask_judge`, with ``losses`` as its own part. It has, by rubric, ``items`` (item, state, quote,
        reason, turn, there), ``unscored`` (why nothing was read, or ""), ``changed`` (whether the conversation is a
        success as adjudicated), ``scoring``, ``of`` (the run's losses through wording; 0 if planted), rubric and hash.

    Raises
    ------
    EndpointError
        If a call fails permanently: nothing is read, and the reading can be repeated.
    """

    def settle(entries: Entries) -> dict[str, Any]:
        items = [settled(one, entries[one.name], reading.conversation) for one in reading.sought]
        found = [one for one, item in zip(reading.sought, items, strict=True) if item["state"] == FOUND]
        changed = bool(reading.case and found and is_won(reading.conversation, reading.case, store, found))
        why = next((entry["unscored"] for entry in reversed(entries.values()) if "unscored" in entry), "")
        kept = {"items": items, "unscored": why, "changed": changed, "scoring": VERSION, "of": reading.of}
        return {"losses": {LOSSES: {**kept, "rubric": rubric.version, "hash": rubric.hash}}}

    requests = _requests(reading, rubric, store, apart)
    return await ask_judge(complete, reading.conversation, requests, read_items, settle)


def read_items(names: list[str], text: str, last: bool = False) -> Entries:
    """Return the entry of each name in a judge's reply; raise `Unreadable` for another form."""
    found = read_object(text, strict=True)
    items = found.get("items")
    if found.keys() != {"items"} or not isinstance(items, list):
        raise Unreadable("the object does not hold exactly 'items', a list")
    if any(not isinstance(i, dict) or {name: type(value) for name, value in i.items()} != FORM for i in items):
        raise Unreadable("an entry is not exactly item, quote and reason, each of them a text")
    if sorted(i["item"] for i in items) != sorted(names):
        raise Unreadable(f"the entries are not one for each of {', '.join(names)}")
    return {item["item"]: item for item in items}


def settled(sought: Sought, entry: dict[str, str], conversation: Conversation) -> dict[str, Any]:
    """Return the entry to store; a quote counts if the right side's message has it in time."""
    kept = {"item": sought.name, "quote": "", "reason": "", "state": UNREAD, "turn": None, "there": sought.there}
    if "unscored" in entry:
        return kept
    kept |= {"quote": entry["quote"][:LONGEST_QUOTE], "reason": entry["reason"][:2000], "state": NONE}
    quote = unquoted(entry["quote"])
    if not quote:
        return kept
    late = sought.until or max((m.turn for m in conversation.messages), default=0)
    for m in conversation.messages if len(entry["quote"]) <= LONGEST_QUOTE else ():
        if m.side == sought.side and m.turn <= late and _is_quoted(quote, m.text):
            return kept | {"state": FOUND, "turn": m.turn}
    return kept | {"state": INVALID}


ENDS = ".!?…,;:-"


def _is_quoted(quote: str, text: str) -> bool:
    if len(quote) >= SHORTEST_QUOTE:
        return quote in plain(text)
    return any(unquoted(s.text).strip(ENDS) == quote.strip(ENDS) for s in sentences(text))


def losses_in(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return what a stored verdict says about losses; empty unless it covers them."""
    return (verdict.get("losses") or {}).get(LOSSES) or {}
