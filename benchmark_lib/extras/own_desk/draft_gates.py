"""Keep the cases of a draft that pass every gate; list the others with the reason."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ...cli.codes import note
from ...errors import BadInput
from ...store import load_store
from ..audit.audit import audit
from .compiled import compiled
from .desk_file import read_desk
from .draft_desk import Drafted, files_of
from .draft_model import Buyer, Fairness
from .draft_rules import Section, wording


def written(folder: Path, files: dict[str, str]) -> None:
    """Write files by name into a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def sound(made: Drafted, name: str, title: str, sections: list[Section], buyer: Buyer | None) -> dict[str, str]:
    """Return a desk's files with the cases that pass: schema, rule, audit, a model's doubt."""
    while True:
        files = files_of(made, name, title, sections)
        with tempfile.TemporaryDirectory() as place:
            written(Path(place), files)
            found = [*_problems(Path(place), made, buyer)] if made.cases else []
        failed = [one for one in found if one[0] in made.cases]
        if not failed:
            made.out += [("desk", *one) for one in found]
            return files
        for case, gate, why in failed:
            if made.cases.pop(case, None):
                made.out.append(("case", case, gate, why))


def _problems(folder: Path, made: Drafted, buyer: Buyer | None) -> Iterator[tuple[str, str, str]]:
    """Yield what fails the first gate at which anything fails: case, gate and reason."""
    desk, store = read_desk(folder), load_store(folder)
    keys: dict[str, Any] = {}
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
        found = [(one.case_id, one.check, one.why) for one in audit(store).problems]
        yield from found
        if buyer and not found:
            yield from _unfair(store, keys, buyer)


def _unfair(store: Any, keys: dict[str, Any], buyer: Buyer) -> Iterator[tuple[str, str, str]]:
    """Yield the cases that a competent agent could fail fairly, as a model sees it."""
    texts = []
    for key in keys.values():
        wanted = [store.phrases["en"]["reasons"][reason]["say"]["en"] for reason in key.get("reasons", [])]
        shown = {
            "email": key["email"], "record": store.tables[store.kind.subject][key["order"]], "today": f"{store.now:%F}",
            "the customer says when asked": {slot: known["value"] for slot, known in key["ledger"].items()},
            "articles": store.search.knowledge_base(" ".join([key["email"]["text"], *wanted])),
            "key": [key["bucket"], key.get("requested", []), wanted],
        }  # fmt: skip
        texts.append(orjson.dumps(shown, option=orjson.OPT_INDENT_2, default=dict).decode())
    for name, answer in zip(keys, buyer.ask("draft_fair.md", texts, Fairness)):
        if not isinstance(answer, Fairness):
            note(f"{name} is kept without the model's word on it: {answer}")
        elif not answer.fair:
            yield name, "unfair", answer.why
