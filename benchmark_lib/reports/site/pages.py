"""All kinds of pages, and conversations in packed scripts that `talk.html` reads."""

import os
import signal
import sys
import threading
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cached_property, lru_cache
from multiprocessing import get_context, parent_process
from typing import Any

from ...analysis.dictionary import DICTIONARY
from ...analysis.panels import NOT_COUNTED
from ...analysis.tables.nuisance import customer_turns
from ...errors import BadInput
from ...extension import offers
from ...records import BUCKET_NOUNS, Conversation
from ...runfile import RunFile
from ..answers import answers
from ..answers import view as answers_view
from ..marks import with_judged_customer
from ..transcript import TEXTS
from .comparison_page import comparison
from .content import Content
from .conversations import ConversationPage, case_view, markup, of_case, read_conversations
from .files import Folder, run_rows, write_downloads
from .formatting import LOADING_POLICY, environment, packed
from .front import STATES, accepted_handovers, board, pictures, pressure_numbers
from .lists import Messages, talk_data
from .method import method_view
from .models import model_view, use_cases

GROUPED = ("models", "local model", "own agents", "players")
"""Panels shown by use case on that page; scripted agents have it on their own pages."""


class Pages:
    """The pages of one site, or `of_hard_set`; `hard` are the families of that set."""

    def __init__(
        self,
        content: Content,
        folder: Folder,
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
        self.chunks = {entry or "": chunks(talks) for entry, talks in self.by_entry.items()}
        self.failures = self._failures()
        results = content.results
        self.branches = {key: points for find in offers("branches") for key, points in find(results).items()}
        self.verdicts, self.turns = _by_conversation(results.verdicts), _by_conversation(customer_turns(results))
        other = ("Core set", "../index.html") if of_hard_set else ("Hard set", "hard/index.html") if hard else None
        self.site: dict[str, Any] = {**content.about, "hard": of_hard_set, "other": other}

    def __len__(self) -> int:
        return len(self.content.played) + len(self.content.cases) + len(self.talks)

    def write_all(self, written: Callable[[], Any]) -> None:
        """Write every page but the transcripts; call `written` after each that `len` counts."""
        self.written = written
        self.front()
        if not self.site["hard"]:
            self.answers()
        self.models()
        self.cases()
        self.lists()
        self.method_and_downloads()

    def _write(self, name: str, template: str, kind: str, here: str = "", **values: Any) -> None:
        page = environment().get_template(f"site/{template}.html.j2")
        text = page.render(root="../" * name.count("/"), here=here, site=self.site, **values)
        self.folder.write(f"{name}.html", text, kind)
        if kind != "page":
            self.written()

    @cached_property
    def found(self) -> dict[str, Any]:
        """The data of the page *Which model?*."""
        return answers_view(answers(self.content.results, self.content.stakes, board=self.content.board))

    def front(self) -> None:
        """Write the leaderboard with its charts."""
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
            others=[
                words for block, words in TEXTS["other rows"].items() if any(e.block == block for e in content.entries)
            ],
            pictures=pictures(content),
            states=STATES,
            pressure=pressure_numbers(content),
            hard=self.hard,
            accepted_handovers=accepted_handovers(content) if self.site["hard"] else [],
            groups=use_cases([e for e in content.played if e.row["panel"] in GROUPED], content),
            sections=[section(content) for section in offers("front")],
        )

    def answers(self) -> None:
        """Write which model suits which reader; the answers rest on metrics of the core set."""
        content = self.content
        pages = {e.name: e.href for e in content.played if e.row["panel"] == "models"}
        self._write("answers", "answers", "page", "answers", found=self.found, pages=pages)

    def models(self) -> None:
        """Write one page per model."""
        for entry in self.content.played:
            view = model_view(self.content, entry, self.by_entry[entry.page])
            self._write(f"models/{entry.page}", "model", "model", v=view, who=entry.who, most=None)

    def cases(self) -> None:
        """Write one page per case."""
        for view in self.content.cases.values():
            shown = case_view(self.content, view, self.by_case[view.case_id])
            self._write(f"cases/{view.page}", "case", "case", v=shown)

    def lists(self) -> None:
        """Write the lists of traps, cases and transcripts, and the comparison."""
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
        """Write the list of transcripts, and the page that also searches their messages."""
        data = talk_data(self.content, self.talks)
        scripts = self.messages.write(self.folder, self.talks)
        for name, found in (("transcripts", []), ("search", scripts)):
            self._write(name, "transcripts", "page", "transcripts", total=len(self.talks), data=data, packed=found)

    def _traps(self) -> list[tuple[str, list[dict[str, Any]]]]:
        kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        disputed = {(a["run_id"], a["case_id"], a["trial"]) for a in self.content.debatable}
        for view in self.content.traps:
            talks = sorted(self.by_case[view.case_id], key=lambda t: t.trial)
            cells = [[t for t in talks if t.entry is e] for e in self.content.played]
            count = of_case(talks, view.case_id)
            called = [t for t in talks if t.key in disputed and t.entry.row["panel"] not in NOT_COUNTED]
            forked = [[t for t in mine if t.key in self.branches][:1] for mine in cells]
            row = {"view": view, "cells": cells, "count": count, "called": len(called), "forked": forked}
            kinds[view.kind or "other"].append(row)
        return list(kinds.items())

    def method_and_downloads(self) -> None:
        """Write the methodology page, the downloads, their list and their dictionary."""
        published = any(not e.page for e in self.content.entries)
        method = method_view(self.content)
        self._write("methodology", "methodology", "page", "methodology", m=method, published=published)
        self._write(
            "dictionary", "dictionary", "page", "downloads", frames=DICTIONARY, downloads=TEXTS["columns of downloads"]
        )
        files = write_downloads(self.content, self.folder)
        self._write("downloads", "downloads", "page", "downloads", files=files, runs=run_rows(self.content))

    def markup(self, talk: ConversationPage) -> str:
        """Return the transcript of a conversation, for the page that builds it."""
        content, (case_id, trial) = self.content, talk.key[1:]
        records, calls = _of_run(content.runs[talk.run_id])
        case = content.case_played(talk.run_id, case_id)
        about: dict[str, Any] = {"case": case, "store": content.stores.get(talk.run_id) if case else None}
        about |= {"cost": content.costs[talk.key], "model_calls": calls.get((case_id, trial), [])}
        about |= {"verdicts": self.verdicts[talk.key], "failures": self.failures[talk.href]}
        about["forks"] = self.branches.get(talk.key, [])
        alike = sorted(self.by_case[case_id], key=lambda t: t.trial)
        about["siblings"] = [t for t in alike if t.entry is talk.entry]
        about["others"] = [t for t in alike if t.entry is not talk.entry and t.trial == trial]
        score = with_judged_customer(talk.score, self.turns[talk.key]) or {}
        return markup(talk, Conversation.from_json(records[case_id, trial]), score, **about)

    def _failures(self) -> dict[str, tuple[ConversationPage | None, ConversationPage | None]]:
        found = {}
        for talks in self.by_entry.values():
            bad = [n for n, talk in enumerate(talks) if talk.failed]
            for n, talk in enumerate(talks):
                before, after = bisect_left(bad, n), bisect_right(bad, n)
                found[talk.href] = (
                    talks[bad[before - 1]] if before else None,
                    talks[bad[after]] if after < len(bad) else None,
                )
        return found


def _by_conversation(frame: Any) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in frame.to_dict("records"):
        found[row["run_id"], row["case_id"], int(row["trial"])].append(row)
    return found


CHUNK = 20
"""Conversations in one script."""
MOST = 3
"""The most processes; each may end up with a copy of the first one's data."""
Item = tuple[int, str, int]


def chunks(talks: Sequence[ConversationPage]) -> list[list[ConversationPage]]:
    """Divide conversations among scripts by name, so that a name determines its script."""
    ordered = sorted(talks, key=lambda t: t.name)
    return [ordered[at : at + CHUNK] for at in range(0, len(ordered), CHUNK)]


def write_chunk(pages: "Pages", entry: str, number: int) -> tuple[int, int]:
    """Write one script and return its size in bytes and its number of conversations."""
    talks = pages.chunks[entry][number]
    found = {talk.name: pages.markup(talk) for talk in talks}
    return pages.folder.put(f"talks/{entry}-{number}.js", packed(found)), len(talks)


@lru_cache(maxsize=1)
def _of_run(run: RunFile) -> tuple[dict[tuple[str, int], bytes], dict[tuple[str, int], list[dict[str, Any]]]]:
    return {(case_id, trial): record for case_id, trial, _, record in run.conversations()}, run.calls_by_conversation()


@contextmanager
def written_beside(pages: "Sequence[Pages]") -> Iterator[Iterator[tuple[int, int]]]:
    """Write the scripts of some pages in further processes, or in this one on demand.

    Further processes are forks, which share the data. There are none outside Linux or with other threads of Python,
    where a fork could copy a lock that nobody releases.
    """
    items = [
        (at, entry, n) for at, part in enumerate(pages) for entry in part.chunks for n in range(len(part.chunks[entry]))
    ]
    if sys.platform != "linux" or threading.active_count() > 1 or len(os.sched_getaffinity(0)) == 1:
        yield (write_chunk(pages[at], entry, n) for at, entry, n in items)
        return
    workers = min(len(os.sched_getaffinity(0)), MOST)
    pool = ProcessPoolExecutor(workers, get_context("fork"), _begin, (pages,))
    try:
        yield pool.map(_write, items)
    except BrokenProcessPool:
        raise BadInput("a process that wrote pages was killed: check whether memory is short, and try again") from None
    finally:
        pool.shutdown(cancel_futures=True)


_PAGES: "Sequence[Pages]" = ()
"""The pages that a fork writes; empty in every other process."""


def _begin(pages: "Sequence[Pages]") -> None:
    # A fork ends silently at Ctrl-C, and with its parent process.
    global _PAGES
    _PAGES = pages
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _write(item: Item) -> tuple[int, int]:
    at, entry, number = item
    return write_chunk(_PAGES[at], entry, number)
