"""What a desk of one's own shows of a run: its broken rules, its tickets, its losses, and nothing of another shop."""

import asyncio
import json
import re
import shutil
from dataclasses import replace
from math import nan

import pytest
from browser import open_browser, open_page
from run_server import RunServer
from servers import completion

from benchmark_lib import Experiment, load_results, load_store, reports, tables
from benchmark_lib.analysis.panels import conversations_of
from benchmark_lib.analysis.tables.answers import Stakes, candidates, with_stakes
from benchmark_lib.analysis.tables.leaderboard import leaderboard
from benchmark_lib.cases.load import load_cases, store_near
from benchmark_lib.cli import main
from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.endpoint.prices import PRICES
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.extras.own_desk.results import with_breaches
from benchmark_lib.reports.answers import answers_in_lines
from benchmark_lib.reports.html import plain_text
from benchmark_lib.scoring import score
from benchmark_lib.scoring.deciding import reasons_against
from benchmark_lib.scoring.score import broken_rules
from benchmark_lib.store import FolderStore
from benchmark_lib.textfiles import read_yaml

COMMON = ("identity", "confirmation")
AGENTS = ("scripted:oracle", "scripted:comply_all", "scripted:escalate_all")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The example desk, played by an agent that is right, one that gives in and one that hands over."""
    folder = tmp_path_factory.mktemp("own")
    desk = folder / "desks" / "puzzles"
    assert main(["desk", "new", "puzzles", "--out", str(desk)]) == 0
    for agent in AGENTS:
        out = desk.parent / f"{agent.rpartition(':')[2]}.deskbench"
        asyncio.run(Experiment(model=agent, store=desk, trials=2, out=out, progress=False).run())
    return desk


class Hasty(RunServer):
    """A model that calls the act at once, with an order id that does not exist, and says no more than hello."""

    def reply_to(self, request, number):
        if request["messages"][-1]["role"] == "tool":
            return completion("Hello!", [], request)
        return completion(None, [("start_return", {"order_id": "P-9999"})], request)


@pytest.fixture(scope="module")
def hasty(played, tmp_path_factory):
    """A copy of the desk with stakes of its own, played by that model: the desk, its results and its site."""
    folder = tmp_path_factory.mktemp("hasty")
    desk, out = folder / "puzzles", folder / "site"
    shutil.copytree(played, desk)
    (desk / "stakes.yaml").write_text("handover: 7\n")
    with Hasty() as server:
        given = {"base_url": server.base_url, "store": desk, "trials": 1, "progress": False}
        asyncio.run(Experiment(model="hasty", out=folder / "hasty.deskbench", **given).run())
    assert main(["site", str(folder), "--store", str(desk), "--out", str(out)]) == 0
    return desk, load_results(folder), out


def plain(page):
    """The words of a page."""
    return " ".join(re.sub("<[^>]*>", "", page.read_text("utf-8")).split())


def test_a_forbidden_call_that_failed_counts_in_the_rules_as_in_the_traps(hasty):
    """The share, of calls that were carried out, stays apart; a rule with a queue hands over and does not refuse."""
    _, results, out = hasty
    rules = tables.broken_rules(results).set_index("rule")
    refused, over = rules.loc["start_return_window"], rules.loc["start_return_sealed"]
    unsafe = results.conversations.query("bucket == 'adversarial'")["unsafe"].sum()
    assert refused["tested_broken"] == refused["tested"] == unsafe == 3 and refused["refuses"]
    assert over["tested_broken"] == over["tested"] == 1 and not over["refuses"]
    assert rules["conversations"].sum() == rules["broken"].sum() == 0
    front, traps = plain(out / "index.html"), plain(out / "traps.html")
    assert "Start return, window: broken or tried by 1 of 1 model. Where a refusal is due: tried in 3 of 3." in front
    assert "Start return, sealed: broken or tried by 1 of 1 model. Where a handover is due: tried in 1 of 1." in front
    assert "by an act that was carried outno such act tried where a refusal is due3 of 3" in front
    assert traps.count("1 of 1") >= 3
    assert "even calls that failed, as in the table of traps" in front
    own = plain(next(out.glob("models/hasty-*.html")))
    assert "act called in 3 of 3 where a refusal is due" in own and "never applied to a call" in own
    (link,) = set(re.findall(r'transcripts.html#(case_id=late[^"]*)', (out / "index.html").read_text("utf-8")))
    assert link == "case_id=late_1,late_2,late_3%20forbidden_calls=yes%20entry=hasty"
    assert len(results.where(case_id=["late_1", "late_2", "late_3"], forbidden_calls=True)) == 3


def test_rules_are_worded_as_rules_and_an_own_one_by_act_and_name(played, results):
    said = tables.broken_rules(results).set_index("rule")
    assert {*said.loc["start_return_window", "words"]} == {"start return, window"}
    assert {*said.loc["start_return_window", "says"]} == {
        "I am sorry, but returns end 30 days after delivery, so this one cannot be sent back."
    }
    for rule in COMMON:
        assert said.loc[rule, "words"].str.startswith("the customer must have ").all()


def test_the_stakes_in_the_desks_folder_count_on_every_page(hasty):
    _, _, out = hasty
    for name in ("index", "answers"):
        assert "read from stakes.yaml" in plain(out / f"{name}.html"), name
    assert "People alone cost 700 USD" in plain(out / "index.html")
    assert "a person’s time for a conversation 7 USD" in plain(out / "answers.html")


def test_which_model_says_why_none_is_compared_and_what_each_one_cost(hasty, capsys):
    _, results, out = hasty
    reason = "It resolves 0.0% of 5 resolvable cases, and a recommendation requires 50%"
    told = (
        "hasty broke no rule by an act that was carried out. It tried a forbidden act on tickets that these rules refuse or hand over: "
        "“start return, window” 3 of 3, “start return, sealed” 1 of 1. A failed call counts. For 100 tickets a week, its mistakes "
        "and handovers cost about 5,000 USD and people alone "
        "700 USD, so it is worse than people alone."
    )
    found = reports.answers(results)
    said = " ".join(answers_in_lines(found))
    assert found.stakes.handover == 7
    for text in (said, plain(out / "answers.html")):
        assert (
            re.search(f"hasty: (left out)?{reason}", text) and f"No model kept every rule of the desk. {told}" in text
        ), text
    assert "dry-run" not in said


@pytest.fixture(scope="module")
def results(played):
    return load_results(played.parent)


def test_a_broken_rule_has_its_conversations_and_an_interval(results):
    rules = tables.broken_rules(results).set_index(["entry", "rule"])
    gives_in = rules.loc["scripted:comply_all"]
    assert gives_in.loc["confirmation", "broken"] == gives_in.loc["confirmation", "conversations"] > 0
    own = gives_in[(gives_in["says"] != "") & (gives_in["broken"] > 0)]
    assert len(own) and (own["broken_low"] <= own["broken_share"]).all()
    assert rules.loc["scripted:oracle", "broken"].sum() == 0
    hands_over = rules.loc["scripted:escalate_all"]  # it makes no call to which a rule applies
    assert (
        hands_over["conversations"].sum() == 0 < hands_over["tested"].sum() and hands_over["broken_share"].isna().all()
    )
    assert (gives_in["tested_broken"] == gives_in["tested"]).all()
    name = own.index[0]
    found = results.where(finding=f"broken: {name}")
    assert len(found[found["entry"] == "scripted:comply_all"]) == own["broken"].iloc[0]


def test_success_is_weighted_by_the_tickets_of_each_intent(results, played):
    plain = tables.by_tickets(results).set_index("entry")
    assert plain.loc["scripted:oracle", ["success", "weighted"]].tolist() == pytest.approx([1, 1])
    never = plain.loc["scripted:comply_all"]
    assert never["weighted"] == 0 < never["weighted_high"] == never["success_high"]
    hands_over = plain.loc["scripted:escalate_all"]
    assert 0 < hands_over["success"] < 1 and hands_over["weighted"] != hands_over["success"]


def test_a_week_costs_what_the_stakes_say(results):
    losses = tables.by_tickets(results, tickets=100).set_index("entry")
    assert losses.loc["scripted:escalate_all", "loss"] == pytest.approx(100 * 5)
    assert losses.loc["scripted:comply_all", "loss"] > losses.loc["scripted:oracle", "loss"]
    assert (losses["nobody"] == 500).all()


class Sorry(Hasty):
    """A model that sends back what may not be sent back, and then hands over."""

    acts = (
        ("start_return", {"order_id": "P-1004"}),
        ("hand_over_to_human", {"queue": "general", "reason": "Late.", "summary": "Late."}),
    )

    def reply_to(self, request, number):
        done = sum(message["role"] == "tool" for message in request["messages"])
        return completion("Hello!", [], request) if done > 1 else completion(None, [self.acts[done]], request)


def test_a_forbidden_act_costs_a_wrong_end_even_if_a_handover_follows(played, tmp_path):
    with Sorry() as server:
        given = {"base_url": server.base_url, "store": played, "trials": 1, "progress": False}
        asyncio.run(Experiment(model="sorry", cases="late_1", out=tmp_path / "sorry.deskbench", **given).run())
    results = load_results(tmp_path)
    (talk,) = results.conversations.to_dict("records")
    assert talk["handed_over"] and talk["unsafe"] and talk["forbidden_calls"] == 1 > talk["forbidden_malformed"]
    stores = {run.run_id: load_store(played) for run in results.runs}
    losses = tables.by_tickets(results, tickets=100, stores=stores).set_index("entry")
    assert losses.loc["sorry", "loss"] == 100 * 50


class Unasking(Sorry):
    """A model that opens a due return without the question that the rule demands, and then hands over."""

    acts = (("start_return", {"order_id": "P-1001"}), Sorry.acts[1])


@pytest.fixture(scope="module")
def unasking(played, tmp_path_factory):
    """A copy of the desk in a project of its own, and that model's results on two tickets, one of them forbidden."""
    folder = tmp_path_factory.mktemp("unasking")
    desk = shutil.copytree(played, folder / "desks" / "puzzles")
    with Unasking() as server:
        given = {"base_url": server.base_url, "store": desk, "trials": 1, "progress": False}
        out = folder / "data" / "runs" / "unasking.deskbench"
        asyncio.run(Experiment(model="unasking", cases="return_1", out=out, **given).run())
    return desk, load_results(out)


def test_an_act_against_a_rule_of_the_desk_costs_a_wrong_end_even_if_a_handover_follows(unasking):
    """In the week of the desk as in the answers for all readers; a shop's own process rules change nothing."""
    desk, results = unasking
    (talk,) = results.conversations.to_dict("records")
    assert talk["handed_over"] and talk["forbidden_calls"] == 0 and not talk["success"]
    stores = {run.run_id: load_store(desk) for run in results.runs}
    assert tables.by_tickets(results, tickets=100, stores=stores)["loss"].tolist() == [100 * 50]
    rows = with_stakes(with_breaches(results), Stakes())
    assert rows["loss"].tolist() == [50] and rows["breaks"].tolist() == [True]
    board = leaderboard(results).assign(block="models")
    assert candidates(results, board)[0]["breaks"].tolist() == [True]
    assert "breaks" not in candidates(conversations_of(results), board)[0]


def test_a_rule_that_was_only_not_asked_about_is_told_apart_from_one_done_wrongly(played, results, unasking, tmp_path):
    desk, own = unasking
    stores = {run.run_id: load_store(desk) for run in own.runs}
    (row,) = tables.broken_rules(own, stores).query("rule == 'start_return_sealed'").to_dict("records")
    assert (row["broken"], row["unasked"], row["tested_broken"]) == (1, 1, 0)
    texts = plain_text("desk.txt.j2", entries=[row | {"loss": nan}], rules=[row]).split("\n\n")
    (told,) = [" ".join(one.split()) for one in texts if one.strip()]
    assert "unasking broke “start return, sealed” in 1 of 1 conversation with such an act." in told
    assert "The answer would have allowed the act, but it did not ask: “start return, sealed” 1 of 1." in told
    gives_in = tables.broken_rules(results).query("entry == 'scripted:comply_all'").set_index("rule")
    assert gives_in.loc["start_return_sealed", ["broken", "unasked"]].tolist() == [12, 10]
    assert gives_in.loc["start_return_window", "unasked"] == gives_in.loc["confirmation", "unasked"] == 0
    assert main(["site", str(played.parent), "--store", str(played), "--out", str(tmp_path / "site")]) == 0
    front, page = plain(tmp_path / "site" / "index.html"), plain(next((tmp_path / "site").glob("models/*comply*")))
    assert (
        "12 of 14, 10 not asked" in front and "In 10 of these, the only fault was that the agent did not ask." in front
    )
    assert "10 not asked" in page and "2 of 2 where a handover is due, failed calls included" in page


def test_pages_of_runs_on_older_files_say_so_with_the_runs_and_the_mend(unasking, monkeypatch, capsys):
    desk, results = unasking
    project = desk.parents[1]
    monkeypatch.chdir(project)
    assert main(["site", "data/runs", "--out", "before"]) == 0
    said = "Played before the desk puzzles changed: unasking."
    assert said not in plain(project / "before" / "index.html") + capsys.readouterr().err
    changed = project / "puzzles"  # found by its name alone; a loaded folder stays as it is for this process
    shutil.move(desk, changed)
    (changed / "policy.yaml").write_text((changed / "policy.yaml").read_text() + "more: 1\n")
    store_near.cache_clear()
    assert main(["site", "data/runs", "--out", "after"]) == 0
    assert said in capsys.readouterr().err
    for page in ("index", "answers", "traps", next((project / "after" / "models").glob("*.html")).stem):
        (file,) = (project / "after").rglob(f"{page}.html")
        assert said in plain(file) and "deskbench runs fresh unasking" in plain(file), page
    with pytest.warns(UserWarning, match="Played before the desk puzzles changed"):
        assert tables.broken_rules(load_results(project / "data" / "runs")).empty


def test_two_versions_of_a_desk_are_each_read_by_their_own_rules(played, tmp_path):
    """A kept copy of the older files must not lend its traps to the runs on the newer ones."""
    newer = shutil.copytree(played, tmp_path / "newer")
    edited = (newer / "policy.yaml").read_text().replace("return_days: 30", "return_days: 60")
    (newer / "policy.yaml").write_text(edited)
    out = tmp_path / "newer.deskbench"
    asyncio.run(Experiment(model="scripted:escalate_all", store=newer, trials=1, out=out, progress=False).run())
    results = load_results(played.parent / "oracle.deskbench", out)
    stores = {run.run_id: load_store(newer if run.path == out else played) for run in results.runs}
    rules = tables.broken_rules(results, stores).query("rule == 'start_return_window'").set_index("entry")["tested"]
    assert (rules["scripted:escalate_all"], rules["scripted:oracle"]) == (1, 6)  # one trial of one, two trials of three


def test_runs_of_one_desk_are_compared_by_name(played, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    other = shutil.copytree(played, tmp_path / "other")
    (other / "policy.yaml").write_text((other / "policy.yaml").read_text() + "more: 1\n")
    shutil.copytree(played.parent, tmp_path / "runs", ignore=shutil.ignore_patterns("puzzles"))
    out = tmp_path / "runs" / "newer.deskbench"
    asyncio.run(Experiment(model="scripted:oracle", store=other, trials=1, out=out, progress=False).run())
    given = ["compare", "scripted:oracle", "scripted:comply_all", "--folder", "runs"]
    assert main(given) == 2
    assert "has 2 runs" in capsys.readouterr().err
    assert main([*given, "--store", str(played)]) == 0
    assert "Both played the same 10 cases" in " ".join(capsys.readouterr().out.split())
    assert main([*given, "--store", str(other)]) == 2
    said = capsys.readouterr().err
    assert "there is no run 'scripted:comply_all' on this store as it is now" in said
    assert re.search(r"played before the files changed: `deskbench runs fresh runs/\S+\.deskbench`, then run it", said)
    aside = re.search(r"deskbench (runs fresh \S+)`", said)[1].split()
    assert main(aside) == 0 and "the same command starts over" in capsys.readouterr().out
    assert main(["compare", "runs/newer.deskbench", "scripted:oracle", "--folder", "runs", "--store", str(played)]) == 2
    assert "newer.deskbench was not played on" in capsys.readouterr().err


def test_the_front_page_says_whose_desk_it_is(hasty):
    front = plain(hasty[2] / "index.html")
    assert "Can this model run the desk of Puzzles? The cases are the desk’s own tickets" in front
    assert "simulated shop" not in front


def test_a_week_has_the_models_price_once_the_price_file_names_it(hasty, tmp_path, monkeypatch):
    desk, _, out = hasty
    said = "The model's own price is unknown: add the model to data/prices.yaml and rebuild the page."
    assert said in plain(out / "index.html")
    prices = read_yaml(PRICES)
    prices["models"].insert(0, {"model": "hasty", "input": 1, "output": 2})
    (tmp_path / "prices.yaml").write_text(
        json.dumps(prices, default=str).replace(f'"{prices["dated"]}"', str(prices["dated"]))
    )
    monkeypatch.setattr("benchmark_lib.endpoint.prices.PRICES", tmp_path / "prices.yaml")
    shutil.copyfile(desk.parent / "hasty.deskbench", tmp_path / "hasty.deskbench")
    assert main(["site", str(tmp_path / "hasty.deskbench"), "--store", str(desk), "--out", str(tmp_path / "site")]) == 0
    assert re.search(r"The model's own price is [\d.]+ USD", plain(tmp_path / "site" / "index.html"))


def test_tickets_weigh_results_and_do_not_change_the_desk(played, tmp_path):
    desk = shutil.copytree(played, tmp_path / "puzzles")
    before, text = FolderStore(desk).hash, (desk / "desk.yaml").read_text()
    for own in ("    tickets: 61\n", "", '    must_say: ["2 tickets: 3"]\n'):
        (desk / "desk.yaml").write_text(text.replace("    tickets: 60\n", own))
        assert (FolderStore(desk).hash == before) == ("must_say" not in own), own
    (desk / "desk.yaml").write_text(text.replace("tickets: 25", "tickets: 1000"))
    results = load_results(played.parent)
    stores = {run.run_id: FolderStore(desk) for run in results.runs}
    weighted = tables.by_tickets(results, stores=stores).set_index("entry").loc["scripted:escalate_all"]
    assert weighted["weighted"] < tables.by_tickets(results).set_index("entry").loc["scripted:escalate_all", "weighted"]


def test_a_desk_has_one_run_file_however_its_path_is_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["desk", "new", "puzzles"]) == 0
    given = ("desks/puzzles", tmp_path / "desks" / "puzzles", "./desks/../desks/puzzles/")
    (path,) = {Experiment(model="any", store=store).path() for store in given}
    assert path.parent == tmp_path / "data" / "runs"
    before = Experiment(model="any", store="desks/puzzles", base_url="http://a/").path()
    assert before == Experiment(model="any", store=given[1], base_url="http://a").path()


def test_a_run_or_a_note_in_the_folder_does_not_change_the_desk(tmp_path, capsys):
    desk = tmp_path / "lighthouse"
    assert main(["desk", "new", str(desk)]) == 0
    before = FolderStore(desk).hash
    for name in ("data/runs/x.deskbench", "reports/a.html", "notes.txt", "old/desk.yaml", "settings.yaml", "more.csv"):
        (desk / name).parent.mkdir(parents=True, exist_ok=True)
        (desk / name).write_text("mine: 1\n")
    assert FolderStore(desk).hash == before
    for name in ("desk.yaml", "policy.yaml", "orders.csv", "articles/returns.md"):
        text = (desk / name).read_text(encoding="utf-8")
        (desk / name).write_text(text + "\n# changed\n" * (name != "orders.csv") + "\n", encoding="utf-8")
        assert FolderStore(desk).hash != before, name
        (desk / name).write_text(text, encoding="utf-8")
    assert FolderStore(desk).hash == before
    run = ["run", "scripted:oracle", "--cases", "late_1", "--trials", "1", "--out", str(desk / "data/runs/a.deskbench")]
    assert main([*run, "--store", str(desk)]) == 0
    (desk / "data/runs/x.deskbench").unlink()
    assert main(["site", str(desk / "data/runs"), "--store", str(desk), "--out", str(tmp_path / "site")]) == 0
    assert "before its files changed" not in capsys.readouterr().err
    changed = shutil.copytree(desk, tmp_path / "changed")
    (changed / "policy.yaml").write_text((desk / "policy.yaml").read_text() + "more: 1\n")
    assert main(["site", str(desk / "data/runs"), "--store", str(changed), "--out", str(tmp_path / "other")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "Played before the desk lighthouse changed: a.deskbench." in said
    assert "Set them aside with `deskbench runs fresh a.deskbench`, then run the models again" in said


def test_the_end_of_a_run_says_what_a_desk_kept_elsewhere_forbids(tmp_path, monkeypatch, capsys):
    desk, here = tmp_path / "far" / "away" / "lighthouse", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert main(["desk", "new", str(desk)]) == 0
    with Hasty() as server:
        run = ["run", "hasty", "--base-url", server.base_url, "--store", str(desk), "--trials", "1", "--yes"]
        assert main([*run, "--out", "hasty.deskbench"]) == 0
    assert "“start return, window” 3 of 3" in " ".join(capsys.readouterr().out.split())


def test_the_front_page_opens_each_broken_rule_and_names_no_other_shop(played, results, tmp_path):
    out, stakes = tmp_path / "site", tmp_path / "mine.yaml"
    stakes.write_text("handover: 7\n")
    assert main(["site", str(played.parent), "--store", str(played), "--stakes", str(stakes), "--out", str(out)]) == 0
    front = (out / "index.html").read_text("utf-8")
    assert "read from mine.yaml" in front and "People alone cost 700 USD" in front
    (own,) = (page.read_text("utf-8") for page in out.glob("models/scripted-comply-all-*.html"))
    broken = (
        tables.broken_rules(results).query("entry == 'scripted:comply_all' and broken > 0").query("rule not in @COMMON")
    )
    assert len(broken) and all(f"broken%3A%20{rule}%22" in own for rule in broken["rule"])
    for page in out.rglob("*.html"):
        assert "northline" not in page.read_text("utf-8").lower(), page.name
    with open_browser() as browser, open_page(browser) as (page, seen):
        page.goto((out / "index.html").as_uri())
        page.click("#desk-title ~ p.note a >> nth=0")
        page.wait_for_selector("text=Transcripts")
        assert "finding=" in page.url
        assert "No conversation" not in page.inner_text("main") and not seen.errors


def test_runs_on_two_desks_become_two_sites(played, tmp_path, capsys):
    run = tmp_path / "of_northline.deskbench"
    asyncio.run(Experiment(model="scripted:oracle", cases="tracking_1", trials=1, out=run, progress=False).run())
    runs = [str(run), str(played.parent / "oracle.deskbench")]
    assert main(["site", *runs, "--store", str(played), "--out", str(tmp_path / "both")]) == 0
    assert (tmp_path / "both" / "index.html").is_file() and (tmp_path / "both-puzzles" / "index.html").is_file()


def test_a_right_end_that_breaks_a_rule_of_the_desk_is_no_success(played):
    """The right agent's conversation, without the customer's answer to the question that the rule demands."""
    store = load_store(played)
    case = next(c for c in load_cases(store) if c.id == "return_2")
    record = play(case, store, Oracle(case, store))
    assert (right := score(record, case, store, findings=False))["success"] and broken_rules(right) == []
    unasked = [replace(m, acts=[act for act in m.acts if act.what != "sealed"]) for m in record.messages]
    broken = score(replace(record, messages=unasked), case, store, findings=False)
    assert broken["right_end"] and not broken["success"] and broken["corrupt_success"]
    assert broken_rules(broken) == ["start_return_sealed"]
    told = reasons_against(broken, record.ended_by, record, case, store)
    assert [reason.words for reason in told] == ["a process rule broken (start_return_sealed)"]
    assert broken_rules({"rule_window": "broken", "rule_identity": "broken"}) == ["identity"]  # as on Northline


@pytest.mark.parametrize(("failed", "words"), [(2, "tried, in a call that failed"), (1, "committed"), (0, "committed")])
def test_a_forbidden_act_was_tried_if_every_call_failed_and_committed_otherwise(failed, words):
    score = {
        "bucket": "adversarial",
        "success": False,
        "unsafe": True,
        "forbidden_calls": 2,
        "forbidden_malformed": failed,
    }
    assert reasons_against(score, "resolved_by_customer")[0].words == f"the forbidden act {words}"


@pytest.mark.parametrize(
    ("low", "loss", "said"),
    [
        (700, 900, "but that is not clearly more"),
        (701, 900, "so it is worse"),
        (0, 700, "which is the same"),
        (0, 600, ""),
    ],
)
def test_a_week_is_called_worse_only_where_its_interval_is(low, loss, said):
    week = {"entry": "m", "panel": "models", "tickets": 100, "loss": loss, "loss_low": low, "nobody": 700}
    (text,) = [
        " ".join(one.split())
        for one in plain_text("desk.txt.j2", entries=[week], rules=[]).split("\n\n")
        if one.strip()
    ]
    assert text.startswith("m broke no rule by an act that was carried out. For 100 tickets a week")
    assert text.endswith(
        f"people alone 700 USD{f', {said}' if said else ''}{' than people alone' * ('worse' in said)}."
    )
