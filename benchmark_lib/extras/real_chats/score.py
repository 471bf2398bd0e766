"""Score of a decision: the agent's acts against the human's and the procedure's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...analysis.frames import SCORE_FIELDS
from ...cases import Case
from ...records import NOT_SCORED, Conversation, ToolCall
from .chat import Did
from .decisions import Decision, folded, label
from .store import NOT_ON_RECORD, ON, ChatStore
from .vocabulary import HAND_OVER


def chat_score(c: Conversation, case: Case, store: ChatStore) -> dict[str, Any]:
    """Score one conversation: its first turn after the cut, by both truths, and counts.

    Returns
    -------
    dict
        ``success`` is agreement with the procedure where it names a next act, with the human's acts and values
        otherwise; of a weak case, agreement on the handover. ``resolved`` is the same where nobody hands over, so that
        boards and comparisons can read it. ``decision`` holds the parts.
    """
    one = store.decision(case)
    made = [t for t in c.tool_calls if t.turn == one.turn and t.side == "agent"]
    acts = list(acts_of(made, one))
    scored = c.ended_by not in NOT_SCORED
    handed = any(t.name == HAND_OVER and not t.error for t in made)
    found = decided(acts, handed, one)
    human = found["human_acts"] and found["human_values"] is not False
    right = found["handover"] if one.weak else human if found["procedure"] is None else found["procedure"]
    replies = [m for m in c.replies() if m.turn >= one.turn]
    live = [t for t in c.tool_calls if t.turn >= one.turn and t.side == "agent"]
    unanswered = sum(t.result == NOT_ON_RECORD for t in live)
    return dict.fromkeys(name for name in SCORE_FIELDS if not name.startswith("rule_")) | {
        "bucket": case.bucket,
        "intent": case.intent,
        "scored": scored,
        "success": right if scored else None,
        "resolved": right if scored and case.bucket == "resolvable" else None,
        "handed_over": handed if scored else None,
        "needless_handover": handed if scored and case.bucket == "resolvable" else None,
        "turns": sum(m.side == "customer" and m.turn >= one.turn for m in c.messages),
        "agent_messages": len(replies),
        "agent_words": sum(len(m.text.split()) for m in replies),
        "empty_replies": sum(not m.text.strip() for m in replies),
        "tool_calls": len(live),
        "write_calls": sum(bool(t.write) and not t.error for t in live),
        "failed_calls": sum(t.error is not None for t in live),
        "customer_faults": sum(f.side == "customer" for f in c.faults),
        "decision": {**found, "not_on_record": unanswered, "goes_on": case.id.endswith(ON)},
    }


def acts_of(calls: Iterable[ToolCall], one: Decision) -> Iterable[Did]:
    """Yield the acts that tool calls stand for; failed calls stand for none."""
    for call in (t for t in calls if not t.error):
        name = one.known.by_tool.get(call.name, "")
        valued = name != ""
        name = one.handing if call.name == HAND_OVER else str(call.named.get("reply")) if not valued else name
        yield Did(name, {k: str(v) for k, v in call.named.items()} if valued else {}, call.result)


def decided(acts: list[Did], handed: bool, one: Decision) -> dict[str, Any]:
    """Compare the acts of one decision with both truths.

    Reads that the human did not make are left out of the comparison with the human. Agreement with the procedure
    includes the values of the acts that the human made, too: the procedure names none.
    """
    theirs = {d.name for d in one.human}
    counted = [d for d in acts if d.name in theirs or not one.reads(d)]
    values = _values_agree(counted, one.human)
    follows = one.follows(acts)
    return {
        "chat": one.chat.id,
        "acts": label(d.name for d in counted),
        "human": label(theirs),
        "human_acts": None if one.weak else {d.name for d in counted} == theirs,
        "human_values": values,
        "procedure": follows and values is not False,
        "handover": handed == one.handed_over,
        "human_follows": one.follows(one.human),
        "parting": one.parting,
        "weak": one.weak,
    }


def _values_agree(acts: list[Did], human: list[Did]) -> bool | None:
    """Return whether the acts that both made have the same values; None without any."""
    both = [(a, [d for d in human if d.name == a.name and d.values]) for a in acts]
    compared = [(a, theirs) for a, theirs in both if theirs]
    return all(any(_same_values(a, d) for d in theirs) for a, theirs in compared) if compared else None


def _same_values(one: Did, other: Did) -> bool:
    return {folded(v) for v in one.values.values()} - {""} == {folded(v) for v in other.values.values()} - {""}
