"""Commands that are printed can be pasted into a shell, whatever files and models are called."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from made_runs import mixed, run_of
from run_server import some_cases

from benchmark_lib import load_results, reports, tables
from benchmark_lib.analysis.entries import entry_meant
from benchmark_lib.cli import main
from benchmark_lib.cli.parser import build_parser
from benchmark_lib.cli.play import next_steps
from benchmark_lib.commands import command
from benchmark_lib.experiment.scoring import advice
from benchmark_lib.runfile import RunFile

ODD = "it's $HOME [a], {b} & =c #1"
"""A folder's name in which a shell, and YAML, read something at every turn."""


def told(text):
    """The commands of Deskbench in a text, each as the arguments that a shell gives it, read by its own parser."""
    found = []
    for line in re.findall(r"`(deskbench .+)`|(?<![\w.])(deskbench .+)$", text, re.M):
        words = shlex.split(line[0] or line[1])
        found.append(build_parser(words[1]).parse_args(words[1:]))
    return found


@pytest.fixture
def run(own_store, project, capsys):
    """A run in a folder of an odd name."""
    out = project / ODD / "my run.deskbench"
    out.parent.mkdir()
    words = ["--store", str(own_store), "--cases", some_cases(own_store, 1)[0], "--messages", "1", "--trials", "1"]
    assert main(["run", "scripted:echo", *words, "--out", str(out.relative_to(project))]) == 0
    return RunFile(out.relative_to(project)), capsys.readouterr().out


def test_what_the_end_of_a_run_says_next_names_this_run(run):
    file, out = run
    *_, own, watch = told(out)
    assert [own.command, watch.command] == ["run", "watch"]
    assert Path(watch.run) == file.path


def test_a_run_ends_with_two_commands(run, tmp_path, project):
    first = run_of(tmp_path, "acme", mixed(0.8, 1))
    assert next_steps(first)[-1].endswith("--page"), "its own page, where the site would not find it"
    (project / "data" / "runs").mkdir(parents=True)
    found = run_of(project / "data" / "runs", "acme", mixed(0.8, 1))
    assert [one.command for one in told("\n".join(next_steps(found)))] == ["notebook", "site"]
    assert len(next_steps(run[0])) == len(next_steps(found)) == 1 + 2


def test_a_file_of_any_name_is_the_entry_that_the_report_is_given():
    for name in ("1e3", "[x]", "a: b", "model #2", "it's", "yes", "$(id)"):
        manifest = {"source": "model", "inputs": {"store": {"value": "northline 1"}}}
        run = SimpleNamespace(path=Path(ODD) / f"{name}.deskbench", manifest=manifest)
        given = dict(one.split("=", 1) for one in told("\n".join(next_steps(run)))[0].parameter)
        assert yaml.safe_load(given["entry"]) == name and yaml.safe_load(given["runs"]) == [str(run.path)]


def test_what_is_said_next_stays_true_when_the_same_model_is_played_again(tmp_path):
    first = run_of(tmp_path, "acme", mixed(0.8, 1))
    hint = told("\n".join(next_steps(first)))[0]
    entry = yaml.safe_load(next(one for one in hint.parameter if one.startswith("entry=")).removeprefix("entry="))
    run_of(tmp_path, "acme", mixed(0.6, 2), store="northline 2")
    results = load_results(tmp_path)
    assert entry not in results.entries.values() and entry_meant(results, entry) == results.entries[first.run_id]
    report = reports.model_report(results, entry)
    assert set(report.mine["run_id"]) == {first.run_id} and report.entry == results.entries[first.run_id]
    assert tables.choose_pair(results, entry)[0] == report.entry


def test_refusals_and_advice_name_the_file_as_a_shell_needs_it(run, capsys):
    path = run[0].path
    assert [Path(one) for one in told(advice(1, 2, path))[0].files] == [path]
    broken = path.with_name("broken.deskbench")
    broken.write_bytes(path.read_bytes()[:5000])
    assert main(["score", str(broken)]) == 2
    assert f"sqlite3 {shlex.quote(str(broken))} .recover" in capsys.readouterr().err


@pytest.mark.parametrize("shell", [one for one in ("sh", "bash", "zsh") if shutil.which(one)])
def test_a_shell_gives_back_every_word(shell):
    words = [ODD, "runs=['a', \"b\"]", "~", "*", "a;b", "`id`"]
    line = command(*words).replace("deskbench", "printf '%s\\n'", 1)
    assert subprocess.run([shell, "-c", line], capture_output=True, text=True, check=True).stdout.splitlines() == words
