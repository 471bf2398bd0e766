"""What a message offers to a scripted customer."""

import re
from functools import lru_cache
from typing import Any, NamedTuple

from ..cases import Call
from ..language.heard import ASKS, PLAIN, POSSIBLE, SURE
from ..language.parser import MessageParser
from ..language.patterns import between_clauses, cue_of_several
from ..language.sentences import plain
from ..store import Store
from .customer import Customer

CLAUSES = 300
"""Most clauses that are read beside an offer; people write up to 130."""
Wrong = list[tuple[Call, set[str]]]
"""Wishes for which a message offers something else, each with the arguments that differ."""


class Passage(NamedTuple):
    """A sentence, or an item of a list with its lead-in."""

    text: str
    tools: dict[str, float]
    item: bool
    asks: bool


def offered_of(c: Customer, wishes: list[Call]) -> tuple[list[Call], Wrong, list[Call]]:
    """Return the wishes that a message offers, those it gets wrong, and others it may mean.

    It may mean what its rest names. If that is nothing, it may mean all ("Shall I?"), or all of an act that it names.
    A wish outside every outcome counts only if no other fits. A sentence may name any of the customer's orders; only
    a stranger's is wrong.
    """
    found, wrong, kind, store = list[Call](), Wrong(), c.kind, c.store
    due = [w for w in wishes if c.accepted(w)]
    passages, beside = passages_of(c.words, c.parser)
    orders = store.tables[kind.subject].keys() - {c.case.order, *c.case.others.values()}
    unread = [*beside]
    for passage in passages:
        text = passage.text
        tools = as_wished(passage.tools, wishes, text, store)
        before = (len(found), len(wrong))
        sure = dict.fromkeys(w.tool for w in wishes if tools.get(w.tool, 0.0) >= SURE)
        for tool in sorted(sure, key=tools.__getitem__, reverse=True):
            read = [(w, *kind.named_in(text, w.arguments, store)) for w in wishes if w.tool == tool]
            if not orders.intersection(re.findall(r"[\w-]+", text.upper())):
                read = [(w, named, differing - {c.subject}) for w, named, differing in read]
            known = {each for w in found for each in (w.tool, *kind.alike.get(w.tool, ()))}
            if tool in known and not any(named | differing for _, named, differing in read):
                continue  # no other object ("Shall I send them?")
            _take([r for r in read if r[0] in due], [r for r in read if r[0] not in due], found, wrong)
        if before == (len(found), len(wrong)):
            unread.append(passage._replace(tools=tools))
    found += [w for w, _ in wrong if w in due and wholly_named(c, w)]
    wrong = [(w, other) for w, other in wrong if w not in found and w.after in (None, *c.followed_up)]
    left = [w for w in due if w not in found]
    return found, wrong, _meant_beside(c, left, found + [w for w, _ in wrong], unread)


def wholly_named(c: Customer, wish: Call) -> list[str]:
    """Return questions and list points that name no act, but every detail of a wish."""
    every = len(wish.arguments) > 1 and ({*wish.arguments}, set[str]())
    passages = [p for part in passages_of(c.words, c.parser) for p in part if not p.tools]
    texts = [p.text for p in passages if p.asks or (p.item and (c.case.several or not c.heard.offered))]
    return [text for text in texts if c.kind.named_in(text, wish.arguments, c.store) == every]


def _meant_beside(c: Customer, left: list[Call], taken: list[Call], unread: list[Passage]) -> list[Call]:
    """Return the wishes that passages may mean, but not name in full."""
    one, named, rest = len(taken) == 1, [set[str]() for _ in left], CLAUSES
    vague = one and bool(cue_of_several("together").search(plain(c.words)))
    for text, tools, item, _ in unread:
        parts = [*dict.fromkeys((text, *between_clauses().split(text)))][:rest]
        rest -= len(parts)
        nothing = bool(parts) and item and not tools
        for wish, names in zip(left, named):
            read = [c.kind.named_in(part, wish.arguments, c.store) for part in parts]
            nothing = nothing and not any(map(any, read))
            # Beside one offer, an order's number may only tell its status.
            status = {c.subject} if one and wish.tool not in tools else set[str]()
            own = [said for said, differing in read if not differing]
            names |= set[str]().union(*own) - status
        vague |= nothing  # a point of a list that may be any wish
    if vague:
        return left
    if taken or any(named):
        # An argument tells a wish from those taken.
        known = [item for call in taken for item in call.arguments.items()]
        return [w for w, names in zip(left, named) if any((n, w.arguments[n]) not in known for n in names)]
    acts = {tool for _, tools, *_ in unread for tool, chance in tools.items() if chance >= SURE}
    offered = any(c.parser.parse(text).offer for text in c.texts)
    return [w for w in left if offered and (not acts or w.tool in acts)]


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


@lru_cache(maxsize=1024)
def passages_of(words: str, parser: MessageParser) -> tuple[list[Passage], list[Passage]]:
    """Return the sentences that offer, and the others but for questions and refusals."""
    # A list item follows its lead-in.
    offering, others = list[Passage](), list[Passage]()
    heading, message = "", parser.statements(words)
    for sentence, parsed in zip(message, parser.hear(message), strict=True):
        if not sentence.item:
            heading = sentence.text
        tools = {tool: chance for tool, chance in parsed.tools.items() if chance >= POSSIBLE}
        passage = Passage(sentence.text, tools, sentence.item, parsed.acts["yes"] >= ASKS)
        if parsed.acts["offer"] >= SURE or (passage.asks and max(tools.values(), default=0.0) >= PLAIN):
            lead = f"{heading} " if sentence.item else ""
            offering.append(passage._replace(text=lead + sentence.text))
        if max(parsed.acts["ask"], parsed.acts["no"]) < SURE:
            others.append(passage)
    return offering, others


def _take(due: list[Any], others: list[Any], found: list[Call], wrong: Wrong) -> None:
    """Add a tool's wishes that fit a passage best; if none fits, add the closest as wrong."""
    for read in (due, others):
        fitting = [(wish, named) for wish, named, differing in read if not differing]
        most = max((len(named) for _, named in fitting), default=0)
        if fitting:
            if most or len(read) == 1:
                found += [w for w, named in fitting if len(named) == most and w not in found]
            return
    wish, _, differing = max(due or others, key=lambda r: len(r[1]) - len(r[2]))
    wrong.append((wish, differing))
