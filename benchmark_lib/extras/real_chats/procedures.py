"""Written procedures as charts of which act may follow which, and a chat's place in them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict

from ...endpoint.plain_data import read_as
from ...errors import BadInput
from ...textfiles import read_text, read_yaml
from .chat import Did
from .vocabulary import KnownAct, Vocabulary

FAILED = ":failed"
"""Suffix of the node for an act that failed."""


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

    def place(self, done: Iterable[Did], known: Vocabulary) -> str:
        """Return the node that a chat has reached: its last act in the chart; empty without one."""
        return (["", *self.passed(done, known)])[-1]

    def passed(self, done: Iterable[Did], known: Vocabulary) -> list[str]:
        """Return the nodes of acts; a failed act may have its own node."""
        ends = ((did.name, f"{did.name}{FAILED}", known.failed(did)) for did in done if did.name in self.nodes)
        return [failed if did_fail and failed in self.next else name for name, failed, did_fail in ends]

    def reachable(self, passed: set[str]) -> set[str]:
        """Return every act for which no earlier step is missing once the nodes `passed` are done."""
        found, waiting = set[str](), list(self.start)
        while waiting:
            act = waiting.pop()
            if act not in found:
                found.add(act)
                ways = [n for n in (act, f"{act}{FAILED}") if n in passed or n in self.optional]
                waiting += [then for n in ways for then in (*self.next.get(n, ()), *self.branches.get(n, ()))]
        return found

    @property
    def nodes(self) -> set[str]:
        """Return every act of the chart."""
        ways = [*self.next.values(), *self.branches.values()]
        return {*self.start, *self.next, *(act for acts in ways for act in acts)}

    def usual(self, at: str, answered: set[str]) -> list[str]:
        """Return the acts that the chart names next; skip questions already answered."""
        found, waiting, seen = list[str](), list(self.next.get(at, []) if at else self.start), set[str]()
        while waiting:
            act = waiting.pop(0)
            if act in answered and act not in seen and self.next.get(act):
                waiting = [*self.next[act], *waiting]
            elif act not in found:
                found.append(act)
            seen.add(act)
        return found

    def allowed(self, at: str, answered: set[str]) -> set[str]:
        """Return every act that may come next, including branches and acts after optional ones."""
        allowed, waiting = set(self.branches.get(at, ())), self.usual(at, answered)
        while waiting:
            act = waiting.pop()
            if act not in allowed:
                allowed.add(act)
                waiting += self.usual(act, answered) if act in self.optional else []
        return allowed


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
        content = read_yaml(place)
        if not isinstance(content, dict):
            raise BadInput(f"{place} has no procedures by name: see docs/real-chats.md")
        return {str(name): read_as(Procedure, one, f"{place}: {name}") for name, one in content.items()}
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
    graph, query = task["graph"], task["task"]
    inner = {"query", "query_success", "query_failure", *known.unknown}
    for name, text in task["replies"].items():
        if name not in inner and name in {*graph, *graph.values()}:
            known.acts.setdefault(name, KnownAct(kind="say", text=text))
    after = {"query": query, "query_success": query, "query_failure": f"{query}{FAILED}"}
    chart: dict[str, list[str]] = {}
    for node, then in graph.items():
        if node not in known.unknown:
            chart.setdefault(after.get(node, node), []).append(after.get(then, then))
    branches = {
        node: [after.get(graph[name], graph[name])]
        for name, nodes in known.unknown.items()
        for node in nodes
        if name in graph
    }
    ends = {act for acts in chart.values() for act in acts} - chart.keys()
    known.closing += [name for name in task["replies"] if name.endswith("_bye") and name not in known.closing]
    closing = [name for name in known.closing if name in task["replies"] or not name.endswith("_bye")]
    for end in ends - {query}:
        chart[end] = [name for name in closing if name != end]
    steps = [f"- after {a or 'the greeting'}: {' or '.join(b)}" for a, b in [("", ["hello"]), *chart.items()]]
    steps += [f"- if the customer does not know the answer to {a}: {b[0]}" for a, b in branches.items()]
    return Procedure(
        title=query.replace("_", " "), text="\n".join(steps), start=["hello"], next=chart, branches=branches,
        optional=["hello"],
    )  # fmt: skip


def _of_abcd(folder: Path) -> dict[str, Procedure]:
    guidelines, flows = _json(folder / "guidelines.json"), _json(folder / "ontology.json")["intents"]["subflows"]
    buttons, found = _json(folder / "kb.json"), {}
    for flow, content in guidelines.items():
        names = flows[flow.lower().replace(" ", "_").replace("-", "_")]
        for name, (title, one) in zip(names, content["subflows"].items(), strict=True):
            acts, pressed = buttons[name], [s for s in one["actions"] if s["button"] not in ("N/A", "End Conversation")]
            paired = zip(acts, pressed, strict=True) if len(acts) == len(pressed) else ()
            lines = [
                f"{i}. {s['text']}" + "".join(f"\n   - {t}" for t in s["subtext"])
                for i, s in enumerate(one["actions"], 1)
            ]
            found[name] = Procedure(
                title=title,
                text="\n".join([*one["instructions"][:1], *lines]),
                start=acts[:1],
                next={a: [b] for a, b in zip(acts, acts[1:], strict=False)},
                optional=[act for act, step in paired if str(step["text"]).startswith("If ")],
            )
    return found
