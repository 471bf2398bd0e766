"""Turn options into a plan: check everything before anything is written or spent."""

import copy
import inspect
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..cases import Case, load_cases
from ..cases.hard import prompt_of
from ..cases.load import case_set
from ..cases.operator_rules import OperatorRule, load_rules, prompt_with
from ..conversation import converse, customer_content, make_agent, make_customer, parse_spec
from ..conversation.speaker import REPLY_S, OwnCodeLeft, Speaker, call_own
from ..endpoint import Endpoint, EndpointError, RoleSettings, load_settings
from ..endpoint.keys import LOOPBACK_KEY
from ..errors import BadInput
from ..extension import offer
from ..records import OWN, UNPROTECTED, Conversation
from ..runfile import RunFile
from ..scoring.columns import Score
from ..store import Store, load_store, load_tools
from ..store.own_tools import TOOL_LIMIT_S, declared_tools, guarded
from ..store.tools import source_hashes
from .manifest import merged, new_manifest, part, public_url, session
from .options import SCRIPTED, Options
from .players import isolated_agent, own_agent_of, speaks
from .recorder import Model, Recorder, Stop, model_at

MEND = "fix it, then rerun the same command"


@dataclass
class Plan:
    """An experiment with checked input.

    `models` has the sides that are language models; it is empty in a replay. `own_agent` is the user's own agent or a
    factory for it. `manifest` is for a new file, and `session` records this session.
    """

    options: Options
    model: str
    store: Store
    cases: list[Case]
    schemas: list[dict[str, Any]]
    prompt: str
    rules: list[OperatorRule]
    models: dict[str, Model]
    own_agent: Any
    path: Path
    manifest: dict[str, Any]
    session: dict[str, Any]

    async def agent(self, case: Case, complete: Recorder | None) -> Speaker:
        """Return the agent of one conversation."""
        if self.own_agent is None:
            return make_agent(self.model, case=case, store=self.store, complete=complete)
        own: Speaker = self.own_agent if speaks(self.own_agent) else await call_own(self.own_agent)
        return self.store.foreign.resumed(own, case) if self.store.foreign else own

    def pairs(self) -> Iterator[tuple[Case, int]]:
        """Yield the conversations of the plan as (case, trial), in the order of play."""
        return ((case, trial) for trial in range(1, self.options.trials + 1) for case in self.cases)

    def finished(self) -> set[tuple[str, int]]:
        """Return the finished conversations on file; raise `BadInput` if the file's inputs differ."""
        if not self.path.exists():
            return set()
        run = RunFile(self.path)
        merged(run.manifest, self.manifest, self.path)
        return run.finished(self.options.retry_faults)

    def missing(self, finished: Container[tuple[str, int]]) -> list[tuple[Case, int]]:
        """Return the conversations of the plan that are not `finished`, in the order of play."""
        return [(case, trial) for case, trial in self.pairs() if (case.id, trial) not in finished]

    async def play(self, case: Case, trial: int, complete: dict[str, Recorder]) -> Conversation:
        """Play one conversation with each side's model call in `complete`."""
        agent = await self.agent(case, complete.get("agent"))
        calls = complete.get("customer")
        customer = make_customer(self.options.customer, case=case, store=self.store, complete=calls)
        return await self.converse(case, agent, customer, trial)

    async def converse(self, case: Case, agent: Speaker, customer: Speaker, trial: int) -> Conversation:
        """Let an agent and a customer play a case with the settings of the plan."""
        return await converse(
            *(case, self.store, agent, customer),
            seed=self.options.seed,
            model=self.model,
            source=self.manifest["source"],
            customer_name=self.options.customer,
            schemas=self.schemas,
            reply_s=self.options.timeout or REPLY_S,
            trial=trial,
            max_messages=self.options.messages,
            prompt=self.prompt_of(case),
            own=self.own_agent is not None,
        )

    async def rehearse(self) -> None:
        """Play and score one case of each language with a scripted agent, and discard the result.

        Do so only if a model serves the scripted customer. This compiles everything before any call is in flight, and
        brings out a failure before anything is paid for.
        """
        if not self.models or self.options.customer != "scripted" or self.store.foreign:
            return
        for case in {c.language: c for c in reversed(self.cases)}.values():
            self.store.search.knowledge_base(case.title)
            agent = make_agent(f"{SCRIPTED}echo", case=case, store=self.store)
            customer = make_customer("scripted", case=case, store=self.store)
            talk = converse(case, self.store, agent, customer, trial=1, prompt=self.prompt, schemas=self.schemas)
            self.score(await talk, case)

    def prompt_of(self, case: Case) -> str:
        """Return the agent's prompt for one conversation."""
        return prompt_with(prompt_of(case, self.store, self.prompt, self.options.prompt_file), self.rules)

    def score(self, conversation: Conversation, case: Case) -> Score:
        """Return the scores of a record."""
        from ..scoring import score

        return score(conversation, case, self.store)

    @property
    def scoring_version(self) -> str:
        """The version of the scoring rules."""
        from ..scoring import VERSION

        return str(VERSION)

    def blame(self, error: Exception, case_id: str, trial: int) -> Stop | Exception:
        """Return the stop that an exception in a conversation means, or the exception to raise.

        An exception from the user's own agent becomes a `BadInput`.
        """
        if isinstance(error, OwnCodeLeft):
            return Stop(f"the agent ended case {case_id}, trial {trial} with {error} instead of an answer: {MEND}")
        if isinstance(error, EndpointError):  # fatal: the line has stopped the run
            return Stop(str(error), refused=True)
        if self.own_agent is None or isinstance(error, BadInput):
            return error
        frames = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown place"
        what = f"the agent failed in case {case_id}, trial {trial}: {type(error).__name__}: {error} ({place})"
        wrapped = BadInput(f"{what}: {MEND}")
        wrapped.__cause__ = error
        return wrapped


def prepare(options: Options, keyless: bool = False) -> Plan:
    """Read and check all that an experiment names; raise `BadInput` for the first mistake.

    No key is required with `keyless`, for a plan that is never played here.
    """
    options.check()
    if any(given is not None for given in (options.executor, options.scheduler, options.workers)):
        offer("executors", "check")(options)
    options = copy.copy(options)
    options.store, options.cases = case_set(options.store, options.cases)
    model, settings, path = options.label, load_settings(options.settings), options.path()
    store = load_store(options.store)
    if options.isolate:
        hidden = path, store.folders
        own_agent, agent_part, open_why = isolated_agent(options.agent, settings, options.timeout, *hidden)
    else:
        (own_agent, agent_part), open_why = own_agent_of(options.agent), ""
    _check_scripted(model, store)
    own_tools = (load_tools(options.tools) if isinstance(options.tools, str) else options.tools) or {}
    store = store.with_tools(guarded(own_tools, store.policy, options.tool_timeout or TOOL_LIMIT_S))
    cases, rules = load_cases(store, options.cases), load_rules(options.rules, store.title) if options.rules else []
    prompt_file, schemas = options.prompt_file, store.schemas()
    prompt, prompt_version = store.prompt(prompt_file)
    inputs = {
        "model": part(model),
        "agent": agent_part,
        "customer": part(options.customer, customer_content(options.customer, store)),
        "store": part(f"{store.name} {store.version}", store.hash),
        "prompt": part(f"{prompt_file.name if prompt_file else store.name} {prompt_version}", prompt),
        "tools": _tools_part(options.tools, own_tools, store, schemas),
        "settings": part({role: settings[role].recorded for role in ("agent", "customer") if settings[role].recorded}),
        "seed": part(options.seed),
        "messages": part(options.messages),
        **_parts_on_demand(options, rules, open_why),
    }
    if options.players is not None:
        cases = options.players.shuffled(cases)
    models = _models(options, own_agent, settings, keyless or options.executor is not None)
    source = "scripted" if model.startswith(SCRIPTED) else "model"
    source = options.players.source if options.players else source if own_agent is None else OWN
    return Plan(
        options=options,
        model=model,
        store=store,
        cases=cases,
        schemas=schemas,
        prompt=prompt,
        rules=rules,
        models=models,
        own_agent=own_agent,
        path=path,
        manifest=new_manifest(model, source, inputs, {c.id: c.hash for c in cases}, options.trials),
        session=_session(options, models) | ({UNPROTECTED: open_why} if open_why else {}),
    )


def _check_scripted(model: str, store: Store) -> None:
    if not model.startswith(SCRIPTED):
        return
    if store.foreign is None:
        parse_spec(model)
    elif model.removeprefix(SCRIPTED) not in (known := store.foreign.scripted):
        mend = f"name {', '.join(SCRIPTED + name for name in known)} or a model"
        raise BadInput(f"{model} cannot play cases of {store.name}: {mend}")


def _parts_on_demand(options: Options, rules: list[OperatorRule], open_why: str) -> dict[str, Any]:
    # most runs lack these inputs; leaving them out keeps manifests unchanged
    parts = {"isolate": part(UNPROTECTED if open_why else True)} if options.isolate else {}
    if rules:
        declared = [rule.declared() for rule in rules]
        parts["rules"] = part(", ".join(rule.name for rule in rules), declared) | {"declared": declared}
    if options.players is not None:
        parts["players"] = part([options.players.side, options.players.source])
    return parts


def _tools_part(given: Any, own: dict[str, Any], store: Store, schemas: list[dict[str, Any]]) -> dict[str, Any]:
    tools = part(given if isinstance(given, str) else sorted(own), [schemas, source_hashes(own or None)])
    return tools | {"declared": declared_tools(own, store.policy)} if own else tools


def _models(options: Options, own_agent: Any, settings: dict[str, RoleSettings], keyless: bool) -> dict[str, Model]:
    names = {"agent": (options.label, options.base_url), "customer": (options.customer, options.customer_base_url)}
    played, models = options.players.side if options.players else None, {}
    for side, (name, base_url) in names.items():
        scripted = name.startswith(SCRIPTED) if side == "agent" else name == "scripted"
        if options.replay or scripted or side == played or (side == "agent" and own_agent is not None):
            continue
        role, key = settings[side], None
        if keyless:
            role, key = role.model_copy(update={"headers_env": {}, "query_env": {}}), LOOPBACK_KEY
        at_once, timeout = options.concurrency, options.timeout
        endpoint = Endpoint(name, base_url, key, settings=role, timeout=timeout, concurrency=at_once)
        models[side] = model_at(endpoint, priced=options.budget_usd is not None)
    return models


def _session(options: Options, models: dict[str, Model]) -> dict[str, Any]:
    endpoints = {
        side: {
            "model": model.endpoint.model,
            "base_url": public_url(model.endpoint.base_url),
            "timeout_s": model.endpoint.timeout,
            "price": model.listed,
        }
        for side, model in models.items()
    }
    return session(
        **{name: getattr(options, name) for name in ("cases", "trials", "concurrency", "budget_usd")},
        **({"executor": {"name": options.executor, "workers": options.workers}} if options.executor else {}),
        endpoints=endpoints,
    )
