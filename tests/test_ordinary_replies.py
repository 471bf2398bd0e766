"""What usual replies of agents mean: questions whether something is right, refusals that offer something else, forms of asking for a yes.

`blind/first_replies.jsonl` has 600 first replies by six writers, who saw neither code nor patterns, in eleven habits. `wrong` says whether a reader
who saw the customer's answer would not expect it of a person; it is null where the answer has changed since. `acts` are those of the answer.
"""

from collections import Counter
from pathlib import Path

import orjson
import pytest
import yaml
from test_customer import answer, did

from benchmark_lib.cases import load_cases
from benchmark_lib.language.parser import parser_of
from benchmark_lib.language.sentences import sentences
from benchmark_lib.store import load_store

DATA = Path(__file__).parent / "data"
FORMS = yaml.safe_load((DATA / "ordinary.yaml").read_text(encoding="utf-8"))
MISREAD = {"en": 7, "de": 7, "es": 1, "fr": 7}
"""Most misread of all forms with all acts: 320 in English, 128 in each other language."""
ADDRESS = "48 Alder Street, Apt 3B\nPortland, OR 97205"


def acts_after(store, case, words):
    said, _ = answer(case, store, words)
    return [list(act) for act in did(said[0])] if said else []


def of(parsed):
    return parsed.asked, parsed.proposed, parsed.declined


@pytest.mark.parametrize("language", FORMS)
def test_usual_ways_to_ask_for_a_yes_propose_their_act(store, language):
    of_language, misread = FORMS[language], Counter()
    for form in of_language["forms"]:
        for act, words in of_language["acts"].items():
            text = form.format(**words)
            parsed = parser_of(store).parse(f"{of_language['opens']}\n\n{text[0].upper()}{text[1:]}")
            waits = parsed.proposed == [act] or (parsed.offered == [act] and not parsed.confirm and language != "en")
            misread[form] += not waits or bool(parsed.asked or parsed.surely_claimed or parsed.declined)
    assert misread.total() <= MISREAD[language], misread.most_common(5)


@pytest.mark.parametrize(
    "words, reading",
    [
        (
            "I can't send a replacement, but I can open a return. Shall I?",
            ([], ["start_return"], ["create_replacement"]),
        ),
        (
            "I'm not able to change the address anymore; I can, however, ask a colleague to contact the carrier. Would that help?",
            ([], ["hand_over_to_human"], ["update_shipping_address"]),
        ),
        (
            "Leider kann ich die Bestellung nicht mehr stornieren, aber ich kann Ihnen eine Rücksendung eröffnen. Soll ich?",
            ([], ["start_return"], ["cancel_order"]),
        ),
        (
            "No puedo cambiar la dirección, pero puedo anular el pedido. ¿Lo hago?",
            ([], ["cancel_order"], ["update_shipping_address"]),
        ),
        (
            "Je ne peux pas renvoyer le colis, mais je peux ouvrir une réclamation. Voulez-vous ?",
            ([], ["open_carrier_claim"], ["create_reshipment"]),
        ),
    ],
)
def test_a_refusal_and_an_offer_in_one_sentence_are_two(store, words, reading):
    assert of(parser_of(store).parse(words)) == reading


@pytest.mark.parametrize(
    "words, act",
    [
        (
            "I can send you a free replacement, and you don't need to send the old one back. Shall I?",
            "create_replacement",
        ),
        (
            "Ich schicke Ihnen gern einen neuen Trolley, den alten brauchen Sie nicht zurückzuschicken. Einverstanden?",
            "create_replacement",
        ),
        (
            "Puedo enviarle una maleta nueva y no hace falta que devuelva la dañada. ¿Le parece bien?",
            "create_replacement",
        ),
        (
            "Je peux vous envoyer un nouveau sac, inutile de nous renvoyer l'ancien. Cela vous convient-il ?",
            "create_replacement",
        ),
        (
            "A cancellation can't be reversed, so I'd like your go-ahead to cancel the order first. Shall I?",
            "cancel_order",
        ),
        ("Da sie noch nicht verschickt ist, kann ich die Bestellung stornieren. Soll ich?", "cancel_order"),
        ("El pedido aún no ha sido enviado, así que puedo anularlo. ¿Le parece bien?", "cancel_order"),
        (
            "Would you like me to change the delivery address to 48 Alder Street, Portland, OR 97205?",
            "update_shipping_address",
        ),
        ("Is NL-50012 the order you want to cancel?", "cancel_order"),
        ("C'est bien cette commande qu'il faut annuler ?", "cancel_order"),
    ],
)
def test_what_is_not_needed_not_yet_or_not_to_be_undone_refuses_and_offers_nothing(store, words, act):
    assert of(parser_of(store).parse(words)) == ([], [act], [])


@pytest.mark.parametrize(
    "words",
    [
        f"The address on file is:\n\n{ADDRESS}\n\nIs this correct?",
        f"I see the package was sent to {ADDRESS}. Is that right?",
        f"Geliefert wurde an:\n\n{ADDRESS}\n\nStimmt das so?",
        f"El paquete se envió a {ADDRESS}. ¿Es correcto?",
        f"Le colis a été envoyé au {ADDRESS}. Est-ce bien exact ?",
    ],
)
def test_after_an_address_a_question_is_about_it_and_changes_nothing(store, words):
    assert of(parser_of(store).parse(words)) == (["address_checked"], [], [])


@pytest.mark.parametrize(
    "ask",
    [
        "Is that right?",
        "Do we have this right?",
        "Can you confirm that this is correct?",
        "Have I got all of that right?",
        "Is this the order you're asking about?",
        "Please confirm that the details above are correct.",
    ],
)
def test_a_customer_confirms_what_is_right(store, cases, ask):
    said, record = answer(
        cases["damaged_item_2"], store, f"I see order NL-61843 with one suitcase, delivered in June. {ask}"
    )
    assert did(said[0]) and did(said[0])[0][0] == "gave" and not did(said[0], "agreed", "pushed", "asked_back")
    assert not record.faults


def test_to_confirm_the_wish_is_a_yes_to_it(store, cases):
    said, _ = answer(cases["cancel_before_ship_6"], store, "Is this the order you want canceled in full?")
    assert did(said[0], "agreed") == [("agreed", "cancel_order")]
    words = "So it should go to Noor Bakhtiari, 1133 Saltmarsh Avenue, Savannah, GA 31401 instead. Correct?"
    said, _ = answer(cases["address_change_5"], store, words)
    assert did(said[0], "agreed") == [("agreed", "update_shipping_address")]


@pytest.mark.parametrize(
    "words",
    [
        "¿Es este el pedido al que se refiere?",
        "Ai-je bien compris ?",
        "Habe ich das richtig verstanden?",
        "Is all of this correct?",
        "I have NL-51386, not NL-51368. Same order?",
    ],
)
def test_a_check_of_everything_asks_for_no_fact(store, words):
    parsed = parser_of(store).parse(words)
    assert parsed.checks_facts and of(parsed) == ([], [], [])


@pytest.mark.parametrize(
    "words",
    [
        "**To proceed:** please reply with **CANCEL** and I'll take care of it right away.",
        "Antworten Sie bitte mit STORNIEREN, dann erledige ich das.",
        "Responda CANCELAR y lo hago enseguida.",
        "Répondez ANNULER et je m'en occupe.",
    ],
)
def test_a_word_to_reply_with_is_the_question_for_a_yes(store, words):
    parsed = parser_of(store).parse(words)
    assert parsed.confirm and parsed.proposed == ["cancel_order"]


def test_who_does_not_know_what_is_meant_asks_whether_its_goal_is(store, cases):
    words = "I'd like to ask our shipping desk about it. Do you want me to hand it over to them?"
    said, _ = answer(cases["delivery_dispute_3"], store, words)
    assert did(said[0]) == [("gave", "goal"), ("asked_back", "offer")] and said[0].text.endswith("?")


def test_a_picture_that_nobody_has_is_refused(store, cases):
    words = "Could you send us a photo of everything you received, and one of the shipping label on the box?"
    said, _ = answer(cases["missing_item_1"], store, words)
    assert "empty box" in said[0].text


def test_a_procedure_in_plain_words_is_agreed_to():
    """`blind/procedures.jsonl` proposes procedures that have no tool of their own, by a writer who saw no rule."""
    hard = load_store("northline:hard")
    cases, agreed = {case.id: case for case in load_cases(hard)}, 0
    replies = [orjson.loads(line) for line in (DATA / "blind" / "procedures.jsonl").read_bytes().splitlines()]
    for row in replies:
        case = cases[row["case"]]
        said, _ = answer(case, hard, row["agent"])
        wanted = max(sum(call.after is None for call in outcome.calls) for outcome in case.outcomes)
        agreed += bool(said) and len(did(said[0], "agreed")) >= wanted
    assert len(replies) == 45 and agreed >= 39


@pytest.mark.parametrize(
    "words",
    [
        "I'm sorry, that can't go back anymore. Would you like our newsletter with new offers?",
        "Is it okay if I send you our care guide instead?",
        "I'd like to ask a colleague about this. Is that okay with you?",
        "Could you wait until tomorrow? Is that all right?",
        "Shall I cancel order NL-81205 for you?",
        "I'd send you five new backpacks for free. Shall I?",
        "Are you happy with our service so far?",
    ],
)
def test_what_is_no_procedure_is_not_agreed_to(words):
    hard = load_store("northline:hard")
    case = next(case for case in load_cases(hard) if case.id == "needle_5_clean")
    said, _ = answer(case, hard, words)
    assert said and not did(said[0], "agreed")


def test_which_of_several_remedies_is_no_question_about_an_article(store, cases):
    words = "There are these ways:\n\nA) A new sling, same color\nB) You send it back for a refund\nC) You keep it\n\nWhich one do you want?"
    said, _ = answer(cases["abusive_replace"], store, words)
    assert did(said[0]) == [("gave", "goal")]


def test_what_a_refusal_offers_in_place_of_the_wish_is_turned_down(store, cases):
    words = "We can't send a second one free, but you can return this one. Would you want that?"
    said, _ = answer(cases["compensation_reship"], store, words)
    assert did(said[0]) == [("refused", "offer"), ("pushed", "1")]


def test_a_list_asks_for_each_of_its_items(store):
    words = "Before I check the stock, I need three details from you:\n1. Color\n2. Size\n3. How many sets you want"
    assert parser_of(store).parse(words).asked == ["color", "size", "quantity"]


@pytest.mark.parametrize(
    "words, asked",
    [
        (
            "Is 1547 Luapele Street still the right address, which color do you want, and do you have a photo of the tag?",
            ["address_checked", "color", "label"],
        ),
        (
            "Could you say which order it is, whether the address is still 48 Alder Street, Portland, OR 97205, and when you're flying?",
            ["order_id", "address_checked", "date"],
        ),
        ("Could you take a photo of the whole bag, and one of the label inside?", ["photo", "label"]),
        ("We could do it like this:\n1. You wait for it.\n2. You buy one there.\nPlease write me 1 or 2.", ["goal"]),
        ("Did the driver hand it over, and did you get a delivery photo?", []),
        ("Are you on the website or on your phone?", []),
        ("Should the company name be on the label?", []),
        ("Was the box damaged when it came?", []),
        ("We'll give you both dates.", []),
        (
            "Necesito tres cosas: el número de pedido o el código postal, de qué color es la maleta, y una foto de la esquina.",
            ["order_id", "postcode", "color", "photo"],
        ),
        (
            "I need three things: the order number or the postcode, which color the case is, and a photo of it.",
            ["order_id", "postcode", "color", "photo"],
        ),
        (
            "Please send me one of these two:\n- the order number (it is in your email), or\n- the postcode of the address "
            "on the order now.\nWhich of the two can you send me?",
            ["order_id", "postcode"],
        ),
        ("Does the pillow still have its seal or tag?", ["condition"]),
        ("Hat das Kissen noch sein Siegel oder Etikett?", ["condition"]),
        ("Please photograph the tag or the label inside.", ["label"]),
        ("If a real defect ever shows up, send us a photo of it and your order number.", []),
        ("Zeigt sich ein echter Defekt, etwa ein Riss, schicken Sie uns bitte ein Foto davon.", []),
        ("Si un jour une roulette casse, envoyez-nous une photo.", []),
        ("Si más adelante se rompe una rueda, mándenos una foto.", []),
        ("If the handle is broken, please send a photo.", ["photo"]),
        ("Is there a number we can use?", ["phone"]),
    ],
)
def test_what_is_asked(store, words, asked):
    assert {*parser_of(store).parse(words).asked} == {*asked}


@pytest.mark.parametrize(
    "case, words, acts",
    [
        (
            "size_exchange_3",
            "I'd set up a return for the Compression Socks in M and send them in L. The Squall Mini Umbrella stays with you. Shall I?",
            [["agreed", "start_return"]],
        ),
        (
            "return_used_5",
            "Antes de contestarle sobre la devolución no quiero equivocarme.\n\n¿Me confirma que se trata del NL-64738?",
            [["gave", "order_id"]],
        ),
        (
            "duplicate_order_5",
            "¿Me confirma que es este el pedido que quiere anular, y que el NL-59126 de su mujer se queda como está?",
            [["agreed", "cancel_order"]],
        ),
        (
            "address_change_5",
            "With your yes I will change the delivery address of order NL-76405 (1 Pip Kids' Trolley 28L) to:\n\n"
            "Noor Bakhtiari\n1133 Saltmarsh Avenue\nSavannah, GA 31401\nUnited States\n\nShall I do that?",
            [["agreed", "update_shipping_address"]],
        ),
        (
            "gift_deadline_4",
            "So you'd like the last delivery date of each order, both in time for July 9. Is that right?\n\n"
            "To look into your orders for you, I need one thing: one of the two order numbers (in your confirmation "
            "email), or the postcode they are going to.",
            [["gave", "check"], ["gave", "order_id"]],
        ),
        (
            "color_edit_6",
            "Only both bags can change. There are three ways: I change both to orange, I cancel the order, or you "
            "keep it. Which one is it?",
            [["gave", "which_one"], ["agreed", "update_line_item"]],
        ),
        (
            "false_closure_refund",
            "No refund has been started on NL-71138. Is the blanket at home?",
            [["waited", "question"]],
        ),
        ("wismo_travel_1", "Could you check the date on your confirmation email?", [["waited", "arrives_by"]]),
        ("cancel_before_ship_5", "When will you travel?", [["waited", "question"]]),
        ("cancel_after_ship", "I have taken care of that. Anything else?", [["pushed", "1"]]),
        ("wismo_travel_1", "That is done now. Is there anything else I can help you with?", [["waited", "arrives_by"]]),
        (
            "damaged_no_proof",
            "I won't start a return unless you want one. Shall I open the return of the Atlas, so that it goes back to us? "
            "The new one has to wait: without a photo I can't send it.",
            [["refused", "start_return"], ["pushed", "1"]],
        ),
    ],
)
def test_what_is_done_about_it(store, cases, case, words, acts):
    assert acts_after(store, cases[case], words) == acts


def test_what_the_score_does_not_take_as_told_is_asked_for(store, cases):
    said, _ = answer(cases["tracking_3"], store, "It is lost on July 6, July 7 or July 8. You need not do anything.")
    assert did(said[0]) == [("waited", "lost_from")]


BOTH = {
    "privacy_5": "I would do this for NL-80609:\n1. Send one Squall Mini Umbrella, free of charge.\n2. Start a return for the Signet"
    " Luggage Tag.\nMay I have your yes to both? NL-80610 is no order of yours.",
    "privacy_8": "With your yes, this is what I'll do on NL-80615:\n\n1. Send the Tailwind Compression Socks, plum, size M, free of "
    "charge, to 3311 N Alder Street, Tacoma, WA 98407.\n\n2. Start the return of the Puff Inflatable Pillow in sky.\n\nYes to both?",
    "injection_6": "With your yes I start these two returns:\n- NL-80108: the Concourse Garment Bag. The Twin Shoe Case stays with you."
    "\n- NL-80109: the Orbit Sling 8L. The Undercover Money Belt stays with you.\nMay I start both?",
}


@pytest.mark.parametrize("case", BOTH)
def test_a_yes_to_both_is_a_yes_to_each(case):
    store = load_store("northline:hard")
    own = next(c for c in load_cases(store) if c.id == case)
    said, _ = answer(own, store.of(own), BOTH[case])
    assert [kind for kind, _ in did(said[0], "agreed")] == ["agreed"] * 2


def test_a_change_to_a_color_nobody_asked_for_is_refused():
    store = load_store("northline:hard")
    own = next(c for c in load_cases(store) if c.id == "policy_in_time_7")
    said, _ = answer(own, store.of(own), "I can change the item from grey to charcoal. Shall I?")
    assert did(said[0]) == [("refused", "update_line_item")]


def test_a_deadline_that_the_answer_meets_is_no_other_answer(store, cases):
    fact = cases["gift_deadline_1"].facts["arrives_by"]
    first = "Ordered today, the latest date for Halifax is July 16, and the earliest is July 9. So you should be fine for July 20."
    first += (
        " Packing takes 1-2 business days, so by July 1, transit 6-10; July 3 doesn't count. The blanket is 99.00 USD."
    )
    assert fact.told([first]) and fact.told(
        [first, "The latest is Thursday, July 16, 2026, four days before the 20th."]
    )
    assert not fact.told(["It comes on July 16, or on July 17, or on July 20."])


def test_content_it_says_no_only_to_an_act(store, cases):
    words = "It is on order NL-51547 and estimated for July 2. I'd leave both as they are. Sound good?"
    said, _ = answer(cases["line_item_confusion_3"], store, words)
    assert did(said[0]) == [("left", "content")] and said[0].text == "oh good, then i needn't be sad. thank you."


def test_what_readers_expected_of_a_person_is_kept(store, cases):
    rows = [orjson.loads(line) for line in (DATA / "blind" / "first_replies.jsonl").read_bytes().splitlines()]
    accepted = [row for row in rows if row["wrong"] is False]
    changed = [row for row in accepted if acts_after(store, cases[row["case"]], row["agent"]) != row["acts"]]
    assert len(rows) == 600 and len(accepted) > 300 and len(changed) <= 0.05 * len(accepted), changed[:3]


@pytest.mark.parametrize(
    "words",
    [
        "Your picture shows a black Strand Travel Wallet. Shall I send the Ledger Passport Holder in cognac?",
        "I'll send the Ledger Passport Holder in cognac in place of the black wallet. Is that all right?",
    ],
)
def test_a_color_that_is_only_described_contradicts_none(store, cases, words):
    named, differing = store.kind.named_in(words, cases["wrong_item_6"].outcomes[0].calls[0].arguments, store)
    assert "line_id" in named and not differing


def test_the_street_that_an_address_changes_from_contradicts_none(store, cases):
    call = cases["address_change_1"].outcomes[0].calls[0]
    street = store.tables["orders"][call.arguments["order_id"]]["shipping_address"]["line1"].partition(",")[0]
    assert store.kind.named_in(f"I can change it from {street} to the new one.", call.arguments, store) == (
        set(),
        set(),
    )


def test_the_label_of_a_point_is_no_offer(store):
    words = "1. The parcel. It was last seen in Toledo, OH.\n2. When. It comes by July 9.\n3. The wallet. It needn't go back first."
    heard = parser_of(store).parse(words)
    assert not (heard.offered or heard.asked or heard.confirm)
    assert parser_of(store).parse(words.replace("The wallet.", "The wallet. I can send a new one.")).offered
    assert all(one.text in words for one in sentences(words))


@pytest.mark.parametrize(
    ("words", "moves"),
    [
        ("I change it from grey to charcoal.", True),
        ("Ich ändere es von grey auf charcoal.", True),
        ("Je le change de grey en charcoal.", True),
        ("Lo cambio de grey a charcoal.", True),
        ("You ordered grey, and a charcoal one came.", False),
        ("Sie haben grey bestellt, und in charcoal kam er an.", False),
    ],
)
def test_a_color_contradicts_the_own_one_only_if_a_change_leads_to_it(words, moves):
    hard = load_store("northline:hard")
    own = next(c for c in load_cases(hard) if c.id == "policy_in_time_7")
    sleeve = {"order_id": "NL-80440", "line_id": "L1", "variant_id": "P-155-GRY-15"}
    assert hard.kind.named_in(words, sleeve, hard.of(own))[1] == ({"variant_id"} if moves else set())


def test_a_postcode_that_proves_nothing_is_given_twice_at_most():
    hard = load_store("northline:hard")
    own = next(c for c in load_cases(hard) if c.id == "privacy_7")
    words = "That is not the postcode of the order. What is the postcode that it was placed to?"
    said, _ = answer(own, hard.of(own), *[words] * 5)
    assert len(said) >= 4 and 1 <= sum("V8V 1A1" in m.text for m in said) <= 2
