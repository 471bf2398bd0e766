"""``deskbench desk check``."""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...cli.codes import FINISHED, UNSOUND
from ...commands import command
from ...errors import BadInput
from ...language.layout import ANY_YEAR
from ...language.sentences import fold
from ...language.values import values_in
from ...store import Store
from ...textfiles import front_matter, read_text
from ..audit.audit import audit, report
from .checks import check_cases, check_formulas, check_rows
from .complaints import Complaint, Complaints, nearest, texts
from .desk_file import FILE, DeskFile, errors_of
from .kind import DECLARED, file_of

ARGUMENTS = {"FOLDER": "the folder of the desk, or its name under desks/"}
DESKS, STORE, POLICY = Path("desks"), "store.yaml", "policy.yaml"


def folder_of(name: str) -> Path:
    """Return the folder of a desk that a user names; raise `BadInput` if there is none."""
    for folder in (Path(name), DESKS / name):
        if (folder / STORE).is_file() or (folder / FILE).is_file():
            return folder
    raise BadInput(f"there is no desk {name!r}: name its folder, or make one with `deskbench desk new NAME`")


def execute(options: argparse.Namespace) -> int:
    """Print everything that is missing or odd; if nothing is wrong, the audit."""
    folder = folder_of(options.folder)
    found = check(folder)
    problems = [str(one) for one in found if one.is_problem]
    if not problems:
        done = audit(Store(folder))
        print(report(done))
        for problem in map(str, done.problems):
            why = (words for pattern, words in texts()["audit"].items() if re.search(pattern, problem))
            problems.append(f"{problem} ({next(why, 'see docs/commands.md')})")
    notes = [str(one) for one in found if not one.is_problem]
    print("\n".join([*problems, *(["", "worth a look:"] if notes else []), *notes, ""]))
    print(f"{len(problems)} problem{'s' * (len(problems) != 1)}")
    if not problems:
        print(f"next: {command('run', 'MODEL', '--store', str(folder))}")
    return UNSOUND if problems else FINISHED


def check(folder: Path) -> list[Complaint]:
    """Return all problems and notes about a declared desk, the most important first.

    Raises
    ------
    BadInput
        If the folder has a desk of another kind.
    """
    found, store = Complaints(folder), None
    info, policy = found.yaml(STORE) or {}, found.yaml(POLICY) or {}
    if info.get("kind", DECLARED) != DECLARED:
        raise BadInput(f"{folder} is of the kind {info['kind']!r}: use `deskbench audit --store {folder}`")
    for name, such in texts()["such"].items():
        if not re.match(such["form"], str(info.get(name) or "")):
            found.add("store", STORE, [name], field=name, such=such["such"])
    for path in (folder / "cases").glob("*.yaml"):
        found.yaml(f"cases/{path.name}")
    desk = errors_of(folder) if found.yaml(FILE) else []
    for complaint in [] if isinstance(desk, DeskFile) else desk:
        found.add("form", FILE, re.split(r"[: ]", complaint)[0].split("."), why=complaint)
    if isinstance(desk, DeskFile):
        places: dict[tuple[str, str], str] = {}
        columns = {name: _columns(found, desk, name, places) for name in desk.tables}
        with found.reading(STORE):
            store = None if found.all else Store(folder)
        check_formulas(found, desk, columns, policy)
        if store is not None:
            check_rows(found, desk, store, places)
            check_cases(found, desk, store)
            _check_texts(found, store, policy)
    return sorted(found.all)


def _columns(found: Complaints, desk: DeskFile, name: str, places: dict[tuple[str, str], str]) -> list[str] | None:
    """Return the columns of a table, None for JSON lines; check its rows and note their places."""
    table, columns = desk.tables[name], []
    file = file_of(found.folder, name, table.file)
    if not file.endswith(".csv"):
        return None
    with found.reading(file):
        lines = csv.DictReader(io.StringIO(read_text(found.folder / file), newline=""))
        columns = [column.strip() for column in lines.fieldnames or ()]
        for row in lines if table.key in columns else ():
            key, wide = (row.get(table.key) or "").strip(), None in row or None in row.values()
            if wide or not key or (name, key) in places:
                found.add("wide" if wide else "key", file, lines.line_num, key=table.key)
            places[name, key] = f"{file}:{lines.line_num}"
    wanted: dict[str, tuple[str, ...]] = {table.key: ("tables", name, "key")}
    if name == desk.subject:
        wanted |= {desk.owner.email: ("owner", "email"), desk.owner.name: ("owner", "name")}
        wanted |= {column: ("proofs",) for way in desk.proofs for column in way}
    for column in wanted.keys() - {*columns}:
        path = wanted[column]
        found.add("unknown", FILE, path, where=".".join(path), name=column, owner=file, near=nearest(column, columns))
    return columns


def _check_texts(found: Complaints, store: Any, policy: Any) -> None:
    """Check articles and queues, and that the numbers of texts come from the policy."""
    for path in [found.folder / FILE, *sorted((found.folder / "articles").glob("*.md"))]:
        file = str(path.relative_to(found.folder))
        with found.reading(file, check="article"):
            head, text = front_matter(path)
            missing = [name for name in ("id", "title", "topics") if not head.get(name) and file != FILE]
            if missing:
                found.add("head", file, 1, missing=", ".join(missing))
            store.filled(text if file != FILE else "", str(path))
        for line, typed, same, others in _typed_numbers(read_text(path), policy):
            if same:
                found.add("typed", file, line, typed=typed, name=same)
            elif others and file != FILE:
                found.add("differs", file, line, typed=typed, known=others)
    queues = {**store.policy["queues"], **(policy.get("queues") or {})}
    for name in (name for name, meaning in queues.items() if not meaning):
        found.add("no_meaning", POLICY, ["queues", name], name=name)


def _typed_numbers(text: str, policy: dict[str, Any]) -> Iterator[tuple[int, str, str, str]]:
    """Yield each typed number: line, words, its name in the policy, and others of its unit."""
    for number, line in enumerate(re.sub(r"\{\{.*?\}\}|#.*", "-", text).split("\n"), 1):
        for value in values_in(fold(line), ANY_YEAR):
            pattern = texts()["units"].get(value.kind, "(?!)")
            own = {name: n for name, n in policy.items() if isinstance(n, int) and re.search(pattern, name)}
            cents = {name: 100 if value.kind == "money" and "cent" not in name else 1 for name in own}
            same = " or ".join(name for name, n in own.items() if str(cents[name] * n) == value.value)
            others = ", ".join(f"{name} {n}" for name, n in own.items())
            yield number, fold(line)[value.at : value.end].strip(), same, others
