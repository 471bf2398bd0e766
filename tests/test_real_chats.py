"""Real chats: cut before each decision, scored against the human and the written procedure."""

import asyncio
import json
import shutil
from pathlib import Path

import orjson
import pandas as pd
import pytest
import yaml
from run_server import RunServer
from servers import completion

from benchmark_lib import (
    BadInput,
    Experiment,
    Fork,
    estimators,
    figures,
    import_chats,
    load_results,
    load_store,
    reports,
    tables,
)
from benchmark_lib.cli import main
from benchmark_lib.project import DATA

EXAMPLE = DATA / "chats" / "example"
TEXTS = {name: EXAMPLE / f"{name}.yaml" for name in ("acts", "procedures")}
FLOORS = ("no_op", "commonest", "first_suggestion")


def run(experiment):
    return asyncio.run(experiment.run())


def imported(out, **options):
    return import_chats([EXAMPLE / "chats.jsonl"], "jsonl", out, title="Halden Bikes", **{**TEXTS, **options})


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    out = tmp_path_factory.mktemp("chats") / "example"
    assert imported(out).left_out == {}
    return out


@pytest.fixture(scope="module")
def results(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name in ("human", "procedure", "oracle", *FLOORS):
        options = {"store": store, "trials": 1, "progress": False}
        run(Experiment(f"scripted:{name}", out=folder / f"{name}.deskbench", **options))
    return load_results(folder)


def star(**more):
    """A dialogue in STAR's form: a name is asked for, the balance is queried and told."""
    picked = {"Agent": "Wizard", "Action": "pick_suggestion"}
    events = [
        {"Agent": "User", "Action": "utter", "Text": "What is my balance?"},
        {
            **picked,
            "ActionLabel": "ask_name",
            "ActionLabelOptions": ["hello", "ask_name"],
            "Text": "Your name, please?",
        },
        {"Agent": "User", "Action": "utter", "Text": "Orla Finch, account 77120934"},
        {
            "Agent": "Wizard",
            "Action": "query",
            "APIName": "bank_balance",
            "Constraints": [{"FullName": '"Orla Finch"'}],
        },
        {"Agent": "KnowledgeBase", "Action": "return_item", "Item": {"BankBalance": 12}},
        {
            **picked,
            "ActionLabel": "bank_inform_balance",
            "ActionLabelOptions": ["bank_inform_balance"],
            "Text": "It is 12.",
        },
        {"Agent": "User", "Action": "utter", "Text": "Thanks"},
    ]
    task = {"Domains": ["bank"], "WizardCapabilities": [{"Task": "bank_balance"}], "UserTask": "You are Orla Finch"}
    return {"DialogueID": 7, "Scenario": task, "Events": events, **more}


CHART = {
    "task": "bank_balance",
    "replies": {"ask_name": "Your name?", "bank_inform_balance": "It is {balance}.", "query": "Query"},
    "graph": {"hello": "ask_name", "ask_name": "query", "query_success": "bank_inform_balance"},
}


def abcd(**more):
    """A chat in ABCD's form; the buttons come from the lines of the log."""
    scenario = {
        "personal": {"customer_name": "orla finch", "email": "orla77@email.com"},
        "flow": "f",
        "subflow": "cost_2",
    }
    original = [
        ["agent", "Hi, how can I help?"],
        ["customer", "I am orla finch, why the shipping cost?"],
        ["action", "Account has been pulled up for Orla Finch."],
        ["agent", "One moment"],
        ["customer", "ok, mail is orla77@email.com"],
        ["action", "Purchase validation in progress ..."],
        ["action", "A refund has been made for the amount of $7."],
    ]
    return {"convo_id": 3, "scenario": scenario, "original": original, **more}


def written(path, *chats):
    path.write_text("".join(json.dumps(chat) + "\n" for chat in chats), encoding="utf-8")
    return path


def test_the_human_and_the_procedure_reach_their_own_ceiling_and_floors_do_not(results):
    table = tables.chat_agreement(results).set_index("entry")
    assert table.loc["scripted:human", ["human_acts", "human_values", "kappa", "handover"]].tolist() == [1, 1, 1, 1]
    assert table.loc["scripted:procedure", "procedure"] == table.loc["scripted:oracle", "procedure"] == 1
    for floor in FLOORS:
        row = table.loc[f"scripted:{floor}"]
        assert max(row["human_acts"], row["procedure"]) < 0.5
        assert row["kappa"] < 0.3
    humans = table.loc["the human agents"]
    assert 0 < humans["procedure_low"] < humans["procedure"] < 1
    assert results.conversations.groupby("entry")["success"].all()["scripted:oracle"]


def test_partings_are_named_by_kind_with_their_cases(results):
    kinds = tables.partings(results).groupby("kind")["cases"].agg(", ".join)
    assert "dep_2_1" in kinds["human error"]  # refunded without checking that the bike is back
    assert "ext_3_1" in kinds["human error"]  # asked for a number that was given
    assert "dep_3_1" in kinds["allowed branch"]  # the bike was not back, so nothing was refunded
    assert "ext_2_1" not in ", ".join(kinds)  # the number was given, so the question was skipped


def test_what_an_entry_did_instead_is_listed(results):
    table = tables.chat_differences(results)
    rows = table[table["entry"] == "scripted:first_suggestion"]
    assert (rows["trials"] >= 1).all()
    assert "dep_2_1" in ", ".join(rows["cases"])
    ax = figures.chat_truths(table=tables.chat_agreement(results))
    assert len(ax.get_yticklabels()) == len(tables.chat_agreement(results))


def test_kappa_is_agreement_beyond_chance_over_chats():
    one, two = list("aabbaabb"), list("aabbabab")
    found = estimators.beyond_chance(one, two, [1, 1, 2, 2, 3, 3, 4, 4])
    assert found.estimate == pytest.approx(0.5)  # 6 of 8 alike where chance gives 4
    assert found.low < 0.5 < found.high
    assert estimators.beyond_chance("aaaa", "abab", [1, 2, 3, 4]).estimate == 0
    assert estimators.beyond_chance("aa", "aa", [1, 2]).reason


def test_an_agent_sees_the_chat_up_to_the_cut_and_no_more(store, tmp_path):
    seen = []

    class Watching:
        def reply(self, talk):
            seen.append([(m.side, m.text) for m in talk.messages])
            assert talk.call("find_booking", booking="HB-1").result == {
                "not_on_record": "The chat's record has no answer to this. Go on without it."
            }
            return "One moment."

    options = {"store": store, "trials": 1, "progress": False, "cases": "ext_1_2"}
    made = run(Experiment("watching", agent=Watching(), out=tmp_path / "own.deskbench", **options))
    record = made.record("ext_1_2", 1)
    assert [side for side, _ in seen[0]] == ["customer", "agent", "customer"]
    assert record.taken_over == 2
    assert [c.name for c in record.tool_calls] == ["send_reply", "find_booking"]
    decision = next(iter(made.scores().values()))["decision"]
    assert decision["not_on_record"] == 1
    assert decision["acts"] == "find_booking"


class Follower(RunServer):
    """A model that looks the booking up and sends the first canned reply of its list."""

    def reply_to(self, request, number):
        messages = request["messages"]
        self.last = messages
        if messages[-1]["role"] == "tool":
            return completion(None, [("send_reply", {"reply": "ask_booking"})], request)
        return completion(None, [("find_booking", {"booking": "HB-20417"})], request)


def test_a_canned_reply_ends_the_turn_and_nothing_more_is_bought(store, tmp_path):
    with Follower() as server:
        options = {"store": store, "trials": 1, "progress": False, "cases": "ext_1_2", "base_url": server.base_url}
        made = run(Experiment("follower", out=tmp_path / "run.deskbench", **options))
        assert server.count == 2
        history = server.last
    record = made.record("ext_1_2", 1)
    assert record.replies()[-1].text == "May I have your booking number, please?"
    assert [m["role"] for m in history[:6]] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert "Extend a rental" in history[0]["content"]


def test_runs_resume_replay_and_fork(store, tmp_path):
    out = tmp_path / "run.deskbench"
    with Follower() as server:
        options = {"store": store, "progress": False, "cases": "extension", "base_url": server.base_url, "out": out}
        run(Experiment("follower", trials=1, **options))
        bought = server.count
        run(Experiment("follower", trials=1, **options))
        assert server.count == bought
        forks = run(
            Fork(parent=out, store=store, at="every", times=2, out=tmp_path / "forks.deskbench", progress=False)
        )
        other = Fork(parent=out, store=store, at="every", times=1, model="scripted:human", shared=True)
        other.out, other.progress = tmp_path / "other.deskbench", False
        taken = run(other)
    replayed = Experiment("follower", trials=1, replay=True, **options)
    run(replayed)
    assert replayed.replayed == 8
    for made in (forks, taken):
        turns = {row[1] for rows in made.manifest["points"].values() for row in rows}
        assert all(record.taken_over in turns for record in made.records())


def test_the_customer_goes_on_where_asked(store, tmp_path):
    options = {"store": store, "trials": 1, "progress": False, "cases": "extension,play-on"}
    made = run(Experiment("scripted:human", out=tmp_path / "on.deskbench", **options))
    record = made.record("ext_1_1_on", 1)
    assert [m.text for m in record.messages if m.side == "customer"][1].startswith("Sure, ")
    assert record.ended_by == "resolved_by_customer"


def test_a_command_imports_plays_on_and_says_what_is_next(tmp_path, capsys, monkeypatch):
    out = tmp_path / "bikes"
    files = [f"--{name}={path}" for name, path in TEXTS.items()]
    assert main(["import-chats", str(EXAMPLE / "chats.jsonl"), "--format=jsonl", f"--out={out}", *files]) == 0
    said = capsys.readouterr().out
    assert "12 chats written, 19 decisions; 0 chats left out" in said
    assert "personal data replaced: " in said
    monkeypatch.setenv("DESKBENCH_PROJECT", str(tmp_path))
    run_file = tmp_path / "run.deskbench"
    words = [
        "run",
        "scripted:human",
        f"--store={out}",
        "--trials=1",
        "--cases=dep_1*",
        "--play-on",
        f"--out={run_file}",
    ]
    assert main(words) == 0
    assert load_results(run_file).conversations["case_id"].str.endswith("_on").all()


def test_the_commands_of_the_page_work(tmp_path, monkeypatch):
    page = (DATA.parent / "docs" / "real-chats.md").read_text(encoding="utf-8").split("```")[1]
    lines = page.replace("\\\n", " ").strip().splitlines()
    shutil.copytree(DATA / "chats", tmp_path / "data" / "chats")
    monkeypatch.chdir(tmp_path)
    for line in lines[:2]:
        words = line.replace(" MODEL ", " scripted:human --trials 1 --out run.deskbench ").split('"')
        given = [part for n, one in enumerate(words) for part in ([one] if n % 2 else one.split())][1:]
        assert main(given) == 0, line
    assert lines[2] == "deskbench notebook 26_real_chats"
    assert len(tables.chat_decisions(load_results("run.deskbench"))) == 19


def test_the_format_of_star(tmp_path):
    chart = tmp_path / "tasks" / "bank_balance.json"
    chart.parent.mkdir()
    chart.write_text(json.dumps(CHART))
    (tmp_path / "7.json").write_text(json.dumps(star()))
    done = import_chats([tmp_path / "7.json"], "star", tmp_path / "out", procedures=tmp_path / "tasks")
    assert (done.chats, done.decisions) == (1, 2)
    one = load_store(tmp_path / "out").decisions["star_7_2"]
    assert [did.name for did in one.human] == ["bank_balance", "bank_inform_balance"]
    assert one.against_procedure(one.human) == "as written"
    assert "Orla" not in (tmp_path / "out" / "chats.jsonl").read_text()


def test_the_format_of_abcd(tmp_path):
    path = tmp_path / "chats.json"
    path.write_text(json.dumps([abcd()]))
    import_chats([path], "abcd", tmp_path / "out")
    found = load_store(tmp_path / "out").decisions
    assert [[did.name for did in one.human] for one in found.values()] == [
        ["pull-up-account"],
        ["validate-purchase", "offer-refund"],
    ]
    assert found["abcd_3_3"].human[1].values == {"amount": "7"}
    text = (tmp_path / "out" / "chats.jsonl").read_text().lower()
    assert "orla" not in text and "finch" not in text


def test_csv_has_a_line_of_a_chat_per_row(tmp_path):
    rows = [
        ("a", "record", "", "", '{"name": "Orla Finch"}'),
        ("a", "customer", "Hello, Orla Finch here. Extend HB-1 please.", "", ""),
        ("a", "agent", "", "find_booking", '{"booking": "HB-1"}'),
        ("a", "customer", "Thanks", "", ""),
    ]
    path = tmp_path / "chats.csv"
    pd.DataFrame(rows, columns=["chat", "from", "text", "act", "values"]).to_csv(path, index=False)
    done = import_chats([path], "csv", tmp_path / "out", **TEXTS)
    assert (done.chats, done.decisions) == (1, 1)
    assert "Finch" not in (tmp_path / "out" / "chats.jsonl").read_text()


def test_a_logged_conversation_becomes_a_case(tmp_path):
    calls = [{"name": "refund", "arguments": {"amount": "9"}, "result": {"ok": True}, "turn": 1}]
    messages = [{"role": "user", "content": "Money back for HB-1"}, {"role": "assistant", "content": "Done."}]
    log = {"id": "T-17", "at": "2026-05-01T10:00:00Z", "messages": messages, "tool_calls": calls}
    path = written(tmp_path / "log.jsonl", log, {**log, "id": "T-18"})
    done = import_chats([path], "log", tmp_path / "out", only=["T-17"])
    assert (done.drafted, list(done.left_out.values())) == (1, ["acts that await approval"])
    accept(tmp_path / "out")
    done = import_chats([path], "log", tmp_path / "out", only=["T-17"])
    assert (done.chats, done.decisions) == (1, 1)
    assert list(load_store(tmp_path / "out").decisions) == ["t_17_1"]


def accept(folder):
    acts = yaml.safe_load((folder / "acts.yaml").read_text())
    for act in acts["acts"].values():
        assert act.get("examples") or act.get("accepted", True)
        act["accepted"] = True
    (folder / "acts.yaml").write_text(yaml.safe_dump(acts))


def test_a_chat_with_a_possible_name_waits_until_a_person_decides(tmp_path):
    messages = [
        {"from": "customer", "text": "Is the Ingrid Solberg bike of HB-1 ready?"},
        {"act": "find_booking", "values": {"booking": "HB-1"}},
    ]
    path = written(tmp_path / "chats.jsonl", {"id": "x", "messages": messages})
    waiting = import_chats([path], "jsonl", tmp_path / "out", **TEXTS)
    assert list(waiting.left_out.values()) == ["possible personal data, awaits review"]
    assert [left.text for left in waiting.review["chats.jsonl:1"]] == ["Ingrid Solberg"]
    assert "Ingrid" not in "".join(p.read_text() for p in (tmp_path / "out").iterdir())
    assert "Ingrid" not in repr(waiting)
    asked = import_chats([path], "jsonl", tmp_path / "out", ask=lambda place, left: True, **TEXTS)
    assert asked.chats == 1
    assert "Ingrid" not in "".join(p.read_text() for p in (tmp_path / "out").iterdir())
    kept = import_chats([path], "jsonl", tmp_path / "kept", keep=["Ingrid Solberg"], **TEXTS)
    named = import_chats([path], "jsonl", tmp_path / "named", personal=["Ingrid Solberg"], **TEXTS)
    assert (kept.chats, named.chats) == (1, 1)
    assert "Ingrid" not in "".join(p.read_text() for p in (tmp_path / "named").iterdir())


HOSTILE = {
    "empty": {"id": "a", "messages": []},
    "one speaker": {"id": "b", "messages": [{"from": "customer", "text": "Hello?"}]},
    "no id": {"messages": [{"from": "customer", "text": "Hi"}, {"from": "agent", "text": "Hi"}]},
    "strange speaker": {"id": "c", "messages": [{"from": "ghost", "text": "Boo"}]},
    "no text": {"id": "d", "messages": "Hello"},
    "outcome in words": {
        "id": "e",
        "messages": [{"from": "customer", "text": "Hi"}],
        "outcome": {"resolved": "perhaps"},
    },
    "too long": {"id": "f", "messages": [{"from": "customer", "text": "x" * 30_000}, {"from": "agent", "text": "Hi"}]},
    "nothing to decide": {"id": "g", "messages": [{"from": "customer", "text": "Hi"}, {"from": "agent", "text": "Hi"}]},
    "a list": [1, 2],
}


@pytest.mark.parametrize("chat", HOSTILE.values(), ids=HOSTILE.keys())
def test_an_unusable_chat_is_left_out_with_its_reason_and_the_others_are_kept(chat, tmp_path):
    good = EXAMPLE.joinpath("chats.jsonl").read_text().splitlines()[0]
    path = tmp_path / "chats.jsonl"
    path.write_text(f"{json.dumps(chat)}\n{good}\nnot json\n")
    done = import_chats([path], "jsonl", tmp_path / "out", **TEXTS)
    assert done.chats == 1
    assert set(done.left_out) == {"chats.jsonl:1", "chats.jsonl:3"}
    assert all(reason and "\n" not in reason for reason in done.left_out.values())


def test_hostile_words_stay_words(tmp_path):
    bad = "=HYPERLINK(1) <script>alert(1)</script> {{ 7 * 7 }} \u202e \x00"
    messages = [
        {"from": "customer", "text": f"{bad} HB-1"},
        {"act": "find_booking", "values": {"booking": bad}, "result": {bad: [bad]}},
    ]
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps({"id": f"{bad}1", "record": {"name": "a.*(b"}, "messages": messages}))
    done = import_chats([path], "jsonl", tmp_path / "out", keep=["=cmd"], **TEXTS)
    assert done.chats == 1
    made = run(
        Experiment("scripted:human", store=tmp_path / "out", trials=1, out=tmp_path / "r.deskbench", progress=False)
    )
    assert "<script>" in next(iter(made.records())).messages[0].text
    lone = b'{"id": "s", "messages": [{"from": "customer", "text": "\\ud800 HB-1"}, {"act": "find_booking"}]}'
    path.write_bytes(lone)
    assert import_chats([path], "jsonl", tmp_path / "lone", **TEXTS).chats in (0, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format": "xml"}, "choose one of star"),
        ({"files": ["missing.jsonl"]}, "missing.jsonl"),
        ({"procedures": "nowhere"}, "--procedures"),
        ({"files": []}, "name files or folders with chats"),
        ({"only": ["nobody"]}, "check the ids"),
    ],
)
def test_bad_input_is_one_sentence(options, said, tmp_path):
    given = {"files": [EXAMPLE / "chats.jsonl"], "format": "jsonl", "out": tmp_path / "out", **TEXTS, **options}
    with pytest.raises(BadInput, match=said):
        import_chats(given.pop("files"), given.pop("format"), given.pop("out"), **given)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(BadInput, match="choose another --out"):
        imported(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "acts.yaml").write_text("acts: {a: {kind: dance}}")
    with pytest.raises(BadInput, match=r"acts\.yaml"):
        import_chats([EXAMPLE / "chats.jsonl"], "jsonl", tmp_path / "other")


def test_the_same_command_again_keeps_the_chats_that_are_there(store, tmp_path):
    out = tmp_path / "out"
    first = import_chats([EXAMPLE / "chats.jsonl"], "jsonl", out, only=["ext-1"], **TEXTS)
    before = (out / "chats.jsonl").read_text()
    again = imported(out)
    assert (first.chats, again.chats, again.decisions) == (1, 12, 19)
    assert (out / "chats.jsonl").read_text().startswith(before)
    assert again.counts.total() > first.counts.total() > 0


@pytest.mark.parametrize("command", ["audit", "generate", "run"])
def test_what_such_a_store_cannot_do_is_said(command, store, tmp_path, capsys):
    more = {"generate": ["--seed=3", f"--out={tmp_path / 'fresh'}"], "run": ["scripted:echo"]}.get(command, [])
    assert main([command, *more, f"--store={store}"]) == 2
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) == 1
    assert "chats" in said or str(store) in said


def test_a_forecast_counts_what_the_model_itself_will_do(store, tmp_path):
    with Follower() as server:
        options = {"store": store, "trials": 1, "progress": False, "base_url": server.base_url}
        foreseen = Experiment("follower", out=tmp_path / "run.deskbench", **options).forecast()
    assert 19 <= foreseen.calls.low <= foreseen.calls.likely <= foreseen.calls.high <= 19 * 8


def test_a_changed_chat_is_another_case(tmp_path):
    imported(tmp_path / "one" / "bikes")
    options = {"trials": 1, "progress": False, "out": tmp_path / "run.deskbench"}
    run(Experiment("scripted:human", store=tmp_path / "one" / "bikes", **options))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    chats = tmp_path / "two" / "bikes" / "chats.jsonl"
    chats.write_text(chats.read_text().replace("Great.", "Great!"))
    with pytest.raises(BadInput, match="ext_2"):
        run(Experiment("scripted:human", store=tmp_path / "two" / "bikes", **options))


def test_the_site_and_a_comparison_work(results, tmp_path, capsys):
    paths = {run.manifest["model"]: str(run.path) for run in results.runs}
    assert main(["compare", paths["scripted:human"], paths["scripted:procedure"], "--all"]) == 0
    assert "Resolved" in capsys.readouterr().out
    assert main(["site", *paths.values(), "--out", str(tmp_path / "site")]) == 0
    names = [entry for entry in results.entries.values() if entry.startswith(("scripted:human", "scripted:no_op"))]
    page = reports.show_conversations(results, case_id="dep_1_2", entry=names)._repr_html_()
    assert page.count("Agent of the recorded chat") == 2


def test_the_corpora_in_the_shared_folder_convert():
    samples = Path(__file__).resolve().parents[2] / "shared" / "samples"
    if not samples.is_dir():
        return
    from benchmark_lib.extras.real_chats.acts import SHIPPED, Vocabulary
    from benchmark_lib.extras.real_chats.formats import read_chats

    for form, place, least in (("star", "star", 52), ("abcd", "abcd/dialogues.json", 10)):
        known = Vocabulary.read(SHIPPED / f"{form}.yaml")
        read = [chat for _, chat in read_chats([samples / place], form, known)]
        assert sum(not isinstance(chat, str) for chat in read) == least
        assert orjson.dumps(len(read))
