"""A run on the workers of a real Dask cluster: one file, as on one machine, whatever happens to a worker."""

import asyncio
import contextlib
import functools
import itertools
import logging
import os
import pickle
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

import pytest
from commands import Command, played
from run_server import RunServer, copy_store, some_cases

from benchmark_lib import BadInput, Experiment, load_cases, load_store, spread
from benchmark_lib.cli import main
from benchmark_lib.runfile import RunFile

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

from distributed.protocol import ToPickle, dumps  # noqa: E402

COUNT, TRIALS, IN_FLIGHT = 6, 3, 8

AGENT = """
import os, signal

class Fatal:
    def reply(self, talk):
        if {words!r} in talk.messages[0].text:
            os.kill(os.getpid(), signal.SIGKILL)
        return "We are looking into it."
"""


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """A folder from which the workers load agents of a user's own."""
    return tmp_path_factory.mktemp("agents")


@pytest.fixture(scope="module")
def cluster(agents):
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(agents)  # workers, also those that come later, take over the path of this process
        with distributed.LocalCluster(n_workers=2, **options) as opened:
            yield opened


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """The store and the cases that most tests play."""
    store = copy_store(tmp_path_factory.mktemp("store"))
    return {"store": store, "cases": ",".join(some_cases(store, COUNT))}


def experiment(cluster, out, model="some-model", **more):
    where = {"executor": "dask", "scheduler": cluster.scheduler_address}
    return Experiment(model, out=out, progress=False, **(where | {"trials": TRIALS, "concurrency": IN_FLIGHT} | more))


class Machines:
    """A scheduler and workers as processes of their own, each in a folder of its own; all that the scheduler reads is kept."""

    def __init__(self, folder):
        self.folder, self.processes, self.read = folder, [], []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.scheduler = self._start("scheduler", folder, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self._wait_for(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.scheduler_address = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, args=(port,), daemon=True).start()

    def add(self, name, **environment):
        (self.folder / name).mkdir(exist_ok=True)
        options = ["--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        return self._start("worker", self.folder / name, self.scheduler_address, *options, **environment)

    def _start(self, what, folder, *options, **environment):
        line = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = os.environ | {"PYTHONPATH": os.getcwd()} | environment
        self.processes.append(subprocess.Popen(line, cwd=folder, env=environment, **quiet))
        return self.processes[-1]

    def _wait_for(self, port):
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return
            time.sleep(0.1)
        raise TimeoutError("the scheduler did not start")

    def _serve(self, port):
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.create_connection(("127.0.0.1", port))
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                self.read.append(data)
                other.sendall(data)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._listener.close()
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path):
    opened = Machines(tmp_path)
    yield opened
    opened.close()


async def until(true):
    while not true():
        await asyncio.sleep(0.01)


def test_two_processes_play_into_one_file_what_one_plays(tmp_path, cluster, shop):
    out = {name: tmp_path / f"{name}.deskbench" for name in ("one", "two")}
    asyncio.run(experiment(cluster, out["one"], "scripted:oracle", executor=None, scheduler=None, **shop).run())
    asyncio.run(experiment(cluster, out["two"], "scripted:oracle", **shop).run())
    one, two = (RunFile(path) for path in out.values())
    two.check()
    assert two.counts() == one.counts() and two.counts()["finished"] == COUNT * TRIALS
    assert {row[:3] for row in two.conversations()} == {row[:3] for row in one.conversations()}
    assert two.scores() == one.scores()
    assert one.manifest["inputs"] == two.manifest["inputs"], "either command goes on with the file of the other"


def test_a_worker_killed_with_kill_9_costs_the_calls_in_flight(tmp_path, cluster, shop):
    out = tmp_path / "run.deskbench"

    async def killed(server):
        run = asyncio.ensure_future(experiment(cluster, out, base_url=server.base_url, messages=3, **shop).run())
        await until(lambda: server.count > 30)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        return await run

    with RunServer(latency_s=0.1) as server:
        run = asyncio.run(killed(server))
        assert run.counts()["finished"] == COUNT * TRIALS
        lost = server.count - run.counts()["calls"]
        assert 0 <= lost <= IN_FLIGHT, "it may have held them all, if the other worker was seated later"
        bought = server.count
        again = experiment(cluster, out, base_url=server.base_url, messages=3, **shop)
        asyncio.run(again.run())
        assert server.count == bought, "the same command finds everything on file"
    run.check()
    replayed = experiment(cluster, out, base_url=server.base_url, messages=3, replay=True, **shop)
    asyncio.run(replayed.run())
    assert replayed.replayed == COUNT * TRIALS


def test_a_conversation_that_kills_its_worker_is_given_up_and_recorded(tmp_path, cluster, shop, agents):
    fatal = load_cases(load_store(shop["store"]), shop["cases"])[2]
    (agents / "agent_that_kills.py").write_text(AGENT.format(words=fatal.email.text[:60]))
    out = tmp_path / "run.deskbench"
    asked = experiment(cluster, out, "fatal", agent="agent_that_kills:Fatal", **(shop | {"trials": 1}))
    run = asyncio.run(asked.run())
    endings = run.endings()
    assert endings.pop((fatal.id, 1)) == "infrastructure_fault"
    assert len(endings) == COUNT - 1 and "infrastructure_fault" not in endings.values()
    fault = run.record(fatal.id, 1).faults[0]
    assert fault.kind == "worker_lost" and "2 workers died" in fault.detail
    assert "rerun the same command" in asked.stopped.sentence


def test_the_budget_is_one_for_all_workers(tmp_path, cluster, shop):
    settings = {"agent": {"body": {"max_tokens": 100}}}
    with RunServer(latency_s=0.02) as server:
        played = {"base_url": server.base_url, "messages": 3, "settings": settings, **shop}
        whole = asyncio.run(experiment(cluster, tmp_path / "whole.deskbench", "gpt-5.5", **played).run()).cost()[0]
        half = experiment(cluster, tmp_path / "half.deskbench", "gpt-5.5", budget_usd=whole / 2, **played)
        run = asyncio.run(half.run())
        assert whole / 4 < run.cost()[0] <= whole / 2
        assert "stopped before exceeding the budget" in half.stopped.sentence
        bought = server.count
        more = experiment(cluster, half.out, "gpt-5.5", budget_usd=whole * 1.2, **played)
        assert asyncio.run(more.run()).counts()["finished"] == COUNT * TRIALS and more.stopped is None
        assert 0 < server.count - bought < bought


def test_a_signal_waits_for_the_calls_in_flight_of_every_worker(tmp_path, cluster, shop):
    asked = experiment(cluster, tmp_path / "run.deskbench", **shop)

    async def stopped(server):
        asked.base_url = server.base_url
        run = asyncio.ensure_future(asked.run())
        await until(lambda: server.count > 20)
        asked.stop("interrupted")
        return await run

    with RunServer(latency_s=0.1) as server:
        run = asyncio.run(stopped(server))
        assert asked.stopped.sentence == "interrupted"
        assert run.counts()["calls"] == server.count, "calls in flight are paid for, so they are waited for"
        assert run.counts()["finished"] < COUNT * TRIALS


def test_keys_come_from_the_workers_and_one_with_another_store_is_refused_by_name(
    tmp_path, machines, shop, capsys, monkeypatch
):
    key = "not-for-the-scheduler-4711"
    for name in ("here", "anna", "bert"):
        shutil.copytree(shop["store"], tmp_path / name / "store")
    (tmp_path / "bert" / "store" / "prompts" / "agent.md").open("a").write("Be brief.\n")
    for name in ("anna", "bert"):
        machines.add(name, DESK_KEY=key)
    monkeypatch.chdir(tmp_path / "here")

    settings = {"agent": {"api_key_env": "DESK_KEY"}}
    with RunServer() as server, distributed.Client(machines.scheduler_address, set_as_default=False) as client:
        heads, answer = [], server.answer
        monkeypatch.setattr(server, "answer", lambda head, body: heads.append(head) or answer(head, body))
        client.wait_for_workers(2)
        options = {"store": "store", "cases": shop["cases"], "trials": 1, "settings": settings}
        asked = experiment(machines, "run.deskbench", base_url=server.base_url, **options)
        run = asyncio.run(asked.run())
    assert run.counts()["finished"] == COUNT
    assert heads and all(f"Bearer {key}".encode() in head for head in heads)
    wire = b"".join(machines.read)
    assert b"machines.player" in wire and key.encode() not in wire
    assert key.encode() not in (tmp_path / "here" / "run.deskbench").read_bytes()
    complained = capsys.readouterr().err
    assert "worker bert (tcp://127.0.0.1:" in complained and "prompt" in complained and "anna" not in complained


def test_a_scheduler_that_dies_leaves_a_file_that_one_machine_goes_on_with(tmp_path, machines, shop):
    out = tmp_path / "run.deskbench"
    machines.add("anna")

    async def killed(server):
        asked = experiment(machines, out, base_url=server.base_url, messages=3, **shop)
        run = asyncio.ensure_future(asked.run())
        await until(lambda: server.count > 20)
        machines.scheduler.kill()
        return asked, await run

    with RunServer(latency_s=0.3) as server:
        asked, run = asyncio.run(killed(server))
        assert "is gone: start it again, then rerun the same command to resume" in asked.stopped.sentence
        lost = server.count - run.counts()["calls"]
        assert 0 <= lost <= IN_FLIGHT
        alone = {"executor": None, "scheduler": None, "base_url": server.base_url, "messages": 3}
        run = asyncio.run(experiment(machines, out, **(alone | shop)).run())
        assert run.counts()["finished"] == COUNT * TRIALS and server.count == run.counts()["calls"] + lost
    run.check()


def test_all_workers_together_have_no_more_calls_in_flight_than_asked_for(tmp_path, cluster, shop):
    with RunServer(latency_s=0.1) as server:
        run = asyncio.run(experiment(cluster, tmp_path / "run.deskbench", base_url=server.base_url, **shop).run())
    assert run.counts()["finished"] == COUNT * TRIALS
    assert server.most_in_flight == IN_FLIGHT, "the worker that is seated first may begin with all of them"


def test_a_worker_may_have_more_calls_in_flight_than_an_endpoint_has_by_default(tmp_path, cluster, shop):
    more = {"messages": 1, "concurrency": 110, "trials": 20}
    with RunServer(latency_s=1.5) as server:
        asked = experiment(cluster, tmp_path / "run.deskbench", base_url=server.base_url, **(shop | more))
        assert asyncio.run(asked.run()).counts()["finished"] == COUNT * 20
    assert 100 < server.most_in_flight <= 110, "two workers with 50 each, the default, would be 100"


@pytest.mark.parametrize(
    "options, said",
    [
        (["--executor", "ray"], "there is no executor 'ray'"),
        (["--workers", "2"], "--workers belongs to an executor"),
        (["--executor", "dask", "--workers", "0"], "workers must be a whole number from 1"),
        (["--executor", "dask", "--workers", "2", "--scheduler", "tcp://127.0.0.1:9"], "omit one of them"),
        (["--executor", "dask", "--scheduler", "nonsense://x"], "is not encrypted"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(tmp_path, capsys, options, said):
    out = tmp_path / "run.deskbench"
    assert main(["run", "scripted:oracle", "--cases", "tracking_1", "--out", str(out), *options]) == 2
    complained = capsys.readouterr().err
    assert said in complained and len(complained.splitlines()) == 1
    assert not out.exists()


@pytest.mark.parametrize(
    "address",
    [
        "tcp://10.0.0.1:8786",
        "10.0.0.1:8786",
        "tcp://0.0.0.0:8786",
        "tcp://127.0.0.1.example.org:1",
        "tcp://[fe80::1]:1",
        "ws://127.0.0.1:1",
    ]
    + ["inproc://127.0.0.1/1/1", "tcp://localhost@10.0.0.1:8786", "tcp://", "ucx://127.0.0.1:1", "tcp://[::1"],
)
def test_a_scheduler_on_the_network_is_refused_without_tls(tmp_path, capsys, address):
    line = ["run", "scripted:oracle", "--cases", "tracking_1", "--out", str(tmp_path / "r"), "--executor", "dask"]
    assert main([*line, "--scheduler", address]) == 2
    complained = capsys.readouterr().err
    assert "is not encrypted" in complained and "use a tls:// address" in complained
    with pytest.raises(BadInput, match="is not encrypted"):
        list(spread(len, ["one"], scheduler=address))


def test_a_missing_extra_and_a_scheduler_out_of_reach_lose_nothing(tmp_path, capsys, monkeypatch):
    out = tmp_path / "run.deskbench"
    line = ["run", "scripted:oracle", "--cases", "tracking_1", "--out", str(out), "--executor", "dask"]
    monkeypatch.setattr("benchmark_lib.extras.machines.cluster.CONNECT_S", 0.5)
    assert main([*line, "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "start one with `dask scheduler`" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert main([*line, "--scheduler", f"tcp://127.0.0.1:{silent.getsockname()[1]}"]) == 2
    assert "is not the address of a Dask scheduler" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(line) == 2
    assert "needs the extra `dask`" in capsys.readouterr().err
    assert not out.exists()


def test_a_finished_run_needs_no_cluster(tmp_path, monkeypatch, shop):
    options = {"store": shop["store"], "cases": shop["cases"].split(",")[0], "out": tmp_path / "run.deskbench"}
    options |= {"model": "scripted:echo", "trials": 1, "progress": False}
    asyncio.run(Experiment(**options).run())
    began = []

    def start(workers, **options):
        began.append(workers)
        raise BadInput("a cluster was started")

    monkeypatch.setattr("benchmark_lib.extras.machines.cluster.local_cluster", start)
    where = {"executor": "dask", "workers": 2}
    done = Experiment(**options, **where)
    assert asyncio.run(done.run()).counts()["finished"] == 1 and done.stopped is None and not began
    with pytest.raises(BadInput, match="a cluster was started"):
        asyncio.run(Experiment(**(options | {"trials": 2}), **where).run())


def listening(process):
    """Return the addresses on which a process and its children listen."""
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    found = set()
    for one in family:
        with contextlib.suppress(psutil.Error):
            found |= {c.laddr for c in one.net_connections("inet") if c.status == psutil.CONN_LISTEN}
    return found


class Touch:
    """An object that makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def attacks(path):
    """What a stranger sends to a port: Dask's handshake with a pickle in it, a length that is never met, noise, silence."""
    payload = pickle.dumps(Touch(path))
    told = {"compression": None, "python": (3, 11, 7), "pickle-protocol": 5}
    for message in (ToPickle(Touch(path)), told | {"more": ToPickle(Touch(path))}, {"op": "run", "function": payload}):
        frames = dumps(message)
        sizes = struct.pack(f"Q{len(frames)}Q", len(frames), *map(len, frames))
        body = sizes + b"".join(frames)
        yield struct.pack("Q", len(body)) + body
    yield struct.pack("Q", 1 << 62) + b"\0" * 65536
    yield payload
    yield b"GET /info/main/workers.html HTTP/1.1\r\n\r\n"
    yield b""


def plain(connection):
    return connection


@functools.cache
def certified():
    """Return what a stranger's TLS may be at best: some certificate, and no question about that of the other side."""
    context = distributed.Security.temporary().get_connection_args("client")["ssl_context"]
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def test_a_stranger_at_every_port_of_a_run_runs_no_code_and_stops_nothing(tmp_path, shop):
    mark, out = tmp_path / "executed", tmp_path / "run.deskbench"
    with RunServer(latency_s=0.3) as server:
        line = ["run", "some-model", "--base-url", server.base_url, "--yes"]
        line += ["--store", shop["store"], "--cases", shop["cases"], "--trials", "1", "--messages", "3"]
        line += ["--executor", "dask", "--workers", "2", "--concurrency", "4", "--out", out]
        (temporary := tmp_path / "temporary").mkdir()
        run = Command(line, env=os.environ | {"TMPDIR": str(temporary)})
        tried, kept = set(), []
        while run.poll() is None:
            for host, port in listening(run) - tried:
                for attack, wrapped in itertools.product(attacks(str(mark)), (plain, certified().wrap_socket)):
                    with contextlib.suppress(OSError):
                        kept.append(wrapped(socket.create_connection((host, port), timeout=0.5)))
                        kept[-1].sendall(attack)
                tried.add((host, port))
            time.sleep(0.05)
        complained = run.stderr.read()
    for connection in kept:
        connection.close()
    assert run.returncode == 0, complained
    assert len(tried) >= 3, "a scheduler and two workers listen"
    assert {host for host, _ in tried} == {"127.0.0.1"}
    assert not [*temporary.glob("deskbench-*")], "the workers' folder is taken away"
    assert not mark.exists() and "Traceback" not in complained
    assert RunFile(out).counts()["finished"] == COUNT


def test_a_killed_command_leaves_no_worker_that_buys_and_the_same_command_goes_on(tmp_path, shop):
    out = tmp_path / "run.deskbench"
    with RunServer(latency_s=0.1) as server:
        line = ["run", "some-model", "--base-url", server.base_url, "--yes"]
        line += ["--store", shop["store"], "--cases", shop["cases"], "--trials", "2", "--messages", "2"]
        line += ["--executor", "dask", "--workers", "1", "--concurrency", IN_FLIGHT, "--out", out]
        run = Command(line)
        asyncio.run(until(lambda: server.count > 20 or run.poll() is not None))
        run.kill()
        run.wait()
        time.sleep(1.5)
        lost = server.count - RunFile(out).counts()["calls"]
        assert 0 <= lost <= IN_FLIGHT
        assert played(line).returncode == 0
        assert RunFile(out).counts()["finished"] == 2 * COUNT
        assert server.count == RunFile(out).counts()["calls"] + lost, "nothing on file is bought twice"
