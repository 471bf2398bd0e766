"""Questions to a scripted customer: which of its facts an agent's message asks for."""

import re
from datetime import date

from ..language.heard import EVIDENT, SURE
from ..language.patterns import cue_of_several, holds
from ..language.sentences import plain, sentences
from ..language.values import values_in
from ..language.word_lists import LANGUAGES
from ..records import Act, as_text
from .customer import Customer, filled
from .customer_consent import BARE, CERTAIN, agree, picks, wants_a_colleague
from .customer_wishes import PUSHED, open_wishes, served, untold

NUMBERED = re.compile(r"\b\d+[a-z]{0,2} [a-z]{3,}|\bbox \d+")
"""Pattern of what tells addresses apart: a number with its street, or a box."""


def asked_for(c: Customer) -> list[str]:
    """Return the slots to answer, in order."""
    heard = c.heard
    asked = _meant(c) if heard.question or not c.done else []
    between = "" if c.done or heard.confirm else c.kind.between(c.words, c.case, c.store)
    if between and not {*asked}.intersection(c.kind.choice_slots) and c.open(between):
        asked.append(between)
    if wants_a_colleague(c):
        asked = [slot for slot in asked if slot in c.proofs]
    elif not c.done and picks(c):
        asked = [slot for slot in asked if slot not in c.kind.vague_slots]
    if loses_patience(c) or (c.done and heard.checks):
        asked = []
    elif served(c) and not untold(c):
        sure = {slot for slot, chance in heard.slots.items() if chance >= CERTAIN} | {*c.proofs}
        asked = [s for s in asked if s in sure and (s not in c.kind.attachments or _asks_plainly(c, s))]
    asked = [s for s in asked if not (heard.confirm and _asks_in_case(c, s))]
    c.checked = says_whether_it_is_this(c) or says_that_it_is_right(c)
    known = c.checked and (c.subject in c.given or heard.slots.get(c.subject, 0.0) < CERTAIN)
    return [slot for slot in asked if not known or slot != c.subject]


def loses_patience(c: Customer) -> bool:
    """Return whether the agent asks if that is all after the customer has pushed in vain."""
    return c.heard.closes and not c.done and c.pushes >= PUSHED


def _meant(c: Customer) -> list[str]:
    """Return the requested slots that the customer can answer.

    Replace a slot that is not in the ledger with the first slot it may stand for ("which one" for a colour). If none is
    certain, take the likeliest open one. Repeat no facts of the email beside news, nor its date unless plainly asked.
    State no wish if content. Beside a picture, skip what nobody has ("could somebody lend you one?") or the desk names.
    """
    heard, kind, meant = c.heard, c.kind, list[str]()
    stands_for = {slot: tuple(book.get("stands_for", ())) for slot, book in c.phrases["slots"].items()}
    content = bool(c.calls) or c.done
    vague = kind.vague_slots if content or heard.confirm else ()
    likely = {slot: chance for slot, chance in heard.slots.items() if c.open(slot)}
    for slot in (s for s in heard.asked if s not in vague):
        own = next((s for s in (slot, *stands_for.get(slot, ())) if c.open(s)), slot)
        known = own in c.case.ledger or own in c.proofs or own in kind.slots_not_had
        told_twice = c.given[own] > 1 and c.case.terms.may_stay_unproved
        surely = not told_twice and heard.slots.get(slot, 0.0) >= CERTAIN and slot not in heard.in_passing
        surely &= own not in kind.attachments or own not in c.given or _asks_plainly(c, slot)
        if c.open(own) or (known and f"lack:{own}" not in c.used and surely):
            meant.append(own)
    meant = [s for s in meant if not {*stands_for.get(s, ())} & {*heard.asked} & {*meant}]
    if {*kind.attachments} & {*heard.asked}:
        others = {*kind.slots_not_had} - {*c.proofs}
        meant = [s for s in meant if s not in others or (c.open(s) and c.known(s) not in c.words)]
    if heard.confirm:
        meant = [s for s in meant if c.open(s) or s not in kind.checked_slots]
    if not meant and heard.question and not heard.confirm:
        meant = [s for s, chance in likely.items() if chance >= SURE][:1]
    if not meant and heard.invites and not content and len(c.followed_up) == len(c.case.followups):
        meant = [s for s in ("goal",) if c.open(s)]
    meant += [s for s in c.proofs if likely.get(s, 0.0) >= SURE]
    stated = heard.dates == {"any"} and getattr(c.case.ledger.get("date"), "when", "") == "volunteered"
    stated |= heard.confirm and heard.slots.get("date", 0.0) < CERTAIN
    moves = heard.slots.get("address", 0.0) >= SURE and c.open("address") and c.subject in c.given
    meant = [s for s in meant if s not in vague and (s != "date" or not (stated or asks_another_date(c)))]
    meant = ["address" if moves and s == "postcode" else s for s in meant if vague or len(meant) == 1 or s != "goal"]
    return _chosen(c, [s for s in dict.fromkeys(meant) if s not in c.given] or list(dict.fromkeys(meant)))


def _asks_plainly(c: Customer, slot: str) -> bool:
    found = c.parser.hear(c.parser.statements(c.words))
    return any(one.slots.get(slot, 0.0) >= CERTAIN and one.acts["ask"] > EVIDENT for one in found)


def _asks_in_case(c: Customer, slot: str) -> bool:
    """Return whether a picture is wanted only if something is otherwise than stated."""
    message = c.parser.statements(c.words)
    asking = [s for s, one in zip(message, c.parser.hear(message), strict=True) if one.slots.get(slot, 0.0) >= SURE]
    return slot in c.kind.attachments and all(cue_of_several("in_case").search(s.plain) for s in asking)


def _chosen(c: Customer, news: list[str]) -> list[str]:
    """Keep one of the slots joined with "or", and put the photo before the label."""
    heard, kind = c.heard, c.kind
    for choice in heard.choices:
        either = [s for s in kind.proofs if s in choice and s in news]
        likely = [s for s, chance in heard.slots.items() if s in choice and c.open(s) and chance >= SURE]
        others = [] if any(s in news for s in choice) else likely[:1]
        best = ([s for s in either if c.open(s)] or others or either)[:1]
        rest = {*either} | ({*kind.of_proofs} & choice - heard.apart if best == [c.subject] else set())
        news = [s for s in news if s not in rest or s in best] + [s for s in best if s not in news]
        shown = [s for s in kind.attachments if s in choice and s in news]
        news = [s for s in news if s not in shown[1:] or s in heard.apart]
    evidence = iter([s for s in kind.attachments if s in news])
    return [next(evidence) if s in kind.attachments else s for s in news]


def asks_another_date(c: Customer) -> bool:
    """Return whether the agent asks for another date (see `ParsedMessage.dates`)."""
    # The known date is ahead (a journey) or behind (an arrival); without one, either counts.
    known, now = c.case.ledger.get("date"), c.store.now.date()
    if not known:
        return c.heard.dates in ({"ahead"}, {"behind"})
    words = f"{known.value or ''} {known.say or ''}"
    ahead = {day >= now for day in _days_in(words, now)}
    behind = False in ahead or holds("dates", "told", plain(words), (c.case.language,))
    return (True in ahead) != behind and c.heard.dates == ({"ahead"} if behind else {"behind"})


def arrives_too_late(c: Customer) -> bool:
    """Return whether the agent names an arrival after the only day that the customer gave."""
    known, today = c.case.ledger.get("date"), c.store.now.date()
    if known is None or "date" not in c.given or "too_late" in c.used:
        return False
    due = [day for day in _days_in(f"{known.value} {known.say}", today) if day >= today]
    arrives = [s for s in sentences(c.words) if holds("contradicts", "date arrival", s.plain, LANGUAGES)]
    return len(set(due)) == 1 and any(max(_days_in(s.text, today), default=due[0]) > due[0] for s in arrives)


def _days_in(text: str, today: date) -> list[date]:
    return [date.fromisoformat(value.value) for value in values_in(text, today.year) if value.kind == "date"]


def says_whether_it_is_this(c: Customer) -> bool:
    """Answer "Is it NL-12345?" with a yes or its own number; return whether it answered."""
    # Do not answer without a number, or for another order of the customer's.
    known = c.case.ledger.get(c.subject)
    asked = [s.text for s in sentences(c.words) if "?" in s.text and c.hears("this_one", s.text)]
    if not (known and known.value and asked):
        return False
    number = re.findall(r"[\w-]*\d", asked[0].upper())[-1]
    if number in c.case.others.values():
        return False
    c.given[c.subject] += 1
    words = c.reaction("this_one") if number == known.value else filled(c.moment("mine"), known.value)
    return c.add(words, Act("gave", c.subject, known.value))


def says_that_it_is_right(c: Customer) -> bool:
    """Confirm what the agent checks, unless the case has words for it; return whether it did.

    If the agent has described what the customer wants, this is a yes to it.
    """
    heard, wishes = c.heard, open_wishes(c)
    address = heard.slots.get("address_checked", 0.0) >= CERTAIN and "address_checked" not in c.case.ledger
    if not (heard.checks_facts or address) or heard.offered or c.followed_up:
        return False
    read = [(w, *c.kind.named_in(c.words, w.arguments, c.store)) for w in wishes]
    described = [w for w, named, differing in read if named - {c.subject} and not differing]
    asks = any(cue_of_several("your_wish").search(s.plain) for s in sentences(c.words) if "?" in s.text)
    if asks and len({w.tool for w in wishes}) == 1:
        described = wishes  # "Is that the one you want cancelled?"
    known = c.case.ledger.get(c.subject)
    tells = known and heard.checks_facts and c.open(c.subject) and f"{known.value}" in c.words
    if known and tells and known.wrong:
        c.answer(c.subject)
    elif known and tells and not described:
        c.given[c.subject] += 1
        c.add(c.reaction("this_one"), Act("gave", c.subject, known.value))
    if described or tells:
        return not described or agree(c, described)
    row, own = c.store.tables[c.kind.subject].get(c.case.order), plain(c.known("address"))
    order = plain(as_text(row))
    moves = own.strip() and not any(part in order for part in NUMBERED.findall(own))
    quoted = NUMBERED.findall(plain(c.words)) if address else ()
    if address and (quoted or moves) and not any(part in (own if moves else order) for part in quoted):
        return False
    return c.add(c.reaction("this_one"), Act("gave", "address_checked" if address else "check", "yes"))


def questions_in(c: Customer) -> str:
    """Return the questions of a message, without those that only offer more help."""
    return " ".join(s.text for s in sentences(c.words) if "?" in s.text and not c.hears("more_help", s.text))


def is_bare(c: Customer) -> bool:
    """Return whether a message has a short question ("Shall I?")."""
    return any("?" in s.text and len(s.text.split()) <= BARE for s in sentences(c.words))


def wants_a_yes(c: Customer) -> bool:
    """Return whether the desk is waiting for a yes or no."""
    settled = has_its_check_answered(c) or (c.done and c.heard.checks) or (c.checked and not c.heard.offer)
    return c.heard.confirm and not settled


def has_its_check_answered(c: Customer) -> bool:
    """Return whether the agent answers the customer's question about whether that is all."""
    return "check" in c.used and "?" not in c.words and not c.heard.offer
