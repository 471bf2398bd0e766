"""Import of result files from tau-bench (an array of trajectories) and tau2 (simulations).

The reward is the file's own and never recomputed; `reward_basis` records its basis.
"""

import re
from collections import Counter
from pathlib import Path

from ...errors import BadInput
from ...records import Fault, Usage
from .chats import FlatChat, Imported, Json, Row, json_of, json_or_text, named_few

TAU_BENCH_NAME = re.compile(
    r"^(?:tool-calling|act|react|few-shot)-(?P<model>.+)-\d+(?:\.\d+)?_range_-?\d+-+\d+_user-(?P<customer>.+)-[a-z]+_\d+$"
)
"""Pattern of tau-bench's file names, the only source of the customer's model."""

TAU2_ENDINGS = {
    "user_stop": "resolved_by_customer",
    "agent_stop": "closed_by_agent",
    "max_steps": "turn_limit",
    "judge_stop": "turn_limit",
    "too_many_errors": "agent_fault",
    "agent_error": "agent_fault",
    "context_window_exceeded": "agent_fault",
    "user_error": "customer_fault",
    "timeout": "infrastructure_fault",
    "infrastructure_error": "infrastructure_fault",
    "unexpected_error": "infrastructure_fault",
}
DEFAULT_BASIS = ("DB", "COMMUNICATE")
ENTRY = ("task_id", "trial", "reward", "traj", "info")


def read_tau_bench(data: bytes, path: Path, model: str | None, domain: str | None) -> Imported:
    """Read a tau-bench trajectory file, whose name gives the customer and usually the model.

    `model` overrides the name's. Raise `BadInput` for another format, or if model or domain is missing.
    """
    entries = json_of(data, path)
    if not isinstance(entries, list) or not entries:
        raise BadInput(f"{path} is not a tau-bench trajectory file, a JSON array of entries: choose another --format")
    for number, entry in enumerate(entries):
        missing = [k for k in ENTRY if not isinstance(entry, dict) or k not in entry]
        if missing:
            raise BadInput(
                f"{path}: entry {number} has no {missing[0]!r}, so this is not a tau-bench trajectory file: "
                "choose another --format"
            )
    named = TAU_BENCH_NAME.match(path.stem)
    model = model or (named["model"] if named else None)
    if not model:
        raise BadInput(f"{path}: neither the file nor its name contains the model: add --model NAME")
    opened = (message for entry in entries for message in entry["traj"][:1])
    policy = next((m.get("content") or "" for m in opened if m.get("role") == "system"), "")
    domain = domain or next(
        (d for d in ("airline", "retail") if policy.lower().startswith(f"# {d} agent policy")), None
    )
    if not domain:
        raise BadInput(f"{path}: its policy does not name the domain: add --domain NAME")
    customer = named["customer"] if named else "unknown"
    rows = [_tau_bench_row(entry, model, customer, domain) for entry in entries]
    cases = {c.case_id: (e["info"].get("task") or {}) for (c, _), e in zip(rows, entries, strict=True)}
    trials = max(c.trial for c, _ in rows)
    return Imported(model, customer, f"tau-bench {domain}", policy, cases, trials, rows)


def _tau_bench_row(entry: Json, model: str, customer: str, domain: str) -> Row:
    talk = FlatChat(f"{domain}_{entry['task_id']}", int(entry["trial"]) + 1, model, customer)
    info = entry["info"] or {}
    for m in entry["traj"]:
        _read_chat_message(talk, m)
    record = talk.record
    if "error" in info:
        record.ended_by = "infrastructure_fault"
        record.faults = [Fault("infrastructure", "crashed", str(info["error"]))]
    elif info.get("reward_info") is None:
        record.ended_by = "turn_limit"
    elif talk.left:
        talk.end_by_token()
    else:
        record.ended_by = "handed_over" if talk.transferred else "closed_by_agent"
    score = talk.score(domain, entry["reward"], "DB+OUTPUT")
    return record, score | {"customer_cost_usd": info.get("user_cost")}


def _read_chat_message(talk: FlatChat, m: Json) -> None:
    """Read one message of a tau-bench trajectory; act and react write calls as text."""
    role, text = m.get("role"), m.get("content")
    words = text if isinstance(text, str) else ""
    if role == "tool":
        talk.result(m.get("tool_call_id"), text)
    elif role == "user":
        if talk.waiting and words.startswith("API output: "):
            talk.result("", words.removeprefix("API output: "))
        else:
            talk.say("customer", text)
    elif role == "assistant" and m.get("tool_calls"):
        for call in m["tool_calls"]:
            talk.call(str(call.get("id")), call["function"]["name"], call["function"]["arguments"])
    elif role == "assistant":
        action = _action_in(words)
        if action is None:
            talk.say("agent", text)
        elif action.get("name") == "respond":
            talk.say("agent", str((action.get("arguments") or {}).get("content", "")))
        else:
            talk.call("", action.get("name"), action.get("arguments"))


def _action_in(text: str) -> Json | None:
    """Return the call that a text strategy wrote after ``Action:``."""
    _, mark, tail = text.rpartition("Action:")
    action = json_or_text(tail.strip()) if mark else None
    return action if isinstance(action, dict) and "name" in action else None


def read_tau2(data: bytes, path: Path, model: str | None, domain: str | None) -> Imported:
    """Read a tau2 results file, which may keep each simulation in a file in a folder next to it.

    Raise `BadInput` for another format, or if the model is missing.
    """
    content = json_of(data, path)
    kept = isinstance(content, dict) and ("simulations" in content or "simulation_index" in content)
    if not kept or not {"info", "tasks"} <= content.keys():
        what = "not a tau2 results file, which has info, tasks and simulations"
        if isinstance(content, dict) and ("metrics" in content or "termination_reasons" in content):
            what = "a summary that tau2 writes beside its results"
        raise BadInput(f"{path} is {what}: name the results file itself, or choose another --format")
    info = content["info"] or {}
    model = model or (info.get("agent_info") or {}).get("llm")
    if not model:
        raise BadInput(f"{path} does not name the model: add --model NAME")
    environment = info.get("environment_info") or {}
    domain = domain or environment.get("domain_name") or "unknown"
    customer = (info.get("user_info") or {}).get("llm") or "unknown"
    tasks = {str(task["id"]): task for task in content["tasks"]}
    simulations, notes = _simulations(content, path)
    rows, seen = [], Counter[str]()
    for simulation in simulations:
        task_id = str(simulation["task_id"])
        seen[task_id] += 1
        trial = seen[task_id] if simulation.get("trial") is None else int(simulation["trial"]) + 1
        rows.append(_tau2_row(simulation, tasks.get(task_id) or {}, trial, model, customer, domain))
    if not rows:
        why = f": {notes[0]}" if notes else ": there is nothing to import"
        raise BadInput(f"{path} has no simulations{why}")
    cases = {f"{domain}_{task_id}": task for task_id, task in tasks.items()}
    for c, _ in rows:
        cases.setdefault(c.case_id, c.case_id)
    bases = sorted({score["reward_basis"] for _, score in rows})
    trials = max(int(info.get("num_trials") or 1), *(c.trial for c, _ in rows))
    version, policy = f"tau2 {domain} ({', '.join(bases)})", environment.get("policy") or ""
    return Imported(model, customer, version, policy, cases, trials, rows, simulations, notes)


def _simulations(content: Json, path: Path) -> tuple[list[Json], list[str]]:
    if content.get("simulations"):
        return content["simulations"], []
    folder, index = path.parent / "simulations", content.get("simulation_index") or ()
    # tau2 writes unfinished files under names with a leading dot
    files = {file.stem: file for file in sorted(folder.glob("*.json")) if not file.name.startswith(".")}
    listed = {str(e["id"]): f"{e['id']} (task {e.get('task_id')}, trial {e.get('trial')})" for e in index}
    missing = [words for name, words in listed.items() if name not in files]
    beyond = [name for name in files if listed and name not in listed]
    notes = []
    if missing:
        notes.append(f"{len(missing)} of {len(listed)} simulations of its index have no file: {named_few(missing)}")
    if beyond:
        notes.append(
            f"left out, because its index does not name them: {named_few([f'{name}.json' for name in beyond])}"
        )
    return [_one_file(file) for name, file in files.items() if name not in beyond], notes


def _one_file(file: Path) -> Json:
    try:
        content = json_of(file.read_bytes(), file, "restore or remove it")
    except OSError as error:
        raise BadInput(f"{file} cannot be read ({error.strerror}): restore or remove it") from None
    if not isinstance(content, dict) or "task_id" not in content:
        raise BadInput(f"{file} is not a tau2 simulation: restore or remove it")
    return content


def _tau2_row(simulation: Json, task: Json, trial: int, model: str, customer: str, domain: str) -> Row:
    talk = FlatChat(f"{domain}_{simulation['task_id']}", trial, model, customer)
    messages = simulation.get("messages") or []
    for m in messages:
        _read_tau2_message(talk, m)
    record = talk.record
    record.usage = _tau2_usage(messages)
    _end_tau2(simulation, talk)
    if not messages:
        record.faults.append(Fault("infrastructure", "no_text", "the file contains no messages from this conversation"))
    reward = simulation.get("reward_info") or {}
    basis = reward.get("reward_basis") or (task.get("evaluation_criteria") or {}).get("reward_basis") or DEFAULT_BASIS
    score = talk.score(domain, reward.get("reward"), "+".join(sorted(basis)))
    if not messages:
        score |= dict.fromkeys(
            ("turns", "agent_messages", "agent_words", "empty_replies", "tool_calls", "failed_calls", "handed_over")
        )
    # a cost of 0 may also mean that tau2 knows no price
    costs = {"cost_usd": "agent_cost", "customer_cost_usd": "user_cost"}
    return record, score | {ours: simulation.get(source) or None for ours, source in costs.items()}


def _read_tau2_message(talk: FlatChat, m: Json) -> None:
    """Read one message of a simulation; drop text next to calls, which nobody received."""
    role = m.get("role")
    side = {"assistant": "agent", "user": "customer"}.get(str(role))
    if role == "tool":
        talk.result(m.get("id"), m.get("content"), bool(m.get("error")))
    elif side and m.get("tool_calls"):
        for call in m["tool_calls"]:
            talk.call(str(call.get("id")), call["name"], call.get("arguments"), side)
    elif side:
        talk.say(side, m.get("content"))


def _end_tau2(simulation: Json, talk: FlatChat) -> None:
    record = talk.record
    reason = str(simulation.get("termination_reason") or "").rpartition(".")[2].lower()
    record.ended_by = TAU2_ENDINGS.get(reason, "agent_fault")
    if simulation.get("skipped"):
        record.ended_by = "infrastructure_fault"
        record.faults = [Fault("infrastructure", "skipped", "the run of this simulation crashed")]
    elif reason == "user_stop" and talk.left:
        talk.end_by_token()
    elif reason == "agent_stop" and talk.transferred:
        record.ended_by = "handed_over"
    elif reason not in ("user_stop", "agent_stop", "max_steps"):
        side = record.ended_by.removesuffix("_fault") if record.ended_by.endswith("_fault") else "judge"
        record.faults = [Fault(side, reason or "unknown", "the termination reason in the file")]


def _tau2_usage(messages: list[Json]) -> dict[str, Usage]:
    """Return reported tokens by side, without the greeting, which no model wrote."""
    usages = {}
    for role, side in (("assistant", "agent"), ("user", "customer")):
        used = Usage()
        for m in messages[1:] if messages and messages[0].get("role") == "assistant" else messages:
            if m.get("role") == role:
                reported = m.get("usage")
                used.add(
                    Usage(reported.get("prompt_tokens") or 0, reported.get("completion_tokens") or 0, calls=1)
                    if reported
                    else Usage(calls=1, missing=1)
                )
        if used.calls > used.missing:
            usages[side] = used
    return usages
