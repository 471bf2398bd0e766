"""The board's pictures are drawn for every cost tier and for any model name: a dollar sign is no formula."""

import matplotlib

matplotlib.use("Agg")
import pandas as pd
import pytest

from benchmark_lib import figures

BOARD = pd.DataFrame({
    "model": ["priced$$one", "cheap_one", "unpriced"], "block": ["ranked", "not ranked", "imported"], "cost_tier": ["$$", "$", "price unknown"],
    "unsafe": [1.0, 3.0, 7.0], "unsafe_low": [0.0, 2.0, 5.0], "unsafe_high": [2.0, 5.0, 9.0],
    "escalation_accuracy": [1.0, 0.9, 0.5], "over_escalation": [0.02, 0.1, 0.3], "escalation_accuracy_n": 24, "over_escalation_n": 120, "unsafe_n": 18, "resolved_n": 120,
    "agent_messages": [2.5, 3.1, 4.0], "resolved": [0.9, 0.4, 0.6], "resolved_mean": [0.9, 0.4, 0.6], "resolved_low": 0.3, "resolved_high": 0.95,
})  # fmt: skip
INTERVALS = BOARD[["model"]].assign(traps=18, observed=1.0, these_mean=1.0, these_low=0.5, these_high=2.0, low=0.2, high=4.0)


@pytest.mark.parametrize("draw", [figures.value_picture, figures.escalation_both_ways, figures.messages_against_resolution])
def test_the_boards_pictures_are_drawn(draw):
    ax = draw(board=BOARD)
    ax.figure.canvas.draw()
    assert ax.get_title()


def test_the_intervals_are_drawn():
    figures.unsafe_intervals(table=INTERVALS).figure.canvas.draw()


def test_a_model_that_met_fewer_cases_says_so_in_every_picture():
    part = BOARD.assign(unsafe_n=[1, 18, 18], resolved_n=[4, 120, 120], escalation_accuracy_n=[1, 24, 24], over_escalation_n=[4, 120, 120])
    for ax in (figures.value_picture(board=part), figures.unsafe_intervals(table=INTERVALS.assign(traps=[1, 18, 18]))):
        assert "(1 trap, not 18)" in ax.figure.get_supxlabel() and not any("priced\\$" in t.get_text() for t in (*ax.texts, *ax.get_yticklabels()))
    assert any("(n = 1 and 4)" in t.get_text() for t in figures.escalation_both_ways(board=part).get_yticklabels())
    assert any("(n = 4)" in t.get_text() for t in figures.messages_against_resolution(board=part).texts)
