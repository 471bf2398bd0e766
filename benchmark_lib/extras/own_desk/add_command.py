"""``deskbench desk add-case``."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from ...cases.read import read_case
from ...cli.codes import FINISHED, confirmed, note
from ...commands import command
from ...errors import BadInput
from ...store import Store
from ...textfiles import BROKEN_YAML, load_yaml, read_text, render
from .check_command import folder_of
from .compiled import Situation, problems_of, thin
from .desk_file import DeskFile, read_desk, texts
from .writer import as_yaml

ARGUMENTS: dict[str, Any] = {
    "FOLDER": "the folder of the desk, or its name under desks/; without further options, the command asks",
    "--email FILE": "a file with the customer's email; - reads standard input",
    "--intent NAME": "what the customer writes about, one of the desk's intents",
    "--row KEY": "the key of the row that the email is about",
    "--value NAME=VALUE": ("a value of the act, or the customer's answer to a question; repeat it for each one", []),
    "--must-say TEXT": ("a text that the answer must contain; repeat it for several", []),
    "--id NAME": "the id of the case (default: the intent with a number)",
}
MINE = "cases/mine.yaml"
SHOWN = Path(__file__).with_name("case_shown.txt.j2")


def execute(options: argparse.Namespace) -> int:
    """Ask for a case, or take it from the options; show its consequences, and write it."""
    folder = folder_of(options.folder)
    desk, store, path = read_desk(folder), Store(folder), folder / MINE
    given = _by_options(options) if options.email else _by_answers(desk, store)
    numbers = {name for name, argument in desk.arguments.items() if argument.number}
    values = {name: text.strip() for name, text in given.pop("values").items() if text.strip()}
    values = {n: int(v) if n in numbers and re.fullmatch(r"-?\d{1,15}", v) else v for n, v in values.items()}
    given["knows"] = {name: str(values.pop(name)) for name in desk.questions if name in values}
    given["values"] = values
    name = _free_id(folder, options.id or str(given["intent"]), bool(options.id))
    raw = {"id": name, **{field: part for field, part in given.items() if part}}
    print(shown(raw, store, desk))
    text = _with_case(path, raw)
    if not options.email and not confirmed(f"Write it to {path}?"):
        note("nothing was written")
        return FINISHED
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"written to {path}; next: {command('desk', 'check', str(folder))}")
    return FINISHED


def shown(raw: dict[str, Any], store: Any, desk: DeskFile) -> str:
    """Return what the policy implies for a case; raise `BadInput` with everything that is wrong."""
    if wrong := [" ".join(problem) for problem in problems_of(raw, store, desk)]:
        raise BadInput(f"the case is not complete: {'; '.join(wrong)}")
    words = texts("checks.yaml")
    for name, _ in thin(raw, desk, store):
        note(words["problems"][name].format(case=raw["id"], ways=", or ".join(map(" and ".join, desk.ways))))
    here = Situation(raw, store, desk)
    return render(
        read_text(SHOWN),
        SHOWN.name,
        case=(case := read_case(raw, store, store.path / MINE)),
        kind=words["buckets"][case.bucket],
        act="" if here.intent.queue else here.intent.act,
        rules=here.rules,
        unmet=here.unmet,
        values=lambda rule: "".join(f"; {n} is {v}" for n, v in here.changed.items() if re.search(rf"\b{n}\b", rule.holds)),
    ).strip()


def _by_options(options: argparse.Namespace) -> dict[str, Any]:
    email = sys.stdin.read() if options.email == "-" else read_text(Path(options.email))
    if wrong := [one for one in options.value if "=" not in one]:
        raise BadInput(f"{wrong[0]!r} is not of the form NAME=VALUE: write it that way")
    given = {"intent": options.intent, "row": options.row, "email": email.strip(), "must_say": options.must_say}
    return {**given, "values": dict(one.split("=", 1) for one in options.value)}


def _by_answers(desk: DeskFile, store: Any) -> dict[str, Any]:
    """Ask for each part of a case until the answer fits."""
    print("The customer's email, ended by an empty line:", file=sys.stderr)
    email = "\n".join(iter(_line, ""))
    for number, (name, one) in enumerate(desk.intents.items(), 1):
        print(f"  {number} {name}: {one.description}", file=sys.stderr)
    intent = _asked("What is it about?", [*desk.intents])
    row = _asked(f"Which {desk.key}?", [*store.tables[desk.subject]])
    wish = desk.intents[intent]
    act = desk.acts.get("" if wish.queue else wish.act)
    values = {name: _asked(a.about, a.choices, a.optional) for name, a in act.arguments.items()} if act else {}
    for name in desk.needed(wish.act) if act else ():
        ask = f"{desk.questions[name].ask} (empty: {wish.knows.get(name)})"
        values[name] = _asked(ask, optional=name in wish.knows)
    say = _asked("What else must the answer say? (separate several with |; may be empty)", optional=True)
    given = {"intent": intent, "row": row, "email": email, "values": values}
    return {**given, "must_say": [one.strip() for one in say.split("|") if one]}


def _line() -> str:
    line = sys.stdin.readline()
    if not line:
        raise BadInput("the answers end before the case is complete: answer every question, or use options (--help)")
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


def _free_id(folder: Path, name: str, given: bool) -> str:
    """Return a name that no case has yet: the given one, or else one with a number."""
    written = "\n".join(read_text(path) for path in (folder / "cases").glob("*.yaml"))
    used = set(re.findall(r"\bid:\s*[\"']?(\w+)", written))
    if given and name in used:
        raise BadInput(f"there is already a case {name}: choose another --id")
    return name if given else next(one for n in count(1) if (one := f"{name}_{n}") not in used)


def _with_case(path: Path, raw: dict[str, Any]) -> str:
    text = read_text(path).rstrip("\n") if path.is_file() else "cases:"
    indent = re.search(r"^( *)- ", text, re.M)
    added = [((indent[1] if indent else "  ") + line).rstrip() for line in as_yaml([raw]).splitlines()]
    text = "\n".join([text, *added, ""])
    try:
        if load_yaml(text)["cases"][-1] == raw:
            return text
    except BROKEN_YAML:
        pass
    raise BadInput(f"{path} does not have the form of a list under `cases:`: correct it, or move it elsewhere")
