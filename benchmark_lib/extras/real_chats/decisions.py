"""Cut a chat before each decision of its agent, and compare acts with the two truths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...analysis.frames import SCORE_FIELDS
from ...cases import Case
from ...records import NOT_SCORED, Conversation, Message, ToolCall
from ...scoring import counts
from .acts import HAND_OVER, Procedure, Vocabulary
from .chat import Did, Exchange, RealChat, entered, folded

AS_WRITTEN, ALLOWED, ERROR, UNCLEAR = "as written", "allowed branch", "human error", "unclear"
"""The ways in which acts may relate to the written procedure."""
FOLLOWS = {None: None, AS_WRITTEN: True, ALLOWED: True, ERROR: False, UNCLEAR: False}
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

    @cached_property
    def written(self) -> list[str]:
        """Return the acts that the procedure names next, the usual act first: the second truth."""
        return self.procedure.usual(self._passed[-1], self.answered) if self.procedure else []

    @property
    def handed_over(self) -> bool:
        """Return whether the human handed over the chat here."""
        return bool(self.chat.handed_over) if self.weak else self.hands(did.name for did in self.human)

    def hands(self, acts: Iterable[str]) -> bool:
        """Return whether one of these acts hands over the chat."""
        return any(self.known.kind(name) == "hand_over" for name in acts)

    @cached_property
    def _passed(self) -> list[str]:
        # The nodes of the chart that the chat has passed before the cut, after an empty one for its beginning.
        chart, done = self.procedure, [did for exchange in self.before[:-1] for did in exchange.acts]
        return ["", *(node for did in done if chart and (node := chart.node(did, self.known)))]

    @cached_property
    def answered(self) -> set[str]:
        """Return the questions that the customer has answered with a value accepted by an act."""
        said = folded(" ".join(exchange.customer for exchange in self.before))
        valid = [did for did in self.chat.acts if not self.known.failed(did)]
        values = [(k, folded(v)) for did in valid for k, v in did.values.items()]
        given = {k for k, value in values if value and f" {value} " in f" {said} "}
        return {name for name, fields in self.known.asks.items() if given & {*fields}}

    def against_procedure(self, acts: list[Did]) -> str | None:
        """Return how acts relate to the procedure; None without one, or at its end.

        Their order within the exchange does not matter, and reads that the procedure does not name never count against
        them. ``human error`` means that an act of the chart was made although an earlier step is missing, or that a
        question already answered was asked again. ``unclear`` is any other deviation.
        """
        chart, known = self.procedure, self.known
        if chart is None or not self.written:
            return None
        for kind, ways in ((AS_WRITTEN, chart.usual), (ALLOWED, chart.allowed)):
            at, left = self._passed[-1], [*acts]
            while step := next((did for did in left if did.name in ways(at, self.answered)), None):
                left.remove(step)
                at = chart.node(step, known)
            if len(left) < len(acts) and all(known.kind(did.name) == "read" for did in left):
                return kind
        passed = {*self._passed, *(chart.node(did, known) for did in self.human)}
        sound = {*chart.reachable(self.answered | passed), *known.closing}
        for name in (did.name for did in left if did.name in chart.nodes):
            if name in self.answered if name in known.asks else name not in sound:
                return ERROR
        return UNCLEAR

    def acts_of(self, calls: Iterable[ToolCall]) -> list[Did]:
        """Return the acts for which tool calls stand; failed calls stand for none."""
        known, acts = self.known, list[Did]()
        names = [name for name in known.acts if self.hands([name])]
        charted = self.procedure.nodes if self.procedure else set[str]()
        places = [{did.name for did in self.human}, charted, {*names}]
        handing = next((name for place in places for name in names if name in place), HAND_OVER)
        for call in (call for call in calls if not call.error):
            other = handing if call.name == HAND_OVER else str(call.named.get("reply"))
            name = known.by_tool.get(call.name, other)
            values = {} if name == other else {k: str(v) for k, v in call.named.items()}
            acts.append(Did(name, values, call.result))
        return acts


def decisions(chat: RealChat, known: Vocabulary, procedure: Procedure | None) -> list[Decision]:
    """Return a chat's decisions; one without acts has a weak one if its outcome is known."""
    exchanges = [*enumerate(chat.exchanges, 1)]
    found = [Decision(chat, n, known, procedure) for n, one in exchanges if one.acts]
    if found or chat.handed_over is None:
        return found
    return [Decision(chat, max(n for n, one in exchanges if one.words), known, None, weak=True)]


def record_of(chat: RealChat, known: Vocabulary) -> Conversation:
    """Return a whole chat as a record in which the human's acts are tool calls."""
    messages, calls = list[Message](), list[ToolCall]()
    for turn, exchange in enumerate(chat.exchanges, 1):
        messages.append(Message(turn, "customer", exchange.customer))
        for did in exchange.acts:
            name, values = known.call(did)
            write = known.kind(did.name) != "read"
            calls.append(ToolCall(turn, len(calls), name, dict(values), answer_to(did), None, write))
        if exchange.words:
            messages.append(Message(turn, "agent", exchange.reply))
    return Conversation(chat.id, 1, "human", "human", "human", messages, calls)


def answer_to(did: Did) -> Any:
    """Return the desk's answer to an act that the human also made."""
    return did.result if did.result is not None else {"log": did.text or "done"}


def chat_score(c: Conversation, case: Case, one: Decision) -> dict[str, Any]:
    """Score a conversation: its first turn after the cut by both truths, and its counts.

    Reads that the human did not make are left out of the comparison with the human. Agreement with the procedure
    also requires equal values in acts that the human made as well, because the procedure names no values.

    ``success`` is agreement with the procedure where it names a next act, and otherwise with the human's acts and
    values; for a weak case, agreement on the handover. ``resolved`` is the same where nobody hands over.
    ``decision`` holds the parts.
    """
    live = [t for t in c.tool_calls if t.turn >= one.turn and t.side == "agent"]
    first = [t for t in live if t.turn == one.turn]
    made, theirs = one.acts_of(first), {did.name for did in one.human}
    acts = [did for did in made if did.name in theirs or one.known.kind(did.name) != "read"]
    both = [(a, [entered(d.values) for d in one.human if d.name == a.name and d.values]) for a in acts]
    same = [entered(a.values) in alike for a, alike in both if alike]
    values = all(same) if same else None
    equal = {did.name for did in acts} == theirs
    handed = any(t.name == HAND_OVER and not t.error for t in first)
    human, follows = one.against_procedure(one.human), FOLLOWS[one.against_procedure(made)]
    follows = follows and values is not False
    right = equal and values is not False if follows is None else follows
    right = handed == one.handed_over if one.weak else right
    outcome = {"success": right, "handed_over": handed}
    if case.bucket == "resolvable":
        outcome |= {"resolved": right, "needless_handover": handed}
    scored = c.ended_by not in NOT_SCORED
    return dict.fromkeys(name for name in SCORE_FIELDS if not name.startswith("rule_")) | {
        **(outcome if scored else {}),
        "bucket": case.bucket,
        "intent": case.intent,
        "scored": scored,
        **counts(c, since=one.turn),
        "decision": {
            "chat": one.chat.id,
            "acts": _label(did.name for did in acts),
            "human": _label(theirs),
            "human_acts": None if one.weak else equal,
            "human_values": values,
            "procedure": follows,
            "handover": handed == one.handed_over,
            "human_follows": FOLLOWS[human],
            "parting": human,
            "weak": one.weak,
            "not_on_record": sum(t.result == NOT_ON_RECORD for t in live),
            "goes_on": case.id.endswith(ON),
        },
    }


def _label(acts: Iterable[str]) -> str:
    return " + ".join(sorted(set(acts))) or NO_ACT
