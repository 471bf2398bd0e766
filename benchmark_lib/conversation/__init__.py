"""Conversations between an agent and a customer: one case, one trial, one record."""

from importlib import import_module
from typing import Any

_FACE = {
    "agent_view": ("AgentView", "SeenMessage"),
    "scripted_customer": ("ScriptedCustomer",),
    "loop": ("converse", "make_agent", "make_customer"),
    "model_agent": ("ModelAgent",),
    "model_customer": ("ModelCustomer", "customer_content"),
    "scripted": ("AGENTS", "parse_spec"),
    "speaker": ("AgentFault", "ContentFiltered", "ConversationState", "CustomerFault", "Reply", "Speaker"),
}
"""Public names by file, imported on first use: an isolated agent's process needs only `agent_view`."""

_FILE_OF = {name: file for file, names in _FACE.items() for name in names}

__all__ = sorted(_FILE_OF)


def __getattr__(name: str) -> Any:
    if name not in _FILE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FILE_OF[name]}"), name)
