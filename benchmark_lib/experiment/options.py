"""Options of a run: meanings, defaults, checks, and the run file that they name."""

import math
import os
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from ..endpoint.http import check_base_url
from ..errors import BadInput
from ..project import project_folder
from .manifest import brief, default_name
from .players import Players, name_of

SCRIPTED = "scripted:"
WHOLE = {"trials": (1, 100_000), "messages": (1, 10_000), "concurrency": (1, 10_000), "seed": (0, 2**63 - 1)}
"""Lowest and highest allowed values of the options that are whole numbers."""
LONGEST_NAME = 240
"""Maximum number of bytes in a run file's name: file systems allow 255, and lock files have longer names."""


@dataclass
class Options:
    """The options of one run.

    Parameters
    ----------
    model : str
        A model's name at the endpoint, or a scripted agent such as ``scripted:oracle``; with `agent`, any label.
    base_url, customer_base_url : str, optional
        An OpenAI-compatible endpoint for each side; OpenAI's own by default.
    agent : str or object, optional
        Your own agent: ``module:object`` or the object, with a ``reply(talk)`` method. A class or a function without
        arguments is called once per conversation.
    isolate : bool
        Run `agent`, given as ``module:object``, in a new process per conversation, without access to the run file.
    customer : str
        ``scripted``, or the name of a model.
    store, prompt : str or Path
        A store by name or folder, and a prompt file to use instead of the store's own prompt.
    rules : str or Path, optional
        Operator rules to add to the prompt: names or a YAML file, separated by commas; see
        `benchmark_lib.cases.operator_rules`.
    tools : str or dict of str to Tool, optional
        ``module:name`` of tools to add to the store's own; they replace tools of the same name.
    cases : str
        ``all``, or ids, intents, buckets and failure kinds separated by commas, with wildcards.
    trials, messages, seed, concurrency : int
        Trials per case, maximum customer messages per conversation, the seed of every random number, and maximum
        concurrent conversations.
    settings : str, Path or dict, optional
        Model settings by role (agent, customer); see `benchmark_lib.endpoint.settings`.
    timeout, tool_timeout : float, optional
        `timeout` limits one attempt of a model call (default 120 s or as in the settings) and one reply of your own
        agent (default 600 s). `tool_timeout` limits one call of your own tools (default 30 s).
    budget_usd : float, optional
        Stop the run before the total cost on its file exceeds this.
    out : str or Path, optional
        The run file; by default a file in ``data/runs`` that is named after these options.
    progress, replay : bool
        `progress` shows the progress line. `replay` plays a file again from its own call rows, without an endpoint, and
        compares every record.
    retry_faults : bool
        Whether to play again the conversations that ended with a lasting fault.
    players : Players, optional
        Players of a side in place of a model; `model` or `customer` is then only their label.
    executor, scheduler, workers : str, str, int, optional
        ``dask`` plays the conversations on a Dask cluster, see `benchmark_lib.extras.machines`. `scheduler` is the
        cluster's address. Without it, a cluster of `workers` processes (default: one per core) starts on this machine
        for the run.
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
    executor: str | None = None
    scheduler: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        """Refuse an address that must not appear in a notebook, even if no endpoint is used."""
        for url, name in ((self.base_url, "base_url"), (self.customer_base_url, "customer_base_url")):
            if url is not None:
                check_base_url(url, name)

    @property
    def label(self) -> str:
        """The name of the model, or of the user's own agent if no model is named."""
        model = self.model if self.model or self.agent is None else name_of(self.agent)
        if not isinstance(model, str) or not model.strip() or not model.isprintable():
            mend = "use the model's name at the endpoint, or scripted:oracle"
            raise BadInput(f"the model {model!r} is not a name: {mend}")
        if model.startswith(SCRIPTED) and self.agent is not None:
            raise BadInput(f"{model} and --agent both name an agent: omit one of them")
        return model

    @property
    def prompt_file(self) -> Path | None:
        """The prompt file; None for the store's own prompt."""
        return Path(self.prompt) if self.prompt else None

    def check(self) -> None:
        """Raise `BadInput` for a number out of range or an unknown word."""
        for name, (least, most) in WHOLE.items():
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise BadInput(f"{name} must be a whole number of at least {least}, not {value!r}: change --{name}")
            if value > most:
                raise BadInput(f"{name} must be at most {most}: change --{name}")
        for name in ("timeout", "tool_timeout", "budget_usd"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (number and 0 < value < math.inf):
                option = name.replace("_", "-")
                raise BadInput(f"{name} must be a number above 0, not {value!r}: change --{option}")

    def path(self) -> Path:
        """Return the run file: `out`, or a file in ``data/runs`` that is named after the options."""
        if self.out is not None:
            return _usable(Path(self.out))
        settings = self.settings if isinstance(self.settings, dict) else self.settings and str(self.settings)
        urls = [url and url.strip().rstrip("/") for url in (self.base_url, self.customer_base_url)]
        rest = [
            *(self.prompt and str(self.prompt), name_of(self.tools), settings, self.seed, self.messages),
            *(["isolate"] if self.isolate else []),
            *([f"rules {self.rules}"] if self.rules else []),
            *([self.players.side, self.players.source] if self.players else []),
        ]
        paths, root = list[Path](), project_folder()
        own = os.path.relpath(self.store, root) if os.path.isfile(f"{self.store}/store.yaml") else str(self.store)
        for store in (own, str(self.store)):  # names used to depend on how the folder is written
            given = [urls[0], name_of(self.agent), self.customer, urls[1], store, *rest]
            paths.append(root / "data" / "runs" / default_name(self.label, given))
        return next(filter(Path.exists, paths), paths[0])


def _usable(path: Path) -> Path:
    name = brief(repr(str(path)))
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", error)
        raise BadInput(f"--out {name} cannot be used ({why}): choose another --out") from None
    if path.is_dir():
        raise BadInput(f"{path} is a folder: name a file in it with --out")
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise BadInput(f"--out {name} has a name longer than {LONGEST_NAME} bytes: choose a shorter one")
    return path
