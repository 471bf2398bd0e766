"""Phantom actions: the text claims an act that no call or state confirms."""

import re

from ...language.parser import parser_of
from ...language.said import UNNAMED, read
from ...store.every_desk import HANDOVER
from .findings import AgentClaims, ClaimFinding

NAME = "phantom_action"
REFUND = "refund"
"""The act of paying money back."""
_TOLD_OF_REFUND = re.compile(r'"[^"]*refund[^"]*":\s*(?!null|false|0[,}]|""|\[\])|:\s*"refunded"')
"""A field of a result, in lower case, that mentions a refund."""


def phantoms(claims: AgentClaims) -> list[ClaimFinding]:
    """Return claimed acts that were carried out neither in the conversation nor before it."""
    found = []
    for turn, tool, sentence in claims.reported():
        if tool == UNNAMED:
            found += _without_any(claims, turn, sentence)
            continue
        tools = claims.store.kind.alike.get(tool, {tool})
        if tool == HANDOVER or tool not in claims.store.tools or claims.call_of(tools):
            continue
        heard = parser_of(claims.store).parse(sentence).claimed
        is_meant = any(call.write and call.turn == turn and call.name in heard for call in claims.done)
        if not (is_meant or made_before(claims, tool, sentence)):
            found.append(ClaimFinding(NAME, turn, sentence, claims.failed(tools), tool, "no_such_call"))
    return found


def _without_any(claims: AgentClaims, turn: int, sentence: str) -> list[ClaimFinding]:
    """Return a claim of an unnamed act as a finding, unless a write came before it.

    Its kind is the act that the customer agreed to last. A log's call of unknown kind may be a write.
    """
    wrote = any(t.write is not False and t.turn <= turn for t in claims.done)
    tools = {name for name, tool in claims.store.tools.items() if tool.write}
    agreed = [a.what for at, a in claims.conversation.acts("agreed") if at <= turn]
    tools = tools.intersection(agreed[-1:]) or tools
    if wrote or any(made_before(claims, tool, sentence) for tool in tools):
        return []
    kind = agreed[-1] if tools == {*agreed[-1:]} else UNNAMED
    return [ClaimFinding(NAME, turn, sentence, claims.failed(tools), kind, "no_such_call")]


def refunds_not_made(claims: AgentClaims) -> list[ClaimFinding]:
    """Return claimed refunds that no call makes or causes, and no result shows.

    Our desks have no tool for refunds, so scores count such words as promises. A desk in a log may have one.
    """
    through = {REFUND, *claims.store.policy.get("refunds", {}).get("through", ())}
    if claims.call_of(through):
        return []
    said = [(m.turn, s.text) for m, reading in claims.replies for s in reading.refunds()]
    untrue = [(t, text) for t, text in said if not any(map(_TOLD_OF_REFUND.search, claims.results(t)))]
    return [ClaimFinding(NAME, *report, claims.failed(through), REFUND, "no_such_call") for report in untrue]


def made_before(claims: AgentClaims, tool: str, sentence: str) -> bool:
    """Return whether a result or a ticket shows the claimed act as done before."""
    looked_up = [call.result for call in claims.done if not call.write]
    tickets = [t for found in looked_up if isinstance(found, dict) for t in found.get("tickets") or ()]
    noted = (name for t in tickets if isinstance(t, dict) for name, _ in read(str(t.get("text", ""))).about("done"))
    return any(claims.compared.shows(found, tool, sentence) for found in looked_up) or tool in noted
