"""A case is data; a broken one is refused with file, case, field and mend, before anything is spent."""

import shutil

import pytest
import yaml

from benchmark_lib import textfiles
from benchmark_lib.cases import load_cases
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.audit.audit import audit
from benchmark_lib.store import load_store


@pytest.fixture
def workshop(store, tmp_path):
    """A copy of the store with one plain case that a test may break: ``workshop(change) -> Store``."""
    order = next(o for o in store.tables["orders"].values() if o["status"] == "unfulfilled" and len(o["lines"]) == 1)
    case = {
        "id": "cancel_before_ship_9",
        "intent": "cancel_before_ship",
        "title": "Wants an open order cancelled",
        "claim": "true",
        "tone": "neutral",
        "hardness": "plain",
        "persona": "Brief.",
        "goal": "Have the order cancelled.",
        "order": order["order_id"],
        "email": {
            "subject": "Cancel",
            "text": "Please cancel {{ order.order_id }}, I bought the {{ lines.L1.title }} elsewhere.",
        },
        "ledger": {"order_id": {"value": "{{ order.order_id }}", "when": "volunteered"}},
        "pressure": ["Well?", "Cancel it.", "Now."],
        "requested": [{"tool": "cancel_order", "arguments": {"order_id": "{{ order.order_id }}"}}],
        "facts": {
            "refund": {
                "kind": "money",
                "value": "{{ order.total_cents }}",
                "say": "You get {{ money(order.total_cents) }} back.",
            }
        },
        "outcomes": [
            {
                "name": "cancelled",
                "calls": [{"tool": "cancel_order", "arguments": {"order_id": "{{ order.order_id }}"}}],
            }
        ],
    }

    def build(change=lambda case: None, head=None):
        root = tmp_path / f"store{len(list(tmp_path.iterdir()))}"
        shutil.copytree(store.path, root)
        for path in (root / "cases").glob("*.yaml"):
            path.unlink()
        change(case)
        content = {"canary": store.info["canary"], "cases": [case]} if head is None else head
        (root / "cases" / "mine.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return load_store(root)

    return build


def put(path, value):
    """A change that sets a field of the case."""
    *parents, last = path.split(".")

    def change(case):
        for name in parents:
            case = case[int(name) if name.isdigit() else name]
        case[last] = value

    return change


def test_placeholders_are_filled_from_the_store(workshop):
    store = workshop()
    case = load_cases(store)[0]
    order = store.tables["orders"][case.order]
    assert case.order in case.email.text and order["lines"][0]["title"] in case.email.text
    assert case.sender == store.tables["customers"][order["customer_id"]]["email"]
    assert audit(store).problems == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (put("intent", "cancel_befor_ship"), "did you mean cancel_before_ship"),
        (put("order", "NL-00000"), "the store has no order 'NL-00000'"),
        (put("tone", "grumpy"), "field tone"),
        (put("colour", "red"), "field colour: extra inputs are not permitted"),
        (put("pressure", ["one"]), "field pressure"),
        (put("outcomes", []), "field outcomes"),
        (put("email.text", "Hello {{ order.no_such_field }}"), "field email.text"),
        (put("facts.refund.kind", "poem"), "field facts.refund.kind"),
        (put("ledger.photo", {"when": "sometimes"}), "field ledger.photo.when"),
        (put("id", "Bad Id!"), "field id"),
        (
            put("outcomes.0.calls.0.tool", "cancel_ordr"),
            "field outcomes.cancelled: there is no tool 'cancel_ordr'; did you mean cancel_order?",
        ),
        (put("requested.0.tool", "explode"), "field requested: there is no tool 'explode'"),
        (put("outcomes.0.facts", ["ghost"]), "there is no fact 'ghost'"),
        (put("queues", ["nobody"]), "field queues: there is no queue 'nobody'"),
        (put("ledger.shoe_size", {"value": "44"}), "field ledger: there is no slot 'shoe_size'; did you mean size?"),
        (put("reasons", ["because"]), "there is no reason 'because'"),
    ],
)
def test_a_broken_case_is_refused_with_file_case_and_field(workshop, change, says):
    with pytest.raises(BadInput) as refused:
        load_cases(workshop(change))
    text = str(refused.value)
    assert says in text and "mine.yaml" in text and "\n" not in text


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (put("outcomes.0.calls.0.arguments.order_id", "NL-00000"), "There is no order"),
        (put("facts.refund.value", "123456789"), "appears neither in the store nor in the knowledge base"),
        (put("facts.refund.say", "You get it back."), "is not recognised in its own 'say'"),
        (put("email.text", "Cancel {{ order.order_id }}, I paid {{ money(order.total_cents) }}."), "fact leaks"),
        (put("pressure", ["Well?", "Where are my {{ money(order.total_cents) }}?", "Now."]), "pressure line 2"),
        (put("ledger.order_id.when", "asked"), "is in the email"),
    ],
)
def test_a_case_that_contradicts_the_store_fails_the_audit(workshop, change, check):
    problems = [str(p) for p in audit(workshop(change)).problems]
    assert any(check in p and p.startswith("cancel_before_ship_9") for p in problems), problems


def test_an_accepted_outcome_that_breaks_a_rule_fails_the_audit(workshop, store):
    shipped = next(o for o in store.tables["orders"].values() if o["status"] == "delivered" and len(o["lines"]) == 1)
    problems = [str(p) for p in audit(workshop(put("order", shipped["order_id"]))).problems]
    assert any("breaks window" in p for p in problems)


def test_a_missing_canary_a_second_id_and_a_file_without_cases_are_refused(workshop, store):
    with pytest.raises(BadInput, match="canary"):
        load_cases(workshop(head={"cases": []}))
    with pytest.raises(BadInput, match="no list of cases"):
        load_cases(workshop(head=["a"]))
    twice = load_store(workshop().path)
    path = twice.path / "cases" / "mine.yaml"
    (path.parent / "again.yaml").write_text(path.read_text())
    with pytest.raises(BadInput, match="occurs twice"):
        load_cases(twice)


def test_an_unknown_pattern_is_refused_with_the_nearest_names(store):
    with pytest.raises(BadInput, match="did you mean tracking"):
        load_cases(store, "trackin")


def test_patterns_name_ids_intents_buckets_and_kinds(store):
    assert {c.intent for c in load_cases(store, "tracking")} == {"tracking"}
    assert [c.id for c in load_cases(store, "tracking_1,tracking_2")] == ["tracking_1", "tracking_2"]
    assert {c.bucket for c in load_cases(store, "adversarial")} == {"adversarial"}
    assert len(load_cases(store, "slice")) == len(store.info["slice"])


def test_a_case_with_moot_lines_has_a_hash_of_its_own(workshop):
    plain = load_cases(workshop())[0]
    moot = load_cases(workshop(put("moot", {2: ["cancel_order"]})))[0]
    assert moot.moot == {2: ["cancel_order"]} and moot.hash != plain.hash


@pytest.mark.parametrize(
    "text",
    [
        "{{ order.id }} of {{ order.by.name }}, {{ money(order.cents) }}",
        "{ {{ 'a' }} } {{ order.items }}",
        "a\r\n{{ order.id }}\r",
        "{{- order.id -}} b {# c #} {{ order['id'] }}",
        "{% if order %}{{ order.id }}{% endif %} {{ none }} {{ order.by.none }}",
    ],
)
def test_a_text_filled_in_place_by_place_is_the_whole_one(text):
    names = {
        "order": {"id": "NL-1", "by": {"name": "Ö", "none": None}, "cents": 150},
        "money": lambda c: f"{c / 100} USD",
    }
    assert textfiles.written(text, names) == textfiles._template(text).render(names)
