"""`--isolate`: the agent is a process of its own that has nothing of the harness but a pipe."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmark_lib import BadInput, Experiment, load_results
from benchmark_lib.conversation import environment_of
from benchmark_lib.endpoint import load_settings
from benchmark_lib.experiment.summary import summary
from benchmark_lib.records import NOT_SCORED

AGENTS = '''
import asyncio, gc, os, re, subprocess, sys, time
from pathlib import Path


class Careful:
    """The README's example, and a draw."""

    def reply(self, talk):
        found = talk.call("find_orders", email=talk.sender.split("<")[1].rstrip(">"))
        if found.error:
            return "I could not look that up."
        talk.call("hand_over_to_human", queue="general", reason=f"{talk.rng.random()} {talk.trial} {talk.id}", summary=str(found.result))
        return "A colleague will take it from here."


class Async:
    def __init__(self):
        self.loops = set()

    async def reply(self, talk):
        await asyncio.sleep(0)
        self.loops.add(asyncio.get_running_loop())
        said = [m.text for m in talk.messages if m.side == "agent"]
        return f"{len(self.loops)} {len(said)} {talk.turn} {talk.last('customer').turn}"


class Looks:
    """What the frames above, the collector and the folder have to show."""

    def reply(self, talk):
        frame, seen = sys._getframe(), gc.get_objects()
        while frame:
            seen += frame.f_locals.values()
            frame = frame.f_back
        held = sorted({type(o).__name__ for o in seen if type(o).__module__.startswith("benchmark_lib")})
        return f"{held} {os.listdir()} {sorted(n for n in os.environ if 'KEY' in n)}"


class Prints:
    def reply(self, talk):
        print('{"said": "printed"}', flush=True)
        os.write(1, b"garbage")
        return "Hello."


class Raises:
    def reply(self, talk):
        raise ValueError("oops")


class Exits:
    def reply(self, talk):
        sys.exit(0)


class Dies:
    def reply(self, talk):
        os._exit(3)


class Sleeps:
    def reply(self, talk):
        time.sleep(600)


class Garbage:
    line = b"no json"

    def reply(self, talk):
        for fd in range(3, 20):
            try:
                os.write(fd, self.line + b"\\n")
            except OSError:
                pass
        time.sleep(600)


class Array(Garbage):
    line = b"[1, 2]"


class Odd(Garbage):
    line = b'{"said": 5}'


class Long(Garbage):
    line = b"x" * 5_000_000


class Tokens(Garbage):
    line = b'{"said": "Hello.", "used": [{"prompt_tokens": -5}]}'


class Hammers:
    def reply(self, talk):
        while True:
            try:
                talk.call("search_knowledge_base", query="x")
            except BaseException:
                pass


class Stays:
    """Leaves a process behind, and then hangs in a call that holds the interpreter."""

    def reply(self, talk):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(Path(__file__).parent / "pids", "a") as file:
            file.write(f"{os.getpid()} {child.pid} ")
        re.match("(a|aa)+$", "a" * 60 + "b")


class Broken:
    def __init__(self):
        raise RuntimeError("no licence")


class Mute:
    pass
'''


@pytest.fixture
def play(tmp_path, monkeypatch):
    """Plays one case with an agent of the module above, isolated; returns the run file."""
    (tmp_path / "some_agents.py").write_text(AGENTS)
    monkeypatch.syspath_prepend(tmp_path)
    made = iter(range(100))

    def play(name, **options):
        given = {
            "cases": "tracking_1",
            "trials": 1,
            "messages": 2,
            "isolate": True,
            "out": tmp_path / f"{next(made)}.deskbench",
        }
        return asyncio.run(
            Experiment("label", agent=f"some_agents:{name}", progress=False, **{**given, **options}).run()
        )

    return play


def test_an_isolated_agent_does_the_same_as_one_that_is_not(play):
    records = [
        list(play("Careful", cases="tracking_1,damaged_no_proof", trials=2, isolate=isolate).records())
        for isolate in (True, False)
    ]
    first, second = ([r.to_json() for r in sorted(rs, key=lambda r: (r.case_id, r.trial))] for rs in records)
    assert first == second and len(first) == 4


def test_an_agent_keeps_its_loop_and_sees_what_was_said(play):
    said = [m.text for m in next(play("Async").records()).replies()]
    assert said == ["1 0 1 1", "1 1 2 2"]


def test_nothing_of_the_harness_is_in_its_process(play, monkeypatch):
    for name in ("OPENAI_API_KEY", "OTHER_API_KEY", "CUSTOMER_KEY"):
        monkeypatch.setenv(name, "secret-of-somebody")
    assert next(play("Looks").records()).replies()[0].text == "['AgentView', 'SeenMessage'] [] ['OPENAI_API_KEY']"


def test_the_agent_gets_the_key_that_the_settings_name_for_it_and_no_other(monkeypatch, tmp_path):
    for name in ("OPENAI_API_KEY", "MINE", "THEIRS", "HEADER", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "PLAIN"):
        monkeypatch.setenv(name, "value")
    (tmp_path / "s.yaml").write_text(
        "agent: {api_key_env: MINE}\ncustomer: {api_key_env: THEIRS, headers_env: {X-A: HEADER}}\n"
    )
    found = environment_of(load_settings(tmp_path / "s.yaml"))
    assert {"MINE", "PLAIN", "PATH"} <= found.keys()
    assert not {"OPENAI_API_KEY", "THEIRS", "HEADER", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD"} & found.keys()


def test_what_it_prints_is_no_message(play):
    assert [m.text for m in next(play("Prints").records()).replies()] == ["Hello.", "Hello."]


@pytest.mark.parametrize(
    "name, kind",
    [
        ("Raises", "crashed"),
        ("Exits", "crashed"),
        ("Dies", "crashed"),
        ("Sleeps", "no_answer"),
        ("Garbage", "garbled"),
        ("Array", "garbled"),
        ("Odd", "garbled"),
        ("Long", "garbled"),
        ("Tokens", "garbled"),
        ("Hammers", "too_many_calls"),
    ],
)
def test_a_process_that_crashes_hangs_or_writes_garbage_is_the_agents_fault(play, name, kind):
    run = play(name, timeout=2.0 if name == "Sleeps" else 60.0)
    record = next(run.records())
    assert (record.ended_by, [f.kind for f in record.faults if f.side == "agent"]) == ("agent_fault", [kind])
    assert f"ended by a fault of the agent: {run.counts()['finished']} ({kind} {run.counts()['finished']})" in summary(
        run
    )
    assert record.ended_by not in NOT_SCORED and load_results(run.path).conversations["scored"].all()


@pytest.mark.parametrize(
    "spec, options, words",
    [
        ("some_agents:Broken", {}, "RuntimeError: no licence"),
        ("some_agents:Mute", {}, "no reply method"),
        ("some_agents:Nobody", {}, "AttributeError"),
        ("no_module:x", {}, "No module named 'no_module'"),
        ("some_agents", {}, "not of the form module:name"),
        (None, {}, "name it as --agent module:object"),
        (object(), {}, "name it as --agent module:object"),
    ],
)
def test_an_agent_that_cannot_be_isolated_is_refused_before_anything_is_written(play, tmp_path, spec, options, words):
    out = tmp_path / "x.deskbench"
    with pytest.raises(BadInput, match=words) as refused:
        asyncio.run(Experiment("label", agent=spec, isolate=True, out=out, progress=False).run())
    assert "\n" not in str(refused.value) and not out.exists()


def test_the_manifest_says_that_it_was_isolated_and_a_run_goes_on_only_the_same_way(play, tmp_path):
    run = play("Careful", out=tmp_path / "one.deskbench")
    assert run.manifest["inputs"]["isolate"]["value"] is True
    play("Careful", out=run.path, trials=2)
    with pytest.raises(BadInput, match="isolate is true there and null here"):
        play("Careful", out=run.path, isolate=False)


def test_kill_9_of_the_harness_leaves_no_process(play, tmp_path):
    command = [
        sys.executable,
        "-m",
        "benchmark_lib",
        "run",
        "label",
        "--agent",
        "some_agents:Stays",
        "--isolate",
        "--cases",
        "tracking_1",
        "--trials",
        "2",
        "--out",
        str(tmp_path / "killed.deskbench"),
    ]
    here = {**os.environ, "PYTHONPATH": f"{Path(__file__).parents[1]}{os.pathsep}{tmp_path}"}
    harness = subprocess.Popen(command, env=here, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pids = tmp_path / "pids"
    waited(lambda: pids.exists() and len(pids.read_text().split()) == 4)
    os.kill(harness.pid, signal.SIGKILL)
    harness.wait()
    waited(lambda: not any(running(int(pid)) for pid in pids.read_text().split()))


def test_the_end_of_a_conversation_ends_what_the_agent_left_running(play, tmp_path):
    play("Stays", timeout=3.0)
    waited(lambda: not any(running(int(pid)) for pid in (tmp_path / "pids").read_text().split()))


def waited(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)


def running(pid):
    """Whether a process runs; one that has ended and is not waited for by its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
