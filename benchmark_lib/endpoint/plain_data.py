"""Small YAML files that a user edits, and the plain data in them: what JSON cannot hold is refused where it stands."""

import math
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..textfiles import read_yaml

LARGEST_FILE = 1_000_000
DEEPEST, DEEPEST_NAMED, MOST_VALUES = 50, 4, 20_000
LARGEST_INTEGER = 2**63 - 1


def read_mapping(path: Path) -> dict[Any, Any]:
    """Return the mapping in a YAML file; `BadInput` when it cannot be read, or holds anything but one mapping."""
    content = read_yaml(path, LARGEST_FILE)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadInput(f"{path} must hold a mapping; begin it with a line like 'agent:'")
    return content


def check_plain(value: Any, where: str) -> None:
    """Refuse data that does not go into JSON and come out of it as it was; `where` is file and field, for the sentence.

    From a YAML file or a caller: it may hold itself, or the same part in many places. `BadInput` for a value that is no
    text, finite number, yes or no, list or mapping with text as keys, or is nested too deeply or too large.
    """
    waiting, seen = [(value, where, 0)], 0
    while waiting:
        value, field, depth = waiting.pop()
        seen += 1
        if depth > DEEPEST:
            raise BadInput(f"{where} is nested more than {DEEPEST} levels deep or holds itself; write it out flat")
        if seen > MOST_VALUES:
            raise BadInput(f"{where} holds more than {MOST_VALUES:,} values; make it smaller")
        problem = problem_of(value)
        if problem:
            raise BadInput(f"{field} {problem}")
        if isinstance(value, dict):
            waiting += [
                (inner, f"{field}.{key:.60}" if depth < DEEPEST_NAMED else field, depth + 1)
                for key, inner in value.items()
            ]
        elif isinstance(value, list):
            waiting += [(inner, field, depth + 1) for inner in value]


def problem_of(value: Any) -> str | None:
    """Return what keeps a value, without what is in it, out of JSON and how to mend that; None for nothing."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if is_text(value) else "is not valid Unicode; write it again"
    if isinstance(value, int):
        fits = -LARGEST_INTEGER <= value <= LARGEST_INTEGER
        return None if fits else "is a number of too many digits; write a smaller one"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"is {value}; give a finite number"
    if isinstance(value, list):
        return None
    if not isinstance(value, dict):
        return f"is a {type(value).__name__}, which JSON cannot hold; put it in quotes"
    odd = [key for key in value if not isinstance(key, str) or not is_text(key)]
    return f"has the key {odd[0]!r:.40}, which is not a text; put it in quotes" if odd else None


def is_text(value: str) -> bool:
    """Tell whether a string is valid Unicode."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
