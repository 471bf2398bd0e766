"""What was answered while a question was the last one asked: in a long conversation each topic has its own few messages."""

from ..cases import Case
from ..records import Conversation

TOPICS = 6
"""So many follow-ups make a conversation of topics, in which a bare value answers the question before it and is no rival to another topic's."""


def answers_by_topic(conversation: Conversation, answers: list[str], case: Case) -> dict[str, list[str]]:
    """The answers that a long conversation gives to what asks for each fact, before the next topic comes up.

    Parameters
    ----------
    answers : list of str
        The agent's messages in order, as far as they count (see `benchmark_lib.scoring.counting.answers_of`).

    Returns
    -------
    dict of str to list of str
        By the facts' names; without those whose topic never came up and without links, and empty where the follow-ups are fewer than
        `TOPICS`.
    """
    if len(case.followups) < TOPICS:
        return {}
    came_up: dict[int | None, int] = {None: 1}
    for message in conversation.messages:
        for act in message.acts if message.side == "customer" else ():
            if act.kind == "followed_up":
                came_up[int(act.what)] = message.turn
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
