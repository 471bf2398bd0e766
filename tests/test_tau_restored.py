"""Databases of tau2 that are restored instead of read again: nothing that the package's own evaluators see is different."""

import random
import uuid
from importlib import import_module
from types import SimpleNamespace

import pytest
from tau2.data_model.message import ToolCall
from test_tau_domains import talk

from benchmark_lib.cases import load_cases
from benchmark_lib.extras.tau2.score import rewards, their_messages
from benchmark_lib.store import load_store


@pytest.fixture
def drawn(monkeypatch):
    """Begins the random ids of bills anew, so that two environments give the same."""

    def anew():
        draw = random.Random(1)
        monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=draw.getrandbits(128)))

    return anew


def broken(messages):
    """The same trajectory without the first call of the agent and its answer, and one with its last call made twice."""
    at = [n for n, m in enumerate(messages) if getattr(m, "tool_calls", None)]
    first = next((n for n in at if messages[n].role == "assistant"), None)
    if first is not None:
        yield messages[:first] + messages[first + 2 :]
    if at:
        yield messages[: at[-1] + 2] + messages[at[-1] :]


def agree(domain, cases, drawn):
    """How many trajectories were compared: replies to each call, both databases at the end, and each part of the reward."""
    store, theirs = load_store(f"tau:{domain}"), import_module(f"tau2.domains.{domain}.environment").get_environment
    package, count = SimpleNamespace(environment=theirs), 0
    for case in cases:
        task = store.task(case)
        played = [their_messages(talk(store, case, agent)) for agent in ("scripted:oracle", "scripted:no_op")]
        for messages in [*played, *broken(played[0])]:
            calls = [call for m in messages for call in getattr(m, "tool_calls", None) or ()]
            ends = []
            for environment in (theirs(), store.package.environment()):
                drawn()
                start = task.initial_state
                if start:
                    environment.set_state(start.initialization_data, start.initialization_actions, [])
                ends.append([environment.get_response(call).content for call in calls])
                ends[-1] += [environment.get_db_hash(), environment.get_user_db_hash()]
            opened = store.package.opened(task)
            drawn()
            ends.append([opened.get_response(call).content for call in calls])
            ends[-1] += [opened.get_db_hash(), opened.get_user_db_hash()]
            assert ends[0] == ends[1] == ends[2]
            graded = []
            for whose in (package, store.package):
                drawn()
                try:
                    graded.append(rewards(messages, task, whose))
                except ValueError as error:  # a reply that a broken trajectory no longer leads to
                    graded.append(type(error))
            assert graded[0] == graded[1]
            count += 1
    return count


def test_replies_databases_and_rewards_are_those_of_an_environment_that_is_read_anew(drawn):
    cases = load_cases(load_store("tau:telecom"))
    assert agree("telecom", cases[::30], drawn) == 15


@pytest.mark.slow
@pytest.mark.timeout(1800)  # on a busy machine the package takes minutes to read its files for each trajectory
@pytest.mark.parametrize(("domain", "step"), [("retail", 4), ("airline", 5), ("telecom", 2)])
def test_they_are_so_on_hundreds_of_trajectories(domain, step, drawn):
    assert agree(domain, load_cases(load_store(f"tau:{domain}"))[::step], drawn) >= 30


@pytest.mark.parametrize("requestor", ["assistant", "user"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no_such_tool", {}),
        ("_get_line_by_id", {"line_id": "L1001"}),
        ("get_details_by_id", {"id": "X"}),
        ("get_details_by_id", {"name": "L1001"}),
        ("get_details_by_id", {"self": "L1001"}),
        ("check_app_status", {"tool_name": "messaging"}),
        ("check_app_status", {"app_name": "messaging"}),
    ],
)
def test_calls_that_go_wrong_are_answered_in_their_words(requestor, name, arguments):
    theirs = import_module("tau2.domains.telecom.environment").get_environment()
    call = ToolCall(id="1", name=name, arguments=arguments, requestor=requestor)
    ours = load_store("tau:telecom").package.environment()
    answers = [one.get_response(call).model_dump(exclude={"timestamp"}) for one in (ours, theirs)]
    assert answers[0] == answers[1]


def test_rows_within_a_row_are_shared_until_one_is_taken():
    store = load_store("tau:airline")
    kept = store.package.environment().get_db_hash()
    environment = store.package.environment()
    (number, flight), *_ = environment.tools.db.flights.items()
    day, shared = next((day, status) for day, status in flight.dates.items() if status.status == "available")
    taken = environment.tools.db.flights[number]
    assert dict.get(taken.dates, day) is shared
    taken.dates[day].available_seats["economy"] += 1
    theirs = type(environment).__base__("airline", "", type(environment.tools).__base__(environment.tools.db))
    assert environment.get_db_hash() == theirs.get_db_hash() != kept
    assert store.package.environment().get_db_hash() == kept


def test_a_conversation_leaves_the_beginning_of_its_task_as_it_was():
    store = load_store("tau:telecom")
    changed = 0
    for case in load_cases(store)[::20]:
        began = store.package.began(store.task(case))
        before = [began.get_db_hash(), began.get_user_db_hash()]
        changed += bool(talk(store, case).changes)
        assert [began.get_db_hash(), began.get_user_db_hash()] == before
    assert changed > 3


def test_a_vpn_that_a_task_breaks_is_whole_in_every_other_conversation():
    environment = load_store("tau:telecom").package.environment
    spoilt, next_one = environment(), environment()
    spoilt.user_tools.connect_vpn()
    spoilt.user_tools.break_vpn()
    next_one.user_tools.connect_vpn()
    assert spoilt.user_tools.db.device.vpn_details.server_performance == "poor"
    assert next_one.user_tools.db.device.vpn_details.server_performance != "poor"
