"""The board's pictures are drawn for every cost tier and for any model name: a dollar sign is no formula."""

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from told import numbers_in

from benchmark_lib import figures, reports
from benchmark_lib.errors import BadInput
from benchmark_lib.figures.canvas import as_svg, nothing

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


@pytest.mark.parametrize(
    "wrong, table",
    [
        (lambda: figures.escalation_both_ways(table=BOARD), "'board'.*`tables.leaderboard`"),
        (lambda: figures.unsafe_intervals(board=BOARD), "'table'.*`tables.unsafe_table`"),
        (lambda: figures.unsafe_intervals(INTERVALS), "positional.*`tables.unsafe_table`"),
    ],
)
def test_a_figure_that_is_called_with_the_wrong_table_names_the_right_one(wrong, table):
    with pytest.raises(BadInput, match=table):
        wrong()


def test_equal_rows_of_a_figure_stand_as_in_its_table_and_a_name_breaks_before_its_bracket():
    names = [f"eager-{n} [temperature 0.{n}]" for n in (3, 1, 2)]
    alike = pd.concat([INTERVALS.iloc[:1]] * 3).assign(entry=names)
    ax = figures.unsafe_intervals(table=alike, width="column")
    shown = [label.get_text() for label in ax.get_yticklabels()][::-1]
    assert shown == [name.replace(" [", "\n[") for name in names]


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
    assert "models: median over trials" in legend and "mean, 95%" in legend


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
    shapes = [shape for e in elements if e.tag == "defs" for shape in e if shape.tag == "path"]
    assert shapes and not [s for s in shapes if {"stroke", "fill"} & s.attrib.keys()], (
        "a theme colours their uses alone"
    )
    assert any("<script>alert(1)" in (e.text or "") for e in elements if e.tag == "text")
    assert "[U+202E]" in one and "\u202e" not in one and "\x00" not in one


def test_scripted_agents_are_folded_below_models_and_stand_alone_where_there_are_none(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *given, **_: shown.extend(given))
    table = INTERVALS.assign(panel=["models", "scripted agents", "models"], partial="")
    assert list(reports.by_panel(table, figures.unsafe_intervals)) == ["models", "scripted agents"]
    texts = [one.data if hasattr(one, "data") else one._repr_html_() for one in shown]
    assert [text.startswith("<details><summary>Scripted agents (1)") for text in texts].count(True) == 1
    assert sum("data:image/png" in text and "background:#fff" in text for text in texts) == 2
    shown.clear()
    reports.by_panel(table[1:2], figures.unsafe_intervals)
    assert not any("<details>" in one.data for one in shown if hasattr(one, "data"))


def test_why_a_figure_is_empty_is_shown_as_text_and_never_as_markup(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *given, **_: shown.extend(given))
    reports.show_figure(nothing(plt.figure().gca(), "No run of ![x](https://evil.example)<img src=x> for $5."))
    text = " ".join(shown[0].data.split())
    assert type(shown[0]).__name__ == "HTML", "Markdown would load the picture"
    assert "![x](https://evil.example)&lt;img" in text and "$5" in text and r"\$" not in text


def marks_of(ax):
    """The marks of a drawing by their tip, each with where it leads, in the order in which they are drawn."""
    svg = as_svg(ax, "p", lambda lead: {} if lead.to is None else {"href": str(dict(lead.to))})
    return {e.get("data-tip"): e.get("href") for e in ElementTree.fromstring(svg).iter() if e.get("data-tip")}


def left_when_hidden(ax):
    """The words and the data of a drawing that stay when all rows are hidden."""
    root = ElementTree.fromstring(as_svg(ax, "p", lambda lead: {"data-of": lead.entry}))
    for parent in list(root.iter()):
        for child in [c for c in parent if c.get("data-of")]:
            parent.remove(child)
    return [e.text if e.tag == "text" else e.tag for e in root.iter() if e.tag == "text" or e.get("clip-path")]


PUSHED = pd.DataFrame(
    [
        (entry, push, 54, unsafe, given, unsafe / 54, given / 54)
        for entry, counts in {"a": (0, 2), "b": (0, 2), "c": (0, 9)}.items()
        for push, (unsafe, given) in enumerate((n, n + (entry == "c")) for n in counts)
    ],
    columns=["entry", "push", "conversations", "unsafe", "given_way", "unsafe_share", "given_way_share"],
)
WENT = INTERVALS.assign(
    conversations=54, trials=3, held_share=0.75, wavered_share=0.0, unengaged_share=1 / 36, unsafe_share=12 / 54
)


@pytest.mark.parametrize("draw", ["value_picture", "escalation_both_ways", "trap_states"])
def test_a_page_hides_every_word_and_mark_of_a_row(draw):
    name, table = ("table", WENT) if draw == "trap_states" else ("board", BOARD)
    one, many = (
        getattr(figures, draw)(**{name: rows}) for rows in (table, pd.concat([table, table], ignore_index=True))
    )
    left = left_when_hidden(one)
    assert left == left_when_hidden(many)
    assert not any("priced" in word or "cheap" in word for word in left)


def test_a_line_of_the_pushes_is_hidden_with_its_name_and_dots():
    left = left_when_hidden(figures.pressure_chart(table=PUSHED[PUSHED["entry"] == "c"]))
    assert "c" not in left
    assert left.count("path") == left_when_hidden(figures.pressure_chart(table=PUSHED)).count("path"), (
        "grid lines alone"
    )


def test_models_with_the_same_line_of_pushes_share_marks_that_speak_for_all():
    ax = figures.pressure_chart(table=PUSHED)
    found = marks_of(ax)
    assert "a, b" in [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert "['a', 'b']" in found["a: 2 of 54; b: 2 of 54 trap conversations were unsafe by push 1"]
    assert found["c: 0 of 54 trap conversations were unsafe by push 0"] is None, "nothing to list"


def test_a_mark_says_how_many_it_counts_and_leads_nowhere_where_there_are_none():
    found = marks_of(figures.trap_states(table=WENT))
    unsafe = "unpriced: 12 of 54 trap conversations unsafe: committed or tried the forbidden act"
    assert "unsafe" in found[unsafe]
    assert [href for tip, href in found.items() if ": 0 of 54" in tip] == [None] * 3
    none = marks_of(figures.escalation_both_ways(board=BOARD.assign(over_escalation_mean=0.0)))
    assert {href for tip, href in none.items() if "cases were handed over" in tip} == {None}


def test_a_published_count_says_that_it_is_as_published():
    theirs = BOARD.assign(block="published", unsafe=5.0, unsafe_low=float("nan"), unsafe_worst=float("nan"))
    tips = [tip for tip in marks_of(figures.value_picture(board=theirs)) if "cheap_one" in tip]
    assert tips == ["cheap_one: 5 of 18 unsafe (as published); no interval published; cost tier as published: $"]


def test_an_own_model_keeps_its_name_among_published_ones_of_the_same_count():
    theirs = [BOARD[1:2].assign(entry=f"published-model-{n:02}", block="published", unsafe=4.0) for n in range(24)]
    own = BOARD[1:2].assign(entry="zz-my-own-model", unsafe=4.0, block="models")
    board = pd.concat([*theirs, own], ignore_index=True).assign(cost_tier=["$"] * 12 + ["$$"] * 12 + ["$"])
    ax = figures.value_picture(board=board, width="column")
    assert "zz-my-own-model" in [text.get_text() for text in ax.texts]


def test_a_model_keeps_its_colour_whatever_is_drawn_beside_it():
    def color(table):
        ax = figures.pressure_chart(table=table, named=1)
        return next(line.get_color() for line in ax.lines if line.get_linewidth() > 1)

    lower = PUSHED.assign(unsafe_share=PUSHED["unsafe_share"].mask(PUSHED["entry"] == "a", 0.9))
    with_all = figures.pressure_chart(table=PUSHED)
    legend = {
        t.get_text(): h.get_color()
        for t, h in zip(with_all.figure.legends[0].get_texts(), with_all.figure.legends[0].legend_handles)
    }
    assert color(PUSHED) == legend["c"]
    assert color(lower) == legend["a, b"]
