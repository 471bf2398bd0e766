"""Say what the people of a desk can do, and what is written about when to do it."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from ...endpoint.prices import read_as
from ...errors import BadInput
from ...project import DATA
from ...textfiles import read_text, read_yaml
from .chat import Did, RealChat

SHIPPED = DATA / "chats"
SEND_REPLY, HAND_OVER = "send_reply", "hand_over_to_human"
EXAMPLES = 3
"""Maximum number of examples in a drafted entry."""
FAILED = ":failed"
"""Suffix of the node for an act that failed."""


class KnownAct(BaseModel):
    """One act of a vocabulary: it reads, writes, says (a canned reply) or hands over.

    `words` describes the tool; `values` has the fields that an agent fills in, in order, with their meaning. `line` is
    the log line that shows the act, with fields in braces, for logs that do not record acts. `text` has the words of a
    canned reply, and `fails` the words of an answer that mean that the act failed. A draft is not `accepted`, and its
    chats must wait; `examples` are log lines with it.
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
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern of `line`; without a line, it matches nothing."""
        parts = re.split(r"\{(\w+)\}", self.line)
        shown = [re.escape(p) if i % 2 == 0 else f"(?P<{p}>.{{1,200}})" for i, p in enumerate(parts)]
        return re.compile("".join(shown) or "(?!)", re.I)


class Vocabulary(BaseModel):
    """Acts, by their names in the log.

    `asks` has the fields that a canned reply asks for, and `closing` the replies that end a conversation. `unknown` has
    the nodes of a flow chart for a customer who does not know an answer, with the replies before them.
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
        tools = [*map(_tool_name, known.of_kind("read", "write"))]
        if twice := next((tool for tool in tools if tools.count(tool) > 1), ""):
            raise BadInput(f"{path}: two acts become the tool {twice}: rename one of them")
        return known

    def of_kind(self, *kinds: str) -> dict[str, KnownAct]:
        """Return the accepted acts of some kinds."""
        return {name: act for name, act in self.acts.items() if act.accepted and act.kind in kinds}

    def kind(self, name: str) -> str:
        """Return the kind of an act; empty for an unknown one."""
        return self.acts[name].kind if name in self.acts else ""

    def failed(self, did: Did) -> bool:
        """Return whether the result of an act says that it failed."""
        text = str(did.result).casefold()
        return did.name in self.acts and any(word in text for word in self.acts[did.name].fails)

    @property
    def by_tool(self) -> dict[str, str]:
        """Return the act that each tool carries out."""
        return {_tool_name(name): name for name in self.of_kind("read", "write")}

    @property
    def replies(self) -> dict[str, str]:
        """Return the canned replies by name."""
        return {name: act.text for name, act in self.of_kind("say").items()}

    def call(self, did: Did) -> tuple[str, dict[str, Any]]:
        """Return the tool and the arguments that stand for an act of the human agent."""
        others = {"say": (SEND_REPLY, {"reply": did.name}), "hand_over": (HAND_OVER, {"reason": "as the human did"})}
        return others.get(self.kind(did.name), (_tool_name(did.name), did.values))

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as OpenAI function schemas."""
        reply, reason = {"reply": "name of the canned reply"}, {"reason": "why a person is needed"}
        made = [
            _schema(_tool_name(name), act.words or f"Carry out {name}.", act.values)
            for name, act in self.of_kind("read", "write").items()
        ]
        if self.replies:
            made.append(_schema(SEND_REPLY, "Send the customer a canned reply and wait for an answer.", reply, reply))
        return [*made, _schema(HAND_OVER, "Hand the chat over to a human colleague.", reason)]

    def of_line(self, text: str) -> Did | None:
        """Return the act that a log line shows; None if no entry matches it."""
        for name, act in self.acts.items():
            if found := act.pattern.match(text.strip()):
                return Did(name, {k: v.strip() for k, v in found.groupdict().items()}, text=text)
        return None

    def gaps(self, chat: RealChat) -> list[Did]:
        """Return the acts of a chat that no accepted entry covers."""
        accepted = {name for name, act in self.acts.items() if act.accepted}
        return [did for did in chat.acts if did.name not in accepted]

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
        for did in (did for chat in chats for did in self.gaps(chat)):
            draft = KnownAct(kind="write", values={name: name for name in did.values}, accepted=False)
            act = self.acts.setdefault(did.name, draft)
            act.examples = [*act.examples, did.text or str(did.values)][:EXAMPLES]
        return len(self.acts) - before


def _tool_name(act: str) -> str:
    return re.sub(r"\W+", "_", act.lower()).strip("_")[:60] or "act"


def _schema(name: str, words: str, values: dict[str, str], required: Any = ()) -> dict[str, Any]:
    fields = {field: {"type": "string", "description": text} for field, text in values.items()}
    parameters: dict[str, Any] = {"type": "object", "properties": fields}
    parameters |= {"required": list(required), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": words, "parameters": parameters}}


class Procedure(BaseModel):
    """A written procedure: its text as the agent reads it, and a chart of acts.

    `start` has the acts that may come first, and `next` the acts that may follow each act, the usual one first. The
    node of an act that failed is ``ACT:failed``. `branches` has further acts that may follow, for example if a customer
    does not know an answer. Acts in `optional` depend on a condition and may be skipped.
    """

    model_config = ConfigDict(extra="forbid")

    title: str = ""
    text: str = ""
    start: list[str]
    next: dict[str, list[str]]
    branches: dict[str, list[str]] = {}
    optional: list[str] = []

    @cached_property
    def nodes(self) -> set[str]:
        """Return every act of the chart."""
        ways = [*self.next.values(), *self.branches.values()]
        return {*self.start, *self.next, *(act for acts in ways for act in acts)}

    def node(self, did: Did, known: Vocabulary) -> str:
        """Return the node of an act, which may have another if it failed; empty without one."""
        failed = f"{did.name}{FAILED}"
        name = failed if failed in self.next and known.failed(did) else did.name
        return name if did.name in self.nodes else ""

    def usual(self, at: str, answered: set[str]) -> list[str]:
        """Return the acts that the chart names after a node; skip questions already answered."""
        found, seen = list[str](), set[str]()
        waiting = [*self.next.get(at, [])] if at else [*self.start]
        while waiting:
            act = waiting.pop(0)
            if act in answered and act not in seen and self.next.get(act):
                waiting = [*self.next[act], *waiting]
            elif act not in found:
                found.append(act)
            seen.add(act)
        return found

    def allowed(self, at: str, answered: set[str]) -> list[str]:
        """Return every act that may come after a node, with branches and acts after optional ones."""
        found = [*self.branches.get(at, ()), *self.usual(at, answered)]
        for act in found:
            more = self.usual(act, answered) if act in self.optional else []
            found += [then for then in more if then not in found]
        return found

    def reachable(self, passed: set[str]) -> list[str]:
        """Return every act for which no earlier step is missing once the nodes `passed` are done."""
        found = [*self.start]
        for act in found:
            ways = [node for node in (act, f"{act}{FAILED}") if node in passed or node in self.optional]
            for node in ways:
                more = [*self.next.get(node, ()), *self.branches.get(node, ())]
                found += [then for then in dict.fromkeys(more) if then not in found]
        return found


def read_procedures(place: Path | None, known: Vocabulary, form: str) -> dict[str, Procedure]:
    """Read procedures by name from a YAML file, ABCD's guidelines or STAR's tasks.

    `place` is the file or a folder: ABCD's folder with ``guidelines.json``, ``ontology.json`` and ``kb.json``, or the
    folder of STAR's tasks. Without it, there are no procedures.
    """
    if place is None:
        return {}
    if not place.exists():
        raise BadInput(f"there is no file or folder {place}: name the procedures with --procedures")
    if place.is_file():
        return read_as(dict[str, Procedure], read_yaml(place), str(place))
    try:
        charts = _of_abcd(place) if form == "abcd" else _of_star(place, known)
    except (LookupError, TypeError, AttributeError, orjson.JSONDecodeError) as error:
        raise BadInput(f"{place} has no procedures of {form} ({error!r:.80}): name their folder") from None
    if not charts:
        raise BadInput(f"{place} has no flow charts: name the folder of STAR's tasks")
    return charts


def _json(path: Path) -> Any:
    return orjson.loads(read_text(path))


def _of_star(folder: Path, known: Vocabulary) -> dict[str, Procedure]:
    contents = map(_json, sorted(folder.rglob("*.json")))
    tasks = (task for task in contents if isinstance(task, dict) and {"task", "graph", "replies"} <= task.keys())
    return {task["task"]: _star_chart(task, known) for task in tasks}


def _star_chart(task: dict[str, Any], known: Vocabulary) -> Procedure:
    graph, query, replies = task["graph"], task["task"], task["replies"]
    after = {"query": query, "query_success": query, "query_failure": f"{query}{FAILED}"}
    said = {*graph, *graph.values()} - {*after, *known.unknown}
    for name in (name for name in replies if name in said):
        known.acts.setdefault(name, KnownAct(kind="say", text=replies[name]))
    known.closing += [name for name in replies if name.endswith("_bye") and name not in known.closing]
    closing = [name for name in known.closing if name in replies or not name.endswith("_bye")]
    chart = dict[str, list[str]]()
    for node, then in ((node, then) for node, then in graph.items() if node not in known.unknown):
        chart.setdefault(after.get(node, node), []).append(after.get(then, then))
    ends = dict.fromkeys(act for acts in chart.values() for act in acts if act not in {*chart, query})
    chart |= {end: [name for name in closing if name != end] for end in ends}
    unknown = {node: graph[name] for name, nodes in known.unknown.items() for node in nodes if name in graph}
    steps = [f"- after {a or 'the greeting'}: {' or '.join(b)}" for a, b in [("", ["hello"]), *chart.items()]]
    steps += [f"- if the customer does not know the answer to {a}: {after.get(b, b)}" for a, b in unknown.items()]
    branches = {node: [after.get(then, then)] for node, then in unknown.items()}
    ways: dict[str, Any] = dict(start=["hello"], next=chart, branches=branches, optional=["hello"])
    return Procedure(title=query.replace("_", " "), text="\n".join(steps), **ways)


def _of_abcd(folder: Path) -> dict[str, Procedure]:
    guidelines, buttons, ontology = (_json(folder / f"{name}.json") for name in ("guidelines", "kb", "ontology"))
    flows, found = ontology["intents"]["subflows"], dict[str, Procedure]()
    for flow, content in guidelines.items():
        names = flows[flow.lower().replace(" ", "_").replace("-", "_")]
        for name, (title, one) in zip(names, content["subflows"].items(), strict=True):
            acts, steps = buttons[name], one["actions"]
            lines = ["\n   - ".join([f"{i}. {step['text']}", *step["subtext"]]) for i, step in enumerate(steps, 1)]
            pressed = [step for step in steps if step["button"] not in ("N/A", "End Conversation")]
            paired = zip(acts, pressed, strict=True) if len(acts) == len(pressed) else ()
            ways: dict[str, Any] = {"start": acts[:1], "next": {a: [b] for a, b in pairwise(acts)}}
            ways["optional"] = [act for act, step in paired if str(step["text"]).startswith("If ")]
            found[name] = Procedure(title=title, text="\n".join([*one["instructions"][:1], *lines]), **ways)
    return found
