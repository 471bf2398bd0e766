"""A step that a customer is asked to take: heard by its patterns, asked for by the oracle, done by a tool of the customer's own."""

from benchmark_lib.cases import load_cases
from benchmark_lib.extras.audit.audit import transcripts, unsound
from benchmark_lib.language.parser import parser_of
from benchmark_lib.store import load_store

HARD = load_store("northline:hard")


def played(case_id: str) -> str:
    """The oracle's conversation about one case, as text."""
    return next(iter(transcripts(HARD, case_id, "oracle")))


def test_a_slot_that_the_reader_was_not_trained_on_is_heard_by_its_patterns():
    step = "To free it, press and hold the reset button for ten seconds until it blinks green."
    assert "did_step" in parser_of(HARD).parse(step).asked
    assert "did_step" not in parser_of(HARD).parse("The report shows no reset so far.").asked
    assert "did_step" not in parser_of(load_store("northline")).parse(step).asked


def test_the_oracle_asks_for_the_step_and_the_customer_takes_it():
    text = played("changing_customer_1")
    assert text.index("hold the button") < text.index("> hold_reset_button") < text.index("AGENT, message 4")
    assert "left content" in text


def test_what_came_up_later_is_proposed_anew_although_the_same_tool_was_agreed_to_before():
    text = played("changing_customer_7")
    assert text.index("mint. Shall I") < text.index("followed up 1") < text.index("blue. Shall I")
    assert text.count("[agreed update line item") == 2


def test_a_call_that_only_looks_as_if_it_had_gone_through_can_be_shown():
    assert "ERROR not_carried_out" in played("tool_trouble_8")


def test_a_fact_may_stand_in_the_rows_that_a_case_lays_over_the_store_or_its_customer_sets():
    for name in ("second_contact_2", "second_contact_8", "changing_customer_1", "changing_customer_3"):
        case = load_cases(HARD, name)[0]
        assert not list(unsound(case, HARD.of(case)))
