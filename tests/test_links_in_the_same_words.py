"""Several links that were asked for, each under a heading of its own in the same words, are all told."""

from benchmark_lib.cases import load_cases
from benchmark_lib.scoring.counting import asked_for
from benchmark_lib.store import load_store


def test_links_in_the_same_words_do_not_stand_in_each_others_place():
    case = next(c for c in load_cases(load_store("northline:hard"), "tool_trouble_1") if c.id == "tool_trouble_1")
    links = {name: fact for name, fact in case.facts.items() if fact.kind == "link"}
    assert len(links) == 3
    text = "\n\n".join(f"**{name}**\n- Link: {fact.value}" for name, fact in links.items())
    assert [name for name, fact in links.items() if not fact.told([text], asked_for(case))] == []
    assert not links["link"].told([text], frozenset()), "a link that nobody asked for stands in its place"
