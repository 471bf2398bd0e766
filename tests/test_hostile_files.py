"""Files and folders that commands cannot use: one sentence, exit code 2, and nothing is left behind."""

import os

import orjson
import pytest

from benchmark_lib import load_results, tables
from benchmark_lib.cli import main
from benchmark_lib.extras.exchange.imports import MOST_K

LINE = {
    "case_id": "a",
    "trial": 1,
    "messages": [{"side": "customer", "text": "Hi"}, {"side": "agent", "text": "Yes?"}],
    "success": True,
}
CALL = {"turn": 1, "index": 0, "name": "look", "arguments": {}, "result": 1, "error": None, "write": False}
SIMULATION = {
    "task_id": "t",
    "trial": 0,
    "reward_info": {"reward": 1.0},
    "messages": [{"role": "user", "content": "Hi"}],
    "termination_reason": "user_stop",
}
TAU2 = {"tasks": [{"id": "t"}], "simulations": [SIMULATION], "info": {"num_trials": 1, "agent_info": {"llm": "g"}}}
ENTRY = {"task_id": 0, "trial": 0, "reward": 1.0, "traj": [{"role": "user", "content": "Hi"}], "info": {}}
DEEP = b"[" * 2000 + b"]" * 2000
HALF_DEEP = orjson.loads(b"[" * 400 + b"]" * 400)


def refused(arguments, capsys, folder):
    """What a command says that must be refused, in one sentence and without a trace in `folder`."""
    before = sorted(folder.rglob("*"))
    assert main([str(a) for a in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("deskbench: ") and said.err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before
    return said.err


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run file, by import."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "r.jsonl").write_bytes(orjson.dumps(LINE))
    assert (
        main(
            [
                "import",
                str(folder / "r.jsonl"),
                "--format",
                "jsonl",
                "--model",
                "m",
                "--out",
                str(folder / "r.deskbench"),
            ]
        )
        == 0
    )
    return folder / "r.deskbench"


WRONG_LINES = {
    "score": [
        5,
        [1],
        "x",
        {"turns": 1e300},
        {"turns": True},
        {"reward": [1]},
        {"success": 1},
        {"bucket": {"a": 1}},
        {"cost_usd": "x"},
        {"reward_basis": 5},
    ],
    "usage": [
        5,
        [1],
        "x",
        {"agent": 5},
        {"agent": {"prompt_tokens": "many"}},
        {"agent": {"calls": 1.5}},
        {"agent": {"calls": -5}},
        {"agent": {"prompt_tokens": 10**18}},
    ],
    "messages": [
        5,
        [5],
        [{"side": "customer", "turn": "x"}],
        [{"side": "customer", "turn": 10**17}],
        [{"side": "agent", "turn": 1.5}],
        [{"side": ["x"]}],
        [{"side": "customer", "acts": [5]}],
        [{"side": "customer", "acts": [{"kind": 5, "what": None}]}],
        [{"side": "customer", "attachments": 5}],
    ],
    "tool_calls": [
        5,
        [5],
        [{}],
        [CALL | {"turn": "x"}],
        [CALL | {"name": 7}],
        [CALL | {"error": 5}],
        [CALL | {"write": "no"}],
        [CALL | {"result": HALF_DEEP}],
    ],
    "faults": [[5], [{"side": 1, "kind": 2}], "x"],
    "changes": [5, ["x"], [{"new": HALF_DEEP}]],
    "trial": [0, -1, 1.0, True, 2**60, "1", None],
    "case_id": ["", 5, None],
    "model": [5, {"a": 1}],
    "customer": [[1]],
    "ended_by": [5, ["x"], "magic"],
    "reward": ["x", True, [1]],
}


@pytest.mark.parametrize(
    "field, value",
    [(field, value) for field, values in WRONG_LINES.items() for value in values],
    ids=lambda v: str(v)[:40],
)
def test_an_import_whose_parts_are_not_of_their_kind_is_refused(field, value, tmp_path, capsys):
    line = (
        b"{"
        + b",".join(
            orjson.dumps(k) + b":" + (_nested(v) if k == field else orjson.dumps(v))
            for k, v in {**LINE, field: value}.items()
        )
        + b"}"
    )
    (tmp_path / "r.jsonl").write_bytes(line)
    said = refused(
        [
            "import",
            tmp_path / "r.jsonl",
            "--format",
            "jsonl",
            "--model",
            "m",
            "--out",
            tmp_path / "new" / "o.deskbench",
        ],
        capsys,
        tmp_path,
    )
    assert "r.jsonl" in said


def _nested(value):
    """JSON also of what is nested deeper than orjson writes."""
    import json

    return json.dumps(value).encode()


@pytest.mark.parametrize("format", ["jsonl", "tau2", "tau-bench"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(range(256)) * 9,
        orjson.dumps(LINE)[:40],
        DEEP,
        b"null",
        b"5",
        b"[5]",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        orjson.dumps(LINE) + b"\n" + orjson.dumps(LINE),
    ],
)
def test_an_import_of_something_else_is_refused(format, data, tmp_path, capsys):
    (tmp_path / "r.json").write_bytes(data)
    refused(
        [
            "import",
            tmp_path / "r.json",
            "--format",
            format,
            "--model",
            "m",
            "--domain",
            "d",
            "--out",
            tmp_path / "o.deskbench",
        ],
        capsys,
        tmp_path,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"agent_cost": "x"},
        {"user_cost": [1]},
        {"reward_info": {"reward": "x"}},
        {"reward_info": 5},
        {"trial": 1e300},
        {"trial": -5},
        {"messages": [5]},
        {"messages": [{"role": "user", "content": [1]}]},
        {"messages": [{"role": "assistant"}, {"role": "assistant", "usage": {"prompt_tokens": "x"}}]},
    ],
)
def test_a_tau2_file_with_a_wrong_part_is_refused(change, tmp_path, capsys):
    (tmp_path / "r.json").write_bytes(orjson.dumps({**TAU2, "simulations": [SIMULATION | change]}))
    refused(["import", tmp_path / "r.json", "--format", "tau2", "--out", tmp_path / "o.deskbench"], capsys, tmp_path)


@pytest.mark.parametrize(
    "change",
    [{"info": {"num_trials": 10**12, "agent_info": {"llm": "g"}}}, {"info": 5}, {"tasks": [5]}, {"simulations": 5}],
)
def test_a_tau2_file_that_is_wrong_as_a_whole_is_refused(change, tmp_path, capsys):
    (tmp_path / "r.json").write_bytes(orjson.dumps(TAU2 | change))
    refused(["import", tmp_path / "r.json", "--format", "tau2", "--out", tmp_path / "o.deskbench"], capsys, tmp_path)


@pytest.mark.parametrize(
    "change",
    [{"reward": "x"}, {"trial": "x"}, {"traj": [5]}, {"info": 5}, {"info": {"user_cost": "x", "reward_info": 1}}],
)
def test_a_tau_bench_file_with_a_wrong_part_is_refused(change, tmp_path, capsys):
    (tmp_path / "r.json").write_bytes(orjson.dumps([ENTRY | change]))
    arguments = [
        "import",
        tmp_path / "r.json",
        "--format",
        "tau-bench",
        "--model",
        "m",
        "--domain",
        "d",
        "--out",
        tmp_path / "o.deskbench",
    ]
    refused(arguments, capsys, tmp_path)


def test_many_trials_of_one_case_are_summed_up_by_few_numbers(tmp_path, capsys):
    lines = [orjson.dumps({**LINE, "trial": trial, "success": trial % 3 > 0}) for trial in range(1, 1001)]
    (tmp_path / "r.jsonl").write_bytes(b"\n".join(lines))
    for more, last in (([], MOST_K), (["--most-k", "20"], 20)):
        out = tmp_path / f"{last}.deskbench"
        assert (
            main(["import", str(tmp_path / "r.jsonl"), "--format", "jsonl", "--model", "m", "--out", str(out), *more])
            == 0
        )
        said = capsys.readouterr().out
        assert f"success 667/1000; pass^1..{last} 0.667 " in said and len(said.splitlines()[1].split()) == 4 + last
    refused(
        ["import", tmp_path / "r.jsonl", "--format", "jsonl", "--out", tmp_path / "o.deskbench", "--most-k", "0"],
        capsys,
        tmp_path,
    )


PLACES = ["/proc/new", "/sys/new/sub", "/dev/full/new", "file.txt/new", "n" * 300]
COMMANDS = [
    ["import", "LINES", "--format", "jsonl", "--model", "m"],
    ["export", "RUN", "--format", "jsonl"],
    ["export", "RUN", "--format", "parquet"],
    ["site", "RUN"],
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place[:12])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:1] + words[3:4]))
def test_an_output_that_cannot_be_written_is_refused(command, place, run, tmp_path, capsys):
    (tmp_path / "file.txt").write_text("hello")
    words = {"RUN": run, "LINES": run.with_name("r.jsonl")}
    refused([*(words.get(word, word) for word in command), "--out", tmp_path / place], capsys, tmp_path)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:1] + words[3:4]))
def test_a_disk_that_fills_up_leaves_nothing_behind(command, run, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    words = {"RUN": run, "LINES": run.with_name("r.jsonl")}
    said = refused([*(words.get(word, word) for word in command), "--out", tmp_path / "sub" / "new"], capsys, tmp_path)
    assert "No space left on device" in said


@pytest.mark.parametrize(
    "command",
    [["export", "--format", "jsonl"], ["site"], ["import", "--format", "jsonl"]],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("source", ["none", ".", "notes.txt", "/dev/zero", "n" * 300], ids=lambda source: source[:9])
def test_an_input_that_is_not_a_file_of_this_kind_is_refused(command, source, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    refused([command[0], source, *command[1:], "--out", "new"], capsys, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "runs=[",
        "runs=&a [*a]",
        "runs=" + "[" * 2000,
        "runs=!!python/object:os.system x",
        "runs=2026-99-99",
        "runs=\x00",
        "runs={a: b: c}",
        "runs=*x",
        "runs=`",
        "runs",
        "ruins=1",
    ],
    ids=lambda text: text[:16],
)
def test_a_notebook_parameter_that_cannot_be_read_is_refused(text, tmp_path, capsys):
    (tmp_path / "book.ipynb").write_bytes(book("runs = 1"))
    assert "run" in refused(["notebook", tmp_path / "book.ipynb", "-p", text], capsys, tmp_path)


def book(code, **more):
    """A notebook with one parameters cell."""
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {"tags": ["parameters"]},
        "source": code,
        "outputs": [],
        "execution_count": None,
    }
    return orjson.dumps({"cells": [cell | more], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        b"",
        bytes(range(256)),
        b"{}",
        b"[]",
        b"5",
        DEEP,
        b'{"cells": 5, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
        b'{"cells": [5], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
        b'{"cells": [], "nbformat": 99}',
        b'{"cells": [], "nbformat": "x", "metadata": {}}',
        b'{"worksheets": 5, "nbformat": 3}',
        book("x = = 1"),
        book("x = 1", metadata={"tags": 5}),
    ],
)
def test_a_file_that_is_not_a_notebook_is_refused(data, tmp_path, capsys):
    (tmp_path / "book.ipynb").write_bytes(data)
    assert "book.ipynb" in refused(["notebook", tmp_path / "book.ipynb"], capsys, tmp_path)


def test_a_refused_import_does_not_spoil_what_lies_beside_it(run, tmp_path, capsys):
    (tmp_path / "good.deskbench").write_bytes(run.read_bytes())
    (tmp_path / "r.jsonl").write_bytes(orjson.dumps({**LINE, "score": 5}))
    refused(
        ["import", tmp_path / "r.jsonl", "--format", "jsonl", "--model", "m", "--out", tmp_path / "bad.deskbench"],
        capsys,
        tmp_path,
    )
    assert len(tables.leaderboard(load_results(tmp_path))) == 1
