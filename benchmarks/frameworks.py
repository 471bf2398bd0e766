"""What agents of three frameworks cost at our desk, compared with a model that our own client calls.

The model itself is a scripted endpoint. ``python benchmarks/frameworks.py`` plays the same conversations with the agents from
``notebooks/own_agents``, each in its own environment (``benchmarks/.rivals``), and prints the table of ``frameworks.md``. CPU time
is that of the run's process, without the endpoint. Conversations are played one after another, and a run's cost before the first
one is subtracted. Every row is measured twice, in turn, and the smaller figure counts.
"""

import asyncio
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import rivals

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "notebooks.own_agents."
AGENTS = {
    "our own client": ((), None),
    "OpenAI Agents SDK": (("openai-agents",), f"{FOLDER}openai_agents_sdk:SdkAgent"),
    "LangGraph": (("langgraph", "langchain-openai"), f"{FOLDER}langgraph_agent:GraphAgent"),
    "pydantic-ai": (("pydantic-ai-slim[openai]",), f"{FOLDER}pydantic_ai_agent:PydanticAgent"),
}
"""By name, what is installed and the agent that plays; None for the model itself."""
CASES, TRIALS, IN_TURN = "tracking_*", 5, 2


def timed(cls: type, spent: list[float]) -> None:
    """Make an agent's class add the CPU seconds of its replies to a list."""
    reply = cls.reply

    async def with_clock(self, talk):
        started = time.process_time()
        try:
            return await reply(self, talk)
        finally:
            spent.append(time.process_time() - started)

    cls.reply = with_clock


def play(path: str, package: str) -> dict[str, float | str]:
    """Return one agent's CPU milliseconds per conversation, in this process."""
    from benchmark_lib import Experiment, load_results

    spent: list[float] = []
    if path:
        module, name = path.split(":")
        timed(getattr(importlib.import_module(module), name), spent)
    options = {"agent": path} if path else {"base_url": os.environ["OPENAI_BASE_URL"]}
    options |= {"concurrency": 1, "progress": False}

    async def run(trials: int, out: Path) -> float:
        spent.clear()
        started = time.process_time()
        await Experiment("some-model", cases=CASES, trials=trials, out=out, **options).run()
        return time.process_time() - started

    async def few_and_many(folder: Path) -> float:
        """Play on one event loop, since a LangChain client keeps its connections."""
        await run(1, folder / "first.deskbench")
        few = await run(1, folder / "few.deskbench")
        return await run(TRIALS, folder / "many.deskbench") - few

    with tempfile.TemporaryDirectory() as folder:
        further = asyncio.run(few_and_many(Path(folder)))
        played = load_results(Path(folder) / "many.deskbench").conversations
    return {
        "version": version(package) if package else "",
        "conversations": len(played),
        "replies": int(played["agent_messages"].sum()),
        "whole": 1e3 * further / (len(played) * (TRIALS - 1) / TRIALS),
        "agent": 1e3 * sum(spent) / len(played),
    }


def measured(name: str, url: str) -> dict[str, float | str]:
    """Measure one agent in a process with its own environment."""
    requirements, path = AGENTS[name]
    python = rivals.python_of(name.replace(" ", "-"), *requirements) if requirements else sys.executable
    ours = [str(ROOT), *(place for place in sys.path if place.endswith("site-packages"))]
    environment = os.environ | {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "DESK_MODEL": "some-model"}
    package = requirements[0].partition("[")[0] if requirements else ""
    line = [python, __file__, path or "", package, *ours]
    said = subprocess.run(line, capture_output=True, text=True, check=True, env=environment, cwd=ROOT).stdout
    return json.loads(said.splitlines()[-1])


def main() -> None:
    """Measure every agent in turn and print the table."""
    from run_engine import endpoint

    with endpoint(0.0) as (url, _):
        rounds = [{name: measured(name, url) for name in AGENTS} for _ in range(IN_TURN)]
    best = {name: min((one[name] for one in rounds), key=lambda row: row["whole"]) for name in AGENTS}
    base = best["our own client"]["whole"]
    print(
        "| the agent | version | conversations | replies | CPU ms each | of it the framework's replies | the rest: desk, customer, score, file "
        "| against our own client |\n|---|---|---|---|---|---|---|---|"
    )
    for name, row in best.items():
        agent = f"{row['agent']:.1f} | {row['whole'] - row['agent']:.1f}" if row["agent"] else "| "
        print(
            f"| {name} | {row['version']} | {row['conversations']} | {row['replies']} | {row['whole']:.1f} | {agent} | {row['whole'] / base:.1f} |"
        )
    print(f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it ended")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.path += sys.argv[3:]
        print(json.dumps(play(sys.argv[1], sys.argv[2])))
    else:
        main()
