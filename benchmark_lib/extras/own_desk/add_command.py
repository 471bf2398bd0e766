"""``deskbench desk add-case``."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from ...cases.read import read_case
from ...cli.codes import FINISHED, confirmed, note
from ...commands import command
from ...store import FolderStore
from ...textfiles import as_yaml, read_text, render
from .check_command import folder_of
from .compiled import Situation, thin
from .desk_file import DeskFile, Row, read_desk, refusal, says, texts, without_empty

ARGUMENTS = {
    "FOLDER": "the folder of the desk, or its name under desks/",
    "--email FILE": "a file with the customer's email; without one, the command asks for it",
}
SHOWN = Path(__file__).with_name("case_shown.txt.j2")


def execute(options: argparse.Namespace) -> int:
    """Ask for a case, show its consequences, and write it."""
    if options.email and not os.path.isfile(options.email):
        raise refusal("email_file", email=options.email)
    folder = folder_of(options.folder)
    desk, store = read_desk(folder), FolderStore(folder)
    asked = _asked_for(desk, store, read_text(Path(options.email)).strip() if options.email else "")
    written = "\n".join(f"id: {one.stem}\n{read_text(one)}" for one in (folder / "cases").glob("*.yaml"))
    names = (f"{asked['intent']}_{n}" for n in count(1))
    name = next(name for name in names if not re.search(rf"\bid:\s*[\"']?{name}\b", written))
    path = folder / "cases" / f"{name}.yaml"
    raw = {"id": name, **asked}
    print(_shown(raw, store, desk, path))
    if not confirmed(f"Write it to {path}?"):
        note("nothing was written")
        return FINISHED
    path.parent.mkdir(exist_ok=True)
    path.write_text(as_yaml({"cases": [raw]}), encoding="utf-8")
    print(f"written to {path}; next: {command('desk', 'check', folder)}")
    return FINISHED


def _shown(raw: Row, store: Any, desk: DeskFile, path: Path) -> str:
    here = Situation(raw, store, desk)
    case = read_case(raw, store, path)
    words = texts("checks.yaml")
    for name, _ in thin(here):
        note(words["problems"][name].format(case=raw["id"], ways=", or ".join(map(" and ".join, desk.ways))))

    def values(formula: str) -> str:
        return "".join(f"; {n} is {v}" for n, v in here.changed.items() if re.search(rf"\b{n}\b", formula))

    names = {"case": case, "kind": words["buckets"][case.bucket], "here": here, "values": values}
    return render(read_text(SHOWN), SHOWN.name, **names).strip()


def _asked_for(desk: DeskFile, store: Any, email: str) -> Row:
    if not email:
        print(says("ask_email"), file=sys.stderr)
        email = "\n".join(iter(_line, ""))
    row = _asked(f"Which {desk.key}?", [*store.tables[desk.subject]])
    for number, (name, one) in enumerate(desk.intents.items(), 1):
        print(f"  {number} {name}: {one.description}", file=sys.stderr)
    intent = _asked(says("ask_intent"), [*desk.intents])
    wish = desk.intents[intent]
    values, knows = Row(), dict[str, str]()
    act = desk.acts.get("" if wish.queue else wish.act)
    for name, a in act.arguments.items() if act else ():
        answer = _asked(a.about, a.choices, a.optional)
        values[name] = int(answer) if a.number and re.fullmatch(r"-?\d{1,15}", answer) else answer
    for name in desk.needed(wish.act) if act else ():
        ask = f"{desk.questions[name].ask} (empty: {wish.knows.get(name)})"
        knows[name] = _asked(ask, optional=name in wish.knows)
    say = _asked(says("ask_more"), optional=True)
    asked = {"intent": intent, "row": row, "email": email, "must_say": [one.strip() for one in say.split("|") if one]}
    given = {part: {n: v for n, v in own.items() if v != ""} for part, own in (("knows", knows), ("values", values))}
    return without_empty(asked | given)


def _line() -> str:
    line = sys.stdin.readline()
    if not line:
        raise refusal("cut_short")
    return line.strip()


def _asked(question: str, choices: Sequence[str] = (), optional: bool = False) -> str:
    """Ask until an answer fits: one of the choices or its number, or nothing if it is optional."""
    while True:
        print(f"{question} ", end="", file=sys.stderr, flush=True)
        answer = _line()
        if answer not in choices and answer.isdigit() and 0 < int(answer) <= len(choices):
            answer = choices[int(answer) - 1]
        if (answer in choices) if choices and answer else (answer or optional):
            return answer
        print(f"  answer with one of {', '.join(choices[:8])}" if choices else "  an answer is needed", file=sys.stderr)
