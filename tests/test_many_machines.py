"""A run on the workers of a real Dask cluster: one file, as on one machine, whatever happens to a worker."""

import asyncio
import logging
import os
import signal
import sys

import pytest
from run_server import RunServer, copy_store, some_cases

from benchmark_lib import BadInput, Experiment, load_cases, load_store
from benchmark_lib.cli import main
from benchmark_lib.experiment.machines.dealing import Deck
from benchmark_lib.runfile import RunFile

distributed = pytest.importorskip("distributed")

COUNT, TRIALS, IN_FLIGHT = 8, 3, 8

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
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
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
        assert 0 <= server.count - run.counts()["calls"] <= IN_FLIGHT / 2
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
    assert "give the same command again" in asked.stopped.sentence


def test_the_budget_is_one_for_all_workers(tmp_path, cluster, shop, monkeypatch):
    monkeypatch.setattr("benchmark_lib.endpoint.prices.find_price", lambda *_: None)
    out = tmp_path / "run.deskbench"
    with RunServer() as server, pytest.raises(BadInput, match="no price is known"):
        asyncio.run(experiment(cluster, out, base_url=server.base_url, budget_usd=1.0, **shop).run())
    assert not out.exists()


def test_suspects_of_a_dead_worker_are_dealt_one_at_a_time_and_only_the_one_that_kills_twice_is_given_up():
    keys = [(f"case_{n}", 1) for n in range(6)]
    deck = Deck(keys)
    assert deck.deal("a", 3) == keys[:3] and deck.deal("b", 1) == keys[3:4]
    assert deck.left("a") == [] and deck.waiting == 5
    assert deck.deal("b", 3) == [keys[0], *keys[4:6]], "one suspect beside what is fresh"
    assert deck.deal("b", 3) == [], "no second suspect while one is played"
    assert deck.left("b") == [keys[0]], "the others that it took along have lost one worker only"
    assert deck.deal("c", 9) == [keys[1]]
    deck.ended("c", keys[1])
    assert deck.deal("c", 9) == [keys[2]] and not deck.was_lost(keys[1])


@pytest.mark.parametrize(
    "options, said",
    [
        (["--executor", "ray"], "there is no executor 'ray'"),
        (["--workers", "2"], "--workers belongs to an executor"),
        (["--executor", "dask", "--workers", "0"], "workers must be a whole number from 1"),
        (["--executor", "dask", "--workers", "2", "--scheduler", "tcp://127.0.0.1:9"], "leave one of them out"),
        (["--executor", "dask", "--scheduler", "nonsense://x"], "no Dask scheduler answers at nonsense://x"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(tmp_path, capsys, options, said):
    out = tmp_path / "run.deskbench"
    assert main(["run", "scripted:oracle", "--cases", "tracking_1", "--out", str(out), *options]) == 2
    complained = capsys.readouterr().err
    assert said in complained and len(complained.splitlines()) == 1
    assert not out.exists()


def test_a_missing_extra_and_a_scheduler_out_of_reach_lose_nothing(tmp_path, capsys, monkeypatch):
    out = tmp_path / "run.deskbench"
    line = ["run", "scripted:oracle", "--cases", "tracking_1", "--out", str(out), "--executor", "dask"]
    monkeypatch.setattr("benchmark_lib.experiment.machines.cluster.CONNECT_S", 0.5)
    assert main([*line, "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "start one with `dask scheduler`" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(line) == 2
    assert "needs the extra `dask`" in capsys.readouterr().err
    assert not out.exists()
