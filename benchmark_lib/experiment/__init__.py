"""Many cases and trials into one run file: resume, replay, budget."""

from .experiment import Experiment
