"""Required facts: how each kind may be put in the four languages, and what comes close and is something else."""

from datetime import date, timedelta

import pytest
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark_lib.cases.case import Fact
from benchmark_lib.cases.read import long_date
from benchmark_lib.language.sentences import fold
from benchmark_lib.language.word_lists import LANGUAGES

LOCALES = {"en": "en_US", "es": "es_US", "fr": "fr_CA", "de": "de_DE"}

MONEY = {
    2490: (
        [
            "$24.90",
            "24,90 $",
            "US$24.90",
            "US$ 24.90",
            "24.90 USD",
            "USD 24.90",
            "24,90 US-Dollar",
            "24.90 dollars",
            "24,90 dólares",
            "24,90\u00a0$",
            "24,90\u202f$ US",
            "**$24.90**",
            "the total ($24.90) is paid",
            "you get $24.90, minus nothing",
            "It is $24.90.",
            "$24.9",
            "24,9 $",
            "24 dollars and 90 cents",
            "24 Dollar 90",
        ],
        [
            "24,90 €",
            "€24.90",
            "24.90 euros",
            "$124.90",
            "$24.99",
            "$2.490",
            "24.900",
            "$24.905",
            "1,024.90",
            "$24",
            "24 90",
            "224.90 USD",
            "$249.0",
        ],
    ),
    124900: (
        [
            "US$ 1.249,00",
            "$1,249.00",
            "$1249",
            "$1,249",
            "1.249,00 $",
            "1 249,00 $",
            "1\u202f249 $",
            "1249 dollars",
            "1.249 dólares",
            "1'249.00 USD",
        ],
        [
            "$11,249.00",
            "$1,249.50",
            "$12,490",
            "$249.00",
            "1,249,000 dollars",
            "21249 $",
            "$1,2490",
            "1.249 km",
            "order 1249",
        ],
    ),
    24900: (
        [
            "$249",
            "249 $",
            "249 dollars",
            "$249.00",
            "249,00 $",
            "249 USD",
            "249 US dollars",
            "249 US$",
            "249 dollars américains",
            "$249, which",
            "$249.",
        ],
        ["$2490", "$249.50", "249", "$1,249", "order 249", "$249,50", "249 days", "1249 $", "$249.5"],
    ),
    900: (
        ["nine dollars", "9,- $", "$9.0", "$9", "9 $", "$9.00", "9,00 $", "9 USD"],
        ["$19", "$9.50", "$90", "9 days", "$0.9", "19,00 $", "99 $"],
    ),
    50: (["$0.50", "0,50 $"], ["$10.50", "$50", "$0.500"]),
}

DATES = {
    "2026-07-02": (
        [
            "July 2nd",
            "July 2",
            "2 July",
            "2nd of July",
            "July the 2nd",
            "2 de julio",
            "2. Juli",
            "2 juillet",
            "el 2 de julio de 2026",
            "02.07.2026",
            "7/2",
            "07/02/2026",
            "02/07/2026",
            "02-07-2026",
            "2026-07-02",
            "Jul. 2, 2026",
            "Thursday, July 2",
            "am 2. Juli",
            "le 2 juillet 2026",
            "2.7.",
            "2 juil.",
            "2 jul",
            "Donnerstag, 2. Juli",
            "July 2.",
            "(July 2)",
            "2 de julio del 2026",
            "July 2–6",
            "2–6 July",
            "between July 2 and 6",
            "zwischen dem 2. und 6. Juli",
            "entre el 2 y el 6 de julio",
            "entre le 2 et le 6 juillet",
            "from 2 to 6 July",
            "between June 28 and July 2",
            "2026/07/02",
            "2026.07.02",
            "2-Jul-2026",
            "Jul-02",
            "2. 7. 2026",
            "02.07.26",
            "the second of July",
            "July the second",
            "zweiter Juli",
            "am zweiten Juli",
            "deux juillet",
            "el dos de julio",
            "Thursday the 2nd",
            "__July 2__",
            "on <b>July 2</b>",
            "2&nbsp;July",
            "| Latest | 2 July |",
        ],
        [
            "12 July",
            "July 12",
            "July 22",
            "2 August",
            "22 de julio",
            "12. Juli",
            "7/22",
            "17/2",
            "7/2/2025",
            "27.07.2026",
            "July 2025",
            "July 20",
            "2 juillet 2025",
            "July 2, 2025",
            "2 de julio de 2025",
            "2026-07-20",
            "2026-07-021",
            "12/7",
            "2 June",
            "7/21",
            "1.7.2026",
            "12.07.",
            "22.7.",
            "the twenty-second of July",
            "vingt-deux juillet",
            "zweiundzwanzigster Juli",
            "Friday the 2nd",
            "Thursday the 22nd",
        ],
    ),
    "2026-05-01": (
        ["May 1", "1er mai", "1 de mayo", "1º de mayo", "el primero de mayo", "1. Mai", "May 1st", "1st of May"],
        ["May 11", "11 mai", "21. Mai"],
    ),
    "2026-09-03": (
        ["Sept 3", "Sep. 3", "3 de setiembre", "3 septembre", "3. September", "3 sept."],
        ["30 September", "Sept 30", "13 de septiembre"],
    ),
    "2026-03-09": (
        ["9 mars", "9. März", "9. Maerz", "March 9", "9 de marzo", "09.03.2026"],
        ["19 mars", "9 Mai", "market 9"],
    ),
    "2026-06-19": (
        ["June 19", "19 juin", "19. Juni", "6/19", "19/6", "19.6.", "dix-neuf juin", "19.06.2026", "neunzehnter Juni"],
        ["June 9", "June 191", "19 July", "119 June"],
    ),
}

MEASURES = {
    (38, "l"): (
        ["38 l", "38 litros", "38 L", "38L", "38-litre", "38 liters.", "38 Liter", "38\u202fl", "38,0 l"],
        ["138 l", "38", "380 l", "3.38 l", "38 lb", "38.5 l"],
    ),
    (55, "cm"): (
        [
            "55 cm",
            "55 x 35 x 23 cm",
            "55x35x23 cm",
            "55 × 35 × 23 cm",
            "55 by 35 by 23 cm",
            "55 cm x 35 cm x 23 cm",
            "55 por 35 por 23 cm",
            "55 sur 35 sur 23 cm",
            "55 mal 35 mal 23 cm",
            "55 centímetros",
            "55 centimètres",
            "55 Zentimeter",
            "55-cm",
            "55,0 cm",
            "H 55 x W 35 x D 23 cm",
            "55 (H) x 35 (W) x 23 (D) cm",
            "height 55 x width 35 x depth 23 cm",
            "55/35/23 cm",
            "55 * 35 * 23 cm",
            "550 mm",
            "0.55 m",
        ],
        ["155 cm", "155 x 35 x 23 cm", "5.55 cm", "55 l", "55 mm", "55", "550 cm", "55 x 35", "35 x 23 cm"],
    ),
    (35, "cm"): (
        ["55 x 35 x 23 cm", "55 × 35 × 23 cm", "55 cm x 35 cm x 23 cm", "H 55 x W 35 x D 23 cm"],
        ["55 x 135 x 23 cm", "55 x 3 x 23 cm", "55 x 35 boxes"],
    ),
    (23, "cm"): (["55 x 35 x 23 cm", "55x35x23cm"], ["55 x 35 x 123 cm", "23 x 55"]),
    (20, "in"): (
        ["20 inches", '20"', "20 in.", "20 pulgadas", "20 pouces", "20 Zoll", "20-inch"],
        ["120 inches", "20 instances", "20"],
    ),
    ("5-10", "business_days"): (
        [
            "5 to 10 business days",
            "5-10 business days",
            "5–10 working days",
            "5 bis 10 Werktage",
            "entre 5 y 10 días hábiles",
            "5 à 10 jours ouvrés",
            "entre 5 et 10 jours ouvrables",
            "zwischen 5 und 10 Werktagen",
            "five to ten business days",
            "de cinco a diez días hábiles",
            "fünf bis zehn Arbeitstage",
            "cinq à dix jours ouvrés",
            "5 business days to 10 business days",
            "five (5) to ten (10) business days",
            "5 through 10 business days",
            "5 a 10 dias laborables",
            "at least 5 and at most 10 business days",
            "5, up to 10 business days",
            "mínimo 5, máximo 10 días hábiles",
            "5, höchstens 10 Werktage",
        ],
        [
            "5 business days",
            "10 business days",
            "15-10 business days",
            "5 to 100 business days",
            "5-10 days",
            "5 to 10 hours",
            "3-5 business days",
            "5 to 11 business days",
        ],
    ),
    (100, "days"): (
        [
            "100 days",
            "100 días",
            "100 jours",
            "100 Tage",
            "100 Tagen",
            "100-day",
            "100 dias",
            "100 calendar days",
            "a hundred days",
            "cien días",
            "cent jours",
            "hundert Tage",
            "100 Kalendertage",
            "100 jours calendaires",
        ],
        [
            "10 days",
            "1100 days",
            "100 hours",
            "100",
            "1000 days",
            "100 business days",
            "$100",
            "100 Werktage",
            "100 días hábiles",
            "100 jours ouvrés",
            "100.5 days",
        ],
    ),
    (48, "hours"): (
        ["2 days", "two days", "48 hours", "48 h", "48h", "48 horas", "48 heures", "48 Stunden", "forty-eight hours"],
        ["148 hours", "48 days", "48", "4.8 hours", "48 hotels"],
    ),
    (24, "months"): (
        ["24 months", "24 meses", "24 mois", "24 Monate", "24-month", "2 years", "two years", "deux ans"],
        ["24 hours", "124 months", "2 months"],
    ),
    (2, "years"): (
        [
            "24 months",
            "2 years",
            "two years",
            "2 años",
            "2 anos",
            "dos años",
            "deux ans",
            "2 Jahre",
            "zwei Jahren",
            "two-year",
        ],
        ["12 years", "2 months", "22 ans"],
    ),
    (3100, "g"): (
        ["3100 g", "3.1 kg", "3,1 kg", "3,100 g", "3.100 g", "3.10 kg", "3,1 Kilogramm", "3.1 kilos"],
        ["31 kg", "13.1 kg", "3.1 g", "310 g", "3.11 kg", "3 kg"],
    ),
    (2.4, "kg"): (["2.4 kg", "2,4 kg", "2400 g", "2,400 g", "2.40 kg"], ["24 kg", "240 g", "2.4 g", "12.4 kg"]),
    (14, "days"): (["14 days", "2 weeks", "zwei Wochen"], ["2 days", "14 weeks"]),
    (420, "g"): (["420 g", "420 gramos", "420 Gramm", "0.42 kg", "0,42 kg"], ["1420 g", "420", "4200 g", "420 gifts"]),
    (750, "ml"): (["750 ml", "750 mililitros", "750 Milliliter", "0.75 l"], ["1750 ml", "75 ml", "750 miles"]),
    (99.9, "wh"): (
        ["99.9 Wh", "99,9 Wh", "99.9 watt-hours", "99,9 Wattstunden", "99.90 Wh"],
        ["199.9 Wh", "99.95 Wh", "99 Wh"],
    ),
    (15, "percent"): (
        ["15%", "15 %", "15 percent", "15 por ciento", "15 pour cent", "15 Prozent"],
        ["115%", "15", "1.5%", "150%"],
    ),
    (3, "count"): (
        ["3", "three", "tres", "trois", "drei", "you ordered 3 of them", "(3)"],
        ["13", "30", "3.5", "33", "1.3", "300"],
    ),
}

IDS = {
    "NL-48213": (
        [
            "NL-48213",
            "order nl-48213.",
            "(NL-48213)",
            "#NL-48213",
            "NL‑48213",
            "**NL-48213**",
            "_NL-48213_",
            "`NL-48213`",
            "NL 48213",
            "NL48213",
            "#48213",
            "order 48213",
            "commande n° 48213",
            "Bestellung Nr. 48213",
        ],
        ["NL-482131", "NL-4821", "XNL-48213", "NL-48213-2", "NL-48212", "48213", "order 482131"],
    ),
    "P-101": (["P-101", "p-101"], ["P-101-NVY", "P-1011", "AP-101"]),
    "SUMMER15": (["summer15", "code SUMMER15."], ["SUMMER150", "SUMMER15X", "MYSUMMER15"]),
}

LINK = "https://returns.northline.example/start/NL-48213"


def kinds():
    for value, texts in MONEY.items():
        yield Fact(kind="money", value=value), texts
    for value, texts in DATES.items():
        yield Fact(kind="date", value=value), texts
    for (value, unit), texts in MEASURES.items():
        yield Fact(kind="measure", value=value, unit=unit), texts
    for value, texts in IDS.items():
        yield Fact(kind="id", value=value), texts
    yield (
        Fact(kind="link", value=LINK),
        (
            [LINK, f"[here]({LINK})", f"{LINK}.", f"<{LINK}>", f"{LINK}/", LINK.upper(), LINK.removeprefix("https://")],
            [
                f"{LINK}1",
                LINK[:-1],
                f"{LINK}/track",
                f"https://other.example/?to={LINK}",
                LINK.replace("//", "//evil."),
            ],
        ),
    )


@pytest.mark.parametrize(
    ("fact", "texts"), list(kinds()), ids=lambda x: f"{x.kind} {x.value}" if isinstance(x, Fact) else ""
)
def test_every_way_to_put_it_is_told_and_a_near_miss_is_not(fact, texts):
    right, wrong = texts
    assert [t for t in right if not fact.told([f"Yes: {t} as it is."])] == []
    assert [t for t in right if not fact.told([t])] == []
    assert [t for t in wrong if fact.told([t])] == []


@given(st.integers(1, 2_000_000), st.sampled_from(LANGUAGES))
def test_money_as_people_of_each_language_write_it(cents, language):
    text = format_currency(cents / 100, "USD", locale=LOCALES[language])
    assert Fact(kind="money", value=cents).told([text])
    for other in (cents + 1, cents - 1, cents * 10, cents + 10_000_000, cents + 100):
        assert not Fact(kind="money", value=other).told([text])


@given(
    st.dates(date(2024, 1, 1), date(2028, 12, 31)),
    st.integers(-400, 400),
    st.sampled_from(LANGUAGES),
    st.sampled_from(("long", "medium", "full")),
)
def test_a_date_as_people_of_each_language_write_it(day, days, language, width):
    text = format_date(day, width, locale=language)
    assert Fact(kind="date", value=day.isoformat()).told([text])
    other = day + timedelta(days=days)
    assume(other != day)
    assert not Fact(kind="date", value=other.isoformat()).told([text])


@given(
    st.integers(2, 30),
    st.integers(1, 40),
    st.sampled_from(["{} to {} business days", "{}-{} Werktage", "entre {} y {} días hábiles", "{} à {} jours ouvrés"]),
)
def test_a_range_is_told_only_as_itself(low, more, wording):
    text = wording.format(low, low + more)
    assert Fact(kind="measure", value=f"{low}-{low + more}", unit="business_days").told([text])
    for other in (f"{low}-{low + more + 1}", f"{low + 1}-{low + more + 1}", low) + (
        () if " y " in text else (low + more,)
    ):
        assert not Fact(kind="measure", value=other, unit="business_days").told([text])


@given(st.integers(1, 9999), st.sampled_from(LANGUAGES), st.sampled_from(("g", "cm", "l")))
def test_a_number_with_its_unit_is_told_only_as_itself(value, language, unit):
    text = f"{format_decimal(value, locale=LOCALES[language])} {unit}"
    assert Fact(kind="measure", value=value, unit=unit).told([text])
    for other in (value + 1, value * 10, value + 10_000):
        assert not Fact(kind="measure", value=other, unit=unit).told([text])


@given(st.from_regex(r"[A-Z]{1,3}-[0-9]{3,6}", fullmatch=True), st.from_regex(r"[A-Za-z0-9]", fullmatch=True))
def test_an_id_is_never_found_in_a_longer_one(name, letter):
    fact = Fact(kind="id", value=name)
    assert fact.told([f"about {name}, then"])
    assert (
        not fact.told([f"about {name}{letter}"])
        and not fact.told([f"about {letter}{name}"])
        and not fact.told([f"about {name}-{letter}"])
    )


def test_a_rival_beside_the_right_value_makes_it_untold():
    fact = Fact(kind="date", value="2026-07-08", rivals=["2026-07-09"])
    assert fact.told(["It arrives by July 8."])
    assert not fact.told(["It arrives by July 8 or 9 July."]) and not fact.told(["By July 8.", "No, le 9 juillet."])


def test_another_option_of_a_choice_is_a_rival():
    fact = Fact(
        kind="choice", value="yes", options={"yes": [r"\bfits\b", r"\bcabe\b"], "no": [r"does not fit", r"no cabe"]}
    )
    assert fact.told(["It fits the cabin."]) and fact.told(["Sí, cabe."])
    assert not fact.told(["No cabe."]) and not fact.told(["It may be."])


def test_typography_does_not_hide_a_fact():
    assert fold("5–10\u202fbusiness‑days, **$24.90**") == "5-10 business-days, $24.90"


def test_of_two_amounts_that_were_asked_for_neither_stands_in_the_place_of_the_other():
    text = "Way one: only the backpack goes back. You pay $67.35 on top.\nWay two: both go back. You pay $61.80 on top."
    one, two = Fact(kind="money", value=6735), Fact(kind="money", value=6180)
    asked = frozenset({("money", "6735"), ("money", "6180")})
    assert one.told([text], asked) and two.told([text], asked)
    assert not one.told([text]) and not two.told([text])
    assert Fact(kind="money", value=6735, rivals=[6180]).told([text], asked)
    wrong = f"{text} Or rather $70.00 for the first way."
    assert not Fact(kind="money", value=6735, rivals=[7000]).told([wrong], asked)


def test_the_steps_of_one_sum_do_not_stand_in_the_place_of_another_sums_end():
    text = (
        "Bag and wallet: $133.00 less their share of the code $15.96 = $117.04, less $9.00 for delivery = $108.04.\n"
        "Wallet alone: $64.00 less $7.68 = $56.32, and $9.00 is taken off here too: $47.32."
    )
    assert Fact(kind="money", value=10804).told([text])
    assert Fact(kind="money", value=4732).told([text])


def test_the_steps_of_sums_in_the_same_words_do_not_stand_in_each_others_place():
    text = "- Back to you: $74.00\n- Back to you: $93.00 + $9.00 delivery = $102.00"
    asked = frozenset({("money", "7400"), ("money", "10200")})
    assert all(Fact(kind="money", value=value).told([text], asked) for value in (7400, 10200))
    assert not Fact(kind="money", value=7400).told([text], asked - {("money", "10200")}), "where a sum ends is no step"


def test_days_that_were_asked_for_are_not_counted_through_where_each_stands_in_the_same_words():
    days = ["2026-07-02", "2026-08-23", "2026-10-04", "2026-10-02", "2026-07-01"]
    asked = frozenset(("date", day) for day in days)
    text = "\n".join(f"- It can be started until {long_date(day)}." for day in days)
    assert [day for day in days if Fact(kind="date", value=day).told([text], asked)] == days
    poured = "\n".join(f"- It can be started until July {day}, 2026." for day in range(1, 9))
    assert not Fact(kind="date", value="2026-07-02").told([poured], asked), (
        "days that nobody asked for are still counted"
    )


def test_of_two_links_that_were_asked_for_neither_stands_in_the_place_of_the_other():
    one, two = (f"https://track.northline.example/HP48032917{n}" for n in (7, 8))
    text = f"The backpack is on its way. Tracking: {one}\nSo are the padlocks. Tracking: {two}"
    asked = frozenset({("link", one), ("link", two)})
    assert Fact(kind="link", value=one).told([text], asked) and Fact(kind="link", value=two).told([text], asked)
    assert not Fact(kind="link", value=one).told([text.replace(one, two)], asked)
    assert not Fact(kind="link", value=one).told([text.replace(two, f"{two}0")], asked - {("link", two)})
