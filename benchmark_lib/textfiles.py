"""Read text files: YAML, Markdown with a YAML head, templates; refuse broken ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from .errors import BadInput
from .project import DATA

LARGEST_FILE = 50_000_000
"""Maximum number of bytes of a text file."""
MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""Byte-order marks with their encodings; the first match counts."""
DEEPEST, MOST_VALUES = 100, 2_000_000
"""Maximum depth of a YAML file and number of its values, with aliases expanded."""
BROKEN_YAML = (yaml.YAMLError, ValueError, RecursionError, TypeError, KeyError, AttributeError, OverflowError)
"""Errors that loading broken YAML raises; the constructors of dates, numbers and tags add their own."""
MENDS = {
    "mapping values": "a text that contains ': ' needs quotes, or a block: | after the name, and the text below it",
    "tab character": "use spaces, not a tab",
    "": "put text that looks like a date, number or tag in quotes",
}
"""What to do about broken YAML, by a part of the error's words; the first that occurs counts."""


def read_text(path: Path, largest: int = LARGEST_FILE) -> str:
    """Read a text file in UTF-8, or in marked UTF-16 or UTF-32, without its byte-order mark.

    Raise `BadInput` for anything but a file (a folder, a pipe, a device), for more than `largest` bytes, or for another
    encoding.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise BadInput(f"{path} cannot be read (it is not a file): name a text file")
        if path.stat().st_size > largest:
            raise BadInput(f"{path} has {path.stat().st_size:,} bytes, more than the limit of {largest:,}: shorten it")
        raw = path.read_bytes()
        return raw.decode(next((encoding for mark, encoding in MARKS.items() if raw.startswith(mark)), "utf-8-sig"))
    except FileNotFoundError:
        raise BadInput(f"{path} cannot be read (it is missing): restore it from the repository or create it") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} cannot be read (byte {error.start:,} is not UTF-8): save it in UTF-8") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{path} cannot be read ({why}): check its name and its permissions") from None


def read_yaml(path: Path, largest: int = LARGEST_FILE) -> Any:
    """Read one YAML file safely; refuse a broken file and say where the error is."""
    text = read_text(path, largest)
    try:
        return load_yaml(text, trusted=path.resolve().is_relative_to(DATA))
    except BROKEN_YAML as error:
        why = " ".join(str(error).split()).replace('in "<unicode string>",', "in")
        tab = "tab character" if "cannot start any token" in why and re.search(r"(?m)^[ -]*\t", text) else ""
        mend = next(words for sign, words in MENDS.items() if sign in why + tab)
        raise BadInput(f"{path} is not valid YAML: {why}: correct it there; {mend}") from None


def yes_or_no(word: object) -> bool | None:
    """Parse a yes or no as people write it in any language; return None for anything else."""
    yes, no = _yes_and_no()
    answer = str(word).strip().casefold()
    return True if answer in yes else False if answer in no else None


@lru_cache(maxsize=1)
def _yes_and_no() -> tuple[frozenset[str], frozenset[str]]:
    words = read_yaml(DATA / "yes_no.yaml")
    return frozenset(words["yes"]), frozenset(words["no"])


def front_matter(path: Path) -> tuple[dict[str, Any], str]:
    """Return the YAML head between two ``---`` lines, and the text below it."""
    text = read_text(path).replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return {}, text
    head, _, body = text[4:].partition("\n---\n")
    try:
        read = load_yaml(head) or {}
    except BROKEN_YAML as error:
        raise BadInput(f"{path}: the header is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(read, dict):
        raise BadInput(
            f"{path}: the header between the two --- lines is not of the form `name: value`: correct or remove it"
        )
    return read, body


def load_yaml(text: str, trusted: bool = False) -> Any:
    """Load a YAML text safely and fast; raise one of `BROKEN_YAML` if broken or too large."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if not trusted:
        _check_size(yaml.parse(text, Loader=loader))
    return yaml.load(text, Loader=loader)


def as_yaml(content: Any) -> str:
    """Return content as YAML that people can edit."""
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def unfilled(text: str) -> str:
    """Return a text that a template leaves unchanged."""
    return re.sub("{[{%#]", lambda found: "{{ '" + found[0] + "' }}", text)


def _check_size(events: Iterable[Any]) -> None:
    """Refuse YAML that nests too deeply, or whose aliases expand to too many values.

    Deep nesting would crash the recursive C loader, and a few aliases of aliases would fill the memory.
    """
    sizes: dict[str, int] = {}
    open_nodes: list[list[Any]] = [["", 0]]
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append([event.anchor, 1])
            if len(open_nodes) > DEEPEST:
                raise ValueError(f"it nests more than {DEEPEST} levels deep")
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
        elif isinstance(event, yaml.AliasEvent):
            anchor, size = "", sizes.get(event.anchor, 1)
        else:
            anchor, size = getattr(event, "anchor", ""), 1
        if anchor:
            sizes[anchor] = size
        open_nodes[-1][1] += size
        if open_nodes[-1][1] > MOST_VALUES:
            raise ValueError(f"its aliases expand to more than {MOST_VALUES:,} values")


def render(text: str, where: str, /, **names: Any) -> str:
    """Fill in the ``{{ placeholders }}`` of a text; refuse an unknown name and say where it is."""
    if "{{" not in text and "{%" not in text:
        return text
    try:
        from .templates import written

        return written(text, names)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    except Exception as error:  # an expression in the text may raise anything
        why = _unknown_in(text, error, names) or (
            f"the text cannot be filled in ({type(error).__name__}: {' '.join(str(error).split())}): "
            "correct the text between the braces"
        )
        raise BadInput(f"{where}: {why}") from None


def _unknown_in(text: str, error: Exception, names: Mapping[str, Any]) -> str:
    """Return which name in a text does not exist, with a hint; nothing for other errors."""
    unknown = re.search(r"'(\w+)'(?: is undefined)?$", str(error))
    named = unknown and re.search(rf"\{{[{{%][^{{}}]*?\b((?:\w+\.)*{unknown[1]})\b", text)
    if type(error).__name__ != "UndefinedError" or not named:
        return ""
    *owners, name = named[1].split(".")
    known: Any = names
    for owner in owners:
        known = known.get(owner) if isinstance(known, Mapping) else None
    return f"the text names {named[1]}, which does not exist: {nearest(name, [*map(str, known or ())])}"


def nearest(name: str, known: Sequence[str]) -> str:
    """Return a hint for a name that does not exist: the nearest that does, or those that do."""
    near = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]}?" if near else f"the names are {', '.join(known[:12]) or 'none'}"
