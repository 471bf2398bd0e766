"""The tables and pages of the hard set: beside the board, never in it."""

import asyncio

import pandas as pd
import pytest
from site_talks import talks_of

from benchmark_lib import Experiment, figures, load_results, reports, tables
from benchmark_lib.analysis.tables.conditions import ALL, family_order
from benchmark_lib.reports.site import build_site


def rows(family, arm, successes, language="en", failures=""):
    return [
        {
            "entry": "acme",
            "model": "acme",
            "source": "model",
            "case_id": f"{family}_{n}" + ("" if arm == "hard" else f"_{arm}") + ("" if language == "en" else language),
            "pair": f"{family}_{n}",
            "trial": 1,
            "family": family,
            "arm": arm,
            "language": language,
            "success": bool(good),
            "failures": "" if good else failures,
        }
        for n, good in enumerate(successes, 1)
    ]


FRAME = pd.DataFrame(
    [
        *rows("dense", "hard", [1, 0, 0, 0, 1, 0], failures="untold, dropped_wish"),
        *rows("dense", "clean", [1, 1, 1, 1, 1, 0]),
        *rows("dense", "told", [1, 1, 0, 0, 1, 0]),
        *rows("salami", "hard", [1, 1, 1, 1, 1, 1]),
        *rows("salami", "clean", [1, 1, 1, 1, 1, 1]),
    ]
)


def one(table, family):
    return table.set_index("family").loc[family]


def test_a_family_stands_beside_its_twins_with_the_paired_effect():
    found = one(tables.hard_table(FRAME), "dense")
    assert found["hard"] == pytest.approx(2 / 6) and found["clean"] == pytest.approx(5 / 6)
    assert found["effect"] == pytest.approx(-0.5) and -1 <= found["effect_low"] <= -0.5 <= found["effect_high"] <= 1
    assert found["robust"] == pytest.approx(2 / 6) and found["told_effect"] == pytest.approx(1 / 6)
    assert found["failures"] == "dropped wish 4, untold 4 (of 6)"


def test_an_easy_family_is_shown_and_left_out_of_the_last_row():
    table = tables.hard_table(FRAME, easy=("salami",))
    assert one(table, "salami")["easy"] and one(table, ALL)["hard_n"] == 6
    assert one(tables.hard_table(FRAME), ALL)["hard_n"] == 12


def test_few_pairs_give_no_interval_of_an_effect():
    found = one(tables.hard_table(FRAME[FRAME["pair"].isin(["dense_1", "dense_2"])]), "dense")
    assert found["effect"] == pytest.approx(-0.5) and pd.isna(found["effect_low"]) and pd.isna(found["effect_p"])


def test_a_language_is_paired_with_its_english_twin():
    frame = pd.DataFrame([*rows("languages", "clean", [1] * 5), *rows("languages", "hard", [1, 1, 0, 0, 0], "de")])
    found = tables.language_table(frame).iloc[0]
    assert (found["language"], found["cases"]) == ("de", 5) and found["gap"] == pytest.approx(-0.6)
    assert list(reports.readable(tables.language_table(frame), "languages")["Language"]) == ["German"]


def test_failures_are_counted_with_their_meaning():
    found = tables.hard_failures(FRAME)
    assert set(found["failure"]) == {"untold", "dropped_wish"} and set(found["conversations"]) == {4}
    assert set(found["of"]) == {6}


def test_the_families_are_drawn_in_the_stores_order_and_all_last():
    table = tables.hard_table(FRAME)
    assert family_order(table, ["salami", "dense"]) == ["salami", "dense", ALL]
    ax = figures.hard_families(table=table, known=["salami", "dense"])
    assert [t.get_text().split(" (")[0] for t in ax.get_yticklabels()] == ["Salami", "Dense", "All families"]
    assert "No case of a hard set" in figures.why_not_saved(figures.hard_families(table=table.iloc[:0]))


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("both")

    async def play():
        for cases, name in (("tracking_1", "core"), ("hard:injection_1,injection_1_clean", "hard")):
            experiment = Experiment(
                "scripted:oracle", cases=cases, trials=1, out=folder / f"{name}.deskbench", progress=False
            )
            await experiment.run()

    asyncio.run(play())
    return folder


def test_runs_of_the_hard_set_are_never_mixed_into_the_board(both):
    results = load_results(both)
    assert set(results.conversations["case_id"]) == {"tracking_1"}
    assert set(results.hard.conversations["arm"]) == {"hard", "clean"}
    assert list(tables.leaderboard(results)["conversations"]) == [1]
    alone = load_results(both / "hard.deskbench")
    assert len(alone.conversations) == len(alone.hard.conversations) == 2


def test_the_site_has_the_hard_set_in_a_folder_of_its_own(both, tmp_path):
    site = build_site(load_results(both), tmp_path / "site", published=False)
    front, hard = site.index.read_text(), (site.path / "hard" / "index.html").read_text()
    assert 'href="hard/index.html"' in front and "The hard set" in front
    assert 'href="../index.html"' in hard and "Planted instructions" in hard
    assert len(talks_of(site.path / "hard")) == 2
