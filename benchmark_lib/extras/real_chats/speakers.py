"""Speakers of a decision: the recorded chat up to the cut, and whoever continues after it."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Any

import orjson

from ...conversation.agent_view import AgentView
from ...conversation.model_agent import ModelAgent, Spoken
from ...conversation.speaker import BuiltIn, ConversationState, CustomerFault, Reply, Speaker, reply_of
from ...endpoint import Completion
from ...records import Act, Usage
from ...textfiles import front_matter, render
from .acts import HAND_OVER, SEND_REPLY
from .chat import OPENED, Did, folded
from .decisions import Decision, record_of

SCRIPTED = ("oracle", "no_op", "human", "procedure", "commonest", "first_suggestion")
WAITS, ENDS = "Thank you, one moment, please.", "Is there anything else I can do for you?"
THANKS, NOTHING_MORE = "Thank you, that is all.", "I have nothing to add to that."
PROMPT = Path(__file__).with_name("customer.md")
ALIKE = 0.2
"""Minimum overlap of an agent's message with a human's, so that the customer's answer to the human fits."""
LEFT = {"[CONTENT]": "content", "[NOT SERVED]": "unserved"}
"""Words by which a model customer ends the conversation, each with the ending."""


class Resumed(BuiltIn):
    """An agent that takes over a chat: recorded exchanges first, then the live agent.

    `history` has the messages that a model reads, those of the chat included.
    """

    def __init__(self, live: Speaker, decision: Decision):
        self._live, self.taken_over, self.history = live, decision.turn, list[dict[str, Any]]()
        self._spoken = Spoken(record_of(decision.chat, decision.known))
        self._replies = decision.known.replies.values()
        if isinstance(live, ModelAgent):
            self._complete, live.complete = live.complete, self._until_sent

    async def reply(self, talk: AgentView) -> Any:
        """Return the recorded reply before the cut, and the live agent's reply after it."""
        self._spoken.history = self.history = self.history or [{"role": "system", "content": talk.prompt}]
        if talk.turn < self.taken_over:
            return await self._spoken.reply(talk)
        if isinstance(self._live, ModelAgent):
            self._live.history = self.history
        return await reply_of(self._live, talk)

    async def _until_sent(self, messages: list[Any], tools: Any = None, **body: Any) -> Completion:
        # A canned reply is the agent's message, so the turn needs no further model call.
        made = takewhile(lambda message: message["role"] == "tool", reversed(messages))
        results = [orjson.loads(message["content"]) for message in made]
        sent = [r["sent"] for r in results if isinstance(r, dict) and r.get("sent") in self._replies]
        if sent:
            return Completion(sent[-1], [], "stop", Usage())
        return await self._complete(messages, tools, **body)

    async def close(self) -> None:
        """Close the live agent."""
        if isinstance(self._live, BuiltIn):
            await self._live.close()


class ChatAgent(BuiltIn):
    """A scripted agent that copies the human, follows the procedure, or sets a floor."""

    def __init__(self, name: str, decision: Decision, commonest: str):
        self._name, self._decision, self._commonest = name, decision, commonest

    async def reply(self, talk: AgentView) -> str:
        """Carry out the acts that this agent's rule prescribes."""
        one, (acts, words) = self._decision, self._next(talk.turn)
        if self._name in ("human", "oracle") and one.weak and one.handed_over and talk.turn == one.turn:
            await talk.call_aside(HAND_OVER, {"reason": "as the human did"})
        for did in acts:
            call = await talk.call_aside(*one.known.call(did))
            if call.name == SEND_REPLY and isinstance(call.result, dict):
                words = call.result.get("sent", words)
        return words

    def _next(self, turn: int) -> tuple[list[Did], str]:
        one, known, whole = self._decision, self._decision.known.acts, self._decision.chat.exchanges
        unwritten = not one.written and turn == one.turn
        copies = self._name == "human" or (self._name == "oracle" and unwritten)
        if copies and turn <= len(whole):
            return whole[turn - 1].acts, whole[turn - 1].reply or WAITS
        if turn > one.turn:
            return [], ENDS
        written = next((name for name in one.written if name in known), "")
        suggested = next((did.suggested[0] for did in one.human if did.suggested), "")
        names = {"commonest": self._commonest, "first_suggestion": suggested, "no_op": ""}
        name = names.get(self._name, written)
        theirs = [did for did in one.human if did.name == name] if self._name not in names else []
        return [*theirs, Did(name)][:1] if name in known else [], WAITS


class ChatCustomer:
    """The customer of a chat: recorded words up to the cut, and after it if the case goes on.

    A model continues if there is one; otherwise, the customer gives the recorded answer that fits best.
    """

    def __init__(self, decision: Decision, complete: Any = None):
        self._decision, self._complete, whole = decision, complete, decision.chat.exchanges
        self._answers = [(whole[n - 1].reply, whole[n].customer) for n in range(decision.turn, len(whole))]
        self._puzzled = False

    @property
    def prompt(self) -> str:
        """Return the prompt of the model that continues as the customer."""
        said = [e.customer for e in self._decision.chat.exchanges if e.customer != OPENED]
        content, unserved = LEFT
        words = {"said": said, "content": content, "unserved": unserved}
        return render(front_matter(PROMPT)[1], str(PROMPT), **words).strip()

    async def reply(self, talk: ConversationState) -> Reply:
        """Return the recorded message or, after the cut, the next one."""
        before = self._decision.before
        if talk.turn <= len(before):
            return Reply(before[talk.turn - 1].customer)
        return await self._modelled(talk) if self._complete else self._recorded(talk)

    def _recorded(self, talk: ConversationState) -> Reply:
        said, known = {*folded(talk.words("agent")).split()}, self._decision.known

        def alike(answer: tuple[str, str]) -> float:
            asked = {*folded(answer[0]).split()}
            return len(said & asked) / max(len(said | asked), 1)

        best = max(self._answers, key=alike, default=("", ""))
        if alike(best) >= ALIKE:
            self._answers.remove(best)
            return Reply(best[1])
        if self._answers and not self._puzzled:
            self._puzzled = True
            return Reply(NOTHING_MORE)
        made = {call.name for call in talk.desk.calls}
        writes = [did for did in self._decision.chat.acts if known.kind(did.name) == "write"]
        served = all(known.call(did)[0] in made for did in writes)
        return Reply(THANKS, [Act("left", "content" if served else "unserved")])

    async def _modelled(self, talk: ConversationState) -> Reply:
        roles = {"agent": "user", "customer": "assistant"}
        said = [{"role": roles[m.side], "content": m.text or "(an empty message)"} for m in talk.messages]
        answer = await self._complete([{"role": "system", "content": self.prompt}, *said], None)
        talk.charge("customer", answer.usage)
        text = answer.text or ""
        if not text.strip():
            raise CustomerFault("the customer's model gave no message")
        token = next((token for token in LEFT if token in text), None)
        words = text.replace(token, "").strip() if token else text
        return Reply(words or THANKS, [Act("left", LEFT[token], token)] if token else [])
