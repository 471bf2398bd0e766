"""Open or closed weights: stated by a dated file, unknown where nobody states it, and a filter wherever models are listed."""

import asyncio

import pytest
from browser import open_browser, open_page
from made_runs import change_manifest, mixed, run_of

from benchmark_lib import BadInput, Experiment, load_results, reports, tables
from benchmark_lib.endpoint.prices import WEIGHTS, find_weights, load_weights, weights_of_run
from benchmark_lib.reports.site import build_site
from benchmark_lib.runfile import RunFile


@pytest.mark.parametrize(
    ("model", "weights"),
    [
        ("gpt-5.5", "closed"),
        ("z-ai/GLM-5.2", "open"),
        ("claude-haiku-4.5", "closed"),
        ("smollm2-135m-instruct", "open"),
    ],
)
def test_the_file_states_it_with_source_and_date(model, weights):
    found = find_weights(model)
    assert found.weights == weights and found.source and found.as_of


def test_every_entry_says_where_and_when():
    assert all(e.weights in ("open", "closed") and e.source and e.as_of for e in load_weights(WEIGHTS))


def test_what_nobody_states_is_unknown_and_an_agent_is_no_model():
    model = {"model": "acme-large", "source": "model", "inputs": {}, "sessions": []}
    assert weights_of_run(model) == "unknown"
    assert weights_of_run(model | {"source": "scripted", "model": "gpt-5.5"}) == "no model"


def test_a_wrong_word_is_refused(tmp_path):
    bad = tmp_path / "weights.yaml"
    bad.write_text("models:\n  - {model: x, weights: ajar}\n")
    with pytest.raises(BadInput, match="models: entry 1, weights: input should be 'open' or 'closed'"):
        find_weights("x", bad)
    for wrong, said in {
        "{a: 1}": "models: input should be a valid list",
        "[x]": "models: entry 1: input should be",
    }.items():
        bad.write_text(f"models: {wrong}\n")
        with pytest.raises(BadInput, match=f"yaml: {said}"):
            load_weights(bad, len(wrong))


def test_a_date_and_a_source_may_be_left_empty(tmp_path):
    path = tmp_path / "weights.yaml"
    path.write_text(
        "models:\n  - {model: x, weights: open, as_of: , source: ''}\n  - {model: y, weights: closed, as_of: 2026-01-02}"
    )
    assert [(e.as_of, e.source) for e in load_weights(path)] == [("", ""), ("2026-01-02", "")]


def test_it_is_a_column_of_the_board_and_a_filter(tmp_path):
    runs = [run_of(tmp_path, name, mixed(0.7, n)) for n, name in enumerate(("acme", "gpt-5.5", "glm-5.2"))]
    results = load_results(*runs)
    board = tables.leaderboard(results).set_index("entry")
    assert board["weights"].to_dict() == {"acme": "unknown", "gpt-5.5": "closed", "glm-5.2": "open"}
    assert set(reports.readable_board(tables.leaderboard(results))["Weights"]) == {"unknown", "closed", "open"}
    assert set(results.where(weights="open")["entry"]) == {"glm-5.2"}
    assert results.facets["weights"].value_counts().to_dict() == {"closed": 54, "open": 54, "unknown": 54}


def test_the_board_of_the_site_is_filtered_by_it(tmp_path):
    out = tmp_path / "x.deskbench"
    asyncio.run(Experiment("scripted:oracle", cases="tracking_1", trials=1, out=out, progress=False).run())
    change_manifest(out, model="kimi-k2.6-acme", source="model", sessions=[])
    site = build_site(load_results(RunFile(out)), tmp_path / "site", published=True)
    with open_browser() as browser, open_page(browser) as (page, seen):
        page.goto((site.path / "index.html").as_uri())
        for value in ("closed", "unknown"):
            page.click(f'.chip[data-filter=weights][data-value="{value}"]')
        shown = page.locator("#board tr.row:visible")
        assert {row.get_attribute("data-weights") for row in shown.all()} == {"open"}
        names = shown.locator("th > a").all_inner_texts()
        assert "kimi-k2.6-acme" in names and "glm-5.2" in names and "gpt-5.5" not in names
        assert not seen.errors
