"""The detectors that extras offer, by name, and their findings in words."""

from __future__ import annotations

from typing import Any, Protocol

from ..extension import offers
from .written import words

WHERE_TRUE_IS_RIGHT = ("escalation_honesty", "handover_packet")
"""The detectors whose column is true where they found nothing."""
STATES = {
    "leaked": "",
    "asked_again": "",
    "not_called": "promised and not called",
    "unsupported": "stands in nothing that was read",
    "stale": "out of date",
    "differs": "the call differs from what was said",
    "differs_from_proposal": "the call differs from what was proposed",
    "missing": "the order or the matter is missing",
    "not_kept_apart": "what is verified is not kept apart from what is claimed",
    "surplus": "holds more than is needed",
}
"""What is wrong, in words, where a state of a finding does not say it by itself."""


class Detects(Protocol):
    """What the core knows of a detector: its name, its title, its column of the score, and one sentence."""

    name: str
    title: str
    column: str
    definition: str


def detectors() -> dict[str, Detects]:
    """Return every detector by name; none where no extra offers any."""
    return {name: one for found in offers("detectors") for name, one in found.items()}


def finding_label(finding: dict[str, Any]) -> str:
    """Return a finding in words, with what is wrong where its title does not say it: ``Phantom action: no such call``."""
    name, known = str(finding.get("detector") or finding.get("name") or "finding"), detectors()
    title = known[name].title if name in known else words(name)
    wrong = STATES.get(str(finding.get("state") or ""), words(finding.get("state") or ""))
    return f"{title}: {wrong}" if wrong else title
