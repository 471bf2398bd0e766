"""``deskbench run``."""

from __future__ import annotations

import argparse

from ..errors import BadInput

ALL_SCRIPTED = "scripted:all"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench run``."""
    add = parser.add_argument
    add("model", metavar="MODEL", nargs="?", help="the endpoint's name of a model, or scripted:NAME, or scripted:all")
    add("--base-url", metavar="URL", help="an OpenAI-compatible endpoint (default: OpenAI's own)")
    add("--agent", metavar="MODULE:OBJECT", help="an agent of your own; MODEL is then only its label")
    add("--isolate", action="store_true", help="run the agent of your own in a process of its own, which sees only messages and tools")
    add("--customer", default="scripted", metavar="MODEL", help="scripted (default) or the name of a model")
    add("--customer-base-url", metavar="URL", help="the endpoint of the customer's model")
    add("--store", default="northline", metavar="DIR", help="a store by name or its folder (default: northline)")
    add("--prompt", metavar="FILE", help="a system prompt in place of the store's")
    add("--tools", metavar="MODULE:NAME", help="tools of your own beside the store's")
    add("--cases", default="all", metavar="PATTERN", help="ids, intents, buckets or failure kinds, parted by commas, with * and ?")
    add("--trials", type=int, default=3, help="trials a case (default: 3)")
    add("--messages", type=int, default=8, help="the most customer messages a conversation (default: 8)")
    add("--seed", type=int, default=0, help="seeds every random number (default: 0)")
    add("--settings", metavar="FILE", help="model settings by role, a YAML file")
    add("--concurrency", type=int, default=50, help="the most conversations at once (default: 50)")
    add("--timeout", type=float, metavar="S", help="seconds one attempt of a model call may take (default: 120)")
    add("--tool-timeout", type=float, metavar="S", help="seconds one call of a tool of your own may take (default: 30)")
    add("--budget-usd", type=float, metavar="X", help="stop before the run file has cost more than this")
    add("--out", metavar="FILE", help="the run file (default: one in data/runs, named after the options)")
    add("--replay", action="store_true", help="play a finished file again without an endpoint and compare every record")


def execute(options: argparse.Namespace) -> int:
    """Play one experiment, or that of every scripted agent."""
    from ..experiment import Experiment
    from ..experiment.demo import every_scripted
    from .play import play

    if options.model is None and options.agent is None:
        raise BadInput("no model is named: write `deskbench run MODEL`, where scripted:oracle needs no key")
    experiment = Experiment(**{k: v for k, v in vars(options).items() if k not in ("command", "execute")})
    return play(every_scripted(experiment) if options.model == ALL_SCRIPTED else [experiment])
