"""Decide which facts an agent stated, and which values it only guessed or listed."""

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache
from math import inf
from typing import Any

from ..cases import Case
from ..language.answers import cleaned, corrects, days_said
from ..language.layout import ANY_YEAR
from ..language.parser import parser_of
from ..language.pours import answering, is_poured
from ..language.sentences import WHOLE, fold, kept, kept_together, sentences, squash
from ..language.values import values_in
from ..records import Conversation, as_text, words_in
from ..remembered import remembered
from ..store import Store
from ..store.rules import business_days_between, holidays


def plain(text: str) -> str:
    """Return a text without case, spaces, typographic marks and JSON's backslashes."""
    return "".join(fold(text.replace("\\n", " ").replace('\\"', '"')).split())


def unquoted(quote: str) -> str:
    """Return a quote in normalized form, without quotation marks around it."""
    return plain(quote).strip("\"'“”«»")


def truncate_for_scoring(conversation: Conversation) -> Conversation:
    """Return a copy of the conversation with overlong messages cut for scoring.

    Each side has its own limit, so that neither side can crowd out the other.
    """
    if sum(len(m.text) for m in conversation.messages) <= WHOLE:
        return conversation
    texts = {
        side: iter(kept_together([m.text for m in conversation.messages if m.side == side]))
        for side in ("agent", "customer")
    }
    messages = [dataclasses.replace(m, text=next(texts[m.side])) for m in conversation.messages]
    return dataclasses.replace(conversation, messages=messages)


def cut(conversation: Conversation, read: Conversation, side: str) -> list[int]:
    """Return the turns of one side's messages that were cut."""
    both = zip(conversation.messages, read.messages, strict=True)
    return [whole.turn for whole, part in both if whole.side == side and len(whole.text) > len(part.text)]


TOPICS = 6
"""Minimum number of follow-ups for topics, in which a value answers only the question before it."""


def answers_by_topic(conversation: Conversation, answers: list[str], case: Case) -> dict[str, list[str]]:
    """Return a long conversation's answers (see `answers_of`) to each fact, by the fact's name.

    They are the messages after the fact's topic came up and before the next topic did. Links, and facts whose topic
    never came up, are left out. The result is empty with fewer than `TOPICS` follow-ups.
    """
    if len(case.followups) < TOPICS:
        return {}
    came_up: dict[int | None, int] = {None: 1}
    known = {str(index): index for index in range(len(case.followups))}
    came_up |= {known[act.what]: turn for turn, act in conversation.acts("followed_up") if act.what in known}
    opens = sorted(
        turn for index, turn in came_up.items() if index is not None and case.followups[index].when != "next"
    )
    by_fact: dict[str, list[str]] = {}
    for name, fact in case.facts.items():
        if fact.after in came_up and fact.kind != "link":  # a link answers one question, at any time
            first = came_up[fact.after]
            end = next((turn for turn in opens if turn > first), inf)
            replies = zip(conversation.replies(), answers, strict=True)
            by_fact[name] = [answer for reply, answer in replies if first <= reply.turn < end]
    return by_fact


_DAY = re.compile(r"20\d\d-\d\d-\d\d")

IN_A_ROW = 4
"""Number of consecutive future business days, without others, that count as a guess unless each has a known source.
138 honest conversations reach 3."""
ONE_BY_ONE = 3
"""The same limit for days spread over at least as many messages, each with new days only."""
PASSED_OVER = 2
"""Number of questions for a fact, answered with other values, that make the fact guessed."""


def guessed(conversation: Conversation, answers: list[str], case: Case, store: Store) -> set[str]:
    """Return the names of the required facts that the agent guessed.

    A fact is guessed if the customer kept asking for it and got other values. All dates are guessed if the messages go
    through the coming days one by one. Days named by the customer do not count; if the agent repeats a day, neither do
    holidays. A date is also guessed if the agent was asked for it, named another day, asked no question and never
    corrected that day. `answers` are those of `answers_of`.
    """
    names = _passed_over(conversation, case, store)
    wanted = {name: str(fact.value)[:10] for name, fact in case.facts.items() if fact.kind == "date"}
    if not wanted:
        return names
    year, today = store.now.year, store.now.date().isoformat()
    days_by_answer = [{day for day in days_said(cleaned(text), year) if day >= today} for text in answers]
    days = set().union(*days_by_answer)
    heard = (cleaned(m.text) for m in conversation.messages if m.side == "customer")
    own = days.difference(*(days_said(text, year) for text in heard))
    twice = sum(map(len, days_by_answer)) > len(days)
    if twice:
        own -= {day.isoformat() for day in holidays(store)}
    fewest = ONE_BY_ONE if sum(map(bool, days_by_answer)) >= ONE_BY_ONE and not twice else IN_A_ROW
    if len(own) >= fewest and _in_a_row(own, days, store) and own - _known(conversation, case, store):
        return names | {*wanted}
    for index, reply in enumerate(conversation.replies()):
        corrected = any(map(corrects, answers[index + 1 :]))
        missed = days_by_answer[index] and "?" not in answers[index] and not corrected
        for name in _asked_for(conversation, reply.turn) if missed else ():
            if name in wanted and wanted[name] not in set().union(*days_by_answer[: index + 1]):
                names.add(name)
    return names


def _known(conversation: Conversation, case: Case, store: Store) -> set[str]:
    """Return the days in the policy and in tool results, and those that follow from them."""
    read = [as_text(store.policy), *(as_text(call.result) for call in conversation.tool_calls)]
    dates = {day for text in read for day in _DAY.findall(text)}
    days = store.kind.days
    if not days:
        return dates
    return dates.union(*(days(number, store) for number in (case.order, *case.others.values())))


def _in_a_row(days: set[str], said: set[str], store: Store) -> bool:
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    if business_days_between(first, last, store) > len(days):
        return False
    between = (first + timedelta(n) for n in range(1, (last - first).days))
    return all(d.isoformat() in said for d in between if business_days_between(d - timedelta(1), d, store))


def _passed_over(conversation: Conversation, case: Case, store: Store) -> set[str]:
    """Return the facts that the agent passed over `PASSED_OVER` times before stating them."""
    times, parser = Counter[str](), parser_of(store)
    stated: set[str] = set()
    waited = len({turn for turn, _ in conversation.acts("waited")})
    for reply in conversation.replies() if waited >= PASSED_OVER else ():
        text = cleaned(reply.text)
        stated |= {name for name, fact in case.facts.items() if fact.found_in(fold(text))}
        asked = _asked_for(conversation, reply.turn) & case.facts.keys() - stated
        other = values_in(text, ANY_YEAR) or parser.reasons_in([text]) or parser.parse(reply.text).claimed
        if asked and other and "?" not in text:
            times.update(asked)
    return {name for name, count in times.items() if count >= PASSED_OVER}


def _asked_for(conversation: Conversation, turn: int) -> set[str]:
    return {act.what for at, act in conversation.acts("waited") if at == turn}


FEWEST_WORDS = 5
"""Minimum number of words in a published sentence that a message does not contain by chance."""
PASTED, COPIED = 3, 6
"""Numbers of verbatim published sentences that do not count, and that make the whole message count as nothing.
Of 841 messages of strong players, one has 3."""
RECITED = 6
"""Number of reasons, each in a sentence, that make a recital. Of 695 honest messages, one reaches 5."""


def answers_of(texts: list[str], case: Case, store: Store) -> list[str]:
    """Return what counts as an answer: no recital, and nothing that is pasted."""
    chosen = any(f.kind == "choice" for f in case.facts.values())
    worded = case.reasons or (chosen and not case.terms.full_answers)
    if not worded and not case.facts:
        return texts
    return ["" if worded and recites(text, store) else _own_words(text, store) for text in texts]


def _own_words(text: str, store: Store) -> str:
    # A message that repeats a few steps of an article still answers; a copied article does not.
    copied, own = pasted_in(text, store), text
    for sentence in sentences(kept(text)) if copied >= PASTED else ():
        if squash(sentence.text) in _published(store):
            own = own.replace(sentence.text, " ")
    return own if copied < COPIED else ""


@lru_cache(maxsize=4096)
def pasted_in(text: str, store: Store) -> int:
    """Return the number of a message's sentences that stand in articles or catalogue."""
    return len(_told_in(kept(text), FEWEST_WORDS) & _published(store))


def recites(text: str, store: Store) -> bool:
    """Return whether the sentences of a message give at least `RECITED` reasons."""
    parser = parser_of(store)
    return len({name for s in sentences(kept(text)) for name in parser.reasons_in([s.text])}) >= RECITED


@lru_cache(maxsize=4096)
def _told_in(text: str, fewest: int) -> frozenset[str]:
    return frozenset(squash(s.text) for s in sentences(text) if len(s.text.split()) >= fewest)


@remembered("products", "articles")
def _published(store: Store) -> frozenset[str]:
    rows = (row for table in store.kind.catalogue for row in store.tables[table].values())
    goods = (text for row in rows for text in words_in(row) if isinstance(text, str))
    return frozenset().union(*(_told_in(text, 1) for text in (*(a["text"] for a in store.articles), *goods)))


NOWHERE = "no message contains its value"
UNREAD = "its value is only in text that is not read: struck out, hidden, or in the middle of a very long message"
BECAUSE_PASTED = "its value is only in a message pasted from the shop's articles or catalogue"
BECAUSE_RECITED = "its value is only in a message that lists all possible reasons"
GUESSED = "the agent tried one value after another, which is a guess"
POURED = "its value is only in a message that dumps a record or many values, which is no answer"
POURED_TOGETHER = "the messages together dump so many values that none of them is an answer"
OTHER_TOPIC = "its value is only in the answer to another question"
BESIDE_RIVAL = "the same words also give a wrong value"
NOT_SAID = "its value is denied, listed among others, or given as another value"


def why_untold(conversation: Conversation, case: Case, store: Store, facts: Mapping[str, Any]) -> dict[str, str]:
    """Return, by name, why each of the score's `facts` that was not stated does not count."""
    store, c = store.of(case), truncate_for_scoring(conversation)
    texts = [m.text for m in c.replies()]
    untold = [name for name, stated in facts.items() if stated is False and name in case.facts]
    mentioned = [name for name in untold if any(case.facts[name].found_in(fold(text)) for text in texts)]
    if not mentioned:
        return dict.fromkeys(untold, NOWHERE)
    answers = answers_of(texts, case, store)
    guesses, topics = guessed(c, answers, case, store), answers_by_topic(c, answers, case)
    return dict.fromkeys(untold, NOWHERE) | {
        name: GUESSED if name in guesses else _why(name, texts, answers, topics.get(name, answers), case, store)
        for name in mentioned
    }


def _why(name: str, texts: list[str], answers: list[str], own: list[str], case: Case, store: Store) -> str:
    fact, asked = case.facts[name], case.values_asked

    def stands_in(some: list[str]) -> list[str]:
        return [text for text in some if fact.found_in(fold(cleaned(text)))]

    if not stands_in(texts):
        return UNREAD
    if not stands_in(answers):
        pasted = any(pasted_in(text, store) >= PASTED for text in stands_in(texts))
        return BECAUSE_PASTED if pasted else BECAUSE_RECITED
    if not stands_in(own):
        return OTHER_TOPIC
    if not case.terms.full_answers:
        if all(is_poured(text, asked) for text in stands_in(own)):
            return POURED
        if not answering(own, asked):
            return POURED_TOGETHER
    return BESIDE_RIVAL if any(fact.rival_in(fold(cleaned(text))) for text in own) else NOT_SAID
