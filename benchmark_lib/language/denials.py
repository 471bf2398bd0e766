"""Decide from its clause whether a value is denied, unreal or only asked about."""

import re
from functools import lru_cache

from .word_lists import any_of, words_of

SIDE = 70
"""Characters on either side of a value that can disqualify it."""
FEW_WORDS, BARE = 4, 2
"""Most words before a value that begins its clause ("Bis zum 7. Juli"), or that a pronoun resumes."""


def of_another(folded: str, start: int) -> bool:
    """Return whether a value is named only for another thing ("the one not made of ...")."""
    return _cues()["of_another"].search(folded[max(start - SIDE, 0) : start]) is not None


def denied(folded: str, start: int, end: int) -> bool:
    """Return whether a value is denied, declared wrong, or only asked about."""
    cues, before, after = _cues(), folded[max(start - SIDE, 0) : start], folded[end : end + SIDE]
    if not re.search(r"\d|://", folded[start:end]) and cues["not_for"].search(before):
        return False
    if cues["denied_after"].match(after):
        return True
    clause = re.split(r"[,;(]\s|\s-\s", before)[-1]
    if cues["opens"].match(clause):
        return False
    if cues["denied_before"].search(before):
        return True
    question = folded.rstrip().endswith("?") and not _ENDS.search(after)
    return question and cues["asks"].match(_ENDS.split(folded[max(start - 2 * SIDE, 0) : start])[-1]) is not None


def unsaid(folded: str, start: int, end: int, own: bool = False) -> bool:
    """Return whether a value's clause, or an unreal condition, says that it does not hold.

    A fact's `own` value is not said, either, if it is only guessed, quoted from somebody, or doubted right after it.
    Bounds are not denials ("not before July 7"), nor is a negation of certainty after the value. A remark in brackets
    denies nothing outside them. A table cell denies no other cell, except in a row with a label and its value.
    """
    cues, left, right = _cues(), folded.rfind("|", 0, start) + 1, folded.find("|", end)
    if folded.strip(" |").count("|") > 1:
        folded, start, end = folded[left : right if right >= 0 else None], start - left, end - left
    before = cues["breaks"].split(_REMARK.sub(" ", folded[max(start - SIDE, 0) : start]))[-1]
    doubted = own and (cues["guesses"].search(before) or cues["doubts"].match(folded[end : end + 2 * SIDE]))
    supposed = cues["supposed"].search(folded)  # unless it is open: "If it were set up today, ..."
    unreal = supposed and not cues["same_day"].search(folded[supposed.start() :].partition(",")[0])
    if doubted or unreal or cues["unreal"].search(folded) or cues["unsure"].search(before):
        return True
    after = folded[end : end + SIDE]
    if len(before.split()) <= BARE and (resumed := _RESUMED.match(after)):
        after = after[resumed.end() :]
    after = cues["breaks"].split(after, maxsplit=1)[0]
    if cues["promises"].search(after) or cues["within"].search(before):
        return False
    for negation in cues["negates"].finditer(before):
        lead, rest = before[: negation.start()], before[negation.end() :]
        if not (cues["bounds"].search(rest) or cues["relative"].search(lead)):
            return True
    first = cues["negates_after"].match(after) if len(before.split()) <= FEW_WORDS else None
    late = first or cues["negates_late"].search(after)
    return late is not None and not cues["bounds"].search(f"{before}|{after[late.end() :]}")


def conditional(folded: str) -> bool:
    """Return whether a sentence begins with a condition."""
    return _cues()["given"].match(folded.lstrip("( ")) is not None


@lru_cache(maxsize=1)
def _cues() -> dict[str, re.Pattern[str]]:
    """Return the cues around a value (``answers`` in the language files), each in its frame."""
    kinds = "asks bounds breaks doubts if instead is negates negates_after negates_late not not_for of_another promises"
    more = "guesses relative same_day supposed unreal unsure"
    word = {kind: any_of("answers", kind) for kind in f"{kinds} {more}".split()}
    small, wrong, of_it = ("|".join(map(re.escape, words_of("answers", kind))) for kind in ("small", "wrong", "of_it"))
    smaller, no = rf"(?:(?:{small})\b[\s':(-]*)", r"(?:not|n't|nicht|no|pas|kein\w*|never|nie)"
    denies = rf"(?:{word['not']})\b[\s'-]+{smaller}{{0,6}}(?:(?<=link)|(?<=enlace)|(?<=lien))?,?\s?"
    instead, wrongly = rf"\b(?:{word['instead']})\s*{smaller}{{0,4}}", rf"\b(?:{wrong})\s+{smaller}{{0,3}}"
    before_it = {
        kind: rf"(?:{word[kind]})(?:\s+(?:{small})\b){{0,2}}[\"«“(\s-]*$" for kind in ("of_another", "not_for")
    }
    frames = {kind: rf"\b(?:{word[kind]})\b" for kind in ("bounds", "promises")} | {
        **before_it,
        "denied_before": rf"(?:{denies}|{instead}|{wrongly})[\"«“(\s]*$",
        "denied_after": rf"[\s)\"»”'|*,-]*(?:\b(?:that|das|ça|eso)\s)?"
        rf"(?:(?:{word['is']})\b\s?(?:es\s)?{no}\s(?:{of_it})\b"
        rf"|(?:isn't|wasn't|aren't)\s(?:{of_it})\b|no\s(?:{word['is']})\s(?:{of_it})\b"
        rf"|(?:(?:{word['is']})\s)?(?:be\s|been\s|also\s)?(?:{wrong})\b)",
        "opens": rf"\s*[\"']?(?:{word['if']})\b",
        "given": rf"(?:|.*[.!?])\s*[\"']?(?:{word['if']})\b",
        "within": rf"\b(?:{word['if']})\b",
        "asks": rf"[\s¿*\"-]*(?:(?:and|y|et|und|so|or)\s)?(?:{word['asks']})\b",
        "negates_after": rf"(?:[\s)\"»]+(?:\w+\s){{0,2}}?)(?:{word['negates_after']})",
        "doubts": rf"[^.;!?]{{0,45}}?(?:[,;]\s|\s[-–]\s)(?:(?:{word['breaks']})\s){{0,2}}(?:{word['doubts']})",
        "breaks": rf"[,;:(]\s|\s-\s|[(]|\b(?:{word['breaks']})\b",
        "relative": rf"\b(?:{word['relative']})$",
    }
    return {kind: re.compile(pattern) for kind, pattern in (word | frames).items()}


_ENDS = re.compile(r"[;:.(]\s|\s-\s|,\s(?!(?:and|or|und|oder|y|o|et|ou)\b)")  # what "and" joins is one part
_REMARK = re.compile(r"\([^()]*\)|^[^()]*\)")
_RESUMED = re.compile(r",(?=\s(?:c'est|ce|il|elle|ça|that|it|das|es|eso)\b)")
