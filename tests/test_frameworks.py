"""Agents of other frameworks sit at the desk unchanged, each in an environment of its own, against a local endpoint."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmark_lib.analysis.frames import load_results
from benchmark_lib.cli import main

HERE = Path(__file__).resolve().parent
AGENTS = {
    "openai-agents": "notebooks.own_agents.openai_agents_sdk:SdkAgent",
    "langgraph langchain-openai": "notebooks.own_agents.langgraph_agent:GraphAgent",
    "pydantic-ai-slim[openai]": "notebooks.own_agents.pydantic_ai_agent:PydanticAgent",
    "inspect-ai": "inspect:solvers:plain",
}
"""What is installed, and the agent it runs."""
SOLVERS = """
from inspect_ai.solver import solver

@solver
def plain():
    async def solve(state, generate):
        return await generate(state)
    return solve
"""
PLAY = """
import os, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from run_server import RunServer
from benchmark_lib.cli import main
with RunServer() as server:
    os.environ.update(
        OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="none", DESK_MODEL="m",
        INSPECT_EVAL_MODEL="openai-api/desk/m", DESK_BASE_URL=server.base_url, DESK_API_KEY="none",
    )
    sys.exit(main(["run", "theirs", "--agent", sys.argv[3], "--cases", "tracking_1", "--trials", "1", "--out", sys.argv[4]]))
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("requirements", AGENTS)
def test_an_agent_of_another_framework_plays_a_conversation(requirements, tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    if subprocess.run([str(python), "-m", "pip", "install", "-q", *requirements.split()]).returncode:
        pytest.skip(f"{requirements} cannot be installed here")
    site = next((tmp_path / "venv").glob("lib/*/site-packages"))
    ours = [place for place in sys.path if place.endswith("site-packages")]
    (site / "zz_ours.pth").write_text("\n".join([str(HERE.parent), *ours]))
    (tmp_path / "solvers.py").write_text(SOLVERS)
    run = tmp_path / "run.deskbench"
    command = [str(python), "-c", PLAY, str(HERE), str(tmp_path), AGENTS[requirements], str(run)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    results = load_results(run)
    row = results.conversations.iloc[0]
    assert row["agent_messages"] >= 2 and row["ended_by"] not in ("agent_fault", "infrastructure_fault")
    assert set(results.tool_calls["name"]) == {"search_knowledge_base"}
    assert "looking into it" in results.messages.query("side == 'agent'")["text"].iloc[0]


def test_inspect_that_is_not_installed_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.util", None)
    code = main(
        ["run", "x", "--agent", "inspect:benchmark_lib.cli:main", "--cases", "tracking_1", "--out", str(tmp_path / "r")]
    )
    assert code == 2
    assert "pip install inspect-ai" in capsys.readouterr().err
