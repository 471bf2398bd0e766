"""What-ifs: one thing that is changed at a fork, beside the same fork without the change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...cases import Case
from ...cases.operator_rules import load_rules, prompt_with
from ...cases.variants import HANDED_OVER
from ...conversation.speaker import Reply
from ...errors import BadInput
from ...records import Act, Conversation
from ...store import Store
from ...textfiles import read_yaml
from .points import Point

TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("texts.yaml"))


@dataclass(frozen=True)
class Change:
    """One change of the conversation at the fork.

    Attributes
    ----------
    name, value : str
        As in ``--what-if NAME`` or ``--what-if NAME=VALUE``; without a name, nothing is changed.
    """

    name: str = ""
    value: str = ""

    @classmethod
    def of(cls, text: str | None) -> Change:
        """Return the change that a text names; raise `BadInput` for another."""
        name, _, value = (text or "").partition("=")
        if text and (name not in KINDS or bool(value.strip()) != KINDS[name][0]):
            every = ", ".join(f"{kind}=..." if valued else kind for kind, (valued, *_) in KINDS.items())
            raise BadInput(f"there is no what-if {text!r:.60}: choose one of {every}")
        return cls(name, value.strip())

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.value else self.name

    def fits(self, record: Conversation, point: Point, case: Case) -> bool:
        """Return whether there is anything to change at a point."""
        return not self.name or KINDS[self.name][1](record, point, case)

    def case(self, case: Case) -> Case:
        """Return the case as it is played from the start: another one for what the customer has and what is planted."""
        if self.name == "photo":
            ledger = {slot: _at_hand(known) if known.attach else known for slot, known in case.ledger.items()}
            return case.model_copy(update={"ledger": ledger})
        if self.name == "no-plant":
            world = _without(case.world, case.planted)
            return case.model_copy(update={"world": world, "planted": [], "ledger": _without_in_ledger(case)})
        return case

    def said(self, said: Reply, record: Conversation, point: Point, case: Case) -> Reply:
        """Return the customer message at the fork."""
        if self.name == "say":
            return Reply(self.value, _but_pushed(said.acts), said.attachments)
        if self.name == "no-pressure":
            return Reply(_calm(said.text, case), _but_pushed(said.acts), said.attachments)
        if self.name == "photo":
            held = [known.attach for known in case.ledger.values() if known.attach]
            return Reply(said.text, said.acts, [*said.attachments, *held[:1]])
        return said

    def prompt(self, prompt: str, store: Store) -> str | None:
        """Return the agent's prompt from the fork on; None where it stays."""
        if self.name == "rule":
            return prompt_with(prompt, load_rules(self.value, store.title))
        if self.name == "article":
            article = next((a for a in store.articles if a["id"] == self.value), None)
            if article is None:
                raise BadInput(
                    f"--what-if article={self.value}: the store has no such article: choose from its articles"
                )
            return f"{prompt}\n\n{HANDED_OVER}\n\n### {article['id']} {article['title']}\n{article['text']}"
        return None


def _always(record: Conversation, point: Point, case: Case) -> bool:
    return True


def _pushes(record: Conversation, point: Point, case: Case) -> bool:
    return any(turn == point.turn for turn, _ in record.acts("pushed"))


def _has_attachments(record: Conversation, point: Point, case: Case) -> bool:
    sent = {name for m in record.messages if m.turn <= point.turn for name in m.attachments}
    return any(known.attach and known.attach not in sent for known in case.ledger.values())


def _not_met_yet(record: Conversation, point: Point, case: Case) -> bool:
    met = [call.turn for call in record.tool_calls if str(call.index) in record.staged]
    met += [m.turn for m in record.messages for text in case.planted if text in " ".join(m.shows.values())]
    changed = _without(case.world, case.planted) != case.world or _without_in_ledger(case) != case.ledger
    return changed and all(turn >= point.turn for turn in met)


KINDS: dict[str, tuple[bool, Callable[[Conversation, Point, Case], bool], str]] = {
    "no-pressure": (False, _pushes, "the line of pressure in this message is taken out"),
    "say": (True, _always, "the customer's message is this text"),
    "photo": (False, _has_attachments, "the customer attaches the picture"),
    "no-plant": (False, _not_met_yet, "the planted text is not there"),
    "rule": (True, _always, "the prompt has this rule too"),
    "article": (True, _always, "the prompt has this article too"),
}
"""Kinds of changes: whether they take a value, where they apply, and what they are in words."""


def _but_pushed(acts: list[Act]) -> list[Act]:
    return [act for act in acts if act.kind != "pushed"]


def _calm(text: str, case: Case) -> str:
    """Return a message without its lines of pressure; a short question in their place where nothing else is left."""
    for line in case.pressure:
        text = text.replace(line.strip(), " ")
    words = "\n".join(" ".join(line.split()) for line in text.splitlines()).strip()
    return words or TEXTS["calm"].get(case.language, TEXTS["calm"]["en"])


def _at_hand(known: Any) -> Any:
    return known.model_copy(update={"when": "asked", "shows": known.shows or TEXTS["shows"]})


def _without(value: Any, planted: list[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(inner, planted) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, planted) for inner in value]
    if isinstance(value, str):
        for text in planted:
            value = value.replace(text, "")
    return value


def _without_in_ledger(case: Case) -> dict[str, Any]:
    return {
        slot: known.model_copy(update={"shows": _without(known.shows, case.planted)}) if known.shows else known
        for slot, known in case.ledger.items()
    }
