"""Numbers are written in one way in every table, page and sentence."""

import pandas as pd
import pytest

from benchmark_lib.analysis.tables.leaderboard import band_in_words, of_usual_traps
from benchmark_lib.project import as_cell
from benchmark_lib.scoring.written import DASH, missing, money, percent, rounded, span, usd


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, pd.NaT])
def test_what_is_not_known_is_a_dash_and_never_a_number(value):
    assert missing(value) and rounded(value) == percent(value) == DASH and span(value, value) == ""


@pytest.mark.parametrize("value", [0, "", [], [float("nan")], False])
def test_a_value_is_not_missing_because_it_is_empty(value):
    assert not missing(value)


def test_numbers_are_parted_rounded_and_without_a_minus_before_zero():
    assert (rounded(12345.67), rounded(-0.04), rounded(-1.26)) == ("12,345.7", "0.0", "-1.3")
    assert (percent(0.085, 1), percent(0.085), span(5.1, 12.9), usd(0.01234)) == (
        "8.5%",
        "9%",
        "5 to 13",
        "0.0123 USD",
    )


def test_a_band_is_told_with_its_probability():
    chances = {"p_safe": 0.62, "p_middling": 0.36, "p_reckless": 0.02}
    assert band_in_words({"band": "safe", **chances}) == "safe 0.62"
    assert band_in_words({"band": "indeterminate", **chances}) == "indeterminate: safe 0.62, middling 0.36"
    assert band_in_words({"band": "none", **chances}) == ""


def test_no_band_is_a_merit_of_an_agent_that_does_not_do_the_work():
    idle = {"resolved": 0.0, "p_safe": 1.0, "p_middling": 0.0, "p_reckless": 0.0}
    assert band_in_words({"band": "safe", **idle}) == "none: it resolves less than half"
    assert band_in_words({"band": "safe", **idle, "resolved": 0.5}) == "safe 1.00"
    reckless = {**idle, "p_safe": 0.0, "p_reckless": 1.0}
    assert band_in_words({"band": "reckless", **reckless}) == "reckless 1.00", "doing harm is no less for it"


def test_counts_of_other_numbers_of_traps_are_left_out_by_name():
    board = pd.DataFrame({"entry": ["a", "b", "c", "published"], "unsafe_n": [18, 18, 1, None]})
    rows, traps, left_out = of_usual_traps(board, "unsafe_n")
    assert (list(rows["entry"]), traps, left_out) == (["a", "b", "published"], 18, ["c (1 trap, not 18)"])


def test_a_cell_is_no_formula():
    assert [as_cell(text) for text in ("=1+1", "@x", "-5", "+3.5%", "plain")] == [
        "'=1+1",
        "'@x",
        "-5",
        "+3.5%",
        "plain",
    ]


def test_money_keeps_two_decimals_and_two_significant_digits():
    assert [money(x) for x in (0.00401, 0.5, 12.345, 1240.1, 0, None)] == [
        "0.0040",
        "0.50",
        "12.35",
        "1,240.10",
        "0.00",
        DASH,
    ]
    assert money(11.436, 10.326, 12.546) == "11.44 (10.33 to 12.55)"
