"""Every picture prints at the width of a column and of a page: no label on another, none cut off, no type below 7 points, every mark explained."""

import re
from functools import cache, partial
from itertools import combinations

import matplotlib.image
import matplotlib.text
import numpy as np
import orjson
import pandas as pd
import pytest
from made_runs import OTHER, TUNED
from matplotlib.figure import Figure

from benchmark_lib import figures, reports, tables
from benchmark_lib.analysis.panels import conversations_of
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.monitoring import CHANGES, found_table
from benchmark_lib.figures.canvas import SMALL
from benchmark_lib.figures.style import WIDTHS
from benchmark_lib.reports.one_model import numbers
from benchmark_lib.reports.shown import caption_below
from benchmark_lib.reports.site.content import published_entries

MANY = (1, 2, 5, 24)
PARTIAL = 1
"""The model, by its number, whose run lacks half of the conversations that were planned."""
LONG = (
    "acme/reasoner-xl-2026-05-preview-{:02d}",
    "a$$b_{{x}}${:02d}",
    "vendor-with-a-long-name/{:02d}-mini $$ 100% _x_",
)


@pytest.fixture(scope="module")
def frames(talks):
    """Conversations of 1, 2, 5 and 24 models with awkward names, some of them priced, by their number."""
    pair = [talks[talks["model"] == model] for model in (TUNED, OTHER)]
    rng, made = np.random.default_rng(5), []
    for number in range(max(MANY)):
        rows = pair[number % 2].copy()
        swap = rng.random(len(rows)) < 0.02 * number
        rows["unsafe"] = rows["unsafe"].where(~swap | rows["unsafe"].isna(), ~rows["unsafe"].astype("boolean"))
        rows["agent_messages"] += number % 5
        name = LONG[number % 3].format(number)
        cost = np.nan if number % 6 == 5 else 0.002 * (number + 1)
        if number == PARTIAL:
            rows["planned"] *= 2
        made.append(rows.assign(model=name, entry=name, source="model", cost_usd=cost))
    return {many: pd.concat(made[:many], ignore_index=True) for many in MANY}


class MadeWhenAskedFor(dict):
    """Tables by name, each made once, from what makes them."""

    def __init__(self, **makers):
        self.makers = makers

    def __missing__(self, name):
        self[name] = self.makers[name]()
        return self[name]


@pytest.fixture(scope="module")
def tables_of(frames):
    """The tables of each number of models."""

    @cache
    def made(many):
        frame = frames[many]
        pair = tables.choose_pair(frame)
        report = cache(
            lambda: reports.model_report(frames[min(many, 5)])
        )  # the field is full: the published models too
        return MadeWhenAskedFor(
            board=lambda: tables.leaderboard(frame),
            safety=lambda: tables.safety_table(frame),
            traps=lambda: tables.trap_table(frame),
            pressure=lambda: tables.pressure_table(frame),
            kinds=lambda: tables.kind_table(frame),
            escalation=lambda: tables.escalation_table(frame),
            intents=lambda: tables.intent_table(frame),
            queues=lambda: tables.queue_table(frame),
            metric=lambda: tables.metric_table(frame, "resolved"),
            forest=lambda: pd.concat(
                [tables.between_models(frame, n_resamples=20), tables.within_models(frame, n_resamples=20)]
            ),
            costs=lambda: tables.cost_quality(frame),
            decay=lambda: tables.reliability_table(frame, (1, 2, 3, 8)).query("bucket == 'resolvable'"),
            trials=lambda: tables.trial_table(frame, "unsafe"),
            pair=lambda: pair,
            compared=lambda: tables.comparison_table(frame, *pair),
            cases=lambda: tables.differing_cases(frame, *pair),
            field=lambda: numbers.field_table(report(), published=tables.published_board()),
            entry=lambda: report().entry,
            hard=lambda: hard_table(frame),
        )

    return made


def hard_table(frame):
    """A table of the hard set with as many families as there are."""
    families = [f"a_family_with_a_long_name_{n}" for n in range(13)] + ["all families"]
    return pd.DataFrame(
        {
            "panel": "models",
            "entry": conversations_of(frame)["entry"].iloc[0],
            "family": families,
            "hard": 0.5,
            "hard_low": 0.3,
            "hard_high": 0.7,
            "hard_n": 11,
            "partial": "486 of 972",
            "clean": 0.52,
            "clean_n": 9,
        }
    )


def weekly_table():
    """One measure in a year of weeks."""
    weeks = pd.date_range("2025-01-06", periods=52, freq="7D").strftime("%Y-%m-%d")
    part = np.where(np.arange(52) < 13, "baseline", "watched")
    numbers = {"count": 6, "n": 200, "share": 0.03, "low": 0.01, "high": 0.06}
    return pd.DataFrame({"title": "Phantom action", "week": weeks, "part": part, **numbers})


def found_alarms():
    """The first alarms of ten made-up years."""
    rows = [(c.kind, c.kind, c.week + year) for c in CHANGES for year in range(10)]
    return pd.DataFrame(rows, columns=["measure", "title", "alarm"])


def forks_turn_by_turn():
    """Forks of a conversation at six turns by two models, one of which decides in its third."""
    rows = [
        (model, "", "cancel_after_ship", 1, turn, share, max(share - 0.2, 0), min(share + 0.2, 1), 10, fell)
        for model in ("acme-large with a name that is rather long", "acme-mini")
        for turn in range(1, 7)
        for fell in [model == "acme-mini" and turn == 3]
        for share in [0.9 if model == "acme-mini" and turn > 3 else 0.3]
    ]
    names = ["entry", "change", "case_id", "parent_trial", "turn", "share", "low", "high", "forks", "decided_here"]
    return pd.DataFrame(rows, columns=names)


def agreement_in_chats():
    """Two models and the human agents, who have no agreement with themselves."""
    names = ["human_acts", "human_acts_low", "human_acts_high", "procedure", "procedure_low", "procedure_high"]
    shares = [[None] * 3 + [0.8, 0.6, 0.9], [0.5, 0.4, 0.6, 0.9, 0.8, 0.95], [0.3, 0.2, 0.4, 0.5, 0.4, 0.6]]
    entries = ["the human agents", "acme-large with a name that is rather long", "acme-mini"]
    return pd.DataFrame(shares, columns=names, dtype=float).assign(entry=entries, decisions=40, chats=12)


DRAWN = {
    "along_turns": lambda t: partial(figures.along_turns, table=forks_turn_by_turn()),
    "fork_points": lambda t: partial(figures.fork_points, table=forks_turn_by_turn()),
    "chat_truths": lambda t: partial(figures.chat_truths, table=agreement_in_chats()),
    "band_chances": lambda t: partial(figures.band_chances, table=t["board"]),
    "correlation_forest": lambda t: partial(figures.correlation_forest, table=t["forest"]),
    "cost_frontier": lambda t: partial(figures.cost_frontier, table=t["costs"]),
    "differences": lambda t: partial(figures.differences, table=t["compared"], a=t["pair"][0], b=t["pair"][1]),
    "differing_cases": lambda t: partial(figures.differing_cases, table=t["cases"], a=t["pair"][0], b=t["pair"][1]),
    "directions_by_intent": lambda t: partial(figures.directions_by_intent, table=t["intents"]),
    "escalation_both_ways": lambda t: partial(figures.escalation_both_ways, board=t["board"]),
    "failure_kinds": lambda t: partial(figures.failure_kinds, table=t["kinds"]),
    "found_in_time": lambda t: partial(figures.found_in_time, alarms=found_alarms(), table=found_table(found_alarms())),
    "hard_families": lambda t: partial(figures.hard_families, table=t["hard"]),
    "in_the_field": lambda t: partial(figures.in_the_field, table=t["field"], entry=t["entry"]),
    "metric_intervals": lambda t: partial(figures.metric_intervals, table=t["metric"]),
    "models_as_points": lambda t: partial(
        figures.models_as_points, table=t["board"], x="agent_messages", y="over_escalation"
    ),
    "pass_decay": lambda t: partial(figures.pass_decay, table=t["decay"]),
    "power_curves": lambda t: partial(
        figures.power_curves,
        table=tables.power_table(0.1, 0.2, units=[18, 36], trials=[1, 3], n_simulations=20),
    ),
    "pressure_chart": lambda t: partial(figures.pressure_chart, table=t["pressure"]),
    "queue_matrix": lambda t: partial(figures.queue_matrix, table=t["queues"]),
    "trap_matrix": lambda t: partial(figures.trap_matrix, table=t["traps"]),
    "trap_states": lambda t: partial(figures.trap_states, table=t["safety"]),
    "trial_spread": lambda t: partial(figures.trial_spread, table=t["trials"]),
    "two_directions": lambda t: partial(figures.two_directions, table=t["escalation"]),
    "unsafe_intervals": lambda t: partial(figures.unsafe_intervals, table=t["safety"]),
    "value_picture": lambda t: partial(figures.value_picture, board=t["board"]),
    "weekly_rate": lambda t: partial(
        figures.weekly_rate, table=weekly_table(), alarm="2025-06-02", planted="2025-05-26"
    ),
}
ONE_SIZE = (
    "along_turns",
    "chat_truths",
    "fork_points",
    "differences",
    "differing_cases",
    "found_in_time",
    "hard_families",
    "power_curves",
    "weekly_rate",
)
"""Pictures that do not grow with the number of models: of these one number is enough."""
NO_RUNS = (
    "along_turns",
    "chat_truths",
    "fork_points",
    "found_in_time",
    "power_curves",
    "weekly_rate",
)
"""Pictures of no run."""
SIZES = [(name, many) for name in DRAWN for many in ((1, 5, 24) if name not in ONE_SIZE else (2,))]
TOOLS = {"COLUMN_WIDTH", "FULL_WIDTH", "caption", "new_axes", "save", "save_all", "use_style", "why_not_saved"}


def test_no_picture_is_forgotten_here():
    assert set(figures.__all__) == {*DRAWN, *TOOLS}


def texts_in(ax):
    """Every text that is seen, with its box in pixels."""
    ax.figure.draw_without_rendering()
    unseen = {
        label
        for axis, (low, high) in ((ax.xaxis, sorted(ax.get_xlim())), (ax.yaxis, sorted(ax.get_ylim())))
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not (ax.axison and low - 1e-9 <= tick.get_loc() <= high + 1e-9)
    }
    return [
        (text, matplotlib.text.Text.get_window_extent(text))
        for text in ax.figure.findobj(matplotlib.text.Text)
        if text.get_visible() and text.get_text().strip() and text not in unseen
    ]


@pytest.mark.parametrize(("name", "many"), SIZES)
def test_no_label_covers_another_or_is_cut_off_at_either_width(name, many, tables_of):
    draw = DRAWN[name](tables_of(many))
    for width, inches in WIDTHS.items():
        ax = draw(width=width)
        page, texts = ax.figure.bbox, texts_in(ax)
        assert ax.figure.get_figwidth() == inches and not ax.get_title()
        assert all(text.get_fontsize() >= SMALL for text, _ in texts)
        out = [
            text.get_text()
            for text, box in texts
            if box.x0 < page.x0 - 1 or box.x1 > page.x1 + 1 or box.y0 < page.y0 - 1 or box.y1 > page.y1 + 1
        ]
        assert not out, f"{width}: cut off at the edge"
        clashes = [
            (one.get_text(), other.get_text())
            for (one, a), (other, b) in combinations(texts, 2)
            if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.5
        ]
        assert not clashes, f"{width}: one label on another"
        bare = [text.get_text() for text, _ in texts if text.get_parse_math() and "$" in text.get_text()]
        assert not bare, f"{width}: a dollar sign that would start a formula"
        points = [box for text, box in texts if getattr(text, "arrow_patch", None)]
        beside = [(a, b) for a, b in combinations(points, 2) if a.y0 < b.y1 - 1 and b.y0 < a.y1 - 1]
        close = [(a.x0, b.x0) for a, b in beside if max(a.x0, b.x0) - min(a.x1, b.x1) < 2]
        assert not close, f"{width}: two names read as one"
        told = " ".join(text.get_text().replace("\n", " ") for text, _ in texts)
        assert ("486 of 972" in told and "artial" in told) == (many > PARTIAL and name not in NO_RUNS), told
        if ax.axison:
            assert ax.get_window_extent().width > 0.25 * page.width, f"{width}: the labels leave no room for the data"
            assert len(figures.caption(ax)) > 60, "a caption says what it is, of how many, and how it was made"


@pytest.fixture
def board(tables_of):
    return tables_of(2)["board"]


def test_a_picture_is_saved_at_the_width_asked_for_with_its_caption_beside_it(tables_of, tmp_path):
    safety = tables_of(2)["safety"]
    ax = figures.unsafe_intervals(table=safety)
    page = figures.save(ax, "wide", folder=tmp_path)
    column = figures.save(ax, "narrow", width="column", folder=tmp_path)
    assert [p.suffix for p in page] == [".png", ".svg", ".pdf", ".txt", ".tex", ".json"]
    for paths, inches, kind in ((page, 7.0, "figure*"), (column, 3.3, "figure")):
        source = orjson.loads(paths[-1].read_bytes())
        words = paths[3].read_text().strip()
        assert source["caption"] == words == figures.caption(ax) and source["width_inches"] == inches
        assert matplotlib.image.imread(paths[0]).shape[1] == round(300 * inches), "no wider or narrower than it says"
        notes = vars(ax.figure)["deskbench_notes"].notes
        assert notes and not any(n in caption_below(ax).data or n in paths[4].read_text() for n in notes), "said once"
        assert rf"\begin{{{kind}}}" in paths[4].read_text() and r"95\%" in paths[4].read_text()


def test_no_picture_is_saved_of_one_row_or_of_nothing_and_the_reason_is_said(tables_of, tmp_path):
    one, none = tables_of(1)["safety"], tables_of(1)["safety"].iloc[:0]
    drawn = {
        "one": figures.unsafe_intervals(table=one),
        "none": figures.unsafe_intervals(table=none),
        "two": figures.unsafe_intervals(table=tables_of(2)["safety"]),
    }
    said = figures.save_all(drawn, widths=("column", "page"), folder=tmp_path)
    assert {p.stem for p in tmp_path.iterdir()} == {"two", "two-column"}
    assert (
        "1 figure saved" in said
        and "one not saved: there is only one row" in said
        and "none not saved: No trap" in said
    )


def test_a_width_that_is_none_is_refused(board):
    with pytest.raises(BadInput, match="choose 'column' or 'page'"):
        figures.value_picture(board=board, width="poster")


def test_a_correlation_of_three_points_is_not_drawn(tables_of):
    forest = tables_of(5)["forest"].query("level == 'between models'").assign(models=3, estimate=0.9)
    ax = figures.correlation_forest(table=forest)
    assert not ax.axison and "3 models are too few" in ax.texts[0].get_text().replace("\n", " ")


def mixed_board(board):
    """The board with a scripted agent that does nothing and a partial run that was played."""
    kinds = {"panel": ["scripted agents", "players"], "block": ["scripted", "partial"], "partial": ["", "40 of 57"]}
    made = board.assign(entry=["idle", "sat"], resolved=[0.0, 0.9], band=["safe", "indeterminate"])
    return made.assign(**kinds)


@pytest.mark.parametrize("draw", ["value_picture", "escalation_both_ways"])
def test_every_caption_says_which_rows_are_scripted_and_which_were_played_and_are_partial(draw, board):
    ax = getattr(figures, draw)(board=mixed_board(board))
    said = figures.caption(ax)
    for words in (
        "Players (sat): ",
        "not hosted models",
        "Scripted agents (",
        "not models; ",
        "Partial run: sat (40 of 57)",
    ):
        assert words in said
    assert " model:" not in said and "per model" not in said


@pytest.mark.parametrize("name", ["band_chances", "differences", "two_directions", "unsafe_intervals"])
def test_the_label_of_a_partial_run_says_how_much_of_it_is_finished(name, tables_of):
    ax = DRAWN[name](tables_of(2))(width="column")
    labels = [label.get_text().replace("\n", " ") for label in (*ax.get_yticklabels(), ax.xaxis.label)]
    assert sum("(partial 486 of 972)" in label for label in labels) == 1


def test_a_partial_run_that_is_not_drawn_is_named_as_partial(tables_of):
    safety, board = tables_of(5)["safety"].copy(), tables_of(5)["board"].copy()
    for table, count in ((safety, "traps"), (board, "unsafe_n")):
        table.loc[table["partial"] != "", count] = 17
    for ax in (figures.unsafe_intervals(table=safety), figures.value_picture(board=board)):
        assert "(partial 486 of 972, 17 traps, not 18)" in figures.caption(ax)
    board.loc[board["partial"] != "", "unsafe"] = np.nan
    assert "(partial 486 of 972)" in figures.caption(figures.value_picture(board=board))


ROWS = ("band_chances", "failure_kinds", "metric_intervals", "trap_states", "trial_spread")


@pytest.mark.parametrize("name", [*ROWS, "two_directions", "unsafe_intervals"])
def test_a_partial_run_stands_in_the_lowest_row(name, tables_of):
    labels = DRAWN[name](tables_of(5))().get_yticklabels()
    assert ["partial" in label.get_text() for label in labels] == [True] + [False] * (len(labels) - 1)


def test_every_table_of_runs_says_which_are_partial_and_whole_runs_never_are(tables_of, talks):
    for name, table in tables_of(5).items():
        if isinstance(table, pd.DataFrame) and "entry" in table and name != "hard":
            assert table.groupby("entry")["partial"].first().tolist().count("486 of 972") == 1, name
    assert set(tables.metric_table(talks, "resolved")["partial"]) == {""}


@pytest.mark.parametrize("draw", ["differences", "differing_cases"])
def test_a_comparison_says_that_the_two_are_scripted(draw, tables_of):
    made = tables_of(2)
    name = {"differences": "compared", "differing_cases": "cases"}[draw]
    table = made[name].assign(panel_a="scripted agents", panel_b="scripted agents")
    ax = getattr(figures, draw)(table=table, **dict(zip("ab", made["pair"], strict=True)))
    assert "Scripted agents: not models" in figures.caption(ax)


def test_what_does_too_little_has_no_band_in_any_picture(board):
    idle = mixed_board(board).iloc[:1]
    both = pd.concat([idle, idle.assign(entry="works", resolved=0.9)], ignore_index=True)
    for ax in (
        figures.value_picture(board=both),
        figures.band_chances(table=both),
        figures.unsafe_intervals(
            table=both.assign(these_mean=0.1, these_low=0, these_high=1, low=0, high=1, observed=0, worst=0, traps=18)
        ),
    ):
        assert "*: resolves under 50%" in figures.caption(ax)
        starred = [text.get_text() for text, _ in texts_in(ax) if text.get_text().endswith("*")]
        assert len(starred) == 1 and starred[0] in ("idle*", "none*")


def test_a_matrix_counts_the_traps_that_were_run(tables_of):
    traps = tables_of(2)["traps"].copy()
    gone = list(dict.fromkeys(traps["trap"]))[0]
    traps.loc[traps["trap"] == gone, ["trials", "state"]] = [0, "not run"]
    words = figures.caption(figures.trap_matrix(table=traps))
    assert re.search(r"n = (\d+) of the (\d+) traps", words).groups() == (
        str(traps["trap"].nunique() - 1),
        str(traps["trap"].nunique()),
    )


def test_a_band_ends_where_its_interval_does(tables_of):
    made = tables_of(2)
    ax = figures.differences(table=made["compared"], a=made["pair"][0], b=made["pair"][1])
    bands = [line for line in ax.lines if line.get_linewidth() > 4 and len(line.get_xdata()) == 2]
    assert bands and {line.get_solid_capstyle() for line in bands} == {"butt"}


def test_the_intervals_of_differences_are_named_by_the_levels_at_which_they_are_drawn(tables_of):
    made = tables_of(2)
    names = dict(zip("ab", made["pair"], strict=True))
    ax = figures.differences(
        table=made["compared"].assign(level=[0.95, *[0.975] * (len(made["compared"]) - 1)]), **names
    )
    said = [text.get_text() for legend in ax.figure.legends for text in legend.get_texts()]
    assert "95–97.5%, cases like these" in said and "(95–97.5%)" in figures.caption(ax)
    assert "an exact bound where the differences do not vary" in figures.caption(ax)


def test_an_axis_label_ends_on_no_word_alone(tables_of):
    ax = figures.unsafe_intervals(table=tables_of(2)["safety"], width="column")
    assert min(len(line) for line in ax.get_xlabel().split("\n")) > 10


def test_no_interval_of_a_difference_is_cut(tables_of):
    made = tables_of(2)
    wide = made["compared"].assign(these_low=-0.9, these_high=0.95, truth=-0.8)
    ax = figures.differences(table=wide, a=made["pair"][0], b=made["pair"][1])
    ends = [abs(x) for line in ax.lines for x in line.get_xdata()]
    assert max(ends) == pytest.approx(95)
    assert ax.get_xlim()[1] > 95


def test_clean_twins_are_explained_only_where_they_were_run(frames):
    table = hard_table(frames[1])
    for clean, shown in ((0.5, True), (np.nan, False)):
        ax = figures.hard_families(table=table.assign(clean=clean, clean_n=int(shown)))
        marks = [text.get_text() for legend in ax.figure.legends for text in legend.get_texts()]
        assert ("clean twins" in marks) == shown == ("hollow" in figures.caption(ax))


def test_captions_of_published_and_simulated_figures_say_source_difference_and_level():
    tiers = figures.value_picture(board=pd.DataFrame([entry.row for entry in published_entries()]))
    assert "SupportAgentBench, July 2026 edition" in figures.caption(tiers)
    plan = figures.power_curves(table=tables.power_table(0.1, 0.2, units=[18], trials=[1, 3], n_simulations=20))
    assert "distinguishes 10.0% from 20.0% of the traps" in figures.caption(plan) and "alpha 0.05" in figures.caption(
        plan
    )


def test_a_model_of_unknown_price_has_a_column_beside_the_tiers(tables_of):
    ax = figures.value_picture(board=tables_of(24)["board"])
    assert "price unknown" in [label.get_text() for label in ax.get_xticklabels()]


def test_models_whose_short_names_are_alike_are_told_apart():
    from benchmark_lib.figures.labels import names_of

    names = names_of(Figure().add_subplot(), ["x" * 50 + "1", "x" * 50 + "2", "other"])
    assert len(set(names)) == 3 and names[0].endswith("(1)")


def test_both_directions_of_an_intent_stand_in_one_picture(tables_of):
    drawn = reports.by_panel(tables_of(2)["intents"], figures.directions_by_intent, by_bucket=False)
    (ax,) = drawn.values()
    assert len(ax.get_yticks()) == 24, "four intents that need a human above twenty that do not"


def test_what_a_picture_leaves_out_stands_in_its_caption_and_is_said_when_it_is_saved(tables_of, tmp_path):
    board = tables_of(5)["board"].copy()
    gone = board["entry"].iloc[0]
    board.loc[board["entry"] == gone, [c for c in board if c.startswith("unsafe")]] = np.nan
    ax = figures.value_picture(board=board)
    assert "Not drawn: " in figures.caption(ax) and "(no trap run)" in figures.caption(ax)
    said = figures.save_all({"value": ax}, widths=["column"], folder=tmp_path)
    assert "value: not drawn: " in said and "(no trap run)" in said


def test_both_directions_are_drawn_where_one_bucket_was_run(tables_of):
    board = tables_of(2)["board"].copy()
    board[[c for c in board if c.startswith("escalation_accuracy")]] = np.nan
    ax = figures.escalation_both_ways(board=board)
    assert ax.axison and "must-escalate" not in ax.get_xlabel()
    assert [t.get_text() for t in ax.texts].count("not run") == 2


def test_the_legend_of_a_narrow_picture_stands_in_columns(tables_of):
    ax = figures.unsafe_intervals(table=tables_of(2)["safety"], width="column")
    (legend,) = ax.figure.legends
    assert legend._ncols > 1


def test_a_run_of_two_traps_is_no_bar_beside_one_of_eighteen(tables_of):
    table = tables_of(5)["safety"].copy()
    last = table.index[~table["entry"].str.contains("$", regex=False)][-1]
    table.loc[last, ["traps", "partial"]] = [int(table["traps"].max()) - 1, "146 of 486"]
    name, ax = table.loc[last, "entry"], figures.trap_states(table=table)
    words = [note for note in vars(ax.figure)["deskbench_notes"].notes if note.startswith("Not drawn")]
    assert len(words) == 1 and words[0].count("146 of 486") == 1 and len(ax.get_yticks()) == len(table) - 1, name


def test_a_family_marked_easy_says_so_at_its_row(tables_of):
    table = tables_of(5)["hard"]
    names = [
        [label.get_text() for label in figures.hard_families(table=table.assign(easy=easy)).get_yticklabels()]
        for easy in (False, table["family"] == table["family"].iloc[0])
    ]
    assert [sum("easy" in name for name in some) for some in names] == [0, 1]
