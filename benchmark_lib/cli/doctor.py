"""``deskbench doctor``."""

from __future__ import annotations

import argparse
import asyncio

from .codes import FINISHED, REFUSED

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
    from ..endpoint.doctor import examine

    findings = asyncio.run(examine(
        options.model, options.base_url, role=options.role, settings=options.settings, store=options.store, prompt=options.prompt,
        tools=options.tools, timeout=options.timeout))  # fmt: skip
    for finding in findings:
        print(f"{MARKS[finding.status]}  {finding.name:<15} {finding.meaning}")
    return REFUSED if any(finding.status == "fail" for finding in findings) else FINISHED
