"""Fresh sets: a private store and case set with the same logic and a hash for publication."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from ...cases.variants import WORDINGS, raw_wordings, wording_id, wording_of
from ...errors import BadInput
from ...extension import offer, offered
from ...project import folder_made, writing
from ...store import Store
from ...textfiles import front_matter, read_yaml
from .cases import Rekey

POOLS = "generate.yaml"
SEEDS = 2**64
LANGUAGE = re.compile(r"^language:", re.M)


@dataclass(frozen=True)
class FreshSet:
    """A generated set."""

    path: Path
    name: str
    """The store's name, ``<store>-<seed>``."""
    sha256: str
    """Hash of the whole set; see `folder_hash`."""
    cases: int
    """Number of cases."""
    rows: dict[str, int]
    """Number of rows by table."""
    wordings: int = 0
    """Number of wordings of cases; 0 if the source store has none of its own."""


def generate(store: Store, seed: int, out: str | Path) -> FreshSet:
    """Write a new store and case set with the same logic; a seed always gives the same bytes.

    Parameters
    ----------
    store : Store
        Source store; its ``generate.yaml`` has the pools to draw from.
    seed : int
        From 0 to 2**64 - 1. The seed reproduces the set, so a private set needs a large secret seed.
    out : str or Path
        Folder that does not exist or is empty.

    Raises
    ------
    BadInput
        If seed or folder is invalid, or the store cannot be re-keyed.
    """
    if store.foreign or store.kind.name not in offered("rekeys"):
        raise BadInput(
            f"--store {store.name}: a store of kind {store.kind.name!r} cannot be re-keyed: "
            "name a store of the kind retail, or omit the option"
        )
    if not 0 <= seed < SEEDS:
        raise BadInput(f"--seed {seed}: a seed is a whole number from 0 to {SEEDS - 1}; choose one")
    out = Path(out)
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise BadInput(f"--out {out}: already exists; name a new or empty folder")
    if any(out.resolve().is_relative_to(folder) for folder in store.folders):
        raise BadInput(f"--out {out}: is inside its source store; name a folder elsewhere")
    kind = offer("rekeys", store.kind.name)
    pools = _pools(store, kind.needed)
    try:
        rekey = kind(store, pools, seed)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{store.path}: cannot be re-keyed ({error}): compare policy.yaml and {POOLS} with those of Northline"
        ) from None
    place = out.resolve()
    with writing(out), folder_made(place.parent), TemporaryDirectory(dir=place.parent) as beside:
        part = Path(beside) / place.name
        cases = _write(rekey, part)
        told_again = _write_wordings(rekey, part)
        part.replace(place)
    rows = {table: len(content) for table, content in store.tables.items() if content}
    return FreshSet(out, f"{store.name}-{seed}", folder_hash(out), cases, rows, told_again)


def folder_hash(path: Path) -> str:
    """Return the SHA-256 of all files by path: path, zero byte, content and zero byte of each."""
    digest = hashlib.sha256()
    for name in sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file()):
        digest.update(name.encode() + b"\0" + (path / name).read_bytes() + b"\0")
    return digest.hexdigest()


def _pools(store: Store, needed: tuple[str, ...]) -> dict[str, Any]:
    paths = [folder / POOLS for folder in store.folders if (folder / POOLS).is_file()]
    if not paths:
        raise BadInput(
            f"{store.path}: the store has no {POOLS}, from which new names, places and goods are drawn; write "
            "one like Northline's"
        )
    pools: Any = {}
    for path in paths:
        pools = _added(pools, read_yaml(path))
    missing = [key for key in needed if not isinstance(pools, dict) or key not in pools]
    if missing:
        raise BadInput(f"{paths[-1]}: {missing[0]} is missing; write it as in Northline's {POOLS}")
    return pools


def _added(below: Any, own: Any) -> Any:
    if isinstance(below, dict) and isinstance(own, dict):
        both = {key: _added(below[key], own[key]) for key in below.keys() & own.keys()}
        return below | own | both
    return [*below, *own] if isinstance(below, list) and isinstance(own, list) else own


def _write(rekey: Rekey, out: Path) -> int:
    source, tables = rekey.store, rekey.store.tables
    own = {key: value for key, value in source.info.items() if key != "extends"}
    info = {
        **rekey.row(own),
        "name": f"{source.name}-{rekey.seed}",
        "canary": rekey.canary,
        "made_from": {"store": source.name, "version": source.version, "seed": rekey.seed},
    }
    _yaml(out / "store.yaml", info)
    _yaml(out / "policy.yaml", rekey.policy(source.policy))
    for table, (files, key) in source.kind.tables.items():
        if tables[table]:
            rows = sorted(map(rekey.of_table, tables[table].values()), key=itemgetter(key))
            _bytes(out / files.replace("*", table), b"".join(orjson.dumps(row) + b"\n" for row in rows))
    cases = 0
    for path in sorted((source.path / "cases").glob("*.yaml")):
        made_cases = sorted(map(rekey.case, read_yaml(path)["cases"]), key=itemgetter("id"))
        _yaml(out / "cases" / path.name, {"canary": rekey.canary, "cases": made_cases})
        cases += len(made_cases)
    if (source.path / "factorial.yaml").is_file():
        table = rekey.factorial(read_yaml(source.path / "factorial.yaml"))
        _yaml(out / "factorial.yaml", {**table, "canary": rekey.canary})
    for name in ("articles", "library"):
        for path, place in _files(source, f"{name}/*.md"):
            _text(out / place, rekey.article(path.read_text(encoding="utf-8")))
    for pattern in ("prompts/*", "phrases/*", "reasons/*.yaml"):
        for path, place in _files(source, pattern):
            text = path.read_text(encoding="utf-8").replace(source.info["canary"], rekey.canary)
            if place.name != path.name and place.suffix == ".yaml" and not LANGUAGE.search(text):
                text = f"language: {path.stem}\n{text}"
            _text(out / place, text)
    for path, place in _files(source, "*/weights.npz"):
        _bytes(out / place, path.read_bytes())
    return cases


def _write_wordings(rekey: Rekey, out: Path) -> int:
    source, written = rekey.store, 0
    for path in sorted((source.path / WORDINGS).glob("*.yaml")):
        made = {raw["id"]: rekey.case(raw) for raw in raw_wordings(source, path)}
        wordings = {
            name: [wording_of(made[wording_id(name, n)], texts) for n, texts in enumerate(voices, 1)]
            for name, voices in read_yaml(path)["wordings"].items()
            if wording_id(name, 1) in made
        }
        if wordings:
            _yaml(out / WORDINGS / path.name, {"canary": rekey.canary, "wordings": wordings})
        written += sum(map(len, wordings.values()))
    return written


def _files(store: Store, pattern: str) -> Iterator[tuple[Path, Path]]:
    """Yield the files of a pattern in the store and its bases, each with its place in the set.

    The store's own file replaces an inherited prompt, weights file or article of the same id. Of two files of
    phrases with the same name, both are kept, the store's own after the inherited one.
    """
    by_key: dict[str, tuple[Path, Path]] = {}
    taken: set[Path] = set()
    for number, folder in enumerate(store.folders, 1):
        for path in sorted(p for p in folder.glob(pattern) if p.is_file()):
            place = path.relative_to(folder)
            both = place.parent.name == "phrases" and place in taken
            if both:
                place = place.with_stem(f"{place.stem}_{number}")
            taken.add(place)
            key = str(front_matter(path)[0].get("id", place)) if path.suffix == ".md" else str(place)
            by_key[key] = (path, place)
    yield from sorted(by_key.values(), key=lambda pair: pair[1])


def _yaml(path: Path, content: Any) -> None:
    import yaml

    class Dumper(yaml.SafeDumper):
        """YAML with multi-line texts as blocks and without references."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def scalar(dumper: Dumper, text: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, scalar)
    _text(path, yaml.dump(content, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=140))


def _text(path: Path, text: str) -> None:
    _bytes(path, text.replace("\r\n", "\n").encode())


def _bytes(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
