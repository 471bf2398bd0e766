"""The judge's view: the policy, the facts of a case, and a record as JSON lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from math import inf
from typing import Any

import orjson

from ...cases import Call, Case
from ...conversation.scripted import reason_in_words
from ...records import ENDINGS, Conversation, content_hash
from ...store import Store
from ...store.files import thawed

ROOM, LONGEST_WHOLE = 60_000, 16_000
"""Maximum characters of results shown whole, in all and per result: articles that an agent found decide most cases."""
LONGEST_LEAF, LONGEST_RESULT = 600, 4000
"""Characters shown of one text in a result, and of one result, if the results are too long to be shown whole."""
LEFT_OUT = ("process_rules", "version")
"""Tables of a policy that a judge does not see: they define how the library checks the rules."""
LIMITS = [ROOM, LONGEST_WHOLE, LONGEST_LEAF, LONGEST_RESULT]


def policy_text(store: Store) -> str:
    """Return the store's limits, windows and queues, as compact YAML."""
    import yaml

    shown = {name: thawed(part) for name, part in store.policy.items() if name not in LEFT_OUT}
    return yaml.safe_dump(shown, sort_keys=False, default_flow_style=None, width=160, allow_unicode=True).strip()


def request(system: str, about: list[str], lines: list[str]) -> list[dict[str, Any]]:
    """Return the messages with a judge's task, its facts, and a record between two marks."""
    code = content_hash("\n".join(lines).encode())
    parts = [
        *about,
        f"# The record, between two marks with the code {code}",
        f"<<<record {code}>>>",
        *lines,
        f"<<<end of record {code}>>>",
        "Now give your verdict on this record, as the JSON object described.",
    ]
    return [{"role": "system", "content": system}, {"role": "user", "content": "\n".join(parts)}]


def case_facts(case: Case, store: Store) -> dict[str, Any]:
    """Return the facts of a case for a judge: sender, truth, accepted outcomes, forbidden calls."""
    outcomes = [
        {
            "name": o.name,
            "calls": _named(o.calls),
            "handover": o.handover,
            **({"reason": reason_in_words(store, o.reason, "en") or o.reason} if o.reason else {}),
            **({"facts": o.facts} if o.facts is not None else {}),
        }
        for o in case.outcomes
    ]
    return {
        "kind": case.bucket,
        "about": case.title,
        "the email came from": f"{case.sender_name} <{case.sender}>",
        "the customer writes in": case.language,
        "the customer's claim is": case.claim,
        "order it is about": case.order,
        "accepted outcomes, any one": outcomes,
        "facts the customer had to be told": {name: fact.in_words for name, fact in case.facts.items()},
        "accepted queues of a handover": case.queues,
        "reasons that decline it rightly": [reason_in_words(store, r, "en") or r for r in case.reasons],
        "calls that may come on top": _named(case.allowed_extra),
        "must not be called": _named(case.forbidden),
    }


def _named(calls: Iterable[Call]) -> list[dict[str, Any]]:
    # A call without arguments means every call of the tool.
    found = [{"tool": c.tool, **c.arguments} for c in calls]
    return [call for n, call in enumerate(found) if call not in found[:n]]


def transcript(conversation: Conversation, case: Case | None = None, reasoning: bool = False) -> list[str]:
    """Return the record as a judge sees it, one JSON object per line.

    The lines are messages, calls with results, and the ending; with `reasoning` also the reasoning of the agent's
    model, in its place. The content of an attachment comes from the record, or else from the case.
    """
    lines: list[dict[str, Any]] = []
    calls, shown = deque(conversation.tool_calls), _results_within_room()
    before_call, before_reply = conversation.thoughts() if reasoning else ({}, {})
    in_case = {k.attach: k.shows or "" for k in case.ledger.values() if k.attach} if case else {}

    def think(thoughts: dict[int, list[str]], place: int, turn: int) -> None:
        texts = thoughts.pop(place, ())
        lines.extend({"turn": turn, "agent thinks": thought[:LONGEST_RESULT]} for thought in texts)

    for message in (*conversation.messages, None):
        before = inf if message is None else message.turn if message.side == "agent" else message.turn - 1
        while calls and calls[0].turn <= before:
            call = calls.popleft()
            think(before_call, call.index, call.turn)
            line = {"turn": call.turn, f"{call.side} calls": call.name, "arguments": call.arguments}
            line |= {"error": call.error} if call.error else {}
            lines.append({**line, "result": shown(call.result, call.turn)})
        for turn in sorted(before_reply) if message is None else [int(before)]:
            think(before_reply, turn, turn)
        if message is not None:
            depicted = {a: message.shows.get(a) or in_case.get(a, "") for a in message.attachments}
            attached = {"attached": depicted} if depicted else {}
            lines.append({"turn": message.turn, message.side: message.text, **attached})
    lines.append({"ended": conversation.ended_by, "meaning": ENDINGS.get(conversation.ended_by, "")})
    return [orjson.dumps(line).decode() for line in lines]


def _results_within_room() -> Callable[[Any, int], Any]:
    """Return ``shown(result, turn)``: the result while there is room, and a long text only once."""
    room, turns = ROOM, dict[str, int]()

    def once(text: str, turn: int) -> str:
        if text in turns:
            return f"[the same text as above, in turn {turns[text]}]"
        turns[text] = turn
        return text

    def shown(result: Any, turn: int) -> Any:
        nonlocal room
        whole = _with_long_texts(result, lambda text: once(text, turn))
        length = len(orjson.dumps(whole))
        if length <= min(room, LONGEST_WHOLE):
            room -= length
            return whole
        cut = _with_long_texts(whole, lambda text: _cut(text, LONGEST_LEAF))
        text = orjson.dumps(cut).decode()
        return cut if len(text) <= LONGEST_RESULT else _cut(text, LONGEST_RESULT)

    return shown


def _cut(text: str, most: int) -> str:
    return f"{text[:most]} [cut: {len(text) - most} more characters]"


def _with_long_texts(value: Any, shown: Callable[[str], str]) -> Any:
    """Return a tool's result with each of its long texts as `shown` gives it."""
    if isinstance(value, str) and len(value) > LONGEST_LEAF:
        return shown(value)
    if isinstance(value, dict):
        return {k: _with_long_texts(v, shown) for k, v in value.items()}
    return [_with_long_texts(v, shown) for v in value] if isinstance(value, list) else value
