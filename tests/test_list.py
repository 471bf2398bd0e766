"""The list of conversations as a widget: what a person sees, what Python reads from it, and what lands in the file of labels."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from browser import open_browser
from hostile import FLAG, hostile_rows
from lab_page import shown_in_lab
from made_runs import made_run, talk

from benchmark_lib import BadInput, Experiment, load_results, reports
from benchmark_lib.analysis.facets import QUESTIONS
from benchmark_lib.reports.explorer import read_labels, save_label

CASES = "adversarial,cancel_before_ship_1,cancel_before_ship_2,address_change_1,wrong_item_*"


@pytest.fixture(scope="module")
def browser():
    with open_browser() as running:
        yield running


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two scripted agents on a few cases, two trials each."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("oracle", "comply_all"):
        out = folder / f"{name}.deskbench"
        experiment = Experiment(f"scripted:{name}", cases=CASES, trials=2, out=out, progress=False)
        with ThreadPoolExecutor(1) as thread:  # Playwright keeps a loop running in this one
            thread.submit(asyncio.run, experiment.run()).result()
    return load_results(folder)


@pytest.fixture
def made(results, tmp_path):
    return reports.explore(results, labels=tmp_path / "labels.csv", labeller="ann")


def says(page, place, pattern):
    page.locator(place, has_text=re.compile(pattern)).first.wait_for()


def ask(page, query):
    """Write a query into its line."""
    page.fill("#talk-query", query)
    page.press("#talk-query", "Enter")


def begin(page, query):
    """Draw a sample and open its first conversation."""
    ask(page, query)
    page.locator("#talk-begin").click()
    says(page, "#label .sample", "Sample: 1 of")


def test_python_and_the_page_share_the_query_and_the_selection(browser, results, made):
    made.choose("unsafe=yes", trial=2)
    assert made.query == "unsafe=yes trial=2" and len(made.selection) == len(results.where("unsafe=yes trial=2")) > 0
    with shown_in_lab(browser, made) as (page, seen, hand_over):
        says(page, "#talk-status", f"^{len(made.selection)} conversations")
        assert page.input_value("#talk-query") == made.query
        page.select_option("#talk-entry", "scripted:comply_all")
        page.select_option("#talk-reason", "the forbidden act committed")
        says(page, "#talk-status", "^18 conversations of 18 cases")
        assert made.query.endswith('entry=scripted:comply_all reason="the forbidden act committed"')
        assert set(made.selection["case_id"]) == set(results.where(made.query)["case_id"])
        page.select_option("#talk-order", "messages")
        says(page, "#talk-list small", "messages")
        assert made.selection["turns"].is_monotonic_decreasing and made.selection["turns"].nunique() > 1
        made.query = "bucket=resolvable"
        hand_over()
        says(page, "#talk-status", f"^{len(results.where(bucket='resolvable'))} conversations")
        ask(page, "nonsense=1")
        says(page, "#talk-status", "^0 conversations: there is no field nonsense here")
        assert made.selection.empty and not seen.errors
    with pytest.raises(BadInput, match="no field 'modell': the names are entry, source"):
        made.choose(modell="x")


def test_the_counts_of_each_field_follow_the_others(browser, results, made):
    made.choose(entry="scripted:comply_all", outcome="unsafe")
    with shown_in_lab(browser, made) as (page, seen, _):
        page.select_option("#talk-more", "case_id")
        for name in ("entry", "bucket", "outcome", "reason", "ended_by", "case_id"):
            others = {
                field: value
                for field, value in (("entry", "scripted:comply_all"), ("outcome", "unsafe"))
                if field != name
            }
            counts = results.facets.loc[results.where(**others).index, name].value_counts()
            shown = page.eval_on_selector_all(
                f"#talk-{name} option", "all => all.slice(1).map((o) => [o.value, o.label])"
            )
            assert {value: int(words.split("(")[-1].strip(")")) for value, words in shown} == counts.to_dict(), name
        assert not seen.errors


def test_a_search_goes_through_all_messages_and_shows_where(browser, results, made):
    texts = results.messages.groupby(["run_id", "case_id", "trial"])["text"].agg("\n".join).str.casefold()
    both = int((texts.str.contains("photo") & texts.str.contains("northline")).sum())
    with shown_in_lab(browser, made) as (page, seen, _):
        page.fill("#talk-q", "PHOTO Northline")
        says(page, "#talk-status", f"^{both} conversations")
        says(page, "#talk-list mark", "^[Pp]hoto$")
        page.fill("#talk-q", '"the frame is bent"')
        says(page, "#talk-list mark", "^[Tt]he frame is bent$")
        page.locator(".hit-line").first.click()
        says(page, ".aimed", "[Tt]he frame is bent")
        ask(page, 'q="\\"frame the is bent\\""')
        says(page, "#talk-status", "^0 conversations")
        assert made.selection.empty and not seen.errors
    again = reports.explore(results, where="q=photo", labels=made.file)
    assert "text/html" in again._repr_mimebundle_()[0]
    with pytest.raises(BadInput, match="display it first"):
        again.selection  # noqa: B018


def test_a_conversation_is_read_and_compared_turn_beside_turn(browser, results, made):
    made.choose("entry=scripted:comply_all case_id=vip_skip_checks")
    with shown_in_lab(browser, made) as (page, seen, _):
        page.locator("a.talk-link").first.click()
        says(page, ".verdict", "unsafe")
        page.locator(".tool.forbidden summary").first.click()
        page.locator(".tool.forbidden pre").first.get_by_text("variant_id").wait_for()
        page.keyboard.press(".")
        says(page, ".siblings", r"\(2 of 2\)")
        page.locator(".others .both-link").first.click()
        page.locator(".two-sides .msg").first.wait_for()
        assert page.locator(".differs-note").all_inner_texts()[:2] == ["first difference"] * 2
        turn = page.locator(".two-sides").nth(1).locator(".msg.customer")
        assert len(set(turn.evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)"))) == 1
        page.get_by_role("button", name="× Close").click()
        says(page, ".siblings", r"\(2 of 2\)")
        assert not seen.errors


@pytest.mark.parametrize("question", ["unsafe", "finding:phantom_action", "rule:identity", "own:"])
def test_any_question_is_labelled_blind_in_random_order_by_keys(browser, results, made, tmp_path, question):
    with shown_in_lab(browser, made) as (page, seen, _):
        begin(page, f"sample=4 seed=2 question={question}")
        assert page.get_by_label("Question").last.input_value() == question
        assert not page.is_visible(".verdict") and not re.search("comply_all|oracle", page.inner_text("#talk"))
        if question == "own:":
            page.get_by_label("Ask", exact=True).fill("Was it  polite?")
            page.locator("h1").click()
        for number, key in enumerate("ync", 1):
            page.keyboard.press(key)
            says(page, "#label .sample", f"Sample: {number + 1} of 4, {number} labelled")
        page.keyboard.press("y")
        says(page, "#talk-status", "All are labelled")
        drawn = made.selection
        assert not seen.errors
    found = read_labels(tmp_path / "labels.csv")
    keys = ["run_id", "case_id", "trial"]
    assert found[keys].to_numpy().tolist() == drawn[keys].to_numpy().tolist()
    assert found["label"].fillna(-1).tolist() == [1, 0, -1, 1] and found["tag"].tolist()[2] == "cannot tell"
    assert set(found["scorer"]) == {"own: Was it polite?" if question == "own:" else question}
    if question != "own:":
        assert not np.isnan(QUESTIONS[question].answers(drawn)).any(), "only where the record has an answer"


def test_the_next_kernel_and_the_second_labeller_get_the_same_sample(browser, results, made, tmp_path):
    with shown_in_lab(browser, made) as (page, _, _):
        begin(page, "sample=6 seed=1")
        page.keyboard.press("y")
        says(page, "#label .sample", "1 labelled, 5 left")
        drawn = made.selection
    again = reports.explore(results, where="sample=6 seed=1", labels=tmp_path / "labels.csv", labeller="ann")
    with shown_in_lab(browser, again) as (page, _, _):
        says(page, "#talk-begin", "Label the 5 left")
        assert again.selection.equals(drawn)
        page.fill("#talk-labeller", "bob")
        says(page, "#talk-begin", "Start labelling")
        page.fill("#talk-size", "8")
        page.press("#talk-size", "Enter")
        page.select_option("#talk-per", "entry")
        says(page, "#talk-status", "^8 conversations.*not a mean over all")
        assert again.selection["entry"].value_counts().tolist() == [4, 4]
        page.click("#talk-end")
        says(page, "#talk-status", f"^{len(results.conversations)} conversations")


def test_a_name_is_asked_for_and_what_cannot_be_saved_is_told(browser, results, tmp_path):
    made = reports.explore(results, labels=tmp_path / "labels.csv")
    with shown_in_lab(browser, made) as (page, seen, _):
        page.locator("a.talk-link").first.click()
        page.get_by_role("button", name="Yes (y)").click()
        says(page, "#label .status", "^Enter your name first")
        page.get_by_label("Your name").last.fill("ann")
        page.get_by_role("button", name="Save tag and note").click()
        says(page, "#label .status", "^There is nothing to save")
        (tmp_path / "labels.csv").write_text("something,else\n")
        page.get_by_role("button", name="Yes (y)").click()
        says(page, "#label .status", "name another file")
        (tmp_path / "labels.csv").unlink()
        page.get_by_label("Note").fill("look again")
        page.get_by_role("button", name="Save tag and note").click()
        says(page, "#label .status", "^You said: look again")
        assert made.labeller == "ann" and not seen.errors
    (row,) = read_labels(tmp_path / "labels.csv").to_dict("records")
    assert (row["note"], row["labeller"]) == ("look again", "ann") and row["label"] != row["label"]


def test_a_judges_score_is_answered_with_a_score_and_shown_after_it(browser, tmp_path):
    verdicts = [("judge-a", {"tone": {"score": 40.0, "reason": "curt", "quote": "hello"}})]
    run = made_run(tmp_path / "judged.deskbench", [(talk("hello", "hello"), {"success": True}, verdicts)])
    made = reports.explore(load_results(run), labels=tmp_path / "labels.csv", labeller="ann")
    with shown_in_lab(browser, made) as (page, seen, _):
        page.locator("a.talk-link").first.click()
        page.get_by_label("Question").last.select_option("tone")
        page.locator("h1").click()
        page.keyboard.press("y")
        says(page, "#label .status", "^Write your score")
        page.get_by_label("Your score").fill("60")
        page.get_by_role("button", name="Save the score (y)").click()
        says(page, "#label .told", "The judge: 40")
        assert not seen.errors
    assert read_labels(tmp_path / "labels.csv")["label"].tolist() == [60.0]


def test_labels_of_another_are_imported_and_their_agreement_is_shown(browser, results, made, tmp_path):
    for name, label in (("bob", True), ("ann", False)):
        for row in results.conversations.head(4)[["run_id", "model", "case_id", "trial"]].to_dict("records"):
            save_label(tmp_path / f"{name}.csv", **row, scorer="success", label=label, labeller=name)
    with shown_in_lab(browser, made) as (page, seen, _):
        page.set_input_files("input[type=file]", tmp_path / "bob.csv")
        says(page, ".labels .status", "4 labels new")
        page.set_input_files("input[type=file]", tmp_path / "ann.csv")
        says(page, ".labels", "8 labels on file")
        page.get_by_role("button", name="Agreement").click()
        says(page, ".labels", "ann and bob, 4 conversations")
        (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
        page.set_input_files("input[type=file]", tmp_path / "wrong.csv")
        says(page, ".labels .status", "is not a label file")
        page.select_option("#talk-labelled", "yes")
        says(page, "#talk-status", "^4 conversations")
        assert not seen.errors


def test_a_viewer_without_widgets_gets_a_table(made):
    made.choose(outcome="unsafe")
    bundle, _ = made._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"].count("<td>unsafe</td>") == 20
    assert f"of {len(made.selection)} conversations" in bundle["text/html"]


def test_what_a_page_asks_beyond_the_list_is_answered_with_a_problem(made):
    for message in (
        None,
        "x",
        {},
        {"what": "_file"},
        {"what": "talk"},
        {"what": "hits", "rows": [10**9], "terms": ["x"]},
    ):
        assert "problem" in made._answer(message)
    assert made._answer({"what": "talk", "talk": "../../x"})["answer"] is None


def test_nothing_hostile_runs_in_the_list(browser, tmp_path):
    rows = list(hostile_rows())
    results = load_results(made_run(tmp_path / "hostile.deskbench", rows, model=rows[0][0].model))
    made = reports.explore(results, labels=tmp_path / "labels.csv", labeller="ann")
    foreign = "#talk :is(script, img, svg, iframe, object, embed, style, link, meta, base, video), [onclick], [onerror]"
    with shown_in_lab(browser, made) as (page, seen, _):
        page.locator("a.talk-link").first.click()
        for number, (conversation, *_) in enumerate(rows, 1):
            says(page, ".siblings", rf"\({number} of {len(rows)}\)")
            text = " ".join(page.inner_text("#talk .talk").split())
            x = conversation.case_id
            if len(x) < 1_000 and x.isprintable() and x.split() == x.split(" "):
                assert f"before {x}" in text, x
            assert page.locator(foreign).count() == 0
            if number % 5 == 0:
                page.get_by_label("Note").fill(x)
                page.get_by_role("button", name="Yes (y)").click()
                says(page, "#label .status", "^You said: yes")
            page.keyboard.press(".")
        ask(page, f'q="{rows[3][0].case_id[:9]}"'.replace("\\", ""))
        says(page, "#talk-status", "^[0-9]+ conversation")
        assert page.evaluate(f"window.{FLAG}") is None and seen.dialogs == [] and not seen.errors
    saved = read_labels(tmp_path / "labels.csv")
    assert saved["trial"].tolist() == [c.trial for c, *_ in rows[4::5]]
    assert pd.read_csv(tmp_path / "labels.csv")["label"].all()
