"""Examine an endpoint before a paid run, in about five calls."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...endpoint.client import Endpoint
from ...endpoint.faults import EndpointError, book
from ...endpoint.prices import find_price
from ...endpoint.reply import Completion, RequestedCall
from ...endpoint.settings import load_settings
from ...errors import BadInput
from ...store import load_store

ATTEMPTS = 2

FILLER = (
    "The shop has had this note on file for a while: parcels leave the warehouse on business days and are "
    "scanned on the way. "
)
FILLER_SENTENCES = 60
CHARACTERS_A_TOKEN = 12
"""Maximum characters of plain English per token, for any tokeniser; a lower token count means a cut prompt."""
WINDOWS = frozenset(1024 * 2**n for n in range(8))
"""Common context windows; a prompt and answer that fill one exactly have been cut to fit."""
CUSTOMER = (
    "Hello, where is my order NL-48213? It should have been here on Monday. I ordered it as jo.winter@example.com."
)
DRAW = "Invent a name for a new shop. Answer with the name and one sentence about it."
SEEDS = (11, 11, 12)
Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """A finding about an endpoint, explained in one sentence.

    `status` is ``ok``, ``warn`` (a run works, with the caveat stated) or ``fail`` (a run would be meaningless).
    """

    name: str
    status: Status
    meaning: str


def found(name: str, status: Status, why: str = "", **values: Any) -> Finding:
    """Return a finding; look up its sentence in ``data/endpoints.yaml`` by `why` or `status`."""
    return Finding(name, status, book()["doctor"][name][why or status].format(**values))


async def examine(
    model: str,
    base_url: str | None = None,
    *,
    role: str = "agent",
    settings: Any = None,
    store: str | Path = "northline",
    prompt: str | Path | None = None,
    tools: str | None = None,
    timeout: float | None = None,
) -> list[Finding]:
    """Examine an endpoint with requests like those of a run, and look up its price.

    The options are those of `benchmark_lib.experiment.Experiment`; `role` (agent, customer or judge) selects the
    settings. Raise `BadInput` for invalid options. Return the findings of `diagnose`; the finding on the price
    comes last.
    """
    if model.startswith("scripted:"):
        raise BadInput(f"{model} runs inside Deskbench and has no endpoint: run it, or name a model that has one")
    if timeout is not None and not 0 < timeout < math.inf:
        raise BadInput(f"--timeout {timeout:g} is not a valid time: use a number of seconds above 0")
    world = load_store(store, tools)
    text, _ = world.prompt(Path(prompt) if prompt else None)
    endpoint = Endpoint(model, base_url, settings=load_settings(settings)[role], timeout=timeout, attempts=ATTEMPTS)
    price = find_price(endpoint.model, endpoint.base_url)
    costs = found("price", "ok" if price else "warn", price=price)
    async with endpoint:
        return [*await diagnose(endpoint, text, world.schemas()), costs]


async def diagnose(endpoint: Endpoint, system_prompt: str, tools: list[dict[str, Any]]) -> list[Finding]:
    """Examine an endpoint in about five calls with the prompt and the tools of a run.

    A model that calls no tool on request gets a second request in a customer's words. The findings follow the order of
    the calls; if the first call fails, there is only one.
    """
    functions = [tool["function"] for tool in tools]
    # The easiest tool has the fewest required arguments, but at least one.
    probe = min(functions, key=lambda one: len(required(one)) or math.inf)
    history = [message("system", system_prompt), message("user", two_lookups(probe))]
    try:
        first = await endpoint.complete(history, tools)
    except EndpointError as error:
        return [Finding("answers", "fail", str(error))]
    seen = [found("answers", "ok", where=endpoint.where, seconds=first.latency_s)]
    plainly = bool(first.tool_calls)
    if not plainly:
        history[1] = message("user", CUSTOMER)
        try:
            first = await endpoint.complete(history, tools)
        except EndpointError as error:
            return [*seen, Finding("tools", "fail", str(error))]
    seen.append(found("tools", "ok" if plainly else "warn" if first.tool_calls else "fail"))
    seen.append(found("parallel calls", "ok" if len(first.tool_calls) > 1 else "warn"))
    seen += [check_arguments(first, tools), check_usage(first)]
    seen += await check_history(endpoint, history, first, probe, tools, system_prompt)
    return seen + await check_sampling(endpoint)


def message(role: str, text: str) -> dict[str, Any]:
    """Return a chat message with a role."""
    return {"role": role, "content": text}


def required(function: dict[str, Any]) -> list[str]:
    """Return the names of a tool's required arguments."""
    return (function.get("parameters") or {}).get("required") or []


def two_lookups(function: dict[str, Any]) -> str:
    """Return a request that takes two calls to the same tool."""
    name = (required(function) or ["a value"])[0]
    return (
        f"Call the tool {function['name']} twice in this one answer, before you write anything else: "
        f"once with {name} 'TEST-1' and once with {name} 'TEST-2'."
    )


def check_arguments(completion: Completion, tools: list[dict[str, Any]]) -> Finding:
    """Check the calls against the declared arguments."""
    problems = [problem for call in completion.tool_calls if (problem := argument_problem(call, tools))]
    if not completion.tool_calls:
        return found("arguments", "warn", "no call")
    return found("arguments", "warn", problem=problems[0]) if problems else found("arguments", "ok")


def argument_problem(call: RequestedCall, tools: list[dict[str, Any]]) -> str | None:
    """Return the first problem with a call; None if it fits a declared tool."""
    import jsonschema

    function = next((tool["function"] for tool in tools if tool["function"]["name"] == call.name), None)
    if function is None:
        return f"there is no tool {call.name!r}"
    if isinstance(call.arguments, str):
        return f"{call.name}: no JSON object"
    schema = function.get("parameters") or {}
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(call.arguments))
    return None if error is None else f"{call.name}: {error.message[:120]}"


def check_usage(completion: Completion) -> Finding:
    """Check that the endpoint reports tokens."""
    used = completion.usage
    if used.missing:
        return found("usage", "warn")
    hidden = ", including hidden reasoning" if used.reasoning_tokens else ""
    return found("usage", "ok", prompt=used.prompt_tokens, completion=used.completion_tokens, hidden=hidden)


async def check_history(
    endpoint: Endpoint,
    history: list[dict[str, Any]],
    first: Completion,
    probe: dict[str, Any],
    tools: list[dict[str, Any]],
    system_prompt: str,
) -> list[Finding]:
    """Send the first answer back with long tool results; check that their tokens are counted."""
    calls = first.tool_calls or [RequestedCall("call00001", probe["name"], "{broken")]
    sent = first.message() if first.tool_calls else Completion("", calls, None, first.usage).message()
    filler = FILLER * (FILLER_SENTENCES // len(calls))
    results = [{"role": "tool", "tool_call_id": call.id, "content": filler} for call in calls]
    try:
        second = await endpoint.complete([*history, sent, *results], tools)
    except EndpointError as error:
        name = "context window" if error.kind == "context_overflow" else "tool results"
        return [Finding(name, "fail", str(error))]
    return [found("tool results", "ok"), check_window(first, second, len(filler) * len(calls), system_prompt)]


def check_window(first: Completion, second: Completion, added: int, system_prompt: str) -> Finding:
    """Check for a cut prompt: too few tokens, or a total that equals a common window."""
    before, after = first.usage, second.usage
    if after.missing:
        return found("context window", "warn")
    grown = after.prompt_tokens - before.prompt_tokens
    total = after.prompt_tokens + after.completion_tokens
    if not before.missing and grown * CHARACTERS_A_TOKEN < added:
        return found("context window", "fail", "cut", added=added, grown=grown, total=total)
    cut = after.prompt_tokens * CHARACTERS_A_TOKEN < len(system_prompt) or total in WINDOWS
    return found("context window", "fail" if cut else "ok", tokens=after.prompt_tokens, total=total)


async def check_sampling(endpoint: Endpoint) -> list[Finding]:
    """Ask three times at a high temperature, twice with the same seed; check both settings."""
    texts = []
    for seed in SEEDS:
        try:
            completion = await endpoint.complete([message("user", DRAW)], seed=seed, temperature=1.0)
        except EndpointError as error:
            refused = [name for name in ("seed", "temperature") if name in error.detail.lower()]
            return [Finding(" and ".join(refused or ["sampling"]), "warn", f"{error}.")]
        texts.append(completion.text or completion.reasoning)
    first, same_seed, other_seed = texts
    if first == same_seed == other_seed:
        return [found("seed", "warn", "no effect"), found("temperature", "warn")]
    return [found("seed", "ok" if first == same_seed else "warn"), found("temperature", "ok")]
