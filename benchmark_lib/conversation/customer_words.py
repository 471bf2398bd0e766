"""Assembly of a scripted customer's message from its sentences."""

import re


def filled(wording: str, value: str) -> str:
    """Return a wording with its value; if two closing marks meet, keep one."""
    before, place, after = wording.partition("{value}")
    if not place:
        return wording
    value = value.strip().rstrip(".") if after else value.strip()
    if not before and value.partition(" ")[0].isalpha():
        value = value[0].upper() + value[1:]
    return before + value + (after[1:] if after[:1] == "." and value[-1:] in "!?…" else after)


def written(parts: list[str], last: bool = True) -> str:
    """Join parts, each closed by a mark or by kisses; the last stays as it is unless `last`.

    A part that begins with two line breaks begins a paragraph.
    """
    filled_parts = [p.rstrip() for p in parts if p.strip()]
    closed = [f"{p}." if p[-1].isalnum() and not re.search(r"[.!?] x+$", p) else p for p in filled_parts]
    return " ".join(closed if last else [*closed[:-1], *filled_parts[-1:]]).replace(" \n", "\n").strip()
