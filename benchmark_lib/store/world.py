"""The immutable store: loaded once from its folder, shared by every conversation."""

from __future__ import annotations

import copy
import os
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import orjson

from ..errors import BadInput
from ..project import DATA
from ..records import content_hash
from ..textfiles import front_matter, read_yaml, render
from .desk import Desk
from .every_desk import with_every_desks
from .frozen import FrozenDict, frozen
from .kinds import DeskKind, kind_named
from .search import Search
from .tools import Tool

STORES = DATA / "stores"


class Store:
    """A simulated shop, read from a folder; frozen, because every conversation reads the same rows.

    Attributes
    ----------
    name, title, version : str
        From ``store.yaml``.
    policy : dict
        Limits, windows, queues and process rules, from ``policy.yaml``.
    kind : DeskKind
        The kind of desk, with all that is that kind's own.
    tables : dict of str to dict
        Its kind's tables: rows by id.
    now : datetime
        The frozen clock.
    tools : dict of str to Tool
        The tools on a desk of this store, by name: those of its kind, and the user's own beside them.
    """

    def __init__(self, path: Path):
        self.path = path
        self.info = frozen(read_yaml(path / "store.yaml"))
        self.policy = frozen(read_yaml(path / "policy.yaml"))
        try:
            self.name, self.title, self.version = self.info["name"], self.info["title"], str(self.info["version"])
            self.now = datetime.fromisoformat(str(self.info["clock"]))
            kind = self.info["kind"]
        except KeyError as missing:
            raise BadInput(f"{path / 'store.yaml'}: {missing} is missing; see the README on stores") from None
        self.kind: DeskKind = kind_named(kind, path)
        self.rules: dict[str, Any] = FrozenDict(self.kind.rules)
        self.tools: dict[str, Tool] = FrozenDict(with_every_desks(self.kind.tools))
        self._tools_of_its_kind = self.tools
        self.tables: dict[str, dict[str, dict[str, Any]]] = FrozenDict(
            {table: _rows(_files(path, files), key) for table, (files, key) in self.kind.tables.items()}
        )
        self._open = True

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to be altered once it is open."""
        if "_open" in vars(self):
            raise TypeError(
                f"the store is shared by every conversation, so its {name} cannot be changed: make a store of your own"
            )
        super().__setattr__(name, value)

    def with_tools(self, own: dict[str, Tool]) -> Store:
        """The same store with tools of one's own beside its tools."""
        if not own:
            return self
        other = copy.copy(self)
        vars(other)["tools"] = FrozenDict({**self.tools, **own})
        return other

    def provides(self, tool: Tool) -> bool:
        """Whether a tool is one of this kind of store's, and not the user's own.

        Such a tool does the same each time it is called.
        """
        return self._tools_of_its_kind.get(tool.name) is tool

    def desk(self, tools: dict[str, Tool] | None = None) -> Desk:
        """A fresh desk on this store."""
        return Desk(self, tools)

    def schemas(self, tools: dict[str, Tool] | None = None) -> list[dict[str, Any]]:
        """The tools as OpenAI function schemas."""
        return [t.schema(self.policy) for t in (self.tools if tools is None else tools).values()]

    @cached_property
    def articles(self) -> list[dict[str, Any]]:
        """Knowledge-base articles with the policy's numbers filled in: id, title, topics, text."""
        return frozen([self._article(p) for p in sorted((self.path / "articles").glob("*.md"))])

    def _article(self, path: Path) -> dict[str, Any]:
        head, text = front_matter(path)
        return {**head, "text": render(text, str(path), policy=self.policy, store=self.info).strip()}

    @cached_property
    def search(self) -> Search:
        """BM25 search over the knowledge base."""
        return Search(self.articles)

    @cached_property
    def phrases(self) -> dict[str, dict[str, Any]]:
        """What customers ask and say, by language, from ``phrases/*.yaml``.

        Files of one language are laid over each other.
        """
        books: dict[str, dict[str, Any]] = {}
        for path in sorted((self.path / "phrases").glob("*.yaml")):
            found = read_yaml(path)
            book = books.setdefault(found.get("language", path.stem), {})
            for part, content in found.items():
                book[part] = {**book.get(part, {}), **content} if isinstance(content, dict) else content
        return frozen(books)

    def prompt(self, path: Path | None = None) -> tuple[str, str]:
        """The agent's system prompt and its version; `path` names another prompt file than the store's own."""
        path = path or self.path / "prompts" / "agent.md"
        head, text = front_matter(path)
        clock = f"{self.now:%A}, {self.now:%B} {self.now.day}, {self.now:%Y}, {self.now:%H:%M}"
        filled = render(text, str(path), policy=self.policy, store=self.info, clock=clock)
        return filled.strip(), str(head.get("version", path.stem))

    @cached_property
    def hash(self) -> str:
        """Content hash of everything in the folder but its cases and prompts, which are hashed by themselves."""
        files = sorted(p for p in self.path.rglob("*") if p.is_file() and p.parent.name not in ("cases", "prompts"))
        parts = [str(p.relative_to(self.path)).encode() + b"\0" + p.read_bytes() for p in files]
        return content_hash(b"\0".join(parts))


def load_store(name: str | Path = "northline") -> Store:
    """Open a store by its name or by the path of its folder; the same folder is loaded once a process.

    Raises
    ------
    BadInput
        If there is no such store or one of its files is broken.
    """
    for path in (Path(name), STORES / str(name)):
        if os.path.isfile(path / "store.yaml"):
            return _load(path.resolve())
    known = ", ".join(sorted(p.parent.name for p in STORES.glob("*/store.yaml")))
    raise BadInput(
        f"no store {str(name)[:80]!r}: name one of {known}, or the folder of a store that holds a store.yaml"
    )


@lru_cache(maxsize=8)
def _load(path: Path) -> Store:
    return Store(path)


def _files(path: Path, pattern: str) -> list[Path]:
    """The files of a table; a name without a wildcard must be there."""
    return sorted(path.glob(pattern)) if "*" in pattern else [path / pattern]


def _rows(paths: list[Path], key: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for path in paths:
        try:
            lines = path.read_bytes().splitlines()
        except FileNotFoundError:
            raise BadInput(f"{path} is missing: restore it from the repository or write it") from None
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                if row[key] in rows:
                    raise BadInput(f"{path}:{number}: {key} {row[key]} stands twice; give it another id")
                rows[row[key]] = frozen(row)
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise BadInput(f"{path}:{number}: not a JSON object with {key}: {error}") from None
    return FrozenDict(rows)
