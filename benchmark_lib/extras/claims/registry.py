"""The detectors by name, each with its function and its texts from ``detectors.yaml``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...language.word_lists import LANGUAGES
from ...textfiles import read_yaml
from . import asking, commitments, grounding, mismatch
from .findings import AgentClaims, ClaimFinding


@dataclass(frozen=True)
class Detector:
    """A detector of faults in an agent's words.

    Attributes
    ----------
    name, title, definition : str
        Its key in a finding, its heading in a table, and a sentence on what it finds.
    find : callable
        Function from `AgentClaims` to a list of `ClaimFinding`, including kept statements.
    column : str
        Its column of the score and of the conversations frame.
    since : int
        The first round of blind play evaluated with its present form.
    reads_replies : bool
        Whether it reads replies; if so, it abstains if one is in a language that it cannot read.
    """

    name: str
    find: Callable[[AgentClaims], list[ClaimFinding]]
    title: str
    column: str
    definition: str
    since: int = 11
    reads_replies: bool = True

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages it can read; empty if it reads no replies."""
        return LANGUAGES if self.reads_replies else ()


_FIND = {
    "escalation_honesty": asking.transfers,
    commitments.PHANTOM: commitments.phantoms,
    commitments.COMMITMENTS: commitments.promises,
    "asked_again": asking.again,
    "text_action_mismatch": mismatch.mismatches,
    "groundedness": grounding.ungrounded,
    "contradiction": mismatch.contradictions,
    "leak": grounding.leaks,
    "handover_packet": asking.packet,
}
_TEXTS = read_yaml(Path(__file__).with_name("detectors.yaml"))
DETECTORS = {name: Detector(name, find, **_TEXTS[name]) for name, find in _FIND.items()}
"""Every detector by name."""
