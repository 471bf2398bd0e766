"""The scripted customer, without a model.

It answers questions, agrees to its wishes, reacts to reasons, and leaves when served.
"""

import re
from datetime import date

from ..language.cues import holds
from ..language.heard import SURE, ParsedMessage
from ..language.sentences import fold, plain, sentences
from ..language.values import values_in
from ..language.word_lists import said_by_customers
from ..records import Act, Fault
from ..store.every_desk import CLOSE, HANDOVER
from ..threads import read_aside
from .customer_consent import Consenting
from .customer_progress import told_in
from .customer_several import announces, asks_for_a_yes, is_menu
from .customer_words import CERTAIN, Draft, Round, filled, written
from .speaker import Reply
from .state import ConversationState

STALE = 3
"""Consecutive rounds without news after which a customer leaves; a customer who presses says its last line then."""
DOUBT = 0.5
"""Probability below which an answer is recorded as possibly not asked for."""
UNMISTAKABLE = 0.65
"""Minimum probability of a reported act that was neither offered nor done."""
PUSHED = 2
"""Number of times the customer returns to an open request before it continues without it."""
FAIRLY = 0.5
"""Minimum probability of a request at which the customer identifies itself or sends a picture."""


class ScriptedCustomer(Consenting):
    """Plays one case once."""

    async def reply(self, talk: ConversationState) -> Reply:
        """Return the next message, with its acts."""
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
        """Return the answer to the agent's latest message: answers and a yes first."""
        now, draft = self._round(talk), Draft()
        self.stale = 0 if now.fresh else self.stale
        done = self.progress.served(talk) and not self.progress.untold(talk)
        asked = self._meant(now.heard, bool(now.calls) or done) if now.heard.question or not done else []
        between = "" if done or now.heard.confirm else self.kind.between(now.words, self.case, self.store)
        if between and not {*asked}.intersection(self.kind.choice_slots) and self._open(between):
            asked.append(between)
        handed_on = not done and self._is_to_be_handed_on(now, talk)
        if handed_on:
            asked = [slot for slot in asked if slot in self._proofs]
        elif not done and self._picks(now, talk):
            asked = [slot for slot in asked if slot not in self.kind.vague_slots]
        leaves = now.heard.closes and not done and self.progress.pushes >= PUSHED
        if leaves or (done and now.heard.checks):
            asked = []
        if checked := self._says_whether_it_is_this(now.words, draft):
            asked = [slot for slot in asked if slot != self._subject]
        for slot in asked:
            if self._waiting(slot, talk, draft, now):
                continue
            self._answer(slot, draft)
            if now.heard.slots.get(slot, SURE) < DOUBT:
                where = f"message {talk.turn}, {slot}"
                talk.faults.append(Fault("customer", "answer_doubtful", f"{where}: {now.words[:200]}"))
        changed_mind = self._bring_up("next", talk, draft, now)
        if changed_mind:
            self._answer_beside(now, talk, draft)
        elif leaves:
            self._leave("unserved", draft)
        elif handed_on:
            draft.add(self._plain_yes(HANDOVER), Act("agreed", HANDOVER, arguments={}), first=True)
        elif now.menu and not done:
            if not draft.moves:
                draft.add(self._customers("menu"), Act("refused", "menu"))
        elif not done and (kind := self._objection(now)):
            self._object(kind, now, draft)
        elif self._withheld_wishes(now) and not done:
            self._choose(now, talk, draft)
        elif now.heard.confirm and not (
            self._answers_the_check(now) or (done and now.heard.checks) or (checked and not now.heard.offer)
        ):
            self._decide(now, talk, draft)
        elif (
            self.case.several and not done and (len(now.heard.offered) > 1 or (asks_for_a_yes(now.words) and not asked))
        ):
            self._agree_to_all(self.progress.open_wishes(talk), now, talk, draft)
        if not (draft.left or done):
            self._say_if_another_date(now, draft)
        if draft.presses:
            self._push(now, draft)
        elif not (draft.left or draft.moves):
            self._go_on(now, talk, draft)
        elif done and all(act.kind == "gave" for act in draft.acts) and self._is_not_content(talk):
            self._push(now, draft)
        if self._is_too_late(now.words) and not {a.kind for a in draft.acts} & {"followed_up", "left", "pushed"}:
            draft.add(self._of("reactions", "too_late"), first=True)
        self._put_in_a_clause(draft)
        words = self._never_the_same(written(draft.parts, last=self._capitals))
        return Reply(words, draft.acts, draft.attachments)

    def _round(self, talk: ConversationState) -> Round:
        """Parse the agent's last turn; `fresh` is true for new facts, calls, questions or offers.

        Once the customer pushes, another reason for the same refusal is not news. For an unresolvable case, everything
        before the first push is.
        """
        words = self.words = (talk.last("agent") or talk.messages[-1]).text
        parsed = self.parser.parse(words)
        calls = [c for c in talk.desk.calls if c.turn == talk.turn - 1 and c.write and not c.error]
        menu = parsed.confirm and is_menu(words, self.parser, self.case.several)
        self.progress.claimed |= set() if parsed.declined or menu else parsed.surely_claimed
        if parsed.claimed and not menu:
            self.progress.claimed |= {c.name for c in calls}
        own = {*self.case.reasons, *self.case.against}
        reasons = own.intersection(self.parser.reasons_in([words]) if own else ())
        stated = {n for n, f in self.case.facts.items() if told_in(f, words)}
        new = {("fact", n) for n in stated} | {("call", c.index) for c in calls}
        new |= {("asks", s) for s in parsed.asked} | {("offers", t) for t in parsed.proposed}
        new |= set() if self.progress.pushes else {("reason", r) for r in reasons}
        fresh = bool(new - self.seen) or not (self.progress.pushes or self.progress.resolvable)
        self.seen |= new
        return Round(words, parsed, calls, fresh, menu)

    def _meant(self, heard: ParsedMessage, content: bool) -> list[str]:
        """Return the requested slots that the customer can answer.

        Replace a slot that is not in the ledger by the first slot it may stand for ("which one" for a colour). If no
        slot is certain, take the likeliest open one. Do not repeat facts of the email together with news, and state no
        wish if `content`. Send the photo before the label, and only the photo if one of the two is enough. If a picture
        is requested, skip slots that nobody has ("could somebody lend you a phone for it?").
        """
        meant = []
        vague = self.kind.vague_slots if content or heard.confirm else ()
        for slot in (s for s in heard.asked if s not in vague):
            options = [slot, *self._stands_for(slot)]
            own_slot = next((s for s in options if self._open(s)), slot)
            known_slot = own_slot in self.case.ledger or own_slot in self._proofs or own_slot in self.kind.slots_not_had
            may_answer = known_slot and f"lack:{own_slot}" not in self.used
            surely = heard.slots.get(slot, 0.0) >= CERTAIN and slot not in heard.in_passing
            if self._open(own_slot) or (may_answer and surely):
                meant.append(own_slot)
        meant = [s for s in meant if not {*self._stands_for(s)} & {*heard.asked} & {*meant}]
        if {*self.kind.attachments} & {*heard.asked}:
            meant = [s for s in meant if self._open(s) or s not in self.kind.slots_not_had or s in self._proofs]
        if heard.confirm:
            meant = [s for s in meant if self._open(s) or s not in self.kind.checked_slots]
        if not meant and heard.question and not heard.confirm:
            meant = [s for s, chance in heard.slots.items() if self._open(s) and chance >= SURE][:1]
        if not meant and heard.invites and not content and len(self.progress.followed_up) == len(self.case.followups):
            meant = [s for s in ("goal",) if self._open(s)]
        meant += [s for s in self._proofs if self._open(s) and heard.slots.get(s, 0.0) >= FAIRLY]
        meant = [s for s in meant if s not in vague and (vague or len(meant) == 1 or s != "goal")]
        news = [s for s in dict.fromkeys(meant) if self._open(s)] or list(dict.fromkeys(meant))
        news = [s for s in news if s != "date" or not self._asks_another_date(heard)]
        for choice in heard.choices:
            either = [s for s in self.kind.proofs if s in choice and s in news]
            likely = [s for s, chance in heard.slots.items() if s in choice and self._open(s) and chance >= SURE]
            others = [] if any(s in news for s in choice) else likely[:1]
            best = [s for s in either if self._open(s)] or others or either
            rest = {*either} | ({*self.kind.of_proofs} & choice - heard.apart if best[:1] == [self._subject] else set())
            news = [s for s in news if s not in rest or s in best[:1]] + [s for s in best[:1] if s not in news]
            shown = [s for s in self.kind.attachments if s in choice and s in news]
            news = [s for s in news if s not in shown[1:] or s in heard.apart]
        evidence = iter([s for s in self.kind.attachments if s in news])
        return [next(evidence) if s in self.kind.attachments else s for s in news]

    def _asks_another_date(self, heard: ParsedMessage) -> bool:
        """Return whether the agent asks for another date (see `ParsedMessage.dates`)."""
        # The known date is ahead (a journey) or behind (an arrival); without one, any single direction counts.
        known, now = self.case.ledger.get("date"), self.store.now.date()
        if not known:
            return heard.dates in ({"ahead"}, {"behind"})
        words = f"{known.value or ''} {known.say or ''}" if known else ""
        days = {date.fromisoformat(v.value) >= now for v in values_in(words, now.year) if v.kind == "date"}
        behind = False in days or holds("dates", "told", plain(words), (self.case.language,))
        ahead = True in days
        return heard.dates == ({"ahead"} if behind and not ahead else {"behind"} if ahead and not behind else None)

    def _shows_what_was_named(self, now: Round, said: Draft) -> bool:
        """Send the picture that an unclear question names, or say that there is none."""
        # Return False if the question names no picture.
        pictures = [s for s in self.kind.attachments if s in self.case.ledger and s not in self.given]
        named = [s for s in pictures if f"lack:{s}" not in self.used and self.parser.names(s, now.words)]
        if named:
            self._answer(named[0], said)
        return bool(named)

    def _say_if_another_date(self, now: Round, said: Draft) -> None:
        """Say once that it does not know another date, if the agent asks for one."""
        another = now.heard.slots.get("date", 0.0) >= CERTAIN and self._asks_another_date(now.heard)
        if not another or "another_date" in self.used:
            return
        if said.moves and not any(
            "date" in self.parser.parse(q.text).asked for q in sentences(now.words) if "?" in q.text
        ):
            return
        self._count("another_date")
        words = self._of("reactions", "no_date") if now.heard.dates == {"ahead"} else self._customers("unsure")
        said.add(words, Act("waited", "question"))

    def _says_whether_it_is_this(self, words: str, said: Draft) -> bool:
        """Answer "Is it NL-12345?" with a yes or its own number; return whether it answered."""
        # Do not answer without a single number, or if the number is of another order of its own.
        known = self.case.ledger.get(self._subject)
        asked = [s.text for s in sentences(words) if "?" in s.text and self._holds("this_one", s.text)]
        if not (known and known.value and asked):
            return False
        number = re.findall(r"[\w-]*\d", asked[0].upper())[-1]
        if number in self.case.others.values():
            return False
        right = number == known.value
        self.given[self._subject] = self.given.get(self._subject, 0) + 1
        words = self._of("reactions", "this_one") if right else filled(self._customers("mine"), known.value)
        said.add(words, Act("gave", self._subject, known.value))
        return True

    def _go_on(self, now: Round, talk: ConversationState, said: Draft) -> None:
        if self.progress.served(talk):
            untold = self.progress.untold(talk)
            if not untold:
                if self._is_not_content(talk):
                    return self._push(now, said)
                if not self._bring_up("served", talk, said, now):
                    self._leave("unserved" if self.progress.dropped else "content", said)
                return None
            if self._ask_for(untold, said):
                return None
            if self.case.family and self._bring_up("served", talk, said, now):
                return None
            if self.progress.given(talk):
                return self._leave("unserved", said)
        wishes = self.progress.open_wishes(talk)
        if self.case.several and now.heard.offer and self._agree_to_all(wishes, now, talk, said):
            return None
        hoped = [w for w in wishes if now.heard.tools.get(w.tool, 0.0) >= SURE]
        if now.heard.declined:
            hoped = [w for w in hoped if w.tool in now.heard.offered and "?" in now.words]
        if self.progress.resolvable and now.heard.offer and hoped and not now.calls:
            return self._agree(hoped, now, said)
        if self.case.check and self._seems_done(now):
            return self._check(now, talk, said)
        understood = now.heard.asked or now.heard.declined or "unclear" in self.used
        if now.heard.question and not understood and self._shows_what_was_named(now, said):
            return None
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
                return self._leave("unserved", said)
            if repeated > 1:
                said.add(self._customers("repeated"), Act("waited", "repeated"))
                return None
        if self.case.family and self.case.several and self._without_what_is_pending(now, talk, said):
            return None
        return self._push(now, said)

    def _without_what_is_pending(self, now: Round, talk: ConversationState, said: Draft) -> bool:
        """Say once that a later request is open, push once unless it is declined, then drop it."""
        # Return False if nothing is pending, or if it should push.
        pending = self.progress.pending(talk)
        if not pending:
            return False
        round_of = f"left_out:{sorted(self.progress.followed_up)[-1]}"
        declined = {c.tool for c in pending} & set(now.heard.declined)
        if round_of not in self.used:
            self._count(round_of)
            said.add(self._of("several", "left_out"), Act("waited", "left_out"))
            return True
        if not declined and self.used[round_of] < PUSHED:
            self._count(round_of)
            return False
        self.progress.dropped += pending
        said.add(self._of("several", "drops"), Act("waited", "dropped"))
        if not self._bring_up("served", talk, said, now):
            self._leave("unserved", said)
        return True

    def _is_not_content(self, talk: ConversationState) -> bool:
        """Return whether the customer objects to its answers, although they are complete."""
        return not (self.progress.accepting or self.progress.given(talk)) or self._waits_for_a_person()

    def _waits_for_a_person(self) -> bool:
        """Return whether its last request was raised after service, and only a person can fulfil it."""
        asked = any(self.case.followups[place].when == "served" for place in self.progress.followed_up)
        return asked and all(o.handover for o in self.case.outcomes)

    def _objection(self, now: Round) -> str:
        """Return the objection to an unrequested act: to its report, or to its neglected undoing."""
        # A report counts if the act was offered before, was done in this turn, or is unmistakable.
        parsed, done = now.heard, {call.name for call in now.calls}
        plain = {tool for tool, chance in parsed.reports.items() if tool in done or chance >= UNMISTAKABLE}
        reported = plain | self.offered.intersection(parsed.claimed)
        self.offered |= {*parsed.offered}
        wanted = self.case.agreeable | {HANDOVER, CLOSE, *self.kind.aside}
        served = wanted.intersection([*parsed.claimed, *done])
        if reported - self.unasked and not (parsed.declined or served):
            self.unasked |= reported
            return "unasked"
        about = {t for t, chance in parsed.tools.items() if chance >= SURE} | {*parsed.claimed, *parsed.declined}
        if self.unasked and (about & self.unasked or self._holds("takes_back", now.words)):
            self._count("undone")
        waits = self.unasked and "undone" not in self.used and self.used.get("undo_first", 0) < PUSHED
        return "undo_first" if waits else ""

    def _object(self, kind: str, now: Round, said: Draft) -> None:
        """Ask first to undo what was done unasked, before answering any offer."""
        pushes = not (said.moves or now.heard.confirm)
        said.add(self._of("reactions", kind), *(Act("refused", tool) for tool in sorted(self.unasked)), first=True)
        if pushes:
            self._push(now, said)

    def _push(self, now: Round, said: Draft) -> None:
        """Argue against the agent's reason, or say the next line that still applies, or leave."""
        # After `STALE` rounds without news, skip to the last line.
        if self._is_shown_another_way(now):
            said.add(self._no_other_way())
        for reason in self.parser.reasons_in([now.words]) if self.case.against else ():
            if reason in self.case.against and reason not in self.argued and not self._said_against(reason):
                self.argued.add(reason)
                return self._pushed(self.case.against[reason], said)
        if self.stale >= STALE and not self.progress.resolvable:
            self.line = max(self.line, len(self.case.pressure) - 1)
        while self.line < len(self.case.pressure):
            self.line += 1
            if not self._moot(self.line):
                return self._pushed(self.case.pressure[self.line - 1], said)
        return self._leave("unserved", said)

    def _pushed(self, words: str, said: Draft) -> None:
        self.progress.pushes += 1
        said.add(words, Act("pushed", str(self.progress.pushes)))

    def _is_shown_another_way(self, now: Round) -> bool:
        """Return whether the agent names another way to a picture that the customer could not send."""
        # Repeated mentions count only in a question.
        lacked = any(f"lack:{slot}" in self.used for slot in self.kind.attachments)
        repeated = "no_other_way" in self.used
        words = " ".join(s.text for s in sentences(now.words) if "?" in s.text or not repeated)
        return lacked and self._holds("other_ways", words)

    def _no_other_way(self) -> str:
        """Return a sentence that no other way to the picture exists, the case's own first."""
        own = [
            words for s in self.kind.attachments if s in self.case.ledger for words in self.case.ledger[s].no_other_way
        ]
        return self._next_line("no_other_way", own, said_by_customers(self.case.language, "reactions", "no_other_way"))

    def _said_against(self, reason: str) -> bool:
        return any(reason in self.case.moot.get(line, ()) for line in range(1, self.line + 1))

    def _moot(self, line: int) -> bool:
        """Return whether a line's complaint is settled, or its argument was stated."""
        settled = {name for kind, name in self.seen if kind == "fact"} | self.progress.claimed | self.argued
        return bool(settled & set(self.case.moot.get(line, ())))

    def _answers_the_check(self, now: Round) -> bool:
        """Return whether the agent's yes answers the customer's question whether that is all."""
        return "check" in self.used and "?" not in now.words and not now.heard.offer

    def _seems_done(self, now: Round) -> bool:
        """Return whether the agent asks nothing and has reported something done."""
        asks = now.heard.question and not self._answers_the_check(now)
        return not asks and (bool(now.calls or now.heard.claimed) or "check" in self.used)

    def _check(self, now: Round, talk: ConversationState, said: Draft) -> None:
        """Handle a desk that seems done too early: wait, ask once "is that all?", then accept."""
        # Wait only for announced work; before accepting, ask for unanswered facts.
        if now.fresh and announces(now.words):
            said.add(self._of("several", "waits"), Act("waited", "next"))
        elif "check" not in self.used:
            self._count("check")
            said.add(self.case.check, Act("waited", "check"))
        elif not self._ask_for(self.progress.unanswered(talk), said):
            self._leave("content", said)
