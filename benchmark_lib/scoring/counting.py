"""Which of an agent's messages count as answers: none that is pasted from what the shop publishes, none that recites every reason there is."""

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
"""Words of a sentence that is published and stands in a message by no chance."""
PASTED = 3
"""So many published sentences, word for word, stand in no answer: in 186 messages of honest agents there is not one."""
ASKED = 5
"""So many facts and orders has a case at most on whose conversations the limits of a pour were measured."""
RECITED = 6
"""So many reasons for declining stand in no answer: of 1,088 messages of honest players two reach 5."""


def answers_of(texts: list[str], case: Case, store: Store) -> list[str]:
    """The messages, empty in place of those in which nothing is told of what the case asks for."""
    worded = case.reasons or any(fact.kind == "choice" for fact in case.facts.values())
    if not worded and not case.facts:
        return texts
    return ["" if is_pasted(text, store) or (worded and recites(text, store)) else text for text in texts]


def asked_for(case: Case) -> Values:
    """The values that a full answer to a case of many questions holds: what it asks for, and the numbers of what it is about.

    None of a case of no more than `ASKED`, unless it is one of a hard set, whose sums take many values to explain. A
    day
    counts with and without its year.
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
    """Whether a message holds sentences of the articles or the catalogue, word for word and in number."""
    return len(_told_in(kept(text)) & _published(store)) >= PASTED


def recites(text: str, store: Store) -> bool:
    """Whether a message gives so many reasons that it gives none."""
    return len(parser_of(store).reasons_in([text])) >= RECITED


@lru_cache(maxsize=4096)
def _told_in(text: str) -> frozenset[str]:
    return frozenset(squash(s.text) for s in sentences(text) if len(s.text.split()) >= FEWEST_WORDS)


@remembered("products", "articles")
def _published(store: Store) -> frozenset[str]:
    rows = (row for table in store.kind.catalogue for row in store.tables[table].values())
    goods = (text for row in rows for text in words_in(row) if isinstance(text, str))
    return frozenset().union(*map(_told_in, (*(article["text"] for article in store.articles), *goods)))
