"""Notebooks are thin, stripped, and run strictly."""

import ast
import os
import re
import sys
from pathlib import Path
from urllib.parse import quote, unquote

import nbformat
import pandas as pd
import pytest
from browser import DESKTOP, PHONE, open_browser, open_page
from made_runs import mixed, run_of

from benchmark_lib.cli import main
from benchmark_lib.errors import BadInput
from benchmark_lib.experiment.demo import EXAMPLE
from benchmark_lib.reports import notebooks, paper, run_notebook
from benchmark_lib.reports.notebooks import page_name

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


def test_what_is_pressed_is_said_to_be_pressed_in_jupyterlab():
    """A page of a notebook has no widgets, so a sentence about them must not sound as if it were true there."""
    for path in NOTEBOOKS:
        cells = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown"]
        for text in (part for cell in cells for part in cell.split("\n\n")):
            where = "In JupyterLab" in text or "In the list (" in text
            assert where or not re.search(r"[Pp]ress (?!a line)", text), (path.name, text)


def test_the_main_notebooks_run_from_a_run_to_the_board(tmp_path):
    run = tmp_path / "o.deskbench"
    page = run_notebook("01_run_model", {"cases": "slice", "trials": 1, "out": str(run)}, folder=tmp_path)
    assert run.is_file() and "db-talk" in page.read_text() and "<code>deskbench site</code> makes" in page.read_text()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "transcripts.html").touch()
    page = run_notebook(
        "02_leaderboard", {"runs": [str(run)], "figures_folder": str(tmp_path / "figures")}, folder=tmp_path
    )
    assert "scripted:oracle" in page.read_text() and 'href="site/transcripts.html#"' in page.read_text()
    assert "prefers-color-scheme:dark" in page.read_text() and "color:#666" not in page.read_text()
    assert not list((tmp_path / "figures").glob("*.pdf")) and page.read_text().count("there is only one row") == 2
    links = dict.fromkeys(re.findall(r'href="([^"]+)"[^>]*>(?:run another|read the)', page.read_text()))
    assert list(links) == [
        quote(os.path.relpath(NOTEBOOKS[0].parent / "21_transcripts.ipynb", tmp_path)),
        "01-run-model.html",
    ]
    assert all((tmp_path / unquote(link)).is_file() for link in links)


def test_the_example_of_ones_own_desk_is_found_outside_of_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    book, names = nbformat.read(NOTEBOOKS[0].parent / "30_own_desk.ipynb", as_version=4), {}
    for cell in [c for c in book.cells if c.cell_type == "code"][:3]:
        exec(cell.source, names)
    assert (tmp_path / "data" / "runs" / "own_desk" / "store" / "cases" / "lending.yaml").is_file()
    assert "lend_bag" in names["load_tools"]("lending:lend_bag")


def test_a_page_is_named_after_model_and_setting_and_no_model_is_a_path(tmp_path):
    named = [
        page_name("20_model_report", {"entry": entry})
        for entry in ("gpt-5.5", "gpt-5.5 [seed 7]", "GPT-5.5", "a/b", "a-b")
    ]
    assert named[0] == "20-model-report-gpt-5.5" and len(set(named)) == 5
    assert all("/" not in name for name in named)
    assert ".." not in page_name("20_model_report", {"entry": "../../up"})
    assert page_name("01_run_model", {"model": "m", "seed": 7, "budget_usd": 3}) == "01-run-model-m-seed-7"
    assert page_name("02_leaderboard", {"runs": ["x"]}) == "02-leaderboard"
    assert len(page_name("20_model_report", {"entry": "x" * 500, "seed": "y" * 500, "cases": "z" * 500})) < 200


def test_a_notebook_is_run_for_each_model_and_pages_stand_side_by_side(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(
        notebooks, "run_notebook", lambda path, given: made.append(given) or tmp_path / page_name(path.stem, given)
    )
    runs = [str(tmp_path / f"{name}.deskbench") for name in ("oracle", "echo")]
    for name, out in zip(("oracle", "echo"), runs, strict=True):
        assert main(["run", f"scripted:{name}", "--cases", "tracking_1", "--trials", "1", "--out", out]) == 0
    pages = list(notebooks.run_for_each_model("20_model_report", {"runs": runs}))
    assert len({*pages}) == 2 and {given["entry"] for given in made} == {"scripted:oracle", "scripted:echo"}
    model = run_of(tmp_path, "acme", mixed(0.8, 1)).path
    made.clear()
    list(notebooks.run_for_each_model("20_model_report", {"runs": [*runs, str(EXAMPLE), str(model)]}))
    assert [given["entry"] for given in made] == ["acme"], "who sat in the chair is no model either"
    with pytest.raises(BadInput, match="cannot be run for each model"):
        list(notebooks.run_for_each_model("02_leaderboard"))


def test_a_warning_stands_in_the_page_as_its_sentence_alone(tmp_path):
    said = "/tmp/ipykernel_1/2.py:1: UserWarning: unfinished: acme\n  main = tables.paper(board)\nand this\n"
    made = nbformat.v4.new_output("stream", name="stderr", text=said)
    cells = [nbformat.v4.new_markdown_cell("# Title"), nbformat.v4.new_code_cell("1", outputs=[made])]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    page = notebooks._to_html(tmp_path / "one.ipynb", "where").read_text(encoding="utf-8")
    assert "unfinished: acme\nand this" in page and "ipykernel_1" not in page


def test_the_tab_has_the_heading_and_the_model_and_nothing_in_them_runs(tmp_path):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A report on one model\n\nText.")])
    nbformat.write(book, tmp_path / "one.ipynb")
    page = notebooks._to_html(tmp_path / "one.ipynb", "where", ["</title><script>x"]).read_text(encoding="utf-8")
    assert "<title>A report on one model: &lt;/title&gt;&lt;script&gt;x</title>" in page


def test_an_unknown_parameter_is_refused_with_the_nearest_one(tmp_path):
    with pytest.raises(BadInput, match="did you mean 'trials'"):
        run_notebook("01_run_model", {"trails": 1}, folder=tmp_path)


def test_an_unknown_notebook_is_refused_with_the_nearest_one(tmp_path):
    with pytest.raises(BadInput, match="did you mean 02_leaderboard"):
        run_notebook("02_leaderbord", folder=tmp_path)


def test_input_that_a_notebook_refuses_is_told_in_its_own_sentence(tmp_path):
    with pytest.raises(BadInput) as refused:
        run_notebook("02_leaderboard", {"runs": [str(tmp_path / "none")]}, folder=tmp_path)
    said = str(refused.value)
    assert said.startswith("02_leaderboard.ipynb: ") and str(tmp_path / "none") in said
    assert "BadInput" not in said and "cell" not in said and "\n" not in said
    assert not any(tmp_path.iterdir()), "a refused notebook leaves nothing behind"


def test_a_failing_cell_is_one_sentence(tmp_path):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("raise KeyError('two\\nlines')")])
    nbformat.write(book, tmp_path / "own.ipynb")
    with pytest.raises(BadInput, match="own.ipynb stopped at cell 1: KeyError: 'two") as refused:
        run_notebook(tmp_path / "own.ipynb", folder=tmp_path)
    assert "\n" not in str(refused.value)


def one_notebook(path, *cells, **metadata):
    made = [nbformat.v4.new_code_cell(cell) for cell in cells]
    made[0].metadata["tags"] = ["parameters"]
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=metadata), path)
    return str(path)


def test_parameters_of_any_shape_reach_a_notebook_without_kernelspec_as_they_were_written(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    given = {
        "count: int = 3": ("7", 7),
        "day: str": ("2026-03-01", "2026-03-01"),
        "days = None": ("[2026-03-01, 2026-03-01T10:00:00]", ["2026-03-01", "2026-03-01T10:00:00"]),
        "at = None": ("12:30", "12:30"),
        "entry = None": ("acme [played: me] #2", "acme [played: me] #2"),
        "model = None": ("4.5", "4.5"),
        "panel: str | None = 'x'": ("None", None),
        "word = None": ("""it's "so" \\ <b>""", """it's "so" \\ <b>"""),
        "many = None": ("{1: .nan, b: [null, true]}", {"1": float("nan"), "b": [None, True]}),
    }
    names = [re.match(r"\w+", line)[0] for line in given]
    book = one_notebook(tmp_path / "own.ipynb", "\n".join(given), f"print(ascii([{', '.join(names)}]))")
    parts = [part for name, (text, _) in zip(names, given.values()) for part in ("-p", f"{name}={text}")]
    assert main(["notebook", book, *parts, "--out", "done"]) == 0
    assert "unknown parameter" not in capfd.readouterr().err
    ran = nbformat.read(tmp_path / "reports" / "done.ipynb", as_version=4)
    assert ran.cells[-1].outputs[0]["text"].strip() == ascii([value for _, value in given.values()])


def test_a_value_that_no_cell_can_hold_is_refused(tmp_path, capsys):
    book = one_notebook(tmp_path / "own.ipynb", "x = 1")
    for value in ("!!binary aGk=", "&a [*a]"):
        assert main(["notebook", book, "-p", f"x={value}"]) == 2
        assert "the parameter x contains a " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("import os; os._exit(1)", "its kernel died"),
        ("raise ValueError('\\x1b[31m' + 'x' * 5000)", "stopped at cell 1: ValueError: [31mxxx"),
    ],
)
def test_a_cell_that_ends_badly_is_one_short_sentence(tmp_path, monkeypatch, capsys, cell, said):
    monkeypatch.chdir(tmp_path)
    spec = {"name": "ir", "display_name": "R", "language": "R"}  # a kernel that is not there is not asked for
    assert main(["notebook", one_notebook(tmp_path / "own.ipynb", cell, kernelspec=spec)]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith("deskbench: own.ipynb") and said in told and "reports/own.ipynb" in told
    assert len(told) < 500 and told.isprintable()


def test_a_kernel_that_does_not_start_is_one_sentence(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text('{"argv": ["no-such-python"], "display_name": "x", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["notebook", one_notebook(tmp_path / "own.ipynb", "x = 1")]) == 2
    assert "the Jupyter kernel python3 does not start" in capsys.readouterr().err.splitlines()[-1]


def test_the_model_is_called_entry_where_a_page_is_about_one(tmp_path):
    with pytest.raises(BadInput, match="no parameter 'model': did you mean 'entry'"):
        run_notebook("20_model_report", {"model": "gpt-5.5"}, folder=tmp_path)


def test_a_wide_table_is_whole_on_a_phone_each_cell_behind_its_heading(tmp_path):
    wide = pd.DataFrame({f"Metric {n}": ["100.0% (83.2 to 100.0%)", "none"] for n in range(7)})
    outputs = [nbformat.v4.new_output("display_data", {"text/html": paper.show(wide).html})]
    cells = [nbformat.v4.new_markdown_cell("# One"), nbformat.v4.new_code_cell("1", outputs=outputs)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    target = notebooks._to_html(tmp_path / "one.ipynb", "where")
    with open_browser() as browser:
        for size, stacked in ((PHONE, True), (DESKTOP, False)):
            with open_page(browser, size) as (page, seen):
                page.goto(target.as_uri())
                cells = page.evaluate("[...document.querySelectorAll('td')].map(c => c.getBoundingClientRect().right)")
                assert (page.locator("td[data-label='Metric 6']").count() == 2) == stacked and not seen.errors
                assert max(cells) <= size[0], "no cell is cut"
