"""``deskbench desk draft``: turn documents into a desk, in steps that a person accepts."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
from pydantic import BaseModel

from ...cli.codes import FINISHED, RESUMABLE, note
from ...cli.options import ENDPOINT
from ...commands import command
from ...endpoint import EndpointError
from ...errors import BadInput
from ...outputs import folder_made, write_csv, writing
from ...records import content_hash
from ...textfiles import yes_or_no
from .draft_desk import drafted, sound
from .draft_model import Buyer
from .draft_rows import (
    COLUMNS,
    QuotedRule,
    Row,
    Section,
    checked,
    intents_of,
    proposed,
    read_simply,
    sections_of,
    table_of,
)
from .writer import write_files

ARGUMENTS: dict[str, Any] = {
    "NAME": "the desk's name, such as tea_shop",
    "--policy FILE": ("a document with the company's rules, as Markdown or text; repeat it for several", []),
    "--tickets FILE": "a CSV with the texts of tickets (needs the extra `train`)",
    "--model NAME": "a model that proposes rules and checks cases (default: none)",
    **ENDPOINT,
    "--title TEXT": "the company's name (default: NAME)",
    "--out FOLDER": "the desk's folder (default: desks/NAME)",
    "--accept": "ask in the terminal, row by row, what to accept",
}
RULES, INTENTS, LEFT_OUT, STATE, CALLS = "rules.csv", "intents.csv", "left_out.csv", ".draft.json", ".draft_calls.jsonl"
OUT = ["what", "id", "gate", "why"]
SAME = ("quotation", "file", "topic", "number")
"""Rows that agree in these cells are the same rule."""
TICKETS = """{path}: {intents} intents in {tickets} tickets, {alone} in none
personal data replaced: {replaced}; tickets not shown, because more may be left: {back}"""
NEXT = "next: write yes under accepted in each row of {path} that you want, or add --accept; then rerun the command"


class Proposals(BaseModel):
    """A model's reply about a section; its rows are checked one by one."""

    rules: list[Row]


def execute(options: argparse.Namespace) -> int:
    """Take the next steps of a draft (rules, intents, desk), up to one that needs a person."""
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,60}", options.name) or not options.policy:
        raise BadInput("a draft needs a name in lower case, such as tea_shop, and a document: add --policy FILE")
    draft = DeskDraft(options)
    with writing(draft.folder), folder_made(draft.folder):
        code = draft.go_on()
    if draft.buyer:
        print(f"calls of the model in this session: {len(draft.buyer.costs)}, {draft.buyer.cost}")
    return code


class DeskDraft:
    """A draft: its folder, its documents' sections, and what it has read and written."""

    def __init__(self, options: argparse.Namespace):
        self.options, self.folder = options, Path(options.out or f"desks/{options.name}")
        self.sections = sections_of(map(Path, options.policy))
        state = self.folder / STATE
        if self.folder.exists() and not state.is_file() and any(self.folder.iterdir()):
            raise BadInput(f"{self.folder} contains something other than a draft: choose another --out")
        self.state: dict[str, Any] = {"read": [], "out": [], "written": {}}
        self.state |= orjson.loads(state.read_bytes()) if state.is_file() else {}
        self.buyer = Buyer(options.model, options.base_url, self.folder / CALLS) if options.model else None

    def go_on(self) -> int:
        """Take the next steps and return the exit code."""
        if faults := self._propose_rules():
            note(f"{faults} sections were not read because of a fault of the provider: rerun the command to continue")
            return RESUMABLE
        rules, path = self._accepted(RULES), self.folder / INTENTS
        if rules and self.options.tickets and not path.is_file():
            rows, counts = intents_of(Path(self.options.tickets))
            self._save(INTENTS, rows, COLUMNS)
            print(TICKETS.format(path=path, intents=len(rows), **counts))
        intents = self._accepted(INTENTS) if rules and path.is_file() else []
        if rules and intents is not None:
            self._write_desk(rules, intents)
        return FINISHED

    def _propose_rules(self) -> int:
        """Add the rules of unread sections; return how many sections a fault left unread."""
        path, reader = self.folder / RULES, f" {self.options.model}" if self.buyer else ""
        rows = table_of(path) if path.is_file() else []
        if not rows:
            self.state["read"] = []
        new = [section for section in self.sections if section.key + reader not in self.state["read"]]
        known, faults = {tuple(row.get(cell, "") for cell in SAME) for row in rows}, 0
        last = max((int(row["id"][1:]) for row in rows if re.fullmatch(r"r\d{1,9}", row.get("id", ""))), default=0)
        for section, raws in zip(new, self._read(new)):
            if raws is None:
                faults += 1
                continue
            self.state["read"] += {section.key, section.key + reader}
            for raw in raws:
                rule = checked({**raw, "id": f"r{last + 1}", "accepted": "off"}, self.sections)
                if isinstance(rule, tuple):
                    self.state["out"].append(["rule", str(raw.get("quotation"))[:300], *rule])
                    continue
                row = {cell: "" if value is None else str(value) for cell, value in rule}
                if (same := tuple(row[cell] for cell in SAME)) not in known:
                    known.add(same)
                    rows.append(row)
                    last += 1
        if new:
            self._save(RULES, rows, [*QuotedRule.model_fields])
            print(f"{path}: {len(rows)} rules of {len(self.sections)} sections; {len(self.state['out'])} left out")
        return faults

    def _read(self, sections: list[Section]) -> Iterator[list[Row] | None]:
        """Yield the rows of each section; read it by patterns if a model's reply is unusable."""
        texts = [f"# {section.title}\n\n{section.text}" for section in sections]
        answers = self.buyer.ask("draft.md", texts, Proposals) if self.buyer and texts else [None] * len(texts)
        for section, answer in zip(sections, answers):
            if isinstance(answer, EndpointError):
                yield None
            elif isinstance(answer, Proposals):
                yield [proposed(raw, section, self.options.model) for raw in answer.rules]
            else:
                if answer:
                    place = f"{section.file}: {section.title}"
                    self.state["out"].append(["reply", place, "schema", f"{answer}; read simply"])
                yield [*read_simply(section)]

    def _save(self, name: str, rows: list[Row], columns: list[str]) -> None:
        columns = [*dict.fromkeys([*columns, *(rows or [{}])[0]])]
        write_csv(pd.DataFrame(rows, columns=columns, dtype=object), self.folder / name)
        (self.folder / STATE).write_bytes(orjson.dumps(self.state, option=orjson.OPT_INDENT_2))

    def _accepted(self, name: str) -> list[dict[str, str]] | None:
        """Return a table's accepted rows; if there are none, print the next step and return None."""
        rows = table_of(self.folder / name)
        if rows and not {"id", "accepted"} <= rows[0].keys():
            raise BadInput(f"{self.folder / name} has lost its columns: restore its first line, or remove the file")
        if self.options.accept:
            for row in (row for row in rows if row["accepted"] in ("off", "")):
                shown = "\n".join(f"  {cell}: {value}" for cell, value in row.items() if value)
                print(f"\n{shown}\naccept? [y]es, [n]o, [q]uit: ", end="", file=sys.stderr, flush=True)
                answer = sys.stdin.readline().strip().lower()
                if answer in ("", "q"):
                    break
                row["accepted"] = "yes" if yes_or_no(answer) else "no"
            self._save(name, rows, [])
        accepted = [row for row in rows if yes_or_no(row["accepted"]) or row["accepted"] in ("x", "X")]
        if not accepted:
            print(NEXT.format(path=self.folder / name))
        return accepted or None

    def _write_desk(self, rows: list[dict[str, str]], intents: list[dict[str, str]]) -> None:
        """Write the desk of the accepted rows, but never overwrite a file that a person changed."""
        rules = [(row["id"], checked(row, self.sections)) for row in rows]
        made = drafted(self.sections, [rule for _, rule in rules if isinstance(rule, QuotedRule)], intents)
        made.out += [("rule", name, *gate) for name, gate in rules if isinstance(gate, tuple)]
        title = self.options.title or self.options.name
        files = sound(made, self.options.name, title, self.sections, self.buyer) if made.intents else {}
        target, out = self._written(files), [dict(zip(OUT, one)) for one in (*self.state["out"], *made.out)]
        self._save(LEFT_OUT, out, OUT)
        gates = Counter(one["gate"] for one in out)
        listed = ", ".join(f"{gate} {number}" for gate, number in gates.most_common()) or "nothing"
        print(f"{target}: {len(made.acts)} acts, {len(made.policy)} policy numbers, {len(made.cases)} cases")
        print(f"{self.folder / LEFT_OUT}: {len(out)} left out ({listed})")
        if made.cases:
            print("next:", command("audit", "--store", target), command("run", "MODEL", "--store", target), sep="\n  ")

    def _written(self, files: dict[str, str]) -> Path:
        """Write the files into the first folder in which nobody has changed a file; return it."""
        hashes = {name: content_hash(text.encode()) for name, text in files.items()}
        for number in count():
            target = self.folder / f"proposed_{number}" if number else self.folder
            last = self.state["written"].get(str(number), {})
            if last == hashes:
                return target
            paths = {name: target / name for name in hashes | last}
            now = {name: content_hash(path.read_bytes()) if path.is_file() else None for name, path in paths.items()}
            if now == dict.fromkeys(now) | last:
                break
        if files:
            write_files(target, files)
            self.state["written"][str(number)] = hashes
        return target
