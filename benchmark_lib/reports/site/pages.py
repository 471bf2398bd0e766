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
from functools import lru_cache
from multiprocessing import get_context, parent_process
from typing import Any

from ...analysis.dictionary import DICTIONARY
from ...analysis.tables.nuisance import customer_turns
from ...errors import BadInput
from ...extension import offers
from ...records import BUCKET_NOUNS, Conversation
from ...runfile import RunFile
from ..answers import answers
from ..answers import view as answers_view
from ..html import LOADING_POLICY, TEXTS, render
from ..marks import with_judged_customer
from .content import Content
from .conversations import ConversationPage, by_case, case_view, markup, of_case, read_conversations
from .files import Folder, Messages, packed, run_rows, talk_data, write_downloads
from .front import accepted_handovers, board, comparison, pictures
from .method import method_view
from .models import model_view


class Pages:
    """The pages of one site, or those `of_hard_set`; `hard` has the families of that set."""

    def __init__(self, content: Content, folder: Folder, hard: dict[str, Any] | None = None, of_hard_set: bool = False):
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
        self.by_case, self.by_entry = by_case(self.talks), defaultdict(list)
        for talk in self.talks:
            self.by_entry[talk.entry.page].append(talk)
        self.chunks = {entry or "": chunks(talks) for entry, talks in self.by_entry.items()}
        self.failures = self._failures()
        results = content.results
        forked = offers("branches") if results.forks.runs else ()
        self.branches = {key: points for find in forked for key, points in find(results).items()}
        self.verdicts, self.turns = _by_conversation(results.verdicts), _by_conversation(customer_turns(results))
        other = ("Core set", "../index.html") if of_hard_set else ("Hard set", "hard/index.html") if hard else None
        self.site: dict[str, Any] = {**content.about, "hard": of_hard_set, "other": other}

    def __len__(self) -> int:
        return len(self.content.played) + len(self.content.cases) + len(self.talks)

    def write_all(self, written: Callable[[], Any]) -> None:
        """Write every page but the transcripts; call `written` after each that `len` counts."""
        self.written, content = written, self.content
        # The answers rest on metrics of the core set.
        about = {"board": content.board, "stores": content.stores}
        found = None if self.site["hard"] else answers_view(answers(content.results, content.stakes, **about))
        self._front(found)
        if found:
            pages = {e.name: e.href for e in content.played if e.row["panel"] == "models"}
            self._write("answers", "answers", found=found, pages=pages)
        for entry in content.played:
            model = model_view(content, entry, self.by_entry[entry.page])
            self._write(f"models/{entry.page}", kind="model", v=model, who=entry.who, most=None)
        for case in content.cases.values():
            view = case_view(content, case, self.by_case[case.case_id])
            self._write(f"cases/{case.page}", kind="case", v=view)
        self._lists()
        published = any(not e.page for e in content.entries)
        self._write("methodology", "methodology", m=method_view(content), published=published)
        columns = TEXTS["columns of downloads"]
        self._write("dictionary", "downloads", frames=DICTIONARY, downloads=columns)
        self._write("downloads", "downloads", files=write_downloads(content, self.folder), runs=run_rows(content))

    def _write(self, name: str, here: str = "", *, kind: str = "page", template: str = "", **values: Any) -> None:
        template = template or (name if kind == "page" else kind)
        values |= {"root": "../" * name.count("/"), "here": here, "site": self.site}
        self.folder.write(f"{name}.html", render(f"site/{template}.html.j2", **values), kind)
        if kind != "page":
            self.written()

    def _front(self, found: dict[str, Any] | None) -> None:
        content = self.content
        models = [e for e in content.played if e.row["panel"] in ("models", "local model")]
        players = {e.name for e in content.played if e.row["panel"] == "players"}
        sizes = Counter(v.bucket for v in content.cases.values())
        facts = [
            ("Models measured", len({e.row["model"] for e in models}), ""),
            ("Scripted agents", len({e.row["model"] for e in content.played if e.source == "scripted"}), ""),
            *([("Players", len(players), "")] if players else []),
            ("Conversations", f"{len(self.talks):,}", "transcripts.html"),
            *((f"{noun.capitalize()}s", sizes[b], "") for b, noun in BUCKET_NOUNS.items() if sizes[b]),
        ]
        blocks = {e.block for e in content.entries}
        kinds = {store.kind.name for store in content.stores.values()}
        self._write(
            "index",
            "index",
            found=found,
            board=board(content),
            facts=facts,
            models=models,
            others=[words for block, words in TEXTS["other rows"].items() if block in blocks],
            pictures=pictures(content),
            hard=self.hard,
            accepted_handovers=accepted_handovers(content) if self.site["hard"] else [],
            sections=[section(content) for section in offers("front", kinds)],
        )

    def _lists(self) -> None:
        content = self.content
        self._write("traps", "traps", kinds=self._traps(), entries=content.played)
        cases = [{"view": v, "count": of_case(self.by_case[v.case_id], v.case_id)} for v in content.cases.values()]
        sizes = Counter(v.bucket for v in content.cases.values())
        self._write("cases", "cases", cases=cases, buckets=sizes.items())
        data, scripts = talk_data(content, self.talks), self.messages.write(self.folder, self.talks)
        for name, packed_in in (("transcripts", []), ("search", scripts)):
            total = len(self.talks)
            self._write(name, "transcripts", template="transcripts", total=total, data=data, packed=packed_in)
        starts = {entry: [part[0].name for part in parts] for entry, parts in self.chunks.items()}
        for name in ("talk", "beside"):
            self._write(name, "transcripts", csp=LOADING_POLICY, starts=starts)
        self._write("compare", "compare", data=comparison(content, self.talks))

    def _traps(self) -> list[tuple[str, list[dict[str, Any]]]]:
        kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for view in self.content.traps:
            talks = self.by_case[view.case_id]
            cells = [[t for t in talks if t.entry is e] for e in self.content.played]
            forked = [[t for t in cell if t.key in self.branches][:1] for cell in cells]
            row = {"view": view, "cells": cells, "count": of_case(talks, view.case_id), "forked": forked}
            kinds[view.kind or "other"].append(row)
        return list(kinds.items())

    def markup(self, talk: ConversationPage) -> str:
        """Return the transcript of a conversation, for the page that builds it."""
        content, (case_id, trial) = self.content, talk.key[1:]
        records, calls = _of_run(content.runs[talk.run_id])
        case = content.case_played(talk.run_id, case_id)
        about: dict[str, Any] = {"case": case, "store": content.stores.get(talk.run_id) if case else None}
        about |= {"cost": content.costs[talk.key], "model_calls": calls.get((case_id, trial), [])}
        about |= {"verdicts": self.verdicts[talk.key], "failures": self.failures[talk.href]}
        about["forks"] = self.branches.get(talk.key, [])
        alike = self.by_case[case_id]
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
"""Maximum number of processes; each may end up with a copy of the first one's data."""
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
    """Write the scripts of some pages in extra processes, or in this one on demand.

    The extra processes are forks, which share the data. None are used outside Linux, or while other Python threads run:
    a fork could then copy a lock that nobody releases.
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
    # A fork ends silently on Ctrl-C, and with its parent process.
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
