"""Vocabulary of a desk: which acts its people can make, and the tools that stand for them."""

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
OWN_WORDS = "own words"
"""Name of a message that is no canned reply."""
EXAMPLES = 3
"""Examples of a drafted entry."""


class KnownAct(BaseModel):
    """One act of a vocabulary.

    Attributes
    ----------
    kind : str
        ``read`` (changes nothing for the customer), ``write``, ``say`` (a canned reply) or ``hand_over``.
    words : str
        What the act does, for the tool's description.
    values : dict of str to str
        The fields that an agent fills in, in order, with their meaning.
    line : str
        The line of a log that shows the act, with fields in braces; used where a log has no act of its own.
    text : str
        The words of a canned reply.
    fails : list of str
        Words of an answer which say that the act failed.
    accepted : bool
        False for a draft; chats with such an act wait.
    examples : list of str
        Lines of the log from which a draft was made.
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
        """Return the pattern of `line`; None without one."""
        parts = re.split(r"\{(\w+)\}", self.line)
        shown = [re.escape(p) if i % 2 == 0 else f"(?P<{p}>.{{1,200}})" for i, p in enumerate(parts)]
        return re.compile("".join(shown), re.I) if self.line else None

    def failed(self, result: Any) -> bool:
        """Return whether a result says that the act failed."""
        text = str(result).casefold()
        return any(word in text for word in self.fails)


class Vocabulary(BaseModel):
    """Acts by the name that the log gives them.

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
            if (other := named.setdefault(tool_name(name), name)) != name:
                raise BadInput(f"{path}: {other!r} and {name!r} become the same tool: rename one of them")
        return known

    @property
    def tools(self) -> dict[str, KnownAct]:
        """Return the accepted acts that have a tool of their own."""
        return {n: a for n, a in self.acts.items() if a.accepted and a.kind in ("read", "write")}

    @property
    def replies(self) -> dict[str, str]:
        """Return the canned replies by name."""
        return {n: a.text for n, a in self.acts.items() if a.accepted and a.kind == "say"}

    @cached_property
    def by_tool(self) -> dict[str, str]:
        """Return the act of each tool."""
        return {tool_name(name): name for name in self.tools}

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as OpenAI function schemas."""
        made = [
            _schema(tool_name(name), act.words or f"Carry out {name}.", act.values) for name, act in self.tools.items()
        ]
        if self.replies:
            asked = {"reply": "name of the canned reply"}
            made.append(_schema(SEND_REPLY, "Send the customer a canned reply and wait for an answer.", asked, asked))
        reason = {"reason": "why a person is needed"}
        return [*made, _schema(HAND_OVER, "Hand the chat over to a human colleague.", reason)]

    def of_line(self, text: str) -> Did | None:
        """Return the act that a line of a log shows; None if no entry matches it."""
        for name, act in self.acts.items():
            if act.pattern is not None and (found := act.pattern.match(text.strip())):
                return Did(name, {k: v.strip() for k, v in found.groupdict().items()}, text=text)
        return None

    def gaps(self, chat: RealChat) -> dict[str, list[str]]:
        """Return the acts of a chat that no accepted entry covers, with their lines."""
        gaps: dict[str, list[str]] = {}
        for line in chat.lines:
            if line.did is not None and not (line.did.name in self.acts and self.acts[line.did.name].accepted):
                gaps.setdefault(line.did.name, []).append(line.did.text or str(line.did.values))
        return gaps

    def complete(self, chats: list[RealChat]) -> None:
        """Add the fields that agents filled in, and the canned replies that they sent."""
        for did in (line.did for chat in chats for line in chat.lines if line.did is not None):
            act = self.acts.get(did.name)
            if act is None and did.suggested:
                act = self.acts[did.name] = KnownAct(kind="say", text=did.text)
            if act is not None and act.kind in ("read", "write"):
                act.values |= {name: name for name in did.values if name not in act.values}

    def draft(self, chats: list[RealChat]) -> int:
        """Add an entry, not accepted, for each act without one; return how many are new."""
        before = len(self.acts)
        for chat in chats:
            for name, lines in self.gaps(chat).items():
                did = next(line.did for line in chat.lines if line.did is not None and line.did.name == name)
                values = {field: field for field in did.values}
                act = self.acts.setdefault(name, KnownAct(kind="write", values=values, accepted=False))
                act.examples = [*act.examples, *lines][:EXAMPLES]
        return len(self.acts) - before


def tool_name(act: str) -> str:
    """Return the name of the tool of an act."""
    return re.sub(r"\W+", "_", act.lower()).strip("_")[:60] or "act"


def _schema(name: str, words: str, values: dict[str, str], required: Any = ()) -> dict[str, Any]:
    fields = {field: {"type": "string", "description": text} for field, text in values.items()}
    parameters = {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": words, "parameters": parameters}}
