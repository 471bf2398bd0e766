"""Process rules, checked against a record.

Which calls they guard, and their numbers, stand in the store's policy; what they ask, in its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..records import Act, Conversation, ToolCall
from .protocols import World


@dataclass(frozen=True)
class Before:
    """What had happened when a call was made: the customer's acts so far and the calls carried out so far."""

    acts: list[Act]
    calls: list[ToolCall]

    def gave(self, fact: str) -> set[str]:
        """All values the customer gave for a fact."""
        return {a.detail or "" for a in self.acts if a.kind == "gave" and a.what == fact}

    def did(self, kind: str, what: set[str]) -> bool:
        """Whether the customer did an act of this kind about one of `what`."""
        return any(a.kind == kind and a.what in what for a in self.acts)


Predicate = Callable[[ToolCall, Before, World, dict[str, Any]], bool | None]


def check_rules(conversation: Conversation, store: World) -> dict[str, dict[str, Any]]:
    """Check every process rule of the store against the record.

    Returns
    -------
    dict of str to dict
        By rule: ``state`` (``kept``, ``broken`` or ``not_applicable``) and ``calls``, the places of the calls that
        broke it.
    """
    rules = store.policy["process_rules"]
    judged: dict[str, list[tuple[int, bool]]] = {name: [] for name in rules}
    acts = conversation.acts()
    done: list[ToolCall] = []
    for call in conversation.tool_calls:
        if call.error:
            continue
        guarding = [name for name, parameters in rules.items() if call.name in parameters["guards"]]
        if guarding and call.side == "agent":
            before = Before([a for turn, a in acts if turn <= call.turn], list(done))
            for name in guarding:
                kept = _judged(name, call, before, store)
                if kept is not None:
                    judged[name].append((call.index, kept))
        done.append(call)
    found = {}
    for name, verdicts in judged.items():
        broken = [index for index, kept in verdicts if not kept]
        found[name] = {"state": "broken" if broken else "kept" if verdicts else "not_applicable", "calls": broken}
    return found


def _judged(name: str, call: ToolCall, before: Before, store: World) -> bool | None:
    """What a rule says of a call.

    None where a tool of one's own takes or returns something that the rule cannot read.
    """
    try:
        return store.rules[name](call, before, store, store.policy["process_rules"][name])
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        return None


def setting(store: World, path: str) -> Any:
    """A value of the policy by its dotted path."""
    value: Any = store.policy
    for key in path.split("."):
        value = value[key]
    return value
