"""Find guessed facts: values tried one after another until the customer was content do not count as stated."""

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
"""Coming business days, unbroken and without other coming days, that make a guess unless each has a known source. 138
honest conversations reach 3."""
ONE_BY_ONE = 3
"""Limit for days that are spread over as many messages, each with new days only."""
PASSED_OVER = 2
"""Times that a customer asks expressly for a fact and gets other values before the fact counts as guessed."""


def guessed(conversation: Conversation, answers: list[str], case: Case, store: Store) -> set[str]:
    """Return the names of the required facts that the agent guessed.

    A fact is guessed if the customer kept asking for it and got other values. All dates are guessed if the messages go
    through the coming days. Days named by the customer do not count, nor holidays if the agent repeats a day. A date is
    also guessed if the agent, asked for it, named another day, asked no question and never corrected it.

    Parameters
    ----------
    answers : list of str
        The agent's messages as far as they count (see `answers_of`).
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
    """Return the days of a message from today on."""
    return {day for day in days_said(cleaned(text), store.now.year) if day >= store.now.date().isoformat()}


def _named(conversation: Conversation, store: Store) -> set[str]:
    words = (cleaned(m.text) for m in conversation.messages if m.side == "customer")
    return set().union(*(days_said(text, store.now.year) for text in words))


def _known(conversation: Conversation, case: Case, store: Store) -> set[str]:
    """Return the days in the policy and in tool results, and those that policy and clock lead to."""
    read = [as_text(store.policy), *(as_text(call.result) for call in conversation.tool_calls)]
    found = {day for text in read for day in _DAY.findall(text)}
    days = store.kind.days
    return found.union(*(days(number, store) for number in (case.order, *case.others.values()))) if days else found


def _in_a_row(days: set[str], said: set[str], store: Store) -> bool:
    """Return whether the days are consecutive business days."""
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    if business_days_between(first, last, store) > len(days):
        return False
    between = (first + timedelta(n) for n in range(1, (last - first).days))
    return all(d.isoformat() in said for d in between if business_days_between(d - timedelta(1), d, store))


def _passed_over(conversation: Conversation, case: Case, store: Store) -> set[str]:
    """Return the facts that the agent answered `PASSED_OVER` times with something else before it stated them."""
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
    return {act.what for at, act in conversation.acts("waited") if at == turn}
