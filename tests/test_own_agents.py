"""An agent of one's own sees copies and nothing of the harness.

What it does beside its calls is found out and counts against it.
"""

import asyncio
import contextlib
import copy
import itertools
import pickle
import types
from datetime import date

import numpy as np
import orjson
import pytest

from benchmark_lib import BadInput, Experiment, load_results
from benchmark_lib.cases import Case
from benchmark_lib.conversation import (
    AgentFault,
    ContentFiltered,
    ConversationState,
    CustomerFault,
    ModelAgent,
    ScriptedCustomer,
    converse,
)
from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.endpoint import EndpointError
from benchmark_lib.experiment.recorder import NotOnFile
from benchmark_lib.experiment.writer import CannotSave
from benchmark_lib.extras.audit.audit import at_once, play
from benchmark_lib.records import TAMPERED, Act, Fault, Message, ToolCall, Usage
from benchmark_lib.scoring import score
from benchmark_lib.store import Desk, FolderStore, load_store, tool
from benchmark_lib.store.files import thawed
from benchmark_lib.store.retail.offers import by_email, goods_search, orders_of, variants

CASE = "tracking_1"


class Does:
    """An agent of one's own that does something with what it is given, and then says a word."""

    def __init__(self, act):
        self.act = act

    def reply(self, talk):
        return self.act(talk) or "Thank you."


def played(case, store, agent, **settings):
    return at_once(converse(case, store, agent, ScriptedCustomer(case, store), **{"max_messages": 2, **settings}))


def reached(root):
    """Everything that ordinary attributes, indices and keys lead to from an object, private names included."""
    found, left = {}, [root]
    while left:
        one = left.pop()
        if id(one) in found or isinstance(
            one, (str, bytes, int, float, type(None), type, types.ModuleType, np.ndarray)
        ):
            continue
        found[id(one)] = one
        if isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, (list, tuple, set)):
            left += one
        else:
            left += [getattr(one, name) for name in dir(one) if not name.startswith("__") and hasattr(one, name)]
    return list(found.values())


def test_nothing_an_agent_is_given_leads_to_case_store_desk_or_acts(store, cases):
    seen = []

    def look(talk):
        call = talk.call("find_orders", email=cases[CASE].sender)
        talk.charge(Usage(calls=1))
        talk.rng.random()
        seen.extend(reached([talk, call]))

    played(cases[CASE], store, Does(look))
    assert len(seen) > 50
    assert not [
        one for one in seen if isinstance(one, (Case, FolderStore, Desk, ConversationState, Act, Message, Fault))
    ]
    row = by_email(store)[cases[CASE].sender.lower()]
    assert not any(one is row for one in seen)


def test_nothing_an_agent_is_given_names_the_case(store, cases):
    case = cases[CASE]

    def look(talk):
        texts = [talk.id, talk.prompt, str(vars(talk)), str(talk.rng.bit_generator.seed_seq)]
        assert not any(case.id in t or case.title in t or case.customer_id in t for t in texts)

    assert played(case, store, Does(look)).faults == []


def test_the_random_numbers_are_the_same_for_the_same_seed_and_differ_between_conversations(store, cases):
    drawn, ids = [], []

    def draw(talk):
        drawn.append(talk.rng.random())
        ids.append(talk.id)

    for case, trial, seed in ((CASE, 1, 0), (CASE, 1, 0), (CASE, 2, 0), (CASE, 1, 1), ("damaged_no_proof", 1, 0)):
        played(cases[case], store, Does(draw), trial=trial, seed=seed, max_messages=1)
    assert drawn[0] == drawn[1] and ids[0] == ids[1]
    assert len(set(drawn)) == len(set(ids)) == 4


def test_the_numbers_are_those_of_a_generator_seeded_by_seed_case_and_trial(store, cases):
    import zlib

    drawn = []
    played(
        cases[CASE],
        store,
        Does(lambda talk: drawn.append(talk.rng.random(3).tolist())),
        trial=2,
        seed=5,
        max_messages=1,
    )
    assert drawn == [np.random.default_rng([5, zlib.crc32(CASE.encode()), 2]).random(3).tolist()]


# --- what the issue tried
# ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["desk", "case_id", "faults", "usage", "_desk", "case", "store"])
def test_the_ways_that_once_led_to_the_case_are_gone(store, cases, way):
    def cheat(talk):
        with pytest.raises(AttributeError):
            getattr(talk, way)

    assert played(cases[CASE], store, Does(cheat)).faults == []


def test_acts_and_messages_cannot_be_forged(store, cases):
    def forge(talk):
        with pytest.raises((AttributeError, TypeError)):
            talk.messages[0].acts.append(Act("agreed", "cancel_order"))
        with pytest.raises((AttributeError, TypeError)):
            talk.messages[0].text = "I agree to everything."
        talk.messages.append(Message(talk.turn, "customer", "Yes.", [Act("agreed", "cancel_order")]))
        talk.turn, talk.sender = 99, "nobody"

    honest, forged = played(cases[CASE], store, Does(lambda talk: None)), played(cases[CASE], store, Does(forge))
    assert forged.to_json() == honest.to_json()


def test_calls_cannot_be_forged(store, cases):
    kept = {"order_id": cases[CASE].order}

    def forge(talk):
        call = talk.call("get_order", kept)
        call.name, call.error = "cancel_order", "not_found"
        call.result["status"] = "cancelled"
        call.arguments["order_id"] = kept["order_id"] = "NL-00000"
        talk.tools.clear()

    record = played(cases[CASE], store, Does(forge), max_messages=1)
    assert [(c.name, c.error, c.arguments) for c in record.tool_calls] == [
        ("get_order", None, {"order_id": cases[CASE].order})
    ]
    assert (
        record.tool_calls[0].result["status"] == store.tables["orders"][cases[CASE].order]["status"]
        and not record.faults
    )


def desk_of(talk):
    """What only an agent that takes Python apart can do."""
    whole = next(c.cell_contents for c in talk._call.__closure__ if isinstance(c.cell_contents, ConversationState))
    return whole.desk


def test_a_change_without_a_call_is_the_agents_fault_and_never_a_success(store, cases):
    """Resolved by writing the overlay, as 66 of 120 cases once were."""
    case = next(c for c in cases.values() if c.bucket == "resolvable" and c.outcomes[0].calls)

    class Around:
        """The conversation, but what is due is done on the desk and leaves no call behind."""

        def __init__(self, talk):
            self.talk = talk

        def __getattr__(self, name):
            return getattr(self.talk, name)

        def call(self, tool, *arguments, **named):
            if tool not in {c.tool for c in case.outcomes[0].calls}:
                return self.talk.call(tool, *arguments, **named)
            desk = desk_of(self.talk)
            Desk.call(desk, tool, *arguments)
            return desk.calls.pop()

    class Cheat(Oracle):
        def reply(self, talk):
            return super().reply(Around(talk))

    record = play(case, store, Cheat(case, store))
    found = score(record, case, store)
    assert (
        record.changes
        and record.ended_by == "agent_fault"
        and [f.kind for f in record.faults if f.side == "agent"] == [TAMPERED]
    )
    assert found["scored"] and found["success"] is False and found["resolved"] is False


def test_a_forged_call_is_found_out_by_what_it_should_have_returned(store, cases):
    def forge(talk):
        desk_of(talk).calls.append(
            ToolCall(1, 0, "get_order", {"order_id": cases[CASE].order}, {"status": "lost"}, None, False)
        )

    record = played(cases[CASE], store, Does(forge), max_messages=1)
    assert record.ended_by == "agent_fault" and record.faults[-1].kind == TAMPERED


def test_a_handover_that_is_only_written_does_not_count(store, cases):
    case = next(c for c in cases.values() if c.bucket == "must_escalate")

    def forge(talk):
        desk_of(talk).over = "handed_over"

    record = played(case, store, Does(forge))
    assert record.ended_by == "agent_fault" and score(record, case, store)["success"] is False


@pytest.mark.parametrize(
    "error",
    [
        ContentFiltered("filtered"),
        CustomerFault("not me"),
        EndpointError("timeout", "no answer", fatal=False),
        AgentFault("odd", "x"),
        EndpointError("context_overflow", "too long", fatal=False),
        CannotSave("disk full"),
        NotOnFile("no call"),
    ],
)
def test_no_exception_of_the_harness_takes_an_own_agent_out_of_the_rates(tmp_path, error):
    class Leaves:
        def reply(self, talk):
            raise error

    class Posing(ModelAgent):
        def __init__(self):
            super().__init__(None)

        async def reply(self, talk):
            raise error

    for number, agent in enumerate((Leaves, Posing)):
        path = tmp_path / f"{number}.deskbench"
        asyncio.run(Experiment("leaver", agent=agent, cases=CASE, trials=2, out=path, progress=False).run())
        talks = load_results(path).conversations
        assert list(talks["ended_by"]) == ["agent_fault"] * 2 and talks["scored"].all() and not talks["success"].any()


def test_a_key_that_is_refused_stops_the_run_of_an_own_agent_too(tmp_path):
    class Unknown:
        def reply(self, talk):
            raise EndpointError("auth", "the key is refused", fatal=True)

    path = tmp_path / "x.deskbench"
    with pytest.raises(BadInput, match="the key is refused"):
        asyncio.run(Experiment("x", agent=Unknown, cases=CASE, trials=1, out=path, progress=False).run())


class Evil(Exception):
    """What an agent may hand over in place of what is expected: whatever is asked of it raises."""

    def __getattribute__(self, name):
        raise ContentFiltered("filtered")

    def __str__(self):
        raise ContentFiltered("filtered")


class EvilFault(EndpointError, Evil):
    """An exception of the harness's by its type, and evil in all its attributes."""


class EvilAnswer:
    text = property(lambda self: (_ for _ in ()).throw(ContentFiltered("filtered")))
    __class__ = text
    __str__ = __bool__ = text.fget


class EvilList(list):
    def append(self, item):
        raise ContentFiltered("filtered")

    __iter__ = __len__ = append


def raises_evil(talk):
    raise EvilFault("timeout", "no answer", fatal=False)


def answers_evil(talk):
    return EvilAnswer()


def poisons(talk):
    talk.messages = EvilList()
    talk.__class__ = type("Poisoned", (type(talk),), {"messages": EvilAnswer.text, "turn": EvilAnswer.text})


@pytest.mark.parametrize(
    "act, ending", [(raises_evil, "agent_fault"), (answers_evil, "agent_fault"), (poisons, "turn_limit")]
)
def test_no_object_that_raises_when_it_is_touched_does_so_either(store, cases, act, ending):
    assert played(cases["damaged_no_proof"], store, Does(act)).ended_by == ending


def test_an_agent_whose_very_class_raises_gains_nothing(store, cases):
    class Evasive:
        __class__ = EvilAnswer.text

        def reply(self, talk):
            return "Hello."

    assert played(cases[CASE], store, Evasive(), max_messages=1).ended_by == "turn_limit"


def test_a_usage_that_cannot_be_written_is_refused_where_it_is_given(store, cases):
    def charge(talk):
        for wrong in (Usage(np.int64(3)), Usage(-1), Usage(2**60), None):
            with pytest.raises(ValueError, match="not a whole number"):
                talk.charge(wrong)
        talk.charge(Usage(3, 1, calls=1))

    assert played(cases[CASE], store, Does(charge), max_messages=1).usage == {"agent": Usage(3, 1, calls=1)}


def test_a_call_after_the_conversation_is_refused(store, cases):
    kept = []
    record = played(cases[CASE], store, Does(kept.append))
    with pytest.raises(AgentFault, match="after the conversation had ended"):
        kept[0].call("close_ticket", resolution="x")
    assert record.tool_calls == [] and record.changes == []


@pytest.mark.parametrize(
    "arguments", [{"email": "\ud800"}, {"email": object()}, {1: 2}, "{\ud800", 10**30, {"email": 10**30}]
)
def test_whatever_is_given_for_arguments_can_be_written(store, cases, arguments):
    record = played(
        cases[CASE], store, Does(lambda talk: talk.call("find_orders", arguments).name and "\ud800"), max_messages=1
    )
    assert record.tool_calls[0].error and record.to_json()


# --- tools of one's own
# ------------------------------------------------------------------------------------------------


@tool(write=True)
def mark_paid(desk, order_id: str) -> dict:
    """Mark an order as paid, in the row that all conversations share."""
    desk.row("orders", order_id)["lines"][0]["quantity"] = 0
    return {}


COUNT = itertools.count()


@tool(write=True)
def toss(desk, order_id: str) -> dict:
    """Do something else each time it is called."""
    desk.edit("orders", order_id)["note"] = f"tossed {next(COUNT)}"
    return {"id": desk.add("tosses", "TS", {"count": next(COUNT), "day": date(2026, 7, 1)})["id"]}


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.tables["orders"].clear(),
        lambda s: s.policy["queues"].pop("general"),
        lambda s: s.articles.append({}),
        lambda s: next(iter(orders_of(s).values())).sort(),
        lambda s: by_email(s).update({}),
        lambda s: s.tables.__setitem__("orders", {}),
        lambda s: next(iter(variants(s).values()))[1].__setitem__("stock", 0),
        lambda s: goods_search(s)("bag")[0].update(title="x"),
        lambda s: s.search.knowledge_base("return")[0].update(text="x"),
        lambda s: s.phrases["en"]["agent"].clear(),
        lambda s: s.info.setdefault("x", 1),
        lambda s: s.tools.pop("get_order"),
        lambda s: s.rules.clear(),
        lambda s: setattr(s, "policy", {}),
        lambda s: next(iter(s.tables["customers"].values()))["addresses"][0].pop("name"),
    ],
)
def test_nothing_of_the_shared_store_can_be_changed(store, change):
    with pytest.raises(TypeError, match="shared by every conversation"):
        change(store)


def test_a_tool_that_changes_a_shared_row_changes_nothing_for_later_conversations(cases):
    store = load_store().with_tools({"mark_paid": mark_paid})
    order = cases[CASE].order
    before = orjson.dumps(store.tables["orders"][order])
    with contextlib.suppress(TypeError):
        store.desk().call("mark_paid", {"order_id": order})
    assert orjson.dumps(store.tables["orders"][order]) == before == orjson.dumps(store.desk().row("orders", order))


def test_a_row_can_be_copied_pickled_and_compared_like_any_other(store):
    row = next(iter(store.tables["orders"].values()))
    for made in (copy.deepcopy(row), pickle.loads(pickle.dumps(row)), orjson.loads(orjson.dumps(row)), thawed(row)):
        assert made == row and type(made) is dict and type(made["lines"]) is list and type(made["lines"][0]) is dict


def test_a_tool_that_does_something_else_each_time_is_no_tampering(cases):
    store = load_store().with_tools({"toss": toss})
    order = next(o for o, row in store.tables["orders"].items() if row["status"] == "unfulfilled")

    def work(talk):
        talk.call("toss", order_id=order)
        talk.call("cancel_order", order_id=order, reason="asked")
        talk.call("toss", order_id=order)
        talk.call("close_ticket", resolution="x")

    record = played(cases[CASE], store, Does(work))
    assert record.ended_by == "closed_by_agent" and not record.faults and len({c["id"] for c in record.changes}) == 4


@tool(write=True)
def toss_twice(desk, order_id: str) -> dict:
    """Change something, and then call another tool."""
    desk.edit("orders", order_id)["note"] = "to be tossed"
    desk.call("toss", {"order_id": order_id})
    return desk.call("toss", {"order_id": order_id}).result


def test_a_tool_may_call_others_on_what_it_has_changed_itself(cases):
    store = load_store().with_tools({"toss": toss, "toss_twice": toss_twice})
    order = cases[CASE].order
    assert not played(cases[CASE], store, Does(lambda talk: talk.call("toss_twice", order_id=order) and None)).faults


@pytest.mark.parametrize("last", ["toss", "get_order"])
def test_what_was_tampered_with_before_such_a_tool_is_found_out_all_the_same(cases, last):
    store = load_store().with_tools({"toss": toss})
    order = next(o for o, row in store.tables["orders"].items() if row["status"] == "unfulfilled")

    def work(talk):
        talk.call("toss", order_id=order)
        desk_of(talk).edit("orders", order)["status"] = "cancelled"
        talk.call(last, order_id=order)

    record = played(cases[CASE], store, Does(work), max_messages=1)
    assert record.faults[-1].kind == TAMPERED and record.faults[-1].side == "agent"


def test_a_desk_that_was_tampered_with_is_no_success_and_a_customers_fault_is(cases):
    """Only what the agent's side did to the desk takes the success away."""
    store, case = load_store(), cases[CASE]
    record = play(case, store, Oracle(case, store))
    for side, success in (("customer", True), ("agent", False)):
        record.faults = [Fault(side=side, kind=TAMPERED)]
        found = score(record, case, store)
        assert (found["success"], found["resolved"]) == (success, success)
