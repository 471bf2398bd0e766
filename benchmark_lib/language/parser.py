"""Parse what an agent's message asks, offers, reports and declines, by sentence.

The store's ``reader/weights.npz`` has the reader's weights; a store without it uses those of Northline. The reader sees
the words of a sentence and the matching patterns of ``phrases/<language>.yaml``. A message may be in another language
than the customer's, so the patterns of every language that it resembles apply.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from ..errors import BadInput
from ..project import DATA
from ..remembered import remembered
from .heard import (
    ASKS,
    EVIDENT,
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
from .layout import (
    asks_about_an_address,
    fitting,
    listed_acts,
    listed_asks,
    marks_before,
    offered,
    under_needs,
    with_addresses,
    with_earlier,
    with_remedies,
)
from .linear import (
    KNOWN,
    LinearReader,
    WordedReasons,
    features,
    of_patterns,
    reasons_in,
    tokens,
)
from .patterns import asked_in, compile_patterns, cue_of_several, dates_asked, either_or, joined_in, mark_of, union
from .sentences import Sentence, is_row, kept, nearest_languages, sentences
from .word_lists import books, words_of

TRAINED = DATA / "stores" / "northline" / "reader" / "weights.npz"
ACTS = tuple(RATES)
"""Acts of a sentence; detectors also use ``report``, the plain probability of ``done``."""
ABOUT = {"slot": ("ask", "yes"), "tool": ("offer", "yes", "done", "no"), "reported": ("report",)}
"""Topics of a sentence, with the acts for which each matters."""
UNASKED = {"elsewhere", "later", "at_hand", "invites", "closes", "any_of_them", "own_question", "means", "explains"}
"""Kinds of sentences that only sound like a request; together they are one more cue."""
ANY_DATE = frozenset({"any"})
"""Kind of date whose verb tells no direction; no statement asks for one ("on whichever day suits you")."""
QUOTED_ADDRESS = re.compile(r" (?:\d{1,5}[a-z]? [a-z]|po box \d)[^?!:;|]{3,90}?,? [a-z]{2},? \d{5}\b")
"""An address within a sentence; one about something to be done is read without it."""
IDENTIFYING = {"order_id", "which_one", "item", "goal"}
"""Slots that a question whether something is right seems to ask for ("Is this the order you mean?")."""
NAMED = {"problem", "email", "date", "phone", "destination"}
"""Slots that a sentence asks for only if it names them."""
WHOLE = 4
"""Most words of a half that is no question of its own ("and where?")."""
HEAD = 40
"""Initial characters in which a line names what it needs."""


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

    def __init__(self, store: Any, reader: LinearReader | None = None):
        self.folder, self.raw = store.file("phrases"), store.phrases
        if not self.raw:
            raise BadInput(f"{self.folder}: no phrases; a store needs at least one language file there")
        trained = store.file("reader/weights.npz")
        self.reasons = store.file("reasons")
        self.reader = reader or LinearReader.load(trained if trained.exists() else TRAINED)
        self._targets = frozenset(self.reader.targets)
        self._worded, self._alike = WordedReasons(store), store.kind.alike
        self.books: dict[str, PhraseBook] = {}
        self._known = lru_cache(maxsize=4096)(self._parse)
        self._heard = lru_cache(maxsize=8192)(self._hear)
        self._cut = lru_cache(maxsize=1024)(lambda text: [*self._apart(sentences(text))])

    def parse(self, text: str) -> ParsedMessage:
        """Parse one message; customer and score share the result."""
        return self._known(kept(text))

    def _parse(self, text: str) -> ParsedMessage:
        message = self.statements(text)
        heard = self.hear(message)
        parsed = understood(heard)
        unclear = parsed.confirm and not parsed.asked and max(parsed.tools.values(), default=0.0) < LIKELY
        if unclear or parsed.checks_facts:
            # It means the only tool named ("One return for both. Yes?"), if it checks something just before.
            at = next((place for place, one in enumerate(heard) if one.checks_facts), None)
            near = self.tools_named(message if at is None else message[max(at - 1, 0) : at + 1])
            named = set[str]().union(*near) - {*parsed.declined, *parsed.claimed}
            parsed.confirm |= bool(named)
            parsed.checks_facts &= not named
            if len(named) == 1:
                parsed.proposed, parsed.offered, parsed.offer = [*named], [*named], True
                parsed.tools = dict.fromkeys(named, SURE)
        return parsed

    def statements(self, text: str) -> list[Sentence]:
        """Return a message's sentences; "I cannot do this, but I can do that" counts as two."""
        return [*self._cut(text)]

    def _apart(self, message: list[Sentence]) -> Iterator[Sentence]:
        languages = tuple(self.languages(message))
        parts = [(s, asked_in(s.plain, languages)) for s in message]
        message = [
            s._replace(plain=p, item=s.item or (n > 0 and each[0][-1:] == ":"))
            for s, each in parts
            for n, p in enumerate(each)
        ]
        for sentence, before in zip(message, marks_before(message), strict=True):
            whole = self._heard(sentence.plain, sentence.item, before, languages, False)
            joined = whole.marked or whole.acts["no"] >= POSSIBLE
            for halves in joined_in(sentence.plain, languages) if joined else ():
                first, second = (self._heard(half, sentence.item, ".", languages) for half in halves)
                long = len(re.findall(r"\w+", halves[1])) > WHOLE
                checks = whole.marked and long and first.checks_facts
                if checks or whole.refuses_a_part(first, second) or whole.asks_two_things(first, second, long):
                    yield sentence._replace(plain=halves[0])
                    sentence = sentence._replace(plain=halves[1])
                    break
            yield sentence

    def hear(self, message: list[Sentence]) -> list[ParsedSentence]:
        """Parse each sentence of a message."""
        languages = tuple(self.languages(message))
        around = [
            (s.plain, s.item, mark, languages, needed)
            for s, mark, needed in zip(message, marks_before(message), under_needs(message, languages), strict=True)
        ]
        heard = [*listed_asks(self._heard(*each) for each in around)]
        named = self.tools_named(message)
        for place, act in listed_acts(message, heard, languages).items():
            read, needed = self._heard(*around[place], act), around[place][-1]
            fit = read.tools if named[place] else fitting(read.tools, self._alike, place, message, heard)
            if max(fit.values(), default=0.0) >= LIKELY and not needed:
                heard[place] = replace(read, tools=fit, planned=act == "offer")
            elif not named[place]:  # a detail, such as "Order: NL-12345"
                heard[place] = replace(heard[place], tools={}, reported={})
        read_alone = partial(self._heard, item=False, before=".", languages=languages, listed="offer")
        heard = [offered(place, message, heard, read_alone) for place in range(len(heard))]
        heard = with_remedies(message, with_addresses(message, heard, named))
        return list(with_earlier(heard, named))

    def _hear(
        self, plain: str, item: bool, before: str, languages: tuple[str, ...], needed: bool = False, listed: str = ""
    ) -> ParsedSentence:
        books = self.books_of(languages)
        plain = cue_of_several("ignored").sub(" ", plain)
        if (short := QUOTED_ADDRESS.sub("", plain)) != plain:
            without = self._heard(short, item, before, languages, needed, listed)
            if without.about("offer") or (without.asks_for_a_yes and without.tools):
                return without
        cues = list(dict.fromkeys(n for book in books for n in book.cues_in(plain)))
        seen = self.reader.seen(features(self._in_known_words(plain, books), item, before))
        seen = self.reader.seen(of_patterns(cues), KNOWN, seen)
        acts = self._acts_of(plain, seen)
        if acts["no"] >= LIKELY and (short := cue_of_several("not_yet").sub(" ", plain)) != plain:
            return self._heard(short, item, before, languages, needed, listed)
        marked, either = mark_of(plain) == "?", either_or(plain)
        asks = cue_of_several("asks")
        permits = marked and asks.search(plain)  # "May I ...?"
        leads = mark_of(plain) == ":" and "needs" in cues
        if leads and any(name.startswith("slot:") for name in _named(books, plain, "slot")):
            acts["ask"] = max(acts["ask"], PLAIN)  # "I need two photos:"
        acts |= {"ask": 0.0, "offer": 0.0, "done": 0.0, listed: max(acts[listed], ASKS)} if listed else {}
        agreed = "confirm" in cues and acts["offer"] >= PLAIN
        agreed |= acts["bye"] < LIKELY and bool(asks.match(plain))
        if marked and ((agreed and acts["ask"] < LIKELY) or cue_of_several("consent").search(plain)):
            acts["yes"] = max(acts["yes"], ASKS)
        own = () if {"at_hand", "handling"}.intersection(cues) else self._untrained(books, "slot")
        untrained = {slot: 1.0 for slot, pattern in own if pattern.search(plain)}
        acts |= {"ask": 1.0} if untrained else {}
        topics = self._topics_of(plain, books, acts, seen)
        slots, tools = topics["slot"] | untrained, topics["tool"]
        evident = max(slots.values(), default=0.0) >= EVIDENT
        if evident and cue_of_several("another").search(plain):  # "a photo of it, and one of the label"
            slots |= {s: EVIDENT for s in ("photo", "label") if f"slot:{s}" in _named(books, plain, "slot")}
        if slots.get("postcode", 0.0) >= EVIDENT and not cue_of_several("is_right").search(plain):
            slots.pop("address_checked", None)
        # "Does it still have its seal or tag?"
        if "label" in slots and "photo" not in slots and cue_of_several("sealed").search(plain):
            slots["condition"] = max(slots.pop("label"), slots.get("condition", 0.0))
        numbered = marked and "0" in tokens(plain)
        placed = numbered and slots.get("address_checked", 0.0) >= EVIDENT
        if evident and (acts["ask"] >= SURE or placed) and (marked or {"request", "hint"}.intersection(cues)):
            acts["ask"] = max(acts["ask"], ASKS)
        if needed and acts["ask"] < PLAIN:
            names = [n.partition(":") for n in _named(books, plain[:HEAD], "slot")]
            needs = dict.fromkeys([slot for kind, _, slot in names if kind == "slot"][:1], 1.0)
            slots |= needs
            acts |= {"ask": PLAIN} if needs else {}
        dates = dates_asked(plain, languages) if "date" in slots else frozenset[str]()
        if dates == ANY_DATE and not (marked or needed or acts["ask"] >= PLAIN):
            del slots["date"]
        heard = ParsedSentence(
            acts,
            slots,
            tools,
            marked=marked,
            either=either,
            instead=bool(cue_of_several("instead").search(plain)),
            one_of=bool(cue_of_several("one_of").search(plain)),
            chooses=marked and bool(cue_of_several("choose").search(plain)),
            leaves=marked and bool(cue_of_several("leave").search(plain)),
            points=bool(cue_of_several("pick").search(plain)),
            invites=marked and "invites" in cues,
            item=item,
            plainly=marked or not ("offers_help" in cues or acts["no"] >= LIKELY),
            dates=dates,
            checks=marked and "works" in cues,
            closes=marked and "closes" in cues,
            reported=topics["reported"] or tools,
        )
        if "this_one" in cues and not tools:
            return replace(heard, acts=acts | {"yes": 0.0})
        return heard if permits or not (marked or "requests" in cues) else checked(heard, plain, books)

    def _acts_of(self, plain: str, seen: Any) -> dict[str, float]:
        """Return the probability of each act of a sentence."""
        chances, cuts = self.reader.probabilities(seen), self.reader.cuts
        acts = {act: on_scale(act, chances[act], cuts.get(act, ())) for act in ACTS}
        acts["report"] = chances["done"]
        return acts | ({"ask": 0.0, "done": 0.0, "report": 0.0} if is_row(plain) else {})

    def _topics_of(
        self, plain: str, books: list[PhraseBook], acts: dict[str, float], seen: Any
    ) -> dict[str, dict[str, float]]:
        """Return a sentence's slots, tools and reports; for a plain yes, named slots only."""
        topics_of: dict[str, dict[str, float]] = {}
        for kind, reasons in ABOUT.items():
            topics_of[kind] = {}
            if max(acts[act] for act in reasons) >= POSSIBLE:
                patterns = kind.replace("reported", "tool")
                topics = _named(books, plain, patterns)
                chances = self.reader.probabilities(self.reader.seen(of_patterns(topics), KNOWN, seen))
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
        slots = topics_of["slot"]
        for slot in [*slots] if acts["yes"] >= max(ASKS, acts["ask"]) else NAMED.intersection(slots):
            if f"slot:{slot}" not in _named(books, plain, "slot"):
                del slots[slot]
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
        patterns = filter(None, (book.topics["slot"].get(f"slot:{slot}") for book in books))
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
        """Return the store's reasons in an agent's messages, see `linear.reasons_in`."""
        return list(dict.fromkeys([*reasons_in(texts, self.reasons, heard), *self._worded.named_in(texts, heard)]))


@remembered()
def parser_of(store: Any) -> MessageParser:
    """Return the store's parser, loaded once."""
    return MessageParser(store)


def checked(heard: ParsedSentence, plain: str, books: list[PhraseBook]) -> ParsedSentence:
    """Return a question, marked if it asks what is right or wanted."""
    named = [name for kind in ("slot", "tool") for name in _named(books, plain, kind)]
    tools = {name.partition(":")[2] for name in named if name.startswith("tool:")}
    if len(tools) == 1 and cue_of_several("your_wish").search(plain):
        acts = {"ask": 0.0, "offer": max(heard.acts["offer"], SURE), "yes": max(heard.acts["yes"], ASKS)}
        return replace(heard, acts=heard.acts | acts, slots={}, tools=dict.fromkeys(tools, 1.0))
    if not cue_of_several("is_right").search(plain) or cue_of_several("which").search(plain):
        return heard
    if any(name.endswith(":address") for name in named) and not heard.tools:
        return asks_about_an_address(heard)
    known = set[str]() if heard.either else IDENTIFYING
    unnamed = PLAIN + bool(cue_of_several("together").search(plain))  # "Is all of this right?"
    least = {slot: SURE if heard.either or f"slot:{slot}" in named else unnamed for slot in heard.slots}
    if tools or any(chance >= least[slot] for slot, chance in heard.slots.items() if slot not in known):
        return heard
    return replace(heard, acts=heard.acts | {"ask": 0.0}, slots={}, checks_facts=True)


def _named(books: list[PhraseBook], plain: str, kind: str) -> list[str]:
    return [name for book in books for name in book.topics_in(plain, kind)]
