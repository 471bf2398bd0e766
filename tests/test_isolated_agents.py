"""`--isolate`: the agent is a process of its own that has nothing of the harness but a pipe."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import orjson
import pytest
from commands import Command

from benchmark_lib import BadInput, Experiment, load_results
from benchmark_lib.cli import main
from benchmark_lib.endpoint import load_settings
from benchmark_lib.experiment.summary import summary
from benchmark_lib.extras.isolation.isolated import environment_of
from benchmark_lib.records import NOT_SCORED
from benchmark_lib.runfile import RunFile, connect_to_write

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
    for name in ("OPENAI_API_KEY", "MINE", "NAMED", "QUERY", "THEIRS", "HEADER", "AWS_SECRET_ACCESS_KEY", "PLAIN"):
        monkeypatch.setenv(name, "value")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:word@proxy.invalid")
    (tmp_path / "s.yaml").write_text(
        "agent: {api_key_env: MINE, env: [NAMED], query_env: {code: QUERY}}\ncustomer: {api_key_env: THEIRS, headers_env: {X-A: HEADER}}\n"
    )
    found = environment_of(load_settings(tmp_path / "s.yaml"))
    assert {"MINE", "NAMED", "QUERY", "PATH"} <= found.keys()
    assert not {"OPENAI_API_KEY", "THEIRS", "HEADER", "AWS_SECRET_ACCESS_KEY", "PLAIN", "HTTPS_PROXY"} & found.keys()


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
    value = run.manifest["inputs"]["isolate"]["value"]
    assert value == (True if has_namespaces() else "unprotected")
    play("Careful", out=run.path, trials=2)
    with pytest.raises(BadInput, match=r"isolate is \w+ there and null here"):
        play("Careful", out=run.path, isolate=False)


# --- what tries to get out
# ----------------------------------------------------------------------------------------------------

ESCAPING = Path(__file__).with_name("escaping_agents.py")
REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def folder():
    """A folder that every user may write, with the agents that try to get out, and a file of keys."""
    with tempfile.TemporaryDirectory(prefix="isolated-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        shutil.copy(ESCAPING, folder)
        (folder / ".env").write_text("KEY=secret-of-somebody")
        fill(folder)
        (folder / "target.json").write_text(orjson.dumps({"run": f"{name}/run.deskbench", "pid": os.getpid()}).decode())
        for name in ("escaping_agents.py", "target.json", ".env"):
            (folder / name).chmod(0o644)
        yield folder


def fill(folder):
    """Put beside the agents what leads out of their folder, and what stays hidden however deep it is."""
    deep = folder / "notes" / "deep"
    deep.mkdir(parents=True)
    data = REPOSITORY / "data/stores"
    for place in (data / "northline", data / "northline/cases", data / "northline-hard", Path("/run"), Path("/proc")):
        for at in (folder, deep):
            (at / f"to-{place.name}").symlink_to(place)
    for name in (".env", ".ssh", "other.deskbench", "caf\udce9"):
        (deep / name).write_text("KEY=secret-of-somebody")
    os.mkfifo(deep / "pipe")


EARLY = """
import contextlib, os, sys
from pathlib import Path

if "escaping_agents:Polite" in sys.orig_argv:
    with contextlib.suppress(OSError):
        found = Path(f"/proc/{os.getppid()}/environ").read_text() if os.getppid() else ""
        Path("LOOT").write_text(f"{__name__} as {os.geteuid()}: {'secret-of-somebody' in found}")
        sys.path.insert(0, "FOLDER")
        from escaping_agents import Forges
        Forges().reply(None)
"""
"""Code that a folder of an agent may have under the name of a module that Python imports before any agent."""


def deskbench(folder, agent, *more, how="as it is", cases="tracking_1"):
    """Play an escaping agent at the command line; returns the process, with its output."""
    line = f"run label --agent escaping_agents:{agent} --cases {cases} --trials 1 --messages 1 --out run.deskbench"
    words = [*line.split(), *more]
    keys = {"SOMEBODY_API_KEY": "secret-of-somebody", "PLAIN": "secret-of-somebody", "HOME": str(folder)}
    here = {**os.environ, **keys, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    if how == "as it is":
        return Command(words, cwd=folder, env=here)
    line = [*started(how, folder), sys.executable, "-P", "-m", "benchmark_lib", *words]
    return subprocess.Popen(line, env=here, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def started(how, folder):
    """What a command begins with that runs in another way than this process; skips where the system has none."""
    if how == "without other users":
        begin = ["unshare", "--user", "--map-root-user"]
    elif how == "with few users":
        begin = [sys.executable, "-c", FEW_USERS]
    elif how == "without namespaces":
        begin = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
    else:
        begin = ["unshare", "-m", "sh", "-c", made_reachable(folder / "spare"), "sh"]
        begin += ["setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups", "--inh-caps=-all"]
    tried = ["setpriv", "unshare"] if os.geteuid() == 0 else []
    if not tried or not all(map(shutil.which, tried)) or subprocess.run([*begin, sys.executable, "-V"]).returncode:
        pytest.skip(f"a command can be run {how} by root alone, with setpriv and unshare")
    return begin


FEW_USERS = """
import ctypes, os, sys
(told, tell), (heard, hear) = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    ctypes.CDLL(None).unshare(0x10000000)
    os.write(tell, b".")
    os.read(heard, 1)
    os.setgid(0)
    os.setuid(0)
    os.execvp(sys.argv[1], sys.argv[1:])
os.read(told, 1)
for name in ("uid_map", "gid_map"):
    open(f"/proc/{pid}/{name}", "w").write("0 0 65536")
os.write(hear, b".")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
"""Runs a command as root among 65,536 users, as a container without root does."""


def made_reachable(spare):
    """A script in which every user reaches this Python and this repository, whatever folder of root they are in."""
    closed = {}
    for place in (Path(sys.base_prefix), Path(sys.prefix), REPOSITORY):
        tops = [top for top in reversed(place.parents) if not top.stat().st_mode & 1]
        closed |= {place: tops[0]} if tops else {}
    lines = [f"mkdir -p {spare}/{n} && mount --bind {place} {spare}/{n}" for n, place in enumerate(closed)]
    lines += [f"mount -t tmpfs -o mode=755 none {top}" for top in {*closed.values()}]
    lines += [f"mkdir -p {place} && mount --move {spare}/{n} {place}" for n, place in enumerate(closed)]
    return "\n".join(["set -e", *lines, 'exec "$@"'])


def played(folder, agent, *more, **how):
    """A command that was played to its end: its exit code, what it said, and its run file."""
    process = deskbench(folder, agent, *more, **how)
    out, err = process.communicate(timeout=300)
    assert "Traceback" not in err, err
    return process.returncode, out + err, folder / "run.deskbench"


def has_namespaces():
    """Whether this system lets this user have namespaces, as the tool of the same name finds."""
    tool = shutil.which("unshare")
    own = ["-Ur"] if os.geteuid() else []
    return tool and subprocess.run([tool, *own, "-mpf", "true"], capture_output=True).returncode == 0


@pytest.mark.parametrize("how", ["as it is", "as nobody", "with few users"])
def test_no_way_out_of_isolation_is_open(folder, how):
    before = {*os.listdir(folder)}
    code, said, path = played(folder, "Escapes", "--isolate", how=how)
    if not has_namespaces():
        pytest.skip("this system has no namespaces for an isolated agent")
    assert code == 0 and "unprotected" not in said and next(RunFile(path).records()).replies()[0].text == "{}"
    assert {*os.listdir(folder)} - {"spare", "run.deskbench"} == before


@pytest.mark.parametrize("how", ["as it is", "as nobody"])
@pytest.mark.parametrize("modules", ["sitecustomize", "inspect orjson json ctypes"])
def test_no_file_of_the_agent_runs_before_it_is_kept_apart(folder, modules, how):
    for module in modules.split():
        early = EARLY.replace("LOOT", f"{folder}/loot").replace("FOLDER", str(folder))
        (folder / f"{module}.py").write_text(early)
    if not has_namespaces():
        pytest.skip("this system has no namespaces for an isolated agent")
    gains_nothing(folder, "Polite", how=how)
    assert not (folder / "loot").exists()


@pytest.mark.parametrize("agent", ["TakesTheWallsDown", "takes_the_walls_down_early"])
def test_what_an_agent_says_of_its_walls_does_not_take_them_down(folder, agent):
    code, said = gains_nothing(folder, agent)
    assert code == (2 if "early" in agent else 0) and "unprotected" not in said or not has_namespaces()


def gains_nothing(folder, agent, **how):
    """Play an agent that would be best: its run is refused before it begins, or its row is what it did."""
    code, said, path = played(
        folder, agent, "--isolate", "--concurrency", "1", cases="tracking_1,tracking_2,damaged_no_proof", **how
    )
    assert path.exists() == (code == 0) and code in (0, 2), said
    if path.exists():
        assert not load_results(path).conversations["resolved"].any()
    return code, said


def overlong(folder):
    """Make a hidden file so deep that no wall can be built around it; returns what to remove."""
    deep = folder / "notes" / "x"
    while len(str(deep)) < 3900:
        deep /= "x" * 100
    deep /= "x" * (4088 - len(str(deep)))
    deep.mkdir(parents=True)
    (deep / ".env").touch()
    return folder / "notes" / "x"


def test_a_folder_that_breaks_the_walls_is_refused_and_not_played_without_them(folder):
    overlong(folder)
    code, said, path = played(folder, "Polite", "--isolate")
    assert (code, path.exists()) == (2, False) and "cannot be isolated here" in said or not has_namespaces()


def test_walls_that_fail_later_cost_one_conversation_and_not_the_run(folder):
    if not has_namespaces():
        pytest.skip("this system has no namespaces for an isolated agent")
    line = {"cases": "tracking_1,damaged_no_proof"}
    command = deskbench(folder, "Slow", "--isolate", "--concurrency", "1", **line)
    agents = ("benchmark_lib.extras.isolation.agent_process\0escaping_agents:Slow",)
    waited(
        lambda: (folder / "run.deskbench").exists() and [*processes_with(*agents)] > processes_with(*agents, "walls.py")
    )
    broken = overlong(folder)
    out, err = command.communicate(timeout=300)
    kinds = [[f.kind for f in r.faults] for r in RunFile(folder / "run.deskbench").records()]
    assert command.returncode == 3 and sorted(kinds) == [[], ["not_started"]], out + err
    shutil.rmtree(broken)
    assert played(folder, "Slow", "--isolate", **line)[0] == 0
    assert [r.faults for r in RunFile(folder / "run.deskbench").records()] == [[], []]


@pytest.mark.parametrize("how", ["as it is", "as nobody", "without namespaces"])
def test_what_an_agent_leaves_behind_ends_with_its_conversation(folder, how):
    assert played(folder, "Leaves", "--isolate", how=how)[0] == 0
    waited(lambda: not left_by(folder))


def test_the_time_of_a_reply_ends_what_hangs_and_what_it_left_behind(folder):
    code, said, _ = played(folder, "Stays", "--isolate", "--timeout", "3")
    assert code == 0 and "no_answer 1" in said
    waited(lambda: not left_by(folder))


def test_kill_9_of_the_harness_leaves_no_process(folder):
    harness = deskbench(folder, "Stays", "--isolate", cases="tracking_1,damaged_no_proof")
    waited(lambda: len(left_by(folder)) == 2)
    os.kill(harness.pid, signal.SIGKILL)
    harness.communicate()
    waited(lambda: not left_by(folder) and not processes_with("escaping_agents:Stays", str(folder)))


@pytest.mark.parametrize("how", ["without namespaces", "without other users"])
def test_where_the_system_keeps_nothing_apart_the_row_is_marked_and_the_run_goes_on(folder, how, capsys):
    code, said, path = played(folder, "Leaves", "--isolate", how=how)
    assert code == 0 and "label [unprotected]" in said
    assert "the agent is unprotected, and so its row is marked: this system cannot keep it from" in said
    assert [*load_results(path).entries.values()] == ["label [unprotected]"]
    assert main(["runs", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "isolate unprotected" in shown and ("Operation not permitted" in shown) == (how == "without namespaces")
    code, said, _ = played(folder, "Leaves", "--isolate")
    assert code == 2 and "isolate is unprotected there and true here" in said or not has_namespaces()


def test_a_file_that_the_agent_wrote_ends_without_a_board(folder):
    code, said, path = played(folder, "Forges", "--concurrency", "1", cases="tracking_1,tracking_2,damaged_no_proof")
    assert code == 2 and "not what this command wrote: case " in said and "The board" not in said
    assert not path.exists() and [one.name.startswith("run-") for one in (folder / "old").iterdir()] == [True]


def test_scores_forged_between_two_sessions_are_found_by_scoring_afresh(folder):
    code, _, path = played(folder, "Polite", cases="tracking_1,damaged_no_proof")
    with closing(connect_to_write(path)) as db:
        digest, version, scores = db.execute("SELECT record_hash, version, scores FROM scores").fetchone()
        best = orjson.loads(scores) | {"success": True, "resolved": True}
        db.put("scores", [(digest, version, orjson.dumps(best))])
    again, said, _ = played(folder, "Polite", cases="tracking_1,damaged_no_proof")
    assert (code, again) == (0, 2) and "not what this command wrote: case tracking_1, trial 1" in said


@pytest.mark.parametrize("agent, kind", [("Floods", "garbled"), ("Overcharges", "garbled")])
def test_a_flood_from_an_agent_is_its_fault(folder, agent, kind):
    code, said, _ = played(folder, agent, "--isolate")
    assert code == 0 and f"ended by a fault of the agent: 1 ({kind} 1)" in said


def left_by(folder):
    return processes_with("left-by", str(folder))


def processes_with(*words):
    """The processes whose command line holds all of these words."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_text() if entry.name.isdigit() else ""
            found += [entry.name] if line and all(word in line for word in words) else []
    return found


def waited(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
