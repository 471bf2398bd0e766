"""Results of other harnesses come in, frames go out, and neither is ever mixed with the desk's own runs in silence."""

import asyncio
import csv
from pathlib import Path

import orjson
import pandas as pd
import pytest
from made_runs import talk
from servers import ScriptedServer, completion
from site_talks import talks_of

from benchmark_lib import Experiment, analysis, estimators, reports, tables
from benchmark_lib.analysis.dictionary import DICTIONARY
from benchmark_lib.cli import main
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.exchange.exports import export_frames
from benchmark_lib.extras.exchange.imports import import_results, summary
from benchmark_lib.reports.one_model import grades
from benchmark_lib.reports.one_model.numbers import by_intent
from benchmark_lib.reports.site import build_site
from benchmark_lib.reports.site.models import in_words

SAMPLE = Path(__file__).resolve().parents[2] / "shared" / "samples" / "tau-bench" / "gpt-4o-airline.json"
POLICY = {"role": "system", "content": "# Retail agent policy\n\nAs a retail agent ..."}


def user(text):
    return {"role": "user", "content": text}


def agent(text=None, *calls):
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}


def tool(call_id, name, content):
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


def entry(task, trial, reward, *traj, **info):
    return {
        "task_id": task,
        "trial": trial,
        "reward": reward,
        "traj": [POLICY, *traj],
        "info": {"task": {"instruction": f"task {task}"}, "user_cost": 0.01, "reward_info": {"reward": reward}, **info},
    }


def write(path, content):
    path.write_bytes(orjson.dumps(content))
    return path


def bring_in(tmp_path, content, format="tau-bench", name="results.json", **options):
    run = import_results(write(tmp_path / name, content), tmp_path / f"{name}.deskbench", format=format, **options)
    return run, analysis.load_results(run).conversations


SERVED = [
    user("Where is #W1?"),
    agent(None, ("c1", "get_order", '{"order_id": "#W1"}')),
    tool("c1", "get_order", '{"status": "shipped"}'),
    agent("It is on its way."),
    user("Thanks! ###STOP###"),
]


def test_the_words_on_an_imported_model_are_about_the_success_its_file_brings(tmp_path):
    content = [entry(task, trial, float(task < 3), *SERVED) for task in range(4) for trial in range(2)]
    _, rows = bring_in(tmp_path, content, model="m")
    report = reports.model_report(rows)
    told = in_words(report)
    assert "succeeds in 75% of 4 cases of" in told and "(95% " in told and "nothing was scored" not in told
    assert not {trait["about"] for trait in grades.traits(report)} & {"intents", "unknown", rows["bucket"].iloc[0]}


def test_a_site_of_an_imported_file_has_its_domain_as_a_tag_once_and_every_transcript(tmp_path):
    run, _ = bring_in(tmp_path, [entry(0, trial, float(trial), *SERVED) for trial in range(2)], model="m")
    made = build_site(run.path, tmp_path / "site", published=False).path
    (case,) = (made / "cases").glob("*.html")
    assert case.read_text(encoding="utf-8").count('<span class="tag">retail</span>') == 1
    assert len(talks_of(made)) == 2
    (model,) = (made / "models").glob("*.html")
    page = model.read_text(encoding="utf-8")
    assert "pass^2" in page and "two questions" not in page and "Neither resolvable cases nor" in page
    shown = reports.transcript_html(run.record("retail_0", 1), next(iter(run.scores().values())))
    assert shown.count('<span class="chip">retail</span>') == 1


class TestTauBench:
    def test_every_ending_and_reward_is_read(self, tmp_path):
        moved = [
            user("A person!"),
            agent(None, ("c1", "transfer_to_human_agents", "{}")),
            tool("c1", "transfer_to_human_agents", "Transfer successful"),
        ]
        run, rows = bring_in(
            tmp_path,
            [
                entry(0, 0, 1.0, *SERVED),
                entry(0, 1, 0.0, *moved),
                entry(1, 0, 0.0, user("Hello"), agent("Yes?"), reward_info=None),
                {**entry(1, 1, 0.0), "traj": [], "info": {"error": "RateLimitError", "traceback": "..."}},
            ],
            model="m",
        )
        rows = rows.set_index(["case_id", "trial"])
        assert rows["ended_by"].to_dict() == {
            ("retail_0", 1): "resolved_by_customer",
            ("retail_0", 2): "handed_over",
            ("retail_1", 1): "turn_limit",
            ("retail_1", 2): "infrastructure_fault",
        }
        assert rows["success"].tolist() == [True, False, False, pd.NA]
        assert rows["scored"].tolist() == [True, True, True, False], "a crash counts neither for nor against the model"
        assert (
            set(rows["source"]) == {"imported"}
            and set(rows["bucket"]) == {"retail"}
            and set(rows["store_version"]) == {"tau-bench retail"}
        )
        assert rows["cost_usd"].isna().all(), "the file does not say what the agent cost"
        assert rows["customer_cost_usd"].iloc[0] == 0.01
        assert "not scored: 1 infrastructure_fault" in summary(run)

    def test_messages_and_calls_keep_their_order_and_their_turn(self, tmp_path):
        run, rows = bring_in(tmp_path, [entry(0, 0, 1.0, *SERVED)], model="m")
        record = run.record("retail_0", 1)
        assert [(m.turn, m.side, m.text) for m in record.messages] == [
            (1, "customer", "Where is #W1?"),
            (1, "agent", "It is on its way."),
            (2, "customer", "Thanks!"),
        ]
        (call,) = record.tool_calls
        assert (call.turn, call.name, call.arguments, call.result, call.error) == (
            1,
            "get_order",
            {"order_id": "#W1"},
            {"status": "shipped"},
            None,
        )
        assert rows[["turns", "agent_messages", "agent_words", "tool_calls"]].iloc[0].tolist() == [2, 1, 5, 1]

    def test_broken_arguments_stay_as_they_were_and_errors_are_told_apart(self, tmp_path):
        calls = [
            agent(None, ("a", "get_order", '{"order_id": ')),
            tool("a", "get_order", "Error: order not found"),
            agent(None, ("b", "fly", "{}")),
            tool("b", "fly", "Unknown action fly"),
        ]
        run, rows = bring_in(tmp_path, [entry(0, 0, 0.0, user("Hi"), *calls)], model="m")
        found = run.record("retail_0", 1).tool_calls
        assert found[0].arguments == '{"order_id": ' and [c.error for c in found] == ["not_found", "unknown_tool"]
        assert rows["failed_calls"].iloc[0] == 2

    def test_a_text_strategy_writes_its_calls_into_the_text(self, tmp_path):
        talk = [
            user("Hi"),
            agent('Thought: look.\nAction: {"name": "get_order", "arguments": {"order_id": "1"}}'),
            user('API output: {"status": "sent"}'),
            agent('Action: {"name": "respond", "arguments": {"content": "It was sent."}}'),
            user("###STOP###"),
        ]
        run, rows = bring_in(
            tmp_path,
            [entry(0, 0, 1.0, *talk)],
            name="react-gpt-4-turbo-0.0_range_0-115_user-gpt-4o-llm_0605123456.json",
        )
        record = run.record("retail_0", 1)
        assert [m.text for m in record.messages] == ["Hi", "It was sent."]
        assert record.tool_calls[0].result == {"status": "sent"}
        assert (record.model, record.customer) == ("gpt-4-turbo", "gpt-4o"), "the file name tells them"

    def test_the_customer_out_of_scope_is_a_fault_of_the_customer(self, tmp_path):
        _, rows = bring_in(
            tmp_path, [entry(0, 0, 0.0, user("Hi"), agent("Your number?"), user("###OUT-OF-SCOPE###"))], model="m"
        )
        assert rows[["ended_by", "customer_faults"]].iloc[0].tolist() == ["customer_fault", 1]

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ([], "JSON array"),
            ({"info": {}}, "JSON array"),
            ([{"task_id": 1}], "entry 0 has no 'trial'"),
            ([entry(0, 0, 1.0), entry(0, 0, 1.0)], "'retail_0', trial 1 more than once"),
            (
                [entry(0, 0, 1.0, {"role": "assistant", "tool_calls": [{"id": 1}]})],
                "damaged, or in a version of tau-bench",
            ),
        ],
    )
    def test_what_is_no_such_file_is_refused_in_words(self, tmp_path, content, words):
        with pytest.raises(BadInput, match=words) as refused:
            bring_in(tmp_path, content, model="m")
        assert "\n" not in str(refused.value) and not list(tmp_path.glob("*.deskbench"))

    def test_a_file_that_names_neither_model_nor_domain_asks_for_them(self, tmp_path):
        with pytest.raises(BadInput, match="add --model NAME"):
            bring_in(tmp_path, [entry(0, 0, 1.0)])
        nameless = {**entry(0, 0, 1.0), "traj": [user("Hi")]}
        with pytest.raises(BadInput, match="add --domain NAME"):
            bring_in(tmp_path, [nameless], model="m")

    def test_the_published_figures_of_the_real_file(self, tmp_path):
        if not SAMPLE.is_file():
            return
        run = import_results(SAMPLE, tmp_path / "airline.deskbench", format="tau-bench", model="gpt-4o")
        counts = tables.success_counts(analysis.load_results(run).conversations, "airline")
        assert len(counts.trials) == 50 and set(counts.trials) == {4}
        assert [round(estimators.pass_hat_k(counts.successes, counts.trials, k), 3) for k in (1, 2, 3, 4)] == [
            0.42,
            0.273,
            0.22,
            0.2,
        ]
        published = (
            tables.published_pass_hat_k().query("model == 'gpt-4o' and domain == 'airline'")["pass_hat_k"].tolist()
        )
        table = tables.reliability_table(analysis.load_results(run), (1, 2, 3, 4))
        assert table["estimate"].round(3).tolist() == published
        report = reports.model_report(analysis.load_results(run))
        assert by_intent(report).empty and "flips" in by_intent(report), "imported records have no intents"
        endings = pd.Series(run.endings()).value_counts().to_dict()
        assert endings == {"resolved_by_customer": 147, "handed_over": 48, "turn_limit": 5}


def simulation(task, trial, reason="user_stop", reward=1.0, basis=("DB", "COMMUNICATE"), messages=None, **more):
    said = [
        {"role": "assistant", "content": "Hi! How can I help you today?", "cost": 0.0},
        user("My phone is dead"),
        {
            "role": "assistant",
            "content": "Switch it on",
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
            "cost": 0.002,
        },
        {"role": "user", "tool_calls": [{"id": "u1", "name": "toggle_power", "arguments": {}, "requestor": "user"}]},
        {"role": "tool", "id": "u1", "content": "on", "requestor": "user", "error": False},
        user("It works ###STOP###"),
    ]
    told = None if reward is None else {"reward": reward, "reward_basis": list(basis) if basis else None}
    return {
        "id": f"{task}-{trial}",
        "task_id": task,
        "trial": trial,
        "termination_reason": reason,
        "reward_info": told,
        "agent_cost": 0.002,
        "user_cost": 0.0,
        "messages": said if messages is None else messages,
        **more,
    }


def tau2(*simulations, trials=2, domain="telecom", tasks=("t1", "t2")):
    criteria = {"reward_basis": ["ENV_ASSERTION"]}
    return {
        "timestamp": "2026-01-01",
        "tasks": [{"id": t, "evaluation_criteria": criteria} for t in tasks],
        "simulations": list(simulations),
        "info": {
            "num_trials": trials,
            "agent_info": {"llm": "gpt-x"},
            "user_info": {"llm": "gpt-u"},
            "environment_info": {"domain_name": domain, "policy": "Be kind."},
        },
    }


class TestTau2:
    @pytest.mark.parametrize("side", ["agent_info", "user_info"])
    @pytest.mark.parametrize("name", [7, {"name": "gpt-x"}])
    def test_a_model_whose_name_is_not_text_is_refused_in_words(self, tmp_path, side, name):
        content = tau2(simulation("t1", 0))
        content["info"][side]["llm"] = name
        with pytest.raises(BadInput, match="the name of the model or customer is not text"):
            bring_in(tmp_path, content, format="tau2")

    def test_both_sides_may_call_tools_and_the_greeting_is_no_output(self, tmp_path):
        run, rows = bring_in(tmp_path, tau2(simulation("t1", 0)), format="tau2")
        record = run.record("telecom_t1", 1)
        assert [(c.side, c.name, c.result) for c in record.tool_calls] == [("customer", "toggle_power", "on")]
        assert (record.model, record.customer) == ("gpt-x", "gpt-u")
        row = rows.iloc[0]
        assert (row["agent_messages"], row["turns"], row["tool_calls"]) == (1, 2, 0)
        assert (row["prompt_tokens"], row["completion_tokens"], row["cost_usd"]) == (100, 10, 0.002)
        assert pd.isna(row["customer_cost_usd"]), "0 may also mean that tau2 knows no price"

    def test_endings_and_what_counts(self, tmp_path):
        reasons = {
            "user_stop": "resolved_by_customer",
            "max_steps": "turn_limit",
            "too_many_errors": "agent_fault",
            "user_error": "customer_fault",
            "infrastructure_error": "infrastructure_fault",
            "timeout": "infrastructure_fault",
            "something_new": "agent_fault",
        }
        simulations = [
            simulation(f"t{i}", 0, reason, 1.0 if reason == "user_stop" else 0.0, None)
            for i, reason in enumerate(reasons)
        ]
        simulations += [
            simulation("crashed", 0, "agent_error", 0.0, skipped=True),
            simulation("ungraded", 0, "user_stop", None),
        ]
        run, rows = bring_in(
            tmp_path, tau2(*simulations, trials=1, tasks=[s["task_id"] for s in simulations]), format="tau2"
        )
        assert rows["ended_by"].tolist() == [*reasons.values(), "infrastructure_fault", "resolved_by_customer"]
        assert rows["scored"].tolist() == [True, True, True, True, False, False, True, False, False]
        assert rows["success"].sum() == 1 and rows["success"].count() == 5
        faults = run.record("telecom_t6", 1).faults
        assert (faults[0].side, faults[0].kind) == ("agent", "something_new")

    def test_the_basis_of_a_reward_stands_beside_it_and_bases_are_not_pooled(self, tmp_path):
        _, rows = bring_in(tmp_path, tau2(simulation("t1", 0), simulation("t2", 0, basis=None)), format="tau2")
        assert rows["reward_basis"].tolist() == ["COMMUNICATE+DB", "ENV_ASSERTION"], (
            "where the file leaves it out the task says it"
        )
        assert rows["store_version"].iloc[0] == "tau2 telecom (COMMUNICATE+DB, ENV_ASSERTION)"
        _, rows = bring_in(
            tmp_path,
            tau2(simulation("t1", 0), simulation("t1", 1, basis=["DB", "NL_ASSERTION"])),
            format="tau2",
            name="mixed.json",
        )
        table = tables.reliability_table(rows)
        assert table["estimate"].isna().all() and "not pooled" in table["reason"].iloc[0]

    def test_trials_without_a_number_are_counted_and_what_is_missing_is_planned(self, tmp_path):
        run, rows = bring_in(
            tmp_path, tau2(simulation("t1", None), simulation("t1", None, reward=0.0), trials=4), format="tau2"
        )
        assert rows["trial"].tolist() == [1, 2] and run.manifest["planned"] == {"telecom_t1": 4, "telecom_t2": 4}
        results = analysis.load_results(run)
        assert len(results.conversations) == 2 and results.planned["trials"].sum() == 8

    def test_a_folder_with_a_file_a_simulation_is_read(self, tmp_path):
        folder = tmp_path / "run"
        (folder / "simulations").mkdir(parents=True)
        write(folder / "results.json", {**tau2(), "simulation_index": []})
        for trial in (0, 1):
            write(folder / "simulations" / f"{trial}.json", simulation("t1", trial))
        run = import_results(folder, tmp_path / "o.deskbench", format="tau2")
        assert sorted(run.endings()) == [("telecom_t1", 1), ("telecom_t1", 2)]

    @pytest.mark.parametrize("named", ["run", "run/results.json"])
    def test_the_present_folder_form_is_held_against_its_index(self, tmp_path, named, capsys):
        """tau2 1.0 writes no ``simulations`` into results.json, and a name that begins with a dot while it writes."""
        folder = tmp_path / "run"
        (folder / "simulations").mkdir(parents=True)
        listed = [{"id": f"t{t}-{n}", "task_id": f"t{t}", "trial": n} for t in (1, 2) for n in (0, 1)]
        head = {k: v for k, v in tau2().items() if k != "simulations"} | {"simulation_index": listed}
        write(folder / "results.json", head)
        for task, trial in (("t1", 0), ("t1", 1), ("t2", 0), ("stale", 0)):
            at = {"timestamp": f"2026-01-{5 + 7 * trial:02}T10:00:00"}
            write(folder / "simulations" / f"{task}-{trial}.json", simulation(task, trial, **at))
        (folder / "simulations" / ".sim_x.json").write_text('{"half')
        out = tmp_path / "o.deskbench"
        assert main(["import", str(tmp_path / named), "--format", "tau2", "--out", str(out)]) == 0
        told = capsys.readouterr().out
        assert "1 of 4 simulations of its index have no file: t2-1 (task t2, trial 1)" in told
        assert "its index does not name them: stale-0.json" in told
        board = tables.leaderboard(analysis.load_results(out))
        assert board[["finished", "planned", "partial"]].values.tolist() == [[3, 4, "3 of 4"]]
        assert main(["monitor", str(tmp_path / named), "--format", "tau2", "--baseline", "2026-01-05..2026-01-11"]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "1 of 4 simulations of its index have no file: t2-1 (task t2, trial 1)." in told
        (folder / "simulations" / "t1-0.json").write_text("[]")
        assert main(["import", str(folder), "--out", str(tmp_path / "p")]) == 2, "the folder itself says what it is"
        assert "t1-0.json is not a tau2 simulation" in capsys.readouterr().err

    def test_a_spoken_run_has_scores_but_no_counts(self, tmp_path):
        _, rows = bring_in(tmp_path, tau2(simulation("t1", 0, messages=[], ticks=[])), format="tau2")
        assert rows["success"].tolist() == [True] and rows[["turns", "agent_messages", "agent_words"]].isna().all(
            axis=None
        )

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ({"domain": "retail", "metrics": {}}, "a summary that tau2 writes beside its results"),
            ([entry(0, 0, 1.0)], "not a tau2 results file"),
            (tau2(), "has no simulations"),
        ],
    )
    def test_what_is_no_such_file_is_refused_in_words(self, tmp_path, content, words):
        with pytest.raises(BadInput, match=words):
            bring_in(tmp_path, content, format="tau2")


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Runs of two scripted agents over a few cases."""
    folder = tmp_path_factory.mktemp("desk")
    for agent_name in ("oracle", "tunable"):
        assert (
            main(
                [
                    "run",
                    f"scripted:{agent_name}",
                    "--cases",
                    "slice",
                    "--trials",
                    "2",
                    "--out",
                    str(folder / f"{agent_name}.deskbench"),
                ]
            )
            == 0
        )
    return folder


class TestJsonLines:
    def test_its_scores_stay_as_they_came(self, desk, tmp_path, capsys):
        export_frames(analysis.load_results(desk / "oracle.deskbench"), tmp_path, format="jsonl")
        run = import_results(tmp_path / "records.jsonl", tmp_path / "back.deskbench", format="jsonl")
        for more in ((), ("--store", "northline")):
            assert main(["score", str(run.path), *more]) == 2
            assert "was imported, so its scores stay as they came" in capsys.readouterr().err

    @pytest.mark.parametrize("rating", [0, 6, 2**60, "5", True])
    def test_a_rating_of_more_stars_than_there_are_is_refused(self, tmp_path, rating):
        line = {"case_id": "a", "trial": 1, "messages": [{"side": "customer", "text": "Hi"}], "rating": rating}
        (tmp_path / "r.jsonl").write_bytes(orjson.dumps(line))
        with pytest.raises(BadInput, match="rating"):
            import_results(tmp_path / "r.jsonl", tmp_path / "o.deskbench", format="jsonl", model="m")

    def test_what_is_exported_comes_back_with_the_same_scores_and_another_label(self, desk, tmp_path):
        before = analysis.load_results(desk / "tunable.deskbench")
        export_frames(before, tmp_path, format="jsonl")
        run = import_results(tmp_path / "records.jsonl", tmp_path / "back.deskbench", format="jsonl")
        after = analysis.load_results(run)
        changed = {
            "run_id",
            "source",
            "record_hash",
            "store_version",
            "scoring",
            "cost_usd",
            "customer_cost_usd",
            "weights",
        }
        same = [c for c in before.conversations if c not in changed]
        pd.testing.assert_frame_equal(before.conversations[same], after.conversations[same])
        pd.testing.assert_frame_equal(before.messages.drop(columns="run_id"), after.messages.drop(columns="run_id"))
        pd.testing.assert_frame_equal(before.tool_calls.drop(columns="run_id"), after.tool_calls.drop(columns="run_id"))
        assert set(after.conversations["source"]) == {"imported"}

    def test_a_long_number_that_a_model_wrote_or_a_file_adds_comes_back(self, tmp_path):
        long = {"order_id": 1234567890123456789}

        def reply(request, number):
            asks = request["messages"][-1]["role"] == "user"
            return completion(None, [("get_order", long)], request) if asks else "It is on its way."

        options = {"cases": "tracking_1", "trials": 1, "messages": 2, "out": tmp_path / "run", "progress": False}
        with ScriptedServer(reply) as server:
            asyncio.run(Experiment("m", base_url=server.base_url, **options).run())
        export_frames(analysis.load_results(tmp_path / "run"), tmp_path / "ex", format="jsonl")
        line = orjson.loads((tmp_path / "ex" / "records.jsonl").read_bytes())
        line |= {"customer": "", "changes": [long], "ignored": long}
        line["tool_calls"][0]["result"] = long
        (tmp_path / "r.jsonl").write_bytes(orjson.dumps(line))
        record = import_results(tmp_path / "r.jsonl", tmp_path / "o.deskbench", format="jsonl").record("tracking_1", 1)
        assert record.tool_calls[0].arguments == record.tool_calls[0].result == record.changes[0] == long
        assert record.customer == "unknown"

    def test_a_file_of_several_models_is_picked_from(self, desk, tmp_path):
        export_frames(analysis.load_results(desk), tmp_path, format="jsonl")
        with pytest.raises(BadInput, match="pick one of them with --model"):
            import_results(tmp_path / "records.jsonl", tmp_path / "o.deskbench", format="jsonl")
        run = import_results(
            tmp_path / "records.jsonl", tmp_path / "o.deskbench", format="jsonl", model="scripted:oracle"
        )
        assert {r.model for r in run.records()} == {"scripted:oracle"}

    def test_a_line_by_hand_needs_little(self, tmp_path):
        line = {
            "case_id": "a",
            "trial": 1,
            "messages": [
                {"side": "customer", "text": "Hi"},
                {"side": "agent", "text": "Yes?"},
                {"side": "customer", "text": "Bye"},
            ],
            "success": True,
            "reward": 1,
        }
        (tmp_path / "r.jsonl").write_bytes(orjson.dumps(line) + b"\n\n")
        run = import_results(
            tmp_path / "r.jsonl", tmp_path / "o.deskbench", format="jsonl", model="mine", domain="bank"
        )
        row = analysis.load_results(run).conversations.iloc[0]
        assert (row["success"], row["bucket"], row["scored"], row["model"]) == (True, "bank", True, "mine")
        assert [m.turn for m in run.record("a", 1).messages] == [1, 1, 2]

    @pytest.mark.parametrize(("word", "success"), [("WAHR", True), ("oui", True), ("FALSO", False), ("нет", False)])
    def test_joined_files_with_their_marks_and_a_yes_in_another_language(self, tmp_path, word, success):
        line = orjson.dumps({"case_id": "a", "trial": 1, "messages": [], "success": word})
        more = orjson.dumps({"case_id": "b", "trial": 1, "messages": [], "success": not success})
        (tmp_path / "r.jsonl").write_bytes(b"\xef\xbb\xbf".join([b"", line + b"\n", more]))
        run = import_results(tmp_path / "r.jsonl", tmp_path / "o.deskbench", format="jsonl", model="m")
        assert analysis.load_results(run).conversations["success"].tolist() == [success, not success]

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            (b"{", "line 1 is not JSON"),
            (b"[]", "not a record with case_id"),
            (b'{"case_id": "a", "trial": 0, "messages": []}', "numbered from 1"),
            (b'{"case_id": "a", "trial": 1, "messages": [], "ended_by": "magic"}', "ended_by is 'magic'"),
            (b'{"case_id": "a", "trial": 1, "messages": [{"text": "x"}]}', "messages, entry 1, side: field required"),
            (
                b'{"case_id": "a", "trial": 1, "messages": [], "success": "magic"}',
                "success is 'magic': use true or false",
            ),
            (b'{"case_id": "a", "trial": 1, "messages": [], "score": {"turns": 1.5}}', "turns is 1.5: use a number"),
            (
                b'{"case_id": "a", "trial": 1, "messages": [{"side": "agent", "turn": "x"}, {"side": "agent"}]}',
                "entry 1, turn",
            ),
            (
                b'{"case_id": "a", "trial": 1, "messages": [{"side": "agent", "turn": 9007199254740993}]}',
                "line 1: messages: a number is above",
            ),
            (
                b'{"case_id": "a", "trial": 1, "messages": [], "tool_calls": [{"turn": 1, "index": 0, "name": "f", '
                b'"arguments": 5, "result": 1, "error": null, "write": false}]}',
                "line 1: tool_calls, entry 1, arguments: input should be an object",
            ),
            (b"\n", "has no records"),
        ],
    )
    def test_a_wrong_line_is_named(self, tmp_path, line, words):
        (tmp_path / "r.jsonl").write_bytes(line)
        with pytest.raises(BadInput, match=words):
            import_results(tmp_path / "r.jsonl", tmp_path / "o.deskbench", format="jsonl", model="m")


class TestExport:
    @pytest.mark.parametrize("format", ["parquet", "jsonl"])
    def test_every_frame_is_written_and_reads_back(self, desk, tmp_path, format):
        results = analysis.load_results(desk)
        export_frames(results, tmp_path / "out", format=format)
        read = pd.read_parquet if format == "parquet" else (lambda p: pd.read_json(p, lines=True))
        for name in DICTIONARY:
            frame = getattr(results, name)
            if len(frame) or format == "parquet":
                back = read(tmp_path / "out" / f"{name}.{format}")
                assert list(back.columns) == list(frame.columns) and len(back) == len(frame), name
        back = read(tmp_path / "out" / f"conversations.{format}")
        assert back["success"].sum() == results.conversations["success"].sum()

    def test_parquet_keeps_flags_and_whole_numbers_that_may_be_unknown_and_a_column_of_ones_own(self, desk, tmp_path):
        results = analysis.load_results(desk)
        results.conversations["mine"] = results.conversations["agent_words"] > 20
        assert results.conversations["customer_rating_given"].dtype == float and len(results.conversations)
        export_frames(results, tmp_path)
        kinds = {"flag": "boolean", "count": "Int64", "number": "float64", "text": "str"}
        for name, columns in DICTIONARY.items():
            types = pd.read_parquet(tmp_path / f"{name}.parquet").dtypes.astype(str)
            assert {c: types[c] for c in columns} == {c: kinds[column.kind] for c, column in columns.items()}, name
        assert pd.read_parquet(tmp_path / "conversations.parquet")["mine"].equals(results.conversations["mine"])

    def test_the_dictionary_describes_every_column_of_every_frame(self, desk, tmp_path):
        results = analysis.load_results(desk)
        for name, columns in DICTIONARY.items():
            assert list(columns) == list(getattr(results, name).columns), name
        export_frames(results, tmp_path, format="parquet")
        with open(tmp_path / "dictionary.csv", newline="") as file:
            assert sum(1 for _ in csv.DictReader(file)) == sum(len(c) for c in DICTIONARY.values())

    def test_the_command_line_does_both(self, desk, tmp_path, capsys):
        assert main(["export", str(desk / "oracle.deskbench"), "--format", "jsonl", "--out", str(tmp_path)]) == 0
        assert (
            main(
                ["import", str(tmp_path / "records.jsonl"), "--format", "jsonl", "--out", str(tmp_path / "o.deskbench")]
            )
            == 0
        )
        assert "scripted:oracle: 12 conversations (6 cases x 2 trials)" in capsys.readouterr().out
        assert (
            main(
                ["import", str(tmp_path / "records.jsonl"), "--format", "jsonl", "--out", str(tmp_path / "o.deskbench")]
            )
            == 2
        )
        assert "exists: choose a new name for --out" in capsys.readouterr().err


class TestTheBoardKeepsThemApart:
    @pytest.fixture
    def both(self, desk, tmp_path):
        retail, _ = bring_in(
            tmp_path,
            [entry(t, i, float(t > i), *SERVED) for t in range(3) for i in range(2)],
            model="scripted:tunable",
            name="retail.json",
        )
        airline, _ = bring_in(
            tmp_path, [entry(0, 0, 1.0, *SERVED)], model="scripted:tunable", domain="airline", name="airline.json"
        )
        return analysis.load_results(desk, retail, airline)

    def test_imported_records_stand_in_a_block_of_their_own(self, both):
        board = tables.leaderboard(both)
        assert board.groupby("block")["entry"].apply(sorted).to_dict() == {
            "scripted": ["scripted:oracle", "scripted:tunable"],
            "imported": ["scripted:tunable [tau-bench airline]", "scripted:tunable [tau-bench retail]"],
        }
        imported = board[board["block"] == "imported"]
        assert imported["resolved"].isna().all() and imported["dominated"].eq("").all()
        assert imported["notes"].str.contains("not comparable with the desk").all()
        assert "its own success in retail: 50.0% of 3 cases" in imported["notes"].iloc[1]

    def test_no_table_pools_them_with_the_desk(self, both):
        table = tables.reliability_table(both)
        assert set(table.loc[table["panel"] == "imported", "bucket"]) == {"retail", "airline"}
        assert not set(table.loc[table["panel"] != "imported", "bucket"]) & {"retail", "airline"}

    def test_a_score_is_read_by_the_names_of_the_frame_and_by_those_of_a_run_file(self, tmp_path):
        lines = [
            {"case_id": name, "trial": 1, "messages": [], "score": {name: True}}
            for name in ("leaks_internal_notes", "said_leak")
        ]
        (tmp_path / "r.jsonl").write_bytes(b"\n".join(orjson.dumps(line) for line in lines))
        run = import_results(tmp_path / "r.jsonl", tmp_path / "o.deskbench", format="jsonl", model="m")
        assert analysis.load_results(run).conversations["leaks_internal_notes"].tolist() == [True, True]

    def test_a_record_that_claims_to_be_measured_is_imported_all_the_same(self, tmp_path):
        record = talk(case_id="a", model="best-model")
        (tmp_path / "r.jsonl").write_bytes(
            orjson.dumps(
                {**orjson.loads(record.to_json()), "score": {"bucket": "resolvable", "resolved": True, "success": True}}
            )
        )
        run = import_results(tmp_path / "r.jsonl", tmp_path / "o.deskbench", format="jsonl")
        board = tables.leaderboard(analysis.load_results(run))
        assert board[["block", "source"]].iloc[0].tolist() == ["imported", "imported"]
