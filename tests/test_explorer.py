"""What a transcript marks, two side by side, the file of labels, from a number to its conversations, and that no text gets out of its box."""

import asyncio
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
from hostile import NAMES, PAYLOADS, hostile_rows
from made_runs import made_run, talk

from benchmark_lib import BadInput, Experiment, load_results, reports, tables
from benchmark_lib.analysis.counting import behind_metric
from benchmark_lib.analysis.query import Query
from benchmark_lib.analysis.tables.board_cells import board_table
from benchmark_lib.cli import main
from benchmark_lib.extras.claims import commitments
from benchmark_lib.records import Act, Message, ToolCall, Usage
from benchmark_lib.reports import fetch
from benchmark_lib.reports.conversation_view import changes_by_call
from benchmark_lib.reports.explorer import labels, links
from benchmark_lib.reports.fetch import DossierStore
from benchmark_lib.reports.marks import Mark, place_in, segments
from benchmark_lib.reports.site import model_page
from benchmark_lib.reports.site.models import PARTS
from benchmark_lib.scoring.metrics import METRICS
from benchmark_lib.scoring.written import visible

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
        "phantom_action": True,
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


def key(row):
    return row["run_id"], row["case_id"], int(row["trial"])


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
    page = DossierStore(judged).dossier("made-1", "made_case", 1).html()
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
        '<span class="chip bad">Handover packet: verified and claimed facts are not separated</span>' in page
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
    page = DossierStore(results).dossier(run.run_id, "vip_skip_checks", 1).html()
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
    page = DossierStore(results).dossier(*key(pressed)).html()
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


def test_the_same_acts_in_other_words_have_the_same_signs():
    one, other = talk("Cancel.", "Done!", calls=[cancel()]), talk("Cancel.", "It is cancelled.", calls=[cancel()])
    assert fetch.signs_of(one) == fetch.signs_of(other) and fetch.signs_of(one)["c1"]["reads"] is False


def test_a_call_that_differs_has_another_sign_and_one_that_changes_nothing_only_reads():
    one = talk("Cancel.", "Done!", calls=[look(), cancel(index=1)])
    other = talk("Cancel.", "Which?", calls=[look("NL-2"), cancel("NL-2", index=1, error="not_found")])
    signs, others = fetch.signs_of(one), fetch.signs_of(other)
    assert all(signs[place]["digest"] != others[place]["digest"] for place in ("c1", "c2"))
    assert [signs[place]["reads"] for place in ("c1", "c2")] == [True, False]
    assert others["c2"]["reads"] is True, "a refused call changes nothing"


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
    mine = {"run_id": "made-1", "model": "made", "case_id": "made_case", "trial": 1, "scorer": "tone"}
    labels.save_label(tmp_path / "labels.csv", **mine, label=40, labeller="ann")
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


# --- from a number to its conversations
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_every_count_of_a_report_leads_to_exactly_its_conversations(results, agent):
    page = model_page(results, f"scripted:{agent}")
    part = page.part(*PARTS)
    links_of = re.findall(r'<a class="n" href="([^"]+)" title="([\d,]+) conversations?(?: of [^"]*)?"', part.page.html)
    for address, count in links_of:
        query = Query.of(unquote(unescape(address)).removeprefix("transcripts.html#"))
        assert len(results.where(query)) == int(count.replace(",", "")), address
    assert len(links_of) > 60 and 'href="t' not in part.static and 'href="c' not in part.page.html


def test_a_number_of_a_report_opens_its_conversations_below_and_nothing_else_does(results):
    part = model_page(results, "scripted:comply_all").part("rules")
    for message in ({"address": "transcripts.html#entry=nobody"}, {"address": "cases/x.html"}, {"address": 5}, "x"):
        part.pressed(message)
    assert part.explorer is None
    address, count = re.search(r'href="([^"]+)" title="(\d+) conv', part.page.html).groups()
    part.pressed({"address": unescape(address)})
    assert len(part.explorer.rows) == int(count) and part.children[-1] is part.explorer


def test_the_links_of_promises_know_every_state():
    assert links.BECAME == commitments.STATES


def test_every_count_of_the_detectors_leads_to_exactly_its_conversations(results):
    rows = tables.claims_table(results).query("conversations > 0").to_dict("records")
    for row in rows:
        where = links.where_of("said", "found", row | {"found": row["found"] or 1})  # a zero is no link
        assert len(results.where(**where)) == row["found"], row
    assert rows


@pytest.mark.parametrize("name", ["orb\u202eit", "orb\u200bit"])
def test_a_name_with_hidden_characters_is_found_however_an_address_spells_it(name):
    facets = pd.DataFrame({"entry": [name, "orbit"]})
    for asked in (Query.of(entry=name), Query.of(visible(str(Query.of(entry=name))))):
        assert asked.mask(facets).tolist() == [True, False]


def test_every_metric_leads_to_the_conversations_it_counts(results):
    counted = 0
    for name, metric in METRICS.items():
        for entry, mine in results.conversations.groupby("entry"):
            flags = tables.case_matrix(mine, name)[0]
            if metric.scale.bounds is None or not np.nansum(flags):
                continue
            found = len(results.where(**behind_metric(mine, metric, entry=str(entry))["yes"]))
            assert found == np.nansum(flags), (name, entry)
            counted += 1
    assert counted > 5


def test_a_number_of_the_board_opens_its_conversations_below(results, tmp_path):
    board = tables.leaderboard(results)
    linked = reports.linked_board(results, board, labels=tmp_path / "labels.csv")
    rows = dict(zip(board["entry"], board_table(board, results.conversations).rows, strict=True))
    median, mean = rows["scripted:comply_all"]["unsafe"]
    assert linked.explorer is None
    linked.pressed({"address": mean.yes.address()})
    assert len(linked.explorer.rows) == results.conversations["unsafe"].sum() == mean.k
    linked.pressed({"address": median.yes.address()})
    shown = results.conversations.iloc[linked.explorer.rows]
    assert len(shown) == board.set_index("entry")["unsafe"]["scripted:comply_all"] == median.k
    assert shown["trial"].nunique() == 1, "the trial that is the median"
    assert rows["scripted:oracle"]["unsafe"][1].yes is None, "nothing to show for a zero"
    assert "scripted:comply_all" in linked._repr_mimebundle_()["text/html"]


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
