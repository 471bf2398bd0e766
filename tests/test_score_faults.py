"""A conversation that cannot be scored is a stored fault of ours.

Shown, tried again, and never in the way of the others.
"""

import asyncio
import threading
import time

import pytest
from made_runs import change_rows
from run_server import RunServer, copy_store, some_cases

import benchmark_lib.scoring
from benchmark_lib import Experiment, load_results
from benchmark_lib.cli import main
from benchmark_lib.experiment.again import rescore
from benchmark_lib.experiment.plan import Plan
from benchmark_lib.experiment.scoring import score_faults
from benchmark_lib.experiment.summary import summary
from benchmark_lib.runfile import RunFile
from benchmark_lib.threads import LONG_TEXT

BROKEN_TRIAL = 2


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return copy_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def options(store, tmp_path):
    cases = ",".join(some_cases(store, 3))
    return {
        "store": store,
        "cases": cases,
        "trials": 2,
        "messages": 2,
        "out": tmp_path / "run.deskbench",
        "progress": False,
    }


@pytest.fixture
def broken_scoring(monkeypatch):
    """A scorer that fails on every second trial."""
    right = benchmark_lib.scoring.score

    def score(conversation, case, store):
        if conversation.trial == BROKEN_TRIAL:
            raise OverflowError("too many digits")
        return right(conversation, case, store)

    monkeypatch.setattr(benchmark_lib.scoring, "score", score)
    return monkeypatch


def play(model="scripted:oracle", **options):
    experiment = Experiment(model, **options)
    return experiment, asyncio.run(experiment.run())


def test_what_cannot_be_scored_is_stored_with_its_traceback_and_the_others_have_their_scores(options, broken_scoring):
    experiment, run = play(**options)
    assert run.counts()["finished"] == 6
    faults = [*score_faults(run)]
    assert [f.trial for f in faults] == [BROKEN_TRIAL] * 3
    assert all(f.reason.startswith("OverflowError: too many digits (test_score_faults.py:") for f in faults)
    assert all("Traceback" in f.traceback and "experiment/scoring.py" in f.traceback for f in faults)
    assert not experiment.stopped.refused and "3 of 6 conversations have no score" in experiment.stopped.sentence
    assert any(line.startswith("without a score: 3 x OverflowError: too many digits") for line in summary(run))


def test_the_frames_say_that_there_is_no_score_and_why(options, broken_scoring):
    _, run = play(**options)
    frame = load_results(run).conversations
    lost = frame[frame["trial"] == BROKEN_TRIAL]
    assert (
        not lost["scored"].any()
        and lost["success"].isna().all()
        and lost["score_fault"].str.contains("too many digits").all()
    )
    assert lost["bucket"].notna().all()
    kept = frame[frame["trial"] != BROKEN_TRIAL]
    assert kept["scored"].all() and kept["score_fault"].isna().all()


def test_a_file_without_scores_says_so_in_its_frame_and_is_scored_by_the_same_command(options):
    _, run = play(**options)
    change_rows(run.path, "DELETE FROM scores WHERE id % 2 = 0")
    frame = load_results(RunFile(run.path)).conversations
    assert frame["score_fault"].str.contains("deskbench score", na=False).sum() == 3
    experiment, again = play(**options)
    assert experiment.stopped is None and not [*score_faults(again)] and len(again.scores()) == 6


def test_what_could_not_be_scored_is_scored_by_the_same_command_once_scoring_is_mended(options, broken_scoring):
    _, run = play(**options)
    records = [digest for *_, digest, _ in run.conversations()]
    assert not play(**options)[0].stopped.refused
    broken_scoring.undo()
    experiment, mended = play(**options)
    assert experiment.stopped is None and not [*score_faults(mended)]
    assert [digest for *_, digest, _ in mended.conversations()] == records


def test_a_run_of_some_cases_still_tells_of_the_unscored_ones_of_others(options, broken_scoring):
    play(**options)
    broken_scoring.undo()
    first = options["cases"].split(",")[0]
    experiment, _ = play(**options | {"cases": first})
    assert not experiment.stopped.refused and "2 of 6 conversations have no score" in experiment.stopped.sentence


def test_score_goes_record_by_record_and_shows_why_with_exit_3(options, broken_scoring, capsys):
    _, run = play(**options)
    assert rescore(run.path, options["store"]) == (0, 6)
    assert rescore(run.path, options["store"], again=True) == (3, 6)
    command = ["score", str(run.path), "--store", str(options["store"])]
    assert main(command) == 3
    said = capsys.readouterr()
    assert "without a score: 3 x OverflowError" in said.out
    assert (
        "Traceback" in said.err
        and "too many digits" in said.err
        and "3 of the conversations" in said.err.splitlines()[-1]
    )
    broken_scoring.undo()
    assert main(command) == 0
    assert "scored 3 of 6 conversations" in capsys.readouterr().out and not [*score_faults(run)]


def test_run_ends_with_exit_3_and_names_the_count(options, broken_scoring, capsys):
    line = [
        "run",
        "scripted:oracle",
        "--store",
        str(options["store"]),
        "--cases",
        options["cases"],
        "--trials",
        "2",
        "--out",
        str(options["out"]),
    ]
    assert main(line) == 3
    assert "3 of 6 conversations have no score" in capsys.readouterr().err
    assert main([*line[:-3], "1", *line[-2:]]) == 3


class _Talkative(RunServer):
    """Gives its first answer at great length, every other one in a few words."""

    answered = False

    def reply_to(self, request, number):
        answer = super().reply_to(request, number)
        message = answer["choices"][0]["message"]
        if message.get("content") and not self.answered:
            self.answered = True
            message["content"] = "We are looking into it. " * (LONG_TEXT // 20)
        return answer


def test_scoring_a_long_conversation_never_holds_the_calls_in_flight(options, monkeypatch):
    """The slow scorer gives the interpreter up, as a linear reader does between two sentences."""
    meanwhile, scored_in, right = [], [], Plan.score

    def slow(self, conversation, case):
        if sum(len(m.text) for m in conversation.messages) > LONG_TEXT:
            scored_in.append(threading.current_thread())
            before = server.count
            deadline = time.monotonic() + 20
            while server.count < before + 4 and time.monotonic() < deadline:
                time.sleep(0.01)
            meanwhile.append(server.count - before)
        return right(self, conversation, case)

    monkeypatch.setattr(Plan, "score", slow)
    with _Talkative(latency_s=0.02) as server:
        experiment, run = play("some-model", base_url=server.base_url, **options | {"concurrency": 2, "trials": 4})
    assert experiment.stopped is None and run.counts()["finished"] == 12
    assert scored_in and all(t is not threading.main_thread() for t in scored_in)
    assert meanwhile[0] >= 4, "other calls were made while the long conversation was scored"
