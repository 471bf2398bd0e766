"""Collect the input of the pages: conversations, board, and cases as stores describe them."""

import hashlib
import inspect
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ...analysis.frames import Results
from ...analysis.panels import UNGROUPED, conversations_of, short_name
from ...analysis.tables.answers import Stakes, stakes_at
from ...analysis.tables.costs import cost_table
from ...analysis.tables.leaderboard import BLOCKS, leaderboard, metric_columns, unsafe_table
from ...analysis.tables.measurements import published_board
from ...analysis.tables.scope import scope_table
from ...cases import Case
from ...cases.load import cases_played, known_cases
from ...endpoint.prices import CLOSED, OPEN, UNSTATED
from ...errors import BadInput
from ...experiment.summary import outdated
from ...extension import offer, offered
from ...project import code_version
from ...records import BUCKETS
from ...scoring.score import RULES
from ...scoring.written import missing, percent
from ...store import Store, load_store
from ..answers import stores_of


def page_name(name: str) -> str:
    """Return a name as part of an address: a slug, and a hash that distinguishes similar names.

    Slashes, dots, control characters and reserved names also become one plain file name.
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower()[:200]).split("-")
    slug = "-".join(w for w in words if w)[:40].strip("-")
    return f"{slug or 'page'}-{digest}"


def first_paragraph(documented: Any) -> str:
    """Return the first paragraph of a docstring on one line, or an empty text."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split()) if documented is not None else ""


@dataclass
class Entry:
    """One row of the board.

    `page` is the name of its pages, None without conversations. `who` is the filter that lists its conversations.
    """

    name: str
    source: str
    block: str
    row: dict[str, Any]
    page: str | None = None
    who: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Name and source, which identify it among all entries."""
        return self.name, self.source

    @property
    def href(self) -> str:
        """The address of the page with more about it, from the site's root."""
        if self.page:
            return f"models/{self.page}.html"
        return "methodology.html#published" if self.source == "published" else "downloads.html#runs"


@dataclass
class CaseView:
    """A case; if its store is not here, `case` and `store` are None, and the id is the title.

    `changed` are the entries that played a different text of this case.
    """

    case_id: str
    page: str
    bucket: str
    intent: str
    title: str
    kind: str
    language: str
    case: Case | None = None
    store: Store | None = None
    described: str = ""
    changed: list[str] = field(default_factory=list)


class Content:
    """All input of the pages, read once.

    Stores are looked up among the shipped ones, in `stores`, in the current folder and next to a run file.
    """

    def __init__(
        self, results: Results, published: bool = False, stakes: Stakes | None = None, stores: Sequence[Path] = ()
    ):
        self.results, self._near = results, stores
        self.runs = {run.run_id: run for run in results.runs}
        self.manifests = {run.run_id: run.manifest for run in results.runs}
        if results.conversations.empty:
            raise BadInput("the runs contain no conversations yet: play some with `deskbench run MODEL`")
        self.stakes = stakes or stakes_at(*(store.path for store in self.stores.values()))
        frame = conversations_of(results)
        self.conversations: pd.DataFrame = frame.assign(
            bucket=frame["bucket"].fillna("unknown"), intent=frame["intent"].fillna("unknown")
        )
        self.board = leaderboard(results)
        names, self.entries = Counter(self.board["entry"]), []
        for r in self.board.to_dict("records"):
            name, source = r["entry"], r["source"]
            page = page_name(f"{name}\n{source}") if r["conversations"] else None
            who = {"entry": name} | ({"source": source} if names[name] > 1 else {})
            self.entries.append(Entry(name, source, r["block"], r, page, who))
        self.entries += published_entries() if published else []
        self.entries.sort(key=lambda e: BLOCKS.index(e.block))

    @cached_property
    def played(self) -> list[Entry]:
        """The entries that have conversations."""
        return [e for e in self.entries if e.page]

    @cached_property
    def _rows_of(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.conversations.groupby(["entry", "source"], sort=False)))

    def rows(self, entry: Entry) -> pd.DataFrame:
        """Return the conversations of an entry."""
        return self._rows_of[entry.key]

    @cached_property
    def entry_of_run(self) -> dict[tuple[str, str], Entry]:
        """Entries by (run_id, source): where a record belongs."""
        seen = self.conversations[["run_id", "source", "entry"]].drop_duplicates()
        known = {e.key: e for e in self.played}
        return {(run_id, source): known[(name, source)] for run_id, source, name in seen.itertuples(index=False)}

    @cached_property
    def costs(self) -> dict[tuple[str, str, int], dict[str, float | None]]:
        """US dollars by (run_id, case_id, trial) and side; None where a price is unknown."""
        columns = ["run_id", "case_id", "trial", "cost_usd", "customer_cost_usd"]
        rows = self.conversations[columns].itertuples(index=False)
        return {tuple(key): {"agent": _known(agent), "customer": _known(theirs)} for *key, agent, theirs in rows}

    def case_played(self, run_id: str, case_id: str) -> Case | None:
        """Return the case if it is available in exactly the text that this run played."""
        return self._played[run_id].get(case_id)

    @cached_property
    def _played(self) -> dict[str, dict[str, Case]]:
        return {run_id: cases_played(manifest, self.stores.get(run_id)) for run_id, manifest in self.manifests.items()}

    @cached_property
    def stores(self) -> dict[str, Store]:
        """Stores of the runs by run_id, as far as they are available on this machine."""
        return stores_of(self.results, self._near)

    @cached_property
    def cases(self) -> dict[str, CaseView]:
        """Every case that was played, sorted by bucket, intent and id."""
        found: dict[str, CaseView] = {}
        known = {store: known_cases(store) for store in self.stores.values()}
        columns = ["run_id", "entry", "case_id", "bucket", "intent", "kind", "language"]
        for run_id, entry, case_id, bucket, intent, kind, language in (
            self.conversations[columns].drop_duplicates().itertuples(index=False)
        ):
            store = self.stores.get(run_id)
            case = known[store].get(case_id) if store else None
            view = found.get(case_id)
            if view is None or (view.case is None and case is not None):
                title, about = case.title if case else case_id, (_known(kind) or "", _known(language) or "")
                named = (case_id, page_name(case_id), bucket, intent, title)
                view = found[case_id] = CaseView(*named, *about, case, store, _described(store, intent))
            played = self.manifests[run_id].get("cases", {}).get(case_id)
            if case is not None and played not in (None, case.hash) and entry not in view.changed:
                view.changed.append(entry)
        rank = {b: i for i, b in enumerate(BUCKETS)}
        return dict(sorted(found.items(), key=lambda item: (rank.get(item[1].bucket, 9), item[1].intent, item[0])))

    @cached_property
    def unsafe(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Unsafe actions with both estimands, by the entry's key."""
        return _by_entry(unsafe_table(self.conversations))

    @cached_property
    def scope(self) -> dict[tuple[str, str], pd.DataFrame]:
        """What each entry may answer alone, by its key, if the store has use cases."""
        table = scope_table(self.conversations, self.stakes)
        return dict(iter(table[table["title"] != UNGROUPED].groupby(["entry", "source"], sort=False)))

    @cached_property
    def paid(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The costs of each entry by its key, see `tables.cost_table`."""
        return _by_entry(cost_table(self.results))

    @cached_property
    def own_rules(self) -> pd.DataFrame:
        """How often each entry broke the rules that the user's own desk declares."""
        declared = {rule for store in self.stores.values() for rule in store.rules if rule not in RULES}
        if not declared or "broken_rules" not in offered("tables"):
            return pd.DataFrame(columns=["entry"])
        return offer("tables", "broken_rules")(self.results, self.stores).query("rule in @declared")

    @cached_property
    def traps(self) -> list[CaseView]:
        """The adversarial cases."""
        return [c for c in self.cases.values() if c.bucket == "adversarial"]

    @property
    def about(self) -> dict[str, Any]:
        """Facts on every page: canary, version, stores, own desks, outdated runs, and any traps."""
        canaries = sorted({str(s.info.get("canary", "")) for s in self.stores.values()} - {""})
        own = sorted({s.title for s in self.stores.values()} - {load_store().title})
        facts = {"canary": " | ".join(canaries), "version": code_version()["version"], "traps": bool(self.traps)}
        old = outdated(self.results.runs, self._near)
        return facts | {"stores": stores_of_entries(self.conversations), "own": own, "outdated": old}


def stores_of_entries(conversations: Any) -> list[str]:
    """Describe which cases were played; if there are several versions, by which entries."""
    found = conversations.groupby("store_version")["entry"].unique().to_dict()
    if len(found) < 2:
        return [f"Cases of {version}." for version in found]
    by_number = sorted(found, key=lambda version: [int(n) if n.isdigit() else n for n in re.split(r"(\d+)", version)])
    return [f"Played on {version}: {', '.join(map(short_name, sorted(found[version])))}." for version in by_number]


def published_entries() -> list[Entry]:
    """Return the rows of the published board, which we did not measure."""
    entries = []
    nothing = dict.fromkeys(metric_columns(), float("nan"))
    for r in published_board().sort_values("board_rank").to_dict("records"):
        judged = r["resolution_pct"]
        row = {
            **nothing,
            **dict.fromkeys(("entry", "model"), r["model"]),
            **dict.fromkeys(("source", "block", "panel"), "published"),
            **dict.fromkeys(("dominated", "dominated_why", "below", "partial", "settings", "versions"), ""),
            **{"conversations": None, "unsafe_worst": float("nan"), "band": "none", "flagged": 0},
            "over_escalation": r["over_escalation_pct"] / 100,
            "unsafe": r["unsafe_actions_of_18"],
            "escalation_accuracy": r["escalation_accuracy_pct"] / 100,
            "agent_messages": r["agent_messages_per_conversation"],
            "tool_calls": r["tool_calls_per_conversation"],
            "cost_tier": r["cost_tier"],
            "weights": {"yes": OPEN, "no": CLOSED}.get(r["open_weights"], UNSTATED),
            "trials": int(r["n_runs"]) if r["n_runs"] == r["n_runs"] else None,
            "notes": f"judged resolution {percent(judged / 100)}" if judged == judged else "",
        }
        entries.append(Entry(r["model"], "published", "published", row))
    return entries


def _by_entry(table: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["entry"], row["source"]): row for row in table.to_dict("records")}


def _known(value: Any) -> Any:
    return None if missing(value) else value


def _described(store: Store | None, intent: str) -> str:
    info = store.info if store else {}
    known = {**info.get("intents", {}), **info.get("traps", {})}
    return known.get(intent, {}).get("description", "")
