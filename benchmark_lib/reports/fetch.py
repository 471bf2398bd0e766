"""Everything known about one conversation, fetched by its key from its run file when it is needed."""

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..analysis.facets import plain_rows
from ..analysis.frames import Results, is_hard
from ..analysis.query import Query
from ..cases import Case
from ..cases.played import cases_played, store_played
from ..errors import BadInput
from ..records import Conversation
from ..runfile import RunFile, connect_to_read
from ..scoring.customer_turns import turns_in
from ..scoring.deciding import became
from ..store import Store
from .marks import with_judged_customer
from .transcript import Html, render, transcript_html


@dataclass
class Dossier:
    """One conversation with its score, verdicts, model calls, and the case and store it was played on if these are available."""

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
        """What `transcript_html` takes besides the record and its score."""
        return {name: getattr(self, name) for name in ("case", "store", "verdicts", "entry", "model_calls")}

    def html(self, css: bool = True) -> str:
        """The conversation as an HTML fragment."""
        return transcript_html(self.conversation, self.score, css=css, **self.about)


class Shelf:
    """Fetches dossiers from the run files of some results.

    Parameters
    ----------
    store : Store, optional
        The store they were played on; by default the one that the run file names, if it is on this machine.
    """

    def __init__(self, results: Results, store: Store | None = None):
        self.runs = {run.run_id: run for run in results.runs}
        self.entries = results.entries
        self._store = store
        self._worlds: dict[str, tuple[Store | None, dict[str, Case]]] = {}

    def dossier(self, run_id: str, case_id: str, trial: int) -> Dossier:
        """Everything about one conversation. Raises `BadInput` if no run of these results holds it."""
        if run_id not in self.runs:
            raise BadInput(f"there is no run {run_id!r} in these results: choose from {', '.join(self.runs)}")
        run = self.runs[run_id]
        conversation = run.record(case_id, trial)
        with closing(connect_to_read(run.path)) as db:
            key = (case_id, trial)
            (digest,) = db.execute("SELECT record_hash FROM conversations WHERE case_id=? AND trial=?", key).fetchone()
            score = db.execute(
                "SELECT scores FROM scores WHERE record_hash=? ORDER BY id DESC LIMIT 1", (digest,)
            ).fetchone()
            judged = db.execute(
                "SELECT judge, version, verdict FROM verdicts WHERE record_hash=? ORDER BY id", (digest,)
            ).fetchall()
        store, cases = self._world(run)
        turns = [{"judge": judge, **turn} for judge, _, v in judged for turn in turns_in(orjson.loads(v))]
        return Dossier(
            run_id,
            conversation,
            with_judged_customer(orjson.loads(score[0]) if score else None, turns),
            [v for row in judged for v in _verdicts(*row)],
            cases.get(case_id),
            store,
            self.entries[run_id],
            run.calls_of(case_id, trial),
        )

    def _world(self, run: RunFile) -> tuple[Store | None, dict[str, Case]]:
        """The run's store, and those of its cases whose text is still what was played.

        Nothing if they are not available.
        """
        if run.run_id not in self._worlds:
            store = self._store or store_played(run.manifest)
            self._worlds[run.run_id] = store, cases_played(run.manifest, store)
        return self._worlds[run.run_id]


def show_first(results: Results) -> Html:
    """Display the first conversation without success, or the first of all."""
    rows = results.conversations
    failed = rows[~rows["success"].fillna(True)]
    row = (failed if len(failed) else rows).iloc[0]
    return Html(Shelf(results).dossier(row["run_id"], row["case_id"], int(row["trial"])).html())


def show_conversations(results: Results, query: Query | str = "", /, *, most: int = 8, **fields: Any) -> Html:
    """Display the conversations that a number counts: a line for each, which opens its transcript.

    Parameters
    ----------
    query, **fields
        As in `Results.where`: ``"bucket=adversarial unsafe=yes"``, ``entry="gpt-5.5"``.
    most : int
        How many are shown at most; the first of each model come first, models in the order in which they are named.

    Raises
    ------
    BadInput
        For text that is no query, and for a field that does not exist.
    """
    rows = results.where(query, **fields)
    asked: Query = rows.attrs["query"]
    again = rows.groupby("entry", sort=False).cumcount()
    named = dict(asked.terms).get("entry", ())
    place = rows["entry"].map(named.index) if named else 0
    order = rows.assign(again=again, place=place).sort_values(["again", "place"], kind="stable").head(most)
    shelf = Shelf(results)
    talks = [
        {
            "line": f"{row['entry']} · {row['case_id']} · trial {row['trial']} · {became(row['bucket'], row)}",
            "html": shelf.dossier(row["run_id"], row["case_id"], int(row["trial"])).html(css=False),
        }
        for row in plain_rows(order)
    ]
    hard = all(is_hard(run.manifest) for run in results.runs)
    address = f"{'hard/' * hard}{asked.address()}"
    return Html(render("conversations.html.j2", talks=talks, found=len(rows), query=str(asked), address=address))


def _verdicts(judge: str, version: str, verdict: bytes) -> list[dict[str, Any]]:
    """A verdict as one row per scorer, as in the frame `verdicts`."""
    scores = orjson.loads(verdict).get("scores") or {}
    told = ("score", "reason", "quote", "unscored")
    return [
        {"judge": judge, "version": version, "scorer": scorer} | {name: found.get(name) for name in told}
        for scorer, found in scores.items()
    ]
