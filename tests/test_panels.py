"""Panels: each row is labelled for what it is, and no name is too odd for a label."""

from made_runs import HOSTILE, TUNED

from benchmark_lib import analysis, figures, tables
from benchmark_lib.analysis.panels import panel_of, panels_in, short_name


def test_every_row_is_labelled_for_what_it_is(talks):
    assert [
        panel_of(m, s)
        for m, s in (
            ("gpt-5.5", "model"),
            ("smollm2-135m-instruct", "model"),
            ("scripted:oracle", "scripted"),
            (TUNED, "scripted"),
            ("x", "published"),
            ("x", "imported"),
        )
    ] == ["models", "local model", "scripted agents", "recovery panel", "published", "imported"]
    assert [h.partition(" (")[0] for h in panels_in(analysis.conversations_of(talks))] == [
        "Scripted agents",
        "Recovery panel",
    ]
    between = tables.between_models(talks, n_resamples=20)
    assert next(iter(panels_in(between))).startswith(f"Scripted agents ({between['models'].max()}): ")
    assert (
        short_name(TUNED) == "tunable s.7 c.4 k.2"
        and "\x00" not in short_name(HOSTILE)
        and len(short_name(HOSTILE)) == 36
    )
    ax = figures.trap_matrix(table=next(iter(panels_in(tables.trap_table(talks)).values())))
    assert "not models" in ax.figure.get_supxlabel()
