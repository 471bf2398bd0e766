"""The forecast that a person sees before the first paid call, and the question above a sum of one's choice, or above a number of calls."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..errors import BadInput
from ..scoring.written import usd
from .codes import FINISHED, RESUMABLE, note

if TYPE_CHECKING:
    from ..experiment import Experiment
    from ..experiment.forecast import Forecast

ASK_VARIABLE = "DESKBENCH_ASK_ABOVE"
ASK_ABOVE_USD = 5.0
"""The likely cost above which a terminal is asked where nobody chose another sum."""
ASK_ABOVE_CALLS = 2_000
"""The likely number of calls above which is asked where a price is not known."""


OPTIONS = {
    "--dry-run": "print the forecast of calls, tokens, cost and minutes, and exit",
    "--ask-above USD": (
        f"ask before a run that is likely to cost more than this (default: {ASK_VARIABLE}, or {ASK_ABOVE_USD:g} in a terminal; without a price, more than {ASK_ABOVE_CALLS:,} calls)",
        float,
    ),
    "--yes": "begin without asking",
}
"""What happens between the forecast and the first call."""


def agreed(experiments: Iterable[Experiment], options: argparse.Namespace, greet: bool = False) -> int | None:
    """Print the forecast of each run that calls models, and ask above the chosen sum, or above `ASK_ABOVE_CALLS`.

    Returns the exit code, or None where the run may begin. For `greet` see `Experiment.forecast`.

    Raises `BadInput` if there is nobody to ask, the answer is no, or an endpoint cannot be reached and nothing is on
    file.
    """
    from ..endpoint import EndpointError

    limit, chosen = _ask_above(options.ask_above)
    for experiment in experiments:
        if not (options.dry_run or experiment.calls_models):
            continue
        try:
            forecast = experiment.forecast(dry=options.dry_run, greet=greet)
        except EndpointError as error:
            if not experiment.on_file():
                raise BadInput(str(error)) from None
            note(f"what is finished is saved; {error}")
            return RESUMABLE
        print("\n".join(forecast.sentences(experiment.model)), flush=True)
        if not (options.dry_run or options.yes or experiment.budget_usd):
            _ask(forecast, limit, chosen)
    if options.dry_run:
        print("dry run: nothing was called")
        return FINISHED
    return None


def _ask_above(given: float | None) -> tuple[float, bool]:
    """The sum above which is asked (the option, the environment variable, or the default), and whether somebody chose it."""
    text = os.environ.get(ASK_VARIABLE, "").strip()
    name = "--ask-above" if given is not None else ASK_VARIABLE
    try:
        value = given if given is not None else float(text) if text else ASK_ABOVE_USD
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise BadInput(f"{name} must be a sum in USD from 0 up, not {text if given is None else given!r}: change it")
    return value, bool(given is not None or text)


def _ask(forecast: Forecast, limit: float, chosen: bool) -> None:
    """Ask whether to begin where the likely cost is above the sum, or unknown and the calls are many.

    Where nobody chose a sum, it is asked in a terminal alone.
    """
    if forecast.cost_usd is None:
        many = forecast.calls.likely > ASK_ABOVE_CALLS
        above = f"the run takes {forecast.calls.written()} calls at a price that is not known"
        way = "a price in data/prices.yaml"
    else:
        many = forecast.cost_usd.likely > limit
        above = f"the run is likely to cost {usd(forecast.cost_usd.likely, 2)}, more than {limit:g} USD"
        way = "a limit with --budget-usd"
    if not many:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        if chosen:
            raise BadInput(f"{above}, and nobody can be asked here: give --yes, or {way}")
        return
    print(f"{above}. Begin? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise BadInput(f"nothing was begun: give fewer --cases or --trials, or {way}")
