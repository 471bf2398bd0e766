"""`Experiment`.

What is on file is never bought again, what may not change is refused, and a notebook cell is enough.
"""

import asyncio
import os
import shutil
import textwrap

import nbformat
import orjson
import pytest
import yaml
from made_runs import add_rows, change_rows, made_run, talk
from run_server import RunServer, copy_store, some_cases
from servers import FAULTS, Answer, error_body

from benchmark_lib import BadInput, Experiment, load_results
from benchmark_lib.cli.play import play
from benchmark_lib.endpoint import Endpoint
from benchmark_lib.endpoint.prices import Price
from benchmark_lib.experiment.again import rescore
from benchmark_lib.experiment.manifest import default_name, public_url
from benchmark_lib.experiment.plan import Plan
from benchmark_lib.experiment.recorder import Budget, Model
from benchmark_lib.experiment.summary import summary
from benchmark_lib.records import Usage
from benchmark_lib.runfile import RunFile

MODEL = "some-model"
CALLS_A_CONVERSATION = 4  # two messages, two calls each


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    return copy_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def options(shared_store, tmp_path):
    """A small experiment on a copy of the store."""
    cases = ",".join(some_cases(shared_store, 3))
    return {
        "store": shared_store,
        "cases": cases,
        "trials": 2,
        "messages": 2,
        "out": tmp_path / "run.deskbench",
        "progress": False,
    }


@pytest.fixture
def server():
    with RunServer() as running:
        yield running


def run(*args, **options):
    """One experiment to its end, in a loop of its own."""
    return asyncio.run(Experiment(*args, **options).run())


# --- resume and replay
# -------------------------------------------------------------------------------------------------


def test_a_finished_run_is_not_bought_again_and_more_trials_and_cases_are_added(server, options, shared_store):
    first = run(MODEL, base_url=server.base_url, **options)
    assert server.count == 6 * CALLS_A_CONVERSATION and first.counts() == {
        "finished": 6,
        "again": 0,
        "calls": server.count,
    }
    before = {(c, t): digest for c, t, digest, _ in first.conversations()}
    run(MODEL, base_url=server.base_url, **options)
    assert server.count == 6 * CALLS_A_CONVERSATION
    more = options | {"cases": ",".join(some_cases(shared_store, 4)), "trials": 3, "concurrency": 2}
    wanted = set(options["cases"].split(",")) | set(more["cases"].split(","))
    grown = run(MODEL, base_url=server.base_url, **more | {"cases": ",".join(wanted)})
    assert server.count == len(wanted) * 3 * CALLS_A_CONVERSATION
    after = {(c, t): digest for c, t, digest, _ in grown.conversations()}
    assert before.items() <= after.items() and len(after) == len(wanted) * 3
    assert len(grown.manifest["sessions"]) == 3 and grown.manifest["trials"] == 3


def test_a_run_that_two_endpoints_serve_says_so_before_it_goes_on_and_in_its_summary(server, options, capsys):
    run(MODEL, base_url=server.base_url, **options)
    run(MODEL, base_url=server.base_url, **options)
    assert "endpoints served" not in capsys.readouterr().err
    elsewhere = server.base_url.replace("127.0.0.1", "localhost")
    made = run(MODEL, base_url=elsewhere, **options)
    said = f"2 endpoints served the agent of this run: {server.base_url}, {elsewhere}"
    assert f"deskbench: {said}" in capsys.readouterr().err and said in summary(made)


def test_a_repeated_case_never_shares_an_answer_between_trials(server, options):
    made = run(MODEL, base_url=server.base_url, **options)
    answers = [m.text for record in made.records() for m in record.replies()]
    assert len(set(answers)) == len(answers)


def test_replay_needs_no_endpoint_and_gives_the_same_bytes(server, options):
    made = run(MODEL, base_url=server.base_url, **options)
    bytes_before = made.path.read_bytes()
    bought = server.count
    run(MODEL, replay=True, **options)
    run(MODEL, replay=True, **options | {"trials": 1})
    assert server.count == bought and made.path.read_bytes() == bytes_before


def test_replay_tells_what_does_not_come_out_the_same(server, options):
    made = run(MODEL, base_url=server.base_url, **options)
    calls = [call for call in RunFile(made.path).calls(responses=True) if call["n"] == 4 and call["trial"] == 1]
    said = [
        {
            "response": call["response"].replace(b"looking", b"peering"),
            "attempts": orjson.dumps(call["attempts"]).decode(),
        }
        for call in calls
    ]
    add_rows(made.path, calls=[tuple({**call, **other}.values()) for call, other in zip(calls, said, strict=True)])
    change_rows(made.path, "DELETE FROM calls WHERE n = 3 AND trial = 2")
    with pytest.raises(BadInput, match="6 of 6 conversations do not replay .*a different record.*written by code"):
        run(MODEL, replay=True, **options)


def test_faults_on_the_way_are_replayed_with_the_call(server, options):
    server.broken = FAULTS["500"]

    async def mend_and_run():
        experiment = Experiment(MODEL, base_url=server.base_url, settings={"agent": {"attempts": 3}}, **options)
        running = asyncio.ensure_future(experiment.run())
        while server.count < 1:
            await asyncio.sleep(0.01)
        server.broken = None
        return await running

    made = asyncio.run(mend_and_run())
    faulty = [call for call in made.calls() if call["attempts"]]
    assert len(faulty) == 1 and faulty[0]["attempts"][0]["kind"] == "server"
    run(MODEL, replay=True, settings={"agent": {"attempts": 3}}, **options)


def test_scripted_agents_replay_and_score_again_without_a_second_row(options):
    made = run("scripted:oracle", **options)
    run("scripted:oracle", replay=True, **options)
    assert rescore(made.path, options["store"]) == (0, 6)
    assert rescore(made.path, options["store"], again=True) == (6, 6)
    assert len(made.scores()) == 6


# --- the manifest
# ------------------------------------------------------------------------------------------------------


def test_each_input_that_may_not_change_is_refused_by_name_and_what_may_change_is_not(options, tmp_path):
    run("scripted:no_op", **options)
    prompt = tmp_path / "other.md"
    prompt.write_text("---\nversion: mine\n---\nBe brief.")
    changes = {
        "seed": {"seed": 7},
        "messages": {"messages": 5},
        "prompt": {"prompt": prompt},
        "settings": {"settings": {"agent": {"body": {"temperature": 1}}}},
        "tools": {"tools": own_tools(tmp_path)},
    }
    for name, change in changes.items():
        with pytest.raises(BadInput, match=f"begun with different inputs: {name} .*another --out"):
            run("scripted:no_op", **options | change)
    with pytest.raises(
        BadInput, match="model is scripted:no_op there and scripted:echo here; seed is 0 there and 1 here"
    ):
        run("scripted:echo", **options | {"seed": 1})
    run("scripted:no_op", **options | {"timeout": 3, "concurrency": 1, "trials": 1})


def own_tools(folder):
    """A tool of the user's own, as a module on the path."""
    (folder / "my_tools.py").write_text(
        'from benchmark_lib.store import tool\n\n@tool()\ndef weather(desk, city: str) -> dict:\n    """The weather."""\n    return {}\n'
    )
    import sys

    sys.path.insert(0, str(folder))
    return "my_tools:weather"


def test_a_changed_store_case_or_prompt_of_the_same_name_is_refused(options, tmp_path):
    store = copy_store(tmp_path)
    run("scripted:no_op", **options | {"store": store})
    store = shutil.copytree(store, tmp_path / "changed")
    cases = next(p for p in sorted((store / "cases").glob("*.yaml")) if options["cases"].split(",")[0] in p.read_text())
    content = yaml.safe_load(cases.read_text())
    content["cases"] = [{**case, "title": "another title"} for case in content["cases"]]
    cases.write_text(yaml.safe_dump(content))
    prompt = store / "prompts" / "agent.md"
    prompt.write_text(prompt.read_text() + "\nBe kind.\n")
    (store / "products.jsonl").write_text((store / "products.jsonl").read_text().replace("Carry-On", "Cabin Case"))
    with pytest.raises(
        BadInput, match="prompt .* has different content .*; store .* has different content .*case .* has changed"
    ):
        run("scripted:no_op", **options | {"store": store})


def test_the_manifest_names_code_prices_and_endpoint_without_a_key(server, options, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret-secret")
    made = run("gpt-5.5", base_url=server.base_url, **options)
    session = made.manifest["sessions"][0]
    assert set(session["code"]) == {"version", "hash"} and session["endpoints"]["agent"]["price"]["output"] > 0
    assert session["endpoints"]["agent"]["base_url"] == server.base_url
    assert b"sk-secret" not in made.path.read_bytes()
    assert public_url("https://user:pass@host:1/v1?key=abc") == "https://host:1/v1"


def test_a_models_name_never_becomes_a_path():
    for name in ["../../etc/passwd", "a/b:c", "..", "\\\\x", "ü" * 300]:
        made = default_name(name, {})
        assert "/" not in made and "\\" not in made and not made.startswith(".") and len(made) < 80
    assert default_name("a/b", {}) != default_name("a-b", {})


def test_the_default_file_depends_on_what_makes_another_run(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    options = options | {"out": None}
    first = run("scripted:no_op", **options)
    assert first.path.parent == tmp_path / "data" / "runs"
    assert run("scripted:no_op", **options | {"trials": 3, "concurrency": 2}).path == first.path
    assert run("scripted:no_op", **options | {"seed": 1}).path != first.path


# --- faults
# ------------------------------------------------------------------------------------------------------------


def test_a_wrong_model_name_costs_one_call_and_leaves_no_file(options):
    with RunServer(model="right") as server:
        with pytest.raises(BadInput, match="does not know the model"):
            run("wrong", base_url=server.base_url, **options)
        assert server.count == 1
    assert os.listdir(options["out"].parent) == []


@pytest.mark.parametrize("status, kind", [(401, "invalid_api_key"), (400, "unsupported parameter")])
def test_a_refused_key_or_setting_costs_one_call(server, options, status, kind):
    server.broken = Answer(error_body(kind, code=kind), status)
    with pytest.raises(BadInput):
        run(MODEL, base_url=server.base_url, **options)
    assert server.count == {401: 1, 400: 2}[status], "a greeting tells whether all requests are refused, or one case"


def test_a_fatal_fault_in_the_middle_saves_what_is_finished(server, options):
    run(MODEL, base_url=server.base_url, **options | {"trials": 1})
    server.broken = Answer(error_body("You exceeded your current quota", code="insufficient_quota"), 429)
    with pytest.raises(BadInput, match="no credit left"):
        run(MODEL, base_url=server.base_url, **options)
    assert RunFile(options["out"]).counts()["finished"] == 3
    server.broken = None
    bought = server.count
    assert run(MODEL, base_url=server.base_url, **options).counts()["finished"] == 6
    assert server.count - bought == 3 * CALLS_A_CONVERSATION


def test_a_conversation_ended_by_a_fault_is_tried_again_by_the_next_same_command(server, options):
    experiment = Experiment(MODEL, base_url=server.base_url, settings={"agent": {"attempts": 1}}, **options)

    async def break_after(calls):
        running = asyncio.ensure_future(experiment.run())
        while server.count < calls:
            await asyncio.sleep(0)
        server.broken = FAULTS["502_html"]
        return await running

    broken = asyncio.run(break_after(9))
    assert not experiment.stopped.refused and broken.counts()["again"] == 6 - broken.counts()["finished"] > 0
    assert all(fault["kind"] == "server" for fault in broken.faults()) and list(broken.faults())
    server.broken, bought, kept = None, server.count, broken.counts()["calls"]
    mended = asyncio.run(experiment.run())
    assert experiment.stopped is None and mended.counts() == {
        "finished": 6,
        "again": 0,
        "calls": 6 * CALLS_A_CONVERSATION,
    }
    assert server.count - bought == 6 * CALLS_A_CONVERSATION - kept
    asyncio.run(Experiment(MODEL, replay=True, settings={"agent": {"attempts": 1}}, **options).run())


def test_no_endpoint_at_all_is_refused_at_the_first_call(options):
    with pytest.raises(BadInput, match="cannot be reached"):
        run(MODEL, base_url="http://127.0.0.1:9/v1", settings={"agent": {"attempts": 1}}, **options)
    assert os.listdir(options["out"].parent) == []


def test_an_endpoint_out_of_reach_is_told_of_at_once_however_many_attempts_a_call_has(server, options):
    away = {"base_url": "http://127.0.0.1:9/v1", "settings": {"agent": {"attempts": 50}}}
    with pytest.raises(BadInput, match="cannot be reached"):
        run(MODEL, **away, **options)
    run(MODEL, base_url=server.base_url, settings=away["settings"], **options | {"trials": 1})
    experiment = Experiment(MODEL, **away, **options)
    asyncio.run(experiment.run())
    assert not experiment.stopped.refused and "cannot be reached" in experiment.stopped.sentence


# --- money
# -------------------------------------------------------------------------------------------------------------


def test_scoring_that_fails_does_so_before_a_call_is_paid(server, options, monkeypatch):
    def broken(self, conversation, case):
        raise BadInput("the store has no such rule")

    monkeypatch.setattr(Plan, "score", broken)
    with pytest.raises(BadInput, match="no such rule"):
        run(MODEL, base_url=server.base_url, **options)
    assert server.count == 0 and not options["out"].exists()


def test_a_budget_is_not_passed_and_a_larger_one_goes_on(server, options):
    whole = 6 * CALLS_A_CONVERSATION * 0.008  # 1000 prompt and 100 completion tokens of gpt-5.5
    limits = {"settings": {"agent": {"body": {"max_tokens": 100}}}, "base_url": server.base_url}
    experiment = Experiment("gpt-5.5", budget_usd=whole / 2, **limits, **options)
    half = asyncio.run(experiment.run())
    assert not experiment.stopped.refused and "budget" in experiment.stopped.sentence
    assert 0.3 * whole < half.cost()[0] <= whole / 2 and server.count == half.counts()["calls"]
    with pytest.raises(BadInput, match="one call may cost"):
        run("gpt-5.5", budget_usd=0.001, **limits, **options | {"out": options["out"].with_name("other.deskbench")})
    done = run("gpt-5.5", budget_usd=whole * 1.2, **limits, **options)
    assert done.counts()["finished"] == 6 and done.cost()[0] == pytest.approx(whole)
    assert server.count == 6 * CALLS_A_CONVERSATION


def test_calls_without_reported_tokens_cost_their_estimate_which_is_shown_as_one_and_added_up(options, monkeypatch):
    monkeypatch.setattr("run_server.USAGE", None)
    limits = {"settings": {"agent": {"body": {"max_tokens": 100}}}, "budget_usd": 0.1}
    with RunServer() as server:
        experiment = Experiment("gpt-5.5", base_url=server.base_url, **limits, **options)
        first = asyncio.run(experiment.run())
        spent, bought = first.cost()[0], server.count
        assert not experiment.stopped.refused and 0.05 < spent <= 0.1 and 0 < bought < 6 * CALLS_A_CONVERSATION
        again = asyncio.run(experiment.run())
        assert not experiment.stopped.refused and server.count == bought and again.cost()[0] == spent
    assert f"{bought} of them estimated, because the endpoint reported no tokens" in summary(again)[-1]
    results = load_results(again)
    assert results.calls["estimated"].all() and results.conversations["cost_usd"].isna().all()


def test_a_budget_for_a_model_without_a_price_is_refused(server, options):
    with pytest.raises(BadInput, match="no price is known for some-model"):
        run(MODEL, base_url=server.base_url, budget_usd=1.0, **options)
    assert server.count == 0 and not options["out"].exists()


def test_calls_in_flight_hold_a_reservation():
    async def play():
        stops = []
        budget = Budget(1.0, 0.2, stops.append)
        assert await budget.reserve(0.5)
        waiting = asyncio.ensure_future(budget.reserve(0.4))
        await asyncio.sleep(0)
        assert not waiting.done()
        budget.settle(0.5, 0.1)
        assert await waiting
        budget.settle(0.4, 0.4)
        assert not await budget.reserve(0.5)
        assert budget.spent == pytest.approx(0.7) and budget.reserved == 0
        assert ["budget of 1 USD" in stop.sentence for stop in stops] == [True]

    asyncio.run(play())


def test_an_estimate_learns_from_what_calls_used():
    def model(prompt, completion, **body):
        endpoint = Endpoint("m", "http://127.0.0.1:9/v1", settings={"body": body})
        return Model(endpoint, Price("m", prompt, prompt, completion))

    estimate = model(1, 10)
    first = estimate.next_cost(3000)
    estimate.learn(3000, Usage(500, 20, calls=1))
    assert 500 + 200 < 1e6 * estimate.next_cost(3000) < 1e6 * first
    assert model(0, 1, max_tokens=77).next_cost(10) == 77 / 1e6


# --- an agent of one's own, and bad options
# ----------------------------------------------------------------------------


class Polite:
    """The ten-line agent."""

    def reply(self, talk):
        found = talk.call("search_knowledge_base", query="returns")
        return f"Thank you, {len(found.result)} things were found."


def test_an_agent_of_ones_own_is_an_object_a_class_or_a_name(options, tmp_path, monkeypatch):
    (tmp_path / "one_of_ones_own.py").write_text(
        "class Agent:\n    async def reply(self, talk):\n        return 'Hello.'\n\nagent = Agent()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for number, agent in enumerate([Polite(), Polite, "one_of_ones_own:agent", "one_of_ones_own:Agent"]):
        made = run("my label", agent=agent, **options | {"out": tmp_path / f"{number}.deskbench"})
        assert made.counts()["finished"] == 6 and next(made.records()).model == "my label"
    assert next(run(None, agent=Polite, **options).records()).model.endswith("test_experiment:Polite")


def test_an_agent_that_fails_is_named_with_case_and_place_and_the_rest_is_saved(options):
    class Sometimes(Polite):
        def reply(self, talk):
            if talk.trial == 2:
                raise ZeroDivisionError("oops")
            return super().reply(talk)

    with pytest.raises(
        BadInput, match=r"the agent failed in case \w+, trial 2: ZeroDivisionError: oops \(.*test_experiment.py:\d+\)"
    ):
        run("mine", agent=Sometimes, **options)
    assert RunFile(options["out"]).counts()["finished"] == 3


@pytest.mark.parametrize(
    "change, words",
    [
        ({"trials": 0}, "trials must be a whole number of at least 1, not 0"),
        ({"trials": 2.5}, "not 2.5"),
        ({"messages": -1}, "messages must be"),
        ({"concurrency": 0}, "concurrency must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 10**20}, "seed must be at most"),
        ({"messages": 10**20}, "messages must be at most 10000"),
        ({"trials": 10**20}, "trials must be at most 100000"),
        ({"tool_timeout": 0}, "tool_timeout must be a number above 0"),
        ({"out": "a" * 300}, "cannot be used"),
        ({"out": "a" * 245}, "a name longer than 240 bytes"),
        ({"out": "a\0b"}, "embedded null"),
        ({"timeout": float("nan")}, "timeout must be a number above 0"),
        ({"budget_usd": 0}, "budget_usd must be a number above 0"),
        ({"store": "northline", "cases": "wismo_travle_1"}, "did you mean wismo_travel_1"),
        ({"store": "southline"}, "no store 'southline'"),
        ({"prompt": "none.md"}, "none.md cannot be read"),
        ({"settings": "none.yaml"}, "none.yaml cannot be read"),
        ({"settings": {"temperature": 1}}, "'temperature' is not a role"),
        ({"tools": "no_module:x"}, "cannot be loaded"),
        ({"model": "x", "agent": "no_module:x"}, "cannot be loaded"),
        ({"model": "x", "agent": object()}, "cannot be made"),
        ({"model": "x", "agent": list}, "has no reply method"),
        ({"model": "scripted:orcale"}, "no scripted agent 'orcale'"),
        ({"model": ""}, "is not a name"),
        ({"model": "x", "base_url": "nonsense"}, "is not an address"),
        ({"customer": "x", "customer_base_url": "ftp://x"}, "is not an address"),
    ],
)
def test_bad_options_are_refused_in_one_sentence_before_anything_is_written(options, change, words):
    with pytest.raises(BadInput, match=words) as refused:
        run(**{"model": "scripted:no_op", **options, **change})
    assert "\n" not in str(refused.value) and os.listdir(options["out"].parent) == []


@pytest.mark.parametrize(
    "text, words",
    [
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}", "has a macro"),
        ("{{ range(10 ** 9) | list }}", "the text names range, which does not exist"),
        ("{{ lipsum(n=3000000) }}", "the text names lipsum, which does not exist"),
        (
            "{% for a in store %}{% for b in store %}{% for c in store %}{% endfor %}{% endfor %}{% endfor %}",
            "loop within",
        ),
        ("{% for a in store recursive %}{{ loop(store) }}{% endfor %}", "loop within"),
        ("{{ '{:>4000000000}'.format(1) }}", "format cannot be called"),
        ("{% set far = ''.ljust %}{{ far(10 ** 10) }}", "ljust cannot be called"),
        ("{{ '%4000000000d' | format(1) }}", "OverflowError"),
        ("{{ '%*d' % (4000000000, 1) }}", "OverflowError"),
        ("{{ 'x' | center(4000000000) }}", "'center'"),
        ("{% set a = 'abc' %}" + "{% set a = a + a %}" * 40, "OverflowError"),
        ("{% set a = 'abc' %}" + "{% set a = a ~ a %}" * 40, "within a set"),
        ("{% set a = 'abc' %}" + "{% set a = a | replace('', a) %}" * 40, "OverflowError"),
        ("{% set a = 'abc' %}" + "{% set a = a | join(a) %}" * 40, "OverflowError"),
        ("{% set a = 9 %}" + "{% set a = a * a %}" * 40, "OverflowError"),
        ("{% set a, b = 1, 2 %}" + "{% set a, b = [a, a], 1 %}" * 40 + "{{ a }}", "within a set"),
        ("{{ 9 ** 9 ** 9 }}", "OverflowError"),
        ("{{ 'a' * 10 ** 12 }}", "OverflowError"),
        ("---\n- a\n- list\n---\nBe kind.", "is not of the form `name: value`"),
        ("---\n" + "[" * 3000 + "\n---\nBe kind.", "the header is not valid YAML"),
    ],
)
def test_a_prompt_that_cannot_be_filled_in_is_refused_in_one_sentence(options, tmp_path, text, words):
    prompt = tmp_path / "mine.md"
    prompt.write_text(text)
    with pytest.raises(BadInput, match=f"mine.md: .*{words}") as refused:
        run("scripted:no_op", prompt=prompt, **options)
    assert "\n" not in str(refused.value) and not options["out"].exists()


def test_a_missing_key_is_refused_before_anything_is_written(options, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(BadInput, match="no key .* OPENAI_API_KEY"):
        run("gpt-5.5", **options)
    assert os.listdir(options["out"].parent) == []


# --- concurrency, loops and notebooks
# ----------------------------------------------------------------------------------


def test_as_many_as_allowed_are_in_flight_and_one_call_leads(options):
    with RunServer(latency_s=0.2) as server:
        asyncio.run(Experiment(MODEL, base_url=server.base_url, **options | {"trials": 4, "concurrency": 5}).run())
        assert server.most_in_flight == 5
        assert server.arrivals[1] - server.arrivals[0] >= 0.2
        assert server.arrivals[4] - server.arrivals[1] > 0.05, "the first calls are spread"


def test_two_runs_in_one_loop_one_after_the_other_and_at_once(server, options, tmp_path):
    async def play():
        first = await Experiment(MODEL, base_url=server.base_url, **options).run()
        others = [
            Experiment(MODEL, base_url=server.base_url, **options | {"out": tmp_path / f"{n}.deskbench"}).run()
            for n in "ab"
        ]
        return [first, *await asyncio.gather(*others)]

    assert [made.counts()["finished"] for made in asyncio.run(play())] == [6, 6, 6]


def test_a_cancelled_run_keeps_what_was_finished(options):
    async def play(server):
        running = asyncio.ensure_future(Experiment(MODEL, base_url=server.base_url, **options).run())
        while server.count < 10:
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    with RunServer(latency_s=0.05) as server:
        asyncio.run(play(server))
        on_file = RunFile(options["out"]).counts()["calls"]
        assert on_file >= 4
        before = server.count
        assert run(MODEL, base_url=server.base_url, **options).counts()["finished"] == 6
        assert server.count - before == 6 * CALLS_A_CONVERSATION - on_file
    assert os.listdir(options["out"].parent) == [options["out"].name]


CELLS = [
    "from benchmark_lib import Experiment\noptions = {options}",
    "run = await Experiment('scripted:oracle', **options).run()",
    "run = await Experiment('scripted:oracle', **options).run(); print(run.counts())",
]


def test_a_cell_awaits_it_twice_in_one_kernel_and_papermill_keeps_one_line_of_progress(options, tmp_path):
    import papermill

    given = {k: v if isinstance(v, (int, str)) else str(v) for k, v in options.items()} | {"progress": True}
    cells = [nbformat.v4.new_code_cell(cell.replace("{options}", repr(given))) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    )
    nbformat.write(notebook, tmp_path / "in.ipynb")
    papermill.execute_notebook(tmp_path / "in.ipynb", tmp_path / "out.ipynb", progress_bar=False, cwd=os.getcwd())
    outputs = [cell.outputs for cell in nbformat.read(tmp_path / "out.ipynb", 4).cells]
    assert (
        len(outputs[1]) == 1
        and "6/6" in outputs[1][0]["data"]["text/plain"]
        and "100%" in outputs[1][0]["data"]["text/plain"]
    )
    assert "'finished': 6" in outputs[2][-1]["text"]


def test_interrupting_a_cell_leaves_a_resumable_file(options):
    from jupyter_client.manager import start_new_kernel

    given = {k: v if isinstance(v, (int, str)) else str(v) for k, v in options.items()}
    with RunServer(latency_s=0.2) as server:
        manager, client = start_new_kernel(kernel_name="python3", cwd=os.getcwd())
        try:
            code = f"run = await Experiment({MODEL!r}, base_url={server.base_url!r}, **{given!r}).run()"
            client.execute("from benchmark_lib import Experiment", reply=True, timeout=60)
            client.execute(code)
            while server.count < 10:
                client.get_iopub_msg(timeout=60)
            manager.interrupt_kernel()
            assert RunFile(options["out"]).counts()["calls"] > 0
            answer = client.execute(textwrap.dedent(code), reply=True, timeout=60)
            assert answer["content"]["status"] == "ok"
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        assert RunFile(options["out"]).counts()["finished"] == 6


def test_cases_may_be_added_with_another_number_of_trials(options, shared_store):
    run("scripted:no_op", **options)
    first = options["cases"].split(",")[0]
    made = run("scripted:no_op", **options | {"cases": first, "trials": 5})
    assert (
        made.manifest["planned"][first] == 5
        and sum(made.manifest["planned"].values()) == 9 == made.counts()["finished"]
    )
    assert summary(made)[0] == "scripted:no_op: 9 of 9 conversations finished (3 cases x 2 to 5 trials)"


def test_a_summary_counts_successes_of_each_bucket_that_was_played(tmp_path):
    scores = {"resolvable": [True, True, True, False], "must_escalate": [True]}
    rows = [
        (talk("Hi", "Yes", case_id=f"{bucket}_{n}"), {"bucket": bucket, "success": good}, [])
        for bucket, those in scores.items()
        for n, good in enumerate(those)
    ]
    line = summary(made_run(tmp_path / "made.deskbench", rows))[1]
    assert line == "conversations that succeeded: resolvable 3/4, must escalate 1/1"
    none = summary(made_run(tmp_path / "none.deskbench", [(talk("Hi", "Yes"), None, [])]))[1]
    assert none == "conversations that succeeded: none has a score"


def test_scripted_agents_that_were_finished_before_are_passed_over_in_one_line(options, capsys):
    experiment = Experiment("scripted:no_op", **options | {"progress": True})
    assert play([experiment], brief=True) == 0
    played = capsys.readouterr()
    assert not experiment.nothing_to_play and not played.err, "a line an agent, whatever the screen is"
    assert played.out.startswith("scripted:no_op: 6 of 6 conversations finished (3 cases x 2 trials)\nWhich model? ")
    assert "\nThe board: " in played.out
    assert play([experiment], brief=True) == 0
    again = capsys.readouterr()
    assert experiment.nothing_to_play and not again.err and "no_op: 6 of 6" not in again.out
    assert again.out.startswith("finished before: 1 run of scripted agents")
    assert play([experiment]) == 0 and "conversations that succeeded: " in capsys.readouterr().out, (
        "who asks for one run is told of it"
    )
