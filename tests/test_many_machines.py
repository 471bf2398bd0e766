"""A run on the workers of a real Dask cluster: one file, as on one machine, whatever happens to a worker."""

import pytest

from benchmark_lib import Experiment
from benchmark_lib.runfile import RunFile

pytest.importorskip("distributed")


def test_two_processes_play_into_one_file_what_one_plays(tmp_path):
    import asyncio

    cases, out = "tracking,must_escalate", {name: tmp_path / f"{name}.deskbench" for name in ("one", "two")}
    asyncio.run(Experiment("scripted:oracle", cases=cases, trials=1, out=out["one"], progress=False).run())
    two = Experiment("scripted:oracle", cases=cases, trials=1, out=out["two"], progress=False, executor="dask", workers=2)
    asyncio.run(two.run())
    one, two = (RunFile(path) for path in out.values())
    two.check()
    assert two.counts() == one.counts() and two.counts()["finished"] > 20
    assert {row[:3] for row in two.conversations()} == {row[:3] for row in one.conversations()}
    assert two.scores() == one.scores()
