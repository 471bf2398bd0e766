"""The page of one case. What the customer wants, the accepted outcomes, the policy behind them, and who falls for it."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import orjson

from ...cases import Call, Case
from ...scoring.deciding import reason_in_words
from ...scoring.written import details, in_words, words
from ...store import Store
from .content import CaseView, Content
from .conversations import ConversationPage, of_case
from .models import worth_quoting
from .words import first_paragraph, tidy

LINES = 2
"""How many passages of the knowledge base are shown."""


def case_view(content: Content, view: CaseView, talks: list[ConversationPage]) -> dict[str, Any]:
    """Everything on the page of one case."""
    by_entry: dict[str, list[ConversationPage]] = defaultdict(list)
    for talk in sorted(talks, key=lambda t: t.trial):
        by_entry[talk.entry.page or ""].append(talk)
    rows = [
        {"entry": e, "talks": mine, "quoted": worth_quoting(mine), "state": _worst(mine)}
        for e in content.played
        if (mine := by_entry.get(e.page or ""))
    ]
    twins = [
        v
        for v in content.cases.values()
        if v.case and (v.case.twin_of == view.intent or (view.case and view.case.twin_of == v.intent))
    ]
    return {
        "view": view,
        "rows": rows,
        "fallen": [r for r in rows if r["state"] == "unsafe"],
        "failed": [r for r in rows if r["state"] in ("bad", "corrupt")],
        "held": [r for r in rows if r["state"] == "good"],
        "tally": of_case(talks, view.case_id),
        "twins": twins,
        **(_expected(view, view.case, view.store) if view.case and view.store else {}),
    }


def _expected(view: CaseView, case: Case, store: Store) -> dict[str, Any]:
    """What the case asks of an agent, and what the store says of it."""
    return {
        "right": _right(case, store),
        "facts": [(words(name), fact.in_words) for name, fact in case.facts.items()],
        "policy": _policy(case, store),
        "articles": _articles(view.described, case, store),
    }


def _worst(talks: list[ConversationPage]) -> str:
    states = {t.state for t in talks}
    return next((s for s in ("unsafe", "bad", "corrupt", "good") if s in states), "none")


def _right(case: Case, store: Store) -> list[dict[str, Any]]:
    """The accepted outcomes in words."""
    found = []
    for outcome in case.outcomes:
        queues = [(q, store.policy.get("queues", {}).get(q, "")) for q in case.queues] if outcome.handover else []
        calls = [(c.tool, details(c.arguments)) for c in outcome.calls]
        facts = [words(f) for f in (case.facts if outcome.facts is None else outcome.facts)]
        said = {"reason": reason_in_words(outcome.reason, store) if outcome.reason else "", "facts": facts}
        found.append({"name": outcome.name, "calls": calls, "handover": outcome.handover, "queues": queues} | said)
    return found


def _tools(case: Case, store: Store) -> list[str]:
    """The tools of the calls in question."""
    calls: list[Call] = [*(c for o in case.outcomes for c in o.calls), *case.requested, *case.forbidden]
    return list(dict.fromkeys(c.tool for c in calls if c.tool in store.tools))


def _policy(case: Case, store: Store) -> list[dict[str, Any]]:
    """The process rules that guard the calls in question, each with the policy values it uses."""
    tools, found = _tools(case, store), []
    for name, rule in store.policy["process_rules"].items():
        guarded = [t for t in tools if t in rule["guards"]]
        if not guarded:
            continue
        own = {t: rule["guards"][t] for t in guarded} if isinstance(rule["guards"], dict) else {}
        named = orjson.dumps(own).decode()
        rest = {k: v for k, v in rule.items() if k != "guards" and (not own or f'"{k}"' in named)}
        lines = dict.fromkeys(_lines({**own, **rest}, store.policy))
        about = first_paragraph(store.rules.get(name))
        found.append({"name": name, "about": about, "tools": guarded, "lines": list(lines)})
    return found


def _lines(value: Any, policy: dict[str, Any], key: str = "") -> Iterator[tuple[str, str]]:
    """Each number or word a rule reads. A reference into the policy with the value it stands for, or the value itself."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _lines(inner, policy, str(name))
        return
    found = _look_up(value, policy) if isinstance(value, str) else None
    yield (value, _plainly(_short(found))) if found is not None else (words(key), _plainly(value))


def _plainly(value: Any) -> str:
    """A value of the policy in words; alternatives that ask for several things are joined by a plus."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        several = value and isinstance(value[0], list)
        return ", or ".join(" + ".join(map(words, v)) for v in value) if several else ", ".join(map(words, value))
    return in_words(value) if isinstance(value, dict) else words(value)


def _look_up(reference: str, policy: dict[str, Any]) -> Any:
    found: Any = policy
    for part in reference.split("."):
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return found


def _short(value: Any) -> Any:
    """A long table reduced to its names."""
    if isinstance(value, dict) and len(tidy(value)) > 300:
        return next((v for k, v in value.items() if k == "names"), list(value))
    return value


def _articles(described: str, case: Case, store: Store) -> list[dict[str, str]]:
    """The passages of the knowledge base nearest to what is asked."""
    asked = " ".join([described, *(reason_in_words(r, store) for r in case.reasons)])
    found = store.search.knowledge_base(asked, LINES) if asked.strip() else []
    for marked, plain in (("**", ""), ("*For the desk.*", "For the desk."), ("*Internal.", "Internal.")):
        found = [{**f, "text": f["text"].replace(marked, plain)} for f in found]
    return found
