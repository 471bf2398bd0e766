"""Progress of a conversation from its customer's view: open wishes and missing facts."""

from ..cases import Call, Case, Fact, Outcome
from ..language.answers import cleaned
from ..language.sentences import fold
from ..records import ToolCall
from ..store.consent import agrees
from ..store.every_desk import HANDOVER
from ..store.kinds import DeskKind
from .state import ConversationState


class CustomerProgress:
    """A customer's view of the state of its case.

    Attributes
    ----------
    claimed : set of str
        Tools that the agent says it has used.
    followed_up : set of int
        Indices of the follow-ups already raised.
    pushes : int
        Number of times the customer has pushed.
    dropped : list of Call
        Calls that the customer no longer waits for, because the agent does not make them.
    """

    def __init__(self, case: Case, kind: DeskKind):
        self.case, self.kind = case, kind
        self.claimed: set[str] = set()
        self.followed_up: set[int] = set()
        self.pushes = 0
        self.dropped: list[Call] = []

    @property
    def resolvable(self) -> bool:
        """Return whether the customer's wish can be fulfilled."""
        return self.case.bucket == "resolvable"

    @property
    def accepting(self) -> bool:
        """Return whether the customer has pushed often enough to accept a refusal."""
        return self.pushes >= (self.case.pushes_before_accepting or 0)

    def open_wishes(self, talk: ConversationState) -> list[Call]:
        """Return the calls that the customer wants and that have not been made."""
        wishes = [c for o in self.case.outcomes for c in o.calls if c.tool != HANDOVER]
        if not self.resolvable or not self.accepting or not self.pushes:
            wishes += self.case.requested
        wishes += [Call(tool=t) for t in self.case.accepts if t not in {w.tool for w in wishes}]
        remaining: list[Call] = []
        for wish in wishes:
            given_up = any(wish.tool == c.tool and wish.arguments == c.arguments for c in self.dropped)
            if wish not in remaining and not given_up and not self.made(wish, talk):
                remaining.append(wish)
        return remaining

    def pending(self, talk: ConversationState) -> list[Call]:
        """Return the missing calls of the raised follow-ups, for the outcome that lacks the fewest."""
        raised = [
            [c for c in o.calls if c.after in self.followed_up and c not in self.dropped] for o in self.case.outcomes
        ]
        return min(([c for c in due if not self.made(c, talk)] for due in raised), key=len, default=[])

    def made(self, wish: Call, talk: ConversationState, *, exactly: bool = False) -> bool:
        """Return whether a successful write call fulfils a wish, by its distinguishing arguments.

        With `exactly`, all arguments of the wish must agree.
        """
        done = [c for c in talk.desk.calls if c.write and not c.error]
        return any(self._same(wish, c) and (not exactly or agrees(wish.arguments, c.named)) for c in done)

    def _same(self, wish: Call, made: ToolCall) -> bool:
        if wish.tool != made.name or not isinstance(made.arguments, dict):
            return False
        subject = self.kind.look_up[1]
        own_value = wish.arguments.get(subject)
        if own_value is not None and str(made.arguments.get(subject, "")).casefold() != str(own_value).casefold():
            return False
        return all(
            agrees({name: wish.arguments[name]}, made.arguments)
            or (name in made.arguments and agrees({name: made.arguments[name]}, wish.arguments))
            for name in self._telling(wish)
        )

    def _telling(self, wish: Call) -> list[str]:
        """Return the arguments that distinguish a wish from others of its tool in the same outcome."""
        together = [o.calls for o in self.case.outcomes if wish in o.calls]
        siblings = [c.arguments for calls in together for c in calls if c.tool == wish.tool]
        return [name for name, value in wish.arguments.items() if any(b.get(name) != value for b in siblings)]

    def served(self, talk: ConversationState) -> bool:
        """Return whether the wish is fulfilled, by successful calls or by the agent's claims.

        Ignore follow-ups that are still to come.
        """
        if any(self._done(o, talk) for o in self.case.outcomes if not o.handover and (o.calls or self.resolvable)):
            return True
        if self.resolvable or self.case.check:
            return False
        return bool(self.claimed & (self.case.agreeable - {HANDOVER, *self.kind.aside}))

    def _done(self, outcome: Outcome, talk: ConversationState) -> bool:
        later, tools = self.later(), [c.tool for c in outcome.calls]
        made = {c.name for c in talk.desk.calls if c.write and not c.error}
        return all(
            c.after in later
            or c in self.dropped
            or (self.made(c, talk) if tools.count(c.tool) > 1 else c.tool in self.claimed or c.tool in made)
            for c in outcome.calls
        )

    def given(self, talk: ConversationState) -> bool:
        """Return whether every call wanted so far is made, with at least one call in the outcome."""
        later = self.later()
        wanted = ([c for c in o.calls if c not in self.dropped] for o in self.case.outcomes if not o.handover)
        due = ([c for c in calls if c.after not in later or self.made(c, talk)] for calls in wanted)
        return any(calls and all(self.made(c, talk) for c in calls) for calls in due)

    def later(self) -> set[int | None]:
        """Return the indices of the ``served`` follow-ups that have not been raised yet."""
        return {i for i, f in enumerate(self.case.followups) if f.when == "served" and i not in self.followed_up}

    def untold(self, talk: ConversationState) -> list[tuple[str, Fact]]:
        """Return the facts missing in the fulfilled outcome that lacks the fewest, if any."""
        reached = (o for o in self.case.outcomes if self.resolvable and not o.handover and self._done(o, talk))
        return min((self._missing(o, talk) for o in reached), key=len, default=[])

    def unanswered(self, talk: ConversationState) -> list[tuple[str, Fact]]:
        """Return the facts still missing, whatever was done, in the outcome that lacks the fewest."""
        return min((self._missing(o, talk) for o in self.case.outcomes), key=len)

    def _missing(self, outcome: Outcome, talk: ConversationState) -> list[tuple[str, Fact]]:
        names = self.case.facts if outcome.facts is None else outcome.facts
        later = self.later()
        due = [(n, self.case.facts[n]) for n in names if self.case.facts[n].after not in later]
        texts = [m.text for m in talk.messages if m.side == "agent"]
        return [(n, f) for n, f in due if not any(told_in(f, words) for words in texts)]


def told_in(fact: Fact, words: str) -> bool:
    """Return whether a message contains a fact's value."""
    return fact.found_in(fold(cleaned(words)))
