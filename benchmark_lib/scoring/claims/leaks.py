"""Leaked internal notes.

Procedures, queues and tools told to the customer, and notes or internal articles quoted. English only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...language.folding import plain
from .findings import AgentClaims, ClaimFinding

if TYPE_CHECKING:
    from ...store import Store

NAME = "leak"
RUN, SHORTEST = 8, 40
"""So many words in a row, the same as in an internal text, are a quotation.

A message of fewer characters holds none.
"""


def leaks(claims: AgentClaims) -> list[ClaimFinding]:
    """Sentences that tell what is internal."""
    found = [ClaimFinding(NAME, turn, sentence, None, "told", "leaked") for turn, _, sentence in claims.about("leak")]
    told = {f.sentence for f in found}
    notes = frozenset(n for call in claims.done for n in _notes(call.result))
    for message, reading in claims.replies:
        if len(message.text) >= SHORTEST:
            for sentence in reading.sentences:
                if sentence.text not in told and _quoted(sentence.text, notes, claims.store):
                    found.append(ClaimFinding(NAME, message.turn, sentence.text, None, "quoted", "leaked"))
    return found


@lru_cache(maxsize=4096)
def _quoted(sentence: str, notes: frozenset[str], store: Store) -> bool:
    """Whether a sentence holds a run of words of an internal article or of a note."""
    runs = _runs(sentence)
    return bool(runs) and (not runs.isdisjoint(_internal(store)) or any(not runs.isdisjoint(_runs(n)) for n in notes))


def _notes(result: Any) -> list[str]:
    """The notes of an order or a customer, which are the desk's own."""
    notes = result.get("notes") if isinstance(result, dict) else None
    return [n for n in notes if isinstance(n, str)] if isinstance(notes, list) else []


@lru_cache(maxsize=4096)
def _runs(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z0-9]+", plain(text))
    return frozenset(" ".join(words[i : i + RUN]) for i in range(len(words) - RUN + 1))


@lru_cache(maxsize=16)
def _internal(store: Store) -> frozenset[str]:
    """Runs of words of the articles, and parts of articles, that are marked for the desk."""
    found: set[str] = set()
    for article in store.articles:
        text = article["text"]
        mark = re.search(r"(?i)\*?for the desk[.:]", text[:80]) or re.search(r"(?i)\*?for the desk[.:]", text)
        whole = re.match(r"(?i)\W*internal\b", text)
        for paragraph in (text if whole else text[mark.start() :] if mark else "").split("\n"):
            found |= _runs(paragraph)
    return frozenset(found)
