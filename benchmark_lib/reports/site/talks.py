"""The conversations of a site, in packed scripts from which `talk.html` builds the one that its address names.

A page opened from disk may load scripts of its folder but may not fetch data. A script holds the transcripts of a few
conversations of one entry by their names, as the template writes them; the page makes elements and text of them itself.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...records import Conversation
from ...runfile import RunFile
from ..marks import with_judged_customer
from .conversations import ConversationPage, transcript
from .words import packed

if TYPE_CHECKING:
    from .pages import Pages

CHUNK = 20
"""How many conversations one script holds."""
MOST = 3
"""How many processes write transcripts at most; each may come to hold a copy of what the first one has read."""
Item = tuple[int, str, int]
"""A script: the place of its pages, the page of its entry, its number."""


def chunks(talks: Sequence[ConversationPage]) -> list[list[ConversationPage]]:
    """Divide the conversations of an entry among scripts, in the order of their names, so that a name tells its script."""
    ordered = sorted(talks, key=lambda t: t.name)
    return [ordered[at : at + CHUNK] for at in range(0, len(ordered), CHUNK)]


def write_chunk(pages: "Pages", entry: str, number: int) -> tuple[int, int]:
    """Write one script; returns its size in bytes and its number of conversations."""
    talks = pages.chunks[entry][number]
    found = {talk.name: _written(pages, talk) for talk in talks}
    return pages.folder.put(f"talks/{entry}-{number}.js", packed(found)), len(talks)


def _written(pages: "Pages", talk: ConversationPage) -> str:
    records, calls = _of_run(pages.content.runs[talk.run_id])
    key = talk.view.case_id, talk.trial
    case, content = pages.content.case_played(talk.run_id, talk.view.case_id), pages.content
    about: dict[str, Any] = {
        "case": case,
        "store": content.stores.get(talk.run_id) if case else None,
        "cost": content.costs[talk.key],
    }
    about |= {"verdicts": pages.verdicts[talk.key], "model_calls": calls.get(key, [])}
    score = with_judged_customer(talk.score, pages.turns[talk.key]) or {}
    return pages.fragment(talk, transcript(talk, Conversation.from_json(records[key]), score, **about))


@lru_cache(maxsize=1)
def _of_run(run: RunFile) -> tuple[dict[tuple[str, int], bytes], dict[tuple[str, int], list[dict[str, Any]]]]:
    """The records and the model calls of a run by case and trial, read at once."""
    return {(case_id, trial): record for case_id, trial, _, record in run.conversations()}, run.calls_by_conversation()


@contextmanager
def written_beside(pages: "Sequence[Pages]") -> Iterator[Iterator[tuple[int, int]]]:
    """Write the scripts of some pages in further processes while this one does other work, or in this one when it asks for them.

    Further processes are forks, which share what is read. There are none outside Linux, nor beside other threads of
    Python, where a fork could find a lock that nobody opens.
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
        raise BadInput("a process that wrote pages was ended: see whether memory is short, and try again") from None
    finally:
        pool.shutdown(cancel_futures=True)


_PAGES: "Sequence[Pages]" = ()
"""What a fork writes; empty in every other process."""


def _begin(pages: "Sequence[Pages]") -> None:
    """Begin a fork, which ends without a word at Ctrl-C, and with the process that began it."""
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
