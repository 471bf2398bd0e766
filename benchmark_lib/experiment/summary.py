"""Three lines that say how a run did, each rate with its denominator."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..records import BUCKETS
from ..runfile import RunFile
from ..scoring.metrics import METRICS, Shown, shown_on


def summary(run: RunFile) -> list[str]:
    """How far a run is, how often each bucket succeeded, and what it cost; a sentence a line."""
    manifest, counts = run.manifest, run.counts()
    planned = manifest["planned"].values()
    few, most = min(planned), max(planned)
    trials = f"{most} trial{'s' * (most > 1)}" if few == most else f"{few} to {most} trials"
    waiting = f", {counts['again']} to be tried again" if counts["again"] else ""
    cost, unpriced = run.cost()
    no_price = f" ({unpriced} calls without a known price)" if unpriced else ""
    return [
        f"{manifest['model']}: {counts['finished']} of {sum(planned)} conversations finished ({len(planned)} case{'s' * (len(planned) != 1)} x {trials}){waiting}",
        _rates(run),
        f"{counts['calls']} model calls, {cost:.4f} USD{no_price}",
    ]


def _rates(run: RunFile) -> str:
    """Success of each bucket, and the main metrics of which less is better, as k/n."""
    latest = run.scores()
    scores = [latest[digest] for _, _, digest, _ in run.conversations() if digest in latest]
    parts = [f"{bucket} {_share(scores, bucket, 'success')}" for bucket in BUCKETS]
    bad = [METRICS[name] for name in shown_on(Shown.MAIN) if not METRICS[name].higher_is_better]
    return f"success: {', '.join(parts)}; {', '.join(f'{m.title.lower()} {_share(scores, str(m.bucket), m.column)}' for m in bad)}"


def _share(scores: list[dict[str, Any]], bucket: str, name: str) -> str:
    values = Counter(bool(s[name]) for s in scores if s.get("bucket") == bucket and s.get(name) is not None)
    return f"{values[True]}/{values.total()}"
