"""Invalid command lines.

There is a table of them with the files they need, damaged manifests, and a generated family for every command.
"""

import contextlib
import io
import random
import resource
import shutil
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from benchmark_lib.runfile import connect_to_write

from .figure import OutOfTime, limited

Files = dict[str, str | bytes]
RUN = ["run", "scripted:no_op", "--cases", "address_change_1", "--trials", "1", "--out", "new.deskbench"]
ASKING = ["run", "some-model", "--base-url", "http://127.0.0.1:9/v1", *RUN[2:]]
GOOD, FULL_BYTES, LONGEST_S = "run.deskbench", 10_000, 8.0
LARGE = "9" * 20

SETTINGS: Files = {
    "cyclic.yaml": "agent: &a\n  body: *a\n",
    "cyclic_body.yaml": "agent:\n  body: &b {x: *b}\n",
    "binary.yaml": bytes(range(256)) * 4,
    "deep.yaml": "agent: {body: {x: " + "[" * 2000 + "]" * 2000 + "}}\n",
    "lines.yaml": 'agent: {headers: {X-A: "a\\r\\nX-B: b"}}\n',
    "name.yaml": 'agent: {headers: {"X-A\\r\\nX-B": "b"}}\n',
    "tokens.yaml": "agent: {body: {max_tokens: abc}}\n",
    "list.yaml": "[agent]\n",
    "set.yaml": "agent: {body: {x: !!set {a, b}}}\n",
    "bytes.yaml": "agent: {body: {x: !!binary aGVsbG8=}}\n",
    "large.yaml": f"agent: {{body: {{x: {LARGE}999}}}}\n",
    "role.yaml": "agent: 5\n",
    "tab.yaml": "agent:\n\tbody: {}\n",
    "python.yaml": "agent: !!python/object/apply:os.getcwd []\n",
    "nan.yaml": "agent: {timeout: .nan}\n",
    "bool.yaml": "agent: {attempts: yes please}\n",
    "key_number.yaml": "5: {body: {}}\n",
    "none.yaml": "agent: {body: null}\n",
    "tokens_list.yaml": "agent: {body: {max_tokens: [1]}}\n",
    "merge.yaml": "agent: {<<: 5}\n",
    "letters.yaml": 'agent: {headers: {X-A: "\\u4e2d"}}\n',
}
PROMPTS: Files = {
    "zero.md": "{{1/0}}",
    "recursion.md": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "range.md": "{% for i in range(10**9) %}x{% endfor %}",
    "front.md": "---\n- a\n- b\n---\nHello",
    "front_broken.md": "---\na: [\n---\nHello",
    "front_text.md": "---\njust text\n---\nHello",
    "undefined.md": "{{ nobody.name }}",
    "include.md": "{% include '/etc/passwd' %}",
    "open.md": "{% if",
    "bytes.md": b"\xff\xfe\x00",
    "filter.md": "{{ 1 | nothing }}",
    "add.md": "{{ 'a' + 1 }}",
    "call.md": "{{ policy() }}",
    "raise.md": "{{ [].pop() }}",
    "underscore.md": "{{ ''.__class__.__mro__ }}",
}
MODULES: Files = {
    "broken.py": "class Agent(:\n",
    "raising.py": "1 / 0\n",
    "leaving.py": "import sys\nsys.exit(0)\n",
    "nothing.py": "",
    "bytes_module.py": b"x = '\xff'\n",
    "odd.py": "class Agent:\n    def __init__(self):\n        raise SystemExit(0)\n\nclass Made:\n    reply = 5\n\nTOOLS = 5\n",
}
RECORD = {"case_id": "one", "trial": 1, "model": "m", "messages": [{"side": "customer", "text": "Hello"}]}
RECORDS: dict[str, Any] = {
    "usage_word": {"usage": {"agent": {"prompt_tokens": "many"}}},
    "usage_number": {"usage": 5},
    "usage_inner": {"usage": {"agent": 5}},
    "usage_list": {"usage": [1]},
    "cost": {"usage": {"agent": {"cost_usd": "much"}}},
    "score_number": {"score": 5},
    "score_list": {"score": [1]},
    "score_text": {"score": "good"},
    "messages_number": {"messages": [5]},
    "messages_null": {"messages": [None]},
    "side": {"messages": [{"side": 5}]},
    "turn": {"messages": [{"side": "agent", "turn": "x"}]},
    "acts": {"messages": [{"side": "customer", "acts": 5}]},
    "attachments": {"messages": [{"side": "customer", "attachments": 5}]},
    "calls_number": {"tool_calls": 5},
    "calls_inner": {"tool_calls": [5]},
    "calls_lacking": {"tool_calls": [{}]},
    "changes": {"changes": 5},
    "faults": {"faults": [{"side": 5}]},
    "trial": {"trial": 10**15},
    "case_list": {"case_id": []},
    "ended": {"ended_by": ["x"]},
    "reward": {"reward": "high"},
    "success": {"success": "perhaps"},
    "bucket": {"bucket": []},
    "tokens_list": {"usage": {"agent": {"prompt_tokens": [1]}}},
    "score_nan": {"score": {"turns": 1e308}},
    "missing": {"usage": {"agent": {"missing": "x"}}},
}
"""What replaces parts of a good record."""
TAU = (
    "[]", "{}", "5", "[5]", "[{}]", "null", '[{"task_id": 1, "trial": 0, "reward": "x", "traj": []}]',
    '[{"task_id": 1, "trial": 0, "reward": 1, "traj": 5, "info": []}]', '{"simulations": 5}',
    '{"simulations": [{}], "tasks": [], "info": {}}', '{"simulations": [5], "tasks": 5, "info": 5}',
)  # fmt: skip
MUST_SAY = {"lines.yaml": "header", "name.yaml": "header"}
"""What the sentence about a file has to name, if another fault could be blamed for it."""
VALUES = (
    "", " ", "-", "0", "-1", "1e999", "nan", "inf", LARGE, "1" * 5000, "..", "../..", "a" * 300, "a" * 5000, "/",
    "/dev/null", "/dev/full", "/proc/self/mem", "/proc/x", "/sys/x.deskbench", "notes.txt", "notes.txt/x", GOOD,
    "noise.deskbench", "empty.deskbench", ".", "\udcff\udcfe", "\u202ex", "*", "[", "[!", "{{1/0}}", "%s%n", "a:b",
    "..a:X", ".:x", "os:system", "sys:modules", ":", "a:", "broken:Agent", "raising:Agent", "leaving:Agent",
    "odd:Agent", "odd:Made", "odd:TOOLS", "line\nend", "null", "x=", "x=[", "=", "x={a: *b}", "~", "$HOME", "'", '"',
    "scripted:", "scripted:nobody", "scripted:tunable?skill=x", "scripted:tunable?=&&", "scripted:tunable?skill=1e999",
    "http://", "http://[::1", "https://a b", "ftp://x/v1", "http://127.0.0.1:99999/v1", "http://127.0.0.1:x/v1",
    "file:///etc/passwd", "\x1b[31m", "jsonl", "parquet", "tau2", "address_change_1", *SETTINGS, *PROMPTS,
)  # fmt: skip
"""Values given to commands that expect something else."""


AGENTS = (
    "..a:X", ".a:X", "a..b:X", "broken:Agent", "raising:Agent", "leaving:Agent", "bytes_module:Agent", "nothing:Agent",
    "odd:Agent", "odd:Made", "a/b:X", "os:", "json:loads",
)  # fmt: skip
TOOLS = (
    "os:system", "os:environ", "..a:X", "json:dumps", "broken:TOOLS", "raising:TOOLS", "leaving:TOOLS", "odd:TOOLS",
    "a..b:X",
)  # fmt: skip
PLACES = (
    "a" * 300, "/sys/x.deskbench", "/dev/full", "/proc/self/mem", "notes.txt/x", "\udcff.deskbench/\x01" + "c" * 300,
)  # fmt: skip
"""Agents, tools and places of run files that cannot be used."""


@dataclass(frozen=True)
class Line:
    """A wrong command line; `full` gives it a disk on which nothing larger than a few kB can be written."""

    words: tuple[str, ...]
    full: bool = False

    def __str__(self) -> str:
        shown = " ".join(w if len(w) < 60 else f"{w[:40]}...({len(w)})" for w in self.words)
        return f"{shown}{' (on a full disk)' if self.full else ''}"


def table() -> list[Line]:
    """Return the command lines that must be refused in one sentence with exit code 2 (or 3 if the disk is full)."""
    run, out = RUN[:-2], RUN[-2:]
    lines = [[*RUN, option, LARGE] for option in ("--seed", "--messages", "--trials", "--concurrency")]
    lines += [[*RUN, "--trials", "1" * 5000], [*RUN, "--timeout", "inf"], [*RUN, "--budget-usd", "1e999"]]
    lines += [["run", "own", "--agent", agent, *RUN[2:]] for agent in AGENTS]
    lines += [[*RUN, "--tools", tools] for tools in TOOLS]
    lines += [[*run, "--out", path] for path in PLACES]
    lines += [[*ASKING, "--settings", name] for name in SETTINGS if name != "none.yaml"]
    lines += [[*RUN, "--prompt", name] for name in PROMPTS]
    lines += [["notebook", "00_start", "-p", value] for value in ("runs=[", "runs={a: *b}", "=5", "nothing", "a b=1")]
    lines += [
        ["notebook", name]
        for name in ("notes.txt", GOOD, "list.json", "number.ipynb", "lacking.ipynb", "nothing_there")
    ]
    for path in ("/sys/x", "/proc/x/y", "notes.txt/x", "a" * 300):
        lines += [
            ["import", "good.jsonl", "--format", "jsonl", "--out", path],
            ["site", GOOD, "--out", path],
        ]
        lines += [["export", GOOD, "--format", kind, "--out", path] for kind in ("parquet", "jsonl")]
    lines += [["import", f"{name}.jsonl", "--format", "jsonl", "--out", "imported.deskbench"] for name in RECORDS]
    lines += [
        ["import", f"tau{n}.json", "--format", kind, "--out", "imported.deskbench"]
        for n in range(len(TAU))
        for kind in ("tau-bench", "tau2")
    ]
    lines += [
        ["score", "empty.deskbench"],
        ["export", "noise.deskbench", "--format", "jsonl", "--out", "x"],
        ["score", GOOD, "--store", "notes.txt"],
    ]
    full = [
        ["import", "good.jsonl", "--format", "jsonl", *out],
        ["export", GOOD, "--format", "parquet", "--out", "p"],
        RUN,
        ["export", GOOD, "--format", "jsonl", "--out", "j"],
        ["site", GOOD, "--out", "s"],
        ["score", "again.deskbench", "--again"],
    ]
    return [Line(tuple(words)) for words in lines] + [Line(tuple(words), full=True) for words in full]


MAY_PASS = frozenset(["bucket", "trial", "usage_list", "cost", "case_list"])
"""Records that an importer may also accept as they are."""


def lay_out(folder: Path) -> None:
    """Write the files that the command lines name into an empty folder, among them a good run file."""
    import asyncio

    from benchmark_lib import Experiment

    (folder / "pyproject.toml").write_text("")  # a project of its own, so that nothing is written into this one
    asyncio.run(
        Experiment(
            "scripted:no_op", cases="address_change_1,fraud_reroute_1", trials=1, out=folder / GOOD, progress=False
        ).run()
    )
    data = (folder / GOOD).read_bytes()
    files: Files = {
        "notes.txt": "hello",
        "empty.deskbench": "",
        "again.deskbench": data,
        "noise.deskbench": data[:100] + data[:99:-1],
        "list.json": "[1]",
        "number.ipynb": "5",
        "lacking.ipynb": '{"cells": [{}]}',
        "good.jsonl": orjson.dumps(RECORD),
        **SETTINGS,
        **PROMPTS,
        **MODULES,
    }
    files |= {f"{name}.jsonl": orjson.dumps(RECORD | part) for name, part in RECORDS.items()}
    files |= {f"tau{n}.json": text for n, text in enumerate(TAU)}
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def odd_manifest(folder: Path, rng: random.Random) -> str:
    """Write ``odd.deskbench``, the good run file with one part of its manifest gone or of another type; return which."""
    path = folder / "odd.deskbench"
    for old in folder.glob("odd.deskbench*"):
        old.unlink()  # a new file, not new content: SQLite recognises an open one
    shutil.copy(folder / GOOD, path)
    db = connect_to_write(path)
    manifest = {key: orjson.loads(value) for key, value in db.execute("SELECT key, value FROM manifest")}
    at, where = manifest, []
    while True:
        key = rng.choice([*at])
        where.append(key)
        if not (isinstance(at[key], dict) and at[key] and rng.random() < 0.5):
            break
        at = at[key]
    if rng.random() < 0.4:
        del at[key]
        what = "missing"
    else:
        at[key] = rng.choice([None, 5, -1, 0.5, "x", "", [], {}, [None], {"x": None}, True, 2**60])
        what = repr(at[key])
    if where[0] in manifest:
        db.put("manifest", [(where[0], orjson.dumps(manifest[where[0]]).decode())])
    else:
        for table in ("manifest", "manifest_copy"):
            db.execute(f"DELETE FROM {table} WHERE key=?", (where[0],))
    if rng.random() < 0.05:
        db.put("manifest", [(where[0], "{")])
        what = "no JSON"
    db.execute("PRAGMA journal_mode=DELETE")
    db.close()
    return f"{'.'.join(map(str, where))} {what}"


def with_manifest() -> list[Line]:
    """Return the commands that read ``odd.deskbench``."""
    lines = (
        ["score", "odd.deskbench"],
        ["score", "odd.deskbench", "--again"],
        ["export", "odd.deskbench", "--format", "jsonl", "--out", "exported"],
        [*RUN[:2], "--cases", "address_change_1,fraud_reroute_1", "--trials", "2", "--out", "odd.deskbench"],
        ["site", "odd.deskbench", "--out", "s"],
    )
    return [Line(tuple(words)) for words in lines]


def family(rng: random.Random) -> Line:
    """Draw a command line: any command, some of its options and others, odd values everywhere."""
    from benchmark_lib.cli.parser import COMMANDS, build_parser

    name = rng.choice([*COMMANDS, "run", "run", "import", "export", "score"])
    parser = build_parser(name)._subparsers._group_actions[0].choices[name]
    options = [a for a in parser._actions if a.option_strings and a.dest != "help"]
    words = [name]
    if any(not a.option_strings for a in parser._actions):
        words.append(rng.choice(VALUES))
    for option in rng.sample(options, rng.randint(min(1, len(options)), min(3, len(options)))):
        words.append(option.option_strings[-1])
        if option.nargs != 0:
            words.append(rng.choice(VALUES))
    if len(words) == 1 or name in ("notebooks", "demo", "audit"):
        words.append(f"--{rng.choice(['odd', 'x y', '', '=', chr(0xDCFF)])}")  # otherwise it would begin an hour's work
    return Line(tuple(words))


def attempt(line: Line) -> tuple[int | None, str]:
    """Run a command line in this process, from the current folder.

    Returns
    -------
    tuple of int or None, str
        The exit code and the complaint; None with the traceback if an exception escaped, None and an empty text if the
        command ran on for long because nothing was wrong with it.
    """
    from benchmark_lib.cli import main

    said, complained = io.StringIO(), io.StringIO()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained), limited(LONGEST_S):
            if line.full:
                resource.setrlimit(resource.RLIMIT_FSIZE, (FULL_BYTES, limits[1]))
            return main(list(line.words)), complained.getvalue()
    except OutOfTime:
        return None, ""
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1, f"{complained.getvalue()}SystemExit {left.code!r}"
    except BaseException:
        return None, traceback.format_exc()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def fault_of(line: Line, folder: Path, must_refuse: bool = True) -> str | None:
    """Return what is wrong with how a command line ends, or None; remove the files it wrote."""
    before = {p: p.stat().st_mtime_ns for p in folder.iterdir()}
    code, complained = attempt(line)
    left = [p for p in folder.iterdir() if p not in before]
    for path in left:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    if code is None:
        return (
            complained.strip().splitlines()[-1][:100] if complained else ("goes on for long" if must_refuse else None)
        )
    if code == 0:
        return "is taken" if must_refuse and not _may_pass(line) else None
    sentences = [text for text in complained.splitlines() if text.startswith("deskbench: ")]
    if code not in ((2, 3) if line.full or not must_refuse else (2,)):
        return f"exit {code}"
    if len(sentences) != 1:
        return f"{len(sentences)} sentences"
    if any(
        word not in sentences[0]
        for name, word in MUST_SAY.items()
        if ("--settings", name) in zip(line.words, line.words[1:])
    ):
        return "blames something else"
    if line.words[0] == "import" and any(p.suffix == ".deskbench" for p in left):
        return f"leaves {left[0].name} behind"
    return None


def _may_pass(line: Line) -> bool:
    return line.full or (line.words[0] == "import" and Path(line.words[1]).stem in MAY_PASS)


def faults(lines: Iterator[Line], folder: Path, must_refuse: bool = True) -> Iterator[tuple[Line, str]]:
    """Yield the command lines that end wrongly, each with what is wrong."""
    for line in lines:
        fault = fault_of(line, folder, must_refuse)
        if fault:
            yield line, fault
