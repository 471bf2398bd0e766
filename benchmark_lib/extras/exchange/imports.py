"""Convert other harnesses' records to run files for `load_results`, labelled ``imported``."""

import os
import sqlite3
from codecs import BOM_UTF8
from collections import Counter
from dataclasses import astuple
from pathlib import Path
from typing import Any

import orjson

from ...analysis.dictionary import DICTIONARY
from ...endpoint.prices import read_as
from ...errors import BadInput
from ...project import built_beside, require_absent, writing
from ...records import ENDINGS, NOT_SCORED, Conversation, content_hash
from ...runfile import RunFile, create, without_line_ends, writing_rows
from ...scoring.columns import Score, columns_of, names_of
from ...textfiles import yes_or_no
from .chats import Imported, Json, json_of
from .inspect_in import read_inspect
from .tau_files import read_tau2, read_tau_bench

SUFFIXES = {".eval": "inspect"}
"""Formats by the file suffix that identifies them."""
MOST_K = 8
MOST_TRIALS = 10**6
LARGEST = 2**53
"""Largest whole number in a record: readers in any language represent it exactly."""
SIDES = frozenset({"customer", "agent"})
SCORING = "as imported"
"""Scoring version of a score that comes from the file."""


def import_results(
    path: str | Path, out: str | Path, *, format: str | None = None, model: str | None = None, domain: str | None = None
) -> RunFile:
    """Read a result file of another harness and write it as a run file.

    Parameters
    ----------
    path, out : path
        The file (or, for tau2, its folder), and the run file to write, which must not exist.
    format : {"tau-bench", "tau2", "inspect", "jsonl"}, optional
        Format, unless the suffix identifies it, as in ``X.eval``. ``jsonl`` is one record with its score per line, as
        in the ``records.jsonl`` of ``deskbench export --format jsonl``.
    model, domain : str, optional
        Names that the file lacks.

    Returns
    -------
    RunFile
        Run with the source ``imported``: `tables.leaderboard` shows it in its own block, without a rank.

    Raises
    ------
    BadInput
        If the format differs, the file is damaged, or two records have the same case and trial; nothing is written.
    """
    out = Path(out)
    path, format = located(Path(path), format)
    if format is None:
        raise BadInput(f"the name of {path} does not identify its format: add --format {', '.join(READERS)}")
    if format not in READERS:
        raise BadInput(f"there is no format {format!r}: choose one of {', '.join(READERS)}")
    require_absent(out)
    try:
        if path.exists() and not path.is_file():  # a device may be endless
            raise BadInput(f"{path} is not a file: name the file to import")
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}): name the file to import") from None
    batch = read_any(data, path, format, model, domain)
    batch.model = without_line_ends(batch.model)
    batch.customer = without_line_ends(batch.customer)
    batch.version = without_line_ends(batch.version)
    batch.cases = {without_line_ends(name): text for name, text in batch.cases.items()}
    batch.notes = [*map(without_line_ends, batch.notes)]
    for c, score in batch.rows:
        c.case_id, c.model, c.customer = map(without_line_ends, (c.case_id, c.model, c.customer))
        score |= {name: without_line_ends(value) for name, value in score.items() if isinstance(value, str)}
    twice = [key for key, times in Counter((c.case_id, c.trial) for c, _ in batch.rows).items() if times > 1]
    if twice:
        raise BadInput(
            f"{path} contains case {twice[0][0]!r}, trial {twice[0][1]} more than once: import one run at a time"
        )
    if not batch.trials <= MOST_TRIALS:
        raise BadInput(
            f"{path} has {_brief(batch.trials)} trials per case, more than the limit of {MOST_TRIALS}: number "
            "the trials of a case from 1"
        )
    origin = {"format": format, "file": path.name, "hash": content_hash(data), "notes": batch.notes}
    _write(batch, out, origin, path)
    return RunFile(out)


def located(path: Path, format: str | None) -> tuple[Path, str | None]:
    """Return the file to read, which may be in a tau2 folder, and its format."""
    results = path / "results.json"
    format = format or ("tau2" if os.path.isfile(results) else SUFFIXES.get(path.suffix))
    return results if format == "tau2" and os.path.isdir(path) else path, format


def read_any(data: bytes, path: Path, format: str, model: str | None, domain: str | None) -> Imported:
    """Read a file's contents with one of the `READERS`; raise `BadInput` for a damaged file."""
    try:
        return READERS[format](data, path, model, domain)
    except BadInput:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise BadInput(
            f"{path} is damaged, or in a version of {format} that this importer does not know ({what}): check the file"
        ) from None


def summary(run: RunFile, most_k: int = MOST_K) -> list[str]:
    """Describe an imported run in two or three lines: rates with denominators, and pass^k."""
    from ...analysis.estimators.trials import pass_hat_k
    from ...analysis.frames import load_results
    from ...analysis.tables.reliability import success_counts
    from ...scoring.written import counted

    rows, lines = load_results(run).conversations, []
    shown = f"{counted(rows['case_id'].nunique(), 'case')} x {counted(rows['trial'].nunique(), 'trial')}"
    lines.append(
        f"{run.manifest['model']}: {counted(len(rows), 'conversation')} ({shown}), {rows['store_version'].iloc[0]}"
    )
    for bucket in dict.fromkeys(rows["bucket"].dropna()):
        counts = success_counts(rows, bucket)
        if counts.trials.sum():
            last = min(int(counts.trials.max()), most_k)
            values = " ".join(f"{pass_hat_k(counts.successes, counts.trials, k):.3f}" for k in range(1, last + 1))
            lines.append(f"{bucket}: success {counts.successes.sum()}/{counts.trials.sum()}; pass^1..{last} {values}")
    ended = rows[~rows["scored"].fillna(False)]["ended_by"]
    left_out = ended.where(ended.isin(NOT_SCORED), "without a reward").value_counts()
    if len(left_out):
        lines.append("not scored: " + ", ".join(f"{n} {why}" for why, n in left_out.items()))
    return lines + run.manifest["sessions"][0]["imported"].get("notes", [])


def read_jsonl(data: bytes, path: Path, model: str | None, domain: str | None) -> Imported:
    """Read records, one per line, with the fields of a `Conversation` and a ``score``.

    The score has columns of the conversations frame. A line needs ``case_id``, ``trial`` and ``messages``. Instead of
    a score it may have ``success``, ``reward``, ``bucket`` and ``intent``. If the lines name several models, `model`
    selects one.
    """
    rows = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.removeprefix(BOM_UTF8).strip():
            where = f"{path}, line {number}"
            raw = json_of(line, where)
            rows.append((_record(raw, where), _given_score(raw, domain, where)))
    models = list(dict.fromkeys(c.model for c, _ in rows))
    if not rows:
        raise BadInput(f"{path} has no records: there is nothing to import")
    if len(models) > 1 and model not in models:
        raise BadInput(
            f"{path} contains records from {len(models)} models: pick one of them with --model, such as --model "
            f"{models[0] or 'NAME'}"
        )
    rows = [(c, s) for c, s in rows if len(models) == 1 or c.model == model]
    model = model or models[0]
    if not model:
        raise BadInput(f"{path} does not name the model: add --model NAME")
    for c, _ in rows:
        c.model = model
    version = path.name + (f" ({domain})" if domain else "")
    customers = sorted({c.customer for c, _ in rows})
    cases, trials = {c.case_id: c.case_id for c, _ in rows}, max(c.trial for c, _ in rows)
    return Imported(model, ", ".join(customers), version, "", cases, trials, rows)


READERS = {
    "tau-bench": read_tau_bench,
    "tau2": read_tau2,
    "inspect": read_inspect,
    "jsonl": read_jsonl,
}
"""The function that reads each format."""


def _record(raw: Any, where: str) -> Conversation:
    """Return one record, reading its parts by name: fields of other versions are ignored."""
    if not isinstance(raw, dict) or not isinstance(raw.get("messages"), list):
        raise BadInput(f"{where} is not a record with case_id, trial, messages: import the records.jsonl of an export")
    given = {name: value for name, value in raw.items() if value is not None and (name, value) != ("customer", "")}
    made = {"model": "", "customer": "unknown"} | given | {"source": "imported", "messages": _numbered(raw["messages"])}
    return _checked(_dumped(made, where), where)


def _numbered(messages: list[Any]) -> list[Any]:
    """Return messages with turns; if they have no numbers, each customer message begins a turn."""
    numbered, turn = [], 0
    for m in messages:
        given = {name: value for name, value in m.items() if value is not None} if isinstance(m, dict) else {}
        turn = given["turn"] if isinstance(given.get("turn"), int) else turn + (given.get("side") == "customer")
        numbered.append({"turn": turn, "text": ""} | given)
    return numbered


def _checked(record: bytes, where: str) -> Conversation:
    """Return the record in JSON; refuse parts of the wrong kind and impossible numbers."""
    c = read_as(Conversation, record, where)
    counts = [n for used in c.usage.values() for n in (used.prompt_tokens, used.completion_tokens, used.calls)]
    numbers = {
        "trial": [c.trial],
        "messages": [m.turn for m in c.messages],
        "tool_calls": [n for call in c.tool_calls for n in (call.turn, call.index)],
        "reasoning": [n for thought in c.reasoning for n in (thought.turn, thought.after)],
        "usage": [n for used in c.usage.values() for n in astuple(used)],
    }
    large = [name for name, values in numbers.items() if any(abs(n) > LARGEST for n in values)]
    wrong = {
        "case_id is empty: name the case": not c.case_id,
        "trials are numbered from 1 (from 0 in tau-bench and tau2 files): correct it": c.trial < 1,
        f"ended_by is {_brief(c.ended_by)}: choose one of {', '.join(ENDINGS)}": c.ended_by not in ("", *ENDINGS),
        "the side of a message is neither customer nor agent: correct it": {m.side for m in c.messages} - SIDES,
        f"the customer's rating is {c.rating}: use 1 to 5, or omit it": c.rating not in (None, 1, 2, 3, 4, 5),
        "a token count is below 0: state what was used, or omit it": min(counts, default=0) < 0,
        f"{', '.join(large)}: a number is above {LARGEST:,}, which other programs round: correct it": bool(large),
    }
    if problem := next((why for why, holds in wrong.items() if holds), None):
        raise BadInput(f"{where}: {problem}")
    return c


def _given_score(raw: Json, domain: str | None, where: str) -> Json:
    recorded = raw.get("score")
    if recorded is not None and not isinstance(recorded, dict):
        raise BadInput(f"{where}: score is {_brief(recorded)}: use an object with columns of the conversations frame")
    given: Json = {name: raw[name] for name in raw if name in ("success", "reward", "bucket", "intent")}
    given |= recorded or {}
    fields = {column.name: column.field for column in columns_of(Score).values()}
    given = {fields.get(name, name): value for name, value in given.items()}
    score = {
        field: value for field, value in _typed(given, where).items() if field in names_of(Score) and value is not None
    }
    score.setdefault("bucket", domain or "unknown")
    score.setdefault("scored", "success" in score)
    return score


def _typed(score: Json, where: Any) -> Json:
    """Return a score with each column in its frame's type; refuse a value that does not fit."""
    columns = {column.field: column for column in DICTIONARY["conversations"].values()}
    typed: Json = {}
    for name, value in score.items():
        kind = columns[name].kind if name in columns else ""
        answer = yes_or_no(value) if kind == "flag" and isinstance(value, str) else None
        value = value if answer is None else answer
        number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
        fits, wanted = {
            "flag": (isinstance(value, bool), "true or false"),
            "number": (number, "a number"),
            "count": (number and value == int(value), "a number"),
            "text": (isinstance(value, str), "a text"),
        }.get(kind, (True, ""))
        if value is not None and not fits:
            raise BadInput(f"{where}: {name} is {_brief(value)}: use {wanted}")
        typed[name] = int(value) if kind == "count" and value is not None else value
    return typed


def _brief(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:37] + "..."


def _dumped(value: Any, where: str) -> bytes:
    try:
        return value.to_json() if isinstance(value, Conversation) else orjson.dumps(value)
    except (TypeError, RecursionError) as error:
        raise BadInput(f"{where} cannot be stored ({error}): make it less deeply nested") from None


def _write(batch: Imported, out: Path, origin: Json, path: Path) -> None:
    """Write a run file; refuse parts that could not be loaded from it."""
    from ...experiment.manifest import hashed, new_manifest, now, part, session

    conversations, scores, at = [], [], now()
    for c, score in batch.rows:
        where = f"{path}, case {_brief(c.case_id)}, trial {_brief(c.trial)}"
        record = _dumped(c, where)
        _checked(record, where)
        digest = content_hash(record)
        conversations.append((c.case_id, c.trial, c.ended_by, digest, record, at))
        scores.append((digest, SCORING, _dumped(_typed(score, where), where)))
    try:
        inputs = {
            "model": part(batch.model),
            "customer": part(batch.customer),
            "store": part(batch.version, origin["hash"]),
            "prompt": part(f"policy of {batch.version}", batch.policy),
        }
        cases = {c: hashed(text) for c, text in batch.cases.items()}
    except (TypeError, RecursionError) as error:
        raise BadInput(
            f"{path}: the text of a case or the policy cannot be stored ({error}): import the original file"
        ) from None
    manifest = new_manifest(batch.model, "imported", inputs, cases, batch.trials)
    manifest["sessions"] = [session(imported=origin)]
    with writing(out, "--out", sqlite3.Error), built_beside(out) as building:
        create(building, manifest)
        with writing_rows(building) as db:
            db.put("conversations", conversations)
            db.put("scores", scores)
