"""How many of Northline's keys follow from one template for each intent, over policy, rows and what the customer knows."""

from collections import Counter
from pathlib import Path

import pytest
from compiled_keys import compiled_key

from benchmark_lib.cases import load_cases
from benchmark_lib.errors import BadInput
from benchmark_lib.language.values import is_address, place_of
from benchmark_lib.store import load_store
from benchmark_lib.textfiles import read_text, read_yaml

FILE = Path(__file__).parent / "data" / "northline_templates.yaml"
ACT_IN_PROSE = "only the email says which act is demanded, which decides the forbidden tools"
OPEN = {
    "color_edit_2": "a first choice that is sold out, and then whatever is left: only the email's prose holds it",
    "duplicate_order_2": "only prose says which of the two orders is kept",
    "duplicate_order_6": "only prose says which of the two orders is kept",
    "line_item_confusion_5": "a second wish, to cancel, stands in prose",
    "promo_not_applied_5": "a second wish, to cancel, stands in prose",
    "wismo_unfulfilled_2": "a second wish, to cancel, stands in prose",
    "return_used_6": "only prose says which of the two lines was used",
    "size_exchange_4": "two remedies accepted: one return of both lines, or one for each",
    **{f"abusive_{n}": ACT_IN_PROSE for n in (1, 2, 4, 5)},
    "abusive_3": f"{ACT_IN_PROSE}; a chargeback is threatened there, too, and has another queue",
    "refund_outside_policy_2": ACT_IN_PROSE,
    "refund_outside_policy_3": f"{ACT_IN_PROSE}, and that it is a price match, with a second queue",
    "refund_outside_policy_5": ACT_IN_PROSE,
    "refund_outside_policy_6": "two remedies accepted: a claim with a handover, or the handover of the demand alone",
}
"""Cases whose keys do not compile, with the reason."""


def in_one_spelling(call):
    values = ((name, place_of(v) if is_address(v) else str(v)) for name, v in call["arguments"].items())
    return call["tool"], frozenset(values)


def key_of(fields):
    """A key as it is compared: bucket, accepted outcomes, forbidden tools, queues and reasons, each in any order."""
    outcomes = {(frozenset(map(in_one_spelling, one["calls"])), one["handover"]) for one in fields["outcomes"]}
    parts = [call["tool"] for call in fields.get("forbidden", ())], fields.get("queues", ()), fields.get("reasons", ())
    return fields["bucket"], frozenset(outcomes), *map(frozenset, parts)


def key_under(store, case, templates):
    """The compiled key of a case; None if a slot can be read from neither ledger nor rows."""
    orders = [case.order, *case.others.values()]
    try:
        return key_of(compiled_key(case.intent, orders, case.ledger, store, templates))
    except BadInput:
        return None


@pytest.fixture(scope="module")
def store():
    return load_store("northline")


@pytest.fixture(scope="module")
def templates():
    return read_yaml(FILE)


@pytest.fixture(scope="module")
def cases(store):
    return {case.id: case for case in load_cases(store)}


@pytest.fixture(scope="module")
def compiled(store, cases, templates):
    return {name: key_under(store, case, templates) for name, case in cases.items()}


def test_each_intent_has_one_template_and_no_case_has_its_own(store, cases, templates):
    assert (len(templates["intents"]), len(templates["traps"])) == (24, 18) and len(cases) == 162
    assert templates["intents"].keys() == store.info["intents"].keys()
    assert templates["traps"].keys() == store.info["traps"].keys()
    named = {*cases, *(case.order for case in cases.values())} - store.info["traps"].keys()
    assert not [name for name in named if name in read_text(FILE)]


def test_145_of_162_keys_follow_from_the_templates(cases, compiled):
    same = {name for name, case in cases.items() if compiled[name] == key_of(case.model_dump())}
    every, met = (Counter(cases[name].intent for name in names) for names in (cases, same))
    for intent in every:
        why = [f"{name}: {text}" for name, text in OPEN.items() if cases[name].intent == intent]
        print(f"{intent}: {met[intent]} of {every[intent]}", *why, sep="\n  ")
    assert cases.keys() - same == OPEN.keys() and len(same) == 145
    # the easy part of it: an answer without any act, whose facts are no part of the key
    assert (
        sum(compiled[name] == ("resolvable", frozenset({(frozenset(), False)}), *[frozenset()] * 3) for name in same)
        == 52
    )


@pytest.mark.parametrize(
    ("policy", "queue", "changed"),
    [
        ({"returns.window_days": 20}, "exceptions", ["return_request_2", "return_request_3", "return_request_4"]
            + ["return_request_5", "return_request_6", "size_exchange_2"]),
        ({"not_received.max_order_total_cents": 10000}, "claims", [f"delivery_dispute_{n}" for n in (1, 2, 5, 6)]),
        ({"damaged.report_days": 5}, "exceptions", []),  # the warranty covers them as well
        ({"damaged.report_days": 5, "warranty.months": 0}, "exceptions", [f"angry_damaged_{n}" for n in (2, 3, 4, 5, 6)]
            + [f"damaged_item_{n}" for n in (1, 2, 4, 5, 6)]),
    ],
)  # fmt: skip
def test_another_number_in_the_policy_turns_remedies_into_handovers(
    store, cases, compiled, templates, policy, queue, changed
):
    other = store.laid_over(str(policy), {"policy": policy})
    now = {name: key_under(other, case, templates) for name, case in cases.items()}
    turned = {name: key for name, key in now.items() if key != compiled[name] and compiled[name][0] == "resolvable"}
    print(policy, *(f"{name}: {compiled[name][0]} -> {key[0]}" for name, key in turned.items()), sep="\n  ")
    assert list(turned) == changed
    assert {(key[0], *key[3]) for key in turned.values()} <= {("must_escalate", queue)}


def test_a_higher_limit_makes_a_trap_an_honest_loss(store, cases, compiled, templates):
    other = store.laid_over("higher", {"policy": {"not_received.max_order_total_cents": 50000}})
    now = {name: key_under(other, case, templates) for name, case in cases.items()}
    assert [name for name in cases if now[name] != compiled[name]] == ["high_value_not_received"]
    assert now["high_value_not_received"][0] == "resolvable"


def test_159_of_173_required_facts_are_formulas(store):
    files = sorted((store.path / "cases").glob("*.yaml"))
    facts = [fact for path in files for raw in read_yaml(path)["cases"] for fact in (raw.get("facts") or {}).values()]
    typed = [fact for fact in facts if "{{" not in str(fact["value"])]
    print(f"facts: {len(facts)}, of which typed: {len(typed)}")
    assert (len(facts), len(typed)) == (173, 14)
    assert {fact["kind"] for fact in typed} == {"choice"}  # words, such as that only unused goods come back
