"""One function for many things on the workers of a real Dask cluster: pages of models, panels, anything of one's own."""

import asyncio
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from benchmark_lib import BadInput, Experiment, spread
from benchmark_lib.cli import main

distributed = pytest.importorskip("distributed")


def square(number):
    if number == 13:
        raise BadInput("13 has no place here")
    return number * number, os.getpid()


def killed_once(path):
    if path.name == "killed" and not path.exists():
        path.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return path, os.getpid()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """An authority of one's own and a certificate it signed, as the configuration of Dask names them."""
    folder = tmp_path_factory.mktemp("tls")
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
    files = {"ca-file": folder / "cert.pem"}
    line = [*new, "-subj", "/CN=localhost", "-keyout", str(folder / "key.pem"), "-out", str(files["ca-file"])]
    if subprocess.run(line, capture_output=True).returncode:
        pytest.skip("openssl cannot make a certificate here")
    for role in ("client", "worker", "scheduler"):
        files |= {f"{role}.cert": files["ca-file"], f"{role}.key": folder / "key.pem"}
    return {f"distributed.comm.tls.{name}": str(path) for name, path in files.items()}


@pytest.fixture(scope="module")
def cluster(certificates):
    """A worker of which every connection is encrypted."""
    import dask

    with dask.config.set(certificates):
        security = distributed.Security(require_encryption=True)
        options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
        with distributed.LocalCluster(protocol="tls", security=security, **options) as opened:
            yield opened


def test_without_an_executor_things_are_done_here():
    assert list(spread(square, [1, 2], executor=None)) == [(1, os.getpid()), (4, os.getpid())]


def test_with_one_they_are_done_on_its_workers_in_their_order(cluster):
    found = list(spread(square, range(8), scheduler=cluster.scheduler_address))
    assert [number for number, _ in found] == [n * n for n in range(8)]
    assert os.getpid() not in {process for _, process in found}


def test_what_the_function_raises_is_raised(cluster):
    with pytest.raises(BadInput, match="13 has no place here"):
        list(spread(square, [13, 1], scheduler=cluster.scheduler_address))


@pytest.fixture
def short_lived():
    """A worker that a test may take away, and that is not replaced."""
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as opened:
        yield opened


def until_there(path):
    while path.name != "now" and not path.exists():
        time.sleep(0.05)
    return path


def ended(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_thing_with_which_every_worker_died_is_named():
    import dask

    once = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with once, pytest.raises(BadInput, match="every worker that began '14' died"):
        list(spread(ended, [14], workers=1))


def test_a_cluster_that_ends_is_named(short_lived, tmp_path):
    results = spread(until_there, [tmp_path / "now", tmp_path / "never"], scheduler=short_lived.scheduler_address)
    assert next(results).name == "now"
    short_lived.close()
    with pytest.raises(BadInput, match="the Dask scheduler at .* is gone: start it again"):
        next(results)


def test_a_result_is_not_waited_for_where_no_worker_is_left(short_lived, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmark_lib.extras.machines.cluster.CHECKED_EVERY_S", 0.1)
    monkeypatch.setattr("benchmark_lib.extras.machines.cluster.WITHOUT_WORKERS_S", 0.5)
    results = spread(until_there, [tmp_path / "now", tmp_path / "never"], scheduler=short_lived.scheduler_address)
    assert next(results).name == "now"
    short_lived.scale(0)
    with pytest.raises(BadInput, match="has had no worker for 0.5 s: check the memory"):
        next(results)


def test_workers_that_end_while_they_start_are_one_sentence(monkeypatch):
    class Failing:
        def __init__(self, **options):
            raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", Failing)
    with pytest.raises(BadInput, match=r"did not start \(Nanny failed to start\.\): use fewer --workers"):
        list(spread(square, [1], workers=2))


@pytest.mark.slow
def test_a_thing_is_done_again_where_its_worker_was_killed(cluster, tmp_path):
    given = [tmp_path / "killed", tmp_path / "other"]
    found = list(spread(killed_once, given, scheduler=cluster.scheduler_address))
    assert [path for path, _ in found] == given
    assert int(given[0].read_text()) not in {process for _, process in found}


@pytest.mark.slow
def test_a_run_is_played_over_tls(cluster, tmp_path):
    assert cluster.scheduler_address.startswith("tls://")
    where = {"executor": "dask", "scheduler": cluster.scheduler_address, "progress": False}
    asked = Experiment("scripted:oracle", cases="tracking_1", trials=2, out=tmp_path / "r.deskbench", **where)
    assert asyncio.run(asked.run()).counts()["finished"] == 2


def test_tls_without_certificates_is_refused_in_one_sentence(tmp_path, capsys, certificates):
    import dask

    line = ["run", "scripted:oracle", "--cases", "tracking_1", "--out", str(tmp_path / "r"), "--executor", "dask"]
    with dask.config.set(dict.fromkeys(certificates, None)):
        assert main([*line, "--scheduler", "tls://127.0.0.1:9"]) == 2
    told = capsys.readouterr().err
    assert "needs certificates: name the files in DASK_DISTRIBUTED__COMM__TLS__CA_FILE and DASK_" in told
    with dask.config.set(certificates | {"distributed.comm.tls.client.cert": str(tmp_path / "none.pem")}):
        assert main([*line, "--scheduler", "tls://127.0.0.1:9"]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.slow
def test_a_page_is_made_for_each_model_on_the_workers(cluster, tmp_path, capsys):
    import nbformat

    runs = [str(tmp_path / f"{name}.deskbench") for name in ("oracle", "echo")]
    for out in runs:
        options = {"cases": "tracking_1", "trials": 1, "progress": False}
        asyncio.run(Experiment(f"scripted:{Path(out).stem}", out=out, **options).run())
    cells = [nbformat.v4.new_code_cell("entry = None\nruns = None", metadata={"tags": ["parameters"]})]
    book = nbformat.v4.new_notebook(cells=[*cells, nbformat.v4.new_code_cell("import os; entry, os.getppid()")])
    book.metadata |= {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    nbformat.write(book, tmp_path / "own_page.ipynb")
    line = ["notebook", str(tmp_path / "own_page.ipynb"), "--each-model", "-p", f"runs={json.dumps(runs)}"]
    assert main([*line, "--executor", "dask", "--scheduler", cluster.scheduler_address]) == 0
    pages = [Path(told.removeprefix("page: ")) for told in capsys.readouterr().out.splitlines()]
    assert [p.name.split("-")[3] for p in pages] == ["oracle", "echo"]
    workers = {str(nanny.pid) for nanny in cluster.workers.values()}
    for page in pages:
        assert any(f", {pid})" in page.read_text() for pid in workers)
        page.unlink(), page.with_suffix(".ipynb").unlink()


def test_what_does_not_go_together_is_refused():
    with pytest.raises(BadInput, match="there is no executor 'ray'"):
        list(spread(square, [1], executor="ray"))
    with pytest.raises(BadInput, match="omit one of them"):
        list(spread(square, [1], scheduler="tcp://127.0.0.1:9", workers=2))


def test_one_notebook_takes_no_executor(capsys):
    assert main(["notebook", "20_model_report", "--workers", "2"]) == 2
    assert "add --each-model" in capsys.readouterr().err
