"""Connect a pydantic-ai agent to the desk: ``pip install 'pydantic-ai-slim[openai]'``.

``deskbench run pydantic-ai --agent notebooks.own_agents.pydantic_ai_agent:PydanticAgent`` reads the model's name
from ``DESK_MODEL`` and the endpoint from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``.
"""

import os

from pydantic_ai import Agent, Tool
from pydantic_ai.models.openai import OpenAIChatModel

from benchmark_lib.records import Usage


def tools_of(talk):
    """Return the desk's tools as pydantic-ai tools."""

    def made(schema):
        async def invoke(**arguments):
            return (await talk.call_aside(schema["name"], arguments)).result

        return Tool.from_schema(invoke, schema["name"], schema["description"], schema["parameters"])

    return [made(tool["function"]) for tool in talk.tools]


class PydanticAgent:
    """Play one conversation and keep its messages from reply to reply."""

    def __init__(self):
        self.messages = []

    async def reply(self, talk):
        """Return the output of one run of the agent."""
        agent = Agent(OpenAIChatModel(os.environ["DESK_MODEL"]), instructions=talk.prompt, tools=tools_of(talk))
        result = await agent.run(talk.last("customer").text, message_history=self.messages)
        self.messages = result.all_messages()
        used = result.usage
        talk.charge(Usage(used.input_tokens, used.output_tokens, calls=used.requests))
        return result.output
