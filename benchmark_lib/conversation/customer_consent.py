"""Consent of a scripted customer: it says yes to its own wishes, and to nothing else."""

from typing import Any

from ..cases import Call
from ..language.cues import cue_of_several
from ..language.heard import LIKELY, SURE
from ..language.sentences import fold, plain
from ..records import Act, Fault, as_text
from ..store.every_desk import HANDOVER
from .customer_followups import FollowingUp, calls_after
from .customer_several import all_wanted, as_wished, asks_for_one_yes_of_several, names_some, offered_of
from .customer_words import CERTAIN, Draft, Round, filled
from .state import ConversationState

AS_LIKELY = 0.4
"""Least likelihood of its own wish, relative to the likeliest offer, to count as offered."""
MENU = 4
"""Number of remedies offered in one message from which a customer does not choose."""


class Consenting(FollowingUp):
    """The yes, the no and the correction of one customer."""

    def _decide(self, now: Round, talk: ConversationState, said: Draft) -> None:
        """Answer a request for a yes: agree to a wish, correct a different object, or state a condition if unsure."""
        open_wishes = self.progress.open_wishes(talk)
        offered = set(now.heard.proposed)
        likely = now.heard.tools
        if self.case.several and self._agree_to_all(open_wishes, now, talk, said):
            return None
        if len(now.heard.offered) >= MENU and not self.case.several:
            if not said.moves:
                said.add(self._customers("menu"), Act("refused", "menu"))
            return None
        best = max(likely.values(), default=0.0)
        answered = said.moves and not now.heard.offer
        sure = any(likely.get(w.tool, 0.0) >= SURE for w in open_wishes)
        if not sure:
            likely = as_wished(likely, open_wishes, now.words, self.store)
            sure = any(likely.get(w.tool, 0.0) >= SURE for w in open_wishes)
        least = SURE if sure or answered else max(LIKELY, AS_LIKELY * best)
        wanted = [w for w in open_wishes if likely.get(w.tool, 0.0) >= least]
        if wanted:
            later = all(w.after is not None and w.after not in self.progress.followed_up for w in wanted)
            return None if later and self._has_more_to_say(now, talk, said) else self._agree(wanted, now, said)
        if offered == {HANDOVER} and best >= CERTAIN and not (self.progress.resolvable and open_wishes):
            return self._yes(HANDOVER, {}, said)
        if best < LIKELY and not now.heard.offer and self._own_number(now.words):
            if self._subject not in {a.what for a in said.acts}:
                self._answer(self._subject, said)
            return None
        if not open_wishes:
            return self._nothing_open(now, talk, said)
        if self._has_more_to_say(now, talk, said):
            return None
        if answered or (not offered and (said.moves or not (now.heard.offer or best >= LIKELY))):
            return None
        wish = open_wishes[0]
        talk.faults.append(Fault("customer", "offer_not_recognised", f"message {talk.turn}: {now.words[:200]}"))
        words = self._customers("condition")
        goal = self.case.ledger.get("goal")
        if goal and not self.progress.followed_up and not self.given.get("goal"):
            self.given["goal"] = 1
            words = f"{words} {goal.say or goal.value or ''}".strip()
        said.add(words, Act("agreed", wish.tool, "conditional", arguments=dict(wish.arguments)), first=True)
        return None

    def _choose(self, now: Round, talk: ConversationState, said: Draft) -> None:
        """Name the wanted act if the agent offers a choice; a bare yes would be ambiguous.

        Also agree to what is offered outside the choice. If none or several of the choices are wanted, state the wish,
        unless the message has already answered a question.
        """
        wishes = self.progress.open_wishes(talk)
        beside = set(now.heard.proposed) - self._held_out(now)
        wanted = [w for w in wishes if w.tool in beside]
        picked = [] if said.moves else self._picks(now, talk)
        unnamed = asks_for_one_yes_of_several(now.words) or (
            not self.case.family
            and len(now.heard.alternatives) > 1
            and not {*now.heard.proposed} & {w.tool for w in picked}
        )
        if picked and unnamed and not wanted and self._open("goal"):
            self._answer("goal", said)
            said.acts.append(
                Act("agreed", picked[0].tool, arguments=dict(picked[0].arguments) if len(picked) == 1 else {})
            )
            return
        wanted += picked
        for tool in dict.fromkeys(w.tool for w in wanted):
            fitting = [w for w in wanted if w.tool == tool]
            read = [(w, self._differing(w, now, said)) for w in fitting]
            named = [w for w, differing in read if not differing]
            if not named and tool in now.heard.or_not:
                self._correct(*read[0], said)
                continue
            arguments = dict((named or fitting)[0].arguments) if len(named or fitting) == 1 else {}
            said.add(self._plain_yes(tool), Act("agreed", tool, arguments=arguments), first=True)
        if said.moves or self._has_more_to_say(now, talk, said):
            return
        goal = self.case.ledger.get("goal")
        if goal and (goal.say or goal.value) and not self.progress.followed_up:
            self._answer("goal", said)
        elif wishes and now.heard.offer:
            agreed = Act("agreed", wishes[0].tool, "conditional", arguments=dict(wishes[0].arguments))
            said.add(self._customers("condition"), agreed)

    def _picks(self, now: Round, talk: ConversationState) -> list[Call]:
        """Return the wishes for the one wanted act among the choices; empty if none or several acts are wanted."""
        mine = [w for w in self.progress.open_wishes(talk) if w.tool in self._held_out(now)]
        return mine if len({w.tool for w in mine}) == 1 else []

    def _is_to_be_handed_on(self, now: Round, talk: ConversationState) -> bool:
        """Return whether the choice is between a colleague and no change, and the case needs a colleague."""
        held_out = now.heard.tools.get(HANDOVER, 0.0) >= SURE
        keep_or = held_out and cue_of_several("keep_or").search(plain(now.words))
        named = HANDOVER in now.heard.or_not or keep_or
        if not named or (self.progress.resolvable and self.progress.open_wishes(talk)):
            return False
        return any(o.handover for o in self.case.outcomes) and not self._picks(now, talk)

    def _held_out(self, now: Round) -> set[str]:
        """Return the acts of which the customer must choose; with several wishes, "or not" is no choice."""
        held_out = now.heard.alternatives | (set() if self.case.several else now.heard.or_not)
        if asks_for_one_yes_of_several(now.words):
            held_out |= {tool for tool, chance in now.heard.tools.items() if chance >= SURE}
        return held_out

    def _differing(self, wish: Call, now: Round, said: Draft) -> set[str]:
        """Return the arguments of a wish for which a message names other values."""
        # Ignore a wrong number of its own that it corrects in the same message.
        words = now.words
        if self._subject in {a.what for a in said.acts if a.kind == "gave"}:
            known = self.case.ledger.get(self._subject)
            words = words.replace(known.wrong, "") if known and known.wrong else words
        return self.kind.named_in(words, wish.arguments, self.store)[1]

    def _has_more_to_say(self, now: Round, talk: ConversationState, said: Draft) -> bool:
        """Raise the next follow-up in place of a yes, if all requests so far are fulfilled; return whether it did."""
        served = self.progress.served(talk) and not self.progress.untold(talk)
        return not said.moves and served and self._bring_up("served", talk, said, now)

    def _answer_beside(self, now: Round, talk: ConversationState, said: Draft) -> None:
        """Answer an offer in the same message as a follow-up that asks for no call."""
        # Do so only for wishes that belong to every outcome of the case.
        brought = {int(a.what) for a in said.acts if a.kind == "followed_up"}
        if not now.heard.confirm or any(calls_after(place, self.case) for place in brought):
            return
        offered = [w for w in self.progress.open_wishes(talk) if now.heard.tools.get(w.tool, 0.0) >= SURE]
        wanted = [w for w in offered if all(w in o.calls for o in self.case.outcomes)]
        if wanted and not (self.case.several and self._agree_to_all(wanted, now, talk, said)):
            self._agree(wanted, now, said)

    def _agree_to_all(self, wishes: list[Call], now: Round, talk: ConversationState, said: Draft) -> bool:
        """Say yes to all of several wishes at once; return False if none of them was offered."""
        # Correct an offer that replaces a wish. A handover replaces nothing if an outcome needs it.
        found = offered_of(wishes, self.case, now.words, self.parser, self.store)
        others = set(now.heard.offered) - {w.tool for w in wishes}
        if any(o.handover for o in self.case.outcomes):
            others.discard(HANDOVER)
        if not wishes or (others and not (found.named or found.wrong)):
            return False
        if not (self._offered_so_far(talk) or names_some(wishes, now.words, self.store)):
            return False
        wrong = [w for w, _ in found.wrong]
        all_of_them = all_wanted(wishes, self.case, found, self.progress.followed_up)
        yes = [w for w in (found.named if found.alone else all_of_them) if w not in wrong]
        if len(yes) == 1 and not wrong:
            self._agree(yes, now, said)
            return True
        agreed = [Act("agreed", w.tool, arguments=dict(w.arguments)) for w in yes]
        if found.wrong and yes:
            said.add(self._of("several", "rest"), *agreed, first=True)
        elif yes:
            own, others_say = self.case.agrees_to_all or self.case.agrees, self.phrases["customer"]["agree"]
            said.add(self._next_line("all", own, others_say), *agreed, first=True)
        for wish, differing in reversed(found.wrong):
            self._correct(wish, differing, said)
        return bool(yes or found.wrong)

    def _offered_so_far(self, talk: ConversationState) -> bool:
        """Return whether any message of the agent has offered to do something."""
        return any(self.parser.parse(m.text).offer for m in talk.messages if m.side == "agent")

    def _own_number(self, words: str) -> bool:
        """Return whether the agent asks to confirm the order number, not yet disclosed by the customer."""
        known = self.case.ledger.get(self._subject)
        return bool(self._open(self._subject) and known and known.value and known.value in words)

    def _agree(self, wanted: list[Call], now: Round, said: Draft) -> None:
        """Say yes to its own wish; if the offer is for another object, name its own."""
        found = [
            (w, self.kind.named_in(now.words, w.arguments, self.store)[0], self._differing(w, now, said))
            for w in wanted
        ]
        fitting = [(w, named) for w, named, differing in found if not differing]
        if not fitting:
            wish, _, differing = found[0]
            return self._correct(wish, differing, said)
        wish, named = max(fitting, key=lambda f: len(f[1]))
        others = [(w, n) for w, n in fitting if w.tool == wish.tool and w.arguments != wish.arguments]
        either = [w for w, n in others if self._subject in n and any(w in o.calls for o in self.case.outcomes)]
        if any(w.arguments[self._subject] != wish.arguments.get(self._subject) for w in either):
            named = named - {self._subject}
        arguments = {k: v for k, v in wish.arguments.items() if not others or k in named}
        self._yes(wish.tool, dict(arguments), said)
        mistake = self._mistake_mended(now, said)
        if mistake and mistake not in self.used:
            said.add(self._of("reactions", mistake), first=True)
        for more in {w.tool for w, _ in fitting} - {wish.tool}:
            said.acts.append(Act("agreed", more, arguments={}))

    def _mistake_mended(self, now: Round, said: Draft) -> str:
        """Return the phrase for a mistake of the customer that the agent has corrected; empty if there is none."""
        owned = any(a.kind == "gave" and a.what in self.kind.slots_not_had for a in said.acts)
        if self.case.hardness == "wrong_name" and not owned and self._names_its_wrong_name(now.words):
            return "other_name"
        if self.case.hardness == "false_belief" and self._holds("puts_right", now.words):
            return "news"
        return ""

    def _names_its_wrong_name(self, words: str) -> bool:
        """Return whether a message names the product of the customer's email that its orders do not contain."""
        # Compare by the first word of the title.
        email, said = fold(self.case.email.text), fold(words)
        orders = self.store.tables[self.kind.subject]
        own = as_text([orders.get(number) for number in (self.case.order, *self.case.others.values())])
        rows = [
            (key, row.get("title", ""))
            for table in self.kind.catalogue
            for key, row in self.store.tables[table].items()
        ]
        heads = {fold(title).partition(" ")[0] for key, title in rows if key not in own}
        held = {fold(title).partition(" ")[0] for key, title in rows if key in own}
        return any(head in email and head in said for head in heads - held if head)

    def _correct(self, wish: Call, differing: set[str], said: Draft) -> None:
        refused = Act("refused", wish.tool, arguments={k: wish.arguments[k] for k in sorted(differing)})
        said.add(self._corrected(wish, differing), refused, first=True)

    def _yes(self, tool: str, arguments: dict[str, Any], said: Draft) -> None:
        said.add(self._own_yes(tool), Act("agreed", tool, arguments=arguments), first=True)

    def _corrected(self, wish: Call, differing: set[str]) -> str:
        """Return the sentence that names its own object in place of another."""
        if self._subject in differing:
            return filled(self._customers("mine"), str(wish.arguments[self._subject]))
        for slot in self.kind.choice_slots:
            known = self.case.ledger.get(slot)
            if known and (known.say or known.value):
                return f"{self._customers('no_thanks')} {known.say or known.value}"
        return self._own_wish()

    def _nothing_open(self, now: Round, talk: ConversationState, said: Draft) -> None:
        """Answer a request for a yes when none of its wishes is open."""
        writes = [tool for tool, chance in now.heard.tools.items() if chance >= SURE]
        if self.progress.served(talk) and not self.progress.untold(talk):
            if not self._bring_up("served", talk, said, now):
                said.add(self._customers("no_thanks" if writes else "no_more"))
                self._leave("content", said)
            return
        if writes:
            said.add(self._own_wish(), *(Act("refused", t) for t in writes))
        elif not said.moves:
            said.add(self._customers("please"), Act("agreed", "look"))
