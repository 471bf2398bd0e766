"""What readers make of words by writers who had seen neither patterns nor training sentences, one for each language and set.

The bounds are what store 1.12.0 and scoring-22 reach. `messages_4` was opened once for store 1.7.0, which misread 26 of its 120. The files whose
names end in `_2`, `_3` (values), `_5` (messages), and `voices` were opened once for store 1.10.0; thirteen writers, four languages. In `messages_5`,
seven of the misread ones let the customer choose between two acts: the writers call that a proposal of both, the desk's customer calls it no offer.
`values_3` is meant to be hard: its wrong ones suppose, hedge and quote. `values_4` leaves out what was said before, and was opened once for
store 1.12.0, which then missed 23 of its 44 right ones. Never train on these files: to teach a reader, ask new writers.
"""

from collections import Counter
from pathlib import Path

import orjson
import pytest
from claimed import told

from benchmark_lib.cases.case import Fact, stated_facts
from benchmark_lib.language.parser import parser_of

FOLDER = Path(__file__).parent / "data" / "blind"
HEARD = {
    "wordings": (60, {"ask": 54, "offer": 47, "done": 50, "no": 44}),
    "wordings_2": (75, {"ask": 65, "offer": 56, "done": 60, "no": 50}),
}
"""Wordings of each act, and how many of them are understood with their slot or tool."""
WORKING = ("business", "working", "werktag", "ouvr", "hábil", "laborable")
"""Words for days on which the desk works."""


def rows(name):
    return [orjson.loads(line) for line in (FOLDER / f"{name}.jsonl").read_bytes().splitlines()]


def heard(parser, text):
    parsed = parser.parse(text)
    return {"ask": {*parsed.asked}, "offer": {*parsed.proposed}, "done": {*parsed.claimed}, "no": {*parsed.declined}}


@pytest.mark.parametrize("name", HEARD)
def test_asks_offers_reports_and_refusals(store, name):
    (each, least), found, of = HEARD[name], Counter(), Counter()
    for row in rows(name):
        act, _, topic = row["label"].partition(":")
        of[act] += 1
        found[act] += topic in heard(parser_of(store), row["text"])[act]
    assert {*of.values()} == {each}
    assert [act for act, number in least.items() if found[act] < number] == [], dict(found)


@pytest.mark.parametrize(
    "name, most, refusals",
    [("messages", 10, 6), ("messages_2", 8, 2), ("messages_3", 13, 3), ("messages_4", 26, 5), ("messages_5", 25, 2)],
)
def test_few_whole_messages_are_misread(store, name, most, refusals):
    """No question or offer is missed or made up, no act is believed that was not done, and few refusals are made up."""
    misread = refused = 0
    assert len(rows(name)) >= 96
    for row in rows(name):
        parsed = parser_of(store).parse(row["text"])
        right = {*parsed.asked} == {*row["asks"]} and {*parsed.proposed} == {*row["proposes"]}
        misread += not (right and parsed.surely_claimed <= {*row["done"]})
        refused += not {*parsed.declined} <= {*row["declines"]}
    assert misread <= most and refused <= refusals, f"{misread} misread, {refused} with a refusal that nobody made"


def fact(given, kind, text):
    """The fact of one of two objects, as a case asks for it."""
    said = {
        "say": f"For the {given['object']} it is {given['value']}.",
        "ask": f"And what about the {given['object']}?",
    }
    if kind == "money":
        return Fact(kind="money", value=round(float(str(given["value"]).strip("$").replace(",", "")) * 100), **said)
    if kind == "date":
        return Fact(kind="date", value=given["value"], **said)
    unit = "business_days" if any(word in text.lower() for word in WORKING) else "days"
    return Fact(kind="measure", value=int(given["value"]), unit=unit, **said)


@pytest.mark.parametrize(
    "name, right, most",
    [("values", True, 1), ("values", False, 1), ("values_2", True, 2), ("values_2", False, 0)]
    + [("values_3", True, 2), ("values_3", False, 18), ("values_4", True, 15), ("values_4", False, 9)],
)
def test_values_are_told_for_the_object_that_they_are_given_for(name, right, most):
    wrong = of = 0
    for row in rows(name):
        if row["kind"] not in ("date", "money", "days") or (set(row["told"]) == {"a", "b"}) != right:
            continue
        facts = {name: fact(row[name], row["kind"], row["text"]) for name in ("a", "b")}
        if facts["a"].value == facts["b"].value:
            continue
        asked = frozenset((f.unit or f.kind, str(f.value)) for f in facts.values())
        told = stated_facts(facts, dict.fromkeys(facts, [row["text"]]), asked)
        of += 1
        wrong += (
            {n for n, said in told.items() if said} != {*row["told"]}
            if right
            else any(told[n] and n not in row["told"] for n in told)
        )
    assert of >= 20 and wrong <= most, f"{wrong} of {of}"


@pytest.mark.parametrize("name, of, least", [("reasons", 64, 56), ("reasons_2", 40, 39)])
def test_reasons_of_refusals(store, name, of, least):
    found = [row["reason"] in parser_of(store).reasons_in([row["text"]]) for row in rows(name)]
    assert len(found) == of and sum(found) >= least


def test_claims_of_an_act_without_its_name(open_case, store):
    """Two writers' ways to say that it is done, with nothing done, and messages that only sound like it."""
    found = Counter[bool]()
    for row in rows("unnamed_acts"):
        found[row["done"]] += bool(told(open_case, store, row["text"])["phantom_action"])
    assert found[True] >= 42 and found[False] <= 3, dict(found)


def test_days_under_a_condition_and_questions_for_a_yes(store):
    """Two writers' days in conditions, lists and tables, right and not, and their ways to ask for consent, and not.

    Half of the days that answer something else count: a value is bound to its object, not yet to its attribute.
    """
    read, of, fact = Counter[str](), Counter[str](), Fact(kind="date", value="2026-07-17")
    for row in rows("days_and_consent"):
        of[row["kind"]] += 1
        if row["kind"].startswith("day"):
            read[row["kind"]] += fact.told([row["text"]])
        else:
            parsed, tool = parser_of(store).parse(row["text"]), {"return": "start_return", "cancel": "cancel_order"}
            read[row["kind"]] += parsed.confirm and tool[row["act"]] in parsed.proposed
    assert of == {"day_right": 30, "day_wrong": 30, "yes": 40, "no_yes": 20}
    assert read["day_right"] >= 25 and read["yes"] >= 36, dict(read)
    assert read["day_wrong"] <= 15 and read["no_yes"] == 0, dict(read)
