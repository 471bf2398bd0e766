"""Small faults in scoring and estimators are noticed: the mutants that are kept can be placed, and their tests kill them."""

import ast
import subprocess
import sys

import mutants
import pytest

KEPT, MISPLACED = 120, 12
"""Mutants that are kept, and how many of them code that was rewritten may have left without a place."""


def test_the_kept_mutants_have_a_place_in_the_code():
    _, kept = mutants.read()
    assert len({(m.module, m.function, m.nth, m.before, m.after) for m in kept}) >= KEPT
    lost = [f"{m.module} {m.function}: {m.before}" for m in kept if mutants.placed(m) is None]
    assert len(lost) <= MISPLACED, "draw others with mutants_drawn.py --refill: " + "; ".join(lost)


def test_each_kept_mutant_has_a_test_that_is_still_there():
    """A test that goes leaves its mutants to another one, which `mutants_drawn.py --refill` finds."""
    trees = [ast.parse(path.read_bytes()) for path in (mutants.ROOT / "tests").glob("test_*.py")]
    there = {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    _, kept = mutants.read()
    named = {m: {name.partition("[")[0].rpartition("::")[2] for name in m.tests} for m in kept}
    assert [f"{m.module} {m.function}: {m.after}" for m, names in named.items() if not names & there] == []


@pytest.mark.parametrize("number", [12, pytest.param(120, marks=pytest.mark.slow)])
def test_kept_mutants_are_still_killed(number):
    command = [sys.executable, mutants.ROOT / "tests" / "mutants.py", "--sample", str(number)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=mutants.ROOT)
    assert done.returncode == 0 and int(done.stdout.rpartition("\n")[0].splitlines()[-1].split()[0]) > 0.8 * number, (
        done.stdout
    )
