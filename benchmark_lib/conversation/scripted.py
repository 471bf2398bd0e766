"""Scripted agents.

They are not models, but use the same loop, tools and scorer, and mark the benchmark's ceiling and floors.
"""

from functools import partial
from math import inf
from typing import Any

import numpy as np
import orjson

from ..cases import Case
from ..cases.operator_rules import HEADING
from ..errors import BadInput
from ..extension import offer, offered
from ..project import DATA
from ..store import Store
from ..store.every_desk import HANDOVER
from ..textfiles import read_yaml
from .agent_view import AgentView
from .oracle import Oracle, Scripted
from .speaker import Reply, Speaker

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
