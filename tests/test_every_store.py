"""Every command that takes a store or a run works with each kind of store, with a model behind an endpoint, or says in one sentence why not."""

import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from run_server import RunServer, copy_store, some_cases
from site_talks import talks_of

from benchmark_lib import load_results
from benchmark_lib.cli import main
from benchmark_lib.runfile import RunFile

pytest.importorskip("tau2")


@pytest.fixture(scope="module")
def server():
    with RunServer() as running:
        yield running


@pytest.fixture
def tau_run(tmp_path, server):
    out = tmp_path / "tau.deskbench"
    at = ["--base-url", server.base_url, "--store", "tau:airline", "--cases", "0,1", "--trials", "1"]
    assert main(["run", "some-model", *at, "--out", str(out), "--yes"]) == 0
    return out


@pytest.mark.parametrize("store", ["tau:retail", "tau:airline", "tau:telecom"])
@pytest.mark.parametrize("customer", ["scripted", "some-model"])
def test_the_forecast_of_a_model_on_tasks_of_tau2(server, capsys, store, customer):
    sides = ["--base-url", server.base_url, "--customer", customer, "--customer-base-url", server.base_url]
    sides = sides if customer != "scripted" else sides[:2]
    assert main(["run", "some-model", *sides, "--store", store, "--dry-run"]) == 0
    assert "model calls" in capsys.readouterr().out


def test_commands_read_a_run_of_a_model_on_tau2(tau_run, capsys, tmp_path):
    assert RunFile(tau_run).counts()["finished"] == 2
    for command in (["watch", "--page"], ["score"], ["runs", "show"], ["site", "--out", str(tmp_path / "site")]):
        words = [w for w in command if not w.startswith("--out") and w != str(tmp_path / "site")]
        rest = [w for w in command if w not in words]
        flags = [w for w in words if w.startswith("--")]
        assert main([*(w for w in words if w not in flags), str(tau_run), *flags, *rest]) == 0, command
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("line", ["audit --store tau:airline", "generate --seed 3 --store tau:airline --out fresh"])
def test_what_tau2_has_no_use_for_is_refused_in_one_sentence(line, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    "pattern, cases",
    [("hard:privacy,hard:dense", "hard:dense,privacy"), ("hard:dense, privacy", "hard:privacy,hard:dense")],
)
def test_parts_of_the_hard_set_are_named_in_either_way(capsys, pattern, cases):
    shown = []
    for one in (pattern, cases):
        assert main(["run", "scripted:oracle", "--cases", one, "--dry-run"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_two_sets_in_one_run_are_refused_with_both_commands(capsys):
    assert main(["run", "scripted:oracle", "--cases", "tracking,hard:dense", "--dry-run"]) == 2
    assert "one command for tracking and one for hard:dense" in capsys.readouterr().err


@pytest.mark.parametrize(
    "store, pattern, count",
    [("northline:hard", "hard", 143), ("northline", "hard:hard:dense", 18), ("northline", "hard:", 262)],
)
def test_names_of_the_hard_set_from_either_store(capsys, store, pattern, count):
    assert main(["cases", pattern, "--store", store]) == 0
    assert f": {count} cases" in capsys.readouterr().out.splitlines()[0]


def test_a_name_of_the_core_set_within_the_hard_set_is_refused_with_the_list_that_helps(capsys):
    assert main(["cases", "hard:dense,tracking"]) == 2
    assert "deskbench cases hard`" in capsys.readouterr().err


@pytest.fixture
def copied(project):
    """A store two folders down that is called Northline and has another policy."""
    (project / "kept").mkdir()
    store = copy_store(project / "kept", files=40, name="northline")
    policy = store / "policy.yaml"
    policy.write_text(policy.read_text().replace("cost_cents: {US: 900", "cost_cents: {US: 901"))
    return store.rename(store.with_name("ours"))


def test_a_copy_with_another_policy_is_named_and_never_mixed_with_northline(project, copied, server, capsys):
    (case,) = some_cases(copied, 1)
    line = ["--cases", case, "--trials", "1", "--out"]
    ours, theirs = "data/runs/ours.deskbench", "data/runs/theirs.deskbench"
    model = ["some-model", "--base-url", server.base_url, "--messages", "2", "--yes"]
    assert main(["run", *model, *line, theirs]) == 0
    capsys.readouterr()
    assert main(["run", *model, "--store", str(copied), *line, ours]) == 0
    assert "1 run on other stores not shown" in capsys.readouterr().out
    versions = load_results(ours, theirs).conversations["store_version"]
    assert versions.nunique() == 2 and versions.str.contains(", content ").sum() == 1
    assert main(["compare", ours, theirs]) == 2
    assert "different content" in capsys.readouterr().err
    assert main(["site", ours, "--no-published", "--out", "site"]) == 0
    (page,) = Path("site/cases").glob("*.html")
    assert "Accepted outcomes" in page.read_text() and f"<bdi>{case}</bdi>" not in page.read_text()
    (talk,) = talks_of(Path("site")).values()
    assert f"Model calls ({RunFile(ours).counts()['calls']})" in talk


def test_a_site_without_the_store_says_so_and_a_folder_mends_it(project, copied, server, capsys, tmp_path_factory):
    away = copied.rename(tmp_path_factory.mktemp("elsewhere") / "ours")
    info = away / "store.yaml"
    info.write_text(info.read_text().replace("name: northline", "name: ours"))
    (case,) = some_cases(away, 1)
    line = ["run", "scripted:oracle", "--store", str(away), "--cases", case, "--trials", "1", "--out", "run.deskbench"]
    assert main(line) == 0
    for more, said in (([], "deskbench site --store FOLDER"), (["--store", str(away)], "Accepted outcomes")):
        assert main(["site", "run.deskbench", "--no-published", "--out", "site", *more]) == 0
        (page,) = Path("site/cases").glob("*.html")
        assert said in page.read_text()


def test_a_run_is_marked_only_where_it_was_made(project, own_store, capsys):
    line = [
        "run",
        "scripted:oracle",
        "--store",
        str(own_store),
        "--cases",
        some_cases(own_store, 1)[0],
        "--trials",
        "1",
    ]
    for marked in (True, False):
        assert main([*line, "--out", "run.deskbench"]) == 0
        assert ("> marks this run" in capsys.readouterr().out) is marked


def test_a_file_that_is_being_written_is_refused_before_a_forecast(project, own_store, server, capsys):
    line = ["run", "some-model", "--base-url", server.base_url, "--store", str(own_store), "--out", "run.deskbench"]
    with FileLock(".run.deskbench.lock"):
        assert main([*line, "--cases", some_cases(own_store, 1)[0], "--yes"]) == 2
    said = capsys.readouterr()
    assert "is being written by another run" in said.err and "forecast" not in said.out


AGENT = """from benchmark_lib.records import Usage


class Charging:
    def reply(self, talk):
        talk.charge(Usage(prompt_tokens=100, completion_tokens=10, calls=1))
        return "I have read it."
"""


def test_what_an_agent_of_ones_own_charges_is_not_said_to_be_free(project, own_store, capsys, monkeypatch):
    Path("charging.py").write_text(AGENT)
    monkeypatch.syspath_prepend(str(project))
    line = ["run", "mine", "--agent", "charging:Charging", "--store", str(own_store), "--messages", "2"]
    line += ["--cases", some_cases(own_store, 1)[0], "--trials", "1", "--out", "run.deskbench"]
    assert main([*line, "--dry-run"]) == 0 and "agent's own calls are not known" in capsys.readouterr().out
    assert main(line) == 0
    for again in ([], ["runs", "show", "run.deskbench"], ["watch", "run.deskbench", "--once"]):
        assert not again or main(again) == 0
        said = capsys.readouterr().out
        assert "of the agent's own" in said and "nothing to pay" not in said


def test_commands_are_named_as_a_person_can_give_them(tmp_path):
    program = Path(sys.executable).with_name("deskbench")
    line, path = [program, "audit", "--store", "tau:airline"], {"PATH": "/usr/bin"}
    told = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=path).stderr
    assert f"with {program} run scripted:oracle" in told
    told = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env={"PATH": str(program.parent)}).stderr
    assert "with deskbench run scripted:oracle" in told
