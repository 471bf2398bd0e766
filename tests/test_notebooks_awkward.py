"""The notebooks run on awkward runs and on few conversations, and say what is missing."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from made_runs import AWKWARD, OTHER, TUNED, play_agents

from benchmark_lib import reports
from benchmark_lib.reports import run_notebook

NOTEBOOKS = ("10_leaderboard", "12_reliability", "14_correlations", "16_planning")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of the notebooks on a folder with runs of every awkward kind."""
    folder, out = tmp_path_factory.mktemp("awkward"), tmp_path_factory.mktemp("pages")
    for name in (
        "half finished",
        "begun beside finished",
        "no scores on file",
        "all ones",
        "hostile names",
        "traps only",
    ):
        (folder / name).mkdir()
        AWKWARD[name](folder / name)
    runs = sorted(str(p) for p in folder.glob("*/*.deskbench"))

    def page(name):
        quick = {"traps": [18], "trials": [1, 3]}
        given = quick if name == "16_planning" else {"runs": runs, "save": name != "12_reliability"}
        folders = {"figures_folder": str(out / name / "f"), "tables_folder": str(out / name / "t")}
        return run_notebook(name, given | folders, folder=out)

    with ThreadPoolExecutor(2) as pool:
        return out, dict(zip(NOTEBOOKS, pool.map(page, NOTEBOOKS), strict=True))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_notebook_runs_on_awkward_runs(name, pages):
    text = pages[1][name].read_text()
    assert (
        re.search(r"\b(no tables saved|(1 table|\d+ tables) saved in)", text)
        and "Traceback" not in text
        and "site-packages" not in text
    )
    assert "<script>$" not in text, "a model's name is never markup"


def test_the_notebooks_say_what_is_missing_and_save_what_they_show(pages):
    out, found = pages
    board = found["10_leaderboard"].read_text()
    assert re.search(r"\bof 54\b", board) and "set apart" in board and "SupportAgentBench" not in board
    assert "54 conversations without a score" in found["12_reliability"].read_text()
    assert list((out / "10_leaderboard" / "f").glob("*.pdf")) and list((out / "14_correlations" / "t").glob("*.csv"))


def test_the_notebooks_run_on_a_few_conversations(tmp_path):
    runs = [str(p) for p in play_agents(tmp_path, (TUNED, OTHER), cases="tracking,must_escalate,adversarial")]

    def text_of(notebook):
        without = {"panel": None} if notebook == "20_model_report" else {}
        return reports.run_notebook(
            notebook, {"runs": runs, "save_figures": False, **without}, folder=tmp_path
        ).read_text()

    with ThreadPoolExecutor(2) as two:
        pages = list(two.map(text_of, ("11_safety", "13_escalation", "15_compare", "20_model_report")))
    for page in pages:
        assert "figures, none saved" in page and "Traceback" not in page and "&lt;Axes" not in page
    assert (
        all("Recovery panel (2)" in page for page in pages[:2])
        and "too close to call" in pages[2]
        and "Strong" in pages[3]
    )
