"""Every command in the README and in docs/ is run, or is make's and checked to exist."""

import os
import re
import shlex
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from benchmark_lib.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
PAGES = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
TEXT = "\n".join([README, *PAGES.values()])


def blocks(language):
    return [body for named, body in re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.S | re.M) if named == language]


def commands():
    lines = [line.split(" #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("export ")]


MAKE = sorted({shlex.split(c)[1] for c in commands() if c.startswith("make ")})
OWN = [c for c in commands() if c.startswith("deskbench ")]


def make(*arguments):
    """Call make as from a shell: `make test` hands its own level and options on, and they change what make prints."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *arguments], cwd=ROOT, env=own, capture_output=True, text=True)


def test_the_readme_shows_commands():
    assert MAKE and OWN


@pytest.mark.parametrize("target", MAKE)
def test_make_knows_the_target(target):
    done = make("-n", "-o", ".venv/.installed", "-o", ".venv/.extras", target)
    assert done.returncode == 0, done.stderr


def test_make_refuses_a_variable_it_does_not_know():
    done = make("-n", "run", "BASEURL=http://a/v1")
    assert done.returncode and "no such variable: BASEURL" in done.stderr and "BASE_URL" in done.stderr


@pytest.mark.parametrize("line", ["run STORE=mine", "audit TRIALS=1", "reader MODEL=x"])
def test_make_refuses_a_variable_that_the_target_does_not_read(line):
    done = make("-n", *line.split())
    assert done.returncode and "does not read" in done.stderr


def test_make_help_names_every_target():
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split()
    told = make("-s", "help").stdout
    named = re.findall(r"make ([\w-]+)", told)
    assert [t for t in targets if t not in named and t != "test-slow"] == [] and not told.startswith("#")


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder of its own with what the README asks a reader to write."""
    folder = tmp_path_factory.mktemp("reader")
    for block in blocks("python"):
        name = re.match(r"# (\w+\.py)\n", block)
        if name:
            (folder / name[1]).write_text(block)
    for text, name in re.findall(r"^printf '(.*)' > (\S+)$", TEXT, re.M):
        (folder / name).write_text(text)
    for name in ("notebooks", "data", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.mark.parametrize("command", OWN)
def test_the_command_works(command, desk, monkeypatch, capsys):
    """In this process, which has imported what each of them would import again; `test_cli.py` starts real ones."""
    words = shlex.split(command)[1:]
    if "run" in words and "--out" not in words:
        kinds = {
            "own": "--agent" in words,
            "ruled": "--rules" in words,
            "forecast": "--dry-run" in words,
            "own_desk": "--store" in words,
            "hard": any(w.startswith("hard") for w in words),
        }
        name = next((kind for kind, holds in kinds.items() if holds), "run")
        words += ["--out", str(desk / f"{name}.deskbench")]
    if words[0] == "site":
        words += [str(desk / "run.deskbench"), "--out", str(desk / "site")]
    if "02_leaderboard" in words:
        words += ["-p", f"runs=[{desk / 'run.deskbench'}]"]
    monkeypatch.chdir(desk)
    monkeypatch.syspath_prepend(desk)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{desk}")  # for the processes that a command starts
    assert main(words) == 0, capsys.readouterr()


FEW = ["--cases", "tracking_1", "--trials", "1"]
ELSEWHERE = {
    "notebook": "test_notebooks.py",
    "sit": "test_sitting.py",
    "desk try": "test_desk_try.py",
    "runs": "test_run_list.py",
    "audit --store desks/": "test_desk_try.py",
    "monitor": "test_monitoring.py",
    "import-chats": "test_real_chats.py",
    "run MODEL --store data/stores/chats-": "test_real_chats.py",
    "run MODEL --store FOLDER --play-on": "test_real_chats.py",
    "--procedures": "test_real_chats.py",
    "desk ": "test_desk_new.py",
    "run MODEL --store desks/": "test_desk_new.py",
    "site --store desks/": "test_desk_new.py",
    "cases '*' --store desks/": "test_desk_new.py",
    "compare MODEL MODEL --store desks/": "test_desk_results.py",
    "run scripted:": "test_sly_agents.py and test_tau_domains.py",
}
"""Commands whose model would be a person, or whose runs with one are tested in a file of their own."""


def lines_with_a_model():
    """The commands of the README that a model plays, or that read its run, each as words."""
    unmarked = [line.split(" #")[0].strip() for block in blocks("") for line in block.splitlines()]
    shown = [*OWN, *unmarked, *re.findall(r"`(deskbench [^`]+)`", TEXT)]
    lines = [line.removeprefix("deskbench ") for line in dict.fromkeys(shown) if line.startswith("deskbench ")]
    return [line for line in lines if line not in OWN_LINES and not line.startswith(("--", *ELSEWHERE))]


OWN_LINES = {c.removeprefix("deskbench ") for c in OWN if "MODEL" not in c and "gpt-5.5" not in c}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A project with the runs of two models behind one endpoint, which the environment names, and the way to give commands in it."""
    from run_server import RunServer

    from benchmark_lib.cli import main

    folder = tmp_path_factory.mktemp("played")
    (folder / "pyproject.toml").touch()
    with RunServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("OPENAI_API_KEY", "any")
        for model, out in (("gpt-5.5", "A"), ("other-model", "B")):
            line = ["run", model, *FEW, "--messages", "2", "--yes", "--out", f"data/runs/{out}.deskbench"]
            assert main(line) == 0
        yield main


@pytest.mark.parametrize("line", lines_with_a_model())
def test_the_command_works_with_a_model(line, played, capsys):
    run = "data/runs/A.deskbench"
    words = {
        "MODEL2": "other-model",
        "MODEL": "gpt-5.5",
        "RUN": run,
        "FILE": run,
        "FOLDER": str(ROOT / "data/stores/northline"),
    }
    given = [words.get(word, word) for word in shlex.split(line)]
    command = given[0]
    if command == "run":
        given += [
            "--cases",
            "0" if any(w.startswith("tau:") for w in given) else "tracking_1",
            "--trials",
            "1",
            "--messages",
            "2",
            "--yes",
        ]
    if command == "fork":
        given = [word for word in given if word != "--traps"] + ["--at", "every", "--times", "2", "--yes"]
    if command == "audit":
        given += ["--cases", "tracking_1"]
    if command == "export":
        given += [run, "--format", "jsonl", "--out", "exported"]
    if command == "import":
        given += ["exported/records.jsonl", "--format", "jsonl", "--out", "imported.deskbench"]
    code, said = played(given), capsys.readouterr()
    assert code == 0 or (command == "doctor" and "FAIL" in said.out), said.err


@pytest.mark.parametrize("line", [c for c in commands() if c.startswith("make run MODEL=") and "local" not in c])
def test_make_forecasts_the_run_of_a_model(line, played, capsys):
    given = shlex.split(line)[1:]
    given += ["DRY=1", "CASES=tracking_1"]
    if any(word.startswith("BASE_URL") for word in given):
        given.append(f"BASE_URL={os.environ['OPENAI_BASE_URL']}")
    told = make("-n", "-o", ".venv/.installed", "-o", ".venv/.extras", *given)
    words = shlex.split(told.stdout.replace("\\\n", " "))
    if "SET=hard" in given:  # its forecast takes long, and is another test's
        assert words[words.index("--cases") + 1] == "hard:tracking_1"
        return
    assert words[0].endswith("deskbench") and played(words[1:]) == 0
    assert "model calls" in capsys.readouterr().out


def test_the_notebook_lines_work(desk, monkeypatch):
    import asyncio

    code = next(b for b in blocks("python") if "await Experiment" in b)
    source = "async def main():\n" + "\n".join(f"    {line}" for line in code.splitlines()) + "\n    return results\n"
    monkeypatch.chdir(desk)
    names = {}
    exec(source.replace('"tracking.deskbench"', repr(str(desk / "n.deskbench"))), names)
    assert len(asyncio.run(names["main"]()).conversations) == 6


def test_the_lines_over_the_export_work_and_say_the_same(tmp_path, monkeypatch, capsys):
    command = next(c for c in OWN if c.startswith("deskbench export "))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    assert main(shlex.split(command)[1:]) == 0
    names = {}
    exec(next(b for b in blocks("python") if "read_parquet" in b), names)
    (query,) = blocks("sql")
    # SQLite stands in for DuckDB: the same query but for the cast and the file as a table
    with closing(sqlite3.connect(":memory:")) as db:
        names["talks"].to_sql("talks", db)
        query = query.replace("::int", "").replace("'exported/conversations.parquet'", "talks")
        rows = {(entry, bucket): (hits, n) for entry, bucket, hits, n in db.execute(query)}
    told = names["talks"].groupby(["entry", "bucket"])["success"].agg(["sum", "count"])
    assert rows == {key: tuple(map(int, row)) for key, row in zip(told.index, told.to_numpy(), strict=True)} and rows


def test_the_pictures_exist():
    for path in re.findall(r"!\[.*?\]\((.*?)\)", README):
        assert (ROOT / path).is_file(), path


def test_the_notebooks_and_rooms_named_exist():
    for name in re.findall(r"`(\d\d_\w+)`", TEXT):
        assert (ROOT / "notebooks" / f"{name}.ipynb").is_file(), name
    for path in re.findall(r"^(benchmark_lib/\w+/|data/\S+/)", README, re.M):
        assert (ROOT / path).is_dir(), path


def test_the_page_of_the_data_dictionary_is_the_one_the_declarations_give():
    from benchmark_lib.reports.site.method import dictionary_page

    assert "(docs/data-dictionary.md)" in README
    assert (ROOT / "docs/data-dictionary.md").read_text() == dictionary_page(), "run `make dictionary`"
