"""Turn a conversation into plain data for a template: turns, changes, marks on messages."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from ..cases import Case
from ..experiment.recorder import costs_of
from ..records import ENDINGS, Act, Conversation, ToolCall
from ..scoring.deciding import SUCCESS_STATES, Moment, as_written, reasons_against, state_of
from ..scoring.facts import why_untold
from ..scoring.score import Score
from ..scoring.written import details, words
from ..store import Store
from ..textfiles import read_yaml
from .marks import Mark, marks_of, placed, promises_of, segments

ACTS: dict[str, str] = read_yaml(Path(__file__).with_name("texts.yaml"))["acts"]
NAMED = ("gave", "lacked", "waited")
"""Acts that name a fact or a question; the name is quoted, as it is not part of a sentence."""
SUCCESS_ALL_THE_SAME = "; a success all the same, since in the end it handed over, gave the reason or put things right"
LONGEST_BRIEF = 110
LONGEST_QUOTE = 420
"""Length limit of a quote from each side, in characters."""


def conversation_view(
    conversation: Conversation,
    score: dict[str, Any] | None = None,
    *,
    case: Case | None = None,
    store: Store | None = None,
    verdicts: Iterable[dict[str, Any]] = (),
    cost: dict[str, float | None] | None = None,
    entry: str | None = None,
    model_calls: Iterable[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the conversation in the form that its templates read.

    A `case` adds the customer's ledger, pressure lines and forbidden calls. With a `store`, each call is carried out
    again to find its changes. `verdicts` are rows of the frame of that name. `cost` is in US dollars by side, by
    default from the model calls, which are those of `RunFile.calls_of`.
    """
    c, score = conversation, score or {}
    verdicts, model_calls = list(verdicts), list(model_calls)
    cost = cost or {side: usd for (*_, side), usd in costs_of(model_calls).items()}
    count, state = Numbering(c), state_of(score, c.ended_by)
    marks = marks_of(score, verdicts)
    texts = defaultdict(list)
    for m in c.messages:
        texts[m.side, m.turn].append(m.text)
    where = placed(marks, texts)
    unplaced = [m for m in marks if not any(m in there for there in where.values())]
    broken = score.get("rules_broken_by") or {}
    rules = {k.removeprefix("rule_"): kept for k, kept in score.items() if k.startswith("rule_")}
    return {
        "c": c,
        "entry": entry or c.model,
        "number": count.of,
        "anchor": f"t{crc32(f'{entry or c.model} {c.case_id} {c.trial}'.encode(errors='replace')):08x}-m",
        "score": {**dict.fromkeys(Score.__annotations__), **score} if score else {},
        "state": state,
        "outcome": " ".join(SUCCESS_STATES[state]),
        "pressure": pressure_words(score),
        "reasons": reasons_against(score, c.ended_by, c, case, store) if score else (),
        "ending": ENDINGS.get(c.ended_by, ""),
        "turns": _turns(c, _calls(c, score, store, unplaced), where, count),
        "rules": [(rule, kept, broken.get(rule, [])) for rule, kept in rules.items()],
        "marks": [_numbered(m, where, count) for m in marks if m.kind != "judge"],
        "promises": [p | {"message": count.of(p["turn"]), "by": count.renumbered(p["by"])} for p in promises_of(score)],
        "faults": [{"side": f.side, "kind": f.kind, "detail": count.renumbered(f.detail, f.side)} for f in c.faults],
        "verdicts": verdicts,
        "usage": [{"side": side, "cost": cost.get(side), **asdict(use)} for side, use in c.usage.items()],
        "model_calls": model_calls,
        "case": _case(c, case, score, count, store) if case else None,
    }


class Numbering:
    """Message numbers as in every transcript: by turn, the customer's before the agent's."""

    def __init__(self, conversation: Conversation) -> None:
        placed = sorted((m.turn, m.side != "customer") for m in conversation.messages)
        self._numbers: dict[tuple[str, int], list[int]] = {}
        for number, (turn, by_agent) in enumerate(placed, 1):
            self._numbers.setdefault(("agent" if by_agent else "customer", turn), []).append(number)

    def of(self, turn: int, side: str | None = "agent", place: int = 0) -> int | None:
        """Return the number of a side's message in a turn, else the other side's, or None."""
        sides = [side or "agent", "agent" if side == "customer" else "customer"]
        found = next((self._numbers[s, turn] for s in sides if (s, turn) in self._numbers), None)
        return found[min(place, len(found) - 1)] if found else None

    def renumbered(self, text: str, side: str = "agent") -> str:
        """Return a stored remark, which counts one side's messages, with the numbers on the page."""

        def shown(hit: re.Match[str]) -> str:
            return f"{hit[1]}message {self.of(int(hit[2]), 'customer' if hit[1] else side) or hit[2]}"

        return re.sub(r"\b(given in |)message (\d+)\b", shown, text)


def _numbered(mark: Mark, where: dict[tuple[str, int, int], list[Mark]], count: Numbering) -> Mark:
    at = next((key for key, there in where.items() if mark in there), None)
    number = count.of(at[1], at[0], at[2]) if at else count.of(mark.turn, mark.side) if mark.turn else None
    note, quote = (count.renumbered(text, mark.side or "agent") for text in (mark.note, mark.quote))
    return replace(mark, message=number, note=note, quote=mark.quote if at else quote)


def pressure_words(score: Mapping[str, Any]) -> str:
    """Describe how an agent reacted to the pressure of a trap: ``held after all 3 pushes made``."""
    state, push, pushes = (score.get(name) for name in ("pressure_reached", "pressure_push", "pushes"))
    if not state:
        return ""
    when = " before any push" if pushes and state != "held" else ", without a push"
    if push and pushes:
        every = "the one push" if push == 1 else f"all {push:g} pushes"
        when = f" after {every if push == pushes else f'{push:g} of {pushes:g} pushes'} made"
    return f"{state}{when}{SUCCESS_ALL_THE_SAME if state == 'wavered' and score.get('success') else ''}"


def changes_by_call(conversation: Conversation, store: Store | None = None) -> dict[int, list[dict[str, Any]]]:
    """Return each call's changes on the desk (table, id, field, old, new), by call index.

    The calls are carried out again. Without their `store`, or if the result differs from the record, a change is
    attributed to a call only if no other call can have made it.
    """
    done = [t for t in conversation.tool_calls if t.write and not t.error]
    if not done or not conversation.changes:
        return {}
    if store and (again := _replayed(conversation, store)) is not None:
        return again
    found = defaultdict(list)
    named = {t.index: orjson.dumps([t.arguments, t.result]).decode().casefold() for t in done}
    for change in conversation.changes:
        who = [index for index, text in named.items() if f'"{change["id"]}"'.casefold() in text]
        if len(who) == 1:
            found[who[0]].append(change)
    return dict(found)


def _replayed(c: Conversation, store: Store) -> dict[int, list[dict[str, Any]]] | None:
    # None if the desk ends up different from the record.
    desk, found = store.desk(), {}
    before: dict[tuple[str, str, str], tuple[Any, Any]] = {}
    for call in (t for t in c.tool_calls if not t.error):
        desk.call(call.name, call.arguments, call.side)
        if not call.write:
            continue
        after = {(x["table"], x["id"], x["field"]): (x["old"], x["new"]) for x in desk.changes()}
        changed = (key for key in after | before if before.get(key) != after.get(key))
        found[call.index] = [_step(key, before.get(key), after.get(key)) for key in changed]
        before = after
    recorded = {(x["table"], x["id"], x["field"]): [x["old"], x["new"]] for x in c.changes}
    return found if {k: list(v) for k, v in before.items()} == recorded else None


def _step(key: tuple[str, str, str], before: tuple[Any, Any] | None, after: tuple[Any, Any] | None) -> dict[str, Any]:
    # A field that is back at the store's value is no longer a change.
    old = before[1] if before else after[0] if after else None
    new = after[1] if after else before[0] if before else None
    return {"table": key[0], "id": key[1], "field": key[2], "old": old, "new": new}


def _turns(
    c: Conversation,
    calls: dict[int, list[dict[str, Any]]],
    where: dict[tuple[str, int, int], list[Mark]],
    count: Numbering,
) -> list[dict[str, Any]]:
    def written(side: str, turn: int) -> list[dict[str, Any]]:
        messages = [m for m in c.messages if m.side == side and m.turn == turn]
        return [
            {
                "number": count.of(turn, side, n),
                "parts": segments(m.text, where.get((side, turn, n), ())),
                "attachments": [f"{a} ({m.shows[a]})" if a in m.shows else a for a in m.attachments],
                "acts": [{"text": act_words(a), "kind": a.kind, "inferred": a.inferred} for a in m.acts],
            }
            for n, m in enumerate(messages)
        ]

    before_call, before_reply = c.thoughts()
    return [
        {
            "number": n,
            "customer": written("customer", n),
            "calls": [{**call, "reasoning": before_call.get(call["call"].index, [])} for call in calls.get(n, [])],
            "reasoning": before_reply.get(n, []),
            "agent": written("agent", n),
        }
        for n in sorted({m.turn for m in c.messages} | {t.turn for t in c.tool_calls} | set(before_reply))
    ]


def act_words(act: Act) -> str:
    """Return an act in a few words."""
    what = int(act.what) + 1 if act.kind == "followed_up" and act.what.isdecimal() else words(act.what)
    about = f"{ACTS.get(act.kind, act.kind)} {f'“{what}”' if act.kind in NAMED else what}"
    return f"{about}: {act.detail}" if act.detail else about


def _calls(
    c: Conversation, score: dict[str, Any], store: Store | None, marks: list[Mark]
) -> dict[int, list[dict[str, Any]]]:
    changed = changes_by_call(c, store)
    forbidden = score.get("forbidden_by") or ()
    broken, by_turn = score.get("rules_broken_by") or {}, defaultdict(list)
    for t in c.tool_calls:
        own_marks = [m for m in marks if m.kind == "judge" or m.call == t.index]
        arguments, result = segments(as_json(t.arguments), own_marks), segments(as_json(t.result), own_marks)
        entry = {"call": t, "brief": brief(t), "arguments": arguments, "result": result}
        entry |= {"changes": _rows(changed.get(t.index, [])), "forbidden": t.index in forbidden}
        entry |= {"breaks": [rule for rule, indexes in broken.items() if t.index in indexes]}
        entry["findings"] = sorted({m.label for m in marks if m.call == t.index})
        entry["evidence"] = any("judge" in s["kinds"] for s in [*arguments, *result])
        by_turn[t.turn].append(entry)
    return by_turn


def as_json(value: Any) -> str:
    """Return a value as indented JSON, or in Python's notation if JSON cannot represent it."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return repr(value)


def brief(call: ToolCall) -> str:
    """Return a call's arguments on one line as a person would write them, shortened if needed."""
    text = call.arguments if isinstance(call.arguments, str) else details(call.arguments)
    return text if len(text) <= LONGEST_BRIEF else text[: LONGEST_BRIEF - 1] + "…"


def quoted(moment: Moment, record: Conversation) -> dict[str, Any]:
    """Return the deciding turn for a quote: message (its number), customer, agent, call."""
    call = f"{moment.call.name} {brief(moment.call)}".strip() if moment.call else ""
    customer, agent = _beginning(moment.customer), _beginning(moment.agent)
    return {"message": Numbering(record).of(moment.turn), "customer": customer, "agent": agent, "call": call}


def _beginning(text: str) -> str:
    text = re.sub(r"\s*\n\s*", "\n", text[: 4 * LONGEST_QUOTE].strip())
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"


def _rows(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found, rows = [], defaultdict(list)
    for change in changes:
        rows[change["table"], change["id"]].append(change)
    for (table, key), fields in rows.items():
        new = all(x["old"] is None for x in fields) and any(x["field"] == "id" for x in fields)
        shown = [x for x in fields if not (new and x["field"] == "id")]
        found.append({"table": table, "id": key, "new": new, "fields": shown})
    return found


def _case(c: Conversation, case: Case, score: dict[str, Any], count: Numbering, store: Store | None) -> dict[str, Any]:
    said = {a.what: count.of(turn, "customer") for turn, a in c.acts("pushed")}
    acts = [(turn, act.what) for turn, act in c.acts() if act.kind in ("gave", "attached", "lacked")]
    gave = {what: count.of(turn, "customer") for turn, what in reversed(acts)}
    stated = score.get("facts") or {}
    why = why_untold(c, case, store, stated) if store else {}
    return {
        "title": case.title,
        "goal": case.goal,
        "persona": case.persona,
        "ledger": [
            {"name": n, "value": k.value or k.attach or "-", "when": k.when, "wrong": k.wrong, "message": gave.get(n)}
            for n, k in case.ledger.items()
        ],
        "pressure": [{"text": line, "message": said.get(str(n))} for n, line in enumerate(case.pressure, 1)],
        "facts": [
            {"name": n, "value": f.in_words, "kind": f.kind, "told": stated.get(n), "why": why.get(n, "")}
            for n, f in case.facts.items()
        ],
        "outcomes": [
            {"name": o.name, "handover": o.handover, "calls": [as_written(x) for x in o.calls]} for o in case.outcomes
        ],
        "forbidden": [as_written(x) for x in case.forbidden],
        "queues": case.queues,
        "reasons": case.reasons,
    }
