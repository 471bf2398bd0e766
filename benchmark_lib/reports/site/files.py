"""Write the folder of a site, which appears complete or not at all, and its data files.

A page opened from disk may load scripts from its folder but may not fetch data. Each script has one call with one
packed text in base 64, so no text from a model or customer can become code.
"""

import hashlib
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

import orjson
import pandas as pd

from ...errors import BadInput
from ...project import folder_made, write_csv, writing
from ...records import ENDINGS
from ...scoring.deciding import SUCCESS_STATES
from ...scoring.written import visible, words
from ..html import TEXTS, packed_text, plural
from .content import CaseView, Content, Entry
from .conversations import ConversationPage

MARK = "site.json"
"""The file that marks a folder as a site; a folder without it is never replaced."""


class Folder:
    """A folder in progress that counts its files by kind of page."""

    def __init__(self, path: Path, part_of: "Folder | None" = None):
        self.path, self._real = path, os.path.realpath(path)
        self.pages: Counter[str] = part_of.pages if part_of else Counter()
        self.sizes: Counter[str] = part_of.sizes if part_of else Counter()

    @property
    def size(self) -> int:
        """Bytes of everything that was written."""
        return self.sizes.total()

    def within(self, name: str) -> "Folder":
        """Return a subfolder."""
        return Folder(self.path / name, self)

    def place(self, relative: str) -> Path:
        """Return the place of a file and create its folder; `ValueError` if outside the site."""
        target = os.path.realpath(os.path.join(self._real, relative))
        if os.path.commonpath((target, self._real)) != self._real:
            raise ValueError(f"{relative!r} is outside the site")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        return Path(target)

    def write(self, relative: str, text: str | bytes, kind: str) -> None:
        """Write one file and count it as `kind`."""
        self.count(self.put(relative, text), kind)

    def put(self, relative: str, text: str | bytes) -> int:
        """Write one file without counting it and return its size in bytes."""
        return self.place(relative).write_bytes(text.encode("utf-8", "replace") if isinstance(text, str) else text)

    def count(self, size: int, kind: str) -> None:
        """Count a file of `size` bytes written at its `place`."""
        self.pages[kind] += 1
        self.sizes[kind] += size


def packed(value: Any) -> str:
    """Return a script with plain data as one packed text."""
    return f'deskbench.packed.push("{packed_text(value)}");\n'


@contextmanager
def site_folder(out: Path) -> Iterator[Folder]:
    """Open a new folder next to `out` that replaces it once everything is written.

    Raise `BadInput` if `out` is anything other than a site or cannot be written, or if the disk is full.
    """
    with writing(out):
        if out.exists() and not (out.is_dir() and ((out / MARK).is_file() or not any(out.iterdir()))):
            raise BadInput(f"{out} exists and is not a site: choose another --out, or move it away")
    building = out.with_name(f".{secrets.token_hex(8)}.new")
    old = building.with_suffix(".old")
    with writing(out), folder_made(out.parent):
        try:
            building.mkdir()
            yield Folder(building)
            if out.exists():
                os.replace(out, old)
            os.replace(building, out)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            if old.exists() and not out.exists():
                os.replace(old, out)
            shutil.rmtree(building, ignore_errors=True)


def write_downloads(content: Content, folder: Folder) -> list[dict[str, Any]]:
    """Write every file under ``downloads/`` and return one row per file for the page."""
    board = pd.DataFrame([{"block": e.block} | e.row for e in content.entries])
    columns = ("case_id", "title", "bucket", "intent", "kind", "language")
    cases = pd.DataFrame([{name: getattr(v, name) for name in columns} for v in content.cases.values()])
    unsafe = pd.DataFrame(list(content.unsafe.values()))
    frames = {"board": board, "unsafe": unsafe, "cases": cases, "conversations": content.conversations}
    frames |= {"messages": content.results.messages, "tool_calls": content.results.tool_calls}
    rows = []
    for name, suffix, text in TEXTS["downloads"]:
        frame, place = frames[name], folder.place(f"downloads/{name}.{suffix}")
        if suffix == "csv":
            write_csv(frame, place)
        else:
            frame.to_parquet(place, index=False, compression="zstd")
        rows.append(_row(place, text, f"{len(frame):,} rows, {frame.shape[1]} columns"))
    runs = run_rows(content)
    place = folder.place("downloads/runs.json")
    place.write_bytes(orjson.dumps(runs, option=orjson.OPT_INDENT_2))
    text = "The inputs and cases of each run with their hashes, and the hash of the run file."
    rows.append(_row(place, text, plural(len(runs), "run")))
    for row in rows:
        folder.count(row["bytes"], "download")
    return rows


def _row(place: Any, text: str, size: str) -> dict[str, Any]:
    data = place.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return {"name": place.name, "text": text, "rows": size, "bytes": len(data), "sha256": digest}


def run_rows(content: Content) -> list[dict[str, Any]]:
    """Return the inputs of each run, without addresses of endpoints and without paths."""
    rows = []
    for run in content.results.runs:
        manifest = content.manifests[run.run_id]
        inputs = {k: {"value": v.get("value"), "hash": v.get("hash")} for k, v in manifest.get("inputs", {}).items()}
        rows.append(
            {"run_id": run.run_id, "entry": content.results.entries[run.run_id]}
            | {name: manifest.get(name) for name in ("model", "source", "created", "trials")}
            | {"file": run.path.name, "sha256": hashlib.sha256(run.path.read_bytes()).hexdigest()}
            | {"conversations": len(run.endings()), "inputs": inputs}
            | {"code": (manifest.get("sessions") or [{}])[-1].get("code"), "cases": manifest.get("cases", {})}
        )
    return rows


# --- data of the lists and of the search


LETTERS = digits + ascii_letters
"""One letter for each value of a field with few values; a dot marks a missing value."""
MISSING = "."
NUMBERS = {"messages": "turns", "pushes": "pushes", "USD": "cost_usd"}
"""Sort keys of the list, and their columns of the conversations frame."""


def talk_data(content: Content, talks: Sequence[ConversationPage]) -> dict[str, Any]:
    """Return the content of the list of transcripts, in the order of `talks`."""
    known = content.results.facets
    keys = zip(known["run_id"], known["case_id"], known["trial"].astype(int), strict=True)
    place = {key: n for n, key in enumerate(keys)}
    rows, why = [place[t.key] for t in talks], ["; ".join(t.why) for t in talks]
    pages = [t.entry.page or "" for t in talks]
    return list_data(known.iloc[rows], content.conversations.iloc[rows], content.played, content.cases, pages, why)


def list_data(
    facets: pd.DataFrame,
    conversations: pd.DataFrame,
    entries: Sequence[Entry],
    cases: Mapping[str, CaseView],
    pages: Sequence[str],
    why: Sequence[str | None],
) -> dict[str, Any]:
    """Return the data of the list, which ``assets/list.js`` shows.

    `facets`, `conversations`, `pages` (of entries) and `why` (it failed) have a row per conversation, in order.
    """
    orders = {
        "case_id": list(cases),
        "ended_by": list(ENDINGS),
        "outcome": [word for _, word in SUCCESS_STATES.values()],
    }
    numbers = {name: conversations[column] for name, column in NUMBERS.items()}
    return {
        "entries": [{"name": e.name, "page": e.page} for e in entries],
        "cases": [
            {"id": v.case_id, "title": v.title, "intent": words(v.intent), "page": v.page, "language": v.language}
            for v in cases.values()
        ],
        "signs": {word: {"key": key, "sign": sign} for key, (sign, word) in SUCCESS_STATES.items()},
        "page": encoded(pages, [e.page for e in entries]),
        "why": encoded(why),
        "fields": {n: encoded(facets[n].tolist(), orders.get(n, ())) for n in facets if facets[n].notna().any()},
        "numbers": {
            n: [None if v != v else round(float(v), 5) for v in c] for n, c in numbers.items() if c.gt(0).any()
        },
    }


def encoded(column: Sequence[Any], order: Iterable[Any] = ()) -> dict[str, Any]:
    """Return the distinct ``values`` of a column, those of `order` first, and its ``codes``.

    Codes are a string with one of `LETTERS` per row, or numbers if there are many values. A dot or -1
    marks a missing value.
    """
    seen = set(column) - {None}
    first = [value for value in order if value in seen]
    values = [*first, *sorted(seen - set(first), key=_by_size)]
    place = {value: n for n, value in enumerate(values)}
    if len(values) > len(LETTERS):
        return {"values": values, "codes": [place.get(value, -1) for value in column]}
    return {"values": values, "codes": "".join(LETTERS[place[v]] if v is not None else MISSING for v in column)}


def _by_size(value: Any) -> tuple[Any, ...]:
    number = isinstance(value, str) and value.isdecimal()
    return (not number, len(value) if number else 0, value)


CHUNK = 4_000_000
"""Characters of text in one script, before packing."""


class Messages:
    """Every message of a site, with each distinct text once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._spoken: dict[str, list[int]] = {}

    def add(self, talk: ConversationPage, raw: dict[str, Any]) -> None:
        """Add the messages of one record."""
        self._spoken[talk.href] = [
            2 * self._places.setdefault(visible(m["text"]), len(self._places)) + (m["side"] == "agent")
            for m in in_order(raw["messages"])
        ]

    def write(self, folder: Folder, talks: Sequence[ConversationPage]) -> list[str]:
        """Write the scripts of conversations in the order of the list; return their addresses.

        The first has a number for each message of each conversation: twice the place of its text, plus one if the agent
        wrote it. The others contain the texts, in order.
        """
        parts = [[self._spoken[t.href] for t in talks], *_chunks(self._places)]
        names = []
        for number, part in enumerate(parts):
            names.append(f"search/messages-{number}.js")
            folder.write(names[-1], packed(part), "search")
        return names


def in_order(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages as transcripts number them: by turn, the customer's first."""
    return sorted(messages, key=lambda m: (m["turn"], m["side"] != "customer"))


def _chunks(texts: Iterable[str]) -> list[list[str]]:
    chunks: list[list[str]] = [[]]
    size = 0
    for text in texts:
        if size >= CHUNK:
            chunks, size = [*chunks, []], 0
        chunks[-1].append(text)
        size += len(text)
    return chunks
