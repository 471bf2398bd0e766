"""Vocabulary of a desk: the acts that its people can make, and the tools for these acts."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...endpoint.plain_data import read_as
from ...errors import BadInput
from ...project import DATA
from ...textfiles import read_yaml
from .chat import Did, RealChat

SHIPPED = DATA / "chats"
SEND_REPLY, HAND_OVER = "send_reply", "hand_over_to_human"
EXAMPLES = 3
"""Maximum number of examples in a drafted entry."""


class KnownAct(BaseModel):
    """One act of a vocabulary: it reads, writes, says (a canned reply) or hands over.

    Attributes
    ----------
    words, values : str, dict of str to str
        The tool's description, and the fields that an agent fills in, in order, with their meaning.
    line : str
        The log line that shows the act, with fields in braces; used if a log does not record acts.
    text : str
        The words of a canned reply.
    fails : list of str
        Words in an answer that say that the act failed.
    accepted, examples : bool, list of str
        False for a draft, whose chats must wait; and the log lines from which the draft was made.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Literal["read", "write", "say", "hand_over"]
    words: str = ""
    values: dict[str, str] = {}
    line: str = ""
    text: str = ""
    fails: list[str] = []
    accepted: bool = True
    examples: list[str] = []

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """Return the pattern of `line`; None if there is no line."""
        parts = re.split(r"\{(\w+)\}", self.line)
        shown = [re.escape(p) if i % 2 == 0 else f"(?P<{p}>.{{1,200}})" for i, p in enumerate(parts)]
        return re.compile("".join(shown), re.I) if self.line else None


class Vocabulary(BaseModel):
    """Acts, by their names in the log.

    Attributes
    ----------
    asks : dict of str to list of str
        Fields that a canned reply asks for.
    unknown : dict of str to list of str
        Nodes of a flow chart for a customer who does not know an answer, with the replies before them.
    closing : list of str
        Replies that end a conversation.
    """

    model_config = ConfigDict(extra="forbid")

    acts: dict[str, KnownAct] = Field(default_factory=dict)
    asks: dict[str, list[str]] = {}
    unknown: dict[str, list[str]] = {}
    closing: list[str] = []

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Read a vocabulary; raise `BadInput` for an unusable file."""
        known = read_as(cls, read_yaml(path) or {}, str(path))
        named: dict[str, str] = {}
        for name in known.tools:
            if (other := named.setdefault(_tool_name(name), name)) != name:
                raise BadInput(f"{path}: {other!r} and {name!r} become the same tool: rename one of them")
        return known

    def is_kind(self, name: str, kind: str) -> bool:
        """Return whether an act is known and of the given kind."""
        return name in self.acts and self.acts[name].kind == kind

    def failed(self, did: Did) -> bool:
        """Return whether the result of an act says that it failed."""
        text = str(did.result).casefold()
        return did.name in self.acts and any(word in text for word in self.acts[did.name].fails)

    @property
    def tools(self) -> dict[str, KnownAct]:
        """Return the accepted acts that have their own tool."""
        return {n: a for n, a in self.acts.items() if a.accepted and a.kind in ("read", "write")}

    @property
    def replies(self) -> dict[str, str]:
        """Return the canned replies by name."""
        return {n: a.text for n, a in self.acts.items() if a.accepted and a.kind == "say"}

    @cached_property
    def by_tool(self) -> dict[str, str]:
        """Return the act of each tool."""
        return {_tool_name(name): name for name in self.tools}

    def call(self, did: Did) -> tuple[str, dict[str, Any]]:
        """Return the tool and the arguments that stand for an act of the human agent."""
        kind = self.acts[did.name].kind
        if kind == "say":
            return SEND_REPLY, {"reply": did.name}
        return (
            (HAND_OVER, {"reason": "as the human did"}) if kind == "hand_over" else (_tool_name(did.name), did.values)
        )

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as OpenAI function schemas."""
        made = [
            _schema(_tool_name(name), act.words or f"Carry out {name}.", act.values) for name, act in self.tools.items()
        ]
        if self.replies:
            asked = {"reply": "name of the canned reply"}
            made.append(_schema(SEND_REPLY, "Send the customer a canned reply and wait for an answer.", asked, asked))
        reason = {"reason": "why a person is needed"}
        return [*made, _schema(HAND_OVER, "Hand the chat over to a human colleague.", reason)]

    def of_line(self, text: str) -> Did | None:
        """Return the act that a log line shows; None if no entry matches it."""
        for name, act in self.acts.items():
            if act.pattern is not None and (found := act.pattern.match(text.strip())):
                return Did(name, {k: v.strip() for k, v in found.groupdict().items()}, text=text)
        return None

    def gaps(self, chat: RealChat) -> dict[str, list[Did]]:
        """Return the acts of a chat that no accepted entry covers, by name."""
        gaps: dict[str, list[Did]] = {}
        for did in chat.acts:
            if did.name not in self.acts or not self.acts[did.name].accepted:
                gaps.setdefault(did.name, []).append(did)
        return gaps

    def complete(self, chats: list[RealChat]) -> int:
        """Add what chats reveal about acts, and drafts of unknown acts; count the new drafts.

        If every act of a chat is known or was suggested by the tool, the suggestions become canned replies. The fields
        that agents filled in are then added to their acts.
        """
        whole = [chat for chat in chats if all(did.name in self.acts or did.suggested for did in chat.acts)]
        for did in (did for chat in whole for did in chat.acts):
            act = self.acts.setdefault(did.name, KnownAct(kind="say", text=did.text))
            if act.kind in ("read", "write"):
                act.values |= {name: name for name in did.values if name not in act.values}
        before = len(self.acts)
        for chat in chats:
            for name, acts in self.gaps(chat).items():
                values = {field: field for field in acts[0].values}
                act = self.acts.setdefault(name, KnownAct(kind="write", values=values, accepted=False))
                act.examples = [*act.examples, *(did.text or str(did.values) for did in acts)][:EXAMPLES]
        return len(self.acts) - before


def _tool_name(act: str) -> str:
    return re.sub(r"\W+", "_", act.lower()).strip("_")[:60] or "act"


def _schema(name: str, words: str, values: dict[str, str], required: Any = ()) -> dict[str, Any]:
    fields = {field: {"type": "string", "description": text} for field, text in values.items()}
    parameters = {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": words, "parameters": parameters}}
