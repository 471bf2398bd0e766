"""A folder of real chats as a store: its cases, each with its desk, agents and customers."""

from __future__ import annotations

import fnmatch
import os
from collections import Counter, defaultdict
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import orjson

from ...cases import Case
from ...errors import BadInput
from ...project import DATA, slug
from ...records import Conversation, ToolCall, content_hash
from ...store.desk import Desk
from ...store.foreign import ForeignStore
from ...textfiles import front_matter, read_yaml, render
from . import speakers
from .chat import Did, RealChat, read_written
from .decisions import NOT_ON_RECORD, ON, Decision, answer_to, chat_score, decisions, folded
from .procedures import Procedure, read_procedures
from .vocabulary import HAND_OVER, SEND_REPLY, Vocabulary

PREFIX, KIND = "chats:", "chats"
MESSAGES_ON = 8
"""Maximum number of the customer's messages after the decision, if the customer goes on."""
PLAY_ON = "play-on"
"""Name of the cases in which the customer goes on."""
CHATS, ACTS, PROCEDURES = "chats.jsonl", "acts.yaml", "procedures.yaml"
PROMPT = Path(__file__).with_name("agent.md")


class ChatDesk(Desk):
    """The desk of one decision; for acts that the human also made, it answers from the record."""

    __slots__ = ("_decision", "_left", "sent")

    def __init__(self, store: Any, decision: Decision):
        super().__init__(store)
        self._decision = decision
        self._left: dict[int, list[Did]] = {n: list(e.acts) for n, e in enumerate(decision.before, 1)}
        self.sent: str | None = None

    def call(self, name: str, arguments: dict[str, Any] | str, side: str = "agent") -> ToolCall:
        """Record a call; if the human made it in the same exchange, answer from the record."""
        known = self._decision.known
        write = not known.is_kind(known.by_tool.get(name, ""), "read")
        call = ToolCall(self.turn, len(self.calls), name, arguments, None, None, write)
        self.calls.append(call)
        tools = {*known.by_tool, HAND_OVER, *([SEND_REPLY] if known.replies else [])}
        if isinstance(arguments, str):
            try:
                arguments = orjson.loads(arguments or "{}")
            except orjson.JSONDecodeError:
                arguments = ""
        if name not in tools:
            self._fail(call, "unknown_tool", f"There is no tool named {name!r}; the tools are {', '.join(tools)}.")
        elif not isinstance(arguments, dict):
            self._fail(call, "bad_json", f"The arguments of {name} must be one JSON object.")
        else:
            call.arguments = arguments
            self._answer(call)
        return call

    def _answer(self, call: ToolCall) -> None:
        left = self._left.get(self.turn, [])
        asked = call.name, _compared(call.named)
        named = ((did, *self._decision.known.call(did)) for did in left)
        did = next((did for did, name, values in named if (name, _compared(values)) == asked), None)
        if did is not None:
            left.remove(did)
            call.result = answer_to(did)
        if call.name == SEND_REPLY:
            reply = self._decision.known.replies.get(str(call.named.get("reply")))
            if reply is None:
                self._fail(call, "bad_arguments", "There is no such reply: name one from the list of replies.")
            else:
                self.sent, call.result = reply, {"sent": reply}
        elif did is None:
            call.result = {"status": "done"} if call.write else dict(NOT_ON_RECORD)
        if call.name == HAND_OVER and self.turn >= self._decision.turn:
            self.over = "handed_over"

    def changes(self) -> list[dict[str, Any]]:
        """Return no changes, because a real chat has no rows."""
        return []

    def explained(self) -> bool:
        """Return True, because agents see only copies and the desk has nothing to change."""
        return True


def _compared(values: dict[str, Any]) -> dict[str, str]:
    return {name: text for name, value in values.items() if (text := folded(value))}


class ChatStore(ForeignStore):
    """A folder that ``deskbench import-chats`` wrote, with the interface of a store."""

    graded = "by the acts of its own agents"

    def __init__(self, path: Path):
        info = read_yaml(path / "store.yaml")
        if not isinstance(info, dict) or not {"name", "title", "version"} <= info.keys():
            raise BadInput(f"{path / 'store.yaml'} lacks name, title or version: import the chats again")
        super().__init__(str(info["name"]), str(info["title"]), str(info["version"]), path, KIND)
        self.domain, self.folders = self.name.removeprefix(PREFIX), (path,)
        self.foreign = RealChats(self.name, self)

    @cached_property
    def known(self) -> Vocabulary:
        """Return the acts of the desk."""
        return Vocabulary.read(self.path / ACTS)

    @cached_property
    def procedures(self) -> dict[str, Procedure]:
        """Return the written procedures by name."""
        file = self.path / PROCEDURES
        return read_procedures(file if file.is_file() else None, self.known, "")

    @cached_property
    def chats(self) -> list[RealChat]:
        """Return the chats."""
        return read_written(self.path / CHATS)

    @cached_property
    def decisions(self) -> dict[str, Decision]:
        """Return the decisions by the id of their case."""
        every = (one for chat in self.chats for one in decisions(chat, self.known, self.procedures.get(chat.procedure)))
        return {f"{one.chat.name}_{one.turn}": one for one in every}

    def decision(self, case: Any) -> Decision:
        """Return the decision of a case."""
        return self.decisions[case.id.removesuffix(ON)]

    @cached_property
    def commonest(self) -> str:
        """Return the act that the human agents made most often."""
        made = Counter(did.name for one in self.decisions.values() for did in one.human)
        return made.most_common(1)[0][0] if made else ""

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Return each decision as two cases; in the second, the customer goes on afterwards."""
        plain = {chat.id: chat.plain for chat in self.chats}
        every = self.decisions.items()
        return tuple(self._case(name, one, on, plain[one.chat.id]) for on in ("", ON) for name, one in every)

    def _case(self, name: str, one: Decision, on: str, plain: dict[str, Any]) -> Case:
        none: dict[str, Any] = dict.fromkeys(("claim", "tone", "hardness", "email"))
        empty: dict[str, Any] = dict.fromkeys(("order", "customer_id", "sender", "sender_name", "persona"), "")
        topic = one.chat.about.get("topic") or self.domain
        return Case.model_construct(
            id=f"{name}{on}",
            intent=slug(topic),
            bucket=one.bucket,
            title=f"{topic.replace('_', ' ')}, chat {one.chat.id}, exchange {one.turn}",
            **none,
            **empty,
            goal=one.before[0].customer,
            pressure=[],
            outcomes=[],
            limit=one.turn + (MESSAGES_ON if on else 0),
            briefing=self._briefing(one),
            world={"chat": plain, "turn": one.turn, "weak": one.weak},
        )

    @cached_property
    def _acts_by_topic(self) -> dict[str | None, set[str]]:
        acts: dict[str | None, set[str]] = defaultdict(set)
        for chat in self.chats:
            acts[chat.about.get("topic")] |= {did.name for did in chat.acts}
        return acts

    def _briefing(self, one: Decision) -> str:
        known, procedure = one.known, one.procedure
        nodes = (procedure.nodes if procedure else set()) | self._acts_by_topic[one.chat.about.get("topic")]
        replies = [f"- {name}: {' '.join(text.split())}" for name, text in known.replies.items() if name in nodes]
        parts = [f"### Procedure: {procedure.title}\n{procedure.text}"] if procedure and procedure.text else []
        parts += ["### Replies\n" + "\n".join(replies)] if replies else []
        return "\n\n".join(parts)

    def desk(self, tools: Any = None, *, case: Any = None, **staged: Any) -> ChatDesk:
        """Return the desk of a case."""
        return ChatDesk(self, self.decision(case))

    def schemas(self, tools: Any = None) -> list[dict[str, Any]]:
        """Return the agent's tools as OpenAI function schemas."""
        return self.known.schemas()

    def prompt(self, path: Path | None = None) -> tuple[str, str]:
        """Return the agent's prompt, or the one in the file `path`, with its version."""
        head, text = front_matter(path or PROMPT)
        filled = render(text, str(path or PROMPT), store=self.info, replies=bool(self.known.replies))
        return filled.strip(), str(head.get("version", (path or PROMPT).stem))

    @cached_property
    def hash(self) -> str:
        """Return the content hash of acts and procedures; each chat is hashed with its case."""
        names = (ACTS, PROCEDURES, "store.yaml")
        return content_hash(b"\0".join((self.path / n).read_bytes() for n in names if (self.path / n).is_file()))


class RealChats:
    """The chats of a store, given by name or folder, as the core plays and scores them.

    The store is opened on first use, so that a run can be listed even if its store is missing.
    """

    scripted = speakers.SCRIPTED
    floor = None

    def __init__(self, name: str, store: ChatStore | None = None):
        self._name, self._store = name, store

    @property
    def domain(self) -> str:
        """Return the name without its prefix, or the name in the store itself once it is open."""
        return self._store.domain if self._store else self._name.removeprefix(PREFIX)

    @property
    def store(self) -> ChatStore:
        """Return the folder as a store; raise `BadInput` if there is no store of this name."""
        places = [Path(self._name)]
        if self._name.startswith(PREFIX):
            places = [place / f"chats-{self.domain}" for place in (DATA / "stores", Path("data") / "stores")]
        for place in places if self._store is None else ():
            if os.path.isfile(place / "store.yaml"):
                self._store = _opened(place.resolve())
                break
        if self._store is None:
            raise BadInput(f"there is no store {self._name[:80]!r} of real chats: give its folder with --store")
        return self._store

    def cases(self) -> tuple[Case, ...]:
        """Return every decision as a case."""
        return self.store.cases

    def choose(self, pattern: str) -> list[Case]:
        """Return the cases that a pattern names.

        Parameters
        ----------
        pattern : str
            ``all``, or parts separated by commas: ids of cases or chats, or topics, with wildcards. ``play-on`` gives
            the cases in which the customer goes on after the decision.
        """
        parts = [part.strip() for part in pattern.split(",")]
        cases = [case for case in self.store.cases if case.id.endswith(ON) == (PLAY_ON in parts)]
        kept: set[str] = set()
        for part in [part for part in parts if part != PLAY_ON] or ["all"]:
            hits = {case.id for case in cases if part == "all" or _is_named(case, part)}
            if not hits:
                topics = ", ".join(sorted({case.intent for case in cases})[:8])
                raise BadInput(f"{self.store.name} has no case {part[:80]!r}: name one, a topic ({topics}) or all")
            kept |= hits
        return [case for case in cases if case.id in kept]

    def agent(self, spec: str, case: Case) -> Any:
        """Return a scripted agent that takes over the chat."""
        name = spec.removeprefix("scripted:")
        if name not in self.scripted:
            known = ", ".join(f"scripted:{known}" for known in self.scripted)
            raise BadInput(f"{spec} plays only our own cases: for {self.store.name}, name {known} or a model")
        return self.resumed(speakers.ChatAgent(name, self.store.decision(case), self.store.commonest), case)

    def resumed(self, agent: Any, case: Case) -> Any:
        """Return an agent that repeats the chat up to the cut and then lets `agent` take over."""
        return speakers.Resumed(agent, self.store.decision(case))

    def customer(self, spec: str, case: Case, complete: Any) -> Any:
        """Return the customer of a case."""
        one = self.store.decision(case)
        return speakers.ChatCustomer(one) if spec == "scripted" else speakers.ChatModelCustomer(one, complete)

    def customer_prompt(self, case: Case) -> str:
        """Return the system prompt of the model that continues as the customer."""
        return speakers.customer_prompt(self.store.decision(case))

    def score(self, conversation: Conversation, case: Case) -> dict[str, Any]:
        """Return the score of one conversation."""
        return chat_score(conversation, case, self.store.decision(case))

    def summary(self, share: str, scores: list[dict[str, Any]]) -> str:
        """Describe a run: how many decisions are right, and how many equal the human's."""
        right = [bool(s["success"]) for s in scores if s.get("scored")]
        equal = [p["human_acts"] for s in scores if (p := s.get("decision")) and p["human_acts"] is not None]
        both = f"{sum(right)} of {len(right)} decisions right; {sum(equal)} of {len(equal)} with the human's acts"
        return f"{self.domain}, {both}"


def _is_named(case: Case, part: str) -> bool:
    bare = case.id.removesuffix(ON)
    names = (case.id, bare, bare.rpartition("_")[0], case.intent)
    return any(name == part or fnmatch.fnmatchcase(name, part) for name in names)


_opened = lru_cache(maxsize=8)(ChatStore)
