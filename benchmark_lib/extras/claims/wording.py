"""Findings of the detectors in words."""

from typing import Any

from ...scoring.written import words
from . import DETECTORS

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


def finding_label(finding: dict[str, Any]) -> str:
    """Return a finding in words, with what is wrong where its title does not say it: ``Phantom action: no such call``."""
    name = str(finding.get("detector") or finding.get("name") or "finding")
    title = DETECTORS[name].title if name in DETECTORS else words(name)
    wrong = STATES.get(str(finding.get("state") or ""), words(finding.get("state") or ""))
    return f"{title}: {wrong}" if wrong else title
