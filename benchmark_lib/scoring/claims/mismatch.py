"""Text-action mismatch: a call that was carried out differs from what the text says it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...records import ToolCall
from ..state import as_text
from .findings import ClaimFinding, AgentClaims, letters
from ...language.folding import plain
from ...language.sentences import sentences
from ...language.values import values_in

NAME = "text_action_mismatch"
MOST_VALUES = 60
"""Values of a message, and links of a conversation, that are compared; no person writes so many."""
EDIT = "update_line_item"
"""The tool whose text may also name what the line was before."""


def mismatches(claims: AgentClaims) -> list[ClaimFinding]:
    """Order numbers, variants, items and addresses of a reply that are not those of its call, and tracking links a newer result has replaced."""
    found = []
    for turn, tool, sentence in claims.about("done"):
        calls = [t for t in claims.done if t.name == tool and t.turn == turn and isinstance(t.arguments, dict)]
        wrong = [kind for call in calls for kind in [_wrong(call, sentence, claims)] if kind]
        if calls and len(wrong) == len(calls):
            found.append(ClaimFinding(NAME, turn, sentence, calls[-1].index, wrong[-1], "differs"))
    return [*found, *_against_proposals(claims), *_stale(claims)]


def _against_proposals(claims: AgentClaims) -> Iterator[ClaimFinding]:
    """Calls that differ from the proposal the customer had just said yes to; the whole message is compared, since it may weigh several things."""
    agreed = {m.turn: {a.what for a in m.acts if a.kind == "agreed"} for m in claims.conversation.messages if m.side == "customer"}
    before = {m.turn + 1: m for m, _ in claims.replies}
    for call in claims.done:
        proposal = before.get(call.turn)
        if not call.write or proposal is None or not agreed.get(call.turn, set()) & {call.name, "proposal"}:
            continue
        same = [t for t in claims.done if t.name == call.name and t.turn == call.turn]
        kind = _wrong(call, proposal.text, claims) if isinstance(call.arguments, dict) and len(same) == 1 else None
        if kind:
            quoted = next((s.text for s in sentences(proposal.text) if _wrong(call, s.text, claims)), proposal.text)
            yield ClaimFinding(NAME, proposal.turn, quoted, call.index, kind, "differs_from_proposal")


def _wrong(call: ToolCall, text: str, claims: AgentClaims) -> str | None:
    """What of a text is not what its call did; None where all that can be compared agrees."""
    checks = (("order_id", _order), ("variant", _variant), ("item", _item), ("address", _address))
    return next((name for name, check in checks if check(call, text, claims)), None)


def _order(call: ToolCall, text: str, claims: AgentClaims) -> bool:
    orders = claims.store.tables.get("orders", {})
    named = {v.value for v in values_in(text, claims.store.now.year) if v.kind == "id" and v.value in orders}
    return bool(named) and "order_id" in call.arguments and _name(call, "order_id") not in named


def _variant(call: ToolCall, text: str, claims: AgentClaims) -> bool:
    """Whether a text names values of the product's options, and not those of the variant that was called."""
    known = claims.store.variants.get(_name(call, "variant_id"))
    if known is None:
        return False
    product, variant = known
    line = next((x for x in _lines(call, claims) if x["line_id"] == _name(call, "line_id")), None)
    old = claims.store.variants[line["variant_id"]][1] if line and call.name == EDIT else {}
    words = plain(text)
    for option in product.get("options") or ():
        values = {str(v[option]) for v in product["variants"] if v.get(option)}
        named = {v for v in values if re.search(rf"(?<!\w){re.escape(plain(v).strip())}(?!\w)", words)}
        if named - {str(old.get(option))} and str(variant.get(option)) not in named:
            return True
    return False


def _item(call: ToolCall, text: str, claims: AgentClaims) -> bool:
    """Whether a text names lines of the order, and none of those that were called."""
    lines = _lines(call, claims)
    several = call.arguments.get("line_ids")
    wanted = {x.upper() for x in several if isinstance(x, str)} if isinstance(several, list) and several else {_name(call, "line_id")} - {""}
    words = letters(text)
    named = {x["title"] for x in lines if letters(x["title"]) in words}
    return bool(named and wanted) and not named & {x["title"] for x in lines if x["line_id"] in wanted}


def _lines(call: ToolCall, claims: AgentClaims) -> list[dict[str, Any]]:
    order = claims.store.tables.get("orders", {}).get(_name(call, "order_id"))
    return order["lines"] if order else []


def _name(call: ToolCall, argument: str) -> str:
    """An argument that names a thing, in capitals; nothing where it is missing or no text."""
    value = call.arguments.get(argument) if isinstance(call.arguments, dict) else None
    return value.upper() if isinstance(value, str) else ""


def _address(call: ToolCall, text: str, claims: AgentClaims) -> bool:
    """Whether a text names numbers, as of a house or a postcode, and none of the address that was called."""
    address = call.arguments.get("address")
    if not isinstance(address, dict):
        return False
    rest = text
    for value in list(dict.fromkeys(v.value for v in values_in(text, claims.store.now.year)))[:MOST_VALUES]:
        rest = re.sub(re.escape(value), " ", rest, flags=re.I)
    tokens = {letters(t) for t in re.findall(r"[\w-]{0,40}\d[\w-]{0,40}", rest)} - {""}
    known = letters(" ".join(v if isinstance(v, str) else as_text(v) for v in address.values() if v))
    return bool(tokens) and not any(t in known for t in tokens)


def _stale(claims: AgentClaims) -> Iterator[ClaimFinding]:
    """Links that an older result gave and the newest result of the same order no longer gives."""
    shown = [(m, s) for m, reading in claims.replies if "http" in m.text for s in reading.sentences if "http" in s.text]
    if not shown:
        return
    seen: dict[str, list[tuple[ToolCall, str]]] = {}
    for call, text in zip(claims.done, claims.results(10**9), strict=True):
        if _name(call, "order_id") and not call.write and "http" in text:
            seen.setdefault(_name(call, "order_id"), []).append((call, text))
    told = [(m, s, v.value.lower()) for m, s in shown for v in values_in(s.text, claims.store.now.year) if v.kind == "link"]
    for message, sentence, link in told[:MOST_VALUES]:
        for results in seen.values():
            known = [(call.index, link in text) for call, text in results if call.turn <= message.turn]
            if any(held for _, held in known) and not known[-1][1]:
                yield ClaimFinding(NAME, message.turn, sentence.text, known[-1][0], "tracking", "stale")
