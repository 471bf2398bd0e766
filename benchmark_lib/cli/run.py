"""``deskbench run``."""

import argparse

from ..errors import BadInput
from .options import ENDPOINT, PATTERN, PROMPT, RUN_FILE, STORE, TOOLS, TRIALS, executor
from .play import BEFORE, agreed, play

NOT_OF_THE_RUN = ("command", "execute", "dry_run", "yes", "play_on")
"""Options of the command line that are not part of the run."""

ARGUMENTS = {
    "MODEL?": "the model's name at the endpoint (its key in OPENAI_API_KEY), or scripted:NAME",
    **ENDPOINT,
    "--agent MODULE:OBJECT": "your own agent; MODEL is then only its label",
    "--isolate": "run your own agent in a separate process that cannot reach the run file, the cases or your keys; "
    "the network, local ports and abstract Unix sockets remain accessible",
    "--customer MODEL": ("who plays the customer: scripted (default) or a model's name", "scripted"),
    "--customer-base-url URL": "base URL for the customer's model",
    **STORE,
    **PROMPT,
    "--rules RULES": "rules added to the prompt: ticket_first, no_competitors, at_most_80_words, sign_with_desk, "
    "no_emojis, refund_approved, customer_language, or your own YAML file, separated by commas",
    **TOOLS,
    "--cases PATTERN": (
        f"{PATTERN}wordings for twelve cases in five more voices each, factorial for the evidence x "
        "pressure table, both reported separately; `deskbench cases` lists all names with counts",
        "all",
    ),
    "--play-on": "on a store of real chats: let the customer go on after the decision",
    **TRIALS,
    "--messages N": ("maximum number of customer messages per conversation (default: 8)", 8),
    "--seed N": ("random seed (default: 0)", 0),
    "--settings FILE": (
        "YAML file with settings for the agent and the customer; put request fields under body: agent: {body: "
        "{temperature: 1}}"
    ),
    "--concurrency N": ("maximum number of conversations at once (default: 50)", 50),
    **executor("play"),
    "--timeout S": ("time limit for one attempt of a model call, in seconds (default: 120)", float),
    "--tool-timeout S": ("time limit for one call of your own tools, in seconds (default: 30)", float),
    **BEFORE,
    "--budget-usd X": ("stop before the run costs more than this", float),
    **RUN_FILE,
    "--retry-faults": "also retry the conversations that the endpoint refused or that failed permanently",
    "--replay": "replay a finished run from its own calls, without an endpoint, and compare every record",
}


def execute(options: argparse.Namespace) -> int:
    """Play one experiment."""
    from ..experiment import Experiment

    if options.model is None and options.agent is None:
        raise BadInput("no model is named: run `deskbench run MODEL`; scripted:oracle needs no key")
    if options.dry_run and options.replay:
        raise BadInput("a replay calls nothing, so there is nothing to forecast: omit --dry-run or --replay")
    options.cases += ",play-on" if options.play_on else ""
    experiment = Experiment(**{k: v for k, v in vars(options).items() if k not in NOT_OF_THE_RUN})
    code = None if options.replay else agreed([experiment], options)
    return play([experiment]) if code is None else code
