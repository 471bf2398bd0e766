"""Phantom actions: the text says that something was done, and there is no such call and no such state."""

from __future__ import annotations

from ...store.every_desk import HANDOVER
from .findings import AgentClaims, ClaimFinding

NAME = "phantom_action"


def phantoms(claims: AgentClaims) -> list[ClaimFinding]:
    """Actions that are claimed and were carried out neither in the conversation, before the claim or after it, nor before."""
    found = []
    for turn, tool, sentence in claims.reported():
        tools = claims.store.kind.alike.get(tool, {tool})
        if tool == HANDOVER or tool not in claims.store.tools:
            continue
        if claims.call_of(tools) or _stood_before(claims, tool, sentence):
            continue
        found.append(ClaimFinding(NAME, turn, sentence, claims.failed(tools), tool, "no_such_call"))
    return found


def _stood_before(claims: AgentClaims, tool: str, sentence: str) -> bool:
    """Whether a result shows the state that the sentence claims.

    The order had been cancelled, returned or sent again before the talk.
    """
    return any(claims.store.kind.shows(call.result, tool, sentence) for call in claims.done if not call.write)
