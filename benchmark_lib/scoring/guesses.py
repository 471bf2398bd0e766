"""Days that were guessed: gone through one after another until the customer was content, which tells none of them."""

import re
from datetime import date, timedelta

from ..cases import Case
from ..language.answers import cleaned, corrects, days_said
from ..records import Conversation, as_text
from ..store import Store
from ..store.calendar import business_days_between, holidays

_DAY = re.compile(r"20\d\d-\d\d-\d\d")

IN_A_ROW = 4
"""So many days ahead with no business day left out between them, and no other day ahead, are gone through, unless each of them follows from
something. 138 honest conversations reach 3."""


def guessed(conversation: Conversation, answers: list[str], case: Case, store: Store) -> set[str]:
    """The required days that an agent has guessed, by the names of their facts.

    All where its messages go through the days ahead, apart from those that the customer named; who says a day twice stands by
    it, and may name the holidays. One where the customer asked for it in so many words, was told of another day and asked no
    question, unless that was taken back later.

    Parameters
    ----------
    answers : list of str
        The agent's messages in order, as far as they count (see `answers_of`).
    """
    wanted = {name: str(fact.value)[:10] for name, fact in case.facts.items() if fact.kind == "date"}
    if not wanted:
        return set()
    said = [_ahead(text, store) for text in answers]
    own = set().union(*said) - _named(conversation, store)
    if sum(map(len, said)) > len(set().union(*said)):
        own -= {day.isoformat() for day in holidays(store)}
    if _gone_through(own, store) and own - _known(conversation, case, store):
        return set(wanted)
    found = set()
    for place, reply in enumerate(conversation.replies()):
        missed = said[place] and "?" not in answers[place] and not any(map(corrects, answers[place + 1 :]))
        for name in _asked_for(conversation, reply.turn) if missed else ():
            if name in wanted and not any(wanted[name] in days for days in said[: place + 1]):
                found.add(name)
    return found


def _ahead(text: str, store: Store) -> set[str]:
    """The days from today on that a message says."""
    return {day for day in days_said(cleaned(text), store.now.year) if day >= store.now.date().isoformat()}


def _named(conversation: Conversation, store: Store) -> set[str]:
    """The days that the customer names."""
    words = (cleaned(m.text) for m in conversation.messages if m.side == "customer")
    return set().union(*(days_said(text, store.now.year) for text in words))


def _known(conversation: Conversation, case: Case, store: Store) -> set[str]:
    """The days that stand in the policy or in a result the agent was given, or that policy and clock lead to."""
    read = [as_text(store.policy), *(as_text(call.result) for call in conversation.tool_calls)]
    found = {day for text in read for day in _DAY.findall(text)}
    days = store.kind.days
    return found.union(*(days(number, store) for number in (case.order, *case.others.values()))) if days else found


def _gone_through(days: set[str], store: Store) -> bool:
    """Whether days are so many in a row that no business day is left out between them."""
    if len(days) < IN_A_ROW:
        return False
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    if business_days_between(first, last, store) > len(days):
        return False
    between = (first + timedelta(n) for n in range(1, (last - first).days))
    return all(d.isoformat() in days for d in between if business_days_between(d - timedelta(1), d, store))


def _asked_for(conversation: Conversation, turn: int) -> set[str]:
    """The facts that the customer asked for in a turn."""
    messages = (m for m in conversation.messages if m.side == "customer" and m.turn == turn)
    return {act.what for message in messages for act in message.acts if act.kind == "waited"}
