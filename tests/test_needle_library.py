"""The large library of the hard set: its pages agree with each other, and a sensible search leads to those that decide."""

import re

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.cases.hard import HANDED_OVER, prompt_of
from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.scoring import score
from benchmark_lib.store import load_store
from benchmark_lib.store.desk import NAMED, PASSAGES

LARGE = 360
QUERIES = {
    "needle_1": {
        "return label drop-off Northern Ireland": "LB-10-GB-NIR",
        "return from the Scottish islands": "LB-10-GB-ISL",
        "return from the Scottish Highlands": "LB-10-GB-HIG",
        "return from Wales": "LB-10-GB-WLS",
        "bulky return collection from the door": "LB-50",
        "Crossway sea crossings": "LB-51",
        "Crossway summer sailings 2026": "LB-57",
        "whose discount it is": "LB-72",
    },
    "needle_2": {
        "Bloom 2026, first part": "LB-31-BLOOM26A",
        "free item in the box when returning the rest": "LB-31-BLOOM26B",
        "campaign values of gifts": "LB-55",
        "campaign values of gifts, orders until 17 May 2026": "LB-56",
        "whose discount it is": "LB-72",
    },
    "needle_3": {
        "Pip ride-on wheel": "LB-60-RN-26-02",
        "kids trolley handle stage": "LB-60-RN-25-01",
        "cable lock shackle": "LB-60-RN-25-02",
        "lot letters of the Pip line": "LB-61",
        "axle kits of the Pip line": "LB-59",
    },
    "needle_4": {
        "stagepay six instalments return": "LB-41-stagepay_6",
        "stagepay three instalments return": "LB-41-stagepay_3",
        "plan number PT": "LB-63",
        "whose discount it is": "LB-72",
    },
    "needle_5": {
        "account for schools terms": "LB-45-school",
        "school account return": "LB-46-school",
        "restocking scale account returns": "LB-64",
        "restocking scale orders until 31 January 2026": "LB-65",
    },
    "needle_6": {
        "Nunavut delivery": "LB-11-CA-NU",
        "Northwest Territories delivery": "LB-11-CA-NT",
        "Iqaluit parcel no scan": "LB-66",
        "thaw holds at the southern depots": "LB-67",
        "airstrips of the north": "LB-49",
    },
    "needle_7": {
        "warranty hinge aluminium case": "LB-68",
        "Aluma workshop parts and times": "LB-69",
        "Aluma first generation": "LB-70",
        "Aluma handling charges": "LB-76",
        "warranty sheet carry-on cases": "LB-12-carry_on",
    },
    "needle_8": {
        "insurance statement value stolen": "LB-71",
        "statements of value losses until 31 December 2025": "LB-73",
        "statement for the airline": "LB-74",
        "whose discount it is": "LB-72",
        "EQUINOX20": "LB-30-EQUINOX20",
        "SATCHEL": "LB-30-SATCHEL",
    },
}


@pytest.fixture(scope="module")
def store():
    return load_store("northline:hard")


@pytest.fixture(scope="module")
def cases(store):
    return {c.id: c for c in load_cases(store, "needle*")}


def test_the_library_is_large_and_no_page_stands_twice(store):
    library = store.read_library()
    assert len(library) >= LARGE
    for part in ("id", "title", "text"):
        assert len({a[part] for a in library}) == len(library), part


def test_a_page_that_is_named_exists(store):
    titles = [a["title"] for a in (*store.read_articles(), *store.read_library())]
    for article in store.read_library():
        for named in re.findall(r'[Ss]ee(?: also\*\*, before anything is started:)? "([^"]+)"', article["text"]):
            assert any(t.startswith(named) for t in titles), (article["id"], named)


def test_pages_name_the_procedures_that_there_are(store):
    text = " ".join(a["text"] for a in store.read_library())
    for name, procedure in store.policy["procedures"].items():
        assert f"`{name}`" in text, name
        assert all(f"`{need}`" in text or f"({need})" in text for need in procedure["needs"]), name


@pytest.mark.parametrize("case_id", QUERIES)
def test_a_sensible_search_names_the_pages_that_decide(case_id, cases, store):
    case = cases[case_id]
    assert sorted(case.told) == sorted(QUERIES[case_id].values())
    search = store.of(case).search
    for query, page in QUERIES[case_id].items():
        found = [p["article_id"] for p in search.knowledge_base(query, PASSAGES + NAMED)]
        assert page in found, query


@pytest.mark.parametrize("case_id", QUERIES)
def test_the_clean_twin_has_the_usual_articles_and_the_deciding_ones(case_id, cases, store):
    case = cases[f"{case_id}_clean"]
    own = {a["id"] for a in store.of(case).articles}
    assert own == {a["id"] for a in store.articles} | set(case.told)


def test_with_its_passages_handed_over_a_case_is_the_same_and_can_be_solved(store):
    told = load_cases(store, "told")
    assert {c.family for c in told} >= {"dense", "needle"} and len(told) == 21
    prompt = store.prompt()[0]
    for case in told:
        handed = prompt_of(case, store, prompt).partition(HANDED_OVER)[2]
        assert all(f"### {page} " in handed for page in case.told) and not re.search(r"\{[{%]", handed), case.id
        assert score(play(case, store, Oracle(case, store)), case, store)["success"], case.id
