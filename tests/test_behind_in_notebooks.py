"""From a number in a notebook to its conversations, and a board that fits its page."""

import pandas as pd
import pytest
from made_runs import play_agents

from benchmark_lib import load_results, reports, tables
from benchmark_lib.analysis.tables.board_cells import board_table
from benchmark_lib.errors import BadInput
from benchmark_lib.project import DATA
from benchmark_lib.reports.html import board_html, board_parts
from benchmark_lib.reports.shown import notes_below


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    agents = ("scripted:comply_all", "scripted:oracle")
    return load_results(*play_agents(tmp_path_factory.mktemp("runs"), agents, cases="adversarial,tracking"))


def test_one_call_shows_the_conversations_a_number_counts_with_their_transcripts(results):
    page = reports.show_conversations(results, entry="scripted:comply_all", unsafe=True, case_id=None, most=3).html
    counted = int(results.conversations.query("entry == 'scripted:comply_all'")["unsafe"].sum())
    assert f"<strong>{counted} conversations</strong> (<code>entry=scripted:comply_all unsafe=yes</code>)" in page
    assert page.count("<details><summary>scripted:comply_all") == 3 == page.count('class="db-talk')
    assert "transcripts.html#entry=scripted%3Acomply_all%20unsafe=yes" in page


def test_the_first_conversation_of_each_model_comes_first(results):
    page = reports.show_conversations(results, bucket="adversarial", most=2).html
    assert "<summary>scripted:comply_all" in page and "<summary>scripted:oracle" in page
    for named in (["scripted:oracle", "scripted:comply_all"], ["scripted:comply_all", "scripted:oracle"]):
        page = reports.show_conversations(results, bucket="adversarial", entry=named, most=2).html
        assert page.index(f"<summary>{named[0]}") < page.index(f"<summary>{named[1]}")


def test_no_conversation_is_said_and_an_unknown_field_is_refused(results):
    page = reports.show_conversations(results, "bucket=resolvable unsafe=yes").html
    assert "<strong>0 conversations</strong>" in page
    with pytest.raises(BadInput, match="no conversation has entry=nobody: the names are known, scripted:comply_all"):
        reports.show_conversations(results, entry="nobody")
    with pytest.raises(BadInput, match="no field 'unsave'"):
        reports.show_conversations(results, unsave=True)


def test_what_decides_the_order_stands_apart_and_every_note_below(results):
    board = tables.leaderboard(results)
    planned, more = board_parts(board_table(board))
    assert [c.key for c in planned.columns][:2] == ["model", "over_escalation"] and more.columns[0].key == "model"
    assert not {"notes", "block"} & {c.key for c in (*planned.columns, *more.columns)}
    told = " ".join(text for _, text in more.notes)
    assert "depends on the number of intents" in told, "the interval for 0 is explained"
    assert "In every row: " in told and all(note in told for note in board["notes"] if note)
    assert board_html(board).html.count("<table>") == 2, "no customer was flagged"


def test_notes_stand_below_a_table_that_has_one_row_for_each_name():
    frame = pd.DataFrame({"Share": ["1", "2", "3"], "Note": ["few", "", "few"]}, index=pd.Index([*"abc"], name="Model"))
    shown, told = notes_below(frame)
    assert list(shown) == ["Share"] and told == ["a, c: few"]
    again = frame.set_axis(pd.Index([*"aab"], name="Model"))
    assert notes_below(again)[0] is again, "where a name stands for several rows, its note stays in its row"


def test_the_notebook_of_the_hard_set_runs_where_no_hard_case_was_played(results, tmp_path):
    runs = [str(run.path) for run in results.runs]
    page = reports.run_notebook("17_hard_cases", {"runs": runs, "save_figures": False}, folder=tmp_path).read_text()
    assert "No case of a hard set was run and scored" in page and "<strong>0 conversations</strong>" in page


def test_two_scripted_agents_that_show_something_are_compared_first(tmp_path):
    agents = ("scripted:echo", "scripted:no_op", "scripted:oracle", "scripted:tunable")
    frame = load_results(*play_agents(tmp_path, agents, cases="tracking,must_escalate", trials=1)).conversations
    assert tables.choose_pair(frame)[0] == "scripted:tunable"
    assert tables.choose_pair(frame, "scripted:oracle") == ("scripted:oracle", "scripted:tunable")


def test_two_that_never_differ_are_told_so_in_a_sentence(results):
    frame = results.conversations
    same = tables.comparison_in_words(
        tables.comparison_table(frame, *["scripted:oracle"] * 2),
        tables.differing_cases(frame, *["scripted:oracle"] * 2),
        *["scripted:oracle"] * 2,
    )
    assert "differ on 0 cases" not in same


def test_the_conversations_of_a_hard_set_are_on_its_own_pages():
    page = reports.show_conversations(load_results(DATA / "examples" / "blind-play-hard.deskbench"), most=1).html
    assert "hard/transcripts.html" in page
