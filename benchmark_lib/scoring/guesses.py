"""What was guessed: gone through one after another until the customer was content, which tells none of it."""

import re
from collections import Counter
from datetime import date, timedelta

from ..cases import Case
from ..language.answers import ANY_YEAR, cleaned, corrects, days_said
from ..language.folding import fold
from ..language.parser import parser_of
from ..language.values import values_in
from ..records import Conversation, as_text
from ..store import Store
from ..store.calendar import business_days_between, holidays

_DAY = re.compile(r"20\d\d-\d\d-\d\d")

IN_A_ROW = 4
"""So many days ahead with no business day left out between them, and no other day ahead, are gone through, unless each
of them follows from
something. 138 honest conversations reach 3."""
ONE_BY_ONE = 3
"""The same of days that stand in as many messages, each with new ones alone."""
PASSED_OVER = 2
"""So often a customer asks for a fact in so many words and is told other things instead before it is gone through as
well."""


def guessed(conversation: Conversation, answers: list[str], case: Case, store: Store) -> set[str]:
    """The required facts that an agent has guessed, by name; `answers` are its messages as far as they count (see `answers_of`).

    One that the customer asked for in so many words again and again, to be told other things. All days where the
    messages go through the days
    ahead, apart from those that the customer named; who says a day twice stands by it, and may name the holidays. A day
    where the customer
    asked for it in so many words, was told of another and asked no question, unless that was taken back later.
    """
    found = _passed_over(conversation, case, store)
    wanted = {name: str(fact.value)[:10] for name, fact in case.facts.items() if fact.kind == "date"}
    if not wanted:
        return found
    said = [_ahead(text, store) for text in answers]
    days = set().union(*said)
    own, twice = days - _named(conversation, store), sum(map(len, said)) > len(days)
    if twice:
        own -= {day.isoformat() for day in holidays(store)}
    fewest = ONE_BY_ONE if sum(map(bool, said)) >= ONE_BY_ONE and not twice else IN_A_ROW
    if len(own) >= fewest and _in_a_row(own, days, store) and own - _known(conversation, case, store):
        return found | {*wanted}
    for place, reply in enumerate(conversation.replies()):
        missed = said[place] and "?" not in answers[place] and not any(map(corrects, answers[place + 1 :]))
        for name in _asked_for(conversation, reply.turn) if missed else ():
            if name in wanted and wanted[name] not in set().union(*said[: place + 1]):
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


def _in_a_row(days: set[str], said: set[str], store: Store) -> bool:
    """Whether no business day between days is left unsaid."""
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    if business_days_between(first, last, store) > len(days):
        return False
    between = (first + timedelta(n) for n in range(1, (last - first).days))
    return all(d.isoformat() in said for d in between if business_days_between(d - timedelta(1), d, store))


def _passed_over(conversation: Conversation, case: Case, store: Store) -> set[str]:
    """The facts that were asked for in so many words `PASSED_OVER` times, before they were told, and answered with something else."""
    times, parser = Counter[str](), parser_of(store)
    told: set[str] = set()
    waited = len({turn for turn, _ in conversation.acts("waited")})
    for reply in conversation.replies() if waited >= PASSED_OVER else ():
        text = cleaned(reply.text)
        told |= {name for name, fact in case.facts.items() if fact.found_in(fold(text))}
        asked = _asked_for(conversation, reply.turn) & case.facts.keys() - told
        other = values_in(text, ANY_YEAR) or parser.reasons_in([text]) or parser.parse(reply.text).claimed
        if asked and other and "?" not in text:
            times.update(asked)
    return {name for name, count in times.items() if count >= PASSED_OVER}


def _asked_for(conversation: Conversation, turn: int) -> set[str]:
    """The facts that the customer asked for in a turn."""
    return {act.what for at, act in conversation.acts("waited") if at == turn}
