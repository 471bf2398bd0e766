"""Progress line and summary of a run with denominators, and the list of runs in a folder."""

from __future__ import annotations

import difflib
import io
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

from ..cases.load import content_of, store_name, store_near, store_played
from ..commands import command_on_a_page
from ..errors import BadInput
from ..project import project_folder, writing
from ..records import CALL_IN_TEXT, LASTING, UNPROTECTED, Conversation
from ..runfile import SUFFIX, RunFile, addresses, set_aside, writing_rows
from ..scoring.written import KINDS_SHOWN, REASON_SHOWN, cost_in_words, failed_calls
from ..store import Store
from .recorder import is_estimate
from .scoring import ScoreFault, score_faults
from .writer import RunLock


def summary(run: RunFile) -> list[str]:
    """Return the progress of a run, the success by bucket and the cost, one sentence per line."""
    manifest, counts, scores = run.manifest, run.counts(), run.scores()
    planned = manifest["planned"].values()
    few, most = min(planned), max(planned)
    trials = f"{most:,} trial{'s' * (most > 1)}" if few == most else f"{few:,} to {most:,} trials"
    size = f"{len(planned)} case{'s' * (len(planned) != 1)} x {trials}"
    waiting = f", {counts['again']} to be tried again" if counts["again"] else ""
    progress = f"{counts['finished']:,} of {sum(planned):,} conversations finished ({size}){waiting}"
    return [
        f"{manifest['model']}: {progress}",
        _successes(run, scores),
        *_without_score(run, scores),
        *_abstained(scores),
        *_faults(run),
        *_calls_in_text(run),
        *[f"{UNPROTECTED}: {one[UNPROTECTED]}" for one in manifest["sessions"][-1:] if UNPROTECTED in one],
        *several_endpoints(manifest),
        _cost(run, counts["calls"]),
    ]


def several_endpoints(manifest: dict[str, Any]) -> list[str]:
    """Return a sentence for each side of a run that more than one endpoint served."""
    several = ((side, urls) for side, urls in addresses(manifest).items() if len(urls) > 1)
    return [f"{len(urls)} endpoints served the {side} of this run: {', '.join(urls)}" for side, urls in several]


def _cost(run: RunFile, calls: int) -> str:
    cost, unpriced = run.cost()
    estimated = sum(is_estimate(call) for call in run.calls())
    notes = [f"{estimated} of them estimated, because the endpoint reported no tokens"] * bool(estimated)
    counted = f"{format(calls, ',') if calls else 'no'} model call{'s' * (calls != 1)}"
    of_calls = f" ({'; '.join(notes)})" if notes else ""
    return f"{counted}, {cost_in_words(cost, calls, unpriced, run.own_calls())}{of_calls}"


def _successes(run: RunFile, latest: dict[str, dict[str, Any]]) -> str:
    scores = [latest[digest] for _, _, digest, _ in run.conversations() if digest in latest]
    ended = Counter((s["bucket"], bool(s["success"])) for s in scores if s.get("success") is not None)
    buckets = {bucket: ended[bucket, True] + ended[bucket, False] for bucket, _ in ended}
    parts = [f"{name.replace('_', ' ')} {ended[name, True]}/{count}" for name, count in buckets.items()]
    return f"conversations that succeeded: {', '.join(parts) or 'none has a score'}"


def _without_score(run: RunFile, scores: dict[str, dict[str, Any]]) -> list[str]:
    kinds: dict[str, list[ScoreFault]] = {}
    for fault in score_faults(run, scores):
        kinds.setdefault(fault.reason, []).append(fault)
    shown = [
        f"{len(faults)} x {shorten(reason, REASON_SHOWN)}, first in {faults[0].case_id} trial {faults[0].trial}"
        for reason, faults in [*kinds.items()][:KINDS_SHOWN]
    ]
    more = [f"{len(kinds) - KINDS_SHOWN} other reasons"] * (len(kinds) > KINDS_SHOWN)
    return [f"without a score: {'; '.join([*shown, *more])}"] if kinds else []


def _abstained(scores: dict[str, dict[str, Any]]) -> list[str]:
    failed = Counter(pair for score in scores.values() for pair in (score.get("abstained") or {}).items())
    words = "{} abstained in {} of the conversations, which is a fault of Deskbench: {}"
    return [words.format(name, count, why) for (name, why), count in failed.most_common(KINDS_SHOWN)]


def _faults(run: RunFile) -> list[str]:
    endings, lines = run.endings(), failed_calls(run.unscored_faults())
    if lasting := sorted(key for key, ending in endings.items() if ending == LASTING):
        many, first = _conversations(len(lasting)), "first {} trial {}".format(*lasting[0])
        note = "no rate counts them, and --retry-faults plays them once more"
        lines.append(f"given up after failing in several sessions: {many}, {first}; {note}")
    for side in ("agent", "customer"):
        ended = [key for key, ending in endings.items() if ending == f"{side}_fault"]
        kinds = Counter(fault.kind for key in ended for fault in run.record(*key).faults if fault.side == side)
        shown = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(KINDS_SHOWN))
        lines += [f"ended by a fault of the {side}: {len(ended)} ({shown})"] if ended else []
    return lines


def _calls_in_text(run: RunFile) -> list[str]:
    # a tool call written as text is not carried out
    records = [Conversation.from_json(raw) for *_, raw in run.conversations() if CALL_IN_TEXT.encode() in raw]
    forms = [f.detail.partition(": ")[2] for record in records for f in record.faults if f.kind == CALL_IN_TEXT]
    if not forms:
        return []
    kinds = ", ".join(form for form, _ in Counter(forms).most_common(KINDS_SHOWN))
    many = f"{len(forms)} in {_conversations(len(records))} ({kinds})"
    first = f"first in {records[0].case_id} trial {records[0].trial}"
    mend = "look for the server's option that parses tool calls"
    return [f"tool calls written as text, which are not carried out: {many}, {first}: {mend}"]


def _conversations(count: int) -> str:
    return f"{count} conversation{'s' * (count != 1)}"


# --- Progress

LOG_EVERY_S = 30.0
"""Seconds between two lines if the output is not a terminal."""
WIDTH = 100


class Progress:
    """Progress of a run, shown by tqdm: a line updated in place, or occasional lines in a log.

    `total` counts all conversations and `done` those already on file; print nothing unless `shown`.
    """

    def __init__(self, label: str, total: int, done: int, shown: bool = True):
        self.faults, self.cost_usd, self.priced, self.unpriced = 0, 0.0, 0, 0
        self._bar = progress_bar(shown)(desc=label, total=total, initial=done, unit=" conversations")

    def conversation(self) -> None:
        """Count one more conversation on file."""
        self._bar.set_postfix_str(self._notes(), refresh=False)
        self._bar.update()

    def call(self, cost_usd: float | None) -> None:
        """Count one more call at this cost (None: no price known)."""
        self.cost_usd += cost_usd or 0.0
        self.unpriced += cost_usd is None
        self.priced += cost_usd is not None

    def fault(self) -> None:
        """Count one more fault."""
        self.faults += 1
        self._bar.set_postfix_str(self._notes())

    def close(self) -> None:
        """Show the final line and keep it on the screen."""
        self._bar.set_postfix_str(self._notes(), refresh=False)
        self._bar.close()

    def _notes(self) -> str:
        cost = f"cost {self.cost_usd:.2f} USD"
        if self.unpriced:
            unknown = not (self.priced or self.cost_usd)
            cost = "cost unknown" if unknown else f"{cost} + {self.unpriced} calls without a price"
        return f"{cost}, faults {self.faults}"


def progress_bar(shown: bool) -> Callable[..., Any]:
    """Return the kind of tqdm that fits the output."""
    from tqdm import tqdm

    class Lines(tqdm):
        # passes each new line to `show`, except the first, which shows no progress yet
        def __init__(self, show: Callable[[str], None], **options: Any):
            self.show, self.last = show, ""
            super().__init__(file=io.StringIO(), ncols=WIDTH, **options)

        def display(self, msg: str | None = None, pos: int | None = None) -> None:
            line = str(self)
            if self.last and line != self.last:
                self.show(line)
            self.last = line

    if not shown:
        return partial(tqdm, disable=True)
    if in_notebook():  # JupyterLab, papermill and nbconvert keep only the last text of this display
        from IPython.display import display

        place = display({"text/plain": ""}, raw=True, display_id=True)
        return partial(Lines, lambda text: place.update({"text/plain": text}, raw=True), mininterval=0.5)
    if sys.stderr.isatty():
        return partial(tqdm, dynamic_ncols=True)
    return partial(Lines, lambda text: print(text, file=sys.stderr, flush=True), mininterval=LOG_EVERY_S)


def in_notebook() -> bool:
    """Return whether this code runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


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
