"""Who can take part in a conversation, what a side says, and how a side can fail."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from ..records import Act


class Speaker(Protocol):
    """Anything that can take part in a talk; a plain ``def`` will do as well as an ``async def``."""

    def reply(self, talk: Any) -> str | Reply | Awaitable[str | Reply]:
        """The next message of this side.

        Of a customer, which is given the `ConversationState`, or of an agent, which is given an `AgentView`.
        """


class BuiltIn:
    """An agent that comes with the benchmark. Only when one of these says that the provider failed is it believed."""

    async def close(self) -> None:
        """Let go of what the conversation held."""


class Insider(BuiltIn):
    """A built-in agent that marks a floor or the ceiling.

    It is made with the case in hand, and the loop tells it the customer's acts.
    """

    def __init__(self) -> None:
        self.acts: list[Act] = []


class Reply:
    """A message with the acts that go with it; `text` alone will do for an agent.

    Parameters
    ----------
    acts : list of Act, optional
        What the customer did with them.
    attachments : list of str, optional
        ``photo`` or ``label``; only what the ledger holds is passed on.
    """

    __slots__ = ("text", "acts", "attachments")

    def __init__(self, text: str, acts: list[Act] | None = None, attachments: list[str] | None = None):
        self.text, self.acts, self.attachments = text, acts or [], attachments or []


class AgentFault(Exception):
    """The model failed: `kind` says how. Ends the talk as ``agent_fault``."""

    def __init__(self, kind: str, detail: str = ""):
        super().__init__(detail or kind)
        self.kind = kind


RELAYS: set[type] = set()
"""Agents of an extra that run a user's own agent elsewhere: a fault they report is believed."""


class HarnessFault(Exception):
    """An isolated agent's process did not start; never scored as the agent's failure."""


class ContentFiltered(Exception):
    """The provider's filter stopped a reply."""


class CustomerFault(Exception):
    """The simulated customer failed; never scored as the model's failure."""
