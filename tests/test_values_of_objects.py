"""Values in many wordings and layouts: right ones are told for their object, wrong, denied, unreal and swapped ones are not."""

from pathlib import Path

import orjson
import pytest
from made_runs import talk

from benchmark_lib.cases.case import Fact, stated_facts
from benchmark_lib.scoring import score
from benchmark_lib.scoring.facts import guessed

ROWS = [orjson.loads(row) for row in (Path(__file__).parent / "data" / "values.jsonl").read_bytes().splitlines()]
MOST_LOST, MOST_WRONG = 1, 3
"""How many of the right forms may be lost, and how many of the wrong ones told, in all languages together."""


def told(row, text):
    """Which of a row's facts a text states; a name with a mark is only there beside the others."""
    facts = {name: Fact(**fact) for name, fact in row["facts"].items()}
    found = stated_facts(facts, dict.fromkeys(facts, [text]), frozenset())
    return [found[name] for name in facts if not name.startswith("!")]


def test_the_forms_cover_every_language_and_kind():
    assert {row["language"] for row in ROWS} == {"en", "de", "es", "fr"}
    assert {fact["kind"] for row in ROWS for fact in row["facts"].values()} == {"money", "date", "id", "measure"}
    assert sum(len(row["right"]) for row in ROWS) >= 365 and sum(len(row["wrong"]) for row in ROWS) >= 250


def test_right_forms_are_told():
    lost = [text for row in ROWS for text in row["right"] if not all(told(row, text))]
    assert len(lost) <= MOST_LOST, lost


def test_wrong_forms_are_not_told():
    wrong = [text for row in ROWS for text in row["wrong"] if any(told(row, text))]
    assert len(wrong) <= MOST_WRONG, wrong


BAGS = {
    "Tasche": Fact(
        kind="date",
        value="2026-07-02",
        say="Die Norder Tasche ist bis zum 2. Juli da.",
        ask="Und bis wann ist die Norder Tasche da?",
    ),
    "Koffer": Fact(
        kind="date",
        value="2026-07-06",
        say="Der Elster Koffer ist bis zum 6. Juli da.",
        ask="Und bis wann ist der Elster Koffer da?",
    ),
}


@pytest.mark.parametrize(
    "text",
    [
        "Norder Tasche\n\n- Gepackt heute\n- Da bis {0}\n\nElster Koffer\n\n- Gepackt morgen\n- Da bis {1}",
        "1) Elster Koffer: {1}\n2) Norder Tasche: {0}",
        "Die Tasche und der Koffer kommen am {0} bzw. am {1}.",
        "| Artikel | Elster Koffer | Norder Tasche |\n|---|---|---|\n| Da bis | {1} | {0} |",
        "Zuerst die Norder Tasche. Sie ist bis {0} da. Nun der Elster Koffer. Er ist bis {1} da.",
    ],
)
def test_two_days_are_told_for_two_objects_and_not_for_each_other(text):
    days = ("2. Juli", "6. Juli")
    for said, right in ((text.format(*days), True), (text.format(*reversed(days)), False)):
        found = stated_facts(BAGS, dict.fromkeys(BAGS, [said]), frozenset())
        assert found == dict.fromkeys(BAGS, right), said


def test_a_right_value_under_the_name_of_another_object_is_not_told():
    said = "**Elster Koffer**\nSpätestens am 2. Juli."
    assert stated_facts(BAGS, dict.fromkeys(BAGS, [said]), frozenset()) == dict.fromkeys(BAGS, False)
    assert BAGS["Tasche"].told([said]), "alone, nothing says that it is the suitcase's"


def test_days_for_nothing_in_particular_stay_rivals():
    said = "Spätestens am 2. Juli. Spätestens am 6. Juli."
    assert stated_facts(BAGS, dict.fromkeys(BAGS, [said]), frozenset()) == dict.fromkeys(BAGS, False)


COUNTS = [
    "June 30 is day 1, July 1 is day 2, July 2 is day 3, July 6 is day 4, July 7 is day 5.",
    "June 30 (1), July 1 (2), July 2 (3), July 6 (4): so July 7 at the latest.",
    "Day 1 = June 30\nDay 2 = July 1\nDay 3 = July 2\nDay 4 = July 6\nDay 5 = July 7",
    "The 1st business day is June 30, the 2nd business day July 1, the 3rd business day July 2, and the 5th is July 7.",
]


@pytest.mark.parametrize("count", COUNTS)
def test_who_shows_the_count_tells_its_end_and_guesses_nothing(cases, store, count):
    case = cases["gift_deadline_6"]
    record = talk("When is it here at the latest?", count, ended_by="resolved_by_customer")
    assert case.facts["last_day"].told([count]) and guessed(record, [count], case, store) == set()
    assert not Fact(kind="date", value="2026-07-02").told([count]), "a day on the way is no answer"


def test_a_numbered_point_is_no_count():
    said = (
        "(2) Nothing.\n(3) Without a further scan: July 7. That is business day 7 after June 25; July 3 is a holiday."
    )
    assert Fact(kind="date", value="2026-07-07").told([said])


@pytest.mark.parametrize(
    "question", ["Does the $186.15 match your statement?", "Is there anything that doesn't match the $186.15?"]
)
def test_a_question_about_a_value_takes_nothing_back(question):
    assert Fact(kind="money", value=18615).told([f"SUMMER15 took off $32.85, and we charged $186.15. {question}"])


def test_a_count_that_goes_on_from_message_to_message_is_a_guess(cases, store):
    case, days = cases["gift_deadline_6"], ["June 30", "July 1", "July 2", "July 6", "July 7"]
    counts = [", ".join(f"day {n + 1} is {day}" for n, day in enumerate(days[:end])) for end in range(2, 6)]
    record = talk(
        *(said for count in counts for said in ("And?", f"So it is {count}.")), ended_by="resolved_by_customer"
    )
    assert guessed(record, [m.text for m in record.replies()], case, store) == {"first_day", "last_day"}
    assert not any(score(record, case, store)["facts"].values())


def test_a_bound_or_a_hedge_denies_no_value():
    refund = Fact(kind="money", value=4200)
    for said in (
        "You pay no more than $42.00.",
        "I won't keep you: it's $42.00.",
        "$42.00 is not guaranteed before June.",
    ):
        assert refund.told([said]), said
    for said in ("I won't refund $42.00.", "Nobody owes you $42.00.", "$42.00 would be yours if it were broken."):
        assert not refund.told([said]), said


CELLS = [
    "| Umbrella | $44.00, no discount | {} |",
    "| Socken, nicht der Beutel | 12,00 $ | {} | bis dahin anmelden |",
    "| Parapluie | 44,00 $ (pas dans le code) | {} |",
    "| Paraguas | no entra en el código | {} |",
    "The umbrella (not part of the set) can be handed in until {}.",
]


@pytest.mark.parametrize("row", CELLS)
def test_a_denial_reaches_no_further_than_its_cell_or_its_brackets(row):
    assert Fact(kind="date", value="2026-08-09").told([row.format("2026-08-09")])


@pytest.mark.parametrize(
    "row",
    [
        "| Umbrella | $44.00 | does not arrive by {} |",
        "| Will not be there by | {} |",
        "| Regenschirm | 44,00 $ | am {} kommt er nicht an |",
        "The umbrella will not (in my view) be there by {}.",
    ],
)
def test_a_denial_in_the_cell_of_a_value_or_as_its_label_denies_it(row):
    assert not Fact(kind="date", value="2026-08-09").told([row.format("2026-08-09")])


@pytest.mark.parametrize(
    "words", ["Letzter Scan: {}", "Der letzte Eintrag der Sendung ist vom {}.", "Zuletzt gescannt: {}"]
)
def test_the_last_scan_is_not_the_last_day(words):
    scan = Fact(
        kind="date",
        value="2026-06-24",
        say="Zuletzt gescannt wurde es am 24. Juni.",
        ask="Wann wurde zuletzt gescannt?",
    )
    until = Fact(kind="date", value="2026-07-06", say="Spätestens am 6. Juli ist es da.", ask="Bis wann spätestens?")
    assert scan.told([words.format("24. Juni 2026")], beside=[scan, until])
