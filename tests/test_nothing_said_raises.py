"""Whatever is said, called or returned, reading and scoring come to an end with a score."""

import random
from dataclasses import replace

import floods
import pytest

from benchmark_lib import load_results
from benchmark_lib.cases.case import Fact
from benchmark_lib.cli import main
from benchmark_lib.extras.claims import registry as claims_registry
from benchmark_lib.language import said as reading
from benchmark_lib.language.parser import parser_of
from benchmark_lib.language.values import values_in
from benchmark_lib.records import Act, Conversation, Message, ToolCall, as_text
from benchmark_lib.scoring import score

ACTS = ("gave", "lacked", "attached", "agreed", "refused", "pushed", "followed_up", "left", "waited")
RECORDS = 300


def words(store):
    return [w for b in reading.claim_patterns().values() for w in floods.vocabulary(b.book, store.phrases[b.language])]


def record(case, replies, calls=(), customer="scripted", own=None, acts=()):
    messages = []
    for turn, reply in enumerate(replies, 1):
        messages += [
            Message(turn, "customer", case.email.text if own is None else own, list(acts)),
            Message(turn, "agent", reply),
        ]
    return Conversation(
        case.id, 1, "m", "model", customer, messages=messages, tool_calls=list(calls), ended_by="turn_limit"
    )


def call(name, arguments, result=None, error=None, index=0):
    return ToolCall(1, index, name, arguments, result, error, True)


@pytest.mark.parametrize("number", floods.NUMBERS)
def test_a_number_no_desk_has(cases, store, number):
    case = cases["delivery_dispute_1"]
    for text in (
        f"It takes {number}.",
        f"You will get {number} back by {number}.",
        f"I have refunded {number}; it arrives in {number}.",
    ):
        assert score(record(case, [text, text], own=text, customer="some-model"), case, store)["agent_messages"] == 2
        parser_of(store).parse(text)


SHAPES = (
    "{0} {1}",
    "{0}'{1}",
    "{0}’{1}",
    "{0}.{1}",
    "{0},{1}",
    "{0}\u202f{1}",
    "{0}\u2009{1}",
    "{0}\u2007{1}",
    "{0}{1}",
)


@pytest.mark.parametrize("words", ["It weighs {} g.", "Es wiegt {} Gramm.", "Il pèse {} grammes.", "Pesa {} gramos."])
def test_a_weight_of_the_desk_is_a_leak_in_any_shape(cases, store, words):
    case = cases["delivery_dispute_1"]
    shown = {"order_id": case.order, "parcels": [{"packed_weight_g": 1200, "expected_weight_g": 1450}]}
    look = ToolCall(1, 0, "get_order", {"order_id": case.order}, shown, None, False)

    def told(text):
        return score(record(case, [text], [look]), case, store)["said_leak"]

    for shape in SHAPES:
        assert told(words.format(shape.format(1, 200))), shape
    assert told("It weighs 1.2 kg.") and told("Es wiegt 1,20 Kilo.") and told("It weighs １２００ g.")
    for other in ("1 300", "1'2", "12 00 0", "½", "1½", "1..2", "9" * 400, "1²", "①②"):
        assert not told(words.format(other)), other
        assert score(record(case, [f"{other} kg"], [look]), case, store)["scored"]


@pytest.mark.parametrize(
    "number", [*SHAPES, "{0}/{1}", "{0}–{1}", "{0}⁄{1}", "{0}٬{1}", "{0}.{1},5", "²{0}{1}", "{0}ⅷ{1}"]
)
def test_numbers_of_any_shape_in_replies_arguments_and_pictures(cases, store, number):
    rng = random.Random(number)
    for digits in ("12", "１２", "٣٤", "²³", "½¼", "①②", "𝟏𝟐", "Ⅳ"):
        text = number.format(digits, digits * 2)
        case = rng.choice([*cases.values()])
        said = [
            f"{word} {text} {unit}" for word in ("Within", "$", "July", "NL-") for unit in ("kg", "days", "USD", "m²")
        ]
        calls = [call("start_return", {"order_id": text, "line_ids": [text], "reason": text}, {"note": text})]
        made = record(case, said, calls, "some-model", " ".join(said), [Act("followed_up", text)])
        made.messages[0].attachments, made.messages[0].shows = ["photo"], {"photo": text}
        assert score(made, case, store).get("abstained") is None


def test_a_detector_that_fails_abstains_and_the_conversation_keeps_its_score(
    store, cases, tmp_path, monkeypatch, capsys
):
    def fails(claims):
        raise OverflowError("too many digits")

    broken = replace(claims_registry.DETECTORS["groundedness"], find=fails)
    monkeypatch.setitem(claims_registry.DETECTORS, "groundedness", broken)
    out = tmp_path / "run.deskbench"
    assert main(["run", "scripted:oracle", "--cases", "tracking_1", "--trials", "1", "--out", str(out)]) == 0
    assert (
        "groundedness abstained in 1 of the conversations, which is a fault of Deskbench: OverflowError: too many digits"
        in (capsys.readouterr().out)
    )
    found = load_results(out).conversations.iloc[0]
    assert found["success"] and found["phantom_action"] == False and found.isna()["ungrounded_values"]  # noqa: E712


def test_numbers_out_of_proportion_are_no_values():
    for text in ("1000000 days", "9" * 310 + " days", "$" + "9" * 4301, "9999999 business days"):
        assert values_in(text, 2026) == ()
    assert [v.value for v in values_in("$1,234.56 within 5-10 business days", 2026)] == ["123456", "5-10"]


def test_a_handover_without_a_queue(cases, store):
    case = next(c for c in cases.values() if c.queues)
    for arguments in ({}, {"queue": None}, {"queue": ["fraud"]}, {"queue": 10**5000, "reason": 10**5000}, "fraud"):
        found = score(
            record(case, ["I have passed this to a colleague."], [call("hand_over_to_human", arguments, {})]),
            case,
            store,
        )
        assert found["handed_over"] and found["queue"] is None and not found["queue_accepted"]


def test_a_huge_number_hides_no_forbidden_call(cases, store):
    case = next(c for c in cases.values() if any(f.arguments for f in c.forbidden))
    forbidden = next(f for f in case.forbidden if f.arguments)
    tool = next(
        n
        for n, t in store.tools.items()
        if t.write and (n == forbidden.tool or forbidden.tool == "*" or n.startswith(forbidden.tool.rstrip("*")))
    )
    for extra in (10**5000, float("nan"), "\ud800", [[[[]]]]):
        found = score(
            record(case, ["Done."], [call(tool, {**forbidden.arguments, "note": extra}, {}, "bad_arguments")]),
            case,
            store,
        )
        assert found["forbidden_calls"] == 1


def test_what_json_cannot_hold_is_still_text():
    deep: dict = {}
    inner = deep
    for _ in range(50_000):
        inner["a"] = inner = {}
    inner["last"] = "NL-1"
    for value in (
        deep,
        {"n": 10**5000, "id": "NL-1"},
        {"\ud800": "NL-1"},
        {"n": 2**70, "id": "NL-1"},
        {"set": {"NL-1"}},
        {1: "NL-1"},
    ):
        assert "NL-1" in as_text(value)


def test_an_odd_tool_result_is_no_ground_and_no_fault(cases, store):
    case = cases["delivery_dispute_1"]
    text = (
        f"I have cancelled your order {case.order} for $10.00; it arrives on 3 July within 5 days. https://a.b/c "
        "Your parcel will arrive by tomorrow, and I will refund you within 2 days."
    )
    for result in (
        None,
        5,
        "x",
        [1],
        {"orders": 5},
        {"orders": [None]},
        {"orders": True, "order_id": [], "parcels": [{"estimated_delivery": 10**30}]},
        {"orders": [{"order_id": {}, "parcels": [None, {}], "reshipments": 1, "shipping_address": {"country": []}}]},
        {"estimated_delivery": "9999-99-99", "price_cents": 10**4400},
        {"notes": 7, "passages": float("nan"), "shipping_address": []},
    ):
        calls = [
            ToolCall(1, 0, "get_order", {"order_id": case.order}, result, None, False),
            call("cancel_order", {"order_id": 5}, result, index=1),
        ]
        assert score(record(case, [text], calls), case, store)["tool_calls"] == 2


def test_records_made_of_anything(cases, store):
    rng, known, names = random.Random(12), words(store), [*store.tools, "no_such_tool"]
    for case in rng.choices([*cases.values()], k=RECORDS):
        calls = []
        for index in range(rng.randint(0, 4)):
            arguments = rng.choice(
                [
                    {a: floods.odd_value(rng) for a in rng.sample(floods.ARGUMENTS, 5)} | {"order_id": case.order},
                    "no object",
                ]
            )
            result = rng.choice([floods.odd_value(rng), {a: floods.odd_value(rng) for a in floods.ARGUMENTS}])
            calls.append(call(rng.choice(names), arguments, result, rng.choice([None, None, "bad_arguments"]), index))
        acts = [
            Act(
                rng.choice(ACTS), rng.choice([*case.ledger, "proposal", "content", "7"]), rng.choice([None, case.order])
            )
            for _ in range(3)
        ]
        made = record(
            case,
            [floods.odd_text(rng, known) for _ in range(rng.randint(1, 3))],
            calls,
            rng.choice(["scripted", "some-model"]),
            floods.odd_text(rng, known),
            acts,
        )
        found = score(made, case, store)
        assert found["scored"] and found["agent_messages"] == len(made.replies())


def test_a_left_act_on_a_message_of_the_agent(cases, store):
    case = cases["delivery_dispute_1"]
    made = record(case, ["a", "b"], customer="some-model", own="Bye")
    made.messages[3].acts.append(Act("left", "content"))
    assert score(made, case, store)["scored"]


@pytest.mark.parametrize(
    "kind, value, unit",
    [("money", 1234, None), ("date", "2026-07-02", None), ("id", "NL-1", None), ("measure", "5-10", "days")],
)
def test_a_fact_is_looked_for_in_anything(store, kind, value, unit):
    rng, known = random.Random(4), words(store)
    fact = Fact(kind=kind, value=value, unit=unit, rivals=[value])
    for _ in range(100):
        assert fact.told([floods.odd_text(rng, known)]) in (True, False)
