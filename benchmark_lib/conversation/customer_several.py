"""Find the wishes that a message offers to fulfil, for a customer with several."""

import re
from typing import TYPE_CHECKING

from ..cases import Call
from ..language.heard import ASKS, LIKELY, POSSIBLE, SURE
from ..language.parser import PLAIN, MessageParser
from ..language.patterns import alternatives_in, cue_of_several, holds
from ..language.sentences import plain, sentences
from ..store import Store
from ..store.every_desk import HANDOVER

if TYPE_CHECKING:
    from .customer import ScriptedCustomer as Customer

MENU = 3
"""Number of acts offered as alternatives in one message from which a customer does not choose."""
OPENING = " *_¿,"
"""Characters that may precede the first word of a question."""

Reading = tuple[Call, set[str], set[str]]
"""A wish, the arguments that a passage names, and the arguments for which it names other values."""


Wrong = list[tuple[Call, set[str]]]
"""Wishes for which a message offers something else, each with the arguments that differ."""


def offered_of(c: "Customer", wishes: list[Call]) -> tuple[list[Call], Wrong, bool]:
    """Return the wishes that a message names, those it gets wrong, and if it offers one alone.

    It is parsed sentence by sentence. A wish is alone if it is in one sentence, and no other wish could be meant. A
    wish outside every outcome counts only if no other wish fits. A sentence may name any order of the customer; only a
    stranger's order differs.
    """
    found, wrong = list[Call](), Wrong()
    words, kind, store = c.words, c.kind, c.store
    due = [w for w in wishes if c.accepted(w)]
    passages, beside = passages_of(words, c.parser)
    orders, again = store.tables[kind.subject].keys() - {c.case.order, *c.case.others.values()}, 0
    for text, offers in passages:
        tools = as_wished(offers, wishes, text, store)
        for tool in {w.tool for w in wishes if tools.get(w.tool, 0.0) >= SURE}:
            read = [(w, *kind.named_in(text, w.arguments, store)) for w in wishes if w.tool == tool]
            if not orders.intersection(re.findall(r"[\w-]+", text.upper())):
                read = [(w, named, differing - {c.subject}) for w, named, differing in read]
            before = {each for w in found for each in (w.tool, *kind.alike.get(w.tool, ()))}
            if tool in before and not any(named | differing for _, named, differing in read):
                again += 1  # no other object is named ("Shall I send them?")
                continue
            _take([r for r in read if r[0] in due], [r for r in read if r[0] not in due], found, wrong)
    wrong = [(w, differing) for w, differing in wrong if w not in found]
    one = len(passages) - again == len(found) + len(wrong) == 1
    one = one and len({frozenset(kind.alike.get(t, {t})) for t in passages[0][1]}) == 1
    several = cue_of_several("together").search(plain(words)) or is_list(words)
    hinted = any(_hinted(w, beside, found, store) for w in due if w not in found)
    return found, wrong, one and not several and not hinted


def as_wished(tools: dict[str, float], wishes: list[Call], words: str, store: Store) -> dict[str, float]:
    """Return the tools that a text offers; a fitting wish replaces an ambiguous tool.

    A wish fits if the text names its object.
    """
    subject, read = store.kind.look_up[1], dict(tools)
    for tool in [t for t, chance in tools.items() if chance >= SURE]:
        meant = dict[str, None]()
        for wish in wishes:
            if wish.tool in {tool, *store.kind.alike.get(tool, ())}:
                named, differing = store.kind.named_in(words, wish.arguments, store)
                meant |= {wish.tool: None} if named - {subject} and not differing else {}
        if meant and tool not in meant:
            read |= {tool: 0.0} | {t: max(tools[tool], tools.get(t, 0.0)) for t in meant}
    return read


def is_list(words: str) -> bool:
    """Return whether a message lists several points."""
    return sum(s.item for s in sentences(words)) > 1


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


def asks_for_a_yes(words: str) -> bool:
    """Return whether a sentence asks to go ahead, even with a list ("May I go ahead with: ...")."""
    asks = any(cue_of_several("asks").match(f" {s.plain.lstrip(OPENING)}") for s in sentences(words))
    return asks and any(mark in words for mark in "?:")


def asks_for_one_yes_of_several(words: str) -> bool:
    """Return whether a bare yes is ambiguous, since each answer begins with it ("yes, A")."""
    return bool(cue_of_several("yes_each").search(plain(words)))


def passages_of(words: str, parser: MessageParser) -> tuple[list[tuple[str, dict[str, float]]], str]:
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


def _take(due: list[Reading], others: list[Reading], found: list[Call], wrong: Wrong) -> None:
    """Add the wishes for a tool that a passage names best; if none fits, the closest as wrong."""
    for read in (due, others):
        fitting = [(wish, named) for wish, named, differing in read if not differing]
        most = max((len(named) for _, named in fitting), default=0)
        if fitting:
            if most or len(read) == 1:
                found += [w for w, named in fitting if len(named) == most and w not in found]
            return
    wish, _, differing = max(due or others, key=lambda r: len(r[1]) - len(r[2]))
    wrong.append((wish, differing))


def _hinted(wish: Call, words: str, named: list[Call], store: Store) -> bool:
    """Return whether a message names an argument that distinguishes a wish from named ones."""
    read = {name for s in sentences(words) for name in store.kind.named_in(s.text, wish.arguments, store)[0]}
    return any(all(wish.arguments[name] != n.arguments.get(name) for n in named) for name in read)
