"""Select the agent's messages that count as answers.

A message pasted from published text, or one that recites many reasons, does not count.
"""

from functools import lru_cache

from ..cases import Case
from ..language.answers import ANY_YEAR, Values
from ..language.folding import squash
from ..language.parser import parser_of
from ..language.pieces import kept
from ..language.sentences import sentences
from ..records import words_in
from ..remembered import remembered
from ..store import Store

FEWEST_WORDS = 5
"""Fewest words of a published sentence that a message does not contain by chance."""
PASTED = 3
"""Published sentences, word for word, that make a message pasted. 186 messages of honest agents contain none."""
ASKED = 5
"""Most facts and orders of a case for which the limits on dumped values were measured."""
RECITED = 6
"""Reasons for declining that make a message a recital. Of 1,088 messages of honest agents, two reach 5."""


def answers_of(texts: list[str], case: Case, store: Store) -> list[str]:
    """Return the messages, with an empty text for each one that does not count as an answer."""
    worded = case.reasons or any(fact.kind == "choice" for fact in case.facts.values())
    if not worded and not case.facts:
        return texts
    return ["" if is_pasted(text, store) or (worded and recites(text, store)) else text for text in texts]


def asked_for(case: Case) -> Values:
    """Return the values of a full answer to a case of many questions: its facts and the numbers of its orders.

    Return no values for a case with at most `ASKED` of them, unless it is a hard case. Sums in hard cases take many
    values to explain. A date counts with and without its year.
    """
    numbers = (case.order, *case.others.values())
    if not case.family and len(case.facts) + len(numbers) <= ASKED:
        return frozenset()
    found = {("id", number) for number in numbers}
    for fact in case.facts.values():
        value = str(fact.value)
        found.add((fact.unit or fact.kind if fact.kind == "measure" else fact.kind, value))
        if fact.kind == "date":
            found.add(("date", f"{ANY_YEAR}{value[4:]}"))
    return frozenset(found)


@lru_cache(maxsize=4096)
def is_pasted(text: str, store: Store) -> bool:
    """Return whether a message contains at least `PASTED` sentences of the articles or the catalogue, word for word."""
    return len(_told_in(kept(text)) & _published(store)) >= PASTED


def recites(text: str, store: Store) -> bool:
    """Return whether a message gives at least `RECITED` reasons."""
    return len(parser_of(store).reasons_in([text])) >= RECITED


@lru_cache(maxsize=4096)
def _told_in(text: str) -> frozenset[str]:
    return frozenset(squash(s.text) for s in sentences(text) if len(s.text.split()) >= FEWEST_WORDS)


@remembered("products", "articles")
def _published(store: Store) -> frozenset[str]:
    rows = (row for table in store.kind.catalogue for row in store.tables[table].values())
    goods = (text for row in rows for text in words_in(row) if isinstance(text, str))
    return frozenset().union(*map(_told_in, (*(article["text"] for article in store.articles), *goods)))
