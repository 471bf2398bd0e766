"""Define cases: what a customer wants, and what must and must not happen."""

from .case import Call, Case, Fact, FollowUp, Known, Outcome
from .load import load_cases, trap_kind

__all__ = ["Call", "Case", "Fact", "FollowUp", "Known", "Outcome", "load_cases", "trap_kind"]
