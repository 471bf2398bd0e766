"""Turn chats between people into a store, without a personal datum in it."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml

from ...errors import BadInput
from ...outputs import folder_made, write_csv, writing
from ...project import in_project, safe_name
from ...textfiles import read_text
from ..personal_data.doubts import common_words
from ..personal_data.scrub import Left, Scrubber
from .chat import RealChat
from .decisions import decisions
from .formats import FORMATS, read_chats
from .procedures import Procedure, read_procedures
from .store import ACTS, CHATS, KIND, PREFIX, PROCEDURES, as_plain, case_name, read_written
from .vocabulary import SHIPPED, Vocabulary

AUDIT, LEFT_OUT, KEPT = "audit.csv", "left_out.csv", "kept.txt"
NO_DECISION = "no act and no outcome, so there is nothing to decide"
DRAFTED, IN_REVIEW, TWICE = (
    "acts that wait to be accepted",
    "possible personal data, waits in review",
    "a second chat of this id",
)
NAMED = "its id holds a personal value, so give it another one"
Asked = Callable[[str, Left], bool | None]
"""Answers whether a finding is personal data; None leaves the chat out."""


@dataclass
class ImportedChats:
    """What an import did.

    Attributes
    ----------
    out : Path
        The folder of the store.
    chats, decisions : int
        Chats written, and their decisions.
    left_out : dict of str to str
        The reason for each chat that was not written, by its place in the files.
    counts : Counter
        Personal data replaced, by kind.
    review : dict of str to list of Left
        What the net still found, by the place of the chat. It holds personal data, and is never written.
    drafted : int
        Acts that were added to the vocabulary as drafts.
    net : str
        The recogniser behind the scrubbing: ``presidio`` or ``plain``.
    """

    out: Path
    chats: int = 0
    decisions: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    review: dict[str, list[Left]] = field(default_factory=dict, repr=False)
    drafted: int = 0
    net: str = ""


def import_chats(
    files: Iterable[str | Path],
    format: str,
    out: str | Path,
    *,
    title: str = "",
    acts: str | Path | None = None,
    procedures: str | Path | None = None,
    keep: Iterable[str] = (),
    personal: Iterable[str] = (),
    only: Iterable[str] = (),
    ask: Asked | None = None,
) -> ImportedChats:
    """Read chats, replace personal data, and write a store of mid-conversation cases.

    Parameters
    ----------
    files : iterable of path
        Files of chats, or folders of such files.
    format : str
        ``star``, ``abcd``, ``jsonl``, ``csv`` or ``log`` (a desk's own log, as for ``deskbench monitor``).
    out : path
        The folder to write. Chats that it has stay as they are, so that runs on them can be resumed. Drafts in its
        ``acts.yaml`` that were accepted since, and its ``kept.txt``, are used.
    title : str
        The company's name for the agent's prompt; by default the folder's name.
    acts, procedures : path, optional
        A vocabulary in place of the shipped one, and the written procedures; see ``docs/real-chats.md``.
    keep : iterable of str
        Words that are no personal data, such as brands; they are also written to ``kept.txt``.
    personal : iterable of str
        Values that are personal data; they are replaced, and written nowhere.
    only : iterable of str
        Ids of the chats to read; by default all.
    ask : callable, optional
        Decides on each finding of the net; without it, such chats wait.

    Raises
    ------
    BadInput
        For unusable files, options or a folder that holds something else.
    """
    if format not in FORMATS:
        raise BadInput(f"there is no format {format!r:.40} of chats: choose one of {', '.join(FORMATS)}")
    folder = Path(out)
    if folder.exists() and not (folder.is_dir() and (not any(folder.iterdir()) or (folder / ACTS).is_file())):
        raise BadInput(f"{folder} exists but is not a store of real chats: choose another --out")
    given = in_project(acts) if acts else folder / ACTS if (folder / ACTS).is_file() else SHIPPED / f"{format}.yaml"
    known = Vocabulary.read(given) if acts or given.is_file() else Vocabulary()
    kept = {*keep, *(read_text(folder / KEPT).splitlines() if (folder / KEPT).is_file() else ())}
    charts = read_procedures(in_project(procedures) if procedures else None, known, format)
    done, wanted = ImportedChats(folder), set(only)
    before = read_written(folder / CHATS) if (folder / CHATS).is_file() else []
    read = _read(done, files, format, known, wanted, {case_name(chat.id) for chat in before})
    known.complete([chat for chat in read.values() if _acts_listed(known, chat)])
    done.drafted = known.draft([*read.values()])
    written = before + _scrubbed(done, read, known, charts, (kept, set(personal)), ask)
    done.chats = len(written)
    done.decisions = sum(len(decisions(chat, known, charts.get(chat.procedure))) for chat in written)
    if wanted and not written and not done.left_out:
        raise BadInput(f"none of the chats {', '.join(sorted(wanted))[:80]} is in the files: check their ids")
    _write(
        done, written, known, {c.procedure: charts[c.procedure] for c in written if c.procedure in charts}, kept, title
    )
    return done


def _acts_listed(known: Vocabulary, chat: RealChat) -> bool:
    return all(line.did.name in known.acts or line.did.suggested for line in chat.lines if line.did is not None)


def _read(
    done: ImportedChats, files: Any, form: str, known: Vocabulary, wanted: set[str], before: set[str]
) -> dict[str, RealChat]:
    found, names = dict[str, RealChat](), set[str]()
    for place, chat in read_chats([in_project(file) for file in files], form, known):
        if isinstance(chat, str):
            done.left_out[place] = chat
        elif (wanted and chat.id not in wanted) or case_name(chat.id) in before:
            continue
        elif case_name(chat.id) in names or not case_name(chat.id):
            done.left_out[place] = TWICE
        else:
            names.add(case_name(chat.id))
            found[place] = chat
    return found


def _scrubbed(
    done: ImportedChats,
    read: dict[str, RealChat],
    known: Vocabulary,
    charts: dict[str, Procedure],
    words: tuple[set[str], set[str]],
    ask: Any,
) -> list[RealChat]:
    kept, personal = words
    words_used = common_words([line.text for line in chat.lines] for chat in read.values())
    scrubber, written = Scrubber(kept, personal, usual=words_used), list[RealChat]()
    done.net = scrubber.net
    for place, chat in read.items():
        if known.gaps(chat):
            done.left_out[place] = DRAFTED
            continue
        if not decisions(chat, known, charts.get(chat.procedure)):
            done.left_out[place] = NO_DECISION
            continue
        clean = scrubber.chat(chat)
        if clean.chat.id != chat.id:
            done.left_out[place] = NAMED
            continue
        while clean.left and ask is not None:
            left = clean.left[0]
            answer = ask(place, left)
            if answer is None:
                break
            (personal if answer else kept).add(left.text)
            scrubber = scrubber.with_words(kept, personal)
            clean = scrubber.chat(chat)
        if clean.left:
            done.left_out[place], done.review[place] = IN_REVIEW, clean.left
            continue
        done.counts += clean.counts
        written.append(clean.chat)
    return written


def _write(
    done: ImportedChats,
    chats: list[RealChat],
    known: Vocabulary,
    charts: dict[str, Procedure],
    kept: set[str],
    title: str,
) -> None:
    import pandas as pd

    name = safe_name(done.out.resolve().name.removeprefix("chats-")).lower()
    title = title or name.replace("_", " ").replace("-", " ").title()
    info = {"name": f"{PREFIX}{name}", "kind": KIND, "title": title, "version": "1"}
    used = {line.did.name for chat in chats for line in chat.lines if line.did is not None}
    used |= {node for chart in charts.values() for node in chart.nodes}
    known.acts = {name: act for name, act in known.acts.items() if name in used or not act.accepted}
    acts = known.model_dump(exclude_defaults=True)
    building = done.out.with_name(f".new-{done.out.name}")
    with writing(done.out), folder_made(done.out):
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        _yaml(building / "store.yaml", info)
        _yaml(building / ACTS, acts)
        if charts:
            _yaml(
                building / PROCEDURES, {name: chart.model_dump(exclude_defaults=True) for name, chart in charts.items()}
            )
        lines = [orjson.dumps(as_plain(chat)) + b"\n" for chat in chats]
        (building / CHATS).write_bytes(b"".join(lines))
        (building / KEPT).write_text("".join(f"{word}\n" for word in sorted(kept)), encoding="utf-8")
        if (done.out / AUDIT).is_file():
            done.counts.update(dict(pd.read_csv(done.out / AUDIT).itertuples(index=False, name=None)))
        counts = pd.DataFrame(sorted(done.counts.items()), columns=["kind", "replaced"])
        write_csv(counts, building / AUDIT)
        write_csv(pd.DataFrame([*done.left_out.items()], columns=["chat", "why"]), building / LEFT_OUT)
        for path in building.iterdir():
            os.replace(path, done.out / path.name)
        building.rmdir()


def _yaml(path: Path, content: Any) -> None:
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    path.write_text(text, encoding="utf-8")
