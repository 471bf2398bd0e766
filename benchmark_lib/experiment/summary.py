"""Progress line and summary of a run, each rate with its denominator."""

import io
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from textwrap import shorten
from typing import Any

from ..records import CALL_IN_TEXT, LASTING, UNPROTECTED, Conversation
from ..runfile import RunFile
from ..scoring.written import KINDS_SHOWN, REASON_SHOWN, cost_in_words, failed_calls
from .recorder import is_estimate
from .scoring import ScoreFault, score_faults


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
    served: dict[str, dict[str, None]] = {}
    for side, one in (pair for session in manifest["sessions"] for pair in (session.get("endpoints") or {}).items()):
        served.setdefault(side, {})[one["base_url"]] = None
    several = ((side, urls) for side, urls in served.items() if len(urls) > 1)
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
    if in_notebook():  # JupyterLab, papermill and nbconvert all keep only the last text of this display
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
