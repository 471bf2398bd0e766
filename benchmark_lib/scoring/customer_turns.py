"""Read a model's verdict on which customer messages no person would write.

Each finding is a fault of the simulated customer and changes no metric of the model.
"""

from typing import Any

from ..endpoint.structured import Unreadable, read_object
from ..records import Conversation
from .facts import plain, unquoted

CLEAR, MILD, FINE = "clear", "mild", "fine"
FORM = {"turn": int, "quote": str, "reason": str, "verdict": str}


def said_by_customer(conversation: Conversation) -> dict[int, str]:
    """Return the customer's messages after its email by turn, normalized for finding quotes."""
    texts: dict[int, str] = {}
    for m in conversation.messages:
        if m.side == "customer" and m.turn > 1:
            texts[m.turn] = texts.get(m.turn, "") + plain(m.text)
    return texts


def read_turns(text: str, said: dict[int, str]) -> list[dict[str, Any]]:
    """Return the faulty messages that a judge's reply names; raise `Unreadable` if malformed."""
    verdict = read_object(text, strict=True)
    faults = verdict.get("turns")
    if verdict.keys() != {"turns"} or not isinstance(faults, list):
        raise Unreadable("the object does not hold exactly 'turns', a list")
    if any(not isinstance(f, dict) or {name: type(value) for name, value in f.items()} != FORM for f in faults):
        raise Unreadable(
            "an entry is not exactly a turn, which is a whole number, with quote, reason and verdict as texts"
        )
    if any(f["turn"] not in said or f["verdict"] not in (CLEAR, MILD) for f in faults):
        raise Unreadable("an entry names no message of the customer after its email, or is neither clear nor mild")
    if len({f["turn"] for f in faults}) < len(faults):
        raise Unreadable("a message is named twice")
    return faults


def settled_turns(entry: dict[str, Any], said: dict[int, str]) -> dict[str, Any]:
    """Return the verdict to store: severity (None if not judged), quote and reason by message."""
    named, unscored = {fault["turn"]: fault for fault in entry.get("turns", ())}, entry.get("unscored", "")
    turns = []
    for turn, text in said.items():
        kept = {"turn": turn, "verdict": None if unscored else FINE, "quote": "", "reason": unscored}
        if fault := named.get(turn):
            kept |= {name: fault[name][:2000] for name in ("verdict", "quote", "reason")}
            if not (quote := unquoted(fault["quote"])) or quote not in text:
                kept |= {"verdict": None, "reason": "the quote is not in the message"}
        turns.append(kept)
    return {"turns": turns, "unscored": unscored}


def turns_in(verdict: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a stored verdict's entries by message; empty unless it is about the customer."""
    return [turn for found in (verdict.get("customer") or {}).values() for turn in found.get("turns", ())]
