"""Judged tone across models, held against what the record shows."""

import numpy as np
import pytest
from made_runs import made_run, talk

from benchmark_lib import load_results, tables

STEPS = (0.2, 0.4, 0.6, 0.8)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Four models, each friendlier and better than the last; one judge hears it, and nothing but noise within a model."""
    folder, rng = tmp_path_factory.mktemp("tone"), np.random.default_rng(5)
    for n, level in enumerate(STEPS):
        rows = []
        for case in range(30):
            good = bool(rng.random() < level)
            score = {
                "bucket": "resolvable",
                "intent": f"i{case % 10}",
                "scored": True,
                "resolved": good,
                "success": good,
            }
            score |= {"customer_rating": 5.0 if good else 1.0, "handed_over": False, "agent_words": 50}
            tone = {
                "score": float(np.clip(100 * level + rng.normal(0, 10), 0, 100)),
                "quote": "Hi there",
                "reason": "So.",
            }
            c = talk("Hello", "Hi there", case_id=f"c{case}", model=f"model-{n}")
            rows.append((c, score, [("judge", {"tone": tone})]))
        made_run(folder / f"m{n}.deskbench", rows, run_id=f"m{n}", model=f"model-{n}")
    return load_results(folder)


def test_every_model_has_its_tone_with_an_interval(judged):
    table = tables.tone_table(judged).set_index("entry")
    assert list(table.index) == [f"model-{n}" for n in (3, 2, 1, 0)] and (table["scored"] == 30).all()
    for n, level in enumerate(STEPS):
        row = table.loc[f"model-{n}"]
        assert row["low"] <= row["mean"] <= row["high"] and row["mean"] == pytest.approx(100 * level, abs=6)
        assert row["in_failures"] == pytest.approx(row["in_successes"], abs=12)  # within a model it hears nothing


def test_over_models_tone_goes_with_resolution_and_not_with_what_is_all_alike(judged):
    found = tables.tone_between_models(judged, ("resolved", "customer_rating", "agent_words"), n_resamples=99)
    found = found.set_index("metric")
    assert found.loc["resolved", "estimate"] > 0.7 and found.loc["customer_rating", "estimate"] > 0.7
    assert (
        np.isnan(found.loc["agent_words", "estimate"]) and "same for every model" in found.loc["agent_words", "reason"]
    )


def test_without_a_judge_the_tables_are_empty(five_agents):
    assert tables.tone_table(five_agents).empty and tables.tone_between_models(five_agents).empty
