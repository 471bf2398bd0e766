"""Combine the probabilities of what was parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .heard import ParsedSentence


def likelier(known: dict[str, float], new: dict[str, float], share: float) -> None:
    """Raise the probabilities in `known` to those in `new`, each multiplied by `share`."""
    for name, chance in new.items():
        known[name] = max(known.get(name, 0.0), chance * share)


def likeliest(chances: dict[str, float], least: float) -> list[str]:
    """Return the likeliest name in a list; an empty list if it is below `least`."""
    best = max(chances, key=chances.__getitem__, default=None)
    return [best] if best is not None and chances[best] >= least else []


def add(known: list[str], new: list[str]) -> None:
    """Add new names to a list."""
    known += [n for n in new if n not in known]


def choices(heard: list[ParsedSentence], least: float) -> list[set[str]]:
    """Return groups of slots of which one suffices: in one sentence, as an alternative, or in one list."""
    found: list[set[str]] = []
    before: set[str] = set()
    listed = False
    for one in heard:
        slots = {slot for slot, chance in one.slots.items() if chance >= least and one.acts["ask"] >= least}
        if not one.item:
            listed = False
        if slots and listed:
            found[-1] |= slots
        elif slots and one.instead and before:
            found.append(before | slots)
        elif slots and one.either:
            found.append(slots)
        if one.one_of:
            found.append(slots)
            listed = True
        before = slots or before
    return found
