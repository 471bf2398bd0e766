"""`Experiment`: one model, one setting, many cases and trials; from a script, the command line or a notebook cell."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..runfile import RunFile, connect_to_write, create, upsert


@dataclass
class Experiment:
    """One run to be made, gone on with or replayed.

    Parameters
    ----------
    model : str
        The endpoint's name of a model, or a scripted agent such as ``scripted:oracle``; with `agent` a label of one's own.
    base_url : str, optional
        An OpenAI-compatible endpoint; OpenAI's own by default.
    agent : str or object, optional
        An agent of one's own: ``module:object`` or the object itself, with a ``reply(talk)`` method; a class or a function
        without arguments is called once a conversation.
    isolate : bool
        Whether `agent`, then a ``module:object``, runs in a process of its own for each conversation.
    customer : str
        ``scripted``, or the name of a model; `customer_base_url` says where.
    store : str or Path
        A store by name, or its folder.
    prompt : str or Path, optional
        A prompt file in place of the store's own.
    tools : str or dict of str to Tool, optional
        ``module:name`` of tools beside the store's own, which they replace where names agree.
    cases : str
        ``all``, or ids, intents, buckets and failure kinds parted by commas, with wildcards.
    trials, messages, seed : int
        Trials a case; the most customer messages a conversation; what seeds every random number.
    settings : str, Path or dict, optional
        Model settings by role (agent, customer), see `benchmark_lib.endpoint.settings`.
    concurrency : int
        The most conversations at once.
    timeout : float, optional
        Seconds one attempt of a model call may take, 120 unless the settings say otherwise; and one reply of an isolated agent, 600.
    tool_timeout : float, optional
        Seconds one call of a tool of one's own may take; 30 by default.
    budget_usd : float, optional
        The run stops before everything on its file costs more than this.
    out : str or Path, optional
        The run file; by default one in ``data/runs`` that is named after these options.
    progress : bool
        Whether to show the progress line.
    replay : bool
        Play a file again from its own call rows, with no endpoint, and compare every record.
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
    stopped: Any = field(default=None, init=False, repr=False)
    replayed: int = field(default=0, init=False, repr=False)
    _engine: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse an address that must not be seen in a notebook, also where a scripted agent has no use for it."""
        from ..endpoint.address import check_base_url

        for url, name in ((self.base_url, "base_url"), (self.customer_base_url, "customer_base_url")):
            if url is not None:
                check_base_url(url, name)

    async def run(self) -> RunFile:
        """Play what is not on file yet and return the run file.

        `stopped` says afterwards whether the run ended early (budget, faults of the endpoint) and how to go on; None if not.
        `replayed` is the number of conversations that a replay played again.

        Raises
        ------
        BadInput
            Before anything is spent, or when the endpoint refuses key, model or settings at the first call.
        CannotSave
            When the file cannot be written any more (disk full); everything acknowledged is on it.
        """
        from .plan import prepare

        self.stopped = None
        plan = prepare(self)
        if self.replay:
            from .replay import replay

            run, self.replayed = await replay(plan)
            return run
        with _held(plan) as run:
            from .collector import quiet_collector
            from .engine import Engine

            self._engine = Engine(plan, run)
            try:
                with quiet_collector():
                    self.stopped = await self._engine.play()
            finally:
                self._say_how_it_ended(run)
                self._engine = None
            if self.stopped is not None and self.stopped.code == 2:
                raise BadInput(self.stopped.sentence)
        return run

    @property
    def running(self) -> bool:
        """Whether conversations are being played."""
        return self._engine is not None

    def stop(self, code: int, reason: str, grace_s: float = 8.0) -> None:
        """Ask a run in progress to end: no call begins any more, those in flight are waited for up to `grace_s` seconds."""
        from .budget import Stop

        if self._engine is not None:
            self._engine.stop(Stop(code, reason), grace_s)

    def _say_how_it_ended(self, run: RunFile) -> None:
        """In a notebook, say in one line why a run ended early; the command line says it itself."""
        from .progress import in_notebook

        engine = self._engine
        if not (self.progress and in_notebook()) or engine.done == engine.total:
            return
        why = f"{self.stopped.sentence}; " if self.stopped else ""
        print(f"{why}{engine.done} of {engine.total} conversations are on file in {run.path}: run the cell again to go on",
              file=sys.stderr)  # fmt: skip


@contextmanager
def _held(plan: Any) -> Iterator[RunFile]:
    """The plan's run file, made or checked, held against a second process; refused before its first call, it is taken away again."""
    from .writer import RunLock

    path = plan.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path.parent} cannot be made ({error.strerror}): give another --out") from None
    with RunLock(path):
        begins = not path.exists()
        run = _begin(plan) if begins else _go_on(plan)
        try:
            yield run
        except BadInput:
            if begins and not any(run.counts().values()):
                path.unlink()
            raise


def _begin(plan: Any) -> RunFile:
    try:
        create(plan.path, {**plan.manifest, "sessions": [plan.session]})
    except Exception as error:
        raise BadInput(f"{plan.path} cannot be written ({error}): give another --out") from None
    return RunFile(plan.path)


def _go_on(plan: Any) -> RunFile:
    from .manifest import merged

    run = RunFile(plan.path)
    run.check()
    old = run.manifest
    new = merged(old, plan.manifest, plan.path)
    new["sessions"] = [*old["sessions"], plan.session]
    try:
        db = connect_to_write(plan.path)
        try:
            db.execute("BEGIN IMMEDIATE")
            _put_manifest(db, new)
            db.execute("COMMIT")
        finally:
            db.close()
    except Exception as error:
        raise _refused(plan.path, error) from None
    return run


def _put_manifest(db: Any, manifest: dict[str, Any]) -> None:
    import orjson

    for key in ("cases", "trials", "planned", "sessions"):
        db.execute(upsert("manifest"), (key, orjson.dumps(manifest[key]).decode()))


def _refused(path: Path, error: Exception) -> Exception:
    """A full disk can be mended and gone on from; whatever else keeps a file from being written is bad input."""
    from .writer import CannotSave

    if "full" in str(error):
        return CannotSave(f"{path} cannot be written any more ({error})")
    return BadInput(f"{path} cannot be written ({error}): check its permissions, or give another --out")
