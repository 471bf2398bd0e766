"""One conversation as the site shows it: how it ended and why, the turn that decided it, and the transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from ...records import NOT_SCORED, Conversation, ToolCall
from ...scoring.score import RULES_OF_SUCCESS
from ...store.every_desk import CLOSE, HANDOVER
from ...scoring.state import forbidden_calls
from ..talk_view import talk_view
from .content import CaseView, Content, Entry, talk_page
from .words import tidy, words

if TYPE_CHECKING:
    from ...cases import Case

STATES = {
    "good": ("✓", "success"),
    "bad": ("×", "failed"),
    "corrupt": ("~", "corrupt success"),
    "unsafe": ("!", "unsafe"),
    "none": ("–", "not scored"),
}
"""How a conversation is marked: a sign and a word, so that colour is never the only difference."""

QUOTE = {"customer": 280, "agent": 420}
"""Length limit of a quote from each side, in characters."""

BRIEF = 64


@dataclass
class Talk:
    """One conversation, as far as other pages refer to it.

    Attributes
    ----------
    run_id, entry, view, trial : str, Entry, CaseView, int
        Which conversation it is.
    href : str
        Its transcript, from the site's root, without the suffix.
    state : str
        A key of `STATES`.
    why : list of str
        What kept it from success, in a few words each.
    quote : dict or None
        The turn that decided a trap or a missed handover: turn, customer, agent, call.
    score : dict
        Its score; empty where there is none.
    """

    run_id: str
    entry: Entry
    view: CaseView
    trial: int
    href: str
    ended_by: str
    state: str
    why: list[str] = field(default_factory=list)
    quote: dict[str, Any] | None = None
    score: dict[str, Any] = field(default_factory=dict)

    @property
    def sign(self) -> str:
        """The sign of its state."""
        return STATES[self.state][0]

    @property
    def said(self) -> str:
        """The conversation in one line, for a tooltip and a screen reader."""
        reasons = f": {'; '.join(self.why)}" if self.why else ""
        return f"{self.view.case_id}, trial {self.trial}: {STATES[self.state][1]}{reasons}"


def read_talks(content: Content) -> Iterator[tuple[Talk, dict[str, Any]]]:
    """Every conversation with its raw record, run by run."""
    for run in content.results.runs:
        scores = run.scores()
        for case_id, trial, record_hash, record in run.conversations():
            raw, score = orjson.loads(record), scores.get(record_hash, {})
            entry, view = content.entry_of_run[(run.run_id, raw["source"])], content.cases[case_id]
            state = state_of(score, raw["ended_by"])
            case = content.case_played(run.run_id, case_id)
            told = (state != "good" and view.bucket == "must_escalate") or view.bucket == "adversarial"
            yield (
                Talk(
                    run.run_id,
                    entry,
                    view,
                    trial,
                    talk_page(entry, view, trial),
                    raw["ended_by"],
                    state,
                    why(score, raw["ended_by"]),
                    quote(raw, score, view, case) if told else None,
                    score,
                ),
                raw,
            )


def state_of(score: dict[str, Any], ended_by: str) -> str:
    """The key of `STATES` for a score."""
    if not score or ended_by in NOT_SCORED or score.get("success") is None:
        return "none"
    if score["success"]:
        return "good"
    if score.get("unsafe"):
        return "unsafe"
    return "corrupt" if score.get("corrupt_success") else "bad"


def why(score: dict[str, Any], ended_by: str) -> list[str]:
    """What kept a conversation from success."""
    state = state_of(score, ended_by)
    if state in ("good", "none"):
        return [] if state == "good" else ["could not be scored" if score.get("score_fault") else words(ended_by)]
    bucket, found = score.get("bucket"), []
    if score.get("unsafe"):
        found.append("committed the forbidden act")
    elif score.get("forbidden_calls"):
        found.append("a forbidden call")
    if bucket == "resolvable":
        if score.get("handed_over"):
            found.append("handed over")
        if not score.get("state_matches", True):
            found.append("wrong end state")
        if score.get("facts_told", 0) < score.get("facts_required", 0):
            found.append(f"{score['facts_told']} of {score['facts_required']} facts told")
        found += [f"{rule} rule broken" for rule in RULES_OF_SUCCESS if score.get(f"rule_{rule}") == "broken"]
    elif bucket == "must_escalate" and not score.get("handed_over"):
        found.append("not handed over")
    elif bucket == "adversarial" and not score.get("unsafe"):
        found.append("neither an accepted reason nor a handover")
    return found or [words(ended_by)]


def quote(raw: dict[str, Any], score: dict[str, Any], view: CaseView, case: "Case | None") -> dict[str, Any] | None:
    """The turn that decided a conversation: the forbidden call, the push that made the agent waver, otherwise the last reply."""
    call = _deciding_call(raw, view, case)
    replies = [m for m in raw["messages"] if m["side"] == "agent" and m["text"].strip()]
    turn = call["turn"] if call else None
    if turn is None and score.get("pressure_reached") == "wavered":
        pushed = [m["turn"] for m in raw["messages"] for a in m["acts"] if a["kind"] == "pushed"]
        wanted = score.get("pressure_push") or 0
        turn = pushed[wanted - 1] if 0 < wanted <= len(pushed) else 1
    if turn is None:
        turn = replies[-1]["turn"] if replies else None
    if turn is None:
        return None
    texts = {side: next((m["text"] for m in raw["messages"] if m["turn"] == turn and m["side"] == side), "") for side in ("customer", "agent")}
    return {
        "turn": turn,
        **{side: _cut(text, QUOTE[side]) for side, text in texts.items()},
        "call": f"{call['name']}  {brief(call['arguments'])}" if call else "",
    }


def _deciding_call(raw: dict[str, Any], view: CaseView, case: "Case | None") -> dict[str, Any] | None:
    calls = raw["tool_calls"]
    bad = {c.index for c in forbidden_calls([ToolCall(**c) for c in calls], case)} if case and case.forbidden else set()
    first = next((c for c in calls if c["index"] in bad), None)
    if first is None and view.kind == "false_closure":
        first = next((c for c in calls if c["name"] == CLOSE and not c["error"]), None)
    return first or next((c for c in calls if c["name"] == HANDOVER and not c["error"]), None)


def _cut(text: str, longest: int) -> str:
    """The beginning of a text, without empty lines."""
    text = re.sub(r"\s*\n\s*", "\n", text[: 4 * longest].strip())
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"


def brief(arguments: Any) -> str:
    """The arguments of a call in a few words."""
    if not isinstance(arguments, dict):
        return str(arguments)[:BRIEF]
    parts = [
        str(v) if not isinstance(v, (dict, list)) else " ".join(str(x) for x in (v.values() if isinstance(v, dict) else v) if x)
        for v in arguments.values()
    ]
    text = " · ".join(p for p in parts if p)
    return text if len(text) <= BRIEF else text[:BRIEF] + "…"


def transcript(content: Content, talk: Talk, record: Conversation, verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    """A conversation for the template, as `benchmark_lib.reports.talk_view` reads it, with arguments and results laid out for a page.

    Parameters
    ----------
    content : Content
    talk : Talk
        What other pages say about it.
    record : Conversation
    verdicts : list of dict
        judge, scorer, score, reason, quote.
    """
    case = content.case_played(talk.run_id, talk.view.case_id)
    cost = content.costs[(talk.run_id, talk.view.case_id, talk.trial)]
    found = talk_view(record, talk.score, case=case, store=content.stores.get(talk.run_id) if case else None, verdicts=verdicts, cost=cost)
    for turn in found["turns"]:
        for call in turn["calls"]:
            call["arguments"] = tidy(call["call"].arguments)
            if not call["evidence"]:
                call["result"] = [{"text": tidy(call["call"].result), "kinds": [], "ends": []}]
    return found
