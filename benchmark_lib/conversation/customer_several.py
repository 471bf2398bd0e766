"""Find the wishes that a message offers to fulfil, for a customer with several."""

import re
from dataclasses import dataclass, field

from ..cases import Call, Case
from ..language.cues import alternatives_in, cue_of_several, holds
from ..language.heard import ASKS, LIKELY, POSSIBLE, SURE
from ..language.parser import PLAIN, MessageParser
from ..language.sentences import plain, sentences
from ..store import Store
from ..store.every_desk import HANDOVER

MENU = 3
"""Number of acts offered as alternatives in one message from which a customer does not choose."""
OPENING = " *_¿,"
"""Characters that may precede the first word of a question."""


@dataclass
class Offered:
    """Offers of one message for several wishes."""

    named: list[Call] = field(default_factory=list)
    """The wishes that it names."""
    wrong: list[tuple[Call, set[str]]] = field(default_factory=list)
    """The wishes for which it offers something else, each with the arguments that differ."""
    alone: bool = False
    """True if it offers one act in one sentence, and no other wish could be meant."""


def offered_of(wishes: list[Call], case: Case, words: str, parser: MessageParser, store: Store) -> Offered:
    """Return the offers of a message for several wishes, parsed sentence by sentence.

    A wish outside every outcome counts only if no other wish fits. A sentence may name any order of the customer; only
    a stranger's order differs.
    """
    offered, number = Offered(), store.kind.look_up[1]
    due = [w for w in wishes if any(w in o.calls for o in case.outcomes)]
    passages, beside = _passages(words, parser)
    again = 0
    for text, offers in passages:
        tools = as_wished(offers, wishes, text, store)
        for tool in {w.tool for w in wishes if tools.get(w.tool, 0.0) >= SURE}:
            read = [(w, *store.kind.named_in(text, w.arguments, store)) for w in wishes if w.tool == tool]
            if not _names_a_strangers(text, case, store):
                read = [(w, named, differing - {number}) for w, named, differing in read]
            before = {each for w in offered.named for each in (w.tool, *store.kind.alike.get(w.tool, ()))}
            if tool in before and not any(named | differing for _, named, differing in read):
                again += 1  # no other object is named ("Shall I send them?")
                continue
            _take([r for r in read if r[0] in due], [r for r in read if r[0] not in due], offered)
    offered.wrong = [(w, differing) for w, differing in offered.wrong if w not in offered.named]
    others = [w for w in due if w not in offered.named]
    one = len(passages) - again == len(offered.named) + len(offered.wrong) == 1
    one = one and len({frozenset(store.kind.alike.get(t, {t})) for t in passages[0][1]}) == 1
    several = cue_of_several("together").search(plain(words)) or sum(s.item for s in sentences(words)) > 1
    offered.alone = one and not several and not any(_hinted(w, beside, offered.named, store) for w in others)
    return offered


def as_wished(tools: dict[str, float], wishes: list[Call], words: str, store: Store) -> dict[str, float]:
    """Return the tools that a text offers; a fitting wish replaces an ambiguous tool.

    A wish fits if the text names its object.
    """
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
    orders, own = store.tables[store.kind.subject], {case.order, *case.others.values()}
    return any(number in orders and number not in own for number in re.findall(r"[\w-]+", words.upper()))


def names_some(wishes: list[Call], words: str, store: Store) -> bool:
    """Return whether a message names the object of a wish, or lists several points."""
    listed = sum(sentence.item for sentence in sentences(words)) > 1
    return listed or any(store.kind.named_in(words, w.arguments, store)[0] for w in wishes)


def all_wanted(wishes: list[Call], case: Case, found: Offered, raised: set[int]) -> list[Call]:
    """Return the wishes that a yes to everything covers: the closest outcome's and named ones.

    Exclude the calls of follow-ups that have not been raised, unless the message names them.
    """
    nearest = max(case.outcomes, key=lambda o: (sum(c in found.named for c in o.calls), len(o.calls)))
    wanted = [w for w in wishes if w in nearest.calls and (w.after is None or w.after in raised)]
    return [w for w in wishes if w in wanted or w in found.named]


def is_menu(words: str, parser: MessageParser, several: bool) -> bool:
    """Return whether a message asks for a yes to three acts or more, as alternatives.

    A list of acts does not count for a customer with several wishes, nor if the desk then names its own choice.
    """
    message = sentences(words)
    listed: set[str] = set()
    menu, least, languages = False, MENU, tuple(parser.languages(message))
    for sentence, parsed, named in zip(message, parser.hear(message), parser.tools_named(message), strict=True):
        tools = ({tool for tool, chance in parsed.tools.items() if chance >= LIKELY} | named) - {HANDOVER}
        if parsed.acts["no"] >= max(SURE, parsed.acts["offer"]):
            continue
        listed |= tools if sentence.item else set()
        either = len(tools) >= MENU or (len(tools) == MENU - 1 and alternatives_in(sentence.plain) >= MENU)
        least -= holds("lists", "menus", sentence.plain, languages) and least == MENU
        menu |= (parsed.either and either) or (len(listed) >= least and not several)
        if parsed.asks_for_a_yes and len(named) == 1 and not parsed.either:
            menu = False  # "Of the three, I would send a new one. Shall I send it?"
    return menu


def announces(words: str) -> bool:
    """Return whether the agent will continue with an unnamed act ("I'll do the next one now")."""
    return bool(cue_of_several("announce").search(plain(words)))


def asks_for_a_yes(words: str) -> bool:
    """Return whether a sentence asks to go ahead, even with a list ("May I go ahead with: ...")."""
    if not any(mark in words for mark in "?:"):
        return False
    return any(cue_of_several("asks").match(f" {s.plain.lstrip(OPENING)}") for s in sentences(words))


def asks_for_one_yes_of_several(words: str) -> bool:
    """Return whether a bare yes is ambiguous, since each answer begins with it ("yes, A")."""
    return bool(cue_of_several("yes_each").search(plain(words)))


def passages_of(words: str, parser: MessageParser) -> list[tuple[str, dict[str, float]]]:
    """Return the sentences of a message that offer something, each with its tools."""
    return _passages(words, parser)[0]


def _passages(words: str, parser: MessageParser) -> tuple[list[tuple[str, dict[str, float]]], str]:
    """Return the sentences that offer something, with their tools, and the other sentences."""
    # A list item follows the sentence above the list. The other sentences exclude questions, reports and refusals.
    offering: list[tuple[str, dict[str, float]]] = []
    others: list[str] = []
    heading, message = "", sentences(words)
    for sentence, parsed in zip(message, parser.hear(message), strict=True):
        if not sentence.item:
            heading = sentence.text
        if max(parsed.acts["ask"], parsed.acts["no"]) < LIKELY and parsed.acts["done"] < POSSIBLE:
            others.append(sentence.text)
        tools = {tool: chance for tool, chance in parsed.tools.items() if chance >= POSSIBLE}
        asks = parsed.acts["yes"] >= ASKS and max(tools.values(), default=0.0) >= PLAIN
        if parsed.acts["offer"] >= SURE or asks:
            offering.append((f"{heading} {sentence.text}" if sentence.item else sentence.text, tools))
    return offering, "\n".join(others)


Reading = tuple[Call, set[str], set[str]]
"""A wish, the arguments that a passage names, and the arguments for which it names other values."""


def _take(due: list[Reading], others: list[Reading], found: Offered) -> None:
    """Add the wishes for a tool that a passage names best; if none fits, the closest as wrong."""
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
    """Return whether a message names an argument that distinguishes a wish from named ones."""
    read = {name for s in sentences(words) for name in store.kind.named_in(s.text, wish.arguments, store)[0]}
    return any(all(wish.arguments[name] != n.arguments.get(name) for n in named) for name in read)
