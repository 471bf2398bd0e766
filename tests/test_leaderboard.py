"""The leaderboard: what is ranked together, what is listed apart and why, and that no composite is made."""

import re

import pandas as pd
from made_runs import AWKWARD, CASES, mixed, run_of
from told import numbers_in

from benchmark_lib import analysis, figures, reports, tables
from benchmark_lib.reports.shown import weighed_order


class TestTheBoard:
    def board(self, tmp_path, name):
        return tables.leaderboard(analysis.load_results(*AWKWARD[name](tmp_path))).set_index("entry")

    def test_a_half_finished_run_is_counted_against_its_plan_and_not_ranked(self, tmp_path):
        board = self.board(tmp_path, "half finished")
        assert {1, 7, 54} <= {*numbers_in(board.loc["half", "notes"])} and "not ranked" in board.loc["half", "notes"]
        assert board.loc["whole", "rank"] == 1 and pd.isna(board.loc["half", "rank"])

    def test_a_run_that_has_nothing_yet_is_listed(self, tmp_path):
        board = self.board(tmp_path, "begun beside finished")
        assert numbers_in(board.loc["begun", "notes"]) == [54]

    def test_other_cases_and_other_versions_are_not_ranked_together(self, tmp_path):
        board = self.board(tmp_path, "other cases")
        assert board["rank"].tolist() == [1, pd.NA] and {12, 18} <= {*numbers_in(board.loc["b", "notes"])}
        (tmp_path / "v").mkdir()
        board = self.board(tmp_path / "v", "other versions")
        assert re.search("northline 2.*northline 1.*not ranked", board.loc["c", "notes"])
        places = tables.rank_table(analysis.load_results(tmp_path / "v"), "resolved").set_index("entry")
        assert pd.isna(places.loc["c", "rank"]) and "not ranked" in places.loc["c", "reason"]

    def test_a_run_on_few_cases_does_not_spoil_the_places_of_the_others(self, tmp_path):
        few = {c: CASES[c] for c in ("track_1", "gift_1", "trap_1")}
        results = analysis.load_results(
            *AWKWARD["zeros against ones"](tmp_path), run_of(tmp_path, "few", lambda c, t: True, cases=few)
        )
        places = tables.rank_table(results, "resolved").set_index("entry")
        assert numbers_in(places.loc["few", "reason"]) == [2, 12] and pd.isna(places.loc["few", "rank"])
        assert places.loc[["good", "bad"], "rank"].tolist() == [1, 2] and places.loc["good", "cases"] == 12

    def test_a_partial_run_stands_below_whole_ones_and_has_no_place(self, tmp_path):
        """However well it did, and however much of it is there: half of the cases, a trial too few, or fewer cases planned."""
        runs = [
            run_of(tmp_path, "half", lambda c, t: True if c < "gift" or c > "promo" else "absent"),
            run_of(tmp_path, "stopped", lambda c, t: True if t < 3 else "absent"),
            run_of(tmp_path, "most", lambda c, t: True, cases={c: v for c, v in CASES.items() if c != "gift_1"}),
            run_of(tmp_path, "whole", mixed(0.6, 2)),
            run_of(tmp_path, "other", mixed(0.5, 3)),
        ]
        results = analysis.load_results(*runs)
        places = tables.rank_table(results, "resolved").set_index("entry")
        assert places["rank"].dropna().to_dict() == {"whole": 1, "other": 2} and places.loc["whole", "of"] == 2
        assert places["reason"].str.endswith(": not ranked").equals(places["rank"].isna())
        assert list(tables.metric_table(results, "resolved")["entry"])[-2:] == ["half", "stopped"]
        order = weighed_order(tables.leaderboard(results), {"resolved": 1.0}).set_index("entry")
        assert order.loc[["half", "stopped"], "place"].isna().all() and order.loc["whole", "place"] == 2

    def test_a_run_on_few_cases_says_so_in_every_picture(self, tmp_path):
        few = {c: CASES[c] for c in ("track_1", "abuse_1", "trap_1")}
        results = analysis.load_results(
            run_of(tmp_path, "few", lambda c, t: True, cases=few), run_of(tmp_path, "whole", mixed(0.6, 2))
        )
        curves, states = (
            tables.reliability_table(results),
            tables.safety_table(results).assign(unsafe_share=0.0, held_share=1.0),
        )
        labels = [t.get_text() for t in figures.pass_decay(table=curves[curves["bucket"] == "adversarial"]).texts]
        labels += [
            t.get_text() for t in figures.two_directions(table=tables.escalation_table(results)).get_yticklabels()
        ]
        assert labels.count("few (n = 1)") == 1 and "few (n = 1 and 1)" in labels
        drawn = figures.trap_states(table=states)
        assert [t.get_text() for t in drawn.get_yticklabels()] == ["whole"]
        assert drawn.figure.get_supxlabel().startswith("Not drawn: few (1 trap, not 3)")
        kinds = figures.failure_kinds(
            table=pd.DataFrame({"entry": ["few", "whole"], "kind": "free_goods", "traps": [1, 3], "count": [0.0, 1.0]})
        )
        assert "few" in kinds.figure.get_supxlabel() and numbers_in(kinds.figure.get_supxlabel()) == [1, 3]
        assert [t.get_text() for t in kinds.get_yticklabels()] == ["whole"]

    def test_runs_of_one_model_are_rows_of_their_own(self, tmp_path):
        first, second = (
            run_of(tmp_path / name, "m", mixed(0.7, i)) for i, name in enumerate("ab") if not (tmp_path / name).mkdir()
        )
        board = tables.leaderboard(analysis.load_results(first, second))
        assert sorted(board["entry"]) == sorted([f"m [{first.run_id}]", f"m [{second.run_id}]"])

    def test_no_composite_stands_anywhere_and_own_weights_are_kept_nowhere(self, tmp_path):
        board = self.board(tmp_path, "several models").reset_index()
        assert not [c for c in board if "total" in c or "composite" in c or "overall" in c]
        before = board.copy()
        order = weighed_order(board, {"resolved": 1.0, "unsafe": 0.0})
        assert order["place"].tolist() == sorted(order["place"]) and list(order.columns) == [
            "place",
            "entry",
            "block",
            "Resolved",
            "Unsafe actions",
        ]
        assert order["entry"].iloc[0] == board.loc[board["resolved"].idxmax(), "entry"]
        reports.weigh(board)
        pd.testing.assert_frame_equal(board, before)
