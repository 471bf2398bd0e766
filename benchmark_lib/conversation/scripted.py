"""Scripted agents.

They are not models, but use the same loop, tools and scorer, and mark the benchmark's ceiling and floors. The oracle,
the ceiling, plays a case to an accepted outcome without breaking a rule.
"""

from functools import partial
from math import inf
from typing import Any

import numpy as np
import orjson

from ..cases import Call, Case, Fact, Outcome
from ..cases.operator_rules import HEADING
from ..cases.read import long_date
from ..errors import BadInput
from ..extension import offer, offered
from ..language.values import money
from ..project import DATA
from ..records import ToolCall
from ..store import Store
from ..store.desk import HANDOVER
from ..store.rules import Before
from ..store.tools import met
from ..textfiles import read_yaml
from .agent_view import AgentView
from .speaker import Insider, Reply, Speaker

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


LONGEST_REPLY = 70
"""Words after which a reply is cut; with its signature and joining words it stays below 80."""
OFTEN = 12
"""Number of times that the rule breaker repeats a sentence."""
Promise = partial(Scripted, says="empty_promise")
"""An agent that politely promises to look into the matter, and does nothing."""


class EscalateAll(Scripted):
    """Hands every case over at once."""

    def reply(self, talk: AgentView) -> str:
        """Hand over."""
        queue = next(reversed(self.store.policy["queues"]))
        talk.call(HANDOVER, queue=queue, reason="handed over unread", summary="Nothing was checked.")
        return self.book["agent"]["handover"]


class ComplyAll(Scripted):
    """Believes every claim and makes every requested call at once, without checks."""

    def reply(self, talk: AgentView) -> str:
        """Make the requested calls in the first turn, and report them."""
        for call in self.case.requested if talk.turn == 1 else []:
            talk.call(call.tool, self.whole(call))
        return " ".join([self.book["agent"]["sorry"], *(self.line(call, "done") for call in self.case.requested)])


class Spam(Scripted):
    """Looks up all it can with the sender's address and discloses every value."""

    def reply(self, talk: AgentView) -> str:
        """Return everything the desk knows about the sender, as text."""
        if talk.turn > 1:
            return "All the information is in my first message."
        return "\n".join(_values(self.store.kind.everything(talk.call, self.case, talk.messages[0].text)))


class Echo(Scripted):
    """Repeats the customer's message."""

    def reply(self, talk: AgentView) -> str:
        """Return the customer's own words."""
        return talk.words("customer")


class Tunable(Scripted):
    """An agent with known true rates: it draws once whether it does the right thing.

    `skill` is its chance of playing a resolvable or must-escalate case as the oracle does, `credulity` of complying
    with a trap, `caution` of handing a resolvable case over at once. `verbosity` is its mean number of extra closing
    sentences.
    """

    def __init__(
        self,
        case: Case,
        store: Store,
        skill: float = 0.8,
        credulity: float = 0.2,
        caution: float = 0.1,
        verbosity: float = 0.0,
    ):
        super().__init__(case, store)
        self.skill, self.credulity, self.caution, self.verbosity = skill, credulity, caution, verbosity
        self.inner: Any = None

    def reply(self, talk: AgentView) -> Any:
        """Return the reply of the agent drawn for this conversation."""
        if self.inner is None:
            self.inner = self._draw(talk.rng)(self.case, self.store)
        self.inner.acts = self.acts
        answer = self.inner.reply(talk)
        text = answer.text if isinstance(answer, Reply) else answer
        extra = talk.rng.poisson(self.verbosity) if self.verbosity else 0
        return " ".join([text, *[self.book["agent"]["sorry"]] * int(extra)])

    def _draw(self, rng: np.random.Generator) -> Any:
        lot = rng.random()
        if self.case.bucket == "adversarial":
            return ComplyAll if lot < self.credulity else Oracle
        if self.case.bucket == "must_escalate":
            return Oracle if lot < self.skill else Promise
        if lot < self.caution:
            return EscalateAll
        return Oracle if rng.random() < self.skill else Promise


class RuleKeeper(Oracle):
    """Keeps rules in its first answers: asks for the ticket number, cuts long replies, signs."""

    def __init__(self, case: Case, store: Store, keeps_until: float = inf):
        super().__init__(case, store)
        self.keeps_until = keeps_until

    def reply(self, talk: AgentView) -> Reply:
        """Return the oracle's reply, reworded if the prompt has rules."""
        if HEADING not in talk.prompt:
            return super().reply(talk)
        says = read_yaml(DATA / "rule_agents.yaml")
        if talk.turn == 1 <= self.keeps_until:
            return Reply(self._signed(says["asks"].get(self.case.language, says["asks"]["en"])))
        reply = super().reply(talk)
        other = "de" if self.case.language == "en" else "en"
        broken = f"{says['opens'][other]}{says['repeats'][other] * OFTEN}\n\n{reply.text}"
        text = self._signed(reply.text) if talk.turn <= self.keeps_until else broken
        return Reply(text, reply.acts, reply.attachments)

    def _signed(self, text: str) -> str:
        words = text.split()
        brief = text if len(words) <= LONGEST_REPLY else " ".join(words[:LONGEST_REPLY])
        return f"{brief}\n\n{self.store.title}"


AGENTS: dict[str, Any] = {
    "oracle": Oracle,
    "no_op": Promise,
    "refuse_all": partial(Scripted, says="refusal"),
    "escalate_all": EscalateAll,
    "comply_all": ComplyAll,
    "spam": Spam,
    "echo": Echo,
    "tunable": Tunable,
}
"""Scripted agents by name, with settings as in ``scripted:tunable?skill=0.7``."""
RULED = {
    f"rule_{name}": partial(RuleKeeper, keeps_until=answers)
    for name, answers in (("keeper", inf), ("breaker", 0), ("forgetter", 5))
}
"""Agents that keep or break rules and otherwise act like the oracle, to test the rule detectors."""


def scripted_agent(spec: str, case: Case, store: Store) -> Speaker:
    """Return the scripted agent named by ``scripted:<name>[?setting=value&...]``."""
    maker, settings = parse_spec(spec)
    return maker(case, store, **settings) if maker in (AGENTS | RULED).values() else maker()


def parse_spec(spec: str) -> tuple[Any, dict[str, float]]:
    """Split ``scripted:<name>[?settings]`` into agent and settings; raise `BadInput` if invalid."""
    from urllib.parse import parse_qsl

    name, _, query = spec.removeprefix("scripted:").partition("?")
    every: dict[str, Any] = AGENTS | RULED | ({} if name in AGENTS | RULED else _sly())
    if name not in every:
        sly = f", or a sly one such as {next(iter(_sly()))}; `deskbench audit` lists them" if _sly() else ""
        raise BadInput(f"no scripted agent {name!r}: choose one of {', '.join([*AGENTS, *RULED])}{sly}")
    known = {"tunable": ("skill", "credulity", "caution", "verbosity"), "oracle": ("outcome",)}.get(name, ())
    settings: dict[str, float] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key not in known:
            raise BadInput(f"{spec!r}: {name} has no setting {key!r}; it has {', '.join(known) or 'none'}")
        try:
            settings[key] = int(value) if key == "outcome" else float(value)
        except ValueError:
            raise BadInput(f"{spec!r}: {key} must be a number, not {value!r}") from None
        if name == "tunable" and key != "verbosity" and not 0 <= settings[key] <= 1:
            raise BadInput(f"{spec!r}: {key} is a probability and must be between 0 and 1")
    return every[name], settings


def _sly() -> dict[str, type]:
    # Empty if the audit is not installed.
    agents: dict[str, type] = offer("agents", "sly") if "sly" in offered("agents") else {}
    return agents


def _values(results: Any) -> list[str]:
    if isinstance(results, dict):
        leaves = []
        for key, value in results.items():
            if key.endswith("_cents") and isinstance(value, int):
                leaves.append(f"${value / 100:,.2f}")
            leaves += [f"{key} {v}" for v in _values(value)]
        return leaves
    if isinstance(results, list):
        return [v for r in results for v in _values(r)]
    return [results if isinstance(results, str) else orjson.dumps(results).decode()]
