"""The tests themselves: they know the package by its public names, and mean the same in every process."""

import ast
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_no_private_name_is_imported_and_nothing_hangs_on_the_process(path):
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    imported = [(n.module or "", a.name) for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names]
    assert [name for module, name in imported if module.startswith("benchmark") and name.startswith("_")] == []
    called = [n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    assert "hash" not in called, "hash() of a text differs between processes"
