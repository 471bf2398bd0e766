"""Speakers of a conversation, their replies, and their faults."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from ..records import Act


class Speaker(Protocol):
    """A participant of a conversation; `reply` may be a plain ``def`` or an ``async def``."""

    def reply(self, talk: Any) -> str | Reply | Awaitable[str | Reply]:
        """Return the next message of this side.

        A customer gets the `ConversationState`, an agent an `AgentView`.
        """


class BuiltIn:
    """An agent of this package; only such an agent is trusted when it reports a fault of the provider."""

    async def close(self) -> None:
        """Release the resources of the conversation."""


class Insider(BuiltIn):
    """A built-in agent that marks a floor or the ceiling.

    It knows the case, and the loop passes it the customer's acts.
    """

    def __init__(self) -> None:
        self.acts: list[Act] = []


class Reply:
    """A message with its acts; an agent needs only `text`.

    Parameters
    ----------
    acts : list of Act, optional
        The customer's acts in this message.
    attachments : list of str, optional
        ``photo`` or ``label``; the loop drops attachments that are not in the ledger.
    """

    __slots__ = ("text", "acts", "attachments")

    def __init__(self, text: str, acts: list[Act] | None = None, attachments: list[str] | None = None):
        self.text, self.acts, self.attachments = text, acts or [], attachments or []


class AgentFault(Exception):
    """The agent failed in the way of `kind`; ends the conversation as ``agent_fault``."""

    def __init__(self, kind: str, detail: str = ""):
        super().__init__(detail or kind)
        self.kind = kind


RELAYS: set[type] = set()
"""Agents of an extra that run the user's own agent elsewhere: the faults they report are trusted."""


class HarnessFault(Exception):
    """An isolated agent's process did not start; never scored as the agent's failure."""


class Cut(Exception):
    """The conversation stops here, on purpose: a fork has made its next deciding act."""


class ContentFiltered(Exception):
    """The provider's filter stopped a reply."""


class CustomerFault(Exception):
    """The simulated customer failed; never scored as the agent's failure."""
