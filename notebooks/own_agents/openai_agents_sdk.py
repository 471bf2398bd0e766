"""Connect an agent built with the OpenAI Agents SDK to the desk: ``pip install openai-agents``.

``deskbench run agents-sdk --agent notebooks.own_agents.openai_agents_sdk:SdkAgent`` reads the model's name from
``DESK_MODEL`` and the endpoint, as the SDK itself does, from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``.
"""

import json
import os

from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI

from benchmark_lib.records import Usage

set_tracing_disabled(True)


def tools_of(talk):
    """Return the desk's tools as SDK tools."""

    def made(schema):
        async def invoke(context, arguments):
            return json.dumps((await talk.call_aside(schema["name"], arguments)).result)

        return FunctionTool(
            schema["name"], schema["description"], schema["parameters"], invoke, strict_json_schema=False
        )

    return [made(tool["function"]) for tool in talk.tools]


class SdkAgent:
    """Play one conversation and keep the SDK's history from reply to reply."""

    def __init__(self):
        self.history = []

    async def reply(self, talk):
        """Return the final output of one run of the SDK."""
        model = OpenAIChatCompletionsModel(os.environ["DESK_MODEL"], AsyncOpenAI())
        agent = Agent("desk", instructions=talk.prompt, tools=tools_of(talk), model=model)
        said = {"role": "user", "content": talk.last("customer").text}
        result = await Runner.run(agent, [*self.history, said], max_turns=20)
        self.history = result.to_input_list()
        used = result.context_wrapper.usage
        talk.charge(Usage(used.input_tokens, used.output_tokens, calls=used.requests))
        return result.final_output
