"""``deskbench run``."""

from __future__ import annotations

import argparse

from ..errors import BadInput
from . import asking
from .machines import executor_arguments

ALL_SCRIPTED = "scripted:all"
NOT_OF_THE_RUN = ("command", "execute", "dry_run", "ask_above", "yes")
"""What the command line alone is concerned with."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench run``."""
    _who_plays_what(parser)
    _how(parser)
    asking.arguments(parser)
    add = parser.add_argument
    add("--budget-usd", type=float, metavar="X", help="stop before the run costs more than this")
    add("--out", metavar="FILE", help="the run file (default: in data/runs, named after the options)")
    add(
        "--replay",
        action="store_true",
        help="play a finished run again from its own calls, without an endpoint, and compare every record",
    )


def _who_plays_what(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "model",
        metavar="MODEL",
        nargs="?",
        help="the model's name at the endpoint (its key in OPENAI_API_KEY), scripted:NAME, or scripted:all",
    )
    add("--base-url", metavar="URL", help="base URL of an OpenAI-compatible endpoint (default: OpenAI)")
    add("--agent", metavar="MODULE:OBJECT", help="your own agent; MODEL is then only its label")
    add(
        "--isolate",
        action="store_true",
        help="run your own agent in a separate process that sees only messages and tools",
    )
    add(
        "--customer",
        default="scripted",
        metavar="MODEL",
        help="who plays the customer: scripted (default) or a model's name",
    )
    add("--customer-base-url", metavar="URL", help="base URL for the customer's model")
    add("--store", default="northline", metavar="DIR", help="name or folder of a store (default: northline)")
    add("--prompt", metavar="FILE", help="a system prompt to use instead of the store's")
    add(
        "--rules",
        metavar="RULES",
        help="rules added to the prompt: ticket_first, no_competitors, at_most_80_words, sign_with_desk, no_emojis, customer_language, or a YAML file of your own, separated by commas",
    )
    add("--tools", metavar="MODULE:NAME", help="your own tools, in addition to the store's")
    add(
        "--cases",
        default="all",
        metavar="PATTERN",
        help="case ids, intents, buckets or failure kinds, separated by commas; * and ? are wildcards; hard for the hard set, hard:NAME for a part of it; "
        "wordings for twelve cases told again in five voices each, factorial for the evidence x pressure table, both reported apart; "
        "`deskbench cases` lists all names with counts",
    )


def _how(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--trials", type=int, default=3, metavar="N", help="how often each case is played (default: 3)")
    add(
        "--messages",
        type=int,
        default=8,
        metavar="N",
        help="maximum number of customer messages per conversation (default: 8)",
    )
    add("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    add(
        "--settings",
        metavar="FILE",
        help="YAML file with settings (temperature, reasoning_effort, ...) of agent and customer",
    )
    add(
        "--weights",
        metavar="open|closed",
        help="say whether the model's weights are open, where data/weights.yaml does not; the run file keeps it",
    )
    add(
        "--concurrency", type=int, default=50, metavar="N", help="maximum number of conversations at once (default: 50)"
    )
    executor_arguments(parser, "play")
    add(
        "--timeout",
        type=float,
        metavar="S",
        help="time limit for one attempt of a model call, in seconds (default: 120)",
    )
    add(
        "--tool-timeout",
        type=float,
        metavar="S",
        help="time limit for one call of your own tools, in seconds (default: 30)",
    )


def execute(options: argparse.Namespace) -> int:
    """Play one experiment, or that of every scripted agent."""
    from ..experiment import Experiment
    from ..experiment.demo import every_scripted
    from .play import play

    if options.model is None and options.agent is None:
        raise BadInput("no model is named: write `deskbench run MODEL`, where scripted:oracle needs no key")
    if options.dry_run and options.replay:
        raise BadInput("a replay calls nothing, so there is nothing to forecast: leave --dry-run or --replay out")
    experiment = Experiment(**{k: v for k, v in vars(options).items() if k not in NOT_OF_THE_RUN})
    experiments = every_scripted(experiment) if options.model == ALL_SCRIPTED else [experiment]
    code = None if options.replay else asking.agreed(experiments, options)
    return play(experiments) if code is None else code
