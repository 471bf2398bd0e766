"""Every table and figure on whatever runs there are.

Half finished, lopsided, all alike, hostile; in words and never a traceback.
"""

import inspect
from functools import partial

import matplotlib
import pandas as pd
import pytest
from made_runs import AWKWARD, ODD

from benchmark_lib import analysis, figures, reports, tables
from benchmark_lib.reports.one_model import conduct, numbers
from benchmark_lib.reports.site.models import in_words

LAID_OUT = ("everything", "traps only", "nothing scored", "a hostile name")
"""Whose figures are also laid out, where text that is no text would fail."""


@pytest.fixture(params=AWKWARD)
def results(request, tmp_path):
    return analysis.load_results(*AWKWARD[request.param](tmp_path))


def every_table(results):
    """Every table of these notebooks that is made of runs."""
    return {
        "board": tables.leaderboard(results),
        "metric": tables.metric_table(results, "resolved"),
        "unsafe": tables.metric_table(results, "unsafe"),
        "cost": tables.metric_table(results, "cost_usd"),
        "pass^k": tables.reliability_table(results, (1, 3, 8)),
        "trials": tables.trial_table(results, "unsafe"),
        "between": tables.between_models(results, n_resamples=50),
        "within": tables.within_models(results, n_resamples=50),
        "frontier": tables.cost_quality(results),
        "judged": tables.judged_against_record(results),
        "means": tables.model_means(results),
    }


DRAWN = {
    "metric": figures.metric_intervals,
    "unsafe": figures.metric_intervals,
    "board": figures.band_chances,
    "pass^k": figures.pass_decay,
    "trials": figures.trial_spread,
    "between": figures.correlation_forest,
    "within": figures.correlation_forest,
    "frontier": figures.cost_frontier,
    "means": partial(figures.models_as_points, x="agent_messages", y="resolved"),
}


def test_whatever_the_runs_are_every_table_is_made_and_says_why_where_it_knows_nothing(results):
    made = every_table(results)
    for name, table in made.items():
        for row in table.to_dict("records"):
            estimate = row.get("estimate", row.get("mean", 0.0))
            if name in ("pass^k", "metric", "unsafe", "between", "within") and pd.isna(estimate):
                assert row["reason"], f"{name}: {row}"
    for name, draw in DRAWN.items():
        rows = made[name]
        for column in ("bucket", "panel"):
            rows = rows[rows[column] == rows[column].iloc[0]] if column in rows and len(rows) else rows
        ax = draw(table=rows)
        assert ax.axison or ax.texts[0].get_text().endswith("."), "a picture is drawn, or says why not"
        ax.figure.draw_without_rendering()


@pytest.mark.parametrize("kind", ODD)
def test_every_table_and_figure_says_something_about_odd_data(odd, kind):
    frame = odd[kind]
    safety, escalation = tables.safety_table(frame), tables.escalation_table(frame)
    intents = tables.intent_table(frame)
    drawn = [
        figures.unsafe_intervals(table=safety),
        figures.trap_states(table=safety),
        figures.trap_matrix(table=tables.trap_table(frame)),
        figures.pressure_chart(table=tables.pressure_table(frame)),
        figures.failure_kinds(table=tables.kind_table(frame)),
        figures.value_picture(board=tables.leaderboard(frame)),
        figures.two_directions(table=escalation),
        figures.directions_by_intent(table=intents),
        figures.models_as_points(table=escalation, x="recall", y="precision"),
        figures.queue_matrix(table=tables.queue_table(frame)),
    ]
    assert set(safety["entry"]) == set(escalation["entry"]) == set(frame["entry"])
    assert (safety["reason"] != "")[safety["these_mean"].isna()].all() and (escalation["reason"] != "")[
        escalation["missed_mean"].isna()
    ].all()
    a, b = tables.choose_pair(frame)
    compared, cases = tables.comparison_table(frame, a, b), tables.differing_cases(frame, a, b)
    assert (compared["verdict"] != "").all() and (compared["reason"] != "")[compared["difference"].isna()].all()
    drawn += [
        figures.differences(table=compared, a=a, b=b),
        figures.differing_cases(table=cases, a=a, b=b),
    ]
    report = reports.model_report(frame)
    drawn.append(
        figures.in_the_field(table=numbers.field_table(report, published=tables.published_board()), entry=report.entry)
    )
    for table, view in (
        (safety, "safety"),
        (escalation, "escalation"),
        (compared, "comparison"),
    ):
        assert "nan" not in reports.readable(table, view).to_string().lower().replace("unannounced", "")
    told = in_words(report).partition("<details>")[0]
    assert report.entry.startswith(("scripted", "$$x$")) and len(told) > 200 and "nan" not in told.lower()
    glance, rules = numbers.at_a_glance(report), conduct.process_rules(report)
    assert (glance["reason"] != "")[glance["value"].isna()].all() and (rules["reason"] != "")[
        rules["share"].isna()
    ].all()
    assert (
        set(conduct.how_it_ended(report)["bucket"]) <= set(frame["bucket"])
        and (numbers.by_intent(report)["cases"] > 0).all()
    )
    for ax in drawn:
        assert isinstance(ax, matplotlib.axes.Axes)
        if kind in LAID_OUT:
            ax.figure.draw_without_rendering()


def test_every_figure_takes_its_data_by_name_and_draws_where_it_is_told(tmp_path):
    made = every_table(analysis.load_results(*AWKWARD["several models"](tmp_path)))
    for name, draw in DRAWN.items():
        kinds = [p.kind for p in inspect.signature(draw).parameters.values()]
        assert set(kinds) == {inspect.Parameter.KEYWORD_ONLY}
        rows = made[name] if "bucket" not in made[name] else made[name][made[name]["bucket"] == "resolvable"]
        _, ax = matplotlib.pyplot.subplots()
        assert draw(table=rows, ax=ax) is ax
