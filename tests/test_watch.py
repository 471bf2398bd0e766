"""Looking on while a run is played: what is finished can be read, and the run never notices."""

import re
import signal

import pytest
from commands import Command
from run_server import RunServer, some_cases

from benchmark_lib.cli import main
from benchmark_lib.cli import watch as watching
from benchmark_lib.runfile import RunFile


@pytest.fixture
def command(own_store, project):
    """The words of a run of four cases, played one after another."""
    cases = ",".join(some_cases(own_store, 4))
    fixed = ["--store", str(own_store), "--cases", cases, "--messages", "2", "--concurrency", "1"]
    return lambda url: ["run", "some-model", "--base-url", url, *fixed, "--trials", "1", "--out", "run.deskbench"]


def test_finished_conversations_are_read_while_others_are_played(command, tmp_path, capsys, monkeypatch):
    looks = []
    show = watching._show
    monkeypatch.setattr(watching, "EVERY_S", 0.2)
    monkeypatch.setattr(watching, "_show", lambda seen, *more: (looks.append(len(seen.finished)), show(seen, *more)))
    with RunServer(latency_s=0.15) as server:
        process = Command(command(server.base_url))
        try:
            while not (tmp_path / "run.deskbench").exists() or not RunFile("run.deskbench").counts()["finished"]:
                assert process.poll() is None
            process.send_signal(signal.SIGSTOP)  # it holds its file for as long as one look takes
            assert main(["watch", "run.deskbench", "--page", "--once"]) == 0
            index = (tmp_path / "reports" / "watch" / "run" / "index.html").read_text()
            assert 'http-equiv="refresh"' in index
            pages = re.findall(r'href="([^"]+)"', index)
            assert 0 < len(pages) < 4
            text = (tmp_path / "reports" / "watch" / "run" / pages[0]).read_text()
            assert "We are looking into it" in text and "http-equiv" not in text
            process.send_signal(signal.SIGCONT)
            assert main(["watch", "run.deskbench", "--page"]) == 0
        finally:
            process.send_signal(signal.SIGCONT)
            assert process.wait() == 0
        assert RunFile("run.deskbench").counts()["calls"] == server.count == 16
    assert looks == sorted(looks) and looks[-1] == 4
    assert "4 of 4 conversations finished (100%)" in capsys.readouterr().out
    assert 'http-equiv="refresh"' not in (tmp_path / "reports" / "watch" / "run" / "index.html").read_text()
    RunFile("run.deskbench").check()


def test_the_page_of_a_conversation_says_what_it_cost(command, tmp_path, capsys):
    with RunServer() as server:
        assert main(["run", "gpt-5.4-nano", *command(server.base_url)[2:]]) == 0
    board = capsys.readouterr().out
    assert re.search(r"gpt-5\.4-nano  .*  \d+\.\d\d( \([^)]+\))?  ", board.partition("USD for 1,000")[2])
    assert main(["watch", "run.deskbench", "--page"]) == 0
    run = RunFile("run.deskbench")
    for case, trial in run.endings():
        page = (tmp_path / "reports" / "watch" / "run" / f"{case}-trial-{trial}.html".replace("_", "-")).read_text()
        cost = sum(call["cost_usd"] for call in run.calls_of(case, trial))
        assert cost and f"<td>{cost:.4f}</td>" in page and "not known" not in page


def test_a_run_that_nobody_plays_is_shown_once_with_what_to_do(command, tmp_path, capsys):
    with RunServer() as server:
        assert main(command(server.base_url)) == 0
    before = {path.name: path.read_bytes() for path in tmp_path.glob("run.*")}
    capsys.readouterr()
    assert main(["watch", "run.deskbench"]) == 0
    assert "4 of 4 conversations finished" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in tmp_path.glob("run.*")} == before, "it only reads"


def test_what_cannot_be_watched_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    assert main(["watch", "none"]) == 2 and "there is no run 'none'" in capsys.readouterr().err
