"""Every kind of page: what fills it, and where it goes."""

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any

from ...analysis.dictionary import DICTIONARY
from ...analysis.tables.nuisance import customer_turns
from ...records import BUCKET_NOUNS
from ..answers import answers
from ..answers import view as answers_view
from ..dictionary import DOWNLOADS
from .board import board
from .cases import case_view
from .compare import comparison
from .content import Content
from .conversations import APART, ConversationPage, filled_in, of_case, read_conversations
from .downloads import run_rows, write_downloads
from .folder import Folder, Subfolder
from .hard import accepted_handovers
from .lists import talk_data
from .method import method_view
from .models import model_view, use_cases
from .pictures import STATES, pictures, pressure_numbers
from .search import Messages
from .talks import chunks
from .words import LOADING_POLICY, environment

GROUPED = ("models", "local model", "own agents", "players")
"""The panels that are shown by use case on its page; scripted agents have it on their own pages."""

OTHER_ROWS = {
    "own agents": "agents of one's own",
    "played": "conversations in which a person or a program sat in the agent’s chair",
    "scripted": "scripted agents, which mark the ceiling and the floors",
    "imported": "records from other harnesses",
    "published": "figures published elsewhere",
    "partial": "runs that lack planned conversations",
}
"""What stands on a board without a language model, by block."""


class Pages:
    """Writes the pages of one site.

    Parameters
    ----------
    hard : dict, optional
        The families of the hard set, see `benchmark_lib.reports.site.hard`.
    of_hard_set : bool
        Whether these are the pages of the hard set, which stand in a folder of their own.
    """

    def __init__(
        self,
        content: Content,
        folder: Folder | Subfolder,
        hard: dict[str, Any] | None = None,
        of_hard_set: bool = False,
    ):
        self.content, self.folder, self.hard = content, folder, hard
        self.written: Callable[[], Any] = lambda: None
        self.talks: list[ConversationPage] = []
        self.messages = Messages()
        for talk, raw in read_conversations(content):
            self.talks.append(talk)
            self.messages.add(talk, raw)
        entry_at = {id(e): i for i, e in enumerate(content.played)}
        case_at = {case_id: i for i, case_id in enumerate(content.cases)}
        self.talks.sort(key=lambda t: (entry_at[id(t.entry)], case_at[t.view.case_id], t.trial))
        self.by_entry, self.by_case = defaultdict(list), defaultdict(list)
        for talk in self.talks:
            self.by_entry[talk.entry.page].append(talk)
            self.by_case[talk.view.case_id].append(talk)
        self.trials, self.beside = defaultdict(list), defaultdict(list)
        for talk in sorted(self.talks, key=lambda t: t.trial):
            self.trials[talk.entry.page, talk.view.case_id].append(talk)
            self.beside[talk.view.case_id, talk.trial].append(talk)
        self.chunks = {entry or "": chunks(talks) for entry, talks in self.by_entry.items()}
        self.failures = self._failures()
        results = content.results
        self.verdicts, self.turns = _by_conversation(results.verdicts), _by_conversation(customer_turns(results))
        other = ("Core set", "../index.html") if of_hard_set else ("Hard set", "hard/index.html") if hard else None
        self.site: dict[str, Any] = {**content.about, "hard": of_hard_set, "other": other}

    def __len__(self) -> int:
        """How many pages there are of models, cases and conversations: nearly all, and what takes the time."""
        return len(self.content.played) + len(self.content.cases) + len(self.talks)

    def write_all(self, written: Callable[[], Any]) -> None:
        """Write every page but the transcripts; `written` is called after each one that `len` counts."""
        self.written = written
        self.front()
        if not self.site["hard"]:
            self.answers()
        self.models()
        self.cases()
        self.lists()
        self.method_and_downloads()

    def _write(self, name: str, template: str, kind: str, here: str = "", **values: Any) -> None:
        self.folder.write(f"{name}.html", self._filled_in(name, template, here, **values), kind)
        if kind != "page":
            self.written()

    def _filled_in(self, name: str, template: str, here: str = "", **values: Any) -> str:
        page = environment().get_template(f"site/{template}.html.j2")
        return str(page.render(root="../" * name.count("/"), here=here, site=self.site, **values))

    @cached_property
    def found(self) -> dict[str, Any]:
        """Which model for which reader."""
        return answers_view(answers(self.content.results, self.content.stakes, board=self.content.board))

    def front(self) -> None:
        """The leaderboard with its charts."""
        content = self.content
        models = [e for e in content.played if e.row["panel"] in GROUPED[:2]]
        players = {e.name for e in content.played if e.row["panel"] == "players"}
        sizes = Counter(v.bucket for v in content.cases.values())
        facts = [
            ("Models measured", len({e.row["model"] for e in models}), ""),
            ("Scripted agents", len({e.row["model"] for e in content.played if e.source == "scripted"}), ""),
            *([("Players", len(players), "")] if players else []),
            ("Conversations", f"{len(self.talks):,}", "transcripts.html"),
            *((f"{noun.capitalize()}s", sizes[b], "") for b, noun in BUCKET_NOUNS.items() if sizes[b]),
        ]
        self._write(
            "index",
            "index",
            "page",
            "index",
            found=None if self.site["hard"] else self.found,
            board=board(content),
            facts=facts,
            models=models,
            others=[words for block, words in OTHER_ROWS.items() if any(e.block == block for e in content.entries)],
            pictures=pictures(content),
            states=STATES,
            pressure=pressure_numbers(content),
            hard=self.hard,
            accepted_handovers=accepted_handovers(content) if self.site["hard"] else [],
            groups=use_cases([e for e in content.played if e.row["panel"] in GROUPED], content),
        )

    def answers(self) -> None:
        """Which model for which reader; of the core set alone, whose metrics the answers rest on."""
        content = self.content
        pages = {e.name: e.href for e in content.played if e.row["panel"] == "models"}
        self._write("answers", "answers", "page", "answers", found=self.found, pages=pages)

    def models(self) -> None:
        """One page per model."""
        for entry in self.content.played:
            view = model_view(self.content, entry, self.by_entry[entry.page])
            self._write(f"models/{entry.page}", "model", "model", v=view, who=entry.who, most=None)

    def cases(self) -> None:
        """One page per case."""
        for view in self.content.cases.values():
            shown = case_view(self.content, view, self.by_case[view.case_id])
            self._write(f"cases/{view.page}", "case", "case", v=shown)

    def lists(self) -> None:
        """The lists of traps, cases and transcripts, and the comparison."""
        content = self.content
        talks = {t.key: t for t in self.talks}
        acts = [act | {"talk": talks[act["run_id"], act["case_id"], act["trial"]]} for act in content.debatable]
        self._write("traps", "traps", "page", "traps", kinds=self._traps(), entries=content.played, acts=acts)
        cases = [{"view": v, "count": of_case(self.by_case[v.case_id], v.case_id)} for v in content.cases.values()]
        sizes = Counter(v.bucket for v in content.cases.values())
        self._write("cases", "cases", "page", "cases", cases=cases, buckets=[(b, sizes[b]) for b in sizes])
        self.talk_lists()
        starts = {entry: [part[0].name for part in parts] for entry, parts in self.chunks.items()}
        self._write("talk", "talk", "page", "transcripts", csp=LOADING_POLICY, starts=starts)
        self._write("beside", "beside", "page", "transcripts", csp=LOADING_POLICY, starts=starts)
        self._write("compare", "compare", "page", "compare", data=comparison(content, self.talks))

    def talk_lists(self) -> None:
        """The list of transcripts, and the page that searches their messages as well."""
        data = talk_data(self.content, self.talks)
        scripts = self.messages.write(self.folder, self.talks)
        for name, packed in (("transcripts", []), ("search", scripts)):
            self._write(name, "transcripts", "page", "transcripts", total=len(self.talks), data=data, packed=packed)

    def _traps(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Traps by failure kind, each with its conversations by entry."""
        kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        disputed = {(a["run_id"], a["case_id"], a["trial"]) for a in self.content.debatable}
        for view in self.content.traps:
            talks = sorted(self.by_case[view.case_id], key=lambda t: t.trial)
            cells = [[t for t in talks if t.entry is e] for e in self.content.played]
            count = of_case(talks, view.case_id)
            called = [t for t in talks if t.key in disputed and t.entry.row["panel"] not in APART]
            kinds[view.kind or "other"].append({"view": view, "cells": cells, "count": count, "called": len(called)})
        return list(kinds.items())

    def method_and_downloads(self) -> None:
        """The methodology page, the downloads, the page that lists them, and the one that explains their columns."""
        published = any(not e.page for e in self.content.entries)
        method = method_view(self.content)
        self._write("methodology", "methodology", "page", "methodology", m=method, published=published)
        self._write("dictionary", "dictionary", "page", "downloads", frames=DICTIONARY, downloads=DOWNLOADS)
        files = write_downloads(self.content, self.folder)
        self._write("downloads", "downloads", "page", "downloads", files=files, runs=run_rows(self.content))

    def fragment(self, talk: ConversationPage, shown: dict[str, Any]) -> str:
        """Return the transcript of a conversation, for the page that builds it."""
        others = [t for t in self.beside[talk.view.case_id, talk.trial] if t.entry is not talk.entry]
        siblings = self.trials[talk.entry.page, talk.view.case_id]
        return filled_in(talk, shown, siblings=siblings, others=others, failures=self.failures[talk.href])

    def _failures(self) -> dict[str, tuple[ConversationPage | None, ConversationPage | None]]:
        """Of each conversation, the failures of the same entry before and after it, in the order of the list."""
        found: dict[str, tuple[ConversationPage | None, ConversationPage | None]] = {}
        for talks in self.by_entry.values():
            before: ConversationPage | None = None
            earlier = []
            for talk in talks:
                earlier.append(before)
                before = talk if talk.failed else before
            after: ConversationPage | None = None
            for talk, one in zip(reversed(talks), reversed(earlier), strict=True):
                found[talk.href] = (one, after)
                after = talk if talk.failed else after
        return found


def _by_conversation(frame: Any) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """What judges said, by (run_id, case, trial)."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in frame.to_dict("records"):
        found[row["run_id"], row["case_id"], int(row["trial"])].append(row)
    return found
