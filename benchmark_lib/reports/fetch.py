"""Fetch everything known about one conversation from its run file, and show conversations."""

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import orjson

from ..analysis.facets import plain_rows
from ..analysis.frames import Results, is_hard
from ..analysis.query import Query
from ..cases import Case
from ..cases.load import cases_played, store_played
from ..errors import BadInput
from ..records import Conversation
from ..runfile import RunFile, connect_to_read
from ..scoring.customer_audit import turns_in
from ..scoring.deciding import outcome_label
from ..store import Store
from .conversation_view import Numbering
from .html import Html, render, transcript_html
from .marks import with_judged_customer

VERDICT = ("score", "reason", "quote", "unscored")


@dataclass
class Dossier:
    """One conversation with everything known about its score, verdicts, calls, case and store."""

    run_id: str
    conversation: Conversation
    score: dict[str, Any] | None
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    case: Case | None = None
    store: Store | None = None
    entry: str | None = None
    model_calls: list[dict[str, Any]] = field(default_factory=list)

    @property
    def about(self) -> dict[str, Any]:
        """Arguments of `conversation_view` other than the record and its score."""
        return {name: getattr(self, name) for name in ("case", "store", "verdicts", "entry", "model_calls")}

    def html(self, css: bool = True) -> str:
        """Return the conversation as an HTML fragment."""
        return transcript_html(self.conversation, self.score, css=css, **self.about)


class DossierStore:
    """Dossiers from the run files of some results; `store` defaults to the one of each run file."""

    def __init__(self, results: Results, store: Store | None = None):
        self.runs = {run.run_id: run for run in results.runs}
        self.entries = results.entries
        self._store = store
        self._worlds: dict[str, tuple[Store | None, dict[str, Case]]] = {}

    def dossier(self, run_id: str, case_id: str, trial: int) -> Dossier:
        """Return everything about one conversation; `BadInput` if no run of these results has it."""
        if run_id not in self.runs:
            raise BadInput(f"there is no run {run_id!r} in these results: choose from {', '.join(self.runs)}")
        run = self.runs[run_id]
        conversation = run.record(case_id, trial)
        with closing(connect_to_read(run.path)) as db:
            key = (case_id, int(trial))
            digest = db.execute("SELECT record_hash FROM conversations WHERE case_id=? AND trial=?", key).fetchone()
            score = db.execute("SELECT scores FROM scores WHERE record_hash=? ORDER BY id DESC", digest).fetchone()
            verdicts = "SELECT judge, version, verdict FROM verdicts WHERE record_hash=? ORDER BY id"
            judged = db.execute(verdicts, digest).fetchall()
        store, cases = self._world(run)
        given = [(judge, version, orjson.loads(verdict)) for judge, version, verdict in judged]
        turns = [{"judge": judge, **turn} for judge, _, verdict in given for turn in turns_in(verdict)]
        read = [
            {"judge": judge, "version": version, "scorer": scorer} | {name: found.get(name) for name in VERDICT}
            for judge, version, verdict in given
            for scorer, found in (verdict.get("scores") or {}).items()
        ]
        scored = with_judged_customer(orjson.loads(score[0]) if score else None, turns)
        case, calls = cases.get(case_id), run.calls_of(case_id, trial)
        return Dossier(run_id, conversation, scored, read, case, store, self.entries[run_id], calls)

    def _world(self, run: RunFile) -> tuple[Store | None, dict[str, Case]]:
        if run.run_id not in self._worlds:
            store = self._store or store_played(run.manifest)
            self._worlds[run.run_id] = store, cases_played(run.manifest, store)
        return self._worlds[run.run_id]


def show_first(results: Results) -> Html:
    """Display the first unsuccessful conversation, or else the first one."""
    rows = results.conversations
    failed = rows[~rows["success"].fillna(True)]
    row = (failed if len(failed) else rows).iloc[0]
    return Html(DossierStore(results).dossier(row["run_id"], row["case_id"], int(row["trial"])).html())


def show_conversations(results: Results, query: Query | str = "", /, *, most: int = 8, **fields: Any) -> Html:
    """Display the conversations that a number counts, one per line; a line opens its transcript.

    Parameters
    ----------
    query, **fields
        As in `Results.where`: ``"bucket=adversarial unsafe=yes"``, ``entry="gpt-5.5"``.
    most : int
        Maximum number shown; the first conversation of each model comes first.

    Raises
    ------
    BadInput
        For text that is not a query, and for a field that does not exist.
    """
    rows = results.where(query, **fields)
    asked: Query = rows.attrs["query"]
    named = dict(asked.terms).get("entry", ())
    places = {"again": rows.groupby("entry", sort=False).cumcount()}
    places["place"] = rows["entry"].map(named.index) if named else 0
    order = rows.assign(**places).sort_values([*places], kind="stable").head(most)
    dossiers = DossierStore(results)
    talks = [
        {
            "line": f"{row['entry']} · {row['case_id']} · trial {row['trial']} · {outcome_label(row['bucket'], row)}",
            "html": dossiers.dossier(row["run_id"], row["case_id"], int(row["trial"])).html(css=False),
        }
        for row in plain_rows(order)
    ]
    hard = all(is_hard(run.manifest) for run in results.runs)
    address = f"{'hard/' * hard}{asked.address()}"
    return Html(render("conversations.html.j2", talks=talks, found=len(rows), query=str(asked), address=address))


def signs_of(conversation: Conversation) -> dict[str, dict[str, Any]]:
    """Return what was done in each message (``m3``) and call (``c1``), as a digest.

    The ``digest`` is equal for the same acts or the same call, in whatever words; ``reads`` is true for a call that
    changes nothing. Two transcripts side by side are compared by these.
    """
    count, found = Numbering(conversation), dict[str, dict[str, Any]]()
    places: dict[tuple[str, int], int] = {}
    for message in conversation.messages:
        side, turn = message.side, message.turn
        at = places[side, turn] = places.get((side, turn), -1) + 1
        if message.acts:
            acts = " ".join(f"{side} {act.kind} {act.what} {act.detail}" for act in message.acts)
            found[f"m{count.of(turn, side, at)}"] = {"digest": _digest(acts), "reads": False}
    for call in conversation.tool_calls:
        arguments = orjson.dumps(call.arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
        digest = _digest(f"{call.side} {call.name} {arguments} {call.error}")
        found[f"c{call.index + 1}"] = {"digest": digest, "reads": not call.write or bool(call.error)}
    return found


def _digest(text: str) -> str:
    return f"{crc32(text.encode()):08x}"
