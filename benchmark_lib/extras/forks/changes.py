"""What-ifs: one thing changed at a fork, compared with the unchanged fork."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ...cases import Case
from ...cases.hard import HANDED_OVER
from ...cases.operator_rules import load_rules, prompt_with
from ...conversation.speaker import Reply
from ...errors import BadInput
from ...records import Conversation
from ...store import Store
from ...textfiles import read_yaml
from .points import ForkPoint

TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("texts.yaml"))
KINDS = {"no-pressure": False, "say": True, "photo": False, "no-plant": False, "rule": True, "article": True}
"""Kinds of changes, and whether they take a value; ``docs/forks.md`` explains them."""
WRITTEN = ", ".join(f"{kind}=..." if valued else kind for kind, valued in KINDS.items())


class WhatIf(NamedTuple):
    """One change at the fork, as in ``--what-if NAME`` or ``NAME=VALUE``; none if empty."""

    name: str = ""
    value: str = ""

    @classmethod
    def of(cls, text: str | None) -> WhatIf:
        """Return the change that a text names; raise `BadInput` for an unknown one."""
        name, _, value = (text or "").partition("=")
        if text and KINDS.get(name) != bool(value.strip()):
            raise BadInput(f"there is no what-if {text!r:.60}: choose one of {WRITTEN}")
        return cls(name, value.strip())

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.value else self.name

    def fits(self, record: Conversation, point: ForkPoint, case: Case) -> bool:
        """Return whether a point has anything to change that the agent had not met before."""
        if self.name == "no-pressure":
            return any(turn == point.turn for turn, _ in record.acts("pushed"))
        if self.name == "photo":
            sent = {name for m in record.messages if m.turn <= point.turn for name in m.attachments}
            return any(known.attach and known.attach not in sent for known in case.ledger.values())
        if self.name == "no-plant":
            met = [call.turn for call in record.tool_calls if str(call.index) in record.staged]
            met += [m.turn for m in record.messages for text in case.planted if text in " ".join(m.shows.values())]
            clean = self.case(case)
            return (clean.world, clean.ledger) != (case.world, case.ledger) and min(
                met, default=point.turn
            ) >= point.turn
        return True

    def case(self, case: Case) -> Case:
        """Return the case to play, with changes to what the customer has or to what is planted."""
        if self.name == "photo":
            asked = {"when": "asked", "shows": TEXTS["shows"]}
            ledger = {
                slot: known.model_copy(update=asked | ({"shows": known.shows} if known.shows else {}))
                if known.attach
                else known
                for slot, known in case.ledger.items()
            }
            return case.model_copy(update={"ledger": ledger})
        if self.name == "no-plant":
            text = case.model_dump_json(include={"world", "ledger"})
            for planted in case.planted:
                text = text.replace(orjson.dumps(planted).decode()[1:-1], "")
            clean = Case.model_validate(case.model_dump() | orjson.loads(text) | {"planted": []})
            return case.model_copy(update={name: getattr(clean, name) for name in ("world", "ledger", "planted")})
        return case

    def said(self, said: Reply, case: Case) -> Reply:
        """Return the customer's message at the fork."""
        text, attachments = said.text, said.attachments
        if self.name == "photo":
            attachments = attachments + [known.attach for known in case.ledger.values() if known.attach][:1]
            return Reply(text, said.acts, attachments)
        if self.name not in ("say", "no-pressure"):
            return said
        for line in case.pressure:
            text = text.replace(line.strip(), " ")
        calm = "\n".join(" ".join(line.split()) for line in text.splitlines()).strip()
        calm = calm or TEXTS["calm"].get(case.language, TEXTS["calm"]["en"])
        acts = [act for act in said.acts if act.kind != "pushed"]
        return Reply(self.value if self.name == "say" else calm, acts, attachments)

    def prompt(self, prompt: str, store: Store) -> str | None:
        """Return the agent's prompt from the fork on; None if it is unchanged."""
        if self.name == "rule":
            return prompt_with(prompt, load_rules(self.value, store.title))
        if self.name == "article":
            article = next((a for a in store.articles if a["id"] == self.value), None)
            if article is None:
                raise BadInput(
                    f"{self}: the store has no such article: choose one of its articles by id, such as KB-01"
                )
            return f"{prompt}\n\n{HANDED_OVER}\n\n### {article['id']} {article['title']}\n{article['text']}"
        return None
