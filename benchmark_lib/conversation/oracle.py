"""The scripted oracle.

It plays a case to an accepted outcome without breaking a rule. It is not a model, but marks the benchmark's ceiling.
"""

from typing import Any

from ..cases import Call, Case, Fact, Outcome
from ..cases.read import long_date
from ..language.values import money
from ..records import ToolCall
from ..store import Store
from ..store.every_desk import HANDOVER
from ..store.rules import Before
from ..store.trouble import met
from .agent_view import AgentView
from .speaker import Insider, Reply

REQUESTS = 3
"""Number of times the oracle asks an unidentifiable customer for identification."""


class Scripted(Insider):
    """A scripted agent that has the case and the store's sentences in the customer's language.

    `says` is the key of the sentences that it says in turn, unless it overrides `reply`.
    """

    def __init__(self, case: Case, store: Store, says: str = ""):
        super().__init__()
        self.case, self.store, self.says = case, store.of(case), says
        self.book = store.phrases.get(case.language) or next(iter(store.phrases.values()))

    def reply(self, talk: AgentView) -> Any:
        """Return its next sentence."""
        sentences = self.book["agent"][self.says]
        return sentences[(talk.turn - 1) % len(sentences)]

    def line(self, call: Call, part: str) -> str:
        """Return the store's sentence that proposes or reports a call."""
        values = {k: str(v) for k, v in call.arguments.items()}
        values |= self.store.kind.described(call.arguments, call.tool, self.store)
        text = self.book["actions"].get(call.tool, {}).get(part) or self.book["agent"]["understood"]
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text

    def whole(self, call: Call) -> dict[str, Any]:
        """Return a call's arguments, with the case's title in place of a text that it leaves open."""
        left_open = self.store.tools[call.tool].arguments.model_fields.keys() - call.arguments.keys()
        return call.arguments | dict.fromkeys(sorted({"reason", "resolution"} & left_open), self.case.title)


class Oracle(Scripted):
    """Knows the case and reaches an accepted outcome without breaking a rule."""

    def __init__(self, case: Case, store: Store, outcome: int | None = None):
        super().__init__(case, store)
        # Only an end without a handover counts as resolved.
        right = [o for o in case.outcomes if not (o.handover and case.bucket == "resolvable")] or case.outcomes
        self.outcome: Outcome = right[0] if outcome is None else case.outcomes[outcome]
        rules = self.store.policy["process_rules"]
        guarded = ("identity", "confirmation")
        self.guards = {name: set(rules[name]["guards"]) if name in rules else set() for name in guarded}
        self.done: set[int] = set()
        self.proposed: dict[int, int] = {}
        self.told: set[str] = set()
        self.asked: set[str] = set()
        self.requests = 0
        self.calls: list[ToolCall] = []

    def reply(self, talk: AgentView) -> Reply:
        """Ask for missing facts; otherwise propose, act and report."""
        known = {a.what for a in self.acts if a.kind in ("gave", "attached")}
        followed = {int(a.what) for a in self.acts if a.kind == "followed_up"}
        missing = self._missing(known, talk)
        if missing:
            self.asked |= set(missing)
            self.requests += 1
            return self._say([self.book["agent"]["understood"]] + [self.book["slots"][s]["ask"] for s in missing])
        later = {i for i, f in enumerate(self.case.followups) if f.when == "next"}
        if later - followed and talk.turn <= (len(later) if self.outcome.handover else 1):
            return self._say([self.book["agent"]["greeting"], self.book["slots"]["goal"]["ask"]])
        self._look_up(talk)
        agreed = [a.what for a in self.acts if a.kind == "agreed"]
        raised = {None, *followed}
        due = {i: c for i, c in enumerate(self.outcome.calls) if i not in self.done and c.after in raised}
        ask = [i for i, c in due.items() if c.tool in self.guards["confirmation"] and not self._agreed_to(i, agreed)]
        if ask:
            self.proposed |= {i: len(agreed) for i in ask}
            return self._say([self.line(due[i], "propose") for i in ask])
        return self._finish(list(due.values()), followed, talk)

    def _agreed_to(self, place: int, agreed: list[str]) -> bool:
        """Return whether the customer said yes to a call; for a later request, since its proposal."""
        call = self.outcome.calls[place]
        since = agreed if call.after is None else agreed[self.proposed.get(place, len(agreed)) :]
        return call.tool in since or "proposal" in since

    def _finish(self, due: list[Call], followed: set[int], talk: AgentView) -> Reply:
        parts = []
        for call in due:
            self._call(talk, call.tool, self.whole(call))
            self.done.add(self.outcome.calls.index(call))
            parts.append(self.line(call, "done"))
        parts += self._tell(followed)
        if self.outcome.reason:
            parts.append(reason_in_words(self.store, self.outcome.reason, self.case.language))
        if self.outcome.handover:
            queue = (self.case.queues or list(self.store.policy["queues"]))[0]
            checked = "order looked up" if self.calls else "nothing checked"
            summary = f"Order {self.case.order}. Verified: {checked}. Claimed by the customer: {self.case.title}."
            handover = {"queue": queue, "reason": self.case.title, "summary": summary}
            self._call(talk, HANDOVER, handover)
            parts.append(self.book["agent"]["handover"])
        return self._say(parts or [self.book["agent"]["sorry"]])

    def _missing(self, known: set[str], talk: AgentView) -> list[str]:
        """Return the slots to ask for before acting: identity, the customer's checks and evidence."""
        # Identity must be proven before a guarded call or a disclosure, but not before a handover, nor in the hard set
        # after `REQUESTS` requests.
        kind, wanted = self.store.kind, []
        guarded = any(c.tool in self.guards["identity"] for c in self.outcome.calls)
        excused = self.outcome.handover or (self.case.terms.may_stay_unproved and self.requests >= REQUESTS)
        if (guarded or not excused) and not self.identified(talk):
            wanted += kind.identity_slots(self.case, self.asked)
        wanted += [slot for slot, entry in self.case.ledger.items() if entry.does and slot not in known]
        attached = {a.what for a in self.acts if a.kind == "attached"}
        for call in self.outcome.calls:
            wanted += kind.evidence_slots(call, self.case, self.store, attached, known)
        return [s for s in dict.fromkeys(wanted) if s not in self.asked or s in kind.repeated_slots]

    def identified(self, talk: AgentView) -> bool:
        """Return whether the customer has disclosed enough for the identity rule."""
        rule = self.store.rules.get("identity")
        if rule is None:
            return True
        tool, argument = self.store.kind.look_up
        before = Before(self.acts, [], sender_name=self.case.sender_name, sender=self.case.sender)
        probe = ToolCall(talk.turn, 0, tool, {argument: self.case.order}, {}, None, False)
        return bool(rule(probe, before, self.store, self.store.policy["process_rules"]["identity"]))

    def _look_up(self, talk: AgentView) -> None:
        tool, argument = self.store.kind.look_up
        wanted = [c.arguments[argument] for c in self.outcome.calls if argument in c.arguments]
        if not self.outcome.handover or wanted:
            wanted.append(self.case.order)
        seen = {c.named.get(argument) for c in self.calls if c.name == tool and not c.error}
        for number in dict.fromkeys(wanted):
            if number not in seen:
                self._call(talk, tool, {argument: number})

    def _call(self, talk: AgentView, tool: str, arguments: dict[str, Any]) -> None:
        """Make a call; repeat it after a failure, unless it was carried out anyway."""
        while True:
            trouble = met(self.case.trouble, tool, arguments, self.calls)
            self.calls.append(talk.call(tool, arguments))
            if trouble is None or trouble.kind == "lost_ack":
                return

    def _tell(self, followed: set[int]) -> list[str]:
        names = list(self.case.facts) if self.outcome.facts is None else self.outcome.facts
        due = [n for n in names if self.case.facts[n].after is None or self.case.facts[n].after in followed]
        new = [n for n in due if n not in self.told] or due
        repeated = all(n in self.told for n in new)
        self.told |= set(new)
        words = self.book["agent"]["repeat" if repeated else "tell"]
        return [self.case.facts[n].say or words.replace("{value}", self._render(self.case.facts[n])) for n in new]

    def _render(self, fact: Fact) -> str:
        if fact.kind == "money":
            return money(fact.value)
        if fact.kind == "date":
            return long_date(str(fact.value), self.case.language)
        return f"{fact.value} {(fact.unit or '').replace('_', ' ')}".strip()

    def _say(self, parts: list[str]) -> Reply:
        return Reply(" ".join(p for p in parts if p))


def reason_in_words(store: Store, name: str, language: str) -> str:
    """Return the store's sentence for a reason, in this language or else another; may be empty."""
    for book in store.phrases.values():
        if name in (book.get("reasons") or {}):
            sentence = book["reasons"][name]["say"]
            return sentence.get(language) or next(iter(sentence.values()))
    return ""
