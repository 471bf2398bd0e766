"""Turn chats between people into a store that contains no personal data."""

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
from ..personal_data.scrub import Left, Scrubber
from .chat import RealChat, read_written
from .decisions import decisions
from .formats import FORMATS, read_chats
from .procedures import Procedure, read_procedures
from .store import ACTS, CHATS, KIND, PREFIX, PROCEDURES
from .vocabulary import SHIPPED, Vocabulary

AUDIT, LEFT_OUT, KEPT = "audit.csv", "left_out.csv", "kept.txt"
NO_DECISION = "no act and no outcome, so there is nothing to decide"
DRAFTED, IN_REVIEW, TWICE = (
    "acts that await approval",
    "possible personal data, awaits review",
    "a second chat with this id",
)
NAMED = "its id contains a personal value: give it another one"
Asked = Callable[[str, Left], bool | None]
"""Answers whether a finding is personal data; None leaves the chat out."""


@dataclass
class ImportedChats:
    """The outcome of an import.

    Attributes
    ----------
    out : Path
        The folder of the store.
    chats, decisions : int
        Numbers of chats written, and of their decisions.
    left_out : dict of str to str
        The reason for each chat that was not written, by its place in the files.
    counts : Counter
        Number of replacements of personal data, by kind.
    review : dict of str to list of Left
        What the recogniser still found, by the chat's place. It contains personal data, and is never written.
    drafted : int
        Number of acts added to the vocabulary as drafts.
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
        Files of chats, or folders with such files.
    format : str
        ``star``, ``abcd``, ``jsonl``, ``csv`` or ``log`` (a desk's own log, as for ``deskbench monitor``).
    out : path
        The folder to write. Chats already there are left unchanged, so that runs on them can be resumed. Drafts in its
        ``acts.yaml`` that have been accepted, and its ``kept.txt``, are used.
    title : str
        The company's name for the agent's prompt; by default the folder's name.
    acts, procedures : path, optional
        A vocabulary in place of the shipped one, and the written procedures; see ``docs/real-chats.md``.
    keep : iterable of str
        Words that are not personal data, such as brands; they are also written to ``kept.txt``.
    personal : iterable of str
        Values that are personal data; they are replaced, and not written anywhere.
    only : iterable of str
        Ids of the chats to read; by default all.
    ask : callable, optional
        Decides on each finding of the recogniser; without it, such chats await review.

    Raises
    ------
    BadInput
        For unusable files or options, or a folder that contains something else.
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
    chats = read_written(folder / CHATS) if (folder / CHATS).is_file() else []
    read = _read(done, read_chats(map(in_project, files), format, known), wanted, {chat.name for chat in chats})
    done.drafted = known.complete([*read.values()])
    corpus = [[line.text for line in chat.lines] for chat in read.values()]
    net = _Net(Scrubber(kept, personal, corpus=corpus), kept, {*personal}, ask)
    for place, chat in read.items():
        if known.gaps(chat):
            done.left_out[place] = DRAFTED
        elif not decisions(chat, known, charts.get(chat.procedure)):
            done.left_out[place] = NO_DECISION
        elif isinstance(clean := net.scrubbed(place, chat, done), RealChat):
            chats.append(clean)
        else:
            done.left_out[place] = clean
    done.net, done.chats = net.scrubber.net, len(chats)
    done.decisions = sum(len(decisions(chat, known, charts.get(chat.procedure))) for chat in chats)
    if wanted and not chats and not done.left_out:
        raise BadInput(f"none of the chats {', '.join(sorted(wanted))[:80]} is in the files: check the ids")
    used = {chat.procedure for chat in chats}
    _write(done, chats, known, {name: chart for name, chart in charts.items() if name in used}, kept, title)
    return done


def _read(
    done: ImportedChats, every: Iterable[tuple[str, RealChat | str]], wanted: set[str], before: set[str]
) -> dict[str, RealChat]:
    """Return the new chats to import, by their places."""
    chats, names = dict[str, RealChat](), set[str]()
    for place, chat in every:
        if isinstance(chat, str):
            done.left_out[place] = chat
        elif (wanted and chat.id not in wanted) or chat.name in before:
            continue
        elif chat.name in names or not chat.name:
            done.left_out[place] = TWICE
        else:
            names.add(chat.name)
            chats[place] = chat
    return chats


class _Net:
    """The scrubber, which learns from each answer of a person."""

    def __init__(self, scrubber: Scrubber, kept: set[str], personal: set[str], ask: Asked | None):
        self.scrubber, self.kept, self.personal, self.ask = scrubber, kept, personal, ask

    def scrubbed(self, place: str, chat: RealChat, done: ImportedChats) -> RealChat | str:
        """Return a chat without personal data, or the reason for leaving it out."""
        clean = self.scrubber.chat(chat)
        if clean.chat.id != chat.id:
            return NAMED
        while clean.left and self.ask is not None:
            left = clean.left[0]
            answer = self.ask(place, left)
            if answer is None:
                break
            (self.personal if answer else self.kept).add(left.text)
            self.scrubber = self.scrubber.with_words(self.kept, self.personal)
            clean = self.scrubber.chat(chat)
        if clean.left:
            done.review[place] = clean.left
            return IN_REVIEW
        done.counts += clean.counts
        return clean.chat  # type: ignore[no-any-return]


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
    used = {did.name for chat in chats for did in chat.acts}.union(*(chart.nodes for chart in charts.values()))
    known.acts = {name: act for name, act in known.acts.items() if name in used or not act.accepted}
    files: dict[str, Any] = {
        "store.yaml": {"name": f"{PREFIX}{name}", "kind": KIND, "title": title, "version": "1"},
        ACTS: known.model_dump(exclude_defaults=True),
    }
    if charts:
        files[PROCEDURES] = {name: chart.model_dump(exclude_defaults=True) for name, chart in charts.items()}
    building = done.out.with_name(f".new-{done.out.name}")
    with writing(done.out), folder_made(done.out):
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        for file, content in files.items():
            text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
            (building / file).write_text(text, encoding="utf-8")
        (building / CHATS).write_bytes(b"".join(orjson.dumps(chat.plain) + b"\n" for chat in chats))
        (building / KEPT).write_text("".join(f"{word}\n" for word in sorted(kept)), encoding="utf-8")
        if (done.out / AUDIT).is_file():
            done.counts.update(dict(pd.read_csv(done.out / AUDIT).itertuples(index=False, name=None)))
        counts = pd.DataFrame(sorted(done.counts.items()), columns=["kind", "replaced"])
        write_csv(counts, building / AUDIT)
        write_csv(pd.DataFrame([*done.left_out.items()], columns=["chat", "why"]), building / LEFT_OUT)
        for path in building.iterdir():
            os.replace(path, done.out / path.name)
        building.rmdir()
