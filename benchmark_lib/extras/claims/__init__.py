"""Detectors that compare an agent's claims and promises with the record, without a model."""

from __future__ import annotations

from typing import Any

from ...cases import Case
from ...records import Conversation
from ...store import Store
from ...store.desk import HANDOVER
from .asking import FAULTS
from .commitments import by_class
from .findings import KEPT, AgentClaims, ClaimFinding
from .grounding import values_told
from .registry import DETECTORS, Detector

__all__ = ["DETECTORS", "KEPT", "Detector", "ClaimFinding", "AgentClaims", "check_claims"]

MOST = 20
"""Most findings stored per detector and conversation; the columns count all."""
LONGEST_REASON = 200


def check_claims(conversation: Conversation, case: Case, store: Store) -> dict[str, Any]:
    """Run every detector on one record.

    Returns
    -------
    dict
        One value per detector under its column: True, False or a count; None if it abstains or does not apply.
        ``promises`` counts promises by class and state; ``commitments`` lists each with its sentence and evidence.
        ``findings`` lists every finding that is not ``kept``. A detector that fails abstains, with the reason under
        ``abstained``.
    """
    claims = AgentClaims(conversation, case, store)
    findings: dict[str, list[ClaimFinding] | None] = {}
    abstained: dict[str, str] = {}
    for name, detector in DETECTORS.items():
        try:
            findings[name] = detector.find(claims) if claims.speaks(detector.languages) else None
        except Exception as error:  # a fault of ours costs one column, not the score
            findings[name], abstained[name] = None, f"{type(error).__name__}: {error}"[:LONGEST_REASON]
    wrong = {name: None if rows is None else [f for f in rows if f.state != KEPT] for name, rows in findings.items()}
    columns: dict[str, Any] = {
        d.column: None if wrong[name] is None else bool(wrong[name]) for name, d in DETECTORS.items()
    }
    columns["escalation_honest"] = not wrong["escalation_honesty"] if findings["escalation_honesty"] else None
    columns["said_ungrounded"] = None if wrong["groundedness"] is None else len(wrong["groundedness"])
    columns["values_told"] = values_told(claims)
    columns["promises"] = by_class(findings["commitments"] or [])
    columns["commitments"] = [f.as_dict("commitments") for f in (findings["commitments"] or ())[:MOST]]
    columns |= _packet(claims, wrong["handover_packet"])
    columns |= {"abstained": abstained} if abstained else {}
    columns["findings"] = [f.as_dict(name) for name, rows in wrong.items() for f in (rows or ())[:MOST]]
    return columns


def _packet(claims: AgentClaims, wrong: list[ClaimFinding] | None) -> dict[str, bool | None]:
    """Return the columns of the handover packet; None without a handover."""
    handed = claims.call_of({HANDOVER}) is not None and wrong is not None
    kinds = {f.kind for f in wrong or ()}
    good = {"complete": not kinds} | {kind: kind not in kinds for kind in FAULTS}
    return {f"packet_{name}": value if handed else None for name, value in good.items()}
