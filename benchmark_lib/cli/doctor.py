"""``deskbench doctor``."""

from __future__ import annotations

import argparse
import asyncio
import math
from pathlib import Path

from ..errors import BadInput
from .codes import FINISHED, REFUSED

ATTEMPTS = 2
MARKS = {"ok": "ok  ", "warn": "note", "fail": "FAIL"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench doctor``."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="the endpoint's name of a model; 'local' starts the small real one, which needs no key")
    add("--base-url", metavar="URL", help="an OpenAI-compatible endpoint (default: OpenAI's own)")
    add("--role", default="agent", choices=("agent", "customer", "judge"), help="whose model settings to use (default: agent)")
    add("--settings", metavar="FILE", help="model settings by role, a YAML file")
    add("--store", default="northline", metavar="DIR", help="a store by name or its folder (default: northline)")
    add("--prompt", metavar="FILE", help="a system prompt in place of the store's")
    add("--tools", metavar="MODULE:NAME", help="tools of your own beside the store's")
    add("--timeout", type=float, metavar="S", help="seconds one attempt may take (default: 120)")


def execute(options: argparse.Namespace) -> int:
    """Examine an endpoint and print a line for each finding; refuse where a run would not mean anything."""
    from ..endpoint.launch import CALL_TIMEOUT_S, local_model

    if options.model == "local" and not options.base_url:
        options.timeout = options.timeout or CALL_TIMEOUT_S
        with local_model() as options.base_url:
            return _examine(options)
    return _examine(options)


def _examine(options: argparse.Namespace) -> int:
    """Run the doctor and print what it found."""
    from ..endpoint.client import Endpoint
    from ..endpoint.doctor import diagnose, unreachable
    from ..endpoint.prices import find_price
    from ..endpoint.settings import load_settings
    from ..store import load_store, load_tools

    if options.timeout is not None and not 0 < options.timeout < math.inf:
        raise BadInput(f"--timeout {options.timeout:g} is no time: give a number of seconds above 0")
    store = load_store(options.store).with_tools(load_tools(options.tools) if options.tools else {})
    prompt, _ = store.prompt(Path(options.prompt) if options.prompt else None)
    endpoint = Endpoint(options.model, options.base_url, settings=load_settings(options.settings)[options.role], timeout=options.timeout,
                        attempts=ATTEMPTS)

    async def run():
        async with endpoint:
            return await diagnose(endpoint, prompt, store.schemas())

    findings = unreachable(endpoint) or asyncio.run(run())
    for finding in findings:
        print(f"{MARKS[finding.status]}  {finding.name:<15} {finding.meaning}")
    price = find_price(options.model, endpoint.base_url)
    known = f"{price.input:g} USD in, {price.output:g} USD out for a million tokens, as of {price.as_of}." if price else \
        "Price unknown: costs are not shown and a budget is refused, until the model stands in data/prices.yaml."
    print(f"{MARKS['ok' if price else 'warn']}  {'price':<15} {known}")
    return REFUSED if any(finding.status == "fail" for finding in findings) else FINISHED
