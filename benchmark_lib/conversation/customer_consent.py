"""Consent of a scripted customer: it says yes to its own wishes, and to nothing else."""

from typing import Literal

from ..cases import Call
from ..language.heard import LIKELY, SURE
from ..language.patterns import between_clauses, cue_of_several
from ..language.sentences import fold, plain
from ..records import Act, as_text
from ..store.desk import CLOSE, HANDOVER
from .customer import Customer, filled
from .customer_offers import as_wished, offered_of, passages_of, wholly_named
from .customer_wishes import has_more_to_say, open_wishes, own_yes, plan_of, written
from .speaker import ASKED_BACK

CERTAIN = 0.75
"""Minimum probability to repeat an answer, admit ignorance, or believe a report or an offer."""
BARE = 7
"""Most words of a question that names no act ("Shall I go ahead with that?")."""


def offered_acts(c: Customer) -> dict[str, float]:
    """Return the acts that a message names; a bare "Shall I?" names none."""
    least = CERTAIN if len(c.words.split()) <= BARE else SURE
    refused = {*c.heard.declined} - {*c.heard.proposed} if c.heard.proposed else ()
    tools = {tool: p for tool, p in c.heard.tools.items() if tool not in refused}
    named = {tool: p for tool, p in tools.items() if tool in c.heard.offered or p >= least}
    offering = "\n".join(passage.text for passage in passages_of(c.words, c.parser)[0])
    return as_wished(as_wished(named, open_wishes(c), offering, c.store), open_wishes(c), c.words, c.store)


def certainly_proposed(c: Customer) -> list[str]:
    """Return the acts that a message proposes by name."""
    named = set[str]().union(*c.parser.tools_named(c.parser.statements(c.words)))
    return [tool for tool in c.heard.proposed if c.heard.tools.get(tool, 0.0) >= CERTAIN and tool in named]


def unnamed_wishes(c: Customer, wishes: list[Call]) -> list[Call]:
    """Return the wishes without words, if a proposal names their object or a fact."""
    unnamed = [w for w in wishes if w.tool not in {CLOSE, HANDOVER, *c.phrases["actions"]}]
    told = any(fact.found_in(fold(c.words)) for fact in c.case.facts.values())
    named = told or any(_read(c, w)[0] for w in unnamed)
    others = {*certainly_proposed(c)} - {HANDOVER, *(w.tool for w in wishes)}
    return unnamed if c.heard.confirm and named and not others else []


def offered_wishes(c: Customer) -> tuple[list[Call], str]:
    """Return the wishes that the agent offers, and its earlier message that names them."""
    acts, wishes, tools = offered_acts(c), open_wishes(c), c.heard.tools
    sure = any(chance >= SURE for chance in acts.values())
    wanted = [w for w in wishes if acts.get(w.tool, 0.0) >= SURE or wholly_named(c, w)]
    plan = "" if wanted else plan_of(c, {w.tool for w in wishes}, c.texts[:-1])
    if plan and not sure:
        return [w for w in wishes if c.parser.parse(plan).tools.get(w.tool, 0.0) >= SURE], plan
    wanted = wanted or unnamed_wishes(c, wishes)
    if wanted or sure:
        return wanted, plan
    # An unclear offer may mean a wish whose object it names. After the customer has asked back,
    # unknown words may mean any act.
    asked = c.used["asked_back"] and c.heard.offer and len({w.tool for w in wishes}) == 1
    least = 0.0 if asked and max(tools.values(), default=0.0) < LIKELY else LIKELY
    for wish in wishes:
        chance = max(tools.get(tool, 0.0) for tool in {wish.tool, *c.kind.alike.get(wish.tool, ())})
        named, differing = _read(c, wish)
        if chance >= least and named & ({*wish.arguments} - {c.subject} or {c.subject}) and not differing:
            wanted.append(wish)
    return wanted, plan


def ask_back(c: Customer, what: str, phrase: str) -> bool:
    """Ask what the desk means, or if it means the goal, at most twice; return whether it asked."""
    if c.used["asked_back"] >= ASKED_BACK:
        return False
    c.used["asked_back"] += 1
    if phrase == "asks_back" and c.open("goal") and not c.followed_up and c.answer("goal"):
        phrase = "is_that_it"
    return c.add(c.reaction(phrase), Act("asked_back", what))


def choose(c: Customer) -> Literal[True]:
    """Say which act is wanted if the agent offers a choice; a bare yes would be ambiguous.

    Also agree to what is offered outside the choice. If it wants none or several of the options, state the wish,
    unless the message has answered a question.
    """
    heard, wishes = c.heard, open_wishes(c)
    outside = {*heard.proposed} - held_out(c)
    wanted = [w for w in wishes if w.tool in outside]
    picked = [] if c.acts else picks(c)
    several = not c.case.terms.wants_several_options and len(heard.alternatives) > 1
    unnamed = several and not {*heard.proposed} & {w.tool for w in picked}
    if picked and not wanted and (unnamed or cue_of_several("yes_each").search(plain(c.words))) and c.open("goal"):
        c.answer("goal")
        c.acts.append(Act("agreed", picked[0].tool, arguments=dict(picked[0].arguments) if len(picked) == 1 else {}))
        return True
    wanted += picked
    for tool in dict.fromkeys(w.tool for w in wanted):
        read = [(w, *_read(c, w)) for w in wanted if w.tool == tool]
        right = [r for r in read if not r[2]]
        if not right and tool in heard.or_not:
            _correct(c, read[0][0], read[0][2])
            continue
        right = right or read
        _say_yes(c, *right[0][:2], [r[0] for r in right[1:]], c.plain_yes(tool))
    if c.acts or has_more_to_say(c):
        return True
    if c.known("goal") and not c.followed_up:
        c.answer("goal")
    elif wishes and heard.offer:
        ask_back(c, "offer", "asks_back")
    return True


def agree_in_its_answer(c: Customer) -> None:
    """Agree to an offered wish if the answer to "Which one?" names more than its object."""
    wishes = [] if c.done or {"which_one", "goal"}.isdisjoint(c.asked) else open_wishes(c)
    words = " ".join(c.parts)
    named = [(w, *c.kind.named_in(words, w.arguments, c.store)) for w in wishes if w.tool in c.sure]
    chosen = [w for w, own, differing in named if own - {c.subject} and not differing and c.accepted(w)]
    c.acts += [Act("agreed", w.tool, arguments=dict(w.arguments)) for w in chosen]


def picks(c: Customer) -> list[Call]:
    """Return the wishes for the wanted act among the choices, if there is exactly one."""
    wishes = [w for w in open_wishes(c) if w.tool in held_out(c)]
    return wishes if len({w.tool for w in wishes}) == 1 else []


def wants_a_colleague(c: Customer) -> bool:
    """Return whether the choice is a colleague or no change, and the case needs a colleague."""
    keep_or = HANDOVER in c.sure and cue_of_several("keep_or").search(plain(c.words))
    named = HANDOVER in c.heard.or_not or keep_or
    if c.done or not named or (c.resolvable and open_wishes(c)):
        return False
    return any(o.handover for o in c.case.outcomes) and not picks(c)


def held_out(c: Customer) -> set[str]:
    """Return the acts to choose from; with several wishes, "or not" is not a choice."""
    acts = c.heard.alternatives | (set() if c.case.several else c.heard.or_not)
    if cue_of_several("yes_each").search(plain(c.words)):  # "yes, A"
        acts |= {*c.sure}
    return acts


def agree_to_all(c: Customer, wishes: list[Call]) -> bool:
    """Say yes to several wishes at once; return False if none of them was offered."""
    if not (c.case.several and wishes):
        return False
    found, differing_of, unclear = offered_of(c, wishes)
    if unnamed := unnamed_wishes(c, wishes):
        found, unclear = found or unnamed, wishes
    wrong = [w for w, _ in differing_of]
    nearest = max(c.case.outcomes, key=lambda o: (sum(call in found for call in o.calls), len(o.calls)))
    raised = [w for w in nearest.calls if w.after in (None, *c.followed_up)]
    others = [w for w in raised if w in unclear and w not in wrong]
    yes = [w for w in wishes if w in found or w in others]
    if len(yes) == 1 and not wrong:
        return agree(c, yes)
    acts = [Act("agreed", w.tool, arguments=dict(w.arguments)) for w in yes]
    if wrong and yes:
        c.add(c.reaction("rest", "several"), *acts, first=True)
    elif yes:
        own = c.case.agrees_to_all or c.case.agrees
        c.add(c.next_line("all", own, c.phrases["customer"]["agree"]), *acts, first=True)
    for wish, differing in reversed(differing_of):
        _correct(c, wish, differing)
    return bool(yes or wrong)


def agree(c: Customer, wanted: list[Call], plan: str = "") -> bool:
    """Say yes to its own wish, naming its object if the offer does not; correct another offer.

    The act records the arguments that either of them names, and those for which the orders leave no choice.
    """
    due = [w for w in wanted if w.after in (None, *c.followed_up) and c.accepted(w)]
    readings = [(w, *_read(c, w, plan)) for w in due or wanted]
    fitting = [(w, named) for w, named, differing in readings if not differing]
    if not fitting:
        wish, _, differing = max(readings, key=lambda f: (f[0].after is not None, len(f[1])))
        return _correct(c, wish, differing)
    wish, named = max(fitting, key=lambda f: len(f[1]))
    others = [(w, n) for w, n in fitting if w.tool == wish.tool and w.arguments != wish.arguments]
    either = [w for w, n in others if c.subject in n and c.accepted(w)]
    if any(w.arguments[c.subject] != wish.arguments.get(c.subject) for w in either):
        named = named - {c.subject}
    yes = own_yes(c, wish.tool) if wish.tool in c.sure and not plan else c.plain_yes(wish.tool)
    _say_yes(c, wish, named, [w for w, _ in others], yes)
    mistake = _mistake_mended(c)
    if mistake and mistake not in c.used:
        c.add(c.reaction(mistake), first=True)
    for more in dict.fromkeys(w.tool for w, _ in fitting if w.tool != wish.tool):
        c.acts.append(Act("agreed", more))
    return True


def _say_yes(c: Customer, wish: Call, named: set[str], others: list[Call], yes: str) -> None:
    """Agree to a wish; say in the customer's own words what the offer leaves open."""
    left_open = {*wish.arguments} if others else c.kind.open_to(wish.arguments, c.case, c.store)
    own = {} if others else _own_words(c, wish, left_open - named)
    # Do not repeat what an answer in the same message names.
    values = [known.value for known in c.case.ledger.values() if known.value]
    said = [value for value in values if any(value in part for part in c.parts)]
    new = [words for words in dict.fromkeys(own.values()) if not any(value in words for value in said)]
    agreed = {k: v for k, v in wish.arguments.items() if k in named or k in own or k not in left_open}
    c.add(written([yes, *new], last=False), Act("agreed", wish.tool, arguments=agreed), first=True)


def _read(c: Customer, wish: Call, plan: str = "") -> tuple[set[str], set[str]]:
    """Return the arguments of a wish that an offer names, and those that it contradicts.

    The offering sentences decide first, then the message, then the earlier plan. The customer's own wrong number,
    corrected in this answer, does not count.
    """
    named: set[str] = set()
    differing: set[str] = set()
    known = c.case.ledger.get(c.subject)
    wrong = known.wrong if known and any(a.kind == "gave" and a.what == c.subject for a in c.acts) else None
    alike = {wish.tool, *c.kind.alike.get(wish.tool, ())}
    texts = [p.text for p in passages_of(c.words, c.parser)[0] if not p.tools or alike & p.tools.keys()]
    left_open = c.kind.open_to(wish.arguments, c.case, c.store) - {c.subject}
    alone = [(t, *c.kind.named_in(t, wish.arguments, c.store)) for t in texts if left_open]
    whole = [text for text, its, others in alone if left_open <= its and not others]
    offering = "\n".join(whole[:1] or texts or wholly_named(c, wish))
    for words in filter(None, (offering, c.words, plan)):
        read = c.kind.named_in(words.replace(wrong, "") if wrong else words, wish.arguments, c.store)
        differing |= read[1] - named
        named |= read[0] - differing
    return named, differing


def _own_words(c: Customer, wish: Call, arguments: set[str]) -> dict[str, str]:
    gives = [c.case.followups[index].gives for index in sorted(c.followed_up)]
    latest = {slot: value for given in gives for slot, value in given.items()}
    found: dict[str, str] = {}
    for argument in sorted(arguments):
        for slot in c.kind.own_slots.get(argument, ()):
            known = c.case.ledger.get(slot)
            value = latest.get(slot) or (known and known.value)
            private = slot in c.private_slots and slot not in c.given
            if argument in found or known is None or known.when == "never" or private or not value:
                continue
            read = {p: c.kind.named_in(p, wish.arguments, c.store) for p in (value, *between_clauses().split(value))}
            mine = [part for part in read if argument in read[part][0]]  # of several objects, only this wish's
            if mine or not any(differing for _, differing in read.values()):
                own = "" if slot in latest or known.say in c.told or [*mine, value][0] != value else known.say
                found[argument] = own or filled(c.reaction("own"), [*mine, value][0].strip())
    return found


def _mistake_mended(c: Customer) -> str:
    """Return the phrase for a customer's mistake that the agent has corrected, if any."""
    if c.case.hardness == "wrong_name" and not any(a.kind == "gave" and a.what in c.kind.slots_not_had for a in c.acts):
        # The email names a product that no order contains; compare by the first word of the title.
        email, message, tables = fold(c.case.email.text), fold(c.words), c.store.tables
        own = as_text([tables[c.kind.subject].get(number) for number in (c.case.order, *c.case.others.values())])
        rows = [row for table in c.kind.catalogue for row in tables[table].items()]
        heads = [(fold(row.get("title", "")).partition(" ")[0], key in own) for key, row in rows]
        owned = {head for head, is_own in heads if is_own}
        if any(head in email and head in message for head, _ in heads if head and head not in owned):
            return "other_name"
    return "news" if c.case.hardness == "false_belief" and c.hears("puts_right", c.words) else ""


def _correct(c: Customer, wish: Call, differing: set[str]) -> bool:
    refused = Act("refused", wish.tool, arguments={k: wish.arguments[k] for k in sorted(differing)})
    if c.subject in differing:
        return c.add(filled(c.moment("mine"), str(wish.arguments[c.subject])), refused, first=True)
    choices = filter(None, map(c.known, (*c.kind.choice_slots, "goal")))
    own = _own_words(c, wish, differing) or {"": next(choices, "")}
    words = " ".join([c.moment("no_thanks"), *dict.fromkeys(own.values())])
    return c.add(words.strip(), refused, first=True)
