"""Decide whether a value is denied, unreal or only asked about, by its clause."""

import re
from functools import lru_cache

from .word_lists import of_answers

SIDE = 70
"""Characters on either side of a value that can disqualify it."""
FEW_WORDS, BARE = 4, 2
"""Maximum number of words before a value that begins its clause ("Bis zum 7. Juli"), or that a pronoun takes up."""


def of_another(folded: str, start: int) -> bool:
    """Return whether a value is named only for another thing ("the one not made of ...")."""
    return _before_it("of_another").search(folded[max(start - SIDE, 0) : start]) is not None


def denied(folded: str, start: int, end: int) -> bool:
    """Return whether a value is denied, declared wrong, or only asked about."""
    before, after = folded[max(start - SIDE, 0) : start], folded[end : end + SIDE]
    if not re.search(r"\d|://", folded[start:end]) and _before_it("not_for").search(before):
        return False
    if _denied_after().match(after):
        return True
    clause = re.split(r"[,;(]\s|\s-\s", before)[-1]
    if _cue("opens").match(clause):
        return False
    if _denied_before().search(before):
        return True
    return folded.rstrip().endswith("?") and bool(_cue("asks").match(clause)) and not re.search(r"[,;.]", after)


def unsaid(folded: str, start: int, end: int) -> bool:
    """Return whether a value's clause, or an unreal condition, says that it does not hold.

    Bounds are no denials ("not before July 7"), nor is a negation of certainty after the value. A remark in brackets
    denies nothing outside them. A table cell denies no other cell, except in a row of a label and its value.
    """
    left, right = folded.rfind("|", 0, start) + 1, folded.find("|", end)
    if folded.strip(" |").count("|") > 1:
        folded, start, end = folded[left : right if right >= 0 else None], start - left, end - left
    before = _cue("breaks").split(_REMARK.sub(" ", folded[max(start - SIDE, 0) : start]))[-1]
    if _cue("unreal").search(folded) or _cue("unsure").search(before):
        return True
    after = folded[end : end + SIDE]
    if len(before.split()) <= BARE and (resumed := _RESUMED.match(after)):
        after = after[resumed.end() :]
    after = _cue("breaks").split(after, maxsplit=1)[0]
    if _cue("promises").search(after) or _cue("within").search(before):
        return False
    for negation in _cue("negates").finditer(before):
        lead, rest = before[: negation.start()], before[negation.end() :]
        if not (_cue("bounds").search(rest) or _cue("relative").search(lead)):
            return True
    first = _cue("negates_after").match(after) if len(before.split()) <= FEW_WORDS else None
    late = first or _cue("negates_late").search(after)
    return late is not None and not _cue("bounds").search(f"{before}|{after[late.end() :]}")


def conditional(folded: str) -> bool:
    """Return whether a sentence begins with a condition."""
    return _cue("given").match(folded.lstrip("( ")) is not None


def _one_of(key: str) -> str:
    return "|".join(re.escape(w) for w in of_answers(key))


@lru_cache(maxsize=1)
def _denied_before() -> re.Pattern[str]:
    small = rf"(?:(?:{_one_of('small')})\b[\s':(-]*)"
    wrong = rf"\b(?:{_one_of('wrong')})\s+{small}{{0,3}}"
    denies = rf"(?:{'|'.join(of_answers('not'))})\b[\s'-]+{small}{{0,6}}(?:(?<=link)|(?<=enlace)|(?<=lien))?,?\s?"
    instead = rf"\b(?:{'|'.join(of_answers('instead'))})\s*{small}{{0,4}}"
    return re.compile(rf"(?:{denies}|{instead}|{wrong})[\"«“(\s]*$")


@lru_cache(maxsize=2)
def _before_it(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(of_answers(key))})(?:\s+(?:{_one_of('small')})\b){{0,2}}[\"«“(\s-]*$")


@lru_cache(maxsize=1)
def _denied_after() -> re.Pattern[str]:
    verb = rf"(?:{'|'.join(of_answers('is'))})"
    no = r"(?:not|n't|nicht|no|pas|kein\w*|never|nie)"
    return re.compile(
        rf"[\s)\"»”'|*,-]*(?:\b(?:that|das|ça|eso)\s)?(?:{verb}\b\s?(?:es\s)?{no}\s(?:{_one_of('of_it')})\b"
        rf"|(?:isn't|wasn't|aren't)\s(?:{_one_of('of_it')})\b|no\s{verb}\s(?:{_one_of('of_it')})\b"
        rf"|(?:{verb}\s)?(?:be\s|been\s|also\s)?(?:{_one_of('wrong')})\b)"
    )


@lru_cache(maxsize=16)
def _cue(name: str) -> re.Pattern[str]:
    words = "|".join(of_answers({"opens": "if", "given": "if", "within": "if"}.get(name, name)))
    frames = {
        "opens": rf"\s*[\"']?(?:{words})\b",
        "given": rf"(?:|.*[.!?])\s*[\"']?(?:{words})\b",
        "asks": rf"[\s¿*\"-]*(?:(?:and|y|et|und|so|or)\s)?(?:{words})\b",
        "negates_after": rf"(?:[\s)\"»]+(?:\w+\s){{0,2}}?)(?:{words})",
        "breaks": rf"[,;:(]\s|\s-\s|[(]|\b(?:{words})\b",
        "relative": rf"\b(?:{words})$",
    }
    return re.compile(frames.get(name, rf"\b(?:{words})\b" if name in ("within", "bounds", "promises") else words))


_REMARK = re.compile(r"\([^()]*\)|^[^()]*\)")
_RESUMED = re.compile(r",(?=\s(?:c'est|ce|il|elle|ça|that|it|das|es|eso)\b)")
