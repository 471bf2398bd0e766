"""Turn accepted rules and intents into a declared desk, with cases on both sides of a rule."""

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import jinja2
import orjson

from ...cli.codes import note
from ...errors import BadInput
from ...language.sentences import fold
from ...scoring.written import words as words_of
from ...store import load_store
from ...store.files import words_and_beginnings
from ...textfiles import as_yaml, read_text, unfilled
from ..audit.audit import audit
from .compiled import compiled
from .desk_file import BASE, REFUSE, files_of, read_desk, singular, slug, write_made
from .documents import LINK, Row, Section, numbers_in, typed_in, wording
from .tickets import COLUMNS, EXAMPLES

TODAY = date(2026, 6, 29)


class Drafted:
    """The desk made from accepted rules and intents.

    `columns` maps a compared column to the days in its unit, 0 for a number; `numbers` a name of the policy to number
    and unit; `wanted` a case to its bucket and the rules that refuse. `out` lists what was left out, and why.
    """

    def __init__(self, sections: list[Section], rules: list[Row], intents: list[Row]):
        self.sections, self.known = sections, wording()
        subjects = self.known["subjects"]
        text = fold(" ".join(section.text for section in sections))
        self.subject = max(subjects, key=lambda name: len(re.findall(subjects[name], text)))
        self.thing = singular(self.subject)
        self.acts, self.tickets = defaultdict[str, list[Row]](list), defaultdict[str, list[str]](list)
        self.intents, self.cases, self.rows = dict[str, Row](), dict[str, Row](), list[Row]()
        self.numbers, self.columns = dict[str, tuple[int, str]](), dict[str, float]()
        self.wanted, self.out = dict[str, tuple[str, list[str]]](), list[tuple[str, str, str, str]]()
        for rule in rules:
            self._place(rule)
        for row in intents:
            self._add_intent(dict.fromkeys(COLUMNS, "") | row)
        wished = {intent.get("act") for intent in self.intents.values()}
        for act in (act for act in self.acts if act not in wished):
            self.intents[f"{act}_request"] = {"act": act, "description": f"Wants to {words_of(act)} something."}
        self._write_cases()

    def _leave_out(self, what: str, name: str, gate: str, why: str, **filled: Any) -> None:
        self.out.append((what, name, gate, self.known[why].format(**filled)))

    def _place(self, rule: Row) -> None:
        known, name = self.known, f"{rule['act']}_{rule['id']}"
        unit = known["units"].get("question" if rule["number"] == "" else rule["unit"], known["units"]["other"])
        sort, days = known["sorts"][unit["sort"]], unit["days"]
        holds = unit["holds"].format(column=rule["column"], name=name, test=rule["test"])
        holds = holds.replace("<=", ">=") if rule["test"] == "at least" else holds
        key = rule["number"], rule["ask"], holds.replace(name, "")
        lacks = next((cell for cell in sort["needs"] if not rule[cell]), "")
        same = [other["id"] for other in self.acts.get(rule["act"], []) if key == other["key"] or name == other["name"]]
        checks = {
            ("incomplete", "incomplete"): lacks,
            ("schema", "test"): rule["test"] not in sort["tests"],
            ("schema", "own_tool"): re.search(known["tools"], rule["act"]),
            ("near copy", "same"): same,
            ("schema", "taken"): rule["column"] in known["reserved"],
            ("schema", "two_kinds"): bool(self.columns.get(rule["column"], days)) != bool(days),
        }
        for gate, why in (place for place, wrong in checks.items() if wrong):
            filled = {"lacks": lacks, "mend": sort["needs"].get(lacks), "other": "".join(same[:1])}
            return self._leave_out("rule", rule["id"], gate, why, fitting=" or ".join(sort["tests"]), **filled, **rule)
        act = words_of(rule["act"])
        asked = _pairs(rule["ask"], act)
        own = _pairs(re.sub(LINK, r"\1", rule["quotation"]), f"{act} {rule['ask']}") or asked
        cents = rule["unit"] == "cents"
        written = known["written"]["cents" if cents else "other"].format(name=name)
        filled = {"number": written, "unit": "" if cents else words_of(rule["unit"])}
        filled |= {"act": act, "thing": self.thing, "about": " and ".join(own[:2])}
        say, *words = (" ".join(text.format(**filled).split()) for text in (sort["say"], *sort["words"]))
        entry = rule | {"name": name, "sort": unit["sort"], "days": days, "holds": holds, "key": key}
        self.acts[rule["act"]].append(entry | {"say": say, "words": words or own + asked, "written": written})
        if rule["number"] != "":
            self.numbers[name], self.columns[rule["column"]] = (rule["number"], rule["unit"]), days
        return None

    def _add_intent(self, row: Row) -> None:
        name, act, queue = (slug(row[cell]) for cell in ("id", "act", "queue"))
        if not queue and act not in self.acts:
            return self._leave_out("intent", name, "incomplete", "no_act", act=act)
        counted = re.match(r"\d+", row["count"])
        about = {"description": f"Writes about {row['name']}.", "tickets": int(counted[0]) if counted else 1}
        self.intents[name] = {"queue": queue, **about} if queue else {"act": act, **about}
        sign = "" if queue else self.known["acts"].get(act, words_of(act))
        for cell, text in ((cell, row[cell]) for cell in EXAMPLES if row[cell]):
            why = "short" if len(text.split()) < 5 else "vague" if not re.search(sign, fold(text)) else ""
            if why := why or ("own_number" if not queue and numbers_in(text) else ""):
                self._leave_out("ticket", f"{name}, {cell}", "thin ticket", why, act=words_of(act))
            else:
                self.tickets[name].append(text)
        return None

    def _write_cases(self) -> None:
        for name in (name for name, intent in self.intents.items() if "queue" in intent):
            for text in self.tickets[name]:
                self._add(f"{name}_{len(self.rows) + 1}", name, text, [])
        for act, rules in self.acts.items():
            own = [name for name, intent in self.intents.items() if intent.get("act") == act]
            for rule, outside in product(rules, (False, True)):
                name = max(own, key=lambda one: len(self.tickets[one]))
                text = self.tickets[name].pop(0) if self.tickets[name] else self._email(act)
                case = f"{rule['name']}_{'outside' if outside else 'inside'}"
                self._add(case, name, text, rules, rule if outside else None)

    def _add(self, case: str, intent: str, email: str, rules: list[Row], broken: Row | None = None) -> None:
        people, knows = self.known["people"], {}
        person = people[len(self.rows) % len(people)]
        row: Row = {f"{self.thing}_id": self._key(), "email": f"{slug(person)}.{len(self.rows) + 1}@example.org"}
        row |= {"name": person, "status": "active"}
        row |= {column: TODAY.isoformat() if days else 0 for column, days in self.columns.items()}
        for rule in sorted(rules, key=lambda one: one is broken):
            breaks, number, days = rule is broken, rule["number"], rule["days"]
            if rule["sort"] == "question":
                knows[rule["name"]] = {"yes": "no", "no": "yes"}[rule["test"]] if breaks else rule["test"]
                continue
            value = number + number // 2 + 2 if breaks == (rule["test"] == "at most") else number // 2
            row[rule["column"]] = (TODAY - timedelta(round(value * days))).isoformat() if days else value
        refused = broken is not None and broken["otherwise"] == REFUSE
        bucket = "adversarial" if refused else "resolvable" if rules and not broken else "must_escalate"
        self.wanted[case] = bucket, [broken["name"]] if broken and refused else []
        self.cases[case] = {"id": case, "intent": intent, "row": self._key(), "email": email, "knows": knows}
        self.rows.append(row)

    def _key(self) -> str:
        return f"{self.thing[0].upper()}-{1001 + len(self.rows)}"

    def _email(self, act: str) -> str:
        texts = (self.known[part] for part in ("openings", "wishes", "endings"))
        return " ".join(part[len(self.rows) % len(part)] for part in texts).format(
            act=words_of(act), thing=self.thing, key=self._key()
        )

    def files(self, name: str, title: str) -> dict[str, str]:
        """Return the texts of the desk's files by name."""
        template = jinja2.Template(read_text(BASE / "desk.yaml.j2"), keep_trailing_newline=True)
        questions = [rule for rules in self.acts.values() for rule in rules if rule["sort"] == "question"]
        names = {"questions": questions, "heard": _pairs, "answer": self.known["answer"]}
        desk = template.render(**vars(self), **names, text=partial(json.dumps, ensure_ascii=False))
        info = {"name": name, "title": title, "clock": f"{TODAY}T10:00"}
        articles = (
            {"title": one.title, "source": f"{one.file}, line {one.sentences[0][0]}", "text": self._article(one)}
            for one in self.sections
        )
        files = files_of(desk, info, {self.subject: self.rows}, self.cases.values(), articles)
        numbers = {name: number for name, (number, _) in self.numbers.items()}
        return files | {"policy.yaml": as_yaml(numbers)}

    def _article(self, section: Section) -> str:
        text = unfilled(re.sub(LINK, r"\1", section.text))
        places = dict[int, tuple[int, str]]()
        lines = {(section.file, line) for line, _ in section.sentences}
        for rule in (rule for rules in self.acts.values() for rule in rules):
            if rule["name"] in self.numbers and (rule["file"], rule["line"]) in lines:
                words = map(re.escape, re.sub(LINK, r"\1", rule["quotation"]).split())
                said = re.search(r"\s+".join(words), text)
                own = range(*said.span()) if said else ()
                found = typed_in(text, *self.numbers[rule["name"]]).items()
                every = {at: (end, rule["written"]) for at, end in found if rule["unit"] or at in own}
                places = every | places | {at: one for at, one in every.items() if at in own}
        for at, (end, written) in sorted(places.items(), reverse=True):
            text = text[:at] + written + text[end:]
        return text


def _pairs(text: str, but: str) -> list[str]:
    hollow = {*wording()["hollow"], *re.findall(r"\w+", fold(but))}
    words = [word for word in words_and_beginnings(fold(text)) if "*" not in word and word not in hollow]
    return [" ".join(pair) for pair in zip(words, words[1:])][:6] or words[:1]


def sound(made: Drafted, name: str, title: str, buyer: Any) -> dict[str, str]:
    """Return a desk's files with those cases that pass all gates: schema, rule, audit, model."""
    while True:
        files = made.files(name, title)
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


def _problems(folder: Path, made: Drafted, buyer: Any) -> Iterator[tuple[str, str, str]]:
    desk, store = read_desk(folder), load_store(folder)
    keys = dict[str, Row]()
    for name, case in made.cases.items():
        try:
            keys[name] = compiled(case, store, desk)
        except BadInput as error:
            yield name, "schema", str(error)
            continue
        ends = keys[name]["bucket"], keys[name].get("reasons", [])
        if ends != made.wanted[name]:
            yield name, "rule", made.known["other_rule"].format(bucket=ends[0], reasons=", ".join(ends[1]) or "no rule")
    if keys.keys() == made.cases.keys():
        problems = [(one.case_id, one.check, one.why) for one in audit(store).problems]
        yield from problems
        if buyer and not problems:
            yield from _unfair(store, keys, buyer)


def _unfair(store: Any, keys: dict[str, Row], buyer: Any) -> Iterator[tuple[str, str, str]]:
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
    for name, answer in zip(keys, buyer.ask("draft_fair.md", texts, fair=bool, why=str)):
        if not isinstance(answer, dict):
            note(f"{name} is kept without the model's opinion: {answer}")
        elif not answer["fair"]:
            yield name, "unfair", answer["why"]
