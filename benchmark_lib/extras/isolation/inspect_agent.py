"""A solver or agent of Inspect (https://inspect.aisi.org.uk) as the agent, unchanged.

``--agent inspect:module:name`` names it; Inspect's ``INSPECT_EVAL_MODEL`` names its model. Agents that need a running
evaluation of Inspect, such as its ``react`` agent, do not work here.
"""

import inspect
from functools import partial
from typing import Any

import orjson

from ...conversation.agent_view import AgentView
from ...conversation.model_agent import letter
from ...conversation.speaker import AgentFault
from ...errors import BadInput
from ...records import Usage

PREFIX = "inspect:"
MOST_STEPS = 30
"""Maximum number of the model's answers in one turn, for a solver that uses Inspect's ``generate`` loop."""


class InspectAgent:
    """One conversation of a solver or agent (see `inspect_kind`), created from its factory."""

    def __init__(self, made: Any, kind: str):
        self.made, self.kind = made, kind
        self.messages: list[Any] = []

    async def reply(self, talk: AgentView) -> str:
        """Return the answer to the newest message; the agent keeps its own messages."""
        from inspect_ai.model import ChatMessageSystem, ChatMessageUser

        tools = [_tool(schema["function"], talk) for schema in talk.tools]
        if not self.messages:
            self.messages = [ChatMessageSystem(content=talk.prompt)]
        self.messages.append(ChatMessageUser(content=letter(talk)))
        known = {message.id for message in self.messages}
        state = await (self._solved(talk, tools) if self.kind == "solver" else self._answered(tools))
        self.messages = state.messages
        for message in self.messages:
            if message.role == "assistant" and message.id not in known:
                talk.charge(Usage(calls=1, missing=1))
        return state.output.completion

    async def _solved(self, talk: AgentView, tools: list[Any]) -> Any:
        from inspect_ai.model import ModelName, get_model
        from inspect_ai.solver import TaskState

        model = get_model()
        first = next(m.text for m in talk.messages if m.side == "customer")
        state = TaskState(ModelName(str(model)), talk.id, talk.trial, first, self.messages)
        state.tools = tools
        return await self.made()(state, _generate)

    async def _answered(self, tools: list[Any]) -> Any:
        from inspect_ai.agent import AgentState

        given = {"tools": tools} if "tools" in inspect.signature(self.made).parameters else {}
        return await self.made(**given)(AgentState(messages=self.messages))


async def _generate(state: Any, tool_calls: str = "loop", **settings: Any) -> Any:
    """Stand in for Inspect's ``generate``: by default call the model until it calls no tool."""
    from inspect_ai.model import execute_tools, get_model

    for _ in range(MOST_STEPS):
        state.output = await get_model().generate(state.messages, state.tools, state.tool_choice, **settings)
        state.messages.append(state.output.message)
        if not state.output.message.tool_calls or tool_calls == "none":
            return state
        answered = await execute_tools(state.messages, state.tools)
        state.messages += answered.messages
        if tool_calls == "single":
            return state
    raise AgentFault("too_many_calls", f"more than {MOST_STEPS} answers of the model in one turn")


def _tool(schema: dict[str, Any], talk: AgentView) -> Any:
    from inspect_ai.tool import ToolDef, ToolParams

    async def execute(**arguments: Any) -> str:
        call = await talk.call_aside(schema["name"], arguments)
        return orjson.dumps(call.result).decode()

    parameters = ToolParams(**{"properties": {}, "required": [], **schema["parameters"]})
    return ToolDef(execute, schema["name"], schema["description"], parameters)


def inspect_kind(found: Any, spec: str) -> str:
    """Return ``solver`` or ``agent`` for an object of Inspect.

    Raise `BadInput` if Inspect is not installed or the object is neither.
    """
    try:
        from inspect_ai.util import registry_info
    except ImportError:
        raise BadInput(f"--agent {spec} needs Inspect: install it with `pip install inspect-ai`") from None
    try:
        kind = str(registry_info(found).type)
    except (ValueError, AttributeError, TypeError):
        kind = ""
    if kind not in ("solver", "agent"):
        raise BadInput(
            f"--agent {spec} is neither an Inspect solver nor an Inspect agent: decorate it with @solver or @agent"
        )
    return kind


def made_for(made: Any, spec: str) -> Any:
    """Return the factory of an agent for one conversation, from an Inspect agent or solver."""
    return partial(InspectAgent, made, inspect_kind(made, spec))
