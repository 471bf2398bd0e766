"""Parse what an agent's message asks, offers, reports and declines, by sentence.

The store's ``reader/weights.npz`` has the reader's weights; a store without it uses its patterns alone. The reader sees
the words of a sentence and the matching patterns of ``phrases/<language>.yaml``. A message may be in another language
than the customer's, so the patterns of every language that it resembles apply.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

from ..errors import BadInput
from ..remembered import remembered
from .heard import (
    ASKS,
    LIKELY,
    PLAIN,
    POSSIBLE,
    RATES,
    SURE,
    ParsedMessage,
    ParsedSentence,
    on_scale,
    understood,
)
from .layout import fitting, listed_acts, offered, with_earlier
from .linear import KNOWN, LinearReader, WordedReasons, features, of_patterns, reasons_in
from .patterns import (
    between_points,
    compile_patterns,
    cue_of_several,
    dates_asked,
    either_or,
    halves_of,
    holds,
    mark_of,
    union,
)
from .sentences import Sentence, is_row, kept, nearest_languages, sentences
from .word_lists import books, words_of

ACTS = tuple(RATES)
"""Acts of a sentence; detectors also use ``report``, the plain probability of ``done``."""
ABOUT = {"slot": ("ask", "yes"), "tool": ("offer", "yes", "done", "no"), "reported": ("report",)}
"""Topics of a sentence, with the acts for which each matters."""
PATTERNS = ("slot", "tool")
"""Topics with patterns; the patterns of tools also serve reports."""
UNASKED = {"elsewhere", "later", "at_hand", "invites", "closes", "any_of_them", "own_question", "means", "explains"}
"""Kinds of sentences that only sound like a request; together they are one more cue."""
ANY_DATE = frozenset({"any"})
"""Kind of date whose verb tells no direction; no statement asks for one in passing ("on whichever day suits you")."""
HEAD = 40
"""Initial characters in which a line names what it needs."""
WHOLE = 4
"""Fewest words in a question after "and"."""


class Phrases(Protocol):
    """The part of a store that the parser needs: its phrases by language."""

    path: Path

    def file(self, name: str) -> Path:
        """Return a file or folder of the store."""

    @property
    def phrases(self) -> dict[str, dict[str, Any]]:
        """Return the content of ``phrases/<language>.yaml`` by language."""

    @property
    def articles(self) -> list[dict[str, Any]]:
        """Return the articles of the knowledge base."""


class PhraseBook:
    """The patterns of one language: cues of acts, and the slots and tools that it names."""

    def __init__(self, book: dict[str, Any]):
        language, ask = book["language"], book["question"]
        self.cues = {name: compile_patterns(ask[name]) for name in ("request", "hint", "confirm", "closing")}
        self.cues |= {name: re.compile(f" (?:{union(ask[name])})") for name in ("open", "past")}
        self.cues |= {name: compile_patterns(book[name]) for name in ("done", "deny", "denied", "doubt")}
        for part in ("not_asked", "heard_as"):
            own = books().get(language, {}).get(part, {})
            self.cues |= {name: compile_patterns(cues) for name, cues in own.items() if isinstance(cues, list)}
        self.topics: dict[str, dict[str, re.Pattern[str]]] = {"slot": {}, "tool": {}}
        for part, kind in (("slots", "slot"), ("actions", "tool")):
            for name, entry in book[part].items():
                more = words_of("heard_as", "slots", name, languages=(language,)) if kind == "slot" else ()
                named = {kind: [*entry["patterns"], *more], **{k: entry[k] for k in ("loose", "claims") if k in entry}}
                self.topics[kind] |= {f"{k}:{name}": compile_patterns(patterns) for k, patterns in named.items()}
        self.names = frozenset(name for named in self.topics.values() for name in named)
        self.topics_in = lru_cache(maxsize=8192)(self._topics_in)

    def cues_in(self, plain: str) -> list[str]:
        """Return the cues in a sentence: of a question, a report, a denial."""
        cues = [name for name, pattern in self.cues.items() if pattern.search(plain)]
        return [*cues, "unasked"] if UNASKED.intersection(cues) else cues

    def _topics_in(self, plain: str, kind: str) -> tuple[str, ...]:
        return tuple(name for name, pattern in self.topics[kind].items() if pattern.search(plain))


class MessageParser:
    """A store's trained reader with its patterns, one book for each language."""

    def __init__(self, store: Phrases, reader: LinearReader | None = None):
        self.folder, self.raw = store.file("phrases"), store.phrases
        if not self.raw:
            raise BadInput(f"{self.folder}: no phrases; a store needs at least one language file there")
        trained = store.file("reader/weights.npz")
        self.reasons = store.file("reasons")
        self.reader = reader or (LinearReader.load(trained) if trained.exists() else None)
        self._targets = frozenset(self.reader.targets if self.reader else ())
        self._worded = WordedReasons(store)
        self.books: dict[str, PhraseBook] = {}
        self._known = lru_cache(maxsize=4096)(self._parse)
        self._heard = lru_cache(maxsize=8192)(self._hear)

    def parse(self, text: str) -> ParsedMessage:
        """Parse one message; customer and score share the result."""
        return self._known(kept(text))

    def _parse(self, text: str) -> ParsedMessage:
        message = sentences(text)
        heard = self.hear(message)
        parsed = understood([each for s, one in zip(message, heard) for each in (*self._halves(s, one, message), one)])
        if parsed.confirm and not parsed.asked and max(parsed.tools.values(), default=0.0) < LIKELY:
            # If an unclear message names only one tool, it means that tool ("One return for both. Yes?").
            named = set[str]().union(*self.tools_named(message)) - {*parsed.declined}
            if len(named) == 1:
                parsed.proposed, parsed.offered, parsed.offer = [*named], [*named], True
                parsed.tools = dict.fromkeys(named, SURE)
        return parsed

    def _halves(self, sentence: Sentence, heard: ParsedSentence, message: list[Sentence]) -> list[ParsedSentence]:
        """Return the halves that were missed in "Is it unused, and shall I start?" or the reverse."""
        asks_anything = heard.marked and max(heard.acts["yes"], heard.acts["ask"]) >= LIKELY
        halves = halves_of(sentence.plain) if asks_anything else ()
        if not halves:
            return []
        languages = tuple(self.languages(message))
        first, second = (self._heard(half, sentence.item, ".", languages) for half in halves)
        whole = len(halves[1].split()) >= WHOLE  # a question of its own, not "and the address?"
        for asks, agrees in ((first, second), (second, first))[: 1 + whole]:
            asked = asks.acts["ask"] >= POSSIBLE and max(asks.slots.values(), default=0.0) >= PLAIN
            if asked and asks.acts["yes"] < LIKELY and agrees.asks_for_a_yes and not agrees.about("ask"):
                asks = replace(asks, acts=asks.acts | {"ask": max(asks.acts["ask"], ASKS)})
                return [agrees] * (heard.acts["yes"] < ASKS) + [asks] * (heard.acts["ask"] < ASKS)
        return []

    def hear(self, message: list[Sentence]) -> list[ParsedSentence]:
        """Parse each sentence of a message."""
        languages = tuple(self.languages(message))
        around = [
            (s.plain, s.item, mark, languages, needed)
            for s, mark, needed in zip(message, marks_before(message), under_needs(message, languages), strict=True)
        ]
        heard = [self._heard(*each) for each in around]
        named = self.tools_named(message)
        for place, act in listed_acts(message, heard, languages).items():
            read, needed = self._heard(*around[place], act), around[place][-1]
            fit = read.tools if named[place] else fitting(read.tools, place, message, heard)
            if max(fit.values(), default=0.0) >= LIKELY and not needed:
                heard[place] = replace(read, tools=fit, planned=act == "offer")
            elif not named[place]:  # a detail, such as "Order: NL-12345"
                heard[place] = replace(heard[place], tools={}, reported={})
        read_alone = partial(self._heard, item=False, before=".", languages=languages, listed="offer")
        heard = [replace(one, tools=offered(place, message, heard, read_alone)) for place, one in enumerate(heard)]
        return list(with_earlier(heard, named))

    def _hear(
        self, plain: str, item: bool, before: str, languages: tuple[str, ...], needed: bool = False, listed: str = ""
    ) -> ParsedSentence:
        books = self.books_of(languages)
        if self.reader is None:
            return _by_patterns(books, plain, item)
        cues = list(dict.fromkeys(n for book in books for n in book.cues_in(plain)))
        seen = self.reader.seen(features(self._in_known_words(plain, books), item, before))
        seen = self.reader.seen(of_patterns(cues), KNOWN, seen)
        chances, cuts = self.reader.probabilities(seen), self.reader.cuts
        acts = {act: on_scale(act, chances[act], cuts.get(act, ())) for act in ACTS} | {"report": chances["done"]}
        acts |= {"ask": 0.0, "done": 0.0, "report": 0.0} if is_row(plain) else {}
        acts |= {"ask": 0.0, "offer": 0.0, "done": 0.0, listed: max(acts[listed], ASKS)} if listed else {}
        own = () if {"at_hand", "handling"}.intersection(cues) else self._untrained(books, "slot")
        untrained = {slot: 1.0 for slot, pattern in own if pattern.search(plain)}
        acts |= {"ask": 1.0} if untrained else {}
        topics = self._topics_of(self.reader, plain, books, acts, seen)
        slots, tools = topics["slot"] | untrained, topics["tool"]
        marked, either = mark_of(plain) == "?", either_or(plain)
        if needed and acts["ask"] < PLAIN:
            names = [n.partition(":") for n in _named(books, plain[:HEAD], "slot")]
            needs = dict.fromkeys([slot for kind, _, slot in names if kind == "slot"][:1], 1.0)
            slots |= needs
            acts |= {"ask": PLAIN} if needs else {}
        dates = dates_asked(plain, languages) if "date" in slots else frozenset[str]()
        if dates == ANY_DATE and not (marked or needed):
            del slots["date"]
        return ParsedSentence(
            acts,
            slots,
            tools,
            marked=marked,
            either=either,
            instead=bool(cue_of_several("instead").search(plain)),
            one_of=bool(cue_of_several("one_of").search(plain)),
            chooses=marked and bool(cue_of_several("choose").search(plain)),
            leaves=marked and bool(cue_of_several("leave").search(plain)),
            points=either and between_points(plain, marked),
            invites=marked and "invites" in cues,
            item=item,
            plainly=marked or not ("offers_help" in cues or acts["no"] >= LIKELY),
            dates=dates,
            checks=marked and "works" in cues,
            closes=marked and "closes" in cues,
            reported=topics["reported"] or tools,
        )

    def _topics_of(
        self, reader: LinearReader, plain: str, books: list[PhraseBook], acts: dict[str, float], seen: Any
    ) -> dict[str, dict[str, float]]:
        """Return a sentence's slots, tools and reported tools; for a plain yes, named slots only."""
        topics_of: dict[str, dict[str, float]] = {}
        for kind, reasons in ABOUT.items():
            topics_of[kind] = {}
            if max(acts[act] for act in reasons) >= POSSIBLE:
                patterns = kind.replace("reported", "tool")
                topics = _named(books, plain, patterns)
                chances = reader.probabilities(reader.seen(of_patterns(topics), KNOWN, seen))
                for target, chance in chances.items():
                    of, _, name = target.partition(":")
                    if of == kind and chance >= POSSIBLE:
                        trained = f"{patterns}:{name}"
                        if trained not in self._targets or any(trained in book.names for book in books):
                            topics_of[kind][name] = chance
                if patterns == "tool":  # patterns alone decide on tools that the reader was not trained on
                    part = "claims:" if kind == "reported" else "tool:"
                    names = (topic.removeprefix(part) for topic in topics if topic.startswith(part))
                    topics_of[kind] |= {name: 1.0 for name in names if f"tool:{name}" not in self._targets}
        if acts["yes"] >= max(ASKS, acts["ask"]):
            slots = {n.partition(":")[2] for n in _named(books, plain, "slot")}
            topics_of["slot"] = {slot: chance for slot, chance in topics_of["slot"].items() if slot in slots}
        return topics_of

    def _untrained(self, books: list[PhraseBook], kind: str) -> Iterator[tuple[str, re.Pattern[str]]]:
        """Yield the slots or tools that the reader was not trained on, with their patterns."""
        named = (pair for book in books for pair in book.topics[kind].items() if pair[0] not in self._targets)
        return ((n.removeprefix(f"{kind}:"), pattern) for n, pattern in named if n.startswith(f"{kind}:"))

    def _in_known_words(self, plain: str, books: list[PhraseBook]) -> str:
        """Replace the words for tools that the reader was not trained on with a verb it knows."""
        for _, words in self._untrained(books, "tool"):
            plain = words.sub(lambda m: re.sub(r"(?s)^(.)\w+?(ed|ing|)\b.*", r"\1cancell\2", m[0]), plain)
        return re.sub(r"\bcancell\b", "cancel", plain)

    def names(self, slot: str, text: str) -> bool:
        """Return whether a message names the topic of a slot, in any statement."""
        message = sentences(text)
        books = self.books_of(self.languages(message))
        patterns = [book.topics["slot"][f"slot:{slot}"] for book in books if f"slot:{slot}" in book.topics["slot"]]
        return any(pattern.search(s.plain) for pattern in patterns for s in message)

    def tools_named(self, message: list[Sentence]) -> list[set[str]]:
        """Return the tools that the words of each sentence name, by patterns alone."""
        books = self.books_of(self.languages(message))
        topics = [_named(books, s.plain, "tool") for s in message]
        return [{name.removeprefix("tool:") for name in names if name.startswith("tool:")} for names in topics]

    def languages(self, message: list[Sentence]) -> list[str]:
        """Return the nearest languages with phrases in the store, or all of the store's languages."""
        near = nearest_languages(message)
        return [language for language in self.raw if language in near] or list(self.raw)

    def books_of(self, languages: Iterable[str]) -> list[PhraseBook]:
        """Return the phrases of these languages; raise `BadInput` if a file cannot be used."""
        for language in languages:
            if language not in self.books:
                try:
                    self.books[language] = PhraseBook(self.raw[language])
                except (KeyError, TypeError, AttributeError, re.error) as error:
                    where, why = self.folder / f"{language}.yaml", f"a key is missing or a pattern is broken ({error})"
                    raise BadInput(f"{where}: {why}; compare it with another language") from None
        return [self.books[language] for language in languages]

    def reasons_in(self, texts: list[str], heard: Iterable[str] = ()) -> list[str]:
        """Return the store's reasons in an agent's messages, ignoring the customer's words."""
        return sorted({*reasons_in(texts, self.reasons, heard), *self._worded.named_in(texts, heard)})


@remembered()
def parser_of(store: Phrases) -> MessageParser:
    """Return the store's parser, loaded once."""
    return MessageParser(store)


def marks_before(message: list[Sentence]) -> Iterator[str]:
    """Yield the mark before each sentence; for a list item, the mark of the list's heading."""
    last = heading = ""
    for sentence in message:
        mark = mark_of(sentence.plain)
        yield heading if sentence.item else last
        if not sentence.item:
            heading = mark
        last = mark


def under_needs(message: list[Sentence], languages: tuple[str, ...]) -> Iterator[bool]:
    """Yield whether each sentence is in a list of needs ("I need two things from you:")."""
    needs = False
    for sentence in message:
        row = is_row(sentence.plain)
        listed = row or sentence.item
        yield needs and listed
        named = holds("heard_as", "needs", sentence.plain, languages)
        if not listed:
            leads = mark_of(sentence.plain) == ":" or bool(cue_of_several("one_of").search(sentence.plain))
            needs = leads and named
        elif row:
            needs |= named


def _named(books: list[PhraseBook], plain: str, kind: str) -> list[str]:
    return [name for book in books for name in book.topics_in(plain, kind)]


def _by_patterns(books: list[PhraseBook], plain: str, item: bool) -> ParsedSentence:
    """Parse a sentence by patterns alone, for a store without a trained reader."""
    cues = {name for book in books for name in book.cues_in(plain)}
    marked = mark_of(plain) == "?"
    yes = "confirm" in cues and "closing" not in cues
    done = "done" in cues and not marked and not cues & {"deny", "doubt"}
    does = {
        "ask": (marked or item or "request" in cues) and not yes and "closing" not in cues,
        "yes": yes,
        "offer": not done and not marked and "deny" not in cues or yes,
        "done": done,
        "no": bool(cues & {"deny", "denied"}),
        "bye": "closing" in cues,
        "report": done,
    }
    slots = [n for n in _named(books, plain, "slot") if n.startswith("slot:") or (done and n.startswith("claims:"))]
    tools = [n for n in _named(books, plain, "tool") if n.startswith("tool:") or (done and n.startswith("claims:"))]
    return ParsedSentence(
        {act: float(chance) for act, chance in does.items()},
        dict.fromkeys([name.removeprefix("slot:") for name in slots], 1.0),
        dict.fromkeys([name.partition(":")[2] for name in tools], 1.0),
        marked,
    )
