"""Connect a LangGraph agent to the desk: ``pip install langgraph langchain-openai``.

``deskbench run langgraph --agent notebooks.own_agents.langgraph_agent:GraphAgent`` reads the model's name from
``DESK_MODEL`` and the endpoint from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``.
"""

import json
import os

from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

from benchmark_lib.records import Usage


def tools_of(talk):
    """Return the desk's tools as LangChain tools."""

    def made(schema):
        async def invoke(**arguments):
            return json.dumps((await talk.call_aside(schema["name"], arguments)).result)

        return StructuredTool(
            name=schema["name"], description=schema["description"], args_schema=schema["parameters"], coroutine=invoke
        )

    return [made(tool["function"]) for tool in talk.tools]


class GraphAgent:
    """Play one conversation and keep the graph's messages from reply to reply."""

    def __init__(self):
        self.messages = []

    async def reply(self, talk):
        """Return the last message of one run of the graph."""
        graph = create_react_agent(ChatOpenAI(model=os.environ["DESK_MODEL"]), tools_of(talk), prompt=talk.prompt)
        known = len(self.messages) + 1
        self.messages.append(HumanMessage(talk.last("customer").text))
        self.messages = (await graph.ainvoke({"messages": self.messages}, {"recursion_limit": 41}))["messages"]
        for message in self.messages[known:]:
            if used := getattr(message, "usage_metadata", None):
                talk.charge(Usage(used["input_tokens"], used["output_tokens"], calls=1))
        return self.messages[-1].text
