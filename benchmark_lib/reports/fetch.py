"""Fetch everything known about one conversation from its run file; show two side by side."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import orjson

from ..analysis.facets import plain_rows
from ..analysis.frames import Results, is_hard
from ..analysis.query import Query
from ..cases import Case
from ..cases.played import cases_played, store_played
from ..errors import BadInput
from ..records import Conversation, ToolCall
from ..runfile import RunFile, connect_to_read
from ..scoring.customer_turns import turns_in
from ..scoring.deciding import outcome_label
from ..store import Store
from .conversation_view import Numbering, act_words, brief, conversation_view
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


@dataclass(frozen=True)
class Event:
    """An event in a conversation: an act, a call, or the end.

    `key` is ``("act", side, turn, message, place)``, ``("call", index)`` or ``("end",)``. `same` is equal for equal
    events in different words. `counts` is False for a call that only reads or was refused.
    """

    key: tuple[Any, ...]
    turn: int
    what: str
    same: str
    counts: bool = True
    message: int | None = None


def events(conversation: Conversation) -> list[Event]:
    """Return all events of a conversation, in order."""
    c, found, count = conversation, list[Event](), Numbering(conversation)
    for turn in sorted({m.turn for m in c.messages} | {t.turn for t in c.tool_calls}):
        found += _acts(c, "customer", turn, count)
        found += [_call(call, count) for call in c.tool_calls if call.turn == turn]
        found += _acts(c, "agent", turn, count)
    last = c.messages[-1].turn if c.messages else 0
    return [*found, Event(("end",), last, f"ended: {c.ended_by}", c.ended_by, message=len(c.messages) or None)]


def _acts(c: Conversation, side: str, turn: int, count: Numbering) -> Iterator[Event]:
    for n, message in enumerate(m for m in c.messages if m.turn == turn and m.side == side):
        for i, act in enumerate(message.acts):
            key, same = ("act", side, turn, n, i), f"{side} {act.kind} {act.what} {act.detail}"
            yield Event(key, turn, f"{side} {act_words(act)}", same, message=count.of(turn, side, n))


def _call(call: ToolCall, count: Numbering) -> Event:
    arguments = orjson.dumps(call.arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
    same, counts = f"{call.side} {call.name} {arguments} {call.error}", bool(call.write) and not call.error
    what = f"{call.name} ({brief(call)})"
    return Event(("call", call.index), call.turn, what, same, counts, count.of(call.turn))


def signs_of(conversation: Conversation) -> dict[str, dict[str, Any]]:
    """Return the events of each message (``m3``) or call (``c1``) of a transcript, as a digest.

    The ``digest`` is equal for the same acts or the same call; ``reads`` is true for a call that changes nothing.
    """
    found: dict[str, list[Event]] = {}
    for event in events(conversation)[:-1]:
        place = f"c{event.key[1] + 1}" if event.key[0] == "call" else f"m{event.message}"
        found.setdefault(place, []).append(event)
    return {
        place: {"digest": f"{crc32(' '.join(e.same for e in at_place).encode()):08x}", "reads": not at_place[0].counts}
        for place, at_place in found.items()
    }


def first_difference(
    left: Conversation, right: Conversation, only_what_counts: bool = False
) -> tuple[Event, Event] | None:
    """Return the first events that differ, or None; `only_what_counts` skips mere lookups."""
    sides = [[e for e in events(c) if e.counts or not only_what_counts] for c in (left, right)]
    return next((pair for pair in zip(*sides) if (pair[0].turn, pair[0].same) != (pair[1].turn, pair[1].same)), None)


def compare_html(left: Dossier, right: Dossier, css: bool = True) -> str:
    """Return two conversations side by side as HTML, with the first difference marked."""
    records = left.conversation, right.conversation
    first, counts = (first_difference(*records, only_what_counts=only) for only in (False, True))
    pairs = (("first difference", first), ("first difference that counts", counts if counts != first else None))
    found = {words: pair for words, pair in pairs if pair}
    views = [
        conversation_view(d.conversation, d.score, differs={pair[n].key: w for w, pair in found.items()}, **d.about)
        for n, d in enumerate((left, right))
    ]
    turns = [{t["number"]: t for t in v["turns"]} for v in views]
    rows = [[by_number.get(number) for by_number in turns] for number in sorted({*turns[0], *turns[1]})]
    lines = []
    for words, (one, other) in found.items():
        numbers = " and ".join(dict.fromkeys(f"message {event.message or '-'}" for event in (one, other)))
        lines.append(f"{words.capitalize()}, {numbers}: {one.what}  |  {other.what}")
    lines = lines or ["The same acts and calls on both sides."]
    return render("compare.html.j2", left=views[0], right=views[1], rows=rows, lines=lines, css=css)


def compare_trials(
    results: Results, left: tuple[str, str, int], right: tuple[str, str, int], *, store: Store | None = None
) -> Html:
    """Show two conversations side by side without widgets; name each by run_id, case_id, trial."""
    dossiers = DossierStore(results, store)
    return Html(compare_html(dossiers.dossier(*left), dossiers.dossier(*right)))
