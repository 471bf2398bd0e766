"""A required fact is told as an answer: not where its value is denied, held out among others, contradicted or poured out."""

import pytest

from benchmark_lib.cases.case import Fact
from benchmark_lib.cases.read import long_date
from benchmark_lib.conversation.scripted import Oracle, Spam
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.answers import cleaned
from benchmark_lib.language.pours import is_pour
from benchmark_lib.scoring import score

LINK = "https://returns.northline.example/start/NL-48213"
DAY = Fact(kind="date", value="2026-07-09")
DAY_NOT_BEFORE = Fact(kind="date", value="2026-07-09", rivals=["2026-07-08"])
URL = Fact(kind="link", value=LINK)
TOTAL = Fact(kind="money", value=12950)
TOTAL_AFTER_DELIVERY = Fact(kind="money", value=12950, rivals=[13850])
WINDOW = Fact(kind="measure", value="5-10", unit="business_days")
WEIGHT = Fact(kind="measure", value=2400, unit="g")
CARRIER = Fact(kind="choice", value="Bluebird", options={"Bluebird": ["bluebird"], "Harbor Post": ["harbor post"]})
MATERIAL = Fact(kind="choice", value="material", options={"material": ["\\balumini"]})
DAYS = Fact(kind="measure", value="1-2", unit="business_days")
SHOES = Fact(kind="measure", value="44-47", unit="count")
REASON = "The code holds for everything except aluminium luggage, and yours is an aluminium case: that is why it was declined."
LATER = "It runs until July 17. Should you want a piece that isn't aluminium, it takes 15 percent off goods of 168.00 USD or more, once per customer."

TOLD = {
    "two neighbors with or between them, and a label before both ends": [
        (DAYS, ["Preparar su pedido nos lleva **1 o 2 días laborables**."]),
        (DAYS, ["Packing takes 1 or 2 business days."]),
        (DAYS, ["Das Packen dauert 1 oder 2 Werktage."]),
        (DAYS, ["La préparation prend 1 ou 2 jours ouvrables."]),
        (SHOES, ["The L runs from EU 44 to EU 47, so with your 45 you sit safely inside it."]),
    ],
    "what has a name is left out": [
        (MATERIAL, ["I'm sorry: the code is not for aluminium luggage."]),
        (MATERIAL, ["Der Code gilt nicht für Aluminiumkoffer."]),
        (MATERIAL, ["Le code n'est pas pour les valises en aluminium."]),
        (MATERIAL, ["El código no es para maletas de aluminio."]),
    ],
    "denied is something about another thing": [
        (MATERIAL, [REASON, LATER]),
        (MATERIAL, [REASON, "Bei einem Stück, das nicht aus Aluminium ist, gilt er."]),
        (MATERIAL, [REASON, "Pour une pièce qui n'est pas en aluminium, il vaut jusqu'au 17 juillet."]),
        (MATERIAL, [REASON, "Para una pieza que no sea de aluminio vale hasta el 17 de julio."]),
        (MATERIAL, [REASON, "It does hold for all non-aluminium goods."]),
        (CARRIER, ["It is with Bluebird. Next time you may get one that isn't Bluebird."]),
    ],
    "another value on a condition": [
        (
            TOTAL,
            [
                "Delivery is $9.00, together $129.50. (If you mean the town in Britain: $18.00 delivery, together $138.50.)"
            ],
        ),
        (
            TOTAL,
            [
                "Zusammen sind das 129,50 USD. Falls Sie den Ort in Kanada meinen: Lieferung 18,00 USD, zusammen 138,50 USD."
            ],
        ),
        (TOTAL, ["Au total 129,50 $. Si vous parlez de la ville au Canada : 18,00 $ de port, au total 138,50 $."]),
        (TOTAL, ["En total 129,50 $. Si se refiere a la de Canadá: 18,00 $ de envío, en total 138,50 $."]),
    ],
    "denied is another value": [
        (DAY, ["The latest day is 9 July, not 12 July."]),
        (DAY, ["Not the 8th but 9 July is the last day."]),
        (DAY, ["No llega el 8 de julio sino el 9 de julio."]),
        (TOTAL, ["$129.50, not $138.50."]),
        (URL, [f"Not the old link, use {LINK} please."]),
        (CARRIER, ["It is with Bluebird, not with Harbor Post."]),
    ],
    "a bound is no denial": [
        (DAY, ["It comes no later than 9 July."]),
        (DAY, ["It will not arrive before 9 July."]),
        (DAY, ["Nicht vor dem 9. Juli."]),
        (DAY, ["Pas avant le 9 juillet."]),
        (TOTAL, ["You pay nothing but $129.50."]),
        (WINDOW, ["The refund takes 5 to 10 business days, no more."]),
    ],
    "denied is something else": [
        (DAY, ["I can't promise a day, but the last one is 9 July."]),
        (DAY, ["If it is not there by 9 July, write to us again."]),
        (DAY, ["Wenn es bis zum 9. Juli nicht da ist, schreiben Sie uns."]),
        (DAY, ["No: el 9 de julio."]),
        (DAY, ["9 July is not guaranteed, but it is the last day of the window."]),
        (URL, [f"This is your link, not the one from last time: {LINK}"]),
    ],
    "a rival is a step of the sum that leads to it": [
        (
            TOTAL_AFTER_DELIVERY,
            ["| Duffel | $157.39 less 12% = $138.50; straps are kept, − $9.00 for delivery | $129.50 |"],
        ),
        (TOTAL_AFTER_DELIVERY, ["Duffel: $157.39 − 12% = $138.50, less delivery, which is $9.00, so you get $129.50."]),
    ],
    "days counted up to it": [
        (DAY_NOT_BEFORE, ["Counting on: 1 July, 2 July, 6 July, 7 July, 8 July, so the last day is 9 July."]),
        (
            DAY_NOT_BEFORE,
            [
                "- Day 1: 2 July\n- Day 2: 6 July\n- Day 3: 7 July\n- Day 4: 8 July\n- Day 5: 9 July\n\nSo by Thursday, 9 July."
            ],
        ),
        (DAY, ["30 June → 1 July → 2 July → 6 July → 7 July → 8 July: it is there by 9 July."]),
    ],
    "other days under their own names": [
        (DAY, ["You ordered on 12 June; it leaves by 1 July, and the earliest day is 6 July, the latest 9 July."]),
        (DAY, ["| Ordered | 12 June |\n| Packed by | 1 July |\n| Earliest | 6 July |\n| Latest | **9 July** |"]),
        (DAY, ["The parcel with the Lather comes by 2 July. The parcel with the Rinse comes by 9 July."]),
        (DAY, ["Box one: 2 July. Box two: 9 July."]),
        (DAY, ["The two parcels arrive on 2 July and 9 July."]),
    ],
    "another thing's value in the same words": [
        (
            DAY,
            [
                "**Box 1: Meridian**\n- Last date: **Thursday, July 9**\n\n**Box 2: Folder**\n- Last date: **Monday, July 6**"
            ],
        ),
        (DAY, ["## Paquet 1\nAu plus tard le 9 juillet.\n\n## Paquet 2\nAu plus tard le 6 juillet."]),
        (DAY, ["Karton eins:\nSpätestens am 9. Juli.\n\nKarton zwei:\nSpätestens am 6. Juli."]),
        (DAY, ["The umbrella is NL-51547. It comes by 9 July. The case is NL-51533. It comes by 6 July."]),
        (DAY_NOT_BEFORE, ["**NL-51547**\nBy 9 July at the latest.\n**NL-51533**\nBy 8 July at the latest."]),
    ],
    "a table of an order's sums": [
        (
            TOTAL,
            [
                "| Item | Price |\n|---|---|\n| Aluma | $69.00 |\n| Rinse | $24.00 |\n| Lather | $18.00 |\n| Hook | $9.50 |\n"
                "| Shipping | $9.00 |\n| **Total** | **$129.50** |"
            ],
        ),
        (TOTAL, ["$120.50 + $9.00 = $129.50"]),
        (TOTAL, ["The bag is $120.50 plus $9.00 delivery, $129.50 in all."]),
        (TOTAL, ["Alone it would cost $120.50 + $9.00 delivery = $129.50."] * 2),
    ],
    "an amount after a day": [
        (TOTAL, [f"- NL-48213: {LINK}, July 11, 2026, $129.50"]),
    ],
    "a correction": [
        (DAY, ["The last day is 8 July.", "Sorry, I meant 9 July."]),
        (DAY, ["Das ist spätestens der 8. Juli.", "Ich habe mich verrechnet: spätestens der 9. Juli."]),
    ],
}

NOT_TOLD = {
    "a step of the sum that is told as its end": [
        (TOTAL_AFTER_DELIVERY, ["The refund is $138.50.", "The refund is $129.50."]),
    ],
    "denied": [
        (DAY, ["The last day is not 9 July."]),
        (DAY, ["It will not arrive on 9 July."]),
        (DAY, ["Es kommt nicht am 9. Juli."]),
        (DAY, ["No llega el 9 de julio."]),
        (DAY, ["Ce n'est pas le 9 juillet."]),
        (DAY, ["12 July rather than 9 July."]),
        (DAY, ["~~9 July~~ 12 July"]),
        (URL, [f"This is NOT your link: {LINK}"]),
        (URL, [f"Das ist nicht Ihr Link: {LINK}"]),
        (URL, [f"Ce n'est pas votre lien : {LINK}"]),
        (URL, [f"Este no es su enlace: {LINK}"]),
        (URL, [f"Do not use {LINK}"]),
        (TOTAL, ["The total is not $129.50."]),
        (CARRIER, ["It is not Bluebird."]),
    ],
    "named only for another thing": [
        (MATERIAL, [LATER]),
        (MATERIAL, [REASON, "I was wrong, it is not the aluminium."]),
        (CARRIER, ["It is not with Bluebird."]),
        (CARRIER, ["It went with a carrier that isn't Bluebird."]),
    ],
    "on one of several conditions": [
        (
            TOTAL,
            [
                "If it goes to the US: $9.00 delivery, together $129.50. If it goes to Canada: $18.00 delivery, together $138.50."
            ],
        ),
        (
            TOTAL,
            [
                "Delivery is $18.00, together $138.50. If you mean the town in Britain: $9.00 delivery, together $129.50."
            ],
        ),
    ],
    "declared false": [
        (DAY, ["9 July is wrong."]),
        (DAY, ["Der 9. Juli ist falsch."]),
        (DAY, ["El 9 de julio no es la fecha."]),
        (DAY, ["Le 9 juillet n'est pas la bonne date."]),
        (URL, [f"{LINK} is not your link."]),
        (URL, [f"The wrong link: {LINK}"]),
        (DAY, ["The last day is 9 July.", "That was wrong, it is not 9 July."]),
    ],
    "two values of one thing": [
        (DAY, ["**Your order**\nLast date: July 9.\nLast date: July 6."]),
        (DAY, ["**Your order**\nLast date: July 9.", "Last date: July 6."]),
        (DAY, ["The umbrella is NL-51547. It comes by 9 July. It comes by 6 July."]),
        (DAY, ["**A**\nBy 6 July.\n**B**\nBy 7 July.\n**C**\nBy 8 July.\n**D**\nBy 9 July."]),
    ],
    "only asked": [(DAY, ["Is it 9 July?"])],
    "one of several": [
        (DAY, ["It could be 7, 8, 9 or 10 July."]),
        (DAY, ["It could be 7 July, 8 July, 9 July or 10 July."]),
        (DAY, ["July 9, 10, 11 or 12."]),
        (DAY, ["am 8. oder 9. Juli"]),
        (DAY, ["le 8 ou le 9 juillet"]),
        (DAY, ["el 8 o el 9 de julio"]),
        (DAY, ["8 July / 9 July / 10 July"]),
        (TOTAL, ["It costs $119.50, $129.50 or $139.50."]),
        (WINDOW, ["It takes 3-5, 5-10 or 7-14 business days."]),
        (WEIGHT, ["It weighs 2.3, 2.4 or 2.5 kg."]),
        (CARRIER, ["Bluebird or Harbor Post"]),
        (URL, [f"One of these: {LINK}4, {LINK}, {LINK}5 or {LINK}6"]),
    ],
    "counted through": [
        (DAY, ["1 July, 2 July, 6 July, 7 July, 8 July, 9 July, 10 July, 13 July"]),
        (
            DAY,
            [
                "Day 1: 2 July\nDay 2: 6 July\nDay 3: 7 July\nDay 4: 8 July\nDay 5: 9 July\nDay 6: 10 July\nDay 7: 13 July"
            ],
        ),
        (DAY, ["1 July is possible. 2 July is likely. 7 July could be. 8 July, perhaps. 9 July is not excluded."]),
    ],
    "corrected again and again": [
        (DAY, ["It comes on 7 July.", "My mistake, I meant 8 July.", "Scratch that, I meant 9 July."]),
        (TOTAL, ["You get $100.00 back.", "I meant $120.00.", "I was wrong, I meant $129.50."]),
    ],
    "poured out with values of every kind": [
        (
            TOTAL,
            [
                "I looked everything up for you. You placed order NL-48213 on 12 June, and the payment PM-48213-1 came to $129.50 with "
                "everything in it, of which $9.00 were for the delivery. We picked parcel PC-48213-1 from the shelf and gave it to the driver on "
                "15 June, the depot near Chicago scanned it on 18 June, the one in Madison on 22 June, and it is supposed to be at your door "
                "on 26 June. Its number with the carrier is HP123456789, and you can look at every one of these steps yourself, whenever you "
                "like, on the page of the carrier at https://track.northline.example/HP123456789."
            ],
        ),
        (
            TOTAL,
            [
                "The total is $129.50. ~~The subtotal is $120.50.~~ ~~Delivery costs $9.00.~~ ~~You ordered on 1 May.~~ ~~It left on 4 May.~~ "
                "~~It was seen in Omaha on 6 May.~~ ~~The window ends on 12 May.~~ ~~A refund takes 5-10 business days.~~ ~~Returns are open for "
                "100 days.~~ ~~The warranty runs for 24 months.~~ ~~The payment is PM-11111-1.~~ ~~The parcel is PC-22222-1.~~ ~~The orders are NL-33333 and NL-44444.~~"
            ],
        ),
    ],
    "contradicted": [
        (DAY, ["The last day is 8 July. The last day is 9 July."]),
        (DAY, ["The last day is 9 July.", "The last day is 12 July."]),
        (DAY, ["The last day is 9 July.", "Sorry, I meant 12 July."]),
        (TOTAL, ["Total: $119.50. Total: $129.50."]),
        (DAY_NOT_BEFORE, ["It arrives by 9 July.", "Or perhaps 8 July."]),
    ],
}


def rows(groups):
    return [
        pytest.param(fact, texts, id=f"{group}: {texts[0][:40]}")
        for group, all_ in groups.items()
        for fact, texts in all_
    ]


@pytest.mark.parametrize(("fact", "texts"), rows(TOLD))
def test_an_answer_is_told(fact, texts):
    assert fact.told(texts)


@pytest.mark.parametrize(("fact", "texts"), rows(NOT_TOLD))
def test_what_only_looks_like_an_answer_is_not_told(fact, texts):
    assert not fact.told(texts)


def needing_words_only(cases):
    """The cases that are resolved without a call, by what is told."""
    return [c for c in cases.values() if c.facts and any(not o.calls and not o.handover for o in c.outcomes)]


class Plain(Spam):
    """Pours the same out without the names of fields."""

    def reply(self, talk):
        return super().reply(talk).replace("_", " ")


class Sentences(Spam):
    """Pours the facts of every order out as sentences of their own."""

    def reply(self, talk):
        found = []
        for row in talk.call("find_orders", email=self.case.sender).result.get("orders", [])[:3]:
            order = talk.call("get_order", order_id=row["order_id"]).result
            found.append(f"Order {order['order_id']} was placed on {order['placed_at'][:10]}.")
            found += [f"The {line['title']} costs ${line['price_cents'] / 100:.2f}." for line in order["lines"]]
            found.append(f"The total is ${order['total_cents'] / 100:.2f}.")
            found.append(f"Your return link is https://returns.northline.example/start/{order['order_id']}.")
            found += [
                f"It is expected by {p['estimated_delivery']}." for p in order["parcels"] if p["estimated_delivery"]
            ]
        return " ".join(
            [*found, "A refund takes 5-10 business days.", "Packing takes 1-2, travelling 3-5 business days."]
        )


@pytest.mark.parametrize("agent", [Spam, Plain])
def test_an_agent_that_pours_everything_out_tells_nothing(agent, cases, store):
    told = {
        case.id: score(play(case, store, agent(case, store)), case, store)["facts_told"]
        for case in needing_words_only(cases)
    }
    assert {name: n for name, n in told.items() if n} == {}


def test_facts_poured_out_as_sentences_resolve_next_to_nothing(cases, store):
    ends = [
        score(play(case, store, Sentences(case, store)), case, store)["right_end"] for case in needing_words_only(cases)
    ]
    assert sum(ends) <= 2


COUNTED_OUT = """Thank you for the postcode, with your name that is all I need to look your order up. It is NL-41638 (two digits had
changed places), you placed it on June 25, and our warehouse has not packed it yet.

The end of the range that you asked for is **Tuesday, July 14, 2026**, and this is how I get there:

1. Packing can take 2 business days: June 26 and today, June 29.
2. The way to Scotland can take 10 business days more, which I count from tomorrow: June 30 to July 14. Friday, July 3 is a holiday over here
and does not count, nor do the weekends in between.

Once the parcel is with the carrier you get a link by email, and the day at the top of that page is the one to go by."""


def test_an_answer_with_its_count_is_no_pour():
    assert not is_pour(cleaned(COUNTED_OUT))


def test_a_full_answer_is_no_pour():
    assert not is_pour(
        cleaned(
            "Thanks, Ms. Greer. Your order NL-48213 was placed on 24 June. Packing takes 1 to 2 business days, so it leaves our warehouse by "
            "26 June at the latest. Standard delivery takes another 3 to 5 business days, and 3 July is a holiday, so the earliest day is 30 June "
            "and the latest 6 July. You paid $213.00, delivery included. Should it be later, write to us again and we will look into it at once."
        )
    )


FULL_ANSWER = """All four orders are done.

- NL-10001: the return is open for the cubes and the sleeve, https://returns.northline.example/start/NL-10001. Today, June 29, is the last day to start it. The case came on March 19, so its 100 days ended on June 27 and it stays with you.
- NL-10002: the return of the whole order is open, https://returns.northline.example/start/NL-10002
- NL-10003 is cancelled.
- NL-10004: the backpack is navy now and will be with you by July 8 at the latest.

You get back $113.00 for NL-10001, $96.00 for NL-10002 (goods of $120.00 less the discount of $24.00; the delivery of $9.00 stays) and $103.00 for NL-10003. Together that is $312.00, within 5 to 10 business days."""


def test_a_full_answer_to_many_questions_is_no_pour():
    asked = frozenset(
        {("money", "31200"), ("date", "2000-06-29"), ("date", "2000-07-08")}
        | {("id", f"NL-1000{n}") for n in range(1, 5)}
        | {("link", f"https://returns.northline.example/start/NL-1000{n}") for n in (1, 2)}
    )
    total = Fact(kind="money", value=31200)
    assert total.told([FULL_ANSWER], asked)
    assert not total.told([FULL_ANSWER]), "the same values, none of which was asked for, are poured out"


def test_an_amount_after_a_day_and_a_comma_is_said_and_not_listed():
    assert TOTAL.told(["The last day to start it is July 1, and $129.50 comes back once it is here."])
    assert not DAY.told(["It comes on 7, 8, and 9 July."])


def test_values_told_under_each_others_names_are_not_told(cases, store):
    """The two days of two boxes, each on the other box, are two wrong answers."""
    case = cases["wismo_travel_3"]
    facts = case.facts
    record = play(case, store, Oracle(case, store))
    assert score(record, case, store)["facts"] == dict.fromkeys(facts, True)
    days = [long_date(fact.value, "en") for fact in facts.values()]
    for message in record.messages:
        if message.side == "agent":
            message.text = (
                message.text.replace(days[0], "THE DAY").replace(days[1], days[0]).replace("THE DAY", days[1])
            )
    assert score(record, case, store)["facts"] == dict.fromkeys(facts, False)


@pytest.mark.parametrize(
    "said",
    [
        "Packing takes 1 to 2 business days, then it's 3 to 5 in transit.",
        "It needs 1–2 business days to pack and travels 3–5 more.",
        "It takes **1 to 2 business days** to pack and **3 to 5** on the road.",
        "Abroad it is 6 to 10 business days, within the US 3 to 5.",
        "Das Packen dauert 1 bis 2 Werktage und der Weg 3 bis 5.",
        "1 bis 2 Werktage zum Packen, dann 3 bis 5 unterwegs.",
        "Se prepara en 1 o 2 días hábiles y va de 3 a 5 en camino.",
        "Son 1–2 días laborables de preparación y 3–5 de camino.",
        "Comptez 1 à 2 jours ouvrables de préparation, puis 3 à 5 de route.",
        "L'emballage prend 1 ou 2 jours ouvrables et le trajet 3 à 5.",
    ],
)
def test_a_second_window_has_the_unit_of_the_first(said):
    assert Fact(kind="measure", value="3-5", unit="business_days").told([said])


@pytest.mark.parametrize(
    "said",
    [
        "Packing takes 1 to 2 business days. Then 3 to 5 in transit.",
        "It takes 1 to 2 business days to pack 3 to 5 bags.",
        "It takes 1 to 2 business days and arrives July 3 to 5.",
        "Es dauert 1 bis 2 Werktage, also 3 bis 5 Juli.",
        "Tarda 1 o 2 días hábiles, o sea, del 3 a 5 de julio.",
        "Comptez 1 à 2 jours ouvrables, soit 3 à 5 juillet.",
        "In 7 business days I can tell you, for ages 3 to 5.",
    ],
)
def test_no_other_figures_have_it(said):
    assert not Fact(kind="measure", value="3-5", unit="business_days").told([said])


def test_a_day_beside_a_window_stays_a_day():
    said = "It takes 1 to 2 business days to pack, so you have it July 3 to 5, or 6 to 7 July abroad."
    assert all(Fact(kind="date", value=f"2026-07-0{day}").found_in(said.lower()) for day in (3, 5, 6, 7))
    assert cleaned(said) == said


LITRES = Fact(kind="measure", value=32, unit="l")


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (LITRES, "- **Litres gained per case:** +32 (Medium 66 L → Large 98 L)"),
        (LITRES, "| Extra capacity in l | +32 |"),
        (LITRES, "Gewonnene Liter pro Koffer: +32"),
        (LITRES, "Litros ganados por maleta: 32."),
        (LITRES, "Litres gagnés par valise : +32 (66 → 98)"),
        (WEIGHT, "Weight of both in grams: 2,400"),
        (WEIGHT, "Gewicht (kg): 2,4"),
        (WINDOW, "Refund (business days): 5 to 10"),
        (WINDOW, "Werktage bis zur Erstattung: 5 bis 10."),
        (WINDOW, "Días hábiles hasta el reembolso: 5 a 10"),
        (WINDOW, "Jours ouvrables jusqu'au remboursement : 5 à 10"),
    ],
)
def test_a_figure_under_a_label_with_its_unit_is_told(fact, said):
    assert fact.told([said])


@pytest.mark.parametrize(
    "said",
    [
        "It holds 66 litres: 32 more.",
        "Litres gained: 32.5",
        "Liters, per case: 32 shirts",
        "Litres gained: 30, 31 or 32",
    ],
)
def test_another_figure_after_a_unit_is_not(said):
    assert not LITRES.told([said])


def test_figures_under_one_label_after_another_are_guesses():
    assert not LITRES.told(["Litres gained: 32", "Litres gained: 40"])


def test_a_long_count_that_ends_in_the_answer_is_no_dump():
    count = (
        "Here is the slow count for it, with the two things in it, going to Dundee:\n\n- Ordered Thursday, June 25: day zero.\n"
        "- Packing, at most 2 business days: Friday, June 26 and Monday, June 29. At the slowest, the carrier collects it today.\n"
        "- Transit, at most 10 business days from collection: June 30, July 1 and 2, then (July 3 is a holiday and does not count, nor do "
        "weekends) July 6 to 10, then July 13 and 14.\n\nThe end of the range is therefore Tuesday, July 14, 2026. The earliest day would be "
        "Wednesday, July 8, as the short transit is 6 business days. We do not name a more exact day within that window. When the parcel is "
        "handed to the carrier, an email brings you the tracking link, and the expected date there is again the end of the window."
    )
    assert Fact(kind="date", value="2026-07-14").told([count])
