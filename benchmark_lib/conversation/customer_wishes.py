"""What a scripted customer wants: open wishes, facts not yet told, requests raised later."""

import re
from functools import lru_cache

from ..cases import Call, Fact, Outcome
from ..language.heard import LIKELY, SURE
from ..language.parser import MessageParser
from ..language.patterns import alternatives_in, cue_of_several, holds
from ..language.sentences import plain, sentences
from ..records import Act
from ..store.desk import CLOSE, HANDOVER
from ..store.rules import agrees
from .customer import Customer

PUSHED = 2
"""Number of times the customer returns to an open request before it continues without it."""
ASKED_AGAIN = 2
"""Number of times the customer asks for a fact that an answer omitted."""
MENU = 3
"""Number of alternative acts that make a menu, from which a customer does not choose."""
UNMISTAKABLE = 0.65
"""Minimum probability at which an act that was neither offered nor done counts as reported."""


def written(parts: list[str], last: bool = True) -> str:
    """Join parts, closing each with a mark or kisses; leave the last as it is unless `last`.

    A part that begins with two line breaks begins a paragraph.
    """
    filled_parts = [p.rstrip() for p in parts if p.strip()]
    closed = [f"{p}." if p[-1].isalnum() and not re.search(r"[.!?] x+$", p) else p for p in filled_parts]
    return " ".join(closed if last else [*closed[:-1], *filled_parts[-1:]]).replace(" \n", "\n").strip()


def open_wishes(c: Customer) -> list[Call]:
    """Return the wanted calls that are not made, nor brought up by this very message."""
    wishes = [call for o in c.case.outcomes for call in o.calls if call.tool != HANDOVER]
    if not (c.resolvable and c.accepting and c.pushes) and not (c.case.terms.changes_its_mind and c.followed_up):
        wishes += c.case.requested
    wishes += [Call(tool=t) for t in c.case.accepts if t not in {w.tool for w in wishes}]
    given_up = [(call.tool, call.arguments) for call in c.dropped]
    remaining: list[Call] = []
    for wish in (w for w in wishes if Act("followed_up", str(w.after)) not in c.acts):
        if wish not in remaining and (wish.tool, wish.arguments) not in given_up and not made(c, wish):
            remaining.append(wish)
    return remaining


def made(c: Customer, wish: Call, *, exactly: bool = False) -> bool:
    """Return whether a successful write call fulfils a wish.

    Its object, and what distinguishes it from other wishes, must agree; with `exactly`, all arguments must.
    """
    subject = c.kind.look_up[1]
    own = wish.arguments.get(subject)
    together = [call for o in c.case.outcomes if wish in o.calls for call in o.calls if call.tool == wish.tool]
    telling = {k: v for k, v in wish.arguments.items() if any(call.arguments.get(k) != v for call in together)}
    for call in c.made:
        did = call.arguments
        if wish.tool != call.name or not isinstance(did, dict):
            continue
        if own is not None and str(did.get(subject, "")).casefold() != str(own).casefold():
            continue
        same = all(
            agrees({k: v}, did) or (k in did and agrees({k: did[k]}, wish.arguments)) for k, v in telling.items()
        )
        if same and (not exactly or agrees(wish.arguments, call.named)):
            return True
    return False


def served(c: Customer) -> bool:
    """Return whether the wish is fulfilled, by successful calls or by the agent's claims.

    Ignore follow-ups that are still to come.
    """
    if any(_done(c, o) for o in c.case.outcomes if not o.handover and (o.calls or c.resolvable)):
        return True
    if c.resolvable or c.case.check:
        return False
    return bool(c.claimed & (c.case.agreeable - {HANDOVER, *c.kind.aside}))


def _done(c: Customer, outcome: Outcome) -> bool:
    later, tools = _later(c), [call.tool for call in outcome.calls]
    used = c.claimed | {call.name for call in c.made}
    return all(
        call.after in later or call in c.dropped or (made(c, call) if tools.count(call.tool) > 1 else call.tool in used)
        for call in outcome.calls
    )


def all_made(c: Customer) -> bool:
    """Return whether every call wanted so far has been made, and the outcome has any call."""
    later = _later(c)
    wanted = ([x for x in o.calls if x not in c.dropped] for o in c.case.outcomes if not o.handover)
    due = ([x for x in calls if x.after not in later or made(c, x)] for calls in wanted)
    return any(calls and all(made(c, x) for x in calls) for calls in due)


def _later(c: Customer) -> set[int | None]:
    return {i for i, f in enumerate(c.case.followups) if f.when == "served" and i not in c.followed_up}


def untold(c: Customer, *, whatever_was_done: bool = False) -> list[tuple[str, Fact]]:
    """Return the missing facts of the fulfilled outcome that lacks the fewest, if any."""
    later, missing = _later(c), list[list[tuple[str, Fact]]]()
    for outcome in c.case.outcomes:
        if whatever_was_done or (c.resolvable and not outcome.handover and _done(c, outcome)):
            due = [(n, c.case.facts[n]) for n in (c.case.facts if outcome.facts is None else outcome.facts)]
            due = [(n, f) for n, f in due if f.after not in later]
            missing.append([(n, f) for n, f in due if n not in c.stated])
    return min(missing, key=len, default=[])


def ask_for(c: Customer, missing: list[tuple[str, Fact]]) -> bool:
    """Ask for the first omitted fact, up to `ASKED_AGAIN` times; return whether it did.

    If every fact is missing, repeat the wish first.
    """
    if len(missing) == len(c.case.facts) > 1 and c.known("goal") and not c.used["ask:goal"]:
        c.used["ask:goal"] += 1
        return c.add(c.known("goal"), Act("waited", "goal"))
    for name, fact in missing:
        if fact.ask and c.used[f"ask:{name}"] < ASKED_AGAIN:
            c.used[f"ask:{name}"] += 1
            return c.add(fact.ask, Act("waited", name))
    return False


def bring_up(c: Customer, when: str) -> bool:
    """Raise the next follow-up for this moment, one per message; return whether there was one."""
    for index, followup in enumerate(c.case.followups):
        if followup.when == when and index not in c.followed_up:
            if c.did("followed_up"):
                return False
            if _follow_up(c, index):
                return True
    return False


def bring_up_for(c: Customer, slot: str) -> bool:
    """Raise the follow-up that discloses a slot; return whether the message has one."""
    for index, followup in enumerate(c.case.followups):
        if slot in followup.gives and index not in c.followed_up and slot not in c.given:
            return c.did("followed_up") or _follow_up(c, index)
    return False


def has_more_to_say(c: Customer) -> bool:
    """Raise the next follow-up in place of a yes, if all requests so far are fulfilled."""
    return not c.acts and served(c) and not untold(c) and bring_up(c, "served")


def _follow_up(c: Customer, place: int) -> bool:
    """Raise the open part of a follow-up; return False if no part of it is open."""
    # Say yes instead if the agent has offered exactly what it asks for.
    c.followed_up.add(place)
    case = c.case
    heard, calls = c.heard, [call for o in case.outcomes for call in o.calls if call.after == place]
    named = {*heard.offered, *(c.sure if heard.confirm else ())}
    if len(c.sure) == 1 and heard.asked and c.sure[0] not in (*heard.declined, *heard.claimed):
        named |= {*c.sure}
    offered = [w for w in calls if w.tool in named and not c.kind.named_in(c.words, w.arguments, c.store)[1]]
    wished = [w for w in (*case.requested, *(w for o in case.outcomes for w in o.calls)) if w.tool != HANDOVER]
    only_wish = len({str(w.arguments) for w in wished}) == 1 and all(w.after == place for w in wished)
    no_fact = not case.terms.changes_its_mind and all(fact.after != place for fact in case.facts.values())
    words: str | None
    if offered and only_wish and no_fact and case.followups[place].when == "next":
        words = own_yes(c, offered[0].tool)
    else:
        yes = c.plain_yes(offered[0].tool) if offered else ""
        words = _still_to_say(c, place, calls, yes, bool(offered) and only_wish)
    if words is None:
        return False
    c.add(words, Act("followed_up", str(place)))
    c.used.update(f"ask:{name}" for name, f in case.facts.items() if f.after == place and f.ask and f.ask in words)
    for call in calls:
        # Agree to what the agent has offered or spelled out and has not declined since.
        plan = plan_of(c, {call.tool}, c.texts, LIKELY)
        stands = plan and not c.kind.named_in(plan, call.arguments, c.store)[1]
        if stands and not made(c, call, exactly=True):
            c.acts.append(Act("agreed", call.tool, arguments=dict(call.arguments)))
    for slot, value in case.followups[place].gives.items():
        c.acts.append(Act("gave", slot, value))
        c.given[slot] += 1
        known = case.ledger.get(slot)
        c.attachments += [known.attach] if known and known.attach else []
    return True


def plan_of(c: Customer, tools: set[str], texts: list[str], least: float = SURE) -> str:
    """Return the agent's latest message that may be about a tool, unless the tool was declined."""
    for words in reversed(texts):
        parsed = c.parser.parse(words)
        menu = len(parsed.offered) != 1 and is_menu(words, c.parser, c.case.several)
        if menu or tools.intersection(parsed.declined):
            return ""
        if any(parsed.tools.get(tool, 0.0) >= least and tool not in parsed.claimed for tool in tools):
            return words
    return ""


def own_yes(c: Customer, tool: str) -> str:
    """Return a yes in the case's own words while any are left, without a condition already met."""
    free = cue_of_several("costs_nothing").search(plain(c.words))
    own = [yes for yes in c.case.agrees if not (free and cue_of_several("on_condition").search(plain(yes)))]
    if tool in c.case.agreeable and c.used["agree"] < len(own):
        return c.phrase("agree", own)
    return c.plain_yes(tool)


def own_wish(c: Customer) -> str:
    """Return a no, with the wish unless the message has it already."""
    said = any(c.known("goal") in part for part in c.parts)
    return f"{c.moment('no_thanks')} {'' if said else c.known('goal')}".strip()


def _still_to_say(c: Customer, place: int, calls: list[Call], yes: str, yes_is_enough: bool) -> str | None:
    """Return the open part of a follow-up: all, or only its open questions; None if closed.

    If the agent has answered a part, ask for each open fact in the fact's own words. Put them after the follow-up's
    statements, or after a `yes` if its call was offered (with `yes_is_enough` even if no fact was disclosed). Return
    all of it for a change of mind, and if a fact has no words of its own or only some calls have been made.
    """
    case = c.case
    whole = case.followups[place].say
    facts = [f for f in case.facts.values() if f.after == place]
    untold_ones = [f for f in facts if not f.told(c.texts, rivals_only=case.terms.full_answers)]
    asks = [f.ask for f in untold_ones if f.ask]
    have = [made(c, call, exactly=True) for call in calls]
    done = any(have) and all(have)
    changed_mind = case.followups[place].when == "next" and (case.terms.changes_its_mind or not facts)
    news = len(untold_ones) == len(facts) and not done and not (yes_is_enough and facts)
    if changed_mind or (untold_ones and not all(f.ask for f in facts)) or news or (any(have) and not done):
        return whole
    if done or not calls:
        return " ".join(asks) or None
    stated = [yes] if yes else [s.text for s in sentences(whole) if not s.text.endswith("?")]
    return " ".join([*stated, *asks]) if stated else whole


def is_not_content(c: Customer) -> bool:
    """Return whether the customer objects to the outcome although its answers are complete."""
    asked_later = any(c.case.followups[place].when == "served" for place in c.followed_up)
    return (asked_later and all(o.handover for o in c.case.outcomes)) or not (c.accepting or all_made(c))


@lru_cache(maxsize=1024)
def is_menu(words: str, parser: MessageParser, several: bool) -> bool:
    """Return whether a message asks for a yes to three or more alternative acts.

    A list does not count for a customer with several wishes, nor if the desk then names its choice.
    """
    message = parser.statements(words)
    listed, last, menu, one, least = set[str](), set[str](), False, False, MENU
    languages = tuple(parser.languages(message))
    for sentence, parsed, named in zip(message, parser.hear(message), parser.tools_named(message), strict=True):
        tools = ({tool for tool, chance in parsed.tools.items() if chance >= LIKELY} | named) - {HANDOVER}
        if parsed.acts["no"] >= max(SURE, parsed.acts["offer"]):
            continue
        listed |= {t for t in tools if parsed.tools.get(t, SURE) >= SURE} if sentence.item else set()
        either = len(tools) >= MENU or (len(tools) == MENU - 1 and alternatives_in(sentence.plain) >= MENU)
        either &= max(parsed.acts[a] for a in ("offer", "yes", "ask")) >= LIKELY
        least -= holds("lists", "menus", sentence.plain, languages) and least == MENU
        menu |= (parsed.either and either) or (len(listed) >= least and not several)
        surely = {tool for tool in named if parsed.tools.get(tool, 0.0) >= SURE} or named
        last = set() if sentence.item else (surely if parsed.asks_for_a_yes else tools) or last
        one |= parsed.asks_for_a_yes and len(last) == 1 and not parsed.either  # "Shall I send one?"
    return menu and not one


def objection_of(c: Customer) -> str:
    """Return the objection to an unrequested act: to its report, or to the failure to undo it."""
    # A report counts if the act was offered before, was done in this turn, or is unmistakable.
    heard, done = c.heard, {call.name for call in c.calls}
    plainly = {tool for tool, chance in heard.reports.items() if tool in done or chance >= UNMISTAKABLE}
    reported = plainly | c.offered.intersection(heard.claimed)
    c.offered |= {*heard.offered}
    wanted = c.case.agreeable | {HANDOVER, CLOSE, *c.kind.aside}
    if reported - c.unasked and not (heard.declined or wanted.intersection([*heard.claimed, *done])):
        c.unasked |= reported
        return "unasked"
    about = c.unasked.intersection([*c.sure, *heard.claimed, *heard.declined])
    if c.unasked and (about or c.hears("takes_back", c.words)):
        c.used["undone"] += 1
    waits = c.unasked and "undone" not in c.used and c.used["undo_first"] < PUSHED
    return "undo_first" if waits else ""
