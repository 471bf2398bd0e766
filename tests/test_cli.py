"""The command line: instant help, one sentence for bad input, exit codes that a script can act on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import Command
from run_server import RunServer, copy_store, some_cases
from servers import Answer, error_body

from benchmark_lib import load_store, runfile
from benchmark_lib.cli import main
from benchmark_lib.cli.parser import commands
from benchmark_lib.runfile import RunFile
from benchmark_lib.scoring.written import cost_in_words


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return copy_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty project folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return tmp_path


@pytest.fixture
def line(store, folder):
    """A small run, but for the model: ``main([*line(model), ...])``."""
    cases = ",".join(some_cases(store, 3))
    return lambda model: ["run", model, "--store", str(store), "--cases", cases, "--trials", "2", "--messages", "2"]


def test_a_run_says_where_its_file_is_and_how_it_went_with_denominators(line, folder, capsys):
    assert main([*line("scripted:oracle"), "--out", "sub/folder/o.deskbench"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "scripted:oracle: 6 of 6 conversations finished (3 cases x 2 trials)"
    assert said[1].startswith("conversations that succeeded: resolvable ") and "/" in said[1]
    assert "run file: sub/folder/o.deskbench" in said and RunFile("sub/folder/o.deskbench").counts()["finished"] == 6
    assert main([*line("scripted:oracle"), "--out", "sub/folder/o.deskbench", "--replay"]) == 0
    assert "byte for byte" in capsys.readouterr().out
    assert main(["score", "sub/folder/o.deskbench", "--store", line("x")[3]]) == 0
    assert "scored 0 of 6 conversations" in capsys.readouterr().out


BAD = [
    (["run"], "no model is named"),
    (["rnu"], "there is no command 'rnu': did you mean run?"),
    (["desk", "tyr"], "there is no command 'desk tyr': did you mean desk try?"),
    (["desk", "--help"], "there is no command 'desk': did you mean desk try or desk new or "),
    (["run", "scripted:no_op", "--trails", "3"], "did you mean --trials?"),
    (["run", "scripted:no_op", "--case", "tracking_1", "--trails", "3"], "did you mean --cases and --trials?"),
    (["site", "--foo", "3"], "see `deskbench --help`"),
    (["run", "scripted:no_op", "--trials", "-3"], "trials must be a whole number of at least 1, not -3"),
    (["run", "scripted:no_op", "--trials", "three"], "invalid int value: 'three'"),
    (["run", "scripted:no_op", "--timeout", "nan"], "timeout must be a number above 0"),
    (["run", "scripted:no_op", "--cases", "wismo_travle"], "did you mean wismo_travel"),
    (["run", "scripted:orakle"], "no scripted agent 'orakle'"),
    (["run", "scripted:no_op", "--store", "southline"], "no store 'southline'"),
    (["run", "scripted:no_op", "--prompt", "none.md"], "none.md cannot be read"),
    (
        ["run", "scripted:no_op", "--settings", "none.yaml"],
        "none.yaml cannot be read (it is missing): check its name, or create it",
    ),
    (["run", "scripted:no_op", "--tools", "nothing"], "is not of the form module:name"),
    (["run", "scripted:no_op", "--out", "notes.txt"], "notes.txt is not a run file"),
    (["run", "scripted:no_op", "--out", "."], "is a folder"),
    (["run", "scripted:no_op", "--out", "notes.txt/a.deskbench"], "notes.txt cannot be created"),
    (["run", "scripted:no_op", "--out", "/proc/a.deskbench"], "/proc"),
    (["run", "scripted:no_op", "--out", "none.deskbench", "--replay"], "no run file at none.deskbench"),
    (["run", "scripted:no_op", "--agent", "json:dumps"], "both name an agent"),
    (["run", "x", "--agent", "json:loads"], "cannot be made"),
    (["run", "gpt-5.5"], "OPENAI_API_KEY"),
    (["run", "gpt-5.5", "--base-url", "nonsense"], "is not an address"),
    (
        ["run", "unheard-of", "--base-url", "http://127.0.0.1:9/v1", "--budget-usd", "1"],
        "no price is known for unheard-of",
    ),
    (
        ["run", "unheard-of", "--base-url", "http://127.0.0.1:9/v1", "--budget-usd", "0"],
        "budget_usd must be a number above 0",
    ),
    (["score", "notes.txt"], "notes.txt is not a run file"),
    (["score", "none.deskbench"], "there is no run 'none.deskbench' in"),
]


@pytest.mark.parametrize(
    "arguments, words", BAD, ids=lambda value: " ".join(value[1:]) if isinstance(value, list) else ""
)
def test_bad_input_is_one_sentence_exit_2_and_nothing_written(folder, capsys, arguments, words):
    (folder / "notes.txt").write_text("hello")
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    assert words in said.err and said.err.startswith("deskbench: ")
    assert os.listdir(folder) == ["notes.txt"] and (folder / "notes.txt").read_text() == "hello"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "contains no prompt"),
        ("---\nversion: 2\n---\n \n", "contains no prompt"),
        ("---\nAlways: be kind\n---\nAnswer.", "has 'Always', which would not reach the model"),
    ],
)
def test_a_prompt_that_would_not_reach_the_model_whole_is_refused(folder, capsys, text, words):
    (folder / "own.md").write_text(text)
    assert main(["run", "scripted:no_op", "--cases", "tracking_1", "--prompt", "own.md"]) == 2
    assert words in capsys.readouterr().err


def test_a_prompt_keeps_its_braces_and_rules(folder):
    (folder / "own.md").write_text('\n---\nAlways: be kind\n---\nAs {"a": {}}, {% raw %}{{ x }}{% endraw %}')
    assert load_store().prompt(folder / "own.md")[0] == '---\nAlways: be kind\n---\nAs {"a": {}}, {{ x }}'


def test_a_broken_case_file_is_refused_with_file_case_and_field(folder, capsys):
    store = copy_store(folder / "..")
    broken = next((store / "cases").glob("*.yaml"))
    broken.write_text(broken.read_text().replace("tone:", "tune:", 1))
    assert main(["run", "scripted:no_op", "--store", str(store)]) == 2
    said = capsys.readouterr().err
    assert broken.name in said and "case " in said and "field " in said and len(said.splitlines()) == 1


@pytest.mark.parametrize("key, calls", [(None, 0), ("k", 1)], ids=["before a call that counts", "one call"])
def test_a_wrong_model_name_costs_one_call_and_exit_2(line, folder, capsys, monkeypatch, key, calls):
    if key:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with RunServer(model="right") as server:
        assert main([*line("wrong"), "--base-url", server.base_url]) == 2
        assert server.count == calls
    assert "does not know the model" in capsys.readouterr().err.splitlines()[-1]
    assert not list(folder.glob("data/runs/*"))


def test_a_full_disk_is_exit_3_and_the_same_command_goes_on(line, folder, capsys, monkeypatch):
    with RunServer() as server:
        command = [*line("some-model"), "--base-url", server.base_url, "--out", "run.deskbench", "--concurrency", "2"]
        assert main([*command, "--trials", "1"]) == 0
        pages, before = os.path.getsize("run.deskbench") // 4096, server.count
        with monkeypatch.context() as patch:
            patch.setitem(runfile.PRAGMAS, "max_page_count", pages + 4)
            assert main(command) == 3
        said = capsys.readouterr().err.splitlines()[-1]
        assert "full" in said and "rerun the same command" in said
        cut = RunFile("run.deskbench")
        cut.check()
        kept, bought = cut.counts()["calls"], server.count
        assert before < kept <= bought <= kept + 2
        assert main(command) == 0
        assert cut.counts()["finished"] == 6 and server.count - bought == 6 * 4 - kept


def test_a_file_already_full_when_it_is_opened_is_exit_3_too(line, folder, capsys, monkeypatch):
    assert main([*line("scripted:spam"), "--out", "run.deskbench"]) == 0
    capsys.readouterr()
    monkeypatch.setitem(runfile.PRAGMAS, "max_page_count", 1)
    more = [word if word != "2" else "3" for word in line("scripted:spam")]
    assert main([*more[:-1], "2", "--out", "run.deskbench"]) == 3
    assert len(capsys.readouterr().err.strip().splitlines()[-1:]) == 1
    assert RunFile("run.deskbench").counts()["finished"] == 6


def test_faults_of_the_endpoint_are_exit_3(line, folder, capsys):
    settings = folder / "settings.yaml"
    settings.write_text("agent: {attempts: 1}")
    with RunServer() as server:
        command = [
            *line("some-model"),
            "--base-url",
            server.base_url,
            "--settings",
            str(settings),
            "--out",
            "run.deskbench",
        ]
        assert main([*command, "--trials", "1"]) == 0
        server.broken = Answer(error_body("it broke"), 500)
        assert main(command) == 3
        assert "rerun the same command" in capsys.readouterr().err.splitlines()[-1]
        server.broken = None
        assert main(command) == 0


def test_help_loads_nothing_heavy_and_lists_every_command():
    code = "import sys; from benchmark_lib.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(name in said for name in commands())
    loaded = set(said.splitlines()[-1].split())
    assert not loaded & {
        "numpy",
        "pandas",
        "openai",
        "pydantic",
        "scipy",
        "matplotlib",
        "yaml",
        "asyncio",
        "sqlite3",
        "tqdm",
    }


def test_the_package_imports_nothing_before_it_is_asked_for():
    code = "import sys, benchmark_lib; print(*[m for m in sys.modules if m.startswith('benchmark_lib')])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["benchmark_lib"]


def test_every_command_explains_its_arguments(capsys):
    for name in commands():
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0 and "exit codes" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, code",
    [(["--help"], 0), (["audit", "--show", "oracle"], 141), (["run", "scripted:echo", "--cases", "slice"], 141)],
)
def test_a_reader_that_has_read_enough_ends_a_command_quietly(folder, words, code):
    process = Command(words)
    process.stdout.close()
    complained = process.stderr.read()
    assert "Traceback" not in complained and "Broken" not in complained and process.wait() in (code, 141)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_command_that_is_started_without_a_stream_works(folder, store, closed):
    words = (
        f"{sys.executable} -m benchmark_lib sit --store {store} --cases {some_cases(store, 1)[0]} --out run.deskbench"
    )
    ended = subprocess.run(f"echo Hello. | {words} {closed}", shell=True, capture_output=True, text=True)
    assert ended.returncode == 3 and "Traceback" not in ended.stdout + ended.stderr
    assert RunFile(folder / "run.deskbench").counts()["finished"] == 0


def test_ctrl_c_ends_a_command_quietly(folder):
    process = Command(["audit", "--show", "oracle"])
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, complained = process.communicate()
    assert process.returncode == 130 and complained == ""


@pytest.mark.parametrize(
    "words", [["run", "gpt-5.5", "--dry-run"], ["run", "scripted:echo", "--cases", "hard"], ["runs"], ["watch"]]
)
def test_ctrl_c_at_any_time_leaves_no_traceback(folder, words):
    for delay_s in (0.2, 0.8):
        interrupted(Command(words), delay_s)


def test_ctrl_c_while_a_command_is_loading_leaves_no_traceback(folder):
    heeds = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    for delay_s in (0.4, 0.8, 1.6):
        line = [sys.executable, "-m", "benchmark_lib", "run", "gpt-5.5", "--dry-run"]
        interrupted(subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **heeds), delay_s)


def interrupted(process, delay_s):
    """Press Ctrl-C after a while: the command says nothing of its insides."""
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    _, complained = process.communicate()
    assert "Traceback" not in complained and process.returncode in (0, 2, 130, -signal.SIGINT)


@pytest.mark.parametrize(
    "calls, unpriced, words",
    [
        (0, 0, "nothing to pay"),
        (3309, 3309, "cost unknown (no known price)"),
        (40, 12, "at least 0.5000 USD (12 of the calls without a known price)"),
        (40, 0, "0.5000 USD"),
    ],
)
def test_an_unknown_cost_is_never_written_as_nothing(calls, unpriced, words):
    assert cost_in_words(0.5 if calls > unpriced else 0.0, calls, unpriced) == words


def test_the_cost_of_an_own_agent_is_unknown_even_if_it_charged_nothing():
    assert cost_in_words(0.0, 0, 0, own=0) == "cost unknown for any calls of the agent's own"
    assert cost_in_words(0.0, 0, 0, own=1) == "cost unknown for 1 call of the agent's own"


def test_exit_codes_and_argument_parsing_stand_in_the_cli_folder_alone():
    package = Path(sys.modules["benchmark_lib"].__file__).parent
    elsewhere = [
        p
        for p in package.rglob("*.py")
        if not p.is_relative_to(package / "cli")
        and not p.name.endswith(("__main__.py", "local_server.py", "command.py"))
    ]
    for path in elsewhere:
        text = path.read_text()
        assert "argparse" not in text and "sys.exit" not in text and "cli import" not in text, path
