"""The inputs of a run in its manifest, and the list of hidden run files."""

import re
from pathlib import Path
from typing import Any

from ..outputs import writing

LIST = ".hidden"
"""A file in the folder of runs with the names of the hidden runs, one per line."""


def is_hidden(path: Path) -> bool:
    """Return whether a run file is hidden in its folder."""
    return path.name in _names(path.parent)


def hide(path: Path, hidden: bool = True) -> bool:
    """Hide a run file, or show it again; return whether that changed anything."""
    names = _names(path.parent)
    if (path.name in names) == hidden:
        return False
    left = sorted(names ^ {path.name})
    with writing(path.parent, ""):
        (path.parent / LIST).write_text("".join(f"{name}\n" for name in left), encoding="utf-8")
    return True


def _names(folder: Path) -> set[str]:
    try:
        return set((folder / LIST).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return set()


KINDS: dict[str, type] = {"run_id": str, "model": str, "source": str, "inputs": dict, "cases": dict}
KINDS |= {"trials": int, "planned": dict, "sessions": list}
"""The parts of every manifest, with their types."""
WORDS = {str: "a text", dict: "an object", list: "a list", int: "a whole number"}


LINE_ENDS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


def without_line_ends(text: str) -> str:
    """Replace every run of tabs and line ends in a name or line by one space."""
    return LINE_ENDS.sub(" ", text)


def wrong_part(manifest: dict[str, Any]) -> str | None:
    """Describe the first part that is missing or has a wrong type; return None if all are fine."""
    for name, kind in KINDS.items():
        if name not in manifest:
            return f"no {name}"
        if not _is(manifest[name], kind):
            return f"{name} that is not {WORDS[kind]}"
    if "store" not in manifest["inputs"]:
        return "no store among its inputs"
    for name, part in manifest["inputs"].items():
        if not (_is(part, dict) and "value" in part and _is(part.get("hash"), str)):
            return f"an input {name!r} without value and hash"
    for case_id, digest in manifest["cases"].items():
        if not _is(digest, str):
            return f"no hash of case {case_id!r}"
    for case_id, trials in manifest["planned"].items():
        if not _is(trials, int) or trials < 0:
            return f"no number of trials planned for case {case_id!r}"
    counted = manifest.get("counted_on", {})
    if not _is(counted, dict) or not all(_is_counted(parts) for parts in counted.values()):
        return "trials counted on that are not pairs of numbers"
    if not manifest["planned"]:
        return "no case that was planned"
    for session in manifest["sessions"]:
        if not _is(session, dict) or not _is(session.get("code", {}), dict):
            return "a session that is not an object with its code"
    return None


def _is_counted(parts: Any) -> bool:
    """Return whether this is a list of pairs (trial, offset) as `run_list.merge` writes them."""
    return isinstance(parts, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(_is(n, int) for n in pair) for pair in parts
    )


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
