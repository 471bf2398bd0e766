"""What a run is to be: every option with its meaning and default, known to the plan and to `Experiment`."""

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
        The endpoint's name of a model, or a scripted agent such as ``scripted:oracle``; with `agent` a label of one's
        own.
    base_url, customer_base_url : str, optional
        An OpenAI-compatible endpoint of each side; OpenAI's own by default.
    agent : str or object, optional
        An agent of one's own: ``module:object`` or the object itself, with a ``reply(talk)`` method; a class or a
        function without arguments is called once a conversation.
    isolate : bool
        Run `agent`, then a ``module:object``, in a process of its own for each conversation, kept from the run file.
    customer : str
        ``scripted``, or the name of a model.
    store, prompt : str or Path
        A store by name, or its folder, and a prompt file in place of its own.
    rules : str or Path, optional
        Rules of an operator that are added to the prompt: names, or a YAML file, separated by commas; see
        `benchmark_lib.cases.operator_rules`.
    tools : str or dict of str to Tool, optional
        ``module:name`` of tools beside the store's own, which they replace where names agree.
    cases : str
        ``all``, or ids, intents, buckets and failure kinds separated by commas, with wildcards.
    trials, messages, seed, concurrency : int
        Trials a case; the most customer messages a conversation; what seeds every random number; the most conversations
        at once.
    settings : str, Path or dict, optional
        Model settings by role (agent, customer), see `benchmark_lib.endpoint.settings`.
    timeout, tool_timeout : float, optional
        Seconds one attempt of a model call may take, 120 unless the settings say otherwise, and one reply of an agent
        of one's own, 600; those of one call of a tool of one's own, 30 by default.
    budget_usd : float, optional
        The run stops before everything on its file costs more than this.
    out : str or Path, optional
        The run file; by default one in ``data/runs`` that is named after these options.
    progress, replay : bool
        Whether to show the progress line, and whether to play a file again from its own call rows, with no endpoint,
        and compare every record.
    retry_faults : bool
        Whether conversations that ended by a lasting fault are played once more.
    players : Players, optional
        Who sits in the chair of a side in place of a model; `model` or `customer` is then only their label.
    weights : str, optional
        Whether the model's weights are ``open`` or ``closed``, where ``data/weights.yaml`` does not say; recorded.
    executor, scheduler, workers : str, str, int, optional
        ``dask`` plays the conversations on the workers of a Dask cluster, see `benchmark_lib.extras.machines`; the
        address of its scheduler, without which one is started on this machine for the run with so many processes (by
        default one for each core).
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
        """Refuse an address that must not be seen in a notebook, also where a scripted agent has no use for it."""
        for url, name in ((self.base_url, "base_url"), (self.customer_base_url, "customer_base_url")):
            if url is not None:
                check_base_url(url, name)
