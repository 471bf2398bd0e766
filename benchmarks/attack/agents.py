"""Part: users' own agents that leave, block or cheat; nothing of this may count as success or as a finished run."""

import re
import shlex
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .figure import Ended, Figure, at_most, count, deskbench, finish, start, yes
from .own import FORGED

SOME = "address_change_*,fraud_reroute_*,reroute_*,wismo_travel_*"
LEAVERS = ("Cancels", "Exits", "Interrupts", "Generates")
RATES = ("Filters", "Disconnects", "BlamesCustomer")
FORGERS = ("ForgesActs", "ForgesCalls", "ChangesRows")
ODD = ("OddReply", "OddObject")
STOPS_S = 10.0
"""Seconds in which a run ends after a second SIGTERM while an agent blocks."""
LEFT_OUT = ("content_filter", "infrastructure_fault", "customer_fault")


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from _leavers(folder)
        yield _blocking(folder)
        yield from _rates(folder)
        yield from _forgers(folder)
        yield from _without_calls(folder)
        yield from _reach(folder)


def _play(folder: Path, agent: str, *more: str, out: str | None = None) -> tuple[Ended, Path]:
    path = folder / f"{out or agent}.deskbench"
    return deskbench([*_line(agent, path), *(more or ("--cases", SOME))], folder), path


def _line(agent: str, path: Path) -> list[str]:
    return shlex.split(f"run own --agent benchmarks.attack.own:{agent} --trials 1 --out '{path}'")


def _leavers(folder: Path) -> Iterator[Figure]:
    done, unnamed, raw = [], [], []
    for agent in (*LEAVERS, *ODD):
        ended, path = _play(folder, agent)
        finished = _read(path, lambda run: run.counts()["finished"], 0)
        unfinished = finished < _read(path, lambda run: sum(run.manifest["planned"].values()), 1)
        if unfinished and ended.code in (0, None) and agent in LEAVERS:
            done.append(agent)
        if unfinished and "agent" not in ended.said and agent != "Interrupts":  # which is how a person ends it
            unnamed.append(agent)
        if ended.traceback:
            raw.append(agent)
    yield count(
        "agents that leave and have the run end with exit 0, or never", len(done), len(LEAVERS), ", ".join(done)
    )
    yield count(
        "agents that leave or say what cannot be written, unnamed in the end",
        len(unnamed),
        len(LEAVERS + ODD),
        ", ".join(unnamed),
    )
    yield count("of them that end in a raw traceback", len(raw), len(LEAVERS + ODD), ", ".join(raw))


def _blocking(folder: Path) -> Figure:
    process = start([*_line("Blocks", folder / "blocks.deskbench"), "--cases", SOME], folder)
    while "BLOCKED" not in (said := process.stdout.readline()) and said:
        continue
    since = time.monotonic()
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
    ended = finish(process, STOPS_S, since)
    return at_most(
        "a run whose agent blocks ends after two SIGTERMs", ended.seconds, STOPS_S, "s", ended.code in (None, 0)
    )


def _rates(folder: Path) -> Iterator[Figure]:
    left, of = 0, 0
    for agent in RATES:
        _, path = _play(folder, agent)
        endings = _endings(path)
        of += len(endings)
        left += sum(e in LEFT_OUT for e in endings)
    yield count("conversations that an agent took out of the rates by raising what only the harness may", left, of)


def _forgers(folder: Path) -> Iterator[Figure]:
    for agent, what in zip(
        FORGERS,
        (
            "records that hold acts or words an agent made up for the customer",
            "records that hold calls nobody made",
            "records that show a row which an earlier conversation changed",
        ),
    ):
        _, path = _play(folder, agent, "--cases", SOME, "--concurrency", "1")
        forged = sum(_forged(record, agent) for record in _records(path))
        yield count(what, forged, len(_endings(path)))


def _forged(record: object, agent: str) -> bool:
    """Return whether a forgery entered a record as something genuine; the agent's own words may say anything."""
    if agent == "ForgesActs":
        return any(
            FORGED in m.text or any(a.detail == FORGED for a in m.acts) for m in record.messages if m.side == "customer"
        )
    return any(FORGED in str(c.arguments) or FORGED in str(c.result) for c in record.tool_calls)


def _without_calls(folder: Path) -> Iterator[Figure]:
    from benchmark_lib.records import Conversation

    _, path = _play(folder, "WritesOverlay", "--cases", "resolvable")
    scores = _read(path, lambda run: run.scores(), {})
    records = _read(path, lambda run: {d: Conversation.from_json(data) for _, _, d, data in run.conversations()}, {})
    writes = {d for d, record in records.items() if any(c.write and not c.error for c in record.tool_calls)}
    changed = {d for d, record in records.items() if record.changes}
    resolved = sum(
        bool(s.get("success")) and digest in changed and digest not in writes for digest, s in scores.items()
    )
    yield count("cases resolved by writing the desk behind its tools", resolved, len(scores))


def _reach(folder: Path) -> Iterator[Figure]:
    ended, _ = _play(folder, "Snoops")
    told = re.search(r"SNOOPED (\d+) (\d+) (.*)", ended.said)
    yield Figure(
        "kinds of the harness's objects that an agent reaches from what it is given",
        f"{told[1]} ({told[3]})" if told else "?",
        "0",
        bool(told) and told[1] == "0",
    )
    yield Figure(
        "frames above an agent that hold the case", told[2] if told else "?", "0", bool(told) and told[2] == "0"
    )
    one, alone = _play(folder, "Honest")
    ended, apart = _play(folder, "Honest", "--cases", SOME, "--isolate", out="isolated")
    same = ended.code == 0 and [r.to_json() for r in _records(alone)] == [r.to_json() for r in _records(apart)]
    yield yes(
        "an honest agent plays the same conversations with --isolate", same and one.code == 0, f"no (exit {ended.code})"
    )


def _read(path: Path, question: Callable[[Any], Any], otherwise: Any) -> Any:
    """Return what `question` finds in a run file, or `otherwise` if there is no file."""
    from benchmark_lib.errors import BadInput
    from benchmark_lib.runfile import RunFile

    try:
        run = RunFile(path)
    except BadInput:
        return otherwise
    return question(run)


def _records(path: Path) -> list[Any]:
    return _read(path, lambda run: sorted(run.records(), key=lambda r: (r.case_id, r.trial)), [])


def _endings(path: Path) -> list[str]:
    return _read(path, lambda run: [*run.endings().values()], [])
