"""Write the files of a declared desk, and make a desk from tickets and a policy."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import yaml

from ...errors import BadInput
from ...outputs import writing
from ...project import slug
from ...records import content_hash as _hash
from ...scoring.written import words as words_of
from ...textfiles import read_text
from .desk_file import ANY_QUEUE, BASE, FILE, texts
from .draft_rows import sections_of
from .kind import DECLARED
from .tickets import KEY, TABLE, Ticket

Row = dict[str, Any]
MARK, CASES = ".made.json", "cases/tickets.yaml"
"""The file with the hashes of the files that a command has made; and the file of cases."""
SHORT_POLICY = 6_000
"""Maximum characters of a policy that the prompt repeats."""
LONGEST_CODE = 3
"""Maximum words of a value to compare: nobody repeats a longer text word for word."""


def files_of(
    desk: str,
    info: dict[str, str],
    rows: dict[str, list[Row]],
    cases: Iterable[Row],
    articles: Iterable[dict[str, str]],
) -> dict[str, str]:
    """Return the texts of a desk's files by name.

    `info` has name, title and clock, and `rows` the rows by table. `articles` have title, text, and any other fields
    of their headers.
    """
    files = {FILE: desk, "store.yaml": as_yaml({**info, "kind": DECLARED}), CASES: as_yaml({"cases": [*cases]})}
    files |= {f"{name}.csv": pd.DataFrame(own).to_csv(index=False, lineterminator="\n") for name, own in rows.items()}
    for number, article in enumerate(articles, 1):
        head = {"id": f"A-{number}", "title": article["title"], "topics": [article["title"]], **article}
        text = head.pop("text")
        files[f"articles/a{number:03}.md"] = f"---\n{as_yaml(head)}---\n{text}\n"
    return files


def as_yaml(content: Any) -> str:
    """Return content as YAML that people can edit."""
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def unfilled(text: str) -> str:
    """Return a text that a template leaves unchanged."""
    return re.sub("{[{%#]", lambda found: "{{ '" + found[0] + "' }}", text)


def mark_of(folder: Path) -> dict[str, Any]:
    """Return what `write_made` noted about a folder: ``files`` with their hashes, and the rest."""
    path = folder / MARK
    return {"files": {}, **(orjson.loads(path.read_bytes()) if path.is_file() else {})}


def edited(folder: Path, files: dict[str, str]) -> bool:
    """Return whether writing new `files` would replace what somebody else wrote, changed or removed."""
    made, new = mark_of(folder)["files"], _hashes(files)
    paths = {name: folder / name for name in {*made, *new}}
    now = {name: _hash(path.read_bytes()) if path.is_file() else None for name, path in paths.items()}
    return made != new and any(now[name] != made.get(name) for name in now)


def write_made(folder: Path, files: dict[str, str], **about: Any) -> None:
    """Write files in place of those made before, with a mark; refuse a folder that was edited."""
    if edited(folder, files):
        raise BadInput(
            f"{folder} exists, and was not written by this command or was edited later: choose another --out"
        )
    made, new = mark_of(folder)["files"], _hashes(files)
    with writing(folder):
        for name in made.keys() - new.keys():
            (folder / name).unlink()
        for name, text in files.items() if made != new else ():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        (folder / MARK).write_bytes(orjson.dumps({**about, "files": new}, option=orjson.OPT_INDENT_2))


def _hashes(files: dict[str, str]) -> dict[str, str]:
    return {name: _hash(text.encode()) for name, text in files.items()}


def desk_of_tickets(tickets: list[Ticket], policy: Path, title: str) -> dict[str, str]:
    """Return the files of a desk with one thin case for each ticket."""
    keys = {ticket.id: f"R-{number}" for number, ticket in enumerate(tickets, 101)}
    rows = [
        {KEY: key, "email": t.sender or f"{key.lower()}@example.com", "name": t.name or f"Customer {key}"}
        for t, key in zip(tickets, keys.values(), strict=True)
    ]
    cases = [
        _filled(id=t.id, intent=t.id, row=keys[t.id], title=unfilled(t.title), values=t.arguments)
        | {"email": {"subject": unfilled(f"{t.subject or t.title} [{keys[t.id]}]"), "text": unfilled(t.email)}}
        for t in tickets
    ]
    base = re.sub(r"## Confirmation\n.*?(?=\n## )", "", read_text(BASE / "agent.md"), flags=re.S)
    text = read_text(policy)
    info = {"name": slug(title), "title": title, "clock": f"{date.today()}T10:00"}
    articles = ({"title": section.title, "text": unfilled(section.text)} for section in sections_of([policy]))
    files = files_of(as_yaml(_desk(tickets)), info, {TABLE: rows}, cases, articles)
    rules = f"\n## The rules\n{unfilled(text)}\n" if len(text) <= SHORT_POLICY else ""
    return files | {"policy.yaml": "{}\n", "prompts/agent.md": base + rules}


def _desk(tickets: list[Ticket]) -> dict[str, Any]:
    seen: dict[str, list[Ticket]] = defaultdict(list)
    for ticket in tickets:
        seen[ticket.tool].append(ticket)
    slots = {slot: words_of(slot) for ticket in tickets for slot in ticket.knows}
    return {
        "subject": TABLE,
        "tables": {TABLE: {"key": KEY}},
        "proofs": [["email"]],
        "acts": {tool: _act(tool, own) for tool, own in seen.items() if tool},
        "questions": {slot: {"ask": f"What about this: {words}?", "words": [words]} for slot, words in slots.items()},
        "refusals": {"refused": texts("try.yaml")["refusal"]},
        "intents": {ticket.id: _intent(ticket) for ticket in tickets},
    }


def _act(tool: str, tickets: list[Ticket]) -> dict[str, Any]:
    """Return an act whose arguments have the types and choices found in its tickets."""
    arguments: dict[str, Any] = {}
    sets = {tool: "'done'"}
    for name in dict.fromkeys(name for ticket in tickets for name in ticket.arguments):
        own = [ticket.arguments[name] for ticket in tickets if name in ticket.arguments]
        free = any(len(str(value).split()) > LONGEST_CODE for value in own)
        choices = dict.fromkeys(map(str, own))
        if len(choices) == 1:  # one choice would give the answer away
            choices |= dict.fromkeys(("yes", "no") if choices.keys() <= {"yes", "no"} else ("other",))
        coded = not (free or any(re.search(r"[\d@]", value) for value in choices))
        arguments[name] = _filled(
            about=f"The {words_of(name)}.",
            number=all(isinstance(value, int) for value in own),
            choices=list(choices) if coded else [],
            optional=free or len(own) < len(tickets),
        )
        sets |= {} if free else {f"{tool}_{name}": f"given.get('{name}')"}
    about = f"{words_of(tool).capitalize()}, for the request of a customer."
    return {"about": about, "confirm": False, "arguments": arguments, "sets": sets}


def _intent(ticket: Ticket) -> dict[str, Any]:
    why = "" if ticket.refuse in ("", ANY_QUEUE) else f" ({ticket.refuse})"
    return _filled(
        description=unfilled(f"{ticket.title}: {ticket.expected}{why}"),
        act=ticket.tool,
        queue=ticket.handover,
        refuse="refused" if ticket.refuse else "",
        must_say=ticket.must_say,
        knows={name: str(value) for name, value in ticket.knows.items()},
        goal=unfilled(ticket.title),
    ) | {"tickets": ticket.weight}


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
