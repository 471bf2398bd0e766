"""One contract for a metric.

Its scale writes its values, its estimator gives its headline, and a new one needs no other edit.
"""

import asyncio

import pandas as pd
import pytest

from benchmark_lib import Experiment, figures, load_results, tables
from benchmark_lib.analysis.dictionary import DICTIONARY
from benchmark_lib.analysis.tables.headlines import ESTIMATORS, headline, per_case
from benchmark_lib.reports.html import readable_board
from benchmark_lib.reports.one_model import model_report
from benchmark_lib.reports.one_model.numbers import at_a_glance
from benchmark_lib.reports.terminal import readable
from benchmark_lib.scoring.metrics import COUNT, METRICS, SHARE, Metric, Shown, number, shown_on

NEW = (
    Metric(
        "success_everywhere",
        "Success everywhere",
        "success",
        None,
        SHARE,
        True,
        "Share of conversations that succeeded.",
    ),
    Metric(
        "solvable_turns",
        "Turns",
        "turns",
        "resolvable",
        number("messages"),
        None,
        "Customer messages per resolvable conversation.",
    ),
    Metric(
        "kept",
        "Handovers",
        "handed_over",
        "must_escalate",
        COUNT,
        True,
        "Cases handed over, out of all that need a human.",
    ),
)
"""One metric of each scale that nobody has declared."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for i, agent in enumerate(
        ("scripted:oracle", "scripted:escalate_all", "scripted:tunable?skill=0.70&credulity=0.30&caution=0.30")
    ):
        options = dict(
            cases="tracking,must_escalate,adversarial", trials=3, progress=False, out=folder / f"{i}.deskbench"
        )
        asyncio.run(Experiment(agent, **options).run())
    return load_results(folder)


def test_every_metric_is_made_of_a_declared_column_by_a_known_estimator():
    for metric in METRICS.values():
        assert DICTIONARY["conversations"][metric.column].kind in ("flag", "count", "number"), metric.name
        assert metric.estimator in ESTIMATORS and metric.definition.endswith("."), metric.name


def test_a_frame_names_a_column_and_the_run_file_keeps_its_field(results):
    kept = {digest: found for run in results.runs for digest, found in run.scores().items()}
    frame = results.conversations.set_index("record_hash")
    for name, field in {
        "leaks_internal_notes": "said_leak",
        "ungrounded_values": "said_ungrounded",
        "packet_minimal": "packet_lean",
    }.items():
        told = frame[name].dropna()
        assert len(told) and field not in frame, name
        assert all(kept[digest][field] == value for digest, value in told.items()), name


@pytest.mark.parametrize(
    "scale, value, table, prose",
    [
        (SHARE, 0.1234, "12.3%", "12%"),
        (SHARE, 0.0, "0.0%", "0%"),
        (SHARE, -0.0, "0.0%", "0%"),
        (COUNT, 3.0, "3", "3"),
        (COUNT, 2.666, "2.7", "2.7"),
        (number("words"), 1234.56, "1,234.6", "1,234.6"),
        (number("USD", digits=4), 0.01234, "0.0123", "0.0123"),
        (number("USD", digits=4), 0, "0.0", "0.0000"),
        (SHARE, float("nan"), "–", "–"),
        (SHARE, None, "–", "–"),
    ],
)
def test_a_scale_writes_its_values(scale, value, table, prose):
    assert scale.written(value) == table and scale.written(value, brief=True) == prose


def test_an_interval_carries_its_sign_once():
    assert (
        SHARE.interval(0.051, 0.129) == "5.1 to 12.9%"
        and COUNT.interval(0, 1.23) == "0.0 to 1.2"
        and SHARE.interval(float("nan"), 1) == ""
    )


def test_a_mean_is_written_with_its_interval_as_it_is_without():
    """Half away from zero, a count with its decimals, the ends with two significant digits of their width."""
    for scale, value, mean, interval in (
        (SHARE, 0.0625, "6.3%", "1 to 23%"),
        (COUNT, 3, "3.0", "1.2 to 6.1"),
        (SHARE, 0, "0.0%", "0.0 to 8.7%"),
    ):
        low, high = (float(end) / scale.times for end in interval.removesuffix("%").split(" to "))
        assert (scale.mean(value), scale.interval(low, high)) == (mean, interval)
        assert scale.with_interval(value, low, high) == f"{mean} ({interval})"


def test_headings_and_denominators_follow_from_the_declaration():
    share, count, words = METRICS["resolved"], METRICS["unsafe"], METRICS["agent_words"]
    assert (share.heading(120), count.heading(18), words.heading(162)) == (
        "Resolved % of 120",
        "Unsafe actions of 18",
        "Agent words",
    )
    assert (share.denominator(120), count.denominator(18), words.denominator(162)) == (
        "120 resolvable",
        "of 18 traps",
        "162 cases",
    )
    assert share.axis_label == "Resolved, % of resolvable cases"


def test_what_orders_the_board_is_always_in_sight():
    assert set(shown_on(Shown.ORDER)) <= set(shown_on(Shown.MAIN)) <= set(shown_on(Shown.BOARD))


def test_a_headline_is_on_the_metrics_scale_and_its_per_case_pair_is_not(results):
    mine = results.conversations[results.conversations["model"].str.contains("tunable")]
    count, share = headline(mine, "unsafe"), per_case(mine, "unsafe")
    assert count.mean.estimate == pytest.approx(18 * share.mean.estimate) and count.n == share.n == 18
    assert count.mean.low < count.mean.estimate < count.mean.high and count.like_these.high > count.mean.high
    assert headline(mine, "resolved") == per_case(mine, "resolved")


def test_traps_that_were_not_scored_say_nothing(results):
    board = tables.leaderboard(
        results.conversations.assign(unsafe=pd.array([None] * len(results.conversations), dtype="boolean"))
    )
    assert board[["unsafe", "unsafe_mean", "unsafe_low", "unsafe_high", "p_safe", "p_reckless"]].isna().all(axis=None)
    assert board["notes"].str.contains("unsafe actions: no trap was scored").all()


def test_a_metric_that_is_declared_stands_everywhere(results, monkeypatch):
    for metric in NEW:
        monkeypatch.setitem(METRICS, metric.name, metric)
    board = tables.leaderboard(results)
    models = list(board["model"])
    glance = at_a_glance(model_report(results, models[-1])).set_index("metric")
    compared = tables.comparison_table(results, *models[:2]).set_index("metric")
    for metric in NEW:
        n = int(board[f"{metric.name}_n"].iloc[0])
        assert board[f"{metric.name}_mean"].between(board[f"{metric.name}_low"], board[f"{metric.name}_high"]).any(), (
            metric.name
        )
        table = tables.metric_table(results, metric.name)
        shown = readable(table, "metric")["Mean (95%)"].iloc[0]
        assert ("%" in shown) == (metric.scale is SHARE)
        drawn = figures.metric_intervals(table=table[table["panel"] == "scripted agents"])
        assert metric.axis_label in " ".join(drawn.get_xlabel().split()) and "n = " in figures.caption(drawn)
        assert glance.loc[metric.name, "title"] == metric.title and compared.loc[metric.name, "cases"] == n
    best = board.set_index("model").loc["scripted:escalate_all"]
    assert best["kept"] == best["kept_mean"] == best["kept_n"] == 24, "a count is the sum over the cases of a trial"


def test_the_board_prints_a_headline_as_two_things(results):
    shown = readable_board(tables.leaderboard(results))
    for name in shown_on(Shown.BOARD):
        title = METRICS[name].title
        assert [c for c in shown if c.startswith(title) and c.endswith(", median")] and f"{title}, mean (95%)" in shown
    assert shown["Unsafe actions, mean (95%)"].iloc[0].startswith("0.0 (0.0 to ")
