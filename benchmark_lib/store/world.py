"""Load the immutable store once from its folder; every conversation shares it."""

from __future__ import annotations

import copy
import os
import zlib
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import orjson

from ..errors import BadInput
from ..extension import offer, offered
from ..project import DATA
from ..records import content_hash
from ..textfiles import front_matter, read_yaml, render
from .desk import (
    CALLS_OF_HARD_CASES,
    CALLS_PER_TURN,
    Desk,
    with_every_desks,
)
from .files import (
    FrozenDict,
    Search,
    check_shape,
    frozen,
    merged,
    rows_in,
    thawed,
)
from .kinds import DeskKind, ForeignStore, Store, kind_named
from .own_tools import guarded
from .rules import setting
from .tools import Tool, load_tools

STORES = DATA / "stores"
WHOLE = "large"
"""Name of a store's whole library; cases that add nothing to it share one index."""
PHRASES = ("slots", "actions", "customer", "agent")
"""Parts that the phrases of every language must have."""
UNPLAYED = ("groups.yaml", "stakes.yaml", "README.md")
"""Files of a store that affect only how results are read, not what is played."""
FOLDERS = ("articles/*.md", "library/*.md", "phrases/*.yaml", "reader/**/*", "reasons/*")
FILES = ("store.yaml", "policy.yaml", "factorial.yaml", "generate.yaml", *FOLDERS)
"""Patterns of the files that make a store of any kind."""


class FolderStore:
    """A store loaded from a folder and frozen, because every conversation shares it.

    Attributes
    ----------
    extends, folders : FolderStore or None, tuple of Path
        The store that it extends, if ``store.yaml`` names one, and the folders of both, its own last.
    below : FolderStore or None
        The store beneath a case's own world, if the case has one; ``laid`` names the parts that differ.
    """

    foreign: ForeignStore | None = None

    def __init__(self, path: Path):
        self.path = path
        own = read_yaml(path / "store.yaml")
        named = own.get("extends") if isinstance(own, dict) else None
        if named is not None and not isinstance(named, str):
            raise BadInput(
                f"{path / 'store.yaml'}: extends: {str(named)[:40]!r} is not text: name the folder of a store"
            )
        self.extends: Any = None if named is None else load_store(path.parent / named)
        info = merged(self.extends.info, own) if self.extends else own
        self.folders: tuple[Path, ...] = (*(self.extends.folders if self.extends else ()), path)
        try:
            self.kind: DeskKind = kind_named(info["kind"], path)
            self.info: dict[str, Any] = frozen(self._with_defaults("info", info))
            self.name, self.title = self.info["name"], self.info["title"]
            self.version = str(self.info["version"])
            self.now = datetime.fromisoformat(str(self.info["clock"]))
        except (KeyError, TypeError) as missing:
            raise BadInput(f"{path / 'store.yaml'}: {missing} is missing; see docs/your-own-desk.md") from None
        except BadInput:
            raise
        except ValueError:
            raise BadInput(f"{path}/store.yaml: clock {self.info['clock']!r}: write 2026-06-29T10:00") from None
        self.policy = frozen(self._with_defaults("policy", self._own_policy()))
        self._check_shapes()
        self.rules: dict[str, Any] = FrozenDict(self.kind.rules)
        self.tools: dict[str, Tool] = FrozenDict(with_every_desks({**self.kind.tools, **self._more_tools()}))
        self._tools_of_its_kind = self.tools
        self.tables: dict[str, dict[str, dict[str, Any]]] = FrozenDict(
            {table: self._table(table, files, key) for table, (files, key) in self.kind.tables.items()}
        )
        self.below: FolderStore | None = None
        self.laid: frozenset[str] = frozenset()
        self.views: dict[str, Any] = {}
        self._files: dict[str, list[tuple[str, dict[str, Any], str]]] = {}
        self._open = True

    def _with_defaults(self, part: str, content: Any) -> Any:
        usual = self.kind.usual.get(part)
        return merged(usual, content or {}) if usual else content

    def _check_shapes(self) -> None:
        """Refuse files that lack fields or differ in form from the shipped store of their kind."""
        sample = STORES / self.kind.sample
        if not self.kind.sample or self.path.is_relative_to(STORES):
            return
        for name, given in (("store.yaml", self.info), ("policy.yaml", self.policy)):
            check_shape(given, read_yaml(sample / name), f"{self.path / name}: ", self.kind.optional)
        for path in sorted((self.path / "phrases").glob("*.yaml")):
            like = sample / "phrases" / path.name
            like = like if like.is_file() else like.with_name("en.yaml")
            check_shape(read_yaml(path), read_yaml(like), f"{path}: ")

    def _own_policy(self) -> Any:
        path = self.path / "policy.yaml"
        if self.extends is None:
            return read_yaml(path)
        return merged(self.extends.policy, read_yaml(path) if path.is_file() else {})

    def _more_tools(self) -> dict[str, Tool]:
        listed, known = self.info.get("more_tools", ()), self.kind.more_tools
        listed = listed if isinstance(listed, list | tuple) else [listed]
        if unknown := [name for name in listed if not isinstance(name, str) or name not in known]:
            raise BadInput(
                f"{self.path / 'store.yaml'}: more_tools: {unknown[0]!r} is not a tool of the kind "
                f"{self.kind.name}: name some of {', '.join(known) or 'none'}"
            )
        return {name: known[name] for name in listed}

    def _table(self, table: str, files: str, key: str) -> dict[str, dict[str, Any]]:
        below = self.extends.tables[table] if self.extends else {}
        paths = sorted(self.path.glob(files)) if "*" in files else [self.path / files]
        own = rows_in(paths, key) if not self.extends or "*" in files else {}
        if twice := sorted(below.keys() & own.keys()):
            raise BadInput(
                f"{self.path}: {key} {twice[0]} already exists in {self.info['extends']}; give it another id"
            )
        return FrozenDict({**below, **own}) if below else own

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse changes after loading."""
        if "_open" in vars(self):
            raise TypeError(
                f"the store is shared by every conversation, so its {name} cannot be changed: make a store of your own"
            )
        super().__setattr__(name, value)

    def with_tools(self, own: dict[str, Tool]) -> FolderStore:
        """Return the same store with the user's own tools added."""
        if not own:
            return self
        other = copy.copy(self)
        vars(other)["tools"] = FrozenDict({**self.tools, **own})
        return other

    def provides(self, tool: Tool) -> bool:
        """Return whether a tool belongs to the store's kind; only such tools' calls are repeatable."""
        return self._tools_of_its_kind.get(tool.name) is tool

    def desk(self, tools: dict[str, Tool] | None = None, *, case: Any = None, **staged: Any) -> Desk:
        """Return a fresh desk on this store, whatever the case; `staged` is passed to `Desk`."""
        return Desk(self, tools, **staged)

    def schemas(self, tools: dict[str, Tool] | None = None) -> list[dict[str, Any]]:
        """Return the tools as OpenAI function schemas."""
        return [t.schema(self.policy) for t in (self.tools if tools is None else tools).values()]

    def of(self, case: Any) -> FolderStore:
        """Return the store as a case's conversation sees it, with the case's own world."""
        return self.laid_over(case.id, case.world, case.library, case.pair or case.id)

    def laid_over(self, name: str, world: Mapping[str, Any], library: str | None = None, seed: str = "") -> FolderStore:
        """Return the store as a case sees it: the store itself if the case has no world of its own.

        The result is cached under `name`, the case's id. A world has ``rows`` (table, id, fields), ``policy`` (dotted
        path to value) and ``articles`` (id, title, topics and text). `library` is ``large`` for the whole library, or
        comma-separated ids of its articles. `seed`, by default `name`, and the store's canary determine what the world
        draws. Raise `BadInput` for an unknown table.
        """
        if self.below is not None or not (world or library):
            return self
        kept = self.views.get(name)
        if kept is None or kept[0] != (world, library):
            kept = self.views[name] = ((world, library), self._laid(name, world, library, seed or name))
        return kept[1]

    def _laid(self, name: str, world: Mapping[str, Any], library: str | None, seed: str) -> FolderStore:
        rows, articles = world.get("rows") or {}, world.get("articles") or []
        if unknown := sorted(set(rows) - set(self.tables)):
            raise BadInput(
                f"case {name}: world.rows: there is no table {unknown[0]!r}: name one of {', '.join(self.tables)}"
            )
        other = copy.copy(self)
        own = vars(other)
        laid = set(rows)
        if rows:
            tables = dict(self.tables)
            for table, over in rows.items():
                changed = {key: frozen(merged(tables[table].get(key, {}), row)) for key, row in over.items()}
                tables[table] = FrozenDict({**tables[table], **changed})
            own["tables"] = FrozenDict(tables)
        policy = _drawn(world.get("policy") or {}, f"{self.info.get('canary')} {seed}")
        if policy:
            laid.add("policy")
            own["policy"] = frozen(merged(self.policy, policy))
        if policy or articles or library:
            laid.add("articles")
            for cached in ("articles", "search"):
                own.pop(cached, None)
            if library == WHOLE and name != WHOLE and not (policy or articles):
                whole = self.laid_over(WHOLE, {}, WHOLE)
                own.update(articles=whole.articles, search=whole.search)
            else:
                below = other.read_articles() if policy else self.articles
                own["articles"] = frozen(other._with_articles(below, articles, library))
        own.update(below=self, laid=frozenset(laid), views={})
        return other

    def _with_articles(self, below: list[Any], own: list[dict[str, Any]], library: str | None) -> list[dict[str, Any]]:
        # Of articles with the same id, the last replaces the others.
        wanted = None if library == WHOLE else frozenset(part.strip() for part in (library or "").split(","))
        added = self.read_library(wanted) if library else []
        filled = [{**article, "text": self.filled(article["text"], article["id"]).strip()} for article in own]
        return list({article["id"]: article for article in (*below, *added, *filled)}.values())

    @cached_property
    def articles(self) -> list[dict[str, Any]]:
        """Return the articles with the policy's numbers filled in: id, title, topics, text."""
        return frozen(self.read_articles())

    def read_articles(self) -> list[dict[str, Any]]:
        """Read the articles; those of an extending folder replace others with the same id."""
        files = self._files_of("articles")
        articles = {head["id"]: {**head, "text": self.filled(text, where).strip()} for where, head, text in files}
        return list(articles.values())

    def _files_of(self, name: str) -> list[tuple[str, dict[str, Any], str]]:
        # The path, header and text of each Markdown file, those of the base stores first; read only once.
        kept = self._files.setdefault(name, [])
        if not kept:
            paths = [p for folder in self.folders for p in sorted((folder / name).glob("*.md"))]
            kept += [(str(path), *front_matter(path)) for path in paths]
        return kept

    def read_library(self, wanted: Collection[str] | None = None) -> list[dict[str, Any]]:
        """Read the articles of the store's library, from which cases choose.

        A file with ``for_each: path.in.policy`` in its header yields one article for each entry at that path; ``key``
        and ``each`` are the entry's name and value. `wanted` limits the result to these ids.
        """
        articles = []
        for where, head, text in self._files_of("library"):
            path = head.get("for_each")
            entries = setting(self, path) if path else {"": None}
            for key, each in entries.items() if isinstance(entries, dict) else ((str(one), one) for one in entries):
                names = {"key": key, "each": each}
                if wanted is not None and self.filled(head["id"], where, **names) not in wanted:
                    continue
                filled = {k: self._filled_in(v, where, names) for k, v in head.items() if k != "for_each"}
                articles.append({**filled, "text": self.filled(text, where, **names).strip()})
        return articles

    def _filled_in(self, value: Any, where: str, names: dict[str, Any]) -> Any:
        if isinstance(value, list):
            return [self._filled_in(one, where, names) for one in value]
        return self.filled(value, where, **names) if isinstance(value, str) else value

    def filled(self, text: str, where: str, **names: Any) -> str:
        """Return a text with the policy's numbers filled in."""
        return render(text, where, policy=self.policy, store=self.info, **names)

    @cached_property
    def search(self) -> Search:
        """Return the BM25 search over the knowledge base."""
        return _index(orjson.dumps(self.articles))

    @cached_property
    def phrases(self) -> dict[str, dict[str, Any]]:
        """Return the phrases by language from ``phrases/*.yaml``, merged across the store's folders."""
        books: dict[str, dict[str, Any]] = thawed(self.kind.usual.get("phrases", {}))
        for path in (p for folder in self.folders for p in sorted((folder / "phrases").glob("*.yaml"))):
            loaded = read_yaml(path)
            book = books.setdefault(loaded.get("language", path.stem), {})
            for part, content in loaded.items():
                book[part] = {**book.get(part, {}), **content} if isinstance(content, dict) else content
        for language, part in ((one, part) for one in books for part in PHRASES):
            if not isinstance(books[language].get(part), dict):
                raise BadInput(
                    f"{self.path / 'phrases'}: the language {language} has no {part!r} with phrases: copy it "
                    "from the shipped store and change it"
                )
        return frozen(books)

    def prompt(self, path: Path | None = None) -> tuple[str, str]:
        """Return the agent's system prompt, from the store or from `path`, and its version."""
        path = path or self.file("prompts/agent.md")
        head, text = front_matter(path)
        clock = f"{self.now:%A}, {self.now:%B} {self.now.day}, {self.now:%Y}, {self.now:%H:%M}"
        if beyond := [str(name) for name in head if name != "version"]:
            why = f"the header between the --- lines has {beyond[0]!r}, which would not reach the model"
            raise BadInput(f"{path}: {why}: leave it out, or begin the file with an empty line to keep it as text")
        calls = CALLS_OF_HARD_CASES if self.info.get("families") else CALLS_PER_TURN
        filled = self.filled(text, str(path), clock=clock, calls=calls).strip()
        if not filled:
            raise BadInput(f"{path} contains no prompt: write the text for the model in it")
        return filled, str(head.get("version", path.stem))

    def file(self, name: str) -> Path:
        """Return the path of a file of the store, of the one it extends, or of its kind."""
        paths = (folder / name for folder in reversed(self.folders))
        return next(filter(Path.exists, paths), None) or self.kind.usual_files.get(name, self.path / name)

    @cached_property
    def hash(self) -> str:
        """Return the hash of the files that make the store, without cases, wordings and prompts."""
        patterns = (*FILES, *self.kind.files, *(files for files, _ in self.kind.tables.values()))
        found = {p for pattern in patterns for p in self.path.glob(pattern) if p.is_file() and p.name not in UNPLAYED}
        files = sorted(p for p in found if p.parent.name not in ("cases", "prompts", "wordings"))
        parts = [str(p.relative_to(self.path)).encode() + b"\0" + self.kind.content(p) for p in files]
        below = [self.extends.hash.encode()] if self.extends else []
        return content_hash(b"\0".join([*parts, *below]))


def load_store(name: str | Path = "northline", tools: str | None = None) -> Store:
    """Load a store by name or by the path of its folder; a process loads each folder once.

    `tools`, a ``module:name``, adds the user's own tools to the store's. Raise `BadInput` for an unknown store, a
    broken file or missing tools.
    """
    if tools is not None:
        store = load_store(name)
        return store.with_tools(guarded(load_tools(tools), store.policy))
    if foreign := foreign_named(str(name)):
        return foreign.opened()  # type: ignore[no-any-return]
    folder = str(name).replace(":", "-")
    for path in (Path(name), Path(folder), STORES / folder):
        if os.path.isfile(path / "store.yaml"):
            return _load(path.resolve())
    known = ", ".join(sorted(read_yaml(p)["name"] for p in STORES.glob("*/store.yaml")))
    raise BadInput(
        f"no store {str(name)[:80]!r}: name one of {known}, or a store's folder, which contains a store.yaml"
    )


def foreign_named(name: str) -> ForeignStore | None:
    """Return, not yet opened, the store that plays its own cases, such as ``tau:retail``.

    Return None for one of our own stores. Raise `BadInput` for an unknown name.
    """
    known = offered("stores")
    prefix = next((one for one in known if name.startswith(one)), f"{declared(name, 'kind')}:")
    return offer("stores", prefix)(name) if prefix in known else None


def declared(folder: str | Path, field: str) -> str:
    """Return a field of the ``store.yaml`` in a folder as text; empty if there is none."""
    path = Path(folder) / "store.yaml"
    info = read_yaml(path) if os.path.isfile(path) else None
    return str(info.get(field, "")) if isinstance(info, dict) else ""


_load = lru_cache(maxsize=8)(FolderStore)


@lru_cache(maxsize=32)
def _index(articles: bytes) -> Search:
    # Cases with the same articles share one index.
    return Search(orjson.loads(articles))


def _drawn(value: Any, seed: str) -> Any:
    """Replace each ``{one_of: [...]}`` of a tree with one of its values, determined by the seed."""
    if isinstance(value, Mapping):
        if value.keys() == {"one_of"}:
            return value["one_of"][zlib.crc32(seed.encode()) % len(value["one_of"])]
        return {key: _drawn(inner, f"{seed}.{key}") for key, inner in value.items()}
    return [_drawn(inner, f"{seed}.{index}") for index, inner in enumerate(value)] if isinstance(value, list) else value
