"""The house as CONTRIBUTING.md draws it, held against the code: rooms, arrows, sizes and names."""

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from benchmark_lib.extension import groups, load, offered

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "benchmark_lib"
TEXTS = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
DOORS = {"__init__", "__main__"}
"""The package's own front door, which belongs to no room."""
LONGEST_FILE, LONGEST_BODY = 400, 72
"""Lines of a file, and of a function without its docstring."""
WIDEST = 46
"""Characters of a line on average: lines are not saved by making them longer."""
BUDGETS = {
    "analysis": 7_600,
    "cases": 1_289,
    "cli": 1_269,
    "conversation": 3_079,
    "endpoint": 1_926,
    "experiment": 2_570,
    "figures": 1_882,
    "language": 3_444,
    "reports": 5_889,
    "runfile": 689,
    "scoring": 2_468,
    "store": 3_373,
    "files of their own": 1_223,
    "extras/audit": 1_255,
    "extras/claims": 2_067,
    "extras/exchange": 1_422,
    "extras/forks": 1_258,
    "extras/fresh_sets": 1_248,
    "extras/isolation": 847,
    "extras/judges": 1_997,
    "extras/local": 633,
    "extras/machines": 785,
    "extras/monitoring": 1_601,
    "extras/sitting": 1_367,
    "extras/own_desk": 2_823,
    "extras/personal_data": 1_180,
    "extras/real_chats": 1_650,
    "extras/tau2": 890,
}
"""Lines of Python that a room may have, docstrings and blanks included; files without a folder share a row. A budget falls when its room shrinks.
Whoever raises one names in the changelog what was deleted instead. Wanted in the end: `cli` 1,000,
`store` 2,400, `scoring` 2,200, `endpoint` 1,400, `experiment` with `runfile` 2,800, extras 9,500 in all."""
SCRIPTS = 3_500
"""Lines of JavaScript, CSS and templates."""


@cache
def tree_of(path):
    return ast.parse(TEXTS[path])


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
    """The modules of the package that a file imports, wherever in it: for types too, but not in a started script."""
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    waiting = [tree_of(path)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
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
    modules = {name_of(path) for path in TEXTS}
    return {name_of(path): {m for m in imports(path, modules) if m in modules} - {name_of(path)} for path in TEXTS}


def test_every_room_stands_in_the_picture_once():
    drawn = [name for row in drawn_rooms() for name in row]
    there = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in TEXTS} - DOORS
    assert sorted(drawn) == sorted(there)


def drawn_extras():
    """The extras of the table, each with those that it uses."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| Extra |")[2].partition("\n\n")[0]
    rows = [row.split("|") for row in text.splitlines()[2:]]
    return {row[1].strip(" `"): set(re.findall(r"`(\w+)`", row[3])) for row in rows}


def extra_of(module):
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["extras"] and len(parts) > 2 else None


def test_no_room_imports_an_extra_and_an_extra_only_those_that_are_drawn(arrows):
    used = defaultdict(set)
    for module, others in arrows.items():
        for other in others:
            if extra_of(other) and extra_of(other) != extra_of(module):
                used[extra_of(module) or module].add(extra_of(other))
    drawn = drawn_extras()
    assert drawn.keys() == {path.parent.name for path in PACKAGE.glob("extras/*/offers.toml")}
    assert dict(used) == {name: uses for name, uses in drawn.items() if uses}


def test_what_extras_offer_is_there():
    offers = [(extra, words) for group in groups() for extra, words in offered(group).values()]
    assert len(offers) > 40 and all(
        load(extra, words.get("module", "") if isinstance(words, dict) else words) for extra, words in offers
    )


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
    for path in TEXTS:
        parts = path.relative_to(PACKAGE).parts
        room = "files of their own" if len(parts) == 1 or parts == ("extras", "__init__.py") else parts[0]
        lines["/".join(parts[:2]) if room == "extras" else room] += TEXTS[path].splitlines()
    over = {room: len(found) for room, found in lines.items() if len(found) > BUDGETS.get(room, 0)}
    assert over == {}
    assert sum(len(line) for found in lines.values() for line in found) <= WIDEST * sum(map(len, lines.values()))
    scripts = [path for kind in ("js", "css", "j2") for path in PACKAGE.rglob(f"*.{kind}")]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in scripts) <= SCRIPTS


def test_files_and_functions_are_short():
    long = []
    for path in TEXTS:
        tree = tree_of(path)
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
    for path in TEXTS:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
                places[node.name].append(name_of(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
