"""Which of a customer's several wishes a message of the desk offers to do."""

import re
from dataclasses import dataclass, field

from ..cases import Call, Case
from ..language.cues import cue_of_several
from ..language.folding import plain
from ..language.heard import ASKS, LIKELY, POSSIBLE, SURE
from ..language.parser import PLAIN, MessageParser
from ..language.sentences import sentences
from ..store import Store

OPENING = " *_¿,"
"""What may stand before the first word of a question."""


@dataclass
class Offered:
    """What a message offers of several wishes."""

    named: list[Call] = field(default_factory=list)
    """The wishes that it names."""
    wrong: list[tuple[Call, set[str]]] = field(default_factory=list)
    """The wishes of which it offers something else, each with the arguments that differ."""
    alone: bool = False
    """It offers one thing in one sentence, and no other wish could be meant."""


def offered_of(wishes: list[Call], case: Case, words: str, parser: MessageParser, store: Store) -> Offered:
    """What a message offers of several wishes, read sentence by sentence.

    What is only asked for, and is in no outcome, counts where nothing else of the customer's fits. Of several orders of
    its own a sentence may name any; only one that is none of them differs.
    """
    found, number = Offered(), store.kind.look_up[1]
    due = [w for w in wishes if any(w in o.calls for o in case.outcomes)]
    passages, beside = _passages(words, parser)
    again = 0
    for text, offers in passages:
        tools = as_wished(offers, wishes, text, store)
        for tool in {w.tool for w in wishes if tools.get(w.tool, 0.0) >= SURE}:
            read = [(w, *store.kind.named_in(text, w.arguments, store)) for w in wishes if w.tool == tool]
            if not _names_a_strangers(text, case, store):
                read = [(w, named, differing - {number}) for w, named, differing in read]
            before = {each for w in found.named for each in (w.tool, *store.kind.alike.get(w.tool, ()))}
            if tool in before and not any(named | differing for _, named, differing in read):
                again += 1  # no other object is named ("Shall I send them?")
                continue
            _take([r for r in read if r[0] in due], [r for r in read if r[0] not in due], found)
    found.wrong = [(w, differing) for w, differing in found.wrong if w not in found.named]
    others = [w for w in due if w not in found.named]
    one = len(passages) - again == len(found.named) + len(found.wrong) == 1
    one = one and len({frozenset(store.kind.alike.get(t, {t})) for t in passages[0][1]}) == 1
    several = cue_of_several("together").search(plain(words)) or sum(s.item for s in sentences(words)) > 1
    found.alone = one and not several and not any(_hinted(w, beside, found.named, store) for w in others)
    return found


def as_wished(tools: dict[str, float], wishes: list[Call], words: str, store: Store) -> dict[str, float]:
    """The tools that a text offers; one that its words name as well ("I'll send you ...") is taken for the wish whose object it names."""
    subject, read = store.kind.look_up[1], dict(tools)
    for tool in [t for t, chance in tools.items() if chance >= SURE]:
        fitting: dict[str, bool] = {}
        for wish in wishes:
            if wish.tool in {tool, *store.kind.alike.get(tool, ())}:
                named, differing = store.kind.named_in(words, wish.arguments, store)
                fitting[wish.tool] = fitting.get(wish.tool, False) or bool(named - {subject} and not differing)
        meant = [t for t, fits in fitting.items() if fits]
        if meant and tool not in meant:
            read |= {tool: 0.0} | {t: max(tools[tool], tools.get(t, 0.0)) for t in meant}
    return read


def _names_a_strangers(words: str, case: Case, store: Store) -> bool:
    """Whether a passage names an order that is none of the customer's."""
    orders, own = store.tables[store.kind.subject], {case.order, *case.others.values()}
    return any(number in orders and number not in own for number in re.findall(r"[\w-]+", words.upper()))


def names_some(wishes: list[Call], words: str, store: Store) -> bool:
    """Whether a message names what a wish is about, or lists several points."""
    listed = sum(sentence.item for sentence in sentences(words)) > 1
    return listed or any(store.kind.named_in(words, w.arguments, store)[0] for w in wishes)


def all_wanted(wishes: list[Call], case: Case, found: Offered, raised: set[int]) -> list[Call]:
    """What a yes to everything is to: all of the outcome that comes nearest to what was named, and whatever else was named.

    What a follow-up that has not come up would ask for is not wanted yet.
    """
    nearest = max(case.outcomes, key=lambda o: (sum(c in found.named for c in o.calls), len(o.calls)))
    wanted = [w for w in wishes if w in nearest.calls and (w.after is None or w.after in raised)]
    return [w for w in wishes if w in wanted or w in found.named]


def announces(words: str) -> bool:
    """Whether the desk says that it goes on by itself, without naming with what ("I'll do the next one now")."""
    return bool(cue_of_several("announce").search(plain(words)))


def asks_for_a_yes(words: str) -> bool:
    """Whether a sentence asks whether to go on, however long the list is that follows it ("May I go ahead with: ...")."""
    if not any(mark in words for mark in "?:"):
        return False
    return any(cue_of_several("asks").match(f" {s.plain.lstrip(OPENING)}") for s in sentences(words))


def asks_for_one_yes_of_several(words: str) -> bool:
    """Whether each of the answers that a message asks for begins with a yes, so that a bare one would not say which ("yes, A" or "yes, B")."""
    return bool(cue_of_several("yes_each").search(plain(words)))


def _passages(words: str, parser: MessageParser) -> tuple[list[tuple[str, dict[str, float]]], str]:
    """The sentences that offer something, a point of a list after the sentence above it, each with the tools that it offers.

    And the message without what is asked, reported or declined.
    """
    found: list[tuple[str, dict[str, float]]] = []
    beside: list[str] = []
    heading, said = "", sentences(words)
    for sentence, heard in zip(said, parser.hear(said), strict=True):
        if not sentence.item:
            heading = sentence.text
        if max(heard.acts[act] for act in ("ask", "done", "no")) < LIKELY:
            beside.append(sentence.text)
        tools = {tool: chance for tool, chance in heard.tools.items() if chance >= POSSIBLE}
        asks = heard.acts["yes"] >= ASKS and max(tools.values(), default=0.0) >= PLAIN
        if heard.acts["offer"] >= SURE or asks:
            found.append((f"{heading} {sentence.text}" if sentence.item else sentence.text, tools))
    return found, "\n".join(beside)


Reading = tuple[Call, set[str], set[str]]
"""A wish, which of its arguments a passage names, and in place of which it names another."""


def _take(due: list[Reading], others: list[Reading], found: Offered) -> None:
    """Of the wishes for one tool those that a passage names, or, where it names something else in place of each, the one it comes nearest to."""
    for read in (due, others):
        fitting = [(wish, named) for wish, named, differing in read if not differing]
        most = max((len(named) for _, named in fitting), default=0)
        if fitting:
            if most or len(read) == 1:
                found.named += [w for w, named in fitting if len(named) == most and w not in found.named]
            return
    wish, _, differing = max(due or others, key=lambda r: len(r[1]) - len(r[2]))
    found.wrong.append((wish, differing))


def _hinted(wish: Call, words: str, named: list[Call], store: Store) -> bool:
    """Whether a message names something by which a wish is known from the named ones."""
    read = store.kind.named_in(words, wish.arguments, store)[0]
    return any(all(wish.arguments[name] != n.arguments.get(name) for n in named) for name in read)
