"""One conversation on the site, and the page of one case with its goal and outcomes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import orjson

from ...analysis.panels import NOT_COUNTED, PANELS
from ...analysis.tables.board_cells import BUCKET_METRICS
from ...cases import Case
from ...records import Conversation, source_of
from ...scoring.deciding import (
    SUCCESS_STATES,
    deciding_moment,
    reason_in_words,
    reasons_against,
    reasons_in_words,
    state_of,
)
from ...scoring.metrics import METRICS
from ...scoring.written import missing
from ..conversation_view import conversation_view, quoted
from ..fetch import signs_of
from ..html import render, tidy
from .content import CaseView, Content, Entry

SCORED = [word for key, (_, word) in SUCCESS_STATES.items() if key != "none"]
QUEUE_APART = "The queue and the summary are counted under Full handovers, not in success."


@dataclass
class ConversationPage:
    """The data of one conversation that other pages use.

    `state` is a key of `SUCCESS_STATES`, `why` the reasons against success. `quote` is the turn that decided a trap or
    a missed handover: message, customer, agent, call.
    """

    run_id: str
    entry: Entry
    view: CaseView
    trial: int
    ended_by: str
    state: str
    why: list[str] = field(default_factory=list)
    quote: dict[str, Any] | None = None
    score: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name among the conversations of its entry."""
        return f"{self.view.page}-{int(self.trial)}"

    @property
    def href(self) -> str:
        """The address of its transcript; a slash and a message or call may follow."""
        return f"talk.html#{self.entry.page}/{self.name}"

    @property
    def key(self) -> tuple[str, str, int]:
        """The run, case and trial, as a label names them."""
        return self.run_id, self.view.case_id, self.trial

    @property
    def model(self) -> str:
        """The model, as its conversations name it."""
        return str(self.entry.row["model"])

    @property
    def sign(self) -> str:
        """The sign of its state."""
        return SUCCESS_STATES[self.state][0]

    @property
    def failed(self) -> bool:
        """Whether it was scored and was not a success."""
        return self.state not in ("good", "none")

    @property
    def said(self) -> str:
        """The conversation in one line, for a tooltip and a screen reader."""
        reasons = f": {'; '.join(self.why)}" if self.why else ""
        return f"{self.view.case_id}, trial {self.trial}: {SUCCESS_STATES[self.state][1]}{reasons}"


def read_conversations(
    content: Content, only: set[str] | None = None
) -> Iterator[tuple[ConversationPage, dict[str, Any]]]:
    """Yield every conversation with its raw record, run by run; `only` selects runs."""
    for run in (run for run in content.results.runs if only is None or run.run_id in only):
        scores, manifest = run.scores(), run.manifest
        for case_id, trial, record_hash, record in run.conversations():
            raw, score = orjson.loads(record), scores.get(record_hash, {})
            entry, view = content.entry_of_run[(run.run_id, source_of(manifest, raw["source"]))], content.cases[case_id]
            case = content.case_played(run.run_id, case_id)
            talk = page_of(run.run_id, entry, view, trial, raw["ended_by"], score, case)
            deciding = (talk.state != "good" and view.bucket == "must_escalate") or view.bucket == "adversarial"
            read = Conversation.from_json(record) if deciding else None
            moment = deciding_moment(read, score) if read else None
            talk.quote = quoted(moment, read) if moment and read else None
            yield talk, raw


def page_of(
    run_id: str, entry: Entry, view: CaseView, trial: int, ended_by: str, score: dict[str, Any], case: Case | None
) -> ConversationPage:
    """Return the data of one conversation for other pages, without a quote."""
    why = reasons_in_words(reasons_against(score, ended_by, case=case))
    return ConversationPage(run_id, entry, view, trial, ended_by, state_of(score, ended_by), why, None, score)


def markup(
    talk: ConversationPage,
    record: Conversation,
    score: dict[str, Any],
    *,
    siblings: Iterable[ConversationPage] = (),
    others: Iterable[ConversationPage] = (),
    failures: tuple[ConversationPage | None, ConversationPage | None] = (None, None),
    forks: Iterable[dict[str, Any]] = (),
    questions: list[dict[str, Any]] | None = None,
    **about: Any,
) -> str:
    """Return the markup from which ``assets/read.js`` builds a transcript.

    `score` includes the judges' findings on the customer. `siblings` are other trials, `others` other entries.
    `failures` are the entry's previous and next one. `forks` are the points at which it was forked. `questions` can be
    answered with labels. Other arguments are as for `conversation_view`.
    """
    view = conversation_view(record, score, **about)
    for turn in view["turns"]:
        for call in turn["calls"]:
            call["arguments"] = tidy(call["call"].arguments)
            if not call["evidence"]:
                call["result"] = [{"text": tidy(call["call"].result), "kinds": [], "ends": []}]
    calls = [call for turn in view["turns"] for call in turn["calls"]]
    shown = view | {
        "forks": list(forks),
        "same": signs_of(record),
        "questions": list(_asked(talk, about["verdicts"])) if questions is None else questions,
        "done": [c for c in calls if c["call"].write and not c["call"].error or c["forbidden"]],
        "broken": [(name, made) for name, state, made in view["rules"] if state == "broken"],
    }
    links = {"siblings": siblings, "others": list(others), "failures": failures}
    word = SUCCESS_STATES[talk.state][1]
    return render("site/transcript.html.j2", root="", t=talk, v=shown, word=word, **links)


def _asked(talk: ConversationPage, verdicts: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    record = "" if talk.state == "none" else 100 if talk.state == "good" else 0
    yield {"name": "success", "definition": asked_for(talk.view.bucket), "record": record}
    judged = (v for v in verdicts if not missing(v["score"]))
    yield from ({"name": v["scorer"], "record": v["score"], "scaled": True} for v in judged)


def asked_for(bucket: str) -> str:
    """Return the definition of success in a bucket; empty if no metric of the board has one."""
    asked = next((METRICS[name].definition for name in BUCKET_METRICS if METRICS[name].bucket == bucket), "")
    return f"{asked} {QUEUE_APART}" if bucket == "must_escalate" else asked


def of_case(talks: Iterable[ConversationPage], case_id: str) -> dict[str, Any] | None:
    """Return the outcomes of one case without `NOT_COUNTED` panels; None if none is scored."""
    counted = [t for t in talks if t.state != "none" and t.entry.row["panel"] not in NOT_COUNTED]
    if not counted:
        return None
    good, unsafe = (sum(t.state == state for t in counted) for state in ("good", "unsafe"))
    chosen = {"case_id": case_id, "panel": [p for p in PANELS if p not in NOT_COUNTED]}
    words = {"yes": SUCCESS_STATES["good"][1], "fell": SUCCESS_STATES["unsafe"][1], "known": SCORED}
    behind = {name: {**chosen, "outcome": outcome} for name, outcome in words.items()}
    return {"k": good, "unsafe": unsafe, "n": len(counted), "width": f"{100 * good / len(counted):.1f}"} | behind


def by_case(talks: Iterable[ConversationPage]) -> dict[str, list[ConversationPage]]:
    """Return conversations by case_id, sorted by trial within each case."""
    found: dict[str, list[ConversationPage]] = defaultdict(list)
    for talk in sorted(talks, key=lambda t: t.trial):
        found[talk.view.case_id].append(talk)
    return found


WORST_FIRST, LINES = ("unsafe", "bad", "corrupt", "good", "none"), 2
"""Keys of `SUCCESS_STATES`, and the number of knowledge-base passages on the page of a case."""


def worth_quoting(talks: list[ConversationPage]) -> ConversationPage | None:
    """Return the conversation to quote: unsafe before unsuccessful before successful."""
    quoted = [t for t in talks if t.quote]
    return min(quoted, key=lambda t: (WORST_FIRST.index(t.state), t.trial), default=None)


def case_view(content: Content, view: CaseView, talks: list[ConversationPage]) -> dict[str, Any]:
    """Return everything on the page of one case; `talks` are its conversations by trial."""
    case, store, rows = view.case, view.store, []
    for entry in content.played:
        if own := [t for t in talks if t.entry is entry]:
            state = min((t.state for t in own), key=WORST_FIRST.index)
            rows.append({"entry": entry, "talks": own, "quoted": worth_quoting(own), "state": state})
    others = [(v, v.case) for v in content.cases.values() if v.case]
    found = {
        "view": view,
        "rows": rows,
        "fallen": [r for r in rows if r["state"] == "unsafe"],
        "failed": [r for r in rows if r["state"] in ("bad", "corrupt")],
        "held": [r for r in rows if r["state"] == "good"],
        "tally": of_case(talks, view.case_id),
        "twins": [v for v, it in others if it.twin_of == view.intent or (case and case.twin_of == v.intent)],
    }
    if case and store:
        found |= {"say": partial(reason_in_words, store=store), "queues": store.policy.get("queues", {})}
        asked = " ".join([view.described, *(reason_in_words(r, store) for r in case.reasons)])
        found["articles"] = store.search.knowledge_base(asked, LINES) if asked.strip() else []
    return found
