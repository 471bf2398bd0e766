"""Draws mutants of scoring and estimators, and finds the quick tests that kill them.

``python tests/mutants_drawn.py`` draws them anew until as many as wanted are killed, and writes `mutants.KEPT`; the others are named in its
first line. With ``--refill`` it keeps those that have a place in the code, finds tests for those whose tests are gone, and draws the rest.

Tests are found by what they reach: every statement of the rooms says so while the quick tests run once, each file in a fork.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import importlib
import json
import re
import time
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import mutants
import numpy as np
import pytest
from _pytest.runner import runtestprotocol
from mutants import BODIES, ROOT, SEED, Mutant, functions, head, statements, tree

ROOMS = ("scoring", "analysis/estimators")
WANTED, BATCH = 300, 60

NEAR = re.compile(r"benchmark_lib\.(scoring|analysis|audit)|estimators|judge|\btables\b|\bscore\(", re.I)
FAR = re.compile(
    r"playwright|import browser|nbclient|subprocess|jupyter|mark\.timeout|build_site|execute_notebook", re.I
)
"""What test files mention that are about the rooms, and those that drive other processes, which no mutant reaches."""
SLOW_FIXTURES = {"five_agents"}
INNER = re.compile(r"^from benchmark_lib\.(?:analysis|scoring)\.\w+\.?\w* import", re.M)
"""An import from inside the rooms: such a test may go when they are rebuilt, so others come first."""
QUICK, TESTS, ALL_TESTS, KILLERS = 1.0, 20, 4.0, 2
"""Seconds of one test, number and seconds of the tests tried on a mutant, and how many that kill it are kept."""
FILE_SECONDS, MUTANT_SECONDS = 10, 20

HEADLESS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Raise, ast.Try, ast.Match, ast.Import)
OPPOSITE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


# --- what can be changed


def changes(node, parent):
    """Yield each operator that fits an expression, with what it makes of it."""
    match node:
        case ast.Compare(left, [op], right) if type(op) in OPPOSITE:
            yield "compare", ast.Compare(left, [OPPOSITE[type(op)]()], right)
        case ast.BoolOp(op, values):
            yield "and/or", ast.BoolOp(OPPOSITE[type(op)](), values)
        case ast.BinOp(left, op, right) if type(op) in OPPOSITE:
            yield "arithmetic", ast.BinOp(left, OPPOSITE[type(op)](), right)
        case ast.UnaryOp(ast.Not(), operand):
            yield "not dropped", operand
        case ast.Constant(bool(value)):
            yield "true/false", ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield "number", ast.Constant(value + 1)
        case ast.Constant(str(value)) if isinstance(parent, ast.Compare):
            yield "key", ast.Constant(f"{value}_")
        case ast.Set(members) | ast.Tuple(members) | ast.List(members) if len(members) > 1:
            if all(isinstance(member, ast.Constant) for member in members):
                for at in range(len(members)):
                    less = copy.copy(node)
                    less.elts = members[:at] + members[at + 1 :]
                    yield "member dropped", less
    if isinstance(parent, ast.If | ast.IfExp) and node is parent.test:
        yield "if negated", ast.UnaryOp(ast.Not(), node)
    if isinstance(parent, ast.Return) and not isinstance(node, ast.Constant):
        yield "return nothing", ast.Constant(None)


def changed(node):
    """Yield the operator of each change in a statement's head, made in place for as long as the caller looks."""
    for name, value in ast.iter_fields(node):
        for at, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.expr | ast.comprehension | ast.keyword | ast.withitem) or name == "annotation":
                continue
            for operator, new in changes(child, node):
                setattr(node, name, [*value[:at], new, *value[at + 1 :]] if isinstance(value, list) else new)
                yield operator
                setattr(node, name, value)
            if not isinstance(child, ast.JoinedStr):
                yield from changed(child)


def all_mutants():
    """Yield every mutant of the rooms."""
    for module in (module for room in ROOMS for module in mutants.modules(room)):
        for name, function in functions(tree(module)).items():
            met = Counter()
            for statement in statements(function):
                bare, before = copy.deepcopy(head(statement)), ast.unparse(head(statement))
                for operator in changed(bare) if not isinstance(statement, HEADLESS) else ():
                    after = ast.unparse(ast.fix_missing_locations(bare))
                    yield Mutant(module, name, operator, before, after, met[before])
                met[before] += 1


# --- what the tests reach


def probe(module):
    """Have every statement of a module say that it is reached."""
    parsed = copy.deepcopy(tree(module))
    for name, function in functions(parsed).items():
        number = {id(statement): n for n, statement in enumerate(statements(function))}
        for node in list(ast.walk(function)):
            for body in (getattr(node, field, None) for field in BODIES[:3]):
                if isinstance(body, list):
                    keys = [ast.Constant(f"{module}:{name}:{number[id(statement)]}") for statement in body]
                    calls = [ast.Expr(ast.Call(ast.Name("__reached__", ast.Load()), [key], [])) for key in keys]
                    body[:] = [one for pair in zip(calls, body) for one in pair]
    mutants.install(module, parsed)


class Watch(mutants.Bench):
    """A bench that notes what a test reaches and how long it takes, with every fixture that it would need alone."""

    def __init__(self, work):
        super().__init__(work)
        self.fixtures, self.now, self.since = {}, [set(), 0.0], 0.0
        """What is reached, and the seconds used, by fixtures, and by what runs now since a moment."""

    def switch(self, to):
        """Note the time that what ran until now has used, and return it."""
        now = time.process_time()
        self.now[1] += now - self.since
        before, self.now, self.since = self.now, to, now
        return before

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """Keep a fixture apart from the test that is the first to need it."""
        self.fixtures[fixturedef] = [set(), 0.0]
        before = self.switch(self.fixtures[fixturedef])
        yield
        self.switch(before)

    def each(self, tests):
        """Yield the id of each test that passes, its seconds, and the statements it reaches."""
        for test, after in zip(tests, [*tests[1:], None]):
            self.switch([set(), 0.0])
            passed = all(report.passed for report in runtestprotocol(test, log=False, nextitem=after))
            own = self.switch([set(), 0.0])
            needed = {fixtures[-1] for fixtures in test._fixtureinfo.name2fixturedefs.values()}
            parts = [own, *(self.fixtures[fixture] for fixture in needed if fixture in self.fixtures)]
            if passed:
                yield test.nodeid, sum(part[1] for part in parts), sorted(set().union(*(part[0] for part in parts)))

    def watched(self):
        """Yield the seconds and the reached statements of every quick test."""
        files = defaultdict(list)
        for test in self.tests.values():
            if not SLOW_FIXTURES & {*test.fixturenames} and not test.get_closest_marker("slow"):
                files[test.path].append(test)
        names = [module for room in ROOMS for module in mutants.modules(room)]
        for step in (importlib.import_module, probe):
            list(map(step, names))
        builtins.__reached__ = lambda key: self.now[0].add(key)
        jobs = {path: lambda tests=tests: self.each(tests) for path, tests in files.items()}
        yield {name: rest for _, found, _ in mutants.in_forks(jobs, FILE_SECONDS) for name, *rest in found}


# --- which tests kill


def candidates(seen):
    """Return the tests to try for each statement: quick, from many files, those at a public face before others."""
    inner = {name: bool(INNER.search((ROOT / name.split("::")[0]).read_text("utf-8"))) for name in seen}
    reaching, chosen = defaultdict(list), defaultdict(list)
    for name, (cost, keys) in sorted(seen.items(), key=lambda test: test[1][0]):
        for key in keys if cost <= QUICK else ():
            place = sum(name.split("::")[0] == other.split("::")[0] for *_, other in reaching[key])
            reaching[key].append((place, inner[name], cost, name))
    for key, tests in reaching.items():
        left = ALL_TESTS
        for _, _, cost, name in sorted(tests)[:TESTS]:
            left -= cost
            chosen[key] += [name] * (left > 0)
    return chosen


def hunted(bench, some, chosen):
    """Return mutants, each with the tests that kill it."""
    chosen = {key: [bench.tests[name] for name in names if name in bench.tests] for key, names in chosen.items()}
    tests = {m: chosen.get(f"{m.module}:{m.function}:{mutants.index_of(m)}", []) for m in some}
    for _ in range(2):  # the second time without the tests that did not notice, which may have left something behind
        found = {mutant: names for mutant, names, _ in mutants.killers(tests, KILLERS, MUTANT_SECONDS)}
        tests = {mutant: [bench.tests[name] for name in names] for mutant, names in found.items()}
    return [replace(mutant, tests=tuple(found[mutant])) for mutant in some]


def draw(bench, chosen, kept=(), earlier=()):
    """Draw mutants until there are as many as wanted with those to keep, and write them down."""
    told = {one: f"{one.module} {one.function} [{one.operator}] {one.before}  ->  {one.after}" for one in all_mutants()}
    known = {replace(one, tests=()) for one in kept}
    every = [mutant for mutant, text in told.items() if mutant not in known and text not in earlier]
    order, drawn, killed = np.random.default_rng(SEED).permutation(len(every)), [], list(kept)
    while len(killed) < WANTED and len(drawn) < len(every):
        drawn += hunted(bench, [every[n] for n in order[len(drawn) : len(drawn) + BATCH]], chosen)
        killed = [*kept, *(mutant for mutant in drawn if mutant.tests)]
        alive = [*earlier, *(told[mutant] for mutant in drawn if not mutant.tests)]
        counts = {"drawn": len(killed) + len(alive), "killed": len(killed), "survived": len(alive)}
        mutants.write({"seed": SEED, "possible": len(told), **counts, "survivors": alive}, killed)
        print(", ".join(f"{number} {name}" for name, number in counts.items()), flush=True)


def refill(bench, chosen):
    """Find tests for the kept mutants whose tests are gone, and draw others for those whose code is gone."""
    about, kept = mutants.read()
    kept = [now for mutant in kept if (now := mutants.placed(mutant))]
    lost = [mutant for mutant, fate in mutants.run(bench, kept).items() if fate != "killed"]
    found = dict(zip(lost, hunted(bench, lost, chosen)))
    print(
        f"{sum(bool(m.tests) for m in found.values())} of {len(found)} that no test killed have tests now", flush=True
    )
    kept = [found.get(mutant, mutant) for mutant in kept]
    mutants.write(about, kept)
    draw(bench, chosen, kept, about["survivors"])


def main():
    """Read the command line, watch the quick tests, and draw or find."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--refill", action="store_true", help="keep the mutants that have a place, and find tests for each"
    )
    parser.add_argument("--seen", type=Path, help="a file that keeps what the tests reach, to draw more than once")
    given = parser.parse_args()
    texts = {path: path.read_text("utf-8") for path in sorted((ROOT / "tests").glob("test_*.py"))}

    def work(bench):
        seen = json.loads(given.seen.read_text("utf-8")) if given.seen and given.seen.exists() else None
        if seen is None:  # in a fork, where the probes stay
            ((_, (seen,), _),) = mutants.in_forks({"watch": bench.watched}, 100_000)
        if given.seen:
            given.seen.write_text(json.dumps(seen), "utf-8")
        (refill if given.refill else draw)(bench, candidates(seen))

    files = [path for path, text in texts.items() if NEAR.search(text) and not FAR.search(text)]
    Watch(work).run(files)


if __name__ == "__main__":
    main()
