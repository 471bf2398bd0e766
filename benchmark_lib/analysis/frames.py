"""Turn run files into frames: a row per conversation, message, tool call, call or verdict."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ..cases.hard import HARD
from ..cases.load import store_name, store_words
from ..endpoint.prices import weights_of_run
from ..errors import BadInput
from ..experiment.recorder import costs_of, is_estimate
from ..project import in_project
from ..records import FORK, NO_SCORE, SCORE_FAULT, source_of
from ..runfile import SUFFIX, RunFile
from ..scoring.columns import Column, Score, columns_of
from ..store import foreign_named
from .dictionary import DICTIONARY
from .entries import entry_meant, entry_names, settings_in_words, without_copies
from .facets import facets
from .panels import conversations_of
from .query import Query

if TYPE_CHECKING:
    import pandas as pd

SCORE_FIELDS = tuple(column.field for column in columns_of(Score).values())
"""Fields of the score that are columns of `conversations`, in order."""


class Results:
    """Frames of one or more runs, each built when first used.

    If there are other runs too, runs of a hard set appear only in `hard`, and forks only in `forks`. Files in `named`
    must be intact; other damaged files are left out with a warning.

    Attributes
    ----------
    conversations, messages, tool_calls, calls, verdicts, planned : pandas.DataFrame
        `benchmark_lib.analysis.dictionary` declares every column with its unit.
    """

    def __init__(self, runs: list[RunFile], named: Iterable[Path] = ()):
        whole = [run for run in runs if not is_fork(run.manifest)] or runs
        core = [run for run in whole if not is_hard(run.manifest)]
        self._every, self._whole, self.runs, self._named = runs, whole, core or whole, {*named}

    def __repr__(self) -> str:
        return f"Results({len(self.runs)} run{'s' * (len(self.runs) != 1)}: {', '.join(sorted(self.entries.values()))})"

    @cached_property
    def hard(self) -> Results:
        """Return the runs of hard sets; the tables of the board never mix them with others."""
        hard = [run for run in self._whole if is_hard(run.manifest)]
        return Results(hard + [run for run in self._every if is_fork(run.manifest)] if hard else [], self._named)

    def parted(self, by: Callable[[RunFile], str]) -> dict[str, Results]:
        """Split the runs into groups, such as one for each store."""
        groups: dict[str, list[RunFile]] = {}
        for run in self._every:
            groups.setdefault(by(run), []).append(run)
        return {name: Results(runs, self._named) for name, runs in groups.items()}

    @cached_property
    def forks(self) -> Results:
        """Return the forks of any set of cases; no table counts them with whole conversations."""
        return Results([run for run in self._every if is_fork(run.manifest)], self._named)

    @cached_property
    def entries(self) -> dict[str, str]:
        """Return the entry of each run by run_id, as named by `entry_names`."""
        return entry_names(run.manifest for run in self.runs)

    def _rows(self, runs: list[RunFile] | None = None) -> Iterator[tuple[tuple[Any, ...], str, dict[str, Any]]]:
        for run in self.runs if runs is None else runs:
            for _, _, record_hash, record in run.conversations():
                r = orjson.loads(record)
                yield (run.run_id, self.entries[run.run_id], r["model"], r["case_id"], r["trial"]), record_hash, r

    @cached_property
    def conversations(self) -> pd.DataFrame:
        """Return one row per conversation, scores included."""
        try:
            return self._conversations()
        except BadInput:
            sound = [r for r in self.runs if r.path in self._named or _unless_damaged(RunFile.check, r) is not None]
            if len(sound) == len(self.runs):
                raise
            self.runs = sound
            return self._conversations()

    def _conversations(self) -> pd.DataFrame:
        versions = store_words(run.manifest for run in self._every)
        rows = (row for run in self.runs for row in _scored_rows(run, self.entries[run.run_id], versions[run.run_id]))
        return _frame("conversations", rows)

    @cached_property
    def messages(self) -> pd.DataFrame:
        """Return one row per message: turn, side, text, acts (as text), attachments."""
        return _frame("messages", ((*who, *_message(x)) for who, _, r in self._rows() for x in r["messages"]))

    @cached_property
    def tool_calls(self) -> pd.DataFrame:
        """Return one row per tool call; arguments and result are JSON text."""
        return _frame("tool_calls", ((*who, *_tool_call(x)) for who, _, r in self._rows() for x in r["tool_calls"]))

    @cached_property
    def calls(self) -> pd.DataFrame:
        """Return one row per finished model call, with tokens, latency and cost."""
        calls = ((run.run_id, row | {"attempts": len(row["attempts"])}) for run in self.runs for row in run.calls())
        own = list(DICTIONARY["calls"])[2:-1]
        rows = ((run_id, self.entries[run_id], *(row[n] for n in own), is_estimate(row)) for run_id, row in calls)
        return _frame("calls", rows)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """Return one row per judge and scorer, with score (0-100 or NaN), reason and quote."""
        judged = [run for run in self.runs if next(iter(run.verdicts()), None)]  # skip reading the other records
        where = {(who[0], digest): who for who, digest, _ in self._rows(judged)}
        rows = (
            (*where[key], row["judge"], row["version"], *_scored(scorer, score, row["verdict"]))
            for run in self.runs
            for row in run.verdicts()
            if (key := (run.run_id, row["record_hash"])) in where
            for scorer, score in (row["verdict"].get("scores") or {}).items()
        )
        return _frame("verdicts", rows)

    @cached_property
    def planned(self) -> pd.DataFrame:
        """Return one row per case of a run, with the number of planned trials."""
        rows = (
            (m["run_id"], self.entries[m["run_id"]], m["model"], source_of(m), case_id, trials)
            for m in (run.manifest for run in self.runs)
            for case_id, trials in m["planned"].items()
        )
        return _frame("planned", rows)

    @cached_property
    def facets(self) -> pd.DataFrame:
        """Return the fields for selecting conversations; see `facets`."""
        return facets(self)

    def where(self, query: Query | str = "", /, **fields: Any) -> pd.DataFrame:
        """Return the conversations that match a query such as ``unsafe=yes``, with their panels.

        Query and fields are as in `Query.of`, an entry's name as in `entry_meant`; unknown ones raise `BadInput`. The
        `Query` is in ``attrs["query"]``; its `address` lists exactly these conversations on the site.
        """
        asked = Query.of(query, **fields)
        named = dict(asked.terms).get("entry", ())
        entries = [entry_meant(self, name) for name in named]
        asked = asked.but(entry=entries or None)
        asked.check(self.facets)
        rows = conversations_of(self)[asked.mask(self.facets)]
        rows.attrs["query"] = asked
        return rows

    def only(self, query: Query | str = "", /, **fields: Any) -> Results:
        """Return the runs with only the conversations of a query; refuse a query without a match."""
        rows = self.where(query, **fields)
        if rows.empty:
            raise BadInput(f"no conversation matches {rows.attrs['query']}: remove a field, or correct its value")
        kept = Results(self._every, self._named)
        kept.runs, kept.entries = self.runs, self.entries
        keys = rows[["run_id", "case_id", "trial"]]
        for name in ("conversations", "messages", "tool_calls", "calls", "verdicts"):
            setattr(kept, name, getattr(self, name).merge(keys))
        return kept

    def record(self, entry: str, case_id: str, trial: int = 1) -> Any:
        """Return the record of one conversation; refuse an unknown entry or conversation."""
        run = next((run for run in self.runs if self.entries[run.run_id] == entry), None)
        if run is None:
            some = ", ".join(sorted(self.entries.values())[:12])
            raise BadInput(f"there is no entry {entry!r} in these results: choose from {some}")
        return run.record(case_id, trial)


def load_results(*where: Any, optional: Iterable[Any] = ()) -> Results:
    """Load runs into frames; refuse a path without a run file.

    Parameters
    ----------
    *where : RunFile, path, or folder
        Run files, or folders of run files (by default ``data/runs`` with the forks of ``data/forks``). In folders,
        copies of a scripted run are skipped.
    optional : iterable of path
        Files and folders that need not exist.
    """
    needed, optional = (where, optional) if where or optional else (("data/runs",), ("data/forks",))
    present = [place for place in optional if isinstance(place, RunFile) or in_project(place).exists()]
    single = (p for p in needed if isinstance(p, RunFile | list | tuple) or not os.path.isdir(in_project(p)))
    named = [run.path for place in single for run in _runs_at(place)]
    runs = [run for place in (*needed, *present) for run in _runs_at(place)]
    if not runs and needed:
        places = ", ".join(map(str, where)) or "data/runs"
        raise BadInput(f"no run files in {places}: make one with `deskbench run MODEL`")
    return Results(list({run.run_id: run for run in runs}.values()), named)


def _unless_damaged(read: Callable[[Any], Any], file: Any) -> Any:
    try:
        return read(file)
    except BadInput as error:
        warnings.warn(f"left out: {error}", stacklevel=2)
        return None


def _opened(path: Path) -> RunFile:
    run = RunFile(path)
    _ = run.manifest  # refuses a damaged file
    return run


def is_hard(manifest: dict[str, Any]) -> bool:
    """Return True for a run on a hard set."""
    return f":{HARD}" in store_name(manifest)


def is_fork(manifest: dict[str, Any]) -> bool:
    """Return True for a file of forks."""
    return manifest["source"] == FORK


def _runs_at(place: Any) -> Iterable[RunFile]:
    if isinstance(place, RunFile):
        return [place]
    if isinstance(place, (list, tuple)):
        return [run for inner in place for run in _runs_at(inner)]
    path = in_project(place)
    if not os.path.isdir(path):
        return [RunFile(path)]
    runs = [_unless_damaged(_opened, p) for p in sorted(path.glob(f"*{SUFFIX}"))]
    return without_copies([run for run in runs if run is not None])


def _message(x: dict[str, Any]) -> tuple[Any, ...]:
    acts = ", ".join(f"{a['kind']} {a['what']}" for a in x["acts"])
    return x["turn"], x["side"], x["text"], acts, ", ".join(x["attachments"])


def _tool_call(x: dict[str, Any]) -> tuple[Any, ...]:
    texts = (orjson.dumps(x[name]).decode() for name in ("arguments", "result"))
    return x["turn"], x["index"], x["side"], x["name"], *texts, x["error"], x["write"]


def _scored(scorer: str, score: dict[str, Any], verdict: dict[str, Any]) -> tuple[Any, ...]:
    parts = (score.get(name) for name in ("score", "reason", "quote", "unscored", "rubric"))
    return scorer, *parts, verdict.get("entrant"), len(verdict.get("addressed") or ())


def _scored_rows(run: RunFile, entry: str, version: str) -> Iterator[tuple[Any, ...]]:
    manifest, scores, costs = run.manifest, run.scores(), costs_of(run.calls())
    run_id, model, planned = manifest["run_id"], manifest["model"], sum(manifest["planned"].values())
    nothing = {SCORE_FAULT: NO_SCORE}
    settings, weights = settings_in_words(manifest), weights_of_run(manifest)
    floor = getattr(foreign_named(store_name(manifest)), "floor", None)
    for case_id, trial, record_hash, record in run.conversations():
        raw, score = orjson.loads(record), scores.get(record_hash, nothing)
        usage = raw["usage"].get("agent") or {}
        recorded = score.get("cost_usd"), score.get("customer_cost_usd")
        who = (run_id, entry, model if raw["model"] == model else raw["model"], case_id, trial)
        played = (source_of(manifest, raw["source"]), raw["customer"], raw["ended_by"], version, score.get("version"))
        tokens = (usage.get(f"{kind}_tokens") for kind in ("prompt", "completion", "reasoning"))
        sides = (("agent", raw["source"]), ("customer", raw["customer"]))
        paid = [
            costs.get((case_id, trial, side), 0.0 if played_by == "scripted" else None) if cost is None else cost
            for cost, (side, played_by) in zip(recorded, sides, strict=True)
        ]
        of_run = (record_hash, planned, manifest["planned"].get(case_id), floor, settings, weights)
        # before scoring-10, needless and accepted handovers were not told apart
        score = {"needless_handover": score.get("handed_over") if score.get("bucket") == "resolvable" else None} | score
        yield (*who, *played, *tokens, *paid, *of_run, *[score.get(field) for field in SCORE_FIELDS])


_BLOCK = 50_000
"""Number of rows converted to columns at a time."""


def _frame(name: str, rows: Iterable[Iterable[Any]]) -> pd.DataFrame:
    # block by block, so that a million rows need hardly more memory than the frame
    import pandas as pd

    columns = DICTIONARY[name].values()
    rows, blocks = iter(rows), []
    while block := list(islice(rows, _BLOCK)):
        filled = zip(columns, zip(*block), strict=True)
        blocks.append(pd.DataFrame({c.name: _values(c, values) for c, values in filled}))
    if not blocks:
        return pd.DataFrame({c.name: _values(c, ()) for c in columns})
    return blocks[0] if len(blocks) == 1 else pd.concat(blocks, ignore_index=True)


def _values(column: Column, values: tuple[Any, ...]) -> Any:
    # A count with unknown values becomes a float column with NaN.
    import pandas as pd

    if column.kind == "flag":
        return pd.array(values, dtype="boolean")
    if column.kind == "number" or (column.kind == "count" and None in values):
        return pd.array(values, dtype="Float64").to_numpy(dtype="float64", na_value=float("nan"))
    if column.kind == "count":
        return pd.Series(values, dtype="int64")
    texts = pd.StringDtype("python", na_value=float("nan"))  # faster to filter and group than Arrow's
    return pd.Series(values, dtype=texts if all(v is None or isinstance(v, str) for v in values) else None)
