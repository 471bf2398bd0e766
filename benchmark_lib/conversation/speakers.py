"""Factories of agent and customer for one conversation, by their names in a run."""

from typing import Any

from ..cases import Case
from ..store import Store
from .customer import ScriptedCustomer
from .model_agent import ModelAgent
from .model_customer import ModelCustomer
from .scripted import scripted_agent
from .speaker import Speaker


def make_agent(spec: str, *, case: Case, store: Store, complete: Any = None) -> Speaker:
    """Return the agent of one conversation: a scripted agent, or a model behind `complete`."""
    if spec.startswith("scripted:") and store.foreign:
        return store.foreign.agent(spec, case)  # type: ignore[no-any-return]
    if spec.startswith("scripted:"):
        return scripted_agent(spec, case, store)
    agent = ModelAgent(complete)
    return store.foreign.resumed(agent, case) if store.foreign else agent


def make_customer(spec: str, *, case: Case, store: Store, complete: Any = None) -> Speaker:
    """Return the customer of one conversation: ``scripted``, or a model behind `complete`."""
    if store.foreign:
        return store.foreign.customer(spec, case, complete)  # type: ignore[no-any-return]
    store = store.of(case)
    return ScriptedCustomer(case, store) if spec == "scripted" else ModelCustomer(complete, case, store)
