"""Mutants of scoring and estimators: small faults, each kept with the quick tests that notice it.

``python tests/mutants.py`` puts each kept mutant into the code, runs its tests and prints how many are killed; a suite that is made smaller
kills no fewer. `mutants_drawn.py` draws them, and finds other tests for those whose tests are gone.

A mutant is a statement of a function and what it reads instead, so it outlives code that moves. Python, the package and the tests are
imported once. Each mutant runs in a fork, where the code of its function is exchanged.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

from benchmark_lib import load_store
from benchmark_lib.cases import load_cases

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tests" / "data" / "mutants.jsonl"
SEED = 31
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
OPTIONS = ["-qqs", "-p", "no:cacheprovider", "-p", "no:timeout", "--no-header", "--no-summary", f"--rootdir={ROOT}"]


@dataclass(frozen=True)
class Mutant:
    """A function, the `nth` statement in it that reads `before`, what it reads instead, and the tests that fail then."""

    module: str
    function: str
    operator: str
    before: str
    after: str
    nth: int = 0
    tests: tuple[str, ...] = ()


def read():
    """Return what is written: an account of all that were drawn, and the mutants that are kept."""
    about, *lines = (json.loads(line) for line in KEPT.read_text("utf-8").splitlines())
    return about, [Mutant(**{**line, "tests": tuple(line["tests"])}) for line in lines]


def write(about, mutants):
    """Write the account of all that were drawn, and the mutants to keep."""
    lines = [about, *map(asdict, mutants)]
    KEPT.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


# --- where a mutant is


def modules(room):
    """Names of the modules in a folder of the package."""
    paths = sorted((ROOT / "benchmark_lib" / room).rglob("*.py"))
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]


def file_of(module):
    """Path of a module's source."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def tree(module):
    """Syntax tree of a module, not to be changed; empty where there is none."""
    return ast.parse(file_of(module).read_bytes() if file_of(module).exists() else b"")


def functions(parsed):
    """Functions and methods of a syntax tree by qualified name."""
    found = {}
    for node in parsed.body:
        inside, prefix = (node.body, f"{node.name}.") if isinstance(node, ast.ClassDef) else ([node], "")
        found |= {prefix + f.name: f for f in inside if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)}
    return found


def statements(function):
    """The statements of a function, in an order that depends on nothing else."""
    return [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]


def head(statement):
    """Copy a statement without the statements in it."""
    bare = copy.copy(statement)
    for name in BODIES:
        if isinstance(getattr(bare, name, None), list):
            setattr(bare, name, [])
    return bare


def index_of(mutant):
    """Number of the mutant's statement in its function; None where the function or the statement is not there."""
    function = functions(tree(mutant.module)).get(mutant.function)
    texts = [ast.unparse(head(s)) for s in statements(function)] if function else []
    same = [number for number, text in enumerate(texts) if text == mutant.before]
    return same[mutant.nth] if mutant.nth < len(same) else None


@cache
def homes():
    """The functions of the whole package that hold each statement."""
    found = defaultdict(list)
    for module in modules(""):
        for name, function in functions(tree(module)).items():
            for text in {ast.unparse(head(s)) for s in statements(function)}:
                found[text].append((module, name))
    return found


def placed(mutant):
    """The mutant where its statement is now: at home, in the one function of its name that has it, or in the only one."""
    if index_of(mutant) is not None:
        return mutant
    now = homes()[mutant.before]
    namesakes = [home for home in now if home[1].rpartition(".")[2] == mutant.function.rpartition(".")[2]]
    for (module, function), *others in filter(None, (namesakes, now)):
        moved = replace(mutant, module=module, function=function)
        if not others:
            return moved if index_of(moved) is not None else replace(moved, nth=0)
    return None


# --- exchanging code


def codes(code):
    """Yield the code of a module's functions and methods."""
    for one in code.co_consts:
        if isinstance(one, CodeType) and "<locals>" not in one.co_qualname:
            yield one
            yield from codes(one)


@cache
def living():
    """The functions of the process by file and qualified name, decorated ones included."""
    gc.unfreeze()  # conftest.py freezes what is imported, and a frozen object is in no list
    found = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, FunctionType):
            found[one.__code__.co_filename, one.__code__.co_qualname].append(one)
    return found


def install(module, parsed):
    """Give the functions of a module the code of a changed syntax tree."""
    path = str(file_of(module))
    for code in codes(compile(ast.fix_missing_locations(parsed), path, "exec")):
        for function in living()[path, code.co_qualname]:
            function.__code__ = code


def put_in(mutant):
    """Exchange the code of the mutant's function."""
    parsed = copy.deepcopy(tree(mutant.module))
    statement = statements(functions(parsed)[mutant.function])[index_of(mutant)]
    (after,) = ast.parse(mutant.after + " pass" * mutant.after.endswith(":")).body
    for name, value in ast.iter_fields(after):
        if not (name in BODIES and isinstance(value, list)):
            setattr(statement, name, value)
    install(mutant.module, parsed)


# --- running tests in forks


def in_forks(jobs, seconds, width=2):
    """Run each job, a generator, in a fork; yield its key, what it yielded, and whether it came to its end."""
    with TemporaryDirectory() as folder:
        running, waiting = {}, list(jobs.items())
        while waiting or running:
            while waiting and len(running) < width:
                (key, job), out = waiting.pop(0), Path(folder, str(len(waiting)))
                if pid := os.fork():
                    running[pid] = key, out
                else:
                    _work_and_end(job, out, seconds)
            pid, status = os.wait()
            key, out = running.pop(pid)
            lines = out.read_text("utf-8").splitlines() if out.exists() else []
            yield key, [json.loads(line) for line in lines], status == 0


def _work_and_end(job, out, seconds):
    """Write down what a job yields, and leave; one that is out of time is killed."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        signal.alarm(20 * seconds)  # for one that waits and does nothing, however busy the machine is
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        with out.open("w", encoding="utf-8") as file:
            for found in job():
                print(json.dumps(found), file=file, flush=True)
        os._exit(0)
    finally:
        os._exit(1)


class Bench:
    """A plugin of pytest that collects tests by id, and has something else done with them in place of the loop."""

    def __init__(self, work):
        self.work, self.tests = work, {}

    def run(self, files):
        """Collect the tests of some files, and work."""
        load_cases(load_store())  # no code of the rooms runs in it, and each fork has it
        with TemporaryDirectory() as folder:
            pytest.main([*map(str, files), *OPTIONS, f"--basetemp={folder}/base"], [self])

    def pytest_runtestloop(self, session):
        """Work with what was collected."""
        self.tests = {item.nodeid: item for item in session.items}
        self.work(self)
        return True


def killers(tests_by_mutant, wanted, seconds):
    """Yield each mutant with the ids of tests that fail with it, as many as wanted, and whether it came to an end."""

    def killing(mutant, tests):
        put_in(mutant)
        failed = (
            test.nodeid
            for test, after in zip(tests, [*tests[1:], None])
            if any(report.failed for report in runtestprotocol(test, log=False, nextitem=after))
        )
        yield from islice(failed, wanted)

    for mutant in tests_by_mutant:
        importlib.import_module(mutant.module)
    living()  # once, and not in each fork
    yield from in_forks({one: partial(killing, one, tests) for one, tests in tests_by_mutant.items()}, seconds)


def tests_of(mutant, there):
    """The mutant's tests that are there, under their ids or, where their file has another name, under their own names."""
    names = {name.partition("::")[2]: name for name in there}
    return [name for name in (n if n in there else names.get(n.partition("::")[2]) for n in mutant.tests) if name]


def run(bench, kept):
    """Return the mutants with what becomes of each."""
    fates, now = {}, {}
    for mutant in kept:
        place, tests = placed(mutant), [bench.tests[name] for name in tests_of(mutant, bench.tests)]
        fates[mutant] = "misplaced" if place is None else "killed" if tests else "without a test"
        if place and tests:
            now[place] = mutant, tests
    for place, found, ended in killers({place: tests for place, (_, tests) in now.items()}, 1, 60):
        if ended and not found:  # one that never ends is noticed
            fates[now[place][0]] = "survived"
    return fates


def main():
    """Run the kept mutants, and leave with an error where one is not killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, help="run as many of the kept mutants, the same each time")
    _, mutants = read()
    if number := parser.parse_args().sample:
        mutants = [mutants[n] for n in np.random.default_rng(SEED).choice(len(mutants), number, replace=False)]
    begun, fates = time.perf_counter(), {}
    files = {ROOT / name.partition("::")[0] for mutant in mutants for name in mutant.tests}
    Bench(lambda bench: fates.update(run(bench, mutants))).run(sorted(filter(Path.exists, files)))
    for mutant, fate in fates.items():
        if fate != "killed":
            print(f"{fate}: {mutant.module} {mutant.function}\n  - {mutant.before}\n  + {mutant.after}")
    counts = Counter(fates.values())
    print(", ".join(f"{counts[fate]} {fate}" for fate in ("killed", "survived", "without a test", "misplaced")), end="")
    print(f" of {len(mutants)}, in {time.perf_counter() - begun:.0f} s")
    sys.exit(counts["survived"] + counts["without a test"] > 0)


if __name__ == "__main__":
    main()
