"""Made-up years of logs with planted changes, and how soon the alarms find them.

A seeded generator draws from written texts: the detectors' locked planted conversations, and the shipped example of
blind play. None of it is the log of a real desk.
"""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import orjson
import pandas as pd

from ...cases import load_cases
from ...project import DATA, built_beside, require_absent, writing
from ...records import Conversation
from ...runfile import RunFile
from ...store.desk import HANDOVER
from ...store.world import load_store
from ..claims.planted import read_planted
from .drift import BASELINE_WEEKS, FALSE_ALARMS, Watched, level_of, rate_columns, watched
from .logs import Logged
from .measures import TEXTS, LoggedFacts, measures, read_all

PLANTED = DATA / "claims" / "planted" / "locked.jsonl"
BLIND_PLAY = DATA / "examples" / "blind-play.deskbench"
FIRST_WEEK = datetime(2025, 1, 6, tzinfo=UTC)
WEEKS = 52
PER_WEEK = 200
"""Mean number of conversations per week."""
HONEST, HANDED = "honest", "handed_over"
"""The two kinds without a planted fault, by handover; all other kinds are named after their measure."""
USUAL: dict[str, float] = TEXTS["usual"]
"""The share of each kind in an ordinary week; all other conversations are honest."""
CHART_SIGMAS = 3
"""Distance of a p-chart's limits from its centre in standard deviations, the usual choice."""
RULES = {"alarm": "this rule", "chart": "p-chart, 3 sigma"}


@dataclass(frozen=True)
class Change:
    """A planted change: from `week` on (the first is 0), a kind's share moves over `over` weeks."""

    kind: str
    week: int
    share: float
    over: int = 1


CHANGES = (
    Change("phantom_action", 20, 0.08),
    Change("commitments", 24, 0.10, over=16),
    Change("other_language", 32, 0.05),
    Change(HANDED, 38, 0.30),
)
"""Planted changes of the made-up year: two jumps in faults, a slow drift, and a doubling of handovers."""


@lru_cache(maxsize=1)
def texts() -> pd.DataFrame:
    """Return the written conversations to draw from (kind, language, record); cached."""
    store = load_store()
    cases = {case.id: case for case in load_cases(store)}
    written: list[tuple[str, str, Conversation]] = []
    for planted in read_planted(PLANTED, cases, store):
        kind = next(iter(planted.findings.values()), _kind(planted.conversation))
        if kind in USUAL or kind == HONEST:
            written.append((kind, planted.language, planted.conversation))
    for _, _, _, raw in RunFile(BLIND_PLAY).conversations():
        record = Conversation.from_json(raw)
        written.append((_kind(record), cases[record.case_id].language, record))
    honest = [(language, record) for kind, language, record in written if kind == HONEST]
    for number, (language, record) in enumerate(honest):
        other = next((r for spoken, r in honest[number + 1 :] if spoken != language), None)
        if other is not None:  # answer this message with the reply and calls of a conversation in another language
            asked = [m for m in record.messages if m.side == "customer"][:1]
            calls = [c for c in other.tool_calls if c.turn <= 1]
            messages = asked + other.replies()[:1]
            crossed = Conversation(record.case_id, 1, "made up", "synthetic", "written", messages, calls)
            written.append(("other_language", "", crossed))
    return pd.DataFrame(written, columns=["kind", "language", "record"])


def _kind(record: Conversation) -> str:
    return HANDED if any(c.name == HANDOVER and not c.error for c in record.tool_calls) else HONEST


def shares_by_week(changes: tuple[Change, ...] = CHANGES, weeks: int = WEEKS) -> np.ndarray:
    """Return the probability of every text in every week, shape (weeks, texts)."""
    kinds, shares = texts()["kind"], pd.DataFrame(USUAL, index=range(weeks))
    for change in changes:
        grown = np.clip((shares.index - change.week + 1) / change.over, 0, 1)
        shares[change.kind] = USUAL[change.kind] + grown * (change.share - USUAL[change.kind])
    shares[HONEST] = 1 - shares.sum(axis=1)
    return shares[kinds].to_numpy() / kinds.map(kinds.value_counts()).to_numpy()


def made_up_year(
    rng: np.random.Generator, *, changes: tuple[Change, ...] = CHANGES, weeks: int = WEEKS, per_week: int = PER_WEEK
) -> Iterator[dict[str, Any]]:
    """Yield the lines of a made-up log of `weeks` weeks, in order of time.

    A line has ``id``, ``at``, ``synthetic``, ``messages`` and ``tool_calls``. `per_week` is the mean number of
    conversations per week (Poisson).
    """
    written, number = [_as_line(record) for record in texts()["record"]], 0
    for week, shares in enumerate(shares_by_week(changes, weeks)):
        drawn = rng.choice(len(written), size=rng.poisson(per_week), p=shares)
        minutes = np.sort(rng.integers(0, 7 * 24 * 60, drawn.size))
        for at, text in zip(minutes, drawn, strict=True):
            number += 1
            when = (FIRST_WEEK + timedelta(weeks=week, minutes=int(at))).isoformat()
            yield {"id": f"made-up-{number:06d}", "at": when, "synthetic": True, **written[text]}


def _as_line(record: Conversation) -> dict[str, Any]:
    kept = ("name", "arguments", "result", "error", "turn")
    calls = [{name: getattr(c, name) for name in kept} for c in record.tool_calls]
    return {"messages": [{"role": m.side, "content": m.text} for m in record.messages], "tool_calls": calls}


def write_year(path: str | Path, rng: np.random.Generator, *, replace: bool = False, **more: Any) -> Path:
    """Write a made-up log as JSON lines, compressed if the name ends in ``.gz``.

    An existing file is overwritten only with `replace`. `more` is passed to `made_up_year`.
    """
    path = Path(path)
    if not replace:
        require_absent(path)
    with writing(path), built_beside(path) as building:
        packed = path.suffix == ".gz"
        with cast(IO[bytes], gzip.open(building, "wb", 5) if packed else building.open("wb")) as file:
            for line in made_up_year(rng, **more):
                file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return path


def week_of(change: Change) -> str:
    """Return the Monday of a planted change in the made-up year."""
    return (FIRST_WEEK + timedelta(weeks=change.week)).date().isoformat()


@lru_cache(maxsize=1)
def text_values() -> pd.DataFrame:
    """Return the value of every measure for every text, as read from a log; cached."""
    chosen, store = measures(), load_store()
    read = (LoggedFacts(Logged("", "", FIRST_WEEK, record), store) for record in texts()["record"])
    rows = [read_all(facts, chosen)[0] for facts in read]
    return pd.DataFrame(rows, columns=[m.name for m in chosen], dtype=float)


def _chart_alarm(one: Watched) -> float:
    # Return the first week (from 0) outside a textbook p-chart's limits (Montgomery 2012, 7.2), on the watched sides.
    base, n = one.pooled(None, one.base)
    if not n:
        return np.nan
    share, ns = base / n, one.ns[one.base :]
    above = one.counts[one.base :] / np.maximum(ns, 1) - share
    reach = CHART_SIGMAS * np.sqrt(share * (1 - share) / np.maximum(ns, 1))
    out = np.any([side * above > reach for side in one.measure.sides], axis=0) & (ns > 0)
    return one.base + int(out.argmax()) if out.any() else np.nan


def first_alarms(
    years: int,
    rng: np.random.Generator,
    *,
    changes: tuple[Change, ...] = CHANGES,
    per_week: int = PER_WEEK,
    unrest: float = 0.0,
) -> pd.DataFrame:
    """Return the first alarm of each measure in many made-up years.

    The counts of each year are drawn as they would be read from its log. `unrest` is the extra variation of each kind's
    share between weeks, as the standard deviation of its logarithm. One row per year and measure: year, measure, title,
    alarm and chart (week of the first alarm, counted from 0, by this rule and by a p-chart; NaN without an alarm).
    """
    usual, honest = shares_by_week(changes), (texts()["kind"] == HONEST).to_numpy()
    chosen, values, rows = measures(), text_values(), []
    for year, generator in enumerate(rng.spawn(years)):
        shares = usual
        if unrest:
            shares = usual * np.exp(generator.normal(-(unrest**2) / 2, unrest, WEEKS)[:, None] * ~honest)
            shares /= shares.sum(axis=1, keepdims=True)
        drawn = np.array([generator.multinomial(generator.poisson(per_week), week) for week in shares])
        counts = watched(chosen, values, drawn, BASELINE_WEEKS)
        level = level_of(counts, FALSE_ALARMS)
        for one in counts:
            alarm = min((a.weeks[0] for a in one.alarms(level).values() if a.weeks), default=np.nan)
            rows.append((year, one.measure.name, one.measure.title, one.base + alarm, _chart_alarm(one)))
    return pd.DataFrame(rows, columns=["year", "measure", "title", "alarm", "chart"])


def false_alarm_table(alarms: pd.DataFrame) -> pd.DataFrame:
    """Count the years without a planted change that had an alarm.

    One row per rule: rule, with_alarm, years, share with low and high (Wilson, 95%), alarms_per_year (measures with an
    alarm).
    """
    rows = []
    for rule, words in RULES.items():
        by_year = alarms.groupby("year")[rule].count()
        rate = rate_columns(int((by_year > 0).sum()), len(by_year))
        rows.append({"rule": words, **rate, "alarms_per_year": by_year.mean()})
    return pd.DataFrame(rows).rename(columns={"n": "years", "count": "with_alarm"})


def found_table(alarms: pd.DataFrame, changes: tuple[Change, ...] = CHANGES) -> pd.DataFrame:
    """Return how often each planted change was found, and how soon.

    One row per change: title, before, after, change_week, found (years whose first alarm came after it), years, share
    with low and high (Wilson), grows_over, too_soon (years with an alarm before it), weeks_median and weeks_90. The
    last two are quantiles, over all years, of the weeks from the change to the end of the alarm's week; infinite if
    the change was found in too few years.
    """
    rows = []
    for change in changes:
        own_alarms = alarms[alarms["measure"] == change.kind]
        week = own_alarms["alarm"]
        soon = int((week < change.week).sum())
        waits = (week[~(week < change.week)] - change.week + 1).fillna(np.inf)
        half, most = np.quantile(waits, (0.5, 0.9), method="inverted_cdf") if len(waits) else (np.nan, np.nan)
        title = own_alarms["title"].iloc[0] if len(own_alarms) else change.kind
        planted = {"before": USUAL[change.kind], "after": change.share, "change_week": change.week}
        rate = rate_columns(int((week >= change.week).sum()), len(own_alarms))
        waited = {"grows_over": change.over, "too_soon": soon, "weeks_median": half, "weeks_90": most}
        rows.append({"title": title, **planted, **rate, **waited})
    return pd.DataFrame(rows).rename(columns={"n": "years", "count": "found"})


def elsewhere_table(alarms: pd.DataFrame, changes: tuple[Change, ...] = CHANGES) -> pd.DataFrame:
    """Return alarms of measures without a planted change.

    One row per measure: title, years, with_alarm, before_any (alarms before the first planted change, which are false).
    Later alarms may be true: texts of a planted kind may also be shorter or have fewer calls.
    """
    first = min((change.week for change in changes), default=WEEKS)
    rest = alarms[~alarms["measure"].isin([change.kind for change in changes])]
    marked = rest.assign(gone=rest["alarm"].notna(), early=rest["alarm"] < first)
    counts = {"years": ("year", "size"), "with_alarm": ("gone", "sum"), "before_any": ("early", "sum")}
    return marked.groupby("title", sort=False).agg(**counts).reset_index()
