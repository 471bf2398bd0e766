"""Cost against quality, correlations between and within models, families of models, and the plans that follow."""

import re

import numpy as np
import pytest
from made_runs import CASES, mixed, run_of
from told import numbers_in

from benchmark_lib import analysis, figures, tables
from benchmark_lib.analysis.tables.relations import vendor_of


class TestRelations:
    def test_the_frontier_is_what_nobody_beats(self):
        cost, quality = [1.0, 2.0, 3.0, 4.0, 4.0, np.nan], [0.5, 0.4, 0.8, 0.8, 0.9, 1.0]
        assert tables.on_frontier(cost, quality).tolist() == [True, False, True, False, True, False]

    @pytest.mark.parametrize(
        ("model", "family"),
        [
            ("gpt-5.5", "OpenAI"),
            ("claude-sonnet-4.6", "Anthropic"),
            ("gemini-3-flash", "Google"),
            ("gemma-4-31b", "Google"),
            ("acme/gpt-5.5", "acme"),
            ("scripted:tunable?skill=1", "scripted:tunable?skill=1"),
            ("nobody-7b", "nobody"),
        ],
    )
    def test_models_of_one_vendor_are_one_family(self, model, family):
        assert vendor_of(model) == family

    def test_what_was_run_on_a_part_of_the_cases_is_not_held_against_the_whole_without_a_word(self, tmp_path):
        runs = [
            run_of(tmp_path, m, mixed(r, s))
            for m, r, s in (("gpt-a", 0.9, 1), ("claude-b", 0.6, 2), ("grok-c", 0.4, 3))
        ]
        runs.append(
            run_of(
                tmp_path,
                "qwen-part",
                lambda c, t: True,
                cases={c: CASES[c] for c in ("track_1", "track_2", "abuse_1", "trap_1")},
            )
        )
        results = analysis.load_results(runs)
        means = tables.model_means(results).set_index("entry")
        assert means["unsafe"].isna().to_dict() == {
            "gpt-a": False,
            "claude-b": False,
            "grok-c": False,
            "qwen-part": True,
        }
        between = tables.between_models(results, n_resamples=50).set_index("metric")
        assert {2, 12} <= {*numbers_in(between.loc["resolved", "reason"])} and between.loc["unsafe", "models"] == 3
        costs = tables.cost_quality(results).set_index("entry")
        assert {4, 18} <= {*numbers_in(costs.loc["qwen-part", "reason"])} and 18 not in numbers_in(
            costs.loc["gpt-a", "reason"]
        )
        assert re.search(r"qwen-part.*4.*18", figures.cost_frontier(table=costs.reset_index()).figure.get_supxlabel())
        labels = [
            t.get_text() for t in figures.two_directions(table=tables.escalation_table(results)).get_yticklabels()
        ]
        assert "qwen-part (n = 1 and 2)" in labels and "gpt-a" in labels

    def test_between_and_within_may_differ_in_sign(self, tmp_path):
        stream = np.random.default_rng(1)

        def outcome(rate):
            return lambda c, t: bool(stream.random() < rate)

        results = analysis.load_results(*[run_of(tmp_path, f"v{i}/m", outcome(0.2 + 0.1 * i)) for i in range(6)])
        within = tables.within_models(results, n_resamples=200).set_index("metric")
        assert within.loc["resolved", "estimate"] == pytest.approx(-1.0), (
            "here a failed talk always takes one message more"
        )
        between = tables.between_models(results, n_resamples=200).set_index("metric")
        assert between.loc["resolved", "models"] == 6 and between.loc["resolved", "families"] == 6

    def test_planning_tables_know_their_plans(self):
        table = tables.power_table(2 / 18, 6 / 18, units=(18, 36), trials=(1, 3), n_simulations=200)
        assert table["conversations"].tolist() == [18, 54, 36, 108] * 2 and table["power"].between(0, 1).all()
        seen = tables.detectable_table(2 / 18, units=(18,), trials=(3,), n_simulations=100)
        assert (seen["count_b"] > 2).all()
