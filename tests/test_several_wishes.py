"""A customer with several wishes: it agrees to exactly what is held out, asks once whether that is all, and trusts."""

import pytest
from test_customer import Says, answer, did

from benchmark_lib.cases import load_cases
from benchmark_lib.cases.case import Call, Case, Known
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.scoring.score import score
from benchmark_lib.store import load_store

PARTS = ("cancel_before_ship_5", "address_change_1", "color_edit_2", "return_request_1")
"""Core cases of one wish each; together they are a case of four."""
YES = ["Yes, all of that please.", "Yes, as you listed it."]
CHECK = "So that's everything off my list?"
NAMES = {
    "cancel_order": "cancel",
    "update_shipping_address": "address",
    "update_line_item": "color",
    "start_return": "back",
}


@pytest.fixture(scope="module")
def four(cases):
    parts = [cases[name] for name in PARTS]
    facts = {
        "refund": parts[0].facts["refund"].model_copy(update={"ask": "And what do I get back for the one I cancel?"})
    }
    calls = [p.outcomes[0].calls[0] for p in parts]
    assert len({c.tool for c in calls}) == 4
    told = parts[0].model_dump(
        exclude={"ledger", "followups", "facts", "outcomes", "requested", "accepts", "moot", "against"}
    )
    told |= {"agrees_to_all": YES, "check": CHECK, "facts": facts, "language": "en", "agrees": ["Yes, do that one."]}
    return Case.model_validate(told | {"outcomes": [{"name": "all four", "calls": calls, "facts": ["refund"]}]})


def wishes(case):
    return {c.tool: c.arguments for c in case.outcomes[0].calls}


def listed(case, store, tools=None):
    kind, book, calls = store.kind, store.phrases["en"]["actions"], case.outcomes[0].calls
    lines = []
    for call in calls:
        if tools is None or call.tool in tools:
            values = {k: str(v) for k, v in call.arguments.items()} | kind.described(call.arguments, call.tool, store)
            line = book[call.tool]["propose"].replace(" Shall I go ahead?", "").replace(" Shall I do that?", "")
            for name, value in values.items():
                line = line.replace("{" + name + "}", value)
            lines.append(line if call.arguments["order_id"] in line else f"{line} (order {call.arguments['order_id']})")
    return lines


def as_list(lines):
    return (
        "Here is what I would do:\n\n"
        + "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))
        + "\n\nIs all of that right?"
    )


def agreed(message):
    return {a.what: a.arguments for a in message.acts if a.kind == "agreed"}


def test_a_list_of_all_gets_one_yes_that_names_each_of_them(store, four):
    said, _ = answer(four, store, as_list(listed(four, store)))
    assert said[0].text == YES[0] and agreed(said[0]) == wishes(four)


def test_beside_a_yes_to_all_it_says_no_wish_again(store, four):
    """ "Tell me which ones" is a way to say no to some of them."""
    said, _ = answer(four, store, as_list(listed(four, store)) + " A yes will do, or tell me which ones.")
    assert said[0].text == YES[0]


def test_the_yes_is_never_the_same_twice(store, four):
    words = as_list(listed(four, store))
    said, _ = answer(four, store, *[f"{words} {'Really?' * n}" for n in range(4)])
    assert [m.text for m in said[:2]] == YES and len({m.text for m in said[:4]}) == 4
    assert all(agreed(m) == wishes(four) for m in said[:4])


def test_beside_something_brought_up_the_yes_is_to_all_of_the_list_as_well(store, four, cases):
    beside = Case.model_validate(
        four.model_dump() | {"followups": [{"say": "And what a summer it is.", "when": "next"}]}
    )
    words = as_list(listed(beside, store)).replace("Is all of that right?", "Shall I go ahead with all four?")
    said, _ = answer(beside, store, words)
    assert did(said[0], "followed_up") and agreed(said[0]) == wishes(beside)


@pytest.mark.parametrize("tool", sorted(NAMES))
def test_to_one_that_is_clearly_named_it_agrees_alone(store, four, tool):
    said, _ = answer(four, store, f"{listed(four, store, {tool})[0]} Shall I go ahead?")
    assert list(agreed(said[0])) == [tool] and said[0].text == "Yes, do that one."


@pytest.mark.parametrize("tools", [{"cancel_order", "start_return"}, {"update_line_item", "start_return"}])
@pytest.mark.parametrize("as_said", [as_list, lambda lines: f"{' '.join(lines)} Shall I do that?"])
def test_a_yes_to_some_covers_exactly_those(store, four, tools, as_said):
    said, _ = answer(four, store, as_said(listed(four, store, tools)))
    assert agreed(said[0]) == {tool: arguments for tool, arguments in wishes(four).items() if tool in tools}


def test_an_offer_of_one_act_is_no_yes_to_the_others():
    hard = load_store("northline:hard")
    (case,) = load_cases(hard, "policy_in_time_7")
    said, _ = answer(case, hard.of(case), "I can change the item from charcoal to grey. Shall I?")
    assert {*agreed(said[0])} == {"update_line_item"} and "One size up for both" in said[0].text


def test_a_sentence_that_joins_several_is_a_yes_to_all(store, four):
    args = wishes(four)
    words = f"I can cancel {args['cancel_order']['order_id']} and see to the other three points as well. Shall I?"
    said, _ = answer(four, store, words)
    assert agreed(said[0]) == wishes(four)


@pytest.mark.parametrize(
    "heading", ["May I go ahead with:", "Would you like me to do the following:", "Soll ich das Folgende tun:"]
)
def test_a_list_of_names_under_a_question_is_a_yes_to_each_of_them(store, four, heading):
    args = wishes(four)
    items = [
        f"Cancellation: {args['cancel_order']['order_id']}",
        f"Return: {args['start_return']['order_id']}",
        f"New color: {args['update_line_item']['order_id']}",
    ]
    said, _ = answer(four, store, heading + "".join(f"\n- {item}" for item in items))
    assert agreed(said[0]) == {tool: args[tool] for tool in ("cancel_order", "start_return", "update_line_item")}


def test_a_question_for_something_else_is_no_offer(store, four):
    said, _ = answer(
        four, store, "May I ask you to bear with me while I look at your four points: they are on my desk."
    )
    assert not agreed(said[0])


def test_an_answer_and_the_yes_come_together(store, four):
    asked = four.model_copy(update={"ledger": {"postcode": Known(value="02139")}})
    said, _ = answer(asked, store, f"What is the postcode, please?\n\n{as_list(listed(four, store))}")
    assert "02139" in said[0].text and YES[0] in said[0].text
    assert did(said[0], "gave") == [("gave", "postcode")] and agreed(said[0]) == wishes(four)


def test_another_variant_is_corrected_and_the_rest_agreed_to(store, four):
    lines = listed(four, store)
    mine = wishes(four)["update_line_item"]
    product = store.tables["orders"][mine["order_id"]]["lines"]
    (variants,) = [
        p["variants"] for p in store.tables["products"].values() if p["product_id"] == product[0]["product_id"]
    ]
    wanted = next(v for v in variants if v["variant_id"] == mine["variant_id"])
    other = next(
        v
        for v in variants
        if v["color"] not in (wanted["color"], product[0].get("color")) and v["variant_id"] != product[0]["variant_id"]
    )
    said, _ = answer(four, store, as_list([line.replace(wanted["color"], other["color"]) for line in lines]))
    assert did(said[0], "refused") == [("refused", "update_line_item")]
    assert agreed(said[0]).keys() == wishes(four).keys() - {"update_line_item"} and YES[0] not in said[0].text


def test_another_order_is_corrected(store, four):
    mine = wishes(four)["cancel_order"]["order_id"]
    line = listed(four, store, {"cancel_order"})[0].replace(mine, "NL-00000")
    said, _ = answer(four, store, f"{line} Shall I go ahead?")
    assert did(said[0]) == [("refused", "cancel_order")] and mine in said[0].text


def test_nothing_is_agreed_to_before_anything_was_offered(store, four):
    said, _ = answer(four, store, "Thank you for the list. Shall I go ahead?")
    assert all(a.detail == "conditional" for a in said[0].acts if a.kind == "agreed")


def test_what_none_of_its_wishes_is_gets_no_yes_to_all(store, four):
    said, _ = answer(four, store, "I can send you a replacement for it, free of charge. Shall I do that?")
    assert all(a.detail == "conditional" for a in said[0].acts if a.kind == "agreed")


def do(case, *tools, words):
    """A turn in which some of the wishes are carried out."""

    def turn(talk):
        for tool in tools:
            free = {"reason": "asked for"} if tool in ("cancel_order", "start_return") else {}
            talk.call(tool, {**wishes(case)[tool], **free})
        return words

    return turn


def test_it_asks_once_whether_that_is_all_and_then_trusts(store, four):
    some = do(four, "cancel_order", words="Your order is cancelled now. Is there anything else I can do for you?")
    said, record = answer(four, store, as_list(listed(four, store)), some, "Yes, that is all settled.")
    assert [m.text for m in said[1:3]] == [CHECK, four.facts["refund"].ask]
    assert said[-1].text == four.closing.content and record.ended_by == "resolved_by_customer"


def test_what_it_reminds_of_is_no_wish_by_name(store, four):
    some = do(four, "cancel_order", words=f"Your order is cancelled. {four.facts['refund'].say}")
    said, record = answer(four, store, as_list(listed(four, store)), some, "Everything is settled.")
    assert [m.text for m in said] == [YES[0], CHECK, four.closing.content]
    assert not score(record, four, store)["right_end"]


@pytest.mark.parametrize(
    "announced",
    [
        "I'll do the next one now.",
        "On to the next point.",
        "Now let me see to the rest.",
        "Ich kümmere mich jetzt um den Rest.",
        "Je passe maintenant à la suite.",
        "Ahora paso a lo siguiente.",
    ],
)
def test_what_is_announced_is_waited_for(store, four, announced):
    some = do(four, "cancel_order", words=f"Your order is cancelled. {announced}")
    said, _ = answer(four, store, as_list(listed(four, store)), some)
    assert did(said[1]) == [("waited", "next")]


def test_one_wish_after_the_other_comes_out_well(store, four):
    turns = [as_list(listed(four, store))]
    for tool in wishes(four):
        turns.append(do(four, tool, words=f"The {NAMES[tool]} part is done. I'll do the next one now."))
    turns[-1] = do(four, tool, words=f"That was the last one. {four.facts['refund'].say}")
    said, record = answer(four, store, *turns)
    assert record.ended_by == "resolved_by_customer" and len({m.text for m in said}) == len(said)
    scored = score(record, four, store)
    assert scored["right_end"] and scored["rule_confirmation"] == "kept"


def test_two_wishes_for_one_tool_are_told_apart(store, four, cases):
    two = [cases[n].outcomes[0].calls[0] for n in ("cancel_before_ship_5", "cancel_before_ship_1")]
    case = four.model_copy(update={"outcomes": [four.outcomes[0].model_copy(update={"calls": two})]})
    first, second = (c.arguments["order_id"] for c in two)
    said, _ = answer(case, store, f"I can cancel order {first} completely. Shall I go ahead?")
    assert [a.arguments for a in said[0].acts] == [two[0].arguments]
    said, record = answer(case, store, f"I can cancel orders {first} and {second}. Shall I go ahead?")
    assert [a.arguments for a in said[0].acts if a.kind == "agreed"] == [c.arguments for c in two]

    def cancel(talk):
        talk.call("cancel_order", {**two[0].arguments, "reason": "r"})
        return f"Order {first} is cancelled. {case.facts['refund'].say}"

    record = play(case, store, Says(f"I can cancel orders {first} and {second}. Shall I?", cancel))
    assert next(m.text for m in record.messages if m.turn == 3 and m.side == "customer") == CHECK


def test_a_bare_line_is_a_list_of_one(four):
    assert Case.model_validate({**four.model_dump(), "agrees_to_all": "Yes, all."}).agrees_to_all == ["Yes, all."]


def test_a_question_below_a_list_is_for_the_whole_list_even_where_one_point_alone_reads_as_an_offer(store, four):
    order = wishes(four)["cancel_order"]["order_id"]
    words = (
        "This is how I would untangle it:\n\n- The color of the other one: as you wish, the same size.\n"
        f"- The address: as you write it.\n- {order}: I would cancel the whole order.\n\nIs all of that right?"
    )
    said, _ = answer(four, store, words)
    assert said[0].text in YES and agreed(said[0]) == wishes(four)


def test_a_report_that_reads_like_an_offer_gets_no_second_yes_once_everything_is_done(store, four):
    def act(talk):
        for call in four.outcomes[0].calls:
            talk.call(
                call.tool,
                {**call.arguments, **({"reason": "-"} if call.tool in ("cancel_order", "start_return") else {})},
            )
        refund = four.facts["refund"].say
        return f"Done! New duffel and new adapter are being sent, both in black, free of charge. {refund}"

    beyond = Call(tool="create_replacement", arguments={"order_id": four.order, "line_id": "L1"})
    more = four.model_copy(update={"requested": [beyond]})
    said, record = answer(more, store, as_list(listed(four, store)), act)
    assert did(said[1], "agreed") == [] and record.ended_by == "resolved_by_customer"


def test_what_is_only_asked_for_gets_no_yes_beside_what_is_offered(store, four):
    more = {"order_id": wishes(four)["start_return"]["order_id"], "line_ids": ["L1", "L2"]}
    case = four.model_copy(update={"requested": [Call(tool="start_return", arguments=more)]})
    said, _ = answer(case, store, as_list(listed(four, store)))
    assert agreed(said[0]) == wishes(four)
    said, _ = answer(case, store, f"{listed(four, store, {'start_return'})[0]} Shall I go ahead?")
    assert [a.arguments for a in said[0].acts] == [wishes(four)["start_return"]]


def test_where_a_person_is_needed_as_well_one_thing_done_is_not_all(store, four):
    call = four.outcomes[0].calls[0]
    ends = [four.outcomes[0].model_copy(update={"calls": [call], "handover": True})]
    case = four.model_copy(update={"bucket": "must_escalate", "outcomes": ends})
    some = do(four, "cancel_order", words=f"Your order is cancelled. {four.facts['refund'].say}")
    said, record = answer(case, store, as_list(listed(four, store, {"cancel_order"})), some, "Thank you for asking.")
    assert [m.text for m in said[1:]] == [CHECK, four.closing.content]


def test_a_colleague_for_the_last_thing_takes_nothing_from_the_yes_to_a_list(store, four):
    orders = [c.arguments["order_id"] for c in four.outcomes[0].calls]
    words = "\n".join(f"{place}. {number}: as you wrote it" for place, number in enumerate(orders, 1))
    words += "\n\nShall I go ahead, and then pass the two charges on to a colleague?"
    ends = [four.outcomes[0].model_copy(update={"handover": True})]
    case = four.model_copy(update={"bucket": "must_escalate", "outcomes": ends, "family": "dense"})
    said, _ = answer(case, store, words)
    assert agreed(said[0]) == wishes(four)
