"""Cut a chat before each decision of its agent, and compare acts with the two truths."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...analysis.frames import SCORE_FIELDS
from ...cases import Case
from ...records import NOT_SCORED, Conversation, Message, ToolCall
from .chat import Did, Exchange, RealChat
from .procedures import Procedure
from .vocabulary import HAND_OVER, Vocabulary

AS_WRITTEN, ALLOWED, ERROR, UNCLEAR = "as written", "allowed branch", "human error", "unclear"
"""The ways in which a human's acts may relate to the written procedure."""
NO_ACT = "no act"
NOT_ON_RECORD = {"not_on_record": "The chat's record has no answer to this. Go on without it."}
ON = "_on"
"""Suffix of the id of a case in which the customer goes on after the decision."""


@dataclass(frozen=True)
class Decision:
    """A chat, cut before what its agent did in exchange number `turn`, counted from 1.

    `weak` marks the decision of a chat without acts, of which only the handover or its absence is known.
    """

    chat: RealChat
    turn: int
    known: Vocabulary
    procedure: Procedure | None
    weak: bool = False

    @cached_property
    def before(self) -> list[Exchange]:
        """Return the exchanges up to the cut; in the last one, the agent has yet to act."""
        return self.chat.exchanges[: self.turn]

    @cached_property
    def human(self) -> list[Did]:
        """Return the human's acts up to the next message of the customer: the first truth."""
        return self.before[-1].acts

    @property
    def handed_over(self) -> bool:
        """Return whether the human handed over the chat here."""
        return bool(self.chat.handed_over) if self.weak else any(self.hands(did.name) for did in self.human)

    def hands(self, name: str) -> bool:
        """Return whether an act hands over the chat."""
        return self.known.is_kind(name, "hand_over")

    def reads(self, did: Did) -> bool:
        """Return whether an act changes nothing for the customer."""
        return self.known.is_kind(did.name, "read")

    @property
    def bucket(self) -> str:
        """Return the bucket: whether the procedure (or else the human) hands over here."""
        hands = any(map(self.hands, self.written)) if self.written else self.handed_over
        return "must_escalate" if hands else "resolvable"

    @cached_property
    def place(self) -> str:
        """Return the node of the procedure that the chat has reached."""
        done = [did for exchange in self.before[:-1] for did in exchange.acts]
        return self.procedure.place(done, self.known) if self.procedure else ""

    @cached_property
    def answered(self) -> set[str]:
        """Return the questions that the customer has answered with a value accepted by an act."""
        said = folded(" ".join(exchange.customer for exchange in self.before))
        valid = [did for did in self.chat.acts if did.name in self.known.acts and not self.known.failed(did)]
        values = [(k, folded(v).strip()) for did in valid for k, v in did.values.items()]
        given = {k for k, value in values if value and f" {value} " in f" {said} "}
        return {name for name, fields in self.known.asks.items() if given & {*fields}}

    @property
    def written(self) -> list[str]:
        """Return the acts that the procedure names next, the usual act first: the second truth."""
        return self.procedure.usual(self.place, self.answered) if self.procedure else []

    def follows(self, acts: Iterable[Did]) -> bool | None:
        """Return whether acts follow the procedure, whatever their order within the exchange.

        Reads that the procedure does not name never count against them. None without a procedure, or at its end.
        """
        if not self.written:
            return None
        acts = list(acts)
        broken = self._broken(acts)
        return len(broken) < len(acts) and all(map(self.reads, broken))

    def _broken(self, acts: list[Did], strict: bool = False) -> list[Did]:
        """Return the acts that have no place in the procedure; `strict` rules out branches."""
        at, left = self.place, list(acts)
        while self.procedure:
            ways = (self.procedure.usual if strict else self.procedure.allowed)(at, self.answered)
            step = next((did for did in left if did.name in ways), None)
            if step is None:
                break
            left.remove(step)
            at = self.procedure.place([step], self.known)
        return left

    @property
    def parting(self) -> str | None:
        """Return how the human's acts relate to the procedure; None if there is no procedure.

        ``human error`` means that an act of the chart was made although an earlier step is missing, or that a question
        already answered was asked again. ``unclear`` is any other deviation.
        """
        follows = self.follows(self.human)
        if follows is None or self.procedure is None:
            return None
        if follows:
            left = self._broken(self.human, strict=True)
            return AS_WRITTEN if all(map(self.reads, left)) and len(left) < len(self.human) else ALLOWED
        done = [did for exchange in self.before for did in exchange.acts]
        sound = self.procedure.reachable(self.answered | {*self.procedure.passed(done, self.known)})
        for name in (d.name for d in self._broken(self.human) if d.name in self.procedure.nodes):
            asks = name in self.known.asks
            if name in self.answered if asks else name not in sound and name not in self.known.closing:
                return ERROR
        return UNCLEAR

    def acts_of(self, calls: Iterable[ToolCall]) -> list[Did]:
        """Return the acts for which tool calls stand; failed calls stand for none."""
        acts = []
        for call in (t for t in calls if not t.error):
            name = self.known.by_tool.get(call.name, "")
            values = {k: str(v) for k, v in call.named.items()} if name else {}
            name = self._handing if call.name == HAND_OVER else name or str(call.named.get("reply"))
            acts.append(Did(name, values, call.result))
        return acts

    @property
    def _handing(self) -> str:
        # the name for a handover here: the human's, the procedure's or the first known one
        names = [*filter(self.hands, self.known.acts)]
        places = [{did.name for did in self.human}, self.procedure.nodes if self.procedure else set(), {*names}]
        return next((name for place in places for name in names if name in place), HAND_OVER)

    def compared(self, acts: list[Did], handed: bool) -> dict[str, Any]:
        """Compare acts with both truths.

        Reads that the human did not make are left out of the comparison with the human. Agreement with the procedure
        also requires equal values in acts that the human made as well, because the procedure names no values.
        """
        theirs = {d.name for d in self.human}
        counted = [d for d in acts if d.name in theirs or not self.reads(d)]
        values = _values_agree(counted, self.human)
        return {
            "chat": self.chat.id,
            "acts": _label(d.name for d in counted),
            "human": _label(theirs),
            "human_acts": None if self.weak else {d.name for d in counted} == theirs,
            "human_values": values,
            "procedure": self.follows(acts) and values is not False,
            "handover": handed == self.handed_over,
            "human_follows": self.follows(self.human),
            "parting": self.parting,
            "weak": self.weak,
        }


def decisions(chat: RealChat, known: Vocabulary, procedure: Procedure | None) -> list[Decision]:
    """Return the decisions of a chat.

    A chat without acts has one weak decision if its outcome is known.
    """
    found = [Decision(chat, n, known, procedure) for n, one in enumerate(chat.exchanges, 1) if one.acts]
    if found or chat.handed_over is None:
        return found
    answered = [n for n, one in enumerate(chat.exchanges, 1) if one.agent]
    return [Decision(chat, answered[-1], known, None, weak=True)]


def record_of(chat: RealChat, known: Vocabulary) -> Conversation:
    """Return a whole chat as a record in which the human's acts are tool calls."""
    messages, calls = list[Message](), list[ToolCall]()
    for turn, exchange in enumerate(chat.exchanges, 1):
        messages.append(Message(turn, "customer", exchange.customer))
        for did in exchange.acts:
            name, values = known.call(did)
            write = not known.is_kind(did.name, "read")
            calls.append(ToolCall(turn, len(calls), name, dict(values), answer_to(did), None, write))
        if exchange.agent:
            messages.append(Message(turn, "agent", exchange.reply))
    return Conversation(chat.id, 1, "human", "human", "human", messages, calls)


def answer_to(did: Did) -> Any:
    """Return the desk's answer to an act that the human also made."""
    return did.result if did.result is not None else {"log": did.text or "done"}


def chat_score(c: Conversation, case: Case, one: Decision) -> dict[str, Any]:
    """Score one conversation: its first turn after the cut by both truths, and its counts.

    Returns
    -------
    dict
        ``success`` is agreement with the procedure where it names a next act, and otherwise with the human's acts and
        values; for a weak case, agreement on the handover. ``resolved`` is the same where nobody hands over, so that
        boards and comparisons can read it. ``decision`` holds the parts.
    """
    live = [t for t in c.tool_calls if t.turn >= one.turn and t.side == "agent"]
    first = [t for t in live if t.turn == one.turn]
    handed = any(t.name == HAND_OVER and not t.error for t in first)
    found = one.compared(one.acts_of(first), handed)
    human = found["human_acts"] and found["human_values"] is not False
    right = found["handover"] if one.weak else human if found["procedure"] is None else found["procedure"]
    scored, stays = c.ended_by not in NOT_SCORED, case.bucket == "resolvable"
    replies = [m for m in c.replies() if m.turn >= one.turn]
    unanswered = sum(t.result == NOT_ON_RECORD for t in live)
    return dict.fromkeys(name for name in SCORE_FIELDS if not name.startswith("rule_")) | {
        "bucket": case.bucket,
        "intent": case.intent,
        "scored": scored,
        "success": right if scored else None,
        "resolved": right if scored and stays else None,
        "handed_over": handed if scored else None,
        "needless_handover": handed if scored and stays else None,
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


def _values_agree(acts: list[Did], human: list[Did]) -> bool | None:
    """Return whether acts that both made have the same values; None if there are no such acts."""
    both = [(a, [d for d in human if d.name == a.name and d.values]) for a in acts]
    compared = [(a, theirs) for a, theirs in both if theirs]
    return all(any(_values(a) == _values(d) for d in theirs) for a, theirs in compared) if compared else None


def _values(did: Did) -> set[str]:
    return {folded(value) for value in did.values.values()} - {""}


def _label(acts: Iterable[str]) -> str:
    return " + ".join(sorted(set(acts))) or NO_ACT


def folded(text: Any) -> str:
    """Return a value for comparison, without case, punctuation and repeated blanks."""
    return " ".join(re.findall(r"[^\W_]+", str(text).casefold()))
