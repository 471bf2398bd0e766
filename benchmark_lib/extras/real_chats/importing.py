"""Turn chats between people into a store without personal data: ``deskbench import-chats``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml

from ...analysis.cell import framed
from ...errors import BadInput
from ...project import built_beside, in_project, safe_name, write_csv, writing
from ...textfiles import read_text
from ..personal_data.scrub import Left, Scrubber
from .acts import SHIPPED, Procedure, Vocabulary, read_procedures
from .chat import RealChat, read_written
from .decisions import decisions
from .formats import FORMATS, read_chats
from .store import ACTS, CHATS, KIND, PREFIX, PROCEDURES, STORE

AUDIT, LEFT_OUT, KEPT = "audit.csv", "left_out.csv", "kept.txt"
NO_DECISION = "no act and no outcome, so there is nothing to decide"
DRAFTED, IN_REVIEW = "acts that await approval", "possible personal data, awaits review"
TWICE, NAMED = "a second chat with this id", "its id contains a personal value: give it another one"
Charts = dict[str, Procedure]
Asked = Callable[[str, Left], bool | None]
"""Answers whether a finding is personal data; None leaves the chat out."""


@dataclass
class ImportedChats:
    """The outcome of an import into the folder `out`.

    `chats`, `decisions` and `drafted` count chats written, their decisions, and acts added to the vocabulary as drafts.
    `left_out` has the reason for each chat that was not written, by its place in the files. `counts` has the number of
    replacements by kind. `review` has what the recogniser still found, by the chat's place; it contains personal data,
    and is never written. `net` is the recogniser: ``presidio`` or ``plain``.
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
    files, format : iterable of path, str
        Files of chats, or folders with such files, and their format.
    out : path
        The folder to write. Its chats are left unchanged, so that runs on them can be resumed. Accepted drafts in its
        ``acts.yaml``, and its ``kept.txt``, are used.
    title : str
        The company's name for the agent's prompt; by default the folder's name.
    acts, procedures : path, optional
        A vocabulary in place of the shipped one, and the written procedures; see ``docs/real-chats.md``.
    keep, personal : iterable of str
        Words that are not personal data, which ``kept.txt`` lists; and values that are, which nothing lists.
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
    folder, own = Path(out), Path(out) / ACTS
    free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not free and not own.is_file():
        raise BadInput(f"{folder} exists but is not a store of real chats: choose another --out")
    given = in_project(acts) if acts else own if own.is_file() else SHIPPED / f"{format}.yaml"
    known = Vocabulary.read(given) if acts or given.is_file() else Vocabulary()
    kept = {*keep}
    if (folder / KEPT).is_file():
        kept |= {*read_text(folder / KEPT).splitlines()}
    charts = read_procedures(in_project(procedures) if procedures else None, known, format)
    written = read_written(folder / CHATS) if (folder / CHATS).is_file() else []
    done, wanted, places = ImportedChats(folder), {*only}, dict.fromkeys(chat.name for chat in written)
    new = list[tuple[str, RealChat]]()
    for place, chat in read_chats(map(in_project, files), format, known):
        if isinstance(chat, str):
            done.left_out[place] = chat
        elif (not wanted or chat.id in wanted) and places.setdefault(chat.name, place):
            new.append((place, chat))
    done.drafted = known.complete([chat for _, chat in new])
    scrubber = Scrubber(kept, personal, corpus=[[line.text for line in chat.lines] for _, chat in new])
    for place, chat in new:
        if places[chat.name] != place:
            done.left_out[place] = TWICE
        elif known.gaps(chat):
            done.left_out[place] = DRAFTED
        elif not decisions(chat, known, None):
            done.left_out[place] = NO_DECISION
        else:
            written += _reviewed(place, chat, scrubber, ask, kept, done)
    done.net, done.chats = scrubber.net, len(written)
    done.decisions = sum(len(decisions(chat, known, None)) for chat in written)
    if wanted and not written and not done.left_out:
        raise BadInput(f"none of the chats {', '.join(sorted(wanted))[:80]} is in the files: check the ids")
    _write(done, written, known, charts, kept, title)
    return done


def _reviewed(
    place: str, chat: RealChat, scrubber: Scrubber, ask: Asked | None, kept: set[str], done: ImportedChats
) -> list[RealChat]:
    """Return the chat without personal data, as far as a person decides, or nothing."""
    clean = scrubber.chat(chat)
    while clean.left and ask and (answer := ask(place, clean.left[0])) is not None:
        scrubber.learn(clean.left[0].text, personal=answer)
        if not answer:
            kept.add(clean.left[0].text)
        clean = scrubber.chat(chat)
    if clean.chat.id != chat.id:
        done.left_out[place] = NAMED
    elif clean.left:
        done.left_out[place], done.review[place] = IN_REVIEW, clean.left
    else:
        done.counts += clean.counts
        return [clean.chat]
    return []


def _write(
    done: ImportedChats, chats: list[RealChat], known: Vocabulary, charts: Charts, kept: set[str], title: str
) -> None:
    import pandas as pd

    name = safe_name(done.out.resolve().name.removeprefix("chats-")).lower()
    title = title or name.replace("_", " ").replace("-", " ").title()
    charts = {name: charts[name] for name in charts if name in {chat.procedure for chat in chats}}
    used = {did.name for chat in chats for did in chat.acts}.union(*(chart.nodes for chart in charts.values()))
    known.acts = {name: act for name, act in known.acts.items() if name in used or not act.accepted}
    parts: dict[str, Any] = {
        STORE: {"name": f"{PREFIX}{name}", "kind": KIND, "title": title, "version": "1"},
        ACTS: known.model_dump(exclude_defaults=True),
    }
    if charts:
        parts[PROCEDURES] = {name: chart.model_dump(exclude_defaults=True) for name, chart in charts.items()}
    files = {n: yaml.safe_dump(part, sort_keys=False, allow_unicode=True, width=120) for n, part in parts.items()}
    files[KEPT] = "".join(f"{word}\n" for word in sorted(kept))
    files[CHATS] = "".join(f"{orjson.dumps(chat.plain).decode()}\n" for chat in chats)
    if (done.out / AUDIT).is_file():
        done.counts.update(dict(pd.read_csv(done.out / AUDIT).itertuples(index=False, name=None)))
    with writing(done.out):
        for file, text in files.items():
            with built_beside(done.out / file) as building:
                building.write_text(text, encoding="utf-8")
        write_csv(framed(sorted(done.counts.items()), "kind replaced"), done.out / AUDIT)
        write_csv(framed(done.left_out.items(), "chat why"), done.out / LEFT_OUT)
