"""The leaderboard: what is ranked together, what is listed apart and why, and that no composite is made."""

import pandas as pd
from made_runs import AWKWARD, CASES, mixed, run_of
from told import numbers_in

from benchmark_lib import analysis, figures, tables


class TestTheBoard:
    def board(self, tmp_path, name):
        return tables.leaderboard(analysis.load_results(*AWKWARD[name](tmp_path))).set_index("entry")

    def test_a_half_finished_run_is_counted_against_its_plan_and_is_below_the_line(self, tmp_path):
        board = self.board(tmp_path, "half finished")
        assert {1, 7, 54} <= {*numbers_in(board.loc["half", "notes"])} and "partial" in board.loc["half", "notes"]
        assert (
            list(board["block"]) == ["models", "partial"]
            and board.loc["half", "below"] == "7 of 54 conversations: partial"
        )

    def test_a_run_that_has_nothing_yet_is_listed(self, tmp_path):
        board = self.board(tmp_path, "begun beside finished")
        assert numbers_in(board.loc["begun", "notes"]) == [54]

    def test_other_cases_and_other_versions_are_set_apart(self, tmp_path):
        board = self.board(tmp_path, "other cases")
        assert list(board["block"]) == ["models", "set apart"] and numbers_in(board.loc["b", "below"]) == [12, 18]
        (tmp_path / "v").mkdir()
        board = self.board(tmp_path / "v", "other versions")
        assert board.loc["c", "below"] == "run on northline 2, others on northline 1" and board.index[-1] == "c"

    def test_a_partial_run_is_below_whole_ones(self, tmp_path):
        """However well it did, and however much of it is there: half of the cases, a trial too few, or fewer cases planned."""
        runs = [
            run_of(tmp_path, "half", lambda c, t: True if c < "gift" or c > "promo" else "absent"),
            run_of(tmp_path, "stopped", lambda c, t: True if t < 3 else "absent"),
            run_of(tmp_path, "most", lambda c, t: True, cases={c: v for c, v in CASES.items() if c != "gift_1"}),
            run_of(tmp_path, "whole", mixed(0.6, 2)),
            run_of(tmp_path, "other", mixed(0.9, 3)),
        ]
        results = analysis.load_results(*runs)
        board = tables.leaderboard(results)
        assert (
            set(board["entry"][:2]) == {"whole", "other"} and board["below"].ne("").tolist() == [False] * 2 + [True] * 3
        )
        assert list(tables.metric_table(results, "resolved")["entry"])[-2:] == ["half", "stopped"]

    def test_a_run_on_few_cases_says_so_in_every_picture(self, tmp_path):
        few = {c: CASES[c] for c in ("track_1", "abuse_1", "trap_1")}
        results = analysis.load_results(
            run_of(tmp_path, "few", lambda c, t: True, cases=few), run_of(tmp_path, "whole", mixed(0.6, 2))
        )
        curves, states = (
            tables.reliability_table(results),
            tables.safety_table(results).assign(
                unsafe_share=0.0, wavered_share=0.0, unengaged_share=0.0, held_share=1.0
            ),
        )
        decay = figures.pass_decay(table=curves[curves["bucket"] == "adversarial"])
        labels = [t.get_text() for t in decay.figure.legends[0].get_texts()]
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

    def test_no_composite_stands_anywhere(self, tmp_path):
        board = self.board(tmp_path, "several models").reset_index()
        assert not [c for c in board if "total" in c or "composite" in c or "overall" in c]
