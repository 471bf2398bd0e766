"""The forecast of a run: its ranges hold what became of it, it calls nothing, and it asks above a sum."""

import sys
from pathlib import Path

import orjson
import pytest
from made_runs import change_manifest
from run_server import RunServer, some_cases
from servers import Answer, ScriptedServer, error_body

from benchmark_lib import Experiment
from benchmark_lib.cli import main, play
from benchmark_lib.cli.parser import build_parser
from benchmark_lib.cli.run import NOT_OF_THE_RUN
from benchmark_lib.experiment.demo import EXAMPLE, local_slice
from benchmark_lib.experiment.forecast import Range
from benchmark_lib.experiment.plan import prepare
from benchmark_lib.runfile import RunFile, create

BYTES_A_TOKEN = 4


class CountingServer(RunServer):
    """An endpoint that reports as many tokens as its requests and answers are long."""

    def reply_to(self, request, number):
        answer = super().reply_to(request, number)
        prompt = len(orjson.dumps([request["messages"], request.get("tools")])) // BYTES_A_TOKEN
        return answer | {"usage": {"prompt_tokens": prompt, "completion_tokens": 120, "total_tokens": prompt + 120}}


@pytest.fixture
def line(own_store, tmp_path, monkeypatch):
    """A small run of a model at an endpoint: ``line(url, ...)``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    cases = ",".join(some_cases(own_store, 6))
    fixed = ["--store", str(own_store), "--cases", cases, "--trials", "2", "--out", "run.deskbench"]
    return lambda url, *more, model="gpt-5.5": ["run", model, "--base-url", url, *fixed, *more]


@pytest.fixture
def in_a_terminal(monkeypatch):
    """Answers to be typed: ``in_a_terminal("y")``."""

    def typed(answer):
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys.stdin, "readline", lambda: answer + "\n", raising=False)

    return typed


def holds(said, value):
    """Whether a range, whose ends are shown with two digits, holds a value."""
    return float(f"{said.low:.2g}") <= float(f"{value:.2g}") <= float(f"{said.high:.2g}")


def forecast_of(words):
    """What a command forecasts."""
    options = vars(build_parser("run").parse_args([word for word in words if word != "--dry-run"]))
    return Experiment(**{name: value for name, value in options.items() if name not in NOT_OF_THE_RUN}).forecast(True)


@pytest.mark.parametrize("messages", ["2", "8"])
def test_what_a_run_took_lies_in_the_ranges_of_its_forecast(line, messages, capsys):
    with CountingServer() as server:
        words = line(server.base_url, "--messages", messages)
        foreseen = forecast_of(words)
        assert main([*words]) == 0
    said = capsys.readouterr().out
    assert said.index("forecast for gpt-5.5: 12 conversations") < said.index("12 of 12 conversations finished")
    assert f"  {foreseen.calls.written()} model calls\n" in said
    calls = list(RunFile("run.deskbench").calls())
    for name in ("prompt_tokens", "completion_tokens", "cost_usd"):
        assert holds(getattr(foreseen, name), sum(call[name] for call in calls)), name
    assert holds(foreseen.calls, len(calls))


def test_a_dry_run_needs_no_key_and_calls_nothing(line, capsys):
    with RunServer() as server:
        assert main([*line(server.base_url, "--dry-run")]) == 0
        assert server.count == 0
    assert main(["run", "gpt-5.5", "--cases", "slice", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert "model calls" in said.out and "USD" in said.out and "nothing was called" in said.out and not said.err
    assert not list(Path().iterdir())


def test_a_forecast_names_the_endpoint(line, capsys):
    assert main([*line("http://127.0.0.1:9/v1", "--dry-run")]) == 0
    assert "\n  at http://127.0.0.1:9/v1\n" in capsys.readouterr().out


def test_a_range_is_written_with_two_digits():
    assert Range(123.4, 270.0, 604.0).written() == "about 270 (120 to 600)"


def test_an_unknown_price_is_said_to_be_unknown(line, capsys):
    assert main([*line("http://127.0.0.1:9/v1", "--dry-run", model="unheard-of")]) == 0
    said = capsys.readouterr().out
    assert "no price for unheard-of" in said and 'models: [{model: "unheard-of", input: IN, output: OUT}]' in said
    assert main([*line("http://127.0.0.1:9/v1", "--dry-run", "--budget-usd", "1", model="unheard-of")]) == 2
    assert "data/prices.yaml" in capsys.readouterr().err


def test_in_a_terminal_it_asks_and_only_a_yes_begins(line, in_a_terminal, capsys, monkeypatch):
    monkeypatch.setattr(play, "ASK_ABOVE_USD", 0.001)
    with CountingServer() as server:
        words = [*line(server.base_url, "--messages", "1")]
        in_a_terminal("")
        assert main(words) == 2 and server.count == 0
        said = capsys.readouterr().err
        assert "Begin? [y/N]" in said and "--budget-usd" in said
        in_a_terminal("y")
        assert main(words) == 0


def test_without_a_terminal_it_does_not_ask(line, capsys, monkeypatch):
    monkeypatch.setattr(play, "ASK_ABOVE_USD", 0.001)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    with CountingServer() as server:
        assert main([*line(server.base_url, "--messages", "1")]) == 0
    assert "Begin?" not in capsys.readouterr().err


def test_where_no_price_is_known_it_asks_above_a_number_of_calls(line, in_a_terminal, capsys, monkeypatch):
    with CountingServer() as server:
        words = [*line(server.base_url, "--messages", "1", model="unheard-of")]
        monkeypatch.setattr(play, "ASK_ABOVE_CALLS", 20)
        in_a_terminal("")
        assert main(words) == 2 and server.count == 0
        said = capsys.readouterr().err
        assert "calls at an unknown price. Begin? [y/N]" in said and "data/prices.yaml" in said
        assert main([*words, "--yes"]) == 0


@pytest.mark.parametrize("model", ["gpt-5.5", "local"])
def test_a_run_file_of_other_inputs_is_refused_before_the_scripted_agents_play(project, capsys, monkeypatch, model):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    url, runs = "http://127.0.0.1:9/v1", project / "data" / "runs"
    plan = prepare(
        local_slice(url, runs) if model == "local" else Experiment(model, base_url=url, cases="slice", trials=1),
        keyless=True,
    )
    plan.manifest["inputs"]["prompt"]["hash"] = "0" * 64
    runs.mkdir(parents=True)
    create(plan.path, {**plan.manifest, "sessions": [plan.session]})
    at = [] if model == "local" else ["--base-url", url]
    assert main(["demo", "--model", model, *at, "--cases", "slice", "--trials", "1"]) == 2
    assert "was begun with different inputs: prompt" in capsys.readouterr().err
    assert list(runs.glob("*.deskbench")) == [plan.path]


@pytest.mark.parametrize(
    "given, why",
    [
        (["--model", "wrong"], "does not know the model"),
        (["--model", "right", "--trials", "0"], "trials must be"),
        (["--trials", "0"], "trials must be"),
        (["--cases", "trakcing"], "trakcing"),
        (["--budget-usd", "1"], "needs a model"),
    ],
)
def test_what_the_main_job_refuses_it_refuses_before_a_file_is_moved_or_an_agent_plays(
    project, monkeypatch, capsys, given, why
):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    runs = project / "data" / "runs"
    runs.mkdir(parents=True)
    before = runs / "scripted-oracle-northline-1.0.0-00000000.deskbench"
    before.write_bytes(b"of other cases")
    with RunServer(model="right") as server:
        at = ["--base-url", server.base_url] if "--model" in given else []
        assert main(["demo", "--cases", "slice", "--trials", "1", "--yes", *at, *given]) == 2
        assert why in capsys.readouterr().err and server.count == 0
    assert list(runs.iterdir()) == [before]


def test_what_is_on_file_is_not_forecast_again(line, capsys):
    with CountingServer() as server:
        assert main([*line(server.base_url, "--messages", "1")]) == 0
        capsys.readouterr()
        assert main([*line(server.base_url, "--messages", "1", "--dry-run")]) == 0
    assert "nothing to play, all 12 conversations are on file" in capsys.readouterr().out


def test_a_model_that_plays_the_customer_is_counted_too(own_store):
    alone = Experiment("gpt-5.5", store=own_store, cases="*_1", trials=1).forecast(dry=True)
    both = Experiment("gpt-5.5", store=own_store, cases="*_1", trials=1, customer="gpt-5.5").forecast(dry=True)
    assert both.calls.low > alone.calls.low and both.cost_usd.likely > alone.cost_usd.likely


def test_an_endpoint_out_of_reach_is_one_sentence_before_anything_is_played(line, capsys, tmp_path):
    assert main([*line("http://127.0.0.1:9/v1")]) == 2
    said = capsys.readouterr()
    assert "cannot be reached" in said.err and len(said.err.splitlines()) == 1 and said.out == ""
    assert not list(tmp_path.iterdir())


def test_an_endpoint_that_wants_a_key_names_the_variable_before_anything_is_reckoned_or_played(
    line, capsys, monkeypatch
):
    with ScriptedServer(Answer(error_body("no key", code=401), 401)) as server:
        assert main([*line(server.base_url)]) == 2
        said = capsys.readouterr()
        assert "OPENAI_API_KEY is not set" in said.err and said.out == "" and server.count == 1
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-this-one")
        assert main([*line(server.base_url, "--messages", "1")]) == 2
    assert "refused the key" in (said := capsys.readouterr().err) and "OPENAI_API_KEY" in said


def test_what_is_likely_is_near_what_real_conversations_took():
    run = RunFile(EXAMPLE)
    talks = [key for key, _ in sorted(run.endings().items())][::7]
    foreseen = Experiment("gpt-5.5", cases=",".join(case for case, _ in talks), trials=1).forecast(dry=True)
    calls = sum(1 for call in run.calls() if (call["case_id"], call["trial"]) in set(talks))
    assert holds(foreseen.calls, calls) and 0.5 < foreseen.calls.likely / calls < 2


def test_a_resumed_run_is_forecast_from_its_own_conversations(line, capsys):
    with CountingServer() as server:
        words = line(server.base_url, "--messages", "4")
        first = forecast_of(words)
        assert main([*words]) == 0
        bought = RunFile("run.deskbench").counts()["calls"]
        again = forecast_of([*words, "--trials", "4"])
        capsys.readouterr()
        assert main([*words, "--trials", "4"]) == 0
    assert "\n  from 12 conversations on file\n" in capsys.readouterr().out
    calls = sorted(RunFile("run.deskbench").calls(), key=lambda call: call["finished_at"])[bought:]
    assert (first.learned_from, again.learned_from) == (0, 12)
    for name in ("prompt_tokens", "completion_tokens", "cost_usd"):
        said, before = getattr(again, name), getattr(first, name)
        assert holds(said, sum(call[name] for call in calls)), name
        assert said.high / said.low < before.high / before.low


def test_a_forecast_learns_from_other_files_of_the_same_inputs_and_endpoint_alone(line, capsys, tmp_path):
    with CountingServer() as server, CountingServer() as elsewhere:
        assert main([*line(server.base_url, "--messages", "2")]) == 0

        def said(url, *more, **named):
            capsys.readouterr()
            assert main([*line(url, "--out", "new.deskbench", "--dry-run", *more, **named)]) == 0
            return capsys.readouterr().out

        assert "from 12 conversations on file" in said(server.base_url, "--messages", "2", "--seed", "3")
        hot = tmp_path / "hot.yaml"
        hot.write_text("agent: {body: {temperature: 2}}")
        for more in (["--messages", "3"], ["--messages", "2", "--settings", str(hot)]):
            assert "on file" not in said(server.base_url, *more)
        assert "on file" not in said(elsewhere.base_url, "--messages", "2")
        assert "on file" not in said(server.base_url, "--messages", "2", model="gpt-5.5-mini")
        (tmp_path / "copy.deskbench").write_bytes((tmp_path / "run.deskbench").read_bytes())
        (tmp_path / "broken.deskbench").write_bytes((tmp_path / "run.deskbench").read_bytes()[:9_000])
        assert "from 12 conversations on file" in said(server.base_url, "--messages", "2")


def test_a_forecast_learns_from_another_store_of_the_same_kind_where_the_cases_are_unchanged(line, tmp_path):
    with CountingServer() as server:
        assert main([*line(server.base_url, "--messages", "2")]) == 0
    path = tmp_path / "run.deskbench"
    inputs, cases = RunFile(path).manifest["inputs"], RunFile(path).manifest["cases"]
    words = line(server.base_url, "--messages", "2", "--out", "new.deskbench")
    other = {"value": "another", "hash": "0" * 64}
    for changed, learned in (
        ({"inputs": inputs | {"store": other}}, 12),
        ({"inputs": inputs | {"tools": other}}, 0),
        ({"inputs": inputs, "cases": cases | {next(iter(cases)): "0" * 64}}, 10),
    ):
        change_manifest(path, **changed)
        assert forecast_of(words).learned_from == learned


def test_a_run_with_conversations_of_its_own_learns_from_no_other_file(line, tmp_path):
    with CountingServer() as server:
        assert main([*line(server.base_url, "--messages", "2")]) == 0
        assert main([*line(server.base_url, "--messages", "2", "--out", "new.deskbench", "--trials", "1")]) == 0
        again = forecast_of([*line(server.base_url, "--messages", "2", "--out", "new.deskbench", "--trials", "2")])
    assert (again.on_file, again.learned_from) == (6, 6)
