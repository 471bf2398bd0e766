"""Every command that takes a store or a run works with each kind of store, with a model behind an endpoint, or says in one sentence why not."""

import pytest
from run_server import RunServer

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
