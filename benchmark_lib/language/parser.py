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
from typing import Any, Protocol, cast

from ..errors import BadInput
from ..remembered import remembered
from .cues import (
    between_points,
    cue_of_several,
    dates_asked,
    either_or,
    halves_of,
    holds,
    mark_of,
)
from .detection import nearest_languages
from .heard import ASKS, LIKELY, PLAIN, POSSIBLE, RATES, SURE, ParsedMessage, ParsedSentence, on_scale
from .layout import listed_acts, offered
from .linear import KNOWN, LinearReader, add, choices, features, likelier, likeliest, of_patterns
from .phrase_book import PhraseBook
from .reasons import WordedReasons, reasons_in
from .sentences import LONGEST_SPOKEN, Sentence, is_row, kept, sentences

ACTS = tuple(RATES)
"""Acts of a sentence; detectors also use ``report``, the plain probability of ``done``."""

ABOUT = {"slot": ("ask", "yes"), "tool": ("offer", "yes", "done", "no"), "reported": ("report",)}
"""Topics of a sentence, with the acts for which each matters."""
PATTERNS = ("slot", "tool")
"""Topics with patterns; the patterns of tools also serve reports."""

ANY_DATE = frozenset({"any"})
"""Date without a telling verb; no statement asks for one in passing ("on whichever day suits you")."""

HEAD = 40
"""Characters of a line in which it names what is needed."""

WHOLE = 4
"""Minimum number of words of a question after "and"."""

REMEMBERED = 3
"""Maximum number of sentences between an offer and a bare "Shall I go ahead?" that refers to it."""


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


class MessageParser:
    """The trained reader of a store with its patterns, one book for each language."""

    def __init__(self, store: Phrases, reader: LinearReader | None = None):
        self.folder, self.raw = store.file("phrases"), store.phrases
        if not self.raw:
            raise BadInput(f"{self.folder}: no phrases; a store needs at least one language file there")
        trained = store.file("reader/weights.npz")
        self.reasons = store.file("reasons")
        self.reader = reader or (LinearReader.load(trained) if trained.exists() else None)
        self._targets = frozenset(self.reader.targets if self.reader else ())
        self._worded = WordedReasons.of(store)
        self.books: dict[str, PhraseBook] = {}
        self._known = lru_cache(maxsize=4096)(self._parse)
        self._heard = lru_cache(maxsize=8192)(self._hear)

    def parse(self, text: str) -> ParsedMessage:
        """Parse one message, once for customer and score."""
        return self._known(kept(text, LONGEST_SPOKEN))

    def _parse(self, text: str) -> ParsedMessage:
        message = sentences(text)
        heard = self.hear(message)
        parsed = understood([each for s, one in zip(message, heard) for each in (*self._halves(s, one, message), one)])
        unclear = not parsed.asked and max(parsed.tools.values(), default=0.0) < LIKELY
        if parsed.confirm and unclear and (alone := self._named_alone(message)):
            parsed.proposed, parsed.offered, parsed.offer, parsed.tools = [alone], [alone], True, {alone: SURE}
        return parsed

    def _named_alone(self, said: list[Sentence]) -> str:
        """Return the only tool that a message names ("One return for both. Yes?"), if any."""
        books = [self._book(language) for language in self.languages(said)]
        named = {name for book in books for s in said for name in book.topics_in(s.plain, "tool") if "tool:" in name}
        return named.pop().partition(":")[2] if len(named) == 1 else ""

    def _halves(self, sentence: Sentence, heard: ParsedSentence, said: list[Sentence]) -> list[ParsedSentence]:
        """Return the missed halves of "Is it unused, and shall I start?", in any order."""
        halves = (
            halves_of(sentence.plain) if heard.marked and max(heard.acts["yes"], heard.acts["ask"]) >= LIKELY else ()
        )
        if not halves:
            return []
        languages = tuple(self.languages(said))
        first, second = (self._heard(half, sentence.item, ".", languages) for half in halves)
        whole = len(halves[1].split()) >= WHOLE  # a question of its own, not "and the address?"
        for asks, agrees in ((first, second), (second, first))[: 1 + whole]:
            asked = asks.acts["ask"] >= POSSIBLE and max(asks.slots.values(), default=0.0) >= PLAIN
            if asked and asks.acts["yes"] < LIKELY and agrees.asks_for_a_yes and not agrees.about("ask"):
                asks = replace(asks, acts=asks.acts | {"ask": max(asks.acts["ask"], ASKS)})
                return [agrees] * (heard.acts["yes"] < ASKS) + [asks] * (heard.acts["ask"] < ASKS)
        return []

    def hear(self, said: list[Sentence]) -> list[ParsedSentence]:
        """Parse each sentence of a message."""
        languages = tuple(self.languages(said))
        around = [
            (s.plain, s.item, mark, languages, needed)
            for s, mark, needed in zip(said, marks_before(said), under_needs(said, languages), strict=True)
        ]
        heard = [self._heard(*each) for each in around]
        for place, act in listed_acts(said, heard, languages).items():
            read = self._heard(*around[place], act)
            if max(read.tools.values(), default=0.0) >= LIKELY and not around[place][-1]:
                heard[place] = replace(read, planned=act == "offer")
        read_alone = partial(self._heard, item=False, before=".", languages=languages, listed="offer")
        return [replace(one, tools=offered(place, said, heard, read_alone)) for place, one in enumerate(heard)]

    def _hear(
        self, plain: str, item: bool, before: str, languages: tuple[str, ...], needed: bool = False, listed: str = ""
    ) -> ParsedSentence:
        books = [self._book(language) for language in languages]
        if self.reader is None:
            return _by_patterns(books, plain, item)
        cues = list(dict.fromkeys(n for book in books for n in book.cues_in(plain)))
        seen = self.reader.seen(features(self._in_known_words(plain, books), item, before))
        seen = self.reader.seen(of_patterns(cues), KNOWN, seen)
        chances, cuts = self.reader.probabilities(seen), self.reader.cuts
        acts = {act: on_scale(act, chances[act], cuts.get(act, ())) for act in ACTS} | {"report": chances["done"]}
        acts |= {"ask": 0.0, "done": 0.0, "report": 0.0} if is_row(plain) else {}
        acts |= {"ask": 0.0, "offer": 0.0, "done": 0.0, listed: max(acts[listed], ASKS)} if listed else {}
        own = () if {"at_hand", "handling"}.intersection(cues) else self._untrained_topics(books, "slot")
        if untrained := {slot: 1.0 for slot, pattern in own if pattern.search(plain)}:
            acts["ask"] = 1.0
        topics = self._topics_in(plain, books, acts, seen)
        topics["slot"] |= untrained
        marked, either = mark_of(plain) == "?", either_or(plain)
        if needed and acts["ask"] < PLAIN and (slots := self._begins_with(plain, books)):
            topics["slot"] |= dict.fromkeys(slots, 1.0)
            acts["ask"] = PLAIN
        points = either and between_points(plain, marked)
        instead, one_of, chooses, leaves = (
            (name in ("instead", "one_of") or marked) and bool(cue_of_several(name).search(plain))
            for name in ("instead", "one_of", "choose", "leave")
        )
        plainly = marked or not ("offers_help" in cues or acts["no"] >= LIKELY)
        form = marked, either, instead, one_of, chooses, leaves, points, marked and "invites" in cues, item, plainly
        dates = dates_asked(plain, languages) if "date" in topics["slot"] else frozenset[str]()
        if dates == ANY_DATE and not (marked or needed):
            del topics["slot"]["date"]
        checks, closes = (marked and cue in cues for cue in ("works", "closes"))
        return ParsedSentence(
            acts, topics["slot"], topics["tool"], *form, dates, checks, closes, topics["reported"] or topics["tool"]
        )

    def _topics_in(
        self, plain: str, books: list[PhraseBook], acts: dict[str, float], seen: Any
    ) -> dict[str, dict[str, float]]:
        """Return a sentence's slots, tools and reported tools; for a plain yes, named slots only."""
        reader = cast(LinearReader, self.reader)
        topics_of: dict[str, dict[str, float]] = {}
        for kind, reasons in ABOUT.items():
            topics_of[kind] = {}
            if max(acts[act] for act in reasons) >= POSSIBLE:
                patterns = kind.replace("reported", "tool")
                topics = [n for book in books for n in book.topics_in(plain, patterns)]
                chances = reader.probabilities(reader.seen(of_patterns(topics), KNOWN, seen))
                heard = _topics(chances, f"{kind}:").items()
                topics_of[kind] = {n: c for n, c in heard if self._is_of(books, f"{patterns}:{n}")}
                if patterns == "tool":
                    topics_of[kind] |= self._untrained_tools(topics, "claims:" if kind == "reported" else "tool:")
        if acts["yes"] >= max(ASKS, acts["ask"]):
            named = {n.partition(":")[2] for book in books for n in book.topics_in(plain, "slot")}
            topics_of["slot"] = {slot: chance for slot, chance in topics_of["slot"].items() if slot in named}
        return topics_of

    def _is_of(self, books: list[PhraseBook], topic: str) -> bool:
        return topic not in self._targets or any(topic in named for book in books for named in book.topics.values())

    def _begins_with(self, plain: str, books: list[PhraseBook]) -> list[str]:
        head = plain[:HEAD]
        named = (name.partition(":") for book in books for name in book.topics_in(head, "slot"))
        return [slot for kind, _, slot in named if kind == "slot"][:1]

    def _untrained_topics(self, books: list[PhraseBook], kind: str) -> Iterator[tuple[str, re.Pattern[str]]]:
        named = (pair for book in books for pair in book.topics[kind].items() if pair[0] not in self._targets)
        return ((n.removeprefix(f"{kind}:"), pattern) for n, pattern in named if n.startswith(f"{kind}:"))

    def _untrained_tools(self, topics: list[str], part: str) -> dict[str, float]:
        """Return tools that the reader was not trained on, by their patterns alone."""
        names = (topic.removeprefix(part) for topic in topics if topic.startswith(part))
        return dict.fromkeys((name for name in names if f"tool:{name}" not in self._targets), 1.0)

    def _in_known_words(self, plain: str, books: list[PhraseBook]) -> str:
        """Replace the words of tools that the reader was not trained on by a verb that it knows."""
        for _, words in self._untrained_topics(books, "tool"):
            plain = words.sub(lambda m: re.sub(r"(?s)^(.)\w+?(ed|ing|)\b.*", r"\1cancell\2", m[0]), plain)
        return re.sub(r"\bcancell\b", "cancel", plain)

    def names(self, slot: str, text: str) -> bool:
        """Return whether a message names the topic of a slot, in any statement."""
        message = sentences(text)
        patterns = [self._book(language).topics["slot"].get(f"slot:{slot}") for language in self.languages(message)]
        return any(pattern.search(s.plain) for pattern in patterns if pattern for s in message)

    def tools_named(self, said: list[Sentence]) -> list[set[str]]:
        """Return the tools that the words of each sentence name, by patterns alone."""
        books = [self._book(language) for language in self.languages(said)]
        named = [{name for book in books for name in book.topics_in(s.plain, "tool")} for s in said]
        return [{name.removeprefix("tool:") for name in names if name.startswith("tool:")} for names in named]

    def features_of(self, sentence: Sentence, before: str, languages: tuple[str, ...]) -> tuple[dict[str, float], ...]:
        """Return the reader's weighted features of a sentence, for training.

        They are three sets: without topics, with slots as topics, and with tools as topics.
        """
        books = [self._book(language) for language in languages]
        seen = dict.fromkeys(features(sentence.plain, sentence.item, before), 1.0)
        seen |= dict.fromkeys(of_patterns(n for book in books for n in book.cues_in(sentence.plain)), KNOWN)
        about = [of_patterns(n for book in books for n in book.topics_in(sentence.plain, kind)) for kind in PATTERNS]
        return seen, *(seen | dict.fromkeys(topics, KNOWN) for topics in about)

    def languages(self, said: list[Sentence]) -> list[str]:
        """Return the nearest languages with phrases in the store, or all of the store's."""
        near = nearest_languages(said)
        return [language for language in self.raw if language in near] or list(self.raw)

    def _book(self, language: str) -> PhraseBook:
        if language not in self.books:
            try:
                self.books[language] = PhraseBook(self.raw[language])
            except (KeyError, TypeError, AttributeError, re.error) as error:
                where = self.folder / f"{language}.yaml"
                raise BadInput(
                    f"{where}: a key is missing or a pattern is broken ({error}); compare it with another language"
                ) from None
        return self.books[language]

    def reasons_in(self, texts: list[str], heard: Iterable[str] = ()) -> list[str]:
        """Return the listed reasons in an agent's messages, except in the customer's words."""
        found = reasons_in(texts, self.reasons, heard)
        return sorted({*found, *self._worded.named_in(texts, heard)}) if self._worded else found


@remembered()
def parser_of(store: Phrases) -> MessageParser:
    """Return the store's parser, loaded once."""
    return MessageParser(store)


def marks_before(said: list[Sentence]) -> Iterator[str]:
    """Yield the mark before each sentence, or for a list item that of the list's heading."""
    last = heading = ""
    for sentence in said:
        mark = mark_of(sentence.plain)
        yield heading if sentence.item else last
        if not sentence.item:
            heading = mark
        last = mark


def under_needs(said: list[Sentence], languages: tuple[str, ...]) -> Iterator[bool]:
    """Yield whether a sentence is in a list of needed things ("I need two things from you:")."""
    needs = False
    for sentence in said:
        row = is_row(sentence.plain)
        listed = row or sentence.item
        yield needs and listed
        named = holds("heard_as", "needs", sentence.plain, languages)
        if not listed:
            leads = mark_of(sentence.plain) == ":" or bool(cue_of_several("one_of").search(sentence.plain))
            needs = leads and named
        elif row:
            needs |= named


def understood(heard: list[ParsedSentence]) -> ParsedMessage:
    """Combine the parsed sentences into a parsed message."""
    parsed = ParsedMessage()
    offers: list[list[str]] = []
    wanted = steps = False
    spoken: dict[str, float] = {}
    for one in heard:
        asks = one.acts["ask"] >= ASKS
        yes = one.asks_for_a_yes
        steps = one.planned or (steps and one.item)
        offers.append(one.about("offer") + (offers[-1] if steps and offers else []))
        parsed.offer |= one.acts["offer"] >= SURE
        add(parsed.offered, offers[-1])
        if yes:
            parsed.confirm = True
            near = offers[-1] or next(filter(None, reversed(offers[-1 - REMEMBERED :])), [])
            near = near or likeliest(one.tools, SURE) or likeliest(spoken, PLAIN)
            add(parsed.proposed, near)
            parsed.offer |= bool(near)
        if one.acts["offer"] >= POSSIBLE and one.acts["done"] < LIKELY:
            spoken = one.tools or spoken
        add(parsed.asked, one.about("ask") if asks else [])
        add(parsed.claimed, one.about("done"))
        add(parsed.declined, one.about("no"))
        if max(one.acts[act] for act in ("offer", "yes", "done")) >= POSSIBLE:
            likelier(parsed.tools, one.tools, 1.0)
        likelier(parsed.slots, one.slots, one.acts["ask"])
        likelier(parsed.reports, {t: c for t, c in one.tools.items() if t in one.about("done")}, one.acts["done"])
        parsed.invites |= one.invites
        parsed.dates |= one.dates if "date" in one.about("ask") else set()
        parsed.checks |= one.checks
        parsed.closes |= one.closes
        wanted |= yes and one.marked
        parsed.question |= (yes and one.marked) or (asks and bool(one.marked or one.about("ask")))
    parsed.confirm &= bool(wanted or parsed.proposed or not parsed.claimed)
    parsed.question |= parsed.confirm
    parsed.slots, parsed.tools = _sorted(parsed.slots), _sorted(parsed.tools)
    plainly = {slot for one in heard if one.plainly for slot in one.about("ask")}
    parsed.in_passing = {slot for one in heard for slot in one.about("ask")} - plainly
    parsed.choices = choices(heard, LIKELY)
    parsed.apart = {s for one in heard if not (one.item or one.either or one.instead) for s in one.about("ask")}
    parsed.alternatives, parsed.or_not = _alternatives(heard), _or_not(heard)
    return parsed


def _alternatives(heard: list[ParsedSentence]) -> set[str]:
    """Return the tools between which a message offers a choice, by "or" or "which of them"."""
    choices: set[str] = set()
    held_out: list[str] = []
    every: set[str] = set()
    items = 0
    for one in heard:
        tools = {tool for tool, chance in one.tools.items() if chance >= SURE}
        offers = one.about("offer")
        if one.marked and one.either and len(tools) > 1:
            choices |= tools
        elif one.points and len(every) > 1:
            choices |= every
        elif one.marked and (one.points or (one.chooses and one.acts["yes"] < ASKS)):
            choices |= {*held_out, *tools} if items > 1 or len({*held_out, *tools}) > 1 else set()
        items += one.item
        held_out = offers if offers and not one.item else held_out + offers
        every |= {*offers}
    return choices


def _or_not(heard: list[ParsedSentence]) -> set[str]:
    """Return tools to use or leave: "or shall it stay?", or "which?" after "you can, or I"."""
    tools: set[str] = set()
    held_out: set[str] = set()
    either = False
    for one in heard:
        if one.leaves:
            tools |= {tool for tool, chance in one.tools.items() if chance >= SURE} or held_out
        elif one.chooses and either and one.acts["yes"] < ASKS and set(one.about("ask")) == {"goal"}:
            tools |= held_out
        if offers := set(one.about("offer")):
            held_out, either = offers, one.either
        either |= one.either
    return tools


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
    about = {
        kind: {
            name.removeprefix(f"{kind}:"): 1.0
            for book in books
            for name in book.topics_in(plain, kind)
            if name.startswith(f"{kind}:") or (done and name.startswith("claims:"))
        }
        for kind in PATTERNS
    }
    tools = {name.removeprefix("claims:"): chance for name, chance in about["tool"].items()}
    return ParsedSentence({act: float(chance) for act, chance in does.items()}, about["slot"], tools, marked)


def _topics(chances: dict[str, float], kind: str) -> dict[str, float]:
    topics = {name.removeprefix(kind): chance for name, chance in chances.items() if name.startswith(kind)}
    return {name: chance for name, chance in topics.items() if chance >= POSSIBLE}


def _sorted(chances: dict[str, float]) -> dict[str, float]:
    return {n: c for n, c in sorted(chances.items(), key=lambda pair: -pair[1]) if c >= POSSIBLE}
