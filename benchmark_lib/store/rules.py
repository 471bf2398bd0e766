"""Check process rules and consent against a record, and count business days.

The store's policy gives the guarded calls and the numbers; its kind gives the conditions. A rule may guard what an
agent's message discloses as well as what a call does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from ..language.parser import parser_of
from ..language.sentences import squash
from ..language.values import has_part, is_address
from ..records import Act, Conversation, Message, ToolCall
from ..remembered import remembered
from .kinds import Store


@dataclass(frozen=True)
class Before:
    """State of a conversation before a call or a message; the sender wrote the first message."""

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
        if step.side == "agent" or isinstance(step, ToolCall):
            yield step, Before(list(acts), list(done), list(earlier), sender_name, sender)
        if isinstance(step, ToolCall):
            done.append(step)
        else:
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


# --- Consent

ANY_OFFER = "proposal"
"""Object of a yes to an offer that named no recognizable tool."""
CONDITIONAL = "conditional"
"""Detail of a yes that states a condition, because the customer was unsure what had been offered."""


def confirmation(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool:
    """The agent had asked the customer to agree, and the customer's last word on it was a yes.

    The arguments must match any values that the yes named, and the offer must not contradict the other arguments.
    """
    turn, last = _last_word(call, before, store)
    if last is None or last.kind == "refused" or not agrees(last.arguments, call.named):
        return False
    offer = next((m.text for m in reversed(before.messages) if m.side == "agent" and m.turn < turn), None)
    if offer is None or (last.detail == CONDITIONAL and not parser_of(store).parse(offer).offer):
        return False
    contradicted = store.kind.named_in(offer, call.named, store)[1] - last.arguments.keys()
    if contradicted or last.arguments:
        return not contradicted
    # If the agent repeats the offer after a yes without arguments, that yes no longer counts.
    later = (m.text for m in before.messages if m.side == "agent" and m.turn >= turn)
    return not any(call.name in parser_of(store).parse(text).proposed for text in later)


def _last_word(call: ToolCall, before: Before, store: Store) -> tuple[int, Act | None]:
    # A yes counts if it is about the call's object, a no only if it is to this very call. The last one decides.
    last: tuple[int, Act | None] = (0, None)
    for message in before.messages:
        for act in message.acts if message.side == "customer" else ():
            if act.what not in (call.name, ANY_OFFER) or act.kind not in ("agreed", "refused"):
                continue
            named = act.arguments
            if act.kind == "agreed":
                named = {name: value for name, value in named.items() if name in store.kind.objects}
            if agrees(named, call.named):
                last = (message.turn, act)
    return last


def agrees(named: Mapping[str, Any], called: Mapping[str, Any]) -> bool:
    """Return whether a call matches named values: lists partly, mappings by key."""
    for name, value in named.items():
        other = called.get(name, called.get(f"{name}s", called.get(name.removesuffix("s"))))
        if other is not None and not _agree(value, other):
            return False
    return True


def _agree(named: Any, called: Any) -> bool:
    if isinstance(named, Mapping) and is_address(called):
        return all(has_part(part, str(value), called) for part, value in named.items() if value)
    if isinstance(named, Mapping) and isinstance(called, Mapping):
        return named.keys() <= called.keys() and agrees(named, called)
    return _members(called) <= _members(named)


def _members(value: Any) -> set[str]:
    return {squash(str(v)) for v in (value if isinstance(value, list | tuple) else [value])}


# --- Business days


@remembered("policy")
def holidays(store: Store) -> tuple[date, ...]:
    """Return the store's holidays."""
    return tuple(date.fromisoformat(str(h["date"])) for h in store.policy.get("calendar", {}).get("holidays", ()))


def as_day(value: Any) -> date | None:
    """Parse a date from a row or a result; return None for anything else."""
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def within_months(since: date, today: date, months: int) -> bool:
    """Return whether `today` is at most `months` calendar months after `since`."""
    full = (today.year - since.year) * 12 + today.month - since.month
    return full < months or (full == months and today.day <= since.day)


def business_days_between(first: date, last: date, store: Store) -> int:
    """Count business days after `first` up to and including `last`, with numpy's calendar."""
    import numpy as np

    return int(np.busday_count(first + timedelta(1), last + timedelta(1), holidays=list(holidays(store))))


def add_business_days(start: date, count: int, store: Store) -> date:
    """Return the date `count` business days after `start`."""
    import numpy as np

    day: date = np.busday_offset(start, count, roll="backward", holidays=list(holidays(store))).astype(object)
    return day
