"""Runs that are killed, interrupted or doubled: the real command, a real endpoint, and a count of what was bought."""

import os
import random
import re
import signal
import time

import pytest
from commands import Command
from run_server import RunServer, copy_store, some_cases

from benchmark_lib.runfile import RunFile

COUNT = 5
TRIALS, MESSAGES, CONCURRENCY = 3, 3, 8
KILLS = 5


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The command line of a run, on a copy of the store; called with the server, the run file and further options."""
    store = copy_store(tmp_path_factory.mktemp("store"))
    cases = some_cases(store, COUNT)
    fixed = [
        "--store",
        str(store),
        "--cases",
        ",".join(cases),
        "--trials",
        str(TRIALS),
        "--messages",
        str(MESSAGES),
        "--concurrency",
        str(CONCURRENCY),
    ]

    def line(server, out, *more):
        url = ["--base-url", server.base_url, "--out", str(out)]
        return ["run", "some-model", *url, *fixed, *more]

    line.cases = cases
    return line


def finish(line):
    """Run to the end; returns exit code, output and errors."""
    process = Command(line)
    said, complained = process.communicate(timeout=120)
    return process.returncode, said, complained


def wait_for_requests(server, process, more):
    """Wait until `more` further requests came (or the run ended)."""
    goal = server.count + more
    while server.count < goal and process.poll() is None:
        time.sleep(0.005)


def references(run):
    """The serial numbers the endpoint gave to the messages of each conversation."""
    return [
        tuple(re.findall(r"reference (\d+)", " ".join(m.text for m in record.replies()))) for record in run.records()
    ]


def test_killed_again_and_again_every_conversation_is_there_once_and_only_calls_in_flight_are_bought_again(
    tmp_path, command
):
    out, rng, may_be_lost, kept = tmp_path / "run.deskbench", random.Random(20261121), 0, {}
    with RunServer(latency_s=0.1) as server:
        for number in range(KILLS):
            process = Command(command(server, out))
            if number % 4 == 3:  # also while it is still starting or reading its file
                time.sleep(rng.uniform(0.0, 0.3))
            else:
                wait_for_requests(server, process, rng.randint(1, 8))
                time.sleep(rng.uniform(0.0, 0.03))
            assert process.poll() is None, process.communicate()
            process.send_signal(signal.SIGKILL)
            may_be_lost += CONCURRENCY  # a conversation asks again only when its answer is on disk
            process.communicate()
            if out.exists():
                now = {(c, t): digest for c, t, digest, _ in RunFile(out).conversations()}
                assert kept.items() <= now.items()
                kept = now
        code, said, complained = finish(command(server, out))
        assert code == 0, complained
        bought = server.count
    run = RunFile(out)
    run.check()
    assert f"{COUNT * TRIALS} of {COUNT * TRIALS} conversations finished" in said
    assert sorted(run.endings()) == sorted((c, t) for c in command.cases for t in range(1, TRIALS + 1))
    found = references(run)
    assert len(set(found)) == len(found), "two trials share an answer"
    on_file = run.counts()["calls"]
    assert 0 <= bought - on_file <= may_be_lost
    assert os.listdir(tmp_path) == [out.name]
    replayed = finish(command(server, out, "--replay"))  # the endpoint is down now
    assert replayed[0] == 0 and "byte for byte" in replayed[1], replayed[2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_what_is_finished_and_says_how_to_go_on(tmp_path, command, number):
    out = tmp_path / "run.deskbench"
    with RunServer(latency_s=0.1) as server:
        process = Command(command(server, out))
        wait_for_requests(server, process, 30)
        process.send_signal(number)
        said, complained = process.communicate(timeout=60)
        assert process.returncode == 128 + number
        assert "rerun the same command to resume" in complained.splitlines()[-1] and "Traceback" not in complained
        run = RunFile(out)
        assert run.counts()["calls"] == server.count, "calls in flight are paid for, so they are waited for"
        assert 0 < run.counts()["calls"] < COUNT * TRIALS * MESSAGES * 2
        code, said, complained = finish(command(server, out))
        assert code == 0 and run.counts()["calls"] == server.count, complained
        assert run.counts()["finished"] == COUNT * TRIALS


def test_a_second_process_on_the_same_file_is_refused_in_one_sentence(tmp_path, command):
    out = tmp_path / "run.deskbench"
    with RunServer(latency_s=0.1) as server:
        first = Command(command(server, out))
        wait_for_requests(server, first, 5)
        first.send_signal(signal.SIGSTOP)  # it holds the file for as long as the second takes to start
        code, said, complained = finish(command(server, out))
        first.send_signal(signal.SIGCONT)
        assert (code, said, len(complained.splitlines())) == (2, "", 1)
        assert "is being written by another run" in complained
        assert first.communicate(timeout=60) and first.returncode == 0
        assert RunFile(out).counts() == {"finished": COUNT * TRIALS, "again": 0, "calls": server.count}
