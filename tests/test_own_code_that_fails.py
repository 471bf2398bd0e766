"""Agents and tools of the user's own.

Whatever they raise, return or never return, the run says so, stops when told, and can go on.
"""

import asyncio
import signal
import sys
import textwrap
import threading
import time

import orjson
import pytest
from commands import Command, played
from run_server import RunServer, copy_store, some_cases

from benchmark_lib import BadInput, Experiment
from benchmark_lib.runfile import RunFile
from benchmark_lib.store import NotFound, tool


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return copy_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def options(store, tmp_path):
    cases = ",".join(some_cases(store, 3))
    return {
        "store": store,
        "cases": cases,
        "trials": 1,
        "messages": 2,
        "out": tmp_path / "run.deskbench",
        "progress": False,
    }


def play(model="mine", **options):
    experiment = Experiment(model, **options)
    return experiment, asyncio.run(experiment.run())


# --- agents
# ------------------------------------------------------------------------------------------------------------


def leaving(error, asynchronous):
    """An agent that answers its first conversation and raises `error` in every later one."""

    class Agent:
        def reply(self, talk):
            Agent.cases.add(talk.id)
            if len(Agent.cases) > 1:
                raise error
            return "Hello."

        cases = set()

    class Asynchronous(Agent):
        async def reply(self, talk):
            return super().reply(talk)

    return Asynchronous if asynchronous else Agent


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    "error",
    [SystemExit(0), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()],
    ids=lambda e: type(e).__name__,
)
def test_an_agent_that_leaves_in_place_of_answering_is_named_and_nobody_takes_it_for_the_end(
    options, error, asynchronous
):
    experiment, run = play(agent=leaving(error, asynchronous), **options | {"concurrency": 1})
    assert not experiment.stopped.refused and run.counts()["finished"] == 1
    assert (
        f"the agent ended case {options['cases'].split(',')[1]}, trial 1 with {type(error).__name__}"
        in experiment.stopped.sentence
    )


def test_an_agent_that_cancels_the_task_it_is_called_in_is_told_of_too(options):
    class Agent:
        async def reply(self, talk):
            asyncio.current_task().cancel()
            await asyncio.sleep(0)

    experiment, run = play(agent=Agent, **options)
    assert not experiment.stopped.refused and run.counts()["finished"] == 0
    assert "the agent ended case" in experiment.stopped.sentence and "CancelledError" in experiment.stopped.sentence


def test_making_an_agent_that_ends_the_program_is_refused_before_the_run_and_told_of_in_it(options):
    made = []

    class Agent:
        def __init__(self):
            made.append(self)
            if len(made) > limit:
                sys.exit(0)

        def reply(self, talk):
            return "Hello."

    limit = 2
    experiment, run = play(agent=Agent, **options | {"concurrency": 1})
    assert (
        not experiment.stopped.refused
        and "SystemExit(0)" in experiment.stopped.sentence
        and run.counts()["finished"] == 1
    )
    limit = 0
    with pytest.raises(BadInput, match="cannot be made: SystemExit"):
        play(agent=Agent, **options)


def test_plain_functions_run_one_at_a_time_in_one_thread_that_is_not_the_event_loops(options):
    threads, inside = set(), []

    class Agent:
        def reply(self, talk):
            inside.append(1)
            threads.add(threading.current_thread())
            alone = len(inside) == 1
            inside.pop()
            return "Hello." if alone else 1 / 0

    _, run = play(agent=Agent, **options)
    assert run.counts()["finished"] == 3 and len(threads) == 1 and threading.main_thread() not in threads


def test_an_answer_that_no_file_can_hold_is_written_with_its_halves_of_characters_replaced(options):
    class Agent:
        def reply(self, talk):
            return "Hello \ud800."

    _, run = play(agent=Agent, **options)
    assert {m.text for record in run.records() for m in record.replies()} == {"Hello ?."}


BLOCKING = """
import time
class Sleeps:
    def reply(self, talk):
        print("called", flush=True)
        time.sleep(600)
class Spins:
    def reply(self, talk):
        print("called", flush=True)
        while True: pass
class SpinsOnTheLoop:
    async def reply(self, talk):
        print("called", flush=True)
        while True: pass
"""


@pytest.mark.parametrize(
    "agent, number", [("Sleeps", signal.SIGINT), ("Spins", signal.SIGTERM), ("SpinsOnTheLoop", signal.SIGINT)]
)
def test_the_first_signal_is_heard_and_the_second_ends_a_run_whose_agent_never_answers(
    options, tmp_path, agent, number
):
    (tmp_path / "blocking.py").write_text(BLOCKING)
    line = ["run", "mine", "--agent", f"blocking:{agent}", "--out", "run.deskbench"]
    process = Command([*line, "--store", options["store"], "--cases", options["cases"]], cwd=tmp_path)
    try:
        assert process.stdout.readline() == "called\n"
        process.send_signal(number)
        assert "once more to stop at once" in process.stderr.readline()
        process.send_signal(number)
        complained = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    assert (
        process.returncode == 128 + number
        and "rerun the same command to resume" in complained
        and "Traceback" not in complained
    )
    assert RunFile(tmp_path / "run.deskbench").counts()["finished"] == 0


HANGING = """
import asyncio, sys, time
class Asleep:
    def reply(self, talk):
        time.sleep(600)
class Spins:
    async def reply(self, talk):
        while True: pass
class Waits:
    async def reply(self, talk):
        await asyncio.Event().wait()
class Returns:
    def reply(self, talk):
        async def spins():
            while True: pass
        return spins()
"""


@pytest.mark.parametrize("agent", ["Asleep", "Spins", "Waits", "Returns"])
def test_an_agent_that_gives_no_answer_loses_the_trial_and_the_command_ends(options, tmp_path, agent):
    (tmp_path / "hanging.py").write_text(HANGING)
    line = f"run mine --agent hanging:{agent} --trials 1 --timeout 1 --concurrency 2 --out run.deskbench --cases"
    ended = played([*line.split(), options["cases"], "--store", options["store"]], cwd=tmp_path)
    assert ended.returncode == 0 and "ended by a fault of the agent: 3 (no_answer 3)" in ended.stdout, ended.stderr


def test_the_time_of_a_reply_does_not_run_while_others_have_their_turn(options):
    class Agent:
        def reply(self, talk):
            time.sleep(0.4)
            return "Hello."

    _, run = play(agent=Agent, **options | {"timeout": 1.0, "messages": 1})
    assert {record.ended_by for record in run.records()} & {"agent_fault"} == set()


def test_the_frames_above_an_agent_and_the_tasks_beside_it_hold_no_case(options):
    def looked():
        frame, found = sys._getframe(), [*asyncio.all_tasks()] if asyncio._get_running_loop() else []
        held = {type(value).__name__ for task in found for f in task.get_stack() for value in f.f_locals.values()}
        while frame:
            held |= {type(value).__name__ for value in frame.f_locals.values()}
            frame = frame.f_back
        return ", ".join(held & {"Case", "ConversationState", "Engine", "Plan"})

    class Plain:
        def reply(self, talk):
            return looked() or "nothing"

    class Asynchronous:
        async def reply(self, talk):
            await asyncio.sleep(0)
            return looked() or "nothing"

    class Returning:
        def reply(self, talk):
            return Asynchronous().reply(talk)

    for number, agent in enumerate((Plain, Asynchronous, Returning)):
        _, run = play(agent=agent, **options | {"out": options["out"].with_name(f"{number}.deskbench")})
        assert {m.text for record in run.records() for m in record.replies()} == {"nothing"}


# --- tools
# -------------------------------------------------------------------------------------------------------------


class SpeechlessError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def in_place_of_the_search(body):
    """A tool that stands where the store's search stands, writes a note, and goes on with `body`."""

    @tool(write=True)
    def search_knowledge_base(desk, query: str) -> dict:
        """Search."""
        desk.add("notes", "N", {"text": "half done"})
        return body(desk)

    return {"search_knowledge_base": search_knowledge_base}


def raising(error):
    def body(desk):
        raise error

    return body


def circular(desk):
    ring = {}
    ring["ring"] = ring
    return ring


def leaving_an_object(desk):
    desk.add("notes", "N", {"text": object()})
    return {}


FAILURES = {
    "raises": (raising(ZeroDivisionError("in /elsewhere/of/someone/secret/file.txt")), "ZeroDivisionError: in (path)"),
    "raises what has no text": (raising(SpeechlessError()), "SpeechlessError"),
    "exits": (raising(SystemExit(0)), "SystemExit: 0"),
    "cancels": (raising(asyncio.CancelledError()), "CancelledError"),
    "interrupts": (raising(KeyboardInterrupt()), "KeyboardInterrupt"),
    "never returns": (lambda desk: threading.Event().wait(600), "it took longer than 0.2 seconds"),
    "bytes": (lambda desk: b"abc", "what it returned cannot be written as JSON"),
    "an object": (lambda desk: SpeechlessError(), "what it returned cannot be written as JSON"),
    "half a character": (lambda desk: "\ud800", "what it returned cannot be written as JSON"),
    "not a number": (lambda desk: {"price": [float("nan")]}, "it holds NaN or infinity"),
    "a ring": (circular, "what it returned cannot be written as JSON"),
    "a flood": (lambda desk: "x" * 2_000_000, "2,000,002 bytes of JSON, more than the 1,000,000 allowed"),
    "an object on the desk": (leaving_an_object, "what it left on the desk cannot be written as JSON"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_tool_that_fails_is_an_error_the_model_reads_and_the_desk_is_as_it_was(options, kind):
    body, words = FAILURES[kind]
    options = options | {
        "tools": in_place_of_the_search(body),
        "tool_timeout": 0.2,
        "cases": options["cases"].split(",")[0],
        "messages": 1,
    }
    with RunServer() as server:
        experiment, run = play("some-model", base_url=server.base_url, **options)
    assert experiment.stopped is None and run.counts()["finished"] == 1
    record = next(run.records())
    call = record.tool_calls[0]
    assert call.error == "tool_fault" and record.changes == [] and record.ended_by != "agent_fault"
    assert (
        call.result["error"].startswith("The tool search_knowledge_base failed and nothing was changed: ")
        and words in call.result["error"]
    )
    assert [f.kind for f in record.faults if f.side == "tool"] == ["tool_fault"]
    assert not any(secret in orjson.dumps(record) for secret in (b"/home/", str(options["out"].parent).encode()))
    play("some-model", replay=True, **options)


def test_the_record_names_the_lines_a_failing_tool_passed_through(options):
    with RunServer() as server:
        _, run = play(
            "some-model", base_url=server.base_url, tools=in_place_of_the_search(raising(ValueError("no"))), **options
        )
    fault = next(f for f in next(run.records()).faults if f.side == "tool")
    assert fault.detail.startswith(
        "search_knowledge_base: ValueError: no; test_own_code_that_fails.py:"
    ) and fault.detail.endswith(" in body")


def test_what_a_tool_that_works_changed_is_taken_over_and_an_unknown_id_is_still_not_found(options):
    def body(desk):
        if len(desk.calls) > 0:
            raise NotFound("nothing of that name")
        return {"found": 1}

    with RunServer() as server:
        _, run = play("some-model", base_url=server.base_url, tools=in_place_of_the_search(body), **options)
    record = next(run.records())
    assert [c.error for c in record.tool_calls] == [None, "not_found"] and record.tool_calls[0].result == {"found": 1}
    assert [(c["id"], c["field"], c["new"]) for c in record.changes if c["table"] == "notes"] == [
        ("N-1", "id", "N-1"),
        ("N-1", "text", "half done"),
    ]


def untyped(desk, what):
    """A tool without a type."""


async def waiting(desk):
    """A tool that would have to be awaited."""


@pytest.mark.parametrize(
    "tools, words",
    [
        ("os:system", "'os:system' contains no tool"),
        ("json:dumps", "contains no tool"),
        ("..a:X", "'..a:X' cannot be loaded"),
        ("unparsed:X", "cannot be loaded: SyntaxError"),
        ("leaves:X", "cannot be loaded: SystemExit"),
        ({"system": print}, "'system' is not a tool"),
        ([tool()(untyped)], "must be a dict of name to tool"),
        ({"untyped": tool()(untyped)}, "'untyped' cannot be declared to a model"),
        ({"waiting": tool()(waiting)}, "is an async function"),
    ],
)
def test_tools_and_agents_that_cannot_be_used_are_refused_in_one_sentence_before_anything_is_written(
    options, tmp_path, monkeypatch, tools, words
):
    (tmp_path / "unparsed.py").write_text("def broken(:\n")
    (tmp_path / "leaves.py").write_text(textwrap.dedent("import sys\nsys.exit(0)\n"))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=words) as refused:
        play("scripted:no_op", tools=tools, **options)
    assert "\n" not in str(refused.value) and not options["out"].exists()
    if isinstance(tools, str) and "cannot be loaded" in words:
        with pytest.raises(BadInput, match=words):
            play("mine", agent=tools, **options)
