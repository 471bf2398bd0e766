"""An installed wheel needs nothing of the checkout: `demo` and `site` work in an empty folder."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from benchmark_lib.project import code_version

ROOT = Path(__file__).resolve().parents[1]


def call(*line, cwd, **environment):
    """Run a command to its end; what it printed."""
    done = subprocess.run(
        [str(word) for word in line], cwd=cwd, env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A new environment with Deskbench from its wheel.

    Its dependencies are those of the environment that runs the tests.
    """
    folder = tmp_path_factory.mktemp("environment")
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    venv.create(folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)  # one that is there already
    call(*pip, "install", "--no-deps", "--no-index", *folder.glob("*.whl"), cwd=folder)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (packages / "dependencies.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    return folder


def test_the_wheel_carries_what_the_benchmark_ships_and_nothing_that_a_user_made(environment):
    names = zipfile.ZipFile(next(environment.glob("*.whl"))).namelist()
    assert (
        "benchmark_lib/data/stores/northline/store.yaml" in names
        and "benchmark_lib/notebooks/02_leaderboard.ipynb" in names
    )
    assert not [
        name
        for name in names
        if "/runs/" in name
        or name.endswith(("labels.csv", ".lock"))
        or (name.endswith(".deskbench") and "/data/examples/" not in name)
        or name.startswith("tests/")
    ]


def test_demo_and_site_work_in_an_empty_folder(environment, tmp_path):
    deskbench = environment / "bin" / "deskbench"
    templates = os.pathsep.join(str(Path(prefix) / "share" / "jupyter") for prefix in (sys.prefix, sys.base_prefix))
    told = "from benchmark_lib.project import PACKAGE, code_version; print(PACKAGE, code_version()['hash'])"
    where, code = call(environment / "bin" / "python", "-c", told, cwd=tmp_path).split()
    assert where.startswith(str(environment)) and code == code_version()["hash"]
    said = call(deskbench, "demo", "--cases", "slice", "--trials", "1", cwd=tmp_path, JUPYTER_PATH=templates)
    assert f"leaderboard: {tmp_path / 'reports' / '02-leaderboard.html'}" in said
    for run in sorted((tmp_path / "data" / "runs").iterdir())[2:]:
        run.unlink()  # two are enough for a site
    assert f"open: {tmp_path / 'reports' / 'site' / 'index.html'}" in call(deskbench, "site", cwd=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["data", "figures", "reports"] and os.listdir(tmp_path / "data") == ["runs"]
