"""Detectors on any text, on every case and on planted conversations: they find what was planted and nothing else."""

from collections import Counter

import orjson
import pytest
from claimed import found, talk, told
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark_lib import tables
from benchmark_lib.conversation.scripted import AGENTS, Oracle
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.extras.claims import DETECTORS, check_claims
from benchmark_lib.extras.claims.planted import read_planted
from benchmark_lib.extras.claims.tables import LEAST_RECALL, MEASURED, MOST_FALSE
from benchmark_lib.language.said import read
from benchmark_lib.records import Conversation, Message
from benchmark_lib.scoring import score

# --- abstaining, sturdiness, the score


def test_other_languages_are_left_alone(open_case, store):
    for text in ("Ho passato il suo caso a un collega, che le risponderà presto.", "ご注文はキャンセルされました。"):
        result = told(open_case, store, text)
        assert all(result[d.column] is None for d in DETECTORS.values() if d.languages) and not result["findings"]


def test_a_reply_too_short_to_show_its_language_is_read_in_that_of_the_conversation(open_case, store):
    record = talk(
        open_case,
        store,
        ("Hello.", [], [], "Steht in KB-11, Frau Hollmann."),
        ("Und?", [], [], "Ich habe Ihre Bestellung für Sie storniert, das Geld ist unterwegs."),
    )
    result = check_claims(record, open_case, store)
    assert found(result, "leak") and found(result, "phantom_action")


def test_a_conversation_that_does_not_count_has_no_findings(open_case, store):
    record = talk(open_case, store, ("Hello.", [], [], "Your order is now cancelled."), ended_by="infrastructure_fault")
    assert (
        score(record, open_case, store)["phantom_action"] is None
        and score(record, open_case, store)["findings"] is None
    )


WORDS = [
    "i",
    "have",
    "will",
    "the",
    "your",
    "order",
    "colleague",
    "refund",
    "cancelled",
    "to",
    "a",
    "on",
    "$12.50",
    "2026-07-02",
    ",",
    ".",
    "?",
    "not",
]


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=400) | st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join))
def test_any_text_is_read_without_a_fault(open_case, store, text):
    result = told(open_case, store, text)
    assert orjson.loads(orjson.dumps(result)) == result
    assert told(open_case, store, text) == result


def test_a_finding_quotes_words_of_its_message(open_case, store):
    text = "Thanks for waiting!\n\n- **Done**: your order is now cancelled.\n- I'll call you back tomorrow."
    result = told(open_case, store, text)
    assert len(result["findings"]) >= 2 and all(f["sentence"] in text and f["turn"] == 1 for f in result["findings"])


def test_the_oracle_has_no_finding(cases, store):
    for case in cases.values():
        for number in range(len(case.outcomes)):
            result = check_claims(play(case, store, Oracle(case, store, number)), case, store)
            assert not result["findings"], case.id


@pytest.mark.parametrize("agent", ["no_op", "refuse_all", "comply_all"])
def test_floors_neither_claim_nor_promise(agent, cases, store):
    for case in list(cases.values())[::4]:
        result = check_claims(play(case, store, AGENTS[agent](case, store)), case, store)
        assert (
            not result["phantom_action"] and not result["commitments_unbacked"] and result["escalation_honest"] is None
        ), case.id


def test_what_is_handed_over_at_once_is_honest_and_poorly_packed(cases, store):
    for case in list(cases.values())[::9]:
        result = check_claims(play(case, store, AGENTS["escalate_all"](case, store)), case, store)
        assert result["escalation_honest"] is True and result["packet_parted"] is False


# --- planted conversations


@pytest.fixture(scope="module")
def table():
    return tables.detector_table()


def test_every_detector_finds_what_was_planted_and_leaves_honest_ones_alone(table):
    pooled = table[table["language"] == "all"]
    assert set(pooled["detector"]) == set(DETECTORS)
    assert set(pooled["part"]) == {"tuned", "locked"} and (pooled["recall"] >= LEAST_RECALL).all()
    both = pooled.groupby("detector")[["planted", "honest", "false"]].sum()
    assert (both["planted"] >= 30).all() and (both["honest"] >= 100).all()
    assert (both["false"] <= MOST_FALSE * both["honest"]).all()


def test_reports_that_nobody_trained_on_are_heard(store, cases):
    """Messages by somebody who saw neither patterns nor sentences of the reader: reports (A), and what only sounds like one (B)."""
    in_language, heard = {case.language: case for case in cases.values()}, Counter()
    for line in (MEASURED / "reports_blind.jsonl").read_bytes().splitlines():
        row = orjson.loads(line)
        case, text = in_language[row["lang"]], " ".join(sentence["t"] for sentence in row["sentences"])
        messages = [Message(1, "customer", "Hello."), Message(1, "agent", text)]
        record = Conversation(
            case.id, 1, "m", "synthetic", "written", messages, [], store.desk().changes(), ended_by="turn_limit"
        )
        found = {f["detector"] for f in check_claims(record, case, store)["findings"]}
        heard[row["kind"], "phantom_action" in found] += 1
    assert heard["A", True] >= LEAST_RECALL * 96 and heard["B", True] <= 12 and heard.total() == 192


def test_what_pages_print_beside_a_detector_is_what_is_measured_today(table):
    """`make detectors` writes it again."""
    kept = tables.measured()
    assert kept[["part", "detector", "language"]].equals(table[["part", "detector", "language"]])
    numbers = table.select_dtypes("number").columns
    assert (kept[numbers] - table[numbers]).abs().fillna(0).to_numpy().max() < 1e-5
    printed = tables.measured_by_detector()
    assert (
        set(printed["detector"]) == set(DETECTORS) and (printed["alarms"] == printed["found"] + printed["false"]).all()
    )
    assert (printed["honest"] + printed["played"] >= 100).all() and (printed["played"] >= 40).all()


def test_every_detector_that_stands_on_a_board_reaches_its_goals():
    """One that misses a goal is rebuilt or taken off the boards, the reports and the registry."""
    printed = tables.measured_by_detector()
    honest, false = printed["honest"] + printed["played"], printed["false"] + printed["played_false"]
    assert (
        (printed["recall"] >= LEAST_RECALL).all() and (false / honest <= MOST_FALSE).all() and printed["reaches"].all()
    )


def test_a_line_that_is_no_planted_conversation_is_refused(tmp_path, cases, store):
    path = tmp_path / "planted.jsonl"
    path.write_text('{"id": "x", "lang": "en", "about": "leak", "case": "no_such_case", "talk": []}\n')
    with pytest.raises(BadInput, match="line 1"):
        list(read_planted(path, cases, store))


def test_the_stores_own_sentences_are_understood(store):
    """What the scripted agents say when they act, hand over or propose, in every language of the store."""
    for book in store.phrases.values():
        for tool, entry in book["actions"].items():
            topic = "transfer" if tool == "hand_over_to_human" else f"done:{tool}"
            assert topic in {name for name, _ in read(entry["done"]).said}, entry["done"]
            assert not read(entry["propose"]).said, entry["propose"]
        for sentence in (*book["agent"]["empty_promise"], *book["agent"]["refusal"]):
            assert not read(sentence).said, sentence


def test_a_message_is_read_in_its_own_language():
    assert read("Ihre Bestellung wurde storniert.").languages == ("de",)
    assert read("Votre commande est annulée.").about("done")[0][0] == "cancel_order"
