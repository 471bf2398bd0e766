"""Turn accepted rules and intents into a declared desk, with cases on both sides of a rule."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import jinja2
import orjson
from pydantic import BaseModel

from ...cases.facts import money
from ...cli.codes import note
from ...errors import BadInput
from ...language.sentences import fold
from ...scoring.written import words as words_of
from ...store import load_store
from ...store.search import words_and_beginnings
from ...textfiles import read_text
from ..audit.audit import audit
from .compiled import compiled
from .desk_file import BASE, REFUSE, read_desk
from .draft_model import Buyer
from .draft_rows import COLUMNS, EXAMPLES, LINK, QuotedRule, Row, Section, numbers_in, slug, wording
from .phrases import singular
from .writer import as_yaml, files_of, unfilled, write_made

TODAY = date(2026, 6, 29)


class Fairness(BaseModel):
    """A model's reply about a case."""

    fair: bool
    why: str


@dataclass
class Drafted:
    """A drafted desk.

    `columns` maps each column that a rule compares to the days in its unit, 0 for a number. `wanted` maps each case to
    its bucket and the rules that refuse. `out` lists everything left out: what it is, its id, the gate and the reason.
    """

    subject: str
    acts: dict[str, list[Row]] = field(default_factory=dict)
    intents: dict[str, Row] = field(default_factory=dict)
    policy: dict[str, int] = field(default_factory=dict)
    columns: dict[str, float] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    cases: dict[str, Row] = field(default_factory=dict)
    wanted: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    out: list[tuple[str, str, str, str]] = field(default_factory=list)

    @property
    def thing(self) -> str:
        """Return what a row is, in one word, such as order."""
        return singular(self.subject)

    @property
    def key(self) -> str:
        """Return the key of the next row."""
        return f"{self.thing[0].upper()}-{1001 + len(self.rows)}"

    def leave_out(self, what: str, name: str, gate: str, why: str, **filled: Any) -> None:
        """Record something left out, with the sentence in ``draft.yaml`` that says why."""
        self.out.append((what, name, gate, wording()[why].format(**filled)))


def drafted(sections: list[Section], rules: list[QuotedRule], intents: list[Row]) -> Drafted:
    """Return the desk made from accepted rules and intents."""
    text = fold(" ".join(section.text for section in sections))
    subjects = wording()["subjects"]
    made = Drafted(max(subjects, key=lambda name: len(re.findall(subjects[name], text))))
    for rule in rules:
        _place(rule, made)
    intents = [dict.fromkeys(COLUMNS, "") | row | {"id": slug(row["id"])} for row in intents]
    for row in intents:
        act, queue = slug(row["act"]), slug(row["queue"])
        if not queue and act not in made.acts:
            made.leave_out("intent", row["id"], "incomplete", "no_act", act=act)
            continue
        tickets = re.match(r"\d+", row["count"])
        about = {"description": f"Writes about {row['name']}.", "tickets": int(tickets[0]) if tickets else 1}
        made.intents[row["id"]] = {"queue": queue, **about} if queue else {"act": act, **about}
    wished = {intent.get("act") for intent in made.intents.values()}
    for act in (act for act in made.acts if act not in wished):
        made.intents[f"{act}_request"] = {"act": act, "description": f"Wants to {words_of(act)} something."}
    _write_cases(made, _tickets(intents, made))
    return made


def _place(rule: QuotedRule, made: Drafted) -> None:
    """Add a rule to its act, or record why it has no place there."""
    known, name = wording(), f"{rule.act}_{rule.id}"
    unit = known["units"].get("question" if rule.number is None else rule.unit, known["units"]["other"])
    sort, days, entry = unit["sort"], unit["days"], rule.model_dump()
    holds = unit["holds"].format(column=rule.column, name=name, test=rule.test)
    holds = holds.replace("<=", ">=") if rule.test == "at least" else holds
    key = rule.number, rule.ask, holds.replace(name, "")
    lacks = next((cell for cell in known["needs"][sort] if not entry[cell]), "")
    same = [other["id"] for other in made.acts.get(rule.act, []) if key == other["key"] or name == other["name"]]
    checks = {
        ("incomplete", "incomplete"): lacks,
        ("schema", "test"): rule.test not in known["tests"][sort],
        ("schema", "own_tool"): re.search(known["tools"], rule.act),
        ("near copy", "same"): same,
        ("schema", "taken"): rule.column in known["reserved"],
        ("schema", "two_kinds"): bool(made.columns.get(rule.column, days)) != bool(days),
    }
    for (gate, why), wrong in checks.items():
        if wrong:
            placeholders = {"lacks": lacks, "mend": known["needs"][sort].get(lacks), "other": "".join(same[:1])}
            fitting = " or ".join(known["tests"][sort])
            return made.leave_out("rule", rule.id, gate, why, fitting=fitting, **placeholders, **entry)
    act, asked = words_of(rule.act), _pairs(rule.ask, words_of(rule.act))
    own = _pairs(re.sub(LINK, r"\1", rule.quotation), f"{act} {rule.ask}") or asked
    number, of = (money(rule.number or 0), "") if rule.unit == "cents" else (rule.number, words_of(rule.unit))
    placeholders = {"number": number, "unit": of, "act": act, "thing": made.thing, "about": " and ".join(own[:2])}
    say, *words = (
        " ".join(text.format(**placeholders).split()) for text in (known["say"][sort], *known["words"][sort])
    )
    entry |= {"name": name, "sort": sort, "days": days, "holds": holds, "key": key}
    made.acts.setdefault(rule.act, []).append(entry | {"say": say, "words": words or own + asked})
    if rule.number is not None:
        made.policy[name], made.columns[rule.column] = rule.number, days
    return None


def _pairs(text: str, but: str) -> list[str]:
    """Return up to six pairs of neighbouring words that carry a text's meaning."""
    hollow = {*wording()["hollow"], *re.findall(r"\w+", fold(but))}
    words = [word for word in words_and_beginnings(fold(text)) if "*" not in word and word not in hollow]
    return [" ".join(pair) for pair in zip(words, words[1:])][:6] or words[:1]


def _tickets(intents: list[Row], made: Drafted) -> dict[str, list[str]]:
    """Return the examples of each intent that can serve as a case's email."""
    tickets: dict[str, list[str]] = {name: [] for name in made.intents}
    for cell, row in product(EXAMPLES, intents):
        text, act = row[cell], made.intents.get(row["id"], {}).get("act", "")
        sign = wording()["acts"].get(act, words_of(act))
        why = "short" if len(text.split()) < 5 else "vague" if not re.search(sign, fold(text)) else ""
        why = why or ("own_number" if act and numbers_in(text) else "")
        if text and row["id"] in tickets and why:
            made.leave_out("ticket", f"{row['id']}, {cell}", "thin ticket", why, act=words_of(act))
        elif text and row["id"] in tickets:
            tickets[row["id"]].append(text)
    return tickets


def _write_cases(made: Drafted, tickets: dict[str, list[str]]) -> None:
    """Add a case inside and one outside each rule, and cases for a queue; use tickets first."""
    for name, texts in tickets.items():
        for text in texts if "queue" in made.intents[name] else ():
            _add(made, f"{name}_{len(made.rows) + 1}", name, text, [])
    for act, rules in made.acts.items():
        own = [name for name, intent in made.intents.items() if intent.get("act") == act]
        for rule, outside in product(rules, (False, True)):
            name = max(own, key=lambda one: len(tickets[one]))
            text = tickets[name].pop(0) if tickets[name] else _email(made, act)
            case = f"{rule['name']}_{'outside' if outside else 'inside'}"
            _add(made, case, name, text, rules, rule if outside else None)


def _add(made: Drafted, case: str, intent: str, email: str, rules: list[Row], broken: Row | None = None) -> None:
    """Add a case with a row of its own, which keeps every rule but the broken one."""
    key, people, knows = made.key, wording()["people"], {}
    person = people[len(made.rows) % len(people)]
    row: Row = {f"{made.thing}_id": key, "email": f"{slug(person)}.{len(made.rows) + 1}@example.org"}
    row |= {"name": person, "status": "active"}
    row |= {column: TODAY.isoformat() if days else 0 for column, days in made.columns.items()}
    for rule in sorted(rules, key=lambda one: one is broken):
        breaks, number, days = rule is broken, rule["number"], rule["days"]
        if rule["sort"] == "question":
            knows[rule["name"]] = {"yes": "no", "no": "yes"}[rule["test"]] if breaks else rule["test"]
            continue
        value = number + number // 2 + 2 if breaks == (rule["test"] == "at most") else number // 2
        row[rule["column"]] = (TODAY - timedelta(round(value * days))).isoformat() if days else value
    made.wanted[case] = "resolvable" if rules else "must_escalate", []
    if broken:
        refused = broken["otherwise"] == REFUSE
        made.wanted[case] = ("adversarial", [broken["name"]]) if refused else ("must_escalate", [])
    made.cases[case] = {"id": case, "intent": intent, "row": key, "email": email, "knows": knows}
    made.rows.append(row)


def _email(made: Drafted, act: str) -> str:
    """Return an email that asks for an act, as different from the others as its parts allow."""
    texts = (wording()[part] for part in ("openings", "wishes", "endings"))
    whole = " ".join(part[len(made.rows) % len(part)] for part in texts)
    return whole.format(act=words_of(act), thing=made.thing, key=made.key)


def _files(made: Drafted, name: str, title: str, sections: list[Section]) -> dict[str, str]:
    """Return the texts of the desk's files by name."""
    template = jinja2.Template(read_text(BASE / "desk.yaml.j2"), keep_trailing_newline=True)
    questions = [rule for rules in made.acts.values() for rule in rules if rule["sort"] == "question"]
    names = {"thing": made.thing, "questions": questions, "heard": _pairs, "answer": wording()["answer"]}
    desk = template.render(**vars(made), **names, text=partial(json.dumps, ensure_ascii=False))
    info = {"name": name, "title": title, "clock": f"{TODAY}T10:00"}
    articles = (
        {"title": one.title, "source": f"{one.file}, line {one.sentences[0][0]}", "text": _article(one, made)}
        for one in sections
    )
    files = files_of(desk, info, {made.subject: made.rows}, made.cases.values(), articles)
    return files | {"policy.yaml": as_yaml(made.policy)}


def _article(section: Section, made: Drafted) -> str:
    """Return a section's text, in which the policy gives the numbers of its accepted rules."""
    text = unfilled(re.sub(LINK, r"\1", section.text))
    for rule in (rule for rules in made.acts.values() for rule in rules if rule["name"] in made.policy):
        own = rule["file"] == section.file and (rule["line"], rule["quotation"]) in section.sentences
        if own and rule["unit"] != "cents":
            unit = words_of(rule["unit"]).removesuffix("s").replace(" ", r"\s+")
            number, named = rf"\b{rule['number']}(?=[-\s]+{unit})", f"{{{{ policy.{rule['name']} }}}}"
            words = map(re.escape, re.sub(LINK, r"\1", rule["quotation"]).split())
            place = re.sub(r"\d+", lambda _: r"(?:\d+|\{\{[^}]*\}\})", r"\s+".join(words))
            text = re.sub(place, partial(_from_policy, number, named), text)
    return text


def _from_policy(number: str, named: str, quotation: re.Match[str]) -> str:
    return re.sub(number, named, quotation[0])


def sound(made: Drafted, name: str, title: str, sections: list[Section], buyer: Buyer | None) -> dict[str, str]:
    """Return a desk's files with those cases that pass all gates: schema, rule, audit, model."""
    while True:
        files = _files(made, name, title, sections)
        with tempfile.TemporaryDirectory() as place:
            write_made(Path(place), files)
            problems = [*_problems(Path(place), made, buyer)] if made.cases else []
        failed = [one for one in problems if one[0] in made.cases]
        if not failed:
            made.out += [("desk", *one) for one in problems]
            return files
        for case, gate, why in failed:
            if made.cases.pop(case, None):
                made.out.append(("case", case, gate, why))


def _problems(folder: Path, made: Drafted, buyer: Buyer | None) -> Iterator[tuple[str, str, str]]:
    """Yield the failures at the first gate that any case fails: case, gate and reason."""
    desk, store, keys = read_desk(folder), load_store(folder), dict[str, Row]()
    for name, case in made.cases.items():
        try:
            keys[name] = compiled(case, store, desk)
        except BadInput as error:
            yield name, "schema", str(error)
            continue
        ends = keys[name]["bucket"], keys[name].get("reasons", [])
        if ends != made.wanted[name]:
            yield name, "rule", wording()["other_rule"].format(bucket=ends[0], reasons=", ".join(ends[1]) or "no rule")
    if keys.keys() == made.cases.keys():
        problems = [(one.case_id, one.check, one.why) for one in audit(store).problems]
        yield from problems
        if buyer and not problems:
            yield from _unfair(store, keys, buyer)


def _unfair(store: Any, keys: dict[str, Row], buyer: Buyer) -> Iterator[tuple[str, str, str]]:
    """Yield the cases that a model finds unfair to a competent agent, with its reasons."""
    texts = []
    for key in keys.values():
        wanted = [store.phrases["en"]["reasons"][reason]["say"]["en"] for reason in key.get("reasons", [])]
        shown = {
            "email": key["email"],
            "record": store.tables[store.kind.subject][key["order"]],
            "today": f"{store.now:%F}",
            "the customer says when asked": {slot: known["value"] for slot, known in key["ledger"].items()},
            "articles": store.search.knowledge_base(" ".join([key["email"]["text"], *wanted])),
            "key": [key["bucket"], key.get("requested", []), wanted],
        }
        texts.append(orjson.dumps(shown, option=orjson.OPT_INDENT_2, default=dict).decode())
    for name, answer in zip(keys, buyer.ask("draft_fair.md", texts, Fairness)):
        if not isinstance(answer, Fairness):
            note(f"{name} is kept without the model's opinion: {answer}")
        elif not answer.fair:
            yield name, "unfair", answer.why
