"""A folder of real chats as a store, and the desk of one decision."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from ...cases import Case
from ...errors import BadInput
from ...project import slug
from ...records import ToolCall, content_hash
from ...store.desk import Desk
from ...store.foreign import ForeignStore
from ...textfiles import front_matter, read_text, read_yaml, render
from .chat import Did, RealChat
from .decisions import Decision, answer_to, as_call, decisions, folded
from .procedures import Procedure, read_procedures
from .vocabulary import HAND_OVER, SEND_REPLY, Vocabulary

PREFIX, KIND = "chats:", "chats"
NOT_ON_RECORD = {"not_on_record": "The chat's record has no answer to this. Go on without it."}
ON = "_on"
"""Ending of the case in which the customer goes on after the decision."""
MESSAGES_ON = 8
"""Messages of a customer that goes on."""
CHATS, ACTS, PROCEDURES = "chats.jsonl", "acts.yaml", "procedures.yaml"
PROMPT = Path(__file__).with_name("agent.md")


class ChatDesk(Desk):
    """The desk of one decision: it answers what the human also did, from the record."""

    __slots__ = ("_decision", "_left", "sent")

    def __init__(self, store: Any, decision: Decision):
        super().__init__(store)
        self._decision = decision
        self._left: dict[int, list[Did]] = {n: list(e.acts) for n, e in enumerate(decision.before, 1)}
        self.sent: str | None = None

    def call(self, name: str, arguments: dict[str, Any] | str, side: str = "agent") -> ToolCall:
        """Record a call; answer from the record what the human did in the same exchange."""
        known = self._decision.known
        act = known.acts.get(known.by_tool.get(name, ""))
        call = ToolCall(self.turn, len(self.calls), name, arguments, None, None, act is None or act.kind != "read")
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
        did = next((d for d in left if _same(as_call(d, self._decision.known), call)), None)
        if did is not None:
            left.remove(did)
            call.result = answer_to(did)
        if call.name == SEND_REPLY:
            reply = self._decision.known.replies.get(str(call.named.get("reply")))
            if reply is None:
                self._fail(call, "bad_arguments", "There is no such reply: name one from the list of replies.")
            else:
                self.sent, call.result = reply, {"sent": reply}
        elif did is None and call.write:
            call.result = {"status": "done"}
        elif did is None:
            call.result = dict(NOT_ON_RECORD)
        if call.name == HAND_OVER and self.turn >= self._decision.turn:
            self.over = "handed_over"

    def changes(self) -> list[dict[str, Any]]:
        """Return no changes: a real chat has no rows."""
        return []

    def explained(self) -> bool:
        """Return True: agents see only copies, and the desk has nothing to change."""
        return True


def _same(asked: tuple[str, dict[str, Any]], call: ToolCall) -> bool:
    name, values = asked
    given = {k: folded(v) for k, v in call.named.items() if folded(v)}
    return name == call.name and given == {k: folded(v) for k, v in values.items() if folded(v)}


class ChatStore(ForeignStore):
    """A folder that ``deskbench import-chats`` wrote, with the interface of a store."""

    graded = "by the acts of its own agents"

    def __init__(self, path: Path, foreign: Callable[[ChatStore], Any]):
        info = read_yaml(path / "store.yaml")
        if not isinstance(info, dict) or not {"name", "title", "version"} <= info.keys():
            raise BadInput(f"{path / 'store.yaml'} lacks name, title or version: import the chats again")
        super().__init__(str(info["name"]), str(info["title"]), str(info["version"]), path, KIND)
        self.domain, self.folders = self.name.removeprefix(PREFIX), (path,)
        self.foreign = foreign(self)

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
    def chats(self) -> dict[str, RealChat]:
        """Return the chats by id."""
        return {chat.id: chat for chat in read_written(self.path / CHATS)}

    @cached_property
    def decisions(self) -> dict[str, Decision]:
        """Return the decisions by the id of their case."""
        found: dict[str, Decision] = {}
        for chat in self.chats.values():
            for one in decisions(chat, self.known, self.procedures.get(chat.procedure)):
                found[f"{case_name(chat.id)}_{one.turn}"] = one
        return found

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
        """Return every decision as a case, and again as one in which the customer goes on."""
        plain = {chat.id: as_plain(chat) for chat in self.chats.values()}
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
        found: dict[str | None, set[str]] = defaultdict(set)
        for chat in self.chats.values():
            found[chat.about.get("topic")] |= {line.did.name for line in chat.lines if line.did is not None}
        return found

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
        """Return the prompt of the agent, or of the file `path`, with its version."""
        head, text = front_matter(path or PROMPT)
        filled = render(text, str(path or PROMPT), store=self.info, replies=bool(self.known.replies))
        return filled.strip(), str(head.get("version", (path or PROMPT).stem))

    @cached_property
    def hash(self) -> str:
        """Return the content hash of acts and procedures; each chat is hashed with its case."""
        names = (ACTS, PROCEDURES, "store.yaml")
        return content_hash(b"\0".join((self.path / n).read_bytes() for n in names if (self.path / n).is_file()))


def case_name(chat_id: str) -> str:
    """Return a chat's id as the beginning of its cases' ids."""
    return slug(chat_id).replace("-", "_")


def as_plain(chat: RealChat) -> dict[str, Any]:
    """Return a chat as plain data, as ``chats.jsonl`` has it; the customer's record is left out."""
    plain = asdict(chat)
    del plain["record"]
    for line in plain["lines"]:
        if line["did"] is None:
            del line["did"]
    return plain


def read_written(path: Path) -> list[RealChat]:
    """Read the chats of a ``chats.jsonl``; raise `BadInput` for another form."""
    form, chats = TypeAdapter(RealChat), []
    for number, line in enumerate(read_text(path, 1_000_000_000).split("\n"), 1):
        try:
            chats += [form.validate_json(line)] if line else []
        except ValidationError as error:
            what = error.errors()[0]["msg"]
            raise BadInput(f"{path}:{number} is not a chat ({what}): import the chats again") from None
    return chats
