"""Consent of a scripted customer: it says yes to its own wishes, and to nothing else."""

from typing import Any

from ..cases import Call
from ..language.cues import cue_of_several
from ..language.heard import LIKELY, SURE
from ..language.sentences import fold, plain
from ..records import Act, Fault, as_text
from ..store.every_desk import HANDOVER
from .customer_followups import FollowingUp, calls_after
from .customer_several import (
    all_wanted,
    as_wished,
    asks_for_one_yes_of_several,
    names_some,
    offered_of,
    passages_of,
)
from .customer_words import CERTAIN, Draft, Round, filled, written
from .state import ASKED_BACK, ConversationState

BARE = 7
"""Maximum number of words of a question that names no act of its own ("Shall I go ahead with that?")."""
PATIENCE = 2
"""Number of acts offered that it did not ask for, from which a customer gives up at the next."""


class Consenting(FollowingUp):
    """The yes, the no and the correction of one customer."""

    def _decide(self, now: Round, talk: ConversationState, said: Draft) -> None:
        """Answer a request for a yes: agree, correct a different object, or ask back if unsure."""
        open_wishes = self.progress.open_wishes(talk)
        if self.case.several and self._agree_to_all(open_wishes, now, talk, said):
            return None
        acts = as_wished(self._acts_in(now), open_wishes, now.words, self.store)
        wanted = [w for w in open_wishes if acts.get(w.tool, 0.0) >= SURE]
        earlier = [m.text for m in talk.messages if m.side == "agent"][:-1]
        plan = "" if wanted else self._plan({w.tool for w in open_wishes}, earlier)
        if plan and not any(chance >= SURE for chance in acts.values()):
            wanted = [w for w in open_wishes if self.parser.parse(plan).tools.get(w.tool, 0.0) >= SURE]
        else:
            wanted = wanted or self._likely(acts, open_wishes, now, said)
        if wanted:
            later = all(w.after is not None and w.after not in self.progress.followed_up for w in wanted)
            if self._asks_which(wanted, said) or (later and self._has_more_to_say(now, talk, said)):
                return None
            return self._agree(wanted, now, said, plan)
        best = max(now.heard.tools.values(), default=0.0)
        if {*now.heard.proposed} == {HANDOVER} and best >= CERTAIN and not (self.progress.resolvable and open_wishes):
            return self._yes(HANDOVER, {}, said)
        if best < LIKELY and not now.heard.offer and self._own_number(now.words):
            if self._subject not in {a.what for a in said.acts}:
                self._answer(self._subject, said)
            return None
        if not open_wishes:
            return self._nothing_open(now, talk, said)
        if self._has_more_to_say(now, talk, said) or said.moves:
            return None
        clearly = {tool for tool in now.heard.offered if acts.get(tool, 0.0) >= CERTAIN}
        if clearly and not any(now.heard.tools.get(w.tool, 0.0) >= LIKELY for w in open_wishes):
            return self._decline(clearly, said)
        if not self._ask_back("offer", "asks_back", said):
            talk.faults.append(Fault("customer", "offer_not_recognised", f"message {talk.turn}: {now.words[:200]}"))
        return None

    def _likely(self, acts: dict[str, float], wishes: list[Call], now: Round, said: Draft) -> list[Call]:
        """Return the wishes whose object an unclear offer names, if it names no other act.

        After the customer has asked back, an offer in words that it does not know may be about any act.
        """
        if any(chance >= SURE for chance in acts.values()):
            return []
        candidates = []
        asked = self.used.get("asked_back") and now.heard.offer and len({w.tool for w in wishes}) == 1
        least = 0.0 if asked and max(now.heard.tools.values(), default=0.0) < LIKELY else LIKELY
        for wish in wishes:
            chances = (now.heard.tools.get(tool, 0.0) for tool in {wish.tool, *self.kind.alike.get(wish.tool, ())})
            named, differing = self._read(wish, now, said)
            others = {*wish.arguments} - {self._subject}
            if max(chances) >= least and named.intersection(others or {self._subject}) and not differing:
                candidates.append(wish)
        return candidates

    def _decline(self, offered: set[str], said: Draft) -> None:
        """Say no to an act that it did not ask for, with its own wish; give up at the third one."""
        self.declined |= offered
        refused = [Act("refused", tool) for tool in sorted(offered)]
        if not self.progress.resolvable:
            said.presses = True
            return said.add(self._customers("no_thanks"), *refused)
        said.add(self._own_wish(), *refused)
        return self._leave("unserved", said) if len(self.declined) > PATIENCE else None

    def _asks_which(self, wanted: list[Call], said: Draft) -> bool:
        """Ask once which act the desk will do, if it offers a wish after another act."""
        if not self.declined or not self._ask_back(wanted[0].tool, "which_now", said):
            return False
        self.declined.clear()
        return True

    def _acts_in(self, now: Round) -> dict[str, float]:
        """Return the acts that a message names; a bare "Shall I?" names none, whatever its reading."""
        parsed = now.heard
        return {
            tool: chance
            for tool, chance in parsed.tools.items()
            if tool in parsed.offered or chance >= CERTAIN or (chance >= SURE and not self._is_bare(now.words))
        }

    def _is_bare(self, words: str) -> bool:
        return len(words.split()) <= BARE

    def _ask_back(self, what: str, phrase: str, said: Draft) -> bool:
        """Ask what the desk means, twice at most; return whether it asked."""
        if self.used.get("asked_back", 0) >= ASKED_BACK:
            return False
        self._count("asked_back")
        said.add(self._of("reactions", phrase), Act("asked_back", what))
        return True

    def _choose(self, now: Round, talk: ConversationState, said: Draft) -> None:
        """Say which act is wanted if the agent offers a choice; a bare yes would be ambiguous.

        Also agree to what is offered outside the choice. If none or several of the choices are wanted, state the wish,
        unless the message has already answered a question.
        """
        wishes = self.progress.open_wishes(talk)
        outside = set(now.heard.proposed) - self._withheld_wishes(now)
        wanted = [w for w in wishes if w.tool in outside]
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
            read = [(w, *self._read(w, now, said)) for w in fitting]
            named = [(w, names) for w, names, differing in read if not differing]
            if not named and tool in now.heard.or_not:
                self._correct(read[0][0], read[0][2], said)
                continue
            right = named or [(w, names) for w, names, _ in read]
            self._say_yes(*right[0], [w for w, _ in right[1:]], self._plain_yes(tool), said)
        if said.moves or self._has_more_to_say(now, talk, said):
            return
        goal = self.case.ledger.get("goal")
        if goal and (goal.say or goal.value) and not self.progress.followed_up:
            self._answer("goal", said)
        elif wishes and now.heard.offer:
            self._ask_back("offer", "asks_back", said)

    def _picks(self, now: Round, talk: ConversationState) -> list[Call]:
        """Return the wishes for the one wanted act among the choices; else nothing."""
        wishes = [w for w in self.progress.open_wishes(talk) if w.tool in self._withheld_wishes(now)]
        return wishes if len({w.tool for w in wishes}) == 1 else []

    def _is_to_be_handed_on(self, now: Round, talk: ConversationState) -> bool:
        """Return whether a colleague or no change is the choice, and the case needs a colleague."""
        held_out = now.heard.tools.get(HANDOVER, 0.0) >= SURE
        keep_or = held_out and cue_of_several("keep_or").search(plain(now.words))
        named = HANDOVER in now.heard.or_not or keep_or
        if not named or (self.progress.resolvable and self.progress.open_wishes(talk)):
            return False
        return any(o.handover for o in self.case.outcomes) and not self._picks(now, talk)

    def _withheld_wishes(self, now: Round) -> set[str]:
        """Return the acts to choose from; with several wishes, "or not" is no choice."""
        withheld = now.heard.alternatives | (set() if self.case.several else now.heard.or_not)
        if asks_for_one_yes_of_several(now.words):
            withheld |= {tool for tool, chance in now.heard.tools.items() if chance >= SURE}
        return withheld

    def _has_more_to_say(self, now: Round, talk: ConversationState, said: Draft) -> bool:
        """Raise the next follow-up in place of a yes, if all requests so far are fulfilled."""
        served = self.progress.served(talk) and not self.progress.untold(talk)
        return not said.moves and served and self._bring_up("served", talk, said, now)

    def _answer_beside(self, now: Round, talk: ConversationState, said: Draft) -> None:
        """Answer an offer in the same message as a follow-up that asks for no call."""
        # Do so only for wishes that belong to every outcome of the case.
        brought = {int(a.what) for a in said.acts if a.kind == "followed_up"}
        if not now.heard.confirm or any(calls_after(index, self.case) for index in brought):
            return
        offered = [w for w in self.progress.open_wishes(talk) if now.heard.tools.get(w.tool, 0.0) >= SURE]
        wanted = [w for w in offered if all(w in o.calls for o in self.case.outcomes)]
        if wanted and not (self.case.several and self._agree_to_all(wanted, now, talk, said)):
            self._agree(wanted, now, said)

    def _agree_to_all(self, wishes: list[Call], now: Round, talk: ConversationState, said: Draft) -> bool:
        """Say yes to all of several wishes at once; return False if none of them was offered."""
        # Correct an offer that replaces a wish. A handover replaces nothing if an outcome needs it.
        offers = offered_of(wishes, self.case, now.words, self.parser, self.store)
        others = set(now.heard.offered) - {w.tool for w in wishes}
        if any(o.handover for o in self.case.outcomes):
            others.discard(HANDOVER)
        if not wishes or (others and not (offers.named or offers.wrong)):
            return False
        if not (self._offered_so_far(talk) or names_some(wishes, now.words, self.store)):
            return False
        wrong = [w for w, _ in offers.wrong]
        all_of_them = all_wanted(wishes, self.case, offers, self.progress.followed_up)
        yes = [w for w in (offers.named if offers.alone else all_of_them) if w not in wrong]
        if len(yes) == 1 and not wrong:
            self._agree(yes, now, said)
            return True
        agreed = [Act("agreed", w.tool, arguments=dict(w.arguments)) for w in yes]
        if offers.wrong and yes:
            said.add(self._of("several", "rest"), *agreed, first=True)
        elif yes:
            own, others_say = self.case.agrees_to_all or self.case.agrees, self.phrases["customer"]["agree"]
            said.add(self._next_line("all", own, others_say), *agreed, first=True)
        for wish, differing in reversed(offers.wrong):
            self._correct(wish, differing, said)
        return bool(yes or offers.wrong)

    def _offered_so_far(self, talk: ConversationState) -> bool:
        return any(self.parser.parse(m.text).offer for m in talk.messages if m.side == "agent")

    def _own_number(self, words: str) -> bool:
        """Return whether the agent asks to confirm an order number not yet disclosed."""
        known = self.case.ledger.get(self._subject)
        return bool(self._open(self._subject) and known and known.value and known.value in words)

    def _agree(self, wanted: list[Call], now: Round, said: Draft, plan: str = "") -> None:
        """Say yes to its own wish, name its object where the offer does not, or correct another.

        The act's arguments are those that the offer names or the customer says, and those that its orders leave no
        choice of.
        """
        raised = {None, *self.progress.followed_up}
        due = [w for w in wanted if w.after in raised and any(w in o.calls for o in self.case.outcomes)]
        readings = [(w, *self._read(w, now, said, plan)) for w in due or wanted]
        fitting = [(w, named) for w, named, differing in readings if not differing]
        if not fitting:
            wish, _, differing = max(readings, key=lambda f: (f[0].after is not None, len(f[1])))
            return self._correct(wish, differing, said)
        wish, named = max(fitting, key=lambda f: len(f[1]))
        others = [(w, n) for w, n in fitting if w.tool == wish.tool and w.arguments != wish.arguments]
        either = [w for w, n in others if self._subject in n and any(w in o.calls for o in self.case.outcomes)]
        if any(w.arguments[self._subject] != wish.arguments.get(self._subject) for w in either):
            named = named - {self._subject}
        surely = now.heard.tools.get(wish.tool, 0.0) >= SURE and not plan
        yes = self._own_yes if surely else self._plain_yes
        self._say_yes(wish, named, [w for w, _ in others], yes(wish.tool), said)
        mistake = self._mistake_mended(now, said)
        if mistake and mistake not in self.used:
            said.add(self._of("reactions", mistake), first=True)
        for more in {w.tool for w, _ in fitting} - {wish.tool}:
            said.acts.append(Act("agreed", more, arguments={}))

    def _say_yes(self, wish: Call, named: set[str], others: list[Call], yes: str, said: Draft) -> None:
        """Agree to a wish, in the customer's own words for what the offer leaves open."""
        left_open = {*wish.arguments} if others else self.kind.open_to(wish.arguments, self.case, self.store)
        own = {} if others else self._own_words(wish, left_open - named)
        agreed = {k: v for k, v in wish.arguments.items() if k in named or k in own or k not in left_open}
        # What an answer in the same message names is not said twice.
        words = written([yes, *(w for w in dict.fromkeys(own.values()) if not self._is_said(w, said))], last=False)
        said.add(words, Act("agreed", wish.tool, arguments=agreed), first=True)

    def _read(self, wish: Call, now: Round, said: Draft, plan: str = "") -> tuple[set[str], set[str]]:
        """Return the arguments of a wish that an offer names, and those that it contradicts.

        The offering sentences decide first, then the message, then the earlier message with the plan.
        """
        named: set[str] = set()
        differing: set[str] = set()
        offering = "\n".join(text for text, tools in passages_of(now.words, self.parser) if tools.get(wish.tool))
        for words in filter(None, (offering, now.words, plan)):
            read = self.kind.named_in(self._corrected_in(words, said), wish.arguments, self.store)
            differing |= read[1] - named
            named |= read[0] - differing
        return named, differing

    def _corrected_in(self, words: str, said: Draft) -> str:
        """Return a message without the customer's own wrong number, corrected in this answer."""
        known = self.case.ledger.get(self._subject)
        corrects = known and known.wrong and any(a.kind == "gave" and a.what == self._subject for a in said.acts)
        return words.replace(known.wrong, "") if known and known.wrong and corrects else words

    def _is_said(self, own: str, said: Draft) -> bool:
        """Return whether a message already names the value of one of the customer's sentences."""
        values = [k.value for slot in self.case.ledger if (k := self.case.ledger[slot]).value and k.value in own]
        return any(value in part for value in values for part in said.parts)

    def _own_words(self, wish: Call, arguments: set[str]) -> dict[str, str]:
        """Return the customer's sentence for each argument of a wish that it can name."""
        gives = [self.case.followups[index].gives for index in sorted(self.progress.followed_up)]
        latest = {slot: value for given in gives for slot, value in given.items()}
        sentences: dict[str, str] = {}
        for argument in sorted(arguments):
            for slot in self.kind.own_slots.get(argument, ()):
                known = self.case.ledger.get(slot)
                value = latest.get(slot) or (known and known.value)
                private = slot in (*self.kind.proofs, *self.kind.of_proofs) and slot not in self.given
                if argument in sentences or known is None or known.when == "never" or private or not value:
                    continue
                if not self.kind.named_in(value, wish.arguments, self.store)[1]:
                    own = "" if slot in latest or known.say in self.told else known.say
                    sentences[argument] = own or filled(self._of("reactions", "own"), value)
        return sentences

    def _mistake_mended(self, now: Round, said: Draft) -> str:
        """Return the phrase for a customer's mistake that the agent has corrected, if any."""
        owned = any(a.kind == "gave" and a.what in self.kind.slots_not_had for a in said.acts)
        if self.case.hardness == "wrong_name" and not owned and self._names_its_wrong_name(now.words):
            return "other_name"
        if self.case.hardness == "false_belief" and self._holds("puts_right", now.words):
            return "news"
        return ""

    def _names_its_wrong_name(self, words: str) -> bool:
        """Return whether a message names the email's product, which the orders do not contain."""
        # Compare by the first word of the title.
        email, message = fold(self.case.email.text), fold(words)
        orders = self.store.tables[self.kind.subject]
        own = as_text([orders.get(number) for number in (self.case.order, *self.case.others.values())])
        rows = [
            (key, row.get("title", ""))
            for table in self.kind.catalogue
            for key, row in self.store.tables[table].items()
        ]
        heads = {fold(title).partition(" ")[0] for key, title in rows if key not in own}
        owned = {fold(title).partition(" ")[0] for key, title in rows if key in own}
        return any(head in email and head in message for head in heads - owned if head)

    def _correct(self, wish: Call, differing: set[str], said: Draft) -> None:
        refused = Act("refused", wish.tool, arguments={k: wish.arguments[k] for k in sorted(differing)})
        said.add(self._corrected(wish, differing), refused, first=True)

    def _yes(self, tool: str, arguments: dict[str, Any], said: Draft) -> None:
        said.add(self._own_yes(tool), Act("agreed", tool, arguments=arguments), first=True)

    def _corrected(self, wish: Call, differing: set[str]) -> str:
        """Return the sentence that names its own object in place of another."""
        if self._subject in differing:
            return filled(self._customers("mine"), str(wish.arguments[self._subject]))
        if own := self._own_words(wish, differing):
            return " ".join([self._customers("no_thanks"), *dict.fromkeys(own.values())])
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
