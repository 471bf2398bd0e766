"""How far a conversation has come for its customer: what it still wants, what it was told, whether it is served."""

from ..cases import Call, Case, Fact, Outcome
from ..language.answers import cleaned
from ..language.folding import fold
from ..records import ToolCall
from ..store.consent import agrees
from ..store.every_desk import HANDOVER
from ..store.kinds import DeskKind
from .state import ConversationState


class CustomerProgress:
    """What a customer knows of its case's state.

    Attributes
    ----------
    claimed : set of str
        Tools that the desk says it has carried out.
    followed_up : set of int
        Places of the follow-ups that have been brought up.
    pushes : int
        How often the customer has pushed.
    dropped : list of Call
        What it no longer waits for, since the desk does not do it.
    """

    def __init__(self, case: Case, kind: DeskKind):
        self.case, self.kind = case, kind
        self.claimed: set[str] = set()
        self.followed_up: set[int] = set()
        self.pushes = 0
        self.dropped: list[Call] = []

    @property
    def resolvable(self) -> bool:
        """Whether what the customer wants can be done."""
        return self.case.bucket == "resolvable"

    @property
    def accepting(self) -> bool:
        """Whether it has pushed as often as it does before it takes a no."""
        return self.pushes >= (self.case.pushes_before_accepting or 0)

    def open_wishes(self, talk: ConversationState) -> list[Call]:
        """The calls it wants, as far as they have not been made."""
        wishes = [c for o in self.case.outcomes for c in o.calls if c.tool != HANDOVER]
        if not self.resolvable or not self.accepting or not self.pushes:
            wishes += self.case.requested
        wishes += [Call(tool=t) for t in self.case.accepts if t not in {w.tool for w in wishes}]
        found: list[Call] = []
        for wish in wishes:
            given_up = any(wish.tool == c.tool and wish.arguments == c.arguments for c in self.dropped)
            if wish not in found and not given_up and not self.made(wish, talk):
                found.append(wish)
        return found

    def pending(self, talk: ConversationState) -> list[Call]:
        """What it has asked for in something it brought up, by the outcome of which most is done, as far as it has not been done."""
        raised = [
            [c for c in o.calls if c.after in self.followed_up and c not in self.dropped] for o in self.case.outcomes
        ]
        return min(([c for c in due if not self.made(c, talk)] for due in raised), key=len, default=[])

    def made(self, wish: Call, talk: ConversationState, *, exactly: bool = False) -> bool:
        """Whether a call that went through is the one wished for, as far as the wish names what it is about, or in all that it names."""
        done = [c for c in talk.desk.calls if c.write and not c.error]
        return any(self._same(wish, c) and (not exactly or agrees(wish.arguments, c.named)) for c in done)

    def _same(self, wish: Call, made: ToolCall) -> bool:
        if wish.tool != made.name or not isinstance(made.arguments, dict):
            return False
        subject = self.kind.look_up[1]
        mine = wish.arguments.get(subject)
        if mine is not None and str(made.arguments.get(subject, "")).casefold() != str(mine).casefold():
            return False
        return all(
            agrees({name: wish.arguments[name]}, made.arguments)
            or (name in made.arguments and agrees({name: made.arguments[name]}, wish.arguments))
            for name in self._telling(wish)
        )

    def _telling(self, wish: Call) -> list[str]:
        """The arguments by which a wish is told from others of its tool that stand in one outcome with it."""
        together = [o.calls for o in self.case.outcomes if wish in o.calls]
        beside = [c.arguments for calls in together for c in calls if c.tool == wish.tool]
        return [name for name, value in wish.arguments.items() if any(b.get(name) != value for b in beside)]

    def served(self, talk: ConversationState) -> bool:
        """Whether what it wanted done is done, by the calls that went through or by what it was told; follow-ups that are still to come apart."""
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
        """Whether all that it wants done so far is done, and there was something to do."""
        later = self.later()
        wanted = ([c for c in o.calls if c not in self.dropped] for o in self.case.outcomes if not o.handover)
        due = ([c for c in calls if c.after not in later or self.made(c, talk)] for calls in wanted)
        return any(calls and all(self.made(c, talk) for c in calls) for calls in due)

    def later(self) -> set[int | None]:
        """Follow-ups that have not come up yet, by their places."""
        return {i for i, f in enumerate(self.case.followups) if f.when == "served" and i not in self.followed_up}

    def untold(self, talk: ConversationState) -> list[tuple[str, Fact]]:
        """The facts it still waits for, by the outcome that comes closest; none where it knows all it asked for."""
        reached = (o for o in self.case.outcomes if self.resolvable and not o.handover and self._done(o, talk))
        return min((self._missing(o, talk) for o in reached), key=len, default=[])

    def unanswered(self, talk: ConversationState) -> list[tuple[str, Fact]]:
        """The facts it still waits for, whatever has been done, by the outcome that asks for the fewest more."""
        return min((self._missing(o, talk) for o in self.case.outcomes), key=len)

    def _missing(self, outcome: Outcome, talk: ConversationState) -> list[tuple[str, Fact]]:
        names = self.case.facts if outcome.facts is None else outcome.facts
        later = self.later()
        due = [(n, self.case.facts[n]) for n in names if self.case.facts[n].after not in later]
        said = [m.text for m in talk.messages if m.side == "agent"]
        return [(n, f) for n, f in due if not any(told_in(f, words) for words in said)]


def told_in(fact: Fact, words: str) -> bool:
    """Whether a fact's value stands in a message."""
    return fact.found_in(fold(cleaned(words)))
