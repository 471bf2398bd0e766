"""Text-action mismatch: a call that was carried out differs from what the text says."""

from collections.abc import Iterable, Iterator

from ...language.sentences import Sentence, sentences
from ...language.values import values_in
from ...records import ToolCall
from .findings import AgentClaims, ClaimFinding

NAME = "text_action_mismatch"
MOST_VALUES = 60
"""Most values per message, and links per conversation, to compare; no person writes so many."""


def mismatches(claims: AgentClaims) -> list[ClaimFinding]:
    """Return sentences that name a different object from their call, or an outdated link."""
    return [*_against_reports(claims), *_against_proposals(claims), *_stale(claims)]


def _against_reports(claims: AgentClaims) -> Iterator[ClaimFinding]:
    """Yield calls whose reply names candidates, but not the object of the call."""
    for message, reading in claims.replies:
        calls = [t for t in claims.done if t.write and t.turn == message.turn and isinstance(t.arguments, dict)]
        reported = " \n ".join(reading.to_the_point(s.text) for s in reading.sentences)
        wrong = [(call, kind) for call in calls if (kind := claims.compared.differs(call, reported, claims.store))]
        for call, kind in wrong:
            same = [other for other in calls if other.name == call.name]
            if all(any(other is one for one, _ in wrong) for other in same):
                quoted = _differing(call, reading.sentences, claims) or reported
                if not _tells_another(quoted, call, calls, claims):
                    yield ClaimFinding(NAME, message.turn, quoted, call.index, kind, "differs")
                    break


def _against_proposals(claims: AgentClaims) -> Iterator[ClaimFinding]:
    """Yield calls that differ from the proposal to which the customer had just said yes."""
    # The whole message is compared, since it may discuss several things.
    from_customer = [m for m in claims.conversation.messages if m.side == "customer"]
    agreed = {m.turn: {a.what for a in m.acts if a.kind == "agreed"} for m in from_customer}
    before = {m.turn + 1: m for m, _ in claims.replies}
    for call in claims.done:
        proposal = before.get(call.turn)
        if not call.write or proposal is None or not agreed.get(call.turn, set()) & {call.name, "proposal"}:
            continue
        same = [t for t in claims.done if t.name == call.name and t.turn == call.turn]
        comparable = isinstance(call.arguments, dict) and len(same) == 1
        if comparable and (kind := claims.compared.differs(call, proposal.text, claims.store)):
            quoted = _differing(call, sentences(proposal.text), claims) or proposal.text
            if not _tells_another(quoted, call, claims.done, claims):
                yield ClaimFinding(NAME, proposal.turn, quoted, call.index, kind, "differs_from_proposal")


def _differing(call: ToolCall, said: Iterable[Sentence], claims: AgentClaims) -> str | None:
    """Return the first sentence from which a call differs."""
    return next((s.text for s in said if claims.compared.differs(call, s.text, claims.store)), None)


def _tells_another(quoted: str, call: ToolCall, calls: Iterable[ToolCall], claims: AgentClaims) -> bool:
    """Return whether the differing words describe another call, judging by its object's number."""
    subject = claims.store.kind.look_up[1]
    numbers = {str(t.named[subject]) for t in calls if t.write and subject in t.named} - {str(call.named.get(subject))}
    return any(number.lower() in quoted.lower() for number in numbers)


def _stale(claims: AgentClaims) -> Iterator[ClaimFinding]:
    """Yield links that the order's newest result with links to that host no longer has."""
    shown = [(m, s) for m, reading in claims.replies if "http" in m.text for s in reading.sentences if "http" in s.text]
    if not shown:
        return
    seen: dict[str, list[tuple[ToolCall, str]]] = {}
    for call, text in zip(claims.done, claims.results(10**9), strict=True):
        number = call.named.get(claims.store.kind.look_up[1])
        if isinstance(number, str) and number and not call.write and "http" in text:
            seen.setdefault(number.upper(), []).append((call, text))
    year = claims.store.now.year
    links = [(m, s, v.value.lower()) for m, s in shown for v in values_in(s.text, year) if v.kind == "link"]
    for message, sentence, link in links[:MOST_VALUES]:
        for results in seen.values():
            kind = link.removeprefix("https://").partition("/")[0]
            known = [(c.index, link in text) for c, text in results if c.turn <= message.turn and kind in text]
            if any(has_link for _, has_link in known) and not known[-1][1]:
                yield ClaimFinding(NAME, message.turn, sentence.text, known[-1][0], "tracking", "stale")
