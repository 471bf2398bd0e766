"""Check process rules against a record.

The store's policy gives the guarded calls and the numbers; its kind gives the conditions. A rule may guard what an
agent's message discloses as well as what a call does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..records import Act, Conversation, Message, ToolCall
from .protocols import Store


@dataclass(frozen=True)
class Before:
    """State of a conversation before a call or a message.

    It has the customer's acts, the calls carried out and both sides' messages so far. The sender is that of the
    customer's first message.
    """

    acts: list[Act]
    calls: list[ToolCall]
    messages: list[Message] = field(default_factory=list)
    sender_name: str = ""
    sender: str = ""

    def gave(self, fact: str) -> set[str]:
        """Return all values that the customer has given for a fact."""
        return {a.detail or "" for a in self.acts if a.kind == "gave" and a.what == fact}

    def did(self, kind: str, what: set[str]) -> bool:
        """Return whether an act of this kind by the customer was about any of `what`."""
        return any(a.kind == kind and a.what in what for a in self.acts)


def check_rules(
    conversation: Conversation, store: Store, sender_name: str = "", sender: str = ""
) -> dict[str, dict[str, Any]]:
    """Check every process rule of the store against the record.

    `sender_name` and `sender` are the name and address on the customer's first message. For each rule, the result has
    ``state`` (``kept``, ``broken`` or ``not_applicable``), ``calls`` (the indexes of the calls that broke it) and
    ``turns`` (the turns of the messages that broke it).
    """
    rules = store.policy["process_rules"]
    verdicts: dict[str, dict[str, Any]] = {
        name: {"state": "not_applicable", "calls": [], "turns": []} for name in rules
    }
    for step, before in _steps(conversation, sender_name, sender):
        for name, parameters in rules.items():
            verdict, kept = verdicts[name], _judged(name, step, before, store, parameters)
            if kept is None:
                continue
            if verdict["state"] != "broken":
                verdict["state"] = "kept" if kept else "broken"
            if not kept and isinstance(step, ToolCall):
                verdict["calls"].append(step.index)
            elif not kept:
                verdict["turns"].append(step.turn)
    return verdicts


def _steps(conversation: Conversation, sender_name: str, sender: str) -> Iterator[tuple[ToolCall | Message, Before]]:
    """Yield each call and agent message with what preceded it; a turn's calls come first."""
    earlier: list[Message] = []
    acts: list[Act] = []
    done: list[ToolCall] = []
    steps: list[ToolCall | Message] = [*conversation.messages, *(c for c in conversation.tool_calls if not c.error)]
    for step in sorted(
        steps, key=lambda one: (one.turn, 1 if isinstance(one, ToolCall) else 2 * (one.side == "agent"))
    ):
        before = Before(list(acts), list(done), list(earlier), sender_name, sender)
        if isinstance(step, ToolCall):
            yield step, before
            done.append(step)
            continue
        if step.side == "agent":
            yield step, before
        acts += step.acts
        earlier.append(step)


def _judged(
    name: str, step: ToolCall | Message, before: Before, store: Store, parameters: dict[str, Any]
) -> bool | None:
    """Return a rule's verdict; None for an unguarded step or a call it cannot read."""
    if isinstance(step, ToolCall):
        guarded = step.side == "agent" and step.name in parameters["guards"]
        ask: Any = store.rules.get(name) if guarded else None
    else:
        ask = store.kind.tellings.get(name) if parameters.get("guards_telling") else None
    if ask is None:
        return None
    try:
        return ask(step, before, store, parameters)
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        return None


def setting(store: Store, path: str) -> Any:
    """Return the policy's value at a dotted path."""
    value: Any = store.policy
    for key in path.split("."):
        value = value[key]
    return value
