"""The board's pictures are drawn for every cost tier and for any model name: a dollar sign is no formula."""

from xml.etree import ElementTree

import pandas as pd
import pytest
from told import numbers_in

from benchmark_lib import figures, reports
from benchmark_lib.figures.svg import as_svg

BOARD = pd.DataFrame(
    {
        "entry": ["priced$$one", "cheap_one", "unpriced"],
        "block": ["models", "set apart", "imported"],
        "cost_tier": ["$$", "$", "price unknown"],
        "unsafe": [1.0, 3.0, 7.0],
        "unsafe_mean": [1.2, 3.3, 7.5],
        "unsafe_worst": [2.0, 4.0, 8.0],
        "unsafe_low": [0.0, 2.0, 5.0],
        "unsafe_high": [2.0, 5.0, 9.0],
        "escalation_accuracy": [1.0, 0.9, 0.5],
        "over_escalation": [0.02, 0.1, 0.3],
        **{f"escalation_accuracy_{end}": value for end, value in (("mean", 0.8), ("low", 0.7), ("high", 0.95))},
        **{f"over_escalation_{end}": value for end, value in (("mean", 0.1), ("low", 0.05), ("high", 0.2))},
        "escalation_accuracy_n": 24,
        "over_escalation_n": 120,
        "unsafe_n": 18,
        "trials": 3,
        "source": "model",
        "cost_usd_mean": float("nan"),
        "cost_usd_low": float("nan"),
        "cost_usd_high": float("nan"),
        "resolved_n": 120,
        "agent_messages": [2.5, 3.1, 4.0],
        "resolved": [0.9, 0.4, 0.6],
        "resolved_mean": [0.9, 0.4, 0.6],
        "resolved_low": 0.3,
        "resolved_high": 0.95,
    }
)
INTERVALS = BOARD[["entry"]].assign(
    traps=18, worst=2.0, observed=1.0, these_mean=1.0, these_low=0.5, these_high=2.0, low=0.2, high=4.0
)


@pytest.mark.parametrize("draw", [figures.value_picture, figures.escalation_both_ways])
def test_the_boards_pictures_are_drawn(draw):
    ax = draw(board=BOARD)
    ax.figure.canvas.draw()
    assert not ax.get_title() and figures.caption(ax)


def test_an_interval_is_drawn_round_the_mean_and_never_bent_to_the_median():
    outside = BOARD.assign(unsafe=[4.0, 4.0, 4.0], unsafe_mean=[1.2, 3.3, 7.5])
    ax = figures.value_picture(board=outside)
    spans = {
        tuple(y for _, y in path.vertices)
        for drawn in ax.collections
        for path in drawn.get_paths()
        if len(path.vertices) == 2
    }
    assert {(0.0, 2.0), (5.0, 9.0)} <= spans, "whole, though the median lies outside"
    legend = [t.get_text() for t in ax.figure.legends[0].get_texts()]
    assert "models: median over trials" in legend and "mean, 95 %" in legend


def test_the_intervals_are_drawn():
    figures.unsafe_intervals(table=INTERVALS).figure.canvas.draw()


def test_names_that_differ_behind_a_dot_are_files_of_their_own(tmp_path):
    ax = figures.value_picture(board=BOARD)
    saved = {
        path.name for name in ("field gpt-5.2", "field gpt-5.4") for path in figures.save(ax, name, folder=tmp_path)
    }
    assert len(saved) == 12 == len(list(tmp_path.iterdir())) and "field-gpt-5.4.pdf" in saved


def test_a_model_that_met_fewer_cases_says_so_in_every_picture():
    part = BOARD.assign(
        unsafe_n=[1, 18, 18],
        resolved_n=[4, 120, 120],
        escalation_accuracy_n=[1, 24, 24],
        over_escalation_n=[4, 120, 120],
    )
    kinds = part[["entry"]].assign(kind="free_goods", traps=[1, 18, 18], count=1.0)
    counts = INTERVALS.assign(traps=[1, 18, 18])
    for ax in (
        figures.value_picture(board=part),
        figures.unsafe_intervals(table=counts),
        figures.failure_kinds(table=kinds),
    ):
        assert numbers_in(ax.figure.get_supxlabel()) == [1, 18] and not any(
            "priced$" in t.get_text() for t in (*ax.texts, *ax.get_yticklabels())
        )
    assert any("(n = 1 and 4)" in t.get_text() for t in figures.escalation_both_ways(board=part).get_yticklabels())
    five = pd.concat([part, part[1:].assign(entry=["more", "most"])], ignore_index=True).assign(agent_messages_n=120)
    ax = figures.models_as_points(table=five, x="agent_messages", y="resolved")
    assert any("(n = 120 and 4)" in t.get_text() for t in ax.texts)
    assert "3 models with" in figures.models_as_points(table=part, x="agent_messages", y="resolved").texts[0].get_text()


def test_a_set_of_fewer_traps_is_drawn_at_its_own_size_and_without_bands():
    few = INTERVALS.assign(traps=6)
    ax = figures.unsafe_intervals(table=few)
    said = " ".join([ax.get_xlabel(), *(t.get_text() for t in ax.figure.legends[0].get_texts())])
    assert numbers_in(said).count(6) == 2 and 18 not in numbers_in(said) and not ax.texts
    assert max(x for line in ax.lines for x in line.get_xdata()) == pytest.approx(2.0), "4 per 18 traps is 1.3 per 6"
    assert not any(t.get_text() == "reckless" for t in figures.value_picture(board=BOARD.assign(unsafe_n=6)).texts)
    assert (
        "no bands"
        in figures.band_chances(table=BOARD.assign(p_safe=float("nan"), p_middling=float("nan"))).texts[0].get_text()
    )


def test_published_counts_stand_beside_runs_on_as_many_traps_only():
    tiers = pd.DataFrame(
        {
            "panel": ["models", "published"],
            "entry": ["few", "theirs"],
            "family": ["a", "b"],
            "cost_tier": "$",
            "block": ["models", "published"],
            "trials": 3,
            "unsafe_n": [6.0, 18.0],
            "unsafe": [1.0, 3.0],
            **dict.fromkeys(("unsafe_mean", "unsafe_low", "unsafe_high", "unsafe_worst"), float("nan")),
        }
    )
    ax = figures.value_picture(board=pd.concat([tiers, tiers[1:].assign(entry="others")], ignore_index=True))
    assert (
        "few" in ax.figure.get_supxlabel()
        and 6 in numbers_in(ax.figure.get_supxlabel())
        and not any("few" in t.get_text() for t in ax.texts)
    )


HOSTILE = "<script>alert(1)</script>\"'&]]><a href='javascript:x'>\u202e$x^2$\x00"
PLAIN = {"svg", "g", "a", "text", "path", "use", "defs", "clipPath", "rect"}


def test_a_drawing_for_a_page_is_the_same_every_time_and_a_name_in_it_is_text_alone():
    board = BOARD.assign(entry=[HOSTILE, "b", "c"])
    one, again = (
        as_svg(figures.value_picture(board=board), "v", lambda lead: {"href": "models/x.html", "data-of": lead.entry})
        for _ in range(2)
    )
    assert one == again
    elements = list(ElementTree.fromstring(one).iter())
    assert {e.tag for e in elements} <= PLAIN
    assert not [k for e in elements for k in e.attrib if k.startswith(("on", "style")) or "xlink" in k]
    assert {e.get("href") for e in elements if e.tag == "a"} == {"models/x.html"}
    assert any("<script>alert(1)" in (e.text or "") for e in elements if e.tag == "text")
    assert "[U+202E]" in one and "\u202e" not in one and "\x00" not in one


def test_scripted_agents_are_folded_below_models_and_stand_alone_where_there_are_none(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *given, **_: shown.extend(given))
    table = INTERVALS.assign(panel=["models", "scripted agents", "models"], partial="")
    assert list(reports.by_panel(table, figures.unsafe_intervals)) == ["models", "scripted agents"]
    texts = [one["text/html"] if isinstance(one, dict) else one.data for one in shown]
    assert [text.startswith("<details><summary>Scripted agents (1)") for text in texts].count(True) == 1
    assert sum("data:image/png" in text and "background:#fff" in text for text in texts) == 2
    shown.clear()
    reports.by_panel(table[1:2], figures.unsafe_intervals)
    assert not any("<details>" in one.data for one in shown if hasattr(one, "data"))
