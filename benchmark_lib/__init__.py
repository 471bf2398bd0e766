"""Deskbench: a benchmark of language models as customer-support agents, with its research suite.

from benchmark_lib import Experiment, load_results, estimators, tables, figures, monitoring, reports
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_FACE = {
    "Experiment": ("benchmark_lib.experiment", "Experiment"),
    "RunFile": ("benchmark_lib.runfile", "RunFile"),
    "BadInput": ("benchmark_lib.errors", "BadInput"),
    "spread": ("benchmark_lib.experiment.machines", "spread"),
    "sit": ("benchmark_lib.sitting", "sit"),
    "load_results": ("benchmark_lib.analysis", "load_results"),
    "load_store": ("benchmark_lib.store", "load_store"),
    "load_cases": ("benchmark_lib.cases", "load_cases"),
    "analysis": ("benchmark_lib.analysis", None),
    "estimators": ("benchmark_lib.analysis.estimators", None),
    "tables": ("benchmark_lib.analysis.tables", None),
    "exchange": ("benchmark_lib.exchange", None),
    "figures": ("benchmark_lib.figures", None),
    "monitoring": ("benchmark_lib.monitoring", None),
    "reports": ("benchmark_lib.reports", None),
}
"""What a notebook imports, and where it stands; nothing is loaded before it is asked for."""

__all__ = list(_FACE)


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module 'benchmark_lib' has no attribute {name!r}")
    module, attribute = _FACE[name]
    found = import_module(module)
    return found if attribute is None else getattr(found, attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *_FACE})
