"""Interface of a store of real chats to the core: its cases, agents, customers and scores."""

from __future__ import annotations

import fnmatch
import os
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...cases import Case
from ...errors import BadInput
from ...project import DATA
from ...records import Conversation
from . import speakers
from .score import chat_score
from .store import ON, PREFIX, ChatStore

PLAY_ON = "play-on"
"""Name of the cases in which the customer goes on."""


class RealChats:
    """The chats of a store's name, or of its folder; it is opened on first use."""

    scripted = speakers.SCRIPTED
    floor = None

    def __init__(self, name: str):
        self._name, self.domain = name, name.removeprefix(PREFIX)

    @cached_property
    def store(self) -> ChatStore:
        """Return the folder as a store; raise `BadInput` if there is none of this name."""
        places = [Path(self._name)]
        if self._name.startswith(PREFIX):
            places = [place / f"chats-{self.domain}" for place in (DATA / "stores", Path("data") / "stores")]
        for place in places:
            if os.path.isfile(place / "store.yaml"):
                store = _opened(place.resolve())
                self.domain = store.domain
                return store
        raise BadInput(f"no store {self._name[:80]!r} of real chats: give its folder with --store")

    def cases(self) -> tuple[Case, ...]:
        """Return every decision as a case."""
        return self.store.cases

    def choose(self, pattern: str) -> list[Case]:
        """Return the cases that a pattern names.

        Parameters
        ----------
        pattern : str
            ``all``, or parts separated by commas: ids of cases or chats, or topics, with wildcards. ``play-on`` gives
            the cases in which the customer goes on after the decision.
        """
        parts = [part.strip() for part in pattern.split(",")]
        on = PLAY_ON in parts
        wanted = [part for part in parts if part != PLAY_ON] or ["all"]
        cases = [case for case in self.store.cases if case.id.endswith(ON) == on]
        kept: set[str] = set()
        for part in wanted:
            hits = {case.id for case in cases if part == "all" or _is_named(case, part)}
            if not hits:
                topics = ", ".join(sorted({case.intent for case in cases})[:8])
                raise BadInput(f"{self.store.name} has no case {part[:80]!r}: name one, a topic ({topics}) or all")
            kept |= hits
        return [case for case in cases if case.id in kept]

    def agent(self, spec: str, case: Case) -> Any:
        """Return a scripted agent that takes the chat over."""
        one, name = self.store.decision(case), spec.removeprefix("scripted:")
        if name not in self.scripted:
            known = ", ".join(f"scripted:{known}" for known in self.scripted)
            raise BadInput(f"{spec} plays only our own cases: on {self.store.name}, name {known} or a model")
        return speakers.Resumed(speakers.ChatAgent(name, one, self.store), one)

    def resumed(self, agent: Any, case: Case) -> Any:
        """Return an agent that speaks the chat up to the cut, and lets `agent` go on."""
        return speakers.Resumed(agent, self.store.decision(case))

    def customer(self, spec: str, case: Case, complete: Any) -> Any:
        """Return the customer of a case."""
        one = self.store.decision(case)
        if spec == "scripted":
            return speakers.ChatCustomer(case, one)
        return speakers.ChatModelCustomer(case, one, complete)

    def customer_prompt(self, case: Case) -> str:
        """Return the system prompt of the model that goes on as the customer."""
        return speakers.customer_prompt(self.store.decision(case))

    def score(self, conversation: Conversation, case: Case) -> dict[str, Any]:
        """Return the score of one conversation."""
        return chat_score(conversation, case, self.store)

    def summary(self, share: str, scores: list[dict[str, Any]]) -> str:
        """Describe a run: decisions as written, and as the human decided."""
        right = [bool(s["success"]) for s in scores if s.get("scored")]
        equal = [p["human_acts"] for s in scores if (p := s.get("decision")) and p["human_acts"] is not None]
        both = f"{sum(right)} of {len(right)} decisions right; {sum(equal)} of {len(equal)} with the human's acts"
        return f"{self.domain}, {both}"


def _is_named(case: Case, part: str) -> bool:
    bare = case.id.removesuffix(ON)
    names = (case.id, bare, bare.rpartition("_")[0], case.intent)
    return any(name == part or fnmatch.fnmatchcase(name, part) for name in names)


@lru_cache(maxsize=8)
def _opened(path: Path) -> ChatStore:
    def chats_of(store: ChatStore) -> RealChats:
        found = RealChats(store.name)
        found.__dict__["store"] = store
        return found

    return ChatStore(path, chats_of)
