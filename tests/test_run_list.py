"""The runs of a folder: listed, put aside, and each shown once and as what it is."""

import re

import pytest
from made_runs import mixed, run_of
from run_server import RunServer, some_cases

from benchmark_lib import load_results, tables
from benchmark_lib.cli import main
from benchmark_lib.cli import play as ending
from benchmark_lib.experiment.demo import add_example
from benchmark_lib.reports import terminal
from benchmark_lib.reports.terminal import terminal_board
from benchmark_lib.runfile import RunFile


@pytest.fixture
def play(own_store, project):
    """Runs in the project folder: ``play(model, *options)``; the file's place is the default one."""
    cases = some_cases(own_store, 3)

    def played(model, *more, cases=cases):
        fixed = ["--store", str(own_store), "--cases", ",".join(cases), "--messages", "2"]
        return main(["run", model, *fixed, *([] if "--trials" in more else ["--trials", "1"]), *more])

    played.cases = cases
    return played


def files(tmp_path):
    return sorted(path.name for path in (tmp_path / "data" / "runs").glob("*.deskbench"))


def test_the_list_says_model_kind_cases_finished_cost_and_age(play, tmp_path, capsys, monkeypatch):
    (tmp_path / "listed.py").write_text("class Mine:\n    def reply(self, talk):\n        return 'We will see.'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert play("scripted:echo") == 0 and play("mine", "--agent", "listed:Mine") == 0
    with RunServer() as server:
        assert play("some-model", "--base-url", server.base_url) == 0
    capsys.readouterr()
    assert main(["runs"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert all(word in head for word in ("model", "kind", "cases", "trials", "finished", "cost", "age"))
    assert len(rows) == 3 and all("3/3" in row and "min" in row for row in rows)
    kinds = {name: row for row in rows for name in ("some-model", "scripted:echo", "mine") if f" {name} " in row}
    assert " model " in kinds["some-model"] and " scripted " in kinds["scripted:echo"]
    assert " own agent " in kinds["mine"] and " ? " in kinds["some-model"], "a cost that is unknown is not 0"


LONG = "vendor/a-model-with-a-very-long-name-2026-06-29-preview-with-thinking"


def test_names_are_whole_in_a_pipe_and_fit_a_terminal(project, capsys, monkeypatch):
    (project / "data" / "runs").mkdir(parents=True)
    runs = [run_of(project / "data" / "runs", f"{LONG}-{letter}", mixed(0.8, 1), trials=2) for letter in "ab"]
    assert main(["runs"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 2 and "…" not in "".join(rows)
    for run in runs:
        (row,) = (row.split() for row in rows if row.startswith(f"{run.path.stem} "))
        assert row[1] == run.manifest["model"] and row[3:6] == ["18", "2", "36/36"]
    board = terminal_board(runs, this_run=runs[0].run_id)
    assert all(run.manifest["model"] in board for run in runs)
    monkeypatch.setattr(terminal, "screen_width", lambda: 80)
    assert main(["runs"]) == 0
    for lines in (capsys.readouterr().out.splitlines(), terminal_board(runs, this_run=runs[0].run_id).splitlines()):
        assert max(len(line) for line in lines if line.strip() not in {run.path.stem for run in runs}) <= 80
    assert "…" in "".join(lines)


def test_the_board_says_what_its_words_mean_and_that_nothing_unsafe_is_no_merit_of_who_does_nothing(tmp_path):
    idle = run_of(tmp_path, "idle", lambda case, trial: case.startswith("trap"))
    busy = run_of(tmp_path, "busy", lambda case, trial: True)
    lines = terminal_board([idle, busy], this_run=busy.run_id).splitlines()
    rows = {name: next(line for line in lines if re.match(rf"[> ] +{name} +\d", line)) for name in ("idle", "busy")}
    assert " 0* " in rows["idle"] and " 0 " in rows["busy"] and rows["busy"].startswith(">")
    said = " ".join(lines[3:])
    for words in (
        "> marks this run",
        "Lower is better",
        "Higher is better",
        "an agent that does nothing is never unsafe",
    ):
        assert words in said
    assert "an agent that does nothing" not in terminal_board([busy]) and "marks this run" not in terminal_board([busy])


def test_an_own_agent_is_no_language_model_on_the_board(play, tmp_path, capsys, monkeypatch):
    (tmp_path / "own.py").write_text("class Mine:\n    def reply(self, talk):\n        return 'We will see.'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert play("gpt-own", "--agent", "own:Mine") == 0
    row = tables.leaderboard(load_results("data/runs")).iloc[0]
    assert (row["block"], row["panel"], row["source"]) == ("set apart", "own agents", "own agent"), (
        "it resolves nothing"
    )


def test_a_second_file_of_the_same_scripted_run_stands_on_no_board(play, tmp_path, capsys):
    assert play("scripted:echo", "--trials", "2") == 0
    assert play("scripted:echo", "--out", "data/runs/again.deskbench") == 0
    assert play("scripted:echo", "--seed", "7") == 0
    assert len(files(tmp_path)) == 3
    results = load_results("data/runs")
    assert len(results.runs) == 2 and sorted(results.conversations.groupby("run_id").size()) == [3, 6]


def test_an_address_with_a_slash_at_its_end_is_the_same_run(play, tmp_path):
    with RunServer() as server:
        assert play("some-model", "--base-url", f"{server.base_url}/") == 0
        calls = server.count
        assert play("some-model", "--base-url", server.base_url) == 0
    assert len(files(tmp_path)) == 1 and server.count == calls


def test_the_endpoint_of_a_run_is_shown(play, capsys):
    with RunServer() as server:
        assert play("some-model", "--base-url", server.base_url, "--out", "a.deskbench") == 0
        capsys.readouterr()
        assert main(["runs", "show", "a.deskbench"]) == 0
        assert f"the agent's model at {server.base_url}\n" in capsys.readouterr().out


def test_a_run_is_put_aside_and_the_same_command_begins_afresh(play, tmp_path, capsys):
    assert play("scripted:echo") == 0
    first = RunFile(tmp_path / "data" / "runs" / files(tmp_path)[0]).run_id
    assert main(["runs", "fresh", "scripted:echo"]) == 0 and files(tmp_path) == []
    assert [RunFile(path).run_id for path in (tmp_path / "data" / "runs" / "old").iterdir()] == [first]
    assert play("scripted:echo") == 0
    assert RunFile(tmp_path / "data" / "runs" / files(tmp_path)[0]).run_id != first


def test_a_cost_that_nobody_paid_is_a_dash(project, capsys):
    add_example(project / "data" / "runs", "core")
    assert main(["runs"]) == 0
    assert " - " in capsys.readouterr().out.splitlines()[1]


def test_a_board_with_many_runs_keeps_models_and_people_and_says_what_it_leaves_out(project, capsys, monkeypatch):
    folder = project / "data" / "runs"
    add_example(folder, "core")
    done = [run_of(folder, name, mixed(0.8, 1), trials=2) for name in ("model-a", "model-b")]
    floors = [
        run_of(folder, name, lambda case, trial: False, source="scripted", trials=2)
        for name in ("scripted:echo", "scripted:no_op")
    ]
    half = run_of(folder, "half", lambda case, trial: True if trial == 1 else "absent")
    monkeypatch.setattr(ending, "MOST_ROWS", 4)
    ending.say_what_next(done[0])
    said = capsys.readouterr().out
    assert all(f" {name} " in said for name in ("model-a", "model-b", "blind player", "half"))
    assert "2 more runs are not shown here: deskbench notebook 02_leaderboard" in said
    rows = [line for line in terminal_board([half, *floors]).splitlines() if line.endswith(("model", "scripted"))]
    assert " half " in rows[-1], "a partial run stands below the full ones"


def test_an_unknown_run_is_refused_with_the_nearest_one(play, capsys):
    assert play("scripted:echo") == 0
    capsys.readouterr()
    assert main(["runs", "show", "scripted:eco"]) == 2
    assert "did you mean scripted:echo?" in capsys.readouterr().err
    assert main(["runs", "show", "scripted:echo"]) == 0
    said = capsys.readouterr().out
    assert "3 of 3 conversations finished" in said and "no model calls, nothing to pay" in said


def test_the_end_of_a_run_shows_the_board_and_two_things_to_do_next(play, capsys):
    assert play("scripted:oracle") == 0 and play("scripted:echo") == 0
    lines = capsys.readouterr().out.splitlines()
    head = max(number for number, line in enumerate(lines) if line.split()[:2] == ["model", "over-esc."])
    board = lines[head:]
    assert any(line.startswith(">") and "scripted:echo" in line for line in board)
    assert any("scripted:oracle" in line for line in board) and max(map(len, board[:-4])) <= 100
    assert (
        lines[-3] == "next:"
        and "run gpt-5.5 --dry-run" in lines[-2]
        and all("deskbench" in line for line in lines[-2:])
    )
