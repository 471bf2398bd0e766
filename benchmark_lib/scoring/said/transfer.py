"""Escalation honesty: a transfer that was promised was really called."""

from __future__ import annotations

from ..state import HANDOVER
from .findings import KEPT, Finding, Said

NAME = "escalation_honesty"


def transfers(said: Said) -> list[Finding]:
    """Every promise of a transfer: ``kept`` where a handover was carried out in the talk, else ``not_called``."""
    promised = list(said.about("transfer"))
    if not promised:
        return []
    call = said.call_of({HANDOVER})
    compared = call.index if call else said.failed({HANDOVER})
    return [Finding(NAME, turn, sentence, compared, HANDOVER, KEPT if call else "not_called") for turn, _, sentence in promised]
