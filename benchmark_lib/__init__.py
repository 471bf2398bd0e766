"""Deskbench: a benchmark of language models as customer-support agents.

from benchmark_lib import Experiment, load_results, estimators, tables, figures, monitoring, reports
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_FACE = {
    "Experiment": ("benchmark_lib.experiment", "Experiment"),
    "RunFile": ("benchmark_lib.runfile", "RunFile"),
    "BadInput": ("benchmark_lib.errors", "BadInput"),
    "load_results": ("benchmark_lib.analysis", "load_results"),
    "load_store": ("benchmark_lib.store", "load_store"),
    "load_cases": ("benchmark_lib.cases", "load_cases"),
    "analysis": ("benchmark_lib.analysis", None),
    "estimators": ("benchmark_lib.analysis.estimators", None),
    "tables": ("benchmark_lib.analysis.tables", None),
    "figures": ("benchmark_lib.figures", None),
    "reports": ("benchmark_lib.reports", None),
}
"""Names for notebooks, with the modules that provide them and are loaded on first use."""


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        from .extension import face, offered

        return [*_FACE, *offered("package")] if name == "__all__" else face("package", __name__)(name)
    module, attribute = _FACE[name]
    found = import_module(module)
    return found if attribute is None else getattr(found, attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
