"""One source of dependencies: pyproject, environment.yml and the lock name the same packages and bounds."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {"jupyter_client": "jupyter-client", "matplotlib-base": "matplotlib", "seaborn-base": "seaborn"}


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


LOCKS = ("requirements.lock", "requirements-extras.lock")
"""What every run needs, and what the tests and some features need beside it."""


def locked(names=LOCKS):
    lines = [line for name in names for line in (ROOT / name).read_text().splitlines()]
    return dict(line.split(" ;")[0].split("==") for line in lines if "==" in line)


def test_the_lock_holds_every_requirement_within_its_bounds():
    pinned = {re.split(r"\[", name)[0].lower().replace("_", "-"): version for name, version in locked().items()}
    extras = project()["optional-dependencies"]
    for text in [*project()["dependencies"], *(r for group in extras.values() for r in group)]:
        wanted = Requirement(text)
        assert wanted.name.lower() in pinned, f"{wanted.name} is not in requirements.lock: run `make lock`"
        assert pinned[wanted.name.lower()] in wanted.specifier, text


def test_a_run_needs_the_first_lock_alone():
    pinned = {name.lower().replace("_", "-") for name in locked(LOCKS[:1])}
    assert all(Requirement(text).name.lower() in pinned for text in project()["dependencies"])
    assert not pinned & {"pytest", "mypy", "playwright", "scikit-learn", "distributed", "xllamacpp"}


def test_every_import_is_declared_and_every_dependency_used_or_excused():
    found = subprocess.run([sys.executable, "-m", "deptry", "."], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_the_lock_carries_no_address():
    text = "".join((ROOT / name).read_text() for name in LOCKS)
    assert "://" not in text and "--" not in text.replace("# --", "")


def test_environment_yml_agrees_with_pyproject():
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    by_pip = next(e["pip"] for e in entries if isinstance(e, dict))
    conda = {}
    for entry in (e for e in entries if isinstance(e, str)):
        name, _, bounds = entry.partition(" ")
        conda[CONDA_NAMES.get(name, name)] = SpecifierSet(bounds)
    for entry in (e for e in by_pip if not e.startswith("-")):
        conda[Requirement(entry).name] = Requirement(entry).specifier
    wanted = {Requirement(r).name: Requirement(r).specifier for r in project()["dependencies"]}
    assert {n: s for n, s in conda.items() if n not in ("python", "pip")} == wanted
    assert conda["python"] == SpecifierSet(project()["requires-python"])


def tracked():
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    return [ROOT / p for p in found.stdout.split("\n") if p and (ROOT / p).is_file()]


def test_no_machine_paths_keys_or_index_addresses_are_committed():
    bad = re.compile(rb"/roo[t]/|/home/[a-z]+/|--index-ur[l]|/simpl[e]/|sk-[A-Za-z0-9]{20,}")
    for path in tracked():
        found = bad.search(path.read_bytes())
        assert not found, f"{path.relative_to(ROOT)}: {found.group()!r}"


def test_data_files_carry_the_canary(store):
    for path in sorted((store.path / "cases").glob("*.yaml")):
        assert store.info["canary"] in path.read_text(), path.name
