"""A rebuild moves no number: scores, tables, figures, downloads, texts that are read, and a run begun by 0.3.2."""

import shutil
from io import StringIO

import freezing
import numpy as np
import orjson
import pandas as pd
import pytest
from run_server import RunServer

from benchmark_lib import Experiment, load_results
from benchmark_lib.errors import BadInput
from benchmark_lib.runfile import RunFile

BEGUN = freezing.FOLDER.parent / "begun-by-0.3.2.sqlite"
TABLES = sorted(path.stem for path in freezing.FOLDER.glob("table-*.csv"))


def kept(name):
    return orjson.loads((freezing.FOLDER / f"{name}.json").read_bytes())


def moved(now, then):
    """What differs between two levels of digests: fields and cases by run."""
    return {
        f"{who} {level}": changed
        for who in now
        for level in then[who]
        if (changed := sorted(k for k in {*then[who][level]} if now[who][level].get(k) != then[who][level][k]))
    }


def differences(now, then):
    """The columns of a table in which a number has moved or gone, each with its first row; columns may be added."""
    now, found = pd.read_csv(StringIO(now.to_csv(index=False, float_format="%.9g"))), {}
    for name in then.columns:
        if name not in now:
            found[name] = "gone"
        elif len(now) != len(then):
            found[name] = f"{len(then)} rows before, {len(now)} now"
        elif pd.api.types.is_numeric_dtype(then[name]):
            apart = ~np.isclose(now[name].astype(float), then[name], rtol=freezing.TOLERANCE, equal_nan=True)
            if apart.any():
                row = int(apart.argmax())
                found[name] = f"row {row}: {then[name][row]} before, {now[name][row]} now"
        elif not now[name].equals(then[name]):
            found[name] = "other names"
    return found


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    return freezing.panel(tmp_path_factory.mktemp("panel"))


@pytest.fixture(scope="module")
def made(panel):
    return freezing.made_tables(*panel)


def test_scores_of_scripted_agents_on_the_core_set_have_not_moved(tmp_path):
    now = {who: freezing.digests(run) for who, run in freezing.scripted(tmp_path, slow=False).items()}
    assert moved(now, kept("scores")) == {}


@pytest.mark.slow
def test_scores_of_all_scripted_agents_on_both_sets_have_not_moved(tmp_path):
    now = {who: freezing.digests(run) for who, run in freezing.scripted(tmp_path, slow=True).items()}
    assert moved(now, kept("scores")) == {}


def test_scores_of_the_shipped_records_have_not_moved(tmp_path):
    now = {who: freezing.digests(run) for who, run in freezing.shipped(tmp_path).items()}
    assert moved(now, kept("scores")) == {}


@pytest.mark.parametrize("name", TABLES)
def test_no_number_of_a_table_has_moved(name, made):
    assert differences(made[name.removeprefix("table-")], pd.read_csv(freezing.FOLDER / f"{name}.csv")) == {}


def test_no_mark_of_a_figure_has_moved(panel):
    now, then = freezing.drawn(panel[0]), kept("figures")
    assert {name: sorted({*now[name]} ^ {*then[name]}) for name in then if now[name] != then[name]} == {}


@pytest.mark.slow
def test_no_number_in_a_download_of_the_site_has_moved(panel, tmp_path):
    now = freezing.downloads(panel[0], tmp_path / "site")
    then = {path.stem: pd.read_csv(path) for path in sorted(freezing.FOLDER.glob("site-*.csv"))}
    apart = {name: differences(now[name.removeprefix("site-")], old) for name, old in then.items()}
    assert {name: found for name, found in apart.items() if found} == {}


def test_what_is_read_in_a_conversation_stays_byte_for_byte():
    now, then = freezing.texts(), kept("texts")
    assert sorted(name for name in then if now.get(name) != then[name]) == []


def test_a_run_that_version_0_3_2_began_keeps_its_results_and_is_not_mixed_with_another_store(tmp_path):
    run = RunFile(shutil.copy(BEGUN, tmp_path / "run.deskbench"))
    bought, finished = run.counts()["calls"], dict(run.endings())
    records = {key: run.record(*key).to_json() for key in finished}
    with RunServer() as server:
        wanted = {"cases": "tracking,abusive_1,vip_skip_checks", "trials": 2, "messages": 3}
        experiment = Experiment("some-model", base_url=server.base_url, out=run.path, progress=False, **wanted)
        with pytest.raises(
            BadInput, match="prompt is northline agent-2 there and northline agent-3 here; store is .*1.2.7"
        ):
            freezing.asyncio.run(experiment.run())
        assert server.count == 0 and run.counts()["calls"] == bought
    assert {key: run.record(*key).to_json() for key in finished} == records
    assert len(load_results(run).conversations) == len(finished)
