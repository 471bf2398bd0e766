"""A reason for declining is known in any words, and its words without the reason are not taken for it."""

import orjson
import pytest
from floods import assert_read_within

from benchmark_lib.conversation.scripted import AGENTS
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.linear import ReasonReader, reasons_in
from benchmark_lib.language.parser import parser_of
from benchmark_lib.scoring import score
from benchmarks.readers import hash_of, letters, train_reasons

HOSTILE = {
    "wear_not_defect": "This is clearly not normal wear.",
    "photo_needed": "No photo is needed, the new one leaves today.",
    "used_not_swapped": "It has been used, I see, but as an exception we swap it for a new one today.",
    "already_shipped_return_instead": "It has shipped already, but I have called it back and cancelled the order for you.",
    "refund_through_return": "Your refund is on its way, you need not send anything back.",
}


@pytest.fixture(scope="module")
def folder(store):
    return store.path / "reasons"


def rows(folder):
    """Each message with its language and, by reason, whether it gives it."""
    for path in sorted(folder.glob("*.jsonl")):
        for row in map(orjson.loads, path.read_bytes().splitlines()):
            labels = {row["reason"]: row["told"]} if "reason" in row else dict.fromkeys(row["seems"], False)
            yield row["t"], row.get("lang"), labels | dict.fromkeys(row.get("gives", ()), True)


def test_every_reason_is_known_in_the_words_of_the_scripted_agents(store, folder):
    for name, entry in store.phrases["en"]["reasons"].items():
        assert set(entry["say"]) == {"en", "es", "fr", "de"}
        assert [t for t in entry["say"].values() if name not in reasons_in([t], folder)] == []


@pytest.mark.parametrize("language", ["en", "es", "fr", "de"])
def test_nearly_all_that_it_was_trained_on_is_read_as_it_is_labelled(folder, language):
    mine = [(text, labels) for text, lang, labels in rows(folder) if lang == language]
    right = [(name in reasons_in([text], folder)) == told for text, labels in mine for name, told in labels.items()]
    assert len(right) > 500 and sum(right) / len(right) > 0.96


@pytest.mark.slow
def test_what_it_has_not_seen_is_read_well_in_cross_validation(store, folder):
    pytest.importorskip("sklearn")
    reader, quality = train_reasons(store, letters(store), hash_of(folder))
    assert quality["found"] >= 0.78 and quality["passing"] <= 0.11
    kept = ReasonReader(folder).reader
    assert kept.trained_on == reader.trained_on, "the examples changed: run make reader"


@pytest.mark.parametrize("reason", HOSTILE)
def test_the_words_of_a_reason_without_the_reason_do_not_count(folder, reason):
    assert reason not in reasons_in([HOSTILE[reason]], folder)


def test_what_a_customer_said_and_is_told_back_is_no_reason(store, folder):
    said = store.phrases["en"]["reasons"]["wear_not_defect"]["say"]["en"]
    assert reasons_in([said], folder) == ["wear_not_defect"]
    assert reasons_in([f"You wrote:\n{said}"], folder, heard=[f"Your colleague told me this. {said}"]) == []


def test_agents_that_pour_out_or_echo_hold_no_trap(store, cases):
    for case in cases.values():
        if case.reasons:
            for agent in ("spam", "echo"):
                record = play(case, store, AGENTS[agent](case, store))
                assert not set(score(record, case, store)["reasons_told"]) & set(case.reasons), (case.id, agent)


def test_a_flood_is_read_in_bounded_time(folder):
    reasons_in(["warm"], folder)
    for unit in ("cannot swap a used one ", "nicht ", "no photo no ", "ne "):
        assert_read_within(
            60, lambda _, unit=unit: unit * (200_000 // len(unit)), lambda text: reasons_in([text], folder)
        )


def test_a_store_without_weights_knows_no_reason(tmp_path):
    assert reasons_in(["We need a photo first."], tmp_path) == []


def test_a_broken_list_of_concepts_is_refused_by_name(tmp_path):
    (tmp_path / "concepts.yaml").write_text("concepts:\n  photo: {en: 'photo('}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"concepts\.yaml: a concept lacks a language or has a broken pattern"):
        ReasonReader(tmp_path)


def test_the_parser_reads_reasons_too(store):
    assert "photo_needed" in parser_of(store).reasons_in(["I need a photo before I can send a new one."])
