"""``deskbench doctor``."""

import argparse
import asyncio
from contextlib import nullcontext

from ...cli.codes import FINISHED, REFUSED
from ...cli.options import ENDPOINT, PROMPT, SETTINGS, STORE, TOOLS

MARKS = {"ok": "ok  ", "warn": "note", "fail": "FAIL"}
ARGUMENTS = {
    "MODEL": "the model's name at the endpoint; 'local' starts a small real model that needs no key",
    **ENDPOINT,
    "--role": {
        "help": "whose model settings to use (default: agent)",
        "default": "agent",
        "choices": ("agent", "customer", "judge"),
    },
    **SETTINGS,
    **STORE,
    **PROMPT,
    **TOOLS,
    "--timeout S": ("time limit for one attempt, in seconds (default: 120)", float),
}


def execute(options: argparse.Namespace) -> int:
    """Examine an endpoint and print a line per finding; return the refusal code if one fails."""
    from .doctor import examine
    from .launch import CALL_TIMEOUT_S, local_model

    local = options.model == "local" and not options.base_url
    if local:
        options.timeout = options.timeout or CALL_TIMEOUT_S
    names = ("role", "settings", "store", "prompt", "tools", "timeout")
    how = {name: getattr(options, name) for name in names}
    with local_model() if local else nullcontext(options.base_url) as base_url:
        findings = asyncio.run(examine(options.model, base_url, **how))
    for finding in findings:
        print(f"{MARKS[finding.status]}  {finding.name:<15} {finding.meaning}")
    return REFUSED if any(finding.status == "fail" for finding in findings) else FINISHED
