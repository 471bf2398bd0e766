"""Scores of conversations about tau2 tasks, by the package's own evaluators."""

from functools import partial
from math import prod
from typing import Any

import orjson

from ...cases import Case
from ...errors import BadInput
from ...records import NOT_SCORED, Conversation, ToolCall
from ...scoring import counts
from ...store.tools import CALL_LIMIT
from .desk import TRANSFER, their_call
from .package import Domain
from .speakers import GREETING

GRADED_ENDINGS = {"resolved_by_customer", "customer_gave_up", "handed_over", "closed_by_agent"}
"""Endings that tau2 grades; any other ending has reward 0, as in tau2."""


def tau_score(c: Conversation, case: Case, task: Any, package: Domain) -> dict[str, Any]:
    """Score one conversation: reward, its basis, and counts."""
    basis = sorted(one.value for one in task.evaluation_criteria.reward_basis)
    scored = c.ended_by not in NOT_SCORED
    parts = rewards(their_messages(c), task, package) if c.ended_by in GRADED_ENDINGS else dict.fromkeys(basis, 0.0)
    reward = prod(parts.values(), start=1.0)
    handed_over = any(t.name == TRANSFER and t.side == "agent" and not t.error for t in c.tool_calls)
    return {
        "bucket": case.bucket,
        "intent": case.intent,
        "scored": scored,
        "success": reward == 1.0 if scored else None,
        "reward": reward if scored else None,
        "reward_basis": "+".join(basis),
        "reward_parts": parts,
        "handed_over": handed_over if scored else None,
        **counts(c),
    }


def rewards(messages: list[Any], task: Any, package: Domain) -> dict[str, float]:
    """Return the reward for each part of a task's basis, by the package's evaluators.

    Raise `BadInput` if the basis requires a judge, which no base task does.
    """
    from tau2.evaluator.evaluator_action import ActionEvaluator
    from tau2.evaluator.evaluator_communicate import CommunicateEvaluator
    from tau2.evaluator.evaluator_env import EnvironmentEvaluator

    basis = {one.value for one in task.evaluation_criteria.reward_basis}
    if "NL_ASSERTION" in basis:
        raise BadInput(f"task {task.id} is graded by a judge: omit it with --cases not:{task.id}")
    parts: dict[str, float] = {}
    if basis & {"DB", "ENV_ASSERTION"}:
        evaluation = EnvironmentEvaluator.calculate_reward(package.environment, task, messages)
        given = {key.value: value for key, value in (evaluation.reward_breakdown or {}).items()}
        parts |= {one: given.get(one, evaluation.reward) for one in basis & {"DB", "ENV_ASSERTION"}}
    for name, evaluator in (("ACTION", ActionEvaluator), ("COMMUNICATE", CommunicateEvaluator)):
        if name in basis:
            parts[name] = evaluator.calculate_reward(task, messages).reward
    return dict(sorted(parts.items()))


def their_messages(c: Conversation) -> list[Any]:
    """Return a record as tau2's messages, each after its calls."""
    from tau2.data_model.message import AssistantMessage, ToolMessage, UserMessage

    say = {"agent": partial(AssistantMessage, role="assistant"), "customer": partial(UserMessage, role="user")}
    messages: list[Any] = [say["agent"](content=GREETING)]

    def add(call: ToolCall) -> None:
        wanted = their_call(call)
        content = call.result if isinstance(call.result, str) else orjson.dumps(call.result).decode()
        look = {"id": wanted.id, "requestor": wanted.requestor, "error": call.error is not None}
        messages.append(say[call.side](tool_calls=[wanted]))
        messages.append(ToolMessage(role="tool", content=content, **look))

    made = [t for t in c.tool_calls if isinstance(t.arguments, dict) and t.error != CALL_LIMIT]
    for message in c.messages:
        for call in (t for t in made if t.turn == message.turn and t.side == message.side):
            add(call)
        messages.append(say[message.side](content=message.text))
    answered = {(m.turn, m.side) for m in c.messages}
    for call in (t for t in made if (t.turn, t.side) not in answered):
        add(call)
    return messages
