"""The scripted customer: no model. It answers what it is asked, agrees to what it wants, reacts to reasons, and leaves when served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..cases import Call, Case, Fact, FollowUp, Outcome
from ..language.answers import cleaned
from ..language.folding import fold
from ..language.parser import LIKELY, SURE, ParsedMessage, parser_of
from ..records import Act, Fault, ToolCall
from ..store.every_desk import HANDOVER
from ..threads import read_aside
from .customer_words import Said, filled, written
from .speaker import Reply
from .state import ConversationState

if TYPE_CHECKING:
    from ..store import Store

STALE = 3
"""Rounds without anything new after which a customer stops."""
ASKED_AGAIN = 2
"""How often it asks for something that an answer left out."""
DOUBT = 0.5
"""Chance below which an answer is recorded as one that may not have been asked for."""
CERTAIN, FAIRLY, AS_LIKELY = 0.75, 0.5, 0.4
"""Chance from which it answers what it has told before or does not know; from which it proves who it is, or sends a picture; and how likely,
beside the likeliest offer, its own wish must be to be what was offered."""
MENU = 4
"""Remedies held out in one message from which a customer does not choose."""


@dataclass
class Round:
    """One of the agent's turns, as the customer takes it."""

    words: str
    heard: ParsedMessage
    calls: list[ToolCall]
    fresh: bool


class ScriptedCustomer:
    """Plays one case once.

    Parameters
    ----------
    case : Case
        What it wants and knows.
    store : Store
        Whose phrases it uses.
    """

    def __init__(self, case: Case, store: Store):
        self.case, self.store, self.parser, self.kind = case, store, parser_of(store), store.kind
        self.phrases = store.phrases.get(case.language) or next(iter(store.phrases.values()))
        self.given: dict[str, int] = {}
        self.claimed: set[str] = set()
        self.pushes = 0
        self.line = 0
        self.stale = 0
        self.followed_up: set[int] = set()
        self.argued: set[str] = set()
        self.used: dict[str, int] = {}
        self.said: set[str] = set()
        self.seen: set[Any] = set()
        self._proofs = (*store.kind.proofs, *store.kind.attachments)
        self._subject = store.kind.look_up[1]
        self._capitals = not case.email.text.strip()[:1].islower()

    async def reply(self, talk: ConversationState) -> Reply:
        """The next message, with its acts."""
        if not talk.messages:
            return self._first()
        return await read_aside(sum(len(m.text) for m in talk.messages), self._next, talk)

    def _first(self) -> Reply:
        case, acts, attachments = self.case, [], []
        for slot, known in case.ledger.items():
            if known.when == "volunteered":
                acts.append(Act("gave", slot, known.wrong or known.value))
                if not known.wrong:
                    self.given[slot] = 1
                if known.attach:
                    attachments.append(known.attach)
        text = f"{case.email.subject}\n\n{case.email.text.strip()}"
        return Reply(text, acts, attachments)

    def _next(self, talk: ConversationState) -> Reply:
        """What it says to the agent's latest message: answers and a yes first, else what the moment calls for."""
        now = self._round(talk)
        said = Said()
        content = bool(now.calls) or (self._served(talk) and not self._untold(talk))
        for slot in self._meant(now.heard, content):
            if self._waiting(slot, said):
                continue
            self._answer(slot, said)
            if now.heard.slots.get(slot, SURE) < DOUBT:
                talk.faults.append(
                    Fault("customer", "answer_doubtful", f"message {talk.turn}, {slot}: {now.words[:200]}")
                )
        changed_mind = self._bring_up("next", talk, said)
        if changed_mind:
            self._take_up(now, said)
        elif now.heard.confirm:
            self._decide(now, talk, said)
        if not (said.left or said.moves):
            self._go_on(now, talk, said)
        words = self._never_the_same(written(said.parts, last=self._capitals))
        return Reply(words, said.acts, said.attachments)

    def _round(self, talk: ConversationState) -> Round:
        """The agent's last turn; `fresh` where it brought words, calls or questions that the customer has not met before."""
        words = (talk.last("agent") or talk.messages[-1]).text
        heard = self.parser.parse(words)
        calls = [c for c in talk.desk.calls if c.turn == talk.turn - 1 and c.write and not c.error]
        self.claimed |= {tool for tool, chance in heard.reports.items() if chance >= CERTAIN and not heard.declined}
        reasons = self.parser.reasons_in([words]) if self.case.reasons or self.case.against else []
        told = {n for n, f in self.case.facts.items() if _stands(f, words)}
        new = {("reason", r) for r in reasons} | {("fact", n) for n in told} | {("call", c.index) for c in calls}
        new |= {("asks", s) for s in heard.asked} | {("offers", t) for t in heard.proposed}
        fresh = bool(new - self.seen)
        self.seen |= new
        return Round(words, heard, calls, fresh)

    def _meant(self, heard: ParsedMessage, content: bool) -> list[str]:
        """The slots asked for that it has something to say about.

        In place of one that is not in its ledger the first that it may stand for ("which one" for a colour); where
        nothing was heard for sure, the likeliest that it has not told yet. What stands in its email is not told again
        beside something new, and a content customer wishes for nothing more.
        """
        meant = []
        for slot in heard.asked:
            options = [slot, *self.phrases["slots"].get(slot, {}).get("stands_for", ())]
            mine = next((s for s in options if self._open(s)), slot)
            held = mine in self.case.ledger or mine in self._proofs or mine in self.kind.slots_not_had
            again = held and f"lack:{mine}" not in self.used
            if self._open(mine) or (again and heard.slots.get(slot, 0.0) >= CERTAIN):
                meant.append(mine)
        if heard.confirm:
            meant = [s for s in meant if self._open(s) or s not in self.kind.checked_slots]
        if not meant and heard.question and not heard.confirm:
            meant = [s for s, chance in heard.slots.items() if self._open(s) and chance >= LIKELY][:1]
        meant += [s for s in self._proofs if self._open(s) and heard.slots.get(s, 0.0) >= FAIRLY]
        if content or heard.confirm or len(meant) > 1:
            meant = (
                [s for s in meant if s not in self.kind.vague_slots]
                if content or heard.confirm
                else [s for s in meant if s != "goal"]
            )
        news = [s for s in dict.fromkeys(meant) if self._open(s)] or list(dict.fromkeys(meant))
        for choice in heard.choices:
            either = [s for s in self.kind.proofs if s in choice and s in news]
            held = [s for s in either if self._open(s)] or [s for s in choice if self._open(s)][:1] or either
            news = [s for s in news if s not in either or s in held[:1]] + [s for s in held[:1] if s not in news]
        return news

    def _open(self, slot: str) -> bool:
        """Whether it knows something that it has not told yet."""
        known = self.case.ledger.get(slot)
        return known is not None and known.when != "never" and slot not in self.given

    def _answer(self, slot: str, said: Said) -> None:
        """Answer one question from the ledger; what is not in it is not known."""
        known = self.case.ledger.get(slot)
        book = self.phrases["slots"].get(slot, {})
        if known is None or known.when == "never" or not (known.value or known.say or known.attach):
            own = known.say if known and known.say and f"lack:{slot}" not in self.used else None
            self.used.setdefault(f"lack:{slot}", 0)
            said.add(
                own or self._phrase(f"lack_{slot}", book.get("lack") or self.phrases["customer"]["unsure"]),
                Act("lacked", slot),
            )
            return
        times = self.given.get(slot, 0)
        self.given[slot] = times + 1
        if known.attach:
            if times and any(a.kind == "attached" for a in said.acts):
                return
            said.attachments.append(known.attach)
        if known.say and not times:
            words = known.say
        elif known.attach and times:
            words = self._customers("given")
        else:
            words = filled(self._phrase(f"slot_{slot}", book.get("answer") or ["{value}"]), known.value or "")
            if not self._capitals and words.casefold() == (known.value or "").casefold():
                words = known.value or words
        said.add(words, Act("gave", slot, known.value))

    def _decide(self, now: Round, talk: ConversationState, said: Said) -> None:
        """Answer a request for a yes: yes to what it wants, its own thing in place of another, its wish as a condition where it is unsure."""
        open_wishes = self._open_wishes(talk)
        offered = set(now.heard.proposed)
        likely = now.heard.tools
        if len(now.heard.offered) >= MENU:
            if not said.moves:
                said.add(self._customers("menu"), Act("refused", "menu"))
            return
        best = max(likely.values(), default=0.0)
        wanted = [w for w in open_wishes if likely.get(w.tool, 0.0) >= max(LIKELY, AS_LIKELY * best)]
        if wanted:
            return self._agree(wanted, now, said)
        if offered == {HANDOVER} and best >= CERTAIN and not (self._resolvable and open_wishes):
            return self._yes(HANDOVER, {}, said)
        if best < LIKELY and not now.heard.offer and self._own_number(now.words):
            if self._subject not in {a.what for a in said.acts}:
                self._answer(self._subject, said)
            return None
        if not open_wishes:
            return self._nothing_open(now, talk, said)
        if not offered and (said.moves or not (now.heard.offer or best >= LIKELY)):
            return None
        wish = open_wishes[0]
        talk.faults.append(Fault("customer", "offer_not_recognised", f"message {talk.turn}: {now.words[:200]}"))
        words = self._customers("condition")
        goal = self.case.ledger.get("goal")
        if goal and not self.followed_up and not self.given.get("goal"):
            self.given["goal"] = 1
            words = f"{words} {goal.say or goal.value or ''}".strip()
        said.add(words, Act("agreed", wish.tool, "conditional", arguments=dict(wish.arguments)), first=True)
        return None

    def _take_up(self, now: Round, said: Said) -> None:
        """Where what it brings up is the very thing that was offered, to bring it up is a yes."""
        brought = {int(a.what) for a in said.acts if a.kind == "followed_up"}
        for wish in (c for o in self.case.outcomes for c in o.calls if c.after in brought):
            offered = wish.tool in now.heard.offered or (
                now.heard.confirm and now.heard.tools.get(wish.tool, 0.0) >= SURE
            )
            if offered and not self.kind.named_in(now.words, wish.arguments, self.store)[1]:
                said.acts.append(Act("agreed", wish.tool, arguments=dict(wish.arguments)))

    def _own_number(self, words: str) -> bool:
        """Whether it is asked to confirm its order's number, which it has not told yet."""
        known = self.case.ledger.get(self._subject)
        return bool(self._open(self._subject) and known and known.value and known.value in words)

    def _agree(self, wanted: list[Call], now: Round, said: Said) -> None:
        """Say yes to its own thing; to the same done to another object, name its own."""
        found = [(w, *self.kind.named_in(now.words, w.arguments, self.store)) for w in wanted]
        fitting = [(w, named) for w, named, differing in found if not differing]
        if not fitting:
            wish, _, differing = found[0]
            said.add(
                self._corrected(wish, differing),
                Act("refused", wish.tool, arguments={k: wish.arguments[k] for k in sorted(differing)}),
                first=True,
            )
            return
        wish = max(fitting, key=lambda f: len(f[1]))[0]
        alone = len({str(w.arguments) for w, _ in fitting if w.tool == wish.tool}) == 1
        named = next(n for w, n in fitting if w is wish)
        arguments = wish.arguments if alone else {k: v for k, v in wish.arguments.items() if k in named}
        self._yes(wish.tool, dict(arguments), said)
        for more in {w.tool for w, _ in fitting} - {wish.tool}:
            said.acts.append(Act("agreed", more, arguments={}))

    def _yes(self, tool: str, arguments: dict[str, Any], said: Said) -> None:
        book = self.phrases["actions"].get(tool, {})
        own = self.case.agrees if tool in self.case.agreeable else []
        if self.used.get("agree", 0) < len(own):
            words = self._phrase("agree", own)
        else:
            words = self._phrase(f"agree_{tool}", book.get("agree") or self.phrases["customer"]["agree"])
        said.add(words, Act("agreed", tool, arguments=arguments), first=True)

    def _corrected(self, wish: Call, differing: set[str]) -> str:
        """Its own thing in place of the one that was named."""
        if self._subject in differing:
            return filled(self._customers("mine"), str(wish.arguments[self._subject]))
        for slot in self.kind.choice_slots:
            known = self.case.ledger.get(slot)
            if known and (known.say or known.value):
                return f"{self._customers('no_thanks')} {known.say or known.value}"
        return self._own_wish()

    def _own_wish(self) -> str:
        known = self.case.ledger.get("goal")
        no = self._customers("no_thanks")
        return f"{no} {(known.say or known.value) if known else ''}".strip()

    def _nothing_open(self, now: Round, talk: ConversationState, said: Said) -> None:
        """A yes is asked for, and nothing that it wants is still to be done."""
        writes = [tool for tool, chance in now.heard.tools.items() if chance >= SURE]
        if self._served(talk) and not self._untold(talk):
            if not self._bring_up("served", talk, said):
                said.add(self._customers("no_more"))
                self._leave("content", "thanks", said)
            return
        if writes:
            said.add(self._own_wish(), *(Act("refused", t) for t in writes))
        elif not said.moves:
            said.add(self._customers("please"), Act("agreed", "look"))

    def _go_on(self, now: Round, talk: ConversationState, said: Said) -> None:
        """What it says where nothing was asked of it that it could answer."""
        if self._served(talk):
            missing = self._untold(talk)
            if missing is None:
                if self.pushes < (self.case.pushes_before_accepting or 0):
                    return self._push(now, said)
                if not self._bring_up("served", talk, said):
                    self._leave("content", "thanks", said)
                return None
            name, fact = missing
            if fact.ask and self.used.get(f"ask:{name}", 0) < ASKED_AGAIN:
                self._count(f"ask:{name}")
                said.add(fact.ask, Act("waited", name))
                return None
        hoped = [w for w in self._open_wishes(talk) if now.heard.tools.get(w.tool, 0.0) >= SURE]
        if self._resolvable and now.heard.offer and hoped and not (now.calls or now.heard.declined):
            return self._agree(hoped, now, said)
        understood = now.heard.asked or now.heard.declined or "unclear" in self.used
        if now.heard.question and not understood:
            talk.faults.append(Fault("customer", "question_not_recognised", f"message {talk.turn}: {now.words[:200]}"))
            goal = self.case.ledger.get("goal")
            words = self._customers("unclear")
            said.add(f"{words} {(goal.say or goal.value) if goal else ''}".strip(), Act("waited", "question"))
            return None
        if not now.fresh:
            self.stale += 1
            repeated = sum(fold(m.text) == fold(now.words) for m in talk.messages if m.side == "agent")
            if self.stale > STALE or (repeated > 1 and "repeated" in self.used):
                return self._leave("unserved", "gave_up", said)
            if repeated > 1:
                said.add(self._customers("repeated"), Act("waited", "repeated"))
                return None
        return self._push(now, said)

    def _push(self, now: Round, said: Said) -> None:
        """Argue against the reason it was given, or say the next line that still makes sense; without one, leave."""
        for reason in self.parser.reasons_in([now.words]) if self.case.against else ():
            if reason in self.case.against and reason not in self.argued:
                self.argued.add(reason)
                return self._pushed(self.case.against[reason], said)
        while self.line < len(self.case.pressure):
            self.line += 1
            if not self._moot(self.line):
                return self._pushed(self.case.pressure[self.line - 1], said)
        return self._leave("unserved", "gave_up", said)

    def _pushed(self, words: str, said: Said) -> None:
        self.pushes += 1
        said.add(words, Act("pushed", str(self.pushes)))

    def _moot(self, line: int) -> bool:
        """Whether what a line complains about is settled."""
        settled = {name for kind, name in self.seen if kind == "fact"} | self.claimed
        return bool(settled & set(self.case.moot.get(line, ())))

    def _open_wishes(self, talk: ConversationState) -> list[Call]:
        """The calls it wants, as far as they have not been made."""
        done = [c for c in talk.desk.calls if c.write and not c.error]
        wishes = [c for o in self.case.outcomes for c in o.calls if c.tool != HANDOVER]
        if not self._resolvable or self.pushes < (self.case.pushes_before_accepting or 0) or not self.pushes:
            wishes += self.case.requested
        wishes += [Call(tool=t) for t in self.case.accepts if t not in {w.tool for w in wishes}]
        found: list[Call] = []
        for wish in wishes:
            if wish not in found and not any(self._same(wish, c) for c in done):
                found.append(wish)
        return found

    def _same(self, wish: Call, made: ToolCall) -> bool:
        """Whether a call is the one wished for, as far as the wish names what it is about."""
        if wish.tool != made.name or not isinstance(made.arguments, dict):
            return False
        subject = wish.arguments.get(self._subject)
        return subject is None or str(made.arguments.get(self._subject, "")).casefold() == str(subject).casefold()

    def _served(self, talk: ConversationState) -> bool:
        """Whether what it wanted done is done, by the calls that went through or by what it was told; follow-ups that are still to come apart."""
        if any(self._done(o, talk) for o in self.case.outcomes if not o.handover and (o.calls or self._resolvable)):
            return True
        return not self._resolvable and bool(self.claimed & (self.case.agreeable - {HANDOVER, *self.kind.aside}))

    @property
    def _resolvable(self) -> bool:
        return self.case.bucket == "resolvable"

    def _done(self, outcome: Outcome, talk: ConversationState) -> bool:
        done = [c for c in talk.desk.calls if c.write and not c.error]
        later = self._later()
        return all(
            c.after in later or c.tool in self.claimed or any(made.name == c.tool for made in done)
            for c in outcome.calls
        )

    def _later(self) -> set[int | None]:
        """Follow-ups that have not come up yet, by their places."""
        return {i for i, f in enumerate(self.case.followups) if f.when == "served" and i not in self.followed_up}

    def _untold(self, talk: ConversationState) -> tuple[str, Fact] | None:
        """The first fact it still waits for, by the outcome that comes closest; None where it knows all it asked for."""
        if not self._resolvable:
            return None
        texts = [m.text for m in talk.messages if m.side == "agent"]
        later, best = self._later(), None
        for outcome in self.case.outcomes:
            if outcome.handover or not self._done(outcome, talk):
                continue
            names = self.case.facts if outcome.facts is None else outcome.facts
            due = [(n, self.case.facts[n]) for n in names if self.case.facts[n].after not in later]
            missing = [(n, f) for n, f in due if not any(_stands(f, t) for t in texts)]
            if not missing:
                return None
            if best is None or len(missing) < len(best):
                best = missing
        return best[0] if best else None

    def _bring_up(self, when: str, talk: ConversationState, said: Said) -> bool:
        """Say the next thing it has in store for this moment; True if there was one."""
        for place, followup in enumerate(self.case.followups):
            if followup.when != when or place in self.followed_up:
                continue
            self.followed_up.add(place)
            if when == "served" and self._answered_before(place, talk):
                continue
            self._follow_up(place, followup, said)
            return True
        return False

    def _waiting(self, slot: str, said: Said) -> bool:
        """Whether what is asked for is what it had in store for later anyway; it says so now."""
        for place, followup in enumerate(self.case.followups):
            if slot in followup.gives and place not in self.followed_up and slot not in self.given:
                self.followed_up.add(place)
                self._follow_up(place, followup, said)
                return True
        return False

    def _answered_before(self, place: int, talk: ConversationState) -> bool:
        """Whether what a follow-up asks for was done, or told where it asks for no act, before it came up; what is still untold is then asked for alone."""
        wanted = {name for name, fact in self.case.facts.items() if fact.after == place}
        calls = [c for o in self.case.outcomes for c in o.calls if c.after == place]
        made = [c for c in talk.desk.calls if c.write and not c.error]
        if calls:
            return any(self._same(c, m) for c in calls for m in made)
        return bool(wanted) and all(("fact", name) in self.seen for name in wanted)

    def _follow_up(self, place: int, followup: FollowUp, said: Said) -> None:
        said.add(followup.say, Act("followed_up", str(place)))
        for slot, value in followup.gives.items():
            said.acts.append(Act("gave", slot, value))
            self.given[slot] = self.given.get(slot, 0) + 1

    def _leave(self, how: str, phrases: str, said: Said) -> None:
        own = self.case.closing.content if how == "content" else self.case.closing.gave_up
        said.add(own or self._customers(phrases), Act("left", how))
        said.left = True

    def _never_the_same(self, text: str) -> str:
        """No message twice, word for word."""
        while text in self.said:
            text = f"{self._customers('again')} {text}"
        self.said.add(text)
        return text

    def _customers(self, kind: str) -> str:
        """The next of the phrases that any customer of the store has for a moment."""
        return self._phrase(kind, self.phrases["customer"][kind])

    def _count(self, kind: str) -> None:
        self.used[kind] = self.used.get(kind, 0) + 1

    def _phrase(self, kind: str, options: list[str]) -> str:
        """The next wording of a kind, starting at a place that depends on the case."""
        used = self.used.get(kind, 0)
        self.used[kind] = used + 1
        start = sum(map(ord, self.case.id))
        return options[(start + used) % len(options)]


def _stands(fact: Fact, words: str) -> bool:
    """Whether a fact's value stands in a message, as far as the customer can tell."""
    return fact.found_in(fold(cleaned(words)))
