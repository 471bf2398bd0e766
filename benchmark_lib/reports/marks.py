"""Findings and a judge's evidence, marked on the words of a conversation that they quote."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..scoring.customer_audit import CLEAR, MILD
from ..scoring.detectors import finding_label
from ..scoring.written import LONGEST, words

LONGEST_QUOTE = 600
"""Characters of a quote to search for; a longer quote is located by its beginning."""
UNBACKED = {"unbacked": "no call supports it", "beyond_authority": "nobody at this desk may promise it"}
SAID_BY_STATE = ("handover_packet", "leak", "asked_again", "escalation_honesty")
"""Detectors whose class says no more than the state."""
CODE = re.compile("[a-z]+(?:_[a-z]+)+")
KNOWN = frozenset({"detector", "name", "turn", "side", "sentence", "quote", "state", "compared_with"})
"""Fields of a finding that are shown separately; all others become its note."""


@dataclass(frozen=True)
class Mark:
    """A remark about a passage; `kind` is ``finding``, ``customer`` (audit) or ``judge``.

    `quote` is empty for a remark about the whole conversation. `call` is the index of the tool call it was compared
    with, `message` the number of its message. Unknown values are None.
    """

    kind: str
    label: str
    quote: str
    note: str = ""
    turn: int | None = None
    side: str | None = None
    call: int | None = None
    message: int | None = None


def marks_of(score: dict[str, Any] | None, verdicts: Iterable[dict[str, Any]] = ()) -> list[Mark]:
    """Return the remarks of a score and its verdicts (rows of the frame `verdicts`)."""
    score = score or {}
    found = [_finding(f, "finding", "agent") for f in score.get("findings") or ()]
    found += [_finding(f, "customer", "customer") for f in score.get("customer_evidence") or ()]
    for v in verdicts:
        known = v.get("score") is not None and v["score"] == v["score"]
        label = f"{v['scorer']} {v['score']:g}" if known else f"{v['scorer']} unscored"
        why = v.get("unscored") or v.get("reason") or ""
        found.append(Mark("judge", label, str(v.get("quote") or ""), f"{v['judge']}: {why}"))
    return found


def with_judged_customer(score: dict[str, Any] | None, turns: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """Return a score with the judges' findings on its customer (rows of `customer_turns`)."""
    wrong = [(f"{t['verdict']}ly wrong, says {t['judge']}", t) for t in turns if t["verdict"] in (CLEAR, MILD)]
    found = [{"name": name, "turn": t["turn"], "quote": t["quote"], "detail": t["reason"]} for name, t in wrong]
    return score and {**score, "customer_evidence": [*(score.get("customer_evidence") or ()), *found]}


def promises_of(score: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the ledger of a conversation: every promise, its outcome and the evidence.

    Each has ``kind``, ``state``, ``good`` (kept), ``turn`` and ``quote``. ``call`` is the index of the deciding call or
    None; ``by`` is that call, or the rule, in words.
    """
    rows = []
    for f in (score or {}).get("commitments") or ():
        against, call = _compared_with(f)
        by = f"call {call + 1}" if call is not None else str(against or UNBACKED.get(f["state"], ""))
        state = {"state": f["state"].replace("_", " "), "good": f["state"] == "kept", "call": call, "by": by}
        rows.append({"kind": f["class"], "turn": f["turn"], "quote": f["sentence"]} | state)
    return rows


def _compared_with(finding: dict[str, Any]) -> tuple[Any, int | None]:
    against = finding.get("compared_with")
    return against, against if isinstance(against, int) and not isinstance(against, bool) else None


def _finding(finding: dict[str, Any], kind: str, side: str) -> Mark:
    against, call = _compared_with(finding)
    shown = KNOWN | ({"class"} if finding.get("detector") in SAID_BY_STATE else set())
    rest = [f"call #{call + 1}" if call is not None else against]
    rest += [v for k, v in finding.items() if k not in shown]
    quote = str(finding.get("sentence") or finding.get("quote") or "")
    note = "; ".join(words(x) if CODE.fullmatch(str(x)) else str(x) for x in rest if x not in (None, "", [], {}))
    return Mark(kind, finding_label(finding), quote, note, finding.get("turn"), finding.get("side") or side, call)


def place_in(text: str, quote: str) -> tuple[int, int] | None:
    """Return the place of a quote in a text, ignoring case and spacing, or None."""
    words = quote[:LONGEST_QUOTE].split()
    if not words:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text[:LONGEST], re.IGNORECASE)
    return found.span() if found else None


def segments(text: str, marks: Iterable[Mark]) -> list[dict[str, Any]]:
    """Return a text in pieces between marks: text, kinds (covering it), ends (marks that end)."""
    spans = [(span, mark) for mark in marks if (span := place_in(text, mark.quote))]
    edges = sorted({0, len(text), *(edge for span, _ in spans for edge in span)})
    return [
        {
            "text": text[start:end],
            "kinds": sorted({m.kind for (a, b), m in spans if a <= start and end <= b}),
            "ends": list({m.label: m for (_, b), m in spans if b == end}.values()),
        }
        for start, end in zip(edges, edges[1:])
    ]


def placed(marks: Iterable[Mark], texts: dict[tuple[str, int], list[str]]) -> dict[tuple[str, int, int], list[Mark]]:
    """Return marks by (side, turn, place) of their message; `texts` are by side and turn.

    A mark belongs to the first message that contains its quote, in its own turn and on its own side if these are known.
    """
    found: dict[tuple[str, int, int], list[Mark]] = {}
    for mark in marks:
        rooms = [r for r in texts if mark.side in (None, r[0]) and mark.turn in (None, 0, r[1])]
        places = ((*room, n) for room in rooms for n, text in enumerate(texts[room]) if place_in(text, mark.quote))
        if where := next(places, None):
            found.setdefault(where, []).append(mark)
    return found
