"""A second reading of what was lost by words: what a judge looks for, what counts of its answer, and what it changes.

A conversation is lost by words if it would have been won had the scorer found more in its messages: a fact that was
told, a yes, a reason. A judge has to quote what it finds. No score changes; *as adjudicated* stands beside *as read*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson

from ...analysis.estimators.estimate import counted
from ...cases import Case
from ...conversation.oracle import reason_in_words
from ...endpoint import EndpointError
from ...endpoint.structured import Unreadable, ask_for, read_object, without_words
from ...experiment.recorder import Model
from ...language.sentences import sentences
from ...project import DATA
from ...records import Conversation, Message, ToolCall, Usage, content_hash
from ...scoring.facts import plain, unquoted
from ...scoring.score import VERSION, score
from ...scoring.written import cost_in_words
from ...store import Store
from ...textfiles import read_yaml
from ...threads import read_aside
from .verdicts import LOSSES, SHORTEST_QUOTE, Rubric, addressed, request, system_prompt, transcript

FOUND, NONE, INVALID, UNREAD = "found", "none", "invalid", "unread"
"""What becomes of an item: rightly quoted, said to be missing, a quote that does not count, or no usable reply."""
FORM = {"item": str, "quote": str, "reason": str}
PLANTED = DATA / "losses_planted.yaml"
CASE_OF_PLANTED = "planted loss"
LONGEST_QUOTE = 600
CHARACTERS_A_TOKEN, TOKENS_AN_ITEM = 4, 120
"""Of a forecast: characters that a judge reads as one token, and tokens that it writes on one item."""
FORECAST = "{path}: {lost} lost by words and {planted} planted to read again: {calls}, about {tokens} tokens, {cost}"
NOT_SHOWN = "not shown"


@dataclass(frozen=True)
class Sought:
    """One thing that the scorer did not find in a conversation.

    Attributes
    ----------
    name : str
        ``fact:NAME``, ``consent:INDEX`` (of the call), or ``reason``.
    shown : dict
        What a judge is shown of it.
    until : int, optional
        The last turn whose message may hold it: a yes comes before its call.
    there : bool, optional
        Of a planted one, whether the words hold it.
    """

    name: str
    shown: dict[str, Any]
    until: int | None = None
    there: bool | None = None

    @property
    def side(self) -> str:
        """Return the side whose words may contain it."""
        return "customer" if self.name.startswith("consent") else "agent"


@dataclass(frozen=True)
class SecondReading:
    """A conversation to be read again: what is sought, its day, and how many its run lost by words."""

    conversation: Conversation
    sought: list[Sought]
    today: str
    of: int = 0

    @property
    def is_planted(self) -> bool:
        """Return whether what it holds is known."""
        return self.sought[0].there is not None


def sought_in(conversation: Conversation, case: Case, store: Store) -> list[Sought]:
    """Return what a conversation was lost for, where all of it rests on reading text; else nothing.

    Only what is needed for success is sought, unless there are several ways to it.
    """
    read = None if store.foreign else score(conversation, case, store, findings=False)
    if read is None or read["success"] is not False:
        return []
    asked = [*_facts(read, case), *_consents(read, conversation), *_reasons(read, case, store)]
    if not asked or not is_won(conversation, case, store, asked):
        return []
    needed = [one for one in asked if not is_won(conversation, case, store, [s for s in asked if s is not one])]
    return needed if is_won(conversation, case, store, needed) else asked


def _facts(read: Any, case: Case) -> list[Sought]:
    wanted = {name for o in case.outcomes for name in (case.facts if o.facts is None else o.facts)}
    found = []
    for name, fact in case.facts.items():
        if read["facts"][name] or name not in wanted:
            continue
        brought_up = case.followups[fact.after].say if fact.after is not None else "(in the first message)"
        shown = {"fact": name.replace("_", " "), "value": fact.in_words, "question": fact.ask or brought_up}
        found.append(Sought(f"fact:{name}", {**shown, **({"as in": fact.say} if fact.say else {})}))
    return found


def _consents(read: Any, conversation: Conversation) -> list[Sought]:
    broken = read["rules_broken_by"].get("confirmation", ())
    return [
        Sought(f"consent:{c.index}", {"call": c.name, "arguments": c.arguments, "turn": c.turn}, c.turn)
        for c in conversation.tool_calls
        if c.index in broken
    ]


def _reasons(read: Any, case: Case, store: Store) -> list[Sought]:
    if case.bucket != "adversarial" or read["declined"] or not case.reasons:
        return []
    return [
        Sought("reason", {"any one of these reasons": [reason_in_words(store, r, "en") or r for r in case.reasons]})
    ]


def is_won(conversation: Conversation, case: Case, store: Store, found: Iterable[Sought]) -> bool:
    """Return whether a conversation is a success if these things are taken as found in it."""
    names = {one.name for one in found}

    def second(
        facts: dict[str, bool], reasons: list[str], rules: dict[str, Any]
    ) -> tuple[dict[str, bool], list[str], dict[str, Any]]:
        facts = {name: told or f"fact:{name}" in names for name, told in facts.items()}
        if "reason" in names:
            reasons = sorted({*reasons, case.reasons[0]})
        rule = rules.get("confirmation")
        if rule and rule["calls"]:
            left = [index for index in rule["calls"] if f"consent:{index}" not in names]
            state = rule["state"] if left or rule["turns"] else "kept"
            rules = {**rules, "confirmation": {**rule, "calls": left, "state": state}}
        return facts, reasons, rules

    return bool(score(conversation, case, store, findings=False, second=second)["success"])


def readings_of(
    records: dict[str, bytes], cases: dict[str, Case], store: Store, limit: int | None
) -> dict[str, SecondReading]:
    """Return what a judge reads again of a run, by record hash: planted and real losses by words.

    With a limit, return only so many losses, the first by hash. Return nothing where a run has no loss by words.
    """
    found = dict[str, tuple[Conversation, list[Sought], str]]()
    for digest, record in records.items():
        conversation = Conversation.from_json(record)
        case = cases[conversation.case_id]
        if sought := sought_in(conversation, case, store):
            found[digest] = conversation, sought, store.of(case).now.date().isoformat()
    first = list(found) if limit is None else sorted(found)[:limit]
    planted = {content_hash(p.conversation.to_json()): p for p in planted_losses() if found}
    return planted | {digest: SecondReading(*found[digest], len(found)) for digest in first}


def rests_on() -> list[str]:
    """Return what a second reading rests on beside its task: the scoring, and what is planted."""
    return [VERSION, PLANTED.read_text(encoding="utf-8")]


def forecast(
    path: Any, coming: Sequence[tuple[SecondReading, Model]], rubric: Rubric, store: Store, apart: bool
) -> str:
    """Return a sentence on what the calls will take, before the first is made."""
    cost, unpriced, calls, tokens = 0.0, 0, 0, 0
    for reading, model in coming:
        groups = [[one] for one in reading.sought] if apart else [reading.sought]
        for group in groups:
            read = sum(len(m["content"]) for m in second_look(reading, group, rubric, store)) // CHARACTERS_A_TOKEN
            price = model.price(Usage(prompt_tokens=read, completion_tokens=TOKENS_AN_ITEM * len(group), calls=1))
            cost, unpriced, calls, tokens = cost + (price or 0), unpriced + (price is None), calls + 1, tokens + read
    real = len({id(reading) for reading, _ in coming if not reading.is_planted})
    return FORECAST.format(
        path=path,
        lost=counted(real, "conversation"),
        planted=len({id(r) for r, _ in coming}) - real,
        calls=counted(calls, "call"),
        tokens=f"{tokens:,}",
        cost=cost_in_words(cost, calls, unpriced),
    )


def planted_losses() -> list[SecondReading]:
    """Return made-up conversations in which is known what is there: right answers in odd forms, and wrong ones."""
    found = []
    for number, planted in enumerate(read_yaml(PLANTED), 1):
        said = enumerate(planted["said"])
        messages = [Message(n // 2 + 1, "agent" if n % 2 else "customer", text) for n, text in said]
        calls = [
            ToolCall(call["turn"], index, call["name"], call["arguments"], NOT_SHOWN, None, True)
            for index, call in enumerate(planted.get("calls", ()))
        ]
        sought = [_planted(name, item, calls) for name, item in planted["items"].items()]
        record = Conversation(
            f"{CASE_OF_PLANTED} {number}",
            1,
            "planted",
            "scripted",
            "planted",
            messages,
            calls,
            ended_by="resolved_by_customer",
        )
        found.append(SecondReading(record, sought, str(planted["today"])))
    return found


def _planted(name: str, item: dict[str, Any], calls: list[ToolCall]) -> Sought:
    shown = {key: value for key, value in item.items() if key != "there"}
    if not name.startswith("consent"):
        return Sought(name, shown, None, item["there"])
    call = calls[int(name.rpartition(":")[2])]
    return Sought(name, {"call": call.name, "arguments": call.arguments, "turn": call.turn}, call.turn, item["there"])


def second_look(reading: SecondReading, sought: list[Sought], rubric: Rubric, store: Store) -> list[dict[str, Any]]:
    """Return the request that has a judge look for these things: it sees messages and calls, no results."""
    calls = [replace(call, result=NOT_SHOWN) for call in reading.conversation.tool_calls]
    lines = transcript(replace(reading.conversation, tool_calls=calls))[:-1]
    items = [orjson.dumps({"item": one.name, **one.shown}).decode() for one in sought]
    about = [f"# What is looked for, on {reading.today}", *items]
    return request(system_prompt((rubric,), store), about, lines)


async def read_again(
    complete: Any, reading: SecondReading, case: Case | None, store: Store, rubric: Rubric, apart: bool = False
) -> dict[str, Any]:
    """Have a judge look again for what the scorer did not find.

    Parameters
    ----------
    complete : async callable
        ``complete(messages) -> Completion``.
    case : Case, optional
        None for a planted conversation.
    apart : bool
        One call an item in place of one for all.

    Returns
    -------
    dict
        The verdict. ``losses`` has, by rubric, ``items`` (item, state, quote, reason, turn, there), ``unscored`` (why
        nothing was read, or ""), ``changed`` (whether the conversation is won as adjudicated), ``scoring``, ``of`` (the
        losses by words of the run; 0 for a planted one), rubric and hash. The rest is as for `judge_conversation`.

    Raises
    ------
    EndpointError
        When a call fails for good: nothing is read then, and it can be tried again.
    """
    used, answers, entries, why = Usage(), list[Any](), list[dict[str, str]](), ""
    conversation, groups = reading.conversation, [[s] for s in reading.sought] if apart else [reading.sought]
    for group in groups:
        messages, names = second_look(reading, group, rubric, store), [one.name for one in group]
        try:
            entries += await ask_for(complete, messages, partial(_read, messages, names), answers.append)
        except Unreadable as error:
            why = str(error)
        except EndpointError as error:
            if error.kind != "context_overflow":
                raise
            why = f"the record does not fit the judge's context window ({error.detail})"
    for answer in answers:
        used.add(answer.usage)
    given = {entry["item"]: entry for entry in entries}
    length = sum(len(m.text) for m in conversation.messages)
    items = [await read_aside(length, settled, one, given.get(one.name), conversation) for one in reading.sought]
    found = [one for one, item in zip(reading.sought, items) if item["state"] == FOUND]
    changed = bool(case and found and is_won(conversation, case, store, found))
    kept = {"items": items, "unscored": why, "changed": changed, "scoring": VERSION, "of": reading.of}
    return {
        "case_id": conversation.case_id,
        "trial": conversation.trial,
        "losses": {LOSSES: {**kept, "rubric": rubric.version, "hash": rubric.hash}},
        "mended": len(answers) > len(groups),
        "addressed": await read_aside(length, addressed, conversation),
        "usage": used,
    }


def _read(messages: list[dict[str, Any]], names: list[str], text: str, last: bool) -> list[dict[str, str]]:
    return read_items(without_words(text, messages), names)


def read_items(text: str, names: list[str]) -> list[dict[str, str]]:
    """Return the entries of a judge's reply, one for each name; raise `Unreadable` if the reply has another form."""
    found = read_object(text, strict=True)
    items = found.get("items")
    if found.keys() != {"items"} or not isinstance(items, list):
        raise Unreadable("the object does not hold exactly 'items', a list")
    if any(not isinstance(i, dict) or {name: type(value) for name, value in i.items()} != FORM for i in items):
        raise Unreadable("an entry is not exactly item, quote and reason, each of them a text")
    if sorted(i["item"] for i in items) != sorted(names):
        raise Unreadable(f"the entries are not one for each of {', '.join(names)}")
    return items


def settled(sought: Sought, entry: dict[str, str] | None, conversation: Conversation) -> dict[str, Any]:
    """Return the entry to store: a quote counts if one message of the right side holds it, and in time."""
    kept = {"item": sought.name, "quote": "", "reason": "", "state": UNREAD, "turn": None, "there": sought.there}
    if entry is None:
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
    """Return whether a quote is from a text; a very short one must be a sentence of it."""
    if len(quote) >= SHORTEST_QUOTE:
        return quote in plain(text)
    return any(unquoted(s.text).strip(ENDS) == quote.strip(ENDS) for s in sentences(text))


def losses_in(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return what a stored verdict says of losses; empty unless it is on them."""
    return (verdict.get("losses") or {}).get(LOSSES) or {}
