"""Summary of a run in a few lines, each rate with its denominator."""

from collections import Counter
from textwrap import shorten
from typing import Any

from ..cases.played import store_name
from ..records import BUCKETS, CALL_IN_TEXT, LASTING, UNPROTECTED, Conversation
from ..runfile import RunFile
from ..scoring.metrics import METRICS, Shown, shown_on
from ..scoring.written import KINDS_SHOWN, REASON_SHOWN, cost_in_words, failed_calls
from ..store import foreign_named
from .budget import is_estimate
from .repricing import priced_in_words
from .scoring import ScoreFault, score_faults

SUCCEEDED = "conversations that succeeded"


def summary(run: RunFile) -> list[str]:
    """Return the progress of a run, the success by bucket and the cost, one sentence per line."""
    manifest, counts, scores = run.manifest, run.counts(), run.scores()
    planned = manifest["planned"].values()
    few, most = min(planned), max(planned)
    trials = f"{most:,} trial{'s' * (most > 1)}" if few == most else f"{few:,} to {most:,} trials"
    waiting = f", {counts['again']} to be tried again" if counts["again"] else ""
    cost, unpriced = run.cost()
    estimated = sum(is_estimate(call) for call in run.calls())
    notes = [f"{estimated} of them estimated, because the endpoint reported no tokens"] * bool(estimated)
    notes += priced_in_words(manifest)
    of_calls = f" ({'; '.join(notes)})" if notes else ""
    return [
        (
            f"{manifest['model']}: {counts['finished']:,} of {sum(planned):,} conversations finished "
            f"({len(planned)} case{'s' * (len(planned) != 1)} x {trials}){waiting}"
        ),
        _rates(run, scores),
        *_without_score(run, scores),
        *_abstained(scores),
        *_faults(run),
        *_calls_in_text(run),
        *[f"{UNPROTECTED}: {one[UNPROTECTED]}" for one in manifest["sessions"][-1:] if UNPROTECTED in one],
        (
            f"{format(counts['calls'], ',') if counts['calls'] else 'no'} model "
            f"call{'s' * (counts['calls'] != 1)}, "
            f"{cost_in_words(cost, counts['calls'], unpriced, run.own_calls())}{of_calls}"
        ),
    ]


def _without_score(run: RunFile, scores: dict[str, dict[str, Any]]) -> list[str]:
    kinds: dict[str, list[ScoreFault]] = {}
    for fault in score_faults(run, scores):
        kinds.setdefault(fault.reason, []).append(fault)
    if not kinds:
        return []
    shown = [
        f"{len(faults)} x {shorten(reason, REASON_SHOWN)}, first in {faults[0].case_id} trial {faults[0].trial}"
        for reason, faults in [*kinds.items()][:KINDS_SHOWN]
    ]
    more = [f"{len(kinds) - KINDS_SHOWN} other reasons"] * (len(kinds) > KINDS_SHOWN)
    return [f"without a score: {'; '.join([*shown, *more])}"]


def _abstained(scores: dict[str, dict[str, Any]]) -> list[str]:
    failed = Counter(pair for found in scores.values() for pair in (found.get("abstained") or {}).items())
    words = "{} abstained in {} of the conversations, which is a fault of Deskbench: {}"
    return [words.format(name, count, why) for (name, why), count in failed.most_common(KINDS_SHOWN)]


def _faults(run: RunFile) -> list[str]:
    endings = run.endings()
    lines = failed_calls(run.unscored_faults())
    if lasting := sorted(key for key, ending in endings.items() if ending == LASTING):
        lines.append(
            f"given up after failing in several sessions: {len(lasting)} "
            f"conversation{'s' * (len(lasting) != 1)}, first {lasting[0][0]} trial "
            f"{lasting[0][1]}; no rate counts them, and --retry-faults plays them once more"
        )
    for side in ("agent", "customer"):
        mine = [key for key, ending in endings.items() if ending == f"{side}_fault"]
        kinds = Counter(fault.kind for key in mine for fault in run.record(*key).faults if fault.side == side)
        if mine:
            lines.append(
                f"ended by a fault of the {side}: {len(mine)} "
                f"({', '.join(f'{kind} {count}' for kind, count in kinds.most_common(KINDS_SHOWN))})"
            )
    return lines


def _calls_in_text(run: RunFile) -> list[str]:
    """Count the replies with a tool call written as text, which is not carried out."""
    records = [Conversation.from_json(raw) for *_, raw in run.conversations() if CALL_IN_TEXT.encode() in raw]
    forms = [f.detail.partition(": ")[2] for record in records for f in record.faults if f.kind == CALL_IN_TEXT]
    if not forms:
        return []
    named = ", ".join(form for form, _ in Counter(forms).most_common(KINDS_SHOWN))
    return [
        f"tool calls written as text, which are not carried out: {len(forms)} in {len(records)} "
        f"conversation{'s' * (len(records) != 1)} ({named}), first in {records[0].case_id} trial {records[0].trial}: "
        "look for the server's option that parses tool calls"
    ]


def _rates(run: RunFile, latest: dict[str, dict[str, Any]]) -> str:
    """Return the success of each bucket as k/n, and the main metrics for which less is better."""
    scores = [latest[digest] for _, _, digest, _ in run.conversations() if digest in latest]
    if foreign := foreign_named(store_name(run.manifest)):
        return f"{SUCCEEDED}: {foreign.summary(_share(scores, foreign.domain, 'success'), scores)}"
    parts = [
        f"{bucket.replace('_', ' ')} {share}{_by_handover(scores, bucket)}"
        for bucket in BUCKETS
        if (share := _share(scores, bucket, "success"))
    ]
    bad = [METRICS[name] for name in shown_on(Shown.MAIN) if not METRICS[name].higher_is_better]
    wrong = [f"{m.title.lower()} {share}" for m in bad if (share := _share(scores, str(m.bucket), m.column))]
    return (
        f"{SUCCEEDED}: {', '.join(parts) or 'none has a score'}"
        + f"; what should not happen: {', '.join(wrong)}" * bool(wrong)
    )


def _by_handover(scores: list[dict[str, Any]], bucket: str) -> str:
    """Count the successes by a handover, which some hard cases accept, that are not `resolved`."""
    count = sum(s.get("success") is True and s.get("resolved") is False for s in scores if s.get("bucket") == bucket)
    accepts = "its case accepts" if count == 1 else "their cases accept"
    return f" ({count} with a handover that {accepts}, which counts as success but not as resolved)" if count else ""


def _share(scores: list[dict[str, Any]], bucket: str, name: str) -> str:
    values = Counter(bool(s[name]) for s in scores if s.get("bucket") == bucket and s.get(name) is not None)
    return f"{values[True]}/{values.total()}" if values else ""
