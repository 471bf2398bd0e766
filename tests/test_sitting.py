"""A run played from chairs: the same engine and file as any run, and a player who sees what a model sees."""

import asyncio
import re

import orjson
import pytest
from players import over_the_port, played, sitting

from benchmark_lib import BadInput, Experiment, figures, load_results, tables
from benchmark_lib.experiment.players import Players
from benchmark_lib.reports.site import build_site


def test_two_chairs_share_the_cases_and_the_file_says_who_played(tmp_path):
    chairs, experiment = sitting(tmp_path, "slice", chairs=2, name="anna and ben", source="human:anna+ben")
    run, shown = asyncio.run(played(chairs, experiment))
    records = [run.record(case_id, trial) for case_id, trial in run.endings()]
    assert {r.case_id for r in records} == set(run.manifest["cases"]) and len(records) > 4
    assert {r.ended_by for r in records} == {"handed_over"}
    assert {r.source for r in records} == {run.manifest["source"]} == {"human:anna+ben"}
    assert {r.model for r in records} == {"anna and ben"}
    firsts = [i["text"] for items in shown for i in items if i["kind"] == "words"]
    assert len(set(firsts)) == len(firsts) == len(records), "each case went to one chair"
    assert all(sum(i["kind"] == "prompt" for i in items) == 1 for items in shown), "the instructions come once"


def test_a_player_sees_what_a_model_sees_and_nothing_of_the_case(tmp_path, cases):
    chairs, experiment = sitting(tmp_path, "all", chairs=3)
    run, shown = asyncio.run(played(chairs, experiment))
    kinds = {"prompt", "tools", "conversation", "words", "result", "over", "finished"}
    for items in shown:
        assert {item["kind"] for item in items} == kinds
        text = orjson.dumps(items).decode()
        hidden = ["must_escalate", "adversarial", "resolvable", "northline", "ledger", str(run.path.name)]
        for case in cases.values():
            hidden += [case.id, case.title, case.goal, case.persona]
        assert [words for words in hidden if words and re.search(rf"\b{re.escape(words)}\b", text)] == []


def test_the_order_of_the_cases_gives_nothing_away():
    orders = []
    for seed in (0, 0, 1):
        players = Players("agent", None, shuffle=seed)
        orders.append([n for n in players.shuffled([*range(60)])])
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == [*range(60)]
    assert sum(a < b for a, b in zip(orders[0], orders[0][1:], strict=False)) < 45


def test_a_played_conversation_is_scored_as_a_models_is(tmp_path):
    run, _ = asyncio.run(played(*sitting(tmp_path, "abusive_1,tracking_1")))
    success = load_results(run).conversations.set_index("case_id")["success"]
    assert success.to_dict() == {"abusive_1": True, "tracking_1": False}, "handing over helps one and not the other"


def test_what_was_answered_is_never_asked_again(tmp_path):
    """A sitting that is stopped in the middle of a conversation goes on at the next answer, in the same chair."""

    async def first(chairs, experiment):
        async def player(curl):
            await curl("/2/next")
            await curl("/2/call/search_knowledge_base", '{"query": "returns"}')
            _, said = await curl("/2/say", "Which order is it about?")
            return said

        return await over_the_port(chairs, experiment, player)

    chairs, experiment = sitting(tmp_path, "slice", chairs=2)
    run, last_words = asyncio.run(first(chairs, experiment))
    assert run.counts() == {"finished": 0, "again": 0, "calls": 2}

    chairs, experiment = sitting(tmp_path, "slice", chairs=2)

    async def second(curl):
        return await curl("/1/next"), await curl("/2/next")

    run, ((_, other), (_, mine)) = asyncio.run(over_the_port(chairs, experiment, second))
    assert "Which order is it about?" not in other
    assert "begun before" in mine and "YOU CALLED search_knowledge_base" in mine and mine.endswith(last_words)
    assert run.counts()["calls"] == 2

    run, _ = asyncio.run(played(*sitting(tmp_path, "slice", chairs=2)))
    assert run.counts()["finished"] == len(run.manifest["cases"])
    experiment = sitting(tmp_path, "slice", chairs=2, replay=True)[1]
    asyncio.run(experiment.run())
    assert experiment.replayed == len(run.manifest["cases"]), "a played run can be replayed from its file"


def test_another_player_is_another_run(tmp_path):
    asyncio.run(played(*sitting(tmp_path, "tracking_1")))
    with pytest.raises(BadInput, match="was begun with different inputs: players"):
        asyncio.run(played(*sitting(tmp_path, "tracking_1", source="human:ben")))


@pytest.mark.parametrize("source", ["model", "Scripted", "published", "", "  ", "a\nb", "x" * 61])
def test_a_source_that_is_not_a_players_is_refused(tmp_path, source):
    with pytest.raises(BadInput, match="source"):
        sitting(tmp_path, source=source)


@pytest.mark.parametrize(
    "wrong", [{"chair": "judge"}, {"chairs": 0}, {"chairs": 101}, {"chairs": "2"}, {"name": "scripted:oracle"}]
)
def test_a_chair_that_is_not_there_is_refused(tmp_path, wrong):
    with pytest.raises(BadInput):
        sitting(tmp_path, **wrong)


def test_a_fault_ends_the_conversation_and_says_why(tmp_path):
    chairs, experiment = sitting(tmp_path, "tracking_1")
    asking = [("call", [("get_order", {"order_id": "NL-00000"})] * 7)]
    run, (shown,) = asyncio.run(played(chairs, experiment, asking))
    assert run.record("tracking_1", 1).ended_by == "agent_fault"
    assert [i["why"] for i in shown if i["kind"] == "over"] == ["7 failed tool calls in a row"]


def test_the_last_words_of_the_customer_are_shown(tmp_path):
    """A model is never shown how a conversation ends; a person would wonder."""
    chairs, experiment = sitting(tmp_path, "tracking_1")
    run, (shown,) = asyncio.run(played(chairs, experiment, [("say", "No.")]))
    record = run.record("tracking_1", 1)
    words = [i["text"] for i in shown if i["kind"] == "words"]
    assert words[1:] == [m.text for m in record.messages if m.side == "customer"][1:]


def test_a_customer_is_played_against_an_agent(tmp_path):
    """Its message carries the acts that it is said to have, checked as a model customer's are."""
    answers = [
        ("say", "NL-46580, Kai Nakagawa-Ruiz, 95816"),
        ("say", '{"message": "cool thx bye", "acts": [{"kind": "left", "what": "content"}], "end": true}'),
    ]
    chairs, experiment = sitting(tmp_path, "tracking_1", chair="customer", source="human:kai")
    run, (shown,) = asyncio.run(played(chairs, experiment, answers))
    record = run.record("tracking_1", 1)
    assert (record.model, record.customer, record.source) == ("scripted:oracle", "human", "human:kai")
    assert record.ended_by == "resolved_by_customer"
    assert {a.what for _, a in record.acts("gave")} >= {"order_id"}
    assert [i["kind"] for i in shown[:3]] == ["prompt", "conversation", "words"], "and no tools"
    assert not {"result", "tools"} & {i["kind"] for i in shown}


def test_a_customers_answer_that_cannot_be_used_comes_back_once(tmp_path):
    answers = [("say", '{"message": "hi", "acts": [{"kind": "bribed", "what": "x"}], "end": false}'), ("say", "bye")]
    chairs, experiment = sitting(tmp_path, "tracking_1", chair="customer", messages=3)
    run, (shown,) = asyncio.run(played(chairs, experiment, answers))
    words = [i["text"] for i in shown if i["kind"] == "words"]
    assert "That cannot be used" in words[1] and words[2].startswith("The desk writes")
    assert run.record("tracking_1", 1).ended_by == "turn_limit"


@pytest.fixture(scope="module")
def board_with_players(tmp_path_factory):
    """A board of a blind player, an agent against a human customer, and the oracle."""
    folder = tmp_path_factory.mktemp("board")
    label = "blind play, one trial, no hosted model"
    asyncio.run(played(*sitting(folder, "slice,abusive_1", name="strong player", source=label)))
    (folder / "other").mkdir()
    asyncio.run(played(*sitting(folder / "other", "tracking_1", chair="customer", messages=2), [("say", "ok")]))
    oracle = Experiment("scripted:oracle", cases="slice", trials=1, out=folder / "oracle.deskbench", progress=False)
    asyncio.run(oracle.run())
    return load_results(folder, folder / "other")


def test_the_board_shows_players_apart_and_labelled(board_with_players):
    board = tables.leaderboard(board_with_players).set_index("entry")
    row = board.loc["strong player"]
    assert (row["block"], row["panel"], row["cost_tier"]) == ("played", "players", "none (played)")
    assert list(board["block"]).count("played") == 2
    assert row["notes"].startswith("played: blind play, one trial, no hosted model; only 1 trial")
    human = board[(board["model"] == "scripted:oracle") & (board["block"] == "played")].iloc[0]
    assert human["notes"].startswith("played: human; customer: human") and human["source"] == "human"


def test_players_get_no_price(board_with_players):
    costs = board_with_players.conversations.set_index("model")["cost_usd"]
    assert costs["strong player"].isna().all(), "nobody was paid at a known price, which is not nothing"


def test_site_and_figures_show_players_as_such(board_with_players, tmp_path):
    site = build_site([run.path for run in board_with_players.runs], tmp_path / "site", published=False)
    front = (site.path / "index.html").read_text(encoding="utf-8")
    block = front.partition('<tbody role="rowgroup" data-block="played">')[2].partition("</tbody>")[0]
    assert block.count('class="row"') == 2 and "strong player" in block and "blind play, one trial" in block
    assert "<dt>Players</dt><dd>2</dd>" in front and "in which a person or a program played the agent" in front
    drawn = figures.two_directions(table=tables.escalation_table(board_with_players))
    assert any("strong player" in text.get_text() for text in drawn.get_yticklabels())


def test_two_players_of_one_name_are_told_apart(tmp_path):
    for who in ("anna", "ben"):
        (tmp_path / who).mkdir()
        asyncio.run(played(*sitting(tmp_path / who, "tracking_1", source=f"human:{who}")))
    board = tables.leaderboard(load_results(tmp_path / "anna", tmp_path / "ben"))
    assert sorted(board["entry"]) == ["human [played: human:anna]", "human [played: human:ben]"]
