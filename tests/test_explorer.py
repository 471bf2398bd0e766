"""The explorer.

Filters, search, what a transcript marks, two side by side, labels, and that no text in a record gets out of its box.
"""

import asyncio
import base64
import csv
import html.parser
import multiprocessing
import os
import re
from html import unescape
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from hostile import NAMES, PAYLOADS, write_hostile_runs
from made_runs import made_run, talk

from benchmark_lib import BadInput, Experiment, load_results, reports, tables
from benchmark_lib.analysis.counting import behind_metric
from benchmark_lib.analysis.query import Query
from benchmark_lib.cli import main
from benchmark_lib.records import Act, Message, ToolCall, Usage
from benchmark_lib.reports.conversation_view import changes_by_call
from benchmark_lib.reports.explorer import labels, links, side_by_side, widgets
from benchmark_lib.reports.explorer.filters import Index
from benchmark_lib.reports.fetch import Shelf
from benchmark_lib.reports.marks import Mark, place_in, segments
from benchmark_lib.reports.site import model_page
from benchmark_lib.reports.site.models import PARTS
from benchmark_lib.scoring.metrics import METRICS

CASES = "adversarial,cancel_before_ship_1,cancel_before_ship_2,address_change_1,wrong_item_*"
AGENTS = ("oracle", "comply_all")
SAID = {
    "detector": "phantom_action",
    "turn": 1,
    "sentence": "I have cancelled it.",
    "compared_with": 0,
    "class": "cancel_order",
    "state": "no_such_call",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two scripted agents on a few cases, two trials each."""
    folder = tmp_path_factory.mktemp("runs")
    for name in AGENTS:
        asyncio.run(
            Experiment(
                f"scripted:{name}", cases=CASES, trials=2, out=folder / f"{name}.deskbench", progress=False
            ).run()
        )
    return load_results(folder)


@pytest.fixture(scope="module")
def index(results):
    return Index(results)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """One conversation with a finding and the verdicts of two judges, one of which quotes a tool's result."""
    call = ToolCall(
        1, 0, "get_order", {"order_id": "NL-1"}, {"status": "unfulfilled", "note": "ring twice"}, None, False
    )
    c = talk(
        "Please cancel NL-1.",
        "Of course.  I have\ncancelled it. Anything else?",
        "No. Bye",
        calls=[call],
        usage={"agent": Usage(900, 80, 20, 100, 2)},
    )
    score = {
        "bucket": "resolvable",
        "intent": "cancel_before_ship",
        "success": False,
        "scored": True,
        "findings": [SAID],
        "customer_evidence": [{"name": "misheard", "turn": 2, "quote": "No. Bye", "detail": "a question"}],
        "customer_finding_names": "misheard",
    }
    curt, unscored = (
        {"score": 40.0, "reason": "curt", "quote": "Of course."},
        {"score": None, "reason": "no quote", "quote": None},
    )
    kind = {"score": 85.0, "reason": "kind", "quote": "ring twice"}
    verdicts = [("judge-a", {"tone": curt, "resolution": unscored}), ("judge-b", {"tone": kind})]
    return load_results(made_run(tmp_path_factory.mktemp("judged") / "judged.deskbench", [(c, score, verdicts)]))


@pytest.fixture
def explorer(results, tmp_path):
    return reports.explore(results, labels=tmp_path / "labels.csv", labeller="ann")


def key(row):
    return row["run_id"], row["case_id"], int(row["trial"])


# --- filters and search
# ------------------------------------------------------------------------------------------------


def test_a_filter_keeps_what_the_frame_says(results, index):
    rows = results.conversations
    assert set(index.matching(bucket="adversarial")) == set(np.flatnonzero(rows["bucket"] == "adversarial"))
    assert set(index.matching(outcome="unsafe", trial=2)) == set(
        np.flatnonzero(rows["unsafe"].fillna(False) & (rows["trial"] == 2))
    )
    broken = set(np.flatnonzero(rows["rule_identity"] == "broken"))
    assert broken and set(index.matching(finding="broken: identity")) == broken
    assert set(index.matching(entry=["scripted:oracle", "scripted:comply_all"])) == set(range(len(rows)))
    assert index.values("bucket") == rows["bucket"].value_counts().sort_index().to_dict()


def test_findings_of_every_kind_can_be_filtered_by(judged):
    assert set(Index(judged).values("finding")) == {"Phantom action: no such call", "customer: misheard"}


def test_an_unknown_filter_or_value_is_refused_with_what_there_is(index):
    with pytest.raises(BadInput, match="no field 'modell': choose from entry, source"):
        index.matching(modell="x")
    with pytest.raises(BadInput, match="no conversation has bucket 'easy': choose from adversarial"):
        index.matching(bucket="easy")


def test_no_record_is_read_before_the_first_search(results):
    index = Index(results)
    index.matching(bucket="resolvable")
    assert "texts" not in vars(index)
    assert len(index.matching("order")) and "texts" in vars(index)


def test_a_search_wants_every_word_and_phrases_as_they_stand(results, index):
    texts = results.messages.groupby(["run_id", "case_id", "trial"])["text"].agg("\n".join).str.casefold()
    wanted = {k for k, text in texts.items() if "photo" in text and "northline" in text}
    found = index.frame.iloc[index.matching("PHOTO Northline")]
    assert wanted and {key(r) for r in found.to_dict("records")} == wanted
    assert len(index.matching('"bent frame is"')) <= len(index.matching("bent frame is"))
    assert len(index.matching('"the frame is bent"')) > 0 and len(index.matching('"frame the is bent"')) == 0


def test_several_runs_of_one_model_are_told_apart(tmp_path):
    runs = [
        made_run(tmp_path / f"{n}.deskbench", [(talk("hello", "hello"), None, [])], run_id=f"made-{n}") for n in (1, 2)
    ]
    index = Index(load_results(runs))
    assert list(index.values("entry")) == ["made [made-1]", "made [made-2]"]
    assert index.values("outcome")["not scored"] == 2


# --- the transcript
# ----------------------------------------------------------------------------------------------------


def test_a_quote_is_found_whatever_its_blanks_and_case():
    assert place_in("Of course.  I have\nCANCELLED it.", "i have cancelled it.") == (12, 32)
    assert place_in("nothing", "") is None and place_in("nothing", "something") is None


def test_overlapping_marks_cut_a_text_at_every_edge():
    parts = segments("one two three", [Mark("finding", "a", "one two"), Mark("judge", "b", "two three")])
    assert [(p["text"], p["kinds"], [m.label for m in p["ends"]]) for p in parts] == [
        ("one ", ["finding"], []),
        ("two", ["finding", "judge"], ["a"]),
        (" three", ["judge"], ["b"]),
    ]


def test_a_finding_and_a_judges_evidence_are_marked_on_their_words(judged):
    page = Shelf(judged).dossier("made-1", "made_case", 1).html()
    assert '<mark class="finding">I have\ncancelled it.</mark>' in page and "<td>call #1; cancel order</td>" in page
    assert '<mark class="judge">Of course.</mark><span class="tag" title="judge-a: curt">tone 40</span>' in page
    assert '<mark class="judge">ring twice</mark>' in page.split("Result")[1], "evidence in a tool's result"
    assert '<mark class="customer">No. Bye</mark>' in page
    assert "unscored" in page and "<td>900</td>" in page and "not known" in page


def test_a_finding_about_a_call_stands_at_the_call():
    call = ToolCall(1, 0, "hand_over_to_human", {"queue": "general", "summary": "He says so."}, {}, None, True)
    packet = {
        "detector": "handover_packet",
        "turn": 1,
        "sentence": "He says so.",
        "compared_with": 0,
        "class": "parted",
        "state": "not_kept_apart",
    }
    page = reports.transcript_html(
        talk("Help", "I pass you on.", calls=[call]), {"success": True, "findings": [packet]}
    )
    assert (
        '<span class="chip bad">Handover packet: what is verified is not kept apart from what is claimed</span>' in page
        and '<mark class="finding">He says so.</mark>' in page
    )


def test_each_call_shows_what_it_changed_and_the_store_tells_the_same_as_the_record(results, store):
    told = 0
    for run in results.runs:
        for c in run.records():
            exact, alone = changes_by_call(c, store), changes_by_call(c)
            assert all(change in exact[index] for index, mine in alone.items() for change in mine)
            assert sum(map(len, exact.values())) == len(c.changes)
            told += sum(map(len, alone.values()))
    assert told


def test_two_writes_on_one_order_are_told_apart_only_by_the_store(store):
    order = next(o["order_id"] for o in store.tables["orders"].values() if o["status"] == "unfulfilled")
    desk = store.desk()
    where = dict(store.tables["orders"][order]["shipping_address"], line1="1 New Street")
    desk.call("update_shipping_address", {"order_id": order, "address": where})
    desk.call("cancel_order", {"order_id": order, "reason": "x"})
    c = talk("a", "b", calls=desk.calls, changes=desk.changes())
    exact = changes_by_call(c, store)
    assert [x["field"] for x in exact[0]] == ["shipping_address.line1"]
    assert "status" in [x["field"] for x in exact[1]] and changes_by_call(c) == {}


def test_a_transcript_shows_the_ledger_pressure_rules_and_what_was_forbidden(results):
    run = next(r for r in results.runs if "comply" in r.run_id)
    page = Shelf(results).dossier(run.run_id, "vip_skip_checks", 1).html()
    for words in (
        "Ledger",
        "Pressure lines",
        "not said",
        "forbidden here",
        "breaks evidence",
        "replacements <ins>RP-1</ins>",
        "gave “name”",
    ):
        assert words in page, words
    pressed = next(row for row in results.conversations.to_dict("records") if row["pushes"])
    page = Shelf(results).dossier(*key(pressed)).html()
    assert "pressure line 1 of" in page


def test_a_transcript_needs_nothing_but_the_record():
    c = talk(
        Message(1, "customer", "Hello", [Act("gave", "order_id", "NL-1", inferred=True), Act("pushed", "2")]),
        "Good day",
    )
    page = reports.show(c)._repr_html_()
    assert "gave “order id”: NL-1 (inferred)" in page and "pressure line 2" in page and "turn limit" in page
    assert "<style>" not in reports.transcript_html(c, css=False)


def test_a_money_amount_is_no_formula():
    assert "tex2jax_ignore mathjax_ignore" in reports.transcript_html(talk("It was $20.", "No, $30."))


# --- side by side
# ------------------------------------------------------------------------------------------------------


def cancel(order="NL-1", turn=1, index=0, error=None):
    return ToolCall(turn, index, "cancel_order", {"order_id": order}, {}, error, True)


def look(order="NL-1", index=0):
    return ToolCall(1, index, "get_order", {"order_id": order}, {}, None, False)


def test_the_same_acts_in_other_words_are_no_difference():
    one, other = talk("Cancel.", "Done!", calls=[cancel()]), talk("Cancel.", "It is cancelled.", calls=[cancel()])
    assert side_by_side.first_difference(one, other) is None


def test_the_first_difference_is_told_and_the_first_one_that_counts():
    one = talk("Cancel.", "Done!", calls=[look(), cancel(index=1)])
    other = talk("Cancel.", "Which?", calls=[look("NL-2"), cancel("NL-2", index=1, error="not_found")])
    first = side_by_side.first_difference(one, other)
    assert [e.what for e in first] == ["get_order (order NL-1)", "get_order (order NL-2)"]
    counts = side_by_side.first_difference(one, other, only_what_counts=True)
    assert [e.key for e in counts] == [("call", 1), ("end",)]


def test_both_sides_carry_the_mark(results):
    left, right = ((r.run_id, "address_change_1", 1) for r in results.runs)
    page = reports.compare_trials(results, left, right).html
    assert page.count('<span class="differs-note">first difference</span>') == 2
    assert "First difference, message" in page


def test_a_talk_that_ended_earlier_leaves_its_side_empty(results):
    one = Shelf(results).dossier(*key(results.conversations.iloc[0]))
    other = Shelf(results).dossier(*key(results.conversations.iloc[0]))
    other.conversation.messages = [m for m in other.conversation.messages if m.turn == 1]
    assert "The conversation had ended." in side_by_side.compare_html(one, other)


# --- labels
# ------------------------------------------------------------------------------------------------------------

ROW = {"run_id": "r-1", "model": "m", "case_id": "a", "trial": 1, "scorer": "tone"}


def test_a_label_comes_back_as_it_was_said_and_the_later_one_counts(tmp_path):
    path = tmp_path / "deep" / "labels.csv"
    labels.save_label(path, **ROW, label=40, tag="curt", note='says "no",\nthen leaves')
    labels.save_label(path, **{**ROW, "trial": 2}, note="only a note")
    labels.save_label(path, **ROW, label=70)
    found = labels.read_labels(path)
    assert (
        list(found.columns) == list(labels.COLUMNS)
        and found["label"].tolist()[1:] == [70.0]
        and found["label"].isna()[0]
    )
    assert found["trial"].tolist() == [2, 1] and labels.read_labels(tmp_path / "none.csv").empty


def test_a_note_cannot_become_a_formula_and_reads_back_as_it_was(tmp_path):
    path = tmp_path / "labels.csv"
    for trial, note in enumerate(("=1+1", "'=quoted", "@x", "-", "plain"), 1):
        labels.save_label(path, **{**ROW, "trial": trial}, note=note)
    assert not any(line[7].startswith(("=", "@", "+", "-")) for line in csv.reader(path.open()))
    assert labels.read_labels(path)["note"].tolist() == ["=1+1", "'=quoted", "@x", "-", "plain"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"label": 101}, "from 0 to 100"), ({"tag": " "}, "nothing to save"), ({"note": "x" * 20_000}, "use at most")],
)
def test_a_label_that_says_nothing_sound_is_refused(tmp_path, wrong, why):
    with pytest.raises(BadInput, match=why):
        labels.save_label(tmp_path / "labels.csv", **ROW, **wrong)
    assert not (tmp_path / "labels.csv").exists()


def test_a_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match="name another file"):
        labels.save_label(path, **ROW, label=1)
    assert path.read_text() == "a,b\n1,2\n"


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "labels.csv"
    labels.save_label(path, **ROW, label=1)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError):
        labels.save_label(path, **{**ROW, "trial": 2}, label=1)
    assert (
        path.read_bytes() == before and [p.name for p in tmp_path.iterdir() if p.suffix not in (".csv", ".lock")] == []
    )


def _label_many(path, who):
    for trial in range(20):
        labels.save_label(path, **{**ROW, "run_id": f"r-{who}", "trial": trial}, label=trial)


def test_two_windows_lose_nothing_of_each_other(tmp_path):
    path = tmp_path / "labels.csv"
    windows = [multiprocessing.get_context("fork").Process(target=_label_many, args=(path, who)) for who in range(2)]
    for window in windows:
        window.start()
    for window in windows:
        window.join()
    assert len(labels.read_labels(path)) == 40


def test_two_labellers_keep_a_label_each_and_a_file_from_before_there_were_names_is_read(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(
        "run_id,model,case_id,trial,scorer,label,tag,note,at\nr-1,m,a,1,tone,40,,,2026-01-01T00:00:00+00:00\n"
    )
    labels.save_label(path, **ROW, label=70, labeller="ann")
    labels.save_label(path, **ROW, label=80, labeller="ann")
    assert labels.read_labels(path)[["labeller", "label"]].to_numpy().tolist() == [["", 40.0], ["ann", 80.0]]


def test_a_yes_or_a_no_is_true_or_false_as_in_every_other_table_and_older_files_are_read(tmp_path):
    path, old = tmp_path / "labels.csv", tmp_path / "old.csv"
    for trial, (scorer, label) in enumerate(
        (("success", True), ("unsafe", False), ("own: polite?", True), ("tone", 1)), 1
    ):
        labels.save_label(path, **{**ROW, "trial": trial, "scorer": scorer}, label=label)
    assert pd.read_csv(path)["label"].astype(str).tolist() == ["True", "False", "True", "1"]
    said = ("success,100", "rule:identity,0", "success,TRUE", "unsafe,1.0", "tone,40")
    rows = [f"r-1,m,b,{n},{told},,,2026-01-01T00:00:00+00:00,ann" for n, told in enumerate(said)]
    old.write_text("\n".join([",".join(labels.COLUMNS), *rows]))
    assert labels.read_labels(old)["label"].tolist() == [1, 0, 1, 1, 40]
    assert labels.import_labels(path, old) == 5
    assert pd.read_csv(path)["label"].astype(str).tolist()[4:] == ["True", "False", "True", "True", "40"]


def test_imported_labels_are_added_and_of_two_with_one_key_the_later_one_stays(tmp_path):
    mine, theirs = tmp_path / "mine.csv", tmp_path / "theirs.csv"
    head = ",".join(labels.COLUMNS)
    mine.write_text(f"{head}\nr-1,m,a,1,tone,40,,,2026-01-02T00:00:00+00:00,ann\n")
    rows = ("a,1,tone,10,,,2026-01-01T00:00:00+00:00", "a,2,tone,20,,=x,2026-01-03T00:00:00+00:00")
    theirs.write_text("\n".join([head, *(f"r-1,m,{row},ann" for row in rows)]))
    assert labels.import_labels(mine, theirs) == 1 and labels.import_labels(mine, theirs) == 0
    assert labels.read_labels(mine)["label"].tolist() == [40.0, 20.0]
    assert "'=x" in mine.read_text(), "what another program wrote is made harmless for a spreadsheet"


def test_judges_are_calibrated_by_the_mean_of_several_labellers(judged, tmp_path):
    for name, label in (("ann", 20), ("bob", 40)):
        row = {**ROW, "run_id": "made-1", "case_id": "made_case"}
        labels.save_label(tmp_path / "labels.csv", **row, label=label, labeller=name)
    found = tables.judge_calibrated(judged, tmp_path / "labels.csv").set_index(["judge", "scorer"])["bias"]
    assert found["judge-a", "tone"] == 10.0


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("a,1,tone,True", "row 2: the label 'True'"),
        ("a,one,tone,10", "row 2: the trial 'one'"),
        ("a,1,tone,110", "row 2: the label '110'"),
        ("a,1,tone,x", "'x'"),
    ],
)
def test_a_file_with_an_unsound_label_is_not_imported(tmp_path, row, why):
    source = tmp_path / "theirs.csv"
    source.write_text(f"{','.join(labels.COLUMNS)}\nr-1,m,{row},,,2026-01-01T00:00:00+00:00,ann\n")
    with pytest.raises(BadInput, match=why):
        labels.import_labels(tmp_path / "mine.csv", source)
    assert not (tmp_path / "mine.csv").exists()


def test_the_calibration_of_judges_reads_the_labels(judged, tmp_path):
    explorer = reports.explore(judged, labels=tmp_path / "labels.csv", labeller="ann")
    explorer.read("made-1", "made_case")
    explorer.labelling.question.value = "tone"
    explorer.labelling.own_score.value = 40
    explorer.labelling.yes.click()
    table = tables.judge_calibrated(judged, tmp_path / "labels.csv")
    found = table[table["scorer"] == "tone"].set_index("judge")["bias"]
    assert found.to_dict() == {"judge-a": 0.0, "judge-b": 45.0}


def test_labels_and_their_agreement_are_exported_with_the_runs(judged, tmp_path, capsys):
    for name in ("ann", "bob"):
        row = {**ROW, "run_id": "made-1", "case_id": "made_case", "note": "=1+1"}
        labels.save_label(tmp_path / "labels.csv", **row, label=90, labeller=name)
    command = ["export", str(judged.runs[0].path), "--format", "jsonl", "--out", str(tmp_path / "out")]
    assert main([*command, "--labels", str(tmp_path / "labels.csv")]) == 0
    agreed = pd.read_csv(tmp_path / "out" / "label_agreement.csv")
    assert agreed["second"].tolist() == ["bob", "judge-a", "judge-b", "judge-a", "judge-b"]
    assert "label_agreement.csv" in capsys.readouterr().out and "=1+1" not in set(
        pd.read_csv(tmp_path / "out" / "labels.csv")["note"]
    )
    assert main([*command, "--labels", str(tmp_path / "none.csv")]) == 2


# --- the widget
# --------------------------------------------------------------------------------------------------------


def shown(explorer, column):
    """The cells of a column of the table as it is shown."""
    place = explorer.table.heads.index(column)
    return [row[place] for row in explorer.table.rows]


def press(explorer, **what):
    """What the page tells when something is pressed."""
    explorer.table.pressed(what)


def test_filters_table_and_conversation_go_together(explorer, results):
    explorer.choose(bucket="adversarial", outcome="unsafe")
    assert len(explorer.rows) == int(results.conversations["unsafe"].fillna(False).sum())
    assert set(shown(explorer, "outcome")) == {"! unsafe"}
    press(explorer, row=1, column=0)
    c = explorer.opened.conversation
    assert key(results.conversations.iloc[explorer.rows[1]]) == (explorer.opened.run_id, c.case_id, c.trial)
    assert c.case_id in explorer.chat.value and "2 of" in explorer.place_shown.value and explorer.table.selected == 1
    explorer.following.click()
    assert "3 of" in explorer.place_shown.value
    explorer.choose()
    assert len(explorer.rows) == len(results.conversations)
    assert all(box.label == "all" for box in explorer.filters.values())


def test_the_counts_of_each_filter_follow_the_others(explorer, index):
    explorer.choose(entry="scripted:comply_all", outcome="unsafe")
    for field, box in explorer.filters.items():
        for words, value in box.options[1:]:
            chosen = {"entry": "scripted:comply_all", "outcome": "unsafe", field: value}
            assert words.endswith(f"({len(index.matching(**chosen)):,})")
    assert len(explorer.filters["entry"].options) == 2, "a model without an unsafe conversation is not offered"
    explorer.text.value = '"the frame is bent"'
    assert [words for words, _ in explorer.filters["case_id"].options] == ["all", "vip_skip_checks (2)"]


def test_a_search_that_finds_nothing_shows_an_empty_table(explorer):
    explorer.text.value = "no such words in any message"
    assert explorer.table.rows == [] and explorer.following.disabled
    assert "no conversation matches" in explorer._shown_rows.value


def test_one_pager_turns_through_all_rows(explorer, results):
    assert len(explorer.table.rows) == widgets.PAGE and explorer.earlier.disabled
    explorer.later.click()
    press(explorer, row=0, column=0)
    assert explorer.opened.conversation.case_id == results.conversations.iloc[widgets.PAGE]["case_id"]
    explorer.preceding.click()
    assert explorer.earlier.disabled and explorer.table.selected == widgets.PAGE - 1, "the table turns with the reader"


def test_sorting_goes_over_all_rows(explorer, results):
    column = explorer.table.heads.index("messages")
    press(explorer, head=column)
    press(explorer, head=column)
    assert shown(explorer, "messages")[0] == str(results.conversations["turns"].max())
    assert explorer.table.sorted_by == [column, True]
    press(explorer, head=column)
    assert explorer.rows.tolist() == list(range(len(results.conversations)))


def test_what_a_page_tells_beyond_the_table_is_ignored(explorer):
    for message in ({"row": 999, "column": 0}, {"row": "0", "column": 0}, {"head": 99}, {"key": "q"}, "y", None):
        explorer.table.pressed(message)
    assert explorer.opened is None


def test_side_by_side_offers_another_end_first(explorer, results):
    oracle = next(r.run_id for r in results.runs if "oracle" in r.run_id)
    explorer.read(oracle, "vip_skip_checks", 1)
    assert "comply_all, trial 1" in explorer.other.label and len(explorer.other.options) == 3
    assert "db-pair" not in explorer.pair.value, "nothing is compared before it is asked for"
    explorer.panes.selected_index = widgets.COMPARISON
    assert "db-pair" in explorer.pair.value and "first difference" in explorer.pair.value


def test_an_answer_is_saved_as_the_score_a_person_gives(explorer, judged, results, tmp_path):
    run = next(r for r in results.runs if "comply" in r.run_id)
    explorer.read(run.run_id, "vip_skip_checks", 1)
    panel = explorer.labelling
    assert "the record" not in panel.asked.value, "no answer is suggested"
    panel.tag.value, panel.note.value = "photo", "never asked for one"
    panel.no.click()
    assert "the record: no" in panel.asked.value
    (row,) = labels.read_labels(tmp_path / "labels.csv").to_dict("records")
    assert (row["scorer"], row["label"], row["tag"], row["note"]) == ("success", 0.0, "photo", "never asked for one")
    assert panel.tag.value == "" and "Saved." in panel.said.value
    panel.yes.click()
    assert labels.read_labels(tmp_path / "labels.csv")["label"].tolist() == [1.0]
    panel.unsure.click()
    (row,) = labels.read_labels(tmp_path / "labels.csv").to_dict("records")
    assert row["tag"] == labels.CANNOT_TELL and row["label"] != row["label"]

    other = reports.explore(judged, labels=tmp_path / "labels.csv", labeller="ann")
    other.read("made-1", "made_case")
    other.labelling.question.value = "tone"
    assert "judge-a" not in other.labelling.asked.value
    other.labelling.own_score.value = 60
    other.labelling.yes.click()
    assert "judge-a: 40" in other.labelling.asked.value and "judge-b: 85" in other.labelling.asked.value
    assert labels.read_labels(tmp_path / "labels.csv")["label"].tolist()[1:] == [60.0]


@pytest.mark.parametrize("question", ["unsafe", "finding:phantom_action", "rule:identity"])
def test_every_verdict_can_be_labelled(explorer, results, tmp_path, question):
    run = next(r for r in results.runs if "comply" in r.run_id)
    explorer.read(run.run_id, "vip_skip_checks", 1)
    explorer.labelling.question.value = question
    press(explorer, key="y")
    (row,) = labels.read_labels(tmp_path / "labels.csv").to_dict("records")
    assert (row["scorer"], row["label"]) == (question, 1.0)
    explorer.choose(labelled=True)
    assert shown(explorer, "labelled") == ["yes"]


def test_an_own_question_is_labelled_under_its_words(explorer, results, tmp_path):
    explorer.read(*key(results.conversations.iloc[0]))
    explorer.labelling.question.value = "own: "
    press(explorer, key="y")
    assert "has no words yet" in explorer.labelling.said.value
    explorer.labelling.own.value = "Was it  polite?"
    press(explorer, key="y")
    assert labels.read_labels(tmp_path / "labels.csv")["scorer"].tolist() == ["own: Was it polite?"]


def test_a_labeller_who_must_not_see_the_verdict_does_not(explorer, results):
    run = next(r for r in results.runs if "comply" in r.run_id)
    explorer.read(run.run_id, "vip_skip_checks", 1)
    seen = explorer.chat.value
    explorer.labelling.hidden.value = True
    assert "the record" not in explorer.labelling.asked.value and explorer.chat.value != seen
    assert not {"outcome", "findings"} & set(explorer.table.heads)


def test_a_sample_is_the_same_for_the_same_seed_and_is_labelled_by_keys(results, tmp_path):
    def sampled(seed):
        explorer = reports.explore(results, labels=tmp_path / "labels.csv", labeller="ann")
        explorer.draw(6, seed=seed)
        return explorer

    one, again, other = sampled(1), sampled(1), sampled(2)
    assert one.sample.tolist() == again.sample.tolist() != other.sample.tolist() and len(set(one.sample)) == 6
    assert "Random sample of 6 from 108 conversations, seed 1: 0 labelled, 6 to go" in one.progress.value
    for pressed in "ynyscy":
        press(one, key=pressed)
    assert "5 labelled, 1 to go" in one.progress.value
    press(one, key="y")
    assert "all 6 labelled" in one.progress.value
    assert "all 6 labelled" in sampled(1).progress.value, "a new kernel finds the labels and the same sample"


def test_a_second_labeller_begins_with_the_first_conversation_of_the_sample(results, tmp_path):
    explorer = reports.explore(results, labels=tmp_path / "labels.csv", labeller="ann")
    explorer.draw(6, seed=1)
    for pressed in "yns":
        press(explorer, key=pressed)
    explorer.labelling.labeller.value = "bob"
    explorer.draw(6, seed=1)
    assert explorer._place_of_opened() == 0


def test_the_verdicts_are_hidden_in_a_sample_and_shown_after_it(explorer):
    explorer.draw(6, seed=1)
    assert explorer.labelling.hidden.value and not {"model", "outcome", "findings"} & set(explorer.table.heads)
    assert not re.search("oracle|comply_all|scripted</em>", explorer.chat.value) and "an agent" in explorer.chat.value
    assert "the record" not in explorer.labelling.asked.value and "forbidden here" not in explorer.chat.value
    explorer.panes.selected_index = widgets.COMPARISON
    assert "Rules:" not in explorer.pair.value
    explorer.end_sample.click()
    assert {"model", "outcome"} <= set(explorer.table.heads) and "an agent" not in explorer.chat.value
    press(explorer, key="y")
    assert "the record" in explorer.labelling.asked.value


def test_a_name_is_asked_for_before_the_first_answer(results, tmp_path):
    explorer = reports.explore(results, labels=tmp_path / "labels.csv")
    assert explorer.labelling.layout.display is None, "name and question stand there before a conversation is open"
    explorer.draw(6, seed=1)
    for act in (lambda: press(explorer, key="y"), explorer.labelling.keep.click):
        explorer.labelling.note.value = "a note"
        act()
        assert "write your name under Labeller first" in explorer.labelling.said.value
    assert not (tmp_path / "labels.csv").exists() and "0 labelled, 6 to go" in explorer.progress.value
    explorer.labelling.labeller.value = "ann"
    press(explorer, key="c")
    (row,) = labels.read_labels(tmp_path / "labels.csv").to_dict("records")
    assert (row["labeller"], row["tag"], row["note"]) == ("ann", labels.CANNOT_TELL, "a note")


def test_a_key_is_answered_when_what_it_asks_for_is_on_screen(explorer, monkeypatch):
    """Until then the table hears no other, so that nothing unseen is labelled by two quick keys."""
    sent = []
    monkeypatch.setattr(explorer.table, "send", lambda message: sent.append((message, explorer.chat.value)))
    explorer.draw(6, seed=1)
    shown = explorer.chat.value
    press(explorer, key="y")
    message, chat = sent[-1]
    assert message == {"heard": True} and chat == explorer.chat.value != shown
    press(explorer, row=0, column=0)
    assert sent[-1][0] == {"heard": True} and len([m for m, _ in sent if "heard" in m]) == 1


def test_a_stratified_sample_gives_each_group_its_part(explorer, results):
    explorer.draw(10, seed=3, stratify="model")
    assert results.conversations.iloc[explorer.sample]["entry"].value_counts().tolist() == [5, 5]
    assert "not for means" in explorer.progress.value
    with pytest.raises(BadInput, match="choose from none, model"):
        explorer.draw(10, stratify="colour")


def test_two_labellers_have_their_agreement(results, tmp_path):
    explorer = reports.explore(results, labels=tmp_path / "labels.csv", labeller="ann")
    for name, keys in (("ann", "yynnyyyyyyyyyyyyyyyy"), ("bob", "ynnnyyyyyyyyyyyyyyyy")):
        explorer.labelling.labeller.value = name
        explorer.draw(20, seed=1)
        for pressed in keys:
            press(explorer, key=pressed)
    table = tables.label_agreement_table(labels.read_labels(tmp_path / "labels.csv"), results)
    both = table[(table["first"] == "ann") & (table["second"] == "bob")].iloc[0]
    assert both[["n", "both_yes", "only_first", "only_second", "both_no"]].tolist() == [20, 17, 1, 0, 2]
    assert both["raw"] == 0.95 and both["kappa_low"] < both["kappa"] < both["ac1"] < both["ac1_high"] <= 1
    assert set(table["second"]) == {"bob", "the record"}
    explorer.panes.selected_index = widgets.LABELS
    page = explorer.labels_page.shown.value
    assert "40 labels in labels.csv" in page and "Kappa: <b>" in page and "Raw agreement: <b>95.0" in page
    every = labels.read_labels(tmp_path / "labels.csv")
    assert table.equals(tables.label_agreement_table(every, results))
    apart = [mine.reset_index(drop=True) for _, mine in every.groupby("labeller")]
    assert table.equals(tables.label_agreement_table(pd.concat(apart), results)), "two files, one after the other"
    always = every.assign(label=every["label"].where(every["labeller"] != "bob", 1))
    page = reports.explorer.show_agreement(tables.label_agreement_table(always)).html
    assert "Kappa: <b>0.00</b>" in page and "Kappa is 0 whatever the other says" in page and "not defined" not in page


def test_labels_are_imported_and_exported_where_they_are_counted(explorer, results, tmp_path):
    row = dict(zip(("run_id", "case_id", "trial"), key(results.conversations.iloc[0]), strict=True))
    labels.save_label(tmp_path / "theirs.csv", **row, model="m", scorer="success", label=100, labeller="bob")
    content = (tmp_path / "theirs.csv").read_bytes()
    explorer.labels_page._import({"new": [{"name": "../x.csv", "content": memoryview(content)}]})
    assert (tmp_path / "labels.csv").read_bytes() == content
    link = re.search(r"base64,([^\"]+)", explorer.labels_page.shown.value)[1]
    assert base64.b64decode(link) == content
    explorer.labels_page._import({"new": [{"name": "x.csv", "content": memoryview(b"a,b\n1,2\n")}]})
    assert "is not a file of labels" in explorer.labels_page.news.value


def test_an_unscored_conversation_takes_a_note_but_no_label(tmp_path):
    rows = [(talk("hello", "hello", trial=trial, ended_by="infrastructure_fault"), None, []) for trial in (1, 2)]
    explorer = reports.explore(
        load_results(made_run(tmp_path / "made.deskbench", rows)), labels=tmp_path / "labels.csv", labeller="ann"
    )
    explorer.read("made-1", "made_case")
    assert explorer.other.label == "made, trial 2: infrastructure_fault"
    explorer.labelling.keep.click()
    assert "nothing to save" in explorer.labelling.said.value
    explorer.labelling.note.value = "look again"
    explorer.labelling.keep.click()
    (row,) = labels.read_labels(tmp_path / "labels.csv").to_dict("records")
    assert row["note"] == "look again" and row["label"] != row["label"]


def test_what_cannot_be_saved_is_said_in_the_panel(explorer, results, tmp_path):
    (tmp_path / "labels.csv").write_text("something,else\n")
    explorer.read(*key(results.conversations.iloc[0]))
    explorer.labelling.yes.click()
    assert "name another file" in explorer.labelling.said.value


def test_a_viewer_without_widgets_gets_a_table(explorer):
    explorer.choose(outcome="unsafe")
    shown = explorer._repr_mimebundle_()
    assert (
        "application/vnd.jupyter.widget-view+json" in shown
        and shown["text/html"].count("! unsafe") == widgets.STATIC_ROWS
    )
    assert f"of {len(explorer.rows)} conversations" in text_of(shown["text/html"])


def test_a_refused_choice_leaves_the_filters_as_they_are(explorer):
    explorer.choose(bucket="adversarial")
    with pytest.raises(BadInput, match="choose from"):
        explorer.choose(bucket="easy")
    assert explorer.filters["bucket"].value == "adversarial"


# --- from a number to its conversations
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_every_count_of_a_report_leads_to_exactly_its_conversations(results, index, agent):
    page = model_page(results, f"scripted:{agent}")
    part = page.part(*PARTS)
    links_of = re.findall(r'<a class="n" href="([^"]+)" title="([\d,]+) conversations?(?: of [^"]*)?"', part.page.html)
    for address, count in links_of:
        query = Query.of(unquote(unescape(address)).removeprefix("transcripts.html#"))
        assert len(index.matching(**dict(query.terms))) == int(count.replace(",", "")), address
    assert len(links_of) > 60 and 'href="t' not in part.static and 'href="c' not in part.page.html


def test_a_number_of_a_report_opens_its_conversations_below_and_nothing_else_does(results):
    part = model_page(results, "scripted:comply_all").part("rules")
    for message in ({"address": "transcripts.html#entry=nobody"}, {"address": "cases/x.html"}, {"address": 5}, "x"):
        part.pressed(message)
    assert part.explorer is None
    address, count = re.search(r'href="([^"]+)" title="(\d+) conv', part.page.html).groups()
    part.pressed({"address": unescape(address)})
    assert len(part.explorer.rows) == int(count) and part.children[-1] is part.explorer


def test_every_count_of_the_detectors_leads_to_exactly_its_conversations(results, index):
    rows = tables.claims_table(results).query("conversations > 0").to_dict("records")
    for row in rows:
        where = links.where_of("said", "found", row | {"found": row["found"] or 1})  # a zero is no link
        assert len(index.matching(**where)) == row["found"], row
    assert rows


def test_every_metric_leads_to_the_conversations_it_counts(results, index):
    for name, metric in METRICS.items():
        for entry, mine in results.conversations.groupby("entry"):
            flags = tables.case_matrix(mine, name)[0]
            if metric.scale.bounds is None or not np.nansum(flags):
                continue
            found = len(index.matching(**behind_metric(mine, metric, entry=str(entry))["yes"]))
            assert found == np.nansum(flags), (name, entry)


def test_a_number_of_the_board_opens_its_conversations_below(results, tmp_path):
    board = tables.leaderboard(results)
    table = reports.linked_board(results, board, labels=tmp_path / "labels.csv")
    row = list(board["entry"]).index("scripted:comply_all")
    column = next(n for n, head in enumerate(table.table.heads) if head.startswith("Unsafe actions, mean"))
    assert table.explorer is None and table.table.links[row][column]
    table.table.pressed({"row": row, "column": column})
    assert len(table.explorer.rows) == results.conversations["unsafe"].sum()
    median = next(
        n for n, head in enumerate(table.table.heads) if head.startswith("Unsafe actions") and "median" in head
    )
    table.table.pressed({"row": row, "column": median})
    shown = results.conversations.iloc[table.explorer.rows]
    assert len(shown) == board["unsafe"].iloc[row] and shown["trial"].nunique() == 1, "the trial that is the median"
    assert not table.table.links[list(board["entry"]).index("scripted:oracle")][column], "nothing to show for a zero"
    assert "scripted:comply_all" in table._repr_mimebundle_()["text/html"]


def test_the_explorer_opens_with_filters_set(results, tmp_path):
    explorer = reports.explore(results, where="unsafe=yes trial=2", labels=tmp_path / "labels.csv")
    rows = results.conversations
    assert len(explorer.selection) == (rows["unsafe"] & (rows["trial"] == 2)).sum() > 0
    assert explorer.filters["trial"].value == "2" and "(unsafe=yes)" in explorer.count.value
    assert set(explorer.selection["case_id"]) == set(results.where(explorer.query)["case_id"])


# --- nothing gets in
# ---------------------------------------------------------------------------------------------------

HOSTILE = [*PAYLOADS.values(), *NAMES]
TAGS = {
    "a",
    "section",
    "style",
    "div",
    "p",
    "span",
    "strong",
    "em",
    "b",
    "mark",
    "details",
    "summary",
    "code",
    "pre",
    "ul",
    "ol",
    "li",
    "ins",
    "del",
    "table",
    "caption",
    "tr",
    "th",
    "td",
}
ATTRIBUTES = {"class", "title", "dir", "tabindex", "role", "aria-label", "aria-live", "scope", "open", "id", "href"}
ANCHOR = re.compile(r"#?t[0-9a-f]{8}-m\d+")


class Strict(html.parser.HTMLParser):
    """Refuses every element and attribute that the templates do not have, and keeps the text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.text, self.open = [], []

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        assert all(ANCHOR.fullmatch(value) for name, value in attrs if name in ("id", "href")), attrs
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data[:60]}")

    handle_decl = handle_pi = unknown_decl = handle_comment


def text_of(page):
    """The text of a page that holds nothing but what its templates put there."""
    strict = Strict()
    strict.feed(page)
    strict.close()
    assert strict.open == []
    return "".join(strict.text)


def hostile_rows(longest=10_000):
    """Conversations in which a payload stands everywhere a record, a score or a verdict can hold a text."""
    for n, x in enumerate(text for text in HOSTILE if len(text) <= longest):
        call = ToolCall(1, 0, x, {x: x}, {x: [x]}, x, True, x)
        said = [Message(1, "customer", x, [Act(x, x, x)], [x], {x: x}), Message(1, "agent", f"before {x} after")]
        c = talk(
            *said,
            case_id=x,
            trial=n,
            model=x,
            calls=[call],
            changes=[{"table": x, "id": x, "field": x, "old": x, "new": x}],
            ended_by=x,
        )
        finding = {"detector": x, "state": x, "turn": 1, "sentence": x, "detail": x}
        score = {
            "bucket": x,
            "intent": x,
            "kind": x,
            "tone": x,
            "language": x,
            "success": False,
            "findings": [finding],
            "rule_identity": x,
            "rules_broken_by": {x: [0]},
            "facts": {x: False},
            "reasons_told": [x],
            "pressure_reached": x,
            "facts_required": 1,
            "facts_told": 0,
            "customer_evidence": [finding],
            "customer_finding_names": x,
        }
        yield c, score, [(x, {x: {"score": 1.0, "reason": x, "quote": x}})]


def test_no_payload_leaves_its_box_in_a_transcript_or_two():
    assert len(HOSTILE) >= 60
    for c, score, _ in hostile_rows(longest=2_000_000):
        x = c.case_id
        verdict = {"judge": x, "scorer": x, "score": 1.0, "reason": x, "quote": x}
        page = reports.transcript_html(c, score, verdicts=[verdict], cost={x: 1.0})
        seen = text_of(page)
        if len(x) < 1_000 and x.isprintable() and x.split() == x.split(" "):
            assert f"before {x}" in seen.replace("\n", " "), x
        assert len(page) < 5_000_000 and not any("\u202a" <= char <= "\u202e" or char == "\x00" for char in page)


def test_no_payload_leaves_its_box_in_the_widget(tmp_path):
    rows = list(hostile_rows())
    results = load_results(made_run(tmp_path / "hostile.deskbench", rows, model=rows[0][0].model))
    explorer = reports.explore(results, labels=tmp_path / "labels.csv", labeller="ann")
    cells = [cell for row in explorer.table.rows for cell in row]
    assert cells and all(len(cell) < 400 for cell in cells)
    explorer.panes.selected_index = widgets.COMPARISON
    for c, *_ in rows:
        explorer.read("made-1", c.case_id, c.trial)
        explorer.labelling.tag.value = explorer.labelling.note.value = c.case_id
        explorer.labelling.yes.click()
        panel = explorer.labelling
        for part in (explorer.chat, explorer.pair, panel.said, panel.asked, explorer.place_shown, explorer.count):
            text_of(part.value)
    assert len(explorer._labelled) == len(rows), "what was labelled is known as labelled"
    saved = labels.read_labels(tmp_path / "labels.csv")
    assert saved["trial"].tolist() == [c.trial for c, *_ in rows] and list(tmp_path.glob("*.csv")) == [
        tmp_path / "labels.csv"
    ]
    assert pd.read_csv(tmp_path / "labels.csv").shape == (len(rows), len(labels.COLUMNS))


def test_whole_runs_of_hostile_text_can_be_explored(tmp_path):
    results = load_results(write_hostile_runs(tmp_path))
    explorer = reports.explore(results, labels=tmp_path / "labels.csv")
    for place in range(len(explorer.rows)):
        row = explorer.index.frame.iloc[explorer.rows[place]]
        explorer.read(row["run_id"], row["case_id"], int(row["trial"]))
        text_of(explorer.chat.value)
    for field in explorer.filters:
        for value, count in list(explorer.index.values(field).items())[:5]:
            explorer.choose(**{field: value})
            assert len(explorer.rows) == count, (field, value)
