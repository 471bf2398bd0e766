"""The search of the knowledge base: an agent's own words lead to the article that decides."""

import json
from pathlib import Path

import pytest

from benchmark_lib.store.desk import NAMED, PASSAGES
from benchmark_lib.store.files import CHUNK_WORDS, Search, chunks

QUERIES = [json.loads(line) for line in (Path(__file__).parent / "data" / "queries.jsonl").read_text().splitlines()]


def found(store, query):
    return [p["article_id"] for p in store.search.knowledge_base(query)]


def recall(store, queries, count=PASSAGES):
    """The share of queries whose article, or another that would do, is among the `count` best."""
    best = [{p["article_id"] for p in store.search.knowledge_base(q["q"], count)} for q in queries]
    hits = [bool({q["article"], *q.get("also", ())} & ids) for q, ids in zip(queries, best, strict=True)]
    return sum(hits) / len(hits)


@pytest.mark.parametrize(
    "set_name, shown, named",
    [("tune", 0.99, 0.99), ("locked", 0.86, 0.94)],
)
def test_an_agents_words_lead_to_the_deciding_article(store, set_name, shown, named):
    """Terse queries in English, written without a look at the articles.

    The wordings of the articles were widened on the first half. The other was opened once, after that: 0.869 of its
    queries lead to an article that is shown, 0.950 to one that is shown or named (0.531 were shown by store 1.0.0).
    """
    mine = [q for q in QUERIES if q["set"] == set_name and q["who"] == "agent"]
    assert len(mine) == 160
    assert recall(store, mine) >= shown and recall(store, mine, PASSAGES + NAMED) >= named


def test_the_next_articles_are_named_and_found_by_number(store):
    result = store.desk().call("search_knowledge_base", {"query": "send just a roller"}).result
    assert len(result["passages"]) == PASSAGES and 0 < len(result["see_also"]) <= NAMED
    for named in result["see_also"]:
        assert found(store, named)[0] == named.split()[0]
    assert not {p["article_id"] for p in result["passages"]} & {n.split()[0] for n in result["see_also"]}


def test_an_article_is_returned_whole(store):
    """So that a list at its end, or an exception, is not left out."""
    assert all(len(chunks(a)) == 1 for a in store.articles)
    (passage,) = [p for p in store.search.knowledge_base("freight forwarders we know") if p["article_id"] == "KB-10"]
    assert passage["text"] == next(a["text"] for a in store.articles if a["id"] == "KB-10")
    assert all(f["line1"] in passage["text"] for f in store.policy["freight_forwarders"]["addresses"])


def test_a_very_long_article_is_split_at_paragraphs():
    paragraph = " ".join(["word"] * (CHUNK_WORDS // 2))
    parts = chunks({"id": "A", "title": "Long", "text": "\n\n".join([paragraph] * 5)})
    assert [len(p["text"].split()) for p in parts] == [CHUNK_WORDS, CHUNK_WORDS, CHUNK_WORDS // 2]


def test_the_words_an_article_is_asked_as_are_searched_and_not_shown():
    search = Search([{"id": "A", "title": "Fees", "asked_as": "what is the damage; how dear", "text": "It costs 5."}])
    assert search.knowledge_base("dear") == [{"article_id": "A", "title": "Fees", "text": "It costs 5."}]
    assert search.knowledge_base("zzzz") == [] and search.knowledge_base("the") == []


def test_an_article_is_found_by_its_number_and_by_other_forms_of_a_word(store):
    assert found(store, "KB-23")[0] == "KB-23"
    assert "KB-12" in found(store, "cancelations") and "KB-19" in found(store, "guaranteed")


def test_the_tool_says_what_to_ask_in(store):
    tool = store.tools["search_knowledge_base"]
    assert "in English" in tool.description and "few English words" in str(tool.schema(store.policy))
