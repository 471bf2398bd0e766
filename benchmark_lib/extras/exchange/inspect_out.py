"""Export of a run as an Inspect log (https://inspect.aisi.org.uk/eval-logs.html).

An ``.eval`` file is a zip of JSON: a header, a file per sample, and a summary of every sample.
"""

import zipfile
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import orjson

from ...extension import offers
from ...project import slug
from ...records import NOT_SCORED, ToolCall, Usage, content_hash
from ...runfile import RunFile
from ...scoring.metrics import METRICS
from .chats import Chat, Json, chats_of
from .inspect_in import TOKENS

LOG_VERSION = 2
"""Version of Inspect's log schema."""
SCORED = tuple(dict.fromkeys(["success", *(metric.column for metric in METRICS.values())]))
"""Fields of a score that become scores of a sample: the columns of all metrics."""


def write_inspect(run: RunFile, folder: Path) -> Path:
    """Write a run as an ``.eval`` log, named as Inspect's viewer expects; return its path.

    A case is a sample, a trial is an epoch. ``success`` is given by bucket and never pooled, alongside every
    metric's column. A trial that an infrastructure fault ended has an error and no score.
    """
    manifest = run.manifest
    header = _header(manifest)
    begun = datetime.fromisoformat(manifest["created"])
    path = folder / f"{begun:%Y-%m-%dT%H-%M-%S}+00-00_{header['eval']['task']}_{header['eval']['task_id']}.eval"
    summaries: list[Json] = []
    used: dict[str, Usage] = defaultdict(Usage)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("_journal/start.json", orjson.dumps({n: header[n] for n in ("version", "eval", "plan")}))
        for chat in chats_of(run):
            sample = _sample(chat)
            sample["events"] = [e for make in offers("events") for e in make(manifest, chat.record)]
            log.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", orjson.dumps(sample))
            summaries.append(_summary(sample))
            for side, usage in chat.record.usage.items():
                used[_model(chat, side)].add(usage)
        planned = sum(manifest["planned"].values())
        whole = len(summaries) >= planned
        header["status"] = "success" if whole else "cancelled"
        counts = {"total_samples": planned, "completed_samples": len(summaries)}
        header["results"] = {**counts, "scores": _results(summaries)}
        header["stats"]["model_usage"] = {model: _usage(usage) for model, usage in used.items()}
        log.writestr("summaries.json", orjson.dumps(summaries))
        log.writestr("header.json", orjson.dumps(header))
    return path


def _header(manifest: Json) -> Json:
    inputs, created = manifest["inputs"], manifest["created"]
    store, task_id = str(inputs["store"]["value"]), content_hash(manifest["run_id"].encode())
    cases = list(manifest["cases"])
    played = {name: {"value": part["value"], "hash": part["hash"]} for name, part in inputs.items()}
    task = {"task": slug(store), "task_id": task_id, "task_version": 0}
    return {
        "version": LOG_VERSION,
        "status": "started",
        "eval": {
            **{"eval_id": task_id, "run_id": manifest["run_id"], "created": created, **task},
            "dataset": {"name": store, "samples": len(cases), "sample_ids": cases, "shuffled": False},
            "model": manifest["model"],
            "config": {"epochs": manifest["trials"]},
            "scorers": [{"name": name} for name in SCORED],
            "metadata": {"source": manifest["source"], **played},
        },
        "plan": {"name": "deskbench", "steps": []},
        "stats": {"started_at": created, "completed_at": created},
    }


def _sample(chat: Chat) -> Json:
    record, score = chat.record, chat.score
    messages = _messages(chat)
    last = next((m for m in reversed(messages) if m["role"] == "assistant"), None)
    lost = record.ended_by in NOT_SCORED
    sample: Json = {
        "id": record.case_id,
        "epoch": record.trial,
        "input": next((m.text for m in record.messages if m.side == "customer"), ""),
        "target": "",
        "messages": messages,
        "output": {
            "model": record.model,
            "choices": [{"message": last, "stop_reason": "stop"}] if last else [],
            "completion": _words(last) if last else "",
        },
        "scores": {} if lost else {name: {"value": score[name]} for name in SCORED if score.get(name) is not None},
        "metadata": {
            "bucket": score.get("bucket", "unknown"),
            "intent": score.get("intent"),
            "ended_by": record.ended_by,
            "changes": record.changes,
            "facts": score.get("facts"),
            "faults": record.faults,
        },
        "store": {},
        "events": [],
        "attachments": {},
        "model_usage": {_model(chat, side): _usage(usage) for side, usage in record.usage.items()},
        "uuid": content_hash(f"{record.model} {record.case_id} {record.trial}".encode()),
    }
    if lost:
        words = "; ".join(f"{f.side}: {f.kind}" for f in record.faults) or record.ended_by
        sample["error"] = {"message": words, "traceback": "", "traceback_ansi": ""}
    return sample


def _messages(chat: Chat) -> list[Json]:
    messages: list[Json] = [{"role": "system", "content": chat.prompt}] if chat.prompt else []
    before_call, before_reply = chat.record.thoughts()
    for step in chat.steps():
        if isinstance(step, ToolCall):
            messages += _called(step, before_call.pop(step.index, []))
        elif step.side == "customer":
            messages.append({"role": "user", "content": chat.words(step)})
        else:
            content = _content(chat.words(step), before_reply.pop(step.turn, []))
            messages.append({"role": "assistant", "content": content})
    generated = {"source": "generate", "model": chat.record.model}
    return [
        {"id": f"m{place}", **message, **(generated if message["role"] == "assistant" else {})}
        for place, message in enumerate(messages, 1)
    ]


def _content(words: str, thoughts: list[str]) -> str | list[dict[str, str]]:
    if not thoughts:
        return words
    texts = [{"type": "text", "text": words}] if words else []
    return [*({"type": "reasoning", "reasoning": t} for t in thoughts), *texts]


def _words(message: Json) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _called(call: ToolCall, thoughts: list[str]) -> list[Json]:
    key, broken = f"call_{call.index}", isinstance(call.arguments, str)
    made: Json = {"id": key, "function": call.name, "arguments": call.named, "type": "function"}
    made |= {"parse_error": call.arguments} if broken else {}
    content = orjson.dumps(call.result).decode()
    answer: Json = {"role": "tool", "content": content, "tool_call_id": key, "function": call.name}
    if call.error:
        answer["error"] = {"type": "parsing" if broken else "unknown", "message": call.error}
    return [{"role": "assistant", "content": _content("", thoughts), "tool_calls": [made]}, answer]


def _model(chat: Chat, side: str) -> str:
    """Return the model to which a side's tokens are charged."""
    return chat.record.customer if side == "customer" else chat.record.model


def _usage(usage: Usage) -> dict[str, int]:
    counts = {theirs: getattr(usage, ours) for ours, theirs in TOKENS.items()}
    return counts | {"total_tokens": usage.prompt_tokens + usage.completion_tokens}


def _summary(sample: Json) -> Json:
    kept = ("id", "epoch", "input", "target", "scores", "model_usage", "uuid")
    about = {name: sample["metadata"][name] for name in ("bucket", "intent", "ended_by")}
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    counted = {"completed": not error, "retries": 0, "message_count": len(sample["messages"])}
    return {**{name: sample[name] for name in kept}, "metadata": about, **counted, **error}


def _results(summaries: list[Json]) -> list[Json]:
    """Return each score over its samples, with means by bucket, since buckets are never pooled."""
    results = []
    for name in SCORED:
        values: dict[str, list[float]] = defaultdict(list)
        for summary in summaries:
            value = summary["scores"].get(name, {}).get("value")
            if isinstance(value, int | float):
                values[summary["metadata"]["bucket"]].append(float(value))
        if not values:
            continue
        scored = sum(map(len, values.values()))
        counts = {"scored_samples": scored, "unscored_samples": len(summaries) - scored}
        means = {bucket: {"name": bucket, "value": sum(ones) / len(ones)} for bucket, ones in sorted(values.items())}
        results.append({"name": name, "scorer": name, **counts, "metrics": means})
    return results
