"""Run many cases and trials into one run file, with resume, replay and a budget."""

from .experiment import Experiment
