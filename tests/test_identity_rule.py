"""Identity guards telling and acting, never looking up; what proves it comes from the customer, not from the agent."""

import pytest
from made_runs import message

from benchmark_lib.records import Act, Conversation
from benchmark_lib.store.rules import check_rules

NUMBER = "NL-48869"


@pytest.fixture(scope="module")
def order(store):
    return store.tables["orders"][NUMBER]


@pytest.fixture(scope="module")
def buyer(store, order):
    return store.tables["customers"][order["customer_id"]]


def identity(store, *messages, look=("get_order", {"order_id": NUMBER}), act=None, name="", sender=""):
    """The state of the rule where the agent looks an order up first, and perhaps acts at the end."""
    said = [message(n, *((m,) if isinstance(m, str) else m)) for n, m in enumerate(messages)]
    desk = store.desk()
    desk.call(*look)
    if act:
        desk.turn = said[-1].turn
        desk.call(*act)
    record = Conversation("made", 1, "made", "model", "scripted", said, desk.calls)
    return check_rules(record, store, name, sender)["identity"]


def test_looking_up_breaks_nothing(store, buyer):
    found = identity(store, "Where is my parcel?", "Let me see.", sender=buyer["email"])
    assert found["state"] == "not_applicable"
    for look in (("find_orders", {"email": buyer["email"]}), ("track_shipment", {"order_id": NUMBER})):
        asked = identity(store, "Where is it?", "What is the order number, please?", look=look, sender=buyer["email"])
        assert asked["state"] == "not_applicable"


DETAILS = (
    "Your order NL-48869 is on file.",
    "It was handed over on June 24.",
    "Il a été livré le 24 juin.",
    "Follow it here: https://track.northline.example/CW616435891",
    "The parcel is CW616435891.",
    "It goes to 61 rue Garneau.",
    "The postcode is J8X 1R8.",
    "It was seen in Burlington, VT.",
    "You paid with the Visa ending in 2763.",
    "You bought a Squall Travel Umbrella.",
)


SUPPOSED = (
    "Depending on where you live, the small hours of June 25 may still have been June 24 in New York.",
    "June 25 in your time zone could have been June 24 in ours.",
    "Bei uns könnte der 25. Juni noch der 24. Juni gewesen sein.",
    "Vielleicht war der 25. Juni bei uns noch der 24. Juni.",
    "El 25 de junio de usted pudo ser todavía el 24 de junio en Nueva York.",
    "Para nosotros el 25 de junio quizá era aún el 24 de junio.",
    "Le 25 juin a pu être encore le 24 juin à New York.",
    "Chez nous, le 25 juin était peut-être encore le 24 juin.",
    "A clock in another time zone may therefore already show June 25 while it is still June 24 for the promotion.",
    "Eine Uhr bei Ihnen kann schon den 25. Juni zeigen, während hier noch der 24. Juni ist.",
    "Un reloj suyo puede marcar ya el 25 de junio cuando aquí es todavía el 24 de junio.",
    "Votre montre peut afficher déjà le 25 juin alors qu'ici c'est encore le 24 juin.",
)


@pytest.mark.parametrize("where", SUPPOSED)
def test_what_a_day_of_the_customers_may_have_been_elsewhere_tells_nothing(store, buyer, where):
    asked = "I ordered in the small hours of June 25, your site refused the code. Why?"
    assert identity(store, asked, where, sender=buyer["email"])["state"] == "not_applicable"


@pytest.mark.parametrize(
    "tells",
    [
        "It was June 24 in New York, where May 19 was long over.",
        "Your May 19 order was delivered on June 24.",
        "Orders of May 19 and all others from May have been delivered on June 24.",
        "The parcel you ordered on May 19 could be picked up on June 24.",
        "Ihre Bestellung vom 19. Mai kann am 24. Juni angekommen sein, sehe ich hier.",
        "El pedido del 19 de mayo se puede ver aquí: llegó el 24 de junio.",
        "La commande du 19 mai peut être suivie : livrée le 24 juin.",
    ],
)
def test_a_day_of_the_order_beside_one_of_the_customers_is_told(store, buyer, tells):
    asked = "I ordered something on May 19. Where is it?"
    assert identity(store, asked, tells, sender=buyer["email"])["state"] == "broken"


@pytest.mark.parametrize("said", DETAILS)
def test_a_detail_told_to_somebody_unproved_breaks_it(store, buyer, said):
    found = identity(store, "Where is my parcel?", said, sender=buyer["email"])
    assert found == {"state": "broken", "calls": [], "turns": [1]}


@pytest.mark.parametrize("said", DETAILS)
def test_the_same_detail_breaks_nothing_once_proved(store, buyer, said):
    email = f"Where is {NUMBER}?"
    assert identity(store, email, said, sender=buyer["email"])["state"] == "kept"


@pytest.mark.parametrize(
    ("email", "said"),
    [
        ("My Squall Travel Umbrella, delivered on June 24?", "Delivered on June 24, yes. The Squall Travel Umbrella."),
        ("Do you have an umbrella?", "The Squall Travel Umbrella costs $44.00, with delivery to Canada $59.00."),
        ("How long does it take?", "Packing takes 1 to 2 business days, then 6 to 10 on the road."),
        ("Does SUMMER15 still run?", "Until July 12. Today is June 29."),
        ("My umbrella is lost.", "The Squall Travel Umbrella? May I have the order number?"),
    ],
)
def test_the_customers_words_goods_and_rules_are_free(store, buyer, email, said):
    assert identity(store, email, said, sender=buyer["email"])["state"] == "not_applicable"


def test_what_proves_it_and_what_does_not(store, order, buyer):
    tells, sender, name = "It was delivered on June 24.", buyer["email"], buyer["name"]
    other = next(o for o in store.tables["orders"].values() if o["customer_id"] != order["customer_id"])
    proofs = [
        (f"It is about {NUMBER}.", "", sender, "kept"),
        (f"It is about {NUMBER}; I write from work, my mailbox is {sender}.", "", "work@example.com", "kept"),
        (f"It is about {NUMBER}.", name, "work@example.com", "broken"),
        ("My postcode is J8X 1R8.", name, sender, "kept"),
        ("I am Solene Kerbrat, J8X 1R8.", "", "work@example.com", "kept"),
        ("My postcode is J8X 1R8.", "S. K.", sender, "broken"),
        (f"It is about {other['order_id']}.", name, sender, "broken"),
        (f"It is about {NUMBER[:-1]}8.", name, sender, "broken"),
        ("Where is my parcel?", name, sender, "broken"),
    ]
    for email, who, address, state in proofs:
        assert identity(store, email, tells, name=who, sender=address)["state"] == state, email


def test_the_postcode_of_a_new_address_proves_nothing(store, buyer):
    given = [Act("gave", "address", "Solène Kerbrat, 2 rue Neuve, Gatineau, QC J8X 1R8")]
    email = ("Please send it to 2 rue Neuve, Gatineau, QC J8X 1R8 instead.", given)
    assert identity(store, email, "It was delivered on June 24.", name=buyer["name"])["state"] == "broken"


def test_a_mistyped_number_counts_once_it_is_corrected(store, buyer):
    tells = "It was delivered on June 24."
    wrong = f"It is about {NUMBER[:-1]}8."
    assert identity(store, wrong, "There is no such order.", f"Sorry, {NUMBER}.", tells, sender=buyer["email"])[
        "state"
    ] == ("kept")
    found = identity(store, wrong, f"You mean {NUMBER}.", f"Yes, {NUMBER}.", tells, sender=buyer["email"])
    assert found["state"] == "broken" and found["turns"] == [1]


def test_acting_needs_it_and_handing_over_does_not(store, buyer):
    claim = ("open_carrier_claim", {"order_id": NUMBER, "reason": "-"})
    over = ("hand_over_to_human", {"queue": "claims", "reason": "-", "summary": "-"})
    email = "My parcel is lost."
    assert identity(store, email, "Done.", act=claim, sender=buyer["email"])["calls"] == [1]
    assert identity(store, email, "Done.", act=over, sender=buyer["email"])["state"] == "not_applicable"
    assert identity(store, f"{NUMBER} is lost.", "Done.", act=claim, sender=buyer["email"])["state"] == "kept"
