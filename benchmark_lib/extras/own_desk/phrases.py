"""Build the phrases of a declared desk: the shipped ones, and patterns from its own words."""

from __future__ import annotations

import re
from typing import Any

from ...language.sentences import fold
from ...project import DATA
from ...scoring.written import words as words_of
from .desk_file import DeclaredAct, DeclaredAsked, DeclaredRefusal, DeskFile, texts, with_texts

APART = r"[^\w.,;:!?]+"
"""Pattern of what may separate two words of a clause."""
SHORT = 3
"""Maximum letters of a word that never counts as the beginning of another."""
SHIPPED = DATA / "stores" / "northline"
OWN = "base/phrases.yaml"


def phrases(desk: DeskFile) -> dict[str, Any]:
    """Return a desk's English phrases: the shipped ones, with its own slots, acts and reasons."""
    shipped, own = texts(str(SHIPPED / "phrases" / "en.yaml")), texts(OWN)
    columns = [*dict.fromkeys(column for way in desk.ways for column in way), "goal", "problem", "reason"]
    asked: dict[str, DeclaredAsked] = {**desk.arguments, **desk.questions}
    reasons: dict[str, DeclaredRefusal] = {desk.reason_of(rule): rule for rule in desk.rules.values()}
    return {
        "language": "en",
        **{part: shipped[part] for part in own["shipped"]},
        "slots": {column: shipped["slots"].get(column) or _slot(column) for column in columns}
        | {name: _asked_slot(name, one, own["asking"]) for name, one in asked.items()},
        "actions": {name: _action(name, act, desk) for name, act in desk.acts.items()}
        | {"hand_over_to_human": shipped["actions"]["hand_over_to_human"]},
        "declines": own["declines"],
        "reasons": {
            name: {"say": {"en": one.say}, "patterns": [*map(pattern_of, one.words or [one.say])]}
            for name, one in (reasons | desk.refusals).items()
        },
    }


def _filled(part: Any, **words: str) -> Any:
    """Return part of the phrases with words filled in."""
    return with_texts(part, lambda text, _: text.format(**words))


def _slot(name: str) -> dict[str, Any]:
    """Return the phrases for a column; for a number, adapt those for an order number."""
    words = words_of(name)
    if not words.endswith(" id"):
        return dict(_filled(texts(OWN)["slot"], words=words, named=pattern_of(words)))
    noun, shipped = words.removesuffix(" id"), texts(str(SHIPPED / "phrases" / "en.yaml"))["slots"]["order_id"]
    return {part: re.sub(r"\border\b", noun, said) if isinstance(said, str)
            else [re.sub(r"\border\b", noun, one) for one in said] for part, said in shipped.items()}  # fmt: skip


def _asked_slot(name: str, question: DeclaredAsked, asking: list[str]) -> dict[str, Any]:
    """Return the phrases for an argument or a question, by default preceded by question words."""
    patterns = [pattern_of(f"{asks} {words_of(name)}") for asks in asking]
    if question.words:  # a statement with these words, such as a refusal, does not ask for anything
        form = texts(OWN)["slot"]["patterns"]
        patterns = [one for w in question.words for one in _filled(form, words=w, named=pattern_of(w))]
    own = {"patterns": patterns, "ask": question.ask, "answer": question.answer}
    return _slot(name) | {part: said for part, said in own.items() if said}


def _action(name: str, act: DeclaredAct, desk: DeskFile) -> dict[str, Any]:
    key = desk.key_of(name)
    do = act.do or f"{words_of(name)} for {words_of(key)} {{{key}}}"
    words, noun = act.words or [words_of(name)], words_of(singular(desk.on(name)))
    patterns = [*map(pattern_of, words)]
    verbs = [w.removesuffix(noun).split() for w in words if w.endswith(f" {noun}")]
    patterns += [rf"{pattern_of(verb)} (?:\w+ )?(?:it|this|that|[a-z]{{1,4}}-?\d{{3,}})\b" for verb, *_ in verbs]
    choices = "|".join(re.escape(fold(words_of(c))) for a in act.arguments.values() for c in a.choices)
    patterns += [rf"(?:on|to|onto) (?:\w+ )?(?:{choices})\b"] if choices else []
    units = "|".join(re.escape(a.unit.removesuffix("s")) for a in act.arguments.values() if a.unit)
    patterns += [rf"for (?:\d+|an?|one|two|three|four|five|six) (?:{units})"] if units else []
    said = _filled(texts(OWN)["action"], do=do)
    return {"patterns": patterns, "claims": patterns} | said | ({"done": act.done} if act.done else {})


def pattern_of(words: str) -> str:
    """Return a pattern for plain words that allows up to three other words between two of them.

    Each matches the beginning of a word; a word of up to three letters matches only a whole word, in its forms.
    """
    stems = []
    for word in fold(words).replace("'", " ").split():
        stem = re.escape(re.sub(r"(?<=\w{3})e$", "", word))
        stems.append(rf"{stem}\w*" if len(word) > SHORT else rf"{stem}(?:s|ed|ing)?(?!\w)")
    return rf"{APART}(?:\w+(?:[.,]\d+)*{APART}){{0,3}}".join(stems)


def singular(table: str) -> str:
    """Return the name for one row of a table, such as "order" for ``orders``."""
    return re.sub("s$", "", re.sub("(?<=x|s|z|h)es$", "", re.sub("ies$", "y", table)))
