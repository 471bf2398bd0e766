"""Assign the answers of a long conversation to topics, each with its own few messages."""

from ..cases import Case
from ..records import Conversation

TOPICS = 6
"""Follow-ups that make a conversation one of topics, in which a bare value answers only the question before it."""


def answers_by_topic(conversation: Conversation, answers: list[str], case: Case) -> dict[str, list[str]]:
    """Return the answers (see `answers_of`) for each fact of a long conversation, by its name.

    They are the messages after the fact's topic came up and before the next one. Facts whose topic never came up, and
    links, are left out. The result is empty with fewer than `TOPICS` follow-ups.
    """
    if len(case.followups) < TOPICS:
        return {}
    came_up: dict[int | None, int] = {None: 1}
    known = {str(place): place for place in range(len(case.followups))}
    came_up |= {known[act.what]: turn for turn, act in conversation.acts("followed_up") if act.what in known}
    opens = sorted(
        turn for place, turn in came_up.items() if place is not None and case.followups[place].when != "next"
    )
    found: dict[str, list[str]] = {}
    for name, fact in case.facts.items():
        if fact.after in came_up and fact.kind != "link":  # a link answers one question, at any time
            first = came_up[fact.after]
            end = next((turn for turn in opens if turn > first), None)
            places = enumerate(conversation.replies())
            found[name] = [answers[n] for n, m in places if m.turn >= first and (end is None or m.turn < end)]
    return found
