"""Many cases and trials into one run file: resume, replay, budget."""

from .experiment import Experiment

__all__ = ["Experiment"]
