"""Conversations of one case, given turn by turn and carried out on its desk, and what detectors find in them."""

from benchmark_lib.extras.claims import check_claims
from benchmark_lib.records import Conversation, Message


def talk(case, store, *turns, ended_by="turn_limit"):
    """A record: each turn is (customer's words, acts, calls, agent's words)."""
    desk = store.desk()
    record = Conversation(case.id, 1, "m", "model", "scripted", tool_calls=desk.calls, ended_by=ended_by)
    for number, (words, acts, calls, reply) in enumerate(turns, 1):
        desk.turn = number
        record.messages.append(Message(number, "customer", words, acts))
        for name, arguments in calls:
            desk.call(name, arguments)
        record.messages.append(Message(number, "agent", reply))
    record.changes = desk.changes()
    return record


def told(case, store, reply, *calls, words="Hello.", acts=()):
    """The result for a talk of one turn."""
    return check_claims(talk(case, store, (words, list(acts), list(calls), reply)), case, store)


def found(result, detector):
    return [(f["class"], f["state"]) for f in result["findings"] if f["detector"] == detector]


def hand_over(summary, queue="general"):
    return ("hand_over_to_human", {"queue": queue, "reason": "a matter for a person", "summary": summary})
