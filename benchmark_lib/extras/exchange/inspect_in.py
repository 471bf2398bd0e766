"""Import of Inspect logs (``.eval``, a zip of JSON, or ``.json``) without Inspect."""

import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

from ...errors import BadInput
from ...records import ENDINGS, Fault, Usage
from ...scoring.columns import Score, names_of
from ...textfiles import yes_or_no
from .chats import FlatChat, Imported, Json, Row, named_few

ZSTD = 93
"""Zip method number of the compression that present versions of Inspect use."""
LARGEST_PART, MOST_UNPACKED, MOST_BRACKETS = 50_000_000, 400_000_000, 8_000_000
"""Limits for a log: unpacked bytes of one part and of all parts, and number of lists and objects.
A small zip may unpack to a thousand times its size. A list of two bytes takes thirty times that memory."""
STEP = 4096
"""Bytes to unpack at a time, since the sizes stated in a zip may be wrong."""
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values of Inspect's letter scores: correct, partly correct, incorrect, no answer."""
OF_THE_WORLD = frozenset({"operator", "time"})
"""Limits unrelated to the model: the operator, and the clock, which includes waiting."""
TOKENS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "cached_tokens": "input_tokens_cache_read",
}
"""Inspect's name for each count in a `Usage`."""
ATTACHED = "attachment://"


def read_inspect(data: bytes, path: Path, model: str | None, domain: str | None) -> Imported:
    """Read a log of an agent or chat evaluation; `model` and `domain` override the log's.

    The log's headline score is the reward; a reward of 1 is a success. A log that `write_inspect` made restores every
    score. Raise `BadInput` for a file of another format, a truncated file, and a log without samples.
    """
    header, present = log_parts(data, path)
    kept = [sample for sample in present if not sample.get("invalidation")]
    samples = [_resolved(sample, sample.get("attachments") or {}) for sample in kept]
    about = header.get("eval")
    if not isinstance(about, dict) or "dataset" not in about:
        raise BadInput(f"{path} is not an Inspect log: use an .eval or .json file from its log folder")
    if not samples:
        why = "each was invalidated" if present else "it stopped before the first, or was run with --no-log-samples"
        raise BadInput(f"{path} has no samples: {why}")
    model = model or str(about.get("model") or "unknown")
    domain = domain or str(about.get("task") or "inspect")
    rows = [_row(sample, header, model, domain) for sample in samples]
    messages = samples[0].get("messages") or ()
    policy = next((_text(m.get("content")) for m in messages if m.get("role") == "system"), "")
    customer = rows[0][0].customer
    cases = {c.case_id: _text(s.get("input")) for (c, _), s in zip(rows, samples, strict=True)}
    for name in map(str, about["dataset"].get("sample_ids") or ()):
        cases.setdefault(name, name)
    trials = (about.get("config") or {}).get("epochs") or max(c.trial for c, _ in rows)
    notes = []
    if invalid := [f"{s.get('id')}, epoch {s.get('epoch') or 1}" for s in present if s.get("invalidation")]:
        notes.append(
            f"{len(invalid)} of {len(present)} samples were invalidated and are left out: {named_few(invalid)}"
        )
    status = str(header.get("status") or "success")
    if status != "success":
        planned = len(cases) * int(trials)
        notes.append(f"the evaluation did not end well ({status}): the log has {len(present)} of {planned} samples")
    sources = [{"created_at": about.get("created")} | sample for sample in samples]
    return Imported(model, customer, f"inspect {domain}", policy, cases, trials, rows, sources, notes)


def log_parts(data: bytes, path: Path) -> tuple[Json, list[Json]]:
    """Return the header and the samples of either format."""
    if not zipfile.is_zipfile(BytesIO(data)):
        if data[:2] == b"PK":
            raise BadInput(f"{path} is truncated: copy it again from Inspect's log folder")
        if _brackets(data) > MOST_BRACKETS:
            raise _too_large(path)
        try:
            log = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{path} is not an Inspect log ({error}): use an .eval or .json file") from None
        return (log, log.get("samples") or []) if isinstance(log, dict) else ({}, [])
    try:
        with _zip_reader(data, path).ZipFile(BytesIO(data)) as log:
            names = log.namelist()
            if "header.json" not in names:
                raise BadInput(f"{path} has no header: the evaluation is still running, or it is not an Inspect log")
            # Inspect adds an edited sample under the same name; the last one is valid
            own = dict.fromkeys(name for name in names if name.startswith("samples/"))
            header, *samples = _unpacked(log, ["header.json", *own], path)
            return header, samples
    except BadInput:
        raise
    except Exception as error:  # each kind of compression has its own errors
        raise BadInput(f"{path} is damaged ({error}): copy it again from Inspect's log folder") from None


def _unpacked(log: zipfile.ZipFile, names: list[str], path: Path) -> Iterator[Any]:
    """Yield the JSON of a zip's parts without events; refuse large parts while unpacking."""
    total = brackets = 0
    for name in names:
        part = bytearray()
        with log.open(name) as file:
            while piece := file.read(STEP):
                part += piece
                if len(part) > LARGEST_PART or total + len(part) > MOST_UNPACKED:
                    raise _too_large(path, f"{LARGEST_PART:,} bytes in one part or {MOST_UNPACKED:,} in all")
        total, brackets = total + len(part), brackets + _brackets(part)
        if brackets > MOST_BRACKETS:
            raise _too_large(path)
        read = json.loads(part)
        yield {key: value for key, value in read.items() if key != "events"} if isinstance(read, dict) else read


def _brackets(data: bytes | bytearray) -> int:
    return data.count(b"[") + data.count(b"{")


def _too_large(path: Path, most: str = f"{MOST_BRACKETS:,} lists and objects") -> BadInput:
    return BadInput(f"{path} unpacks to more than {most}: split the evaluation into smaller logs")


def _zip_reader(data: bytes, path: Path) -> ModuleType:
    with zipfile.ZipFile(BytesIO(data)) as log:
        if all(part.compress_type != ZSTD for part in log.infolist()):
            return zipfile
    try:
        import zipfile_zstd
    except ImportError:
        raise BadInput(
            f"{path} is compressed with zstd: install the extra with `make extras`, or `pip install "
            "'deskbench[inspect]'`"
        ) from None
    return zipfile_zstd


def _resolved(value: Any, attached: dict[str, str]) -> Any:
    """Return a value with Inspect's attachments inserted."""
    if isinstance(value, dict):
        return {key: _resolved(inner, attached) for key, inner in value.items() if key != "events"}
    if isinstance(value, list):
        return [_resolved(inner, attached) for inner in value]
    if isinstance(value, str) and value.startswith(ATTACHED):
        return attached.get(value.removeprefix(ATTACHED), value)
    return value


def _row(sample: Json, header: Json, model: str, domain: str) -> Row:
    ours = (header.get("plan") or {}).get("name") == "deskbench"
    spoke = (header["eval"].get("metadata") or {}).get("customer") if ours else None
    customer = str(spoke["value"]) if isinstance(spoke, dict) else "unknown"
    talk = FlatChat(str(sample.get("id")), int(sample.get("epoch") or 1), model, customer)
    for message in sample.get("messages") or ():
        _read_message(talk, message)
    about = sample.get("metadata") or {}
    error, limit, ended_by = sample.get("error"), sample.get("limit"), about.get("ended_by")
    halted = str(limit.get("type") if isinstance(limit, dict) else limit)
    record = talk.record
    if isinstance(error, dict):
        record.faults = [Fault("infrastructure", "crashed", str(error.get("message")))]
    elif not error and halted in OF_THE_WORLD:
        record.faults = [Fault("infrastructure", f"{halted}_limit", "what halted this sample was not the model")]
    if error or record.faults:
        record.ended_by = "infrastructure_fault"
    elif isinstance(ended_by, str) and ended_by in ENDINGS:
        record.ended_by = ended_by
    else:
        record.ended_by = "turn_limit" if limit else "closed_by_agent"
    for name, counts in (sample.get("model_usage") or {}).items():
        side = "agent" if name == header["eval"].get("model") else "customer" if name == customer else name
        calls = sum(m.side == side for m in record.messages) + (len(record.tool_calls) if side == "agent" else 0)
        kept = {count: int(counts.get(theirs) or 0) for count, theirs in TOKENS.items()}
        record.usage[side] = Usage(**kept, calls=calls)
    scores = sample.get("scores") or {}
    name = _headline(header, scores)
    reward = _number(scores[name].get("value")) if name in scores else None
    score = talk.score(str(about.get("bucket") or domain), reward, f"Inspect's {name}")
    if ours:
        known = names_of(Score)
        score |= {n: given.get("value") for n, given in scores.items() if n in known}
        score |= {n: about[n] for n in ("bucket", "intent") if about.get(n) is not None}
    return record, score


def _read_message(talk: FlatChat, message: Json) -> None:
    role, text = message.get("role"), _text(message.get("content"))
    if role == "user":
        talk.say("customer", text)
    elif role == "tool":
        talk.result(message.get("tool_call_id"), text, failed=bool(message.get("error")))
    elif role == "assistant":
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and part.get("type") == "reasoning":
                # a provider that encrypts its reasoning gives a summary
                thought = part.get("summary") if part.get("redacted") else part.get("reasoning")
                talk.think(thought if isinstance(thought, str) else "")
        calls = message.get("tool_calls") or ()
        if text or not calls:
            talk.say("agent", text)
        for call in calls:
            talk.call(str(call.get("id")), call.get("function"), call.get("arguments"))


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = (p if isinstance(p, dict) else {"text": str(p)} for p in content)
        return "\n".join(p.get("text") or f"[{p.get('type')}]" for p in parts if p.get("type") != "reasoning")
    return content if isinstance(content, str) else ""


def _headline(header: Json, scores: Json) -> str:
    results = header.get("results") or {}
    named = (results.get("headline") or {}).get("score") or next(
        (s.get("name") for s in results.get("scores") or () if s.get("name") in scores), None
    )
    return named if named in scores else next(iter(scores), "")


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        known = LETTERS.get(value, yes_or_no(value))
        with suppress(ValueError):
            value = float(value) if known is None else known
    return float(value) if isinstance(value, int | float) and isfinite(value) else None
