"""Cut a chat before each decision of its agent, and read both truths of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ...records import Conversation, Message, ToolCall
from .chat import ChatLine, Did, RealChat
from .procedures import Procedure
from .vocabulary import HAND_OVER, SEND_REPLY, Vocabulary, tool_name

OPENED = "(The customer opens the chat.)"
"""The customer's first message if the agent spoke first."""
AS_WRITTEN, ALLOWED, ERROR, UNCLEAR = "as written", "allowed branch", "human error", "unclear"
"""How a human's acts relate to the written procedure."""
NO_ACT = "no act"


class Exchange(NamedTuple):
    """What the customer wrote, and what the agent said and did before the customer wrote again."""

    customer: str
    agent: list[ChatLine]

    @property
    def acts(self) -> list[Did]:
        """Return the agent's acts."""
        return [line.did for line in self.agent if line.did is not None]

    @property
    def reply(self) -> str:
        """Return what the customer read."""
        return "\n".join(line.text for line in self.agent if line.text.strip())


def exchanges(chat: RealChat) -> list[Exchange]:
    """Return a chat as exchanges; lines of one side in a row belong together."""
    found: list[Exchange] = []
    for line in chat.lines:
        if line.side == "customer" and (not found or found[-1].agent):
            found.append(Exchange(line.text, []))
        elif line.side == "customer":
            found[-1] = Exchange(f"{found[-1].customer}\n{line.text}", [])
        else:
            if not found:
                found.append(Exchange(OPENED, []))
            found[-1].agent.append(line)
    return found


def as_call(did: Did, known: Vocabulary) -> tuple[str, dict[str, Any]]:
    """Return tool and arguments that stand for an act of the human agent."""
    kind = known.acts[did.name].kind
    if kind == "say":
        return SEND_REPLY, {"reply": did.name}
    return (HAND_OVER, {"reason": "as the human did"}) if kind == "hand_over" else (tool_name(did.name), did.values)


def answer_to(did: Did) -> Any:
    """Return what the desk answers to an act that the human made."""
    return did.result if did.result is not None else {"log": did.text or "done"}


def record_of(chat: RealChat, known: Vocabulary) -> Conversation:
    """Return a whole chat as a record, with the human's acts as tool calls."""
    messages, calls = list[Message](), list[ToolCall]()
    for turn, exchange in enumerate(exchanges(chat), 1):
        messages.append(Message(turn, "customer", exchange.customer))
        for did in exchange.acts:
            name, values = as_call(did, known)
            write = known.acts[did.name].kind != "read"
            calls.append(ToolCall(turn, len(calls), name, dict(values), answer_to(did), None, write))
        if exchange.agent:
            messages.append(Message(turn, "agent", exchange.reply))
    return Conversation(chat.id, 1, "human", "human", "human", messages, calls)


@dataclass(frozen=True)
class Decision:
    """One decision: a chat cut before what its agent did in one exchange.

    Attributes
    ----------
    turn : int
        The number of the exchange, from 1.
    weak : bool
        True if the chat has no acts: only handover or not is known.
    """

    chat: RealChat
    turn: int
    known: Vocabulary
    procedure: Procedure | None
    weak: bool = False

    @cached_property
    def before(self) -> list[Exchange]:
        """Return the exchanges up to the cut; the agent of the last has yet to act."""
        return exchanges(self.chat)[: self.turn]

    @cached_property
    def human(self) -> list[Did]:
        """Return the human's acts up to the next message of the customer: the first truth."""
        return self.before[-1].acts

    @property
    def handed_over(self) -> bool:
        """Return whether the human handed the chat over here."""
        if self.weak:
            return bool(self.chat.handed_over)
        return any(self.known.acts[did.name].kind == "hand_over" for did in self.human)

    @property
    def bucket(self) -> str:
        """Return the bucket: whether the procedure, or without one the human, hands over here."""
        kinds = [self.known.acts[name].kind for name in self.written if name in self.known.acts]
        hands = "hand_over" in kinds if self.written else self.handed_over
        return "must_escalate" if hands else "resolvable"

    @cached_property
    def place(self) -> str:
        """Return the node of the procedure that the chat has reached."""
        done = [did for exchange in self.before[:-1] for did in exchange.acts]
        return self.procedure.place(done, self.known.acts) if self.procedure else ""

    @cached_property
    def answered(self) -> set[str]:
        """Return the questions that the customer has answered with a value that an act accepted."""
        said = folded(" ".join(exchange.customer for exchange in self.before))
        acts = [did for exchange in exchanges(self.chat) for did in exchange.acts]
        valid = [
            did for did in acts if did.name in self.known.acts and not self.known.acts[did.name].failed(did.result)
        ]
        values = [(k, folded(v).strip()) for did in valid for k, v in did.values.items()]
        given = {k for k, value in values if value and f" {value} " in f" {said} "}
        return {name for name, fields in self.known.asks.items() if given & {*fields}}

    @property
    def written(self) -> list[str]:
        """Return the acts that the procedure names next, the usual one first."""
        return self.procedure.usual(self.place, self.answered) if self.procedure else []

    def follows(self, acts: Iterable[Did]) -> bool | None:
        """Return whether acts follow the procedure, whatever their order within the exchange.

        Reads that the procedure does not name never count. None without a procedure, or at its end.
        """
        if self.procedure is None or not self.written:
            return None
        acts = list(acts)
        broken = self._broken(acts)
        return len(broken) < len(acts) and all(map(self.reads, broken))

    def reads(self, did: Did) -> bool:
        """Return whether an act changes nothing for the customer."""
        return did.name in self.known.acts and self.known.acts[did.name].kind == "read"

    @property
    def handing(self) -> str:
        """Return the name of a handover here: the human's, the procedure's or the first known."""
        names = [name for name, act in self.known.acts.items() if act.kind == "hand_over"]
        places = [{did.name for did in self.human}, self.procedure.nodes if self.procedure else set(), {*names}]
        return next((name for place in places for name in names if name in place), HAND_OVER)

    def _broken(self, acts: list[Did], strict: bool = False) -> list[Did]:
        """Return the acts that have no place in the procedure; `strict` forbids branches."""
        at, left, step = self.place, list(acts), None
        while self.procedure:
            ways = self.procedure.usual if strict else self.procedure.allowed
            step = next((did for did in left if did.name in ways(at, self.answered)), None)
            if step is None:
                break
            left.remove(step)
            at = self.procedure.place([step], self.known.acts)
        return left

    @property
    def parting(self) -> str | None:
        """Return how the human's acts relate to the procedure; None without one.

        ``human error``: an act of the chart was made although a step before it is missing, or a question was asked
        that the customer had answered. ``unclear``: a deviation in which neither is the case.
        """
        found = self.follows(self.human)
        if found is None or self.procedure is None:
            return None
        if found:
            left = self._broken(self.human, strict=True)
            return AS_WRITTEN if all(map(self.reads, left)) and len(left) < len(self.human) else ALLOWED
        done = [did for exchange in self.before for did in exchange.acts]
        sound = self.procedure.reachable(self.answered | {*self.procedure.passed(done, self.known.acts)})
        for name in (d.name for d in self._broken(self.human) if d.name in self.procedure.nodes):
            asks = name in self.known.asks
            if name in self.answered if asks else name not in sound and name not in self.known.closing:
                return ERROR
        return UNCLEAR


def decisions(chat: RealChat, known: Vocabulary, procedure: Procedure | None) -> list[Decision]:
    """Return the decisions of a chat.

    A chat without acts has one weak decision if its outcome is known.
    """
    found = [Decision(chat, n, known, procedure) for n, one in enumerate(exchanges(chat), 1) if one.acts]
    if found or chat.handed_over is None:
        return found
    answered = [n for n, one in enumerate(exchanges(chat), 1) if one.agent]
    return [Decision(chat, answered[-1], known, None, weak=True)]


def label(acts: Iterable[str]) -> str:
    """Return a set of acts as one label."""
    return " + ".join(sorted(set(acts))) or NO_ACT


def folded(text: Any) -> str:
    """Return a value as it is compared: without case, punctuation and repeated blanks."""
    return " ".join(re.findall(r"[^\W_]+", str(text).casefold()))
