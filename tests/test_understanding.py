"""What the customer hears and says, shown on small examples; what the reader misses is measured in test_reader."""

import pytest

from benchmark_lib.conversation.customer import filled
from benchmark_lib.conversation.customer_wishes import written
from benchmark_lib.conversation.scripted import AGENTS
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.parser import parser_of
from benchmark_lib.language.patterns import compile_patterns
from benchmark_lib.language.sentences import sentences
from benchmark_lib.store import FolderStore

LANGUAGES = ("en", "es", "fr", "de")
FILL = {
    "order_id": "NL-48213",
    "items": "Meridian Carry-On 38L",
    "variant": "Meridian Carry-On 38L, navy",
    "address": "Ana Ruiz, 12 Elm Street, Austin, TX, 78701, US",
    "return_link": "https://returns.northline.example/start/NL-48213",
}


def fill(text):
    for name, value in FILL.items():
        text = text.replace("{" + name + "}", value)
    return text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_stores_own_sentences_are_understood(store, language):
    book, hear = store.phrases[language], parser_of(store).parse
    for slot, entry in book["slots"].items():
        heard = hear(entry["ask"])
        assert (heard.asked, heard.proposed, heard.confirm) == ([slot], [], False), entry["ask"]
    for tool, entry in book["actions"].items():
        heard = hear(fill(entry["propose"]))
        assert (heard.proposed, heard.asked, heard.claimed, heard.confirm) == ([tool], [], [], True), entry["propose"]
        heard = hear(fill(entry["done"]))
        assert (heard.claimed, heard.question) == ([tool], False), entry["done"]
    for name, text in book["agent"].items():
        for line in text if isinstance(text, list) else [text]:
            heard = hear(line)
            assert not heard.question and heard.claimed == (["hand_over_to_human"] if name == "handover" else []), line


def test_every_language_has_the_same_keys_and_enough_wordings(store):
    first = store.phrases["en"]
    for book in store.phrases.values():
        assert [k for k in book if k != "reasons"] == [k for k in first if k != "reasons"]
        for part in ("question", "slots", "actions", "customer", "agent"):
            assert list(book[part]) == list(first[part])
        for part in ("slots", "actions"):
            for name in first[part]:
                assert set(book[part][name]) == set(first[part][name]), name
        assert all(e["answer"] and len(set(e["lack"])) >= 2 for e in book["slots"].values())
        assert all(len(set(e["agree"])) >= 3 for e in book["actions"].values())
        assert all(len(set(book["customer"][k])) >= 3 for k in book["customer"])


REQUESTS = [
    ("If you have a photo, send it over and we'll get going.", ["photo"]),
    ("I will need your order number and the ZIP code before I can look anything up.", ["order_id", "postcode"]),
    (
        "Before I can go on, please send me:\n- your order number\n- a photo of the damage\n- the postcode",
        ["order_id", "postcode", "photo"],
    ),
    ("Could you confirm the following?\n1. Your full name\n2. Which item is missing", ["name", "item"]),
    ("A picture of the label would help.", ["label"]),
    ("The only thing missing is the email address you ordered with.", ["email"]),
    ("I'd like to know when you noticed it.", ["date"]),
    ("Thanks—could you send me the postcode?", ["postcode"]),
    ("You can change the colour while the order is open. Which one would you like?", ["color"]),
    ("Is order no. NL-48213 about the blue one? And what is the postcode?", ["postcode"]),
    ("Si tiene una foto, envíela y seguimos.", ["photo"]),
    ("Necesitaré su número de pedido y el código postal.", ["order_id", "postcode"]),
    ("Il me faudra votre numéro de commande et le code postal.", ["order_id", "postcode"]),
    ("Si vous avez une photo, envoyez-la-moi.", ["photo"]),
    ("Ich habe Ihre Bestellung gefunden und benötige noch ein Foto des Schadens.", ["photo"]),
    ("Für die Prüfung fehlt mir nur noch die Postleitzahl.", ["postcode"]),
    ("Para valorarlo le rogamos una fotografía clara del daño.", ["photo"]),
    ("Prenez un cliché de l'accroc et joignez-le à votre message.", ["photo"]),
    ("Avez-vous pu sonner à deux ou trois portes ?", ["neighbours_checked"]),
]

STATEMENTS = [
    "You don't need to send a photo, the order number is enough.",
    "Please pack the item and stick the return label on the box. Is there anything else I can do for you?",
    "Please check your inbox for the label.",
    "Let me look into this for you. Please bear with me while I check the tracking.",
    "Your order number is NL-48213 and it goes to the postcode on the label.",
    "Please let us know if you have any other questions.",
    "It was shipped to the address on your order.",
    "No hace falta que envíe ninguna foto. Gracias por su número de pedido.",
    "Por favor, imprima la etiqueta. ¿Puedo ayudarle en algo más?",
    "Inutile de nous envoyer une photo. N'hésitez pas à nous écrire si vous avez d'autres questions.",
    "Veuillez coller l'étiquette sur le colis. Puis-je faire autre chose pour vous ?",
    "Ein Foto ist nicht nötig. Melden Sie sich jederzeit, wenn Sie noch Fragen haben.",
    "Bitte drucken Sie das Etikett aus. Kann ich sonst noch etwas für Sie tun?",
]

PROPOSALS = [
    ("Once you confirm, I will cancel the order.", ["cancel_order"]),
    ("I can cancel the order. The money is back within 10 days. Just let me know!", ["cancel_order"]),
    (
        "Unfortunately the order can't be cancelled any more. I can open a return instead once it arrives. Would that work?",
        ["start_return"],
    ),
    (
        "So it would go to 14 Harbour Lane instead. If that's right, say the word and I'll change it.",
        ["update_shipping_address"],
    ),
    ("Which would you rather have?\n- a replacement\n- your money back", []),
    ("No puedo cancelar el pedido porque ya ha salido. ¿Quiere que abra una devolución?", ["start_return"]),
    ("Si está de acuerdo, cambiaré la dirección a Calle Olmo 12.", ["update_shipping_address"]),
    ("Je peux annuler votre commande. Souhaitez-vous que je le fasse ?", ["cancel_order"]),
    ("Die Bestellung kann ich nicht mehr stornieren. Möchten Sie, dass ich eine Rücksendung anlege?", ["start_return"]),
    ("Sobald Sie zustimmen, ändere ich die Lieferadresse auf Lindenweg 3.", ["update_shipping_address"]),
    ("Puedo mandarle uno nuevo. ¿Quedaría conforme con eso?", ["create_replacement"]),
]

CLAIMS = [
    ("I've gone ahead and cancelled order NL-48213.", ["cancel_order"]),
    ("Your order has not been cancelled yet.", []),
    ("Once your order is cancelled you'll get the money back.", []),
    ("I have looked at our return rules and the item is within the window.", []),
    ("A new one is on its way to you.", ["create_replacement"]),
    ("Your parcel was shipped on June 20.", []),
    ("The address on your order has now been updated to 12 Elm Street.", ["update_shipping_address"]),
    ("Su pedido todavía no ha sido cancelado.", []),
    ("Le he enviado un reemplazo.", ["create_replacement"]),
    ("He revisado el plazo de devolución.", []),
    ("J'ai bien lancé le retour.", ["start_return"]),
    ("Dès que le retour sera enregistré, vous recevrez un lien.", []),
    ("Ich habe das Paket erneut verschickt.", ["create_reshipment"]),
    ("Ich habe die Rückgabefrist geprüft.", []),
]


@pytest.mark.parametrize(("text", "slots"), REQUESTS)
def test_requests_are_heard_however_they_are_put(store, text, slots):
    heard = parser_of(store).parse(text)
    assert sorted(heard.asked) == sorted(slots) and heard.question and not heard.confirm


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements_instructions_and_courtesies_ask_nothing(store, text):
    heard = parser_of(store).parse(text)
    assert (heard.asked, heard.proposed, heard.question, heard.confirm) == ([], [], False, False)


@pytest.mark.parametrize(("text", "tools"), PROPOSALS)
def test_a_proposal_is_what_a_yes_is_asked_for(store, text, tools):
    heard = parser_of(store).parse(text)
    assert heard.proposed == tools and heard.claimed == [] and heard.confirm == bool(tools)


@pytest.mark.parametrize(("text", "tools"), CLAIMS)
def test_a_claim_says_that_something_was_done(store, text, tools):
    heard = parser_of(store).parse(text)
    assert heard.claimed == tools and not heard.question


@pytest.mark.parametrize(
    "text",
    [
        "Just say yes, and confirm that it is unused.",
        "Shall I do that (a yes is enough), and is the blanket unused?",
        "Ein kurzes Ja genügt, und bestätigen Sie bitte, dass sie unbenutzt ist.",
        "Soll ich sie anlegen, und ist der Koffer unbenutzt?",
        "¿La abro, y está sin usar?",
        "Dígame que sí y confírmeme que está sin usar.",
        "Dites-moi oui et confirmez qu'il n'a pas servi.",
    ],
)
def test_a_yes_and_a_question_in_one_sentence_are_both_heard(store, text):
    heard = parser_of(store).parse(text)
    assert heard.confirm and heard.asked == ["condition"]


@pytest.mark.parametrize(
    ("heading", "items", "slots"),
    [
        (
            "Before I can open them I need one of these from you:",
            ["one of the two order numbers (NL-…), or", "the **postcode** they go to, no phone needed for that one."],
            {"order_id", "postcode"},
        ),
        (
            "Dafür brauche ich noch zweierlei:",
            ["**die Bestellnummer**,", "**Fotos** als Anhang: eines aus einem Schritt Entfernung, eines von nah."],
            {"order_id", "photo"},
        ),
        (
            "Dazu bitte ich Sie um zweierlei:",
            ["die Bestellnummer;", "eine kurze Auskunft, ob die Tasche, die zurückgehen soll, **unbenutzt** ist."],
            {"order_id", "condition"},
        ),
    ],
)
def test_what_stands_under_what_is_needed_is_asked_for(store, heading, items, slots):
    text = "\n".join([heading, "", *(f"{n}. {item}" for n, item in enumerate(items, 1))])
    assert {*parser_of(store).parse(text).asked} == slots


@pytest.mark.parametrize(
    "text",
    [
        "It cannot be undone. One yes and it is cancelled.",
        "Ein Ja, und die Bestellung ist storniert.",
        "Un sí y queda cancelado.",
        "Un oui et la commande est annulée.",
    ],
)
def test_what_a_yes_would_do_is_not_done(store, text):
    heard = parser_of(store).parse(text)
    assert heard.confirm and not heard.claimed


@pytest.mark.parametrize(
    "text",
    [
        "No. The parcel is with the carrier, and an order on its way is not cancelled.",
        "Nein. Eine Bestellung, die unterwegs ist, wird nicht mehr storniert.",
        "No. Un pedido que ya salió no se anula.",
        "Non. Une commande qui est partie n'est pas annulée.",
    ],
)
def test_what_is_not_done_is_no_report(store, text):
    assert not parser_of(store).parse(text).claimed


def test_a_bare_yes_is_asked_for_the_one_thing_that_is_named(store):
    heard = parser_of(store).parse(
        "Clock's running. One return for both, unused as you say:\n\n- the sling\n- the duffel\n\nYes?"
    )
    assert heard.proposed == ["start_return"]
    assert not parser_of(store).parse("The sling and the duffel, both in black. Yes?").proposed


def test_what_stands_in_a_table_of_what_is_needed_is_asked_for(store):
    table = (
        "Only three short points:\n\n| | What I need | Notes |\n|---|---|---|\n| 1 | The order number (NL-…), or the postcode | one is enough |\n"
        "| 2 | One photo of the bag that came | attached |\n\nOnce I have these I will name what is sent and, on your yes, arrange it."
    )
    heard = parser_of(store).parse(table)
    assert {"order_id", "photo"} <= {*heard.asked} and not heard.confirm


def test_an_answer_in_another_language_and_one_in_two_are_understood(store):
    both = "Could you send me your order number?\n\n¿Podría enviarme también una foto de la caja?"
    assert set(parser_of(store).parse(both).asked) >= {"order_id", "photo"}
    assert parser_of(store).languages(sentences("Order number?")) == list(store.phrases)


def test_sentences_end_where_they_should():
    text = "Am 2. Juli, z. B. mit Nr. NL-1. Passt das? Ja (gern)."
    assert [s.plain for s in sentences(text)] == [" am 2. juli, z. b. mit nr. nl-1.", " passt das?", " ja , gern ."]
    assert [s.text for s in sentences("**Done.** Your order ... is 4. May I go on? (Yes.)")] == [
        "**Done.",
        "Your order ...",
        "is 4.",
        "May I go on?",
        "(Yes.)",
    ]
    items = [(s.plain, s.item) for s in sentences("Send:\n* one\n2) two\nthree")]
    assert items == [(" send:", False), (" one", True), (" two", True), (" three", True)]


def test_patterns_begin_at_words_and_clauses():
    pattern = compile_patterns(["(?:cat|dog)s?", "^cow", "o'clock"])
    found = [m.group() for m in pattern.finditer(" cats, cow and cow, hotdog o clock")]
    assert found == [" cats", " cow", " o clock"]


def test_a_broken_phrase_file_is_named(store, tmp_path):
    class Broken(FolderStore):
        def __init__(self):
            self.path, self.folders, self.kind = tmp_path, (tmp_path,), store.kind

    shop = Broken()
    shop.phrases = {"en": {**store.phrases["en"], "slots": {"photo": {"patterns": ["(photo"]}}}}
    with pytest.raises(BadInput, match=r"en\.yaml: a key is missing or a pattern is broken"):
        parser_of(shop).parse("A photo, please?")


def test_answers_are_closed_and_joined_like_sentences():
    assert filled("{value}, please.", "navy.") == "Navy, please."
    assert filled("The date: {value}.", "Why now?") == "The date: Why now?"
    assert filled("{value} is the address.", "j.doe@post.example") == "j.doe@post.example is the address."
    assert filled("Here is a photo.", "whatever") == "Here is a photo."
    assert written(["Yes, please", "", "The order is NL-1."]) == "Yes, please. The order is NL-1."


class Curious:
    """Asks for everything the ledger knows, again and again, two slots at a time.

    A question it does not know follows each.
    """

    def __init__(self, book, case):
        self.asks = [book["slots"][s]["ask"] for s in book["slots"] if s in case.ledger]

    def reply(self, talk):
        first = 2 * talk.turn - 2
        return " ".join(self.asks[(first + i) % len(self.asks)] for i in range(2))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_customer_never_repeats_itself_and_never_leaves_a_gap(store, cases, language):
    chosen = [c for c in cases.values() if c.language == language][:30]
    assert chosen
    for case in chosen:
        for agent in (
            Curious(store.phrases[language], case),
            *(AGENTS[name](case, store) for name in ("no_op", "refuse_all", "comply_all")),
        ):
            record = play(case, store, agent)
            texts = [m.text for m in record.messages if m.side == "customer"]
            assert len(set(texts)) == len(texts)
            assert not [t for t in texts if "{" in t or ".." in t.replace("...", "") or not t.strip()]
            assert "None." in str(case.ledger) or not [t for t in texts if "None" in t]


def test_every_reason_is_recognised_in_the_words_of_every_language(store):
    for name, reason in store.phrases["en"]["reasons"].items():
        assert set(reason["say"]) == {"en", "es", "fr", "de"}
        for said in reason["say"].values():
            assert name in parser_of(store).reasons_in([said]), said
