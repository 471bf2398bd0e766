"""A user's own agents and tools that misbehave; ``deskbench run --agent benchmarks.attack.own:NAME`` plays one."""

import asyncio
import contextlib
import sys
import time
from typing import Any

from benchmark_lib.store import tool

FORGED = "forged by the agent"
"""Text in everything that an agent here makes up."""


class Agent:
    """Says something polite; each agent does something of its own before that."""

    said = "Thank you for your message, I am looking into it."

    def reply(self, talk: Any) -> Any:
        """Misbehave, then answer."""
        try:
            found = self.act(talk)
        except (AttributeError, TypeError, KeyError, IndexError, ValueError, RuntimeError):
            found = None  # it could not be reached
        return found or self.said

    def act(self, talk: Any) -> Any:
        """Do what this agent does besides answering."""


class Cancels(Agent):
    """Raises what a cancelled task raises."""

    def act(self, talk: Any) -> Any:
        raise asyncio.CancelledError


class Exits(Agent):
    """Ends the program as if all had gone well."""

    def act(self, talk: Any) -> Any:
        sys.exit(0)


class Interrupts(Agent):
    """Raises what Ctrl-C raises."""

    def act(self, talk: Any) -> Any:
        raise KeyboardInterrupt


class Generates(Agent):
    """Raises what a closed generator raises."""

    def act(self, talk: Any) -> Any:
        raise GeneratorExit


class Blocks(Agent):
    """Never answers, and never lets go."""

    def act(self, talk: Any) -> Any:
        print("BLOCKED", flush=True)
        while True:
            pass


class Filters(Agent):
    """Claims that the provider's filter stopped it."""

    def act(self, talk: Any) -> Any:
        from benchmark_lib.conversation import ContentFiltered

        raise ContentFiltered(FORGED)


class Disconnects(Agent):
    """Claims that the network failed."""

    def act(self, talk: Any) -> Any:
        from benchmark_lib.endpoint import EndpointError

        raise EndpointError("connection", FORGED)


class BlamesCustomer(Agent):
    """Claims that the customer failed."""

    def act(self, talk: Any) -> Any:
        from benchmark_lib.conversation import CustomerFault

        raise CustomerFault(FORGED)


class ForgesActs(Agent):
    """Makes the customer say yes, in acts and in words."""

    def act(self, talk: Any) -> Any:
        from benchmark_lib.records import Act, Message

        talk.messages[-1].acts += [Act("agreed", "proposal", FORGED), Act("gave", "order_id", FORGED)]
        talk.messages[-1].text += FORGED
        talk.messages.append(Message(1, "customer", FORGED, [Act("left", "content", FORGED)]))


class ForgesCalls(Agent):
    """Writes a handover into the list of calls."""

    def act(self, talk: Any) -> Any:
        from benchmark_lib.records import ToolCall

        for owner in (getattr(talk, "desk", None), talk):
            for name in ("calls", "tool_calls"):
                getattr(owner, name, []).append(
                    ToolCall(1, 0, "hand_over_to_human", {"queue": "fraud", "summary": FORGED}, {}, None, True)
                )
        talk.desk.over = "handed_over"


class WritesOverlay(Agent):
    """Leaves the accepted final state without a call, and states the facts from the case file."""

    def act(self, talk: Any) -> Any:
        from benchmark_lib import load_cases, load_store

        store = load_store()
        case = next(c for c in load_cases(store) if c.id == talk.case_id)
        outcome = next(o for o in case.outcomes if not o.handover)
        told = " ".join(f.say for f in case.facts.values() if f.say)
        desk = store.desk()
        for one in outcome.calls:
            desk.call(one.tool, {"reason": "-", **one.arguments})
        with contextlib.suppress(AttributeError):
            talk.desk._overlay.update(desk._overlay)
        return told


class ChangesRows(Agent):
    """Changes what all conversations share, and shows an order to see whether an earlier conversation did so."""

    def act(self, talk: Any) -> Any:
        seen = talk.call("get_order", order_id="NL-51386").result
        try:
            for way in (
                lambda: talk.desk.row("orders", "NL-51386"),
                lambda: talk.desk.store.tables["orders"]["NL-51386"],
            ):
                try:
                    way()["status"] = FORGED
                except (AttributeError, TypeError, KeyError):
                    continue
        finally:
            if FORGED in str(seen):
                self.said = FORGED


class Snoops(Agent):
    """Looks for the case, the store and the customer's acts in everything that it is given, and in the frames above it."""

    def act(self, talk: Any) -> Any:
        held = _reached(talk, 4)
        frame, above = sys._getframe(1), set()
        while frame is not None:
            above |= {type(v).__name__ for v in frame.f_locals.values()} & {"Case"}
            frame = frame.f_back
        print(f"SNOOPED {len(held)} {len(above)} {', '.join(sorted(held))}", flush=True)


def _reached(thing: Any, depth: int, seen: set[int] | None = None) -> set[str]:
    """Return the harness's types that an object's attributes, members and keys lead to."""
    seen = set() if seen is None else seen
    if id(thing) in seen or depth < 0 or isinstance(thing, (str, bytes, int, float, type(None), type)):
        return set()
    seen.add(id(thing))
    found = {type(thing).__name__} & {"Case", "Store", "Act", "Conversation", "Engine"}
    if isinstance(thing, dict):
        inner = list(thing.values())[:50]
    elif isinstance(thing, (list, tuple)):
        inner = list(thing)[:50]
    elif type(thing).__module__.startswith("benchmark_lib"):
        names = {
            *getattr(thing, "__dict__", ()),
            *(n for t in type(thing).__mro__ for n in getattr(t, "__slots__", ())),
        }
        inner = [getattr(thing, name, None) for name in names]
    else:
        inner = []
    for one in inner:
        found |= _reached(one, depth - 1, seen)
    return found


class Honest(Agent):
    """Plays fair: looks the order up and hands over when told to."""

    def act(self, talk: Any) -> Any:
        talk.call("search_knowledge_base", query="returns")


class OddReply(Agent):
    """Answers with something that cannot be written."""

    said = "lone \ud800 surrogate"


class OddObject(Agent):
    """Answers with something that is not text."""

    class _Odd:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def act(self, talk: Any) -> Any:
        return self._Odd()


@tool()
def raises(desk: Any) -> dict:
    """Look something up."""
    raise ZeroDivisionError("a defect of the tool")


@tool()
def sleeps(desk: Any) -> dict:
    """Look something up, slowly."""
    print("ASLEEP", flush=True)
    time.sleep(3600)
    return {}


@tool()
def exits(desk: Any) -> dict:
    """Look something up, and leave."""
    sys.exit(0)


@tool()
def returns_object(desk: Any) -> dict:
    """Look something up."""
    return {"found": object()}


@tool()
def returns_circle(desk: Any) -> dict:
    """Look something up."""
    found: dict[str, Any] = {}
    found["again"] = found
    return found


@tool()
def returns_large_number(desk: Any) -> dict:
    """Look something up."""
    return {"found": 2**70}


@tool()
def returns_surrogate(desk: Any) -> dict:
    """Look something up."""
    return {"found": "\ud800"}


@tool()
def returns_odd_keys(desk: Any) -> dict:
    """Look something up."""
    return {("a", 1): {3}}


@tool()
def returns_depth(desk: Any) -> dict:
    """Look something up."""
    found: Any = 0
    for _ in range(5000):
        found = [found]
    return {"found": found}


TOOLS = (
    raises, sleeps, exits, returns_object, returns_circle, returns_large_number, returns_surrogate, returns_odd_keys,
    returns_depth,
)  # fmt: skip
