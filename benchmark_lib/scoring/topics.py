"""What was answered while a question was the last one asked: in a long conversation each topic has its own few messages."""

from ..cases import Case
from ..records import Conversation

TOPICS = 6
"""So many follow-ups make a conversation of topics, in which a bare value answers the question before it and is no
rival to another topic's."""


def answers_by_topic(conversation: Conversation, answers: list[str], case: Case) -> dict[str, list[str]]:
    """The answers (see `answers_of`) that a long conversation gives to what asks for each fact, by its name, before the next topic comes up.

    Without facts whose topic never came up and without links, and none where the follow-ups are fewer than `TOPICS`.
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
        if fact.after in came_up and fact.kind != "link":  # a link answers one question only, whenever it is given
            first = came_up[fact.after]
            end = next((turn for turn in opens if turn > first), None)
            places = enumerate(conversation.replies())
            found[name] = [answers[n] for n, m in places if m.turn >= first and (end is None or m.turn < end)]
    return found
