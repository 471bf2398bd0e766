"""Check each case of a desk: its form, what nobody could answer, and copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...cases import Case
from ...cases.read import read_case, with_canary
from ...errors import BadInput
from ...language.sentences import fold
from ..audit.audit import unsound_together
from .compiled import as_email, problems_of
from .complaints import Complaints, texts
from .desk_file import FILE, DeskFile

SHORT = 12
"""Words of an email that is expected to name its matter."""


def check_cases(found: Complaints, desk: DeskFile, store: Any) -> None:
    """Check the cases one by one, then together."""
    places: dict[str, tuple[str, list[Any]]] = {}
    cases: list[Case] = []
    last = [*texts()["problems"]].index("failing")
    formulas_hold = all(one.rank > last for one in found.all)
    for file, path, raw in _written(found, store):
        case = str(raw.get("id")) if isinstance(raw, dict) else ""
        if not re.fullmatch(r"[a-z0-9_]+", case) or case in places:
            found.add("id", file, path, case=case)
            continue
        places[case] = file, path
        wrong = [*problems_of(raw, store, desk)]
        for field, why in wrong:
            found.add("case", file, [*path, *field.split(".")], case=case, field=field, why=why)
        for check, field, why in thin(raw, desk, store):
            found.add(check, file, [*path, field], case=case, why=why)
        if formulas_hold and not wrong:
            with found.reading(file, path):
                try:
                    cases.append(read_case(raw, store, found.folder / file))
                except (LookupError, TypeError, AttributeError) as error:
                    raise BadInput(f"case {case} has the wrong form ({error}): compare it with an example") from None
    if not places:
        found.add("empty", FILE, ["intents"])
    elif len(cases) == len(places):
        for name in desk.intents.keys() - {case.intent for case in cases}:
            found.add("no_cases", FILE, ["intents", name], name=name)
        for bucket in texts()["buckets"].keys() - {case.bucket for case in cases}:
            found.add("no_bucket", FILE, ["intents"], bucket=texts()["buckets"][bucket])
    for problem in unsound_together(store, cases):
        if problem.check == "near copy":
            found.add("copies", *places[problem.case_id], case=problem.case_id, why=problem.why)


def _written(found: Complaints, store: Any) -> Iterator[tuple[str, list[Any], Any]]:
    """Yield each case as written, with its file and its path there."""
    for path in sorted((found.folder / "cases").glob("*.yaml")):
        file = f"cases/{path.name}"
        with found.reading(file):
            listed = with_canary(found.yaml(file) or {}, path, store).get("cases")
            if not isinstance(listed, list):
                raise BadInput("it has no list of cases: begin it with a line `cases:`")
            yield from ((file, ["cases", number], raw) for number, raw in enumerate(listed))


def thin(raw: dict[str, Any], desk: DeskFile, store: Any) -> Iterator[tuple[str, str, str]]:
    """Yield what a customer could not answer: a check, a field of the case, and words."""
    row = store.tables[desk.subject].get(str(raw.get("row", raw.get("order"))))
    if row and not any(all(row.get(column) for column in way) for way in desk.ways):
        yield "unproved", "row", ", or ".join(" and ".join(way) for way in desk.ways)
    intent, email = desk.intents.get(str(raw.get("intent"))), str(as_email(raw)["text"] or "")
    if intent and email:
        act = desk.acts.get(intent.act)
        words = [raw["intent"], intent.description, intent.goal, *intent.tell, intent.act]
        words += [act.about, act.do, *act.words] if act else []
        short = len(email.split()) <= SHORT
        if (short or act) and not _stems(email) & _stems(" ".join(words)):
            yield "vague" if short else "elsewhere", "email", ""


def _stems(text: str) -> set[str]:
    return {word[:4] for word in re.findall(r"[^\W\d_]{4,}", fold(text)) if word not in texts()["empty"]}
