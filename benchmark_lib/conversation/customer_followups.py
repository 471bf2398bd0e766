"""Follow-ups of a customer: raise later requests, as far as they are still open."""

from datetime import date

from ..cases import Call, Case, Fact
from ..language.cues import cue_of_several, holds
from ..language.heard import LIKELY, SURE
from ..language.sentences import plain, sentences
from ..language.values import values_in
from ..language.word_lists import LANGUAGES
from ..records import Act
from ..store.every_desk import HANDOVER
from .customer_progress import CustomerProgress
from .customer_several import is_menu
from .customer_voice import Voice
from .customer_words import Draft, Round
from .state import ConversationState

ASKED_AGAIN = 2
"""Number of times the customer asks for a fact that an answer omitted."""


class FollowingUp(Voice):
    """The follow-ups of one customer, each raised once."""

    def _ask_for(self, untold: list[tuple[str, Fact]], said: Draft) -> bool:
        """Ask for the first omitted fact, up to `ASKED_AGAIN` times; return whether it did."""
        for name, fact in untold:
            if fact.ask and self.used.get(f"ask:{name}", 0) < ASKED_AGAIN:
                self._count(f"ask:{name}")
                said.add(fact.ask, Act("waited", name))
                return True
        return False

    def _bring_up(self, when: str, talk: ConversationState, said: Draft, now: Round) -> bool:
        """Raise the next follow-up for this moment, one per message; return whether there was one."""
        for index, followup in enumerate(self.case.followups):
            if followup.when == when and index not in self.progress.followed_up:
                if self._followed_up_in(said):
                    return False
                if self._follow_up(index, talk, said, now):
                    return True
        return False

    def _waiting(self, slot: str, talk: ConversationState, said: Draft, now: Round) -> bool:
        """Raise the follow-up that discloses a slot; return whether the message has one."""
        for index, followup in enumerate(self.case.followups):
            if slot in followup.gives and index not in self.progress.followed_up and slot not in self.given:
                return self._followed_up_in(said) or self._follow_up(index, talk, said, now)
        return False

    def _followed_up_in(self, said: Draft) -> bool:
        return any(act.kind == "followed_up" for act in said.acts)

    def _follow_up(self, place: int, talk: ConversationState, said: Draft, now: Round) -> bool:
        """Raise the open part of a follow-up; return False if nothing of it is open."""
        # Say yes instead if the agent has offered exactly what it asks for.
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
        """Return whether a change of mind wants one new act and no fact, so that a yes suffices."""
        case = self.case
        asks_a_fact = any(fact.after == place for fact in case.facts.values())
        return self._only_wish(place) and case.followups[place].when == "next" and not (asks_a_fact or case.family)

    def _only_wish(self, place: int) -> bool:
        """Return whether this follow-up asks for one act, and the case has no other wish."""
        case = self.case
        wished = [c for c in (*case.requested, *(c for o in case.outcomes for c in o.calls)) if c.tool != HANDOVER]
        return len({str(c.arguments) for c in wished}) == 1 and all(c.after == place for c in wished)

    def _offers(self, call: Call, words: str) -> bool:
        """Return whether a message offers a call, and not for another object."""
        parsed = self.parser.parse(words)
        likely = [tool for tool, chance in parsed.tools.items() if chance >= SURE]
        alone = likely == [call.tool] and parsed.asked and call.tool not in (*parsed.declined, *parsed.claimed)
        offered = call.tool in parsed.offered or alone or (parsed.confirm and call.tool in likely)
        return offered and not self.kind.named_in(words, call.arguments, self.store)[1]

    def _stands_offered(self, call: Call, talk: ConversationState) -> bool:
        """Return whether the agent has offered or spelled out a call and has not declined it since."""
        plan = self._plan({call.tool}, [m.text for m in talk.messages if m.side == "agent"], LIKELY)
        return bool(plan) and not self.kind.named_in(plan, call.arguments, self.store)[1]

    def _plan(self, tools: set[str], texts: list[str], least: float = SURE) -> str:
        """Return the agent's latest message that may be about a tool, unless it was declined."""
        for words in reversed(texts):
            parsed = self.parser.parse(words)
            menu = len(parsed.offered) != 1 and is_menu(words, self.parser, self.case.several)
            if menu or tools.intersection(parsed.declined):
                return ""
            if any(parsed.tools.get(tool, 0.0) >= least and tool not in parsed.claimed for tool in tools):
                return words
        return ""

    def _own_yes(self, tool: str) -> str:
        # The case's own ways first.
        own = [] if tool not in self.case.agreeable else [yes for yes in self.case.agrees if not self._is_met(yes)]
        return self._phrase("agree", own) if self.used.get("agree", 0) < len(own) else self._plain_yes(tool)

    def _is_met(self, yes: str) -> bool:
        """Return whether the agent has just said that the condition of a yes costs nothing."""
        conditional = cue_of_several("on_condition").search(plain(yes))
        return bool(conditional and cue_of_several("costs_nothing").search(plain(self.words)))

    def _is_too_late(self, words: str) -> bool:
        """Return whether the agent names an arrival after the only day that the customer gave."""
        known, today = self.case.ledger.get("date"), self.store.now.date()
        if known is None or "date" not in self.given or "too_late" in self.used:
            return False
        due = [day for day in _days_in(f"{known.value} {known.say}", today) if day >= today]
        arrives = [s for s in sentences(words) if holds("contradicts", "date arrival", s.plain, LANGUAGES)]
        return len(set(due)) == 1 and any(max(_days_in(s.text, today), default=due[0]) > due[0] for s in arrives)

    def _plain_yes(self, tool: str) -> str:
        agree = self.phrases["actions"].get(tool, {}).get("agree") or self.phrases["customer"]["agree"]
        return self._phrase(f"agree_{tool}", agree)


def _days_in(text: str, today: date) -> list[date]:
    return [date.fromisoformat(value.value) for value in values_in(text, today.year) if value.kind == "date"]


def calls_after(place: int, case: Case) -> list[Call]:
    """Return the calls that a follow-up first asks for."""
    return [c for o in case.outcomes for c in o.calls if c.after == place]


def still_to_say(
    place: int, progress: CustomerProgress, talk: ConversationState, yes: str = "", yes_is_enough: bool = False
) -> str | None:
    """Return the open part of a follow-up: all, or only its open questions; None if closed.

    If the agent has answered a part, ask for each open fact in its own words. Put them after the follow-up's
    statements, or after a `yes` if its call was offered (with `yes_is_enough` even if no fact was disclosed). Return
    all of it for a change of mind, and if a fact has no words of its own or only some calls are made.
    """
    case = progress.case
    whole, calls = case.followups[place].say, calls_after(place, case)
    facts = [f for f in case.facts.values() if f.after == place]
    texts = [m.text for m in talk.messages if m.side == "agent"]
    untold = [f for f in facts if not f.told(texts, rivals_only=bool(case.family))]
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
