"""List, find, archive, delete and merge the run files of a folder."""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..outputs import built_beside, require_absent, writing
from ..project import project_folder, slug
from ..records import Conversation, content_hash, is_played, source_of
from ..runfile import COLUMNS, SUFFIX, RunFile, create, is_hidden, upsert, writing_rows
from .again import PRICED
from .manifest import counted_on, differences, now
from .writer import RunLock

OLD = "old"
"""The subfolder for archived run files; nothing is loaded from it."""


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
    hidden: bool = False
    problem: str = ""

    @property
    def partial(self) -> bool:
        """True if conversations are missing."""
        return self.run is not None and self.finished < self.planned

    @property
    def played(self) -> bool:
        """True if people or programs played it in a chair; such a run cannot be made again."""
        return self.run is not None and is_played(source_of(self.run.manifest))


def runs_folder() -> Path:
    """Return the folder in which runs are found by name: the project's ``data/runs``."""
    return project_folder() / "data" / "runs"


def list_runs(folder: Path | None = None) -> list[ListedRun]:
    """List the run files of a folder, the latest session first and hidden files last."""
    runs = [describe_run(path) for path in sorted((folder or runs_folder()).glob(f"*{SUFFIX}"))]
    return sorted(runs, key=lambda one: (not one.hidden, one.last or datetime.min.replace(tzinfo=UTC)), reverse=True)


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
    return ListedRun(path, run, finished, planned, last, RunLock(path).taken, is_hidden(path))


def find_run(name: str, folder: Path | None = None, *, hidden: bool = False) -> Path:
    """Return the run file at a path, or with a file name, run_id or model in ``data/runs``.

    If several match, prefer visible files or, with `hidden`, hidden ones. Raise `BadInput` unless exactly one is left.
    """
    with suppress(OSError, ValueError):  # such as a name that is too long
        if Path(name).is_file():
            return Path(name)
    known: dict[str, list[Path]] = {}
    for one in list_runs(folder):
        manifest = one.run.manifest if one.run else {}
        names = {one.path.name, one.path.stem, manifest.get("run_id"), manifest.get("model")} - {None}
        for word in names:
            known.setdefault(str(word), []).append(one.path)
    paths = known.get(name, [])
    paths = [path for path in paths if is_hidden(path) == hidden] or paths
    if len(paths) == 1:
        return paths[0]
    if paths:
        raise BadInput(f"{name!r} has {len(paths)} runs: name one of {', '.join(p.stem for p in paths[:8])}")
    near = difflib.get_close_matches(name, known, 1, 0.4)
    hint = f"did you mean {near[0]}?" if near else "see `deskbench runs`"
    raise BadInput(f"there is no run {name!r} in {folder or runs_folder()}: {hint}")


def archive(path: Path) -> Path:
    """Move a run file into ``old/`` in its folder, so that the same command starts afresh.

    Return the new path. Raise `BadInput` if a run is writing it.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    new = path.parent / OLD / f"{path.stem[:200]}-{stamp}-{secrets.token_hex(2)}{SUFFIX}"
    with RunLock(path), writing(path.parent, ""):
        with writing_rows(path):  # moves into the file the rows that a killed run left in its log
            pass
        new.parent.mkdir(exist_ok=True)
        path.replace(new)
    return new


def remove_partial(path: Path) -> None:
    """Delete a run file that lacks conversations; refuse a complete file or one in use."""
    with RunLock(path), writing(path, ""):
        if not describe_run(path).partial:
            raise BadInput(f"{path} is finished: delete the file itself to remove it")
        for end in ("-wal", "-shm", "-journal", ""):
            Path(f"{path}{end}").unlink(missing_ok=True)


def merge(first: Path, second: Path, out: Path) -> RunFile:
    """Merge the trials of two runs of one setting into a new file; renumber the second run's.

    Include calls, scores and verdicts. A customer's behaviour depends on the trial's number, so the new file keeps the
    original numbers (see `played_as`). It then replays and resumes as the two would. Raise `BadInput` if the two differ
    in an input, are the same run, or are runs of a scripted agent, whose trials would be the same.
    """
    require_absent(out)
    runs = [RunFile(path) for path in (first, second)]
    manifest, other = (run.manifest for run in runs)
    if manifest["run_id"] == other["run_id"]:
        raise BadInput(f"{first} and {second} are the same run: name two different runs")
    if differing := differences(manifest, other):
        raise BadInput(f"{first} and {second} are not of one setting: {'; '.join(differing[:6])}: choose other runs")
    if manifest["source"] == "scripted" and manifest["inputs"]["customer"]["value"] == "scripted":
        mend = "play one run with more --trials instead"
        raise BadInput(f"{manifest['model']} does the same thing in every run: {mend}")
    for run in runs:
        run.check()
    with RunLock(first), RunLock(second), writing(out), built_beside(out) as building:
        create(building, _merged_manifest(manifest, other))
        with writing_rows(building) as db:
            for run, before in zip(runs, ({}, manifest["planned"]), strict=True):
                for table, row in _rows(run, before):
                    db.execute(upsert(table), row)
    return RunFile(out)


def _merged_manifest(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    planned = {
        case: first["planned"].get(case, 0) + second["planned"].get(case, 0)
        for case in {**first["planned"], **second["planned"]}
    }
    priced = [entry for manifest in (first, second) for entry in manifest.get(PRICED, ())]
    return {
        **first,
        **({PRICED: priced} if priced else {}),
        "run_id": f"{slug(first['model'])}-{secrets.token_hex(4)}",
        "created": now(),
        "cases": {**first["cases"], **second["cases"]},
        "planned": planned,
        "trials": max(planned.values()),
        "sessions": [*first["sessions"], *second["sessions"]],
        "merged": [first["run_id"], second["run_id"]],
        "counted_on": counted_on(first, second),
    }


def _rows(run: RunFile, before: dict[str, int]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    # a run's rows for the merged file, each with its table, its new number and its new hash
    hashes: dict[str, str] = {}
    for table in ("conversations", "calls", "faults", "scores", "verdicts"):
        for values in run.rows(table):
            row = dict(zip(COLUMNS[table], values, strict=True))
            if "trial" in row:
                row["trial"] += before.get(row["case_id"], 0)
            if table == "conversations":
                record = Conversation.from_json(row["record"])
                record.trial = row["trial"]
                row["record"] = record.to_json()
                hashes[row["record_hash"]] = content_hash(row["record"])
            if "record_hash" in row:
                row["record_hash"] = hashes.get(row["record_hash"], row["record_hash"])
            yield table, tuple(row.values())
