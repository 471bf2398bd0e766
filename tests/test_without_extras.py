"""The benchmark without its extras: a copy of the package that lacks the folder plays, scores and shows the same."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from benchmark_lib import load_results

ROOT = Path(__file__).resolve().parents[1]
AGENTS = ("oracle", "comply_all", "no_op")
"""In the order in which the fixture `five_agents` gives them their seeds."""
PLAY = """
import asyncio, json, sys
import benchmark_lib
from benchmark_lib import Experiment, load_results, tables
from benchmark_lib.reports.site import build_site
def play(seed, name):
    return Experiment(f"scripted:{name}", trials=1, seed=seed, out=f"{name}.deskbench", progress=False).run()
runs = [asyncio.run(play(seed, name)) for seed, name in enumerate(sys.argv[1:])]
results = load_results(*(run.path for run in runs))
board = tables.leaderboard(results)
build_site(results, "site")
print(json.dumps({"from": benchmark_lib.__file__, "board": board["entry"].tolist()}))
"""


def success_of(results):
    frame = results.conversations.query("trial == 1").set_index(["model", "case_id"])
    return frame["success"].astype(object).where(frame["success"].notna(), None).to_dict()


def test_a_copy_without_extras_has_the_same_success_a_board_and_a_page(five_agents, tmp_path):
    package = tmp_path / "benchmark_lib"
    shutil.copytree(ROOT / "benchmark_lib", package, ignore=shutil.ignore_patterns("extras", "__pycache__"))
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    made = subprocess.run(
        [sys.executable, "-c", PLAY, *AGENTS], cwd=tmp_path, capture_output=True, text=True, timeout=280
    )
    assert made.returncode == 0, made.stderr[-2000:]
    told = json.loads(made.stdout.splitlines()[-1])
    assert Path(told["from"]) == package / "__init__.py"
    assert sorted(told["board"]) == sorted(f"scripted:{name}" for name in AGENTS)
    front = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "scripted:oracle" in front
    played = load_results(*(tmp_path / f"{name}.deskbench" for name in AGENTS))
    alone = success_of(played)
    assert played.conversations["phantom_action"].isna().all()
    assert len(alone) == 162 * len(AGENTS) and {True, False} <= set(alone.values())
    whole = {key: value for key, value in success_of(five_agents).items() if key in alone}
    assert five_agents.conversations["phantom_action"].notna().any() and whole == alone
