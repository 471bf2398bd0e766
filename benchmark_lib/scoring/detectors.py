"""List the extras' detectors by name, and put their findings in words."""

from __future__ import annotations

from typing import Any

from ..extension import offers
from .written import words

WHERE_TRUE_IS_RIGHT = ("escalation_honesty", "handover_packet")
"""Detectors whose column is true if they found nothing."""
STATES = {
    "leaked": "",
    "asked_again": "",
    "not_called": "promised and not called",
    "unsupported": "not supported by anything that was read",
    "stale": "out of date",
    "differs": "the call differs from what was said",
    "differs_from_proposal": "the call differs from what was proposed",
    "missing": "the order or the matter is missing",
    "not_kept_apart": "verified and claimed facts are not separated",
    "surplus": "contains more than is needed",
}
"""Words for the states of a finding whose names do not explain themselves."""


def detectors() -> dict[str, Any]:
    """Return every detector by name; empty if no extra offers a detector.

    Each has ``name``, ``title``, ``column`` (of the score) and ``definition``.
    """
    return {name: one for group in offers("detectors") for name, one in group.items()}


def finding_label(finding: dict[str, Any]) -> str:
    """Return a finding in words, such as ``Phantom action: no such call``."""
    name, known = str(finding.get("detector") or finding.get("name") or "finding"), detectors()
    title = known[name].title if name in known else words(name)
    wrong = STATES.get(str(finding.get("state") or ""), words(finding.get("state") or ""))
    return f"{title}: {wrong}" if wrong else title
