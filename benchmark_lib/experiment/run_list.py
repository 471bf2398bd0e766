"""List, find and set aside the run files of a folder."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..cases.load import content_of, store_name, store_near, store_played
from ..commands import command_on_a_page
from ..errors import BadInput
from ..outputs import writing
from ..project import project_folder
from ..runfile import SUFFIX, RunFile, set_aside, writing_rows
from ..store import Store
from .writer import RunLock


@dataclass(frozen=True)
class ListedRun:
    """One run file of a folder.

    `run` is None if the file is unreadable; `problem` then says why. `last` is the start of its latest session.
    """

    path: Path
    run: RunFile | None
    finished: int = 0
    planned: int = 0
    last: datetime | None = None
    writing: bool = False
    problem: str = ""

    @property
    def partial(self) -> bool:
        """True if conversations are missing."""
        return self.run is not None and self.finished < self.planned


def runs_folder() -> Path:
    """Return the folder in which runs are found by name: the project's ``data/runs``."""
    return project_folder() / "data" / "runs"


def list_runs(folder: Path | None = None) -> list[ListedRun]:
    """List the run files of a folder, the latest session first."""
    runs = [describe_run(path) for path in sorted((folder or runs_folder()).glob(f"*{SUFFIX}"))]
    return sorted(runs, key=lambda one: one.last or datetime.min.replace(tzinfo=UTC), reverse=True)


def describe_run(path: Path) -> ListedRun:
    """Describe one run file of a folder; an unreadable file gets a `problem`."""
    try:
        run = RunFile(path)
        manifest, finished = run.manifest, run.counts()["finished"]
    except BadInput as error:
        return ListedRun(path, None, problem=str(error))
    started = [session["started"] for session in manifest["sessions"] if session.get("started")]
    last = datetime.fromisoformat(max(started)) if started else None
    planned = sum(manifest["planned"].values())
    return ListedRun(path, run, finished, planned, last, RunLock(path).taken)


def outdated(runs: Iterable[RunFile], near: Sequence[Path] = ()) -> list[str]:
    """Return a sentence for each store here about the runs played before it changed."""
    old = defaultdict[str, list[str]](list)
    for run in runs:
        name, home = store_name(run.manifest), run.path.resolve().parent
        places = (*near, home)
        if store_played(run.manifest, places) is None and store_near(name, "", (*places, Path.cwd(), project_folder())):
            old[name].append(run.path.stem if home == runs_folder() else run.path.name)
    return [
        f"Played before the desk {name} changed: {', '.join(names)}. Their scores follow the old files, "
        "and the desk's rules and costs are missing. Set them aside with "
        f"`{command_on_a_page('runs', 'fresh', *names)}`, then run the models again."
        for name, names in old.items()
    ]


def find_run(name: str, folder: Path | None = None, store: Store | None = None) -> Path:
    """Return the run file at a path, or with a file name, run_id or model in ``data/runs``.

    With a `store`, only runs on its present content match. Raise `BadInput` unless exactly one matches.
    """
    with suppress(OSError, ValueError):  # such as a name that is too long
        if Path(name).is_file():
            return Path(name)
    known, older = dict[str, list[Path]](), dict[str, list[Path]]()
    for one in list_runs(folder):
        manifest = one.run.manifest if one.run else {}
        if store and manifest and store_name(manifest) != store.name:
            continue
        now = not (store and manifest) or manifest["inputs"]["store"]["hash"] == content_of(store)
        names = {one.path.name, one.path.stem, manifest.get("run_id"), manifest.get("model")} - {None}
        for word in names:
            (known if now else older).setdefault(str(word), []).append(one.path)
    if len(paths := known.get(name, [])) == 1:
        return paths[0]
    if paths:
        raise BadInput(f"{name!r} has {len(paths)} runs: name one of {', '.join(p.stem for p in paths[:8])}")
    near = difflib.get_close_matches(name, known, 1, 0.4)
    hint = f"did you mean {near[0]}?" if near else "see `deskbench runs`"
    if name in older:
        hint = f"it was played before the files changed: `deskbench runs fresh {older[name][0]}`, then run it again"
    on = " on this store as it is now" if store else ""
    raise BadInput(f"there is no run {name!r}{on} in {folder or runs_folder()}: {hint}")


def archive(path: Path) -> Path:
    """Move a run file into ``old/`` in its folder, so that the same command starts afresh.

    Return the new path. Raise `BadInput` if a run is writing it.
    """
    with RunLock(path), writing(path.parent, ""):
        with writing_rows(path):  # moves into the file the rows that a killed run left in its log
            pass
        return set_aside(path)
