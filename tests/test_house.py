"""The house as CONTRIBUTING.md draws it, held against the code: rooms, arrows, sizes and names."""

import ast
import re
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "benchmark_lib"
TEXTS = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {path: ast.parse(text) for path, text in TEXTS.items()}
DOORS = {"__init__", "__main__"}
"""The package's own front door, which belongs to no room."""
LONGEST_FILE, LONGEST_BODY = 500, 75
"""Lines of a file, and of a function without its docstring."""
WIDEST = 46
"""Characters of a line on average: lines are not saved by making them longer."""
BUDGETS = {
    "analysis": 12_120,
    "cases": 1_770,
    "cli": 2_170,
    "conversation": 4_800,
    "endpoint": 2_940,
    "exchange": 1_420,
    "experiment": 5_030,
    "figures": 2_510,
    "language": 3_010,
    "monitoring": 1_610,
    "reports": 8_080,
    "runfile": 810,
    "scoring": 5_270,
    "sitting": 1_390,
    "store": 5_210,
    "files of their own": 1_770,
}
"""Lines of Python that a room may have, docstrings and blanks included; files without a folder share a row. A budget falls when its room shrinks.
Whoever raises one names in the changelog what was deleted instead. Wanted in the end: analysis 7,600, figures 2,000, reports 5,900, cli 1,000."""
SCRIPTS = 3_500
"""Lines of JavaScript, CSS and templates."""


def drawn_rooms():
    """The rooms of the picture from top to bottom: each row the names that stand in it."""
    picture = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```")[1]
    rows = re.findall(r"^  (\S.*?)  +\S", picture, re.M)
    return [[name.removesuffix("/").removesuffix(".py") for name in row.split(", ")] for row in rows]


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module):
    return module.split(".")[1] if "." in module else "__init__"


def imports(path, modules):
    """The modules of the package that a file imports, wherever in it.

    Those for the type checker alone do not count, nor those of a script that is started and not imported.
    """
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    waiting = [TREES[path]]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'"):
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for one in node.names:
                yield f"{base}.{one.name}" if f"{base}.{one.name}" in modules else base
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


@pytest.fixture(scope="module")
def arrows():
    modules = {name_of(path) for path in TREES}
    return {name_of(path): {m for m in imports(path, modules) if m in modules} - {name_of(path)} for path in TREES}


def test_every_room_stands_in_the_picture_once():
    drawn = [name for row in drawn_rooms() for name in row]
    there = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in TREES} - DOORS
    assert sorted(drawn) == sorted(there)


def test_files_import_in_no_circle(arrows):
    list(TopologicalSorter(arrows).static_order())  # raises CycleError, which names the files of the circle


def test_a_room_imports_only_from_rooms_above_it(arrows):
    place = {name: number for number, row in enumerate(drawn_rooms()) for name in row}
    up = {
        f"{module} imports {other}"
        for module, others in arrows.items()
        for other in others
        if not {room_of(module), room_of(other)} & DOORS and place[room_of(other)] > place[room_of(module)]
    }
    assert up == set()


def test_every_room_keeps_within_its_budget():
    lines = defaultdict(list)
    for path in TREES:
        room = path.relative_to(PACKAGE).parts[0]
        lines["files of their own" if room.endswith(".py") else room] += TEXTS[path].splitlines()
    over = {room: len(found) for room, found in lines.items() if len(found) > BUDGETS.get(room, 0)}
    assert over == {}
    assert sum(len(line) for found in lines.values() for line in found) <= WIDEST * sum(map(len, lines.values()))
    scripts = [path for kind in ("js", "css", "j2") for path in PACKAGE.rglob(f"*.{kind}")]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in scripts) <= SCRIPTS


def test_files_and_functions_are_short():
    long = []
    for path, tree in TREES.items():
        if len(TEXTS[path].splitlines()) > LONGEST_FILE:
            long.append(path.name)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
                if node.end_lineno - first.lineno + 1 > LONGEST_BODY:
                    long.append(f"{path.name}: {node.name}")
    assert long == []


def test_no_two_classes_of_one_name_mean_different_things():
    """A Protocol may have the name of what fulfils it."""
    places = defaultdict(list)
    for path in TREES:
        for node in TREES[path].body:
            if isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
                places[node.name].append(name_of(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
