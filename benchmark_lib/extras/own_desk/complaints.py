"""Complain about a desk's files: each sentence with its place and its importance."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ...errors import BadInput
from ...textfiles import read_text, read_yaml

CHECKS = Path(__file__).with_name("checks.yaml")


@cache
def texts(file: Path = CHECKS) -> dict[str, Any]:
    """Return the texts of a file, by default those of the checks, the most important first."""
    loaded: dict[str, Any] = read_yaml(file)
    return loaded


class Complaint(NamedTuple):
    """Say what is wrong or odd: its rank by importance, its place, and the remedy."""

    rank: int
    file: str
    line: int
    why: str

    @property
    def is_problem(self) -> bool:
        """Return whether it makes the desk wrong; otherwise it is worth a look."""
        return self.rank < len(texts()["problems"])

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}"


class Complaints:
    """Collect the complaints about a folder, and know the lines of its YAML files."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.all: set[Complaint] = set()
        self._trees: dict[str, Any] = {}

    def add(self, check: str, file: str, place: Sequence[Any] | int, **words: Any) -> None:
        """Add a complaint at a line, or at a path of keys and positions in a YAML file."""
        every = {**texts()["problems"], **texts()["notes"]}
        line = place if isinstance(place, int) else self._line(file, place)
        self.all.add(Complaint([*every].index(check), file, line, every[check].format(**words)))

    def _line(self, file: str, path: Sequence[Any]) -> int:
        if file not in self._trees:
            self._trees[file] = yaml.compose(read_text(self.folder / file), getattr(yaml, "CSafeLoader", yaml.Loader))
        node, line = self._trees[file], 1
        for step in map(str, path):
            entries = {k.value: (k, v) for k, v in node.value} if isinstance(node, yaml.MappingNode) else {}
            if isinstance(node, yaml.SequenceNode):
                entries = {str(n): (one, one) for n, one in enumerate(node.value)}
            if step not in entries:
                break
            line, node = entries[step][0].start_mark.line + 1, entries[step][1]
        return line

    @contextmanager
    def reading(self, file: str, path: Sequence[Any] | int = 1, check: str = "file") -> Iterator[None]:
        """Turn an error of reading into a complaint, at the place that it names or at the given one."""
        try:
            yield
        except (BadInput, csv.Error) as error:
            why = " ".join(str(error).split()).removeprefix(f"{self.folder / file}").removeprefix(": ").strip()
            line = re.search(r"^:(\d+)|\bline (\d+)", why)
            self.add(check, file, int(line[1] or line[2]) if line else path, why=re.sub(r"^:\d+: ", "", why))

    def yaml(self, file: str) -> dict[str, Any] | None:
        """Return the mapping of a YAML file, or None with a complaint."""
        with self.reading(file):
            content = read_yaml(self.folder / file)
            if isinstance(content, dict):
                return content
            raise BadInput("it is empty or not of the form `name: value`: compare it with that of `deskbench desk new`")
        return None


def nearest(name: str, known: Sequence[str]) -> str:
    """Return a hint at the nearest of the names that exist."""
    near = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]}?" if near else f"the names are {', '.join(known) or 'none'}"
