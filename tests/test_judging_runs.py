"""Judging as a run: faults, money, and what is refused before a call is made."""

import asyncio
import shutil

import pytest
from judged import PRICED, judged, verdict
from made_runs import change_manifest, change_rows
from servers import Answer, ScriptedServer, error_body
from told import numbers_in

from benchmark_lib import BadInput, Experiment, RunFile, load_results, tables
from benchmark_lib.cli import main
from benchmark_lib.extras.judges.judging import judge_runs
from benchmark_lib.extras.judges.verdicts import plain

# --- faults, money and refusals


def test_a_fault_leaves_its_conversation_for_the_next_same_command(run_to_judge, tmp_path):
    settings = tmp_path / "once.yaml"
    settings.write_text("judge:\n  attempts: 1\n")
    broken = [1]

    def reply(request, number):
        return Answer(error_body("it broke"), 500) if number in broken else verdict(request)

    _, server, done = judged(run_to_judge, reply, settings=[settings], concurrency=1)
    assert (done.made, done.incomplete, server.count) == (2, 1, 3) and len(list(RunFile(run_to_judge).faults())) == 1
    broken.clear()
    verdicts, server, done = judged(run_to_judge, reply, settings=[settings])
    assert (done.made, done.incomplete, server.count, len(verdicts)) == (1, 0, 1, 3)


def test_a_refused_key_costs_one_call(run_to_judge):
    with ScriptedServer(Answer(error_body("bad key", code="invalid_api_key"), 401)) as server:
        with pytest.raises(BadInput, match="OPENAI_API_KEY is not set"):
            asyncio.run(judge_runs(run_to_judge, judges=["x"], base_urls=[server.base_url], progress=False))
        assert server.count == 1


def test_a_budget_is_kept_and_a_larger_one_goes_on(run_to_judge, tmp_path, capsys):
    settings = tmp_path / "s.yaml"
    settings.write_text("judge:\n  body: {max_tokens: 300}\n")
    with ScriptedServer(verdict) as server:
        command = [
            "judge",
            str(run_to_judge),
            "--judge",
            PRICED,
            "--base-url",
            server.base_url,
            "--settings",
            str(settings),
            "--concurrency",
            "1",
        ]
        assert main([*command, "--budget-usd", "0.06"]) == 3
        spent = sum(c["cost_usd"] for c in RunFile(run_to_judge).calls() if c["side"] == "judge")
        assert 0 < spent <= 0.06 and 0 < server.count < 3 and "budget" in capsys.readouterr().err
        assert main([*command, "--budget-usd", "5"]) == 0 and server.count == 3
    with pytest.raises(BadInput, match="no price is known for nobody"):
        judged(run_to_judge, judges=("nobody",), budget_usd=1.0)


def test_the_command_says_how_it_went_and_who_judges_itself(oracle_run, tmp_path, capsys):
    path = shutil.copy(oracle_run, tmp_path / "own.deskbench")
    change_manifest(path, model="vendor/GPT-5.5")
    with ScriptedServer(verdict) as server:
        assert main(["judge", str(path), "--judge", PRICED, "--judge", "other", "--base-url", server.base_url]) == 0
    said = capsys.readouterr().out
    assert {6, 0, 36} <= {*numbers_in(said)} and f"{PRICED} judges its own run" in said
    results = load_results(path)
    assert tables.entrant_judges(results.verdicts.assign(model="vendor/GPT-5.5")) == [PRICED]


@pytest.mark.parametrize(
    "words, why",
    [
        (["judge"], "no judge is named"),
        (["judge", "RUN"], "no judge is named"),
        (["judge", "--judge", "x"], "no run is named"),
        (["judge", "RUN", "--judge", "x", "--judge", "y", "--judge", "y"], "the judge y is named twice"),
        (["judge", "RUN", "--judge", "x", "--scorers", "tune"], "no scorer 'tune'"),
        (["judge", "RUN", "--judge", "x", "--scorers", ""], "no scorer ''"),
        (["judge", "RUN", "--judge", "x", "--scorers", "_task"], "no scorer"),
        (["judge", "RUN", "--judge", "x", "--limit", "0"], "--limit 0"),
        (["judge", "RUN", "--judge", "x", "--base-url", "nonsense"], "not an address"),
        (
            ["judge", "RUN", "--judge", "x", "--base-url", "http://a", "--base-url", "http://b"],
            "given 2 times for 1 judges",
        ),
        (["judge", "none.deskbench", "--judge", "x"], "there is no run 'none.deskbench' in"),
        (["judge", "RUN", "--judge", "gpt-5.5"], "OPENAI_API_KEY"),
        (["judge", "RUN", "--probe", "--judge", "x"], "takes no run"),
        (["judge", "RUN", "--judge", "x", "--budget-usd", "-1"], "above 0"),
        (["judge", "RUN", "--judge", "x", "--concurrency", "0"], "--concurrency 0"),
    ],
)
def test_bad_input_is_one_sentence(words, why, run_to_judge, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert main([str(run_to_judge) if w == "RUN" else w for w in words]) == 2
    said = capsys.readouterr().err
    assert why in said and said.count("\n") == 1


def test_only_finished_runs_are_judged_unless_asked_for(tmp_path):
    path = tmp_path / "half.deskbench"
    asyncio.run(Experiment("scripted:no_op", cases="tracking_1", trials=2, messages=2, out=path, progress=False).run())
    change_rows(path, "DELETE FROM conversations WHERE trial = 2")
    with pytest.raises(BadInput, match="has 1 of 2 planned conversations: finish the run first"):
        judged(path)
    assert len(judged(path, unfinished=True)[0]) == 1


def test_a_run_on_another_store_or_case_is_refused(run_to_judge):
    manifest = RunFile(run_to_judge).manifest
    for key, value, why in (
        ("cases", {**manifest["cases"], "tracking_1": "0" * 16}, "a different text of case tracking_1"),
        ("inputs", {**manifest["inputs"], "store": {"value": "x", "hash": "0"}}, "another store"),
    ):
        change_manifest(run_to_judge, **{key: value})
        with pytest.raises(BadInput, match=why):
            judged(run_to_judge)


def test_plain_text_is_what_quotes_are_compared_in():
    assert plain('He said:\\n "No – never"') == plain('he  said:\n\\"no - never\\"')


def test_a_run_in_data_runs_is_judged_and_scored_by_its_name_and_its_notebook_is_named(
    run_to_judge, tmp_path, monkeypatch, capsys
):
    (tmp_path / "data" / "runs").mkdir(parents=True)
    path = shutil.copy(run_to_judge, tmp_path / "data" / "runs" / "careful-1.deskbench")
    monkeypatch.chdir(tmp_path)
    assert main(["score", "careful-1"]) == 0 and "of 3 conversations" in capsys.readouterr().out
    with ScriptedServer(verdict) as server:
        assert main(["judge", "careful-1", "--judge", "x", "--base-url", server.base_url]) == 0
    assert "notebook 04_judges -p 'runs=[\"" in capsys.readouterr().out and len([*RunFile(path).verdicts()]) == 3
    assert main(["judge", "carefull-1", "--judge", "x"]) == 2
    assert "did you mean careful-1?" in capsys.readouterr().err
