"""The interface between a tau2 domain and the core: its cases, agents, customers and scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...cases import Case
from ...records import Conversation
from . import cases, speakers
from .score import tau_score
from .store import TauStore, domain_named, floor_of, known_of


def named(name: str) -> Tau2:
    """Return the domain that a store's name contains; raise `BadInput` for an unknown domain."""
    return Tau2(str(domain_named(name)))


@dataclass(frozen=True)
class Tau2:
    """One domain; the package is loaded on first use of a task."""

    domain: str
    scripted = speakers.OF_TAU

    @cached_property
    def store(self) -> TauStore:
        """Return the domain as a store."""
        return TauStore(self.domain)

    @property
    def floor(self) -> float:
        """Return the share of tasks that an agent passes by doing nothing."""
        return float(floor_of(f"tau:{self.domain}") or 0)

    def cases(self) -> tuple[Case, ...]:
        """Return every base task as a case."""
        return cases.tau_cases(self.store)

    def choose(self, pattern: str) -> list[Case]:
        """Return the cases that a pattern names."""
        return cases.choose(self.store, pattern)

    def agent(self, spec: str, case: Case) -> Any:
        """Return a scripted agent; raise `BadInput` for one that plays only our own cases."""
        return speakers.tau_agent(spec, case, self.store)

    def resumed(self, agent: Any, case: Case) -> Any:
        """Return the agent unchanged, because a task begins with its first message."""
        return agent

    def customer(self, spec: str, case: Case, complete: Any) -> Any:
        """Return the customer of a task."""
        return speakers.tau_customer(spec, case, self.store, complete)

    def customer_prompt(self, case: Case) -> str:
        """Return the system prompt of the model that plays the customer."""
        return str(self.store.package.customer_prompt(self.store.task(case)))

    def score(self, conversation: Conversation, case: Case) -> dict[str, Any]:
        """Return the score that the package's evaluators give a conversation."""
        return tau_score(conversation, case, self.store)

    def summary(self, share: str, scores: list[dict[str, Any]]) -> str:
        """Describe the successes of a run, with the number of tasks that an idle agent passes."""
        bases = ", ".join(sorted({str(s.get("reward_basis")) for s in scores}))
        floor = known_of(self.domain)["floor"]
        return (
            f"tau {self.domain} {share or '0/0'} (graded by {bases}); "
            f"doing nothing passes {floor['passed']} of its {floor['tasks']} tasks"
        )
