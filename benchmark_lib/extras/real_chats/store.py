"""A folder of real chats as a store: its cases, each with its desk, agents and customers."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import orjson

from ...cases import Case
from ...cases.load import every_case
from ...errors import BadInput
from ...project import DATA, slug
from ...records import Conversation, ToolCall, content_hash
from ...store.desk import Desk
from ...store.kinds import ForeignStore
from ...textfiles import front_matter, read_yaml, render
from . import speakers
from .acts import HAND_OVER, SEND_REPLY, Vocabulary, read_procedures
from .chat import entered, read_written
from .decisions import NOT_ON_RECORD, ON, Decision, answer_to, chat_score, decisions

PREFIX, KIND = "chats:", "chats"
MESSAGES_ON = 8
"""Maximum number of the customer's messages after the decision, if the customer goes on."""
PLAY_ON = "play-on"
"""Name of the cases in which the customer goes on."""
STORE, CHATS, ACTS, PROCEDURES = "store.yaml", "chats.jsonl", "acts.yaml", "procedures.yaml"
PROMPT = Path(__file__).with_name("agent.md")


class ChatDesk(Desk):
    """The desk of one decision; for acts that the human also made, it answers from the record."""

    __slots__ = ("_decision", "_left")

    def __init__(self, store: Any, decision: Decision):
        super().__init__(store)
        self._decision = decision
        self._left = {n: list(e.acts) for n, e in enumerate(decision.before, 1)}

    def call(self, name: str, arguments: dict[str, Any] | str, side: str = "agent") -> ToolCall:
        """Record a call; if the human made it in the same exchange, answer from the record."""
        known, given = self._decision.known, arguments
        write = known.kind(known.by_tool.get(name, "")) != "read"
        call = ToolCall(self.turn, len(self.calls), name, arguments, None, None, write)
        self.calls.append(call)
        tools = [*known.by_tool, HAND_OVER, *([SEND_REPLY] if known.replies else [])]
        with suppress(orjson.JSONDecodeError):
            given = orjson.loads(arguments or "{}") if isinstance(arguments, str) else arguments
        if name not in tools:
            self._fail(call, "unknown_tool", f"There is no tool named {name!r}; the tools are {', '.join(tools)}.")
        elif not isinstance(given, dict):
            self._fail(call, "bad_json", f"The arguments of {name} must be one JSON object.")
        else:
            call.arguments, call.result = given, self._answer(name, given, write)
            if name == SEND_REPLY and call.result["sent"] is None:
                self._fail(call, "bad_arguments", "There is no such reply: name one from the list of replies.")
            if name == HAND_OVER and self.turn >= self._decision.turn:
                self.over = "handed_over"
        return call

    def _answer(self, name: str, given: dict[str, Any], write: bool) -> Any:
        known, left = self._decision.known, self._left.get(self.turn, [])
        calls = ((did, *known.call(did)) for did in left)
        same = (did for did, tool, values in calls if tool == name and entered(values) == entered(given))
        did = next(same, None)
        if did is not None:
            left.remove(did)
        if name == SEND_REPLY:
            return {"sent": known.replies.get(str(given.get("reply")))}
        if did is not None:
            return answer_to(did)
        return {"status": "done"} if write else dict(NOT_ON_RECORD)

    def explained(self) -> bool:
        """Return True, because agents see only copies and the desk has nothing to change."""
        return True


class ChatStore(ForeignStore):
    """A folder that ``deskbench import-chats`` wrote, as the core loads, plays and scores it.

    A missing or broken folder is refused on first use, so that a run on it can be listed without it.
    """

    graded = "by the acts of its own agents"
    scripted = speakers.SCRIPTED

    def __init__(self, path: Path, name: str = ""):
        given: Any = None
        with suppress(BadInput):
            given = read_yaml(path / STORE)
        self._usable = isinstance(given, dict) and {"name", "title", "version"} <= given.keys()
        info = given if self._usable else {"name": name or str(path)}
        super().__init__(str(info["name"]), str(info.get("title")), path, KIND)
        self.version, self.folders = str(info.get("version")), (path,)
        self.domain = self.name.removeprefix(PREFIX)

    def opened(self) -> ChatStore:
        """Return the store; raise `BadInput` if its folder is missing or broken."""
        if not self._usable:
            mend = "give its folder with --store, or import the chats again"
            raise BadInput(f"there is no store {self.name[:80]!r} of real chats with a title and version: {mend}")
        return self

    @cached_property
    def known(self) -> Vocabulary:
        """Return the acts of the desk."""
        return Vocabulary.read(self.path / ACTS)

    @cached_property
    def decisions(self) -> dict[str, Decision]:
        """Return the decisions by the id of their case."""
        file = self.path / PROCEDURES
        charts = read_procedures(file if file.is_file() else None, self.known, "")
        chats = read_written(self.path / CHATS)
        every = (one for chat in chats for one in decisions(chat, self.known, charts.get(chat.procedure)))
        return {f"{one.chat.name}_{one.turn}": one for one in every}

    def decision(self, case: Any) -> Decision:
        """Return the decision of a case."""
        return self.decisions[case.id.removesuffix(ON)]

    def cases(self) -> tuple[Case, ...]:
        """Return each decision as two cases; in the second, the customer goes on afterwards."""
        acts = defaultdict[str | None, set[str]](set)
        chats = {one.chat.id: one.chat for one in self.decisions.values()}
        for chat in chats.values():
            acts[chat.about.get("topic")] |= {did.name for did in chat.acts}
        plain, every = {name: chat.plain for name, chat in chats.items()}, self.decisions.items()
        return tuple(
            self._case(f"{name}{on}", one, plain[one.chat.id], acts[one.chat.about.get("topic")])
            for on in ("", ON)
            for name, one in every
        )

    def _case(self, name: str, one: Decision, plain: dict[str, Any], acts: set[str]) -> Case:
        empty: dict[str, Any] = dict.fromkeys(("order", "customer_id", "sender", "sender_name", "persona"), "")
        empty |= dict.fromkeys(("claim", "tone", "hardness", "email")) | {"pressure": [], "outcomes": []}
        topic, chart = one.chat.about.get("topic") or self.domain, one.procedure
        # The bucket follows the procedure where it names a next act, and otherwise the human.
        hands = one.hands(one.written) if one.written else one.handed_over
        nodes, briefing = acts | (chart.nodes if chart else set()), list[str]()
        replies = [f"- {name}: {' '.join(text.split())}" for name, text in self.known.replies.items() if name in nodes]
        if chart and chart.text:
            briefing.append(f"### Procedure: {chart.title}\n{chart.text}")
        if replies:
            briefing.append("\n".join(["### Replies", *replies]))
        return Case.model_construct(
            id=name,
            intent=slug(topic),
            bucket="must_escalate" if hands else "resolvable",
            title=f"{topic.replace('_', ' ')}, chat {one.chat.id}, exchange {one.turn}",
            goal=one.before[0].customer,
            limit=one.turn + (MESSAGES_ON if name.endswith(ON) else 0),
            briefing="\n\n".join(briefing),
            world={"chat": plain, "turn": one.turn, "weak": one.weak},
            **empty,
        )

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
        files = (self.path / name for name in (ACTS, PROCEDURES, STORE))
        return content_hash(b"\0".join(file.read_bytes() for file in files if file.is_file()))

    def choose(self, pattern: str) -> list[Case]:
        """Return the cases that a pattern names.

        It is ``all``, or ids of cases or chats, topics or buckets, with wildcards, separated by commas. With
        ``play-on``, the customer goes on after the decision.
        """
        parts = [part.strip() for part in pattern.split(",")]
        cases = [case for case in every_case(self) if case.id.endswith(ON) == (PLAY_ON in parts)]
        kept: set[str] = set()
        for part in [part for part in parts if part != PLAY_ON] or ["all"]:
            hits = {case.id for case in cases for name in self._names(case) if fnmatchcase(name, part)}
            if not hits:
                topics = ", ".join(sorted({case.intent for case in cases})[:8])
                raise BadInput(f"{self.name} has no case {part[:80]!r}: name one, a topic ({topics}) or all")
            kept |= hits
        return [case for case in cases if case.id in kept]

    def _names(self, case: Case) -> tuple[str, ...]:
        return "all", case.id, case.id.removesuffix(ON), case.intent, case.bucket, self.decision(case).chat.name

    def agent(self, spec: str, case: Case) -> Any:
        """Return a scripted agent that takes over the chat."""
        name = spec.removeprefix("scripted:")
        if name not in self.scripted:
            known = ", ".join(f"scripted:{known}" for known in self.scripted)
            raise BadInput(f"{spec} plays only our own cases: for {self.name}, name {known} or a model")
        return self.resumed(speakers.ChatAgent(name, self.decision(case), self._commonest), case)

    @cached_property
    def _commonest(self) -> str:
        made = Counter(did.name for one in self.decisions.values() for did in one.human)
        return made.most_common(1)[0][0] if made else ""

    def resumed(self, agent: Any, case: Case) -> Any:
        """Return an agent that repeats the chat up to the cut and then lets `agent` take over."""
        return speakers.Resumed(agent, self.decision(case))

    def customer(self, spec: str, case: Case, complete: Any) -> Any:
        """Return the customer of a case."""
        return speakers.ChatCustomer(self.decision(case), None if spec == "scripted" else complete)

    def customer_prompt(self, case: Case) -> str:
        """Return the system prompt of the model that continues as the customer."""
        return speakers.ChatCustomer(self.decision(case)).prompt

    def score(self, conversation: Conversation, case: Case) -> dict[str, Any]:
        """Return the score of one conversation."""
        return chat_score(conversation, case, self.decision(case))


def named(name: str) -> ChatStore:
    """Return the store of this name, or in this folder."""
    domain, folders = name.removeprefix(PREFIX), (DATA / "stores", Path("data") / "stores")
    places = [Path(name)] if domain == name else [folder / f"chats-{domain}" for folder in folders]
    place = next((place for place in places if (place / STORE).is_file()), None)
    return _opened(place.resolve()) if place else ChatStore(places[0], name)


_opened = lru_cache(maxsize=8)(ChatStore)
