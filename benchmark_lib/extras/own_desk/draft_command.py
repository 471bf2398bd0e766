"""``deskbench desk draft``: turn documents into a desk, in steps that a person accepts."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson

from ...analysis.cell import framed
from ...cli.codes import FINISHED, RESUMABLE, note
from ...cli.options import ENDPOINT
from ...commands import command
from ...endpoint import Endpoint, EndpointError
from ...endpoint.structured import Unreadable, ask_for, read_object, without_words
from ...errors import BadInput
from ...experiment.recorder import model_at
from ...project import folder_made, write_csv, writing
from ...records import content_hash
from ...scoring.written import cost_in_words
from ...textfiles import yes_or_no
from .desk_file import BASE, refusal, says, write_made
from .documents import Row, Section, checked, proposed, read_simply, sections_of, table_of, wording
from .draft_desk import Drafted, sound
from .tickets import COLUMNS, intents_of

ARGUMENTS: dict[str, Any] = {
    "NAME": "the desk's name, such as tea_shop",
    "--policy FILE": ("a document with the company's rules, as Markdown or text; repeat it for several", []),
    "--tickets FILE": "a CSV with the texts of tickets (needs the extra `train`)",
    "--model NAME": "a model that proposes rules and checks cases (default: none)",
    **ENDPOINT,
    "--title TEXT": "the company's name (default: NAME)",
    "--out FOLDER": "the desk's folder (default: desks/NAME)",
}
RULES, INTENTS, LEFT_OUT = "rules.csv", "intents.csv", "left_out.csv"
CALLS = ".draft_calls.jsonl"
OUT = "what id gate why"
PROPOSAL, SECTION = "proposal", "section"


def execute(options: argparse.Namespace) -> int:
    """Take the next steps of a draft (rules, intents, desk), up to one that needs a person."""
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,60}", options.name) or not options.policy:
        raise refusal("draft_name")
    sections = sections_of(map(Path, options.policy))
    folder = Path(options.out or f"desks/{options.name}")
    buyer = Buyer(options.model, options.base_url, folder / CALLS) if options.model else None
    code = FINISHED
    with writing(folder), folder_made(folder):
        try:
            _go_on(folder, sections, buyer, options)
        except EndpointError as error:
            note(says("fault", error=error))
            code = RESUMABLE
    if buyer:
        calls, cost = len(buyer.costs), sum(cost or 0 for cost in buyer.costs)
        print(says("calls", calls=calls, cost=cost_in_words(cost, calls, buyer.costs.count(None))))
    return code


def _go_on(folder: Path, sections: list[Section], buyer: Buyer | None, options: argparse.Namespace) -> None:
    paths = {name: folder / name for name in (RULES, INTENTS, LEFT_OUT)}
    if not paths[RULES].is_file():
        if {path.name for path in folder.iterdir()} - {CALLS}:
            raise refusal("no_draft", folder=folder)
        rows, out = _proposed(sections, buyer)
        write_csv(framed(out, OUT), paths[LEFT_OUT])
        write_csv(framed(rows, " ".join(wording()["rule"])), paths[RULES])
        unread = sum(what == SECTION for what, *_ in out)
        counts = {"rules": len(rows), "sections": len(sections), "out": len(out) - unread}
        print(says("rules", path=paths[RULES], simply=unread if buyer else len(sections), **counts))
    rules = _accepted(paths[RULES])
    if rules and options.tickets and not paths[INTENTS].is_file():
        rows, counts = intents_of(Path(options.tickets))
        write_csv(framed(rows, " ".join(COLUMNS)), paths[INTENTS])
        print(says("tickets", path=paths[INTENTS], intents=len(rows), **counts))
    intents = _accepted(paths[INTENTS]) if rules and paths[INTENTS].is_file() else []
    if not rules or intents is None:
        return
    readings = {row["id"]: checked(row, sections) for row in rules}
    made = Drafted(sections, [rule for rule in readings.values() if isinstance(rule, dict)], intents)
    made.out += [("rule", name, *gate) for name, gate in readings.items() if isinstance(gate, tuple)]
    files = sound(made, options.name, options.title or options.name, buyer) if made.intents else {}
    target = write_made(folder, files, folder / "proposed", numbers=made.numbers)
    before = table_of(paths[LEFT_OUT]) if paths[LEFT_OUT].is_file() else []
    out = [*(tuple(row.values()) for row in before if row["what"] in (PROPOSAL, SECTION)), *made.out]
    write_csv(framed(out, OUT), paths[LEFT_OUT])
    gates = Counter(gate for what, _, gate, _ in out if what != SECTION)
    listed = ", ".join(f"{gate} {number}" for gate, number in gates.most_common()) or "nothing"
    made_up = {"acts": len(made.acts), "numbers": len(made.numbers), "cases": len(made.cases)}
    print(says("desk", target=target, path=paths[LEFT_OUT], out=gates.total(), listed=listed, **made_up))
    if made.cases:
        print("next:", command("audit", "--store", target), command("run", "MODEL", "--store", target), sep="\n  ")


def _proposed(sections: list[Section], buyer: Buyer | None) -> tuple[list[Row], list[tuple[str, ...]]]:
    texts = [f"# {section.title}\n\n{section.text}" for section in sections]
    rows, out = dict[Any, Row](), list[tuple[str, ...]]()
    answers = buyer.ask("draft.md", texts, rules=list) if buyer else [None] * len(texts)
    for section, answer in zip(sections, answers):
        if isinstance(answer, dict):
            raws = [proposed(raw, section, answer["by"]) for raw in answer["rules"] if isinstance(raw, dict)]
        else:
            raws = [*read_simply(section)]
            why = f"{answer}; read without the model"
            out += [(SECTION, f"{section.file}: {section.title}", "schema", why)] if answer else []
        for raw in raws:
            rule = checked(raw | {"accepted": "off", "id": f"r{len(rows) + 1}"}, sections)
            if isinstance(rule, tuple):
                out.append((PROPOSAL, str(raw.get("quotation"))[:300], *rule))
            else:
                rows.setdefault(tuple(rule[cell] for cell in ("quotation", "file", "topic", "number")), rule)
    return [*rows.values()], out


def _accepted(path: Path) -> list[dict[str, str]] | None:
    """Return a table's accepted rows; if there are none, print the next step and return None."""
    rows = table_of(path)
    if rows and not {"id", "accepted"} <= rows[0].keys():
        raise refusal("columns_lost", path=path)
    accepted = [row for row in rows if yes_or_no(row["accepted"]) or row["accepted"] in ("x", "X")]
    if not accepted:
        print(says("next", path=path))
    return accepted or None


class Buyer:
    """Asks one model, and keeps each answer in a file with the hash of its request."""

    def __init__(self, model: str, base_url: str | None, file: Path):
        self.endpoint, self.file, self.costs = Endpoint(model, base_url), file, list[float | None]()
        self.price = model_at(self.endpoint, priced=False).price
        lines = file.read_bytes().splitlines() if file.exists() else []
        self.kept: dict[str, Any] = {one["request"]: one for one in map(orjson.loads, lines)}

    def ask(self, prompt: str, texts: list[str], **fields: type) -> list[Row | Unreadable]:
        """Return the answer to each text, an object with these `fields`, or why it is unusable.

        After all texts, raise the provider's first fault, or `BadInput` if no call can succeed.
        """
        system = {"role": "system", "content": (BASE / prompt).read_text("utf-8")}

        async def answer_to(text: str) -> Any:
            messages = [system, {"role": "user", "content": text}]

            def read(reply: str, last: bool) -> Row:
                found = read_object(without_words(reply, messages))
                for name, kind in fields.items():
                    if not isinstance(found.get(name), kind):
                        raise Unreadable(f"{name} is missing, or is not a {kind.__name__}")
                return found | {"by": self.endpoint.model}

            try:
                return await ask_for(self._complete, messages, read, lambda answer: None)
            except (Unreadable, EndpointError) as error:
                return error

        async def all_of_them() -> list[Any]:
            async with self.endpoint:
                return await asyncio.gather(*map(answer_to, texts))

        answers = asyncio.run(all_of_them())
        for fault in (answer for answer in answers if isinstance(answer, EndpointError)):
            raise BadInput(str(fault)) if fault.fatal else fault
        return answers

    async def _complete(self, messages: list[dict[str, Any]]) -> Any:
        request = content_hash(orjson.dumps([self.endpoint.model, self.endpoint.base_url, messages]))
        if request not in self.kept:
            answer = await self.endpoint.complete(messages)
            self.costs.append(self.price(answer.usage))
            self.kept[request] = {"request": request, "text": answer.text, "finish_reason": answer.finish_reason}
            with self.file.open("ab") as file:
                file.write(orjson.dumps(self.kept[request]) + b"\n")
        return SimpleNamespace(**self.kept[request])
