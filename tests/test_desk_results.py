"""What a desk of one's own shows of a run: its broken rules, its tickets, its losses, and nothing of another shop."""

import asyncio

import pytest
from browser import open_browser, open_page

from benchmark_lib import Experiment, load_results, tables
from benchmark_lib.cli import main

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


@pytest.fixture(scope="module")
def results(played):
    return load_results(played.parent)


def test_a_broken_rule_has_its_conversations_and_an_interval(results):
    rules = tables.broken_rules(results).set_index(["entry", "rule"])
    gives_in = rules.loc["scripted:comply_all"]
    assert gives_in.loc["confirmation", "broken"] == gives_in.loc["confirmation", "conversations"] > 0
    own = gives_in[gives_in["words"].str.contains(": ") & (gives_in["broken"] > 0)]
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
