"""Turn options into a plan: check everything before anything is written or spent."""

import copy
import inspect
import math
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..cases import Case, load_cases
from ..cases.load import case_set
from ..cases.operator_rules import OperatorRule, load_rules, prompt_with
from ..cases.variants import prompt_of
from ..conversation import (
    converse,
    customer_content,
    make_agent,
    make_customer,
    parse_spec,
)
from ..conversation.speaker import REPLY_S, Speaker, call_own
from ..endpoint import Endpoint, RoleSettings, load_settings
from ..endpoint.keys import LOOPBACK_KEY
from ..endpoint.weights import STATED
from ..errors import BadInput
from ..extension import offer
from ..project import project_folder
from ..records import OWN, UNPROTECTED, Conversation
from ..runfile import RunFile
from ..scoring.columns import Score
from ..store import Store, load_store, load_tools
from ..store.own_tools import TOOL_LIMIT_S, guarded
from ..store.recorded_tools import declared_tools
from ..store.tools import source_hashes
from .manifest import default_name, merged, new_manifest, part, public_url, session
from .options import Options
from .players import Players, isolated_agent, name_of, own_agent_of, speaks
from .recorder import Model, Recorder, model_at

SCRIPTED = "scripted:"
MEND = "fix it, then rerun the same command"
LARGEST = {"trials": 100_000, "messages": 10_000, "concurrency": 10_000}
LARGEST_SEED = 2**63 - 1
AS_GIVEN = ("trials", "messages", "seed", "concurrency", "budget_usd", "players", "progress", "retry_faults")
LONGEST_NAME = 240
"""Maximum number of bytes in a run file's name: file systems allow 255, and lock and log files have longer names."""


@dataclass
class Plan:
    """An experiment with checked input.

    Attributes
    ----------
    model, source, customer_name : str
        As in the records.
    prompt_file : Path or None
        The file of the prompt, if it is not the store's.
    rules : list of OperatorRule
        Rules that an operator adds to the prompt.
    models : dict of str to Model
        The sides that are language models behind an endpoint; empty in a replay.
    own_agent : object or None
        The user's own agent, or a factory of it.
    players : Players or None
        Players of one side, if any.
    reply_s : float
        Seconds that the user's own agent may take for one reply.
    manifest, session : dict
        The manifest of a new file, and the record of this session.
    """

    model: str
    source: str
    customer_name: str
    store: Store
    cases: list[Case]
    schemas: list[dict[str, Any]]
    prompt: str
    prompt_file: Path | None
    rules: list[OperatorRule]
    trials: int
    messages: int
    seed: int
    concurrency: int
    budget_usd: float | None
    models: dict[str, Model]
    own_agent: Any
    players: Players | None
    reply_s: float
    path: Path
    manifest: dict[str, Any]
    session: dict[str, Any]
    progress: bool
    retry_faults: bool

    async def agent(self, case: Case, trial: int, complete: Recorder | None) -> Speaker:
        """Return the agent of one conversation."""
        if self.own_agent is None:
            return make_agent(self.model, case=case, store=self.store, complete=complete)
        own: Speaker = self.own_agent if speaks(self.own_agent) else await call_own(self.own_agent)
        return self.store.foreign.resumed(own, case) if self.store.foreign else own

    def customer(self, case: Case, trial: int, complete: Recorder | None) -> Speaker:
        """Return the customer of one conversation."""
        return make_customer(self.customer_name, case=case, store=self.store, complete=complete)

    def pairs(self) -> Iterator[tuple[Case, int]]:
        """Yield the conversations of the plan, case and trial, in the order of play."""
        return ((case, trial) for trial in range(1, self.trials + 1) for case in self.cases)

    def finished(self) -> set[tuple[str, int]]:
        """Return the finished conversations on file; raise `BadInput` if the file's inputs differ."""
        if not self.path.exists():
            return set()
        run = RunFile(self.path)
        merged(run.manifest, self.manifest, self.path)
        return run.finished(self.retry_faults)

    @property
    def lacks_conversations(self) -> bool:
        """Whether a conversation is still to be played."""
        finished = self.finished()
        return any((case.id, trial) not in finished for case, trial in self.pairs())

    async def play(
        self, case: Case, trial: int, complete: dict[str, Recorder], as_trial: int | None = None
    ) -> Conversation:
        """Play a conversation; `complete` is each side's model call; for `as_trial` see `played_as`."""
        agent = await self.agent(case, trial, complete.get("agent"))
        customer = self.customer(case, trial, complete.get("customer"))
        conversation = await self.converse(case, agent, customer, as_trial or trial)
        conversation.trial = trial
        return conversation

    async def converse(self, case: Case, agent: Speaker, customer: Speaker, trial: int) -> Conversation:
        """Let an agent and a customer play a case with the settings of the plan."""
        return await converse(
            *(case, self.store, agent, customer),
            **{
                name: getattr(self, name) for name in ("seed", "model", "source", "customer_name", "schemas", "reply_s")
            },
            trial=trial,
            max_messages=self.messages,
            prompt=self.prompt_of(case),
            own=self.own_agent is not None,
        )

    async def rehearse(self) -> None:
        """Play and score one case of each language with a scripted agent, and discard the result.

        Do so only if a model serves the scripted customer. It compiles and indexes everything before a call is in
        flight: a stall would bunch the answers. It also fails before anything is paid.
        """
        if not self.models or self.customer_name != "scripted" or self.store.foreign:
            return
        for case in {c.language: c for c in reversed(self.cases)}.values():
            self.store.search.knowledge_base(case.title)
            agent = make_agent(f"{SCRIPTED}echo", case=case, store=self.store)
            customer = make_customer("scripted", case=case, store=self.store)
            self.score(
                await converse(case, self.store, agent, customer, trial=1, prompt=self.prompt, schemas=self.schemas),
                case,
            )

    def prompt_of(self, case: Case) -> str:
        """Return the agent's prompt of one conversation."""
        return prompt_with(prompt_of(case, self.store, self.prompt, self.prompt_file), self.rules)

    def score(self, conversation: Conversation, case: Case) -> Score:
        """Return the scores of a record."""
        from ..scoring import score

        return score(conversation, case, self.store)

    @property
    def scoring_version(self) -> str:
        """The version of the scoring rules."""
        from ..scoring import VERSION

        return str(VERSION)

    def blame(self, error: Exception, case_id: str, trial: int) -> Exception:
        """Wrap an exception from the user's agent in a `BadInput` that names it; return others."""
        if self.own_agent is None or isinstance(error, BadInput):
            return error
        frames = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown place"
        what = f"the agent failed in case {case_id}, trial {trial}: {type(error).__name__}: {error} ({place})"
        wrapped = BadInput(f"{what}: {MEND}")
        wrapped.__cause__ = error
        return wrapped


def prepare(options: Options, keyless: bool = False) -> Plan:
    """Read and check everything an experiment names; raise `BadInput` for the first mistake.

    Require no key with `keyless`, for a plan that is never played, or for a plan that other machines play.
    """
    _check_numbers(options)
    if any(given is not None for given in (options.executor, options.scheduler, options.workers)):
        offer("executors", "check")(options)
    keyless = keyless or options.executor is not None
    options = copy.copy(options)
    options.store, options.cases = case_set(options.store, options.cases)
    model = _model_name(options)
    settings = load_settings(options.settings)
    store = load_store(options.store)
    apart, path = options.isolate, run_path(options, model)
    own_agent, agent_part, open_why = (
        isolated_agent(options.agent, settings, options.timeout, path, store.folders)
        if apart
        else (*own_agent_of(options.agent), "")
    )
    _check_scripted(model, store)
    own_tools = load_tools(options.tools) if isinstance(options.tools, str) else options.tools
    store = store.with_tools(guarded(own_tools or {}, store.policy, options.tool_timeout or TOOL_LIMIT_S))
    cases = load_cases(store, options.cases)
    prompt_file = Path(options.prompt) if options.prompt else None
    prompt, prompt_version = store.prompt(prompt_file)
    schemas = store.schemas()
    rules = load_rules(options.rules, store.title) if options.rules else []
    inputs = {
        "model": part(model),
        "agent": agent_part,
        "customer": part(options.customer, customer_content(options.customer, store)),
        "store": part(f"{store.name} {store.version}", store.hash),
        "prompt": part(f"{Path(options.prompt).name if options.prompt else store.name} {prompt_version}", prompt),
        "tools": _tools_part(options.tools, own_tools or {}, store, schemas),
        "settings": part({role: settings[role].told for role in ("agent", "customer") if settings[role].told}),
        "seed": part(options.seed),
        "messages": part(options.messages),
        **_parts_on_demand(options, rules, open_why),
    }
    if options.players is not None:
        cases = options.players.shuffled(cases)
    models = {} if options.replay else _models(options, model, own_agent, settings, keyless)
    source = _source_of(model, own_agent, options.players)
    return Plan(
        model=model,
        source=source,
        customer_name=options.customer,
        store=store,
        cases=cases,
        schemas=schemas,
        prompt=prompt,
        prompt_file=prompt_file,
        rules=rules,
        models=models,
        own_agent=own_agent,
        reply_s=options.timeout or REPLY_S,
        path=path,
        manifest=new_manifest(model, source, inputs, {c.id: c.hash for c in cases}, options.trials),
        session=_session(options, models) | ({UNPROTECTED: open_why} if open_why else {}),
        **{name: getattr(options, name) for name in AS_GIVEN},
    )


def _check_scripted(model: str, store: Store) -> None:
    if not model.startswith(SCRIPTED):
        return
    if store.foreign is None:
        parse_spec(model)
    elif model.removeprefix(SCRIPTED) not in (known := store.foreign.scripted):
        named = ", ".join(SCRIPTED + name for name in known)
        raise BadInput(f"{model} cannot play cases of {store.name}: name {named} or a model")


def _parts_on_demand(options: Options, rules: list[OperatorRule], open_why: str) -> dict[str, Any]:
    """Return the inputs that most runs lack; leaving them out keeps manifests unchanged."""
    found = {"isolate": part(UNPROTECTED if open_why else True)} if options.isolate else {}
    if rules:
        declared = [rule.declared() for rule in rules]
        found["rules"] = part(", ".join(rule.name for rule in rules), declared) | {"declared": declared}
    if options.players is not None:
        found["players"] = part([options.players.side, options.players.source])
    return found


def _tools_part(given: Any, own: dict[str, Any], store: Store, schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the manifest's part for the tools, with the origin of the user's own tools."""
    found = part(given if isinstance(given, str) else sorted(own), [schemas, source_hashes(own or None)])
    return found | {"declared": declared_tools(own, store.policy)} if own else found


def _source_of(model: str, own_agent: Any, players: Players | None) -> str:
    if players is not None:
        return players.source
    if own_agent is not None:
        return OWN
    return "scripted" if model.startswith(SCRIPTED) else "model"


def run_path(options: Options, model: str) -> Path:
    """Return the path of the run file: as given, or in ``data/runs``, named after the options."""
    if options.out is not None:
        path = Path(options.out)
        try:
            is_folder = stat.S_ISDIR(os.stat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            is_folder = False
        except (OSError, ValueError) as error:
            raise BadInput(
                f"--out {_cut(path)} cannot be used ({getattr(error, 'strerror', error)}): choose another --out"
            ) from None
        if is_folder:
            raise BadInput(f"{path} is a folder: name a file in it with --out")
        if len(os.fsencode(path.name)) > LONGEST_NAME:
            raise BadInput(f"--out {_cut(path)} has a name longer than {LONGEST_NAME} bytes: choose a shorter one")
        return path
    settings = options.settings if isinstance(options.settings, dict) else options.settings and str(options.settings)
    urls = [url and url.strip().rstrip("/") for url in (options.base_url, options.customer_base_url)]
    given = [
        *(urls[0], name_of(options.agent), options.customer, urls[1], str(options.store)),
        *(options.prompt and str(options.prompt), name_of(options.tools), settings, options.seed, options.messages),
        *(["isolate"] if options.isolate else []),
        *([f"rules {options.rules}"] if options.rules else []),
        *([options.players.side, options.players.source] if options.players else []),
    ]
    folder = project_folder() / "data" / "runs"
    path = folder / default_name(model, given)
    given[0], given[3] = (url and f"{url}/" for url in urls)  # names of files used to include the slash of an address
    before = folder / default_name(model, given)
    return before if before.exists() and not path.exists() else path


def _cut(path: Path) -> str:
    text = repr(str(path))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _check_numbers(options: Options) -> None:
    for name, largest in LARGEST.items():
        value = getattr(options, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BadInput(f"{name} must be a whole number of at least 1, not {value!r}: change --{name}")
        if value > largest:
            raise BadInput(f"{name} must be at most {largest}, not {value:.6g}: change --{name}")
    if not isinstance(options.seed, int) or isinstance(options.seed, bool) or options.seed < 0:
        raise BadInput(f"seed must be a whole number of at least 0, not {options.seed!r}: change --seed")
    if options.seed > LARGEST_SEED:
        raise BadInput(
            f"seed must be at most {LARGEST_SEED}, not a number of {options.seed.bit_length()} bits: change --seed"
        )
    if options.weights not in (None, *STATED):
        raise BadInput(f"weights are open or closed, not {options.weights!r:.40}: change --weights")
    for name, option in (("timeout", "--timeout"), ("tool_timeout", "--tool-timeout"), ("budget_usd", "--budget-usd")):
        value = getattr(options, name)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf
        ):
            raise BadInput(f"{name} must be a number above 0, not {value!r}: change {option}")


def _model_name(options: Options) -> str:
    model = options.model if options.model or options.agent is None else name_of(options.agent)
    if not isinstance(model, str) or not model.strip() or not model.isprintable():
        raise BadInput(f"the model {model!r} is not a name: use the endpoint's name for a model, or scripted:oracle")
    if model.startswith(SCRIPTED) and options.agent is not None:
        raise BadInput(f"{model} and --agent both name an agent: omit one of them")
    return model


def _models(
    options: Options, model: str, own_agent: Any, settings: dict[str, RoleSettings], keyless: bool
) -> dict[str, Model]:
    models = {}
    played = options.players.side if options.players else None
    if own_agent is None and not model.startswith(SCRIPTED) and played != "agent":
        models["agent"] = _model(options, model, options.base_url, settings["agent"], keyless)
    if options.customer != "scripted" and played != "customer":
        models["customer"] = _model(options, options.customer, options.customer_base_url, settings["customer"], keyless)
    return models


def _model(options: Options, name: str, base_url: str | None, settings: RoleSettings, keyless: bool) -> Model:
    key = LOOPBACK_KEY if keyless else None
    if keyless:
        settings = settings.model_copy(update={"headers_env": {}, "query_env": {}})
    endpoint = Endpoint(
        name, base_url, key, settings=settings, timeout=options.timeout, concurrency=options.concurrency
    )
    return model_at(endpoint, priced=options.budget_usd is not None)


def _session(options: Options, models: dict[str, Model]) -> dict[str, Any]:
    return session(
        **{name: getattr(options, name) for name in ("cases", "trials", "concurrency", "budget_usd")},
        **({"executor": {"name": options.executor, "workers": options.workers}} if options.executor else {}),
        **({"weights": options.weights} if options.weights else {}),
        endpoints={side: _called_at(model) for side, model in models.items()},
    )


def _called_at(model: Model) -> dict[str, Any]:
    at = model.endpoint
    return {"model": at.model, "base_url": public_url(at.base_url), "timeout_s": at.timeout, "price": model.listed}
