"""A tau2 domain as a store: its tasks as cases, its environments as desks."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from ...cases import Case
from ...errors import BadInput
from ...project import DATA
from ...records import Conversation, content_hash
from ...store.kinds import ForeignStore
from ...textfiles import front_matter, read_yaml
from . import speakers
from .desk import TauDesk
from .package import Domain, domain, package_folder, package_version
from .score import tau_score

PREFIX = "tau:"
DOMAINS = ("retail", "airline", "telecom")
SHOWN = 40
"""Letters of a task's id in an error."""
KNOWN_DEFECTS, NOT = "known-defects", "not:"
MESSAGES = 60
"""Most messages of a customer; tau2 itself allows 100 steps, with calls and results."""
KNOWN = DATA / "reference" / "tau_known_defects.yaml"


class TauStore(ForeignStore):
    """One domain; the package is loaded on first use of a task."""

    graded = "only with its package's tools"
    scripted = ("oracle", "no_op")

    def __init__(self, name: str):
        self.domain = name.removeprefix(PREFIX)
        if self.domain not in DOMAINS:
            raise BadInput(f"there is no store {name[:80]!r}: name one of {', '.join(PREFIX + one for one in DOMAINS)}")
        super().__init__(name, f"tau2 {self.domain}", Path(name), "tau2")

    def opened(self) -> TauStore:
        """Return the store; raise `BadInput` if the package is not installed."""
        package_version()
        return self

    @property
    def version(self) -> str:
        """Return the package's version."""
        return package_version()

    @property
    def floor(self) -> float:  # type: ignore[override]
        """Return the share of tasks that an agent passes by doing nothing."""
        return float(self.known["floor"]["passed"] / self.known["floor"]["tasks"])

    @cached_property
    def known(self) -> dict[str, Any]:
        """Return the ``floor`` of the tasks, and their known ``defects`` by task id."""
        known: dict[str, Any] = read_yaml(KNOWN)[self.domain]
        return known

    @property
    def package(self) -> Domain:
        """Return the domain in the package."""
        return domain(self.domain)

    def task(self, case: Case) -> Any:
        """Return the task of a case."""
        return self.package.tasks[_task_id(case)]

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the folders with the package's tasks."""
        return (package_folder() / "data",)

    def desk(self, tools: Any = None, *, case: Any = None, **staged: Any) -> TauDesk:
        """Return a fresh environment for a case."""
        return TauDesk(self, self.package, self.task(case))

    def schemas(self, tools: Any = None) -> list[dict[str, Any]]:
        """Return the agent's tools as OpenAI function schemas."""
        return self.package.schemas["agent"]

    def prompt(self, path: Path | None = None) -> tuple[str, str]:
        """Return the prompt of tau2's own agent or of a file, with its version."""
        if path is None:
            return self.package.agent_prompt, self.version
        head, text = front_matter(path)
        return text.strip(), str(head.get("version", path.stem))

    @cached_property
    def hash(self) -> str:
        """Return the content hash of tools, policy and version, without the tasks."""
        content = [self.version, self.package.policy, self.package.schemas]
        return content_hash(orjson.dumps(content, option=orjson.OPT_SORT_KEYS))

    def cases(self) -> tuple[Case, ...]:
        """Return every base task as a case, in the order of the package."""
        return tuple(_case(task, self.domain) for task in self.package.tasks.values())

    def choose(self, pattern: str) -> list[Case]:
        """Return the cases that a pattern names.

        It is ``all``, or parts separated by commas: ids of tasks with or without the domain (``12``, ``retail_12``;
        wildcards are allowed), and ``known-defects``. A part after ``not:`` is excluded.
        """
        cases = self.cases()
        ids = {case.id: _task_id(case) for case in cases}
        defective = {one for one, task_id in ids.items() if task_id in self.known["defects"]}
        groups = {"all": set(ids), KNOWN_DEFECTS: defective}
        kept: set[str] = set()
        left_out: set[str] = set()
        only_out = True
        for part in (p.strip() for p in pattern.split(",")):
            name = part.removeprefix(NOT)
            hits = groups.get(name) or {one for one in ids if _is_named(name, one) or _is_named(name, ids[one])}
            if not hits and part != f"{NOT}{KNOWN_DEFECTS}":
                every = [i if len(i) <= SHOWN else f"{i[:SHOWN]}..." for i in ids.values()]
                raise BadInput(
                    f"{self.name} has no task {name[:80]!r}: its {len(every)} base tasks go from {every[0]} "
                    f"to {every[-1]}; name one, or all, {KNOWN_DEFECTS} or {NOT}{KNOWN_DEFECTS}"
                )
            if part.startswith(NOT):
                left_out |= hits
            else:
                kept, only_out = kept | hits, False
        return [case for case in cases if (only_out or case.id in kept) and case.id not in left_out]

    def agent(self, spec: str, case: Case) -> Any:
        """Return a scripted agent; raise `BadInput` if it plays only our own cases."""
        if spec == "scripted:oracle":
            return speakers.TauOracle(self.task(case))
        if spec == "scripted:no_op":
            return speakers.TauNoOp()
        raise BadInput(f"{spec} cannot play cases of {self.name}: name scripted:oracle, scripted:no_op or a model")

    def resumed(self, agent: Any, case: Case) -> Any:
        """Return the agent unchanged: a task begins with its first message."""
        return agent

    def customer(self, spec: str, case: Case, complete: Any) -> Any:
        """Return the customer of a task."""
        tools = self.package.schemas["customer"]
        if spec == "scripted":
            return speakers.TauScriptedCustomer(self.task(case), tools)
        return speakers.TauModelCustomer(complete, self.customer_prompt(case), tools)

    def customer_prompt(self, case: Case) -> str:
        """Return the system prompt of a model customer."""
        return str(self.package.customer_prompt(self.task(case)))

    def score(self, conversation: Conversation, case: Case) -> dict[str, Any]:
        """Return the score that the package's evaluators give a conversation."""
        return tau_score(conversation, case, self.task(case), self.package)


def _task_id(case: Case) -> str:
    return case.id.removeprefix(f"{case.intent}_")


def _is_named(name: str, task_id: str) -> bool:
    return name == task_id or fnmatchcase(task_id, name)  # ids have brackets


def _case(task: Any, domain: str) -> Case:
    """Return the case of a task, which it contains for its hash."""
    content = task.model_dump(mode="json")
    wish = task.user_scenario.instructions
    none: dict[str, Any] = dict.fromkeys(("claim", "tone", "hardness", "email"))
    empty: dict[str, Any] = dict.fromkeys(("order", "customer_id", "sender", "sender_name"), "")
    return Case.model_construct(
        id=f"{domain}_{task.id}",
        intent=domain,
        bucket=domain,
        title=f"tau2 {domain}, task {task.id}",
        **none,
        **empty,
        persona=task.user_scenario.persona or "",
        goal=wish if isinstance(wish, str) else wish.reason_for_call,
        pressure=[],
        outcomes=[],
        limit=MESSAGES,
        world={"task": content},
    )
