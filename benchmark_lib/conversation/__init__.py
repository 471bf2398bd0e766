"""Agent and customer talk: one case, one trial, one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .customer import ScriptedCustomer
from .isolated import IsolatedAgent, check_isolated, environment_of
from .model_agent import ModelAgent
from .model_customer import ModelCustomer, customer_content
from .scripted import AGENTS, parse_spec, scripted_agent
from .talk import AgentFault, ContentFiltered, CustomerFault, Reply, Speaker, Talk, converse

if TYPE_CHECKING:
    from ..cases import Case
    from ..store import Store

__all__ = ["AGENTS", "AgentFault", "ContentFiltered", "CustomerFault", "IsolatedAgent", "ModelAgent", "ModelCustomer", "Reply",
           "ScriptedCustomer", "Speaker", "Talk", "check_isolated", "converse", "customer_content", "environment_of", "make_agent", "make_customer", "parse_spec"]  # fmt: skip


def make_agent(spec: str, *, case: "Case", store: "Store", complete: Any = None) -> Any:
    """The agent for one conversation: a scripted one, or a model behind `complete`."""
    if spec.startswith("scripted:"):
        return scripted_agent(spec, case, store)
    return ModelAgent(complete)


def make_customer(spec: str, *, case: "Case", store: "Store", complete: Any = None) -> Any:
    """The customer for one conversation: ``scripted``, which needs no model, or a model behind `complete`."""
    return ScriptedCustomer(case, store) if spec == "scripted" else ModelCustomer(complete, case, store)
