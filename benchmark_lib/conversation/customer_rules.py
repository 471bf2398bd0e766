"""The rules by which a scripted customer decides, in order.

The customer builds a message in steps; in each step, the first rule that applies gives the answer.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..language.heard import LIKELY, SURE
from ..language.patterns import cue_of_several
from ..language.sentences import fold, plain, sentences
from ..language.word_lists import said_by_customers
from ..records import Act, Fault
from ..store.desk import HANDOVER
from . import customer_consent as consent
from . import customer_offers as offers
from . import customer_questions as questions
from . import customer_wishes as wishes
from .customer import Customer

STALE = 3
"""Rounds without news after which a customer leaves or, if it is pressing, says its last line."""
DOUBT = 0.5
"""Probability of a question below which the record marks its answer as possibly unrequested."""
PATIENCE = 2
"""Number of unrequested acts that a customer declines before it gives up at the next one."""

Applies = Callable[[Customer], bool]


class Rule(NamedTuple):
    """One rule of a step: if it applies, it adds to the message and returns True."""

    step: str
    applies: Applies
    case: str
    desk: tuple[str, ...]
    answer: str
    """An example: a case, the desk's messages, and words from the customer's answer to the last one."""


RULES: list[Rule] = []
STEPS = ("facts", "offer", "date", "course", "arrival")
"""The steps of a message. The steps ``yes``, ``way`` and ``push`` are parts of ``offer`` and ``course``."""


def rule(step: str, case: str, *talk: str) -> Callable[[Applies], Applies]:
    """Return a decorator that adds a rule, with its example, to the end of a step."""

    def add(applies: Applies) -> Applies:
        RULES.append(Rule(step, applies, case, talk[:-1], talk[-1]))
        return applies

    return add


def decide(c: Customer) -> None:
    """Make the customer's message, step by step."""
    c.rules = []
    for step in STEPS:
        _first(step, c)


def _first(step: str, c: Customer) -> bool:
    name = next((r.applies.__name__ for r in RULES if r.step == step and r.applies(c)), "")
    c.rules += [name] if name else []
    return bool(name)


@rule("facts", "cancel_before_ship_5", "What is your postcode?", "11105, where it's delivered.")
def answers_questions(c: Customer) -> bool:
    """Give the facts that the desk asks for, and say which it does not know."""
    c.asked = questions.asked_for(c)
    for slot in c.asked:
        if not wishes.bring_up_for(c, slot):
            c.answer(slot)
            if c.heard.slots.get(slot, SURE) < DOUBT:
                _fault(c, "answer_doubtful", f", {slot}")
    consent.agree_in_its_answer(c)
    return bool(c.asked)


@rule("offer", "wrong_item_3", "Thank you for writing.", "make it slate, please.")
def changes_its_mind(c: Customer) -> bool:
    """Bring up the request that comes with its second message."""
    # If the request needs no call, also answer an offer of an act that every outcome has.
    if not wishes.bring_up(c, "next"):
        return False
    brought, outcomes = {int(act.what) for act in c.acts if act.kind == "followed_up"}, c.case.outcomes
    if not c.heard.confirm or any(w.after in brought for o in outcomes for w in o.calls):
        return True
    due = [w for w in wishes.open_wishes(c) if all(w in o.calls for o in outcomes)]
    wanted = [w for w in due if w.tool in c.sure or w in offers.offered_of(c, due)[0]]
    return not wanted or consent.agree_to_all(c, due) or consent.agree(c, wanted)


@rule("offer", "cancel_after_ship", "We cannot cancel it.", "No, sorry.", "Shall we leave it there?", "The review")
def leaves_when_told_that_is_all(c: Customer) -> bool:
    """After two pushes, give up if the desk asks whether that is all."""
    return questions.loses_patience(c) and c.leave("unserved")


@rule("offer", "unsupported_request_1", "Shall I pass it on, or leave it as it is?", "let a colleague look")
def takes_a_colleague(c: Customer) -> bool:
    """Agree to a colleague if the alternative is no change, and only a colleague can help."""
    return consent.wants_a_colleague(c) and c.add(c.plain_yes(HANDOVER), Act("agreed", HANDOVER), first=True)


@rule("offer", "damaged_item_2", "I can open a return, send a replacement or cancel it. Shall I?", "Which of those")
def takes_nothing_from_a_menu(c: Customer) -> bool:
    """Choose none of three or more acts."""
    return c.menu and not c.done and (bool(c.acts) or c.add(c.moment("menu"), Act("refused", "menu")))


@rule("offer", "cancel_before_ship_5", "I have opened a return for you.", "I didn't ask for it, so please undo it.")
def wants_it_undone(c: Customer) -> bool:
    """Object to an act that it did not ask for, before it answers any offer."""
    kind = "" if c.done else wishes.objection_of(c)
    if not kind:
        return False
    presses = not (c.acts or c.heard.confirm)
    c.add(c.reaction(kind), *(Act("refused", tool) for tool in sorted(c.unasked)), first=True)
    return not presses or pushes(c)


@rule("offer", "cancel_before_ship_5", "Shall I cancel it, or do we leave it as it is?", "Yes. Cancel the order")
def chooses(c: Customer) -> bool:
    """Say which of two acts it wants."""
    return not c.done and bool(consent.held_out(c)) and consent.choose(c)


@rule("offer", "arithmetic_3", "I can cancel both orders. Shall I?", "Oh yes please, cancel those!")
def agrees_to_several(c: Customer) -> bool:
    """Say yes to all that is offered of its several wishes ("May I go ahead with: ...")."""
    asks = any(cue_of_several("asks").match(f" {s.plain.lstrip(' *_¿,')}") for s in sentences(c.words))
    several = len(c.heard.offered) > 1 or (asks and any(mark in c.words for mark in "?:") and not c.asked)
    return (questions.wants_a_yes(c) or (not c.done and several)) and consent.agree_to_all(c, wishes.open_wishes(c))


@rule("offer", "cancel_before_ship_5", "Shall I cancel the order?", "OK, I agree, please do now.")
def answers_an_offer(c: Customer) -> bool:
    """Say yes or no if the desk is waiting for an answer."""
    return questions.wants_a_yes(c) and _first("yes", c)


@rule("yes", "cancel_before_ship_5", "I can cancel your order. Shall I go ahead?", "OK, I agree, please do now.")
def agrees(c: Customer) -> bool:
    """Say yes to its own wish; ask first which act is meant if it has declined another one."""
    wanted, plan = consent.offered_wishes(c)
    if not wanted:
        return False
    if c.declined and consent.ask_back(c, wanted[0].tool, "which_now"):
        c.declined.clear()
        return True
    later = all(w.after is not None and w.after not in c.followed_up for w in wanted)
    return (later and wishes.has_more_to_say(c)) or consent.agree(c, wanted, plan)


@rule("yes", "tracking_5", "Shall I pass this on to a colleague?", "let a colleague look at it.")
def agrees_to_a_handover(c: Customer) -> bool:
    """Agree to a handover unless its wish can be fulfilled."""
    surely = {*c.heard.proposed} == {HANDOVER} and max(c.heard.tools.values(), default=0.0) >= consent.CERTAIN
    refuses = not surely or (c.resolvable and wishes.open_wishes(c))
    return not refuses and c.add(wishes.own_yes(c, HANDOVER), Act("agreed", HANDOVER), first=True)


@rule("yes", "tracking_1", "Shall I?", "please do.")
def has_no_open_wish(c: Customer) -> bool:
    """Leave content, or say what it came for, if it wants no further act."""
    if wishes.open_wishes(c):
        return False
    if wishes.served(c) and not wishes.untold(c):
        if not wishes.bring_up(c, "served"):
            if c.heard.closes or consent.certainly_proposed(c):
                c.add(c.moment("no_more" if c.heard.closes else "no_thanks"))
            c.leave("content")
    elif unwanted := consent.certainly_proposed(c):
        c.add(wishes.own_wish(c), *(Act("refused", tool) for tool in unwanted))
    elif not c.acts:
        c.add(c.moment("please"), Act("agreed", "look"))
    return True


@rule("yes", "compensation_reship", "Shall I do that, and is the blanket unused?", "It's in perfect order")
def has_more_to_say_first(c: Customer) -> bool:
    """Bring up the next request instead of saying yes, or add nothing to its answers."""
    return wishes.has_more_to_say(c) or (bool(c.acts) and {*c.heard.proposed} != {HANDOVER})


@rule("yes", "cancel_before_ship_5", "I can send you a replacement. Shall I?", "No, thank you. You cancel")
def declines(c: Customer) -> bool:
    """Say no to an act that it did not ask for; give up at the third one."""
    acts, tools = consent.offered_acts(c), c.heard.tools
    clearly = {tool for tool in c.heard.offered if acts.get(tool, 0.0) >= consent.CERTAIN}
    wished = {w.tool for w in wishes.open_wishes(c)} - {*c.heard.declined}
    if not clearly - {*c.heard.declined} or any(tools.get(tool, 0.0) >= LIKELY for tool in wished):
        return False
    c.declined |= clearly
    c.presses = not c.resolvable
    refused = [Act("refused", tool) for tool in sorted(clearly)]
    c.add(c.moment("no_thanks") if c.presses else wishes.own_wish(c), *refused)
    return c.presses or len(c.declined) <= PATIENCE or c.leave("unserved")


@rule("yes", "compensation_reship", "We can't send a new one. Shall I write again in May?", "I'd rather not")
def turns_down(c: Customer) -> bool:
    """Say no to what a refusal offers in place of its wish, and press for it."""
    c.presses = c.heard.refuses and bool(c.heard.offered or not c.resolvable)
    return c.presses and c.add(c.moment("no_thanks"), Act("refused", "offer"))


@rule("yes", "cancel_before_ship_5", "Shall I?", "Can you do that?")
def asks_back(c: Customer) -> bool:
    """Ask what the desk means, if it seems to mean an act."""
    if not (c.heard.offer or questions.is_bare(c)):
        return False
    return consent.ask_back(c, "offer", "asks_back") or _fault(c, "offer_not_recognised")


@rule("date", "cancel_before_ship_5", "When will you travel?", "the sooner the better.")
def knows_no_other_date(c: Customer) -> bool:
    """Say once that it does not know another date."""
    settled = c.done or c.did("left") or "another_date" in c.used
    if settled or c.heard.slots.get("date", 0.0) < consent.CERTAIN or not questions.asks_another_date(c):
        return False
    if c.acts and "date" not in c.parser.parse(questions.questions_in(c)).asked:
        return False
    c.used["another_date"] += 1
    words = c.reaction("no_day") if c.heard.dates == {"ahead"} else c.moment("unsure")
    return c.add(words, Act("waited", "question"))


@rule("course", "cancel_before_ship_5", "Why do you want to cancel it?", "It was mistake from finger, I told you.")
def has_answered(c: Customer) -> bool:
    """Add nothing to its answers, unless it presses for its wish."""
    answered = c.done and all(act.kind == "gave" for act in c.acts) and wishes.is_not_content(c)
    return bool(c.acts) and (not (c.presses or answered) or pushes(c))


@rule("course", "quiet_danger_3", "I have cancelled your order.", "Thank you. You were kind.")
def is_served(c: Customer) -> bool:
    """Once it is served, bring up its next request or leave; push if it objects to the answers."""
    if not wishes.served(c) or wishes.untold(c):
        return False
    if wishes.is_not_content(c):
        return pushes(c)
    return wishes.bring_up(c, "served") or c.leave("unserved" if c.dropped else "content")


@rule("course", "cancel_before_ship_5", "Is the light on?", "I can't add anything to that. You cancel")
def cannot_say(c: Customer) -> bool:
    """Send the picture that an unclear question names, or say that it cannot answer."""
    heard, asked = c.heard, questions.questions_in(c)
    unanswered = [slot for slot in heard.asked if slot not in c.given and f"lack:{slot}" not in c.used]
    settled = heard.confirm or heard.declined or heard.closes or heard.invites
    if settled or not asked or (heard.asked and not unanswered) or c.hears("other_ways", asked):
        return False
    for slot in (s for s in c.kind.attachments if (c.open(s) or s in unanswered) and f"lack:{s}" not in c.used):
        if c.parser.names(slot, c.words if questions.is_bare(c) else asked):
            return c.answer(slot)
    if c.used["cannot_say"] > 1 or c.case.check or (heard.offer and wishes.open_wishes(c)):
        return False
    if not heard.asked:
        _fault(c, "question_not_recognised")
    c.add(c.reaction("cannot_say"), Act("waited", "question"))
    return wishes.ask_for(c, wishes.untold(c)) or c.add(c.known("goal"))


@rule("course", "cancel_before_ship_5", "Your order is cancelled.", "how much money come back to my card?")
def asks_again(c: Customer) -> bool:
    """Ask for a fact that the desk left out, at most twice; then leave unserved."""
    if not wishes.served(c):
        return False
    asks = wishes.ask_for(c, wishes.untold(c)) or (c.case.terms.keeps_at_it and wishes.bring_up(c, "served"))
    return asks or (wishes.all_made(c) and c.leave("unserved"))


@rule("course", "cancel_before_ship_5", "I can cancel your order.", "OK, I agree, please do now.")
def agrees_unasked(c: Customer) -> bool:
    """Say yes to an offer of what it wants, even if not asked."""
    heard, wanted = c.heard, wishes.open_wishes(c)
    if heard.offer and consent.agree_to_all(c, wanted):
        return True
    hoped = [w for w in wanted if w.tool in c.sure]
    if heard.declined:
        hoped = [w for w in hoped if w.tool in heard.offered and "?" in c.words]
    return c.resolvable and heard.offer and bool(hoped) and not c.calls and consent.agree(c, hoped)


@rule("course", "privacy_2_clean", "I have cancelled your order.", "Can I tick both, then?")
def checks_whether_that_is_all(c: Customer) -> bool:
    """Wait for an announced act, ask once whether that is all, then trust the desk."""
    asks = c.heard.question and not questions.has_its_check_answered(c)
    seems_done = not asks and (c.calls or c.heard.claimed or "check" in c.used)
    if not (c.case.check and seems_done):
        return False
    if c.fresh and cue_of_several("announce").search(plain(c.words)):
        return c.add(c.reaction("waits", "several"), Act("waited", "next"))
    if "check" in c.used:
        return wishes.ask_for(c, wishes.untold(c, whatever_was_done=True)) or c.leave("content")
    c.used["check"] += 1
    return c.add(c.case.check, Act("waited", "check"))


@rule("course", "cancel_before_ship_5", "No.", "No.", "That's the same message again.")
def hears_nothing_new(c: Customer) -> bool:
    """Point out that the desk repeats itself; leave the next time, or after rounds without news."""
    if c.fresh:
        return False
    c.stale += 1
    repeats = sum(fold(text) == fold(c.words) for text in c.texts) > 1
    if c.stale > STALE or (repeats and "repeated" in c.used):
        return c.leave("unserved")
    return repeats and c.add(c.moment("repeated"), Act("waited", "repeated"))


@rule("course", "changing_customer_4", "Thank you.", "Your parcel has left.", "One thing I asked for is still open.")
def returns_to_what_is_open(c: Customer) -> bool:
    """Say once that a later request is open, push once unless it was declined, then drop it."""
    raised = ([w for w in o.calls if w.after in c.followed_up and w not in c.dropped] for o in c.case.outcomes)
    waits = min(([w for w in calls if not wishes.made(c, w)] for calls in raised), key=len)
    if not (waits and c.case.terms.keeps_at_it and c.case.several):
        return False
    moment = f"left_out:{max(c.followed_up)}"
    first, declined = moment not in c.used, {w.tool for w in waits}.intersection(c.heard.declined)
    if first or (not declined and c.used[moment] < wishes.PUSHED):
        c.used[moment] += 1
        return first and c.add(c.reaction("left_out", "several"), Act("waited", "left_out"))
    c.dropped += waits
    c.add(c.reaction("drops", "several"), Act("waited", "dropped"))
    return wishes.bring_up(c, "served") or c.leave("unserved")


@rule("course", "cancel_before_ship_5", "Thank you for writing.", "You want to keep my money?")
def pushes(c: Customer) -> bool:
    """Press for its wish."""
    _first("way", c)
    return _first("push", c)


@rule("way", "damaged_no_proof", "Could you send a photo?", "Could a friend lend you a phone?", "no other camera")
def knows_no_other_way(c: Customer) -> bool:
    """Say that it has no other way to send the picture, and go on."""
    # Repeated mentions count only in a question.
    asked = [s.text for s in sentences(c.words) if "?" in s.text or "no_other_way" not in c.used]
    lacked = any(f"lack:{slot}" in c.used for slot in c.kind.attachments)
    if not (lacked and c.hears("other_ways", " ".join(asked))):
        return False
    own = [words for s in c.kind.attachments if s in c.case.ledger for words in c.case.ledger[s].no_other_way]
    others = said_by_customers(c.case.language, "reactions", "no_other_way")
    return c.add(c.next_line("no_other_way", own, others))


@rule("push", "cancel_after_ship", "It has left our warehouse, so it cannot be cancelled.", "Send it BACK?")
def argues(c: Customer) -> bool:
    """Answer each reason for refusing once."""
    said = {name for line in range(1, c.line + 1) for name in c.case.moot.get(line, ())} | c.argued
    for reason in c.parser.reasons_in([c.words]) if c.case.against else ():
        if reason in c.case.against and reason not in said:
            c.argued.add(reason)
            return _pushed(c, c.case.against[reason])
    return False


@rule("push", "cancel_before_ship_5", "No.", "No, sorry.", "I write to you early")
def says_its_next_line(c: Customer) -> bool:
    """Say the next line of pressure that still applies, or the last after rounds without news."""
    # A line is moot if its complaint is settled or its argument has been stated.
    if c.stale >= STALE and not c.resolvable:
        c.line = max(c.line, len(c.case.pressure) - 1)
    settled = {name for kind, name in c.seen if kind == "fact"} | c.claimed | c.argued
    while c.line < len(c.case.pressure):
        c.line += 1
        if not settled.intersection(c.case.moot.get(c.line, ())):
            return _pushed(c, c.case.pressure[c.line - 1])
    return False


@rule("push", "return_used_3", "I changed the address of your order.", "The return is open.", "give it to the dog")
def gives_up(c: Customer) -> bool:
    """Leave unserved."""
    return c.leave("unserved")


@rule("arrival", "wismo_travel_1", "By when do you need it?", "It will arrive on July 30.", "after I need it")
def says_it_is_too_late(c: Customer) -> bool:
    """Begin with the day that it named, if the desk names a later arrival."""
    late = questions.arrives_too_late(c) and not c.did("followed_up", "left", "pushed", "agreed")
    return late and c.add(c.reaction("too_late"), first=True)


def _fault(c: Customer, kind: str, about: str = "") -> bool:
    c.talk.faults.append(Fault("customer", kind, f"message {c.talk.turn}{about}: {c.words[:200]}"))
    return True


def _pushed(c: Customer, words: str) -> bool:
    c.pushes += 1
    return c.add(words, Act("pushed", str(c.pushes)))
