"""What a customer brings up later, and what of it is still to be said when its moment has come."""

from ..cases import Call, Case, Fact
from ..language.heard import SURE
from ..language.sentences import sentences
from ..records import Act
from ..store.every_desk import HANDOVER
from .customer_progress import CustomerProgress
from .customer_voice import Voice
from .customer_words import Draft, Round
from .state import ConversationState

ASKED_AGAIN = 2
"""How often it asks for something that an answer left out."""


class FollowingUp(Voice):
    """What one customer asks for later, once."""

    def _ask_for(self, untold: list[tuple[str, Fact]], said: Draft) -> bool:
        """Ask for the first thing that an answer left out, unless it has asked for it often enough; True if there was one."""
        for name, fact in untold:
            if fact.ask and self.used.get(f"ask:{name}", 0) < ASKED_AGAIN:
                self._count(f"ask:{name}")
                said.add(fact.ask, Act("waited", name))
                return True
        return False

    def _bring_up(self, when: str, talk: ConversationState, said: Draft, now: Round) -> bool:
        """Say the next thing it has in store for this moment, one in a message; True if there was one."""
        for place, followup in enumerate(self.case.followups):
            if followup.when == when and place not in self.progress.followed_up:
                if self._followed_up_in(said):
                    return False
                if self._follow_up(place, talk, said, now):
                    return True
        return False

    def _waiting(self, slot: str, talk: ConversationState, said: Draft, now: Round) -> bool:
        """Whether what is asked for is what it had in store for later anyway; it says so now."""
        for place, followup in enumerate(self.case.followups):
            if slot in followup.gives and place not in self.progress.followed_up and slot not in self.given:
                return self._followed_up_in(said) or self._follow_up(place, talk, said, now)
        return False

    def _followed_up_in(self, said: Draft) -> bool:
        return any(act.kind == "followed_up" for act in said.acts)

    def _follow_up(self, place: int, talk: ConversationState, said: Draft, now: Round) -> bool:
        """Bring something up, as far as it was not told or done before; False where nothing of it is left.

        Where it asks for the very thing that was offered, to bring it up is a yes.
        """
        self.progress.followed_up.add(place)
        calls = calls_after(place, self.case)
        offered = [c for c in calls if self._offers(c, now.words)]
        words: str | None
        if offered and self._first_asked_for(place):
            words = self._own_yes(offered[0].tool)
        else:
            yes = self._plain_yes(offered[0].tool) if offered else ""
            words = still_to_say(place, self.progress, talk, yes, bool(offered) and self._only_wish(place))
        if words is None:
            return False
        said.add(words, Act("followed_up", str(place)))
        for name, fact in self.case.facts.items():
            if fact.after == place and fact.ask and fact.ask in words:
                self._count(f"ask:{name}")
        agreed = [c for c in calls if self._stands_offered(c, talk) and not self.progress.made(c, talk, exactly=True)]
        said.acts += [Act("agreed", c.tool, arguments=dict(c.arguments)) for c in agreed]
        for slot, value in self.case.followups[place].gives.items():
            said.acts.append(Act("gave", slot, value))
            self.given[slot] = self.given.get(slot, 0) + 1
            known = self.case.ledger.get(slot)
            said.attachments += [known.attach] if known and known.attach else []
        return True

    def _first_asked_for(self, place: int) -> bool:
        """Whether a change of mind asks for one thing that nothing before it asked for: where the desk has offered it, a yes says it all."""
        case = self.case
        told = any(fact.after == place for fact in case.facts.values())
        return self._only_wish(place) and case.followups[place].when == "next" and not (told or case.family)

    def _only_wish(self, place: int) -> bool:
        """Whether what it brings up asks for one thing, and nothing else is ever asked for."""
        case = self.case
        wished = [c for c in (*case.requested, *(c for o in case.outcomes for c in o.calls)) if c.tool != HANDOVER]
        return len({str(c.arguments) for c in wished}) == 1 and all(c.after == place for c in wished)

    def _offers(self, call: Call, words: str) -> bool:
        """Whether a message offers what a call does, and not to another object."""
        heard = self.parser.parse(words)
        offered = call.tool in heard.offered or (heard.confirm and heard.tools.get(call.tool, 0.0) >= SURE)
        return offered and not self.kind.named_in(words, call.arguments, self.store)[1]

    def _stands_offered(self, call: Call, talk: ConversationState) -> bool:
        """Whether a message of the desk has offered what a call does, and none after it declines it."""
        said = [m.text for m in talk.messages if m.side == "agent"]
        latest = next(
            (w for w in reversed(said) if self._offers(call, w) or call.tool in self.parser.parse(w).declined), ""
        )
        return bool(latest) and self._offers(call, latest)

    def _own_yes(self, tool: str) -> str:
        """A yes in its own words as long as it has any, then one that names the act."""
        own = self.case.agrees if tool in self.case.agreeable else []
        return self._phrase("agree", own) if self.used.get("agree", 0) < len(own) else self._plain_yes(tool)

    def _plain_yes(self, tool: str) -> str:
        """A yes that names the act."""
        agree = self.phrases["actions"].get(tool, {}).get("agree") or self.phrases["customer"]["agree"]
        return self._phrase(f"agree_{tool}", agree)


def calls_after(place: int, case: Case) -> list[Call]:
    """The calls that a follow-up first asks for."""
    return [c for o in case.outcomes for c in o.calls if c.after == place]


def still_to_say(
    place: int, progress: CustomerProgress, talk: ConversationState, yes: str = "", yes_is_enough: bool = False
) -> str | None:
    """What of a follow-up is left: all of it, or what was not told or done before it came up; None where nothing is.

    Of one that was told in part, the facts that are still open are asked for, each in its own words, after what it
    states, or after a `yes` where what it asks to be done was offered (`yes_is_enough`: also where nothing was told);
    all of it where a fact has no words of its own, or where of several things that it asks for only some are done.
    A change of mind comes in any case.
    """
    case = progress.case
    whole, calls = case.followups[place].say, calls_after(place, case)
    facts = [f for f in case.facts.values() if f.after == place]
    said = [m.text for m in talk.messages if m.side == "agent"]
    untold = [f for f in facts if not f.told(said, rivals_only=bool(case.family))]
    asks = [f.ask for f in untold if f.ask]
    worded = all(f.ask for f in facts)
    made = [progress.made(c, talk, exactly=True) for c in calls]
    done = any(made) and all(made)
    changed_mind = case.followups[place].when == "next" and (bool(case.family) or not facts)
    news = len(untold) == len(facts) and not done and not (yes_is_enough and facts)
    if changed_mind or (untold and not worded) or news or (any(made) and not done):
        return whole
    if done or not calls:
        return " ".join(asks) or None
    stated = [yes] if yes else [s.text for s in sentences(whole) if not s.text.endswith("?")]
    return " ".join([*stated, *asks]) if stated else whole
