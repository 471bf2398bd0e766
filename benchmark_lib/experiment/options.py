"""Options of a run, each with its meaning and default, shared by the plan and `Experiment`."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from ..endpoint.http import check_base_url
from .players import Players


@dataclass
class Options:
    """The options of one run.

    Parameters
    ----------
    model : str
        The endpoint's name of a model, or a scripted agent such as ``scripted:oracle``; with `agent` any label.
    base_url, customer_base_url : str, optional
        An OpenAI-compatible endpoint of each side; OpenAI's own by default.
    agent : str or object, optional
        Your own agent: ``module:object`` or the object, with a ``reply(talk)`` method. A class or a function without
        arguments is called once per conversation.
    isolate : bool
        Run `agent`, given as ``module:object``, in a new process per conversation, without access to the run file.
    customer : str
        ``scripted``, or the name of a model.
    store, prompt : str or Path
        A store by name or folder, and a prompt file in place of the store's own.
    rules : str or Path, optional
        Rules of an operator to add to the prompt: names, or a YAML file, separated by commas; see
        `benchmark_lib.cases.operator_rules`.
    tools : str or dict of str to Tool, optional
        ``module:name`` of tools to add to the store's own; they replace tools of the same name.
    cases : str
        ``all``, or ids, intents, buckets and failure kinds separated by commas, with wildcards.
    trials, messages, seed, concurrency : int
        Trials per case, customer messages per conversation (at most), the seed of every random number, and concurrent
        conversations (at most).
    settings : str, Path or dict, optional
        Model settings by role (agent, customer), see `benchmark_lib.endpoint.settings`.
    timeout, tool_timeout : float, optional
        `timeout` limits one attempt of a model call (120 s unless the settings differ) and one reply of your own agent
        (600 s). `tool_timeout` limits one call of your own tool (30 s).
    budget_usd : float, optional
        Stop the run before everything on its file costs more than this.
    out : str or Path, optional
        The run file; by default a file in ``data/runs`` that is named after these options.
    progress, replay : bool
        Whether to show the progress line. Whether to play a file again from its own call rows, without an endpoint, and
        compare every record.
    retry_faults : bool
        Whether to play conversations once more that ended by a lasting fault.
    players : Players, optional
        Players of a side in place of a model; `model` or `customer` is then only their label.
    weights : str, optional
        Whether the model's weights are ``open`` or ``closed``, if ``data/weights.yaml`` does not say; recorded.
    executor, scheduler, workers : str, str, int, optional
        ``dask`` plays the conversations on a Dask cluster, see `benchmark_lib.extras.machines`. `scheduler` is its
        address. Without it a cluster starts on this machine for the run, with `workers` processes (default: one per
        core).
    """

    model: str | None = "scripted:oracle"
    _: KW_ONLY
    base_url: str | None = None
    agent: Any = None
    isolate: bool = False
    customer: str = "scripted"
    customer_base_url: str | None = None
    store: str | Path = "northline"
    prompt: str | Path | None = None
    rules: str | Path | None = None
    tools: Any = None
    cases: str = "all"
    trials: int = 3
    messages: int = 8
    seed: int = 0
    settings: Any = None
    concurrency: int = 50
    timeout: float | None = None
    tool_timeout: float | None = None
    budget_usd: float | None = None
    out: str | Path | None = None
    progress: bool = True
    replay: bool = False
    retry_faults: bool = False
    players: Players | None = None
    weights: str | None = None
    executor: str | None = None
    scheduler: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        """Refuse an address that must not appear in a notebook, even if no endpoint is used."""
        for url, name in ((self.base_url, "base_url"), (self.customer_base_url, "customer_base_url")):
            if url is not None:
                check_base_url(url, name)
