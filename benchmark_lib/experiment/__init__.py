"""Many cases and trials into one run file: resume, replay, budget."""

from .experiment import Experiment
from .manifest import project_folder

__all__ = ["Experiment", "project_folder"]
