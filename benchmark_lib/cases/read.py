"""Read one case from its YAML; reject an invalid one, naming file, case, field and remedy."""

import difflib
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import BadInput
from ..language.values import money
from ..remembered import remembered
from ..store import Store
from ..store.rules import add_business_days
from ..textfiles import read_yaml, render
from .case import Case

ARTICLE = re.compile(r"\b([Aa])(\s+)\{\{ ([^{}]*\b(?:title|color)) \}\}")
"""English article before a title or a color, which becomes "an" before a vowel."""


def with_canary(content: Any, path: Path, store: Store) -> dict[str, Any]:
    """Return a file's content; reject a file without the canary of its store."""
    if not isinstance(content, dict) or content.get("canary") != store.info["canary"]:
        raise BadInput(f"{path}: the canary is missing or differs: copy the canary line of store.yaml")
    return content


@remembered()
def written_cases(store: Store) -> tuple[tuple[Path, Any], ...]:
    """Return every entry of a store's case files, with its file; reject a broken file."""
    entries: list[tuple[Path, Any]] = []
    for path in sorted((store.path / "cases").glob("*.yaml")):
        content = read_yaml(path)
        if not isinstance(content, dict) or not isinstance(content.get("cases"), list):
            raise BadInput(f"{path}: no list of cases: the file needs 'canary:' and 'cases:' at its top")
        with_canary(content, path, store)
        entries += [(path, raw) for raw in content["cases"]]
    return tuple(entries)


def read_case(raw: Any, store: Store, path: Path) -> Case:
    """Read one case: fill its placeholders, add the store's defaults, and validate it."""
    if not isinstance(raw, dict) or "id" not in raw:
        raise BadInput(f"{path}: an entry of 'cases' is not a mapping with an id; see docs/your-own-desk.md")
    where = f"{path}: case {raw['id']}"
    world = raw.get("world") or {}
    store = store.laid_over(raw["id"], world, raw.get("library"), raw.get("pair") or raw["id"])
    raw = store.kind.compiled(raw, store)
    names, bucket = _context(raw, store, where)
    english = raw.get("language", "en") == "en"
    written = {k: v for k, v in raw.items() if k != "world"} | {"bucket": bucket}
    filled = {**store.kind.case_defaults(names), **_fill(written, names, where, english), "world": world}
    ledger = {s: e if isinstance(e, dict) else {"value": str(e)} for s, e in (filled.get("ledger") or {}).items()}
    filled["ledger"] = {**store.kind.usual_ledger(filled, names), **ledger}
    if filled["bucket"] == "adversarial":
        filled.setdefault("pushes_before_accepting", None)
    try:
        case = Case.model_validate(filled)
    except ValidationError as error:
        wrong = [f"field {'.'.join(map(str, one['loc']))}: {one['msg'].lower()}" for one in error.errors()]
        raise BadInput(f"{where}, {'; '.join(wrong)}; correct the file") from None
    _check_names(case, store, where)
    return case


def _check_names(case: Case, store: Store, where: str) -> None:
    calls = {"requested": case.requested, "forbidden": case.forbidden, "allowed_extra": case.allowed_extra}
    books = store.phrases.values()
    known = {
        "tool": {*store.tools, "*"},
        "fact": set(case.facts),
        "fact, tool or argument": {*case.facts, *store.tools, *case.against},
        "queue": set(store.policy["queues"]),
        "slot": {slot for book in books for slot in book["slots"]},
        "reason": {name for book in books for name in book.get("reasons") or {}},
        "attachment": set(store.kind.attachments),
        "language": set(store.phrases),
    }
    named: list[tuple[str, str, Iterable[str]]] = [
        *(("tool", f"outcomes.{o.name}", [c.tool for c in o.calls]) for o in case.outcomes),
        *(("tool", part, [c.tool for c in listed]) for part, listed in calls.items()),
        ("tool", "accepts", case.accepts),
        *(("fact", f"outcomes.{o.name}", o.facts or ()) for o in case.outcomes),
        ("queue", "queues", case.queues),
        ("slot", "ledger", case.ledger),
        *(("attachment", f"ledger.{slot}.attach", [e.attach]) for slot, e in case.ledger.items() if e.attach),
        ("language", "language", [case.language]),
        ("tool", "trouble", [trouble.tool for trouble in case.trouble]),
        ("reason", "reasons", [*case.reasons, *(o.reason for o in case.outcomes if o.reason)]),
        ("reason", "against", case.against),
        *(("fact, tool or argument", f"moot.{line}", names) for line, names in case.moot.items()),
    ]
    for kind, field, name in ((kind, field, name) for kind, field, names in named for name in names):
        if name not in known[kind]:
            near = difflib.get_close_matches(name, known[kind], 1, 0.4) or sorted(known[kind])[:1]
            hint = f"did you mean {near[0]}?" if near else "add it, or remove the name"
            own = "; name a tool of your own with --tools module:name" if kind == "tool" else ""
            raise BadInput(f"{where}, field {field}: there is no {kind} {name!r}; {hint}{own}")


def _context(raw: dict[str, Any], store: Store, where: str) -> tuple[dict[str, Any], Any]:
    # What placeholders may name, and the bucket.
    intent = raw.get("intent")
    if intent in store.info["intents"]:
        bucket = store.info["intents"][intent].get("bucket") or raw.get("bucket")
    elif intent in store.info["traps"]:
        bucket = "adversarial"
    elif intent in (families := store.info.get("families") or {}):
        bucket = raw.get("bucket")
    else:
        every = [*store.info["intents"], *store.info["traps"], *families]
        near = difflib.get_close_matches(str(intent), every, 1, 0.3) or every[:1]
        raise BadInput(f"{where}, field intent: {intent!r} is not an intent of the store; did you mean {near[0]}?")
    orders = store.tables[store.kind.subject]
    for role, number in {"order": raw.get("order"), **(raw.get("others") or {})}.items():
        if number not in orders:
            raise BadInput(
                f"{where}, field {role}: the store has no {store.kind.subject.removesuffix('s')} {number!r}; "
                f"name one of its {store.kind.subject}"
            )
    order, others = orders[raw["order"]], raw.get("others") or {}
    names = {
        "order": order,
        "others": {role: orders[number] for role, number in others.items()},
        "policy": store.policy,
        "store": store.info,
        "money": money,
        "day": lambda value: long_date(value, raw.get("language", "en")),
        "days_after": lambda value, count: (_as_date(value) + timedelta(days=count)).isoformat(),
        **store.kind.case_names(raw, order, store),
        "business_days_after": lambda value, count: add_business_days(_as_date(value), count, store).isoformat(),
    }
    return names, bucket


def _fill(value: Any, names: dict[str, Any], where: str, english: bool) -> Any:
    # One template renders all texts, because a template costs far more than a placeholder.
    texts: list[str] = []

    def collect(field: str, text: str) -> None:
        if "{{" in text:
            # Texts about pictures are in English in every case.
            an = english or field.endswith("shows")
            texts.append(ARTICLE.sub(r"""\1{{ "n" if \3[0] in "AEIOUaeiou" }}\2{{ \3 }}""", text) if an else text)

    _with_texts(value, collect)
    mark = "\x1e"
    try:
        filled = iter(render(mark.join(texts), where, **names).split(mark) if texts else [])
    except BadInput:
        _with_texts(value, lambda field, text: render(text, f"{where}, field {field}", **names))
        raise
    return _with_texts(value, lambda _, text: next(filled) if "{{" in text else text)


def _with_texts(value: Any, change: Callable[[str, str], Any], field: str = "") -> Any:
    # A copy in which `change`, called with the dotted field and the text, replaces every text, in order.
    if isinstance(value, str):
        return change(field, value)
    if isinstance(value, dict):
        return {key: _with_texts(inner, change, f"{field}.{key}".lstrip(".")) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_texts(inner, change, f"{field}[{index}]") for index, inner in enumerate(value)]
    return value.isoformat() if isinstance(value, (date, datetime)) else value


@lru_cache(maxsize=4096)
def long_date(value: str | date, language: str = "en") -> str:
    """Return a date with its month's name and without the year, as the language writes it."""
    from babel.dates import format_skeleton

    return format_skeleton("MMMMd", _as_date(value), locale=language)


def _as_date(value: str | date) -> date:
    return value if isinstance(value, date) else date.fromisoformat(str(value)[:10])
