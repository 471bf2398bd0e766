"""Notebooks are thin, stripped, and run strictly."""

import ast
import os
import re
from pathlib import Path
from urllib.parse import quote, unquote

import nbformat
import pytest

from benchmark_lib.errors import BadInput
from benchmark_lib.reports import run_notebook

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").rglob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_thin_and_stripped(path):
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert "parameters" in cells[0].metadata.get("tags", []), "the first code cell is the parameters cell"
    for cell in cells:
        assert cell.outputs == [] and cell.execution_count is None
        assert len(cell.source.split("\n")) <= 14
        tree = ast.parse(cell.source.replace("await ", ""))
        assert not any(isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for n in ast.walk(tree))


def test_the_main_notebooks_run_from_a_run_to_the_board(tmp_path):
    run = tmp_path / "o.deskbench"
    page = run_notebook("01_run_model", {"cases": "slice", "trials": 1, "out": str(run)}, folder=tmp_path)
    assert run.is_file() and "db-talk" in page.read_text()
    page = run_notebook(
        "02_leaderboard", {"runs": [str(run)], "figures_folder": str(tmp_path / "figures")}, folder=tmp_path
    )
    assert "scripted:oracle" in page.read_text()
    assert len(list((tmp_path / "figures").glob("*.pdf"))) == 4
    links = dict.fromkeys(re.findall(r'href="([^"]+)"[^>]*>(?:run another|read the)', page.read_text()))
    assert list(links) == [
        quote(os.path.relpath(NOTEBOOKS[0].parent / "21_transcripts.ipynb", tmp_path)),
        "01-run-model.html",
    ]
    assert all((tmp_path / unquote(link)).is_file() for link in links)


def test_an_unknown_parameter_is_refused_with_the_nearest_one(tmp_path):
    with pytest.raises(BadInput, match="did you mean 'trials'"):
        run_notebook("01_run_model", {"trails": 1}, folder=tmp_path)


def test_an_unknown_notebook_is_refused_with_the_nearest_one(tmp_path):
    with pytest.raises(BadInput, match="did you mean 02_leaderboard"):
        run_notebook("02_leaderbord", folder=tmp_path)


def test_a_failing_cell_is_one_sentence(tmp_path):
    with pytest.raises(BadInput, match="stopped at cell") as refused:
        run_notebook("02_leaderboard", {"runs": [str(tmp_path / "none")]}, folder=tmp_path)
    assert "\n" not in str(refused.value)
