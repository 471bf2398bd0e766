"""Agents and customers for tau2 tasks."""

import re
from typing import Any

import orjson

from ...conversation.agent_view import AgentView
from ...conversation.speaker import BuiltIn, ConversationState, CustomerFault, Reply
from ...records import Act

GREETING = "Hi! How can I help you today?"
"""The first line of every tau2 conversation, before any customer message."""
LEAVES = {"###STOP###": "content", "###TRANSFER###": "unserved", "###OUT-OF-SCOPE###": "unserved"}
CALLS_A_MESSAGE, YES_SAID = 30, 6
YOU = re.compile(r"[Yy]ou(?<!\w...)( are|'re|r|)\b")
I_FOR = {" are": "I am", "'re": "I'm", "r": "my", "": "I"}
CONDITION = re.compile(r"\b(?:if|unless|otherwise|only|except|until|when|whether|but)\b", re.IGNORECASE)


class TauOracle(BuiltIn):
    """Makes the expected calls, requests those of the customer, and states the facts."""

    def __init__(self, task: Any):
        self._left = list(task.evaluation_criteria.actions or [])
        self._to_tell = list(task.evaluation_criteria.communicate_info or [])

    async def reply(self, talk: AgentView) -> str:
        """Make all calls up to the customer's next actions, and request these."""
        while self._left and self._left[0].requestor == "assistant":
            action = self._left.pop(0)
            talk.call(action.name, action.arguments)
        wanted = []
        while self._left and self._left[0].requestor == "user":
            wanted.append(self._left.pop(0).name)
        if wanted:
            return f"Please do this on your device: {', '.join(wanted)}."
        return f"Done. {'; '.join(self._to_tell)}".strip()


class TauNoOp(BuiltIn):
    """Says one sentence; the tasks it passes are the floor for every score."""

    async def reply(self, talk: AgentView) -> str:
        """Return one sentence."""
        return "I have read your message."


class TauScriptedCustomer:
    """States the task's instructions, says yes, and uses the tools that the agent names.

    It is too simple for instructions with a condition (see `unconditional`).
    """

    def __init__(self, task: Any, tools: list[dict[str, Any]]):
        self._task, self._said_yes = task, 0
        names = (re.escape(tool["function"]["name"]) for tool in tools)
        # of two names with the same beginning, the longer comes first
        self._tools = re.compile("|".join(sorted(names, reverse=True)) or "$^")
        self._expected = [a for a in task.evaluation_criteria.actions or [] if a.requestor == "user"]

    async def reply(self, talk: ConversationState) -> Reply:
        """Return the next message, and make the calls that the agent named."""
        message = talk.last("agent")
        if message is None:
            return Reply(first_words(self._task))
        named = [n for n in self._tools.findall(message.text) if n]
        if named:
            for name in named:
                talk.desk.call(name, self._arguments(name), side="customer")
            return Reply(f"I did that: {', '.join(named)}.")
        if "?" in message.text and self._said_yes < YES_SAID:
            self._said_yes += 1
            return Reply("Yes, please go ahead.")
        return Reply("Thank you, that is all.", [Act("left", "content")])

    def _arguments(self, name: str) -> dict[str, Any]:
        """Return the arguments expected for this tool's next call, or none."""
        for index, action in enumerate(self._expected):
            if action.name == name:
                return dict(self._expected.pop(index).arguments)
        return {}


class TauModelCustomer:
    """A model with the prompt, greeting and tools of tau2's simulated user."""

    def __init__(self, complete: Any, prompt: str, tools: list[dict[str, Any]]):
        self._complete, self._tools = complete, tools or None
        self._history = [{"role": "system", "content": prompt}, {"role": "user", "content": GREETING}]

    async def reply(self, talk: ConversationState) -> Reply:
        """Return the next message, after the model's tool calls."""
        message = talk.last("agent")
        if message is not None:
            self._history.append({"role": "user", "content": message.text})
        for _ in range(CALLS_A_MESSAGE):
            answer = await self._complete(self._history, self._tools)
            talk.charge("customer", answer.usage)
            if answer.finish_reason == "content_filter":
                raise CustomerFault("the provider's content filter stopped the customer")
            if answer.finish_reason == "length" and not answer.tool_calls:
                raise CustomerFault("the customer's message was cut at the token limit")
            self._history.append(answer.message())
            if not answer.tool_calls:
                return _without_token(answer.text or "")
            for wanted in answer.tool_calls:
                call = talk.desk.call(wanted.name, wanted.arguments, side="customer")
                text = call.result if isinstance(call.result, str) else orjson.dumps(call.result).decode()
                self._history.append({"role": "tool", "tool_call_id": wanted.id, "content": text})
        raise CustomerFault(f"the customer made more than {CALLS_A_MESSAGE} calls without a word")


def unconditional(task: Any) -> bool:
    """Return whether one message can state a task's instructions."""
    return not CONDITION.search(" ".join(_instructions(task)))


def first_words(task: Any) -> str:
    """Return the task's instructions as the customer's first message."""
    text = " ".join(part.strip() for part in _instructions(task))
    return YOU.sub(lambda found: I_FOR[found[1]], text)


def _instructions(task: Any) -> list[str]:
    wish = task.user_scenario.instructions
    parts = [wish] if isinstance(wish, str) else [wish.reason_for_call, wish.known_info, wish.task_instructions]
    return [part for part in parts if part]


def _without_token(text: str) -> Reply:
    token = next((t for t in LEAVES if t in text), None)
    words = text.replace(token, "").strip() if token else text
    return Reply(words, [Act("left", LEAVES[token], token)] if token else [])
